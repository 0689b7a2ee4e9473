/* test_session_api.c - sessions as their people use them: made, found, named, spoken in, deleted; who sees
 * which, and what is left behind. */
#include "fixture.h"

#include <unistd.h>

#include "api/tenants/erase.h"
#include "base/id.h"

static int64_t total(const struct answer *r)
{
	return json_integer_value(at(r, "total"));
}

/* So many events say what it is called, the last of them as the reply does, and that is the newest of all. */
static void told_of(struct fixture *f, const char *id, const struct answer *r, int64_t times)
{
	int64_t last = json_integer_value(at(r, "last_event_id"));
	const char *title = text_at(r, "title");

	CHECK_INT(fixture_count(f, arena_printf(&f->arena,
					   "select count(*) from session_events where "
					   "session_id = '%s' and kind = 'session'",
					   id)),
		times);
	CHECK_INT(fixture_count(f, arena_printf(&f->arena,
					   "select count(*) from session_events where "
					   "session_id = '%s' and kind = 'session' and seq = %lld "
					   "and data like '{\"title\":\"%s\",%%'",
					   id, (long long)last, title)),
		1);
}

TEST(sessions_are_made_read_named_and_deleted)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id;
	struct answer r = ask(f, f->admin, "{\"title\":\"Order 1042\",\"metadata\":{\"ticket\":7}}",
		"POST /tenant/%s/agents/%s/sessions", f->tenant_id, agent);

	STATUS(r, 201);
	id = text_at(&r, "id");
	CHECK(strstr(header_of(f, &r, "location"), id));
	CHECK_STR(text_at(&r, "status"), "pending");
	CHECK_STR(text_at(&r, "origin"), "user");
	CHECK_STR(text_at(&r, "created_by_id"), f->admin_id);
	CHECK_INT(json_integer_value(at(&r, "metadata.ticket")), 7);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s", f->tenant_id, id);
	STATUS(r, 200);
	STATUS(ask(f, f->admin, NULL, "GET /sessions/%s\nIf-None-Match: %s", id,
		       header_of(f, &r, "etag")),
		304);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=order&types=session",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), id);
	r = ask(f, f->admin, "{\"title\":\"Refund\",\"metadata\":{}}", "PATCH /sessions/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "title"), "Refund");
	CHECK_INT(json_object_size(at(&r, "metadata")), 0);
	told_of(f, id, &r, 1);
	/* nothing is told of what changes nothing */
	r = ask(f, f->admin, "{\"title\":\"Refund\"}", "PATCH /sessions/%s", id);
	told_of(f, id, &r, 1);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=order&types=session",
		f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=refund&types=session",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), id);
	r = ask(f, f->admin, "{\"title\":null}", "PATCH /sessions/%s", id);
	CHECK(json_is_null(at(&r, "title")));
	CHECK_INT(fixture_count(f, "select count(*) from search_things where type = 'session'"), 0);
	r = ask(f, f->admin, "{\"title\":\"\",\"metadata\":1,\"status\":\"failed\"}",
		"PATCH /sessions/%s", id);
	STATUS(r, 422);
	CHECK(refuses(&r, "title", "too_short"));
	CHECK(refuses(&r, "metadata", "type"));
	CHECK(refuses(&r, "status", "unknown_field"));
	STATUS(ask(f, f->admin, NULL, "DELETE /sessions/%s", id), 204);
	STATUS(ask(f, f->admin, NULL, "GET /sessions/%s", id), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /sessions/%s", id), 404);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 0);
	fixture_sweep(f);
	CHECK_INT(fixture_count(f, "select count(*) from session_people"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from session_events"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from search_things where type = 'session'"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from directory where id not in "
				   "(select id from agents)"),
		0);
	fixture_close(f);
}

TEST(sessions_take_messages_and_tell_nobody_else_what_they_say)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"),
		   *id = fixture_session(f, f->admin, agent, "{\"message\":\"my secret words\"}");
	struct answer r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", id);

	STATUS(r, 200);
	CHECK(total(&r) >= 1);
	r = ask(f, f->admin, "{\"content\":\"more secret words\"}", "POST /sessions/%s/messages",
		id);
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "role"), "user");
	CHECK_STR(text_at(&r, "status"), "complete");
	CHECK_STR(text_at(&r, "content"), "more secret words");
	CHECK_STR(text_at(&r, "session_id"), id);
	r = ask(f, f->admin, "{\"content\":\"\"}", "POST /sessions/%s/messages", id);
	CHECK(refuses(&r, "content", "too_short"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs", f->tenant_id);
	CHECK(strstr(r.body, "session.create"));
	CHECK(strstr(r.body, "session.message"));
	CHECK(!strstr(r.body, "secret words"));
	CHECK_INT(fixture_count(f, "select count(*) from sessions where title = 'my secret words'"),
		1);
	fixture_close(f);
}

static void add_messages(struct fixture *f, const char *session, int count)
{
	for (int i = 0; i < count; i++) {
		struct id id = id_new(NULL);

		fixture_sql(f,
			"insert into messages (tenant_id, id, session_id, role, status, prompt_tokens, "
			"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
			"tool_calls, content) values ($1, $2, $3, 'user', 'complete', 0, 0, 0, 0, "
			"15000000000, 1, '[]', $4)",
			ARGS(T(f->tenant_id), T(id.text), T(session),
				T(arena_printf(&f->arena, "message %d", i))));
	}
	fixture_sql(f,
		"update session_rows set message_count = $3 where tenant_id = $1 and id = $2",
		ARGS(T(f->tenant_id), T(session), N(count)));
}

TEST(session_messages_come_by_pages_newest_first)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}"), *after;
	struct answer r;

	add_messages(f, id, 7);
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages?per_page=3", id);
	CHECK_INT(total(&r), 7);
	CHECK_STR(text_at(&r, "items.0.content"), "message 6");
	CHECK(json_number_value(at(&r, "items.0.cost_usd")) == 0.015);
	after = text_at(&r, "next_after");
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages?per_page=3&after=%s&total=false", id,
		after);
	CHECK_STR(text_at(&r, "items.0.content"), "message 3");
	CHECK(!at(&r, "total"));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages?per_page=3&page=3", id);
	CHECK_STR(text_at(&r, "items.0.content"), "message 0");
	CHECK(json_is_null(at(&r, "next_after")));
	fixture_close(f);
}

