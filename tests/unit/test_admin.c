/* test_admin.c - the super administrator's rosters, plans and their limits, and why somebody may what. */
#include "fixture.h"

#include <stdlib.h>

#include "base/clock.h"

static struct answer post_agent(struct fixture *f, const char *slug)
{
	return ask(f, f->admin, arena_printf(&f->arena, "{\"name\":\"A\",\"slug\":\"%s\"}", slug),
		"POST /tenant/%s/agents", f->tenant_id);
}

TEST(admin_rosters_are_for_super_administrators)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token);
	struct answer r;

	fixture_sql(f, "update users set password_hash = 'x' where id = $1", ARGS(T(user)));
	fixture_member(f, f->tenant_id, user, "OWNER");
	STATUS(ask(f, token, NULL, "GET /admin/tenants"), 403);
	r = ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(ask(f, text_at(&r, "key"), NULL, "GET /admin/tenants"), 403);
	post_agent(f, "one");
	r = ask(f, f->admin, NULL, "GET /admin/tenants");
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "items.0.agent_count")), 1);
	CHECK_INT(json_integer_value(at(&r, "items.0.member_count")), 1);
	r = ask(f, f->admin, NULL, "GET /api/v1/admin/users?q=M@EXAMPLE");
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.primary_tenant.role"), "OWNER");
	CHECK_INT(json_integer_value(at(&r, "items.0.tenant_count")), 1);
	fixture_close(f);
}

TEST(admin_detail_sums_thirty_days)
{
	struct fixture *f = fixture_open();
	int64_t today = clock_now_us() / (86400 * SECOND_US);
	struct answer r;

	for (int i = 0; i < 2; i++)
		fixture_sql(f,
			"insert into usage_days (tenant_id, day, shard, requests, input_tokens, output_tokens, "
			"cache_read_tokens, cache_write_tokens, cost_whole, cost_pd, sessions, "
			"sessions_completed, sessions_failed, sessions_cancelled, messages, subtasks) "
			"values ($1, $2, 0, 5, 1, 2, 3, 4, 1, 250000000000, 4, 1, 1, 1, 7, 2)",
			ARGS(T(f->tenant_id), N(today - i * 31)));
	fixture_sql(f,
		"insert into active_days (tenant_id, day, kind, id) values ($1, $2, 'agent', 'x')",
		ARGS(T(f->tenant_id), N(today)));
	r = ask(f, f->admin, NULL, "GET /admin/tenants/%s", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "usage_summary_30d.requests")), 5);
	CHECK_INT(json_integer_value(at(&r, "usage_summary_30d.active_agents")), 1);
	CHECK(json_number_value(at(&r, "usage_summary_30d.cost_usd")) == 1.25);
	CHECK_INT(json_integer_value(at(&r, "task_summary_30d.sessions")), 2);
	CHECK_INT(json_integer_value(at(&r, "task_summary_30d.running")), 0);
	CHECK_STR(text_at(&r, "plan.slug"), "unlimited");
	fixture_close(f);
}

TEST(admin_suspends_tenants_and_users)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	r = ask(f, f->admin, "{\"is_suspended\":true}", "PATCH /admin/tenants/%s", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "suspended");
	r = ask(f, token, NULL, "GET /tenant/%s", f->tenant_id);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:suspended");
	r = ask(f, f->admin, "{\"status\":\"active\"}", "PATCH /admin/tenants/%s", f->tenant_id);
	CHECK(json_is_false(at(&r, "is_suspended")));
	STATUS(ask(f, token, NULL, "GET /tenant/%s", f->tenant_id), 200);
	STATUS(ask(f, f->admin, "{\"is_suspended\":true}", "PATCH /admin/users/%s", user), 200);
	STATUS(ask(f, token, NULL, "GET /me"), 403);
	r = ask(f, f->admin, "{\"is_super_admin\":true}", "PATCH /admin/users/%s", user);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:address_unproven");
	fixture_sql(f, "update users set email_proven_at = 1 where id = $1", ARGS(T(user)));
	STATUS(ask(f, f->admin, "{\"is_suspended\":false,\"is_super_admin\":true}",
		       "PATCH /admin/users/%s", user),
		200);
	STATUS(ask(f, token, NULL, "GET /admin/users"), 200);
	STATUS(ask(f, token, "{\"is_super_admin\":false}", "PATCH /admin/users/%s", f->admin_id),
		200);
	STATUS(ask(f, token, "{\"is_suspended\":true}", "PATCH /admin/users/%s", user), 409);
	fixture_close(f);
}

TEST(admin_plans_keep_their_price_to_the_last_digit)
{
	static const char *const prices[] = { "0.1", "19.99", "2.675", "0.000000000001",
		"999999.999999999999", "0" };
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"name\":\"P\",\"slug\":\"p\",\"monthly_price_usd\":0.0000000000005}",
		"POST /admin/plans");
	const char *plan;

	CHECK(refuses(&r, "monthly_price_usd", "too_fine"));
	r = ask(f, f->admin, "{\"name\":\"P\",\"slug\":\"p\",\"monthly_price_usd\":9.5}",
		"POST /admin/plans");
	STATUS(r, 201);
	plan = text_at(&r, "id");
	for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
		const char *price = arena_printf(&f->arena, "\"monthly_price_usd\":%s", prices[i]);

		test_step("%s", prices[i]);
		r = ask(f, f->admin, arena_printf(&f->arena, "{%s}", price),
			"PATCH /admin/plans/%s", plan);
		STATUS(r, 200);
		CHECK(strstr(r.body, arena_printf(&f->arena, "%s,", price)) != NULL);
		r = ask(f, f->admin, NULL, "GET /admin/plans");
		CHECK(strstr(r.body, arena_printf(&f->arena, "%s,", price)) != NULL);
	}
	r = ask(f, f->admin, "{\"monthly_price_usd\":1.0000000000001}", "PATCH /admin/plans/%s",
		plan);
	CHECK(refuses(&r, "monthly_price_usd", "too_fine"));
	fixture_close(f);
}

