/* test_throttle.c - guesses at passwords are counted before they are judged, and lock nobody else out; what a refused
 * credential is told. */
#include "fixture.h"

#include <stdlib.h>

#include "base/crypto.h"
#include "store/pool.h"
#include "race.h"

#define RIGHT "{\"email\":\"admin@localhost\",\"password\":\"the right one\"}"
#define WRONG "{\"email\":\"Admin@localhost\",\"password\":\"a wrong one\"}"

static bool trusts_all(const void *ctx, const char *address)
{
	(void)ctx, (void)address;
	return true;
}

/* The super administrator has a password, and the address is whatever X-Forwarded-For says. */
static struct fixture *open_house(void)
{
	struct fixture *f = fixture_open();
	char hash[PASSWORD_HASH_MAX];

	CHECK(password_hash("the right one", 13, hash));
	fixture_sql(f, "update users set password_hash = $2 where id = $1",
		ARGS(T(f->admin_id), T(hash)));
	f->app.settings.trusts = trusts_all;
	return f;
}

static struct answer sign_in(
	struct fixture *f, const char *body, const char *address, const char *device)
{
	return ask(f, NULL, body, "POST /auth/login\nX-Forwarded-For: %s\r\nCookie: a=b%s%s",
		address, device ? "; lodge_device=" : "", device ? device : "");
}

/* What the browser was given besides the login's own cookie. */
static const char *device_of(struct fixture *f, const struct answer *r)
{
	const char *at = strstr(r->head, "lodge_device=");

	CHECK(at != NULL);
	return at ? arena_strndup(&f->arena, at + 13, strcspn(at + 13, ";")) : "";
}

/* As if strangers had guessed often enough, from all over the world. */
static void strangers_guess(struct fixture *f)
{
	STATUS(sign_in(f, WRONG, "203.0.113.1", NULL), 401);
	fixture_sql(
		f, "update attempts set failures = 100 where subject like 'strangers:%'", NO_ARGS);
	STATUS(sign_in(f, WRONG, "203.0.113.2", NULL), 429);
}

TEST(throttle_guesses_at_once_are_counted_before_they_are_judged)
{
	enum { AT_ONCE = 60 };
	struct fixture *f = open_house();
	struct racer racers[AT_ONCE];

	for (int i = 0; i < AT_ONCE; i++)
		racers[i] = (struct racer){ .body = WRONG, .request = "POST /auth/login" };
	race(f, racers, AT_ONCE);
	CHECK_INT(race_count(racers, AT_ONCE, 401), 10);
	CHECK_INT(race_count(racers, AT_ONCE, 429), AT_ONCE - 10);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'login.fail'"),
		10);
	fixture_close(f);
}

TEST(throttle_strangers_lock_nobody_out)
{
	struct fixture *f = open_house();
	struct answer r = sign_in(f, RIGHT, "192.0.2.1", NULL);
	const char *device = device_of(f, &r);

	STATUS(r, 200);
	strangers_guess(f);
	test_step("neither at an address nor in a browser that is known");
	STATUS(sign_in(f, RIGHT, "192.0.2.1", NULL), 200);
	r = sign_in(f, RIGHT, "192.0.2.77", device);
	STATUS(r, 200);
	CHECK(!strstr(r.head, "lodge_device=")); /* it has one */
	test_step("elsewhere they are a stranger themselves");
	r = sign_in(f, RIGHT, "198.51.100.9", NULL);
	STATUS(r, 429);
	CHECK(atoi(header_of(f, &r, "Retry-After")) > 800);
	STATUS(sign_in(f, RIGHT, "198.51.100.9", "lodge_device_made-up"), 429);
	test_step("a stranger at the same address locks that address out, and not the browser");
	for (int i = 0; i < 10; i++)
		STATUS(sign_in(f, WRONG, "192.0.2.1", NULL), 401);
	STATUS(sign_in(f, RIGHT, "192.0.2.1", NULL), 429);
	STATUS(sign_in(f, RIGHT, "192.0.2.1", device), 200);
	test_step("a browser has ten guesses too");
	for (int i = 0; i < 10; i++)
		STATUS(sign_in(f, WRONG, "192.0.2.1", device), 401);
	STATUS(sign_in(f, RIGHT, "192.0.2.1", device), 429);
	fixture_close(f);
}

