/* test_queue_faults.c - the queue when things go wrong: lost leases, dead processes, several runners at once;
 * and its claims held against a model. */
#include "queue_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "queue/runner_parts.h"
#include "store/engine.h"

#define LEFT "select count(*) from jobs"

TEST(queue_lost_lease_is_noticed_and_nothing_is_done_twice)
{
	struct runner_settings settings[2] = { { .most = 4, .lease_ms = 400 },
		{ .most = 4, .lease_ms = 400 } };
	struct runner *r[2];
	struct queue_fixture *s = queue_fixture_open_with(settings, r, 2);

	CHECK_INT(runner_start(r[0]), 0);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "slow" });
	queue_fixture_wait(s, 1);
	CHECK_INT(runner_start(r[1]), 0);
	/* As if the first had been away for a while; and only until somebody has noticed. */
	for (int i = 0; i < 30000 && queue_fixture_begun(s) < 2; i++) {
		queue_fixture_sql(s, "update job_runners set lease_until = 1 where not exists "
				     "(select 1 from jobs where deaths > 0)");
		usleep(20000);
	}
	queue_fixture_wait(s, 2);
	CHECK_INT(s->log[1].attempts, 1); /* it did not fail */
	UNTIL_TRUE(s->log[0].stopped || s->log[1].stopped);
	CHECK_INT(queue_fixture_finish(s, 0), ERR_CONFLICT);
	CHECK_INT(queue_fixture_int(s, LEFT), 1);
	UNTIL_TRUE(runner_stats(r[0]).lost + runner_stats(r[1]).lost == 1);
	CHECK_INT(queue_fixture_finish(s, 1), 0);
	CHECK_INT(queue_fixture_int(s, LEFT), 0);
	for (int i = 0; i < 2; i++)
		runner_stop(r[i], 100);
	queue_fixture_drop_jobs(s);
	queue_fixture_close(s);
	for (int i = 0; i < 2; i++)
		runner_free(r[i]);
}

TEST(queue_heartbeat_keeps_a_lease_for_long)
{
	/* Long enough for a machine that has much else to do. */
	struct runner_settings settings[2] = { { .most = 4, .lease_ms = 1500 },
		{ .most = 4, .lease_ms = 1500 } };
	struct runner *r[2];
	struct queue_fixture *s = queue_fixture_open_with(settings, r, 2);
	static const char until[] = "select max(lease_until) from job_runners";
	int64_t first;

	for (int i = 0; i < 2; i++)
		CHECK_INT(runner_start(r[i]), 0);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "slow" });
	queue_fixture_wait(s, 1);
	first = queue_fixture_int(s, until);
	UNTIL_TRUE(queue_fixture_int(s, until) > first + (int64_t)2 * 1500 * 1000);
	CHECK_INT(queue_fixture_begun(s), 1);
	CHECK_INT(queue_fixture_finish(s, 0), 0);
	for (int i = 0; i < 2; i++)
		runner_stop(r[i], 100);
	queue_fixture_close(s);
	for (int i = 0; i < 2; i++)
		runner_free(r[i]);
}

TEST(queue_runners_beside_each_other_share_and_never_repeat)
{
	enum { JOBS = 600, LANES = 5, RUNNERS = 3 };
	struct runner_settings settings[RUNNERS];
	struct runner *r[RUNNERS];
	struct queue_fixture *s;
	uint64_t begun = 0;

	for (int i = 0; i < RUNNERS; i++)
		settings[i] = (struct runner_settings){ .most = 16, .lane_most = 2 };
	s = queue_fixture_open_with(settings, r, RUNNERS);
	for (int i = 0; i < RUNNERS; i++)
		CHECK_INT(runner_start(r[i]), 0);
	for (int i = 0; i < JOBS / 10; i++)
		queue_fixture_add_many(s, i % QUEUE_FIXTURE_TENANTS,
			&(struct job_new){ .lane = arena_printf(&s->arena, "l%d", i % LANES) }, 10);
	UNTIL(s, LEFT, 0);
	CHECK_INT(queue_fixture_begun(s), JOBS);
	for (int i = 0; i < RUNNERS; i++)
		UNTIL_TRUE(runner_stats(r[i]).open == 0);
	for (int i = 0; i < RUNNERS; i++) {
		begun += runner_stats(r[i]).finished;
		CHECK_INT(runner_stats(r[i]).lost, 0);
		CHECK_INT(runner_stats(r[i]).failed, 0);
		runner_stop(r[i], 1000);
	}
	CHECK_INT(begun, JOBS);
	queue_fixture_close(s);
	for (int i = 0; i < RUNNERS; i++)
		runner_free(r[i]);
}