TEST(admin_plans_limit_agents_and_members)
{
	struct fixture *f = fixture_open();
	const char *plan, *first, *second;
	struct answer r = ask(f, f->admin,
		"{\"name\":\"Small\",\"slug\":\"small\",\"monthly_price_usd\":9.5,\"max_agents\":1,\"max_members\":1}",
		"POST /admin/plans");

	STATUS(r, 201);
	plan = text_at(&r, "id");
	CHECK(json_number_value(at(&r, "monthly_price_usd")) == 9.5);
	STATUS(ask(f, f->admin, "{\"name\":\"Small\",\"slug\":\"small\"}", "POST /admin/plans"),
		409);
	r = post_agent(f, "one");
	first = text_at(&r, "id");
	r = post_agent(f, "two");
	second = text_at(&r, "id");

	test_step("a smaller plan makes the later agent read-only");
	r = ask(f, f->admin, arena_printf(&f->arena, "{\"plan_id\":\"%s\"}", plan),
		"PATCH /admin/tenants/%s", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "plan.slug"), "small");
	r = ask(f, f->admin, NULL, "GET /agents/%s", second);
	CHECK(json_is_true(at(&r, "plan_read_only")));
	r = ask(f, f->admin, "{\"voice\":\"x\"}", "PATCH /agents/%s", second);
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:plan_read_only");
	STATUS(ask(f, f->admin, "{\"voice\":\"x\"}", "PATCH /agents/%s", first), 200);
	r = post_agent(f, "three");
	STATUS(r, 409);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:plan_limit");
	STATUS(ask(f, f->admin, "{\"email\":\"x@example.org\"}", "POST /tenant/%s/members",
		       f->tenant_id),
		409);

	test_step("deleting the first frees the second");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", first), 204);
	STATUS(ask(f, f->admin, "{\"voice\":\"x\"}", "PATCH /agents/%s", second), 200);

	test_step("a larger plan, a canceled one");
	r = ask(f, f->admin, "{\"max_agents\":null,\"max_members\":null}", "PATCH /admin/plans/%s",
		plan);
	STATUS(r, 200);
	STATUS(post_agent(f, "three"), 201);
	STATUS(ask(f, f->admin, "{\"plan_status\":\"canceled\"}", "PATCH /admin/tenants/%s",
		       f->tenant_id),
		200);
	STATUS(ask(f, f->admin, "{\"voice\":\"y\"}", "PATCH /agents/%s", second), 409);
	STATUS(post_agent(f, "four"), 409);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/agents", f->tenant_id);
	CHECK(json_is_true(at(&r, "items.0.plan_read_only")));
	r = ask(f, f->admin, NULL, "GET /admin/plans");
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	r = ask(f, f->admin, "{\"plan_id\":\"c0123456789abcdefghijklmn\"}",
		"PATCH /admin/tenants/%s", f->tenant_id);
	CHECK(refuses(&r, "plan_id", "unknown"));
	fixture_close(f);
}

TEST(access_view_names_every_way)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *agent;
	const char *stranger = fixture_user(f, "s@example.org", NULL);
	struct answer r = post_agent(f, "one");

	agent = text_at(&r, "id");
	fixture_member(f, f->tenant_id, user, "MEMBER");
	r = ask(f, token, NULL, "GET /agents/%s/access", agent);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "ways")), 1);
	CHECK_STR(text_at(&r, "ways.0.through"), "default");
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent, user),
		201);
	r = ask(f, f->admin, NULL, "GET /agents/%s/access/%s", agent, user);
	CHECK_INT(json_array_size(at(&r, "ways")), 2);
	CHECK_STR(text_at(&r, "ways.1.role"), "MANAGER");
	CHECK_INT(json_array_size(at(&r, "permissions")), 10);
	STATUS(ask(f, token, NULL, "GET /agents/%s/access/%s", agent, user), 403);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s/access/%s", agent, stranger), 404);
	r = ask(f, f->admin, NULL, "GET /agents/%s/access", agent);
	CHECK_STR(text_at(&r, "ways.0.through"), "tenant");
	CHECK_STR(text_at(&r, "ways.1.through"), "super_admin");
	fixture_close(f);
}

TEST(agents_change_hands)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *agent;
	const char *stranger = fixture_user(f, "s@example.org", NULL);
	struct answer r = post_agent(f, "one");

	agent = text_at(&r, "id");
	fixture_member(f, f->tenant_id, user, "MEMBER");
	r = ask(f, f->admin, arena_printf(&f->arena, "{\"new_owner_id\":\"%s\"}", stranger),
		"POST /agents/%s/transfer-ownership", agent);
	CHECK(refuses(&r, "new_owner_id", "unknown"));
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"new_owner_id\":\"%s\"}", user),
		       "POST /agents/%s/transfer-ownership", agent),
		200);
	r = ask(f, token, NULL, "GET /agents/%s/roles", agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.0.role"), "OWNER");
	CHECK_STR(text_at(&r, "items.1.role"), "MANAGER");
	fixture_close(f);
}