/* ---- who sees which ---- */

TEST(sessions_are_seen_by_those_who_take_part_or_hold_a_role)
{
	struct fixture *f = fixture_open();
	const char *one_token, *two_token, *agent = fixture_agent(f, "a"), *mine, *theirs;
	const char *one = fixture_user(f, "one@example.org", &one_token);
	const char *two = fixture_user(f, "two@example.org", &two_token);
	struct answer r;

	fixture_member(f, f->tenant_id, one, "MEMBER");
	fixture_member(f, f->tenant_id, two, "MEMBER");
	mine = fixture_session(f, one_token, agent, "{\"title\":\"Mine\"}");
	theirs = fixture_session(f, two_token, agent, "{\"title\":\"Theirs\"}");
	r = ask(f, one_token, NULL, "GET /agents/%s/sessions", agent);
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), mine);
	r = ask(f, f->admin, NULL, "GET /agents/%s/sessions", agent);
	CHECK_INT(total(&r), 2);
	CHECK_STR(text_at(&r, "items.0.id"), theirs);
	STATUS(ask(f, one_token, NULL, "GET /sessions/%s", theirs), 404);
	STATUS(ask(f, one_token, "{\"content\":\"hi\"}", "POST /sessions/%s/messages", theirs),
		404);

	/* A VIEWER by name sees all; what they may do as a member holds only where they take part. */
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent, one),
		201);
	r = ask(f, one_token, NULL, "GET /agents/%s/sessions", agent);
	CHECK_INT(total(&r), 2);
	STATUS(ask(f, one_token, NULL, "GET /sessions/%s", theirs), 200);
	STATUS(ask(f, one_token, "{\"content\":\"hi\"}", "POST /sessions/%s/messages", theirs),
		403);
	STATUS(ask(f, one_token, "{\"title\":\"Still mine\"}", "PATCH /sessions/%s", mine), 200);
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent, one),
		200);
	STATUS(ask(f, one_token, "{\"title\":\"Ours\"}", "PATCH /sessions/%s", theirs), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/roles/%s", agent, one), 204);
	STATUS(ask(f, one_token, NULL, "GET /sessions/%s", theirs), 404);

	/* Closed to members: not even their own. */
	r = ask(f, one_token, NULL, "GET /me/sessions");
	CHECK_INT(total(&r), 1);
	STATUS(ask(f, f->admin, "{\"enabled\":false}", "PUT /agents/%s/default-role", agent), 200);
	STATUS(ask(f, one_token, NULL, "GET /sessions/%s", mine), 404);
	STATUS(ask(f, one_token, NULL, "GET /agents/%s/sessions", agent), 404);
	r = ask(f, one_token, NULL, "GET /me/sessions");
	CHECK_INT(total(&r), 0);
	fixture_close(f);
}

