/* test_session_audit.c - sessions as auditors see them, in the exact shapes of the contract. */
#include "fixture.h"

#include <stdlib.h>

/* Of the first and the second second of 1970, as ids begin with their moment. */
#define S1 "c0000000lfls00000000000s1"
#define S2 "c00000016v7k00000000000s2"

static void add_session(
	struct fixture *f, const char *id, const char *agent, const char *title, int64_t at_us)
{
	fixture_sql(f,
		"insert into session_rows (tenant_id, id, agent_id, title, title_folded, status, origin, "
		"created_by_id, iteration_count, message_count, last_event_id, created_at, updated_at) "
		"values ($1, $2, $3, $4, lower($4), 'completed', 'user', $5, 1, 2, 3, $6, $6)",
		ARGS(T(f->tenant_id), T(id), T(agent), T(title), T(f->admin_id), N(at_us)));
}

static void add_message(struct fixture *f, const char *id, const char *role, int64_t cost_pd)
{
	fixture_sql(f,
		"insert into messages (tenant_id, id, session_id, role, status, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, tool_calls, "
		"content) values ($1, $2, $3, $4, 'complete', 10, 5, 2, 1, $5, 1, $6, 'hello')",
		ARGS(T(f->tenant_id), T(id), T(S1), T(role), N(cost_pd),
			T("[{\"id\":\"call_1\",\"name\":\"web.search\",\"arguments\":{\"q\":1}}]")));
}

TEST(session_audit_lists_and_details)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin, "{\"name\":\"Desk\",\"slug\":\"a\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	const char *agent = text_at(&r, "id");

	add_session(f, S1, agent, "Order 1042", 1000000);
	add_session(f, S2, agent, "Other", 2000000);
	add_message(f, "c0000000000000000000000m1", "user", 0);
	add_message(f, "c0000000000000000000000m2", "assistant", 15000000000);
	r = ask(f, f->admin, NULL, "GET /v1/tenants/%s/sessions", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_object_size(r.json), 4);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	CHECK_STR(text_at(&r, "items.0.id"), S2);
	CHECK_STR(text_at(&r, "items.0.agent_name"), "Desk");
	CHECK_STR(text_at(&r, "items.0.user_email"), "admin@localhost");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/sessions?q=ORDER&status=completed&agent_id=%s",
		f->tenant_id, agent);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/sessions?from=1970-01-01T00:00:02Z",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), S2);
	r = ask(f, f->admin, NULL,
		"GET /tenant/%s/sessions?to=1970-01-01T00:00:02Z&user_id=%s&per_page=1",
		f->tenant_id, f->admin_id);
	CHECK_STR(text_at(&r, "items.0.id"), S1);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/sessions/" S1 "/audit", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total_tokens")), 36);
	CHECK_INT(json_integer_value(at(&r, "prompt_tokens")), 20);
	CHECK_INT(json_integer_value(at(&r, "total_cost_cents")), 2);
	CHECK_STR(text_at(&r, "messages.1.tool_calls.0.name"), "web.search");
	CHECK(json_number_value(at(&r, "messages.1.cost_usd")) == 0.015);
	STATUS(ask(f, f->admin, NULL, "GET /sessions/" S1 "/audit"), 404);
	fixture_sql(f, "insert into directory (id, tenant_id) values ($1, $2)",
		ARGS(T(S1), T(f->tenant_id)));
	STATUS(ask(f, f->admin, NULL, "GET /sessions/" S1 "/audit"), 200);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/c0000000000000000000000s9/audit",
		       f->tenant_id),
		404);
	fixture_close(f);
}