TEST(throttle_one_address_guesses_at_many_accounts_only_so_often)
{
	struct fixture *f = open_house();

	STATUS(sign_in(f, WRONG, "192.0.2.1", NULL), 401);
	fixture_sql(f, "update attempts set failures = 50 where subject like 'address:%'", NO_ARGS);
	STATUS(sign_in(f, "{\"email\":\"other@example.org\",\"password\":\"x\"}", "192.0.2.1",
		       NULL),
		429);
	STATUS(sign_in(f, RIGHT, "192.0.2.2", NULL), 200);
	fixture_close(f);
}

/* Whoever floods the house makes nobody's attempts count. */
TEST(throttle_what_was_not_judged_does_not_count)
{
	struct fixture *f = open_house();
	struct pool *own = f->app.slow;

	f->app.slow = pool_new_shared(1, 0);
	for (int i = 0; i < 12; i++)
		STATUS(sign_in(f, RIGHT, "192.0.2.1", NULL), 503);
	STATUS(ask(f, f->admin, "{\"current_password\":\"x\",\"new_password\":\"long enough\"}",
		       "PUT /me/password"),
		503);
	CHECK_INT(fixture_count(f, "select sum(failures) from attempts"), 0);
	pool_free(f->app.slow);
	f->app.slow = own;
	STATUS(sign_in(f, RIGHT, "192.0.2.1", NULL), 200);
	fixture_close(f);
}

TEST(throttle_a_stolen_login_guesses_ten_times)
{
	struct fixture *f = open_house();
	const char *body = "{\"current_password\":\"x\",\"new_password\":\"long enough\"}";
	struct answer other = sign_in(f, RIGHT, "192.0.2.1", NULL);

	for (int i = 0; i < 10; i++)
		STATUS(ask(f, f->admin, body, "PUT /me/password"), 422);
	STATUS(ask(f, f->admin, body, "PUT /me/password"), 429);
	STATUS(ask(f, text_at(&other, "token"),
		       "{\"current_password\":\"the right one\",\"new_password\":\"another one\"}",
		       "PUT /me/password"),
		204);
	STATUS(ask(f, f->admin, NULL, "GET /me"), 401);
	fixture_close(f);
}

/* A 401, and what it says about the token. */
static void told(struct fixture *f, const char *token, const char *code, const char *about)
{
	struct answer r = ask(f, token, NULL, "GET /me");
	const char *challenge = header_of(f, &r, "WWW-Authenticate");

	STATUS(r, 401);
	CHECK_STR(text_at(&r, "type"), arena_printf(&f->arena, "urn:lodge:problem:%s", code));
	if (about)
		CHECK_STR(challenge, arena_printf(&f->arena,
					     "Bearer realm=\"lodge\", error=\"invalid_token\", "
					     "error_description=\"%s\"",
					     about));
	else
		CHECK_STR(challenge, "Bearer realm=\"lodge\"");
}

TEST(credentials_that_have_expired_are_told_from_none)
{
	struct fixture *f = fixture_open();
	const char *login;
	char never[TOKEN_MAX];
	struct answer key =
		ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);

	fixture_member(f, f->tenant_id, fixture_user(f, "m@example.org", &login), "MEMBER");
	told(f, NULL, "unauthenticated", NULL);
	told(f, "nonsense", "unauthenticated", "The token is not one of this service");
	token_new(TOKEN_LOGIN, never);
	told(f, never, "unauthenticated", "The token is not known here");
	token_new(TOKEN_KEY, never);
	told(f, never, "unauthenticated", "The token is not known here");
	STATUS(ask(f, login, NULL, "GET /me"), 200);
	fixture_sql(f, "update logins set last_used_at = 1", NO_ARGS);
	told(f, login, "token_expired", "The token has expired");
	fixture_sql(f, "update logins set last_used_at = expires_at, expires_at = 1", NO_ARGS);
	told(f, login, "token_expired", "The token has expired");
	fixture_sql(f, "update api_keys set expires_at = 1", NO_ARGS);
	told(f, text_at(&key, "key"), "token_expired", "The token has expired");
	fixture_sql(f, "delete from logins", NO_ARGS);
	told(f, login, "unauthenticated", "The token is not known here");
	fixture_close(f);
}
