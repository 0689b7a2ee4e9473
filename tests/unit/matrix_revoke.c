/* matrix_revoke.c - what was taken is gone at the next request, in the same process. */
#include "base/clock.h"
#include "matrix.h"

struct scene {
	struct fixture *f;
	struct world w;
	const char *user_id, *login, *key, *key_id, *agent_id; /* a MEMBER, and the closed agent */
};

static struct scene scene_open(const char *role)
{
	struct scene s = { .f = fixture_open() };

	world_make(s.f, &s.w, "alpha");
	s.user_id = fixture_user(s.f, "somebody@example.org", &s.login);
	fixture_member(s.f, s.w.tenant_id, s.user_id, role);
	s.key = key_make(s.f, s.w.tenant_id, s.user_id, NULL, NIL, &s.key_id);
	s.agent_id = s.w.agents[AGENT_CLOSED];
	return s;
}

/* Asked twice, so that whatever might be remembered is. */
static void expect(struct scene *s, const char *token, int status, const char *path)
{
	for (int i = 0; i < 2; i++) {
		struct answer r = ask(s->f, token, NULL, "GET %s", path);

		if (r.status != status)
			test_fail(__FILE__, __LINE__, "%s by %s: got %d, wanted %d", path,
				token == s->key	    ? "key"
				: token == s->login ? "login"
						    : "another credential",
				r.status, status);
	}
}

static void expect_both(struct scene *s, int status, const char *path)
{
	expect(s, s->login, status, path);
	expect(s, s->key, status, path);
}

static const char *agent_path(const struct scene *s)
{
	return arena_printf(&s->f->arena, "/agents/%s", s->agent_id);
}

static const char *tenant_path(const struct scene *s, const char *rest)
{
	return arena_printf(&s->f->arena, "/tenant/%s%s", s->w.tenant_id, rest);
}

TEST(matrix_revoked_role_on_an_agent)
{
	struct scene s = scene_open("MEMBER");
	struct fixture *f = s.f;

	expect_both(&s, 404, agent_path(&s));
	test_step("the user's own role");
	STATUS(ask(f, s.w.owner, "{\"role\":\"OWNER\"}", "PUT /agents/%s/roles/%s", s.agent_id,
		       s.user_id),
		201);
	expect_both(&s, 200, arena_printf(&f->arena, "/agents/%s/roles", s.agent_id));
	STATUS(ask(f, s.w.owner, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", s.agent_id,
		       s.user_id),
		200);
	expect_both(&s, 403, arena_printf(&f->arena, "/agents/%s/roles", s.agent_id));
	expect_both(&s, 200, agent_path(&s));
	STATUS(ask(f, s.w.owner, NULL, "DELETE /agents/%s/roles/%s", s.agent_id, s.user_id), 204);
	expect_both(&s, 404, agent_path(&s));
	test_step("an older grant");
	STATUS(ask(f, s.w.owner, arena_printf(&f->arena, "{\"user_id\":\"%s\"}", s.user_id),
		       "POST /agents/%s/users", s.agent_id),
		201);
	expect_both(&s, 200, agent_path(&s));
	STATUS(ask(f, s.w.owner, NULL, "DELETE /agents/%s/users/%s", s.agent_id, s.user_id), 204);
	expect_both(&s, 404, agent_path(&s));
	test_step("handed over: the former OWNER is MANAGER");
	STATUS(ask(f, s.w.owner, "{\"role\":\"OWNER\"}", "PUT /agents/%s/roles/%s", s.agent_id,
		       s.user_id),
		201);
	expect_both(&s, 200, arena_printf(&f->arena, "/agents/%s/roles", s.agent_id));
	STATUS(ask(f, s.login, arena_printf(&f->arena, "{\"new_owner_id\":\"%s\"}", s.w.user_id),
		       "POST /agents/%s/transfer-ownership", s.agent_id),
		200);
	expect_both(&s, 403, arena_printf(&f->arena, "/agents/%s/roles", s.agent_id));
	STATUS(ask(f, s.login, NULL, "DELETE /agents/%s", s.agent_id), 403);
	fixture_close(f);
}

