/* test_notice.c - what is told after a commit: to whom, in which order, and never of what did not happen. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/engine.h"

enum { HEARD_MAX = 64, PATIENCE_MS = 60000 };

struct ear {
	pthread_mutex_t lock;
	char texts[HEARD_MAX][40];
	int count, missed;
};

static void hear(void *ctx, const char *text)
{
	struct ear *e = ctx;

	pthread_mutex_lock(&e->lock);
	if (!text)
		e->missed++;
	else if (e->count < HEARD_MAX)
		snprintf(e->texts[e->count++], sizeof e->texts[0], "%s", text);
	pthread_mutex_unlock(&e->lock);
}

static int heard(struct ear *e)
{
	int n;

	pthread_mutex_lock(&e->lock);
	n = e->count;
	pthread_mutex_unlock(&e->lock);
	return n;
}

static int missed(struct ear *e)
{
	int n;

	pthread_mutex_lock(&e->lock);
	n = e->missed;
	pthread_mutex_unlock(&e->lock);
	return n;
}

static void wait_for(struct ear *e, int count)
{
	int64_t until = clock_mono_ms() + PATIENCE_MS;

	while (heard(e) < count && clock_mono_ms() < until)
		usleep(500);
	CHECK_INT(heard(e), count);
}

/* What was heard, joined by spaces. */
static const char *all(struct ear *e, struct arena *a)
{
	const char *text = "";

	pthread_mutex_lock(&e->lock);
	for (int i = 0; i < e->count; i++)
		text = arena_printf(a, "%s%s%s", text, i ? " " : "", e->texts[i]);
	pthread_mutex_unlock(&e->lock);
	return text;
}

struct notice_fixture {
	struct arena arena;
	const char *where, *folder;
	struct store *store;
	struct ear apples, pears;
};

static struct store *open_here(struct notice_fixture *s, struct ear *apples, struct ear *pears)
{
	struct store_settings settings = { .where = s->where, .workers = 2, .queue_max = 1000 };
	struct problem p = { 0 };
	struct store *store = NULL;
	int from, to;

	if (store_open(&store, &settings, STORE_SERVE, &s->arena, &p) ||
		store_migrate(store, &from, &to, &s->arena, &p)) {
		test_fail(__FILE__, __LINE__, "%s", p.detail);
		exit(2);
	}
	pthread_mutex_init(&apples->lock, NULL);
	pthread_mutex_init(&pears->lock, NULL);
	store_listen(store, "apples", hear, apples);
	store_listen(store, "pears", hear, pears);
	CHECK_INT(store_start(store), 0);
	return store;
}

static struct notice_fixture *http_fixture_open(void)
{
	struct notice_fixture *s = calloc(1, sizeof *s);

	s->where = fixture_place(&s->arena, &s->folder);
	s->store = open_here(s, &s->apples, &s->pears);
	return s;
}

static void http_fixture_close(struct notice_fixture *s)
{
	store_stop(s->store);
	store_close(s->store);
	fixture_drop(s->folder);
	arena_free(&s->arena);
	free(s);
}

/* A piece of work that tells something, and may then think better of it. */
struct piece {
	struct work work;
	struct ear *ear; /* what it has heard when done() comes */
	const char *text;
	int verdict, heard_at_done;
	_Atomic bool over;
};

static int piece_run(struct work *w, struct db *db)
{
	struct piece *p = (struct piece *)w;
	int err = db_notice(db, "apples", p->text);

	return err ? err : p->verdict;
}

static void piece_done(struct work *w, int err)
{
	struct piece *p = (struct piece *)w;

	(void)err;
	p->heard_at_done = heard(p->ear);
	p->over = true;
}

static struct piece piece_of(struct notice_fixture *s, const char *text, int verdict)
{
	return (struct piece){ .work = { .run = piece_run, .done = piece_done, .mode = READ_WRITE },
		.ear = &s->apples,
		.text = text,
		.verdict = verdict };
}

static void run(struct notice_fixture *s, struct piece *p)
{
	CHECK_INT(store_submit(s->store, &p->work), 0);
	while (!p->over)
		usleep(200);
}

TEST(notice_comes_behind_the_commit_and_to_its_channel)
{
	struct notice_fixture *s = http_fixture_open();
	struct piece one = piece_of(s, "one", 0), never = piece_of(s, "never", ERR_CONFLICT),
		     two = piece_of(s, "two", 0);

	run(s, &one);
	run(s, &never);
	run(s, &two);
	wait_for(&s->apples, 2);
	CHECK_STR(all(&s->apples, &s->arena), "one two");
	CHECK_INT(heard(&s->pears), 0);
	if (fixture_is_sqlite()) {
		CHECK_INT(one.heard_at_done, 1); /* listeners know before the one who asked */
		CHECK_INT(two.heard_at_done, 2);
	}
	http_fixture_close(s);
}

/* The writer is held up so that the others share one commit after it. */
static int slow_run(struct work *w, struct db *db)
{
	usleep(50000);
	return piece_run(w, db);
}

