/* test_mail.c - mail between the agents of a tenant: written, delivered, read, answered, handed on and deleted. */
#include "fixture.h"
#include "mailboxes/mail_rows.h"

struct post {
	struct fixture *f;
	const char *desk, *back; /* two agents */
};

static struct post post_open(void)
{
	struct post p = { fixture_open() };

	p.desk = fixture_agent(p.f, "desk");
	p.back = fixture_agent(p.f, "back");
	/* Nobody is set to work here: see test_mail_wake.c. */
	STATUS(ask(p.f, p.f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules",
		       p.f->tenant_id),
		200);
	return p;
}

static struct answer write_mail(const struct post *p, const char *body)
{
	return ask(p->f, p->f->admin, body, "POST /agents/%s/mail", p->desk);
}

#define TO_BACK "\"to\":[\"Back@demo.lodge.internal\"]"
#define HELLO "{" TO_BACK ",\"subject\":\"Hello\",\"text\":\"How are you?\"}"

static const char *first_of(const struct post *p, const char *agent)
{
	struct answer r = ask(p->f, p->f->admin, NULL, "GET /agents/%s/mail", agent);

	STATUS(r, 200);
	CHECK(json_array_size(at(&r, "items")) > 0);
	return text_at(&r, "items.0.id");
}

static int64_t listed(const struct post *p, const char *agent, const char *query)
{
	struct answer r = ask(p->f, p->f->admin, NULL, "GET /agents/%s/mail?%s", agent, query);

	STATUS(r, 200);
	return json_integer_value(at(&r, "total"));
}

TEST(mail_is_with_both_sides_when_it_is_answered)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	struct answer r = write_mail(&p, HELLO), got;
	const char *thread;

	STATUS(r, 202);
	CHECK_STR(text_at(&r, "state"), "delivered");
	CHECK_STR(text_at(&r, "direction"), "out");
	CHECK_STR(text_at(&r, "to.0"), "back@demo.lodge.internal");
	CHECK(json_is_string(at(&r, "sent_at")));
	got = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", p.back, first_of(&p, p.back));
	STATUS(got, 200);
	CHECK_STR(text_at(&got, "state"), "received");
	CHECK_STR(text_at(&got, "verdict"), "pass");
	CHECK_STR(text_at(&got, "from"), "desk@demo.lodge.internal");
	CHECK_STR(text_at(&got, "text"), "How are you?");
	CHECK_STR(text_at(&got, "message_id_header"), text_at(&r, "message_id_header"));
	CHECK(json_is_true(at(&got, "unread")));
	test_step("counted");
	CHECK_INT(fixture_count(f, "select count(*) from mailboxes where message_count = 1 "
				   "and last_message_at is not null"),
		2);
	test_step("answered in the same threads");
	thread = text_at(&r, "thread_id");
	r = ask(f, f->admin, "{\"text\":\"Well.\"}", "POST /agents/%s/mail/%s/reply", p.back,
		text_at(&got, "id"));
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "subject"), "Re: Hello");
	CHECK_STR(text_at(&r, "in_reply_to"), text_at(&got, "message_id_header"));
	CHECK_STR(text_at(&r, "thread_id"), text_at(&got, "thread_id"));
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/threads", p.desk);
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	CHECK_INT(json_integer_value(at(&r, "items.0.message_count")), 2);
	CHECK_INT(json_integer_value(at(&r, "items.0.unread_count")), 1);
	CHECK_INT((int64_t)json_array_size(at(&r, "items.0.participants")), 2);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/threads/%s", p.desk, thread);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "messages.0.subject"), "Hello");
	CHECK_STR(text_at(&r, "messages.1.text"), "Well.");
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/mail/threads/%s", p.back, thread), 404);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/mail/%s/raw", p.desk, first_of(&p, p.desk)),
		404);
	fixture_close(f);
}

