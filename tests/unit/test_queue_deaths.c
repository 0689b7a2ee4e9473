/* test_queue_deaths.c - jobs whose processes die: one that is the reason is found and put away, and no other is
 * lost with it, however often the process dies and whatever it dies of. */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "queue/crash.h"
#include "queue/parts.h"
#include "queue_fixture.h"
#include "turn_fixture.h"

#define LEFT "select count(*) from jobs where state <> 'dead'"

/* What the lives of the service tell each other and the test. */
struct lives {
	_Atomic int open;   /* jobs at work in this life */
	_Atomic int beside; /* others at work when the poison last began */
	_Atomic int poisoned;
	int number; /* the signal it dies of */
};

struct good {
	struct work work;
	struct job *job;
	struct queue_fixture *fixture;
};

static struct lives *lives;

static int good_run(struct work *w, struct db *db)
{
	static const struct statement insert = { "effect",
		"insert into meta (key, value) values ($1, 'done')" };
	struct good *g = (struct good *)w;
	int err = db_run(db, &insert, NULL, ARGS(T(g->job->id)));

	return err ? err : job_finish(db, g->job, clock_now_us());
}

static void good_done(struct work *w, int err)
{
	lives->open--;
	job_over(((struct good *)w)->job, err);
	free(w);
}

/* It takes a while, so that it is at work when the process dies. */
static void *good_main(void *data)
{
	struct good *g = data;

	usleep(30000);
	if (store_submit(g->fixture->store, &g->work))
		_exit(1);
	return NULL;
}

static void good_begin(void *ctx, struct job *job)
{
	struct good *g = calloc(1, sizeof *g);
	pthread_t thread; /* which frees it, perhaps at once */

	lives->open++;
	g->work = (struct work){ .run = good_run, .done = good_done, .mode = READ_WRITE };
	g->job = job;
	g->fixture = ctx;
	if (pthread_create(&thread, NULL, good_main, g) || pthread_detach(thread))
		_exit(1);
}

static void *poison_main(void *data)
{
	(void)data;
	usleep(10000); /* all that was taken with it has begun */
	lives->beside = lives->open;
	lives->poisoned++;
	raise(lives->number);
	return NULL;
}

static void poison_begin(void *ctx, struct job *job)
{
	pthread_t thread;

	(void)ctx;
	(void)job;
	if (pthread_create(&thread, NULL, poison_main, NULL) || pthread_detach(thread))
		_exit(1);
}

/* One life of the service: until it dies, or nothing is left to do. */
static void live(struct queue_fixture *s, const char *mark)
{
	struct job_kind kinds[] = { { "good", good_begin, NULL, s, NULL },
		{ "poison", poison_begin, NULL, s, NULL } };
	struct runner_settings settings = { .most = 4,
		.lane_most = 2,
		.lease_ms = 300,
		.kinds = kinds,
		.kind_count = 2,
		.crashed = crash_watch(&s->arena, mark, queue_process()) };
	struct runner *r;

	lives->open = 0;
	queue_fixture_reopen(s, &settings, &r, 1);
	if (runner_start(r))
		_exit(1);
	for (int64_t until = clock_mono_ms() + PATIENCE_MS; clock_mono_ms() < until;) {
		if (queue_fixture_int(s, LEFT) == 0)
			_exit(0);
		queue_fixture_sql(
			s, "update jobs set run_at = 0 where state = 'delayed'"); /* time passes */
		usleep(5000);
	}
	_exit(1);
}

/* How many lives it took until only the poison was left, dead. */
static int live_on(struct queue_fixture *s, const char *mark, int number, int most)
{
	int status = 0, count = 0;

	*lives = (struct lives){ .number = number };
	do {
		pid_t child = fork();

		if (child == 0)
			live(s, mark);
		CHECK(waitpid(child, &status, 0) == child);
	} while ((WIFSIGNALED(status) || WEXITSTATUS(status) > 1) && ++count < most);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return count;
}

