/* sweep.c - see sweep.h. */
#include "store/sweep.h"

#include <stdlib.h>

#include "base/clock.h"
#include "store/batches.h"

struct sweep {
	struct batches batches; /* first */
	const struct statement *st;
	int64_t before, end_ms;
};

enum { PACE_FIRST = 4, PACE_MOST = 128, PACE_QUICK_US = 1000, PACE_PIECE_US = 10000 };

void sweep_pace_begin(struct sweep_pace *p)
{
	*p = (struct sweep_pace){ .began_us = clock_mono_us(), .at_once = PACE_FIRST };
	p->step_us = p->began_us;
}

bool sweep_pace_goes_on(struct sweep_pace *p, int64_t removed)
{
	int64_t now = clock_mono_us(), took = now - p->step_us;

	p->rows += removed;
	p->step_us = now;
	if (took < PACE_QUICK_US && p->at_once < PACE_MOST)
		p->at_once *= 2;
	else if (took >= PACE_QUICK_US && p->at_once > 1)
		p->at_once /= 2;
	return p->rows < SWEEP_PIECE && now - p->began_us < PACE_PIECE_US;
}

static int sweep_take(struct batches *b, struct db *db)
{
	struct sweep *s = (struct sweep *)b;
	int64_t removed = 0;
	int err = db_run(db, s->st, &removed, ARGS(N(s->before), N(SWEEP_PIECE)));

	b->more = removed >= SWEEP_PIECE && clock_mono_ms() < s->end_ms;
	return err;
}

static void sweep_ended(struct batches *b)
{
	free(b);
}

void sweep_submit(struct store *store, const struct statement *st, int64_t before)
{
	struct sweep *s = calloc(1, sizeof *s);

	if (!s)
		return;
	*s = (struct sweep){ .batches = { .take = sweep_take, .ended = sweep_ended },
		.st = st,
		.before = before,
		.end_ms = clock_mono_ms() + SWEEP_MOST_MS };
	batches_start(&s->batches, store);
}
