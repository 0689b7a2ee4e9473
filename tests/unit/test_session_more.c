/* test_session_more.c - what a session has besides words: ways on from a message, files that people bring, calls of tools,
 * and finding one's own. */
#include "fixture.h"

#include <stdlib.h>

#include "base/id.h"

static int64_t total(const struct answer *r)
{
	return json_integer_value(at(r, "total"));
}

static const char *named(struct fixture *f, const char *message_id)
{
	return arena_printf(&f->arena, "{\"message_id\":\"%s\"}", message_id);
}

/* A message with a cost; its id. */
static const char *add_message(struct fixture *f, const char *session, const char *role,
	const char *call_id, const char *content)
{
	struct id id = id_new(NULL);

	fixture_sql(f,
		"insert into messages (tenant_id, id, session_id, role, status, tool_call_id, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
		"tool_calls, content) values ($1, $2, $3, $4, 'complete', $5, 1, 2, 3, 4, "
		"15000000000, 1, '[]', $6)",
		ARGS(T(f->tenant_id), T(id.text), T(session), T(role), T(call_id), T(content)));
	fixture_sql(f,
		"update session_rows set message_count = message_count + 1, last_message_id = $3 "
		"where tenant_id = $1 and id = $2",
		ARGS(T(f->tenant_id), T(session), T(id.text)));
	return arena_strdup(&f->arena, id.text);
}

static void add_call(struct fixture *f, const char *session, const char *message, const char *name)
{
	struct id id = id_new(NULL);

	fixture_sql(f,
		"insert into session_calls (tenant_id, session_id, message_id, position, id, run_id, call_id, "
		"name, state, created_at, started_at, ended_at, arguments, sent) values ($1, $2, $3, 0, $4, $4, "
		"'call_1', $5, 'completed', 1, 2, 5, '{\"a\":1}', '{\"a\":\"***\"}')",
		ARGS(T(f->tenant_id), T(session), T(message), T(id.text), T(name)));
}

TEST(sessions_branch_from_a_message)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *other;
	const char *id = fixture_session(f, f->admin, agent, "{\"title\":\"Order\"}");
	const char *first = add_message(f, id, "user", NULL, "one"),
		   *asks = add_message(f, id, "assistant", NULL, "two"),
		   *result = add_message(f, id, "tool", "call_1", "three"),
		   *last = add_message(f, id, "user", NULL, "four");
	struct answer r;

	add_call(f, id, asks, "time");
	r = ask(f, f->admin, named(f, first), "POST /sessions/%s/branch", id);
	STATUS(r, 201);
	other = text_at(&r, "id");
	CHECK(strstr(header_of(f, &r, "location"), other));
	CHECK_STR(text_at(&r, "title"), "Order");
	CHECK_STR(text_at(&r, "status"), "pending");
	CHECK_STR(text_at(&r, "metadata.branch_of"), id);
	CHECK_INT(json_integer_value(at(&r, "message_count")), 1);
	r = ask(f, f->admin, named(f, result), "POST /sessions/%s/branch", id);
	STATUS(r, 201);
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", text_at(&r, "id"));
	CHECK_INT(total(&r), 3);
	CHECK_STR(text_at(&r, "items.0.content"), "three");
	CHECK_STR(text_at(&r, "items.2.content"), "one");
	CHECK(json_number_value(at(&r, "items.0.cost_usd")) == 0);
	CHECK_INT(json_integer_value(at(&r, "items.0.prompt_tokens")), 0);
	/* what is said there comes after what came along */
	STATUS(ask(f, f->admin, "{\"content\":\"more\"}", "POST /sessions/%s/messages", other),
		202);
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", other);
	CHECK(total(&r) >= 2);
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", id);
	CHECK_INT(total(&r), 4);
	CHECK_STR(text_at(&r, "items.0.content"), "four");
	/* not in the middle of a step, of nothing, nor of what is unseen */
	STATUS(ask(f, f->admin, named(f, asks), "POST /sessions/%s/branch", id), 409);
	STATUS(ask(f, f->admin, named(f, id), "POST /sessions/%s/branch", id), 404);
	STATUS(ask(f, f->admin, named(f, last), "POST /sessions/%s/branch", other), 404);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'session.branch'"),
		2);
	fixture_close(f);
}

/* A call in the ledger, of 1 + 2 + 3 tokens of input and 4 of output. */
static void add_charge(struct fixture *f, const char *session, const char *outcome, int64_t cost_pd)
{
	struct id id = id_new(NULL);

	fixture_sql(f,
		"insert into ledger (tenant_id, id, agent_id, model_id, session_id, byok, outcome, "
		"estimated, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, "
		"reasoning_tokens, cost_pd) values ($1, $2, 'a', 'm', $3, 0, $4, 0, 1, 2, 3, 4, 0, $5)",
		ARGS(T(f->tenant_id), T(id.text), T(session), T(outcome), N(cost_pd)));
}

