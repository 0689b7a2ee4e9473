/* anthropic_fault.c - see anthropic_fault.h. */
#include "contract/anthropic_fault.h"

#include "contract/encode.h"

FIELDS(AnthropicFault) = {
	FIELD(AnthropicFault, type, .required = true, .example = "\"not_found_error\"",
		.doc = "The kind of problem."),
	FIELD(AnthropicFault, message, .required = true, .example = "\"There is no such model.\"",
		.doc = "This problem, in words a person can act on."),
};
SCHEMA(AnthropicFault, .doc = "What went wrong.");

FIELDS(AnthropicProblem) = {
	FIELD(AnthropicProblem, type, .required = true, .constant = "error",
		.doc = "Always error."),
	FIELD(AnthropicProblem, error, .required = true, .of = &AnthropicFault_schema,
		.doc = "What went wrong."),
	FIELD(AnthropicProblem, request_id, .required = true,
		.example = "\"01k0000000000000000000000\"",
		.doc = "The request, for whoever runs this service."),
};
SCHEMA(AnthropicProblem, .doc = "An error in the shape that Anthropic's clients know.");

int anthropic_status(int status)
{
	return status == 503 ? 529 : status;
}

static const char *anthropic_type_of(int status)
{
	static const struct {
		int status;
		const char *type;
	} types[] = {
		{ 401, "authentication_error" },
		{ 402, "billing_error" },
		{ 403, "permission_error" },
		{ 404, "not_found_error" },
		{ 413, "request_too_large" },
		{ 429, "rate_limit_error" },
		{ 503, "overloaded_error" },
		{ 504, "timeout_error" },
		{ 529, "overloaded_error" },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].status == status)
			return types[i].type;
	return status < 500 ? "invalid_request_error" : "api_error";
}

void anthropic_fault_write(struct buf *out, int status, const char *message, const char *request_id)
{
	const struct AnthropicFault fault = { .type = anthropic_type_of(status),
		.message = message };

	encode_object(out, &AnthropicProblem_schema,
		&(struct AnthropicProblem){ "error", &fault, request_id });
}