TEST(queue_lane_is_one_over_all_runners)
{
	enum { RUNNERS = 3 };
	struct runner_settings settings[RUNNERS];
	struct runner *r[RUNNERS];
	struct queue_fixture *s;

	for (int i = 0; i < RUNNERS; i++)
		settings[i] =
			(struct runner_settings){ .most = 16, .lane_most = 4, .lease_ms = 2000 };
	s = queue_fixture_open_with(settings, r, RUNNERS);
	for (int i = 0; i < RUNNERS; i++)
		CHECK_INT(runner_start(r[i]), 0);
	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "slow", .lane = "a" }, 40);
	for (size_t i = 0; i < 40; i++) {
		queue_fixture_wait(s, i + 4 < 40 ? i + 4 : 40);
		CHECK(queue_fixture_int(s, "select count(*) from jobs where state = 'running'") <=
			4);
		CHECK_INT(queue_fixture_finish(s, i), 0);
	}
	CHECK_INT(queue_fixture_int(s, LEFT), 0);
	for (int i = 0; i < RUNNERS; i++)
		runner_stop(r[i], 1000);
	queue_fixture_close(s);
	for (int i = 0; i < RUNNERS; i++)
		runner_free(r[i]);
}

static void add_ended_job(struct claimed **list)
{
	struct claimed *t = memory_zeroed(sizeof *t);

	t->refs = 1;
	t->next = *list;
	t->link = list;
	if (t->next)
		t->next->link = &t->next;
	*list = t;
}

/* Those that end while a claim is under way stand beside those that it was given. */
TEST(queue_claim_that_fails_loses_no_job_whose_lane_has_room)
{
	struct runner_settings settings = { .most = 4, .lane_most = 1 };
	struct runner *r;
	struct queue_fixture *s = queue_fixture_open_with(&settings, &r, 1);
	size_t count = 0;

	for (int i = 0; i < 2; i++) {
		add_ended_job(&r->claim.freed);
		add_ended_job(&r->freed);
	}
	r->asked = r->answered = true;
	r->answer = ERR_BUSY;
	pthread_mutex_lock(&r->lock);
	runner_answered(r);
	pthread_mutex_unlock(&r->lock);
	CHECK(!r->claim.freed);
	for (struct claimed *t = r->freed, **link = &r->freed; t; link = &t->next, t = t->next) {
		CHECK(t->link == link);
		count++;
	}
	CHECK_INT(count, 4);
	queue_fixture_close(s);
	runner_free(r);
}

/* A job whose effect is a row that can be there only once. */
struct effect {
	struct work work;
	struct job *job;
};

static int effect_run(struct work *w, struct db *db)
{
	static const struct statement insert = { "effect",
		"insert into meta (key, value) values ($1, 'done')" };
	struct effect *e = (struct effect *)w;
	int err = db_run(db, &insert, NULL, ARGS(T(e->job->id)));

	return err ? err : job_finish(db, e->job, clock_now_us());
}

static void effect_done(struct work *w, int err)
{
	job_over(((struct effect *)w)->job, err);
	free(w);
}

