/* letter_text.h - what the letters to people say: one table of texts, and the message that is made of one.
 *
 * A letter is plain text, from the address of the house.  What others wrote (names of
 * people, tenants, agents) stands in it bounded, without what controls, and apart where it would join to an
 * address, so that it can become neither another line nor another header nor a link. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

enum letter_text {
	LETTER_SAYS_NOTHING, /* there is nothing to send, or nobody to send it to */
	LETTER_SAYS_INVITED,
	LETTER_SAYS_CONFIRM,
	LETTER_SAYS_KNOWN, /* somebody asked for an account with an address that has one */
	LETTER_SAYS_RESET,
	LETTER_SAYS_PROVIDER, /* there is no password: they sign in at a provider */
	LETTER_SAYS_APPROVALS,
	LETTER_TEXTS
};

enum { LETTER_VALUE_MAX = 120, LETTER_SUBJECT_NAME_MAX = 60, LETTER_BYTES_MAX = 64 * 1024 };

struct letter {
	enum letter_text says;
	const char *to;
	const char *link;   /* of our own making, as it is */
	const char *who;    /* somebody's name */
	const char *tenant; /* the name of one */
	const char *lines;  /* of letter_line(), one below the other */
	const char *until;  /* when the link ends */
};

/* A name as it may stand in a letter; "" of NULL. */
const char *letter_value(struct arena *a, const char *text);
/* The subject and the text, filled in. */
const char *letter_subject(struct arena *a, const struct letter *l);
const char *letter_body(struct arena *a, const struct letter *l);
/* The message, ready for the relay; the same id makes the same Message-ID.  ERR_INVALID where the address is none that can be
 * written to. */
int letter_bytes(
	struct arena *a, const struct letter *l, const char *id, int64_t now, struct buf *out);
