/* test_identity.c - signing in and out, keys, tenants, and who sees what. */
#include "fixture.h"

#include <stdlib.h>

#include "api/tenants/erase.h"
#include "base/clock.h"
#include "base/crypto.h"

static void set_password(struct fixture *f, const char *user_id, const char *password)
{
	char hash[PASSWORD_HASH_MAX];

	CHECK(password_hash(password, strlen(password), hash));
	fixture_sql(
		f, "update users set password_hash = $2 where id = $1", ARGS(T(user_id), T(hash)));
}

TEST(identity_login_answers_a_token_that_works_until_logout)
{
	struct fixture *f = fixture_open();
	struct answer r;
	const char *token;

	set_password(f, f->admin_id, "correct horse");
	r = ask(f, NULL, "{\"email\":\"ADMIN@localhost\",\"password\":\"correct horse\"}",
		"POST /auth/login");
	STATUS(r, 200);
	token = text_at(&r, "token");
	CHECK_STR(text_at(&r, "user.memberships.0.role"), "OWNER");
	CHECK(strstr(header_of(f, &r, "Set-Cookie"), "HttpOnly; SameSite=Strict"));
	CHECK(!header_of(f, &r, "ETag"));
	r = ask(f, token, NULL, "GET /me");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "email"), "admin@localhost");
	STATUS(ask(f, token, "", "POST /auth/logout"), 204);
	STATUS(ask(f, token, NULL, "GET /me"), 401);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'login.succeed'"),
		1);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'login.end'"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from logins where hash like '%lodge%'"), 0);
	fixture_close(f);
}

TEST(identity_a_failed_login_is_refused_and_recorded)
{
	struct fixture *f = fixture_open();
	struct answer r;

	set_password(f, f->admin_id, "correct horse");
	r = ask(f, NULL, "{\"email\":\"admin@localhost\",\"password\":\"wrong\"}",
		"POST /auth/login");
	STATUS(r, 401);
	CHECK_STR(header_of(f, &r, "WWW-Authenticate"), "Bearer realm=\"lodge\"");
	STATUS(ask(f, NULL, "{\"email\":\"nobody@localhost\",\"password\":\"wrong\"}",
		       "POST /auth/login"),
		401);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'login.fail'"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where meta like '%wrong%'"), 0);
	fixture_sql(f, "update users set is_suspended = 1", NO_ARGS);
	r = ask(f, NULL, "{\"email\":\"admin@localhost\",\"password\":\"correct horse\"}",
		"POST /auth/login");
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:suspended");
	STATUS(ask(f, f->admin, NULL, "GET /me"), 403);
	fixture_close(f);
}

TEST(identity_credentials_end)
{
	struct fixture *f = fixture_open();

	STATUS(ask(f, f->admin, NULL, "GET /me"), 200);
	STATUS(ask(f, NULL, NULL, "GET /me"), 401);
	STATUS(ask(f, "lodge_login_x", NULL, "GET /me"), 401);
	STATUS(ask(f, NULL, NULL, "GET /me\nAuthorization: Basic YTpi"), 401);
	STATUS(ask(f, NULL, NULL, "GET /me\nCookie: a=b; lodge_session=%s; c=d", f->admin), 200);
	fixture_sql(f, "update logins set last_used_at = $1",
		ARGS(N(clock_now_us() - 3601 * SECOND_US)));
	STATUS(ask(f, f->admin, NULL, "GET /me"), 401);
	fixture_sql(
		f, "update logins set last_used_at = $1, expires_at = $1", ARGS(N(clock_now_us())));
	STATUS(ask(f, f->admin, NULL, "GET /me"), 401);
	fixture_close(f);
}

/* This machine's names are one where the service's own is one of them; a port is never another. */
TEST(identity_loopback_is_one_place_by_any_name)
{
	static const struct {
		const char *ours, *origin;
		int status;
	} rows[] = {
		{ "http://127.0.0.1:8080", "http://localhost:8080", 201 },
		{ "http://localhost:8080", "http://127.0.0.1:8080", 201 },
		{ "http://127.0.0.1:8080", "http://[::1]:8080", 201 },
		{ "http://127.0.0.1:8080", "http://localhost:8081", 403 },
		{ "http://127.0.0.1:8080", "http://localhost", 403 },
		{ "http://127.0.0.1:8080", "http://localhost.evil.test:8080", 403 },
		{ "http://127.0.0.1:8080", "http://127.0.0.1.evil.test:8080", 403 },
		{ "http://127.0.0.1:8080", "https://localhost:8080", 403 },
		{ "http://127.0.0.1:8080", "null", 403 },
		{ "http://lodge.test", "http://localhost", 403 },
		{ "https://lodge.test", "http://127.0.0.1", 403 },
	};
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s at %s", rows[i].origin, rows[i].ours);
		f->app.settings.public_url = rows[i].ours;
		STATUS(ask(f, NULL,
			       arena_printf(&f->arena, "{\"name\":\"a\",\"slug\":\"a%zu\"}", i),
			       "POST /tenant/%s/agents\nCookie: lodge_session=%s\r\nOrigin: %s",
			       f->tenant_id, f->admin, rows[i].origin),
			rows[i].status);
	}
	fixture_close(f);
}

