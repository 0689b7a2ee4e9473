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

TEST(account_a_good_invitation_is_taken_whatever_others_try)
{
	struct fixture *f = fixture_open();
	const char *token = invitation(f, f->tenant_id, "new@example.org");
	int refused = 0;

	for (int i = 0; i < 60; i++)
		refused += accept_with(f, "lodge_invite_wrong", "long enough").status == 429;
	CHECK_INT(refused, 10);
	STATUS(accept_with(f, token, "long enough"), 200);
	fixture_close(f);
}

TEST(account_an_invitation_is_good_once)
{
	struct fixture *f = fixture_open();
	const char *token = invitation(f, f->tenant_id, "new@example.org");
	struct answer r;

	STATUS(fixture_sign_in(f, "new@example.org", "whatever"), 401);
	r = accept_with(f, token, "long enough");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "user.name"), "New");
	CHECK_STR(text_at(&r, "user.memberships.0.role"), "MEMBER");
	STATUS(ask(f, text_at(&r, "token"), NULL, "GET /me"), 200);
	STATUS(accept_with(f, token, "long enough"), 401);
	STATUS(fixture_sign_in(f, "new@example.org", "long enough"), 200);
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
	test_step("a token opens no account that stands, whatever the password");
	STATUS(accept_with(f, second, "somebody else's"), 401);
	STATUS(fixture_sign_in(f, "new@example.org", "somebody else's"), 401);
	STATUS(accept_with(f, second, "their own password"), 401);
	first = invitation(f, f->tenant_id, "late@example.org");
	fixture_sql(f, "update invitations set expires_at = $1", ARGS(N(clock_now_us() - 1)));
	STATUS(accept_with(f, first, "long enough"), 401);
	fixture_close(f);
}

TEST(account_inviting_again_makes_a_fresh_token)
{
	struct fixture *f = fixture_open();
	const char *first = invitation(f, f->tenant_id, "new@example.org"), *second;
	struct answer r = ask(f, f->admin, "{\"email\":\"NEW@example.org\",\"role\":\"ADMIN\"}",
		"POST /tenant/%s/members", f->tenant_id);

	STATUS(r, 200);
	second = text_at(&r, "invite_token");
	CHECK_STR(text_at(&r, "role"), "ADMIN");
	CHECK(second && strcmp(first, second) != 0);
	CHECK_INT(fixture_count(f, "select count(*) from invitations"), 1);
	CHECK_INT(fixture_count(f, "select sum(members) from tenant_counts"), 2);
	STATUS(accept_with(f, first, "long enough"), 401);
	r = accept_with(f, second, "long enough");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "user.memberships.0.role"), "ADMIN");
	STATUS(ask(f, f->admin, "{\"email\":\"new@example.org\"}", "POST /tenant/%s/members",
		       f->tenant_id),
		409);
	fixture_close(f);
}