TEST(notice_of_one_piece_is_dropped_with_it_and_the_others_stay)
{
	struct notice_fixture *s = http_fixture_open();
	struct piece pieces[7];
	const char *text;

	for (int i = 0; i < 7; i++) {
		pieces[i] =
			piece_of(s, arena_printf(&s->arena, "p%d", i), i % 2 ? ERR_CONFLICT : 0);
		if (i == 0)
			pieces[i].work.run = slow_run;
		CHECK_INT(store_submit(s->store, &pieces[i].work), 0);
	}
	for (int i = 0; i < 7; i++)
		while (!pieces[i].over)
			usleep(200);
	wait_for(&s->apples, 4);
	text = all(&s->apples, &s->arena);
	for (int i = 0; i < 7; i++)
		CHECK((strstr(text, pieces[i].text) != NULL) == (i % 2 == 0));
	http_fixture_close(s);
}

TEST(notice_works_on_a_connection_of_ones_own)
{
	struct notice_fixture *s = http_fixture_open();
	struct problem p = { 0 };
	struct db *db = NULL;
	char *huge = arena_alloc(&s->arena, NOTICE_MAX + 2);

	CHECK_INT(store_connect(s->store, &db, &s->arena, &p), 0);
	CHECK_INT(db_begin(db, READ_WRITE), 0);
	CHECK_INT(db_notice(db, "apples", "no"), 0);
	db_rollback(db);
	CHECK_INT(db_begin(db, READ_WRITE), 0);
	CHECK_INT(db_notice(db, "apples", "yes"), 0);
	CHECK_INT(db_notice(db, "apples", "yes"), 0);
	CHECK_INT(db_notice(db, "pears", "it's"), 0);
	CHECK_INT(db_notice(db, "plums", "nobody"), 0);
	CHECK_INT(heard(&s->apples), 0);
	CHECK_INT(db_commit(db), 0);
	wait_for(&s->apples, 1);
	wait_for(&s->pears, 1);
	CHECK_STR(all(&s->pears, &s->arena), "it's");
	memset(huge, 'x', NOTICE_MAX + 1);
	CHECK_INT(db_begin(db, READ_WRITE), 0);
	CHECK_INT(db_notice(db, "apples", huge), ERR_INTERNAL);
	huge[NOTICE_MAX] = '\0';
	CHECK_INT(db_notice(db, "apples", huge), 0);
	db_rollback(db);
	db_close(db);
	http_fixture_close(s);
}

TEST(notice_is_forgotten_when_the_commit_fails)
{
	struct notice_fixture *s = http_fixture_open();
	struct problem p = { 0 };
	struct db *db = NULL;

	CHECK_INT(store_connect(s->store, &db, &s->arena, &p), 0);
	CHECK_INT(db_begin(db, READ_WRITE), 0);
	CHECK_INT(db_notice(db, "apples", "no"), 0);
	fault_plan.err = ERR_STORE;
	fault_plan.statement_at = 1;
	CHECK_INT(db_commit(db), ERR_STORE);
	CHECK_INT(db_begin(db, READ_WRITE), 0);
	CHECK_INT(db_notice(db, "apples", "yes"), 0);
	CHECK_INT(db_commit(db), 0);
	wait_for(&s->apples, 1);
	CHECK_STR(all(&s->apples, &s->arena), "yes");
	db_close(db);
	http_fixture_close(s);
}

TEST(notice_reaches_another_process_and_an_absence_is_told)
{
	struct notice_fixture *s;
	struct store *second;
	struct ear apples = { 0 }, pears = { 0 };
	struct piece one, two;
	int64_t until = clock_mono_ms() + PATIENCE_MS;

	SKIP_UNLESS(!fixture_is_sqlite());
	s = http_fixture_open();
	second = open_here(s, &apples, &pears);
	one = piece_of(s, "one", 0);
	run(s, &one);
	wait_for(&s->apples, 1);
	wait_for(&apples, 1);
	/* The server drops the connections that listen: both say so, and hear again. */
	{
		struct problem p = { 0 };
		struct db *db = NULL;
		struct statement cut = { "cut",
			"select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
			"and datname = current_database() and query like 'do $do$%'",
			.scan = "a test" };

		CHECK_INT(store_connect(s->store, &db, &s->arena, &p), 0);
		CHECK_INT(db_run(db, &cut, NULL, NO_ARGS), 0);
		db_close(db);
	}
	while ((!missed(&apples) || !missed(&s->apples) || !missed(&pears)) &&
		clock_mono_ms() < until)
		usleep(1000);
	CHECK_INT(missed(&apples), 1);
	CHECK_INT(missed(&pears), 1);
	CHECK_INT(missed(&s->apples), 1);
	two = piece_of(s, "two", 0);
	run(s, &two);
	wait_for(&s->apples, 2);
	wait_for(&apples, 2);
	store_stop(second);
	store_close(second);
	http_fixture_close(s);
}
