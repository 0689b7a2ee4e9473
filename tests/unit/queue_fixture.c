/* queue_fixture.c - see queue_fixture.h. */
#include "queue_fixture.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/id.h"
#include "store/engine.h"

/* A piece of work for one job, from whatever thread. */
struct act {
	struct work work;
	struct queue_fixture *fixture;
	struct job *job;
	int (*what)(struct act *a, struct db *db);
	int64_t run_at;
	bool counts, over, own;
	const char *error;
	_Atomic int verdict; /* 1: not told yet */
	const struct job_new *in;
	int count;
	char id[26];
};

static int act_run(struct work *w, struct db *db)
{
	struct act *a = (struct act *)w;

	return a->what(a, db);
}

static void act_done(struct work *w, int err)
{
	struct act *a = (struct act *)w;
	bool own = a->own;

	if (a->over) {
		a->fixture->over++;
		job_over(a->job, err);
	}
	if (own)
		free(a);
	else
		a->verdict = err;
}

static int do_finish(struct act *a, struct db *db)
{
	return job_finish(db, a->job, clock_now_us());
}

static int do_put_back(struct act *a, struct db *db)
{
	return job_requeue(db, a->job, a->run_at, a->counts, a->error, clock_now_us());
}

static int do_add(struct act *a, struct db *db)
{
	int err = 0;

	for (int i = 0; i < a->count && !err; i++)
		err = jobs_add(db, &a->fixture->arena, a->in, clock_now_us(), a->id);
	return err;
}

static int act(struct queue_fixture *s, struct act *a)
{
	a->fixture = s;
	a->work = (struct work){ .run = act_run, .done = act_done, .mode = READ_WRITE };
	a->verdict = 1;
	if (store_submit(s->store, &a->work))
		test_fail(__FILE__, __LINE__, "the store takes no work");
	for (int64_t until = clock_mono_ms() + PATIENCE_MS; a->verdict == 1;) {
		usleep(100);
		if (clock_mono_ms() < until)
			continue;
		test_fail(__FILE__, __LINE__, "the store does not answer");
		exit(2);
	}
	return a->verdict;
}

static void log_begun(struct queue_fixture *s, struct job *job, bool keep)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->count < QUEUE_FIXTURE_LOG ? s->count++ : QUEUE_FIXTURE_LOG - 1;
	s->log[n].job = keep ? job : NULL;
	s->log[n].attempts = (int)job->attempts;
	snprintf(s->log[n].id, sizeof s->log[n].id, "%s", job->id);
	snprintf(s->log[n].subject, sizeof s->log[n].subject, "%s", job->subject);
	for (int i = 0; i < QUEUE_FIXTURE_TENANTS; i++)
		if (strcmp(s->tenants[i], job->tenant_id) == 0)
			s->log[n].tenant = i;
	pthread_mutex_unlock(&s->lock);
}

static void quick(void *ctx, struct job *job)
{
	struct queue_fixture *s = ctx;
	struct act *a = calloc(1, sizeof *a);

	log_begun(s, job, false);
	a->work = (struct work){ .run = act_run, .done = act_done, .mode = READ_WRITE };
	a->fixture = s;
	a->job = job;
	a->what = do_finish;
	a->over = a->own = true;
	if (store_submit(s->store, &a->work)) {
		free(a);
		job_over(job, ERR_BUSY);
	}
}

static void slow(void *ctx, struct job *job)
{
	log_begun(ctx, job, true);
}

static void broken(void *ctx, struct job *job)
{
	log_begun(ctx, job, false);
	job_over(job, ERR_UPSTREAM);
}

static void asked_to_stop(void *ctx, struct job *job)
{
	struct queue_fixture *s = ctx;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->count; i++)
		if (s->log[i].job == job)
			s->log[i].stopped = true;
	pthread_mutex_unlock(&s->lock);
}

static void make_tenants(struct queue_fixture *s)
{
	queue_fixture_sql(s,
		"insert into plans (id, name, slug, monthly_price_pd, created_at) values ('p', 'P', 'p', 0, 1)");
	for (int i = 0; i < QUEUE_FIXTURE_TENANTS; i++) {
		snprintf(s->tenants[i], sizeof s->tenants[i], "%s", id_new(NULL).text);
		queue_fixture_sql(s,
			arena_printf(&s->arena,
				"insert into tenants (id, name, slug, plan_id, plan_status, status, paid, "
				"allow_superadmin_access, default_skill_visibility_scope, "
				"external_mail_enabled, voicebox_enabled, require_user_model_grants, "
				"created_at, updated_at) "
				"values ('%s', 'T%d', 't%d', 'p', 'active', "
				"'active', 0, 0, 'tenant', 0, 0, 0, 1, 1)",
				s->tenants[i], i, i));
	}
}

void queue_fixture_reopen(struct queue_fixture *s, struct runner_settings *settings,
	struct runner **runners, size_t count)
{
	struct store_settings where = { .where = s->where, .workers = 4, .queue_max = 100000 };
	struct problem p = { 0 };

	if (store_open(&s->store, &where, STORE_SERVE, &s->arena, &p) ||
		store_connect(s->store, &s->db, &s->arena, &p)) {
		test_fail(__FILE__, __LINE__, "%s", p.detail);
		exit(2);
	}
	if (!s->peopled)
		make_tenants(s);
	s->peopled = true;
	for (size_t i = 0; i < count; i++) {
		struct runner_settings mine = settings[i];

		mine.store = s->store;
		if (!mine.kinds) {
			mine.kinds = s->kinds;
			mine.kind_count = QUEUE_FIXTURE_KINDS;
		}
		runners[i] = runner_new(&mine);
	}
	CHECK_INT(store_start(s->store), 0);
}

