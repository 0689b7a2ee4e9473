/* shape.h - shapes of JSON values that many tables name; see struct shape. */
#pragma once
#include "contract/schema.h"

extern const struct shape text_shape, number_shape, integer_shape;
/* Nothing but null, or an array that is always empty. */
extern const struct shape nothing_shape;
/* Names and their texts; the same where a text may be null. */
extern const struct shape pairs_shape, pairs_or_null_shape;
/* Some texts; one text or some. */
extern const struct shape texts_shape, text_or_texts_shape;

/* A shape that an object of any of these schemas has: { &A_schema, &B_schema, NULL } */
#define OBJECTS(...)                              \
	.objects = (const struct schema *const[]) \
	{                                         \
		__VA_ARGS__, NULL                 \
	}