TEST(mail_names_everybody_who_cannot_be_written_to)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *token,
		*other = fixture_tenant(f, "other", fixture_user(f, "o@example.org", &token));
	struct answer r;

	fixture_agent_of(f, token, other, "theirs");
	fixture_sql(f,
		"insert into mail_suppressions (tenant_id, id, address, reason, created_at) "
		"values ($1, $2, 'gone@example.org', '550', 1)",
		ARGS(T(f->tenant_id), T(fixture_id(f))));
	r = write_mail(&p,
		"{\"to\":[\"nobody@demo.lodge.internal\",\"theirs@other.lodge.internal\"],"
		"\"cc\":[\"a@example.org\",\"desk@demo.lodge.internal\"],"
		"\"bcc\":[\"gone@example.org\"],\"subject\":\"s\",\"text\":\"t\"}");
	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "unknown"));
	CHECK(refuses(&r, "to[1]", "unknown"));
	CHECK(refuses(&r, "cc[0]", "no_relay"));
	CHECK(refuses(&r, "cc[1]", "self"));
	CHECK(refuses(&r, "bcc[0]", "suppressed"));
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 0);
	test_step("what is no address, or could be more than one");
	r = write_mail(&p,
		"{\"to\":[\"x\",\"a@b.c\\r\\nBcc: d@e.f\"],\"subject\":\"a\\nb\",\"text\":\"t\"}");
	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "address"));
	CHECK(refuses(&r, "to[1]", "address"));
	CHECK(refuses(&r, "subject", "pattern"));
	test_step("paused");
	fixture_sql(f, "update mailboxes set paused = 1 where agent_id = $1", ARGS(T(p.back)));
	r = write_mail(&p, HELLO);
	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "inactive"));
	fixture_sql(f, "update mailboxes set paused = 1 where agent_id = $1", ARGS(T(p.desk)));
	STATUS(write_mail(&p, HELLO), 409);
	test_step("the rules");
	fixture_sql(
		f, "update mailboxes set paused = 0 where tenant_id = $1", ARGS(T(f->tenant_id)));
	STATUS(ask(f, f->admin, "{\"allow_to\":[\"@example.org\"],\"wake\":\"never\"}",
		       "PUT /agents/%s/mail/rules", p.desk),
		200);
	r = write_mail(&p, HELLO);
	CHECK(refuses(&r, "to[0]", "not_allowed"));
	STATUS(ask(f, f->admin, "{}", "PUT /agents/%s/mail/rules", p.desk), 200);
	STATUS(ask(f, f->admin, "{\"block_from\":[\"@Demo.lodge.internal\"]}",
		       "PUT /agents/%s/mail/rules", p.back),
		200);
	STATUS(write_mail(&p, HELLO), 202);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail?state=blocked", p.back);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	r = ask(f, f->admin, "{\"allow_from\":[\"x\"],\"zz\":1}", "PUT /agents/%s/mail/rules",
		p.back);
	CHECK(refuses(&r, "allow_from[0]", "address"));
	CHECK(refuses(&r, "zz", "unknown_field"));
	test_step("suppressions");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/mail/suppressions", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.0.address"), "gone@example.org");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/mail/suppressions/%s", f->tenant_id,
		       text_at(&r, "items.0.id")),
		204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/mail/suppressions/%s", f->tenant_id,
		       text_at(&r, "items.0.id")),
		404);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/mail/rules", f->tenant_id);
	CHECK_STR(text_at(&r, "wake"), "never");
	fixture_close(f);
}

TEST(mail_drafts_wait_for_somebody_to_send_them)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	struct answer r =
		write_mail(&p, "{" TO_BACK ",\"subject\":\"S\",\"text\":\"t\",\"draft\":true}");
	const char *id;

	STATUS(r, 202);
	id = text_at(&r, "id");
	CHECK_STR(text_at(&r, "state"), "draft");
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 1);
	CHECK_INT(fixture_count(f, "select cast(sum(message_count) as bigint) from mailboxes"), 0);
	STATUS(ask(f, f->admin, "{\"text\":\"x\"}", "POST /agents/%s/mail/%s/reply", p.desk, id),
		409);
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.back, id), 404);
	r = ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.desk, id);
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "state"), "delivered");
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 2);
	CHECK_INT(fixture_count(f, "select cast(sum(message_count) as bigint) from mailboxes"), 2);
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.desk, id), 409);
	test_step("one that cannot go stays a draft");
	r = write_mail(
		&p, "{\"to\":[\"a@example.org\"],\"subject\":\"S\",\"text\":\"t\",\"draft\":true}");
	STATUS(r, 202);
	id = text_at(&r, "id");
	r = ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.desk, id);
	CHECK(refuses(&r, "to[0]", "no_relay"));
	CHECK_INT(listed(&p, p.desk, "state=draft"), 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s", p.desk, id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from mail_threads"), 2);
	fixture_close(f);
}

