/* test_mail_wake.c - mail sets agents to work, once and with the rights of who had it sent; their answers go back, and a
 * row of answers ends. */
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "mailboxes/mail_answer.h"
#include "mailboxes/mail_wake.h"

static void wait_for(struct fixture *f, const char *sql, int64_t wanted)
{
	for (int i = 0; i < 5000 && fixture_count(f, sql) != wanted; i++)
		usleep(2000);
	CHECK_INT(fixture_count(f, sql), wanted);
}

#define DONE "select count(*) from sessions where origin = 'mail' and status = 'completed'"
#define HELLO \
	"{\"to\":[\"back@demo.lodge.internal\"],\"subject\":\"Hello\",\"text\":\"How are you?\"}"

static const char *newest(struct fixture *f, const char *agent, const char *query)
{
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/mail?%s", agent, query);

	STATUS(r, 200);
	CHECK(json_array_size(at(&r, "items")) > 0);
	return text_at(&r, "items.0.id");
}

TEST(mail_wakes_an_agent_once_and_its_answer_goes_back)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back"), *session;
	struct answer r;

	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	wait_for(f, DONE, 1);
	test_step("the thread is the session, and what it says is marked as the sender's");
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", back, newest(f, back, "direction=in"));
	session = text_at(&r, "session_id");
	r = ask(f, f->admin, NULL, "GET /sessions/%s", session);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "origin"), "mail");
	CHECK_STR(text_at(&r, "title"), "Hello");
	r = ask(f, f->admin, NULL, "GET /sessions/%s/messages", session);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/threads", back);
	CHECK_STR(text_at(&r, "items.0.session_id"), session);
	test_step("the answer is with both");
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", desk, newest(f, desk, "direction=in"));
	CHECK_STR(text_at(&r, "subject"), "Re: Hello");
	CHECK_STR(text_at(&r, "from"), "back@demo.lodge.internal");
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where automatic = 1"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from mail_threads"), 2);
	test_step("which wakes nobody who was not in the conversation");
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 1);
	CHECK(json_is_null(at(&r, "session_id")));
	test_step("a second message goes into the same session");
	STATUS(ask(f, f->admin, "{\"text\":\"And now?\"}", "POST /agents/%s/mail/%s/reply", desk,
		       newest(f, desk, "direction=in")),
		202);
	wait_for(f, "select count(*) from mail_messages where automatic = 1", 4);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 1);
	test_step("and where that was deleted into another");
	STATUS(ask(f, f->admin, NULL, "DELETE /sessions/%s", session), 204);
	STATUS(ask(f, f->admin, "{\"text\":\"Still?\"}", "POST /agents/%s/mail/%s/reply", desk,
		       newest(f, desk, "direction=in")),
		202);
	wait_for(f, "select count(*) from mail_messages where automatic = 1", 6);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 1);
	fixture_close(f);
}

TEST(mail_answers_follow_the_rules)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back"), *draft;
	struct answer r;

	test_step("kept as a draft, which a person sends");
	STATUS(ask(f, f->admin, "{\"reply\":\"draft\"}", "PUT /tenant/%s/mail/rules", f->tenant_id),
		200);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	wait_for(f, DONE, 1);
	draft = newest(f, back, "state=draft");
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail?direction=in", desk);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 0);
	r = ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", back, draft);
	STATUS(r, 202);
	CHECK(json_is_null(at(&r, "error")));
	test_step("which wakes the other, whose answer is a draft too");
	wait_for(f, DONE, 2);
	draft = newest(f, desk, "state=draft");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s", desk, draft), 204);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where automatic = 1"), 0);
	test_step("off");
	STATUS(ask(f, f->admin, "{\"reply\":\"off\"}", "PUT /agents/%s/mail/rules", back), 200);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	wait_for(f, DONE, 3);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where state = 'draft'"), 0);
	test_step("never woken");
	STATUS(ask(f, f->admin, "{\"wake\":\"never\"}", "PUT /agents/%s/mail/rules", back), 200);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	test_step("blocked");
	STATUS(ask(f, f->admin, "{\"block_from\":[\"desk@demo.lodge.internal\"]}",
		       "PUT /agents/%s/mail/rules", back),
		200);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	test_step("switched off: the mail is there, with the reason");
	STATUS(ask(f, f->admin, "{}", "PUT /agents/%s/mail/rules", back), 200);
	STATUS(ask(f, f->admin, "{\"is_active\":false}", "PATCH /agents/%s", back), 200);
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", back, newest(f, back, "direction=in"));
	CHECK_STR(text_at(&r, "error"), "The agent is switched off.");
	CHECK(json_is_null(at(&r, "session_id")));
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 3);
	fixture_close(f);
}

