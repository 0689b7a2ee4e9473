/* test_way_back.c - the super administrator's word about accounts: links, unlocking, proving, deletion; and the pages. */
#include "fixture.h"

#include "api/people/accounts.h"
#include "base/clock.h"
#include "base/crypto.h"

struct somebody {
	const char *id, *token, *key;
};

static const char *said(struct fixture *f, const char *name, const char *value)
{
	return arena_printf(&f->arena, "{\"token\":\"%s\",\"%s\":\"%s\"}", value, name,
		strcmp(name, "password") == 0 ? "a new password" : "");
}

/* A member with a password, a login and a key. */
static struct somebody make(struct fixture *f, bool proven)
{
	char hash[PASSWORD_HASH_MAX];
	struct somebody s;
	struct answer r;

	s.id = fixture_user(f, "ada@example.org", &s.token);
	fixture_member(f, f->tenant_id, s.id, "MEMBER");
	CHECK(password_hash("the old one", 11, hash));
	fixture_sql(f, "update users set password_hash = $2, email_proven_at = $3 where id = $1",
		ARGS(T(s.id), T(hash), N(proven ? 1 : NIL)));
	r = ask(f, s.token, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	s.key = text_at(&r, "key");
	return s;
}

static const char *link_for(struct fixture *f, const struct somebody *s)
{
	struct answer r = ask(f, f->admin, NULL, "POST /admin/users/%s/reset-password", s->id);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "url"),
		arena_printf(&f->arena, "http://lodge.test/reset#%s", text_at(&r, "token")));
	return text_at(&r, "token");
}

static struct answer confirm(struct fixture *f, const char *token)
{
	return ask(f, NULL, said(f, "password", token), "POST /auth/reset/confirm");
}

static void resets(bool proven)
{
	struct fixture *f = fixture_open();
	struct somebody s = make(f, proven);
	const char *first = link_for(f, &s), *second = link_for(f, &s);

	test_step(proven ? "proven" : "not proven");
	STATUS(confirm(f, first), 401); /* the later link counts */
	STATUS(fixture_sign_in(f, "Ada@example.org", "the old one"), 200);
	STATUS(confirm(f, second), 204);
	STATUS(confirm(f, second), 401);
	STATUS(ask(f, s.token, NULL, "GET /me"), 401);
	STATUS(ask(f, s.key, NULL, "GET /me"), 401);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'user.password' "
				   "and meta like '%\"keys_revoked\":1%'"),
		1);
	STATUS(fixture_sign_in(f, "Ada@example.org", "the old one"), 401);
	STATUS(fixture_sign_in(f, "Ada@example.org", "a new password"), 200);
	second = link_for(f, &s);
	fixture_sql(f, "update resets set expires_at = $1", ARGS(N(clock_now_us() - 1)));
	STATUS(confirm(f, second), 401);
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'user.reset_password'"),
		3);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where meta like '%lodge_reset%'"),
		0);
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/reset-password", f->tenant_id), 404);
	fixture_close(f);
}

/* Kept where that is asked for, and the keys are their owner's. */
static void keeps_keys(bool proven, bool mailed)
{
	struct fixture *f = fixture_open();
	struct somebody s = make(f, proven);
	const char *token = link_for(f, &s);

	test_step(proven ? "proven" : "not proven");
	if (mailed)
		fixture_sql(f, "update resets set mailed = 1", NO_ARGS);
	STATUS(ask(f, NULL,
		       arena_printf(&f->arena,
			       "{\"token\":\"%s\",\"password\":\"a new password\",\"keep_keys\":true}",
			       token),
		       "POST /auth/reset/confirm"),
		204);
	STATUS(ask(f, s.token, NULL, "GET /me"), 401);
	STATUS(ask(f, s.key, NULL, "GET /me"), proven ? 200 : 401);
	fixture_close(f);
}

TEST(way_back_keys_stay_if_that_is_asked_for)
{
	keeps_keys(true, false);
	keeps_keys(true, true);
	keeps_keys(false, false);
	keeps_keys(false, true);
}

TEST(way_back_a_link_sets_a_password_once)
{
	resets(true);
	resets(false);
}

