/* test_letters.c - letters to people: links that come by mail, what they are good for, and that asking for one tells nothing. */
#include "letter_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include "api/people/approval_letters.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "mailboxes/letter_post.h"

static const char *person(struct fixture *f, const char *email, bool proven)
{
	const char *id = fixture_user(f, email, NULL);
	char hash[PASSWORD_HASH_MAX];

	CHECK(password_hash("the old one", 11, hash));
	fixture_member(f, f->tenant_id, id, "MEMBER");
	fixture_sql(f, "update users set password_hash = $2, email_proven_at = $3 where id = $1",
		ARGS(T(id), T(hash), N(proven ? 1 : NIL)));
	return id;
}

static struct answer forgot(struct fixture *f, const char *email)
{
	return ask(
		f, NULL, arena_printf(&f->arena, "{\"email\":\"%s\"}", email), "POST /auth/reset");
}

static struct answer set_password(struct fixture *f, const char *token)
{
	return ask(f, NULL,
		arena_printf(&f->arena, "{\"token\":\"%s\",\"password\":\"the new one\"}", token),
		"POST /auth/reset/confirm");
}

static struct answer want_account(struct fixture *f, const char *email)
{
	return ask(f, NULL,
		arena_printf(&f->arena,
			"{\"email\":\"%s\",\"name\":\"Grace\",\"password\":\"my own choice\"}",
			email),
		"POST /auth/register");
}

static struct answer confirm_account(struct fixture *f, const char *token)
{
	return ask(f, NULL,
		arena_printf(&f->arena, "{\"token\":\"%s\",\"password\":\"my own choice\"}", token),
		"POST /auth/confirm");
}

static void allow(struct fixture *f, const char *email)
{
	fixture_created(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", email),
		"POST /tenant/%s/allowed-accounts", f->tenant_id);
}

/* The same status and the same body, byte for byte. */
static void same(const struct answer *a, const struct answer *b)
{
	CHECK_INT(a->status, b->status);
	CHECK_STR(a->body, b->body);
}

TEST(letters_reset_a_password_once_and_prove_the_address)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	const char *id = person(f, "Ada@example.org", false), *letter, *token;

	test_step("without mail");
	STATUS(forgot(f, "ada@example.org"), 409);
	CHECK_INT(fixture_count(f, "select count(*) from letters"), 0);
	letter_tray_open(&box, f);
	test_step("by mail");
	STATUS(fixture_sign_in(f, "ada@example.org", "the old one"), 200);
	STATUS(forgot(f, "ADA@example.org"), 202);
	letter = letter_tray_letter(&box, 1);
	CHECK(strstr(box.letters[0].to, "<Ada@example.org>"));
	CHECK(strstr(letter, "Auto-Submitted: auto-generated"));
	CHECK(strstr(letter, "Subject: Set a new password"));
	CHECK(strstr(letter, "From: Lodge <lodge@lodge.example>"));
	token = letter_tray_token(f, letter, "reset");
	CHECK_INT(letter_tray_settled(&box, f), 1);
	CHECK_INT(fixture_count(f, "select count(*) from logins"), 2);
	STATUS(set_password(f, token), 204);
	CHECK_INT(fixture_count(f, "select count(*) from logins"), 1); /* the administrator's */
	STATUS(set_password(f, token), 401);
	STATUS(fixture_sign_in(f, "ada@example.org", "the old one"), 401);
	STATUS(fixture_sign_in(f, "ada@example.org", "the new one"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from users where email_proven_at > 0 "
				   "and email_folded = 'ada@example.org'"),
		1);
	test_step("a link of another kind is no link");
	STATUS(confirm_account(f, token), 401);
	(void)id;
	letter_tray_close(&box, f);
	fixture_close(f);
}

