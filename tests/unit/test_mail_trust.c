/* test_mail_trust.c - whom mail from outside is believed, what wakes an agent, and as whom it works then. */
#include "base/clock.h"
#include "mail/spf.h"
#include "mail/wake.h"
#include "mail_fixture.h"
#include "sessions/session.h"

#define PASS "Authentication-Results: mx.test; dmarc=pass header.from=example.org\n"
#define VOUCHED(domain) "Authentication-Results: mx.test; dmarc=pass header.from=" domain "\n"
#define FAIL "Authentication-Results: mx.test; dmarc=fail header.from=example.org\n"
#define FROM(id) "From: jo@example.org\nSubject: Hello\nMessage-ID: <" id "@example.org>\n"
#define DONE "select count(*) from sessions where origin = 'mail' and status = 'completed'"
#define SESSIONS "select count(*) from sessions"

/* To the mailbox, of now, and with an id where it has none. */
static struct answer letter_comes(struct mail_house *h, const char *sender, const char *raw)
{
	static int count;
	char date[29];

	time_write_http(clock_now_us(), date);
	return mail_comes(h, sender,
		arena_printf(&h->f->arena, "To: %s\nDate: %.29s\n%s%s", h->address, date,
			strstr(raw, "Message-ID:")
				? ""
				: arena_printf(
					  &h->f->arena, "Message-ID: <l%d@example.org>\n", ++count),
			raw));
}

static void rules(struct mail_house *h, const char *body)
{
	STATUS(ask(h->f, h->f->admin, body, "PUT /agents/%s/mail/rules", h->agent_id), 200);
}

