/* test_waiting_line.c - those who wait for one agent: in which order they go on, what wakes them, when they give up,
 * and what becomes of a run that is stopped in the middle. */
#include "wait_fixture.h"

#include "base/clock.h"
#include "broker/ledger.h"

#define COUNT(s, sql) fixture_count((s)->f, sql)
#define WAITING "select count(*) from sessions where waiting_for is not null"
#define COMPLETED "select count(*) from sessions where status = 'completed'"

/* Sends so many events and waits until all of them stand in line. */
static void fill_line(struct wait_fixture *s, int count)
{
	for (int i = 0; i < count; i++)
		STATUS(hook_send(&s->hook, HOOK_EVENT, NULL), 202);
	wait_until_count(s, WAITING, count);
	wait_until_count(s,
		"select count(*) from jobs where state = 'delayed' and waits_for is not null",
		count);
}

TEST(waiting_those_in_line_go_on_in_order_as_the_rate_lets_them)
{
	enum { EVENTS = 9, RATE = 2 };
	struct wait_fixture s;
	int64_t done = 0, began;

	wait_open(&s, "ok");
	began = clock_now_us();
	wait_chat(&s, "{\"chat_rpm_limit\":2}");
	wait_use_rate(&s, 1);
	fixture_sql(s.f, "update rate_slots set calls = 2", NO_ARGS);
	fill_line(&s, EVENTS);
	/* the order in which they began to wait, where this test can read it */
	fixture_sql(s.f,
		"update session_rows set title = (select cast(j.waits_since as text) || j.id "
		"from jobs j where j.subject = session_rows.id)",
		NO_ARGS);
	for (int minute = 0; minute < 4 * EVENTS && done < EVENTS; minute++) {
		int64_t now, before = done;

		test_step("look %d", minute + 1);
		wait_move_to(&s, COUNT(&s, "select min(run_at) from jobs where state = 'delayed'") +
					 SECOND_US);
		now = clock_now_us();
		wait_until_count(&s,
			"select count(*) from sessions where status in ('pending', 'running') "
			"and waiting_for is null",
			0);
		wait_until_count(&s, "select count(*) from jobs where state <> 'delayed'", 0);
		done = COUNT(&s, COMPLETED);
		CHECK(done >=
			before); /* one may begin between two looks: the slots say how many did */
		CHECK_INT(COUNT(&s, "select count(*) from sessions a join sessions b "
				    "on a.title < b.title where a.started_at is null "
				    "and b.started_at is not null"),
			0);
		CHECK(fixture_count(s.f,
			      arena_printf(&s.f->arena,
				      "select sum(calls) from rate_slots where seconds = 1 and slot > %lld",
				      (long long)(now / SECOND_US - 60))) <= RATE);
	}
	CHECK_INT(done, EVENTS);
	/* two at once every minute: the ninth in the fifth; one at a time would take nine, and a slow machine some more */
	CHECK(clock_now_us() - began < (EVENTS - 1) * 62 * SECOND_US);
	CHECK_INT(COUNT(&s, "select count(*) from jobs"), 0);
	wait_close(&s);
}

TEST(waiting_other_limits_wake_at_once)
{
	struct wait_fixture s;

	wait_open(&s, "ok");
	test_step("rate");
	wait_chat(&s, "{\"chat_rph_limit\":1}");
	wait_use_rate(&s, 60);
	fill_line(&s, 3);
	wait_chat(&s, "{\"chat_rph_limit\":null}");
	wait_until_count(&s, COMPLETED, 3);
	test_step("budget");
	wait_budget(&s, "0");
	fill_line(&s, 3);
	CHECK_INT(COUNT(&s, "select count(*) from sessions where waiting_for = 'budget' "
			    "and waiting_until is null"),
		3); /* no time will help */
	wait_budget(&s, "100");
	wait_until_count(&s, COMPLETED, 6);
	test_step("hours");
	wait_chat(&s, "{\"working_hours_enabled\":true,\"working_hours_start\":\"08:00\","
		      "\"working_hours_end\":\"20:00\",\"working_hours_tz\":\"UTC\"}");
	fill_line(&s, 3);
	wait_chat(&s, "{\"working_hours_enabled\":false}");
	wait_until_count(&s, COMPLETED, 9);
	wait_until_count(&s, "select count(*) from jobs", 0);
	wait_close(&s);
}

