/* test_mail_read.c - mail from outside becomes messages: fields, files, threads, and what cannot be read. */
#include "base/buf.h"
#include "base/clock.h"
#include "mail_fixture.h"
#include "mailboxes/mail_counts.h"
#include "mailboxes/mail_reading.h"
#include "queue/parts.h"

#define HEAD(id)                                                                                 \
	"From: Jo <Jo@Example.org>\nTo: desk@demo.mail.test, q@example.org\nCc: r@example.org\n" \
	"Subject: Invoices\nMessage-ID: <" id "@example.org>\n"

TEST(mail_read_becomes_a_message)
{
	struct mail_house h;
	struct answer r, raw;

	mail_house_open(&h);
	r = mail_comes(&h, "jo@example.org",
		HEAD("a1") "In-Reply-To: <x@y>\nReferences: <w@y> <x@y>\nMIME-Version: 1.0\n"
			   "Content-Type: multipart/mixed; boundary=b\n\n"
			   "--b\nContent-Type: text/plain\n\nPlease pay.\n\n> said before\n"
			   "--b\nContent-Type: text/csv; name=\"../../m\xc3\xa4y.csv\"\n"
			   "Content-Disposition: attachment; filename=\"../../may.csv\"\n"
			   "Content-Transfer-Encoding: base64\n\nQSxCCg==\n--b--\n");
	CHECK_STR(text_at(&r, "state"), "received");
	CHECK_STR(text_at(&r, "direction"), "in");
	CHECK_STR(text_at(&r, "verdict"), "none");
	CHECK_STR(text_at(&r, "from"), "jo@example.org");
	CHECK_STR(text_at(&r, "to.0"), "desk@demo.mail.test");
	CHECK_STR(text_at(&r, "to.1"), "q@example.org");
	CHECK_STR(text_at(&r, "cc.0"), "r@example.org");
	CHECK_STR(text_at(&r, "subject"), "Invoices");
	CHECK(strstr(text_at(&r, "text"), "> said before"));
	CHECK(!strstr(text_at(&r, "extracted_text"), "said before"));
	CHECK_STR(text_at(&r, "message_id_header"), "<a1@example.org>");
	CHECK_STR(text_at(&r, "in_reply_to"), "<x@y>");
	CHECK_STR(text_at(&r, "references.0"), "<w@y>");
	CHECK_STR(text_at(&r, "attachments.0.filename"), "may.csv");
	CHECK_INT(json_integer_value(at(&r, "attachments.0.size_bytes")), 4);
	CHECK(json_is_true(at(&r, "unread")));
	CHECK_STR(text_at(&r, "error"), "Nothing proves who sent it.");
	raw = ask(
		h.f, h.f->admin, NULL, "GET /agents/%s/mail/%s/raw", h.agent_id, text_at(&r, "id"));
	STATUS(raw, 200);
	CHECK(strncmp(raw.body, "From: Jo <Jo@Example.org>\r\n", 27) == 0);
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), (long long)raw.body_len);
	raw = ask(h.f, h.f->admin, NULL, "GET /agents/%s/attachments/%s/content", h.agent_id,
		text_at(&r, "attachments.0.id"));
	STATUS(raw, 200);
	CHECK_STR(raw.body, "A,B\n");
	test_step("the arrival names no bytes any more, and its job is gone");
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_arrivals where object_key is null"),
		1);
	mail_wait(&h, "select count(*) from jobs", 0);
	CHECK_INT(fixture_count(h.f, "select message_count from mailboxes where kind = 'external'"),
		1);
	test_step("without a sender, a subject and an id it is a message too");
	r = mail_comes(&h, "", "X-Nothing: 1\n\nhi\n");
	CHECK_STR(text_at(&r, "from"), "");
	CHECK(strstr(text_at(&r, "message_id_header"), "@demo.mail.test>"));
	test_step("of HTML alone the words are there, once");
	r = mail_comes(
		&h, "jo@example.org", HEAD("a2") "Content-Type: text/html\n\n<p>Hello</p>\n");
	CHECK_STR(text_at(&r, "text"), text_at(&r, "html_text"));
	mail_house_close(&h);
}

