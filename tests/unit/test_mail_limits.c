/* test_mail_limits.c - what mail may hold, and who finds and reads what by it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"
#include "matrix.h"
#include "mailboxes/mail_rows.h"
#include "mailboxes/mail_text.h"

struct post {
	struct fixture *f;
	const char *desk, *back; /* two agents */
};

static struct post post_open(void)
{
	struct post p = { fixture_open() };

	p.desk = fixture_agent(p.f, "desk");
	p.back = fixture_agent(p.f, "back");
	/* Nobody is set to work. */
	STATUS(ask(p.f, p.f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules",
		       p.f->tenant_id),
		200);
	return p;
}

static struct answer write_mail(const struct post *p, const char *body)
{
	return ask(p->f, p->f->admin, body, "POST /agents/%s/mail", p->desk);
}

#define TO_BACK "\"to\":[\"back@demo.lodge.internal\"]"
#define HELLO "{" TO_BACK ",\"subject\":\"Hello\",\"text\":\"How are you?\"}"

static const char *newest(const struct post *p, const char *agent)
{
	struct answer r = ask(p->f, p->f->admin, NULL, "GET /agents/%s/mail", agent);

	STATUS(r, 200);
	return text_at(&r, "items.0.id");
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

/* A body with this text, so many times. */
static const char *long_mail(struct fixture *f, const char *sign, size_t count, bool draft)
{
	size_t n = strlen(sign);
	char *text = arena_alloc(&f->arena, n * count + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * n, sign, n);
	text[n * count] = '\0';
	return arena_printf(&f->arena, "{" TO_BACK ",\"subject\":\"Long\",\"text\":\"%s\"%s}", text,
		draft ? ",\"draft\":true" : "");
}

static void room_is(int64_t bytes)
{
	struct mailbox_policy policy = *mailbox_policy();

	policy.tenant_bytes_max = bytes;
	mailbox_policy_set(&policy);
}

#define HELD "select cast(coalesce(sum(mail_bytes), 0) as bigint) from bucket_usage"

TEST(mail_holds_what_the_bucket_may_and_no_more)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *id;
	struct answer r;

	room_is(100000);
	STATUS(write_mail(&p, long_mail(f, "a", 20000, false)), 202);
	CHECK_INT(fixture_count(f, HELD), 2 * (20000 + 4 + MAIL_ROW_BYTES));
	test_step("another is too much, with its copy, and nothing of it is kept");
	STATUS(write_mail(&p, long_mail(f, "b", 40000, false)), 507);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 2);
	CHECK_INT(fixture_count(f, HELD), 2 * (20000 + 4 + MAIL_ROW_BYTES));
	r = write_mail(&p, long_mail(f, "b", 70000, true));
	STATUS(r, 507);
	CHECK(strstr(text_at(&r, "detail"), "100000 bytes"));
	test_step("what is deleted makes room");
	id = newest(&p, p.desk);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s", p.desk, id), 204);
	STATUS(write_mail(&p, long_mail(f, "b", 70000, true)), 202);
	test_step("marks and labels cost nothing");
	STATUS(ask(f, f->admin, "{\"unread\":false,\"labels\":[\"x\"]}", "PATCH /agents/%s/mail/%s",
		       p.back, newest(&p, p.back)),
		200);
	CHECK_INT(fixture_count(f, HELD), 20004 + 70004 + 2 * MAIL_ROW_BYTES);
	test_step("it counts for the bucket too");
	STATUS(ask_bytes(f, f->admin, arena_alloc(&f->arena, 5000), 5000,
		       "PUT /tenant/%s/bucket/object?key=k\nContent-Type: text/plain",
		       f->tenant_id),
		201);
	r = write_mail(&p, long_mail(f, "c", 2000, true));
	STATUS(r, 507);
	test_step("and goes with the agent");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", p.back), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", p.desk), 204);
	fixture_sweep(f);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 0);
	CHECK_INT(fixture_count(f, HELD), 0);
	room_is(0);
	fixture_close(f);
}

static void await_session(struct fixture *f)
{
	static const char done[] = "select count(*) from sessions where status = 'completed'";

	for (int i = 0; i < 5000 && fixture_count(f, done) < 1; i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, done), 1);
}

