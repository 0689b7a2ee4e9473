/* frontmatter_parts.h - what the two halves of the reader of heads share.  Only they use it. */
#pragma once
#include "base/frontmatter.h"

struct front_reader {
	struct arena *arena;
	const char *start; /* the head with LF line ends, terminated */
	const char *fault_at;
	const char *fault;
};

/* Keeps the first fault; always false. */
bool front_fault(struct front_reader *r, const char *at, const char *sentence);

/* Spaces at the beginning of a line. */
size_t front_indent(const char *line);
/* True for a line without anything but blanks. */
bool front_is_blank(const char *line);
const char *front_next_line(const char *line);
/* Nothing but blanks and a comment may follow; then *at is the beginning of the next line. */
bool front_line_ends(struct front_reader *r, const char **at);

/* A quoted text from its quote on; *at is then after the closing one.  Its further lines must be
 * indented by more than `parent`. */
bool front_quoted(
	struct front_reader *r, const char **at, size_t parent, bool one_line, const char **ret);
/* A text inside brackets, up to what ends it there. */
bool front_plain_in_flow(struct front_reader *r, const char **at, const char **ret);
/* Any text that stands after a key or a dash, with its further lines; *ret is NULL for null.  Then *at
 * is the beginning of a line. */
bool front_text(struct front_reader *r, const char **at, size_t parent, const char **ret);
