/* openai_tools.h - functions that a caller offers to a model and runs itself, as OpenAI's clients state them. */
#pragma once
#include "call/call.h"

enum { OPENAI_TOOLS_MAX = 128 };

/* {type: function, function: {name, ...}} as assistants and runs have them, or flat as responses do. */
enum tool_shape { TOOL_NESTED, TOOL_FLAT };

/* Checks a list of tools, JSON text or NULL: each must be a function with a good name, none twice.  *ret is a
 * JSON list of {name, description, parameters} as a run takes it, or NULL if there is none.  Otherwise the
 * field is refused. */
int openai_tools(struct call *c, const char *field, const char *list, enum tool_shape shape,
	const char **ret);

/* Checks tool_choice, JSON text or NULL: a word, or the name of a function in *ret_name, which is NULL otherwise. */
int openai_choice(struct call *c, const char *json, enum tool_shape shape, const char **ret_name);

/* Checks response_format (or text.format): only plain text is promised here. */
int openai_format(struct call *c, const char *field, const char *json);