TEST(matrix_revoked_role_of_a_group)
{
	struct scene s = scene_open("MEMBER");
	struct fixture *f = s.f;
	const char *group = s.w.group_id;

	for (int way = 0; way < 3; way++) {
		test_step("%s", way == 0   ? "leaves the group"
				: way == 1 ? "the group loses the role"
					   : "the group is deleted");
		ask(f, s.w.owner, NULL, "PUT /tenant/%s/groups/%s/members/%s", s.w.tenant_id, group,
			s.user_id);
		ask(f, s.w.owner, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/group-roles/%s",
			s.agent_id, group);
		expect_both(&s, 200, agent_path(&s));
		if (way == 0)
			STATUS(ask(f, s.w.owner, NULL, "DELETE /tenant/%s/groups/%s/members/%s",
				       s.w.tenant_id, group, s.user_id),
				204);
		else if (way == 1)
			STATUS(ask(f, s.w.owner, NULL, "DELETE /agents/%s/group-roles/%s",
				       s.agent_id, group),
				204);
		else
			STATUS(ask(f, s.w.owner, NULL, "DELETE /tenant/%s/groups/%s", s.w.tenant_id,
				       group),
				204);
		expect_both(&s, 404, agent_path(&s));
	}
	fixture_close(f);
}

TEST(matrix_revoked_default_role_and_admin_only)
{
	struct scene s = scene_open("GUEST");
	struct fixture *f = s.f;

	s.agent_id = s.w.agents[AGENT_OPEN];
	expect_both(&s, 200, agent_path(&s));
	STATUS(ask(f, s.w.owner, "{\"enabled\":false}", "PUT /agents/%s/default-role", s.agent_id),
		200);
	expect_both(&s, 404, agent_path(&s));
	STATUS(ask(f, s.w.owner, "{\"enabled\":true}", "PUT /agents/%s/default-role", s.agent_id),
		200);
	expect_both(&s, 200, agent_path(&s));
	fixture_sql(
		f, "update agent_rows set is_admin_only = 1 where id = $1", ARGS(T(s.agent_id)));
	expect_both(&s, 404, agent_path(&s));
	fixture_close(f);
}

TEST(matrix_revoked_membership)
{
	struct scene s = scene_open("ADMIN");
	struct fixture *f = s.f;

	expect_both(&s, 200, tenant_path(&s, "/allowed-accounts"));
	expect_both(&s, 200, agent_path(&s));
	STATUS(ask(f, s.w.owner, "{\"role\":\"GUEST\"}", "PATCH /tenant/%s/members/%s",
		       s.w.tenant_id, s.user_id),
		200);
	expect_both(&s, 403, tenant_path(&s, "/allowed-accounts"));
	expect_both(&s, 403, tenant_path(&s, "/members"));
	expect_both(&s, 404, agent_path(&s));
	expect_both(&s, 200, tenant_path(&s, ""));
	STATUS(ask(f, s.w.owner, NULL, "DELETE /tenant/%s/members/%s", s.w.tenant_id, s.user_id),
		204);
	expect(&s, s.login, 404, tenant_path(&s, ""));
	expect(&s, s.login, 200, "/me");
	expect(&s, s.key, 401, tenant_path(&s, ""));
	expect(&s, s.key, 401, "/me");
	test_step("coming back does not bring the key or the roles back");
	fixture_member(f, s.w.tenant_id, s.user_id, "MEMBER");
	expect(&s, s.login, 200, tenant_path(&s, ""));
	expect(&s, s.key, 401, tenant_path(&s, ""));
	fixture_close(f);
}

TEST(matrix_revoked_key)
{
	struct scene s = scene_open("MEMBER");
	struct fixture *f = s.f;

	expect(&s, s.key, 200, tenant_path(&s, ""));
	STATUS(ask(f, s.key, NULL, "DELETE /tenant/%s/api-keys/%s", s.w.tenant_id, s.key_id), 204);
	expect(&s, s.key, 401, tenant_path(&s, ""));
	expect(&s, s.key, 401, "/me");
	expect(&s, s.login, 200, tenant_path(&s, ""));
	test_step("by somebody with apikeys:write");
	s.key = key_make(f, s.w.tenant_id, s.user_id, NULL, NIL, &s.key_id);
	expect(&s, s.key, 200, tenant_path(&s, ""));
	STATUS(ask(f, s.w.owner, NULL, "DELETE /tenant/%s/api-keys/%s", s.w.tenant_id, s.key_id),
		204);
	expect(&s, s.key, 401, tenant_path(&s, ""));
	test_step("its scopes are taken");
	s.key = key_make(f, s.w.tenant_id, s.user_id, NULL, NIL, &s.key_id);
	expect(&s, s.key, 200, tenant_path(&s, ""));
	fixture_sql(f, "update api_keys set scopes = '[\"members:read\"]' where id = $1",
		ARGS(T(s.key_id)));
	expect(&s, s.key, 403, tenant_path(&s, ""));
	expect(&s, s.key, 200, tenant_path(&s, "/members"));
	fixture_sql(f, "update api_keys set scopes = '[]' where id = $1", ARGS(T(s.key_id)));
	expect(&s, s.key, 403, tenant_path(&s, "/members"));
	test_step("it ends");
	fixture_sql(f, "update api_keys set expires_at = $2 where id = $1",
		ARGS(T(s.key_id), N(clock_now_us() - 1)));
	expect(&s, s.key, 401, tenant_path(&s, "/members"));
	fixture_close(f);
}