TEST(my_sessions_are_those_of_all_tenants)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	const char *here = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}"), *there;
	struct answer r = ask(
		f, f->admin, "{\"name\":\"B\",\"slug\":\"b\"}", "POST /tenant/%s/agents", other);

	there = fixture_session(f, f->admin, text_at(&r, "id"), "{}");
	r = ask(f, f->admin, NULL, "GET /me/sessions");
	CHECK_INT(total(&r), 2);
	CHECK_STR(text_at(&r, "items.0.id"), there);
	CHECK_STR(text_at(&r, "items.1.id"), here);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s", other, here), 404);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s", other, there), 200);
	r = ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", other);
	r = ask(f, text_at(&r, "key"), NULL, "GET /me/sessions");
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), there);
	r = ask(f, f->admin, "{\"name\":\"k\",\"scopes\":[\"agent:read\"]}",
		"POST /tenant/%s/api-keys", other);
	r = ask(f, text_at(&r, "key"), NULL, "GET /me/sessions");
	CHECK_INT(total(&r), 0);
	fixture_sql(f, "update tenants set status = 'suspended' where id = $1", ARGS(T(other)));
	r = ask(f, f->admin, NULL, "GET /me/sessions");
	CHECK_INT(total(&r), 1);
	fixture_close(f);
}

/* ---- what runs ---- */

TEST(sessions_are_cancelled_only_while_something_runs)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}");
	struct answer r = ask(f, f->admin, NULL, "POST /sessions/%s/cancel", id);

	STATUS(r, 409);
	fixture_sql(f, "update session_rows set status = 'waiting_approval' where id = $1",
		ARGS(T(id)));
	r = ask(f, f->admin, NULL, "POST /sessions/%s/cancel", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "cancelled");
	CHECK(!json_is_null(at(&r, "completed_at")));
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'session.cancel'"),
		1);
	fixture_close(f);
}

