/* test_queue.c - the queue as whoever uses it sees it: what runs, in which order, how many at once, and how
 * a job ends. */
#include "queue_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "queue/parts.h"

#define RUNNING "select count(*) from jobs where state = 'running'"
#define HELD "select count(*) from jobs where state = 'held'"
#define LEFT "select count(*) from jobs"

struct one_runner {
	struct queue_fixture *fixture;
	struct runner *runner;
};

/* A fixture with one runner, which is not started yet. */
static struct one_runner open_one(struct runner_settings settings)
{
	struct one_runner o;

	o.fixture = queue_fixture_open_with(&settings, &o.runner, 1);
	return o;
}

static void close_one(struct one_runner o)
{
	runner_stop(o.runner, 20);
	queue_fixture_drop_jobs(o.fixture);
	queue_fixture_close(o.fixture);
	runner_free(o.runner);
}

TEST(queue_runs_what_is_added_and_forgets_it)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 8 });

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add_many(o.fixture, 0, &(struct job_new){ .subject = "x" }, 100);
	queue_fixture_add_many(o.fixture, 1, &(struct job_new){ .payload = "{\"a\":1}" }, 1);
	queue_fixture_wait(o.fixture, 101);
	UNTIL(o.fixture, LEFT, 0);
	UNTIL_TRUE(runner_stats(o.runner).finished == 101);
	CHECK_INT(runner_stats(o.runner).begun, 101);
	CHECK_INT(runner_stats(o.runner).failed, 0);
	CHECK_INT(runner_stats(o.runner).open, 0);
	close_one(o);
}

TEST(queue_takes_many_at_once)
{
	enum { JOBS = 400 };
	struct one_runner o = open_one((struct runner_settings){ .most = 1000 });

	for (int i = 0; i < QUEUE_FIXTURE_TENANTS; i++)
		queue_fixture_add_many(o.fixture, i, &(struct job_new){ .kind = "slow" },
			JOBS / QUEUE_FIXTURE_TENANTS);
	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_wait(o.fixture, JOBS);
	CHECK_INT(runner_stats(o.runner).open, JOBS);
	close_one(o);
	o = open_one((struct runner_settings){ .most = 1000 });
	queue_fixture_add_many(o.fixture, 0, &(struct job_new){ .kind = "quick" }, 2 * JOBS);
	queue_fixture_add_many(o.fixture, 1, &(struct job_new){ .kind = "quick" }, 3);
	CHECK_INT(runner_start(o.runner), 0);
	UNTIL(o.fixture, LEFT, 0);
	close_one(o);
}

struct refused {
	struct work work;
	struct queue_fixture *fixture;
	_Atomic bool over;
};

static int add_and_refuse(struct work *w, struct db *db)
{
	struct queue_fixture *s = ((struct refused *)w)->fixture;
	struct job_new in = { .tenant_id = s->tenants[0], .kind = "quick" };
	char id[26];
	int err = jobs_add(db, &s->arena, &in, clock_now_us(), id);

	return err ? err : ERR_CONFLICT;
}

static void refused_done(struct work *w, int err)
{
	CHECK_INT(err, ERR_CONFLICT);
	((struct refused *)w)->over = true;
}

TEST(queue_adds_with_the_transaction_or_not_at_all)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 8 });
	struct refused r = { .fixture = o.fixture };
	struct job_new in = { .tenant_id = o.fixture->tenants[0], .kind = "quick" };
	char id[26], *big = arena_alloc(&o.fixture->arena, JOB_PAYLOAD_MAX + 2);

	CHECK_INT(runner_start(o.runner), 0);
	r.work = (struct work){ .run = add_and_refuse, .done = refused_done, .mode = READ_WRITE };
	CHECK_INT(store_submit(o.fixture->store, &r.work), 0);
	UNTIL_TRUE(r.over);
	queue_fixture_add(o.fixture, 0, &(struct job_new){ .subject = "second" });
	queue_fixture_wait(o.fixture, 1);
	CHECK_STR(o.fixture->log[0].subject, "second");
	memset(big, 'x', JOB_PAYLOAD_MAX + 1);
	in.payload = big;
	CHECK_INT(jobs_add(o.fixture->db, &o.fixture->arena, &in, 1, id), ERR_TOO_LARGE);
	close_one(o);
}

TEST(queue_tenants_take_turns)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 1 });
	struct queue_fixture *s = o.fixture;

	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "slow" }, 300);
	queue_fixture_add_many(s, 1, &(struct job_new){ .kind = "slow" }, 3);
	queue_fixture_add_many(s, 2, &(struct job_new){ .kind = "slow" }, 3);
	CHECK_INT(runner_start(o.runner), 0);
	for (size_t i = 0; i < 12; i++) {
		queue_fixture_wait(s, i + 1);
		CHECK_INT(s->log[i].tenant, i < 9 ? (int)i % 3 : 0);
		CHECK_INT(queue_fixture_begun(s), i + 1);
		CHECK_INT(queue_fixture_finish(s, i), 0);
	}
	/* One that comes now is next, or next but one, once the runner was told of it. */
	queue_fixture_wait(s, 13);
	UNTIL_TRUE(runner_stats(o.runner).tenants == 1);
	queue_fixture_add(s, 3, &(struct job_new){ .kind = "slow" });
	UNTIL_TRUE(runner_stats(o.runner).tenants == 2);
	CHECK_INT(queue_fixture_finish(s, 12), 0);
	queue_fixture_wait(s, 14);
	CHECK_INT(queue_fixture_finish(s, 13), 0);
	queue_fixture_wait(s, 15);
	CHECK(s->log[13].tenant == 3 || s->log[14].tenant == 3);
	close_one(o);
}