TEST(mail_that_leaves_no_room_for_its_answer_says_so)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back");
	struct answer r;

	room_is(2 * MAIL_ROW_BYTES + 500);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	await_session(f);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail", back);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	CHECK(strstr(text_at(&r, "items.0.error"), "The answer was not kept"));
	room_is(0);
	fixture_close(f);
}

TEST(mail_to_many_is_not_long)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *to = "", *text;
	struct answer r;

	for (int i = 0; i < 9; i++) {
		const char *slug = arena_printf(&f->arena, "n%d", i);

		fixture_agent(f, slug);
		to = arena_printf(
			&f->arena, "%s%s\"%s@demo.lodge.internal\"", to, i ? "," : "", slug);
	}
	text = strstr(long_mail(f, "\U0001F33B", 1 << 20, false), "\"subject\"");
	r = write_mail(&p, arena_printf(&f->arena, "{\"to\":[%s],%s", to, text));
	CHECK(refuses(&r, "text", "too_large"));
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 0);
	fixture_close(f);
}

#define OBJECTS "select count(*) from bucket_objects where key like '.lodge/mail/%'"

TEST(mail_files_that_are_there_are_not_written_again)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *file = "{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"attachments\":["
			   "{\"filename\":\"a\",\"content\":\"aGVsbG8=\"},"
			   "{\"filename\":\"b\",\"content\":\"aGVsbG8=\"}]}",
		   *big;
	size_t len = 1 << 20;
	char *content = arena_alloc(&f->arena, len + 1);
	struct answer r;

	STATUS(write_mail(&p, file), 202);
	STATUS(write_mail(&p, file), 202);
	CHECK_INT(fixture_count(f, OBJECTS), 1);
	test_step("nothing was put in the place of anything");
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), 0);
	CHECK_INT(fixture_count(f, "select cast(sum(size_bytes) as bigint) from bucket_usage"), 5);
	test_step("what there is no room for is not brought");
	memset(content, 'A', len);
	content[len] = '\0';
	big = arena_printf(&f->arena,
		"{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"attachments\":["
		"{\"filename\":\"a\",\"content\":\"%s\"},{\"filename\":\"b\",\"content\":\"%sBBBB\"}]}",
		content, content);
	r = write_mail(&p, big);
	STATUS(r, 507);
	CHECK_INT(fixture_count(f, OBJECTS), 1);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_trash"), 0);
	fixture_close(f);
}

TEST(mail_finds_no_agent_that_is_hidden)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *token = member_with(f, "m@example.org", p.desk, "MANAGER"), *id;
	struct mailbox_policy policy;
	struct answer r;

	r = ask(f, token, HELLO, "POST /agents/%s/mail", p.desk);
	STATUS(r, 202);
	fixture_sql(f, "update agent_rows set is_admin_only = 1 where id = $1", ARGS(T(p.back)));
	r = ask(f, token, HELLO, "POST /agents/%s/mail", p.desk);
	CHECK(refuses(&r, "to[0]", "unknown"));
	r = ask(f, token,
		"{\"to\":[\"nobody@demo.lodge.internal\"],\"subject\":\"s\",\"text\":\"t\"}",
		"POST /agents/%s/mail", p.desk);
	CHECK(refuses(&r, "to[0]", "unknown"));
	test_step("nor by what is said of external addresses, by an agent that has none");
	policy = *mailbox_policy();
	policy.domain = "mail.test";
	mailbox_policy_set(&policy);
	fixture_sql(f,
		"insert into mailboxes (tenant_id, id, agent_id, kind, address, enabled, paused, "
		"message_count, created_at) values ($1, $2, $3, 'external', 'back@demo.mail.test', 1, 0, "
		"0, 1)",
		ARGS(T(f->tenant_id), T(fixture_id(f)), T(p.back)));
	for (size_t i = 0; i < 3; i++) {
		r = ask(f, token,
			arena_printf(&f->arena,
				"{\"to\":[\"%s@demo.mail.test\"],\"subject\":\"s\",\"text\":\"t\"}",
				(const char *[]){ "back", "back+x", "nobody" }[i]),
			"POST /agents/%s/mail", p.desk);
		CHECK(refuses(&r, "to[0]", "unknown"));
	}
	policy.domain = "";
	mailbox_policy_set(&policy);
	test_step("nor by a draft that an administrator left");
	r = write_mail(&p, "{" TO_BACK ",\"subject\":\"S\",\"text\":\"t\",\"draft\":true}");
	STATUS(r, 202);
	id = text_at(&r, "id");
	r = ask(f, token, NULL, "POST /agents/%s/mail/%s/send", p.desk, id);
	CHECK(refuses(&r, "to[0]", "unknown"));
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.desk, id), 202);
	test_step("a key that sees no agents");
	r = ask(f, key_for(f, "[\"agent:mail:write\"]"), HELLO, "POST /agents/%s/mail", p.desk);
	CHECK(refuses(&r, "to[0]", "unknown"));
	STATUS(ask(f, key_for(f, "[\"agent:mail:write\",\"agent:read\"]"), HELLO,
		       "POST /agents/%s/mail", p.desk),
		202);
	test_step("switched off, it sends nothing");
	STATUS(ask(f, f->admin, "{\"is_active\":false}", "PATCH /agents/%s", p.desk), 200);
	STATUS(write_mail(&p, HELLO), 409);
	STATUS(write_mail(&p, "{" TO_BACK ",\"subject\":\"S\",\"text\":\"t\",\"draft\":true}"),
		202);
	fixture_close(f);
}

