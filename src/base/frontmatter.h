/* frontmatter.h - a Markdown file with a head: where the one ends and the other begins, and texts for such heads.
 *
 * The head stands between two lines of `---`.  It is YAML, which is read
 * elsewhere (helper/helper.h); here nobody looks into it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

enum { FRONT_HEAD_MAX = 128 * 1024 }; /* bytes between the two lines */

struct frontmatter {
	const char
		*head; /* in the text given, as is the body; its first line is the file's second */
	size_t head_len;
	const char *body; /* after the head and the blank line that may follow it */
	size_t body_len;
	int fault_line; /* 0: none can be named */
	const char *fault;
};

/* False with a fault.  The text need not be terminated. */
bool front_split(const char *text, size_t len, struct frontmatter *ret);

/* Writes a text so that any YAML reader gives it back as it is. */
void front_write_text(struct buf *out, const char *text);
