/* test_oidc.c - signing in at a provider. */
#include "oidc_fixture.h"

#include "base/clock.h"
#include "call/maintenance.h"
#include "outside/oidc.h"

TEST(oidc_an_allowed_address_is_taken_in_once_and_asked_by_others)
{
	struct fixture *f = provider_open();
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct answer r;

	STATUS(provider_sign_in(f), 403);
	provider_allow(f, f->tenant_id, "ADA@example.org");
	fixture_sql(f, "update plans set max_members = 1", NO_ARGS);
	STATUS(provider_sign_in(f), 403); /* nobody is let in beyond the plan */
	CHECK_INT(fixture_count(f, "select count(*) from users"), 1);
	fixture_sql(f, "update plans set max_members = null", NO_ARGS);
	r = provider_sign_in(f);
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
	provider_allow(f, other, "ada@example.org");
	test_step("known by now, and asked in elsewhere");
	STATUS(provider_sign_in(f), 200);
	STATUS(provider_sign_in(f), 200);
	CHECK_INT(fixture_count(f, "select count(*) from members where role = 'MEMBER'"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from users"), 2);
	CHECK_INT(fixture_count(f, "select count(*) from identities"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from members where role = 'MEMBER' and "
				   "status = 'invited'"),
		1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'member.join'"),
		1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'login.succeed' "
				   "and meta like '%\"provider\":\"sso\"%'"),
		3);
	CHECK_INT(fixture_count(f, "select sum(members) from tenant_counts"), 4);
	CHECK_INT(provider.facts_asked, 1);
	CHECK_INT(provider.keys_asked, 1);
	test_step("a subject that is known needs no address");
	provider.verified = false;
	STATUS(provider_sign_in(f), 200);
	test_step("somebody else with an address that is not proven");
	provider.sub = "s2";
	STATUS(provider_sign_in(f), 403);
	CHECK_INT(fixture_count(f, "select count(*) from oidc_flows"), 0);
	provider_close(f);
}

/* Addresses are given to others, subjects are not. */
TEST(oidc_a_second_subject_with_the_address_is_refused_until_the_account_is_unlinked)
{
	struct fixture *f = provider_open();
	struct answer r;

	provider_allow(f, f->tenant_id, "ada@example.org");
	STATUS(provider_sign_in(f), 200);
	provider.sub = "s2";
	r = provider_sign_in(f);
	STATUS(r, 403);
	CHECK_INT(fixture_count(f, "select count(*) from identities"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'login.fail' "
				   "and meta like '%other_subject%'"),
		1);
	r = ask(f, f->admin, NULL, "GET /admin/users?q=ada");
	STATUS(r, 200);
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/unlink", text_at(&r, "items.0.id")),
		204);
	CHECK_INT(fixture_count(f, "select count(*) from logins l join users u on u.id = l.user_id "
				   "where u.email = 'ada@example.org'"),
		0);
	STATUS(provider_sign_in(f), 200);
	provider_close(f);
}

TEST(oidc_a_proven_address_is_linked_to_its_user)
{
	struct fixture *f = provider_open();
	const char *user = fixture_user(f, "ada@example.org", NULL), *token;
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct answer r = ask(f, f->admin, "{\"email\":\"ada@example.org\",\"role\":\"ADMIN\"}",
		"POST /tenant/%s/members", f->tenant_id);

	STATUS(r, 201);
	token = text_at(&r, "invite_token");
	CHECK(token);
	STATUS(provider_sign_in(f), 200);
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from identities where user_id = '%s'", user)),
		1);
	test_step("the invitation stays open until it is answered");
	CHECK_INT(fixture_count(f, "select count(*) from members where role = 'ADMIN' and "
				   "status = 'invited'"),
		1);
	CHECK_INT(fixture_count(f, "select count(*) from invitations"), 0);
	test_step("no invitation sets a password on an account that is in use");
	STATUS(ask(f, NULL,
		       arena_printf(&f->arena,
			       "{\"token\":\"%s\",\"name\":\"A\",\"password\":\"long enough\"}",
			       token),
		       "POST /auth/accept-invite"),
		401);
	r = ask(f, f->admin, "{\"email\":\"ada@example.org\"}", "POST /tenant/%s/members", other);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "status"), "invited");
	STATUS(ask(f, NULL,
		       arena_printf(&f->arena,
			       "{\"token\":\"%s\",\"name\":\"A\",\"password\":\"long enough\"}",
			       text_at(&r, "invite_token")),
		       "POST /auth/accept-invite"),
		401);
	CHECK_INT(
		fixture_count(f, "select count(*) from users where password_hash is not null"), 0);
	test_step("suspended");
	fixture_sql(f, "update users set is_suspended = 1 where id = $1", ARGS(T(user)));
	r = provider_sign_in(f);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:suspended");
	provider_close(f);
}