TEST(queue_flood_leaves_places_to_others)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 8 });
	struct queue_fixture *s = o.fixture;

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "slow" }, 1000);
	queue_fixture_wait(s, 6);
	queue_fixture_add_many(s, 1, &(struct job_new){ .kind = "slow" }, 1000);
	queue_fixture_wait(s, 7);
	CHECK_INT(s->log[6].tenant, 1);
	queue_fixture_add(s, 2, &(struct job_new){ .kind = "slow" });
	queue_fixture_wait(s, 8);
	for (int i = 0; i < 6; i++)
		CHECK_INT(s->log[i].tenant, 0);
	CHECK_INT(queue_fixture_begun(s), 8);
	CHECK_INT(queue_fixture_int(s, RUNNING), 8);
	close_one(o);
}

TEST(queue_takes_the_higher_priority_of_a_tenant_first)
{
	static const struct {
		const char *name;
		int priority;
	} jobs[] = { { "a", 0 }, { "b", 0 }, { "c", 9 }, { "d", -3 }, { "e", 9 }, { "f", 4 } };
	struct one_runner o = open_one((struct runner_settings){ .most = 1 });
	const char *order = "";

	for (size_t i = 0; i < 6; i++)
		queue_fixture_add(o.fixture, 0,
			&(struct job_new){ .kind = "slow",
				.subject = jobs[i].name,
				.priority = jobs[i].priority });
	CHECK_INT(runner_start(o.runner), 0);
	for (size_t i = 0; i < 6; i++) {
		queue_fixture_wait(o.fixture, i + 1);
		order = arena_printf(&o.fixture->arena, "%s%s", order, o.fixture->log[i].subject);
		CHECK_INT(queue_fixture_finish(o.fixture, i), 0);
	}
	CHECK_STR(order, "cefabd");
	close_one(o);
}

TEST(queue_runs_what_is_delayed_when_its_time_has_come)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 4 });
	int64_t now = clock_now_us();

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add(o.fixture, 0,
		&(struct job_new){ .subject = "far", .run_at = now + 3600 * SECOND_US });
	queue_fixture_add(
		o.fixture, 0, &(struct job_new){ .subject = "late", .run_at = now + 300000 });
	queue_fixture_add(
		o.fixture, 1, &(struct job_new){ .subject = "soon", .run_at = now + 150000 });
	queue_fixture_wait(o.fixture, 1);
	CHECK(clock_now_us() >= now + 150000);
	CHECK_STR(o.fixture->log[0].subject, "soon");
	queue_fixture_wait(o.fixture, 2);
	CHECK(clock_now_us() >= now + 300000);
	CHECK(clock_now_us() < now + 5 * SECOND_US);
	CHECK_STR(o.fixture->log[1].subject, "late");
	UNTIL(o.fixture, LEFT, 1);
	close_one(o);
}

TEST(queue_lane_holds_so_many_and_lets_others_by)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 16, .lane_most = 2 });
	struct queue_fixture *s = o.fixture;

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "slow", .lane = "a" }, 700);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "slow", .lane = "b", .subject = "b" });
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "slow", .subject = "free" });
	queue_fixture_wait(s, 4);
	UNTIL(s, HELD, 698);
	CHECK_INT(queue_fixture_int(
			  s, "select count(*) from jobs where state = 'running' and lane = 'a'"),
		2);
	for (size_t i = 0; i < 4; i++)
		CHECK_INT(queue_fixture_finish(s, i), 0);
	queue_fixture_wait(s, 6);
	UNTIL(s, RUNNING, 2);
	CHECK_INT(queue_fixture_begun(s), 6);
	/* Another tenant's lane of that name is another lane. */
	queue_fixture_add_many(s, 1, &(struct job_new){ .kind = "slow", .lane = "a" }, 3);
	queue_fixture_wait(s, 8);
	UNTIL(s, RUNNING, 4);
	/* What is held keeps its order by priority. */
	queue_fixture_add(s, 0,
		&(struct job_new){
			.kind = "slow", .lane = "a", .subject = "urgent", .priority = 5 });
	UNTIL(s, "select count(*) from jobs where state = 'held' and subject = 'urgent'", 1);
	CHECK_INT(queue_fixture_finish(s, 4), 0);
	queue_fixture_wait(s, 9);
	CHECK_STR(s->log[8].subject, "urgent");
	close_one(o);
}

