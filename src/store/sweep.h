/* sweep.h - rows that are past go, a bounded piece at a time, until none is left.
 *
 * Each piece is a transaction of its own, so that writers wait for one piece
 * at most; and the next follows at once, so that what comes in by the thousand
 * also goes by the thousand.  Whoever has it done again and again (maintenance)
 * says how often: one that is not through by then leaves the rest to the next. */
#pragma once
#include "store/store.h"

enum { SWEEP_PIECE = 500, SWEEP_MOST_MS = 50000 };

/* A piece of rows of any size: on SQLite a row of a megabyte takes some ten milliseconds to go.  A few at first, more at
 * once while that is quick, and no more than SWEEP_PIECE of them, nor for longer than a piece may take. */
struct sweep_pace {
	int64_t began_us, step_us, rows, at_once;
};

void sweep_pace_begin(struct sweep_pace *p);
/* So many are gone: whether this piece goes on. */
bool sweep_pace_goes_on(struct sweep_pace *p, int64_t removed);

/* $1 of the statement: what lies before it is past; $2: rows at most.  An error ends it until the next
 * time. */
void sweep_submit(struct store *store, const struct statement *st, int64_t before);