/* The ids of what waits, for this caller. */
static int64_t waiting(struct fixture *f, const char *token, const char *id)
{
	struct answer r = ask(f, token, NULL, "GET /tenant/%s/mail/waiting", f->tenant_id);

	STATUS(r, 200);
	CHECK(!id || strstr(r.body, id));
	return (int64_t)json_array_size(at(&r, "items"));
}

static const char *drafted(struct fixture *f, const char *agent)
{
	struct answer r = ask(f, f->admin,
		"{\"to\":[\"back@demo.lodge.internal\"],\"subject\":\"Wait\",\"text\":\"t\",\"draft\":true}",
		"POST /agents/%s/mail", agent);

	STATUS(r, 202);
	return text_at(&r, "id");
}

TEST(mail_that_waits_is_listed_over_all_agents)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back"),
		   *viewer = member_with(f, "v@example.org", desk, "VIEWER"),
		   *manager = member_with(f, "m@example.org", desk, "MANAGER"), *one, *two;
	struct answer r;

	one = drafted(f, desk);
	two = drafted(f, back);
	r = ask(f, manager, NULL, "GET /tenant/%s/mail/waiting", f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.id"), one);
	CHECK_STR(text_at(&r, "items.0.agent_id"), desk);
	CHECK_STR(text_at(&r, "items.0.from"), "desk@demo.lodge.internal");
	CHECK_STR(text_at(&r, "items.0.to.0"), "back@demo.lodge.internal");
	CHECK_STR(text_at(&r, "items.0.state"), "draft");
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	CHECK_INT(waiting(f, f->admin, two), 2);
	CHECK_INT(waiting(f, viewer, NULL), 0);
	CHECK_INT(waiting(f, key_for(f, "[\"tenant:read\"]"), NULL), 0);
	CHECK_INT(waiting(f, key_for(f, "[\"tenant:read\",\"agent:mail:read\"]"), one), 2);
	test_step("what is held waits, what was sent does not");
	fixture_sql(f, "update mail_messages set state = 'held' where id = $1", ARGS(T(two)));
	CHECK_INT(waiting(f, f->admin, two), 2);
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", desk, one), 202);
	CHECK_INT(waiting(f, f->admin, two), 1);
	fixture_sql(f, "update agent_rows set is_admin_only = 1 where id = $1", ARGS(T(desk)));
	drafted(f, desk);
	CHECK_INT(waiting(f, manager, NULL), 0);
	fixture_close(f);
}