static void effect_begin(void *ctx, struct job *job)
{
	struct queue_fixture *s = ctx;
	struct effect *e = calloc(1, sizeof *e);

	e->work = (struct work){ .run = effect_run, .done = effect_done, .mode = READ_WRITE };
	e->job = job;
	if (store_submit(s->store, &e->work)) {
		free(e);
		job_over(job, ERR_BUSY);
	}
}

/* A life of the service, ended by a death at the nth commit, or when the queue is empty. */
static void live(struct queue_fixture *s, int64_t dies_at, bool before)
{
	struct job_kind kind = { "effect", effect_begin, NULL, s };
	struct runner_settings settings = {
		.most = 4, .lane_most = 2, .lease_ms = 300, .kinds = &kind, .kind_count = 1
	};
	struct runner *r;

	queue_fixture_reopen(s, &settings, &r, 1);
	queue_fixture_sql(
		s, "update jobs set run_at = 0 where state = 'delayed'"); /* time has passed */
	fault_plan.before = before;
	fault_plan.commit_at = dies_at;
	if (runner_start(r))
		_exit(1);
	for (int64_t until = clock_mono_ms() + PATIENCE_MS; clock_mono_ms() < until;) {
		if (queue_fixture_int(s, LEFT) == 0)
			_exit(0);
		usleep(2000);
	}
	_exit(1);
}

TEST(queue_survives_death_at_any_commit_without_loss_or_repeat)
{
	enum { JOBS = 24, LIVES = 200 };
	struct queue_fixture *s = queue_fixture_place();
	int status = 0, lives = 0;

	queue_fixture_reopen(s, NULL, NULL, 0);
	for (int i = 0; i < JOBS; i++)
		queue_fixture_add(s, i % QUEUE_FIXTURE_TENANTS,
			&(struct job_new){ .kind = "effect",
				.lane = i % 3 ? "a" : NULL,
				.max_attempts = 1000 });
	queue_fixture_shut(s);
	do {
		pid_t child = fork();

		if (child == 0)
			live(s, 2 + lives % 7 + lives / 14, lives % 2 == 0);
		CHECK(waitpid(child, &status, 0) == child);
	} while (WIFSIGNALED(status) && ++lives < LIVES);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(lives > 2);
	queue_fixture_reopen(s, NULL, NULL, 0);
	CHECK_INT(queue_fixture_int(s, LEFT), 0);
	CHECK_INT(queue_fixture_int(s, "select count(*) from meta where value = 'done'"), JOBS);
	queue_fixture_close(s);
}

/* The model: jobs as an array, and what a claim must and must not do with them. */
enum { MODEL_JOBS = 400, MODEL_LANE_MOST = 2 };

struct model_job {
	char id[26];
	int tenant, lane, priority, owner, attempts, max_attempts, deaths; /* owner -1: nobody */
	int64_t run_at;
	bool dead, gone;
	struct claimed *claimed;
};

struct model {
	struct queue_fixture *fixture;
	struct model_job jobs[MODEL_JOBS];
	int count;
	int64_t now;
	uint32_t seed;
	struct ring_tenant tenant_ring[QUEUE_FIXTURE_TENANTS];
};

static uint32_t dice(struct model *m, uint32_t sides)
{
	m->seed = m->seed * 1664525 + 1013904223;
	return (m->seed >> 8) % sides;
}

static const char *const lanes[] = { "", "a", "b" };

static void model_add(struct model *m)
{
	struct model_job *j = &m->jobs[m->count];
	struct job_new in = { .kind = "quick" };

	if (m->count == MODEL_JOBS)
		return;
	*j = (struct model_job){ .tenant = (int)dice(m, QUEUE_FIXTURE_TENANTS),
		.lane = (int)dice(m, 3),
		.priority = (int)dice(m, 3),
		.owner = -1,
		.max_attempts = 1 + (int)dice(m, 4),
		.run_at = m->now + (dice(m, 3) ? 0 : dice(m, 50)) };
	in.tenant_id = m->fixture->tenants[j->tenant];
	in.lane = lanes[j->lane];
	in.priority = j->priority;
	in.run_at = j->run_at;
	in.max_attempts = j->max_attempts;
	CHECK_INT(db_begin(m->fixture->db, READ_WRITE), 0);
	CHECK_INT(jobs_add(m->fixture->db, &m->fixture->arena, &in, m->now, j->id), 0);
	CHECK_INT(db_commit(m->fixture->db), 0);
	m->count++;
}