TEST(identity_a_change_by_cookie_needs_our_origin)
{
	struct fixture *f = fixture_open();
	const char *body = "{\"name\":\"A\",\"slug\":\"a\"}";
	struct answer r;

	r = ask(f, NULL, body, "POST /tenant/%s/agents\nCookie: lodge_session=%s", f->tenant_id,
		f->admin);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:bad_origin");
	STATUS(ask(f, NULL, body,
		       "POST /tenant/%s/agents\nCookie: lodge_session=%s\r\nOrigin: http://evil.test",
		       f->tenant_id, f->admin),
		403);
	STATUS(ask(f, NULL, body,
		       "POST /tenant/%s/agents\nCookie: lodge_session=%s\r\nOrigin: http://lodge.test",
		       f->tenant_id, f->admin),
		201);
	fixture_close(f);
}

TEST(keys_act_as_their_maker_within_tenant_and_scopes)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	const char *key, *narrow, *none, *id;
	struct answer r;

	r = ask(f, f->admin, "{\"name\":\"all\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	key = text_at(&r, "key");
	id = text_at(&r, "id");
	CHECK(!at(&r, "scopes"));
	CHECK(strncmp(key, TOKEN_KEY, strlen(TOKEN_KEY)) == 0);
	r = ask(f, f->admin, "{\"name\":\"some\",\"scopes\":[\"tenant:read\",\"apikeys:own\"]}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	narrow = text_at(&r, "key");
	r = ask(f, f->admin, "{\"name\":\"none\",\"scopes\":[]}", "POST /tenant/%s/api-keys",
		f->tenant_id);
	none = text_at(&r, "key");
	CHECK(json_is_array(at(&r, "scopes")) && !json_array_size(at(&r, "scopes")));

	STATUS(ask(f, key, NULL, "GET /tenant/%s", f->tenant_id), 200);
	STATUS(ask(f, key, NULL, "GET /tenant/%s", other), 404);
	STATUS(ask(f, key, "{\"name\":\"A\",\"slug\":\"a\"}", "POST /tenant/%s/agents",
		       f->tenant_id),
		201);
	r = ask(f, key, NULL, "GET /tenants");
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	STATUS(ask(f, key, "{\"name\":\"T\",\"slug\":\"t\"}", "POST /tenants"), 403);

	STATUS(ask(f, narrow, NULL, "GET /tenant/%s", f->tenant_id), 200);
	r = ask(f, narrow, "{\"name\":\"A\",\"slug\":\"b\"}", "POST /tenant/%s/agents",
		f->tenant_id);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "agents:create"));
	r = ask(f, narrow, "{\"name\":\"wider\",\"scopes\":[\"agents:create\"]}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	CHECK(refuses(&r, "scopes[0]", "beyond"));
	r = ask(f, narrow, "{\"name\":\"same\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "scopes")), 2);
	STATUS(ask(f, none, NULL, "GET /tenant/%s", f->tenant_id), 403);

	r = ask(f, key, NULL, "GET /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "items")), 4);
	test_step("all rights are not shown like none"); /* newest first: same, none, some, all */
	CHECK_INT(json_array_size(at(&r, "items.0.scopes")), 2);
	CHECK(json_is_array(at(&r, "items.1.scopes")) &&
		!json_array_size(at(&r, "items.1.scopes")));
	CHECK_INT(json_array_size(at(&r, "items.2.scopes")), 2);
	CHECK(!at(&r, "items.3.scopes"));
	CHECK(!strstr(r.body, "lodge_key_"));
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/api-keys/%s", f->tenant_id, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/api-keys/%s", f->tenant_id, id), 404);
	STATUS(ask(f, key, NULL, "GET /tenant/%s", f->tenant_id), 401);
	fixture_close(f);
}