TEST(letters_reset_links_end_after_an_hour_and_all_with_the_first_that_is_used)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	const char *first, *second;
	struct answer r;

	letter_tray_open(&box, f);
	person(f, "ada@example.org", true);
	r = fixture_sign_in(f, "ada@example.org", "the old one");
	STATUS(ask(f, text_at(&r, "token"), "{\"name\":\"a thief's\"}", "POST /tenant/%s/api-keys",
		       f->tenant_id),
		201);
	STATUS(forgot(f, "ada@example.org"), 202);
	first = letter_tray_token(f, letter_tray_letter(&box, 1), "reset");
	STATUS(forgot(f, "ada@example.org"), 202); /* takes nothing from whoever has the first */
	second = letter_tray_token(f, letter_tray_letter(&box, 2), "reset");
	CHECK(strcmp(first, second) != 0);
	CHECK(strstr(letter_tray_letter(&box, 1), "and every API key"));
	STATUS(set_password(f, first), 204);
	CHECK_INT(fixture_count(f, "select count(*) from api_keys"), 0);
	STATUS(set_password(f, second), 401);
	STATUS(forgot(f, "ada@example.org"), 202);
	first = letter_tray_token(f, letter_tray_letter(&box, 3), "reset");
	fixture_sql(f, "update resets set expires_at = expires_at - $1", ARGS(N(HOUR_US)));
	STATUS(set_password(f, first), 401);
	letter_tray_close(&box, f);
	fixture_close(f);
}

TEST(letters_tell_nobody_who_has_an_account)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	struct answer known, other;
	const char *id;

	letter_tray_open(&box, f);
	person(f, "ada@example.org", true);
	id = person(f, "gone@example.org", true);
	fixture_sql(f, "update users set is_suspended = 1 where id = $1", ARGS(T(id)));
	test_step("a new password");
	known = forgot(f, "ada@example.org");
	STATUS(known, 202);
	letter_tray_letter(&box, 1);
	other = forgot(f, "nobody@example.org");
	same(&known, &other);
	other = forgot(f, "gone@example.org");
	same(&known, &other);
	CHECK_INT(letter_tray_settled(&box, f), 1);
	test_step("an account");
	allow(f, "grace@example.org");
	known = want_account(f, "ada@example.org");
	STATUS(known, 202);
	CHECK(strstr(letter_tray_letter(&box, 2), "Subject: You have an account already"));
	CHECK(!strstr(letter_tray_letter(&box, 2), "#lodge_"));
	other = want_account(f, "nobody@example.org");
	same(&known, &other);
	other = want_account(f, "gone@example.org");
	same(&known, &other);
	other = want_account(f, "grace@example.org");
	same(&known, &other);
	letter_tray_letter(&box, 3);
	CHECK_INT(letter_tray_settled(&box, f), 3);
	STATUS(fixture_sign_in(f, "ada@example.org", "my own choice"), 401);
	test_step("whoever signs in elsewhere");
	id = fixture_user(f, "sso@example.org", NULL);
	fixture_sql(f,
		"insert into identities (provider, subject, user_id, created_at) "
		"values ('corp', 's', $1, 1)",
		ARGS(T(id)));
	other = forgot(f, "sso@example.org");
	CHECK_INT(other.status, 202);
	CHECK(strstr(letter_tray_letter(&box, 4), "you sign in with corp"));
	CHECK(!strstr(letter_tray_letter(&box, 4), "#lodge_"));
	letter_tray_close(&box, f);
	fixture_close(f);
}