TEST(waiting_whoever_leaves_the_line_is_in_nobodys_way)
{
	struct wait_fixture s;
	struct answer r;

	wait_open(&s, "ok");
	wait_budget(&s, "0");
	fill_line(&s, 3);
	r = hook_log(&s.hook);
	for (int i = 0; i < 3; i++) { /* two of the three go, one of them for good */
		const char *id = text_at(&r, arena_printf(&s.f->arena, "items.%d.session_id", i));

		if (i == 0)
			STATUS(ask(s.f, s.f->admin, NULL, "POST /sessions/%s/cancel", id), 200);
		if (i == 2)
			STATUS(ask(s.f, s.f->admin, NULL, "DELETE /sessions/%s", id), 204);
	}
	wait_until_count(&s, "select count(*) from jobs", 1);
	wait_until_count(&s, "select count(*) from jobs where state = 'delayed'", 1);
	CHECK_INT(COUNT(&s, "select count(*) from sessions where status = 'cancelled' "
			    "and waiting_for is null"),
		1);
	wait_budget(&s, "100");
	wait_until_count(&s, COMPLETED, 1);
	wait_close(&s);
}

TEST(waiting_ends_after_seven_days_and_can_be_redelivered)
{
	int64_t day = 86400 * SECOND_US;
	struct wait_fixture s;
	struct answer r;
	const char *id;

	wait_open(&s, "ok");
	wait_budget(&s, "0");
	fill_line(&s, 1);
	r = hook_log(&s.hook);
	id = text_at(&r, "items.0.id");
	CHECK_STR(text_at(&r, "items.0.status"), "delivered");
	STATUS(ask(s.f, s.f->admin, NULL, "POST /tenant/%s/integrations/%s/deliveries/%s/redeliver",
		       s.f->tenant_id, s.hook.id, id),
		409);
	wait_move(&s, 6 * day);
	wait_until_count(&s, WAITING, 1);
	wait_move(&s, day + SECOND_US);
	wait_until_count(&s, "select count(*) from sessions where status = 'failed'", 1);
	CHECK_INT(COUNT(&s, "select count(*) from session_runs where error_code = 'held_too_long'"),
		1);
	wait_until_count(&s, "select count(*) from jobs", 0);
	wait_budget(&s, "100");
	STATUS(ask(s.f, s.f->admin, NULL, "POST /tenant/%s/integrations/%s/deliveries/%s/redeliver",
		       s.f->tenant_id, s.hook.id, id),
		202);
	wait_until_count(&s, COMPLETED, 1);
	CHECK_INT(COUNT(&s, "select count(*) from sessions"), 2);
	STATUS(ask(s.f, s.f->admin, NULL, "POST /tenant/%s/integrations/%s/deliveries/%s/redeliver",
		       s.f->tenant_id, s.hook.id, id),
		409);
	wait_close(&s);
}

/* ---- in the middle ---- */

static void give_calculator(struct wait_fixture *s)
{
	wait_tool(s, s->agent_id, "calculator");
	fixture_sql(
		s->f, "update tools set requires_approval = 1 where name = 'calculator'", NO_ARGS);
}

static void approve(struct wait_fixture *s)
{
	struct answer r;

	wait_until_count(s, "select count(*) from approvals where status = 'pending'", 1);
	r = ask(s->f, s->f->admin, NULL, "GET /tenant/%s/approvals", s->f->tenant_id);
	STATUS(ask(s->f, s->f->admin, "{\"approved\":true}", "POST /sessions/%s/approvals/%s",
		       text_at(&r, "items.0.session_id"), text_at(&r, "items.0.id")),
		200);
}