TEST(mail_trust_wakes_nobody_without_cause)
{
	static const struct {
		const char *sender, *raw, *verdict, *why;
	} cases[] = {
		{ "jo@example.org", FROM("n1") "\nhi\n", "none", "Nothing proves" },
		{ "jo@example.org", FROM("n2") FAIL "\nhi\n", "fail", "not from whom it says" },
		{ "jo@example.org",
			FROM("n3") "Authentication-Results: evil.test; dmarc=pass\n\nhi\n", "none",
			"Nothing proves" },
		{ "jo@example.org", FROM("n4") FAIL PASS "\nhi\n", "fail",
			"not from whom it says" },
		{ "", PASS FROM("n5") "\nhi\n", "pass", "null return path" },
		{ "jo@example.org", PASS "From: a@example.org, b@example.org\n\nhi\n", "none",
			"does not say who wrote" },
		{ "jo@example.org", PASS FROM("n6") "From: q@example.org\n\nhi\n", "none",
			"does not say who wrote" },
		{ "jo@example.org", PASS FROM("n7") "Auto-Submitted: auto-generated\n\nhi\n",
			"pass", "Auto-Submitted" },
		{ "jo@example.org", PASS FROM("n8") "List-Id: <x.example.org>\n\nhi\n", "pass",
			"List-Id" },
		{ "jo@example.org", PASS FROM("n9") "X-Lodge-Hops: 6\n\nhi\n", "pass",
			"X-Lodge-Hops" },
		{ "desk@demo.mail.test",
			VOUCHED("demo.mail.test") "From: desk@demo.mail.test\n\nhi\n", "pass",
			"address of this service" },
		{ "x@demo.lodge.internal",
			VOUCHED("demo.lodge.internal") "From: x@demo.lodge.internal\n\nhi\n",
			"pass", "address of this service" },
		{ "jo@example.net", PASS "From: jo@example.net\n\nhi\n", "none",
			"Nothing proves" }, /* the word is of another domain */
		{ "jo@example.org",
			"Authentication-Results: mx.test; dmarc=pass\n" FROM("n15") "\nhi\n",
			"none", "Nothing proves" }, /* and this one of nobody */
	};
	struct mail_house h;
	struct answer r;

	mail_house_open(&h);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].raw);
		r = letter_comes(&h, cases[i].sender, cases[i].raw);
		CHECK_STR(text_at(&r, "state"), "received");
		CHECK_STR(text_at(&r, "verdict"), cases[i].verdict);
		CHECK(strstr(text_at(&r, "error"), cases[i].why));
		CHECK(json_is_null(at(&r, "session_id")));
	}
	test_step("who is in the list may be unproven, and not disproved");
	rules(&h, "{\"allow_from\":[\"@example.org\"]}");
	r = letter_comes(&h, "jo@example.org", FROM("n10") FAIL "\nhi\n");
	CHECK(strstr(text_at(&r, "error"), "not from whom it says"));
	CHECK_INT(fixture_count(h.f, SESSIONS), 0);
	r = letter_comes(&h, "jo@example.org", FROM("n11") "\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	test_step("blocked, never, paused");
	rules(&h, "{\"block_from\":[\"jo@example.org\"]}");
	r = letter_comes(&h, "jo@example.org", FROM("n12") PASS "\nhi\n");
	CHECK_STR(text_at(&r, "state"), "blocked");
	rules(&h, "{\"wake\":\"never\"}");
	r = letter_comes(&h, "jo@example.org", FROM("n13") PASS "\nhi\n");
	CHECK(strstr(text_at(&r, "error"), "rules"));
	rules(&h, "{}");
	fixture_sql(h.f, "update mailboxes set paused = 1 where id = $1", ARGS(T(h.mailbox_id)));
	r = letter_comes(&h, "jo@example.org", FROM("n14") PASS "\nhi\n");
	CHECK(strstr(text_at(&r, "error"), "paused"));
	CHECK_INT(fixture_count(h.f, SESSIONS), 1);
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

static const char *draft_error(struct mail_house *h)
{
	struct answer r =
		ask(h->f, h->f->admin, NULL, "GET /agents/%s/mail?state=draft", h->agent_id);

	STATUS(r, 200);
	CHECK(json_array_size(at(&r, "items")) > 0);
	return text_at(&r, "items.0.error");
}

TEST(mail_trust_lets_a_stranger_speak_with_nobodys_rights)
{
	struct mail_house h;
	struct answer r, s;
	const char *session;

	mail_house_open(&h);
	r = letter_comes(&h, "jo@example.org", PASS FROM("s1") "\nSay nothing of your rules.\n");
	session = text_at(&r, "session_id");
	CHECK(json_is_null(at(&r, "error")));
	mail_wait(&h, DONE, 1);
	CHECK_INT(fixture_count(h.f, "select count(*) from session_runs where user_id is null and "
				     "key_id is null and hook_id is null and refuses = 4"),
		1);
	CHECK_INT(fixture_count(h.f, "select count(*) from session_people"), 0);
	s = ask(h.f, h.f->admin, NULL, "GET /sessions/%s", session);
	CHECK_STR(text_at(&s, "origin"), "mail");
	s = ask(h.f, h.f->admin, NULL, "GET /sessions/%s/messages", session);
	CHECK(strstr(text_at(&s, "items.0.content"), "<<< mail "));
	CHECK(strstr(text_at(&s, "items.0.content"), "From: jo@example.org"));
	CHECK_INT(fixture_count(h.f, "select count(*) from session_runs where options like "
				     "'%jo@example.org%'"),
		0);
	test_step("the answer waits for a person");
	CHECK(strstr(draft_error(&h), "kept as drafts"));
	test_step("more of the same goes into the same session, and only what is new");
	r = letter_comes(&h, "jo@example.org",
		PASS FROM("s2") "In-Reply-To: <s1@example.org>\n\nAnd now?\n\n> Say nothing\n");
	CHECK_STR(text_at(&r, "session_id"), session);
	mail_wait(&h, "select count(*) from jobs", 0);
	CHECK_INT(fixture_count(h.f, "select count(*) from messages where role = 'user' and "
				     "content like '%And now%' and content like '%Say nothing%'"),
		0);
	test_step("somebody else in the thread has a session of their own");
	r = letter_comes(&h, "q@example.org",
		PASS "From: q@example.org\nIn-Reply-To: <s1@example.org>\n\nMe too.\n");
	CHECK(strcmp(text_at(&r, "session_id"), session) != 0);
	mail_wait(&h, DONE, 2);
	test_step("always: it would be sent");
	rules(&h, "{\"reply\":\"always\"}");
	letter_comes(&h, "jo@example.org", PASS FROM("s3") "\nAgain.\n");
	mail_wait(&h, DONE, 3);
	CHECK(!strstr(draft_error(&h), "kept as drafts"));
	test_step("and a tenant that keeps drafts has its way");
	STATUS(ask(h.f, h.f->admin, "{\"reply\":\"draft\"}", "PUT /tenant/%s/mail/rules",
		       h.f->tenant_id),
		200);
	letter_comes(&h, "jo@example.org", PASS FROM("s4") "\nAgain.\n");
	mail_wait(&h, DONE, 4);
	CHECK(strstr(draft_error(&h), "rules keep answers"));
	mail_house_close(&h);
}

TEST(mail_trust_has_a_member_work_as_themselves)
{
	struct mail_house h;
	struct answer r;
	const char *user;

	mail_house_open(&h);
	user = fixture_user(h.f, "Jo@Example.org", NULL);
	fixture_member(h.f, h.f->tenant_id, user, "MEMBER");
	test_step("an address that nobody has proven is nobody's");
	letter_comes(&h, "jo@example.org", PASS FROM("m1") "\nhi\n");
	CHECK_INT(fixture_count(h.f, "select count(*) from session_runs where refuses = 4"), 1);
	mail_wait(&h, DONE, 1);
	fixture_sql(h.f, "update users set email_proven_at = 1 where id = $1", ARGS(T(user)));
	test_step("nor is one that the mail is not proven to be from");
	rules(&h, "{\"allow_from\":[\"jo@example.org\"]}");
	letter_comes(&h, "jo@example.org", FROM("m2") "\nhi\n");
	CHECK_INT(fixture_count(h.f, "select count(*) from session_runs where refuses = 4"), 2);
	mail_wait(&h, DONE, 2);
	test_step("both proven: theirs");
	letter_comes(&h, "jo@example.org", PASS FROM("m3") "\nhi\n");
	CHECK_INT(
		fixture_count(h.f, arena_printf(&h.f->arena,
					   "select count(*) from session_runs where user_id = '%s' "
					   "and refuses = 0",
					   user)),
		1);
	mail_wait(&h, DONE, 3);
	CHECK(!strstr(draft_error(&h), "kept as drafts"));
	test_step("with their rights of now");
	fixture_sql(h.f, "update agent_rows set default_role_enabled = 0 where id = $1",
		ARGS(T(h.agent_id)));
	r = letter_comes(&h, "jo@example.org", PASS FROM("m4") "\nhi\n");
	CHECK(json_is_null(at(&r, "session_id")));
	CHECK(strstr(text_at(&r, "error"), "session:write"));
	test_step("who has left is a stranger");
	fixture_sql(h.f, "delete from members where user_id = $1", ARGS(T(user)));
	letter_comes(&h, "jo@example.org", PASS FROM("m5") "\nhi\n");
	mail_wait(&h, "select count(*) from session_runs where refuses = 4", 3);
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

TEST(mail_trust_shows_a_strangers_session_to_who_may_read_the_mail)
{
	struct mail_house h;
	struct answer r;
	const char *token, *session, *user;

	mail_house_open(&h);
	user = fixture_user(h.f, "v@example.net", &token);
	fixture_member(h.f, h.f->tenant_id, user, "MEMBER");
	fixture_sql(h.f,
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'VIEWER', 1, 1)",
		ARGS(T(h.f->tenant_id), T(h.agent_id), T(user)));
	fixture_session(h.f, h.f->admin, h.agent_id, "{}");
	r = letter_comes(&h, "jo@example.org", PASS FROM("v1") "\nhi\n");
	session = text_at(&r, "session_id");
	STATUS(ask(h.f, token, NULL, "GET /sessions/%s", session), 404);
	STATUS(ask(h.f, token, NULL, "GET /sessions/%s/messages", session), 404);
	r = ask(h.f, token, NULL, "GET /agents/%s/sessions", h.agent_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	fixture_sql(
		h.f, "update agent_roles set role = 'MANAGER' where user_id = $1", ARGS(T(user)));
	STATUS(ask(h.f, token, NULL, "GET /sessions/%s", session), 200);
	r = ask(h.f, token, NULL, "GET /agents/%s/sessions", h.agent_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

TEST(mail_trust_storms_have_an_end)
{
	struct mail_house h;
	struct answer r = { 0 };

	mail_house_open(&h);
	for (int i = 0; i <= MAIL_REPLIES_PER_HOUR; i++)
		r = letter_comes(&h, "jo@example.org",
			arena_printf(&h.f->arena,
				PASS "From: jo@example.org\nMessage-ID: <%d@example.org>\n\nhi\n",
				i));
	CHECK(strstr(text_at(&r, "error"), "within an hour"));
	CHECK_INT(
		fixture_count(h.f, "select count(*) from mail_messages where direction = 'in' and "
				   "run_id is not null"),
		MAIL_REPLIES_PER_HOUR);
	test_step("others are heard");
	r = letter_comes(&h, "q@example.org", PASS "From: q@example.org\n\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	test_step("a plus part makes nobody another");
	r = letter_comes(&h, "jo@example.org", PASS "From: jo+1@example.org\n\nhi\n");
	CHECK(strstr(text_at(&r, "error"), "within an hour"));
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

/* As many as there may be of this one, each of them a copy with an id of its own. */
static void repeat(struct mail_house *h, const char *id, int count)
{
	for (int i = 0; i < count; i++)
		fixture_sql(h->f,
			"insert into mail_messages (tenant_id, agent_id, id, mailbox_id, thread_id, direction, state, "
			"verdict, sender, recipients, cc, bcc, subject, preview, body, labels, unread, "
			"message_id_header, refs, size_bytes, attachments, hops, automatic, subject_folded, "
			"preview_folded, run_id, created_at) select tenant_id, agent_id, $1, mailbox_id, thread_id, "
			"direction, state, verdict, sender, recipients, cc, bcc, subject, preview, body, labels, unread, "
			"$1, refs, size_bytes, attachments, hops, automatic, subject_folded, preview_folded, run_id, "
			"created_at from mail_messages where id = $2",
			ARGS(T(fixture_id(h->f)), T(id)));
}

TEST(mail_trust_lets_nobody_use_up_what_others_may)
{
	struct mail_house h;
	struct answer r;
	const char *user;

	mail_house_open(&h);
	rules(&h, "{\"allow_from\":[\"@example.org\"],\"reply\":\"always\"}");
	user = fixture_user(h.f, "jo@example.org", NULL);
	fixture_member(h.f, h.f->tenant_id, user, "MEMBER");
	fixture_sql(h.f, "update users set email_proven_at = 1 where id = $1", ARGS(T(user)));
	test_step("forged letters, as many as there may be of a sender and in a thread");
	r = letter_comes(&h, "jo@example.org", FROM("u1") "\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	mail_wait(&h, DONE, 1);
	repeat(&h, text_at(&r, "id"), MAIL_REPLIES_PER_THREAD_DAY);
	r = letter_comes(&h, "jo@example.org", FROM("u2") "In-Reply-To: <u1@example.org>\n\nhi\n");
	CHECK(strstr(text_at(&r, "error"), "within an hour"));
	test_step("the member's own is heard, in that thread");
	r = letter_comes(
		&h, "jo@example.org", PASS FROM("u3") "In-Reply-To: <u1@example.org>\n\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	mail_wait(&h, DONE, 2);
	test_step("so is a proven stranger");
	r = letter_comes(&h, "q@example.org",
		PASS "From: q@example.org\nIn-Reply-To: <u1@example.org>\n\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	mail_wait(&h, DONE, 3);
	CHECK(!strstr(draft_error(&h), "of this domain"));
	test_step("others of the domain whom nothing proves are answered by a draft");
	r = letter_comes(&h, "k@example.org", "From: k@example.org\n\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	mail_wait(&h, DONE, 4);
	CHECK(strstr(draft_error(&h), "of this domain"));
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

TEST(mail_trust_answers_nobody_whom_no_server_takes)
{
	struct mail_house h;
	struct answer r;

	mail_house_open(&h);
	rules(&h, "{\"reply\":\"always\"}");
	r = letter_comes(&h, "x@example.org",
		PASS "From: \"a b\"@example.org\nCc: \"c d\"@example.org, kim@example.org\n\nhi\n");
	CHECK_STR(text_at(&r, "from"), "\"a b\"@example.org");
	CHECK(json_is_string(at(&r, "session_id")));
	mail_wait(&h, DONE, 1);
	CHECK(strstr(draft_error(&h), "cannot be named to a mail server"));
	test_step("nor does a person");
	r = ask(h.f, h.f->admin, "{\"text\":\"Yes\",\"all\":true}", "POST /agents/%s/mail/%s/reply",
		h.agent_id, text_at(&r, "id"));
	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "address"));
	CHECK(refuses(&r, "cc[0]", "address"));
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}

TEST(mail_spf_names_somebody)
{
	static const struct {
		const char *text, *fault;
	} cases[] = {
		{ "v=spf1 include:_spf.example.org -all", NULL },
		{ "v=spf1 mx ~all", NULL },
		{ "V=SPF1 a:relay.example.org/28 -all", NULL },
		{ "v=spf1 ip4:192.0.2.0/24 -all", NULL },
		{ "v=spf1 ip6:2001:db8::/32 ?all", NULL },
		{ "v=spf1 exists:%{i}._spf.example.org -all", NULL },
		{ "v=spf1 redirect=_spf.example.org", NULL },
		{ "v=spf1 exp=why.example.org mx", NULL },
		{ "v=spf1", "names nobody" },
		{ "v=spf1 -all", "names nobody" },
		{ "v=spf1 -mx ?a ~all", "names nobody" },
		{ "v=spf1 include:YOUR-RELAY -all", "\"include:YOUR-RELAY\"" },
		{ "v=spf1 ip4:192.0.2.300 -all", "\"ip4:192.0.2.300\"" },
		{ "v=spf1 ip4: -all", "\"ip4:\"" },
		{ "v=spf1 include -all", "\"include\"" },
		{ "v=spf1 redirect=relay", "\"redirect=relay\"" },
		{ "v=spf1 192.0.2.1 -all", "\"192.0.2.1\"" },
		{ "v=spf1 mx -all include:_spf.example.org",
			"\"include:_spf.example.org\" after all" },
		{ "v=spf1 mx -all redirect=_spf.example.org", "after all" },
		{ "v=spf1 mx -all exp=why.example.org", NULL },
		{ "v=spf1 mx +all", "everybody" },
		{ "v=spf1 mx all", "everybody" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *fault = spf_fault(&a, cases[i].text);

		test_step("%s", cases[i].text);
		CHECK(spf_is_record(cases[i].text));
		CHECK(!fault == !cases[i].fault);
		CHECK(!fault || !cases[i].fault || strstr(fault, cases[i].fault));
	}
	CHECK(!spf_is_record("v=spf10 mx") && !spf_is_record("v=DMARC1"));
	arena_free(&a);
}

TEST(mail_trust_lets_strangers_wake_an_agent_so_often_in_an_hour)
{
	struct mail_house h;
	struct answer r;

	mail_house_open(&h);
	r = letter_comes(&h, "jo@example.org", PASS FROM("w1") "\nhi\n");
	CHECK(json_is_string(at(&r, "session_id")));
	for (int i = 1; i < MAIL_STRANGERS_PER_HOUR - 1; i++)
		fixture_sql(h.f,
			"insert into mail_messages (tenant_id, agent_id, id, mailbox_id, thread_id, direction, state, "
			"verdict, sender, recipients, cc, bcc, subject, preview, body, labels, unread, "
			"message_id_header, refs, size_bytes, attachments, hops, automatic, subject_folded, "
			"preview_folded, run_id, created_at) select tenant_id, agent_id, $1, mailbox_id, thread_id, "
			"direction, state, verdict, $1, recipients, cc, bcc, subject, preview, body, labels, unread, "
			"$1, refs, size_bytes, attachments, hops, automatic, subject_folded, preview_folded, run_id, "
			"created_at from mail_messages where id = $2",
			ARGS(T(fixture_id(h.f)), T(text_at(&r, "id"))));
	r = letter_comes(&h, "kim@example.org",
		PASS "From: kim@example.org\nMessage-ID: <w2@x>\n\nthe last\n");
	CHECK(json_is_string(at(&r, "session_id")));
	r = letter_comes(&h, "lee@example.org",
		PASS "From: lee@example.org\nMessage-ID: <w3@x>\n\none more\n");
	CHECK(json_is_string(at(&r, "error")) &&
		strstr(text_at(&r, "error"), "Strangers have had the agent work"));
	CHECK(json_is_null(at(&r, "session_id")));
	test_step("a member is no stranger");
	fixture_sql(h.f,
		"update users set email = 'lee@example.org', email_folded = 'lee@example.org', "
		"email_proven_at = 1 where id = $1",
		ARGS(T(h.f->admin_id)));
	r = letter_comes(
		&h, "lee@example.org", PASS "From: lee@example.org\nMessage-ID: <w4@x>\n\nme\n");
	CHECK(json_is_string(at(&r, "session_id")));
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
}