TEST(mail_drafts_can_be_written_anew_and_nothing_else_can)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	struct answer r = write_mail(&p, "{\"to\":[\"a@example.org\"],\"subject\":\"S\","
					 "\"text\":\"t\",\"html\":\"<b>t</b>\",\"draft\":true}");
	const char *id = text_at(&r, "id");

	STATUS(r, 202);
	r = ask(f, f->admin, "{\"to\":[\"x\"],\"subject\":\"a\\nb\"}", "PATCH /agents/%s/mail/%s",
		p.desk, id);
	STATUS(r, 422);
	CHECK(refuses(&r, "subject", "pattern"));
	r = ask(f, f->admin, "{\"to\":[\"x\"]}", "PATCH /agents/%s/mail/%s", p.desk, id);
	CHECK(refuses(&r, "to[0]", "address"));
	r = ask(f, f->admin, "{" TO_BACK ",\"subject\":\"Other\",\"text\":\"Other words\"}",
		"PATCH /agents/%s/mail/%s", p.desk, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "state"), "draft");
	CHECK_STR(text_at(&r, "to.0"), "back@demo.lodge.internal");
	CHECK_STR(text_at(&r, "preview"), "Other words");
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), 11);
	CHECK_INT(listed(&p, p.desk, "q=OTHER"), 1);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/threads", p.desk);
	CHECK_STR(text_at(&r, "items.0.subject"), "Other");
	CHECK_STR(text_at(&r, "items.0.participants.1"), "back@demo.lodge.internal");
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages where html is null"), 1);
	STATUS(ask(f, f->admin, NULL, "POST /agents/%s/mail/%s/send", p.desk, id), 202);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", p.back, first_of(&p, p.back));
	CHECK_STR(text_at(&r, "text"), "Other words");
	CHECK_STR(text_at(&r, "subject"), "Other");
	test_step("what has gone out stays as it is");
	STATUS(ask(f, f->admin, "{\"text\":\"x\"}", "PATCH /agents/%s/mail/%s", p.desk, id), 409);
	STATUS(ask(f, f->admin, "{\"unread\":true}", "PATCH /agents/%s/mail/%s", p.desk, id), 200);
	fixture_close(f);
}

#define FILE_BODY                                                                            \
	"{" TO_BACK ",\"subject\":\"Files\",\"text\":\"see\",\"attachments\":["              \
	"{\"filename\":\"a.txt\",\"content_type\":\"text/plain\",\"content\":\"aGVsbG8=\"}," \
	"{\"filename\":\"b.html\",\"content_type\":\"text/html\",\"key\":\"in/b\"}]}"