TEST(letters_confirm_an_account)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	const char *token, *again;
	struct answer r;

	letter_tray_open(&box, f);
	allow(f, "Grace@example.org");
	STATUS(want_account(f, "grace@Example.org"), 202);
	token = letter_tray_token(f, letter_tray_letter(&box, 1), "confirm");
	STATUS(want_account(f, "grace@example.org"), 202);
	again = letter_tray_token(f, letter_tray_letter(&box, 2), "confirm");
	STATUS(fixture_sign_in(f, "grace@example.org", "my own choice"), 401);
	STATUS(confirm_account(f, "lodge_confirm_wrong"), 401);
	test_step("who did not choose the password has not asked for it");
	STATUS(ask(f, NULL,
		       arena_printf(&f->arena, "{\"token\":\"%s\",\"password\":\"another choice\"}",
			       token),
		       "POST /auth/confirm"),
		401);
	CHECK_INT(fixture_count(f, "select count(*) from registrations"), 2);
	r = confirm_account(f, token);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "user.email_proven")));
	CHECK_STR(text_at(&r, "user.name"), "Grace");
	CHECK_STR(text_at(&r, "user.memberships.0.tenant_id"), f->tenant_id);
	STATUS(ask(f, text_at(&r, "token"), NULL, "GET /me"), 200);
	STATUS(confirm_account(f, token), 401);
	STATUS(confirm_account(f, again), 401);
	STATUS(fixture_sign_in(f, "grace@example.org", "my own choice"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from registrations"), 0);
	test_step("the link ends");
	allow(f, "late@example.org");
	STATUS(want_account(f, "late@example.org"), 202);
	token = letter_tray_token(f, letter_tray_letter(&box, 3), "confirm");
	fixture_sql(f, "update registrations set expires_at = expires_at - $1", ARGS(N(DAY_US)));
	STATUS(confirm_account(f, token), 401);
	letter_tray_close(&box, f);
	fixture_close(f);
}

TEST(letters_invite_with_a_link_that_proves_the_address)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	const char *token;
	struct answer r;

	letter_tray_open(&box, f);
	fixture_sql(f, "update tenants set name = $2 where id = $1",
		ARGS(T(f->tenant_id), T("Two\r\nBcc: x@example.org\xe2\x80\xae lines")));
	r = ask(f, f->admin, "{\"email\":\"grace@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	CHECK(text_at(&r, "invite_token"));
	CHECK(strstr(letter_tray_letter(&box, 1),
		"Admin invites you to join \"Two  Bcc: x@ example. org  lines\"."));
	CHECK(!strstr(letter_tray_letter(&box, 1), "\nBcc:"));
	token = letter_tray_token(f, letter_tray_letter(&box, 1), "invite");
	CHECK(strcmp(token, text_at(&r, "invite_token")) != 0);
	r = ask(f, NULL,
		arena_printf(&f->arena,
			"{\"token\":\"%s\",\"name\":\"G\",\"password\":\"my own choice\"}", token),
		"POST /auth/accept-invite");
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "user.email_proven")));
	test_step("one that was withdrawn is not sent");
	box.refusal = "451 4.3.0 Later";
	r = ask(f, f->admin, "{\"email\":\"joan@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	for (int i = 0;
		i < 1000 && !fixture_count(f, "select count(*) from letters where attempts = 1");
		i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, "select count(*) from letters where attempts = 1 "
				   "and sealed is not null and sealed not like '%lodge_%'"),
		1);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id,
		       text_at(&r, "user_id")),
		204);
	box.refusal = NULL;
	fixture_sql(f, "update letters set send_at = send_at - $1", ARGS(N(2 * MINUTE_US)));
	letter_post_wake(f->service.letters);
	CHECK_INT(letter_tray_settled(&box, f), 1);
	letter_tray_close(&box, f);
	fixture_close(f);
}

TEST(letters_are_tried_again_with_the_same_link)
{
	struct fixture *f = fixture_open();
	char told[LOG_LINE_MAX] = "";
	struct letter_tray box;
	FILE *log_told;
	int real;

	letter_tray_open(&box, f);
	box.refusal = "451 4.3.0 Later";
	person(f, "ada@example.org", true);
	STATUS(forgot(f, "ada@example.org"), 202);
	for (int i = 0;
		i < 1000 && !fixture_count(f, "select count(*) from letters where attempts = 1");
		i++)
		usleep(10000);
	CHECK_INT(fixture_count(f, "select count(*) from resets"), 1);
	box.refusal = NULL;
	letter_post_wake(f->service.letters); /* it is not due yet */
	fixture_sql(f, "update letters set send_at = send_at - $1", ARGS(N(2 * MINUTE_US)));
	letter_post_wake(f->service.letters);
	STATUS(set_password(f, letter_tray_token(f, letter_tray_letter(&box, 1), "reset")), 204);
	CHECK_INT(letter_tray_settled(&box, f), 1);
	test_step("one that is refused is given up, and the log says so without the address");
	box.refusal = "550 5.1.1 <ada@example.org>: No such user";
	log_told = tmpfile();
	real = dup(STDERR_FILENO);
	dup2(fileno(log_told), STDERR_FILENO);
	log_setup(LOG_WARN, LOG_TEXT);
	STATUS(forgot(f, "ada@example.org"), 202);
	CHECK_INT(letter_tray_settled(&box, f), 1);
	letter_tray_close(&box, f);
	log_setup(LOG_SILENT, LOG_TEXT);
	dup2(real, STDERR_FILENO);
	close(real);
	CHECK(pread(fileno(log_told), told, sizeof told - 1, 0) > 0);
	fclose(log_told);
	CHECK(strstr(told, "a letter was given up") && strstr(told, "5.1.1"));
	CHECK(!strstr(told, "ada@"));
	fixture_close(f);
}