TEST(way_back_a_good_link_is_taken_whatever_others_try)
{
	struct fixture *f = fixture_open();
	struct somebody s = make(f, true);
	const char *token = link_for(f, &s);
	int refused = 0;

	for (int i = 0; i < 60; i++)
		refused += confirm(f, "lodge_reset_wrong").status == 429;
	CHECK_INT(refused, 10);
	STATUS(confirm(f, token), 204);
	fixture_close(f);
}

TEST(way_back_an_account_is_unlocked)
{
	struct fixture *f = fixture_open();
	struct somebody s = make(f, true);

	for (int i = 0; i < 10; i++)
		STATUS(fixture_sign_in(f, "Ada@example.org", "wrong"), 401);
	STATUS(fixture_sign_in(f, "Ada@example.org", "the old one"), 429);
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/unlock", s.id), 204);
	STATUS(fixture_sign_in(f, "Ada@example.org", "the old one"), 200);
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/unlock", f->tenant_id), 404);
	fixture_close(f);
}

TEST(way_back_proving_ends_what_came_without_proof)
{
	struct fixture *f = fixture_open();
	struct somebody s = make(f, false);

	STATUS(ask(f, f->admin, "{\"is_super_admin\":true}", "PATCH /admin/users/%s", s.id), 409);
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/prove", s.id), 204);
	STATUS(ask(f, s.token, NULL, "GET /me"), 401);
	STATUS(ask(f, s.key, NULL, "GET /me"), 401);
	STATUS(fixture_sign_in(f, "Ada@example.org", "the old one"), 401);
	STATUS(confirm(f, link_for(f, &s)), 204);
	STATUS(fixture_sign_in(f, "Ada@example.org", "a new password"), 200);
	test_step("again, it ends nothing");
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/prove", s.id), 204);
	STATUS(fixture_sign_in(f, "Ada@example.org", "a new password"), 200);
	fixture_close(f);
}

static void wait_for_erasure(struct fixture *f)
{
	for (int i = 0; i < 10000 && fixture_count(f, "select count(*) from user_erasures"); i++)
		STATUS(ask(f, NULL, NULL, "GET /healthz"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from user_erasures"), 0);
}

TEST(way_back_a_user_is_deleted_with_everything_that_is_theirs)
{
	struct fixture *f = fixture_open();
	const char *other, *tables[] = { "logins", "identities", "members", "api_keys", "favorites",
		"session_people", "resets", "agent_roles", "group_members", "memories" };
	struct somebody s = make(f, true);
	struct answer r = ask(f, s.token, "{\"name\":\"A\",\"slug\":\"a\"}",
		"POST /tenant/%s/agents", f->tenant_id);

	STATUS(r, 201);
	STATUS(ask(f, s.token, "", "PUT /agents/%s/favorite", text_at(&r, "id")), 201);
	STATUS(ask(f, s.token, "{\"content\":\"theirs\",\"scope\":\"private\"}",
		       "POST /agents/%s/memories", text_at(&r, "id")),
		201);
	link_for(f, &s);
	other = fixture_tenant(f, "theirs", s.id);
	test_step("the last OWNER of a tenant");
	r = ask(f, f->admin, NULL, "DELETE /admin/users/%s", s.id);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "theirs"));
	test_step("the last super administrator");
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/users/%s", f->admin_id), 409);
	fixture_member(f, other, f->admin_id, "OWNER");
	CHECK(fixture_count(f,
		      arena_printf(&f->arena,
			      "select count(*) from audit_logs where user_id = '%s'", s.id)) > 0);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/users/%s", s.id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/users/%s", s.id), 404);
	STATUS(ask(f, s.token, NULL, "GET /me"), 401);
	STATUS(ask(f, s.key, NULL, "GET /me"), 401);
	STATUS(fixture_sign_in(f, "Ada@example.org", "the old one"), 401);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/autocomplete?q=ada", f->tenant_id);
	CHECK(!strstr(r.body, s.id));
	test_step("the audit log keeps that something was done, and not by whom");
	accounts_erase_submit(&f->app);
	wait_for_erasure(f);
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		CHECK_INT(fixture_count(f, arena_printf(&f->arena,
						   "select count(*) from %s where user_id = '%s'",
						   tables[i], s.id)),
			0);
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from audit_logs where user_id = '%s'", s.id)),
		0);
	CHECK(fixture_count(f, "select count(*) from audit_logs where erased_at is not null") > 0);
	test_step("whoever has the address next begins with nothing");
	r = ask(f, f->admin, "{\"email\":\"ada@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	CHECK(strcmp(text_at(&r, "user_id"), s.id) != 0 && text_at(&r, "invite_token"));
	CHECK_INT(fixture_count(f, "select sum(members) from tenant_counts"),
		1); /* of those counted */
	fixture_close(f);
}

