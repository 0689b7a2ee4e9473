/* test_letter_limits.c - how many letters go to whom: strangers use up nobody's, invitations are counted apart, and names make
 * no links. */
#include "letter_fixture.h"

#include <unistd.h>

#include "access/throttle.h"
#include "base/clock.h"
#include "call/maintenance.h"
#include "mailboxes/letter_text.h"

static bool trusts_all(const void *ctx, const char *address)
{
	(void)ctx, (void)address;
	return true;
}

static struct fixture *open_house(struct letter_tray *box)
{
	struct fixture *f = fixture_open();

	letter_tray_open(box, f);
	f->app.settings.trusts = trusts_all;
	return f;
}

static void close_house(struct letter_tray *box, struct fixture *f)
{
	letter_tray_close(box, f);
	fixture_close(f);
}

static struct answer forgot(struct fixture *f, const char *email, const char *from)
{
	return ask(f, NULL, arena_printf(&f->arena, "{\"email\":\"%s\"}", email),
		"POST /auth/reset\nX-Forwarded-For: %s", from);
}

static struct answer want_account(struct fixture *f, const char *email, const char *from)
{
	return ask(f, NULL,
		arena_printf(&f->arena,
			"{\"email\":\"%s\",\"name\":\"Grace\",\"password\":\"my own choice\"}",
			email),
		"POST /auth/register\nX-Forwarded-For: %s", from);
}

static struct answer invite(struct fixture *f, const char *email)
{
	return ask(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", email),
		"POST /tenant/%s/members", f->tenant_id);
}

static void person(struct fixture *f, const char *email)
{
	fixture_sql(f, "update users set email_proven_at = 1 where id = $1",
		ARGS(T(fixture_user(f, email, NULL))));
}

TEST(letter_limits_are_of_a_place_and_an_address_whoever_has_it)
{
	static const char *const to[] = { "ada@example.org", "nobody@example.org" };
	struct letter_tray box;
	struct fixture *f = open_house(&box);
	struct answer r;

	person(f, "ada@example.org");
	for (size_t i = 0; i < 2; i++) {
		test_step(to[i]);
		STATUS(forgot(f, to[i], "192.0.2.1"), 202);
		STATUS(want_account(f, to[i], "192.0.2.1"), 202);
		STATUS(forgot(f, to[i], "192.0.2.1"), 202);
		r = forgot(f, to[i], "192.0.2.1");
		STATUS(r, 429);
		CHECK(header_of(f, &r, "Retry-After"));
		CHECK(strstr(
			r.body, "Too many letters to this address asked for from where you are"));
		STATUS(want_account(f, to[i], "192.0.2.1"), 429);
		STATUS(forgot(f, to[i], "192.0.2.2"), 202);
	}
	test_step("and of a place");
	for (int i = 0; i < 14; i++)
		STATUS(forgot(f, arena_printf(&f->arena, "n%d@example.org", i), "192.0.2.1"), 202);
	r = forgot(f, "another@example.org", "192.0.2.1");
	STATUS(r, 429);
	CHECK(strstr(r.body, "Too many letters asked for from where you are"));
	CHECK_INT(letter_tray_settled(&box, f), 4);
	close_house(&box, f);
}

static int know_place(struct db *db, void *data)
{
	struct fixture *f = data;
	struct throttle t = { .email = "ada@example.org", .ip = "192.0.2.4" };

	return throttle_know(db, &f->arena, &t, clock_now_us());
}

TEST(letter_limits_of_strangers_are_not_the_owners)
{
	struct letter_tray box;
	struct fixture *f = open_house(&box);
	struct answer r;

	test_step("ten in a day from a place");
	person(f, "ada@example.org");
	STATUS(forgot(f, "ada@example.org", "192.0.2.1"), 202);
	fixture_sql(f, "update attempts set failures = 10 where subject like 'day:%:192.0.2.1'",
		NO_ARGS);
	fixture_sql(f, "update attempts set since = since - $1", ARGS(N(HOUR_US)));
	maintenance_submit(&f->app);
	for (int i = 0; i < 1000 && fixture_count(f, "select count(*) from attempts where "
						     "subject like 'letters%'");
		i++)
		usleep(10000);
	STATUS(forgot(f, "ada@example.org", "192.0.2.1"), 429);
	STATUS(forgot(f, "ada@example.org", "192.0.2.2"), 202);
	test_step("fifty from everywhere");
	fixture_sql(f, "update attempts set failures = 50 where subject like 'day:%:'", NO_ARGS);
	r = forgot(f, "ada@example.org", "192.0.2.3");
	STATUS(r, 429);
	CHECK(strstr(r.body, "Too many letters to this address today"));
	test_step("but for the owner");
	CHECK_INT(fixture_work(f, know_place, f), 0);
	STATUS(forgot(f, "ada@example.org", "192.0.2.4"), 202);
	STATUS(forgot(f, "ada@example.org", "192.0.2.3"), 429);
	close_house(&box, f);
}