TEST(mail_read_joins_threads_of_its_own_mailbox_only)
{
	struct mail_house h;
	const char *back, *other_box, *thread, *id, *tenant, *foreign, *foreign_box;
	struct answer r;

	mail_house_open(&h);
	back = fixture_agent(h.f, "back");
	other_box = mail_house_box(&h, h.f->tenant_id, back, "back@demo.mail.test");
	tenant = fixture_tenant(h.f, "other", h.f->admin_id);
	foreign = fixture_agent_of(h.f, h.f->admin, tenant, "spy");
	foreign_box = mail_house_box(&h, tenant, foreign, "spy@other.mail.test");
	r = mail_comes(&h, "jo@example.org", HEAD("t1") "\nfirst\n");
	thread = text_at(&r, "thread_id");
	r = mail_comes(
		&h, "jo@example.org", HEAD("t2") "In-Reply-To: <t1@example.org>\n\nsecond\n");
	CHECK_STR(text_at(&r, "thread_id"), thread);
	r = mail_comes(
		&h, "jo@example.org", HEAD("t3") "References: <t2@example.org> <zz@zz>\n\nthird\n");
	CHECK_STR(text_at(&r, "thread_id"), thread);
	test_step("the subject alone joins nothing");
	r = mail_comes(&h, "jo@example.org", HEAD("t4") "\nfourth\n");
	CHECK(strcmp(text_at(&r, "thread_id"), thread) != 0);
	test_step("the signed part of the address does");
	id = mail_arrive(&h,
		&(struct mail_arrival_row){ .sender = "jo@example.org", .thread_id = thread },
		HEAD("t5") "\nfifth\n", strlen(HEAD("t5") "\nfifth\n"));
	r = mail_await(&h, id);
	CHECK_STR(text_at(&r, "thread_id"), thread);
	test_step("another mailbox of the tenant, and one of another, by id and by address");
	for (int i = 0; i < 2; i++) {
		struct mail_arrival_row as = { .sender = "jo@example.org",
			.tenant_id = i ? tenant : h.f->tenant_id,
			.agent_id = i ? foreign : back,
			.mailbox_id = i ? foreign_box : other_box,
			.thread_id = thread };
		const char *text = HEAD("t6") "In-Reply-To: <t1@example.org>\n\nsixth\n";

		id = mail_arrive(&h, &as, text, strlen(text));
		mail_await(&h, id);
		r = ask(h.f, h.f->admin, NULL, "GET /agents/%s/mail/%s", as.agent_id, id);
		STATUS(r, 200);
		CHECK(strcmp(text_at(&r, "thread_id"), thread) != 0);
	}
	CHECK_INT(
		fixture_count(h.f,
			arena_printf(&h.f->arena,
				"select message_count from mail_threads where id = '%s'", thread)),
		4);
	test_step("nor one of another mailbox of the same agent");
	fixture_sql(h.f, "update mail_threads set mailbox_id = $1 where id = $2",
		ARGS(T(fixture_id(h.f)), T(thread)));
	id = mail_arrive(&h,
		&(struct mail_arrival_row){ .sender = "jo@example.org", .thread_id = thread },
		HEAD("t7") "\nseventh\n", strlen(HEAD("t7") "\nseventh\n"));
	r = mail_await(&h, id);
	CHECK(strcmp(text_at(&r, "thread_id"), thread) != 0);
	mail_house_close(&h);
}

static void unreadable(struct mail_house *h, const char *id, const char *why)
{
	struct answer r = mail_await(h, id);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "state"), "unreadable");
	CHECK(strstr(text_at(&r, "error"), why));
	CHECK_STR(text_at(&r, "from"), "jo@example.org");
	CHECK(json_is_null(at(&r, "session_id")));
	STATUS(ask(h->f, h->f->admin, NULL, "GET /agents/%s/mail/%s/raw", h->agent_id, id), 200);
	CHECK_INT(fixture_count(h->f, arena_printf(&h->f->arena,
					      "select count(*) from audit_logs where action = "
					      "'mail.unreadable' and resource_id = '%s'",
					      id)),
		1);
}

