/* test_turns.c - agents at work: from what was said to the answer, with tools, people and subtasks between. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "queue/runner.h"
#include "store/engine.h"
#include "turn_fixture.h"

#define TOOLS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(turns_answer_what_was_said)
{
	struct turn_fixture s;

	turn_open(&s, NULL);
	CHECK_INT(
		turn_say(&s,
			"count to 5, please, and say it so that I can hear it from the other room"),
		0);
	turn_await(&s, "completed");
	CHECK_STR(
		turn_text(&s,
			"select content as value from messages where session_id = %s and role = 'assistant'"),
		"1 2 3 4 5");
	CHECK_STR(turn_text(&s, "select title as value from sessions where id = %s"),
		"count to 5, please, and say it so that I can hear it from\u2026");
	CHECK_STR(turn_text(&s, "select status as value from session_runs where session_id = %s"),
		"completed");
	CHECK_INT(turn_count(&s, "select iteration_count from sessions where id = %s"), 1);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_events where session_id = %s and kind = 'usage'"),
		1);
	CHECK_INT(turn_count(&s, "select count(*) from jobs"), 0);
	CHECK_INT(turn_count(&s, "select count(*) from directory d join sessions s on s.id = d.id"),
		1);
	CHECK_INT(turn_count(&s, "select count(*) from session_people where session_id = %s"), 1);
	CHECK_INT(
		turn_count(&s,
			"select cast(sum(sessions * 100 + sessions_completed * 10 + messages) as bigint) from usage_days"),
		112);
	turn_check_events(&s);

	/* The next message opens it again, and the agent hears all of it. */
	CHECK_INT(turn_say(&s, "count to 2"), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	turn_await(&s, "completed");
	CHECK_INT(turn_count(&s, "select message_count from sessions where id = %s"), 4);
	CHECK_INT(
		turn_count(&s,
			"select cast(sum(sessions - sessions_completed) as bigint) from usage_days"),
		0);
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_run_tools_and_read_their_results)
{
	struct turn_fixture s;

	turn_open(&s, TOOLS("calculator", "memory_write"));
	CHECK_INT(
		turn_say(&s,
			"use tool calculator with {\"expression\":\"6*7\"} and use tool memory_write with {\"content\":\"The answer is known.\"}"),
		0);
	turn_await(&s, "completed");
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_calls where session_id = %s and state = 'completed'"),
		2);
	CHECK_INT(turn_count(&s,
			  "select count(*) from messages where session_id = %s and role = 'tool'"),
		2);
	CHECK_INT(turn_count(&s, "select count(*) from memories"), 1);
	CHECK(strstr(turn_transcript(&s), "The tool calculator answered: 42"));
	CHECK_INT(turn_count(&s, "select iteration_count from sessions where id = %s"), 2);
	turn_check_events(&s);

	/* Arguments that do not suit are told to the model, and it goes on. */
	CHECK_INT(turn_say(&s, "use tool calculator with {\"wrong\":1}"), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_calls where session_id = %s and state = 'failed'"),
		1);
	CHECK(strstr(turn_transcript(&s), "do not suit"));
	turn_check_events(&s);
	turn_close(&s);
}

static void need_approval(struct turn_fixture *s, const char *tool)
{
	fixture_sql(s->f, "update tools set requires_approval = 1 where name = $1", ARGS(T(tool)));
}

