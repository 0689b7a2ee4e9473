/* notice.c - what a commit tells others: gathered while the transaction runs, told when it is over.
 *
 * The connection remembers the notices of its transaction.  On SQLite, where
 * one process serves, it tells them after its commit.  On PostgreSQL they go to
 * the server with the commit, and one thread with a connection of its own
 * hears what any process committed. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "store/engine.h"

enum { RECONNECT_MS = 500 };

/* With the schema's name in front, because a server's channels are shared by all of a database. */
static const struct statement notify = { "notify",
	"select pg_notify('lodge.' || left(current_schema(), 32) || '.' || $1, $2)",
	.scan = "no table" };

void store_listen(
	struct store *s, const char *channel, void (*fn)(void *ctx, const char *text), void *ctx)
{
	if (s->listener_count == NOTICE_CHANNELS_MAX) {
		fprintf(stderr, "lodge: too many listeners for %s\n", channel);
		abort();
	}
	s->listeners[s->listener_count++] =
		(struct listener){ arena_strdup(&s->arena, channel), fn, ctx };
}

static bool anybody_listens(const struct store *s, const char *channel)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (strcmp(s->listeners[i].channel, channel) == 0)
			return true;
	return false;
}

/* A channel of NULL is every channel. */
static void notify_listeners(const struct store *s, const char *channel, const char *text)
{
	for (size_t i = 0; i < s->listener_count; i++)
		if (!channel || strcmp(s->listeners[i].channel, channel) == 0)
			s->listeners[i].fn(s->listeners[i].ctx, text);
}

/* The same text again and again, as when many pieces of work share a commit, is kept once. */
static bool told_already(const struct db *db, const char *channel, const char *text)
{
	const struct notice *n = db->notices;

	while (n && strcmp(n->channel, channel) != 0)
		n = n->before;
	return n && strcmp(n->text, text) == 0;
}

int db_notice(struct db *db, const char *channel, const char *text)
{
	struct notice *n;

	if (strlen(text) > NOTICE_MAX)
		return db_fail(db, ERR_INTERNAL, "a notice of %zu bytes", strlen(text));
	if ((db_is_sqlite(db) && !anybody_listens(db->store, channel)) ||
		told_already(db, channel, text))
		return 0;
	n = arena_new(&db->notice_arena, struct notice);
	*n = (struct notice){ db->notices, arena_strdup(&db->notice_arena, channel),
		arena_strdup(&db->notice_arena, text) };
	db->notices = n;
	return 0;
}

void notices_forget(struct db *db)
{
	if (db->notices)
		arena_reset(&db->notice_arena);
	db->notices = NULL;
}

/* The oldest first, each followed by the next in its `before`. */
static const struct notice *take_notices(struct db *db)
{
	struct notice *first = NULL;

	while (db->notices) {
		struct notice *n = db->notices;

		db->notices = n->before;
		n->before = first;
		first = n;
	}
	return first;
}

int notices_send(struct db *db)
{
	int err = 0;

	if (db_is_sqlite(db))
		return 0;
	for (const struct notice *n = take_notices(db); n && !err; n = n->before)
		err = db_run(db, &notify, NULL, ARGS(T(n->channel), T(n->text)));
	arena_reset(&db->notice_arena);
	return err;
}

void notices_tell(struct db *db)
{
	for (const struct notice *n = take_notices(db); n; n = n->before)
		notify_listeners(db->store, n->channel, n->text);
	arena_reset(&db->notice_arena);
}

/* The thread that hears, on PostgreSQL. */
struct hearing {
	struct store *store;
	struct db *db;
	pthread_t thread;
	int stop; /* an eventfd */
	bool running;
};

static int begin_listening(struct hearing *h)
{
	int err = served_say(h->db);

	for (size_t i = 0; i < h->store->listener_count && !err; i++)
		err = h->store->engine->listen(h->db, h->store->listeners[i].channel);
	return err;
}

static void on_engine_notice(void *ctx, const char *channel, const char *text)
{
	struct hearing *h = ctx;

	/* lodge.SCHEMA.CHANNEL: ours have no dot in them. */
	notify_listeners(
		h->store, strrchr(channel, '.') ? strrchr(channel, '.') + 1 : channel, text);
}

static bool stopped_within(const struct hearing *h, int ms)
{
	struct pollfd p = { .fd = h->stop, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

static bool connect_again(struct hearing *h)
{
	log_warn("notices cannot be heard; trying again", LOG_S("error", db_error(h->db)));
	while (!stopped_within(h, RECONNECT_MS)) {
		if (h->store->engine->mend(h->db) || begin_listening(h))
			continue;
		log_line(LOG_INFO, "notices are heard again", NULL);
		notify_listeners(h->store, NULL, NULL);
		return true;
	}
	return false;
}

static void *hear_main(void *arg)
{
	struct hearing *h = arg;

	for (;;) {
		int got = h->store->engine->hear(h->db, h->stop, on_engine_notice, h);

		if (got > 0 || (got < 0 && !connect_again(h)))
			return NULL;
	}
}

int hearing_start(struct store *s)
{
	struct hearing *h;
	struct arena scratch = { 0 };
	struct problem problem = { 0 };
	int err;

	if (store_is_sqlite(s) || !s->listener_count)
		return 0;
	h = calloc(1, sizeof *h);
	if (!h)
		abort();
	s->hearing = h;
	h->store = s;
	h->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = h->stop < 0 ? ERR_INTERNAL
			  : store_connect_way(s, WAY_LISTENER, &h->db, &scratch, &problem);
	if (!err)
		err = begin_listening(h);
	if (err)
		log_error("notices cannot be heard",
			LOG_S("error",
				problem.detail || !h->db ? problem.detail : db_error(h->db)));
	arena_free(&scratch);
	if (!err && thread_start(&h->thread, hear_main, h))
		err = ERR_INTERNAL;
	h->running = !err;
	return err;
}

void hearing_stop(struct store *s)
{
	struct hearing *h = s->hearing;
	uint64_t one = 1;

	if (!h)
		return;
	s->hearing = NULL;
	if (h->running && write(h->stop, &one, sizeof one) == sizeof one)
		pthread_join(h->thread, NULL);
	if (h->stop >= 0)
		close(h->stop);
	db_close(h->db);
	free(h);
}