/* The faults of a process say that it is the job; what else ends one may be anything, and takes longer. */
TEST(queue_survives_death_by_a_job_and_finds_it)
{
	static const struct {
		int number, lives;
	} rows[] = { { SIGABRT, DEATHS_ALONE + 1 }, { SIGKILL, DEATHS_MOST } };
	enum { JOBS = 8 };

	lives = mmap(
		NULL, sizeof *lives, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct queue_fixture *s = queue_fixture_place();
		char mark[] = "/tmp/lodge-crash-XXXXXX";
		int fd = mkstemp(mark), count;

		test_step("signal %d", rows[i].number);
		close(fd);
		queue_fixture_reopen(s, NULL, NULL, 0);
		queue_fixture_add(s, 0, &(struct job_new){ .kind = "poison", .max_attempts = 2 });
		for (int k = 0; k < JOBS; k++)
			queue_fixture_add(s, k % QUEUE_FIXTURE_TENANTS,
				&(struct job_new){ .kind = "good",
					.lane = k % 3 ? "a" : NULL,
					.max_attempts = 1 });
		queue_fixture_shut(s);
		count = live_on(s, mark, rows[i].number, 40);
		CHECK_INT(lives->poisoned, rows[i].lives);
		CHECK_INT(count, rows[i].lives);
		CHECK_INT(lives->beside, 0);
		queue_fixture_reopen(s, NULL, NULL, 0);
		CHECK_INT(queue_fixture_int(s, "select count(*) from meta where value = 'done'"),
			JOBS);
		CHECK_INT(queue_fixture_int(s,
				  "select count(*) from jobs where kind = 'poison' and state = "
				  "'dead' and error like 'The process that ran it died%'"),
			1);
		CHECK_INT(queue_fixture_int(s, "select count(*) from jobs"), 1);
		queue_fixture_close(s);
		unlink(mark);
	}
	munmap(lives, sizeof *lives);
}

/* ---- the mark ---- */

static __attribute__((noinline)) int sink(volatile char *above, int depth)
{
	volatile char here[4096];

	here[0] = above[0];
	return depth < 0 ? here[0] : sink(here, depth + 1) + here[1];
}

static void *sink_main(void *data)
{
	volatile char top = 0;

	exit(sink(&top, data ? 0 : 1));
}

static void *bad_main(void *data)
{
	raise(*(int *)data);
	return NULL;
}

/* How a thread of the service ends its process, and whether that says something about its work. */
TEST(queue_mark_is_left_by_every_fault_of_a_thread)
{
	static const struct {
		const char *name;
		int number; /* 0: its stack is used up */
		bool marks;
	} rows[] = { { "bad address", SIGSEGV, true }, { "bus", SIGBUS, true },
		{ "division", SIGFPE, true }, { "abort", SIGABRT, true }, { "stack", 0, true },
		{ "killed", SIGKILL, false }, { "told", SIGTERM, false } };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char mark[] = "/tmp/lodge-crash-XXXXXX";
		struct arena a = { 0 };
		char left[16] = "";
		int fd = mkstemp(mark), status = 0, number = rows[i].number;
		pid_t child;

		child = fork();
		if (child == 0) {
			pthread_t thread;

			dup2(open("/dev/null", O_WRONLY), 2); /* what a sanitizer says */
			crash_watch(&a, mark, "someone");
			if (thread_start(&thread, number ? bad_main : sink_main, &number))
				_exit(1);
			pthread_join(thread, NULL);
			_exit(0);
		}
		CHECK(waitpid(child, &status, 0) == child);
		test_step("%s", rows[i].name);
		CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) > 0);
		CHECK(pread(fd, left, sizeof left - 1, 0) >= 0);
		CHECK_STR(left, rows[i].marks ? "someone" : "");
		close(fd);
		unlink(mark);
	}
}

/* ---- alone in one process, beside others ---- */

TEST(queue_suspect_waits_for_all_and_holds_all)
{
	struct runner_settings settings = { .most = 4, .lane_most = 4, .lease_ms = 4000 };
	struct runner *r;
	struct queue_fixture *s = queue_fixture_open_with(&settings, &r, 1);

	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "slow" }, 2);
	CHECK_INT(runner_start(r), 0);
	queue_fixture_wait(s, 2);
	queue_fixture_sql(
		s, "update jobs set max_attempts = 9"); /* whoever watches sees them run */
	queue_fixture_add(s, 1,
		&(struct job_new){ .kind = "slow", .subject = "alone", .run_at = INT64_MAX / 2 });
	queue_fixture_sql(s, "update jobs set deaths = 3, run_at = 0 where subject = 'alone'");
	/* it became due, and nothing else is begun until it was run */
	UNTIL(s, "select count(*) from jobs where subject = 'alone' and state = 'waiting'", 1);
	usleep(1500 * 1000);
	queue_fixture_add_many(s, 2, &(struct job_new){ .kind = "slow" }, 2);
	CHECK_INT(queue_fixture_begun(s), 2);
	CHECK_INT(queue_fixture_finish(s, 0), 0);
	CHECK_INT(queue_fixture_begun(s), 2);
	CHECK_INT(queue_fixture_finish(s, 1), 0);
	queue_fixture_wait(s, 3);
	CHECK_STR(s->log[2].subject, "alone");
	CHECK_INT(queue_fixture_begun(s), 3);
	CHECK_INT(queue_fixture_finish(s, 2), 0);
	queue_fixture_wait(s, 5);
	CHECK_INT(queue_fixture_finish(s, 3), 0);
	CHECK_INT(queue_fixture_finish(s, 4), 0);
	runner_stop(r, 1000);
	queue_fixture_close(s);
	runner_free(r);
}

