/* test_mail_send.c - mail to the outside: who is reached and how, what becomes of it by what the relay says, what comes back, and how
 * many new people a mailbox may write to. */
#include "mailboxes/mail_send.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "fixture.h"
#include "mailboxes/mail_counts.h"
#include "mailboxes/mail_dkim.h"
#include "mailboxes/mail_ramp.h"
#include "matrix.h"
#include "queue/parts.h"
#include "relay_fixture.h"

/* What another thread is about to do; a test that waits in vain fails by its time. */
#define WAIT_FOR(condition)           \
	do {                          \
		while (!(condition))  \
			usleep(2000); \
	} while (0)

struct out {
	struct fixture *f;
	struct relay_peer *relay;
	const char *desk;
	struct mailbox_policy before;
};

static struct out out_open(void)
{
	struct out o = { .before = *mailbox_policy() };
	struct mailbox_policy policy = o.before;

	policy.domain = "mail.example";
	policy.provisions = policy.relays = true;
	policy.new_recipients_day = 200;
	mailbox_policy_set(&policy);
	o.f = fixture_open();
	o.relay = relay_peer_open();
	o.f->relay = (struct smtp_relay){
		.url = relay_peer_url(o.relay, &o.f->arena), .hello = "mail.example", .silence_s = 5
	};
	STATUS(ask(o.f, o.f->admin, "{\"external_mail_enabled\":true}", "PATCH /tenant/%s",
		       o.f->tenant_id),
		200);
	o.desk = fixture_agent(o.f, "desk");
	STATUS(ask(o.f, o.f->admin, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", o.desk),
		200);
	STATUS(ask(o.f, o.f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules",
		       o.f->tenant_id),
		200);
	return o;
}

static void out_close(struct out *o)
{
	fixture_close(o->f);
	relay_peer_close(o->relay);
	mailbox_policy_set(&o->before);
}

static struct answer post(const struct out *o, const char *to)
{
	return ask(o->f, o->f->admin,
		arena_printf(
			&o->f->arena, "{\"to\":[%s],\"subject\":\"Hello\",\"text\":\"t\"}", to),
		"POST /agents/%s/mail", o->desk);
}

static struct answer look(const struct out *o, const char *id)
{
	return ask(o->f, o->f->admin, NULL, "GET /agents/%s/mail/%s", o->desk, id);
}

/* The state it is in once no job is about to run. */
static const char *state_at_rest(const struct out *o, const char *id)
{
	struct answer r;

	WAIT_FOR(fixture_count(o->f, "select count(*) from jobs where kind = 'mail.send' "
				     "and state <> 'delayed'") == 0);
	r = look(o, id);
	STATUS(r, 200);
	return text_at(&r, "state");
}

static bool error_has(const struct out *o, const char *id, const char *words)
{
	struct answer r = look(o, id);

	return json_is_string(at(&r, "error")) && strstr(text_at(&r, "error"), words);
}

static int make_due(struct db *db, void *data)
{
	static const struct statement due = { "test",
		"update jobs set run_at = 1, state = 'waiting' where state = 'delayed'",
		.across = "a test", .scan = "a test" };
	const struct fixture *f = data;
	int err = db_run(db, &due, NULL, NO_ARGS);

	return err ? err : jobs_tell(db, f->tenant_id, 1, 1);
}

/* It was all queued so much earlier, and the jobs that wait for their time are due. */
static void let_time_pass(const struct out *o, int64_t us)
{
	fixture_sql(o->f, "update mail_sends set created_at = created_at - $1", ARGS(N(us)));
	CHECK_INT(fixture_work(o->f, make_due, o->f), 0);
}

TEST(mail_send_goes_out_of_the_external_mailbox)
{
	struct out o = out_open();
	const char *back = fixture_agent(o.f, "back"), *id, *got;
	struct answer r, inside;

	r = ask(o.f, o.f->admin,
		"{\"to\":[\"Ann@Example.org\",\"back@demo.lodge.internal\"],\"bcc\":[\"hid@example.net\"],"
		"\"subject\":\"H\\u00e9llo\",\"text\":\"Dear all\",\"attachments\":[{\"filename\":\"a.csv\","
		"\"content_type\":\"text/csv\",\"content\":\"QSxCCg==\"}]}",
		"POST /agents/%s/mail", o.desk);
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "state"), "queued");
	CHECK_STR(text_at(&r, "from"), "desk@demo.mail.example");
	CHECK(json_is_null(at(&r, "sent_at")));
	id = text_at(&r, "id");
	CHECK_STR(text_at(&r, "message_id_header"),
		arena_printf(&o.f->arena, "<%s@demo.mail.example>", id));
	CHECK_STR(state_at_rest(&o, id), "sent");
	CHECK_INT((int64_t)relay_peer_count(o.relay), 2);
	got = relay_peer_message(o.relay, "ann@example.org");
	CHECK(got && strstr(got, "From: A <desk@demo.mail.example>\r\n"));
	CHECK(got && strstr(got, "To: ann@example.org\r\n"));
	CHECK(got && strstr(got, "text/csv") && strstr(got, "QSxCCg=="));
	CHECK(got && !strstr(got, "hid@") && !strstr(got, "lodge.internal"));
	CHECK(got && !strstr(got, "Auto-Submitted"));
	CHECK(got && strstr(got, "Reply-To: desk+"));
	CHECK_STR(got, relay_peer_message(o.relay, "hid@example.net"));
	CHECK(strncmp(relay_peer_sender(o.relay, "ann@example.org"), "b+", 2) == 0);
	CHECK(strcmp(relay_peer_sender(o.relay, "ann@example.org"),
		      relay_peer_sender(o.relay, "hid@example.net")) != 0);
	test_step("the one inside has it from the same address, and answers to it inside");
	inside = ask(o.f, o.f->admin, NULL, "GET /agents/%s/mail?direction=in", back);
	CHECK_STR(text_at(&inside, "items.0.from"), "desk@demo.mail.example");
	r = ask(o.f, o.f->admin, "{\"text\":\"Fine.\"}", "POST /agents/%s/mail/%s/reply", back,
		text_at(&inside, "items.0.id"));
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "state"), "delivered");
	CHECK_STR(text_at(&r, "to.0"), "desk@demo.mail.example");
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_messages where direction = 'in' "
				     "and sender = 'back@demo.lodge.internal'"),
		1);
	out_close(&o);
}