TEST(queue_retries_later_each_time_and_then_buries)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 4, .lease_ms = 400 });
	struct queue_fixture *s = o.fixture;

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "broken", .max_attempts = 3 });
	for (size_t i = 0; i < 3; i++) {
		queue_fixture_wait(s, i + 1);
		CHECK_INT(s->log[i].attempts, (int)i + 1);
		UNTIL(s, RUNNING, 0);
		if (i == 2)
			break;
		CHECK_INT(queue_fixture_int(s,
				  "select run_at - updated_at from jobs where state = 'delayed'") >=
				  PAUSE_FIRST_MS * 500 << i,
			1);
		queue_fixture_sql(s, "update jobs set run_at = 1 where state = 'delayed'");
	}
	CHECK_INT(queue_fixture_int(s,
			  "select count(*) from jobs where state = 'dead' and attempts = 3 "
			  "and error = 'A service that is needed for this did not answer'"),
		1);
	UNTIL_TRUE(runner_stats(o.runner).failed == 3);
	CHECK_INT(runner_stats(o.runner).finished, 0);
	close_one(o);
}

TEST(queue_pause_doubles_up_to_a_limit_and_varies)
{
	int64_t first = job_pause_us(1), differs = 0;

	for (int i = 1; i < 40; i++) {
		int64_t most = i > 10 ? (int64_t)PAUSE_MAX_MS * 1000
				      : (int64_t)PAUSE_FIRST_MS * 1000 << (i - 1);
		int64_t got = job_pause_us(i);

		if (most > (int64_t)PAUSE_MAX_MS * 1000)
			most = (int64_t)PAUSE_MAX_MS * 1000;
		CHECK(got >= most / 2 && got <= most);
		differs |= job_pause_us(1) - first;
	}
	CHECK(differs != 0);
}

TEST(queue_puts_back_as_asked)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 4 });
	struct queue_fixture *s = o.fixture;
	int64_t now = clock_now_us();
	char *long_text = arena_alloc(&s->arena, 3 * JOB_ERROR_MAX);

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "slow", .max_attempts = 2 });
	queue_fixture_wait(s, 1);
	CHECK_INT(fixture_requeue(s, 0, now, false, NULL), 0); /* handed over: as if never begun */
	queue_fixture_wait(s, 2);
	CHECK_INT(s->log[1].attempts, 1);
	*long_text = 'x';
	for (int i = 1; i < 3 * JOB_ERROR_MAX - 2; i += 2)
		memcpy(long_text + i, "\xc3\xa9", 2);
	CHECK_INT(fixture_requeue(s, 1, now, true, long_text), 0); /* failed: at once again */
	queue_fixture_wait(s, 3);
	CHECK_INT(s->log[2].attempts, 2);
	CHECK_INT(queue_fixture_int(s, "select length(error) from jobs") <= JOB_ERROR_MAX, 1);
	CHECK_INT(fixture_requeue(s, 2, now, true, "third time"), 0);
	CHECK_INT(queue_fixture_int(s, "select count(*) from jobs where state = 'dead' "
				       "and owner is null and error = 'third time'"),
		1);
	UNTIL_TRUE(runner_stats(o.runner).open == 0);
	CHECK_INT(runner_stats(o.runner).failed, 2);
	/* Whoever says nothing about a job has failed at it. */
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "slow" });
	queue_fixture_wait(s, 4);
	queue_fixture_over(s, 3, 0);
	UNTIL(s, "select count(*) from jobs where state = 'delayed' and attempts = 1", 1);
	close_one(o);
}

TEST(queue_leaves_kinds_it_does_not_know_to_others)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 4 });
	struct queue_fixture *s = o.fixture;

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "of tomorrow" }, 40);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "quick" });
	queue_fixture_wait(s, 1);
	UNTIL(s, "select count(*) from jobs where state = 'delayed' and attempts = 0", 40);
	close_one(o);
}

TEST(queue_hands_over_when_it_stops)
{
	struct one_runner o = open_one((struct runner_settings){ .most = 4 });
	struct queue_fixture *s = o.fixture;

	CHECK_INT(runner_start(o.runner), 0);
	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "slow" }, 5);
	queue_fixture_wait(s, 3);
	runner_stop(o.runner, 30);
	for (int i = 0; i < 3; i++)
		CHECK(s->log[i].stopped);
	CHECK_INT(queue_fixture_begun(s), 3);
	CHECK_INT(queue_fixture_int(s,
			  "select count(*) from jobs where state = 'waiting' and attempts = 0 "
			  "and owner is null"),
		5);
	CHECK_INT(queue_fixture_int(s, "select count(*) from job_runners"), 0);
	/* Whoever comes too late learns it, also when the runner is gone. */
	CHECK_INT(queue_fixture_finish(s, 0), ERR_CONFLICT);
	runner_free(o.runner);
	CHECK_INT(queue_fixture_finish(s, 1), ERR_CONFLICT);
	CHECK_INT(fixture_requeue(s, 2, 0, true, NULL), ERR_CONFLICT);
	CHECK_INT(queue_fixture_int(s, LEFT), 5);
	queue_fixture_close(s);
}
