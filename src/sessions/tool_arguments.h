/* tool_arguments.h - what a model passes to a built-in tool, read by type.
 *
 * Arguments have been held against the tool's schema before they come here.
 * A tool reads them as if nobody had: whatever is missing, of another type or
 * out of its bounds is a sentence for the model, and never a value. */
#pragma once
#include "base/json_tree.h"
#include "contract/schema.h"

struct tool_arguments {
	struct arena *arena;
	const struct json_node *tree; /* an object; NULL if there is a fault */
	const char *fault;	      /* the first, as a sentence for the model; or NULL */
};

struct tool_arguments tool_arguments_open(struct arena *a, const char *text);

/* Text of 1 to `most` bytes without a NUL.  "" if there is a fault. */
const char *tool_argument_text(struct tool_arguments *in, const char *name, size_t most);
/* The same, NULL if it is absent or empty. */
const char *tool_argument_text_maybe(struct tool_arguments *in, const char *name, size_t most);
/* Up to `most` texts of so many bytes each, in *ret (const char *); none if it is absent. */
void tool_argument_texts(struct tool_arguments *in, const char *name, size_t most,
	size_t most_bytes, struct list *ret);
/* True if it is there and true. */
bool tool_argument_flag(struct tool_arguments *in, const char *name);
/* A whole number within the bounds; `absent` if it is not there or there is a fault. */
int64_t tool_argument_number(
	struct tool_arguments *in, const char *name, int64_t absent, int64_t least, int64_t most);
