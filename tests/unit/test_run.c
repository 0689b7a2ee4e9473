/* test_run.c - calls that go wrong: every fault at every place in chains of several lengths ends as a clean
 * answer of a later model or as a clear error, and the ledger holds what was used. */
#include "gateway_fixture.h"

#include <stdlib.h>

#include "base/clock.h"
#include "broker/breaker.h"
#include "broker/broker.h"
#include "store/pool.h"
#include "race.h"

/* What becomes of a call whose model fails so. */
enum then {
	NEXT,  /* the next model answers */
	FINAL, /* the request is at fault: nobody else is asked */
	LATE,  /* of a stream something has been shown: an error event; else the next answers */
};

static const struct fault_case {
	const char *script;
	enum then then;
	int status; /* if there is no next */
	int shown;  /* LATE: words before the error */
	bool owed;  /* what was heard is entered */
} faults[] = {
	{ "429-7", NEXT, 429, 0, false },
	{ "500", NEXT, 502, 0, false },
	{ "503", NEXT, 502, 0, false },
	{ "401", NEXT, 502, 0, false },
	{ "400", FINAL, 400, 0, false },
	{ "html", NEXT, 502, 0, false },
	{ "type", NEXT, 502, 0, false },
	{ "empty", NEXT, 502, 0, false },
	{ "cut-0", NEXT, 502, 0, true },
	{ "bad-0", NEXT, 502, 0, true },
	{ "error-0", NEXT, 502, 0, true },
	{ "nodone-0", NEXT, 502, 0, true },
	{ "stall-0", NEXT, 504, 0, true },
	{ "cut-1", LATE, 502, 1, true },
	{ "cut-4", LATE, 502, 4, true },
	{ "cut-5", LATE, 502, 5, true },
	{ "bad-3", LATE, 502, 3, true },
	{ "error-2", LATE, 502, 2, true },
	{ "nodone-5", LATE, 502, 5, true },
	{ "stall-2", LATE, 504, 2, true },
	{ "nul-2", LATE, 502, 2, true },
	{ "utf8-2", LATE, 502, 2, true },
	{ "huge-2", LATE, 502, 2, true },
};

static const char *const prefixes[] = { "", "one", "one two", "one two three", "one two three four",
	MOCK_TEXT };

static void check_error(const struct answer *r, int status)
{
	CHECK_INT(r->status, status);
	CHECK(text_at(r, "error.message") != NULL);
	CHECK(!strstr(r->body, "sk-"));
	CHECK(!strstr(r->body, "<html>"));
}

/* One cell: the first `bad` models fail so, the last of `length` answers unless all fail. */
static void try_fault(
	struct gateway_fixture *s, const struct fault_case *c, int length, int bad, bool stream)
{
	const char *scripts[CHAIN_MAX] = { NULL };
	bool late = c->then == LATE && stream;
	bool clean = !late && c->then != FINAL && bad < length;
	struct answer r;
	int64_t failed;

	test_step("%s, %d of %d fail, %s%s", c->script, bad, length, stream ? "stream" : "whole",
		s->messages ? " message" : "");
	for (int i = 0; i < length; i++)
		scripts[i] = i < bad ? c->script : "ok";
	gateway_agent(s, scripts);
	fixture_sql(s->f, "delete from ledger", NO_ARGS);
	atomic_store(&s->mock.asked, 0);
	r = gateway_ask(s, s->f->admin, stream ? ",\"stream\":true" : "");
	if (clean && stream) {
		CHECK_INT(r.status, 200);
		CHECK_STR(gateway_text(s, &r), MOCK_TEXT);
		CHECK(strstr(r.body, s->messages ? "event: message_stop\n" : "[DONE]") != NULL);
	} else if (clean) {
		CHECK_INT(r.status, 200);
		CHECK_STR(text_at(&r, s->messages ? "content.0.text" : "choices.0.message.content"),
			MOCK_TEXT);
	} else if (late) {
		CHECK_INT(r.status, 200);
		CHECK_STR(gateway_text(s, &r), prefixes[c->shown]);
		CHECK(strstr(r.body, s->messages
					     ? "event: error\ndata: {\"type\":\"error\",\"error\":"
					     : "{\"error\":{\"message\":") != NULL);
		CHECK(!strstr(r.body, s->messages ? "message_stop" : "[DONE]"));
		CHECK(!strstr(r.body, "sk-"));
	} else {
		check_error(&r, c->status);
	}
	CHECK_INT(s->mock.asked, late || c->then == FINAL ? 1 : clean ? bad + 1 : bad);
	gateway_await_settled(s);
	failed = fixture_count(s->f, "select count(*) from ledger where outcome = 'failed'");
	CHECK_INT(fixture_count(s->f,
			  "select count(*) from ledger where outcome = 'ok' and cost_pd = "
			  "14000000 and input_tokens = 4 and output_tokens = 5"),
		clean);
	CHECK_INT(failed, c->owed ? (late ? 1 : bad) : 0);
	CHECK_INT(
		fixture_count(s->f,
			"select count(*) from ledger where outcome = 'failed' and (estimated = 0 or "
			"input_tokens < 1 or cost_pd <> input_tokens * 1000000 + output_tokens * 2000000)"),
		0);
	CHECK_INT(fixture_count(s->f, "select count(*) from ledger"), failed + clean);
}

