/* test_money_figures.c - a paid call is entered, whatever its provider says of it: every figure that cannot be, as
 * the input, the output or both, streamed or not, from every kind of provider. */
#include "gateway_fixture.h"

#include "mock_charge.h"
#include "turn_fixture.h"

static const char *const kinds[] = { "openai", "openai_responses", "anthropic" };

static void check_entry(struct gateway_fixture *s, const char *kind, int way, const char *more)
{
	test_step("%s%s%s, figures %d: %s", kind, more, s->messages ? " by messages" : "", way,
		mock_figure_name(way));
	fixture_sql(s->f, "delete from ledger", NO_ARGS);
	fixture_sql(s->f, "update models set base_url = $2 where id = $1",
		ARGS(T(s->models[0]), T(mock_url(&s->mock, &s->f->arena,
					      arena_printf(&s->f->arena, "figures-%d", way)))));
	STATUS(gateway_ask(s, s->f->admin, more), 200);
	gateway_await_settled(s);
	CHECK_INT(fixture_count(s->f, "select count(*) from ledger"), 1);
	CHECK_INT(fixture_count(s->f,
			  "select count(*) from ledger where outcome = 'ok' and estimated = 1 and "
			  "input_tokens > 0 and output_tokens > 0 and output_tokens < 100000 and "
			  "cost_pd = input_tokens * 1000000 + output_tokens * 2000000"),
		1);
}

TEST(money_is_entered_whatever_the_provider_says)
{
	struct gateway_fixture s;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "figures-0", NULL });
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		fixture_sql(s.f, "update models set kind = $2 where id = $1",
			ARGS(T(s.models[0]), T(kinds[i])));
		for (int way = 0; way < mock_figures(); way++)
			for (int messages = 0; messages < 2; messages++) {
				s.messages = messages;
				check_entry(&s, kinds[i], way, ",\"max_tokens\":50");
				check_entry(
					&s, kinds[i], way, ",\"max_tokens\":50,\"stream\":true");
			}
	}
	gateway_close(&s);
}

/* One token may be written and is paid for in advance; the provider writes five, which is more than can be counted:
 * what was promised is what it cost, for the ledger and for whoever reads the session. */
TEST(money_of_an_answer_is_what_the_ledger_says)
{
	struct turn_fixture s;
	struct answer r;
	int64_t promised = 4 * INT64_C(1000000000000000000);

	turn_open_mock(&s, (const char *const[]){ "ok", NULL }, (const char *const[]){ NULL });
	fixture_sql(s.f, "update models set prompt_pd = 0, completion_pd = $1, max_tokens = 1",
		ARGS(N(promised)));
	turn_session(&s);
	CHECK_INT(turn_say(&s, "hi"), 0);
	turn_await(&s, "completed");
	gateway_await_settled(&s.gateway);
	CHECK_INT(fixture_count(s.f, "select cost_pd from ledger where estimated = 1"), promised);
	CHECK_INT(fixture_count(s.f, "select cost_pd from messages where role = 'assistant'"),
		promised);
	CHECK_INT(fixture_count(s.f, "select cost_pd from session_runs"), promised);
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/messages", s.session_id);
	STATUS(r, 200);
	CHECK(strstr(r.body, "\"cost_usd\":4000000,") != NULL);
	CHECK_INT(turn_count(&s, "select count(*) from session_events where session_id = %s "
				 "and data like '%%\"cost_usd\":4000000}%%'"),
		1);
	turn_close(&s);
}