static int lane_running(const struct model *m, int tenant, int lane)
{
	int n = 0;

	for (int i = 0; i < m->count; i++)
		n += m->jobs[i].owner >= 0 && m->jobs[i].tenant == tenant &&
		     m->jobs[i].lane == lane;
	return n;
}

static bool may_run(const struct model *m, const struct model_job *j)
{
	return !j->gone && !j->dead && j->owner < 0 && j->run_at <= m->now &&
	       (!j->lane || lane_running(m, j->tenant, j->lane) < MODEL_LANE_MOST);
}

/* Is there another of its tenant that should have been taken before it? */
static bool is_passed_over(const struct model *m, const struct model_job *j)
{
	for (int i = 0; i < m->count; i++) {
		const struct model_job *o = &m->jobs[i];

		if (o->tenant == j->tenant && o->priority > j->priority && may_run(m, o) &&
			o->deaths < DEATHS_ALONE)
			return true;
	}
	return false;
}

static struct model_job *model_find(struct model *m, const char *id)
{
	for (int i = 0; i < m->count; i++)
		if (strcmp(m->jobs[i].id, id) == 0)
			return &m->jobs[i];
	test_fail(__FILE__, __LINE__, "%s is not known", id);
	return &m->jobs[0];
}

static void model_round(struct model *m, int owner, size_t places)
{
	struct runner_settings settings = { .kinds = m->fixture->kinds,
		.kind_count = QUEUE_FIXTURE_KINDS,
		.lane_most = MODEL_LANE_MOST };
	struct claim *r = calloc(1, sizeof *r);
	int could = 0, begun = 0;

	r->settings = &settings;
	r->idle = r->probe = true;
	for (int i = 0; i < m->count; i++)
		r->idle &= m->jobs[i].owner != owner;
	snprintf(r->owner, sizeof r->owner, "%s.m%d", queue_process(), owner);
	r->now = m->now;
	r->lease_us = 40;
	r->heartbeat = r->look = r->due_now = true;
	r->places = places;
	r->pick_count = QUEUE_FIXTURE_TENANTS;
	for (int i = 0; i < QUEUE_FIXTURE_TENANTS; i++)
		r->picks[i].ring_tenant = &m->tenant_ring[i];
	/* The leases of the others are over if they were. */
	for (int i = 0; i < m->count; i++) {
		struct model_job *j = &m->jobs[i];

		if (j->owner >= 0 && j->owner != owner) {
			j->owner = -1;
			j->attempts--;
			j->run_at = m->now;
			if (++j->deaths >= DEATHS_ALONE)
				j->run_at += SECOND_US << (j->deaths - 3);
		}
	}
	queue_fixture_sql(m->fixture,
		arena_printf(&m->fixture->arena,
			"update job_runners set lease_until = 0 where owner <> '%s'", r->owner));
	CHECK_INT(db_begin(m->fixture->db, STEP_BY_STEP), 0);
	CHECK_INT(claim_run(&r->work, m->fixture->db), 0);
	CHECK_INT(db_commit(m->fixture->db), 0);
	while (r->claimed) {
		struct claimed *t = r->claimed;
		struct model_job *j = model_find(m, t->job.id);

		r->claimed = t->next;
		CHECK(may_run(m, j));
		CHECK(r->solo || !is_passed_over(m, j));
		CHECK_INT(t->job.attempts, ++j->attempts);
		CHECK_INT(j->deaths >= DEATHS_ALONE, r->solo);
		begun++;
		j->owner = owner;
		if (j->claimed) /* whoever had it before learns it by the conflict */
			claimed_free(j->claimed);
		j->claimed = t;
		places--;
	}
	for (int i = 0; i < m->count; i++)
		could += may_run(m, &m->jobs[i]);
	/* Alone is alone, and comes before everything. */
	if (r->solo || r->drain)
		CHECK_INT(begun, r->solo);
	else if (could && places > MODEL_JOBS)
		test_fail(__FILE__, __LINE__, "%d jobs could run and do not", could);
	r->claimed_last = &r->claimed;
	claim_forget(r);
	arena_free(&r->arena);
	free(r);
}