/* To the last picodollar, and above what one amount can be. */
TEST(session_usage_is_the_sum_of_its_calls)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id = fixture_session(f, f->admin, agent, "{}"),
		   *other = fixture_session(f, f->admin, agent, "{}");
	struct answer r = ask(f, f->admin, NULL, "GET /sessions/%s/usage", id);

	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "calls")), 0);
	CHECK(json_number_value(at(&r, "cost_usd")) == 0);
	add_charge(f, id, "ok", 1);
	add_charge(f, id, "ok", INT64_C(999999999999));
	add_charge(f, other, "ok", 500);
	add_charge(f, NULL, "ok", 500);
	r = ask(f, f->admin, NULL, "GET /sessions/%s/usage", id);
	CHECK_INT(json_integer_value(at(&r, "calls")), 2);
	CHECK_INT(json_integer_value(at(&r, "prompt_tokens")), 2);
	CHECK_INT(json_integer_value(at(&r, "cache_read_tokens")), 4);
	CHECK_INT(json_integer_value(at(&r, "cache_write_tokens")), 6);
	CHECK_INT(json_integer_value(at(&r, "completion_tokens")), 8);
	CHECK(json_number_value(at(&r, "cost_usd")) == 1);
	/* what was lost counts, and the sum may be more than 64 bits of picodollars */
	add_charge(f, id, "lost", INT64_C(9000000000000000000));
	add_charge(f, id, "failed", INT64_C(9000000000000000000));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/usage", id);
	CHECK_INT(json_integer_value(at(&r, "calls")), 4);
	CHECK(json_number_value(at(&r, "cost_usd")) == 18000001);
	fixture_close(f);
}

TEST(session_messages_say_which_event_they_are_true_for)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}"), *last;
	struct answer r = ask(f, f->admin, NULL, "GET /sessions/%s", id);
	int64_t now = json_integer_value(at(&r, "last_event_id"));

	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", id);
	STATUS(r, 200);
	last = header_of(f, &r, "x-last-event-id");
	CHECK(last && atoll(last) == now && now > 0);
	fixture_close(f);
}

TEST(session_files_are_brought_by_people)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}"), *file;
	struct answer r = ask(f, f->admin, "data:application/octet-stream;base64,aGVsbG8A",
		"POST /sessions/%s/files?name=a%%20note.bin", id);

	STATUS(r, 201);
	file = text_at(&r, "id");
	CHECK_STR(text_at(&r, "name"), "a note.bin");
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), 6);
	r = ask(f, f->admin, NULL, "GET /sessions/%s/files/%s/content", id, file);
	STATUS(r, 200);
	CHECK_INT(r.body_len, 6);
	CHECK_STR(header_of(f, &r, "content-type"), "application/octet-stream");
	r = ask(f, f->admin,
		"data:application/octet-stream;base64,aGVsbG8=", "POST /sessions/%s/files", id);
	CHECK(refuses(&r, "name", "required"));
	STATUS(ask(f, f->admin, "{}", "POST /sessions/%s/files?name=a", id), 415);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'session.file'"),
		1);
	fixture_close(f);
}

TEST(session_calls_tell_what_became_of_them)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}");
	const char *asks = add_message(f, id, "assistant", NULL, "one"),
		   *later = add_message(f, id, "assistant", NULL, "two");
	struct answer r;

	add_call(f, id, asks, "time");
	add_call(f, id, later, "calculator");
	r = ask(f, f->admin, NULL, "GET /sessions/%s/calls?per_page=1", id);
	STATUS(r, 200);
	CHECK_INT(total(&r), 2);
	CHECK_STR(text_at(&r, "items.0.name"), "calculator");
	CHECK_STR(text_at(&r, "items.0.tool_call_id"), "call_1");
	CHECK_STR(text_at(&r, "items.0.arguments"), "{\"a\":\"***\"}");
	r = ask(f, f->admin, NULL, "GET /sessions/%s/calls?per_page=1&after=%s", id,
		text_at(&r, "next_after"));
	CHECK_STR(text_at(&r, "items.0.name"), "time");
	fixture_close(f);
}

TEST(my_sessions_are_found_by_agent_state_title_and_what_they_wait_for)
{
	struct fixture *f = fixture_open();
	const char *one = fixture_agent(f, "a"), *two = fixture_agent(f, "b");
	const char *red = fixture_session(f, f->admin, one, "{\"title\":\"Red Order\"}"),
		   *blue = fixture_session(f, f->admin, two, "{\"title\":\"Blue 100%\"}");
	struct answer r = ask(f, f->admin, NULL, "GET /me/sessions?agent_id=%s", two);

	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), blue);
	r = ask(f, f->admin, NULL, "GET /me/sessions?q=red%%20o");
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), red);
	r = ask(f, f->admin, NULL, "GET /me/sessions?q=0%%25");
	CHECK_INT(total(&r), 1);
	r = ask(f, f->admin, NULL, "GET /me/sessions?status=failed");
	CHECK_INT(total(&r), 0);
	fixture_sql(f,
		"update session_rows set status = 'failed', waiting_for = 'budget' "
		"where tenant_id = $1 and id = $2",
		ARGS(T(f->tenant_id), T(red)));
	r = ask(f, f->admin, NULL, "GET /me/sessions?status=failed");
	CHECK_INT(total(&r), 1);
	r = ask(f, f->admin, NULL, "GET /me/sessions?waiting=true&tenant_id=%s", f->tenant_id);
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), red);
	r = ask(f, f->admin, NULL, "GET /me/sessions?tenant_id=%s", red);
	CHECK_INT(total(&r), 0);
	fixture_close(f);
}