struct queue_fixture *queue_fixture_place(void)
{
	struct queue_fixture *s = calloc(1, sizeof *s);

	s->log = calloc(QUEUE_FIXTURE_LOG, sizeof *s->log);
	pthread_mutex_init(&s->lock, NULL);
	s->where = fixture_place_migrated(&s->arena, &s->folder);
	s->kinds[0] = (struct job_kind){ "quick", quick, NULL, s };
	s->kinds[1] = (struct job_kind){ "slow", slow, asked_to_stop, s };
	s->kinds[2] = (struct job_kind){ "broken", broken, NULL, s };
	return s;
}

struct queue_fixture *queue_fixture_open_with(
	struct runner_settings *settings, struct runner **runners, size_t count)
{
	struct queue_fixture *s = queue_fixture_place();

	queue_fixture_reopen(s, settings, runners, count);
	return s;
}

struct queue_fixture *queue_fixture_open(void)
{
	return queue_fixture_open_with(NULL, NULL, 0);
}

void queue_fixture_shut(struct queue_fixture *s)
{
	store_stop(s->store);
	db_close(s->db);
	store_close(s->store);
}

void queue_fixture_close(struct queue_fixture *s)
{
	queue_fixture_shut(s);
	fixture_drop(s->folder);
	arena_free(&s->arena);
	free(s->log);
	free(s);
}

void queue_fixture_add_many(
	struct queue_fixture *s, int tenant, const struct job_new *in, int count)
{
	struct job_new job = *in;
	struct act a = { .what = do_add, .in = &job, .count = count };

	job.tenant_id = s->tenants[tenant];
	if (!job.kind)
		job.kind = "quick";
	CHECK_INT(act(s, &a), 0);
}

const char *queue_fixture_add(struct queue_fixture *s, int tenant, const struct job_new *in)
{
	struct job_new job = *in;
	struct act a = { .what = do_add, .in = &job, .count = 1 };

	job.tenant_id = s->tenants[tenant];
	if (!job.kind)
		job.kind = "quick";
	CHECK_INT(act(s, &a), 0);
	return arena_strdup(&s->arena, a.id);
}

size_t queue_fixture_begun(struct queue_fixture *s)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->count;
	pthread_mutex_unlock(&s->lock);
	return n;
}

bool queue_fixture_wait(struct queue_fixture *s, size_t begun)
{
	int64_t until = clock_mono_ms() + PATIENCE_MS;

	while (queue_fixture_begun(s) < begun && clock_mono_ms() < until)
		usleep(200);
	if (queue_fixture_begun(s) < begun)
		test_fail(__FILE__, __LINE__, "%zu jobs began, not %zu", queue_fixture_begun(s),
			begun);
	return queue_fixture_begun(s) >= begun;
}

static struct job *job_of(struct queue_fixture *s, size_t n, bool last)
{
	struct job *job;

	pthread_mutex_lock(&s->lock);
	job = s->log[n].job;
	if (last)
		s->log[n].job = NULL;
	pthread_mutex_unlock(&s->lock);
	return job;
}

int queue_fixture_finish(struct queue_fixture *s, size_t n)
{
	struct act a = { .what = do_finish, .job = job_of(s, n, true), .over = true };

	return act(s, &a);
}

int fixture_requeue(
	struct queue_fixture *s, size_t n, int64_t run_at, bool counts, const char *error)
{
	struct act a = { .what = do_put_back,
		.job = job_of(s, n, true),
		.over = true,
		.run_at = run_at,
		.counts = counts,
		.error = error };

	return act(s, &a);
}

void queue_fixture_over(struct queue_fixture *s, size_t n, int err)
{
	job_over(job_of(s, n, true), err);
}

void queue_fixture_drop_jobs(struct queue_fixture *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->log[i].job)
			queue_fixture_over(s, i, ERR_STOPPING);
}

int64_t queue_fixture_int(struct queue_fixture *s, const char *sql)
{
	struct statement st = { "test", sql, .scan = "a test" };
	int64_t n = 0;

	CHECK_INT(db_begin(s->db, READ_ONLY), 0);
	if (db_int(s->db, &st, &n, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s: %s", sql, db_error(s->db));
	db_rollback(s->db);
	db_forget(s->db);
	return n;
}

void queue_fixture_sql(struct queue_fixture *s, const char *sql)
{
	struct statement st = { "test", sql, .scan = "a test" };
	int err = 0;

	for (int tries = 0; tries < 50; tries++) {
		err = db_begin(s->db, READ_WRITE);
		if (!err)
			err = db_run(s->db, &st, NULL, NO_ARGS);
		if (err)
			db_rollback(s->db);
		else
			err = db_commit(s->db);
		if (err != ERR_RETRY)
			break;
	}
	if (err)
		test_fail(__FILE__, __LINE__, "%s: %s", sql, db_error(s->db));
	db_forget(s->db);
}

void queue_fixture_until(
	struct queue_fixture *s, const char *sql, int64_t want, const char *file, int line)
{
	int64_t until = clock_mono_ms() + PATIENCE_MS, n;

	while ((n = queue_fixture_int(s, sql)) != want && clock_mono_ms() < until)
		usleep(1000);
	if (n != want)
		test_fail(file, line, "%s is %lld, not %lld", sql, (long long)n, (long long)want);
}