/* ---- alone in one process of several ---- */

enum { PROCESSES = 3, LAST = PROCESSES - 1 };

/* What the processes and the test tell each other. */
struct crowd {
	_Atomic bool go, let_lone_go, end; /* the test: those that are held; the lone one; all */
	_Atomic int held[PROCESSES], done[PROCESSES], beside;
	_Atomic int lone_in; /* 1 + the process in which it is at work, or was */
};

static struct crowd *crowd;
static int me;
static _Atomic int here_open; /* jobs at work in this process */

static void await(const _Atomic bool *what)
{
	while (!*what)
		usleep(1000);
}

static void *crowd_main(void *data)
{
	struct good *g = data;

	if (strcmp(g->job->kind, "lone") == 0) {
		crowd->lone_in = me + 1;
		await(&crowd->let_lone_go);
	} else if (strcmp(g->job->kind, "good") != 0) {
		crowd->held[me]++;
		await(&crowd->go);
	}
	if (store_submit(g->fixture->store, &g->work))
		_exit(1);
	return NULL;
}

static void crowd_done(struct work *w, int err)
{
	here_open--;
	crowd->done[me] += !err;
	job_over(((struct good *)w)->job, err);
	free(w);
}

/* Neither is it begun beside others, nor another beside it. */
static void crowd_begin(void *ctx, struct job *job)
{
	static bool lonely;
	struct good *g = calloc(1, sizeof *g);
	pthread_t thread;

	lonely = here_open ? lonely : false;
	lonely |= strcmp(job->kind, "lone") == 0;
	if (lonely)
		crowd->beside += here_open;
	here_open++;
	g->work = (struct work){ .run = good_run, .done = crowd_done, .mode = READ_WRITE };
	g->job = job;
	g->fixture = ctx;
	if (pthread_create(&thread, NULL, crowd_main, g) || pthread_detach(thread))
		_exit(1);
}

static pid_t begin_among(struct queue_fixture *s, int number)
{
	struct job_kind kinds[] = { { "good", crowd_begin, NULL, s, NULL },
		{ "lone", crowd_begin, NULL, s, NULL }, { "held", crowd_begin, NULL, s, NULL } };
	/* the first two have one place each, so that each has one of those that are held */
	struct runner_settings settings = { .most = number < LAST ? 1 : 4,
		.lane_most = 4,
		.lease_ms = 4000,
		.kinds = kinds,
		.kind_count = 3 };
	struct runner *r;
	pid_t child = fork();

	if (child)
		return child;
	me = number;
	queue_fixture_reopen(s, &settings, &r, 1);
	if (runner_start(r))
		_exit(1);
	await(&crowd->end);
	_exit(0);
}

/* It becomes due while two are at work: the claim that makes it due is one of those two, and must not take it.
 * A third, which has nothing to do, takes it, and takes nothing else until it is over; the others go on.
 * On SQLite one process serves. */