TEST(mail_read_keeps_what_cannot_be_read)
{
	const struct mail_arrival_row jo = { .sender = "jo@example.org" };
	struct mail_house h;
	struct helper *broken = mail_helper("/bin/false", NULL);
	uint64_t before = mail_counted(MAIL_COUNT_UNREADABLE);
	struct buf b;

	mail_house_open(&h);
	test_step("what no letter has");
	buf_init(&b, 1 << 20);
	buf_puts(&b, HEAD("u1") "\n");
	for (int i = 0; i < 2100; i++)
		buf_puts(&b, "--x\n");
	unreadable(&h, mail_arrive(&h, &jo, b.at, b.len), "");
	buf_free(&b);
	test_step("a parser that dies");
	mail_reader_join(h.f->mail_reader, h.f->service.bucket, broken, h.f->app.disk);
	unreadable(&h, mail_arrive(&h, &jo, HEAD("u2") "\nhi\n", strlen(HEAD("u2") "\nhi\n")), "");
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_reader_join(h.f->mail_reader, h.f->service.bucket, h.f->service.helper, h.f->app.disk);
	test_step("what the whole service died over");
	h.doomed = true;
	unreadable(&h, mail_arrive(&h, &jo, HEAD("u4") "\nhi\n", strlen(HEAD("u4") "\nhi\n")),
		"broke down over it");
	h.doomed = false;
	test_step("the next one is read");
	mail_comes(&h, "jo@example.org", HEAD("u3") "\nhi\n");
	mail_wait(&h, "select count(*) from jobs", 0);
	mail_house_close(&h);
	CHECK_INT((int64_t)(mail_counted(MAIL_COUNT_UNREADABLE) - before), 3);
	mail_helper(NULL, broken);
}

TEST(mail_read_without_room_for_files_has_its_raw_bytes)
{
	struct mail_house h;
	struct answer r;
	struct buf b;
	const char *id;

	mail_house_open(&h);
	buf_init(&b, 2 << 20);
	buf_puts(&b, HEAD("q1") "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
				"--b\n\nhi\n--b\nContent-Disposition: attachment; filename=a.bin\n"
				"Content-Transfer-Encoding: base64\n\n");
	for (int i = 0; i < 10000; i++)
		buf_puts(&b, "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB\n");
	buf_puts(&b, "--b--\n");
	id = mail_arrive(&h, &(struct mail_arrival_row){ .sender = "jo@example.org" }, b.at, b.len);
	buf_free(&b);
	r = mail_await(&h, id);
	CHECK_STR(text_at(&r, "state"), "received");
	CHECK(strstr(text_at(&r, "error"), "no room for its files"));
	CHECK_INT((long long)json_array_size(at(&r, "attachments")), 0);
	STATUS(ask(h.f, h.f->admin, NULL, "GET /agents/%s/mail/%s/raw", h.agent_id, id), 200);
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_attachments"), 0);
	mail_house_close(&h);
}

/* ---- what came back ---- */

#define REPORT(action)                                                                                   \
	"From: MAILER-DAEMON@relay.test\nSubject: Undelivered\nMessage-ID: <" action                     \
	"@relay.test>\n"                                                                                 \
	"MIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n" \
	"--b\n\nIt did not work.\n--b\nContent-Type: message/delivery-status\n\n"                        \
	"Reporting-MTA: dns; relay.test\n\nFinal-Recipient: rfc822; x@example.org\n"                     \
	"Action: " action "\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 no such user\n\n--b--\n"

TEST(mail_read_tells_of_what_came_back)
{
	static const struct {
		const char *sender, *raw;
		int calls;
		bool told;
	} cases[] = {
		{ "", REPORT("failed"), 1, true },
		{ "", REPORT("Failed (bad mailbox)"), 1, true },
		{ "", REPORT("delayed"), 0, false },
		{ "", "From: postmaster@old.test\nSubject: failed\n\nNo such user.\n", 1, false },
		{ "", "From: x@example.org\nAuto-Submitted: auto-replied\n\nI am away.\n", 0,
			false },
		{ "x@example.org", "From: x@example.org\n\nYou wrote from an odd address.\n", 0,
			false },
	};
	struct mail_house h;
	struct answer r;
	const char *sent, *thread;

	mail_house_open(&h);
	mail_note_bounces(true);
	r = mail_comes(&h, "jo@example.org", HEAD("b0") "\nas if it were ours\n");
	sent = text_at(&r, "id");
	thread = text_at(&r, "thread_id");
	fixture_sql(h.f,
		"insert into mail_sends (tenant_id, id, agent_id, message_id, address, state, attempts, created_at) "
		"select tenant_id, id, agent_id, id, 'x@example.org', 'sent', 1, 1 from mail_messages",
		NO_ARGS);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mail_back = (struct mail_back){ 0 };
		r = mail_await(&h, mail_arrive(&h,
					   &(struct mail_arrival_row){
						   .sender = cases[i].sender, .bounced_id = sent },
					   cases[i].raw, strlen(cases[i].raw)));
		CHECK_INT(mail_back.calls, cases[i].calls);
		CHECK_INT(mail_back.told, cases[i].told);
		CHECK_STR(text_at(&r, "thread_id"), thread);
		CHECK(json_is_null(at(&r, "session_id")));
		if (cases[i].told) {
			CHECK_STR(mail_back.status, "5.1.1");
			CHECK_STR(mail_back.message_id, sent);
			CHECK_STR(mail_back.words, "550 no such user");
		}
	}
	test_step("a message of another mailbox does not come back to this one");
	mail_back = (struct mail_back){ 0 };
	fixture_sql(h.f, "update mail_messages set mailbox_id = $1 where id = $2",
		ARGS(T(fixture_id(h.f)), T(sent)));
	r = mail_await(
		&h, mail_arrive(&h, &(struct mail_arrival_row){ .sender = "", .bounced_id = sent },
			    REPORT("failed"), strlen(REPORT("failed"))));
	CHECK_INT(mail_back.calls, 0);
	CHECK(strcmp(text_at(&r, "thread_id"), thread) != 0);
	mail_house_close(&h);
	mail_note_bounces(false);
}

