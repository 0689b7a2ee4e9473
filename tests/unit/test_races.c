/* test_races.c - work that takes no part in the writers' lock, met by every other at each of its statements.
 *
 * All that changes something runs under one lock of the store, one after the
 * other, but for the queue's claims and what a runner hands back: they take a
 * lock of their own, and each of their statements sees what others have
 * committed by then.  So each of them is stopped before each of its
 * statements, and each of the things that others do with jobs is run there, to
 * its end or until it waits for what the first has locked; then the first goes
 * on.  What is in the tables at the end must be what comes of one of the two
 * after the other. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "queue/claim.h"
#include "queue/queue_admin.h"
#include "store/engine.h"

#define NOW INT64_C(1800000000000000)
#define MINUTE_US (60 * SECOND_US)
enum { LONGEST = 80, PATIENCE_MS = 60000 };

#define OURS "c0000000000000000000000000.1"
#define THEIRS "c0000000000000000000000000.2"
#define LOST "c0000000000000000000000000.9"

/* ---- what there is before ---- */

static const struct staged_job {
	const char *id, *kind, *lane, *state;
	int minutes; /* until its time comes */
	const char *owner;
	int deaths;
} staged[] = {
	{ "j01waits", "job", "", "waiting", 0, NULL, 0 },
	{ "j02waits", "job", "lane", "waiting", 0, NULL, 0 },
	{ "j03waits", "job", "lane", "waiting", 0, NULL, 0 },
	{ "j04due", "job", "", "delayed", -1, NULL, 0 },
	{ "j05later", "job", "lane", "delayed", 60, NULL, 0 },
	{ "j06held", "job", "lane", "held", 0, NULL, 0 },
	{ "j07theirs", "job", "lane", "running", 0, THEIRS, 0 },
	{ "j08ours", "job", "", "running", 0, OURS, 0 },
	{ "j09lost", "job", "", "running", 0, LOST, 0 },
	{ "j10dead", "job", "", "dead", 0, NULL, 0 },
	{ "j11strange", "turnip", "", "waiting", 0, NULL, 0 },
	{ "j12suspect", "job", "", "waiting", 0, NULL, 3 },
};

static void set_stage(struct fixture *f)
{
	fixture_sql(f, "delete from jobs", NO_ARGS);
	fixture_sql(f, "delete from job_runners", NO_ARGS);
	for (size_t i = 0; i < sizeof staged / sizeof *staged; i++) {
		const struct staged_job *j = &staged[i];

		fixture_sql(f,
			"insert into jobs (tenant_id, id, kind, subject, lane, state, priority, run_at, attempts, "
			"max_attempts, created_at, updated_at, payload, owner, deaths) "
			"values ($1, $2, $3, '', $4, $5, 0, $6, 1, 10, 1, 1, '{}', $7, $8)",
			ARGS(T(f->tenant_id), T(j->id), T(j->kind), T(j->lane), T(j->state),
				N(NOW + j->minutes * MINUTE_US), T(j->owner), N(j->deaths)));
	}
	fixture_sql(f,
		"insert into job_runners (owner, lease_until) values ($1, $4), ($2, $4), ($3, $5)",
		ARGS(T(OURS), T(THEIRS), T(LOST), N(NOW + MINUTE_US), N(NOW - 1)));
}

/* ---- what others do ---- */

struct deed {
	const char *name;
	int (*run)(struct db *db, struct arena *a, const char *tenant_id);
	enum transaction mode;
};

static struct claimed claimed_of(const char *tenant_id, const char *id, const char *owner)
{
	struct claimed c = {
		.job = { .tenant_id = tenant_id, .id = id, .kind = "job", .lane = "lane" },
		.max_attempts = 10
	};

	snprintf(c.owner, sizeof c.owner, "%s", owner);
	return c;
}

/* An error that it may end with is no matter here. */
static int harmless(int err)
{
	return err == ERR_CONFLICT || err == ERR_NOT_FOUND ? 0 : err;
}

static int deed_add(struct db *db, struct arena *a, const char *tenant_id)
{
	struct job_new in = { .tenant_id = tenant_id, .kind = "job", .lane = "lane" };
	char id[26];

	return jobs_add(db, a, &in, NOW, id);
}

#define RUNNING_DEED(name, id, owner, ...)                                     \
	static int name(struct db *db, struct arena *a, const char *tenant_id) \
	{                                                                      \
		struct claimed c = claimed_of(tenant_id, id, owner);           \
		struct job *job = &c.job;                                      \
		int err;                                                       \
                                                                               \
		(void)a;                                                       \
		job->own = &c;                                                 \
		err = job_still_mine(db, job, NOW);                            \
		return err ? err : __VA_ARGS__;                                \
	}