TEST(oidc_a_flow_is_good_once_in_its_browser_and_for_ten_minutes)
{
	struct fixture *f = provider_open();
	struct begun b, other;

	provider_allow(f, f->tenant_id, "ada@example.org");
	b = provider_begin(f);
	STATUS(provider_finish(f, &(struct begun){ "x=y", b.state }, "good"), 401);
	STATUS(provider_finish(f, &(struct begun){ "lodge_oidc=", b.state }, "good"), 401);
	STATUS(provider_finish(f, &(struct begun){ b.cookie, "other" }, "good"), 401);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/callback\nCookie: %s", b.cookie), 401);
	CHECK_INT(provider.tokens_asked, 0);
	STATUS(provider_finish(f, &b, "good"), 200);
	STATUS(provider_finish(f, &b, "good"), 401);
	CHECK_INT(provider.tokens_asked, 1);
	test_step("cookies of one browser, state of another");
	b = provider_begin(f);
	other = provider_begin(f);
	STATUS(provider_finish(f, &(struct begun){ other.cookie, b.state }, "good"), 401);
	test_step("a code that is not good uses the flow up");
	b = provider_begin(f);
	STATUS(provider_finish(f, &b, "bad"), 401);
	STATUS(provider_finish(f, &b, "good"), 401);
	test_step("too late");
	b = provider_begin(f);
	fixture_sql(
		f, "update oidc_flows set created_at = created_at - $1", ARGS(N(601 * SECOND_US)));
	STATUS(provider_finish(f, &b, "good"), 401);
	test_step("the store holds nothing that helps");
	b = provider_begin(f);
	CHECK_INT(fixture_count(f, arena_printf(&f->arena,
					   "select count(*) from oidc_flows where hash = '%s' or "
					   "sealed like '%%%s%%'",
					   b.state, provider.nonce)),
		0);
	provider_close(f);
}

TEST(oidc_keys_change_and_providers_fail)
{
	struct fixture *f = provider_open();
	struct begun b;

	provider_allow(f, f->tenant_id, "ada@example.org");
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/other/start"), 404);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/other/callback"), 404);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start?return_to=//evil.test"), 422);
	STATUS(provider_sign_in(f), 200);
	provider.signer = signer_new(&f->arena, "RS256", "k2");
	STATUS(provider_sign_in(f), 200);
	CHECK_INT(provider.keys_asked, 2);
	test_step("not more than once a minute");
	provider.signer = signer_new(&f->arena, "RS256", "k3");
	STATUS(provider_sign_in(f), 401);
	CHECK_INT(provider.keys_asked, 2);
	test_step("a nonce of another sign-in");
	provider.signer = signer_new(&f->arena, "RS256", "k2");
	b = provider_begin(f);
	provider.nonce = "another";
	STATUS(provider_finish(f, &b, "good"), 401);
	test_step("away");
	b = provider_begin(f);
	provider.down = true;
	STATUS(provider_finish(f, &b, "good"), 502);
	provider_close(f);

	f = provider_open();
	provider.wrong_issuer = true;
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 502);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 502);
	CHECK_INT(provider.facts_asked, 1); /* it is left alone for a moment */
	provider_close(f);
}

TEST(oidc_failures_count_against_the_address_alone)
{
	struct fixture *f = provider_open();
	struct begun under_way;
	struct answer r;

	provider_allow(f, f->tenant_id, "ada@example.org");
	under_way = provider_begin(f);
	for (int i = 0; i < 50; i++)
		STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/callback?state=x"), 401);
	r = ask(f, NULL, NULL, "GET /auth/oidc/sso/callback?state=x");
	STATUS(r, 429);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'login.fail'"),
		50);
	test_step("and keep nobody from beginning, or from ending what is under way");
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 302);
	STATUS(provider_finish(f, &under_way, "good"), 200);
	provider_close(f);
}

TEST(oidc_a_part_of_another_page_counts_for_nothing)
{
	struct fixture *f = provider_open();
	static const char *const addresses[] = { "start", "callback?state=x" };

	for (size_t i = 0; i < 2; i++)
		STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/%s\nSec-Fetch-Dest: image",
			       addresses[i]),
			403);
	CHECK_INT(fixture_count(f, "select count(*) from attempts"), 0);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'login.fail'"), 0);
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start\nSec-Fetch-Dest: document"), 302);
	provider_close(f);
}

