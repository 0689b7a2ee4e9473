/* test_waiting.c - every way to an agent that has no room, by everything it can lack: who asks directly is refused
 * before anything is made, and what is queued waits, says for what, and goes on by itself. */
#include "wait_fixture.h"

#include "base/clock.h"
#include "broker/ledger.h"

#define COUNT(s, sql) fixture_count((s)->f, sql)
#define AT_WORK "status in ('pending', 'running', 'waiting_approval') and run_id is not null"

/* ---- what an agent can lack ---- */

static void lack_minute(struct wait_fixture *s)
{
	wait_chat(s, "{\"chat_rpm_limit\":1}");
	wait_use_rate(s, 1);
}

static void lack_hour(struct wait_fixture *s)
{
	wait_chat(s, "{\"chat_rph_limit\":1}");
	wait_use_rate(s, 60);
}

static void lack_budget(struct wait_fixture *s)
{
	wait_budget(s, "1");
	wait_spend(s, PICODOLLARS);
}

static void lack_hours(struct wait_fixture *s)
{
	int64_t day = 86400 * SECOND_US, now = clock_now_us();

	/* six in the morning of the next day, before the day begins */
	wait_move(s, day - now % day + 6 * 3600 * SECOND_US);
	wait_chat(s, "{\"working_hours_enabled\":true,\"working_hours_start\":\"08:00\","
		     "\"working_hours_end\":\"20:00\",\"working_hours_tz\":\"UTC\"}");
}

static const struct lack {
	const char *name, *code, *reason;
	void (*bring_about)(struct wait_fixture *s);
	bool of_rate; /* a subtask takes none of it */
} lacks[] = {
	{ "messages in a minute", "rate_limited", "rate", lack_minute, true },
	{ "messages in an hour", "rate_limited", "rate", lack_hour, true },
	{ "budget", "budget_exhausted", "budget", lack_budget, false },
	{ "working hours", "outside_working_hours", "hours", lack_hours, false },
};
enum { LACKS = sizeof lacks / sizeof *lacks };

static void all_is_well(struct wait_fixture *s)
{
	wait_chat(s, "{\"chat_rpm_limit\":null,\"chat_rph_limit\":null,"
		     "\"working_hours_enabled\":false}");
	wait_budget(s, "null");
	fixture_sql(s->f, "delete from rate_slots", NO_ARGS);
	fixture_sql(s->f, "delete from spend_minutes", NO_ARGS);
}

/* ---- the ways in ---- */

static struct answer by_session(struct wait_fixture *s)
{
	return ask(
		s->f, s->f->admin, "{\"message\":\"hi\"}", "POST /agents/%s/sessions", s->agent_id);
}

static struct answer by_message(struct wait_fixture *s)
{
	return ask(s->f, s->f->admin, "{\"content\":\"hi\"}", "POST /sessions/%s/messages",
		fixture_session(s->f, s->f->admin, s->agent_id, "{}"));
}

static struct answer by_person_subtask(struct wait_fixture *s)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena,
			"{\"title\":\"T\",\"message\":\"hi\",\"agent_id\":\"%s\"}", s->agent_id),
		"POST /sessions/%s/subtasks",
		fixture_session(s->f, s->f->admin, s->giver_id, "{}"));
}

static struct answer by_completion(struct wait_fixture *s)
{
	return gateway_ask(&s->gateway, s->f->admin, "");
}

static struct answer by_response(struct wait_fixture *s)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena,
			"{\"model\":\"%s\",\"input\":\"hi\",\"background\":true}", s->agent_id),
		"POST /v1/responses");
}

static struct answer by_thread_run(struct wait_fixture *s)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena,
			"{\"assistant_id\":\"%s\",\"thread\":{\"messages\":[{\"role\":\"user\","
			"\"content\":\"hi\"}]}}",
			s->agent_id),
		"POST /v1/threads/runs");
}