TEST(mail_is_not_read_through_the_sessions_it_began)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back"), *session,
		   *child;
	const char *viewer = member_with(f, "v@example.org", back, "VIEWER"),
		   *manager = member_with(f, "m@example.org", back, "MANAGER"),
		   *key = key_for(
			   f, "[\"tenant:read\",\"session:read\",\"agent:read\",\"agent:write\"]"),
		   *key2;
	struct answer r;

	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	await_session(f);
	r = ask(f, manager, NULL, "GET /agents/%s/sessions", back);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	session = text_at(&r, "items.0.id");
	STATUS(ask(f, manager, NULL, "GET /sessions/%s/messages", session), 200);
	test_step("a subtask of it is no way around");
	child = fixture_created(f, f->admin, "{\"title\":\"Hello part\",\"message\":\"m\"}",
		"POST /sessions/%s/subtasks", session);
	STATUS(ask(f, manager, NULL, "GET /sessions/%s", child), 200);
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s", child), 404);
	test_step("a viewer");
	r = ask(f, viewer, NULL, "GET /agents/%s/sessions", back);
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 0);
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s", session), 404);
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s/messages", session), 404);
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s/events", session), 404);
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s/export", session), 404);
	STATUS(ask(f, viewer, NULL, "GET /v1/threads/%s/messages", session), 404);
	r = ask(f, viewer, NULL, "GET /tenant/%s/autocomplete?q=hello&types=session", f->tenant_id);
	CHECK(!strstr(r.body, session));
	r = ask(f, manager, NULL, "GET /tenant/%s/autocomplete?q=hello&types=session",
		f->tenant_id);
	CHECK(strstr(r.body, session));
	test_step("a key of somebody else's who may, without the scope");
	fixture_sql(f, "delete from session_people where tenant_id = $1", ARGS(T(f->tenant_id)));
	STATUS(ask(f, key, NULL, "GET /sessions/%s", session), 404);
	r = ask(f, key, NULL, "GET /agents/%s/sessions", back);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 0);
	r = ask(f, key, NULL, "GET /tenant/%s/autocomplete?q=hello&types=session", f->tenant_id);
	STATUS(r, 200);
	CHECK(!strstr(r.body, session));
	test_step("nor one of whose role reads mail");
	r = ask(f, manager, NULL, "GET /me");
	key2 = key_make(f, f->tenant_id, text_at(&r, "id"),
		"[\"tenant:read\",\"session:read\",\"agent:read\"]", NIL, NULL);
	STATUS(ask(f, key2, NULL, "GET /sessions/%s", session), 404);
	r = ask(f, key2, NULL, "GET /tenant/%s/autocomplete?q=hello&types=session", f->tenant_id);
	STATUS(r, 200);
	CHECK(!strstr(r.body, session));
	test_step("who takes part in it, with a role that reads none, finds it as they read it");
	fixture_sql(f,
		"insert into session_people (tenant_id, user_id, session_id) "
		"select tenant_id, user_id, $1 from agent_roles where role = 'VIEWER'",
		ARGS(T(session)));
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s", session), 200);
	r = ask(f, viewer, NULL, "GET /tenant/%s/autocomplete?q=hello&types=session", f->tenant_id);
	CHECK(strstr(r.body, session));
	test_step("what mail did not begin they see");
	fixture_sql(f, "update session_rows set origin = 'user' where id = $1", ARGS(T(session)));
	STATUS(ask(f, viewer, NULL, "GET /sessions/%s/messages", session), 200);
	STATUS(ask(f, key, NULL, "GET /sessions/%s", session), 200);
	r = ask(f, key, NULL, "GET /tenant/%s/autocomplete?q=hello&types=session", f->tenant_id);
	CHECK(strstr(r.body, session));
	fixture_close(f);
}

TEST(mail_is_not_read_by_changing_it)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *key, *id;

	STATUS(write_mail(&p, HELLO), 202);
	id = newest(&p, p.back);
	key = key_for(f, "[\"agent:mail:write\",\"agent:read\"]");
	STATUS(ask(f, key, "{\"unread\":false}", "PATCH /agents/%s/mail/%s", p.back, id), 403);
	STATUS(ask(f, key, "{\"to\":[\"desk@demo.lodge.internal\"]}",
		       "POST /agents/%s/mail/%s/forward", p.back, id),
		403);
	STATUS(ask(f, key, "{\"text\":\"x\"}", "POST /agents/%s/mail/%s/reply", p.back, id), 403);
	STATUS(ask(f, key, NULL, "POST /agents/%s/mail/%s/send", p.back, id), 403);
	STATUS(ask(f, key, NULL, "DELETE /agents/%s/mail/%s", p.back, id), 204);
	fixture_close(f);
}

