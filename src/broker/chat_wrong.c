/* chat_wrong.c - what is said of a chat request that is not as it must be; see chat_read.h. */
#include <stdarg.h>
#include <stdio.h>

#include "base/utf8_cut.h"
#include "broker/chat_read.h"

bool chat_wrong(struct chat_reader *in, const char *param, const char *fmt, ...)
{
	va_list ap;

	if (in->wrong)
		return false;
	in->wrong = true;
	snprintf(in->e->param, sizeof in->e->param, "%s", param);
	utf8_trim(in->e->param);
	va_start(ap, fmt);
	vsnprintf(in->e->message, sizeof in->e->message, fmt, ap);
	va_end(ap);
	utf8_trim(in->e->message);
	return false;
}

static const char *type_name(enum json_type t)
{
	static const char *const names[] = { "nothing", "null", "a boolean", "a number", "a string",
		"an array", "an object" };

	return names[t];
}

bool chat_expect(struct chat_reader *in, const char *param, enum json_type want)
{
	enum json_type got = json_peek(&in->r);

	if (got == want)
		return true;
	if (got != JSON_FAULT)
		chat_wrong(in, param, "Invalid type for '%s': expected %s, but got %s instead.",
			param, type_name(want), type_name(got));
	return false;
}