TEST(subtasks_are_given_listed_and_deleted_with_their_session)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *child, *deeper;
	const char *agent = fixture_agent(f, "a"), *second = fixture_agent(f, "b");
	const char *id, *body = "{\"title\":\"Look\",\"message\":\"Look it up\"}";
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	id = fixture_session(f, token, agent, "{}");
	r = ask(f, token, body, "POST /sessions/%s/subtasks", id);
	STATUS(r, 201);
	child = text_at(&r, "id");
	CHECK(strstr(header_of(f, &r, "location"), child));
	CHECK_STR(text_at(&r, "parent_session_id"), id);
	CHECK_STR(text_at(&r, "agent_name"), "A");
	CHECK_STR(text_at(&r, "title"), "Look");
	r = ask(f, token, body, "POST /sessions/%s/subtasks", child);
	STATUS(r, 201);
	deeper = text_at(&r, "id");
	body = arena_printf(
		&f->arena, "{\"title\":\"There\",\"message\":\"m\",\"agent_id\":\"%s\"}", second);
	STATUS(ask(f, f->admin, "{\"enabled\":false}", "PUT /agents/%s/default-role", second), 200);
	STATUS(ask(f, token, body, "POST /sessions/%s/subtasks", id), 404);
	STATUS(ask(f, f->admin, "{\"enabled\":true}", "PUT /agents/%s/default-role", second), 200);
	r = ask(f, token, body, "POST /sessions/%s/subtasks", id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "agent_id"), second);
	fixture_sql(f, "update session_rows set status = 'completed' where id = $1",
		ARGS(T(text_at(&r, "id"))));
	fixture_sql(f, "update session_rows set status = 'waiting_approval' where id = $1",
		ARGS(T(child)));
	r = ask(f, token, NULL, "GET /sessions/%s/subtasks", id);
	CHECK_INT(total(&r), 2);
	CHECK_STR(text_at(&r, "items.0.title"), "There");
	r = ask(f, token, NULL, "GET /tenant/%s/sessions/%s/subtasks/active", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_INT(json_object_size(r.json), 2);
	CHECK_INT(json_integer_value(at(&r, "count")), 1);
	CHECK_STR(text_at(&r, "subtasks.0.id"), child);
	STATUS(ask(f, token, NULL, "GET /sessions/%s", deeper), 200);
	STATUS(ask(f, token, NULL, "DELETE /sessions/%s", id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from search_things where type = 'session'"), 0);
	fixture_close(f);
}

static const char *add_approval(struct fixture *f, const char *session)
{
	struct id id = id_new(NULL);

	fixture_sql(f,
		"insert into approvals (tenant_id, id, session_id, call_id, tool_name, status, "
		"created_at, arguments) values ($1, $2, $3, 'call_1', 'refund', 'pending', 1, $4)",
		ARGS(T(f->tenant_id), T(id.text), T(session), T("{\"order\":1042}")));
	fixture_sql(f, "update session_rows set status = 'waiting_approval' where id = $1",
		ARGS(T(session)));
	return arena_strdup(&f->arena, id.text);
}

TEST(approvals_wait_for_those_who_may_decide)
{
	struct fixture *f = fixture_open();
	const char *one_token, *two_token, *guest_token, *agent = fixture_agent(f, "a"), *mine,
							 *theirs, *first, *second;
	const char *one = fixture_user(f, "one@example.org", &one_token);
	const char *two = fixture_user(f, "two@example.org", &two_token);
	const char *guest = fixture_user(f, "guest@example.org", &guest_token);
	struct answer r;

	fixture_member(f, f->tenant_id, one, "MEMBER");
	fixture_member(f, f->tenant_id, two, "MEMBER");
	fixture_member(f, f->tenant_id, guest, "GUEST");
	mine = fixture_session(f, one_token, agent, "{}");
	theirs = fixture_session(f, two_token, agent, "{\"title\":\"Order\"}");
	fixture_sql(f,
		"insert into session_people (tenant_id, user_id, session_id) values ($1, $2, $3)",
		ARGS(T(f->tenant_id), T(guest), T(mine)));
	fixture_sql(f, "update users set name = 'One' where id = $1", ARGS(T(one)));
	first = add_approval(f, mine);
	second = add_approval(f, theirs);
	/* taking part is not enough */
	r = ask(f, one_token, NULL, "GET /tenant/%s/approvals", f->tenant_id);
	CHECK_INT(total(&r), 0);
	r = ask(f, one_token, NULL, "GET /sessions/%s/approvals", mine);
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), first);
	CHECK_STR(text_at(&r, "items.0.agent_id"), agent);
	CHECK_STR(text_at(&r, "items.0.tool_call_id"), "call_1");
	CHECK_INT(json_integer_value(at(&r, "items.0.arguments.order")), 1042);
	r = ask(f, one_token, NULL, "GET /me/approvals");
	CHECK_INT(total(&r), 0);
	STATUS(ask(f, one_token, "{\"approved\":true}", "POST /sessions/%s/approvals/%s", mine,
		       first),
		403);
	r = ask(f, f->admin, NULL, "GET /me/approvals");
	CHECK_INT(total(&r), 2);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/approvals", f->tenant_id);
	CHECK_INT(total(&r), 2);
	CHECK_STR(text_at(&r, "items.0.session_title"), "Order");
	CHECK(!at(&r, "items.1.session_title") && !at(&r, "items.0.decided_by_name"));
	r = ask(f, guest_token, NULL, "GET /tenant/%s/approvals", f->tenant_id);
	CHECK_INT(total(&r), 0);
	r = ask(f, guest_token, NULL, "GET /me/approvals");
	CHECK_INT(total(&r), 0);
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent, one),
		201);
	r = ask(f, one_token, NULL, "GET /me/approvals");
	CHECK_INT(total(&r), 0);
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent, one),
		200);
	r = ask(f, one_token, NULL, "GET /me/approvals");
	CHECK_INT(total(&r), 2);
	r = ask(f, one_token, NULL, "GET /tenant/%s/approvals", f->tenant_id);
	CHECK_INT(total(&r), 2);

	STATUS(ask(f, one_token, "{\"approved\":true}", "POST /sessions/%s/approvals/%s", mine,
		       second),
		404);
	r = ask(f, one_token, "{\"approved\":false}", "POST /sessions/%s/approvals/%s", theirs,
		second);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "denied");
	CHECK_STR(text_at(&r, "decided_by_id"), one);
	CHECK_STR(text_at(&r, "decided_by_name"), "One");
	STATUS(ask(f, one_token, "{\"approved\":true}", "POST /sessions/%s/approvals/%s", theirs,
		       second),
		409);
	r = ask(f, two_token, NULL, "GET /sessions/%s/approvals", theirs);
	CHECK_INT(total(&r), 1);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/approvals", f->tenant_id);
	CHECK_INT(total(&r), 1);
	CHECK_INT(fixture_count(
			  f, "select count(*) from audit_logs where action = 'approval.decide'"),
		1);
	fixture_close(f);
}