TEST(turns_wait_for_approval_without_holding_a_job)
{
	for (int approved = 0; approved < 2; approved++) {
		struct turn_fixture s;

		turn_open(&s, TOOLS("calculator", "time"));
		need_approval(&s, "calculator");
		CHECK_INT(
			turn_say(&s,
				"use tool calculator with {\"expression\":\"6*7\"} and use tool time"),
			0);
		turn_await(&s, "waiting_approval");
		CHECK_INT(turn_count(&s, "select count(*) from jobs"), 0);
		CHECK_INT(
			turn_count(&s,
				"select count(*) from approvals where session_id = %s and status = 'pending'"),
			1);
		/* What is said meanwhile is heard by the run under way. */
		CHECK_INT(turn_say(&s, "and then count to 3"), 0);
		CHECK_INT(turn_count(&s, "select count(*) from session_runs where session_id = %s"),
			1);
		CHECK_INT(turn_decide(&s, approved), 0);
		CHECK_INT(turn_decide(&s, approved), ERR_NOT_FOUND);
		turn_await(&s, "completed");
		CHECK_INT(
			turn_count(&s,
				approved
					? "select count(*) from session_calls where session_id = %s and state = 'completed'"
					: "select count(*) from session_calls where session_id = %s and state = 'denied'"),
			approved ? 2 : 1);
		CHECK(strstr(turn_transcript(&s), approved ? "tool: 42" : "refused this call"));
		/* The model reads the results first, then what was said meanwhile. */
		CHECK(strstr(turn_transcript(&s), "assistant: 1 2 3"));
		turn_check_events(&s);
		turn_close(&s);
	}
}

