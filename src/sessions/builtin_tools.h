/* builtin_tools.h - the tools that the program brings along, as data.
 *
 * A tenant has one by making a tool of kind builtin with its name; what it
 * takes and whether it may be repeated is said here and nowhere else. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct builtin_tool {
	const char *name, *description;
	const char *input_schema; /* JSON text */
	bool repeat_safe;	  /* running it twice does no more than running it once */
	bool alone; /* it needs no agent and no session, nor the store: it can be tried */
	/* A person's word comes before each call, unless the tool is set otherwise, or the call has this argument as true. */
	bool asks;
	const char *unless;
	bool harmless; /* it changes, sends and spends nothing, and looks at nothing that people said: a stranger may
			* have it called */
};

extern const struct builtin_tool builtin_tools[];
extern const size_t builtin_tool_count;

/* NULL if there is none of that name. */
const struct builtin_tool *builtin_tool(const char *name);
