/* reads.h - reads of one thread on PostgreSQL: many at a time on one connection, and the thread waits for none.
 *
 * The thread has a loop of its own.  It hands over work that only reads, waits
 * for the descriptor to be readable along with its others, and gives reads_turn()
 * a turn then, and at the end of each of its own turns. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct reads;

/* NULL on an engine that is read where one stands. */
struct reads *reads_new(struct store *s);
/* What is under way ends with ERR_STOPPING. */
void reads_free(struct reads *r);

/* False if it is better handed to the store.  Otherwise done() is called in a turn to come, on this thread, or on one of
 * the store's where it turned out to be more than is read here. */
bool reads_take(struct reads *r, struct work *w);
void reads_turn(struct reads *r, bool readable);

/* Whether a turn is needed before long though nothing is readable: the server may never answer, or is away. */
bool reads_await(const struct reads *r);

/* What to wait for after a turn.  `connection` is another number for each connection that there was. */
struct reads_watch {
	int fd; /* -1: nothing */
	bool write;
	uint64_t connection;
};
struct reads_watch reads_watch(const struct reads *r);
