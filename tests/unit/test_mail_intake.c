/* test_mail_intake.c - mail that is handed over is ours exactly when it is said to be, once, and for whom it is meant. */
#include <stdlib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "letterbox/letterbox.h"
#include "mail/known.h"
#include "mail/token.h"
#include "mailboxes/mail_arrival.h"
#include "mailboxes/mail_secret.h"
#include "mailboxes/mailbox.h"

#define DOMAIN "mail.example.org"

/* ---- what a message is known by ---- */

static const char *known_in(struct arena *a, const char *text, size_t piece)
{
	char *out = arena_alloc(a, MAIL_KNOWN_LEN + 1);
	struct mail_known k;

	mail_known_begin(&k);
	for (size_t len = strlen(text); len;) {
		size_t n = len < piece ? len : piece;

		mail_known_push(&k, text, n);
		text += n;
		len -= n;
	}
	mail_known_end(&k, out);
	return out;
}

#define LETTER_HEAD "From: jo@example.org\r\nSubject: x\r\nMessage-ID:\r\n <1@example.org>\r\n"

TEST(mail_known_by_what_a_repetition_has_in_common)
{
	static const char letter[] = "Received: by a\r\n\tat noon\r\n" LETTER_HEAD "\r\nHello\r\n";
	static const struct {
		const char *text;
		bool same;
	} others[] = {
		{ "Received: by b\r\n\tat one\r\nRECEIVED: by a\r\nReceived-SPF: pass\r\n"
		  "From: jo@example.org\r\nSubject: x\r\nMessage-ID:\r\n <1@example.org>\r\n\r\nHello\r\n",
			true },
		{ "X-Original-To: x\r\n" LETTER_HEAD "\r\nHello\r\n", true },
		{ LETTER_HEAD "\r\nHello!\r\n", false },
		{ LETTER_HEAD "X-Spam: no\r\n\r\nHello\r\n", false },
		{ LETTER_HEAD "Auto-Submitted: auto-replied\r\n\r\nHello\r\n", false },
		{ "List-Id: <x.y>\r\n" LETTER_HEAD "\r\nHello\r\n", false },
		{ "Authentication-Results: mx; dmarc=fail\r\n" LETTER_HEAD "\r\nHello\r\n", false },
		{ "To: x@example.org\r\n" LETTER_HEAD "\r\nHello\r\n", false },
		{ "DKIM-Signature: v=1\r\n" LETTER_HEAD "\r\nHello\r\n", false },
		/* What somebody may read as another header, or as the end of the head. */
		{ "Received : by b\r\n" LETTER_HEAD "\r\nHello\r\n", false },
		{ "Received\r\n" LETTER_HEAD "\r\nHello\r\n", false },
		{ "Received: by b\r\n \r\n" LETTER_HEAD "\r\nHello\r\n", false },
		{ "Return-Path: a:b:c:\r\n" LETTER_HEAD "\r\nHello\r\n", false },
	};
	struct arena a = { 0 };
	const char *whole = known_in(&a, letter, sizeof letter), *many = "";

	for (size_t piece = 1; piece < 40; piece++)
		CHECK_STR(known_in(&a, letter, piece), whole);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		test_step("%s", others[i].text);
		CHECK_INT(strcmp(known_in(&a, others[i].text, 7), whole) == 0, others[i].same);
	}
	test_step("a line without an end");
	CHECK(strcmp(known_in(&a, "Date: 1\nX", 3), known_in(&a, "Date: 1\nY", 3)) != 0);
	CHECK(strcmp(known_in(&a, "Date: 1\nList-Id: x", 3), known_in(&a, "Date: 1\n", 3)) != 0);
	CHECK(strcmp(known_in(&a, "Date: 1\nList-Id", 3), known_in(&a, "Date: 1\n", 3)) != 0);
	test_step("with so much of a trace that it could not be read");
	for (int i = 0; i < MAIL_KNOWN_HEAD_LINES; i++)
		many = arena_printf(&a, "%sReceived: a\r\n", many);
	CHECK(strcmp(known_in(&a, arena_printf(&a, "%s%s", many, letter), 999), whole) != 0);
	arena_free(&a);
}