/* ---- what is kept ---- */

TEST(session_files_are_saved_and_never_shown)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}"), *file;
	struct id made = id_new(NULL);
	struct answer r;

	fixture_sql(f,
		"insert into session_files (tenant_id, session_id, id, name, content_type, "
		"size_bytes, created_at, content) values ($1, $2, $3, $4, 'text/html', 8, 1, $5)",
		ARGS(T(f->tenant_id), T(id), T(made.text), T("a \"b\"\r\nX: y.html"),
			value_bytes("<script>", 8)));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/files", id);
	CHECK_INT(total(&r), 1);
	file = text_at(&r, "items.0.id");
	CHECK_STR(text_at(&r, "items.0.content_type"), "text/html");
	r = ask(f, f->admin, NULL, "GET /sessions/%s/files/%s/content", id, file);
	STATUS(r, 200);
	CHECK_INT(r.body_len, 8);
	CHECK_STR(header_of(f, &r, "content-type"), "application/octet-stream");
	CHECK_STR(header_of(f, &r, "x-content-type-options"), "nosniff");
	CHECK_STR(header_of(f, &r, "content-disposition"),
		"attachment; filename=\"a__b___X__y.html\"");
	fixture_sql(f, "update session_files set name = $1",
		ARGS(T("\xd0\xa1\xd1\x87\xd1\x91\xd1\x82 1\xe2\x80\xae;gnp.exe")));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/files/%s/content", id, file);
	CHECK_STR(header_of(f, &r, "content-disposition"),
		"attachment; filename=\"_________1____gnp.exe\"; "
		"filename*=UTF-8''%D0%A1%D1%87%D1%91%D1%82%201__gnp.exe");
	STATUS(ask(f, f->admin, NULL, "GET /sessions/%s/files/%s/content", id, id), 404);
	fixture_close(f);
}

TEST(memories_are_added_listed_and_removed)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *id;
	struct answer r = ask(f, f->admin, "{\"content\":\"Invoices go out on Mondays.\"}",
		"POST /agents/%s/memories", agent);

	STATUS(r, 201);
	id = text_at(&r, "id");
	CHECK(json_is_null(at(&r, "source_session_id")));
	CHECK_STR(text_at(&r, "scope"), "shared");
	CHECK(strstr(header_of(f, &r, "location"), id));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/memories", f->tenant_id, agent);
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.content"), "Invoices go out on Mondays.");
	r = ask(f, f->admin, "{\"content\":\"\"}", "POST /agents/%s/memories", agent);
	CHECK(refuses(&r, "content", "too_short"));
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/memories/%s", agent, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/memories/%s", agent, id), 404);
	fixture_close(f);
}