TEST(mail_gives_nobody_an_agent_that_they_may_not_talk_to)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back"), *token,
		   *user = fixture_user(f, "m@example.org", &token);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_sql(f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'MANAGER', 1, 1)",
		ARGS(T(f->tenant_id), T(desk), T(user)));
	fixture_sql(
		f, "update agent_rows set default_role_enabled = 0 where id = $1", ARGS(T(back)));
	test_step("it is not there for them");
	r = ask(f, token, HELLO, "POST /agents/%s/mail", desk);
	CHECK(refuses(&r, "to[0]", "unknown"));
	test_step("they see it, and may not talk to it");
	fixture_sql(f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'VIEWER', 1, 1)",
		ARGS(T(f->tenant_id), T(back), T(user)));
	STATUS(ask(f, token, HELLO, "POST /agents/%s/mail", desk), 202);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", back, newest(f, back, ""));
	CHECK_STR(text_at(&r, "state"), "received");
	CHECK(json_is_null(at(&r, "session_id")));
	CHECK(json_is_string(at(&r, "error")));
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 0);
	test_step("but who may does");
	fixture_sql(
		f, "update agent_rows set default_role_enabled = 1 where id = $1", ARGS(T(back)));
	STATUS(ask(f, token, HELLO, "POST /agents/%s/mail", desk), 202);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 1);
	wait_for(f, DONE, 1);
	fixture_close(f);
}

/* As if both were in the conversation: then only the limits end it. */
static void join_both(struct fixture *f)
{
	fixture_sql(f,
		"update mail_messages set session_id = (select s.id from sessions s "
		"where s.agent_id = mail_messages.agent_id) where session_id is null and tenant_id = $1",
		ARGS(T(f->tenant_id)));
}

TEST(mail_between_two_agents_that_answer_everything_ends)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back");

	/* Both have a thread with a session, each in the conversation of the other. */
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	wait_for(f, DONE, 1);
	STATUS(ask(f, f->admin,
		       "{\"to\":[\"desk@demo.lodge.internal\"],\"subject\":\"Hi\",\"text\":\"hi\"}",
		       "POST /agents/%s/mail", back),
		202);
	wait_for(f, DONE, 2);
	join_both(f);
	STATUS(ask(f, f->admin, "{\"text\":\"go\"}", "POST /agents/%s/mail/%s/reply", desk,
		       newest(f, desk, "direction=in&q=hello")),
		202);
	wait_for(f, "select count(*) from mail_messages where direction = 'in' and hops = 6", 1);
	wait_for(f, "select count(*) from jobs", 0);
	CHECK_INT(fixture_count(f, "select coalesce(max(hops), 0) from mail_messages"),
		MAIL_HOPS_MAX + 1);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where hops = 6 and "
				   "direction = 'in' and session_id is not null"),
		0);
	fixture_close(f);
}

/* Two hours ago, in the thread of the newest that was sent. */
static void add_answers(struct fixture *f, int count)
{
	fixture_sql(f,
		arena_printf(&f->arena,
			"%s insert into mail_messages (tenant_id, agent_id, id, mailbox_id, thread_id, "
			"direction, state, verdict, sender, recipients, cc, bcc, subject, preview, body, "
			"labels, unread, message_id_header, refs, size_bytes, attachments, hops, "
			"automatic, subject_folded, preview_folded, by_user_id, created_at) select tenant_id, agent_id, "
			"'c0' || n.i, mailbox_id, thread_id, direction, state, verdict, sender, recipients, "
			"cc, bcc, subject, preview, body, labels, unread, message_id_header, refs, "
			"size_bytes, attachments, hops, automatic, subject_folded, preview_folded, "
			"by_user_id, created_at - $2 from mail_messages, %s where id = (select max(m.id) from "
			"mail_messages m where m.automatic = 1 and m.state = 'delivered') and $1 > 0",
			fixture_is_sqlite() ? "with recursive n(i) as (select 1 union all "
					      "select i + 1 from n where i < $1)"
					    : "",
			fixture_is_sqlite() ? "n" : "generate_series(1, $1::bigint) as n(i)"),
		ARGS(N(count), N(2 * HOUR_US)));
}