TEST(mail_attachments_are_there_once_and_go_with_the_last_who_has_them)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *mine, *theirs, *file;
	struct answer r;

	r = write_mail(&p, FILE_BODY);
	CHECK(refuses(&r, "attachments[1].key", "unknown"));
	STATUS(ask_bytes(f, f->admin, "<p>", 3,
		       "PUT /tenant/%s/bucket/object?key=in/b\nContent-Type: text/html",
		       f->tenant_id),
		201);
	r = write_mail(&p, FILE_BODY);
	STATUS(r, 202);
	mine = text_at(&r, "id");
	CHECK_STR(text_at(&r, "attachments.0.filename"), "a.txt");
	CHECK_INT(json_integer_value(at(&r, "attachments.0.size_bytes")), 5);
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), 3 + 5 + 3);
	CHECK_INT(fixture_count(
			  f, "select count(*) from bucket_objects where key like '.lodge/mail/%'"),
		2);
	test_step("nobody reaches them by the bucket");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket", f->tenant_id);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 1);
	test_step("read");
	theirs = first_of(&p, p.back);
	r = ask(f, f->admin, NULL, "GET /agents/%s/attachments", p.back);
	STATUS(r, 200);
	CHECK_INT((int64_t)json_array_size(at(&r, "items")), 2);
	CHECK_STR(text_at(&r, "items.0.message_id"), theirs);
	CHECK_STR(text_at(&r, "items.0.filename"), "b.html");
	file = text_at(&r, "items.1.id");
	r = ask(f, f->admin, NULL, "GET /agents/%s/attachments/%s/content", p.back,
		text_at(&r, "items.0.id"));
	STATUS(r, 200);
	CHECK_STR(r.body, "<p>");
	CHECK_STR(header_of(f, &r, "content-type"), "application/octet-stream");
	CHECK(strstr(header_of(f, &r, "content-disposition"), "attachment"));
	r = ask(f, f->admin, NULL, "GET /agents/%s/attachments/%s/content", p.back, file);
	CHECK_STR(r.body, "hello");
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/attachments/%s/content", p.desk, file), 404);
	test_step("deleted on one side");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s", p.desk, mine), 204);
	CHECK_INT(listed(&p, p.desk, ""), 0);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/attachments/%s/content", p.back, file), 200);
	test_step("handed on");
	r = ask(f, f->admin, "{\"to\":[\"desk@demo.lodge.internal\"],\"text\":\"For you\"}",
		"POST /agents/%s/mail/%s/forward", p.back, theirs);
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "subject"), "Fwd: Files");
	CHECK_INT((int64_t)json_array_size(at(&r, "attachments")), 2);
	CHECK(strstr(text_at(&r, "text"), "For you"));
	test_step("the last who has them goes");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", p.back), 204);
	fixture_sweep(f);
	CHECK_INT(fixture_count(
			  f, "select count(*) from bucket_objects where key like '.lodge/mail/%'"),
		2);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s", p.desk, first_of(&p, p.desk)),
		204);
	CHECK_INT(fixture_count(
			  f, "select count(*) from bucket_objects where key like '.lodge/mail/%'"),
		0);
	CHECK_INT(fixture_count(f, "select cast(size_bytes as bigint) from bucket_usage"), 3);
	CHECK_INT(fixture_count(f, "select count(*) from mail_messages"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from mail_threads"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from mail_attachments"), 0);
	fixture_close(f);
}

TEST(mail_attachments_that_are_wrong_are_named)
{
	struct post p = post_open();
	struct answer r = write_mail(&p,
		"{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"attachments\":["
		"{\"filename\":\"../x\",\"content\":\"aGk=\"},"
		"{\"filename\":\"y\"},{\"filename\":\"z\",\"content\":\"aGk=\",\"key\":\"k\"}]}");

	CHECK(refuses(&r, "attachments[0].filename", "filename"));
	CHECK(refuses(&r, "attachments[1].content", "combination"));
	CHECK(refuses(&r, "attachments[2].content", "combination"));
	r = write_mail(&p, "{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"attachments\":["
			   "{\"filename\":\"x\",\"content\":\"!!!!\"}]}");
	CHECK(refuses(&r, "attachments[0].content", "base64"));
	test_step("what the service keeps for itself is not there");
	r = write_mail(&p, "{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"attachments\":["
			   "{\"filename\":\"x\",\"key\":\".lodge/mail/x\"}]}");
	CHECK(refuses(&r, "attachments[0].key", "unknown"));
	CHECK_INT(fixture_count(p.f, "select count(*) from mail_messages"), 0);
	fixture_close(p.f);
}

