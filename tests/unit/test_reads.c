/* test_reads.c - reads of many at once on one connection: each has its own answers, one view is everybody's, and whatever
 * goes wrong there is made good elsewhere. */
#include "fixture.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/reads.h"

enum { MANY = 150, PATIENCE_MS = 60000 };

static const struct statement sql[] = {
	{ "reads_next", "select $1 + 1", .scan = "no table",
		.postgres = "select cast($1 as bigint) + 1" },
	{ "reads_inverse", "select 10 / $1", .scan = "no table",
		.postgres = "select 10 / cast($1 as bigint)" },
	{ "reads_users", "select count(*) from users", .scan = "a test" },
	{ "reads_self", "select 1", .scan = "no table", .postgres = "select pg_backend_pid()" },
	{ "reads_slow", "select 1", .scan = "no table",
		.postgres = "select cast($1 as bigint) from pg_sleep(1)" },
	{ "reads_end", "select 1", .scan = "no table",
		.postgres = "select cast(pg_terminate_backend(cast($1 as int)) as int)" },
};
enum { NEXT, INVERSE, USERS, SELF, SLOW, END };

static int64_t ask_int(struct db *db, int which, int64_t with, int *err)
{
	int64_t n = NIL;

	if (!*err)
		*err = which == USERS || which == SELF ? db_int(db, &sql[which], &n, NO_ARGS)
						       : db_int(db, &sql[which], &n, ARGS(N(with)));
	return n;
}

/* Asks for the number after the last, so many times; then for one more thing. */
struct counting {
	struct work work;
	int64_t from, steps, inverse, got, users, server;
	bool slow, nothing;
	int runs, err;
	_Atomic bool over;
};

static int count_on(struct work *w, struct db *db)
{
	struct counting *c = (struct counting *)w;
	int err = 0;

	c->runs++;
	c->got = c->from;
	if (c->nothing)
		return ERR_UNAUTHENTICATED;
	if (c->slow)
		ask_int(db, SLOW, 1, &err);
	for (int64_t i = 0; i < c->steps && !err; i++)
		c->got = ask_int(db, NEXT, c->got, &err);
	if (c->inverse != NIL)
		c->got = ask_int(db, INVERSE, c->inverse, &err);
	c->users = ask_int(db, USERS, 0, &err);
	c->server = ask_int(db, SELF, 0, &err);
	return err;
}

static void counted(struct work *w, int err)
{
	struct counting *c = (struct counting *)w;

	c->err = err;
	c->over = true;
}

static void counting_init(struct counting *c, int64_t from, int64_t steps)
{
	*c = (struct counting){ .work = { .run = count_on, .done = counted, .mode = READ_ONLY },
		.from = from,
		.steps = steps,
		.inverse = NIL };
}

/* As a loop does it. */
static void await_all(struct reads *r, struct counting *list, size_t count)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	size_t over = 0;

	while (over < count && clock_mono_ms() < end) {
		struct reads_watch watch = reads_watch(r);
		struct pollfd fd = { .fd = watch.fd,
			.events = (short)(POLLIN | (watch.write ? POLLOUT : 0)) };

		reads_turn(r, false);
		if (poll(&fd, 1, 5) > 0)
			reads_turn(r, true);
		for (over = 0; over < count && list[over].over;)
			over++;
	}
	CHECK_INT(over, count);
}

static struct reads *open_reads(struct fixture **ret)
{
	struct reads *r = NULL;

	*ret = fixture_open();
	r = reads_new((*ret)->app.store);
	if (store_is_sqlite((*ret)->app.store)) {
		CHECK(!r);
		fixture_close(*ret);
		test_skip();
	}
	return r;
}

TEST(reads_many_at_once_have_their_own_answers)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c[MANY];

	if (!r)
		return;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < MANY; i++) {
			counting_init(&c[i], i * 1000, i % 5);
			CHECK(reads_take(r, &c[i].work));
		}
		await_all(r, c, MANY);
		for (int i = 0; i < MANY; i++) {
			CHECK_INT(c[i].err, 0);
			CHECK_INT(c[i].got, i * 1000 + i % 5);
			CHECK_INT(c[i].users, 1);
			/* all of them by this one connection, and none more often than it asked */
			CHECK_INT(c[i].server, c[0].server);
			CHECK(round == 0 || c[i].runs <= i % 5 + 3);
		}
	}
	reads_free(r);
	fixture_close(f);
}

TEST(reads_see_what_was_committed_before_they_were_asked_for)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting first, second;

	if (!r)
		return;
	counting_init(&first, 0, 4);
	CHECK(reads_take(r, &first.work));
	reads_turn(r,
		false); /* its view is taken with its first question, and then somebody is added */
	while (first.runs < 2) {
		reads_turn(r, true);
		usleep(1000);
	}
	fixture_user(f, "second@lodge.test", NULL);
	counting_init(&second, 0, 0);
	CHECK(reads_take(r, &second.work));
	await_all(r, &first, 1);
	await_all(r, &second, 1);
	CHECK_INT(second.users, 2);
	CHECK(first.users == 1 || first.server != second.server);
	reads_free(r);
	fixture_close(f);
}

TEST(reads_that_fail_are_made_good_elsewhere)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c[20];

	if (!r)
		return;
	for (int i = 0; i < 20; i++) {
		counting_init(&c[i], i, 1 + i % 3);
		c[i].inverse = i == 7 ? 0 : 5;
		CHECK(reads_take(r, &c[i].work));
	}
	await_all(r, c, 20);
	for (int i = 0; i < 20; i++) {
		CHECK_INT(c[i].err, i == 7 ? ERR_STORE : 0);
		if (i != 7)
			CHECK_INT(c[i].got, 2);
	}
	test_step("it goes on");
	counting_init(&c[0], 1, 2);
	CHECK(reads_take(r, &c[0].work));
	await_all(r, c, 1);
	CHECK_INT(c[0].err, 0);
	CHECK_INT(c[0].got, 3);
	reads_free(r);
	fixture_close(f);
}

