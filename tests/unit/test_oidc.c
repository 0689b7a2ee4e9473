/* test_oidc.c - signing in at a provider, with a provider of our own behind the door to the outside. */
#include "fixture.h"

#include "base/clock.h"
#include "base/crypto.h"
#include "call/chores.h"
#include "jwt_stage.h"
#include "outside/oidc.h"

#define ISSUER "https://op.test"

/* What the provider would say. */
static struct {
	struct arena *arena;
	struct signer signer;
	const char *sub, *email, *nonce, *challenge;
	bool verified, down, wrong_issuer;
	int facts_asked, keys_asked, tokens_asked;
} op;

static int answer_with(struct arena *a, struct fetched *out, const char *text)
{
	*out = (struct fetched){ .status = 200, .body = arena_strdup(a, text), .max_age_s = 3600 };
	out->len = strlen(out->body);
	return 0;
}

static const char *id_token(void)
{
	int64_t now = clock_now_us() / SECOND_US;

	return signer_token(op.arena, &op.signer, NULL,
		arena_printf(op.arena,
			"{\"iss\":\"" ISSUER "\",\"sub\":\"%s\",\"aud\":\"lodge\",\"nonce\":\"%s\","
			"\"iat\":%lld,\"exp\":%lld,\"email\":\"%s\",\"email_verified\":%s}",
			op.sub, op.nonce, (long long)now, (long long)now + 60, op.email,
			op.verified ? "true" : "false"));
}

/* The verifier in the form must be the one whose digest came with the browser. */
static bool proves(struct arena *a, const char *form)
{
	const char *verifier = strstr(form, "code_verifier=") + 14;
	uint8_t digest[SHA256_LEN];

	sha256(verifier, strcspn(verifier, "&"), digest);
	return strcmp(base64url_write(a, digest, sizeof digest), op.challenge) == 0;
}

static int fake_fetch(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	*ret_why = "it is down";
	if (op.down)
		return ERR_UPSTREAM;
	if (strcmp(in->url, ISSUER "/.well-known/openid-configuration") == 0) {
		op.facts_asked++;
		return answer_with(a, out,
			arena_printf(a,
				"{\"issuer\":\"%s\",\"authorization_endpoint\":\"" ISSUER "/go\","
				"\"token_endpoint\":\"" ISSUER "/token\",\"jwks_uri\":\"" ISSUER
				"/keys\",\"more\":[]}",
				op.wrong_issuer ? "https://elsewhere.test" : ISSUER));
	}
	if (strcmp(in->url, ISSUER "/keys") == 0) {
		op.keys_asked++;
		return answer_with(a, out,
			arena_printf(a, "{\"keys\":[%s]}", signer_jwk(op.arena, &op.signer, "")));
	}
	CHECK_STR(in->url, ISSUER "/token");
	CHECK_STR(in->user, "lodge");
	CHECK_STR(in->password, "se%20cret");
	op.tokens_asked++;
	if (!strstr(in->form, "&code=good&") || !proves(a, in->form)) {
		*out = (struct fetched){ .status = 400, .body = "{}", .len = 2 };
		return 0;
	}
	return answer_with(a, out,
		arena_printf(a, "{\"access_token\":\"x\",\"id_token\":\"%s\"}", id_token()));
}

static struct fixture *open_with_provider(void)
{
	struct fixture *f = fixture_open();
	struct oidc_config config = {
		.name = "sso", .issuer = ISSUER, .client_id = "lodge", .secret = "se cret"
	};

	memset(&op, 0, sizeof op);
	op.arena = &f->arena;
	op.signer = signer_new(&f->arena, "ES256", "k1");
	op.sub = "s1";
	op.email = "Ada@example.org";
	op.verified = true;
	f->app.oidc = oidc_new(&config, 1, false, fake_fetch);
	return f;
}

static void close_with_provider(struct fixture *f)
{
	struct oidc *o = f->app.oidc;

	fixture_close(f);
	oidc_free(o);
}

static const char *part_of(struct fixture *f, const char *url, const char *name)
{
	const char *at = strstr(url, name) + strlen(name);

	return arena_strndup(&f->arena, at, strcspn(at, "&"));
}