TEST(letters_that_wait_for_their_answer_hold_up_no_end)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	int64_t began;

	letter_tray_open(&box, f);
	box.silent = true;
	person(f, "ada@example.org", true);
	STATUS(forgot(f, "ada@example.org"), 202);
	letter_tray_letter(&box, 1);
	began = clock_now_us();
	letter_tray_close(&box, f);
	CHECK(clock_now_us() - began < 15 * 1000 * 1000); /* the relay may be silent for 30 */
	CHECK_INT(fixture_count(f, "select count(*) from letters"), 1);
	fixture_close(f);
}

TEST(letters_go_on_behind_one_that_cannot_be_made)
{
	struct fixture *f = fixture_open();
	struct letter_tray box;
	const char *id = person(f, "ada@example.org", true);

	letter_tray_open(&box, f);
	person(f, "joan@example.org", true);
	test_step("a row that is refused while it is filled in");
	fixture_sql(f, "create unique index one_reset on resets (user_id)", NO_ARGS);
	fixture_sql(f,
		"insert into resets (hash, user_id, created_at, expires_at, mailed) "
		"values ('x', $1, 1, 2, 1)",
		ARGS(T(id)));
	STATUS(forgot(f, "ada@example.org"), 202);
	STATUS(forgot(f, "joan@example.org"), 202);
	letter_tray_letter(&box, 1);
	CHECK(box.letters[0].to && strstr(box.letters[0].to, "<joan@example.org>"));
	CHECK_INT(fixture_count(f, "select count(*) from letters where attempts = 1"), 1);
	test_step("and it goes when it can be");
	fixture_sql(f, "delete from resets where user_id = $1", ARGS(T(id)));
	fixture_sql(f, "update letters set send_at = send_at - $1", ARGS(N(2 * MINUTE_US)));
	letter_post_wake(f->service.letters);
	CHECK_INT(letter_tray_settled(&box, f), 2);
	CHECK(box.letters[1].to && strstr(box.letters[1].to, "<ada@example.org>"));
	letter_tray_close(&box, f);
	fixture_close(f);
}

static int look_for_approvals(struct db *db, void *data)
{
	struct fixture *f = data;

	return approval_letters_make(db, &f->arena, clock_now_us());
}

static void wants(struct fixture *f, const char *session_id, const char *id, int64_t since)
{
	fixture_sql(f,
		"insert into approvals (tenant_id, id, session_id, call_id, tool_name, status, "
		"created_at, arguments) values ($1, $2, $3, $2, 'send_money', 'pending', $4, '{}')",
		ARGS(T(f->tenant_id), T(id), T(session_id), N(clock_now_us() - since)));
}

TEST(letters_remind_those_who_may_decide_once)
{
	struct fixture *f = fixture_open();
	const char *agent, *session, *letter, *manager, *viewer;
	struct letter_tray box;

	letter_tray_open(&box, f);
	fixture_sql(f, "update users set email = $2, email_folded = $2 where id = $1",
		ARGS(T(f->admin_id), T("owner@example.org")));
	agent = fixture_agent(f, "clerk");
	session = fixture_session(f, f->admin, agent, "{}");
	manager = person(f, "manager@example.org", true);
	viewer = person(f, "viewer@example.org", true);
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /tenant/%s/agents/%s/roles/%s",
		       f->tenant_id, agent, manager),
		201);
	(void)viewer;
	wants(f, session, "a1", 2 * HOUR_US);
	wants(f, session, "a2", 2 * HOUR_US);
	wants(f, session, "a3", MINUTE_US);
	CHECK_INT(fixture_work(f, look_for_approvals, f), 0);
	letter = letter_tray_letter(&box, 2);
	CHECK_INT(letter_tray_settled(&box, f), 2);
	CHECK(!strstr(box.letters[0].to, "viewer") && !strstr(box.letters[1].to, "viewer"));
	CHECK(strstr(letter, "send_money"));
	CHECK(strstr(strstr(letter, "send_money") + 1, "send_money")); /* both in one letter */
	CHECK(strstr(letter,
		arena_printf(&f->arena, "http://lodge.test/console/t/demo/sessions/%s", session)));
	CHECK_INT(fixture_work(f, look_for_approvals, f), 0);
	CHECK_INT(letter_tray_settled(&box, f), 2);
	letter_tray_close(&box, f);
	fixture_close(f);
}
