/* mail_text.h - the texts of mail, made fit to be kept and shown: one line, the first words, no longer than may be. */
#pragma once
#include "base/arena.h"

enum {
	MAIL_SUBJECT_MAX = 998,	   /* code points */
	MAIL_TEXT_MAX = 1 << 20,   /* code points */
	MAIL_BEFORE_MAX = 1 << 19, /* of what is said before a message that is handed on */
	MAIL_PREVIEW_MAX = 200,	   /* bytes */
};

/* A subject or a name as one line that reads as it is: no control characters, and none that turn around what stands beside
 * them. */
const char *mail_line(struct arena *a, const char *text);
/* The first words of a text, on one line. */
const char *mail_preview(struct arena *a, const char *text);
/* So many code points at most; where some are left out, the last is an ellipsis. */
const char *mail_cut(struct arena *a, const char *text, size_t most);
/* A message as it is handed on, below what is said before it: what is too long of it is left out, and that said.  NULL if there is
 * no room for it at all. */
const char *mail_forwarded(struct arena *a, const char *before, const char *sender,
	const char *subject, const char *body);
/* A mark that is nowhere in these texts, NULL-terminated: between two lines with it they reach a model. */
const char *mail_mark(struct arena *a, const char *const *texts);
/* What HTML shows, or NULL for NULL. */
const char *mail_shown(struct arena *a, const char *html);
