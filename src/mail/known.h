/* known.h - what a message is known by when it comes again: a digest over what a server that repeats it leaves as it is.
 *
 * Message-ID, From, signatures of domains and the body count, and not what
 * servers write above them on the way.  From and signatures are among it, so
 * that nobody keeps a letter out by sending its text and its id before it
 * under another name.  Where there is no Message-ID, all of the head counts
 * that is not the trace of its way.  Bytes as they come, in constant memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { MAIL_KNOWN_NAME_MAX = 32, MAIL_KNOWN_LEN = 64 };

struct sha256_run;

struct mail_known {
	struct sha256_run *named, *rest; /* by its id, and without one */
	enum { KNOWN_AT_NAME, KNOWN_IN_LINE, KNOWN_IN_BODY } at;
	enum { KNOWN_AS_TRACE, KNOWN_AS_REST, KNOWN_AS_NAMED } field; /* the one at hand */
	bool has_id, in_id;
	char name[MAIL_KNOWN_NAME_MAX]; /* of the line, as far as it has come */
	size_t name_len;
};

void mail_known_begin(struct mail_known *k);
void mail_known_push(struct mail_known *k, const char *bytes, size_t len);
/* Ends it; NULL: nobody wants to know. */
void mail_known_end(struct mail_known *k, char ret[MAIL_KNOWN_LEN + 1]);
