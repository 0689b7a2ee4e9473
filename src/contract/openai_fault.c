/* openai_fault.c - see openai_fault.h. */
#include "contract/openai_fault.h"

#include "contract/encode.h"

FIELDS(OpenAIFault) = {
	FIELD(OpenAIFault, message, .required = true, .example = "\"There is no such model.\"",
		.doc = "This problem, in words a person can act on."),
	FIELD(OpenAIFault, type, .required = true, .example = "\"invalid_request_error\"",
		.doc = "The kind of problem."),
	FIELD(OpenAIFault, param, .required = true, .nullable = true, .example = "\"model\"",
		.doc = "The field it is about, if it is about one."),
	FIELD(OpenAIFault, code, .required = true, .nullable = true,
		.example = "\"model_not_found\"", .doc = "What is wrong, for programs."),
};
SCHEMA(OpenAIFault, .doc = "What went wrong.");

FIELDS(OpenAIProblem) = {
	FIELD(OpenAIProblem, error, .required = true, .of = &OpenAIFault_schema,
		.doc = "What went wrong."),
};
SCHEMA(OpenAIProblem, .doc = "An error in the shape that OpenAI's clients know.");

void openai_fault_write(struct buf *out, const struct OpenAIFault *fault)
{
	encode_object(out, &OpenAIProblem_schema, &(struct OpenAIProblem){ fault });
}