/* ---- a house with mailboxes, and somebody at its door ---- */

struct door {
	struct fixture *f;
	struct letterbox *box;
	const char *path, *agent;
	int fd;
	char said[4096]; /* the last reply, all of its lines */
};

static void domain_is(const char *domain)
{
	struct mailbox_policy policy = *mailbox_policy();

	policy.domain = domain;
	policy.bytes_max = 64 * 1024;
	mailbox_policy_set(&policy);
}

static const char *open_agent(
	struct fixture *f, const char *token, const char *tenant_id, const char *slug)
{
	const char *agent = fixture_agent_of(f, token, tenant_id, slug);

	STATUS(ask(f, token, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", agent), 200);
	return agent;
}

static void connect_door(struct door *d)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	snprintf(at.sun_path, sizeof at.sun_path, "%s", d->path);
	d->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(connect(d->fd, (struct sockaddr *)&at, sizeof at) == 0);
}

static void connect_smtp(struct door *d, const struct letterbox *b)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)atoi(strrchr(letterbox_place(b, 1), ':') + 1)) };

	d->fd = socket(AF_INET, SOCK_STREAM, 0);
	CHECK(connect(d->fd, (struct sockaddr *)&at, sizeof at) == 0);
}

/* Reads one reply, and says if it begins like that. */
static void hear(struct door *d, const char *want)
{
	size_t len = 0, line = 0;

	for (;;) {
		if (len + 1 == sizeof d->said || read(d->fd, d->said + len, 1) != 1)
			break;
		if (d->said[len++] != '\n')
			continue;
		if (len - line > 3 && d->said[line + 3] == ' ')
			break;
		line = len;
	}
	d->said[len] = '\0';
	if (strncmp(d->said, want, strlen(want)) != 0)
		test_fail(__FILE__, __LINE__, "it says \"%s\", not \"%s\"", d->said, want);
}

static void say(struct door *d, const char *text, const char *want)
{
	CHECK_INT(write(d->fd, text, strlen(text)), (long)strlen(text));
	if (want)
		hear(d, want);
}

static struct door open_door(bool smtp_too)
{
	struct door d = { .f = fixture_open() };
	struct fixture *f = d.f;
	struct problem p = { 0 };
	struct db *db = NULL;

	runner_leave(f->service.runner); /* what came is looked at before it is read */
	domain_is(DOMAIN);
	if (store_connect(f->app.store, &db, &f->arena, &p) ||
		mail_token_key_load(db, &f->arena, f->app.vault, clock_now_us()))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	db_close(db);
	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /admin/tenants/%s",
		       f->tenant_id),
		200);
	d.agent = open_agent(f, f->admin, f->tenant_id, "desk");
	d.path = arena_printf(&f->arena, "%s/lmtp", f->bucket);
	if (letterbox_new(&d.box,
		    &(struct letterbox_settings){
			    .lmtp = arena_printf(&f->arena, "unix:%s", d.path),
			    .smtp = smtp_too ? "127.0.0.1:0" : "",
			    .host = DOMAIN,
			    .bytes_max = 64 * 1024,
			    .connections_max = 3,
			    .idle_ms = 60000 },
		    &f->arena, &p) ||
		letterbox_start(d.box, f->app.store, f->service.bucket, f->app.disk))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	connect_door(&d);
	hear(&d, "220 ");
	say(&d, "LHLO test\r\n", "250-");
	return d;
}

static void close_door(struct door *d)
{
	close(d->fd);
	letterbox_free(d->box);
	CHECK(access(d->path, F_OK) != 0);
	domain_is("");
	fixture_close(d->f);
}

static int64_t arrivals(const struct door *d)
{
	return fixture_count(d->f, "select count(*) from mail_arrivals");
}

static int64_t objects(const struct door *d)
{
	return fixture_count(d->f, "select count(*) from bucket_objects");
}

#define ENVELOPE(to) "MAIL FROM:<jo@example.net>\r\nRCPT TO:<" to ">\r\n"