TEST(turns_give_calls_to_whoever_started_the_run)
{
	struct run_options options = {
		.tools =
			"[{\"name\":\"weather\",\"description\":\"Tells it.\",\"parameters\":{\"type\":\"object\"}}]",
		.temperature = NAN,
		.top_p = NAN,
		.instructions = "Be brief."
	};
	struct turn_fixture s;
	const char *call;

	turn_open(&s, TOOLS("calculator"));
	CHECK_INT(turn_say(&s, "count to 1"), 0);
	turn_await(&s, "completed");
	fixture_sql(s.f, "update messages set content = $2 where session_id = $1 and role = 'user'",
		ARGS(T(s.session_id),
			T("use tool weather with {\"city\":\"Oslo\"} and use tool calculator with "
			  "{\"expression\":\"2+2\"}")));
	fixture_sql(s.f, "delete from messages where session_id = $1 and role = 'assistant'",
		ARGS(T(s.session_id)));
	fixture_sql(s.f, "update session_rows set message_count = 1 where id = $1",
		ARGS(T(s.session_id)));
	CHECK_INT(turn_start(&s, &options), 0);
	CHECK_INT(turn_start(&s, &options), ERR_CONFLICT);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'requires_action'",
		1);
	turn_await_count(&s, "select count(*) from jobs", 0);
	call = turn_text(&s,
		"select call_id as value from session_calls where session_id = %s and name = 'weather'");
	CHECK_INT(turn_answer(&s, "nobody", "rain"), ERR_NOT_FOUND);
	CHECK_INT(turn_answer(&s, call, "rain"), 0);
	turn_await(&s, "completed");
	CHECK_INT(turn_answer(&s, call, "rain"), ERR_CONFLICT);
	CHECK(strstr(turn_transcript(&s), "The tool weather answered: rain"));
	CHECK(strstr(turn_transcript(&s), "The tool calculator answered: 4"));
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_cut_at_the_limit_are_incomplete)
{
	struct run_options options = { .max_tokens = 3, .temperature = NAN, .top_p = NAN };
	struct turn_fixture s;

	turn_open(&s, NULL);
	CHECK_INT(turn_say(&s, "count to 1"), 0);
	turn_await(&s, "completed");
	fixture_sql(
		s.f, "update messages set content = 'count to 100' where role = 'user'", NO_ARGS);
	CHECK_INT(turn_start(&s, &options), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'incomplete'",
		1);
	CHECK_STR(turn_text(&s, "select status as value from sessions where id = %s"), "completed");
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_give_work_to_other_agents)
{
	struct turn_fixture s;
	struct answer r;
	const char *parent;

	turn_open(&s, TOOLS("subtask", "calculator"));
	parent = s.session_id;
	r = ask(s.f, s.f->admin, "{\"name\":\"Helper\",\"slug\":\"helper\"}",
		"POST /tenant/%s/agents", s.f->tenant_id);
	turn_tool(&s, text_at(&r, "id"), "calculator");
	CHECK_INT(
		turn_say(&s,
			"use tool subtask with {\"title\":\"Sum\",\"agent\":\"helper\",\"message\":\"use tool calculator with {\\\"expression\\\":\\\"40+2\\\"}\"} and use tool subtask with {\"title\":\"Count\",\"message\":\"count to 4\"} and use tool subtask with {\"title\":\"Lost\",\"agent\":\"nobody\",\"message\":\"x\"}"),
		0);
	turn_await(&s, "completed");
	CHECK_INT(
		turn_count(&s,
			"select count(*) from sessions where parent_session_id = %s and status = 'completed'"),
		2);
	CHECK(strstr(turn_transcript(&s), "tool: 1 2 3 4"));
	CHECK(strstr(turn_transcript(&s), "The tool calculator answered: 42"));
	CHECK(strstr(turn_transcript(&s), "There is no agent nobody"));
	CHECK_INT(turn_count(&s, "select cast(sum(subtasks) as bigint) from usage_days"), 2);
	turn_check_events(&s);
	s.session_id = turn_text(&s,
		"select id as value from sessions where parent_session_id = %s and title = 'Sum'");
	turn_check_events(&s);
	CHECK_STR(
		turn_text(&s,
			"select a.slug as value from agents a join sessions x on x.agent_id = a.id where x.id = %s"),
		"helper");

	/* An agent that is for administrators only is not there for others. */
	s.session_id = parent;
	fixture_sql(s.f, "update agent_rows set is_admin_only = 1 where slug = 'helper'", NO_ARGS);
	CHECK_INT(
		turn_say(&s,
			"use tool subtask with {\"title\":\"No\",\"agent\":\"helper\",\"message\":\"count to 4\"}"),
		0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	CHECK_INT(turn_count(&s, "select count(*) from sessions where parent_session_id = %s"), 2);
	turn_close(&s);
}

TEST(turns_subtasks_are_cancelled_with_their_parent_and_bounded)
{
	struct turn_fixture s;

	turn_open(&s, TOOLS("subtask", "calculator"));
	need_approval(&s, "calculator");
	CHECK_INT(
		turn_say(&s,
			"use tool subtask with {\"title\":\"T\",\"message\":\"use tool calculator with {\\\"expression\\\":\\\"1\\\"}\"}"),
		0);
	turn_await_count(&s,
		"select count(*) from sessions where parent_session_id = %s and status = 'waiting_approval'",
		1);
	CHECK_INT(turn_cancel(&s), 0);
	CHECK_INT(turn_cancel(&s), ERR_CONFLICT);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from sessions where parent_session_id = %s and status = 'cancelled'"),
		1);
	CHECK_INT(turn_count(&s, "select count(*) from approvals where status = 'cancelled'"), 1);
	CHECK_INT(
		turn_count(&s, "select count(*) from session_calls where state = 'cancelled'"), 2);
	turn_check_events(&s);
	/* It goes on with the next message. */
	CHECK_INT(turn_say(&s, "count to 2"), 0);
	turn_await(&s, "completed");

	/* Too deep: the model is told. */
	fixture_sql(s.f, "update session_rows set depth = $2 where id = $1",
		ARGS(T(s.session_id), N(SESSION_DEPTH_MAX)));
	CHECK_INT(
		turn_say(&s, "use tool subtask with {\"title\":\"T\",\"message\":\"count to 9\"}"),
		0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	CHECK(strstr(turn_transcript(&s), "sessions deep"));
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_go_on_when_the_agent_of_a_subtask_is_deleted)
{
	struct turn_fixture s;
	struct answer r;
	const char *helper;

	turn_open(&s, TOOLS("subtask", "calculator"));
	need_approval(&s, "calculator");
	r = ask(s.f, s.f->admin, "{\"name\":\"Helper\",\"slug\":\"helper\"}",
		"POST /tenant/%s/agents", s.f->tenant_id);
	helper = text_at(&r, "id");
	turn_tool(&s, helper, "calculator");
	CHECK_INT(
		turn_say(&s,
			"use tool subtask with {\"title\":\"T\",\"agent\":\"helper\",\"message\":\"use tool calculator with {\\\"expression\\\":\\\"1\\\"}\"}"),
		0);
	turn_await_count(&s,
		"select count(*) from sessions where parent_session_id = %s and status = 'waiting_approval'",
		1);
	STATUS(ask(s.f, s.f->admin, NULL, "DELETE /agents/%s", helper), 204);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "tool: The subtask was cancelled."));
	CHECK_INT(turn_count(&s, "select count(*) from sessions where parent_session_id = %s"), 0);
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_hear_a_streamed_message_once_under_one_key)
{
	static const char said[] = "{\"content\":\"count to 3\"}",
			  request[] = "POST /sessions/%s/messages\n"
				      "Accept: text/event-stream\r\nIdempotency-Key: once";
	struct turn_fixture s;
	struct answer r;

	turn_open(&s, NULL);
	r = ask(s.f, s.f->admin, said, request, s.session_id);
	STATUS(r, 200);
	CHECK(strstr(r.head, "Content-Type: text/event-stream\r\n"));
	r = ask(s.f, s.f->admin, said, request, s.session_id);
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "content"), "count to 3");
	CHECK_INT(turn_count(&s,
			  "select count(*) from messages where session_id = %s and role = 'user'"),
		1);
	turn_close(&s);
}

