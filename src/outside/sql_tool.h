/* sql_tool.h - calling an sql tool: one statement to the database of its config, by lodge-sql, a process that dies alone.
 *
 * Arguments are sent beside the statement, as parameters, and never become a
 * part of it.  It waits: for a thread that may. */
#pragma once
#include "outside/tool_config.h"

enum { SQL_TOOL_ANSWER_MAX = 8 << 20 };

/* What a tool takes whose statement is the caller's. */
#define SQL_TOOL_INPUT                                                                         \
	"{\"type\":\"object\",\"properties\":{\"sql\":{\"type\":\"string\",\"minLength\":1,"   \
	"\"maxLength\":65536,\"description\":\"One statement of PostgreSQL; $1, $2 stand for " \
	"params.\"},\"params\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":"      \
	"[\"string\",\"number\",\"boolean\",\"null\"]}}},\"required\":[\"sql\"],"              \
	"\"additionalProperties\":false}"

enum sql_outcome {
	SQL_TOOL_DONE,	   /* the text is the rows, as JSON */
	SQL_TOOL_UNCALLED, /* nothing was sent: the text is a sentence for the model */
	SQL_TOOL_FAILED,   /* likewise, but it was, or it cannot be reached */
};

struct sql_answer {
	enum sql_outcome outcome;
	const char *text;
	size_t len;
};

/* Fills *ret, whatever happens.  The config has its password. */
void sql_tool_run(const struct tool_config *config, const char *arguments, size_t len,
	enum egress egress, const _Atomic bool *stop, struct arena *a, struct sql_answer *ret);