static void letter_to(struct door *d, const char *to, const char *id, const char *want)
{
	say(d, arena_printf(&d->f->arena, "MAIL FROM:<jo@example.net>\r\n"), "250 ");
	say(d, arena_printf(&d->f->arena, "RCPT TO:<%s>\r\n", to), "250 ");
	say(d, "DATA\r\n", "354 ");
	say(d, arena_printf(&d->f->arena, "Message-ID: <%s>\r\n\r\nHello\r\n.\r\n", id), want);
}

/* ---- tests ---- */

TEST(mail_intake_answers_by_who_it_is_for)
{
	struct door d = open_door(false);
	struct fixture *f = d.f;
	static const struct {
		const char *name, *set, *undo, *want;
	} states[] = {
		{ "paused", "update mailboxes set paused = 1 where kind = 'external'",
			"update mailboxes set paused = 0", "550 5.2.1 " },
		{ "disabled", "update mailboxes set enabled = 0 where kind = 'external'",
			"update mailboxes set enabled = 1", "550 5.2.1 " },
		{ "switched off", "update agent_rows set is_active = 0",
			"update agent_rows set is_active = 1", "550 5.2.1 " },
		{ "suspended", "update tenants set status = 'suspended'",
			"update tenants set status = 'active'", "550 5.2.1 " },
		{ "closed", "update tenants set status = 'closed'",
			"update tenants set status = 'active'", "550 5.2.1 " },
		{ "gone", "update agent_rows set gone_at = 1",
			"update agent_rows set gone_at = null", "550 5.1.1 " },
		{ "full", "update bucket_usage set size_bytes = 1048576",
			"update bucket_usage set size_bytes = 1", "452 4.2.2 " },
		{ "itself", "update tenants set status = 'trial'",
			"update tenants set status = 'active'", "250 2.1.5 " },
	};

	fixture_sql(f,
		"insert into bucket_usage (tenant_id, size_bytes, trash_bytes) values ($1, 1, 0)",
		ARGS(T(f->tenant_id)));
	say(&d, "MAIL FROM:<>\r\n", "250 ");
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		test_step("%s", states[i].name);
		fixture_sql(f, states[i].set, NO_ARGS);
		say(&d, "RCPT TO:<Desk+any@Demo." DOMAIN ">\r\n", states[i].want);
		fixture_sql(f, states[i].undo, NO_ARGS);
	}
	test_step("nobody's");
	say(&d, "RCPT TO:<desk@demo.lodge.internal>\r\n", "550 5.1.1 ");
	say(&d, "RCPT TO:<desk@demo.example.org>\r\n", "550 5.1.1 ");
	say(&d, "RCPT TO:<desk@" DOMAIN ">\r\n", "550 5.1.1 ");
	say(&d, "RCPT TO:<other@demo." DOMAIN ">\r\n", "550 5.1.1 ");
	say(&d, "RCPT TO:<desk@demox" DOMAIN ">\r\n", "550 5.1.1 ");
	test_step("paused in the middle");
	say(&d, "DATA\r\n", "354 ");
	fixture_sql(f, "update mailboxes set paused = 1", NO_ARGS);
	say(&d, "\r\nx\r\n.\r\n", "550 5.2.1 ");
	fixture_sql(f, "update mailboxes set paused = 0", NO_ARGS);
	test_step("full in the end");
	say(&d, ENVELOPE("desk@demo." DOMAIN), "250 ");
	hear(&d, "250 ");
	say(&d, "DATA\r\n", "354 ");
	fixture_sql(f, "update bucket_usage set size_bytes = 1048576", NO_ARGS);
	say(&d, "\r\nx\r\n.\r\n", "452 4.2.2 ");
	CHECK_INT(arrivals(&d), 0);
	CHECK_INT(objects(&d), 0);
	close_door(&d);
}

