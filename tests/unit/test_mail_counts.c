/* test_mail_counts.c - mail and letters in figures, and a relay that goes away and comes back. */
#include "letter_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "mailboxes/letter_post.h"
#include "mailboxes/mail_counts.h"

static int64_t figure(struct fixture *f, const char *name)
{
	struct answer r = ask(f, f->admin, NULL, "GET /metrics");
	const char *line = arena_printf(&f->arena, "\n%s ", name), *at = strstr(r.body, line);

	STATUS(r, 200);
	if (!at) {
		test_fail(__FILE__, __LINE__, "there is no %s", name);
		return -1;
	}
	return strtoll(at + strlen(line), NULL, 10);
}

static void comes_to(struct fixture *f, const char *name, int64_t wanted)
{
	for (int i = 0; i < 1000 && figure(f, name) != wanted; i++)
		usleep(10000);
	CHECK_INT(figure(f, name), wanted);
}

static bool news(enum smtp_outcome outcome, int code)
{
	return mail_relay_said(&(struct smtp_said){ .outcome = outcome, .code = code, .text = "" });
}

TEST(mail_counts_a_relay_is_news_when_it_goes_and_when_it_is_back)
{
	news(SMTP_SENT, 250);
	CHECK(!news(SMTP_SENT, 250));
	CHECK(!news(SMTP_LATER, 451)); /* of a recipient */
	CHECK(!mail_relay_is_away());
	CHECK(news(SMTP_LATER, 0));
	CHECK(!news(SMTP_LATER, 0));
	CHECK(!news(SMTP_LATER, 421));
	CHECK(!news(SMTP_LATER, 451));
	CHECK(mail_relay_is_away());
	CHECK(news(SMTP_REFUSED, 550)); /* it answers */
	CHECK(!mail_relay_is_away());
	CHECK(news(SMTP_LATER, 535)); /* our password */
	CHECK(news(SMTP_SENT, 250));
	CHECK(news(SMTP_LATER, 421));
	CHECK(news(SMTP_SENT, 250));
}

static bool unclear_news(void)
{
	return mail_relay_said(&(struct smtp_said){
		.outcome = SMTP_LATER, .code = 554, .unclear = true, .text = "" });
}

TEST(mail_counts_a_relay_that_knows_nobody_of_ours_has_gone)
{
	news(SMTP_SENT, 250);
	CHECK(!unclear_news());
	CHECK(!unclear_news());
	CHECK(!news(SMTP_SENT, 250)); /* of one recipient, then */
	CHECK(!unclear_news());
	CHECK(!unclear_news());
	CHECK(!mail_relay_is_away());
	CHECK(unclear_news());
	CHECK(mail_relay_is_away());
	CHECK(!unclear_news());
	CHECK(news(SMTP_SENT, 250));
}

TEST(mail_counts_letters_that_go_wait_and_are_given_up)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	int64_t sent, deferred, given_up;

	CHECK_INT(figure(f, "lodge_mail_relay_up"), 0); /* none is set */
	letter_tray_open(&box, f);
	news(SMTP_SENT, 250);
	sent = figure(f, "lodge_letters_sent_total");
	deferred = figure(f, "lodge_letters_deferred_total");
	given_up = figure(f, "lodge_letters_given_up_total");
	fixture_sql(f, "update users set email = $2, email_folded = $2 where id = $1",
		ARGS(T(f->admin_id), T("owner@example.org")));
	CHECK_INT(figure(f, "lodge_mail_relay_up"), 1);
	test_step("it takes nothing");
	box.refusal = "421 4.3.2 Going down";
	STATUS(ask(f, NULL, "{\"email\":\"owner@example.org\"}", "POST /auth/reset"), 202);
	comes_to(f, "lodge_letters_deferred_total", deferred + 1);
	CHECK_INT(figure(f, "lodge_mail_relay_up"), 0);
	CHECK_INT(figure(f, "lodge_letters_waiting"), 1);
	fixture_sql(f, "update letters set created_at = created_at - $1, send_at = 1",
		ARGS(N(HOUR_US)));
	CHECK(figure(f, "lodge_letters_oldest_seconds") >= 3600);
	test_step("it is back");
	box.refusal = NULL;
	letter_post_wake(f->service.letters);
	comes_to(f, "lodge_letters_sent_total", sent + 1);
	CHECK_INT(figure(f, "lodge_mail_relay_up"), 1);
	CHECK_INT(figure(f, "lodge_letters_waiting"), 0);
	CHECK_INT(figure(f, "lodge_letters_oldest_seconds"), 0);
	test_step("it refuses");
	box.refusal = "550 5.1.1 No such user";
	STATUS(ask(f, NULL, "{\"email\":\"owner@example.org\"}", "POST /auth/reset"), 202);
	comes_to(f, "lodge_letters_given_up_total", given_up + 1);
	CHECK_INT(figure(f, "lodge_letters_deferred_total"), deferred + 1);
	letter_tray_close(&box, f);
	fixture_close(f);
}
