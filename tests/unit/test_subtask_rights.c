/* test_subtask_rights.c - rights on a subtask's agent count: what it shows of itself where it was given away, and who
 * ends it. */
#include "turn_fixture.h"

#include <string.h>

#define WAITS "use tool calculator with {\\\"expression\\\":\\\"1+1\\\"}"

struct house {
	struct turn_fixture s;
	const char *ann, *ann_id, *board_id, *session_id;
};

/* Both agents wait for a word on their tool; the second is closed to Ann. */
static void house_open(struct house *k)
{
	static const char *const tools[] = { "calculator", "subtask", NULL };
	struct answer r;

	turn_open(&k->s, tools);
	k->ann_id = fixture_user(k->s.f, "ann@example.org", &k->ann);
	fixture_member(k->s.f, k->s.f->tenant_id, k->ann_id, "MEMBER");
	r = ask(k->s.f, k->s.f->admin, "{\"model\":\"demo\",\"name\":\"Board secrets\"}",
		"POST /v1/assistants");
	STATUS(r, 200);
	k->board_id = text_at(&r, "id");
	turn_tool(&k->s, k->board_id, "calculator");
	STATUS(ask(k->s.f, k->s.f->admin, "{\"is_admin_only\":true}", "PATCH /agents/%s",
		       k->board_id),
		200);
	fixture_sql(k->s.f, "update tools set requires_approval = $1 where name = 'calculator'",
		ARGS(N(1)));
	r = ask(k->s.f, k->ann, "{\"title\":\"Hers\"}", "POST /agents/%s/sessions", k->s.agent_id);
	STATUS(r, 201);
	k->session_id = text_at(&r, "id");
}

static void await(struct house *k, const char *id, const char *status)
{
	k->s.session_id = id;
	turn_await(&k->s, status);
}

static const char *subtask(struct house *k, const char *token, const char *title, const char *agent)
{
	struct answer r = ask(k->s.f, token,
		arena_printf(&k->s.f->arena,
			"{\"title\":\"%s\",\"message\":\"" WAITS "\",\"agent_id\":\"%s\"}", title,
			agent),
		"POST /sessions/%s/subtasks", k->session_id);

	STATUS(r, 201);
	await(k, text_at(&r, "id"), "waiting_approval");
	return text_at(&r, "id");
}

static void say(struct house *k, const char *token, const char *text)
{
	STATUS(ask(k->s.f, token, arena_printf(&k->s.f->arena, "{\"content\":\"%s\"}", text),
		       "POST /sessions/%s/messages", k->session_id),
		202);
}

static int64_t rows(struct house *k, const char *action, const char *id)
{
	return fixture_count(k->s.f, arena_printf(&k->s.f->arena,
					     "select count(*) from audit_logs where action = '%s' "
					     "and resource_id = '%s'",
					     action, id));
}

static const char *status_of(struct house *k, const char *id)
{
	struct answer r = ask(k->s.f, k->s.f->admin, NULL, "GET /sessions/%s", id);

	return r.status == 200 ? text_at(&r, "status") : "gone";
}

TEST(subtask_rights_hide_what_is_done_on_a_closed_agent)
{
	struct house k;
	struct answer r;

	house_open(&k);
	subtask(&k, k.s.f->admin, "Fire Ann", k.board_id);
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/subtasks", k.session_id);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.agent_name"), "");
	CHECK_STR(text_at(&r, "items.0.title"), "");
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/subtasks?after=%s", k.session_id,
		"czzzzzzzzzzzzzzzzzzzzzzzz");
	CHECK_STR(text_at(&r, "items.0.title"), "");
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/subtasks/active", k.session_id);
	CHECK_INT(json_integer_value(at(&r, "count")), 1);
	CHECK_STR(text_at(&r, "subtasks.0.title"), "");
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/export", k.session_id);
	CHECK_STR(text_at(&r, "subtasks.0.title"), "");
	CHECK(!strstr(r.body, "Board secrets") && !strstr(r.body, "Fire Ann"));

	test_step("those who read it see both");
	r = ask(k.s.f, k.s.f->admin, NULL, "GET /sessions/%s/subtasks", k.session_id);
	CHECK_STR(text_at(&r, "items.0.agent_name"), "Board secrets");
	r = ask(k.s.f, k.s.f->admin, NULL, "GET /sessions/%s/export", k.session_id);
	CHECK_STR(text_at(&r, "subtasks.0.title"), "Fire Ann");
	fixture_sql(k.s.f, "update agent_rows set is_admin_only = 0 where id = $1",
		ARGS(T(k.board_id)));
	r = ask(k.s.f, k.ann, NULL, "GET /sessions/%s/subtasks", k.session_id);
	CHECK_STR(text_at(&r, "items.0.title"), "Fire Ann");
	turn_close(&k.s);
}