TEST(oidc_the_page_that_leads_on_holds_only_text)
{
	struct fixture *f = provider_open();
	struct begun b;
	struct answer r;

	provider_allow(f, f->tenant_id, "ada@example.org");
	b = provider_begin_at(f, "/x?a=%22%3E%3Cscript%3E%26%27");
	r = provider_finish(f, &b, "good");
	STATUS(r, 200);
	CHECK(strstr(
		r.body, "\"0;url=http://lodge.test/x?a=&#34;&#62;&#60;script&#62;&#38;&#39;\">"));
	CHECK(!strstr(r.body, "<script"));
	CHECK(strstr(header_of(f, &r, "Content-Security-Policy"), "default-src 'none'"));
	provider_close(f);
}

static int64_t flows(struct fixture *f)
{
	return fixture_count(f, "select count(*) from oidc_flows");
}

TEST(oidc_an_address_may_leave_so_many_unfinished)
{
	struct fixture *f = provider_open();
	struct answer r;

	provider_allow(f, f->tenant_id, "ada@example.org");
	for (int i = 0; i < 120; i++)
		STATUS(provider_sign_in(f), 200); /* what ends well does not count */
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
	maintenance_submit(&f->app);
	fixture_sql(f, "update attempts set since = since - $1", ARGS(N(901 * SECOND_US)));
	maintenance_submit(&f->app);
	STATUS(ask(f, f->admin, "{}", "PATCH /tenant/%s", f->tenant_id), 200);
	for (int i = 0; i < 30000 && fixture_count(f, "select count(*) from attempts"); i++)
		STATUS(ask(f, NULL, NULL, "GET /healthz"), 200);
	CHECK_INT(fixture_count(f, "select count(*) from attempts"), 0);
	provider_close(f);
}

TEST(oidc_of_too_many_unfinished_the_oldest_go)
{
	struct fixture *f = provider_open();
	struct begun first, b;

	provider_allow(f, f->tenant_id, "ada@example.org");
	first = provider_begin(f);
	fixture_sql(f,
		"insert into oidc_flows (hash, provider, sealed, created_at) "
		"with recursive n(i) as (select 1 union all select i + 1 from n where i < 10050) "
		"select 'x' || i, 'sso', '', cast($1 as bigint) + i from n",
		ARGS(N(clock_now_us() - 60 * SECOND_US)));
	fixture_sql(f,
		"update oidc_flows set created_at = 1 where provider = 'sso' and sealed <> ''",
		NO_ARGS);
	b = provider_begin(f);
	CHECK_INT(flows(f), 10000);
	CHECK_INT(fixture_count(f, "select count(*) from oidc_flows where hash = 'x51'"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from oidc_flows where hash = 'x52'"), 1);
	STATUS(provider_finish(f, &first, "good"), 401);
	STATUS(provider_finish(f, &b, "good"), 200);
	provider_close(f);
}

TEST(oidc_takes_another_list_while_it_runs)
{
	struct fixture *f = provider_open();
	struct oidc *o = f->service.oidc;
	struct oidc_config list[] = {
		{ .name = "sso",
			.issuer = PROVIDER_ISSUER,
			.client_id = "lodge",
			.secret = "se cret" },
		{ .name = "two", .issuer = "https://two.example", .client_id = "x", .secret = "y" },
	};
	struct oidc_provider *sso = oidc_find(o, "sso");

	CHECK(!oidc_renew(o, list, 1));
	CHECK(oidc_renew(o, list, 2) && oidc_find(o, "two") && oidc_find(o, "sso") == sso);
	CHECK(!oidc_renew(o, list, 2));
	list[1].secret = "another";
	CHECK(oidc_renew(o, list, 2));
	test_step("a provider that is gone is not found, and known when it comes again");
	CHECK(oidc_renew(o, list + 1, 1) && !oidc_find(o, "sso"));
	STATUS(ask(f, NULL, NULL, "GET /auth/oidc/sso/start"), 404);
	CHECK(oidc_renew(o, list, 1) && oidc_find(o, "sso") == sso && !oidc_find(o, "two"));
	provider_allow(f, f->tenant_id, "ada@example.org");
	STATUS(provider_sign_in(f), 200);
	test_step("there is an end to providers that are named and given up");
	for (int i = 0; i < 62; i++) {
		list[1].issuer = arena_printf(&f->arena, "https://n%d.example", i);
		CHECK(oidc_takes(o, list, 2) && oidc_renew(o, list, 2));
	}
	list[1].issuer = "https://one-more.example";
	CHECK(!oidc_takes(o, list, 2) && oidc_takes(o, list, 1));
	provider_close(f);
}
