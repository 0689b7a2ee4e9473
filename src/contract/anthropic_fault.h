/* anthropic_fault.h - an error in the shape that Anthropic's clients know, as an answer and as an event. */
#pragma once
#include "base/buf.h"
#include "contract/schema.h"

struct AnthropicFault {
	const char *type, *message;
};
SCHEMA_DECLARED(AnthropicFault);

struct AnthropicProblem {
	const char *type;
	const struct AnthropicFault *error;
	const char *request_id;
};
SCHEMA_DECLARED(AnthropicProblem);

/* The status that Anthropic's service would give: it says 529 where others say 503. */
int anthropic_status(int status);
/* {"type": "error", "error": {type, message}, "request_id"}; the type is the status's. */
void anthropic_fault_write(
	struct buf *out, int status, const char *message, const char *request_id);
