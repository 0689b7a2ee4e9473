/* test_batches.c - work in batches: one after the other, one at a time, and nothing that came in the last moment stays. */
#include <semaphore.h>
#include <stdatomic.h>

#include "fixture.h"
#include "store/batches.h"

struct chunks {
	struct batches batches; /* first */
	_Atomic int left, taken, durable, at_once, most_at_once, err;
	bool hold; /* each batch waits to be let go on */
	sem_t began, go, ended;
};

static int chunk_take(struct batches *b, struct db *db)
{
	struct chunks *c = (struct chunks *)b;
	int now = atomic_fetch_add(&c->at_once, 1) + 1, err = atomic_load(&c->err);

	(void)db;
	if (now > atomic_load(&c->most_at_once))
		atomic_store(&c->most_at_once, now);
	if (atomic_load(&c->left) > 0 && !err)
		atomic_fetch_sub(&c->left, 1);
	b->more = atomic_load(&c->left) > 0;
	atomic_fetch_add(&c->taken, 1);
	if (c->hold) {
		sem_post(&c->began);
		sem_wait(&c->go);
	}
	atomic_fetch_sub(&c->at_once, 1);
	return err;
}

static void chunk_taken(struct batches *b)
{
	atomic_fetch_add(&((struct chunks *)b)->durable, 1);
}

static void chunks_ended(struct batches *b)
{
	sem_post(&((struct chunks *)b)->ended);
}

static void chunks_init(struct chunks *c, int left)
{
	*c = (struct chunks){
		.batches = { .take = chunk_take, .taken = chunk_taken, .ended = chunks_ended },
		.left = left
	};
	sem_init(&c->began, 0, 0);
	sem_init(&c->go, 0, 0);
	sem_init(&c->ended, 0, 0);
}

TEST(batches_go_on_until_nothing_is_left)
{
	struct fixture *f = fixture_open();
	struct chunks c;

	chunks_init(&c, 7);
	batches_start(&c.batches, f->app.store);
	sem_wait(&c.ended);
	CHECK_INT(c.left, 0);
	CHECK_INT(c.taken, 7);
	CHECK_INT(c.durable, 7);
	test_step("and once more when they are started anew");
	atomic_store(&c.left, 2);
	batches_start(&c.batches, f->app.store);
	sem_wait(&c.ended);
	CHECK_INT(c.durable, 9);
	fixture_close(f);
}

TEST(batches_look_once_more_when_they_are_started_in_their_last_moment)
{
	struct fixture *f = fixture_open();
	struct chunks c;

	chunks_init(&c, 1);
	c.hold = true;
	batches_start(&c.batches, f->app.store);
	sem_wait(&c.began); /* it has seen that nothing more is left */
	atomic_store(&c.left, 1);
	for (int i = 0; i < 3; i++)
		batches_start(&c.batches, f->app.store);
	sem_post(&c.go);
	sem_wait(&c.began);
	sem_post(&c.go);
	sem_wait(&c.ended);
	CHECK_INT(c.left, 0);
	CHECK_INT(c.taken, 2);
	CHECK_INT(c.most_at_once, 1);
	fixture_close(f);
}

TEST(batches_end_with_an_error_and_can_be_started_again)
{
	struct fixture *f = fixture_open();
	struct chunks c;

	chunks_init(&c, 3);
	atomic_store(&c.err, ERR_INTERNAL);
	batches_start(&c.batches, f->app.store);
	sem_wait(&c.ended);
	CHECK_INT(c.left, 3);
	CHECK_INT(c.durable, 0);
	atomic_store(&c.err, 0);
	batches_start(&c.batches, f->app.store);
	sem_wait(&c.ended);
	CHECK_INT(c.left, 0);
	fixture_close(f);
}
