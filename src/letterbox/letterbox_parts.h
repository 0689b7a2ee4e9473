/* letterbox_parts.h - what the files of the letterbox share. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "letterbox/letterbox.h"

/* A socket that is listened on. */
struct letterbox_place {
	int fd;
	bool smtp;
	char said[256];
	char *path;	 /* of a socket in the file system; NULL: it has none */
	struct stat own; /* which file that is */
};

/* A connection on its thread. */
struct letterbox_conn {
	struct letterbox *box;
	struct letterbox_conn *next, **at; /* under the lock */
	int fd;
	bool smtp;
	uint64_t peer; /* by whose address those of SMTP are counted; 0: nobody's */
	_Atomic int64_t
		waits_since_ms; /* for mail, and nothing is lost with it; 0: it brings some */
	_Atomic bool gives_way;
};

struct letterbox {
	struct letterbox_place places[LETTERBOX_PLACES_MAX];
	size_t place_count;
	char *host;
	int64_t bytes_max;
	int connections_max, each_max, idle_ms, message_ms, slow_ms, spare_ms;
	struct store *store;
	struct bucket *bucket;
	struct pool *disk;
	pthread_t thread; /* that accepts */
	bool started;
	int stop; /* an eventfd that stays readable once it stops */
	_Atomic bool stopping;

	pthread_mutex_t lock;
	pthread_cond_t fewer;
	_Atomic int open;
	int kinds[2];	   /* of these LMTP, SMTP */
	int giving_way[2]; /* of those: told to leave */
	struct letterbox_conn *conns;
	_Atomic uint64_t connections, turned_away, gave_way, taken, known, refused, later;
};

/* letterbox_place.c */
int letterbox_listen(struct letterbox *b, const char *lmtp, const char *smtp, struct arena *a,
	struct problem *p);
void letterbox_close(struct letterbox *b);

/* letterbox_conn.c: one connection, from its greeting to its end; it closes nothing. */
void letterbox_talk(struct letterbox_conn *c);
