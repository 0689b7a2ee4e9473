/* letterbox.h - where mail servers hand over mail: the sockets of LMTP and SMTP, and their connections.
 *
 * A connection is a thread, which may wait for disk and store; there are few of
 * them, because a mail server needs few.  What is said on one is the machine of
 * mail/lmtp.h, and what becomes of a message that of mailboxes/mail_intake.h.
 * Work for the store goes the way of everybody's, so that mail takes no
 * connection from others. */
#pragma once
#include "bucket/bucket.h"

enum {
	LETTERBOX_CONNECTIONS_MAX = 50, /* of LMTP, and as many of SMTP */
	LETTERBOX_EACH_MAX = 10,	/* of these of SMTP, from one address */
	LETTERBOX_IDLE_MS =
		5 * 60 * 1000, /* no command comes to its end, or no byte of a message */
	LETTERBOX_MESSAGE_MS =
		30 * 60 * 1000,		/* no message begins; or one comes, and does not end */
	LETTERBOX_SLOW_MS = 60 * 1000,	/* how far a message may lag behind its rate */
	LETTERBOX_RATE = 500,		/* bytes of a message in a second, at least */
	LETTERBOX_SPARE_MS = 10 * 1000, /* who brings no mail for so long gives way to others */
	LETTERBOX_PLACES_MAX = 9,
};

struct letterbox_settings {
	const char *lmtp; /* unix:PATH or HOST:PORT; "": nowhere */
	const char *smtp; /* HOST:PORT, several with commas; "": nowhere */
	const char *host; /* as it calls itself */
	int64_t bytes_max;
	int connections_max, each_max, idle_ms, message_ms, slow_ms, spare_ms; /* 0: those above */
};

struct letterbox;

/* Listens, and takes nobody yet; NULL where nothing is set.  A sentence where it cannot, as when another process is there. */
int letterbox_new(struct letterbox **ret, const struct letterbox_settings *settings,
	struct arena *a, struct problem *p);
/* What it would say, without taking a place from anybody: addresses alone, since a socket is a file.  One at which a service greets by
 * this host's name is taken for its own. */
int letterbox_check(const struct letterbox_settings *settings, struct arena *a, struct problem *p);
/* The first port that is below those which everybody may listen at; 0: none is. */
int letterbox_low_port(const struct letterbox_settings *settings);
int letterbox_start(
	struct letterbox *b, struct store *store, struct bucket *bucket, struct pool *disk);
/* These may be given NULL.  Takes nobody any more, and says good-bye to who has no message under way; then waits for the others, for
 * so long at most. */
void letterbox_quiet(struct letterbox *b);
void letterbox_drain(struct letterbox *b, int ms);
void letterbox_free(struct letterbox *b);
/* The nth place it listens at, with its port; NULL: there are no more. */
const char *letterbox_place(const struct letterbox *b, size_t n);

struct letterbox_stats {
	uint64_t connections, turned_away, gave_way, open;
	uint64_t taken, known, refused, later; /* recipients */
};
struct letterbox_stats letterbox_stats(const struct letterbox *b);