TEST(waiting_a_run_in_the_middle_waits_for_money_and_hours)
{
	struct wait_fixture s;

	wait_open(&s, "same-1");
	give_calculator(&s);
	wait_budget(&s, "1");
	STATUS(ask(s.f, s.f->admin, "{\"message\":\"hi\"}", "POST /agents/%s/sessions", s.agent_id),
		201);
	wait_until_count(&s, "select count(*) from approvals where status = 'pending'", 1);
	gateway_await_settled(&s.gateway);
	wait_spend(&s, PICODOLLARS);
	approve(&s);
	wait_until_count(&s,
		"select count(*) from sessions where status = 'running' and waiting_for = 'budget' "
		"and waiting_until is not null",
		1);
	CHECK_INT(COUNT(&s, "select count(*) from session_runs where iteration_count = 1"), 1);
	test_step("an hour later");
	wait_move_to(&s, COUNT(&s, "select max(waiting_until) from sessions") + SECOND_US);
	wait_until_count(&s, "select count(*) from approvals where status = 'pending'", 1);
	CHECK_INT(COUNT(&s, "select count(*) from session_runs where iteration_count = 2"), 1);
	CHECK_INT(COUNT(&s, WAITING), 0);
	gateway_settled(&s.gateway, 2, 2 * MOCK_COST);
	test_step("the day is over");
	wait_chat(&s, "{\"working_hours_enabled\":true,\"working_hours_start\":\"04:00\","
		      "\"working_hours_end\":\"05:00\",\"working_hours_tz\":\"UTC\"}");
	approve(&s);
	wait_until_count(&s, "select count(*) from sessions where waiting_for = 'hours'", 1);
	wait_move_to(&s, COUNT(&s, "select max(waiting_until) from sessions") + SECOND_US);
	wait_until_count(&s, "select count(*) from approvals where status = 'pending'", 1);
	gateway_settled(&s.gateway, 3, 3 * MOCK_COST);
	wait_close(&s);
}

TEST(waiting_a_run_that_refuses_fails_in_the_middle)
{
	struct wait_fixture s;

	wait_open(&s, "same-1");
	give_calculator(&s);
	wait_budget(&s, "1");
	STATUS(ask(s.f, s.f->admin, "{\"guardrails\":{\"budget\":\"refuse\"}}",
		       "PATCH /tenant/%s/integrations/%s", s.f->tenant_id, s.hook.id),
		200);
	STATUS(hook_send(&s.hook, HOOK_EVENT, NULL), 202);
	wait_until_count(&s, "select count(*) from approvals where status = 'pending'", 1);
	gateway_await_settled(&s.gateway);
	wait_spend(&s, PICODOLLARS);
	approve(&s);
	wait_until_count(&s, "select count(*) from sessions where status = 'failed'", 1);
	CHECK_INT(
		COUNT(&s,
			"select count(*) from session_runs where error_code = 'budget_exhausted'"),
		1);
	wait_close(&s);
}

TEST(waiting_for_more_than_the_whole_limit_is_not_waited_for)
{
	struct wait_fixture s;

	wait_open(&s, "ok");
	wait_budget(&s, "0.000003"); /* three tokens: not the prompt */
	STATUS(hook_send(&s.hook, HOOK_EVENT, NULL), 202);
	wait_until_count(&s, "select count(*) from sessions where status = 'failed'", 1);
	CHECK_INT(
		COUNT(&s,
			"select count(*) from session_runs where error_code = 'budget_exhausted'"),
		1);
	wait_close(&s);
}

TEST(waiting_what_people_set_off_comes_before_events)
{
	struct wait_fixture s;

	wait_open(&s, "ok");
	STATUS(hook_send(&s.hook, HOOK_EVENT, NULL), 202);
	wait_until_count(&s, COMPLETED, 1);
	CHECK_INT(COUNT(&s, "select max(priority) from session_runs"), 0);
	STATUS(ask(s.f, s.f->admin, "{\"message\":\"hi\"}", "POST /agents/%s/sessions", s.agent_id),
		201);
	wait_until_count(&s, COMPLETED, 2);
	CHECK_INT(COUNT(&s, "select max(priority) from session_runs"), 10);
	wait_close(&s);
}