RUNNING_DEED(deed_finish, "j07theirs", THEIRS, job_finish(db, job, NOW))
RUNNING_DEED(deed_requeue, "j07theirs", THEIRS, job_requeue(db, job, NOW + 1, true, "no", NOW))
RUNNING_DEED(deed_wait, "j07theirs", THEIRS, job_wait(db, job, "room", NOW + 1, NULL, NOW))
RUNNING_DEED(deed_finish_ours, "j08ours", OURS, job_finish(db, job, NOW))
RUNNING_DEED(deed_finish_lost, "j09lost", LOST, job_finish(db, job, NOW))

static int deed_wake(struct db *db, struct arena *a, const char *tenant_id)
{
	(void)a;
	return jobs_wake(db, tenant_id, "lane", NOW);
}

static int deed_leave(struct db *db, struct arena *a, const char *tenant_id)
{
	(void)a;
	return jobs_leave(db, tenant_id, "lane", "j02waits", NOW);
}

static int deed_retry(struct db *db, struct arena *a, const char *tenant_id)
{
	return jobs_retry(db, a, "j10dead", NOW, &tenant_id);
}

static int deed_drop(struct db *db, struct arena *a, const char *tenant_id)
{
	return jobs_drop(db, a, "j01waits", &tenant_id);
}

static int claim_as(struct db *db, const char *tenant_id, const char *owner, bool look)
{
	static const struct job_kind kinds[] = { { "job", NULL, NULL, NULL } };
	static const struct runner_settings settings = {
		.kinds = kinds, .kind_count = 1, .most = 16, .lane_most = 2
	};
	struct ring_tenant ring = { 0 };
	struct claim *c = calloc(1, sizeof *c);
	int err;

	snprintf(ring.tenant_id, sizeof ring.tenant_id, "%s", tenant_id);
	snprintf(c->owner, sizeof c->owner, "%s", owner);
	c->settings = &settings;
	c->now = NOW;
	c->lease_us = MINUTE_US;
	c->heartbeat = c->due_now = true;
	c->look = look;
	c->places = 16;
	c->picks[0].ring_tenant = &ring;
	c->pick_count = 1;
	c->claimed_last = &c->claimed;
	err = claim_run(&c->work, db);
	claim_forget(c);
	arena_free(&c->arena);
	free(c);
	return err;
}

static int deed_claim(struct db *db, struct arena *a, const char *tenant_id)
{
	(void)a;
	return claim_as(db, tenant_id, OURS, true);
}

static int deed_claim_other(struct db *db, struct arena *a, const char *tenant_id)
{
	(void)a;
	return claim_as(db, tenant_id, THEIRS, false);
}

static int deed_hand_back(struct db *db, struct arena *a, const char *tenant_id)
{
	struct hand_back h = { .owner = OURS, .now = NOW };

	(void)a;
	(void)tenant_id;
	return hand_back_run(&h.work, db);
}

static const struct deed stopped[] = {
	{ "a claim", deed_claim, STEP_BY_STEP },
	{ "another's claim", deed_claim_other, STEP_BY_STEP },
	{ "a hand-back", deed_hand_back, STEP_BY_STEP },
};
static const struct deed others[] = {
	{ "add", deed_add, READ_WRITE },
	{ "finish", deed_finish, READ_WRITE },
	{ "requeue", deed_requeue, READ_WRITE },
	{ "wait", deed_wait, READ_WRITE },
	{ "finish ours", deed_finish_ours, READ_WRITE },
	{ "finish what was lost", deed_finish_lost, READ_WRITE },
	{ "wake", deed_wake, READ_WRITE },
	{ "leave", deed_leave, READ_WRITE },
	{ "retry", deed_retry, READ_WRITE },
	{ "drop", deed_drop, READ_WRITE },
	{ "claim", deed_claim, STEP_BY_STEP },
	{ "claim of another", deed_claim_other, STEP_BY_STEP },
	{ "hand back", deed_hand_back, STEP_BY_STEP },
};

/* Again while the store asks for it, as the store's threads do. */
static void do_deed(struct db *db, const struct deed *d, const char *tenant_id)
{
	int err;

	do {
		struct arena a = { 0 };

		db->eager = true; /* a statement is sent when it is asked */
		err = db_begin(db, d->mode);
		if (!err)
			err = d->run(db, &a, tenant_id);
		if (db->in_transaction && err)
			db_rollback(db);
		else if (!err)
			err = db_commit(db);
		arena_free(&a);
	} while (err == ERR_RETRY);
	CHECK_INT(harmless(err), 0);
}