/* What is somebody's own is seen and removed by that one, whatever roles the others hold. */
TEST(memories_of_a_person_are_that_persons)
{
	struct fixture *f = fixture_open();
	const char *token, *agent = fixture_agent(f, "a"), *mine, *theirs;
	const char *user = fixture_user(f, "one@example.org", &token);
	struct answer r = ask(f, f->admin, "{\"content\":\"mine\",\"scope\":\"private\"}",
		"POST /agents/%s/memories", agent);

	fixture_member(f, f->tenant_id, user, "MEMBER");
	STATUS(r, 201);
	mine = text_at(&r, "id");
	CHECK_STR(text_at(&r, "user_id"), f->admin_id);
	fixture_sql(f,
		"insert into memories (tenant_id, agent_id, id, created_at, content, content_folded, "
		"scope, user_id) values ($1, $2, $3, 1, 'theirs', 'theirs', 'private', $4)",
		ARGS(T(f->tenant_id), T(agent), T("c00000000000000000000mine"), T(user)));
	theirs = "c00000000000000000000mine";
	r = ask(f, token, NULL, "GET /agents/%s/memories", agent);
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.content"), "theirs");
	CHECK_STR(text_at(&r, "items.0.scope"), "private");
	r = ask(f, f->admin, NULL, "GET /agents/%s/memories", agent);
	CHECK_INT(total(&r), 1);
	CHECK_STR(text_at(&r, "items.0.id"), mine);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/memories/%s", agent, theirs), 404);
	STATUS(ask(f, token, NULL, "DELETE /agents/%s/memories/%s", agent, mine), 403);
	STATUS(ask(f, token, NULL, "DELETE /agents/%s/memories/%s", agent, theirs), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/memories/%s", agent, mine), 204);
	fixture_close(f);
}

TEST(sessions_are_exported_whole)
{
	enum { MANY = 450 }; /* more than a page of an export */
	struct fixture *f = fixture_open();
	const char *id =
		fixture_session(f, f->admin, fixture_agent(f, "a"), "{\"title\":\"Long # one\"}");
	struct answer r;
	int seen = 0;

	add_messages(f, id, MANY);
	add_approval(f, id);
	for (int i = 0; i < 250; i++)
		fixture_sql(f,
			"insert into session_calls (tenant_id, session_id, message_id, position, id, "
			"run_id, call_id, name, state, created_at, arguments) values ($1, $2, $3, $4, "
			"$5, 'r', 'call_1', 'time', 'completed', 1, $6)",
			ARGS(T(f->tenant_id), T(id), T("c000000000000000000000000"), N(i),
				T(arena_printf(&f->arena, "k%d", i)), T("{broken")));
	fixture_sql(f,
		"insert into messages (tenant_id, id, session_id, role, status, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
		"tool_calls, tool_call_id, content) values ($1, $2, $3, 'tool', 'complete', 0, 0, 0, "
		"0, 0, 1, '[]', 'call_1', $4)",
		ARGS(T(f->tenant_id), T("czzzzzzzzzzzzzzzzzzzzzzzz"), T(id), T("a ```` b")));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/export", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "session.title"), "Long # one");
	CHECK_INT(json_array_size(at(&r, "messages")), MANY + 1);
	CHECK_STR(text_at(&r, "messages.0.content"), "message 0");
	CHECK_STR(text_at(&r, "messages.449.content"), "message 449");
	CHECK_INT(json_array_size(at(&r, "calls")), 250);
	CHECK_STR(text_at(&r, "calls.249.id"), "c000000000000000000000000249");
	CHECK_INT(json_array_size(at(&r, "approvals")), 1);
	CHECK_INT(json_array_size(at(&r, "runs")), 0);
	CHECK(strstr(header_of(f, &r, "content-disposition"), ".json"));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/export?format=markdown", id);
	STATUS(r, 200);
	CHECK(strncmp(r.body, "# Long # one\n", 13) == 0);
	for (const char *p = strstr(r.body, "## user, "); p; p = strstr(p + 1, "## user, "))
		seen++;
	CHECK_INT(seen, MANY);
	CHECK(strstr(r.body, "\n`````\na ```` b\n`````\n"));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/export?format=pdf", id);
	CHECK(refuses(&r, "format", "choice"));
	fixture_close(f);
}

/* A model may say anything as the arguments of a call, and as much of it as an answer may have. */
TEST(sessions_show_calls_whatever_their_arguments_are)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_session(f, f->admin, fixture_agent(f, "a"), "{}");
	char *much = arena_alloc(&f->arena, 300 * 1024 + 1);
	const char *calls;
	struct answer r;

	memset(much, 'x', 300 * 1024);
	calls = arena_printf(&f->arena,
		"[{\"id\":\"one\",\"name\":\"time\",\"client\":true,\"arguments\":\"{broken\"},"
		"{\"id\":\"two\",\"name\":\"time\",\"arguments\":[1]},"
		"{\"id\":\"three\",\"name\":\"time\",\"arguments\":{\"text\":\"%s\"}}]",
		much);
	fixture_sql(f,
		"insert into messages (tenant_id, id, session_id, role, status, prompt_tokens, "
		"completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, created_at, "
		"tool_calls, content) values ($1, $2, $3, 'assistant', 'complete', 0, 0, 0, 0, 0, 1, "
		"$4, '')",
		ARGS(T(f->tenant_id), T("czzzzzzzzzzzzzzzzzzzzzzzz"), T(id), T(calls)));
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", id);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items.0.tool_calls")), 3);
	CHECK_STR(text_at(&r, "items.0.tool_calls.0.arguments"), "{broken");
	CHECK_INT(json_array_size(at(&r, "items.0.tool_calls.1.arguments")), 1);
	CHECK(!at(&r, "items.0.tool_calls.0.client"));
	STATUS(ask(f, f->admin, NULL, "GET /sessions/%s/export?format=markdown", id), 200);
	fixture_close(f);
}

