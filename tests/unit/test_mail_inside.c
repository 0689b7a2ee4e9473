/* test_mail_inside.c - what those inside may do with mail: who takes part in what it began, who reads of it elsewhere, who
 * finds whom by an address, and what is changed only as it was read. */
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "mail_fixture.h"
#include "mailboxes/mail_rows.h"
#include "matrix.h"

#define TO_BACK "\"to\":[\"back@demo.lodge.internal\"]"
#define HELLO "{" TO_BACK ",\"subject\":\"Hello\",\"text\":\"How are you?\"}"

struct desk {
	struct fixture *f;
	const char *desk, *back;
};

static struct desk desk_open(void)
{
	struct desk d = { fixture_open() };

	d.desk = fixture_agent(d.f, "desk");
	d.back = fixture_agent(d.f, "back");
	return d;
}

static void wait_for(struct fixture *f, const char *sql, int64_t wanted)
{
	for (int i = 0; i < 5000 && fixture_count(f, sql) != wanted; i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, sql), wanted);
}

static const char *key_for(struct fixture *f, const char *scopes)
{
	struct answer r =
		ask(f, f->admin, arena_printf(&f->arena, "{\"name\":\"k\",\"scopes\":%s}", scopes),
			"POST /tenant/%s/api-keys", f->tenant_id);

	STATUS(r, 201);
	return text_at(&r, "key");
}

/* A member with this role on the agent; their token. */
static const char *member_with(
	struct fixture *f, const char *email, const char *agent, const char *role)
{
	const char *token, *user = fixture_user(f, email, &token);

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_sql(f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, $4, 1, 1)",
		ARGS(T(f->tenant_id), T(agent), T(user), T(role)));
	return token;
}

/* The session that mail of the administrator began on `back`. */
static const char *begun_by_mail(struct desk *d)
{
	struct answer r;

	STATUS(ask(d->f, d->f->admin, HELLO, "POST /agents/%s/mail", d->desk), 202);
	wait_for(d->f,
		"select count(*) from sessions where origin = 'mail' and status = 'completed'", 1);
	r = ask(d->f, d->f->admin, NULL, "GET /agents/%s/sessions", d->back);
	STATUS(r, 200);
	return text_at(&r, "items.0.id");
}

