/* known.h - what a message is known by when it comes again: a digest over what a server that repeats it leaves as it is.
 *
 * All of it counts but the trace of its way, and so does the envelope where
 * that decides what becomes of a letter.  Whatever else of a head were left
 * out, somebody who has a letter could change it and send the copy ahead: one
 * that is not believed, not readable or wakes nobody, and for which the true
 * one is then taken.  Bytes as they come, in constant memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
	MAIL_KNOWN_NAME_MAX = 32,
	MAIL_KNOWN_LEN = 64,
	/* Of a larger head the trace counts too: with enough of it a copy could not be read (mail/prescan.h). */
	MAIL_KNOWN_HEAD_LINES = 400,
	MAIL_KNOWN_HEAD_BYTES = 64 * 1024,
};

struct sha256_run;

struct mail_known {
	struct sha256_run *plain, *whole; /* without the trace, and with it */
	enum { KNOWN_AT_NAME, KNOWN_IN_LINE, KNOWN_IN_BODY } at;
	bool trace;			/* the field at hand is of it */
	bool blank;			/* nothing was seen in the line but blanks */
	char name[MAIL_KNOWN_NAME_MAX]; /* of the line, as far as it has come */
	size_t name_len, lines, bytes;	/* the last two: of the head */
};

void mail_known_begin(struct mail_known *k);
void mail_known_push(struct mail_known *k, const char *bytes, size_t len);
/* Ends it; NULL: nobody wants to know. */
void mail_known_end(struct mail_known *k, char ret[MAIL_KNOWN_LEN + 1]);
/* The same with the envelope: its sender, what a signed part of the recipient's address names, or "", and whether it came from the
 * server in front, which may be believed what others are not. */
void mail_known_envelope(
	char known[MAIL_KNOWN_LEN + 1], const char *sender, const char *named, bool by_lmtp);
