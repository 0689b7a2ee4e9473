/* lmtp.h - the receiving side of LMTP (RFC 2033) and SMTP (RFC 5321): bytes in, events and replies out.
 *
 * The machine owns no socket and waits for nothing.  It is given bytes as they
 * come and hands on what they mean; where the answer is not known at once, the
 * one who is asked says so, the machine takes no more bytes until it is told,
 * and then goes on.  It is as strict as it can be where two programs could
 * read one stream in two ways: a line ends with CR LF, data ends with
 * CR LF . CR LF, and a message with a bare CR or LF, or with a NUL, is refused
 * whole.  Its memory is its struct. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mail/address.h"

enum {
	LMTP_LINE_MAX = 2048, /* of a command, with its CR LF */
	LMTP_RECIPIENTS_MAX = 100,
	LMTP_BAD_MAX = 10, /* commands that are none, or at the wrong time */
	/* Between two messages: commands that bring none on; senders and recipients that are refused; recipients beyond the most,
	 * which others than us may well send on and on before they look at the replies. */
	LMTP_IDLE_MAX = 100,
	LMTP_DECLINED_MAX = 200,
	LMTP_BEYOND_MAX = 1000,
	LMTP_TEXT_MAX = 400, /* of one reply */
};

struct lmtp_reply {
	int code;	    /* 0: it is not known yet, lmtp_decide() will tell */
	const char *status; /* "2.1.5" */
	const char *text;   /* one line */
};

struct lmtp_sender {
	struct mail_address address; /* text "": the null path */
	uint64_t size;		     /* as it was announced; 0: it was not */
	bool eight_bit, wide;	     /* BODY=8BITMIME, SMTPUTF8 */
};

struct lmtp;

/* Each is given the owner.  A code of mail and rcpt below 400 takes the sender or the recipient. */
struct lmtp_calls {
	struct lmtp_reply (*mail)(void *owner, const struct lmtp_sender *from);
	struct lmtp_reply (*rcpt)(void *owner, const struct mail_address *to);
	/* A message begins; its bytes as they were meant, without the dots that protect; its end, which asks for
	 * as many lmtp_decide() as recipients were taken (SMTP: one).  Where it was refused, dropped is called in the
	 * place of end, also when the connection is closed in the middle. */
	void (*data)(void *owner);
	void (*bytes)(void *owner, const char *at, size_t len);
	void (*end)(void *owner);
	void (*dropped)(void *owner);
	/* RSET, another LHLO, or a message that is through: sender and recipients are forgotten. */
	void (*forget)(void *owner);
	/* What goes to the peer. */
	void (*send)(void *owner, const char *at, size_t len);
};

enum lmtp_state {
	LMTP_FRESH,	 /* nobody has said hello */
	LMTP_READY,	 /* for MAIL */
	LMTP_ASKED_MAIL, /* waits for a decision about the sender */
	LMTP_MAIL,	 /* for RCPT */
	LMTP_ASKED_RCPT, /* waits for one about a recipient */
	LMTP_RCPT,	 /* for more, or DATA */
	LMTP_DATA,	 /* bytes of a message */
	LMTP_ASKED_DATA, /* waits for those about the message */
	LMTP_CLOSED,	 /* what was sent is the last; the owner closes */
	LMTP_STATES
};

/* Where the bytes of a message stand. */
enum lmtp_place { AT_LINE, IN_LINE, AT_CR, AT_DOT, AT_DOT_CR };

struct lmtp {
	const struct lmtp_calls *calls;
	void *owner;
	const char *host; /* as it calls itself; lives as long */
	uint64_t size_max;
	bool smtp; /* EHLO and HELO in the place of LHLO, one reply for a message */

	enum lmtp_state state;
	char line[LMTP_LINE_MAX];
	size_t line_len;
	bool line_long; /* the command is thrown away up to its end */
	unsigned
		lines; /* that came to their end: who waits for a command knows by it that one came */
	unsigned bad, idle, declined, beyond;
	unsigned recipients, decided;
	struct lmtp_sender sender;

	/* Of the message. */
	enum lmtp_place place;
	uint64_t size;		   /* bytes that came */
	struct lmtp_reply refused; /* code 0: it is not */
};

/* Sends the greeting. */
void lmtp_begin(struct lmtp *s, const struct lmtp_calls *calls, void *owner, const char *host,
	uint64_t size_max, bool smtp);
/* How many of the bytes it took: less than all when it waits for a decision, or is closed.  The rest is to be given
 * again. */
size_t lmtp_push(struct lmtp *s, const char *bytes, size_t len);
bool lmtp_waits(const struct lmtp *s);
/* The answer to what was asked last: sender, recipient, or the next of the message's recipients. */
void lmtp_decide(struct lmtp *s, struct lmtp_reply r);
/* 421 and closed: nothing came for too long, or the service stops. */
void lmtp_leave(struct lmtp *s, const char *status, const char *text);
/* The connection is gone: the owner hears of a message that was cut off. */
void lmtp_gone(struct lmtp *s);