TEST(mail_answers_to_one_address_and_in_one_thread_have_an_end)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back");
	struct answer r;

	for (int i = 0; i < MAIL_REPLIES_PER_HOUR + 1; i++) {
		STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
		wait_for(f, DONE, i + 1);
	}
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail?state=draft", back);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	CHECK(strstr(text_at(&r, "items.0.error"), "within an hour"));
	test_step("an hour later");
	fixture_sql(f,
		"update mail_messages set id = 'c00' || substr(id, 4), created_at = created_at - $1 "
		"where automatic = 1",
		ARGS(N(HOUR_US)));
	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	wait_for(f,
		"select count(*) from mail_messages where automatic = 1 and state = 'delivered'",
		MAIL_REPLIES_PER_HOUR + 1);
	test_step("and so have those of one thread, whenever they were");
	add_answers(f, MAIL_REPLIES_PER_THREAD_DAY);
	STATUS(ask(f, f->admin, "{\"text\":\"more\"}", "POST /agents/%s/mail/%s/reply", desk,
		       newest(f, desk, "direction=in")),
		202);
	wait_for(f, "select count(*) from mail_messages where state = 'draft'", 2);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail?state=draft", back);
	CHECK(strstr(text_at(&r, "items.0.error"), "within a day"));
	fixture_close(f);
}

struct kept {
	struct fixture *f;
	const char *agent_id, *to;
	bool cc, stranger, kept;
};

static int ask_kept(struct db *db, void *data)
{
	struct kept *k = data;
	const struct list to = { &k->to, 1 };
	const struct mail_message_row m = { .tenant_id = k->f->tenant_id,
		.agent_id = k->agent_id,
		.recipients = k->cc ? (struct list){ 0 } : to,
		.cc = k->cc ? to : (struct list){ 0 },
		.by_user_id = k->stranger ? NULL : k->f->admin_id };
	const char *why = NULL;
	int err = mail_why_kept(db, &k->f->arena, &m, false, &why, clock_now_us());

	k->kept = why && strstr(why, "within an hour");
	return err;
}