TEST(turns_begin_with_the_greeting_and_keep_to_the_plan)
{
	struct turn_fixture s;

	turn_open(&s, NULL);
	fixture_sql(s.f, "update agent_rows set initial_greeting = 'Welcome!' where id = $1",
		ARGS(T(s.agent_id)));
	turn_session(&s);
	CHECK_STR(turn_transcript(&s), "assistant: Welcome!");
	CHECK_INT(turn_count(&s, "select message_count from sessions where id = %s"), 1);
	CHECK_INT(turn_say(&s, "count to 1"), 0);
	turn_await(&s, "completed");
	CHECK_STR(turn_transcript(&s), "assistant: Welcome! | user: count to 1 | assistant: 1");
	fixture_sql(s.f, "update agent_rows set is_active = 0 where id = $1", ARGS(T(s.agent_id)));
	CHECK_INT(turn_say(&s, "count to 1"), ERR_CONFLICT);
	fixture_sql(s.f, "update agent_rows set is_active = 1 where id = $1", ARGS(T(s.agent_id)));
	fixture_sql(s.f, "update tenants set status = 'suspended'", NO_ARGS);
	CHECK_INT(turn_say(&s, "count to 1"), ERR_CONFLICT);
	turn_close(&s);
}

/* ---- models that misbehave ---- */

static void fails_with(const char *const *scripts, const char *code, const char *words)
{
	struct turn_fixture s;

	turn_open_mock(&s, scripts, TOOLS("calculator"));
	test_step("%s", scripts[0]);
	CHECK_INT(turn_say(&s, "hi"), 0);
	turn_await(&s, "failed");
	CHECK_STR(
		turn_text(&s, "select error_code as value from session_runs where session_id = %s"),
		code);
	CHECK(strstr(turn_text(&s, "select error as value from sessions where id = %s"), words));
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_calls where session_id = %s and state not in ('completed', 'failed')"),
		0);
	turn_check_events(&s);
	/* The next message can go on. */
	fixture_sql(s.f, "delete from agent_models where agent_id = $1", ARGS(T(s.agent_id)));
	fixture_sql(s.f,
		"insert into agent_models (tenant_id, agent_id, model_id, access, priority, created_at) select $1, $2, id, 'full', 1, 1 from models where slug = 'demo'",
		ARGS(T(s.f->tenant_id), T(s.agent_id)));
	CHECK_INT(turn_say(&s, "count to 2"), 0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "assistant: 1 2"));
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_end_with_the_cause_when_a_model_misbehaves)
{
	fails_with((const char *const[]){ "ghost-1", NULL }, "bad_calls", "ghost");
	fails_with((const char *const[]){ "broken-2", NULL }, "bad_calls", "not JSON");
	fails_with((const char *const[]){ "same-1", NULL }, "loop", "calculator");
	fails_with((const char *const[]){ "same-70", NULL }, "too_many_calls", "70");
	fails_with((const char *const[]){ "silent", NULL }, "empty_answer", "nothing");
	fails_with((const char *const[]){ "endless", NULL }, "answer_too_long", "no end");
	fails_with((const char *const[]){ "500", NULL }, "server", "failed");
	fails_with((const char *const[]){ "400", NULL }, "refused", "");
	fails_with((const char *const[]){ "cut-2", NULL }, "cut", "early");
}

