/* store.c - opening and closing a store: where it is, who may have it, which version it is. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/engine.h"

bool store_is_sqlite(const struct store *s)
{
	return s->engine == &sqlite_engine;
}

static bool where_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* One serving process a file, by whatever name it is opened: a lock on the file itself, dropped by the
 * system when the process ends.  It is of another sort than SQLite's own, and must be closed last,
 * because closing any descriptor of the file drops those. */
static int lock_file(struct store *s, struct arena *a, struct problem *p)
{
	s->lock_fd = open(s->where, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		return problem_set(
			p, a, ERR_STORE, "cannot write %s: %s", s->where, strerror(errno));
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB))
		return problem_set(p, a, ERR_STORE,
			"the store %s is in use by another lodge (serve, migrate or copy); stop it first",
			s->where);
	return 0;
}

static int open_problem(const struct db *db, const char *where, struct arena *a, struct problem *p)
{
	return problem_set(p, a, ERR_STORE, "the store %s: %s", where, db_error(db));
}

static const struct {
	const char *name;
	bool pooled;
} ways[] = {
	[WAY_SESSION] = { "session", false },
	[WAY_WRITER] = { "writer", true },
	[WAY_READER] = { "reader", true },
	[WAY_LISTENER] = { "listener", false },
	[WAY_REPLICA] = { "replica", false },
};

const char *way_name(enum store_way way)
{
	return ways[way].name;
}

bool way_is_pooled(const struct store *s, enum store_way way)
{
	return ways[way].pooled && s->settings.direct;
}

static const char *address_of_way(const struct store *s, enum store_way way)
{
	if (way == WAY_REPLICA)
		return s->settings.replica;
	return s->settings.direct && !ways[way].pooled ? s->settings.direct : s->where;
}

int store_connect(struct store *s, struct db **ret, struct arena *a, struct problem *p)
{
	return store_connect_way(s, WAY_SESSION, ret, a, p);
}

int store_connect_way(
	struct store *s, enum store_way way, struct db **ret, struct arena *a, struct problem *p)
{
	struct db *db = calloc(1, sizeof *db);
	int err;

	if (!db)
		abort();
	db->engine = s->engine;
	db->store = s;
	db->way = way;
	db->eager = true; /* whoever runs work again when it must decides otherwise */
	err = identity_holds(s)
		      ? db->engine->open(db, address_of_way(s, way), s->how)
		      : db_fail(db, ERR_STORE, "its file was changed while it was served");
	if (err) {
		open_problem(db, store_is_sqlite(s) ? s->where : "on PostgreSQL", a, p);
		db_close(db);
		return err;
	}
	*ret = db;
	return 0;
}

int store_open(struct store **ret, const struct store_settings *settings, enum store_open how,
	struct arena *a, struct problem *p)
{
	struct store *s = calloc(1, sizeof *s);
	int err = 0;

	if (!s)
		abort();
	s->settings = *settings;
	s->how = how;
	s->lock_fd = -1;
	pthread_mutex_init(&s->complaints.lock, NULL);
	if (where_begins(settings->where, "sqlite:")) {
		s->engine = &sqlite_engine;
		s->where = arena_strdup(&s->arena, settings->where + strlen("sqlite:"));
		sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
		if (how == STORE_SERVE)
			err = lock_file(s, a, p);
		else if (how == STORE_BESIDE && access(s->where, F_OK))
			err = problem_set(p, a, ERR_STORE,
				"the store %s is not there; lodge serve or lodge migrate makes it, and lodge restore puts a "
				"copy there",
				s->where);
		if (!err && how != STORE_NEW)
			err = identity_admit(s->where, a, p);
	} else if (where_begins(settings->where, "postgres://") ||
		   where_begins(settings->where, "postgresql://")) {
		s->engine = &postgres_engine;
		s->where = arena_strdup(&s->arena, settings->where);
		if (settings->direct)
			s->settings.direct = arena_strdup(&s->arena, settings->direct);
		if (settings->replica)
			s->settings.replica = arena_strdup(&s->arena, settings->replica);
	} else {
		err = problem_set(p, a, ERR_USAGE,
			"the store must be sqlite:PATH or postgres://..., and this is neither");
	}
	if (err) {
		store_close(s);
		return err;
	}
	s->queue = queue_new(s);
	*ret = s;
	return 0;
}

int store_start(struct store *s)
{
	int err;

	if (!store_is_sqlite(s)) {
		pg_warn_of_address("store", s->where);
		if (s->settings.direct)
			pg_warn_of_address("store_direct", s->settings.direct);
		if (s->settings.replica)
			pg_warn_of_address("store_replica", s->settings.replica);
	}
	err = hearing_start(s);
	if (!err)
		err = replica_start(s);
	return err ? err : queue_start(s->queue);
}

void store_stop(struct store *s)
{
	identity_holds(s); /* a file that is another by now is not written to while closing */
	replica_stop(s);   /* what it cannot do any more goes to the queue */
	queue_stop(s->queue);
	hearing_stop(s);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	hearing_stop(s);
	replica_stop(s);
	replica_free(s);
	queue_free(s->queue);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	pthread_mutex_destroy(&s->complaints.lock);
	arena_free(&s->arena);
	free(s);
}

int store_submit(struct store *s, struct work *w)
{
	return queue_submit(s->queue, w);
}

struct store_stats store_stats(const struct store *s)
{
	return queue_stats(s->queue);
}