/* A flow that has been begun: the browser's cookie, and the state. */
struct begun {
	const char *cookie, *state;
};

static struct begun begin_at(struct fixture *f, const char *target)
{
	struct answer r = ask(f, NULL, NULL, "GET /auth/oidc/sso/start?return_to=%s", target);
	const char *cookie, *url;

	STATUS(r, 302);
	if (r.status != 302)
		return (struct begun){ "", "" };
	cookie = header_of(f, &r, "Set-Cookie");
	url = header_of(f, &r, "Location");
	CHECK(strncmp(url,
		      ISSUER "/go?response_type=code&client_id=lodge&redirect_uri="
			     "http%3A%2F%2Flodge.test%2Fauth%2Foidc%2Fsso%2Fcallback&",
		      60) == 0);
	op.nonce = part_of(f, url, "nonce=");
	op.challenge = part_of(f, url, "code_challenge=");
	return (struct begun){ arena_strndup(&f->arena, cookie, strcspn(cookie, ";")),
		part_of(f, url, "state=") };
}

static struct begun begin(struct fixture *f)
{
	return begin_at(f, "/x");
}

static struct answer finish(struct fixture *f, const struct begun *b, const char *code)
{
	return ask(f, NULL, NULL,
		"GET /auth/oidc/sso/callback?state=%s&code=%s&more=1\nCookie: a=b; %s", b->state,
		code, b->cookie);
}

static struct answer sign_in(struct fixture *f)
{
	struct begun b = begin(f);

	return finish(f, &b, "good");
}

static const char *allow(struct fixture *f, const char *tenant_id, const char *email)
{
	struct answer r = ask(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", email),
		"POST /tenant/%s/allowed-accounts", tenant_id);

	STATUS(r, 201);
	return text_at(&r, "id");
}

TEST(oidc_an_allowed_address_joins_every_tenant_that_allows_it)
{
	struct fixture *f = open_with_provider();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct answer r;

	STATUS(sign_in(f), 403);
	allow(f, f->tenant_id, "ADA@example.org");
	fixture_sql(f, "update plans set max_members = 1", NO_ARGS);
	STATUS(sign_in(f), 403); /* nobody is let in beyond the plan */
	CHECK_INT(fixture_count(f, "select count(*) from users"), 1);
	fixture_sql(f, "update plans set max_members = null", NO_ARGS);
	r = sign_in(f);
	STATUS(r, 200);
	CHECK(!header_of(f, &r, "Location") && !header_of(f, &r, "ETag"));
	CHECK_STR(header_of(f, &r, "Content-Type"), "text/html");
	CHECK(strstr(r.body, "content=\"0;url=http://lodge.test/x\"") != NULL);
	CHECK_STR(header_of(f, &r, "Cache-Control"), "no-store");
	CHECK(strncmp(header_of(f, &r, "Set-Cookie"), "lodge_session=lodge_login_", 26) == 0);
	CHECK_INT(fixture_count(f, "select count(*) from users"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from members where role = 'MEMBER' and "
				   "status = 'active'"),
		1);
	allow(f, other, "ada@example.org");
	test_step("known by now, and asked in elsewhere");
	STATUS(sign_in(f), 200);
	STATUS(sign_in(f), 200);
	CHECK_INT(fixture_count(f, "select count(*) from members where role = 'MEMBER'"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from users"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from identities"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'member.join'"),
		2);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'login.succeed' "
				   "and meta like '%\"provider\":\"sso\"%'"),
		3);
	CHECK_INT(fixture_count(f, "select sum(members) from tenant_counts"), 4);
	CHECK_INT(op.facts_asked, 1);
	CHECK_INT(op.keys_asked, 1);
	test_step("a subject that is known needs no address");
	op.verified = false;
	STATUS(sign_in(f), 200);
	test_step("somebody else with an address that is not proven");
	op.sub = "s2";
	STATUS(sign_in(f), 403);
	CHECK_INT(fixture_count(f, "select count(*) from oidc_flows"), 0);
	close_with_provider(f);
}