static void try_faults(bool messages)
{
	struct gateway_fixture s;

	gateway_open(&s);
	s.messages = messages;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		bool slow = strncmp(faults[i].script, "stall", 5) == 0;

		for (int length = 1; length <= (slow ? 2 : 3); length++)
			for (int bad = 1; bad <= length; bad++)
				for (int stream = 0; stream <= 1; stream++)
					try_fault(&s, &faults[i], length, bad, stream);
	}
	gateway_close(&s);
}

TEST(run_every_fault_at_every_place_in_every_chain)
{
	try_faults(false);
}

TEST(run_every_fault_at_every_place_in_every_chain_by_messages)
{
	try_faults(true);
}

TEST(run_counts_what_a_provider_does_not_say_or_cannot_mean)
{
	struct gateway_fixture s;

	gateway_open(&s);
	for (int stream = 0; stream <= 1; stream++)
		for (int i = 0; i < 2; i++) {
			gateway_agent(&s, (const char *const[]){ i ? "usage" : "nousage", NULL });
			fixture_sql(s.f, "delete from ledger", NO_ARGS);
			STATUS(gateway_ask(&s, s.f->admin, stream ? ",\"stream\":true" : ""), 200);
			gateway_await_settled(&s);
			CHECK_INT(fixture_count(s.f,
					  "select count(*) from ledger where outcome = 'ok' and "
					  "estimated = 1 and input_tokens between 1 and 50 and "
					  "output_tokens between 1 and 20"),
				1);
		}
	gateway_close(&s);
}

TEST(run_goes_on_with_failover_chains_and_without_repeats)
{
	struct gateway_fixture s;
	const char *a, *b;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "500", "503", NULL });
	a = gateway_model(&s, "500", "stand-in-a");
	b = gateway_model(&s, "ok", "stand-in-b");
	fixture_sql(s.f, "update models set failover_chain = $2 where id = $1",
		ARGS(T(s.models[0]),
			T(arena_printf(&s.f->arena, "[\"%s\",\"%s\"]", s.models[1], a))));
	fixture_sql(s.f, "update models set failover_chain = $2 where id = $1",
		ARGS(T(a), T(arena_printf(&s.f->arena, "[\"%s\",\"%s\"]", s.models[0], b))));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK_INT(s.mock.asked, 4);
	gateway_settled(&s, 1, MOCK_COST);

	test_step("one that the tenant does not reach is left out");
	fixture_sql(
		s.f, "update models set available_to_all_tenants = 0 where id = $1", ARGS(T(b)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 502);
	gateway_close(&s);
}

/* A request of some 25,000 tokens. */
static struct answer ask_much(struct gateway_fixture *s)
{
	enum { WORDS = 20000 };
	struct answer r;
	struct buf body;

	buf_init(&body, 1 << 20);
	buf_printf(&body, "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"",
		s->model);
	for (int i = 0; i < WORDS; i++)
		buf_lit(&body, "word ");
	buf_lit(&body, "\"}]}");
	buf_putc(&body, '\0');
	r = ask(s->f, s->f->admin, body.at, "POST /v1/chat/completions");
	buf_free(&body);
	return r;
}

/* The store's threads and the loops, where an attempt ends, have others to serve. */
TEST(run_writes_a_large_request_again_off_the_threads_that_others_wait_for)
{
	struct gateway_fixture s;
	uint64_t before;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "500", "503", "ok", NULL });
	before = pool_stats(s.f->app.slow).begun;
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK_INT(pool_stats(s.f->app.slow).begun - before, 0);
	STATUS(ask_much(&s), 200);
	CHECK_INT(pool_stats(s.f->app.slow).begun - before, 2);

	test_step("what the budget cuts");
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	STATUS(ask(s.f, s.f->admin, "{\"hourly_limit_usd\":0.0265}", "PUT /agents/%s/budget",
		       s.agent_id),
		200);
	before = pool_stats(s.f->app.slow).begun;
	STATUS(ask_much(&s), 200);
	CHECK_INT(pool_stats(s.f->app.slow).begun - before, 1);
	gateway_close(&s);
}