TEST(reads_of_very_many_statements_are_the_stores)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c[2];

	if (!r)
		return;
	counting_init(&c[0], 0, 200);
	counting_init(&c[1], 0, 3);
	CHECK(reads_take(r, &c[0].work) && reads_take(r, &c[1].work));
	await_all(r, c, 2);
	CHECK_INT(c[0].err, 0);
	CHECK_INT(c[0].got, 200);
	CHECK_INT(c[1].got, 3);
	CHECK(c[0].server != c[1].server);
	reads_free(r);
	fixture_close(f);
}

/* One that ends the connection of the others. */
static int end_server(struct db *db, void *data)
{
	int err = 0;

	ask_int(db, END, *(int64_t *)data, &err);
	return err;
}

TEST(reads_outlive_their_connection)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c[30];
	int64_t server = 0, end = clock_mono_ms() + PATIENCE_MS;

	if (!r)
		return;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 30; i++) {
			counting_init(&c[i], i, i % 7);
			if (!reads_take(r, &c[i].work)) /* it is away: as callers do then */
				CHECK_INT(store_submit(f->app.store, &c[i].work), 0);
			if (i == 10 && server)
				CHECK_INT(fixture_work(f, end_server, &server), 0);
			reads_turn(r, false);
		}
		await_all(r, c, 30);
		for (int i = 0; i < 30; i++) {
			CHECK_INT(c[i].err, 0);
			CHECK_INT(c[i].got, i + i % 7);
		}
		server = c[29].server;
	}
	test_step("it comes back");
	while (reads_watch(r).fd < 0 && clock_mono_ms() < end) {
		reads_turn(r, false);
		usleep(2000);
	}
	counting_init(&c[0], 0, 1);
	CHECK(reads_take(r, &c[0].work));
	await_all(r, c, 1);
	CHECK_INT(c[0].got, 1);
	CHECK(reads_watch(r).connection > 0);
	reads_free(r);
	fixture_close(f);
}

/* With nothing to say, either: who waits for it to be readable would be woken for ever. */
TEST(reads_notice_a_server_that_leaves)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	int64_t end = clock_mono_ms() + PATIENCE_MS, server;
	struct pollfd fd = { .events = POLLIN };
	struct counting c;

	if (!r)
		return;
	counting_init(&c, 0, 1);
	CHECK(reads_take(r, &c.work));
	await_all(r, &c, 1);
	server = c.server;
	CHECK_INT(fixture_work(f, end_server, &server), 0);
	fd.fd = reads_watch(r).fd;
	CHECK_INT(poll(&fd, 1, PATIENCE_MS), 1);
	while (reads_watch(r).fd == fd.fd && reads_watch(r).connection == 0 &&
		clock_mono_ms() < end)
		reads_turn(r, true);
	CHECK(reads_watch(r).fd < 0 || reads_watch(r).connection > 0);
	reads_free(r);
	fixture_close(f);
}

/* Whoever is refused without a question costs the server nothing, however it is. */
TEST(reads_without_a_question_ask_nothing)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c;

	if (!r)
		return;
	for (int i = 0; i < 5000; i++) {
		counting_init(&c, 0, 0);
		c.nothing = true;
		CHECK(reads_take(r, &c.work));
		reads_turn(r, false);
		CHECK(c.over && c.err == ERR_UNAUTHENTICATED);
	}
	CHECK(!reads_await(r));
	reads_free(r);
	fixture_close(f);
}

TEST(reads_that_are_slow_hold_nobody_up)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c[3];

	if (!r)
		return;
	for (int round = 0; round < 2; round++) {
		test_step("round %d", round);
		for (int i = 0; i < 3; i++) {
			counting_init(&c[i], i, 2);
			c[i].slow = i == 1;
			CHECK(reads_take(r, &c[i].work));
		}
		await_all(r, c, 3);
		for (int i = 0; i < 3; i++) {
			CHECK_INT(c[i].err, 0);
			CHECK_INT(c[i].got, i + 2);
		}
		/* the second time it is known, and the others have their own way */
		CHECK((c[0].server == c[2].server && c[0].server != c[1].server) || round == 0);
	}
	reads_free(r);
	fixture_close(f);
}

TEST(reads_give_up_a_server_that_says_nothing)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c;
	pid_t server;

	if (!r)
		return;
	counting_init(&c, 0, 1);
	CHECK(reads_take(r, &c.work));
	await_all(r, &c, 1);
	server = (pid_t)c.server;
	CHECK_INT(kill(server, SIGSTOP), 0); /* as root, or as whom the server runs */
	counting_init(&c, 5, 1);
	CHECK(reads_take(r, &c.work));
	await_all(r, &c, 1);
	CHECK_INT(kill(server, SIGCONT), 0);
	CHECK_INT(c.err, 0);
	CHECK_INT(c.got, 6);
	CHECK(c.server != server);
	reads_free(r);
	fixture_close(f);
}

TEST(reads_that_nobody_waits_for_any_more_are_told_so)
{
	struct fixture *f;
	struct reads *r = open_reads(&f);
	struct counting c[3];

	if (!r)
		return;
	for (int i = 0; i < 3; i++) {
		counting_init(&c[i], i, 3);
		CHECK(reads_take(r, &c[i].work));
		if (i == 1)
			reads_turn(r, false);
	}
	reads_free(r);
	for (int i = 0; i < 3; i++)
		CHECK(c[i].over && c[i].err == ERR_STOPPING);
	fixture_close(f);
}
