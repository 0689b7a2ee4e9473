/* openai_fault.h - an error in the shape that OpenAI's clients know, as an answer and as an event. */
#pragma once
#include "base/buf.h"
#include "contract/schema.h"

struct OpenAIFault {
	const char *message, *type, *param, *code;
};
SCHEMA_DECLARED(OpenAIFault);

struct OpenAIProblem {
	const struct OpenAIFault *error;
};
SCHEMA_DECLARED(OpenAIProblem);

/* {"error": {message, type, param, code}}; param and code may be NULL. */
void openai_fault_write(struct buf *out, const struct OpenAIFault *fault);