TEST(oidc_a_proven_address_is_linked_to_its_user)
{
	struct fixture *f = open_with_provider();
	const char *user = fixture_user(f, "ada@example.org", NULL), *token;
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct answer r = ask(f, f->admin, "{\"email\":\"ada@example.org\",\"role\":\"ADMIN\"}",
		"POST /tenant/%s/members", f->tenant_id);

	STATUS(r, 201);
	token = text_at(&r, "invite_token");
	CHECK(token);
	STATUS(sign_in(f), 200);
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from identities where user_id = '%s'", user)),
		1);
	CHECK_INT(fixture_count(f, "select count(*) from members where role = 'ADMIN' and "
				   "status = 'active'"),
		1);
	test_step("no invitation sets a password on an account that is in use");
	STATUS(ask(f, NULL,
		       arena_printf(&f->arena,
			       "{\"token\":\"%s\",\"name\":\"A\",\"password\":\"long enough\"}",
			       token),
		       "POST /auth/accept-invite"),
		401);
	r = ask(f, f->admin, "{\"email\":\"ada@example.org\"}", "POST /tenant/%s/members", other);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "status"), "active");
	CHECK(!text_at(&r, "invite_token"));
	CHECK_INT(
		fixture_count(f, "select count(*) from users where password_hash is not null"), 0);
	test_step("suspended");
	fixture_sql(f, "update users set is_suspended = 1 where id = $1", ARGS(T(user)));
	r = sign_in(f);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:suspended");
	close_with_provider(f);
}

TEST(oidc_a_flow_is_good_once_in_its_browser_and_for_ten_minutes)
{
	struct fixture *f = open_with_provider();
	struct begun b, other;

	allow(f, f->tenant_id, "ada@example.org");
	b = begin(f);
	STATUS(finish(f, &(struct begun){ "x=y", b.state }, "good"), 401);
	STATUS(finish(f, &(struct begun){ "lodge_oidc=", b.state }, "good"), 401);
	STATUS(finish(f, &(struct begun){ b.cookie, "other" }, "good"), 401);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/callback\nCookie: %s", b.cookie), 401);
	CHECK_INT(op.tokens_asked, 0);
	STATUS(finish(f, &b, "good"), 200);
	STATUS(finish(f, &b, "good"), 401);
	CHECK_INT(op.tokens_asked, 1);
	test_step("cookies of one browser, state of another");
	b = begin(f);
	other = begin(f);
	STATUS(finish(f, &(struct begun){ other.cookie, b.state }, "good"), 401);
	test_step("a code that is not good uses the flow up");
	b = begin(f);
	STATUS(finish(f, &b, "bad"), 401);
	STATUS(finish(f, &b, "good"), 401);
	test_step("too late");
	b = begin(f);
	fixture_sql(
		f, "update oidc_flows set created_at = created_at - $1", ARGS(N(601 * SECOND_US)));
	STATUS(finish(f, &b, "good"), 401);
	test_step("the store holds nothing that helps");
	b = begin(f);
	CHECK_INT(fixture_count(f, arena_printf(&f->arena,
					   "select count(*) from oidc_flows where hash = '%s' or "
					   "sealed like '%%%s%%'",
					   b.state, op.nonce)),
		0);
	close_with_provider(f);
}

TEST(oidc_keys_change_and_providers_fail)
{
	struct fixture *f = open_with_provider();
	struct begun b;

	allow(f, f->tenant_id, "ada@example.org");
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/other/start"), 404);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/other/callback"), 404);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start?return_to=//evil.test"), 422);
	STATUS(sign_in(f), 200);
	op.signer = signer_new(&f->arena, "RS256", "k2");
	STATUS(sign_in(f), 200);
	CHECK_INT(op.keys_asked, 2);
	test_step("not more than once a minute");
	op.signer = signer_new(&f->arena, "RS256", "k3");
	STATUS(sign_in(f), 401);
	CHECK_INT(op.keys_asked, 2);
	test_step("a nonce of another sign-in");
	op.signer = signer_new(&f->arena, "RS256", "k2");
	b = begin(f);
	op.nonce = "another";
	STATUS(finish(f, &b, "good"), 401);
	test_step("away");
	b = begin(f);
	op.down = true;
	STATUS(finish(f, &b, "good"), 502);
	close_with_provider(f);

	f = open_with_provider();
	op.wrong_issuer = true;
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 502);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 502);
	CHECK_INT(op.facts_asked, 1); /* it is left alone for a moment */
	close_with_provider(f);
}

