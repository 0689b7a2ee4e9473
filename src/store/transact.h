/* transact.h - a piece of work, or a batch of them, to its commit.  work.c's threads call it. */
#pragma once
#include <stdint.h>

#include "store/engine.h"

struct tallies {
	_Atomic uint64_t done, failed, commits, retries, reconnects;
};

struct tallies *store_tallies(struct store *s);

/* Whoever runs work: a thread of the queue's, with its connection. */
struct transactor {
	struct store *store;
	struct db *db;
	struct tallies *tallies;
	int caution; /* so many batches to come are run with savepoints */
};

/* Runs them, commits, and calls done() of each. */
void transact_batch(struct transactor *t, struct work *batch);
/* The same for one, of any mode. */
void transact_one(struct transactor *t, struct work *w);
/* Counts how it ended and calls its done(). */
void transact_finish(struct transactor *t, struct work *w, int err);
/* Says in the log that the store failed, if it did. */
void transact_complain(struct store *s, const struct db *db, int err);
/* Waits, longer with each try, and never the same for two that met. */
void transact_back_off(int tries);
bool transact_is_store_error(int err);