TEST(mail_answers_are_counted_for_each_address)
{
	static const struct {
		const char *recipients, *cc, *to;
		bool kept;
	} cases[] = {
		{ "[\"a@x.y\"]", "[]", "a@x.y", true },
		{ "[\"a@x.y\",\"b@x.y\"]", "[]", "b@x.y", true },
		{ "[\"a@x.y\"]", "[\"b@x.y\",\"c@x.y\"]", "b@x.y", true },
		{ "[\"\\\"a b\\\"@x.y\"]", "[]", "\"a b\"@x.y", true },
		{ "[\"aa@x.y\"]", "[]", "a@x.y", false },
		{ "[\"a@x.y\"]", "[]", "_@x.y", false },
		{ "[\"a@x.y\"]", "[]", "%", false },
		{ "[\"a+0@x.y\"]", "[]", "a@x.y", true },
		{ "[\"a+0@x.y\"]", "[]", "a+39@x.y", true },
		{ "[\"a@x.y\"]", "[]", "a+39@x.y", true },
		{ "[]", "[\"b@x.y\",\"\\\"a+(0\\\"@x.y\"]", "a+1@x.y", true },
		{ "[\"a+0@x.z\"]", "[]", "a@x.y", false },
		{ "[\"aa+0@x.y\"]", "[]", "a@x.y", false },
	};
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk");
	struct kept k = { .f = f, .agent_id = fixture_agent(f, "back") };

	STATUS(ask(f, f->admin, HELLO, "POST /agents/%s/mail", desk), 202);
	wait_for(f, DONE, 1);
	for (int i = 1; i < MAIL_REPLIES_PER_HOUR; i++)
		fixture_sql(f,
			"insert into mail_messages (tenant_id, agent_id, id, mailbox_id, thread_id, "
			"direction, state, verdict, sender, recipients, cc, bcc, subject, preview, body, "
			"labels, unread, message_id_header, refs, size_bytes, attachments, hops, "
			"automatic, subject_folded, preview_folded, by_user_id, created_at) select tenant_id, agent_id, "
			"$1, mailbox_id, thread_id, direction, state, verdict, sender, recipients, cc, bcc, "
			"subject, preview, body, labels, unread, message_id_header, refs, size_bytes, "
			"attachments, hops, automatic, subject_folded, preview_folded, by_user_id, created_at "
			"from mail_messages where automatic = 1 and direction = 'out' and id = "
			"(select min(m.id) from mail_messages m where m.automatic = 1 "
			"and m.direction = 'out')",
			ARGS(T(fixture_id(f))));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s of %s, %s", cases[i].to, cases[i].recipients, cases[i].cc);
		fixture_sql(f,
			"update mail_messages set recipients = $1, cc = $2 where direction = 'out' and "
			"automatic = 1",
			ARGS(T(cases[i].recipients), T(cases[i].cc)));
		k.to = cases[i].to;
		k.cc = i % 2;
		CHECK_INT(fixture_work(f, ask_kept, &k), 0);
		CHECK_INT(k.kept, cases[i].kept);
	}
	test_step("what went to members counts against no stranger");
	k.to = "aa@x.y";
	CHECK_INT(fixture_work(f, ask_kept, &k), 0);
	CHECK(k.kept);
	k.stranger = true;
	CHECK_INT(fixture_work(f, ask_kept, &k), 0);
	CHECK(!k.kept);
	fixture_close(f);
}

TEST(mail_of_two_people_in_one_thread_has_two_sessions)
{
	struct fixture *f = fixture_open();
	const char *desk = fixture_agent(f, "desk"), *back = fixture_agent(f, "back"), *token,
		   *user = fixture_user(f, "vera@example.com", &token), *session, *third;
	struct answer r;

	fixture_member(f, f->tenant_id, user, "ADMIN");
	r = ask(f, token, "{\"name\":\"Third\",\"slug\":\"third\"}", "POST /tenant/%s/agents",
		f->tenant_id);
	STATUS(r, 201);
	third = text_at(&r, "id");
	STATUS(ask(f, f->admin,
		       "{\"to\":[\"back@demo.lodge.internal\"],\"bcc\":[\"third@demo.lodge.internal\"],"
		       "\"subject\":\"Hello\",\"text\":\"How are you?\"}",
		       "POST /agents/%s/mail", desk),
		202);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", back, newest(f, back, "direction=in"));
	session = text_at(&r, "session_id");
	wait_for(f, "select count(*) from jobs", 0);
	test_step("who answers into the thread speaks in a session of their own");
	STATUS(ask(f, token, "{\"text\":\"And I?\",\"all\":true}", "POST /agents/%s/mail/%s/reply",
		       third, newest(f, third, "direction=in")),
		202);
	STATUS(ask(f, token,
		       "{\"to\":[\"back@demo.lodge.internal\"],\"subject\":\"Re: Hello\",\"text\":\"And I?\"}",
		       "POST /agents/%s/mail", third),
		202);
	fixture_sql(f,
		"update mail_messages set thread_id = (select min(m.thread_id) from mail_messages m "
		"where m.agent_id = $1) where agent_id = $1",
		ARGS(T(back)));
	CHECK_INT(
		fixture_count(f, arena_printf(&f->arena,
					 "select count(*) from mail_messages m join sessions s on "
					 "s.tenant_id = m.tenant_id and s.id = m.session_id where "
					 "m.agent_id = '%s' and m.direction = 'in' and "
					 "s.created_by_id <> m.by_user_id",
					 back)),
		0);
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from messages where session_id = '%s' and "
				     "author_id = '%s'",
				     session, user)),
		0);
	fixture_close(f);
}
