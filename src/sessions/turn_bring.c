/* turn_bring.c - bytes that a step of a turn needs of the bucket, or has for it, brought between two tries of it.
 *
 * The step ends with ERR_BRING, and is as if it had not been; then the threads
 * for disks bring what it asked for, and it runs again.  A bucket that cannot
 * be reached ends no turn: what was to be put there stays in the store until
 * maintenance moves it. */
#include "sessions/turn.h"

#include "bucket/bucket_carry.h"

struct bucket_carry *turn_carry(struct turn *t)
{
	if (!t->carry && t->s->bucket)
		t->carry = bucket_carry_new(t->s->bucket, t->job->tenant_id);
	return t->carry;
}

void turn_carry_end(struct turn *t)
{
	bucket_carry_free(t->carry, t->s->disk);
	t->carry = NULL;
}

static int bring_run(struct work *w, struct db *none)
{
	struct turn *t = (struct turn *)w;
	struct problem ignored = { 0 };
	struct arena scratch = { 0 };

	(void)none;
	bucket_carry_run(t->carry, &scratch, &ignored); /* the step asks how it went */
	arena_free(&scratch);
	return 0;
}

static void bring_done(struct work *w, int err)
{
	(void)err;
	turn_again((struct turn *)w);
}

void turn_bring(struct turn *t)
{
	t->work.run = bring_run;
	t->work.done = bring_done;
	if (!pool_submit(t->s->disk, t->job->tenant_id, &t->work))
		return;
	bucket_carry_give_up(t->carry, ERR_BUSY);
	turn_again(t);
}