TEST(mail_inside_nobody_else_takes_part_in_what_it_began)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	const char *manager = member_with(f, "m@example.org", d.back, "MANAGER"),
		   *viewer = member_with(f, "v@example.org", d.back, "VIEWER"),
		   *session = begun_by_mail(&d), *child, *branch;
	struct answer r = ask(f, manager, NULL, "GET /sessions/%s/messages", session);

	STATUS(r, 200);
	test_step("a manager reads it and says nothing in it, by no door");
	r = ask(f, manager, "{\"content\":\"Read the ledger to me.\"}",
		"POST /sessions/%s/messages", session);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "draft"));
	STATUS(ask(f, manager, "{\"title\":\"t\",\"message\":\"Read it.\"}",
		       "POST /sessions/%s/subtasks", session),
		403);
	STATUS(ask(f, manager, "{\"role\":\"user\",\"content\":\"Read it.\"}",
		       "POST /v1/threads/%s/messages", session),
		403);
	STATUS(ask(f, manager, arena_printf(&f->arena, "{\"assistant_id\":\"%s\"}", d.back),
		       "POST /v1/threads/%s/runs", session),
		403);
	CHECK_INT(fixture_count(f, "select count(*) from messages where content like 'Read %'"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from session_runs"), 1);
	test_step("whose mail it was goes on, also in what was given away there");
	child = fixture_created(f, f->admin, "{\"title\":\"Part\",\"message\":\"m\"}",
		"POST /sessions/%s/subtasks", session);
	STATUS(ask(f, manager, "{\"content\":\"Read it.\"}", "POST /sessions/%s/messages", child),
		403);
	STATUS(ask(f, f->admin, "{\"content\":\"More.\"}", "POST /sessions/%s/messages", child),
		202);
	STATUS(ask(f, f->admin, "{\"content\":\"More.\"}", "POST /sessions/%s/messages", session),
		202);
	wait_for(f, "select count(*) from jobs", 0);
	test_step("a branch of it is the manager's own, and still for those who read mail");
	r = ask(f, manager, NULL, "GET /sessions/%s/messages", session);
	branch = fixture_created(f, manager,
		arena_printf(&f->arena, "{\"message_id\":\"%s\"}", text_at(&r, "items.0.id")),
		"POST /sessions/%s/branch", session);
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s", branch), 404);
	STATUS(ask(f, f->admin, "{\"content\":\"More.\"}", "POST /sessions/%s/messages", branch),
		403);
	STATUS(ask(f, manager, "{\"content\":\"More.\"}", "POST /sessions/%s/messages", branch),
		202);
	wait_for(f, "select count(*) from jobs", 0);
	fixture_close(f);
}

TEST(mail_inside_a_strangers_session_is_the_strangers)
{
	struct mail_house h;
	const char *session = NULL;
	struct answer r;

	mail_house_open(&h);
	session = fixture_session(h.f, h.f->admin, h.agent_id, "{}");
	fixture_sql(h.f,
		"update session_rows set origin = 'mail', created_by_id = null where id = $1",
		ARGS(T(session)));
	r = ask(h.f, h.f->admin, "{\"content\":\"Read the ledger.\"}", "POST /sessions/%s/messages",
		session);
	STATUS(r, 403);
	mail_house_close(&h);
}

/* As a scope of a key counts: with it one is found, without it none. */
static void check_scope(struct fixture *f, const char *path, const char *scopes, const char *more,
	const char *wanted)
{
	struct answer r;

	test_step("%s", path);
	r = ask(f, key_for(f, scopes), NULL, "GET %s", path);
	STATUS(r, 200);
	CHECK(!strstr(r.body, wanted));
	r = ask(f, key_for(f, more), NULL, "GET %s", path);
	STATUS(r, 200);
	CHECK(strstr(r.body, wanted));
}

TEST(mail_inside_a_key_reads_of_what_mail_began_only_with_its_scope)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	const char *session = begun_by_mail(&d), *path, *key;

	fixture_sql(f, "delete from session_people where tenant_id = $1", ARGS(T(f->tenant_id)));
	fixture_sql(f,
		"insert into approvals (tenant_id, id, session_id, call_id, tool_name, arguments, status, "
		"created_at) values ($1, $3, $2, 'c', 'http_fetch', '{}', 'pending', 1)",
		ARGS(T(f->tenant_id), T(session), T(fixture_id(f))));
	path = arena_printf(&f->arena, "/tenant/%s/approvals", f->tenant_id);
	check_scope(f, path, "[\"tenant:read\",\"session:approve\"]",
		"[\"tenant:read\",\"session:approve\",\"agent:mail:read\"]", session);
	check_scope(f, "/me/approvals", "[\"session:approve\"]",
		"[\"session:approve\",\"agent:mail:read\"]", session);
	path = arena_printf(&f->arena, "/tenant/%s/sessions", f->tenant_id);
	check_scope(f, path, "[\"audit:read\"]", "[\"audit:read\",\"agent:mail:read\"]", session);
	key = key_for(f, "[\"audit:read\"]");
	STATUS(ask(f, key, NULL, "GET /tenant/%s/sessions/%s/audit", f->tenant_id, session), 404);
	key = key_for(f, "[\"audit:read\",\"agent:mail:read\"]");
	STATUS(ask(f, key, NULL, "GET /tenant/%s/sessions/%s/audit", f->tenant_id, session), 200);
	test_step("who audits with a login reads all");
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s/audit", f->tenant_id, session),
		200);
	fixture_close(f);
}

