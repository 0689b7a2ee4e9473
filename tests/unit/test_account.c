/* test_account.c - invitations, throttling, names and passwords. */
#include "fixture.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"

static void set_password(struct fixture *f, const char *user_id, const char *password)
{
	char hash[PASSWORD_HASH_MAX];

	CHECK(password_hash(password, strlen(password), hash));
	fixture_sql(
		f, "update users set password_hash = $2 where id = $1", ARGS(T(user_id), T(hash)));
}

static const char *invitation(struct fixture *f, const char *tenant, const char *email)
{
	struct answer r = ask(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", email),
		"POST /tenant/%s/members", tenant);

	STATUS(r, 201);
	return text_at(&r, "invite_token");
}

static struct answer accept_with(struct fixture *f, const char *token, const char *password)
{
	return ask(f, NULL,
		arena_printf(&f->arena, "{\"token\":\"%s\",\"name\":\"New\",\"password\":\"%s\"}",
			token, password),
		"POST /auth/accept-invite");
}

static struct answer sign_in(struct fixture *f, const char *email, const char *password)
{
	return ask(f, NULL,
		arena_printf(&f->arena, "{\"email\":\"%s\",\"password\":\"%s\"}", email, password),
		"POST /auth/login");
}

TEST(account_an_invitation_is_good_once)
{
	struct fixture *f = fixture_open();
	const char *token = invitation(f, f->tenant_id, "new@example.org");
	struct answer r;

	STATUS(sign_in(f, "new@example.org", "whatever"), 401);
	r = accept_with(f, token, "long enough");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "user.name"), "New");
	CHECK_STR(text_at(&r, "user.memberships.0.role"), "MEMBER");
	STATUS(ask(f, text_at(&r, "token"), NULL, "GET /me"), 200);
	STATUS(accept_with(f, token, "long enough"), 401);
	STATUS(sign_in(f, "new@example.org", "long enough"), 200);
	r = accept_with(f, token, "short");
	CHECK(refuses(&r, "password", "too_short"));
	CHECK_INT(fixture_count(f, "select count(*) from members where status = 'invited'"), 0);
	fixture_close(f);
}

TEST(account_an_invitation_ends_and_does_not_take_over_an_account)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	const char *first = invitation(f, f->tenant_id, "new@example.org");
	const char *second = invitation(f, other, "new@example.org");

	STATUS(accept_with(f, first, "their own password"), 200);
	STATUS(accept_with(f, second, "somebody else's"), 401);
	STATUS(sign_in(f, "new@example.org", "somebody else's"), 401);
	STATUS(accept_with(f, second, "their own password"), 200);
	first = invitation(f, f->tenant_id, "late@example.org");
	fixture_sql(f, "update invitations set expires_at = $1", ARGS(N(clock_now_us() - 1)));
	STATUS(accept_with(f, first, "long enough"), 401);
	fixture_close(f);
}

TEST(account_failed_logins_are_throttled_by_account)
{
	struct fixture *f = fixture_open();
	struct answer r;
	int refused = 0;

	set_password(f, f->admin_id, "right");
	for (int i = 0; i < 12; i++) {
		r = sign_in(f, "Admin@localhost", "wrong");
		refused += r.status == 429;
	}
	CHECK_INT(refused, 2);
	r = sign_in(f, "admin@localhost", "right");
	STATUS(r, 429);
	CHECK(atoi(header_of(f, &r, "Retry-After")) > 800);
	for (int i = 0; i < 11; i++) /* nobody learns which addresses exist */
		r = sign_in(f, "nobody@localhost", "wrong");
	STATUS(r, 429);
	fixture_sql(f, "update attempts set since = since - $1", ARGS(N(901 * SECOND_US)));
	STATUS(sign_in(f, "admin@localhost", "right"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from attempts where subject like 'account:%'"),
		1);
	fixture_close(f);
}

TEST(account_a_new_password_ends_other_logins)
{
	struct fixture *f = fixture_open();
	const char *body =
		"{\"current_password\":\"old password\",\"new_password\":\"new password\"}";
	struct answer r, other, key;

	set_password(f, f->admin_id, "old password");
	other = sign_in(f, "admin@localhost", "old password");
	key = ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(ask(f, text_at(&key, "key"), body, "PUT /me/password"), 403);
	r = ask(f, f->admin, "{\"current_password\":\"wrong\",\"new_password\":\"new password\"}",
		"PUT /me/password");
	CHECK(refuses(&r, "current_password", "wrong"));
	STATUS(ask(f, f->admin, body, "PUT /me/password"), 204);
	STATUS(ask(f, f->admin, NULL, "GET /me"), 200);
	STATUS(ask(f, text_at(&other, "token"), NULL, "GET /me"), 401);
	STATUS(sign_in(f, "admin@localhost", "old password"), 401);
	STATUS(sign_in(f, "admin@localhost", "new password"), 200);
	fixture_close(f);
}

TEST(account_names_change_and_registration_waits_for_mail)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin, "{\"name\":\"Ada\"}", "PATCH /me");

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "Ada");
	r = ask(f, f->admin, "{\"name\":null}", "PATCH /me");
	CHECK(json_is_null(at(&r, "name")));
	r = ask(f, NULL,
		"{\"email\":\"a@example.org\",\"name\":\"A\",\"password\":\"long enough\"}",
		"POST /auth/register");
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:mail_not_configured");
	fixture_close(f);
}