static void model_end(struct model *m, struct model_job *j, bool how)
{
	bool mine, counts = dice(m, 2);
	int64_t at = m->now + dice(m, 20);
	int err;

	if (!j->claimed)
		return;
	mine = j->owner >= 0;
	CHECK_INT(db_begin(m->fixture->db, READ_WRITE), 0);
	CHECK_INT(
		job_still_mine(m->fixture->db, &j->claimed->job, m->now), mine ? 0 : ERR_CONFLICT);
	err = how ? job_finish(m->fixture->db, &j->claimed->job, m->now)
		  : job_requeue(m->fixture->db, &j->claimed->job, at, counts, "no", m->now);
	CHECK_INT(err, mine ? 0 : ERR_CONFLICT);
	CHECK_INT(db_commit(m->fixture->db), 0);
	if (mine && how) {
		j->gone = true;
	} else if (mine) {
		j->dead = counts && j->attempts >= j->max_attempts;
		j->attempts -= !counts;
		j->run_at = at;
	}
	j->owner = -1;
	claimed_free(j->claimed);
	j->claimed = NULL;
}

static void model_compare(struct model *m)
{
	int running = 0, dead = 0, left = 0;

	for (int i = 0; i < m->count; i++) {
		running += m->jobs[i].owner >= 0;
		dead += m->jobs[i].dead;
		left += !m->jobs[i].gone;
	}
	CHECK_INT(
		queue_fixture_int(m->fixture, "select count(*) from jobs where state = 'running'"),
		running);
	CHECK_INT(queue_fixture_int(m->fixture, "select count(*) from jobs where state = 'dead'"),
		dead);
	CHECK_INT(queue_fixture_int(m->fixture, LEFT), left);
}

TEST(queue_rounds_do_what_the_model_does)
{
	struct model *m = calloc(1, sizeof *m);

	m->fixture = queue_fixture_open();
	m->now = 1000;
	m->seed = 7;
	for (int i = 0; i < QUEUE_FIXTURE_TENANTS; i++)
		snprintf(m->tenant_ring[i].tenant_id, sizeof m->tenant_ring[i].tenant_id, "%s",
			m->fixture->tenants[i]);
	for (int step = 0; step < 600; step++) {
		uint32_t what = dice(m, 10);

		test_step("step %d", step);
		m->now += dice(m, 20) ? dice(m, 8) : SECOND_US;
		if (what < 4)
			model_add(m);
		else if (what < 6)
			model_round(m, dice(m, 8) ? 0 : 1, dice(m, 3) ? 1 + dice(m, 6) : 1000);
		else if (m->count)
			model_end(m, &m->jobs[dice(m, (uint32_t)m->count)], dice(m, 2));
		if (step % 20 == 0)
			model_compare(m);
	}
	/* At the end everything comes to its end. */
	for (int i = 0; i < 400; i++) {
		m->now += SECOND_US;
		model_round(m, 0, 1000);
		for (int k = 0; k < m->count; k++)
			model_end(m, &m->jobs[k], true);
	}
	model_compare(m);
	CHECK_INT(queue_fixture_int(m->fixture, "select count(*) from jobs where state <> 'dead'"),
		0);
	for (int i = 0; i < m->count; i++)
		if (m->jobs[i].claimed)
			claimed_free(m->jobs[i].claimed);
	queue_fixture_close(m->fixture);
	free(m);
}