TEST(mail_is_found_by_every_filter)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	struct answer r;
	const char *id, *box;

	STATUS(write_mail(&p, HELLO), 202);
	STATUS(write_mail(&p, "{" TO_BACK ",\"subject\":\"Änderung\",\"text\":\"100%_sure\"}"),
		202);
	id = first_of(&p, p.back);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s", p.back, id);
	box = text_at(&r, "mailbox_id");
	CHECK_INT(listed(&p, p.back, "q=%C3%84NDERUNG"), 1);
	CHECK_INT(listed(&p, p.back, "q=100%25_SURE"), 1);
	CHECK_INT(listed(&p, p.back, "q=100x"), 0);
	CHECK_INT(listed(&p, p.back, "q=desk@"), 2);
	CHECK_INT(listed(&p, p.back, "direction=in&unread=true"), 2);
	CHECK_INT(listed(&p, p.back, "direction=out"), 0);
	CHECK_INT(listed(&p, p.back, "from=DESK@demo.lodge.internal"), 2);
	CHECK_INT(listed(&p, p.back, "from=desk@demo"), 0);
	CHECK_INT(listed(&p, p.back, "to=back@demo.lodge.internal"), 2);
	CHECK_INT(listed(&p, p.back, "to=ack@demo.lodge.internal"), 0);
	CHECK_INT(listed(&p, p.back, arena_printf(&f->arena, "mailbox_id=%s", box)), 2);
	CHECK_INT(listed(&p, p.back, arena_printf(&f->arena, "mailbox_id=%s", id)), 0);
	CHECK_INT(listed(&p, p.back,
			  arena_printf(&f->arena, "thread_id=%s", text_at(&r, "thread_id"))),
		1);
	test_step("marked");
	r = ask(f, f->admin, "{\"unread\":false,\"labels\":[\"a_b\",\"c\"]}",
		"PATCH /agents/%s/mail/%s", p.back, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "labels.1"), "c");
	CHECK_INT(listed(&p, p.back, "label=a_b"), 1);
	CHECK_INT(listed(&p, p.back, "label=axb"), 0);
	CHECK_INT(listed(&p, p.back, "unread=false"), 1);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/threads/%s", p.back,
		text_at(&r, "thread_id"));
	CHECK_INT(json_integer_value(at(&r, "unread_count")), 0);
	r = ask(f, f->admin, "{\"labels\":[\"No\"],\"zz\":1}", "PATCH /agents/%s/mail/%s", p.back,
		id);
	CHECK(refuses(&r, "labels[0]", "label"));
	CHECK(refuses(&r, "zz", "unknown_field"));
	STATUS(ask(f, f->admin, "{\"unread\":true}", "PATCH /agents/%s/mail/%s", p.desk, id), 404);
	fixture_close(f);
}

TEST(mail_joins_no_thread_of_another_mailbox)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *third = fixture_agent(f, "third");
	struct answer r = write_mail(&p, HELLO);
	const char *header = text_at(&r, "message_id_header");

	STATUS(r, 202);
	test_step("in_reply_to names a message of the same mailbox");
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{" TO_BACK ",\"subject\":\"s\",\"text\":\"t\",\"in_reply_to\":\"%s\"}",
			header),
		"POST /agents/%s/mail", third);
	CHECK(refuses(&r, "in_reply_to", "unknown"));
	r = write_mail(&p,
		arena_printf(&f->arena,
			"{\"to\":[\"third@demo.lodge.internal\"],\"cc\":[\"back@demo.lodge.internal\"],"
			"\"subject\":\"s\",\"text\":\"t\",\"in_reply_to\":\"%s\"}",
			header));
	STATUS(r, 202);
	CHECK_INT(fixture_count(f, "select count(*) from mail_threads"), 3);
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/threads", p.back);
	CHECK_INT(json_integer_value(at(&r, "items.0.message_count")), 2);
	test_step("to all");
	r = ask(f, f->admin, "{\"text\":\"all\",\"all\":true}", "POST /agents/%s/mail/%s/reply",
		third, first_of(&p, third));
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "to.0"), "desk@demo.lodge.internal");
	CHECK_STR(text_at(&r, "cc.0"), "back@demo.lodge.internal");
	CHECK_INT((int64_t)json_array_size(at(&r, "to")), 1);
	fixture_close(f);
}

TEST(mail_raw_bytes_are_read_where_there_are_any)
{
	struct post p = post_open();
	struct fixture *f = p.f;
	const char *id;
	struct answer r;

	STATUS(write_mail(&p, HELLO), 202);
	id = first_of(&p, p.back);
	STATUS(ask_bytes(f, f->admin, "A: b\r\n\r\nc", 9,
		       "PUT /tenant/%s/bucket/object?key=raw\nContent-Type: message/rfc822",
		       f->tenant_id),
		201);
	fixture_sql(f, "update bucket_objects set key = '.lodge/mail/raw' where tenant_id = $1",
		ARGS(T(f->tenant_id)));
	fixture_sql(f, "update mail_messages set object_key = '.lodge/mail/raw' where id = $1",
		ARGS(T(id)));
	r = ask(f, f->admin, NULL, "GET /agents/%s/mail/%s/raw", p.back, id);
	STATUS(r, 200);
	CHECK_STR(r.body, "A: b\r\n\r\nc");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/mail/%s", p.back, id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_objects"), 0);
	fixture_close(f);
}