/* ---- what goes with what ---- */

TEST(sessions_go_with_their_agent_and_their_tenant_and_not_into_a_copy)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "a"), *other = fixture_agent(f, "b"), *body, *copy;
	struct answer r;

	body = "{\"title\":\"T\",\"message\":\"count to 2\"}";
	fixture_session(f, f->admin, agent, body);
	fixture_session(f, f->admin, other, body);
	STATUS(ask(f, f->admin, "{\"content\":\"kept\"}", "POST /agents/%s/memories", agent), 201);
	r = ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent);
	STATUS(r, 201);
	copy = text_at(&r, "id");
	r = ask(f, f->admin, NULL, "GET /agents/%s/sessions", copy);
	CHECK_INT(total(&r), 0);
	r = ask(f, f->admin, NULL, "GET /agents/%s/memories", copy);
	CHECK_INT(total(&r), 0);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", agent), 204);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 1);
	fixture_sweep(f);
	CHECK_INT(fixture_count(f, "select count(*) from memories"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from search_things where type = 'session'"), 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s", f->tenant_id), 204);
	erase_submit(&f->app);
	for (int i = 0; i < 10000 && fixture_count(f, "select count(*) from tenants"); i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, "select count(*) from tenants"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from session_people"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from session_events"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from directory"), 0);
	fixture_close(f);
}

TEST(sessions_deleted_at_work_leave_nothing_to_do)
{
	struct fixture *f = fixture_open_seeded();
	const char *agent = fixture_agent(f, "at-work");

	for (int i = 0; i < 8; i++) {
		const char *id =
			fixture_session(f, f->admin, agent, "{\"message\":\"count to 2000\"}");

		usleep((unsigned)i * 3000); /* before, while and after its work */
		STATUS(ask(f, f->admin, NULL, "DELETE /sessions/%s", id), 204);
	}
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 0);
	test_step("the rows go by themselves, the last one's too");
	for (int i = 0; i < 10000 && fixture_count(f, "select (select count(*) from jobs) + "
						      "(select count(*) from session_rows)");
		i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, "select count(*) from jobs"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from session_rows"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from messages"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from session_events"), 0);
	fixture_close(f);
}