TEST(run_routes_to_the_cheapest_that_fits)
{
	static const char tools[] =
		",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
	struct gateway_fixture s;
	const char *cheap, *router;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	router = s.models[0];
	fixture_sql(s.f, "update models set kind = 'router', base_url = null where id = $1",
		ARGS(T(router)));
	gateway_model(&s, "ok", "dear");
	cheap = gateway_model(&s, "ok", "cheap");
	fixture_sql(s.f, "update models set prompt_pd = 1, completion_pd = 1 where id = $1",
		ARGS(T(cheap)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	gateway_settled(&s, 1, MOCK_INPUT + MOCK_OUTPUT);

	test_step("it cannot call tools");
	fixture_sql(s.f, "update models set supports_tools = 0 where id = $1", ARGS(T(cheap)));
	STATUS(gateway_ask(&s, s.f->admin, tools), 200);
	gateway_settled(&s, 2, MOCK_INPUT + MOCK_OUTPUT + MOCK_COST);

	test_step("it is too small");
	fixture_sql(s.f, "update models set supports_tools = 1, context_window = 100 where id = $1",
		ARGS(T(cheap)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	gateway_settled(&s, 3, MOCK_INPUT + MOCK_OUTPUT + 2 * MOCK_COST);
	STATUS(gateway_ask(&s, s.f->admin, ",\"max_tokens\":50"), 200);
	gateway_settled(&s, 4, 2 * (MOCK_INPUT + MOCK_OUTPUT) + 2 * MOCK_COST);

	test_step("none fits");
	fixture_sql(s.f, "update models set supports_tools = 0", NO_ARGS);
	STATUS(gateway_ask(&s, s.f->admin, tools), 409);
	gateway_close(&s);
}

TEST(breaker_opens_tries_once_and_closes)
{
	struct breaker *b = breaker_new();
	int64_t now = 1000;

	for (int i = 0; i < BREAKER_FAULTS; i++) {
		CHECK(breaker_allows(b, "m", "", now));
		breaker_hears(b, "m", "", BREAKER_FAULT, 0, now);
	}
	CHECK(!breaker_allows(b, "m", "", now));
	CHECK(breaker_allows(b, "m", "tenant", now));
	CHECK(breaker_allows(b, "other", "", now));
	now += BREAKER_PAUSE_MS;
	CHECK(breaker_allows(b, "m", "", now)); /* the trial */
	CHECK(!breaker_allows(b, "m", "", now));
	breaker_hears(b, "m", "", BREAKER_FAULT, 0, now);
	CHECK(!breaker_allows(b, "m", "", now + BREAKER_PAUSE_MS));
	now += 2 * BREAKER_PAUSE_MS;
	CHECK(breaker_allows(b, "m", "", now));
	breaker_hears(b, "m", "", BREAKER_NOTHING, 0, now); /* given up: the next one tries */
	CHECK(breaker_allows(b, "m", "", now));
	breaker_hears(b, "m", "", BREAKER_GOOD, 0, now);
	CHECK(breaker_allows(b, "m", "", now));
	CHECK(breaker_allows(b, "m", "", now));
	breaker_hears(b, "m", "", BREAKER_LIMITED, 500, now);
	CHECK(!breaker_allows(b, "m", "", now + 499));
	CHECK(breaker_allows(b, "m", "", now + 500));
	CHECK(!breaker_allows(b, "m", "", now + 500));
	CHECK(breaker_allows(b, "m", "", now + 500 + BREAKER_TRIAL_MS)); /* never heard of again */
	test_step("what is good begins the count anew");
	for (int round = 0; round < 2; round++) {
		for (int i = 1; i < BREAKER_FAULTS; i++)
			breaker_hears(b, "n", "", BREAKER_FAULT, 0, now);
		breaker_hears(b, "n", "", BREAKER_GOOD, 0, now);
		CHECK(breaker_allows(b, "n", "", now));
	}
	test_step("the pause grows, to a bound");
	for (int i = 0; i < BREAKER_FAULTS; i++)
		breaker_hears(b, "n", "", BREAKER_FAULT, 0, now);
	for (int64_t pause = BREAKER_PAUSE_MS, i = 0; i < 20; i++) {
		CHECK(!breaker_allows(b, "n", "", now + pause - 1));
		now += pause;
		CHECK(breaker_allows(b, "n", "", now));
		breaker_hears(b, "n", "", BREAKER_FAULT, 0, now);
		pause = pause * 2 < BREAKER_PAUSE_MAX_MS ? pause * 2 : BREAKER_PAUSE_MAX_MS;
	}
	breaker_free(b);
}

TEST(run_leaves_alone_what_has_just_failed)
{
	struct gateway_fixture s;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "429-60", "ok", NULL });
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK_INT(s.mock.asked, 2);
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK_INT(s.mock.asked, 3);

	test_step("a model that refuses what is asked of it has not failed");
	gateway_agent(&s, (const char *const[]){ "400", "ok", NULL });
	for (int i = 0; i < 2 * BREAKER_FAULTS; i++)
		STATUS(gateway_ask(&s, s.f->admin, ""), 400);
	atomic_store(&s.mock.asked, 3);

	test_step("all are left alone: they are tried all the same");
	gateway_agent(&s, (const char *const[]){ "429-60", NULL });
	for (int i = 0; i < 3; i++) {
		struct answer r = gateway_ask(&s, s.f->admin, "");

		CHECK_INT(r.status, 429);
		CHECK_STR(header_of(s.f, &r, "retry-after"), "60");
		CHECK_INT(s.mock.asked, 4 + i);
	}
	test_step("in their order: the last to be asked is the last of the chain");
	gateway_agent(&s, (const char *const[]){ "429-60", "429-50", NULL });
	for (int i = 0; i < 2; i++) {
		struct answer r = gateway_ask(&s, s.f->admin, "");

		CHECK_INT(r.status, 429);
		CHECK_STR(header_of(s.f, &r, "retry-after"), "50");
	}
	gateway_close(&s);
}

/* Calls that come at once on a budget for some of them. */
TEST(run_budget_holds_for_64_callers_at_once)
{
	enum { CALLERS = 64, PAID = 10 };
	struct racer racers[CALLERS];
	struct gateway_fixture s;
	struct answer r;
	int64_t spent,
		most = 4 * MOCK_COST; /* what one call may be reserved with at most is below */
	int answered;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", "ok", NULL });
	fixture_sql(s.f, "update agent_rows set hourly_limit_pd = $2 where id = $1",
		ARGS(T(s.agent_id), N(PAID * MOCK_COST)));
	for (int i = 0; i < CALLERS; i++)
		racers[i] = (struct racer){ .token = s.f->admin,
			.body = GATEWAY_BODY(&s, ",\"max_tokens\":5"),
			.request = "POST /v1/chat/completions" };
	race(s.f, racers, CALLERS);
	gateway_await_settled(&s);
	answered = race_count(racers, CALLERS, 200);
	spent = fixture_count(s.f, "select coalesce(sum(cost_pd), 0) from ledger");
	CHECK_INT(answered + race_count(racers, CALLERS, 429), CALLERS);
	CHECK(answered >= 1);
	CHECK_INT(spent, answered * MOCK_COST);
	CHECK(spent <= PAID * MOCK_COST + most);

	test_step("what is left is given");
	do {
		r = gateway_ask(&s, s.f->admin, ",\"max_tokens\":5");
		gateway_await_settled(&s);
	} while (r.status == 200);
	CHECK_INT(r.status, 429);
	CHECK_STR(text_at(&r, "error.code"), "budget_exhausted");
	CHECK_STR(header_of(s.f, &r, "x-should-retry"), "false");
	spent = fixture_count(s.f, "select coalesce(sum(cost_pd), 0) from ledger");
	CHECK(spent > PAID * MOCK_COST - most);
	CHECK(spent <= (PAID + 1) * MOCK_COST);
	gateway_close(&s);
}

TEST(run_tells_the_model_how_much_the_budget_pays_for)
{
	struct gateway_fixture s;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	fixture_sql(s.f, "update agent_rows set hourly_limit_pd = $2 where id = $1",
		ARGS(T(s.agent_id), N((int64_t)100 * COMPLETION_PD)));
	STATUS(gateway_ask(&s, s.f->admin, ""), 200);
	CHECK(strstr(s.mock.last_body, "\"max_tokens\":8") != NULL);
	gateway_settled(&s, 1, MOCK_COST);
	gateway_close(&s);
}
