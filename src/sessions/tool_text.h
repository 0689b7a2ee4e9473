/* tool_text.h - what a tool has to say, brought into the form in which a model may be told.
 *
 * Whatever bytes a tool gives, the model gets valid text of a bounded length,
 * and is told what is missing. */
#pragma once
#include "sessions/tool_run.h"

/* What a tool said: text of any length and any bytes. */
struct tool_said {
	const char *bytes;
	size_t len;
	const char *type;   /* of the bytes; NULL: text/plain */
	bool more;	    /* there was more, and it was not read */
	const char *failed; /* the tool did: a sentence that tells the model so, before the bytes */
};

/* Cleans and cuts. */
void tool_answer_give(struct arena *a, const struct tool_said *said, struct tool_answer *ret);
/* A text of our own making. */
void tool_answer_text(struct arena *a, const char *text, struct tool_answer *ret);
/* The tool failed; a sentence for the model. */
void tool_answer_fail(struct arena *a, struct tool_answer *ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The bytes with everything that is not UTF-8, and NUL, as U+FFFD. */
const char *tool_text_clean(struct arena *a, const char *bytes, size_t len, size_t *ret_len);