TEST(turns_begin_a_broken_answer_again_on_the_next_model)
{
	struct turn_fixture s;

	turn_open_mock(&s, (const char *const[]){ "cut-2", "stall-3", "ok", NULL }, NULL);
	CHECK_INT(turn_say(&s, "hi"), 0);
	turn_await(&s, "completed");
	CHECK_STR(turn_transcript(&s), "user: hi | assistant: one two three four five");
	CHECK_INT(turn_count(&s, "select count(*) from messages where session_id = %s"), 2);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_events where session_id = %s and kind = 'notice' and data like '%%answer_restarted%%'"),
		2);
	gateway_await_settled(&s.gateway);
	CHECK_INT(turn_count(&s, "select count(*) from ledger"), 3);
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_tell_which_model_failed_before_another_answered)
{
	struct turn_fixture s;

	turn_open_mock(&s, (const char *const[]){ "500", "401", "ok", NULL }, NULL);
	CHECK_INT(turn_say(&s, "hi"), 0);
	turn_await(&s, "completed");
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_events where session_id = %s and kind = 'notice' and data like '%%\"failover\"%%'"),
		2);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_events where session_id = %s and data like '%%-0: The model provider failed. The next model was asked.%%'"),
		1);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_events where session_id = %s and data like '%%-1: The model provider refuses the key it was given. %%'"),
		1);
	turn_check_events(&s);
	turn_close(&s);
}

#ifdef LODGE_FAULTS
/* A step that the store has run again, from whichever of its statements on, is the same step. */
TEST(turns_are_the_same_when_a_step_is_run_again)
{
	/* The answer breaks off at about the eightieth. */
	int from = getenv("LODGE_TEST_EVERY") ? 1 : 68, to = getenv("LODGE_TEST_EVERY") ? 140 : 98;

	for (int n = from; n < to; n++) {
		int64_t until = clock_mono_ms() + 15000;
		struct turn_fixture s;

		turn_open_mock(&s, (const char *const[]){ "cut-2", "ok", NULL }, NULL);
		test_step("statement %d", n);
		fault_plan.err = ERR_RETRY;
		fault_plan.statement_at = n;
		CHECK_INT(turn_say(&s, "hi"), 0);
		/* without a statement of the test's own */
		while (fault_plan.statement_at && !runner_stats(s.f->service.runner).finished &&
			clock_mono_ms() < until)
			usleep(1000);
		fault_plan.statement_at = 0;
		turn_await(&s, "completed");
		CHECK_STR(turn_transcript(&s), "user: hi | assistant: one two three four five");
		CHECK_INT(turn_count(&s, "select count(*) from messages where session_id = %s"), 2);
		turn_check_events(&s);
		turn_close(&s);
	}
}
#endif

/* ---- cancelling ---- */

