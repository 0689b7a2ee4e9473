/* checkpoint.c - moves what SQLite's write-ahead log holds into the file, beside the writer.
 *
 * Left to itself SQLite does it at the end of the commit that fills the log,
 * and everybody who writes waits meanwhile.  Here a thread with a connection
 * of its own moves the bulk while the writer goes on, again and again until
 * little is left; the writer, between two commits, moves this little, and its
 * next commit begins the log anew.  A log that grows all the same, because the
 * disk is slow or somebody reads for long, has the writer wait for the mover
 * at LOG_MOST, so that there is an end to it. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"
#include "store/engine.h"

enum {
	LOG_PAGES = 4000,	  /* move them when there are so many */
	LOG_LOOK = LOG_PAGES / 4, /* and then, until the log begins anew, at every so many more */
	LOG_MOST = 8 * LOG_PAGES,
	LITTLE = 256,
	PASSES = 4,
};

enum checkpoint_state { RESTING, ASKED, MOVING, NEARLY };

struct checkpointer {
	struct store *store;
	struct db *db;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum checkpoint_state state;
	bool stopping;
	_Atomic int64_t pages; /* in the log; the writer tells */
	int64_t look_at;       /* the writer's own */
};

/* A pass that fails harms nothing: the pages are safe in the log, and the next look tries again. */
static int64_t checkpoint_pass(struct db *db, bool flush)
{
	int64_t moved = 0;

	if (!identity_holds(db->store))
		return 0;
	if (db->engine->checkpoint(db, flush, &moved))
		store_complain(
			db->store, "the store's log cannot be moved into its file", db_error(db));
	return moved;
}

/* With the first time: many a log never fills. */
static bool checkpoint_connected(struct checkpointer *c)
{
	struct arena scratch = { 0 };
	struct problem problem = { 0 };

	if (!c->db && store_connect(c->store, &c->db, &scratch, &problem))
		store_complain(
			c->store, "the store's log cannot be moved into its file", problem.detail);
	arena_free(&scratch);
	return c->db;
}

static void checkpoint_move(struct checkpointer *c)
{
	if (!checkpoint_connected(c))
		return;
	for (int i = 0; i < PASSES; i++)
		if (checkpoint_pass(c->db, true) + LITTLE >= c->pages)
			break;
}

static void *checkpoint_main(void *arg)
{
	struct checkpointer *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stopping) {
		if (c->state != ASKED) {
			pthread_cond_wait(&c->changed, &c->lock);
			continue;
		}
		c->state = MOVING;
		pthread_mutex_unlock(&c->lock);
		checkpoint_move(c);
		pthread_mutex_lock(&c->lock);
		c->state = NEARLY;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void checkpoint_advance(struct checkpointer *c, struct db *writer)
{
	pthread_mutex_lock(&c->lock);
	while ((c->state == ASKED || c->state == MOVING) && c->pages >= LOG_MOST)
		pthread_cond_wait(&c->changed, &c->lock);
	if (c->state == RESTING) {
		c->state = ASKED;
		pthread_cond_broadcast(&c->changed);
	} else if (c->state == NEARLY) {
		checkpoint_pass(writer, false);
		c->look_at = c->pages + LOG_LOOK;
		c->state = RESTING;
	}
	pthread_mutex_unlock(&c->lock);
}

void checkpoint_look(struct checkpointer *c, struct db *writer)
{
	int64_t pages = c ? writer->engine->log_pages(writer) : 0;

	if (!c || pages == c->pages)
		return;
	if (pages < c->pages)
		c->look_at = LOG_PAGES;
	c->pages = pages;
	if (pages >= c->look_at)
		checkpoint_advance(c, writer);
}

int checkpoint_start(struct store *s, struct checkpointer **ret)
{
	struct checkpointer *c = calloc(1, sizeof *c);

	if (!c)
		abort();
	c->store = s;
	c->look_at = LOG_PAGES;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	if (thread_start(&c->thread, checkpoint_main, c)) {
		free(c);
		return ERR_INTERNAL;
	}
	*ret = c;
	return 0;
}

void checkpoint_stop(struct checkpointer *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	db_close(c->db);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->changed);
	free(c);
}