TEST(mail_intake_keeps_what_it_says_it_has_once)
{
	struct door d = open_door(false);
	struct fixture *f = d.f;
	const char *other = fixture_tenant(f, "other", f->admin_id);

	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /admin/tenants/%s",
		       other),
		200);
	open_agent(f, f->admin, f->tenant_id, "back");
	open_agent(f, f->admin, other, "desk");
	test_step("one letter");
	letter_to(&d, "desk@demo." DOMAIN, "1@x", "250 2.0.0 Taken as c");
	CHECK_INT(
		fixture_count(f,
			"select count(*) from mail_arrivals a join jobs j on j.tenant_id = a.tenant_id "
			"and j.subject = a.id and j.kind = 'mail.read' join bucket_objects o "
			"on o.tenant_id = a.tenant_id and o.key = a.object_key and o.size_bytes = "
			"a.size_bytes where a.sender = 'jo@example.net' and a.recipient = 'desk@demo." DOMAIN
			"' and a.thread_id is null and a.bounced_id is null and a.read_at is null"),
		1);
	test_step("again, by another address of it");
	letter_to(&d, "DESK+x@demo." DOMAIN, "1@x", "250 2.0.0 Taken before");
	CHECK_INT(arrivals(&d), 1);
	test_step("once more to others: three mailboxes, two tenants, two objects");
	say(&d, ENVELOPE("back@demo." DOMAIN), "250 ");
	hear(&d, "250 ");
	say(&d, "RCPT TO:<nobody@demo." DOMAIN ">\r\n", "550 5.1.1 ");
	say(&d, "RCPT TO:<desk@demo." DOMAIN ">\r\n", "250 ");
	say(&d, "RCPT TO:<desk@other." DOMAIN ">\r\n", "250 ");
	say(&d, "DATA\r\n", "354 ");
	say(&d, "Message-ID: <1@x>\r\n\r\nHello\r\n.\r\n", "250 2.0.0 Taken as c");
	hear(&d, "250 2.0.0 Taken before");
	hear(&d, "250 2.0.0 Taken as c");
	CHECK_INT(arrivals(&d), 3);
	CHECK_INT(objects(&d), 2);
	test_step("one tenant has no room: the other's is kept");
	fixture_sql(f, "update bucket_usage set size_bytes = 1048570 where tenant_id = $1",
		ARGS(T(other)));
	say(&d, ENVELOPE("desk@other." DOMAIN), "250 ");
	hear(&d, "250 ");
	say(&d, "RCPT TO:<desk@demo." DOMAIN ">\r\n", "250 ");
	say(&d, "DATA\r\n", "354 ");
	say(&d, "Message-ID: <2@x>\r\n\r\nHello\r\n.\r\n", "452 4.2.2 ");
	hear(&d, "250 2.0.0 Taken as c");
	CHECK_INT(arrivals(&d), 4);
	test_step("what is refused leaves nothing");
	letter_to(&d, "desk@demo." DOMAIN, "3@x\n", "550 5.6.11 ");
	say(&d, "MAIL FROM:<> SIZE=65537\r\n", "552 5.3.4 ");
	CHECK_INT(arrivals(&d), 4);
	CHECK_INT(objects(&d), 3);
	test_step("and is forgotten when it was read long ago");
	fixture_sql(
		f, "update mail_arrivals set read_at = $1", ARGS(N(clock_now_us() - 13 * DAY_US)));
	fixture_sql(f, "update mail_arrivals set read_at = 1 where tenant_id = $1", ARGS(T(other)));
	mail_arrival_forget(f->app.store, clock_now_us());
	for (int i = 0; arrivals(&d) != 3 && i < 1000; i++)
		usleep(2000);
	CHECK_INT(arrivals(&d), 3);
	close_door(&d);
}

