/* openai_problem.c - a problem in the shape that OpenAI's clients know: {"error": {message, type, param,
 * code}}.  Their libraries choose an exception by the status and show the message. */
#include <stdio.h>

#include "call/call.h"
#include "contract/openai_fault.h"

enum { MESSAGE_MAX = 1024 };

static const char *type_of(int status)
{
	static const struct {
		int status;
		const char *type;
	} types[] = {
		{ 401, "authentication_error" },
		{ 403, "permission_error" },
		{ 404, "not_found_error" },
		{ 429, "rate_limit_error" },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].status == status)
			return types[i].type;
	return status < 500 ? "invalid_request_error" : "server_error";
}

void openai_problem(struct buf *b, const struct problem *p)
{
	const struct error_row *row = error_row(p->err);
	const char *detail = p->detail ? p->detail : row->title;
	const struct field_error *first = p->first;
	char message[MESSAGE_MAX];

	if (first) /* of several faults these clients show one */
		snprintf(message, sizeof message, "%s %s", first->field, first->message);
	else
		snprintf(message, sizeof message, "%s", detail);
	openai_fault_write(b, &(struct OpenAIFault){ .message = message,
				      .type = type_of(row->status),
				      .param = first ? first->field : NULL,
				      .code = p->code ? p->code : row->code });
}