TEST(keys_refuse_bad_scopes_and_past_ends)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"name\":\"x\",\"scopes\":[\"nope\",\"login\"],\"expires_at\":\"2020-01-01T00:00:00Z\"}",
		"POST /tenant/%s/api-keys", f->tenant_id);

	CHECK(refuses(&r, "scopes[0]", "choice"));
	CHECK(refuses(&r, "scopes[1]", "choice"));
	CHECK(refuses(&r, "expires_at", "past"));
	CHECK(strstr(r.body, "must be one of: tenant:read, "));
	r = ask(f, f->admin, "{\"name\":\"\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	CHECK(refuses(&r, "name", "format"));
	r = ask(f, f->admin, "{\"name\":\" \\t\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	CHECK(refuses(&r, "name", "format"));
	r = ask(f, f->admin, "{\"name\":\"x\",\"expires_at\":\"2099-01-01T00:00:00Z\"}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	fixture_sql(f, "update api_keys set expires_at = $1", ARGS(N(clock_now_us())));
	STATUS(ask(f, text_at(&r, "key"), NULL, "GET /tenant/%s", f->tenant_id), 401);
	fixture_close(f);
}

TEST(keys_note_their_last_use_without_being_waited_for)
{
	struct fixture *f = fixture_open();
	struct answer r =
		ask(f, f->admin, "{\"name\":\"x\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	const char *key = text_at(&r, "key");

	CHECK(json_is_null(at(&r, "last_used_at")));
	for (int i = 0; i < 5; i++)
		STATUS(ask(f, key, NULL, "GET /tenant/%s", f->tenant_id), 200);
	/* A change goes through the same queue, after the note. */
	STATUS(ask(f, key, "{\"name\":\"A\",\"slug\":\"a\"}", "POST /tenant/%s/agents",
		       f->tenant_id),
		201);
	r = ask(f, key, NULL, "GET /tenant/%s/api-keys", f->tenant_id);
	CHECK(json_is_string(at(&r, "items.0.last_used_at")));
	fixture_close(f);
}

TEST(tenants_are_seen_by_their_members_only)
{
	struct fixture *f = fixture_open();
	const char *stranger_token,
		*stranger = fixture_user(f, "stranger@example.org", &stranger_token);
	const char *own = fixture_tenant(f, "own", stranger);
	struct answer r;

	STATUS(ask(f, stranger_token, NULL, "GET /tenant/%s", f->tenant_id), 404);
	STATUS(ask(f, stranger_token, NULL, "GET /tenant/%s", own), 200);
	r = ask(f, stranger_token, NULL, "GET /tenants");
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	r = ask(f, f->admin, NULL, "GET /tenants");
	CHECK_INT(json_array_size(at(&r, "items")), 2);
	STATUS(ask(f, stranger_token, "{\"name\":\"T\",\"slug\":\"t\"}", "POST /tenants"), 403);
	r = ask(f, f->admin, "{\"name\":\"T\",\"slug\":\"t\"}", "POST /tenants");
	STATUS(r, 201);
	STATUS(ask(f, f->admin, "{\"name\":\"T\",\"slug\":\"t\"}", "POST /tenants"), 409);
	r = ask(f, f->admin,
		"{\"name\":\"T\",\"slug\":\"u\",\"plan_id\":\"c0123456789abcdefghijklmn\"}",
		"POST /tenants");
	CHECK(refuses(&r, "plan_id", "unknown"));
	/* The OWNER closes the tenant to super administrators. */
	STATUS(ask(f, f->admin, "{\"allow_superadmin_access\":false}", "PATCH /tenant/%s", own),
		403);
	STATUS(ask(f, stranger_token, "{\"allow_superadmin_access\":false,\"name\":\"Mine\"}",
		       "PATCH /tenant/%s", own),
		200);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s", own), 403);
	fixture_sql(f, "update tenants set status = 'suspended' where id = $1", ARGS(T(own)));
	r = ask(f, stranger_token, NULL, "GET /tenant/%s", own);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:suspended");
	fixture_close(f);
}

TEST(tenants_vanish_at_once_and_are_erased_piece_by_piece)
{
	struct fixture *f = fixture_open();
	const char *token, *owner = fixture_user(f, "o@example.org", &token);
	const char *id = fixture_tenant(f, "gone", owner);
	struct answer key;
	int64_t left = 1;

	for (int i = 0; i < 450; i++)
		STATUS(ask(f, token,
			       arena_printf(&f->arena, "{\"name\":\"A\",\"slug\":\"s%d\"}", i),
			       "POST /tenant/%s/agents", id),
			201);
	STATUS(ask(f, token, "{\"name\":\"G\"}", "POST /tenant/%s/groups", id), 201);
	key = ask(f, token, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", id);
	STATUS(ask(f, token, NULL, "DELETE /tenant/%s", id), 204);
	CHECK(ask(f, token, NULL, "GET /tenant/%s", id).status >= 403);
	CHECK(ask(f, f->admin, NULL, "GET /tenant/%s", id).status >= 403);
	CHECK(ask(f, text_at(&key, "key"), NULL, "GET /tenant/%s", id).status >= 401);
	erase_submit(&f->app);
	/* Others work meanwhile, for as long as it takes. */
	for (int i = 0; i < 30000 && left; i++) {
		STATUS(ask(f, f->admin, "{}", "PATCH /tenant/%s", f->tenant_id), 200);
		left = fixture_count(f, "select count(*) from tenants where slug = 'gone'");
	}
	CHECK_INT(left, 0);
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from directory"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from groups"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from api_keys"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'tenant.erase' "
				   "and meta like '%\"agents\":450,%'"),
		1);
	CHECK_INT(fixture_count(f, arena_printf(&f->arena,
					   "select count(*) from audit_logs where tenant_id = '%s' "
					   "and action <> 'tenant.erase' and (erase_mac is null or "
					   "erased_at is null or user_id is not null)",
					   id)),
		0);
	fixture_close(f);
}