static struct answer by_hook(struct wait_fixture *s)
{
	return hook_send(&s->hook, HOOK_EVENT, NULL);
}

static struct answer by_skill_hook(struct wait_fixture *s)
{
	return ask(
		s->f, s->skill_token, "{\"version\":3}", "POST /hooks/skills/%s", s->skill_hook_id);
}

static struct answer by_subtask(struct wait_fixture *s)
{
	return ask(s->f, s->f->admin,
		arena_printf(&s->f->arena,
			"{\"message\":\"use tool subtask with {\\\"title\\\":\\\"S\\\",\\\"message\\\":"
			"\\\"hi\\\",\\\"agent\\\":\\\"%s\\\"}\"}",
			s->gateway.slug),
		"POST /agents/%s/sessions", s->giver_id);
}

static const struct way {
	const char *name;
	struct answer (*ask)(struct wait_fixture *s);
	int status;  /* where there is room */
	bool queued; /* else it is asked directly */
	bool counts; /* as one of the agent's messages */
} ways[] = {
	{ "session with a message", by_session, 201, false, true },
	{ "message", by_message, 202, false, true },
	{ "subtask of a person", by_person_subtask, 201, false, true },
	{ "chat completion", by_completion, 200, false, true },
	{ "response", by_response, 200, false, true },
	{ "run of a thread", by_thread_run, 200, false, true },
	{ "github event", by_hook, 202, true, true },
	{ "skill's webhook", by_skill_hook, 202, true, true },
	{ "subtask of an agent", by_subtask, 201, true, false },
};
enum { WAYS = sizeof ways / sizeof *ways };

static int64_t taken(struct wait_fixture *s)
{
	return COUNT(s, "select coalesce(sum(calls), 0) from rate_slots where seconds = 60");
}

/* ---- what becomes of them ---- */

static int64_t rows(struct wait_fixture *s)
{
	return COUNT(s,
		"select (select count(*) from sessions) + (select count(*) from messages) + "
		"(select count(*) from session_runs) + (select count(*) from jobs) + "
		"(select count(*) from threads) + (select count(*) from responses)");
}

static void is_refused(struct wait_fixture *s, const struct way *w, const struct lack *l)
{
	struct answer r;
	int64_t before, made = w->ask == by_message || w->ask == by_person_subtask;

	(void)w->ask(s); /* for what such a call needs of its own: an empty session */
	before = rows(s);
	r = w->ask(s);
	STATUS(r, 429);
	CHECK(strstr(r.body, l->code) != NULL);
	CHECK(header_of(s->f, &r, "Retry-After") && atoi(header_of(s->f, &r, "Retry-After")) > 0);
	CHECK_INT(rows(s), before + made);
}

static void goes_on(struct wait_fixture *s)
{
	wait_until_count(s, "select count(*) from sessions where " AT_WORK, 0);
	CHECK_INT(
		COUNT(s,
			"select count(*) from sessions where status not in ('completed', 'pending') "
			"or waiting_for is not null or waiting_until is not null"),
		0);
	wait_until_count(s, "select count(*) from jobs", 0);
}