TEST(subtask_rights_leave_what_is_not_the_callers_to_end)
{
	struct house k;
	const char *closed, *own, *others;

	house_open(&k);
	closed = subtask(&k, k.s.f->admin, "Fire Ann", k.board_id);
	own = subtask(&k, k.ann, "Own", k.s.agent_id);
	others = subtask(&k, k.s.f->admin, "Open", k.s.agent_id);
	say(&k, k.ann, WAITS);
	await(&k, k.session_id, "waiting_approval");

	test_step("cancelling");
	STATUS(ask(k.s.f, k.ann, NULL, "POST /sessions/%s/cancel", k.session_id), 200);
	CHECK_STR(status_of(&k, closed), "waiting_approval");
	CHECK_STR(status_of(&k, own), "cancelled");
	CHECK_STR(status_of(&k, others), "cancelled");
	CHECK_INT(rows(&k, "session.cancel", k.session_id), 1);
	CHECK_INT(rows(&k, "session.cancel", own), 1);
	CHECK_INT(rows(&k, "session.cancel", others), 1);
	CHECK_INT(rows(&k, "session.cancel", closed), 0);

	test_step("deleting");
	STATUS(ask(k.s.f, k.ann, NULL, "DELETE /sessions/%s", k.session_id), 204);
	CHECK_STR(status_of(&k, k.session_id), "gone");
	CHECK_STR(status_of(&k, own), "gone");
	CHECK_STR(status_of(&k, others), "gone");
	CHECK_STR(status_of(&k, closed), "waiting_approval");
	CHECK_INT(rows(&k, "session.delete", own), 1);
	CHECK_INT(rows(&k, "session.delete", others), 1);
	CHECK_INT(rows(&k, "session.delete", k.session_id), 1);
	CHECK_INT(rows(&k, "session.delete", closed), 0);

	test_step("it goes on, and ends as any other");
	k.s.session_id = closed;
	CHECK_INT(turn_decide(&k.s, true), 0);
	turn_await(&k.s, "completed");
	STATUS(ask(k.s.f, k.s.f->admin, NULL, "DELETE /sessions/%s", closed), 204);
	turn_close(&k.s);
}

TEST(subtask_rights_count_when_one_run_is_cancelled)
{
	struct house k;
	struct answer r;
	const char *child;

	house_open(&k);
	turn_tool(&k.s, k.board_id, "time");
	fixture_sql(
		k.s.f, "update tools set requires_approval = $1 where name = 'time'", ARGS(N(1)));
	fixture_sql(k.s.f, "update agent_rows set is_admin_only = 0 where id = $1",
		ARGS(T(k.board_id)));
	r = ask(k.s.f, k.s.f->admin, NULL, "GET /agents/%s", k.board_id);
	say(&k, k.s.f->admin,
		arena_printf(&k.s.f->arena,
			"use tool subtask with {\\\"title\\\":\\\"t\\\",\\\"message\\\":"
			"\\\"use tool time\\\",\\\"agent\\\":\\\"%s\\\"}",
			text_at(&r, "slug")));
	k.s.session_id = k.session_id;
	turn_await_count(&k.s,
		"select count(*) from sessions where parent_session_id = %s "
		"and status = 'waiting_approval'",
		1);
	child = turn_text(&k.s, "select id as value from sessions where parent_session_id = %s");
	fixture_sql(k.s.f, "update agent_rows set is_admin_only = 1 where id = $1",
		ARGS(T(k.board_id)));
	r = ask(k.s.f, k.ann, NULL, "GET /v1/threads/%s/runs", k.session_id);
	STATUS(ask(k.s.f, k.ann,
		       arena_printf(&k.s.f->arena, "{\"run_id\":\"%s\"}", text_at(&r, "data.0.id")),
		       "POST /sessions/%s/cancel", k.session_id),
		200);
	CHECK_STR(status_of(&k, child), "waiting_approval");
	CHECK_STR(status_of(&k, k.session_id), "cancelled");
	turn_close(&k.s);
}