TEST(turns_are_cancelled_at_any_moment)
{
	static const char *const scripts[] = { "stall-0", "stall-2", "slow-30", "ok", NULL };

	for (int i = 0; scripts[i]; i++)
		for (int pause = 0; pause < 3; pause++) {
			struct turn_fixture s;

			turn_open_mock(&s, (const char *const[]){ scripts[i], NULL }, NULL);
			test_step("%s, pause %d", scripts[i], pause);
			CHECK_INT(turn_say(&s, "hi"), 0);
			if (pause)
				turn_await_count(&s,
					pause == 1
						? "select count(*) from sessions where id = %s and status <> 'pending'"
					: i == 1
						? "select count(*) from messages where session_id = %s and role = 'assistant'"
						: "select case when count(*) > 0 then 1 else 0 end from session_events where session_id = %s",
					1);
			if (turn_cancel(&s) == 0) {
				CHECK_STR(
					turn_text(&s,
						"select status as value from sessions where id = %s"),
					"cancelled");
				turn_await_count(&s, "select count(*) from jobs", 0);
				CHECK_STR(
					turn_text(&s,
						"select status as value from sessions where id = %s"),
					"cancelled");
				CHECK_INT(
					turn_count(&s,
						"select count(*) from messages where session_id = %s and status = 'streaming'"),
					0);
			}
			gateway_await_settled(&s.gateway);
			turn_check_events(&s);
			turn_close(&s);
		}
}

TEST(turns_cancel_tools_that_hang)
{
	struct turn_fixture s;
	struct answer r;

	turn_open(&s, NULL);
	s.f->app.settings.allow_private_addresses = true;
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena,
			"{\"name\":\"hang\",\"kind\":\"http\",\"description\":\"Hangs.\",\"input_schema\":{\"type\":\"object\"},\"config\":{\"method\":\"GET\",\"url\":\"%s\"}}",
			mock_url(&s.gateway.mock, &s.f->arena, "stall-0")),
		"POST /tenant/%s/tools", s.f->tenant_id);
	STATUS(r, 201);
	turn_tool(&s, s.agent_id, "hang");
	CHECK_INT(turn_say(&s, "use tool hang and use tool hang"), 0);
	turn_await_count(&s,
		"select count(*) from session_calls where session_id = %s and state = 'running'",
		2);
	CHECK_INT(turn_cancel(&s), 0);
	turn_await_count(&s, "select count(*) from jobs", 0);
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_calls where session_id = %s and state = 'cancelled'"),
		2);
	turn_check_events(&s);
	turn_close(&s);
}

/* ---- long sessions ---- */

TEST(turns_sum_up_what_no_longer_fits)
{
	struct turn_fixture s;

	turn_open(&s, TOOLS("calculator"));
	fixture_sql(s.f, "update models set context_window = 600 where slug = 'demo'", NO_ARGS);
	for (int i = 0; i < 12; i++) {
		CHECK_INT(
			turn_say(&s,
				arena_printf(&s.f->arena,
					"%s round %d of a long talk, in which much is said and more is meant, and nobody remembers how it began",
					i % 3 ? "hello"
					      : "use tool calculator with {\"expression\":\"6*7\"}",
					i)),
			0);
		turn_await_count(&s,
			"select count(*) from session_runs where session_id = %s and status = 'completed'",
			i + 1);
		turn_await(&s, "completed");
	}
	CHECK(turn_count(&s, "select count(*) from session_summaries where session_id = %s") > 0);
	/* No summary ends between a call and its result. */
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_summaries u where u.session_id = %s and exists (select 1 from messages m where m.session_id = u.session_id and m.role = 'tool' and m.id = (select min(n.id) from messages n where n.session_id = u.session_id and n.id > u.last_message_id))"),
		0);
	turn_check_events(&s);
	turn_close(&s);
}

TEST(turns_warn_once_when_there_are_many)
{
	struct turn_fixture s;

	turn_open_mock(&s, (const char *const[]){ "same-1", NULL }, TOOLS("calculator"));
	fixture_sql(s.f, "update agent_rows set iteration_warn_threshold = 3 where id = $1",
		ARGS(T(s.agent_id)));
	CHECK_INT(turn_say(&s, "hi"), 0);
	turn_await(&s, "failed");
	CHECK_INT(
		turn_count(&s,
			"select count(*) from session_events where session_id = %s and kind = 'notice' and data like '%%iterations%%'"),
		1);
	turn_close(&s);
}