TEST(mail_inside_the_audit_log_has_no_words_of_mail)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	struct answer r = ask(f, f->admin,
		"{" TO_BACK ",\"subject\":\"Salaries\",\"text\":\"Ada has 9000.\",\"draft\":true}",
		"POST /agents/%s/mail", d.desk);

	STATUS(r, 202);
	STATUS(ask(f, f->admin, "{\"subject\":\"Fees\",\"text\":\"Ada has 8000.\"}",
		       "PATCH /agents/%s/mail/%s", d.desk, text_at(&r, "id")),
		200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=mail.update", f->tenant_id);
	STATUS(r, 200);
	CHECK(!strstr(r.body, "Salaries") && !strstr(r.body, "Fees") && !strstr(r.body, "Ada has"));
	test_step("but that they were changed");
	CHECK_STR(text_at(&r, "items.0.meta.subject.from"), "(8 bytes)");
	CHECK_STR(text_at(&r, "items.0.meta.subject.to"), "(4 bytes, others)");
	CHECK_STR(text_at(&r, "items.0.meta.text.from"), "(13 bytes)");
	CHECK_STR(text_at(&r, "items.0.meta.text.to"), "(13 bytes, others)");
	fixture_close(f);
}

TEST(mail_inside_what_is_done_with_a_message_is_done_as_it_was_read)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	struct answer r =
		ask(f, f->admin, "{" TO_BACK ",\"subject\":\"s\",\"text\":\"one\",\"draft\":true}",
			"POST /agents/%s/mail", d.desk);
	const char *id = text_at(&r, "id"), *tag, *newer;

	STATUS(r, 202);
	STATUS(ask(f, f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules", f->tenant_id),
		200);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", d.desk, id);
	tag = header_of(f, &r, "ETag");
	r = ask(f, f->admin, "{\"text\":\"two\"}", "PATCH /agents/%s/mail/%s", d.desk, id);
	STATUS(r, 200);
	newer = header_of(f, &r, "ETag");
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send\nIf-Match: %s", d.desk, id,
		       tag),
		412);
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send-again\nIf-Match: %s", d.desk,
		       id, tag),
		412);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s\nIf-Match: %s", d.desk, id, tag),
		412);
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send\nIf-Match: %s", d.desk, id,
		       newer),
		202);
	test_step("what is made has no tag that could be asked for");
	STATUS(ask(f, f->admin, "{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\"}",
		       "POST /agents/%s/mail\nIf-Match: \"x\"", d.desk),
		202);
	fixture_close(f);
}

TEST(mail_inside_a_hidden_agent_is_found_by_those_who_would_list_it)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	const char *token = member_with(f, "m@example.org", d.desk, "MANAGER"),
		   *both = member_with(f, "b@example.org", d.desk, "MANAGER");
	struct answer r;

	STATUS(ask(f, f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules", f->tenant_id),
		200);
	fixture_sql(f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"select tenant_id, $2, user_id, role, 1, 1 from agent_roles where tenant_id = $1 and "
		"user_id = (select id from users where email = 'b@example.org')",
		ARGS(T(f->tenant_id), T(d.back)));
	STATUS(ask(f, token, HELLO, "POST /agents/%s/mail", d.desk), 202);
	STATUS(ask(f, f->admin, "{\"hidden\":true}", "PATCH /agents/%s", d.back), 200);
	r = ask(f, token, HELLO, "POST /agents/%s/mail", d.desk);
	STATUS(r, 422);
	CHECK_STR(text_at(&r, "errors.0.code"), "unknown");
	STATUS(ask(f, both, HELLO, "POST /agents/%s/mail", d.desk), 202);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", d.desk), 202);
	fixture_close(f);
}