TEST(letter_limits_of_invitations_are_counted_apart_and_told)
{
	struct letter_tray box;
	struct fixture *f = open_house(&box);
	struct answer r;

	test_step("whoever asks for other letters takes none of them");
	for (int i = 0; i < 3; i++)
		STATUS(forgot(f, "grace@example.org", "192.0.2.1"), 202);
	for (int i = 0; i < 3; i++) {
		r = invite(f, "grace@example.org");
		CHECK_STR(text_at(&r, "letter"), "queued");
		CHECK(json_is_null(at(&r, "letter_again_at")));
	}
	test_step("one too many to the address");
	r = invite(f, "Grace@example.org");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "letter"), "limited");
	CHECK(text_at(&r, "letter_again_at"));
	CHECK(text_at(&r, "invite_url"));
	test_step("and again when it may");
	fixture_sql(f, "update attempts set since = since - $1 where subject like 'invites%'",
		ARGS(N(HOUR_US)));
	r = invite(f, "grace@example.org");
	CHECK_STR(text_at(&r, "letter"), "queued");
	test_step("one too many of the tenant");
	CHECK_INT(fixture_count(f, "select count(*) from attempts where failures = 4 and subject "
				   "like 'day:invites:%'"),
		1);
	fixture_sql(f, "update attempts set failures = 199 where subject like 'day:invites:%'",
		NO_ARGS);
	r = invite(f, "joan@example.org");
	CHECK_STR(text_at(&r, "letter"), "queued");
	r = invite(f, "rosa@example.org");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "letter"), "limited");
	test_step("one too many of all tenants to the address");
	fixture_sql(
		f, "update attempts set failures = 1 where subject like 'day:invites:%'", NO_ARGS);
	fixture_sql(f, "update attempts set failures = 20 where subject like 'day:invites-to:%'",
		NO_ARGS);
	r = invite(f, "joan@example.org");
	CHECK_STR(text_at(&r, "letter"), "limited");
	close_house(&box, f);
}

TEST(letter_limits_say_that_there_is_no_mail)
{
	struct fixture *f = fixture_open();
	struct answer r = invite(f, "grace@example.org");

	CHECK_STR(text_at(&r, "letter"), "no_mail");
	CHECK(json_is_null(at(&r, "letter_again_at")));
	fixture_close(f);
}

TEST(letter_names_become_no_links)
{
	struct arena a = { 0 };
	struct letter l = { .says = LETTER_SAYS_INVITED, .who = "Ada", .link = "https://l/#x" };

	l.tenant = "Win \"now\": https://evil.example/x";
	CHECK_STR(letter_subject(&a, &l),
		"You are invited to \"Win 'now': https: / / evil. example/ x\"");
	CHECK(strstr(letter_body(&a, &l), "join \"Win 'now': https: / / evil. example/ x\"."));
	l.tenant = "Example Inc.";
	CHECK_STR(letter_subject(&a, &l), "You are invited to \"Example Inc.\"");
	l.tenant = "evil\xef\xbc\x8e"
		   "example";
	CHECK_STR(letter_subject(&a, &l), "You are invited to \"evil\xef\xbc\x8e example\"");
	test_step("short in a subject, and on one line");
	l.tenant = "0123456789012345678901234567890123456789012345678901234567890123456789";
	CHECK_STR(letter_subject(&a, &l),
		"You are invited to \"012345678901234567890123456789012345678901234567890123456789"
		"\xe2\x80\xa6\"");
	CHECK(strstr(letter_body(&a, &l), l.tenant));
	l.tenant = "a\r\nBcc: b";
	CHECK_STR(letter_subject(&a, &l), "You are invited to \"a  Bcc: b\"");
	arena_free(&a);
}
