/* intake.c - a body that its operation takes while it comes: piece by piece, on the threads for disks, where each tenant
 * has a lane.  One piece of a call is there at a time, so that a call that fails in the middle has nobody else at
 * work; the listener reads no further than a piece ahead.  What the bytes become is the operation's matter. */
#include "call/steps.h"
#include "store/pool.h"

static struct call *intake_call_of(struct work *w)
{
	return (struct call *)((char *)w - offsetof(struct call, work));
}

static int take_in(struct work *w, struct db *none)
{
	struct call *c = intake_call_of(w);

	(void)none;
	return c->take(c, c->piece, c->piece_len);
}

static void took_in(struct work *w, int err)
{
	struct call *c = intake_call_of(w);

	c->work = (struct work){ 0 };
	if (err)
		call_conclude(c, err);
	http_piece_done(c->x, !err);
}

void call_sink(struct http_exchange *x, const char *bytes, size_t n)
{
	struct call *c = x->data;
	int err;

	c->piece = bytes;
	c->piece_len = n;
	c->work = (struct work){ .run = take_in, .done = took_in };
	err = pool_submit(c->app->disk, c->caller.tenant_id, &c->work);
	if (err)
		took_in(&c->work, err);
}
