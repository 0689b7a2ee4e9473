/* shape.c - see shape.h. */
#include "contract/shape.h"

const struct shape text_shape = { .text = true };
const struct shape number_shape = { .json = "{\"type\":\"number\"}" };
const struct shape integer_shape = { .json = "{\"type\":\"integer\"}" };
const struct shape nothing_shape = { 0 };
const struct shape pairs_shape = {
	.json = "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"
};
const struct shape pairs_or_null_shape = {
	.json = "{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"string\",\"null\"]}}"
};
const struct shape texts_shape = { .items = &text_shape };
const struct shape text_or_texts_shape = { .text = true, .items = &text_shape };