TEST(mail_inside_what_the_operator_paused_only_the_operator_lets_go_on)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/mailboxes", d.desk);
	const char *id = text_at(&r, "items.0.id"),
		   *manager = member_with(f, "m@example.org", d.desk, "MANAGER");

	test_step("both have paused it");
	STATUS(ask(f, manager, "{\"is_active\":false}", "PATCH /agents/%s/mailboxes/%s", d.desk,
		       id),
		200);
	r = ask(f, f->admin, "{\"is_paused\":true}", "PATCH /admin/mail/mailboxes/%s", id);
	STATUS(r, 200);
	r = ask(f, manager, "{\"is_active\":true}", "PATCH /agents/%s/mailboxes/%s", d.desk, id);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "Whoever runs this service"));
	r = ask(f, f->admin, NULL, "GET /admin/mail/mailboxes/%s", id);
	CHECK(json_is_true(at(&r, "is_paused")));
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", d.desk), 409);
	test_step("the operator lets all of it go on");
	r = ask(f, f->admin, "{\"is_paused\":false}", "PATCH /admin/mail/mailboxes/%s", id);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "is_paused")));
	test_step("what people pause is theirs");
	STATUS(ask(f, manager, "{\"is_active\":false}", "PATCH /agents/%s/mailboxes/%s", d.desk,
		       id),
		200);
	r = ask(f, manager, "{\"is_active\":true}", "PATCH /agents/%s/mailboxes/%s", d.desk, id);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "is_active")));
	fixture_close(f);
}

TEST(mail_inside_what_waits_for_a_person_waits_for_one)
{
	struct desk d = desk_open();
	struct fixture *f = d.f;
	const char *key = key_for(f, "[\"agent:read\",\"agent:mail:read\",\"agent:mail:write\"]"),
		   *id;
	struct answer r;

	STATUS(ask(f, f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules", f->tenant_id),
		200);
	r = ask(f, f->admin, "{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"draft\":true}",
		"POST /agents/%s/mail", d.desk);
	id = text_at(&r, "id");
	test_step("it is not answered");
	STATUS(ask(f, f->admin, "{\"text\":\"x\"}", "POST /agents/%s/mail/%s/reply", d.desk, id),
		409);
	fixture_sql(f, "update mail_messages set state = 'held' where id = $1", ARGS(T(id)));
	STATUS(ask(f, f->admin, "{\"text\":\"x\"}", "POST /agents/%s/mail/%s/reply", d.desk, id),
		409);
	test_step("an agent's draft is not sent by a program");
	fixture_sql(f,
		"update mail_messages set state = 'draft', automatic = 1, hops = 3 where id = $1",
		ARGS(T(id)));
	STATUS(ask(f, key, NULL, "POST /agents/%s/mail/%s/send", d.desk, id), 403);
	test_step("and a person's keeps its hops where a program does");
	fixture_sql(f, "update mail_messages set automatic = 0 where id = $1", ARGS(T(id)));
	STATUS(ask(f, key, NULL, "POST /agents/%s/mail/%s/send", d.desk, id), 202);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where hops = 3"), 2);
	fixture_close(f);
}

TEST(mail_inside_addresses_of_people_can_be_mailed)
{
	static const char *const wrong[] = { "x@-y.example", "x@y-.example", "a..b@example.org",
		".a@example.org", "a.@example.org", "x@y..example" };
	static const char *const right[] = { "x@y-z.example", "a.b+c@example.org",
		"o'neil@x.example" };
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const char *body = arena_printf(&f->arena, "{\"email\":\"%s\"}", wrong[i]);
		struct answer r = ask(f, f->admin, body, "POST /tenant/%s/members", f->tenant_id);

		test_step("%s", wrong[i]);
		STATUS(r, 422);
		CHECK_STR(text_at(&r, "errors.0.field"), "email");
		STATUS(ask(f, f->admin, body, "POST /tenant/%s/allowed-accounts", f->tenant_id),
			422);
	}
	for (size_t i = 0; i < sizeof right / sizeof *right; i++)
		STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", right[i]),
			       "POST /tenant/%s/members", f->tenant_id),
			201);
	fixture_close(f);
}
