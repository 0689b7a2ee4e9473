/* test_faults.c - the store failing at every position: what was answered holds, what was not answered
 * left nothing half-done, and a repeat with the same key acts once. */
#include "fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/engine.h"

#ifdef LODGE_FAULTS

static void order(int64_t statement, int err)
{
	fault_plan.err = err;
	fault_plan.statement_at = statement;
}

/* An agent is there with its directory entry, its owner and its audit row, or not at all. */
static void check_whole(struct fixture *f, int64_t agents)
{
	CHECK_INT(fixture_count(f, "select count(*) from agents"), agents);
	CHECK_INT(fixture_count(f, "select count(*) from directory"), agents);
	CHECK_INT(fixture_count(f, "select count(*) from agent_roles"), agents);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'agent.create'"),
		agents);
	CHECK_INT(fixture_count(f, "select count(*) from idempotency where status <> 201"), 0);
}

static void fail_at_every_statement(int err)
{
	struct fixture *f = fixture_open();
	int64_t made = 0;
	bool reached = true;

	for (int n = 1; reached && n < 200; n++) {
		const char *body = arena_printf(&f->arena, "{\"name\":\"A\",\"slug\":\"a%d\"}", n);
		struct answer first, again;

		test_step("statement %d", n);
		order(n, err);
		first = ask(f, f->admin, body, "POST /tenant/%s/agents\nIdempotency-Key: k%d",
			f->tenant_id, n);
		reached = fault_plan.statement_at == 0;
		order(0, 0);
		if (err == ERR_RETRY)
			STATUS(first, 201);
		else if (reached)
			CHECK(first.status == 503 || first.status == 201);
		check_whole(f, made + (first.status == 201));
		again = ask(f, f->admin, body, "POST /tenant/%s/agents\nIdempotency-Key: k%d",
			f->tenant_id, n);
		STATUS(again, 201);
		if (first.status == 201)
			CHECK_STR(again.body, first.body);
		check_whole(f, ++made);
	}
	CHECK(!reached && made > 10);
	fixture_close(f);
}

TEST(faults_hard_errors_at_every_statement_leave_nothing_half_done)
{
	fail_at_every_statement(ERR_STORE);
}

TEST(faults_full_store_at_every_statement_leaves_nothing_half_done)
{
	fail_at_every_statement(ERR_STORE_FULL);
}

TEST(faults_soft_errors_are_retried_and_not_seen)
{
	fail_at_every_statement(ERR_RETRY);
}
#endif

/* A disk that is really full: SQLite drops the whole transaction, and the others in it run again. */
struct weight {
	struct work work;
	size_t bytes;
	int number;
	_Atomic int verdict;
};

static char ballast[1 << 20];

static int weight_run(struct work *w, struct db *db)
{
	static const struct statement insert = { "test",
		"insert into meta (key, value) values ($1, $2)" };
	struct weight *p = (struct weight *)w;
	char key[32];

	snprintf(key, sizeof key, "weight %d", p->number);
	return db_run(db, &insert, NULL,
		ARGS(T(key),
			((struct value){ .kind = VALUE_TEXT, .text = ballast, .len = p->bytes })));
}

static int limit_run(struct work *w, struct db *db)
{
	(void)w;
	return db->engine->script(db, "pragma max_page_count = 200");
}

static void weight_done(struct work *w, int err)
{
	((struct weight *)w)->verdict = err;
}

TEST(faults_a_full_disk_fails_what_does_not_fit_and_nothing_else)
{
	enum { WEIGHTS = 60 };
	static struct weight weights[WEIGHTS];
	struct fixture *f;
	struct weight limit = {
		.work = { .run = limit_run, .done = weight_done, .mode = READ_WRITE }, .verdict = 1
	};
	int kept = 0;

	SKIP_UNLESS(fixture_is_sqlite());
	f = fixture_open();
	memset(ballast, 'x', sizeof ballast);
	CHECK_INT(store_submit(f->app.store, &limit.work), 0);
	while (limit.verdict == 1)
		usleep(1000);
	for (int i = 0; i < WEIGHTS; i++) {
		weights[i] = (struct weight){
			.work = { .run = weight_run, .done = weight_done, .mode = READ_WRITE },
			.bytes = i % 3 == 1 ? sizeof ballast : 10,
			.number = i,
			.verdict = 1
		};
		CHECK_INT(store_submit(f->app.store, &weights[i].work), 0);
	}
	for (int i = 0; i < WEIGHTS; i++) {
		while (weights[i].verdict == 1)
			usleep(1000);
		test_step("weight %d", i);
		CHECK_INT(weights[i].verdict, i % 3 == 1 ? ERR_STORE_FULL : 0);
		kept += weights[i].verdict == 0;
	}
	CHECK_INT(fixture_count(f, "select count(*) from meta where key like 'weight %'"), kept);
	fixture_close(f);
}
