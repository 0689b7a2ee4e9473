/* openai_tools.h - functions that a caller offers to a model and runs itself, as OpenAI's clients state them. */
#pragma once
#include "call/call.h"

enum { OPENAI_TOOLS_MAX = 128 };

/* {type: function, function: {name, ...}} as assistants and runs have them, or flat as responses do. */
enum tool_shape { TOOL_NESTED, TOOL_FLAT };

/* Checks a list of tools, JSON text or NULL: functions have good names, none twice; of other kinds there may be only
 * flat ones, which are passed over.  *ret is a JSON list of {name, description, parameters, strict} as a run takes it,
 * or NULL if there is none.  Otherwise the field is refused. */
int openai_tools(struct call *c, const char *field, const char *list, enum tool_shape shape,
	const char **ret);

/* The kinds of those that were passed over, as in "web_search, custom"; NULL: none. */
const char *openai_tools_passed_over(struct arena *a, const char *list);

/* Checks tool_choice, JSON text or NULL: a word, or the name of a function in *ret_name, which is NULL otherwise.  Of
 * responses it may be of another type. */
int openai_choice(struct call *c, const char *json, enum tool_shape shape, const char **ret_name);

/* Checks response_format (or text.format): only plain text is promised here. */
int openai_format(struct call *c, const char *field, const char *json);
