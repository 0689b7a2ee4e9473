/* await_store.c - a stage of a call, waited for: on a thread that may, and has nothing else to do meanwhile. */
#include <semaphore.h>

#include "call/steps.h"
#include "store/pool.h"

struct awaited {
	struct work work;
	struct call *c;
	int (*stage)(struct work *w, struct db *db);
	sem_t ended;
	int err;
};

static int run_awaited(struct work *w, struct db *db)
{
	struct awaited *t = (struct awaited *)w;

	return t->stage(&t->c->work, db);
}

static void awaited_done(struct work *w, int err)
{
	struct awaited *t = (struct awaited *)w;

	t->err = err;
	sem_post(&t->ended);
}

int call_await_store(
	struct call *c, enum transaction mode, int (*stage)(struct work *w, struct db *db))
{
	struct awaited t = { .work = { .run = run_awaited, .done = awaited_done, .mode = mode },
		.c = c,
		.stage = stage };
	int err;

	if (mode == READ_ONLY && store_is_sqlite(c->app->store))
		return pool_read(c->app->store, &t.work, run_awaited);
	sem_init(&t.ended, 0, 0);
	err = store_submit(c->app->store, &t.work);
	if (!err) {
		while (sem_wait(&t.ended))
			;
		err = t.err;
	}
	sem_destroy(&t.ended);
	return err;
}