TEST(mail_intake_reads_signed_addresses)
{
	struct door d = open_door(false);
	struct fixture *f = d.f;
	struct mail_address own, address;
	const char *fault, *thread = fixture_id(f);
	const char *sent = fixture_id(f);

	fixture_sql(f,
		"insert into mail_messages (tenant_id, agent_id, id, mailbox_id, thread_id, direction, state, verdict, "
		"sender, recipients, cc, bcc, subject, preview, body, labels, unread, message_id_header, refs, "
		"size_bytes, attachments, hops, automatic, subject_folded, preview_folded, created_at) "
		"select tenant_id, agent_id, $1, id, $2, 'out', 'sent', 'none', address, '[]', '[]', '[]', '', '', '', "
		"'[]', 0, '<x>', '[]', 0, '[]', 0, 0, '', '', 1 from mailboxes where kind = 'external'",
		ARGS(T(sent), T(thread)));
	fixture_sql(f,
		"insert into mail_sends (tenant_id, id, agent_id, message_id, address, state, attempts, created_at) "
		"select tenant_id, id, agent_id, id, 'x@example.org', 'sent', 1, 1 from mail_messages",
		NO_ARGS);
	CHECK(mail_address_parse("desk@demo." DOMAIN, strlen("desk@demo." DOMAIN), &own, &fault));
	test_step("an answer");
	CHECK(mail_thread_make(mail_token_key(), &own, thread, &address));
	letter_to(&d, address.text, "1@x", "250 2.0.0 Taken as ");
	CHECK_INT(
		fixture_count(f,
			arena_printf(&f->arena,
				"select count(*) from mail_arrivals where thread_id = '%s' and bounced_id is null",
				thread)),
		1);
	test_step("a forged one is a plain address");
	address.text[strlen(address.text) - strlen("@demo." DOMAIN) - 1] ^= 1;
	letter_to(&d, address.text, "2@x", "250 2.0.0 Taken as ");
	CHECK_INT(
		fixture_count(f, "select count(*) from mail_arrivals where thread_id is null"), 1);
	test_step("a bounce");
	CHECK(mail_verp_make(mail_token_key(), sent, "demo." DOMAIN, &address));
	letter_to(&d, address.text, "3@x", "250 2.0.0 Taken as ");
	CHECK_INT(
		fixture_count(f,
			arena_printf(&f->arena,
				"select count(*) from mail_arrivals a join mailboxes b on b.id = a.mailbox_id "
				"where a.bounced_id = '%s' and b.kind = 'external'",
				sent)),
		1);
	test_step("a copy to where it wakes nobody keeps no letter out, nor one that nobody sent");
	letter_to(&d, "desk@demo." DOMAIN, "3@x", "250 2.0.0 Taken as ");
	letter_to(&d, "desk@demo." DOMAIN, "3@x", "250 2.0.0 Taken before");
	say(&d, "MAIL FROM:<>\r\n", "250 ");
	say(&d, "RCPT TO:<desk@demo." DOMAIN ">\r\n", "250 ");
	say(&d, "DATA\r\n", "354 ");
	say(&d, "Message-ID: <3@x>\r\n\r\nHello\r\n.\r\n", "250 2.0.0 Taken as ");
	test_step("of nothing that was sent, or to another tenant, or forged");
	say(&d, "MAIL FROM:<>\r\n", "250 ");
	CHECK(mail_verp_make(mail_token_key(), thread, "demo." DOMAIN, &address));
	say(&d, arena_printf(&f->arena, "RCPT TO:<%s>\r\n", address.text), "550 5.1.1 ");
	CHECK(mail_verp_make(mail_token_key(), sent, "other." DOMAIN, &address));
	say(&d, arena_printf(&f->arena, "RCPT TO:<%s>\r\n", address.text), "550 5.1.1 ");
	say(&d, arena_printf(&f->arena, "RCPT TO:<b+%s.0000000000@demo." DOMAIN ">\r\n", sent),
		"550 5.1.1 ");
	close_door(&d);
}

