/* test_mcp_tokens.c - tokens that OpenID providers give, as credentials for the Model Context Protocol: which are taken,
 * for whom, and when no longer. */
#include "oidc_fixture.h"

#include "base/clock.h"
#include "outside/oidc.h"

#define RESOURCE_URL "http://lodge.test/mcp"

/* A token of the provider's, with these claims besides issuer and subject. */
static const char *token_with(struct fixture *f, const char *header, const char *claims)
{
	return signer_token(&f->arena, &provider.signer, header,
		arena_printf(&f->arena, "{\"iss\":\"" PROVIDER_ISSUER "\",\"sub\":\"%s\",%s}",
			provider.sub, claims));
}

static const char *claims_for(struct fixture *f, const char *resource, int64_t seconds)
{
	int64_t now = clock_now_us() / SECOND_US;

	return arena_printf(&f->arena,
		"\"aud\":\"%s\",\"client_id\":\"editor\",\"iat\":%lld,\"exp\":%lld", resource,
		(long long)now - 1000, (long long)(now + seconds));
}

static const char *good_token(struct fixture *f)
{
	return token_with(f, NULL, claims_for(f, RESOURCE_URL, 600));
}

static struct answer list_tools_at(struct fixture *f, const char *token, const char *path)
{
	return ask(f, token, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}",
		"POST %s\nMCP-Protocol-Version: 2025-11-25\r\nAccept: application/json", path);
}

static struct answer list_tools(struct fixture *f, const char *token)
{
	return list_tools_at(f, token, "/mcp");
}

/* A person who has signed in by the provider, in the fixture's tenant. */
static struct fixture *signed_in(void)
{
	struct fixture *f = provider_open();

	provider_allow(f, f->tenant_id, "ada@example.org");
	STATUS(provider_sign_in(f), 200);
	return f;
}

TEST(mcp_takes_the_token_of_a_provider_for_whom_it_has_signed_in)
{
	struct fixture *f = signed_in();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	const char *token = good_token(f), *at_tenant, *large;
	struct answer r = list_tools(f, token);

	STATUS(r, 200);
	CHECK(at(&r, "result.tools"));
	test_step("it is the person, in their tenants and in no other");
	STATUS(list_tools_at(f, token, arena_printf(&f->arena, "/mcp/%s", f->tenant_id)), 200);
	STATUS(list_tools_at(f, token, arena_printf(&f->arena, "/mcp/%s", other)), 404);
	test_step("what is for one tenant's address is good there alone");
	at_tenant = token_with(f, "{\"alg\":\"ES256\",\"kid\":\"k1\",\"typ\":\"at+jwt\"}",
		claims_for(f, arena_printf(&f->arena, RESOURCE_URL "/%s", f->tenant_id), 600));
	STATUS(list_tools_at(f, at_tenant, arena_printf(&f->arena, "/mcp/%s", f->tenant_id)), 200);
	STATUS(list_tools(f, at_tenant), 401);
	test_step("it is good for nothing else");
	STATUS(ask(f, token, NULL, "GET /me"), 401);
	STATUS(ask(f, token, NULL, "GET /tenant/%s/agents", f->tenant_id), 401);
	STATUS(ask(f, token, NULL, "GET /v1/models"), 401);
	test_step("a body that is only taken from those who are known");
	large = arena_printf(&f->arena,
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"x\":\"%*s\"}}",
		100000, "");
	STATUS(ask(f, token, large, "POST /mcp\nAccept: application/json"), 200);
	token = token_with(f, NULL, claims_for(f, RESOURCE_URL, 601));
	STATUS(ask(f, token, large, "POST /mcp\nAccept: application/json"), 200);
	token = token_with(f, NULL, claims_for(f, RESOURCE_URL "/x", 600));
	STATUS(ask(f, token, large, "POST /mcp\nAccept: application/json"), 401);
	test_step("the provider was asked once for its keys, by the sign-in");
	CHECK_INT(provider.keys_asked, 1);
	provider_close(f);
}