TEST(matrix_revoked_by_suspension)
{
	struct scene s = scene_open("OWNER");
	struct fixture *f = s.f;

	expect_both(&s, 200, tenant_path(&s, ""));
	expect_both(&s, 200, agent_path(&s));
	test_step("the user");
	STATUS(ask(f, f->admin, "{\"is_suspended\":true}", "PATCH /admin/users/%s", s.user_id),
		200);
	expect_both(&s, 403, tenant_path(&s, ""));
	expect_both(&s, 403, agent_path(&s));
	expect_both(&s, 403, "/me");
	expect(&s, s.w.owner, 200, tenant_path(&s, ""));
	STATUS(ask(f, f->admin, "{\"is_suspended\":false}", "PATCH /admin/users/%s", s.user_id),
		200);
	expect_both(&s, 200, tenant_path(&s, ""));
	test_step("the tenant");
	STATUS(ask(f, f->admin, "{\"is_suspended\":true}", "PATCH /admin/tenants/%s",
		       s.w.tenant_id),
		200);
	expect_both(&s, 403, tenant_path(&s, ""));
	expect_both(&s, 403, agent_path(&s));
	expect(&s, s.key, 403, "/me");
	STATUS(ask(f, f->admin, "{\"status\":\"active\"}", "PATCH /admin/tenants/%s",
		       s.w.tenant_id),
		200);
	expect_both(&s, 200, agent_path(&s));
	fixture_close(f);
}

TEST(matrix_revoked_super_administrator)
{
	struct scene s = scene_open("MEMBER");
	struct fixture *f = s.f;

	expect(&s, f->admin, 200, tenant_path(&s, ""));
	expect(&s, f->admin, 200, agent_path(&s));
	STATUS(ask(f, s.w.owner, "{\"allow_superadmin_access\":false}", "PATCH /tenant/%s",
		       s.w.tenant_id),
		200);
	expect(&s, f->admin, 403, tenant_path(&s, ""));
	expect(&s, f->admin, 403, agent_path(&s));
	expect(&s, f->admin, 403, tenant_path(&s, "/agents"));
	expect(&s, f->admin, 200, arena_printf(&f->arena, "/admin/tenants/%s", s.w.tenant_id));
	STATUS(ask(f, f->admin, "{\"allow_superadmin_access\":true}", "PATCH /tenant/%s",
		       s.w.tenant_id),
		403);
	test_step("no longer super administrator");
	expect(&s, s.login, 403, "/admin/users");
	STATUS(ask(f, f->admin, "{\"is_super_admin\":true}", "PATCH /admin/users/%s", s.user_id),
		409);
	fixture_sql(f, "update users set email_proven_at = 1 where id = $1", ARGS(T(s.user_id)));
	STATUS(ask(f, f->admin, "{\"is_super_admin\":true}", "PATCH /admin/users/%s", s.user_id),
		200);
	expect(&s, s.login, 200, "/admin/users");
	expect(&s, s.key, 403, "/admin/users");
	STATUS(ask(f, f->admin, "{\"is_super_admin\":false}", "PATCH /admin/users/%s", s.user_id),
		200);
	expect(&s, s.login, 403, "/admin/users");
	fixture_close(f);
}

TEST(matrix_revoked_login)
{
	struct scene s = scene_open("MEMBER");
	struct fixture *f = s.f;
	const char *second = fixture_login(f, s.user_id), *target = fixture_login(f, s.w.user_id);
	const char *targets_second = fixture_login(f, s.w.user_id);

	expect(&s, s.login, 200, "/me");
	expect(&s, second, 200, "/me");
	STATUS(ask(f, s.login, NULL, "POST /auth/logout"), 204);
	expect(&s, s.login, 401, "/me");
	expect(&s, s.login, 401, tenant_path(&s, ""));
	expect(&s, second, 200, "/me");
	test_step("a new password ends the other logins");
	expect(&s, targets_second, 200, "/me");
	STATUS(ask(f, target,
		       "{\"current_password\":\"matrix password\",\"new_password\":\"matrix password 2\"}",
		       "PUT /me/password"),
		204);
	expect(&s, targets_second, 401, "/me");
	expect(&s, target, 200, "/me");
	test_step("a login that ends");
	fixture_sql(f, "update logins set expires_at = 1 where user_id = $1", ARGS(T(s.user_id)));
	expect(&s, second, 401, "/me");
	fixture_close(f);
}