TEST(mail_send_names_whom_it_cannot_reach)
{
	struct out o = out_open();
	struct mailbox_policy policy = *mailbox_policy();
	struct answer r = post(&o, "\"nobody@demo.mail.example\",\"desk+x@demo.mail.example\"");

	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "unknown"));
	CHECK(refuses(&r, "to[1]", "self"));
	test_step("another tenant's address goes by the relay");
	r = post(&o, "\"theirs@other.mail.example\"");
	STATUS(r, 202);
	CHECK_STR(state_at_rest(&o, text_at(&r, "id")), "sent");
	CHECK(relay_peer_message(o.relay, "theirs@other.mail.example") != NULL);
	test_step("no mailbox for it");
	fixture_sql(o.f, "update mailboxes set enabled = 0 where kind = 'external'", NO_ARGS);
	r = post(&o, "\"ann@example.org\"");
	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "no_external_mailbox"));
	test_step("no relay");
	policy.relays = false;
	mailbox_policy_set(&policy);
	r = post(&o, "\"ann@example.org\"");
	CHECK(refuses(&r, "to[0]", "no_relay"));
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_messages"), 1);
	out_close(&o);
}

TEST(mail_send_follows_what_the_relay_says)
{
	struct out o = out_open();
	struct answer r;
	const char *id;
	uint64_t sent = mail_counted(MAIL_COUNT_SENT), failed = mail_counted(MAIL_COUNT_FAILED),
		 deferred = mail_counted(MAIL_COUNT_DEFERRED);

	fixture_sql(o.f, "update mailboxes set created_at = 1", NO_ARGS);
	relay_peer_says(o.relay, "gone@example.org", "550 5.1.1 No such user");
	relay_peer_says(o.relay, "full@example.org", "552 5.2.2 Mailbox full");
	relay_peer_says(o.relay, "slow@example.org", "451 4.7.1 Greylisted");
	test_step("one of three is refused for ever, another waits");
	r = post(&o, "\"ann@example.org\",\"gone@example.org\",\"slow@example.org\"");
	STATUS(r, 202);
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	CHECK(error_has(&o, id, "gone@example.org: 550 5.1.1 No such user"));
	CHECK(error_has(&o, id, "slow@example.org: 451"));
	CHECK_INT(fixture_count(o.f,
			  "select count(*) from mail_suppressions "
			  "where address = 'gone@example.org' and reason like '550 5.1.1%'"),
		1);
	test_step("and counted");
	WAIT_FOR(mail_counted(MAIL_COUNT_DEFERRED) == deferred + 1);
	WAIT_FOR(mail_counted(MAIL_COUNT_SENT) == sent + 1);
	WAIT_FOR(mail_counted(MAIL_COUNT_FAILED) == failed + 1);
	fixture_sql(o.f, "update jobs set created_at = created_at - $1", ARGS(N(HOUR_US)));
	r = ask(o.f, o.f->admin, NULL, "GET /metrics");
	CHECK(strstr(r.body, "\nlodge_mail_waiting 1\n"));
	CHECK(strstr(r.body, "\nlodge_mail_oldest_seconds 36"));
	r = post(&o, "\"gone@example.org\"");
	CHECK(refuses(&r, "to[0]", "suppressed"));
	test_step("it is tried again, with the same bytes");
	CHECK_INT(fixture_count(o.f, "select count(*) from jobs where kind = 'mail.send' "
				     "and state = 'delayed' and attempts = 0"),
		1);
	relay_peer_says(o.relay, "slow@example.org", NULL);
	let_time_pass(&o, 0);
	WAIT_FOR(relay_peer_message(o.relay, "slow@example.org") != NULL);
	CHECK_STR(state_at_rest(&o, id), "bounced");
	CHECK(!error_has(&o, id, "slow@example.org"));
	CHECK_STR(relay_peer_message(o.relay, "slow@example.org"),
		relay_peer_message(o.relay, "ann@example.org"));
	test_step("a full mailbox is no wrong address");
	r = post(&o, "\"full@example.org\"");
	CHECK_STR(state_at_rest(&o, text_at(&r, "id")), "bounced");
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_suppressions"), 1);
	test_step("what is said of our own address is no refusal of the recipient");
	relay_peer_says(o.relay, "seven@example.org", "550 5.1.7 Bad sender's mailbox address");
	r = post(&o, "\"seven@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	CHECK(error_has(&o, id, "seven@example.org: 550 5.1.7"));
	relay_peer_says(o.relay, "seven@example.org", "550 5.1.8 Bad sender's system address");
	let_time_pass(&o, 0);
	CHECK_STR(state_at_rest(&o, id), "queued");
	CHECK(error_has(&o, id, "seven@example.org: 550 5.1.8"));
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_suppressions"), 1);
	test_step("after 48 hours it has failed");
	relay_peer_says(o.relay, "late@example.org", "421 4.3.2 Not now");
	r = post(&o, "\"late@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	let_time_pass(&o, 2 * DAY_US);
	WAIT_FOR(strcmp(state_at_rest(&o, id), "failed") == 0);
	CHECK(error_has(&o, id, "48 hours"));
	WAIT_FOR(mail_counted(MAIL_COUNT_FAILED) == failed + 4);
	CHECK_INT((int64_t)(mail_counted(MAIL_COUNT_SENT) - sent), 2);
	out_close(&o);
}

TEST(mail_send_pauses_grow_and_end)
{
	static const int64_t minutes[] = { 1, 5, 15, 60, 180, 360, 360, 360 };
	int64_t then = 5 * DAY_US;

	for (size_t i = 0; i < sizeof minutes / sizeof *minutes; i++)
		CHECK_INT(mail_send_again(then, (int64_t)i + 1, then + 9),
			then + 9 + minutes[i] * MINUTE_US);
	CHECK_INT(mail_send_again(then, 20, then + 2 * DAY_US - HOUR_US), then + 2 * DAY_US);
	CHECK_INT(mail_send_again(then, 20, then + 2 * DAY_US), NIL);
}

TEST(mail_send_is_off_while_somebody_says_so)
{
	struct out o = out_open();
	struct answer r;
	const char *id, *other, *third;

	relay_peer_says(o.relay, "ann@example.org", "451 4.7.1 Later");
	r = post(&o, "\"ann@example.org\"");
	id = text_at(&r, "id");
	r = post(&o, "\"ann@example.org\"");
	other = text_at(&r, "id");
	r = post(&o, "\"ann@example.org\"");
	third = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	test_step("deleted");
	STATUS(ask(o.f, o.f->admin, NULL, "DELETE /agents/%s/mail/%s", o.desk, third), 204);
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_sends"), 2);
	test_step("paused");
	relay_peer_says(o.relay, "ann@example.org", NULL);
	fixture_sql(o.f, "update mailboxes set paused = 1 where kind = 'external'", NO_ARGS);
	let_time_pass(&o, 0);
	WAIT_FOR(fixture_count(o.f, "select count(*) from jobs where kind = 'mail.send'") == 0);
	CHECK_STR(state_at_rest(&o, id), "failed");
	CHECK_STR(state_at_rest(&o, other), "failed");
	CHECK(error_has(&o, id, "ann@example.org: the mailbox was paused"));
	CHECK_INT((int64_t)relay_peer_count(o.relay), 0);
	test_step("switched off");
	fixture_sql(o.f, "update mailboxes set paused = 0 where kind = 'external'", NO_ARGS);
	relay_peer_says(o.relay, "ann@example.org", "451 4.7.1 Later");
	r = post(&o, "\"ann@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	fixture_sql(o.f, "update agent_rows set is_active = 0", NO_ARGS);
	let_time_pass(&o, 0);
	WAIT_FOR(fixture_count(o.f, "select count(*) from jobs where kind = 'mail.send'") == 0);
	CHECK(error_has(&o, id, "the agent was switched off"));
	out_close(&o);
}

/* ---- what comes back ---- */

struct came_back {
	struct fixture *f;
	const char *send_id;
	const struct mail_delivery *told;
	const char *words;
};

static int come_back(struct db *db, void *data)
{
	const struct came_back *b = data;

	return mail_bounced(
		db, &b->f->arena, b->f->tenant_id, b->send_id, b->told, b->words, clock_now_us());
}

static void bounce(const struct out *o, const char *id, const char *address,
	const struct mail_delivery *told, const char *words)
{
	struct came_back b = { o->f, fixture_id(o->f), told, words };

	fixture_sql(o->f, "update mail_sends set id = $1 where message_id = $2 and address = $3",
		ARGS(T(b.send_id), T(id), T(address)));
	CHECK_INT(fixture_work(o->f, come_back, &b), 0);
}

TEST(mail_send_hears_of_what_came_back)
{
	static const struct mail_delivery delayed = { "ann@example.org", "delayed", "4.4.1", "" },
					  gone = { "ANN@example.org", "failed", "5.1.1",
						  "smtp; 550 no such user" },
					  full = { "ben@example.org", "failed", "5.2.2", "" },
					  gone_dan = { "dan@example.org", "failed", "5.1.1",
						  "gone" };
	struct out o = out_open();
	struct answer r = post(&o, "\"ann@example.org\",\"ben@example.org\"");
	const char *id = text_at(&r, "id");

	CHECK_STR(state_at_rest(&o, id), "sent");
	bounce(&o, id, "ann@example.org", &delayed, "");
	CHECK_STR(state_at_rest(&o, id), "sent");
	test_step("one of two");
	bounce(&o, id, "ann@example.org", &gone, "");
	CHECK_STR(state_at_rest(&o, id), "bounced");
	CHECK(error_has(&o, id, "ann@example.org: smtp; 550 no such user"));
	bounce(&o, id, "ben@example.org", &full, "");
	CHECK(error_has(&o, id, "ben@example.org: 5.2.2"));
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_suppressions "
				     "where address = 'ann@example.org'"),
		1);
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_suppressions"), 1);
	test_step("a report that names another is about whoever had this address");
	fixture_sql(o.f, "update mailboxes set created_at = created_at - $1", ARGS(N(2 * HOUR_US)));
	r = post(&o, "\"cat@example.org\",\"dan@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "sent");
	bounce(&o, id, "cat@example.org", &gone_dan, "");
	CHECK(error_has(&o, id, "cat@example.org: "));
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_suppressions "
				     "where address = 'dan@example.org'"),
		0);
	test_step("nothing but words");
	r = post(&o, "\"eve@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "sent");
	bounce(&o, id, "eve@example.org", NULL, "Sorry,\nit cannot be delivered.");
	CHECK_STR(state_at_rest(&o, id), "bounced");
	CHECK(error_has(&o, id, "eve@example.org: Sorry, it cannot be delivered."));
	test_step("of a message that is gone");
	bounce(&o, o.f->tenant_id, "x", NULL, "Sorry");
	out_close(&o);
}

TEST(mail_send_names_no_address_that_no_server_takes)
{
	struct out o = out_open();
	struct answer r = post(&o, "\"\\\"a b\\\"@z.example\",\"\\\"a>b\\\"@z.example\"");
	const char *id;

	STATUS(r, 422);
	CHECK(refuses(&r, "to[0]", "address"));
	CHECK(refuses(&r, "to[1]", "address"));
	test_step("one that is there already fails, and nobody breaks down over it");
	relay_peer_says(o.relay, "ann@example.org", "451 4.7.1 Later");
	r = post(&o, "\"ann@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	fixture_sql(o.f, "update mail_sends set address = $1 where message_id = $2",
		ARGS(T("\"a b\"@z.example"), T(id)));
	let_time_pass(&o, 0);
	WAIT_FOR(strcmp(state_at_rest(&o, id), "queued") != 0);
	CHECK_STR(state_at_rest(&o, id), "failed");
	CHECK(error_has(&o, id, "cannot be named to a mail server"));
	r = ask(o.f, o.f->admin, NULL, "POST /agents/%s/mail/%s/send-again", o.desk, id);
	STATUS(r, 422);
	CHECK(refuses(&r, "to", "address"));
	out_close(&o);
}

/* ---- sent again ---- */

static struct answer again(const struct out *o, const char *id)
{
	return ask(o->f, o->f->admin, NULL, "POST /agents/%s/mail/%s/send-again", o->desk, id);
}

TEST(mail_send_again_reaches_those_who_lack_it)
{
	static const struct mail_delivery full = { "ann@example.org", "failed", "5.2.2", "" };
	struct out o = out_open();
	const char *id, *first, *way;
	struct answer r;

	relay_peer_says(o.relay, "full@example.org", "552 5.2.2 Mailbox full");
	relay_peer_says(o.relay, "gone@example.org", "550 5.1.1 No such user");
	r = post(&o, "\"ann@example.org\",\"full@example.org\",\"gone@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "bounced");
	first = relay_peer_message(o.relay, "ann@example.org");
	test_step("who is still full is tried, and nobody else");
	r = again(&o, id);
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "state"), "queued");
	CHECK(strstr(text_at(&r, "error"), "gone@example.org: 550 5.1.1"));
	CHECK(!strstr(text_at(&r, "error"), "full@example.org"));
	STATUS(again(&o, id), 409);
	CHECK_STR(state_at_rest(&o, id), "bounced");
	CHECK_INT((int64_t)relay_peer_count(o.relay), 1);
	test_step("the same message");
	r = ask(o.f, o.f->admin, NULL, "GET /tenant/%s/mail/suppressions", o.f->tenant_id);
	STATUS(ask(o.f, o.f->admin, NULL, "DELETE /tenant/%s/mail/suppressions/%s", o.f->tenant_id,
		       text_at(&r, "items.0.id")),
		204);
	relay_peer_says(o.relay, "full@example.org", NULL);
	STATUS(again(&o, id), 202);
	CHECK_STR(state_at_rest(&o, id), "bounced");
	CHECK_STR(strstr(relay_peer_message(o.relay, "full@example.org"), "\r\nMessage-ID: "),
		strstr(first, "\r\nMessage-ID: "));
	CHECK_INT((int64_t)relay_peer_count(o.relay), 2);
	test_step("nobody is left but who is suppressed");
	r = again(&o, id);
	STATUS(r, 422);
	CHECK(refuses(&r, "to[2]", "suppressed"));
	fixture_sql(
		o.f, "delete from mail_suppressions where tenant_id = $1", ARGS(T(o.f->tenant_id)));
	STATUS(ask(o.f, o.f->admin, "{\"allow_to\":[\"@example.net\"],\"wake\":\"never\"}",
		       "PUT /tenant/%s/mail/rules", o.f->tenant_id),
		200);
	r = again(&o, id);
	CHECK(refuses(&r, "to[2]", "not_allowed"));
	STATUS(ask(o.f, o.f->admin, "{\"wake\":\"never\"}", "PUT /tenant/%s/mail/rules",
		       o.f->tenant_id),
		200);
	test_step("a paused mailbox");
	fixture_sql(o.f, "update mailboxes set paused = 1 where kind = 'external'", NO_ARGS);
	STATUS(again(&o, id), 409);
	fixture_sql(o.f, "update mailboxes set paused = 0 where kind = 'external'", NO_ARGS);
	test_step("all have it");
	relay_peer_says(o.relay, "gone@example.org", NULL);
	STATUS(again(&o, id), 202);
	CHECK_STR(state_at_rest(&o, id), "sent");
	r = look(&o, id);
	CHECK(json_is_null(at(&r, "error")));
	STATUS(again(&o, id), 409);
	test_step("what comes back of the first way is not taken for the second's");
	way = fixture_id(o.f);
	bounce(&o, id, "ann@example.org", &full, "");
	CHECK_STR(state_at_rest(&o, id), "bounced");
	fixture_sql(o.f, "update mail_sends set id = $1 where state = 'bounced'", ARGS(T(way)));
	STATUS(again(&o, id), 202);
	CHECK_STR(state_at_rest(&o, id), "sent");
	CHECK_INT((int64_t)relay_peer_count(o.relay), 4);
	CHECK(!strstr(relay_peer_sender(o.relay, "ann@example.org"), way));
	test_step("48 hours anew; what ended then is sent again too");
	relay_peer_says(o.relay, "late@example.org", "421 4.3.2 Not now");
	fixture_sql(o.f, "update mailboxes set created_at = created_at - $1", ARGS(N(2 * HOUR_US)));
	r = post(&o, "\"late@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(state_at_rest(&o, id), "queued");
	let_time_pass(&o, 2 * DAY_US);
	WAIT_FOR(strcmp(state_at_rest(&o, id), "failed") == 0);
	STATUS(again(&o, id), 202);
	CHECK_STR(state_at_rest(&o, id), "queued");
	CHECK_INT(fixture_count(o.f, "select count(*) from jobs where kind = 'mail.send'"), 1);
	relay_peer_says(o.relay, "late@example.org", NULL);
	let_time_pass(&o, 0);
	WAIT_FOR(strcmp(state_at_rest(&o, id), "sent") == 0);
	out_close(&o);
}

/* ---- new recipients ---- */

TEST(mail_ramp_holds_what_reaches_too_many_new_people)
{
	struct out o = out_open();
	struct answer r;
	const char *id, *key;

	r = post(&o, "\"a@example.org\",\"b@example.org\",\"c@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	r = post(&o, "\"a@example.org\",\"c@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	r = post(&o, "\"a@example.org\",\"d@example.org\"");
	STATUS(r, 202);
	id = text_at(&r, "id");
	CHECK_STR(text_at(&r, "state"), "held");
	CHECK(error_has(&o, id, "in its first hour"));
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_sends"), 5);
	test_step("who wrote first is not new, if they were proven to");
	fixture_sql(o.f,
		"update mail_messages set direction = 'in', state = 'received', sender = 'w@example.org', "
		"verdict = 'fail' where id = $1",
		ARGS(T(id)));
	r = post(&o, "\"w@example.org\"");
	CHECK_STR(text_at(&r, "state"), "held");
	fixture_sql(o.f, "update mail_messages set verdict = 'none' where id = $1", ARGS(T(id)));
	r = post(&o, "\"w@example.org\"");
	CHECK_STR(text_at(&r, "state"), "held");
	fixture_sql(o.f, "update mail_messages set verdict = 'pass' where id = $1", ARGS(T(id)));
	r = post(&o, "\"w@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	test_step("a person lets it go, a key does not");
	r = post(&o, "\"d@example.org\"");
	id = text_at(&r, "id");
	CHECK_STR(text_at(&r, "state"), "held");
	key = key_make(o.f, o.f->tenant_id, o.f->admin_id, "[]", NIL, NULL);
	STATUS(ask(o.f, key, NULL, "POST /agents/%s/mail/%s/send", o.desk, id), 403);
	STATUS(ask(o.f, o.f->admin, NULL, "POST /agents/%s/mail/%s/send", o.desk, id), 202);
	CHECK_STR(state_at_rest(&o, id), "sent");
	STATUS(ask(o.f, o.f->admin, NULL, "POST /agents/%s/mail/%s/send", o.desk, id), 409);
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_correspondents where first_at > 0"),
		4);
	test_step("a draft is held too");
	r = ask(o.f, o.f->admin,
		"{\"to\":[\"e@example.org\"],\"subject\":\"s\",\"text\":\"t\",\"draft\":true}",
		"POST /agents/%s/mail", o.desk);
	CHECK_STR(text_at(&r, "from"), "desk@demo.lodge.internal");
	r = ask(o.f, o.f->admin, NULL, "POST /agents/%s/mail/%s/send", o.desk, text_at(&r, "id"));
	STATUS(r, 202);
	CHECK_STR(text_at(&r, "state"), "held");
	CHECK_STR(text_at(&r, "from"), "desk@demo.mail.example");
	test_step("later there may be more");
	fixture_sql(o.f, "update mailboxes set created_at = created_at - $1", ARGS(N(2 * HOUR_US)));
	r = post(&o, "\"f@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	fixture_sql(o.f,
		"insert into mail_correspondents (tenant_id, agent_id, address, first_at) "
		"select tenant_id, agent_id, address || '.x', first_at from mail_correspondents "
		"where first_at > 0 union all select tenant_id, agent_id, address || '.y', first_at "
		"from mail_correspondents where first_at > 0 union all select tenant_id, agent_id, "
		"address || '.z', first_at from mail_correspondents where first_at > 0",
		NO_ARGS);
	r = post(&o, "\"g@example.org\"");
	CHECK_STR(text_at(&r, "state"), "held");
	CHECK(error_has(&o, text_at(&r, "id"), "a day in its first week"));
	fixture_sql(o.f, "update mailboxes set created_at = created_at - $1", ARGS(N(7 * DAY_US)));
	r = post(&o, "\"g@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	out_close(&o);
}

TEST(mail_ramp_is_not_passed_by_making_the_agent_again)
{
	struct out o = out_open();
	struct answer r = post(&o, "\"a@example.org\",\"b@example.org\"");

	CHECK_STR(text_at(&r, "state"), "queued");
	CHECK_STR(state_at_rest(&o, text_at(&r, "id")), "sent");
	STATUS(ask(o.f, o.f->admin, NULL, "DELETE /agents/%s", o.desk), 204);
	WAIT_FOR(fixture_count(o.f, "select count(*) from agent_rows where slug = 'desk'") == 0);
	o.desk = fixture_agent(o.f, "desk");
	STATUS(ask(o.f, o.f->admin, "{\"external_mail_enabled\":true}", "PATCH /agents/%s", o.desk),
		200);
	r = post(&o, "\"c@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	r = post(&o, "\"d@example.org\"");
	CHECK_STR(text_at(&r, "state"), "held");
	test_step("who wrote is remembered for a day alone");
	fixture_sql(o.f, "update mail_begun set id = 'c00' || substr(id, 4)", NO_ARGS);
	fixture_sql(o.f, "update mail_correspondents set first_at = 1", NO_ARGS);
	r = post(&o, "\"d@example.org\"");
	CHECK_STR(text_at(&r, "state"), "queued");
	CHECK_INT(fixture_count(o.f, "select count(*) from mail_begun"), 1);
	out_close(&o);
}

/* ---- keys ---- */

struct keyed {
	struct fixture *f;
	const char *domain;
	struct mail_dkim key;
	bool turn;
};

static int give_key(struct db *db, void *data)
{
	struct keyed *k = data;
	struct arena *a = &k->f->arena;
	bool next = k->key.selector;
	int err;

	if (k->turn)
		return mail_dkim_turn(db, a, k->f->app.vault, k->domain, clock_now_us());
	err = mail_dkim_make(a, k->domain, k->key.selector, clock_now_us(), &k->key);
	return err ? err : mail_dkim_write(db, a, k->f->app.vault, &k->key, next, 1);
}

TEST(mail_send_signs_for_the_domain_above)
{
	struct out o = out_open();
	struct keyed k = { .f = o.f, .domain = "mail.example" };
	struct arena *a = &o.f->arena;
	struct dkim_check check;
	struct answer r;
	const char *got, *first;

	CHECK_INT(fixture_work(o.f, give_key, &k), 0);
	first = k.key.selector;
	r = post(&o, "\"ann@example.org\"");
	CHECK_STR(state_at_rest(&o, text_at(&r, "id")), "sent");
	got = relay_peer_message(o.relay, "ann@example.org");
	CHECK(got && strncmp(got, "DKIM-Signature: ", 16) == 0);
	dkim_check_begin(a, got, strlen(got), clock_now_us() / SECOND_US, &check);
	CHECK_INT((int64_t)check.count, 1);
	CHECK_STR(check.at[0].domain, "mail.example");
	CHECK_STR(check.at[0].key_name, mail_dkim_name(a, &k.key));
	dkim_check_key(a, &check, 0, mail_dkim_record(a, &k.key));
	CHECK(check.at[0].verdict == MAIL_PASS);
	test_step("the next key has another name, and is used when it is its turn");
	CHECK_INT(fixture_work(o.f, give_key, &k), 0);
	CHECK(strcmp(first, k.key.selector) != 0);
	r = post(&o, "\"ben@example.org\"");
	CHECK_STR(state_at_rest(&o, text_at(&r, "id")), "sent");
	CHECK(strstr(
		relay_peer_message(o.relay, "ben@example.org"), arena_printf(a, "s=%s;", first)));
	k.turn = true;
	CHECK_INT(fixture_work(o.f, give_key, &k), 0);
	r = post(&o, "\"cat@example.org\"");
	CHECK_STR(state_at_rest(&o, text_at(&r, "id")), "sent");
	CHECK(strstr(relay_peer_message(o.relay, "cat@example.org"),
		arena_printf(a, "s=%s;", k.key.selector)));
	out_close(&o);
}
