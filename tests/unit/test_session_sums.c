/* test_session_sums.c - what the super administrator reads of a tenant's sessions is what a fresh count of them
 * gives, after whatever was done to them on whichever days. */
#include <stdlib.h>

#include "base/clock.h"
#include "turn_fixture.h"

static int64_t counted(struct turn_fixture *s, const char *where)
{
	return fixture_count(
		s->f, arena_printf(&s->f->arena,
			      "select count(*) from sessions where tenant_id = '%s' and %s",
			      s->f->tenant_id, where));
}

/* Ends of the last thirty days; sessions and subtasks begun in them. */
static int64_t within(struct turn_fixture *s, const char *time, const char *where)
{
	int64_t since = clock_now_us() / DAY_US - 30 + 1;

	return counted(s, arena_printf(&s->f->arena, "%s >= %lld and %s", time,
				  (long long)(since * DAY_US), where));
}

static void recount(struct turn_fixture *s)
{
	struct answer r = ask(s->f, s->f->admin, NULL, "GET /admin/tenants/%s", s->f->tenant_id);
	const struct {
		const char *name;
		int64_t fresh;
	} rows[] = {
		{ "sessions", within(s, "created_at", "parent_session_id is null") },
		{ "subtasks", within(s, "created_at", "parent_session_id is not null") },
		{ "completed", within(s, "completed_at",
				       "parent_session_id is null and status = 'completed'") },
		{ "failed", within(s, "completed_at",
				    "parent_session_id is null and status = 'failed'") },
		{ "cancelled", within(s, "completed_at",
				       "parent_session_id is null and status = 'cancelled'") },
		{ "running",
			counted(s,
				"parent_session_id is null and run_id is not null and completed_at is null") },
	};

	STATUS(r, 200);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *path = arena_printf(&s->f->arena, "task_summary_30d.%s", rows[i].name);

		if (json_integer_value(at(&r, path)) != rows[i].fresh)
			test_fail(__FILE__, __LINE__, "%s is %lld, and %lld are counted",
				rows[i].name, (long long)json_integer_value(at(&r, path)),
				(long long)rows[i].fresh);
	}
}

/* Nothing is under way but what waits for people. */
static void settle(struct turn_fixture *s)
{
	turn_await_count(s, "select count(*) from jobs", 0);
}

TEST(session_sums_are_what_a_fresh_count_gives)
{
	enum { SESSIONS = 8, DEEDS = 120 };
	static const char *const words[] = { "count to 3", "use tool time",
		"use tool subtask with {\"title\":\"S\",\"message\":\"count to 2\"}",
		"use tool subtask with {\"title\":\"S\",\"message\":\"use tool time\"}" };
	static const char *const tools[] = { "time", "subtask", NULL };
	const char *ids[SESSIONS];
	unsigned seed = 20261116;
	int64_t moved = 0;
	struct turn_fixture s;

	turn_open(&s, tools);
	fixture_sql(s.f, "update tools set requires_approval = 1 where name = 'time'", NO_ARGS);
	for (int i = 0; i < SESSIONS; i++) {
		turn_session(&s);
		ids[i] = s.session_id;
	}
	for (int i = 0; i < DEEDS; i++) {
		int deed = rand_r(&seed) % 12, err = 0;

		test_step("deed %d: %d", i, deed);
		s.session_id = ids[rand_r(&seed) % SESSIONS];
		if (deed < 6) {
			err = turn_say(&s, words[rand_r(&seed) % 4]);
		} else if (deed < 8) {
			err = turn_decide(&s, rand_r(&seed) & 1);
		} else if (deed < 10) {
			err = turn_cancel(&s);
		} else {
			int64_t days = (rand_r(&seed) % 12) * DAY_US;

			clock_move_us(days);
			moved += days;
			fixture_sql(s.f, "update logins set expires_at = $1, last_used_at = $2",
				ARGS(N(clock_now_us() + DAY_US), N(clock_now_us())));
		}
		CHECK(err == 0 || err == ERR_CONFLICT || err == ERR_NOT_FOUND);
		settle(&s);
		recount(&s);
	}
	clock_move_us(-moved);
	turn_close(&s);
}
