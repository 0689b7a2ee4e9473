/* test_members.c - members, groups, allowed accounts and roles on agents, and the guards around them. */
#include "fixture.h"

#include <stdlib.h>

static const char *make_agent(struct fixture *f)
{
	struct answer r = ask(f, f->admin, "{\"name\":\"A\",\"slug\":\"a\"}",
		"POST /tenant/%s/agents", f->tenant_id);

	STATUS(r, 201);
	return text_at(&r, "id");
}

TEST(members_are_added_invited_changed_and_removed)
{
	struct fixture *f = fixture_open();
	const char *known = fixture_user(f, "known@example.org", NULL);
	struct answer r;

	fixture_sql(f, "update users set password_hash = 'x' where id = $1", ARGS(T(known)));
	r = ask(f, f->admin, "{\"email\":\"KNOWN@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "user_id"), known);
	CHECK_STR(text_at(&r, "role"), "MEMBER");
	CHECK_STR(text_at(&r, "status"), "active");
	CHECK(json_is_null(at(&r, "invite_url")));
	STATUS(ask(f, f->admin, "{\"email\":\"known@example.org\"}", "POST /tenant/%s/members",
		       f->tenant_id),
		409);
	r = ask(f, f->admin, "{\"email\":\"new@example.org\",\"role\":\"GUEST\",\"name\":\"New\"}",
		"POST /tenant/%s/members", f->tenant_id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "status"), "invited");
	CHECK(strstr(text_at(&r, "invite_url"), text_at(&r, "invite_token")));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/members", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 3);
	CHECK(!strstr(r.body, "lodge_invite_"));
	CHECK_INT(fixture_count(f, "select count(*) from invitations"), 1);
	r = ask(f, f->admin, "{\"role\":\"ADMIN\"}", "PATCH /tenant/%s/members/%s", f->tenant_id,
		known);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "role"), "ADMIN");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, known), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, known), 404);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action like 'member.%'"),
		4);
	fixture_close(f);
}

TEST(members_guard_owners)
{
	struct fixture *f = fixture_open();
	const char *token, *admin = fixture_user(f, "a@example.org", &token);
	const char *other = fixture_user(f, "o@example.org", NULL);
	struct answer r;

	fixture_member(f, f->tenant_id, admin, "ADMIN");
	fixture_member(f, f->tenant_id, other, "MEMBER");
	r = ask(f, token, "{\"role\":\"OWNER\"}", "PATCH /tenant/%s/members/%s", f->tenant_id,
		other);
	STATUS(r, 403);
	CHECK(strstr(text_at(&r, "detail"), "owners:write"));
	STATUS(ask(f, token, "{\"role\":\"MEMBER\"}", "PATCH /tenant/%s/members/%s", f->tenant_id,
		       f->admin_id),
		403);
	STATUS(ask(f, token, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, f->admin_id), 403);
	STATUS(ask(f, token, "{\"email\":\"x@example.org\",\"role\":\"OWNER\"}",
		       "POST /tenant/%s/members", f->tenant_id),
		403);
	STATUS(ask(f, f->admin, "{\"role\":\"MEMBER\"}", "PATCH /tenant/%s/members/%s",
		       f->tenant_id, f->admin_id),
		409);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, f->admin_id),
		409);
	STATUS(ask(f, f->admin, "{\"role\":\"OWNER\"}", "PATCH /tenant/%s/members/%s", f->tenant_id,
		       other),
		200);
	STATUS(ask(f, f->admin, "{\"role\":\"MEMBER\"}", "PATCH /tenant/%s/members/%s",
		       f->tenant_id, f->admin_id),
		200);
	fixture_close(f);
}

TEST(groups_hold_members_and_roles)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *id,
			   *agent = make_agent(f);
	const char *stranger = fixture_user(f, "s@example.org", NULL);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_sql(f, "update agents set default_role_enabled = 0", NO_ARGS);
	r = ask(f, f->admin, "{\"name\":\"Support\"}", "POST /tenant/%s/groups", f->tenant_id);
	STATUS(r, 201);
	id = text_at(&r, "id");
	STATUS(ask(f, f->admin, "{\"name\":\"Support\"}", "POST /tenant/%s/groups", f->tenant_id),
		409);
	r = ask(f, f->admin, "{\"description\":\"Helps\"}", "PATCH /tenant/%s/groups/%s",
		f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "Support");
	STATUS(ask(f, f->admin, "", "PUT /tenant/%s/groups/%s/members/%s", f->tenant_id, id, user),
		201);
	STATUS(ask(f, f->admin, "", "PUT /tenant/%s/groups/%s/members/%s", f->tenant_id, id, user),
		200);
	STATUS(ask(f, f->admin, "", "PUT /tenant/%s/groups/%s/members/%s", f->tenant_id, id,
		       stranger),
		404);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/groups", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "items.0.member_count")), 1);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/groups/%s/members", f->tenant_id, id);
	CHECK_STR(text_at(&r, "items.0.user_id"), user);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/groups/%s", f->tenant_id, id), 200);

	STATUS(ask(f, token, NULL, "GET /agents/%s", agent), 404);
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/group-roles/%s", agent,
		       id),
		201);
	STATUS(ask(f, token, NULL, "GET /agents/%s", agent), 200);
	r = ask(f, f->admin, "{\"role\":\"ADMIN\"}", "PUT /agents/%s/group-roles/%s", agent, id);
	CHECK(refuses(&r, "role", "choice"));
	STATUS(ask(f, f->admin, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/group-roles/%s", agent,
		       id),
		200);
	r = ask(f, f->admin, NULL, "GET /agents/%s/group-roles", agent);
	CHECK_STR(text_at(&r, "items.0.group_name"), "Support");
	STATUS(ask(f, token, "{\"voice\":\"v\"}", "PATCH /agents/%s", agent), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/group-roles/%s", agent, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/group-roles/%s", agent, id), 404);
	STATUS(ask(f, token, NULL, "GET /agents/%s", agent), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/groups/%s/members/%s", f->tenant_id, id,
		       user),
		204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/groups/%s", f->tenant_id, id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/groups/%s", f->tenant_id, id), 404);
	fixture_close(f);
}