TEST(account_failed_logins_are_throttled_by_account)
{
	struct fixture *f = fixture_open();
	struct answer r;
	int refused = 0;

	set_password(f, f->admin_id, "right");
	for (int i = 0; i < 12; i++) {
		r = fixture_sign_in(f, "Admin@localhost", "wrong");
		refused += r.status == 429;
	}
	CHECK_INT(refused, 2);
	r = fixture_sign_in(f, "admin@localhost", "right");
	STATUS(r, 429);
	CHECK(atoi(header_of(f, &r, "Retry-After")) > 800);
	for (int i = 0; i < 11; i++) /* nobody learns which addresses exist */
		r = fixture_sign_in(f, "nobody@localhost", "wrong");
	STATUS(r, 429);
	fixture_sql(f, "update attempts set since = since - $1", ARGS(N(901 * SECOND_US)));
	STATUS(fixture_sign_in(f, "admin@localhost", "right"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from attempts where subject like 'pair:%'"), 1);
	fixture_close(f);
}

TEST(account_a_new_password_ends_other_logins)
{
	struct fixture *f = fixture_open();
	const char *body =
		"{\"current_password\":\"old password\",\"new_password\":\"new password\"}";
	struct answer r, other, key;

	set_password(f, f->admin_id, "old password");
	other = fixture_sign_in(f, "admin@localhost", "old password");
	key = ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(ask(f, text_at(&key, "key"), body, "PUT /me/password"), 403);
	r = ask(f, f->admin, "{\"current_password\":\"wrong\",\"new_password\":\"new password\"}",
		"PUT /me/password");
	CHECK(refuses(&r, "current_password", "wrong"));
	STATUS(ask(f, f->admin, body, "PUT /me/password"), 204);
	STATUS(ask(f, f->admin, NULL, "GET /me"), 200);
	STATUS(ask(f, text_at(&other, "token"), NULL, "GET /me"), 401);
	STATUS(fixture_sign_in(f, "admin@localhost", "old password"), 401);
	STATUS(fixture_sign_in(f, "admin@localhost", "new password"), 200);
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

/* The answer to an invitation that says what the person is called. */
static struct answer invite_as(struct fixture *f, const char *tenant, const char *body)
{
	struct answer r = ask(f, f->admin, body, "POST /tenant/%s/members", tenant);

	STATUS(r, 201);
	return r;
}

/* Tenant B invited the address first, with a name and a spelling of its own; A's token is redeemed. */
TEST(account_has_nothing_of_another_tenants_invitation)
{
	struct fixture *f = fixture_open();
	const char *b = fixture_tenant(f, "b", f->admin_id);
	struct answer r;

	invite_as(f, b, "{\"email\":\"SHARED@example.org\",\"name\":\"Secret of B\"}");
	r = invite_as(f, f->tenant_id, "{\"email\":\"Shared@example.org\",\"name\":\"Guess\"}");
	CHECK_STR(text_at(&r, "name"), "Guess");
	CHECK_INT(fixture_count(f, "select count(*) from users where name = 'Secret of B' "
				   "or email = 'SHARED@example.org'"),
		0);
	test_step("a row from before, which bears what B wrote");
	fixture_sql(f,
		"update users set name = 'Secret of B', email = 'SHARED@example.org' "
		"where email_folded = $1",
		ARGS(T("shared@example.org")));
	r = accept_with(f, text_at(&r, "invite_token"), "long enough");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "user.name"), "New");
	CHECK_STR(text_at(&r, "user.email"), "Shared@example.org");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/members", f->tenant_id);
	CHECK(strstr(r.body, "\"New\"") && strstr(r.body, "Shared@example.org"));
	CHECK(!strstr(r.body, "Secret of B") && !strstr(r.body, "SHARED"));
	test_step("B sees what it wrote, and nothing of A's");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/members", b);
	CHECK(strstr(r.body, "Secret of B") && strstr(r.body, "SHARED@example.org"));
	CHECK(!strstr(r.body, "\"New\"") && !strstr(r.body, "Shared@"));
	STATUS(fixture_sign_in(f, "shared@example.org", "long enough"), 200);
	fixture_close(f);
}

TEST(account_proven_by_the_operator_has_no_inviters_name)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_user(f, "shared@example.org", NULL);
	struct answer r;

	fixture_sql(f, "update users set name = 'Secret' where id = $1", ARGS(T(id)));
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/prove", id), 204);
	r = ask(f, f->admin, NULL, "GET /admin/users?q=shared");
	CHECK_STR(text_at(&r, "items.0.id"), id);
	CHECK(json_is_null(at(&r, "items.0.name")));
	test_step("one with an account keeps its own");
	id = fixture_user(f, "owner@example.org", NULL);
	set_password(f, id, "long enough");
	fixture_sql(f, "update users set name = 'Own' where id = $1", ARGS(T(id)));
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/prove", id), 204);
	r = ask(f, f->admin, NULL, "GET /admin/users?q=owner");
	CHECK_STR(text_at(&r, "items.0.name"), "Own");
	fixture_close(f);
}

/* What would show as nothing, or turn what stands beside it, names nobody. */
TEST(account_names_are_such_as_show)
{
	static const char *const bad[] = { "\\u202e", "a\\u202eb", "a\\u2066b", "a\\nb", "\\u0085a",
		"\\u007f", "\\u200b\\u200f", " \\u00a0", "\\u3164" };
	static const char *const good[] = { "a", "\\u0645\\u06cc\\u200c\\u062e", "\\u5f20 \\u4e09",
		"\\ud83d\\udc69\\u200d\\ud83d\\udcbb", "O'Brien-\\u00c5" };
	struct fixture *f = fixture_open();
	const struct {
		const char *method_path, *rest;
	} ways[] = {
		{ "PATCH /me", "" },
		{ arena_printf(&f->arena, "POST /tenant/%s/members", f->tenant_id),
			",\"email\":\"n@example.org\"" },
		{ "POST /auth/accept-invite", ",\"token\":\"t\",\"password\":\"long enough\"" },
		{ "POST /auth/register",
			",\"email\":\"n@example.org\",\"password\":\"long enough\"" },
		{ "POST /tenants", ",\"slug\":\"n\"" },
		{ arena_printf(&f->arena, "PATCH /tenant/%s", f->tenant_id), "" },
		{ arena_printf(&f->arena, "POST /tenant/%s/groups", f->tenant_id), "" },
		{ arena_printf(&f->arena, "POST /tenant/%s/agents", f->tenant_id),
			",\"slug\":\"n\"" },
	};
	struct answer r;

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
			test_step("%s %s", ways[i].method_path, bad[j]);
			r = ask(f, f->admin,
				arena_printf(
					&f->arena, "{\"name\":\"%s\"%s}", bad[j], ways[i].rest),
				"%s", ways[i].method_path);
			STATUS(r, 422);
			CHECK_STR(text_at(&r, "errors.0.field"), "name");
		}
	for (size_t j = 0; j < sizeof good / sizeof *good; j++) {
		test_step("%s", good[j]);
		STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"name\":\"%s\"}", good[j]),
			       "PATCH /me"),
			200);
	}
	fixture_close(f);
}
