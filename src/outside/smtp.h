/* smtp.h - one message to one recipient, handed to the relay that the operator has named.
 *
 * It waits, so it belongs on the slow pool.  TLS with a verified certificate,
 * unless the relay is this machine; every limit set.  What the relay says of
 * the recipient is told apart from what it says of us: only the first is an
 * end, for nobody's address is bad because our password is.
 *
 * A relay may have taken a message although its answer was lost; then it is
 * sent again, with the same Message-ID.  This file knows no rows and no
 * schedule. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct smtp_relay {
	const char *url;	     /* smtp://HOST:PORT with STARTTLS, or smtps://HOST:PORT */
	const char *user, *password; /* or NULL */
	const char *hello;	     /* the name we go by */
	const char
		*authorities; /* a file of certificates that may vouch for it; NULL: the system's */
	int silence_s;	      /* 0: 60 seconds without a byte end it */
	/* 1: what the relay has not all of is broken off; 2: everything is; or NULL. */
	const _Atomic int *stopping;
};

struct smtp_mail {
	const char *from; /* "": nobody wants to hear of it */
	const char *to;
	const char *bytes; /* lines end in CR LF */
	size_t len;
};

enum smtp_outcome {
	SMTP_SENT,    /* the relay has it */
	SMTP_LATER,   /* not now: the relay, the way to it, or our own setting stands in the way */
	SMTP_REFUSED, /* never: of this recipient, or of this message */
};

struct smtp_said {
	enum smtp_outcome outcome;
	int code;	   /* of its last reply; 0: it gave none */
	char enhanced[12]; /* "5.1.1", or "" */
	const char *text;  /* that reply, or why there is none; one line of printable characters */
	bool unsure;	   /* it had all of the message, and may have taken it */
	bool unclear; /* later, for what may be its policy for the recipient, or that it does not know us */
};

/* NULL if it is a relay's URL that may be used; else what is wrong, as the end of a sentence that begins with its name. */
const char *smtp_relay_fault(const char *url);
/* True for what may stand between < and > in an envelope: no control characters, spaces, brackets. */
bool smtp_path_is_plain(const char *address);
/* Of addresses that are not plain nothing is said to the relay: SMTP_REFUSED, with this text. */
#define SMTP_NOT_PLAIN "the address has a blank, < or >, and cannot be named to a mail server"
void smtp_send(const struct smtp_relay *relay, const struct smtp_mail *mail, struct arena *a,
	struct smtp_said *ret);
/* Goes there, says hello, who we are and from whom mail would come, and hands nothing over: SMTP_SENT if all of it is well.
 * `from` is plain. */
void smtp_try(
	const struct smtp_relay *relay, const char *from, struct arena *a, struct smtp_said *ret);