TEST(mail_read_of_nobody_is_not_answered)
{
	struct mail_house h;
	struct answer r;
	const char *id;

	mail_house_open(&h);
	r = mail_comes(&h, "", "Subject: x\nTo: desk@demo.mail.test\n\nhi\n");
	CHECK_STR(text_at(&r, "from"), "");
	id = text_at(&r, "id");
	r = ask(h.f, h.f->admin, "{\"text\":\"t\",\"draft\":true}", "POST /agents/%s/mail/%s/reply",
		h.agent_id, id);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "nobody to answer"));
	STATUS(ask(h.f, h.f->admin, "{\"text\":\"t\",\"all\":true}",
		       "POST /agents/%s/mail/%s/reply", h.agent_id, id),
		409);
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_messages"), 1);
	test_step("others who had it are");
	r = mail_comes(&h, "", "Subject: x\nTo: desk@demo.mail.test, q@example.org\n\nhi\n");
	r = ask(h.f, h.f->admin, "{\"text\":\"t\",\"all\":true,\"draft\":true}",
		"POST /agents/%s/mail/%s/reply", h.agent_id, text_at(&r, "id"));
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "to.0"), "q@example.org");
	mail_house_close(&h);
}

struct due {
	struct fixture *f;
	int64_t left; /* attempts */
};

static int read_now(struct db *db, void *data)
{
	static const struct statement due = { "test",
		"update jobs set run_at = 1, state = 'waiting', attempts = max_attempts - $1",
		.across = "a test", .scan = "a test" };
	const struct due *d = data;
	int err = db_run(db, &due, NULL, ARGS(N(d->left)));

	return err ? err : jobs_tell(db, d->f->tenant_id, 1, 1);
}

TEST(mail_read_is_tried_for_two_days_where_the_machine_fails)
{
	static const char raw[] = HEAD("t1") "\nhi\n";
	struct helper *away = mail_helper("/nowhere/lodge-mime", NULL);
	struct mail_house h;
	int64_t took = 0;
	struct answer r;
	const char *id;

	mail_house_open(&h);
	mail_reader_join(h.f->mail_reader, h.f->service.bucket, away, h.f->app.disk);
	id = mail_arrive(
		&h, &(struct mail_arrival_row){ .sender = "jo@example.org" }, raw, strlen(raw));
	mail_wait(&h, "select count(*) from jobs where state = 'delayed' and attempts = 1", 1);
	CHECK_INT(fixture_count(h.f, "select max_attempts from jobs"), MAIL_READ_ATTEMPTS);
	for (int i = 1; i < MAIL_READ_ATTEMPTS; i++)
		took += job_pause_us(i);
	CHECK(took > 45 * HOUR_US && took < 55 * HOUR_US);
	test_step("the last but one");
	CHECK_INT(fixture_work(h.f, read_now, &(struct due){ h.f, 2 }), 0);
	mail_wait(&h,
		arena_printf(&h.f->arena,
			"select count(*) from jobs where state = 'delayed' and attempts = %d",
			MAIL_READ_ATTEMPTS - 1),
		1);
	CHECK_INT(fixture_count(h.f, "select count(*) from mail_messages"), 0);
	test_step("the last");
	CHECK_INT(fixture_work(h.f, read_now, &(struct due){ h.f, 1 }), 0);
	r = mail_await(&h, id);
	CHECK_STR(text_at(&r, "state"), "unreadable");
	mail_house_close(&h);
	mail_helper(NULL, away);
}