/* ---- stopping ---- */

static struct stopping {
	struct fixture *f;
	struct db *first, *second;
	const struct deed *other;
	pthread_t thread;
	int64_t server; /* the second's */
	int left;	/* statements until it is stopped */
	bool begun;
	_Atomic bool over;
} stopping;

static void *run_other(void *arg)
{
	struct stopping *s = arg;

	do_deed(s->second, s->other, s->f->tenant_id);
	s->over = true;
	return NULL;
}

static bool other_waits(struct stopping *s)
{
	return fixture_count(s->f,
		       arena_printf(&s->f->arena,
			       "select count(*) from pg_locks where pid = %lld and not granted",
			       (long long)s->server)) > 0;
}

static void at_statement(struct db *db)
{
	struct stopping *s = &stopping;
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	if (db != s->first || s->begun || s->left-- > 0)
		return;
	s->begun = true;
	pthread_create(&s->thread, NULL, run_other, s);
	while (!s->over && !other_waits(s) && clock_mono_ms() < end)
		usleep(200);
}

static const char *stage_now(struct fixture *f, struct db *db)
{
	static const struct statement dump = { "races_dump",
		"select coalesce(string_agg(x, chr(10) order by x), '') as value from (select case when id like 'j%' "
		"then id else 'new' end || ' ' || state || ' ' || run_at || ' ' || attempts || ' ' || deaths || ' ' || "
		"coalesce(owner, '-') || ' ' || coalesce(waits_for, '-') || ' ' || coalesce(error, '-') as x from jobs "
		"union all select 'runner ' || owner || ' ' || lease_until from job_runners) y",
		.row = &one_text_schema, .scan = "a test", .across = "a test" };
	struct one_text row = { 0 };

	CHECK_INT(db_one(db, &f->arena, &dump, &row, NO_ARGS), 0);
	return row.value;
}

/* One after the other: what the two may come to. */
static const char *in_turn(struct stopping *s, const struct deed *one, const struct deed *two)
{
	set_stage(s->f);
	do_deed(s->second, one, s->f->tenant_id);
	do_deed(s->second, two, s->f->tenant_id);
	return stage_now(s->f, s->second);
}

/* False if the first came to its end before. */
static bool try_at(struct stopping *s, const struct deed *d, int at, const char *const serial[2])
{
	const char *got;

	set_stage(s->f);
	s->left = at;
	s->begun = false;
	s->over = false;
	fault_plan.at_statement = at_statement;
	do_deed(s->first, d, s->f->tenant_id);
	fault_plan.at_statement = NULL;
	if (!s->begun)
		return false;
	pthread_join(s->thread, NULL);
	got = stage_now(s->f, s->second);
	if (strcmp(got, serial[0]) != 0 && strcmp(got, serial[1]) != 0)
		test_fail(__FILE__, __LINE__, "neither\n%s\nnor\n%s\nbut\n%s", serial[0], serial[1],
			got);
	return true;
}

TEST(races_of_claims_end_as_one_after_the_other)
{
	static const struct statement pid = { "races_pid", "select pg_backend_pid()",
		.scan = "none" };
	struct stopping *s = &stopping;
	struct problem p = { 0 };
	int tried = 0;

	*s = (struct stopping){ .f = fixture_open() };
	if (store_is_sqlite(s->f->app.store)) {
		fixture_close(s->f);
		test_skip();
		return;
	}
	runner_stop(s->f->service.runner, 10000); /* it would take some */
	CHECK_INT(store_connect(s->f->app.store, &s->first, &s->f->arena, &p), 0);
	CHECK_INT(store_connect(s->f->app.store, &s->second, &s->f->arena, &p), 0);
	CHECK_INT(db_int(s->second, &pid, &s->server, NO_ARGS), 0);
	for (size_t i = 0; i < sizeof stopped / sizeof *stopped; i++) {
		for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
			const char *serial[2];
			int at = 0;

			s->other = &others[k];
			test_step("%s, %s", stopped[i].name, others[k].name);
			serial[0] = in_turn(s, &stopped[i], &others[k]);
			serial[1] = in_turn(s, &others[k], &stopped[i]);
			do
				test_step("%s, stopped before statement %d, %s", stopped[i].name,
					at, others[k].name);
			while (try_at(s, &stopped[i], at++, serial) && at < LONGEST);
			CHECK(at > 3 && at < LONGEST);
			tried += at;
		}
	}
	CHECK(tried > 300);
	db_close(s->first);
	db_close(s->second);
	fixture_close(s->f);
}