static void is_held(struct wait_fixture *s, const struct way *w, const struct lack *l)
{
	struct fixture *f = s->f;
	int64_t attempts = COUNT(s, "select coalesce(sum(iteration_count), 0) from session_runs");
	const char *waiting = arena_printf(&f->arena,
		"select count(*) from sessions where waiting_for = '%s' and waiting_until is not null "
		"and agent_id = '%s' and status in ('pending', 'running')",
		l->reason, s->agent_id);
	struct answer r = w->ask(s), job;
	int64_t until;

	STATUS(r, w->status);
	if (l->of_rate && !w->counts) {
		goes_on(s);
		return;
	}
	wait_until_count(s, waiting, 1);
	until = COUNT(s, "select max(waiting_until) from sessions");
	CHECK(until > clock_now_us() && until <= clock_now_us() + 7300 * SECOND_US);
	wait_until_count(s, "select count(*) from jobs where state = 'delayed'", 1);
	job = ask(f, f->admin, NULL, "GET /admin/queue?state=delayed");
	CHECK_STR(text_at(&job, "items.0.waits_for"), l->reason);
	CHECK_INT(json_integer_value(at(&job, "items.0.attempts")), 0);
	CHECK_INT(COUNT(s, "select count(*) from session_events where kind = 'notice' "
			   "and data like '%\"waiting\"%' and session_id in "
			   "(select id from sessions where waiting_for is not null)"),
		1);
	if (w->ask == by_hook) {
		struct answer log = hook_log(&s->hook);

		CHECK_STR(text_at(&log, "items.0.waiting_for"), l->reason);
		CHECK(text_at(&log, "items.0.waiting_until") != NULL);
	}
	CHECK(COUNT(s, "select coalesce(sum(iteration_count), 0) from session_runs") - attempts <=
		1);
	wait_move_to(s, until + SECOND_US);
	goes_on(s);
}

static void clear_away(struct wait_fixture *s)
{
	all_is_well(s);
	wait_until_count(s, "select count(*) from jobs", 0);
	fixture_sql(s->f, "delete from session_rows", NO_ARGS);
	fixture_sql(s->f, "delete from deliveries", NO_ARGS);
}

TEST(waiting_every_way_in_by_everything_that_is_lacking)
{
	struct wait_fixture s;

	wait_open(&s, "ok");
	for (size_t i = 0; i < WAYS; i++) {
		for (size_t k = 0; k < LACKS; k++) {
			test_step("%s without %s", ways[i].name, lacks[k].name);
			lacks[k].bring_about(&s);
			if (ways[i].queued)
				is_held(&s, &ways[i], &lacks[k]);
			else
				is_refused(&s, &ways[i], &lacks[k]);
			clear_away(&s);
		}
	}
	wait_close(&s);
}

TEST(waiting_an_integration_may_refuse_for_hours_and_budget)
{
	struct wait_fixture s;
	struct answer r;

	wait_open(&s, "ok");
	STATUS(ask(s.f, s.f->admin,
		       "{\"guardrails\":{\"working_hours\":\"refuse\",\"budget\":\"refuse\"}}",
		       "PATCH /tenant/%s/integrations/%s", s.f->tenant_id, s.hook.id),
		200);
	for (size_t k = 0; k < LACKS; k++) {
		test_step("without %s", lacks[k].name);
		lacks[k].bring_about(&s);
		if (lacks[k].of_rate) {
			is_held(&s, &ways[6], &lacks[k]);
		} else {
			r = by_hook(&s);
			STATUS(r, 403);
			CHECK_INT(COUNT(&s, "select count(*) from sessions"), 0);
		}
		clear_away(&s);
	}
	test_step("hours that are ignored");
	STATUS(ask(s.f, s.f->admin, "{\"guardrails\":{\"working_hours\":\"ignore\"}}",
		       "PATCH /tenant/%s/integrations/%s", s.f->tenant_id, s.hook.id),
		200);
	lack_hours(&s);
	STATUS(by_hook(&s), 202);
	wait_until_count(&s, "select count(*) from sessions where status = 'completed'", 1);
	wait_close(&s);
}

TEST(waiting_each_way_in_takes_one_of_the_rate)
{
	struct wait_fixture s;

	wait_open(&s, "same-1");
	for (size_t i = 0; i < WAYS; i++) {
		test_step("%s", ways[i].name);
		wait_chat(&s, "{\"chat_rpm_limit\":1000,\"chat_rph_limit\":1000}");
		STATUS(ways[i].ask(&s), ways[i].status);
		/* a run of ten calls of the model, at the end of which it is stopped */
		wait_until_count(&s, "select count(*) from jobs", 0);
		wait_until_count(&s, "select count(*) from sessions where " AT_WORK, 0);
		CHECK_INT(taken(&s), ways[i].counts);
		clear_away(&s);
	}
	wait_close(&s);
}
