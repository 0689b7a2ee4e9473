/* wake.h - which messages must not wake an agent, because a machine sent them and would answer the answer.
 *
 * A table over the headers (RFC 3834 and what senders do besides); the message
 * is stored all the same.  How often an agent answered whom is counted
 * elsewhere, by the limits here. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
	MAIL_HOPS_MAX = 5,	    /* of X-Lodge-Hops */
	MAIL_REPLIES_PER_HOUR = 10, /* automatic ones, to one correspondent */
	MAIL_REPLIES_PER_THREAD_DAY = 30,
	MAIL_UNPROVEN_PER_DOMAIN_HOUR =
		30, /* automatic answers to those of one domain whom nothing proves */
	MAIL_STRANGERS_PER_HOUR =
		100, /* times that an agent is woken by people it does not know, of whatever address */
};

struct mail_header {
	const char *name; /* letters small */
	const char *value;
};

struct mail_waking {
	const struct mail_header *headers;
	size_t count;
	const char *
		return_path; /* "" is the null path; NULL: there was no envelope, which is none either */
	const char *from; /* the address alone; NULL: there is none */
	bool own;	  /* From is an address of this house */
};

/* Why not, as a few words that are shown; NULL: it may. */
const char *mail_wake_bar(const struct mail_waking *w);
/* The hops that the message has behind it: 0 without the header, MAIL_HOPS_MAX + 1 for a number that is none. */
int mail_hops(const struct mail_header *headers, size_t count);