TEST(allowed_accounts_are_kept_once)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin, "{\"email\":\"Grace@example.org\"}",
		"POST /tenant/%s/allowed-accounts", f->tenant_id);
	const char *id = text_at(&r, "id");

	STATUS(r, 201);
	r = ask(f, f->admin, "{\"email\":\"grace@EXAMPLE.org\"}",
		"POST /tenant/%s/allowed-accounts", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "id"), id);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/allowed-accounts", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/allowed-accounts/%s", f->tenant_id, id),
		204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/allowed-accounts/%s", f->tenant_id, id),
		404);
	fixture_close(f);
}

TEST(roles_and_older_grants_are_one_table)
{
	struct fixture *f = fixture_open();
	const char *user = fixture_user(f, "m@example.org", NULL), *agent = make_agent(f);
	const char *stranger = fixture_user(f, "s@example.org", NULL);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent,
		       stranger),
		404);
	r = ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent, user);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "user_email"), "m@example.org");
	STATUS(ask(f, f->admin, "{\"role\":\"VIEWER\"}", "PUT /agents/%s/roles/%s", agent, user),
		200);
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"user_id\":\"%s\",\"role\":\"EDITOR\"}", user),
		"POST /agents/%s/users", agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "role"), "EDITOR");
	r = ask(f, f->admin, NULL, "GET /agents/%s/roles", agent);
	CHECK_STR(text_at(&r, "items.0.role"), "MANAGER");
	CHECK_STR(text_at(&r, "items.1.role"), "OWNER");
	r = ask(f, f->admin, NULL, "GET /agents/%s/users", agent);
	CHECK_STR(text_at(&r, "items.0.role"), "EDITOR");
	CHECK_STR(text_at(&r, "items.1.role"), "OWNER");
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/users/%s", agent, user), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/roles/%s", agent, user), 404);
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"user_id\":\"%s\"}", user),
		       "POST /agents/%s/users", agent),
		201);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s/roles/%s", agent, user), 204);
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena,
			       "{\"user_id\":\"%s\",\"agent_id\":\"%s\",\"role\":\"VIEWER\"}", user,
			       agent),
		       "POST /agents/grants"),
		201);
	STATUS(ask(f, f->admin,
		       arena_printf(&f->arena, "{\"user_id\":\"%s\",\"agent_id\":\"%s\"}", user,
			       stranger),
		       "POST /agents/grants"),
		404);
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"user_id\":\"%s\",\"role\":\"OWNER\"}", user),
		"POST /agents/%s/users", agent);
	CHECK(refuses(&r, "role", "choice"));
	fixture_close(f);
}

TEST(roles_grid_and_default_role)
{
	struct fixture *f = fixture_open();
	const char *agent = make_agent(f);
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/roles/permissions", agent);

	STATUS(r, 200);
	CHECK_STR(r.body,
		"{\"roles\":{\"VIEWER\":[\"View\",\"Chat (read-only)\"],"
		"\"MANAGER\":[\"View\",\"Chat (read-only)\",\"Assign work\",\"Edit settings\",\"Edit skills\","
		"\"Edit tools\"],"
		"\"OWNER\":[\"View\",\"Chat (read-only)\",\"Assign work\",\"Edit settings\",\"Edit skills\","
		"\"Edit tools\",\"Transfer ownership\",\"Delete agent\",\"Manage roles\"]}}");
	r = ask(f, f->admin, NULL, "GET /agents/%s/default-role", agent);
	CHECK(json_is_true(at(&r, "enabled")));
	r = ask(f, f->admin, "{\"enabled\":false}", "PUT /agents/%s/default-role", agent);
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "enabled")));
	CHECK_INT(
		fixture_count(f, "select count(*) from agents where default_role_enabled = 1"), 0);
	fixture_close(f);
}