/* One reply for all: all of it, or nothing. */
TEST(mail_intake_by_smtp_is_all_or_nothing)
{
	struct door d = open_door(true), *smtp = &d;
	struct fixture *f = d.f;
	const char *other = fixture_tenant(f, "other", f->admin_id);

	STATUS(ask(f, f->admin, "{\"external_mail_enabled\":true}", "PATCH /admin/tenants/%s",
		       other),
		200);
	open_agent(f, f->admin, other, "desk");
	close(d.fd);
	test_step("whose places they are");
	{
		struct letterbox_settings places = {
			.lmtp = "unix:/nowhere", .smtp = letterbox_place(d.box, 1), .host = DOMAIN
		};
		struct problem p = { 0 };

		CHECK_INT(letterbox_check(&places, &f->arena, &p), 0); /* our own */
		places.host = "other.example.org";
		CHECK_INT(letterbox_check(&places, &f->arena, &p), ERR_USAGE);
		CHECK(p.detail && strstr(p.detail, "in use"));
		places.smtp = "192.0.2.1:2525";
		CHECK_INT(letterbox_check(&places, &f->arena, &p), ERR_USAGE);
		CHECK_INT(letterbox_low_port(&places), 0);
		places.lmtp = "127.0.0.1:24";
		CHECK_INT(letterbox_low_port(&places), 24);
	}
	connect_smtp(&d, d.box);
	hear(smtp, "220 ");
	say(smtp, "EHLO test\r\n", "250-");
	for (int round = 0; round < 2; round++) {
		test_step("round %d", round);
		say(smtp, ENVELOPE("desk@demo." DOMAIN), "250 ");
		hear(smtp, "250 ");
		say(smtp, "RCPT TO:<desk@other." DOMAIN ">\r\n", "250 ");
		say(smtp, "DATA\r\n", "354 ");
		if (round == 0)
			fixture_sql(f, "update mailboxes set paused = 1 where tenant_id = $1",
				ARGS(T(other)));
		say(smtp, "Message-ID: <1@x>\r\n\r\nHello\r\n.\r\n",
			round ? "250 2.0.0 " : "451 4.3.0 ");
		fixture_sql(f, "update mailboxes set paused = 0", NO_ARGS);
		CHECK_INT(arrivals(&d), round ? 2 : 0);
		CHECK_INT(objects(&d), round ? 2 : 0);
	}
	test_step("the server in front may say more of the same letter, so that it is another");
	close(d.fd);
	connect_door(&d);
	hear(&d, "220 ");
	say(&d, "LHLO test\r\n", "250-");
	letter_to(&d, "desk@demo." DOMAIN, "1@x", "250 2.0.0 Taken as");
	letter_to(&d, "desk@demo." DOMAIN, "1@x", "250 2.0.0 Taken before");
	CHECK_INT(fixture_count(f, "select count(*) from mail_arrivals where by_lmtp = 0"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from mail_arrivals where by_lmtp = 1"), 1);
	close_door(&d);
}

/* Who says nothing gives way, the one that has been silent longest first; who has a message under way stays. */
TEST(letterbox_gives_the_room_of_the_idle_to_others)
{
	struct door d = open_door(false), at[4];
	struct letterbox *b = NULL;
	struct problem p = { 0 };

	for (int i = 0; i < 4; i++) {
		at[i] = d;
		at[i].path = arena_printf(&d.f->arena, "%s2", d.path);
	}
	CHECK_INT(letterbox_new(&b,
			  &(struct letterbox_settings){
				  .lmtp = arena_printf(&d.f->arena, "unix:%s", at[0].path),
				  .smtp = "",
				  .host = DOMAIN,
				  .bytes_max = 1000,
				  .connections_max = 2,
				  .spare_ms = 1 },
			  &d.f->arena, &p),
		0);
	CHECK_INT(letterbox_start(b, d.f->app.store, d.f->service.bucket, d.f->app.disk), 0);
	connect_door(&at[0]);
	hear(&at[0], "220 ");
	say(&at[0], "LHLO test\r\n", "250-");
	say(&at[0], ENVELOPE("desk@demo." DOMAIN), "250 ");
	hear(&at[0], "250 ");
	say(&at[0], "DATA\r\n", "354 ");
	for (int i = 1; i < 4; i++) {
		connect_door(&at[i]);
		hear(&at[i], "220 ");
		if (i > 1)
			hear(&at[i - 1], "421 4.3.2 ");
		usleep(5000); /* longer than it is spared */
	}
	CHECK_INT(letterbox_stats(b).gave_way, 2);
	CHECK_INT(letterbox_stats(b).turned_away, 0);
	say(&at[0], "\r\nx\r\n.\r\n", "250 2.0.0 ");
	for (int i = 0; i < 4; i++)
		close(at[i].fd);
	letterbox_free(b);
	close_door(&d);
}

/* Another letterbox beside the door's. */
static struct letterbox *open_beside(struct door *d, struct letterbox_settings s)
{
	struct letterbox *b = NULL;
	struct problem p = { 0 };

	d->path = arena_printf(&d->f->arena, "%s2", d->path);
	s.lmtp = arena_printf(&d->f->arena, "unix:%s", d->path);
	s.smtp = "127.0.0.1:0";
	s.host = DOMAIN;
	s.bytes_max = 1000;
	CHECK_INT(letterbox_new(&b, &s, &d->f->arena, &p), 0);
	CHECK_INT(letterbox_start(b, d->f->app.store, d->f->service.bucket, d->f->app.disk), 0);
	return b;
}

TEST(letterbox_keeps_nobody_out_for_those_who_only_talk)
{
	struct door d = open_door(false), at[4] = { d, d, d, d };
	struct letterbox *b = open_beside(
		&at[0], (struct letterbox_settings){
				.connections_max = 2, .each_max = 1, .spare_ms = 600000 });

	at[1].path = at[2].path = at[3].path = at[0].path;
	test_step("from one address come so many of SMTP, which take no room of LMTP's");
	connect_smtp(&at[0], b);
	hear(&at[0], "220 ");
	connect_smtp(&at[1], b);
	hear(&at[1], "421 4.3.2 ");
	connect_door(&at[2]);
	hear(&at[2], "220 ");
	connect_door(&at[3]);
	hear(&at[3], "220 ");
	for (int i = 0; i < 4; i++)
		close(at[i].fd);
	letterbox_free(b);
	test_step("a command that brings no mail is no reason to stay");
	b = open_beside(
		&at[0], (struct letterbox_settings){ .connections_max = 1, .spare_ms = 200 });
	at[1].path = at[0].path;
	connect_door(&at[0]);
	hear(&at[0], "220 ");
	say(&at[0], "LHLO test\r\n", "250-");
	usleep(250000); /* longer than it is spared */
	say(&at[0], "NOOP\r\n", "250 ");
	connect_door(&at[1]);
	hear(&at[1], "220 ");
	hear(&at[0], "421 4.3.2 ");
	close(at[0].fd);
	close(at[1].fd);
	letterbox_free(b);
	close_door(&d);
}

TEST(letterbox_has_a_most_and_an_end)
{
	struct door d = open_door(false), others[3];
	struct letterbox *second = NULL;
	struct problem p = { 0 };
	struct stat st;

	test_step("connections");
	for (int i = 0; i < 3; i++) {
		others[i] = d;
		connect_door(&others[i]);
		hear(&others[i], i < 2 ? "220 " : "421 4.3.2 ");
	}
	CHECK_INT(letterbox_stats(d.box).turned_away, 1);
	CHECK_INT(letterbox_stats(d.box).open, 3);
	test_step("its file");
	CHECK(stat(d.path, &st) == 0 && (st.st_mode & 0777) == 0660);
	CHECK(letterbox_new(&second,
		      &(struct letterbox_settings){
			      .lmtp = arena_printf(&d.f->arena, "unix:%s", d.path),
			      .smtp = "",
			      .host = DOMAIN,
			      .bytes_max = 1 },
		      &d.f->arena, &p) == ERR_USAGE);
	CHECK(p.detail && strstr(p.detail, "another process takes mail there"));
	test_step("a message under way is ended, and then it is over");
	say(&d, ENVELOPE("desk@demo." DOMAIN), "250 ");
	hear(&d, "250 ");
	say(&d, "DATA\r\n", "354 ");
	letterbox_quiet(d.box);
	hear(&others[0], "421 4.3.0 ");
	say(&d, "\r\nx\r\n.\r\n", "250 2.0.0 ");
	hear(&d, "421 4.3.0 ");
	letterbox_drain(d.box, 5000);
	CHECK_INT(arrivals(&d), 1);
	CHECK_INT(letterbox_stats(d.box).open, 0);
	for (int i = 0; i < 3; i++)
		close(others[i].fd);
	close_door(&d);
}

/* A letterbox with these limits, at which somebody says this at first and that every 50 ms: it is told to leave, with this reason,
 * long before it has said as much as it likes to. */
static void trickle(const struct door *d, struct letterbox_settings s, const char *first,
	const char *then, const char *why)
{
	struct door slow = *d;
	struct letterbox *b = NULL;
	struct problem p = { 0 };
	char all[4096] = "";
	size_t len = 0;

	slow.path = arena_printf(&d->f->arena, "%s3", d->path);
	s.lmtp = arena_printf(&d->f->arena, "unix:%s", slow.path);
	s.smtp = "";
	s.host = DOMAIN;
	s.bytes_max = 1000;
	CHECK_INT(letterbox_new(&b, &s, &d->f->arena, &p), 0);
	CHECK_INT(letterbox_start(b, d->f->app.store, d->f->service.bucket, d->f->app.disk), 0);
	connect_door(&slow);
	CHECK(write(slow.fd, first, strlen(first)) == (ssize_t)strlen(first));
	for (int i = 0; i < 90 && !strstr(all, "421 "); i++) {
		ssize_t n = recv(slow.fd, all + len, sizeof all - 1 - len, MSG_DONTWAIT);

		len += n > 0 ? (size_t)n : 0;
		usleep(50000);
		send(slow.fd, then, strlen(then), MSG_NOSIGNAL);
	}
	if (!strstr(all, why))
		test_fail(__FILE__, __LINE__, "it says \"%s\"", all);
	close(slow.fd);
	letterbox_free(b);
}

TEST(letterbox_waits_for_nobody_for_ever)
{
	struct door d = open_door(false), slow = d;
	struct letterbox *b = NULL;
	struct problem p = { 0 };

	slow.path = arena_printf(&d.f->arena, "%s2", d.path);
	CHECK_INT(letterbox_new(&b,
			  &(struct letterbox_settings){
				  .lmtp = arena_printf(&d.f->arena, "unix:%s", slow.path),
				  .smtp = "",
				  .host = DOMAIN,
				  .bytes_max = 1000,
				  .idle_ms = 50 },
			  &d.f->arena, &p),
		0);
	CHECK_INT(letterbox_start(b, d.f->app.store, d.f->service.bucket, d.f->app.disk), 0);
	connect_door(&slow);
	hear(&slow, "220 ");
	hear(&slow, "421 4.4.2 ");
	close(slow.fd);
	letterbox_free(b);
	test_step("a byte now and then is no command");
	trickle(&d, (struct letterbox_settings){ .idle_ms = 300 }, "", "x", "421 4.4.2 Nothing");
	test_step("commands without end are no message");
	trickle(&d, (struct letterbox_settings){ .message_ms = 300 }, "", "NOOP\r\n",
		"421 4.4.2 Nothing");
	test_step("a message comes at some rate");
	trickle(&d, (struct letterbox_settings){ .slow_ms = 300 },
		"LHLO x\r\n" ENVELOPE("desk@demo." DOMAIN) "DATA\r\n", "x",
		"421 4.4.2 The message");
	test_step("what is left of a process that was killed");
	slow.fd = socket(AF_UNIX, SOCK_STREAM, 0);
	{
		struct sockaddr_un at = { .sun_family = AF_UNIX };

		snprintf(at.sun_path, sizeof at.sun_path, "%s", slow.path);
		CHECK(bind(slow.fd, (struct sockaddr *)&at, sizeof at) == 0);
	}
	close(slow.fd);
	CHECK_INT(letterbox_new(&b,
			  &(struct letterbox_settings){
				  .lmtp = arena_printf(&d.f->arena, "unix:%s", slow.path),
				  .smtp = "",
				  .host = DOMAIN,
				  .bytes_max = 1000 },
			  &d.f->arena, &p),
		0);
	letterbox_free(b);
	close_door(&d);
}