TEST(mail_that_is_handed_on_stays_within_its_limits)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	struct answer r;
	const char *id;
	size_t n;

	STATUS(write_mail(&p, long_mail(f, "ä", MAIL_TEXT_MAX, false)), 202);
	id = newest(&p, p.back);
	fixture_sql(f, "update mail_messages set subject = $2 where id = $1",
		ARGS(T(id), T(strstr(long_mail(f, "x", MAIL_SUBJECT_MAX, false), "xx"))));
	fixture_sql(f, "update mail_messages set subject = substr(subject, 1, 998) where id = $1",
		ARGS(T(id)));
	r = ask(f, f->admin, "{\"to\":[\"desk@demo.lodge.internal\"],\"text\":\"See:\"}",
		"POST /agents/%s/mail/%s/forward", p.back, id);
	STATUS(r, 202);
	CHECK(strncmp(text_at(&r, "subject"), "Fwd: xx", 7) == 0);
	CHECK(strlen(text_at(&r, "subject")) <= MAIL_SUBJECT_MAX + 2);
	CHECK(strstr(text_at(&r, "text"), "was left out: it is too long"));
	n = strlen(text_at(&r, "text"));
	CHECK(n > 2 * MAIL_TEXT_MAX - 4096 && n <= 2 * MAIL_TEXT_MAX);
	r = ask(f, f->admin, "{\"text\":\"x\"}", "POST /agents/%s/mail/%s/reply", p.back, id);
	STATUS(r, 202);
	CHECK(strlen(text_at(&r, "subject")) <= MAIL_SUBJECT_MAX + 2);
	test_step("no room is left for it");
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"to\":[\"desk@demo.lodge.internal\"],%s",
			strstr(long_mail(f, "y", MAIL_TEXT_MAX, false), "\"text\"")),
		"POST /agents/%s/mail/%s/forward", p.back, id);
	CHECK(refuses(&r, "text", "too_long"));
	fixture_close(f);
}

TEST(mail_shows_what_its_html_says_and_lines_as_they_are)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	struct answer r = write_mail(&p,
		"{" TO_BACK ",\"bcc\":[\"third@demo.lodge.internal\"],\"draft\":true,"
		"\"subject\":\"a\\u202Eb\\u2066c\\u0085d\",\"text\":\"t\","
		"\"html\":\"<p>Pay <b>9</b></p><script>x()</script><p hidden>no</p>\","
		"\"attachments\":[{\"filename\":\"in\\u202Efdp.exe\\u0007\",\"content\":\"aGk=\"},"
		"{\"filename\":\"\\u200F\",\"content\":\"aGk=\"}]}");

	STATUS(r, 202);
	CHECK_STR(text_at(&r, "subject"), "abc d");
	CHECK_STR(text_at(&r, "attachments.0.filename"), "infdp.exe ");
	CHECK_STR(text_at(&r, "attachments.1.filename"), "file");
	CHECK_STR(text_at(&r, "bcc.0"), "third@demo.lodge.internal");
	CHECK(strstr(text_at(&r, "html_text"), "Pay 9"));
	CHECK(!strstr(text_at(&r, "html_text"), "x()") && !strstr(text_at(&r, "html_text"), "no"));
	fixture_agent(f, "third");
	r = ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.desk, text_at(&r, "id"));
	STATUS(r, 202);
	test_step("nobody else learns of it, nor is given the HTML");
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", p.back, newest(&p, p.back));
	CHECK_INT((int64_t)json_array_size(at(&r, "bcc")), 0);
	CHECK(strstr(text_at(&r, "html_text"), "Pay 9"));
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where html is not null"), 1);
	fixture_close(f);
}

TEST(mail_domains_are_not_the_internal_one)
{
	CHECK(mailbox_domain_valid("") && mailbox_domain_valid("mail.example.org"));
	CHECK(mailbox_domain_valid("xlodge.internal"));
	CHECK(!mailbox_domain_valid("lodge.internal"));
	CHECK(!mailbox_domain_valid("a.lodge.internal"));
	CHECK(!mailbox_domain_valid("internal") && !mailbox_domain_valid("a..b"));
}

TEST(mailboxes_are_healed_again_under_the_same_key)
{
	struct fixture *f = fixture_open();

	fixture_agent(f, "a");
	for (int i = 0; i < 2; i++)
		STATUS(ask(f, f->admin, "{}", "POST /admin/mail/heal\nIdempotency-Key: k"), 200);
	fixture_close(f);
}