TEST(queue_suspect_runs_alone_in_one_process_while_others_go_on)
{
	enum { JOBS = 40 };
	struct queue_fixture *s;
	pid_t children[PROCESSES];

	SKIP_UNLESS(!fixture_is_sqlite());
	crowd = mmap(
		NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	s = queue_fixture_place();
	queue_fixture_reopen(s, NULL, NULL, 0);
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "held" });
	queue_fixture_add(s, 1, &(struct job_new){ .kind = "held" });
	queue_fixture_add(s, 0, &(struct job_new){ .kind = "lone", .run_at = INT64_MAX / 2 });
	queue_fixture_shut(s);
	for (int i = 0; i < LAST; i++)
		children[i] = begin_among(s, i);
	queue_fixture_reopen(s, NULL, NULL, 0);
	UNTIL_TRUE(crowd->held[0] == 1 && crowd->held[1] == 1);
	queue_fixture_sql(s, "update jobs set deaths = 3, run_at = 0 where kind = 'lone'");
	UNTIL(s, "select count(*) from jobs where kind = 'lone' and state <> 'delayed'", 1);
	CHECK_INT(queue_fixture_int(
			  s, "select count(*) from jobs where kind = 'lone' and state = 'waiting'"),
		1);

	test_step("a third that runs nothing");
	queue_fixture_shut(s); /* a process is forked without threads */
	children[LAST] = begin_among(s, LAST);
	queue_fixture_reopen(s, NULL, NULL, 0);
	UNTIL_TRUE(crowd->lone_in);
	CHECK_INT(crowd->lone_in, LAST + 1);
	crowd->go = true;
	for (int k = 0; k < QUEUE_FIXTURE_TENANTS; k++)
		queue_fixture_add_many(
			s, k, &(struct job_new){ .kind = "good" }, JOBS / QUEUE_FIXTURE_TENANTS);
	UNTIL_TRUE(crowd->done[0] + crowd->done[1] == JOBS + LAST);
	CHECK_INT(crowd->done[LAST], 0);

	test_step("the lone one is over");
	crowd->let_lone_go = true;
	UNTIL(s, "select count(*) from jobs", 0);
	UNTIL_TRUE(crowd->done[LAST] == 1);
	CHECK_INT(crowd->beside, 0);
	CHECK_INT(queue_fixture_int(s, "select count(*) from meta where value = 'done'"),
		JOBS + LAST + 1);

	test_step("it takes others again");
	crowd->go = false;
	queue_fixture_add_many(s, 0, &(struct job_new){ .kind = "held" }, PROCESSES);
	UNTIL_TRUE(crowd->held[LAST] > 0);
	crowd->go = true;
	UNTIL(s, "select count(*) from jobs", 0);
	crowd->end = true;
	for (int i = 0; i < PROCESSES; i++) {
		int status = 0;

		CHECK(waitpid(children[i], &status, 0) == children[i]);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	queue_fixture_close(s);
	munmap(crowd, sizeof *crowd);
}

/* ---- a session whose turn is the reason ---- */

static int begin_doomed(struct db *db, void *data)
{
	static const struct statement doom = { "test",
		"update jobs set deaths = 4, doomed = 1 where subject = $1" };
	struct turn_fixture *s = data;
	struct problem p = { 0 };
	struct session_words words = { .tenant_id = s->f->tenant_id,
		.session_id = s->session_id,
		.author_id = s->f->admin_id,
		.by = { .user_id = s->f->admin_id },
		.role = "user",
		.content = "count to 3",
		.now = clock_now_us() };
	int err = session_say(db, &s->f->arena, &words, NULL, &p);

	if (!err)
		err = session_start(db, &s->f->arena, s->f->tenant_id, s->session_id, &words.by,
			NULL, true, words.now, NULL, &p);
	return err ? err : db_run(db, &doom, NULL, ARGS(T(s->session_id)));
}

TEST(queue_condemned_turn_fails_its_session_and_is_tried_again_by_hand)
{
	struct turn_fixture s;
	struct answer r;
	const char *job;

	turn_open(&s, NULL);
	CHECK_INT(fixture_work(s.f, begin_doomed, &s), 0);
	turn_await(&s, "failed");
	CHECK(strstr(turn_text(&s, "select error as value from sessions where id = %s"),
		"died 4 times, the last time while it ran nothing else"));
	CHECK_STR(
		turn_text(&s, "select error_code as value from session_runs where session_id = %s"),
		"process_died");
	r = ask(s.f, s.f->admin, NULL, "GET /admin/queue?state=dead");
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	CHECK_STR(text_at(&r, "items.0.subject"), s.session_id);
	CHECK_INT(json_integer_value(at(&r, "items.0.deaths")), 4);
	CHECK(strstr(text_at(&r, "items.0.error"), "died 4 times"));
	job = text_at(&r, "items.0.id");
	CHECK(strstr(turn_text(&s, "select error as value from sessions where id = %s"), job));

	test_step("by hand");
	STATUS(ask(s.f, s.f->admin, NULL, "POST /admin/queue/%s/retry", job), 200);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "1 2 3"));
	turn_await_count(&s, "select count(*) from jobs where subject = %s", 0);
	CHECK_INT(turn_count(&s, "select count(*) from session_runs where session_id = %s"), 2);
	turn_check_events(&s);

	test_step("what somebody else set going is not begun twice");
	CHECK_INT(fixture_work(s.f, begin_doomed, &s), 0);
	turn_await(&s, "failed");
	r = ask(s.f, s.f->admin, NULL, "GET /admin/queue?state=dead");
	job = text_at(&r, "items.0.id");
	CHECK_INT(turn_say(&s, "count to 4"), 0);
	turn_await(&s, "completed");
	STATUS(ask(s.f, s.f->admin, NULL, "POST /admin/queue/%s/retry", job), 200);
	turn_await_count(&s, "select count(*) from jobs where subject = %s", 0);
	CHECK_INT(turn_count(&s, "select count(*) from session_runs where session_id = %s"), 4);
	turn_close(&s);
}