TEST(oidc_failures_count_against_the_address_alone)
{
	struct fixture *f = open_with_provider();
	struct answer r;

	for (int i = 0; i < 50; i++)
		STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/callback?state=x"), 401);
	r = ask(f, NULL, NULL, "GET /auth/oidc/sso/callback?state=x");
	STATUS(r, 429);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 429);
	CHECK_INT(fixture_count(f, "select count(*) from attempts"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'login.fail'"),
		50);
	fixture_sql(f, "delete from attempts", NO_ARGS);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 302);
	close_with_provider(f);
}

TEST(oidc_the_page_that_leads_on_holds_only_text)
{
	struct fixture *f = open_with_provider();
	struct begun b;
	struct answer r;

	allow(f, f->tenant_id, "ada@example.org");
	b = begin_at(f, "/x?a=%22%3E%3Cscript%3E%26%27");
	r = finish(f, &b, "good");
	STATUS(r, 200);
	CHECK(strstr(
		r.body, "\"0;url=http://lodge.test/x?a=&#34;&#62;&#60;script&#62;&#38;&#39;\">"));
	CHECK(!strstr(r.body, "<script"));
	CHECK(strstr(header_of(f, &r, "Content-Security-Policy"), "default-src 'none'"));
	close_with_provider(f);
}

static int64_t flows(struct fixture *f)
{
	return fixture_count(f, "select count(*) from oidc_flows");
}

TEST(oidc_an_address_may_leave_so_many_unfinished)
{
	struct fixture *f = open_with_provider();
	struct answer r;

	allow(f, f->tenant_id, "ada@example.org");
	for (int i = 0; i < 120; i++)
		STATUS(sign_in(f), 200); /* what ends well does not count */
	CHECK_INT(flows(f), 0);
	for (int i = 0; i < 100; i++)
		STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 302);
	r = ask(f, NULL, NULL, "GET /auth/oidc/sso/start");
	STATUS(r, 429);
	CHECK(header_of(f, &r, "Retry-After") && !header_of(f, &r, "Set-Cookie"));
	CHECK_INT(flows(f), 100);
	test_step("a quarter of an hour later");
	fixture_sql(f, "update attempts set since = since - $1", ARGS(N(900 * SECOND_US)));
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 302);
	chores_submit(&f->app);
	fixture_sql(f, "update attempts set since = since - $1", ARGS(N(901 * SECOND_US)));
	chores_submit(&f->app);
	STATUS(ask(f, f->admin, "{}", "PATCH /tenant/%s", f->tenant_id), 200);
	for (int i = 0; i < 1000 && fixture_count(f, "select count(*) from attempts"); i++)
		STATUS(ask(f, NULL, NULL, "GET /healthz"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from attempts"), 0);
	close_with_provider(f);
}

TEST(oidc_of_too_many_unfinished_the_oldest_go)
{
	struct fixture *f = open_with_provider();
	struct begun first, b;

	allow(f, f->tenant_id, "ada@example.org");
	first = begin(f);
	fixture_sql(f,
		"insert into oidc_flows (hash, provider, sealed, created_at) "
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 10050) "
		"select 'x' || i, 'sso', '', cast($1 as bigint) + i from n",
		ARGS(N(clock_now_us() - 60 * SECOND_US)));
	fixture_sql(f,
		"update oidc_flows set created_at = 1 where provider = 'sso' and sealed <> ''",
		NO_ARGS);
	b = begin(f);
	CHECK_INT(flows(f), 10000);
	CHECK_INT(fixture_count(f, "select count(*) from oidc_flows where hash = 'x51'"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from oidc_flows where hash = 'x52'"), 1);
	STATUS(finish(f, &first, "good"), 401);
	STATUS(finish(f, &b, "good"), 200);
	close_with_provider(f);
}