TEST(mcp_refuses_a_token_that_does_not_hold)
{
	struct fixture *f = signed_in();
	struct signer stranger = signer_new(&f->arena, "ES256", "k1");
	int64_t now = clock_now_us() / SECOND_US;
	const char *fine = claims_for(f, RESOURCE_URL, 600);
	const struct {
		const char *what, *token;
	} rows[] = {
		{ "another resource",
			token_with(f, NULL, claims_for(f, "http://x.test/mcp", 600)) },
		{ "a slash more", token_with(f, NULL, claims_for(f, RESOURCE_URL "/", 600)) },
		{ "the client, as an ID token is",
			token_with(f, NULL, claims_for(f, "lodge", 600)) },
		{ "no audience",
			token_with(f, NULL,
				arena_printf(&f->arena, "\"exp\":%lld", (long long)now + 600)) },
		{ "no end", token_with(f, NULL, "\"aud\":\"" RESOURCE_URL "\"") },
		{ "ended", token_with(f, NULL, claims_for(f, RESOURCE_URL, -61)) },
		{ "not yet", token_with(f, NULL,
				     arena_printf(&f->arena, "%s,\"nbf\":%lld", fine,
					     (long long)now + 120)) },
		{ "bound to a key",
			token_with(f, NULL,
				arena_printf(&f->arena, "%s,\"cnf\":{\"jkt\":\"x\"}", fine)) },
		{ "of another kind",
			token_with(f, "{\"alg\":\"ES256\",\"kid\":\"k1\",\"typ\":\"logout+jwt\"}",
				fine) },
		{ "unsigned",
			arena_printf(&f->arena, "%s", token_with(f, "{\"alg\":\"none\"}", fine)) },
		{ "an HMAC", hmac_token(&f->arena, "{\"alg\":\"HS256\",\"kid\":\"k1\"}",
				     arena_printf(&f->arena,
					     "{\"iss\":\"" PROVIDER_ISSUER "\",\"sub\":\"s1\",%s}",
					     fine),
				     "x", 1) },
		{ "another issuer",
			signer_token(&f->arena, &provider.signer, NULL,
				arena_printf(&f->arena,
					"{\"iss\":\"" PROVIDER_ISSUER "/\",\"sub\":\"s1\",%s}",
					fine)) },
		{ "signed by somebody else",
			signer_token(&f->arena, &stranger, NULL,
				arena_printf(&f->arena,
					"{\"iss\":\"" PROVIDER_ISSUER "\",\"sub\":\"s1\",%s}",
					fine)) },
		{ "no token at all", "eyJhbGciOiJub25lIn0.e30." },
		{ "too long", arena_printf(&f->arena, "eyJ%0*d.e30.AA", 17000, 0) },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct answer r = list_tools(f, rows[i].token);
		const char *challenge = header_of(f, &r, "WWW-Authenticate");

		test_step("%s", rows[i].what);
		STATUS(r, 401);
		CHECK(challenge &&
			strstr(challenge,
				"error=\"invalid_token\", resource_metadata=\"http://lodge.test/"
				".well-known/oauth-protected-resource/mcp\"") != NULL);
	}
	STATUS(list_tools(f, token_with(f, NULL, claims_for(f, RESOURCE_URL, -30))), 200);
	CHECK_INT(fixture_count(f, "select count(*) from users"), 2);
	provider_close(f);
}