static int64_t seats(struct fixture *f, const char *tenant_id)
{
	return fixture_count(
		f, arena_printf(&f->arena,
			   "select sum(members) from tenant_counts where tenant_id = '%s'",
			   tenant_id));
}

/* Whether there was an account must not show in what becomes of an invitation. */
TEST(way_back_an_open_invitation_outlives_the_account)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id), *id, *token;
	struct somebody s = make(f, true);
	struct answer r = ask(f, f->admin,
		"{\"email\":\"ADA@example.org\",\"name\":\"Asked\",\"role\":\"GUEST\"}",
		"POST /tenant/%s/members", other);

	STATUS(r, 201);
	id = text_at(&r, "user_id");
	token = text_at(&r, "invite_token");
	CHECK_INT(seats(f, other), 2);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/users/%s", s.id), 204);
	CHECK_INT(seats(f, other), 2);
	CHECK_INT(fixture_count(f, "select count(*) from users where name is not null "
				   "and email_folded = 'ada@example.org'"),
		0);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/members?per_page=100", other);
	CHECK(strstr(r.body, id) && strstr(r.body, "ADA@example.org") && strstr(r.body, "Asked"));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/members?per_page=100", f->tenant_id);
	CHECK(!strstr(r.body, "da@example.org"));
	r = ask(f, f->admin, NULL, "GET /admin/users?q=ada");
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	test_step("it is redeemed like any, and begins with nothing");
	r = ask(f, NULL,
		arena_printf(&f->arena,
			"{\"token\":\"%s\",\"name\":\"N\",\"password\":\"long enough\"}", token),
		"POST /auth/accept-invite");
	STATUS(r, 200);
	CHECK(at(&r, "user.id") && strcmp(text_at(&r, "user.id"), s.id) != 0);
	CHECK_STR(text_at(&r, "user.memberships.0.role"), "GUEST");
	CHECK(!at(&r, "user.memberships.1"));
	CHECK(json_is_false(at(&r, "user.email_proven")));
	fixture_close(f);
}

/* Nothing on a page runs that is not a file of this service. */
TEST(way_back_pages_are_closed)
{
	static const char *const pages[] = { "/invite", "/invite?x=1", "/reset" };
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
		r = ask(f, NULL, NULL, "GET %s", pages[i]);
		STATUS(r, 200);
		CHECK_STR(header_of(f, &r, "Content-Type"), "text/html; charset=utf-8");
		CHECK_STR(header_of(f, &r, "Content-Security-Policy"),
			"default-src 'none'; img-src data:; script-src 'self'; style-src 'self'; "
			"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
			"frame-ancestors 'none'");
		CHECK_STR(header_of(f, &r, "Referrer-Policy"), "no-referrer");
		CHECK(!strstr(r.body, "<script>") && !strstr(r.body, " style=") &&
			!strstr(r.body, " onclick") && !strstr(r.body, "http"));
	}
	r = ask(f, NULL, NULL, "GET /pages/account.js");
	STATUS(r, 200);
	CHECK_STR(header_of(f, &r, "Content-Type"), "text/javascript; charset=utf-8");
	CHECK(!strstr(r.body, "innerHTML") && !strstr(r.body, "eval("));
	r = ask(f, NULL, NULL, "GET /pages/account.css");
	STATUS(r, 200);
	CHECK_STR(header_of(f, &r, "Content-Type"), "text/css; charset=utf-8");
	fixture_close(f);
}