TEST(mcp_a_token_makes_nobody_an_account)
{
	struct fixture *f = provider_open();

	provider_allow(f, f->tenant_id, "ada@example.org");
	STATUS(list_tools(f, good_token(f)), 401);
	STATUS(list_tools(f, token_with(f, NULL,
				     arena_printf(&f->arena,
					     "%s,\"email\":\"ada@example.org\","
					     "\"email_verified\":true",
					     claims_for(f, RESOURCE_URL, 600)))),
		401);
	CHECK_INT(fixture_count(f, "select count(*) from users"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from identities"), 0);
	provider_close(f);
}

TEST(mcp_a_token_is_worth_what_its_person_is_at_that_moment)
{
	struct fixture *f = signed_in();
	const char *token = good_token(f), *user;
	struct answer r = ask(f, f->admin, NULL, "GET /admin/users?q=ada");

	user = text_at(&r, "items.0.id");
	STATUS(list_tools(f, token), 200);
	test_step("suspended");
	fixture_sql(f, "update users set is_suspended = 1 where id = $1", ARGS(T(user)));
	STATUS(list_tools(f, token), 403);
	fixture_sql(f, "update users set is_suspended = 0 where id = $1", ARGS(T(user)));
	STATUS(list_tools(f, token), 200);
	test_step("the tenant is suspended");
	fixture_sql(
		f, "update tenants set status = 'suspended' where id = $1", ARGS(T(f->tenant_id)));
	r = list_tools(f, token);
	CHECK(r.status == 403 || at(&r, "error"));
	fixture_sql(f, "update tenants set status = 'active' where id = $1", ARGS(T(f->tenant_id)));
	STATUS(list_tools(f, token), 200);
	test_step("no longer a member");
	fixture_sql(f, "delete from members where user_id = $1", ARGS(T(user)));
	r = list_tools_at(f, token, arena_printf(&f->arena, "/mcp/%s", f->tenant_id));
	STATUS(r, 404);
	test_step("unlinked");
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/unlink", user), 204);
	STATUS(list_tools(f, token), 401);
	provider_close(f);
}

TEST(mcp_a_super_administrator_has_no_more_by_a_token)
{
	struct fixture *f = signed_in();
	const char *other = fixture_tenant(f, "other", f->admin_id);

	fixture_sql(f, "update users set is_super_admin = 1", NO_ARGS);
	STATUS(list_tools_at(f, good_token(f), arena_printf(&f->arena, "/mcp/%s", other)), 404);
	provider_close(f);
}

TEST(mcp_keys_of_a_provider_are_asked_for_seldom_and_a_list_counts_at_once)
{
	struct fixture *f = signed_in();
	struct oidc_config two = {
		.name = "two", .issuer = "https://two.example", .client_id = "x", .secret = "y"
	};
	struct oidc_config sso = {
		.name = "sso", .issuer = PROVIDER_ISSUER, .client_id = "lodge", .secret = "se cret"
	};
	const char *before = good_token(f), *after;
	struct answer r;

	STATUS(list_tools(f, before), 200);
	test_step("the keys change: they are read anew once a minute, whatever strangers send");
	provider.signer = signer_new(&f->arena, "ES256", "k2");
	after = good_token(f);
	STATUS(list_tools(f, after), 200);
	CHECK_INT(provider.keys_asked, 2);
	for (int i = 0; i < 20; i++)
		STATUS(list_tools(f, token_with(f,
					     arena_printf(&f->arena,
						     "{\"alg\":\"ES256\",\"kid\":\"x%d\"}", i),
					     claims_for(f, RESOURCE_URL, 600))),
			401);
	CHECK_INT(provider.keys_asked, 2);
	CHECK_INT(provider.facts_asked, 1);
	test_step("what was found to hold is known without asking anybody");
	provider.down = true;
	STATUS(list_tools(f, after), 200);
	test_step(
		"a provider that is taken off the list counts no more, also for what is remembered");
	CHECK(oidc_renew(f->service.oidc, &two, 1));
	STATUS(list_tools(f, after), 401);
	test_step("one that cannot be asked is no word against the token");
	r = list_tools(f, signer_token(&f->arena, &provider.signer, NULL,
				  arena_printf(&f->arena,
					  "{\"iss\":\"https://two.example\",\"sub\":\"s1\",%s}",
					  claims_for(f, RESOURCE_URL, 600))));
	STATUS(r, 502);
	CHECK(oidc_renew(f->service.oidc, &sso, 1));
	STATUS(list_tools(f, after), 200);
	provider_close(f);
}

TEST(mcp_what_is_done_by_a_token_says_who_gave_it)
{
	struct fixture *f = signed_in();
	const char *token = good_token(f);
	struct answer r =
		ask(f, f->admin, "{\"model\":\"demo\",\"name\":\"Helper\"}", "POST /v1/assistants");

	STATUS(r, 200);
	fixture_sql(f, "update agent_rows set slug = 'helper', default_role_enabled = 1", NO_ARGS);
	r = ask(f, token,
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"ask_helper\",\"arguments\":{\"message\":\"Hello\"}}}",
		"POST /mcp\nMCP-Protocol-Version: 2025-11-25\r\nAccept: application/json");
	STATUS(r, 200);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = "
				   "'session.message' and meta like '%\"issued_by\":\"sso\"%'"),
		1);
	test_step("and the token itself is nowhere");
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from audit_logs where meta like '%%%.20s%%'",
				     strrchr(token, '.') + 1)),
		0);
	provider_close(f);
}
