/* test_members.c - members, groups, allowed accounts and roles on agents, and the guards around them. */
#include "fixture.h"

#include <stdlib.h>

#include "base/crypto.h"

TEST(members_are_added_invited_changed_and_removed)
{
	struct fixture *f = fixture_open();
	const char *known = fixture_user(f, "known@example.org", NULL);
	struct answer r;

	fixture_sql(f, "update users set password_hash = 'x' where id = $1", ARGS(T(known)));
	r = ask(f, f->admin, "{\"email\":\"KNOWN@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	CHECK(strcmp(text_at(&r, "user_id"), known) != 0);
	CHECK_STR(text_at(&r, "role"), "MEMBER");
	CHECK_STR(text_at(&r, "status"), "invited");
	test_step("asked again, for another role");
	r = ask(f, f->admin, "{\"email\":\"known@example.org\",\"role\":\"GUEST\"}",
		"POST /tenant/%s/members", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "role"), "GUEST");
	fixture_sql(f, "update members set status = 'active' where user_id = $1", ARGS(T(known)));
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
	CHECK_INT(fixture_count(f, "select count(*) from invitations"), 2);
	r = ask(f, f->admin, "{\"role\":\"ADMIN\"}", "PATCH /tenant/%s/members/%s", f->tenant_id,
		known);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "role"), "ADMIN");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, known), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, known), 404);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action like 'member.%'"),
		5);
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
			   *agent = fixture_agent(f, "a");
	const char *stranger = fixture_user(f, "s@example.org", NULL);
	struct answer r;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	fixture_sql(f, "update agent_rows set default_role_enabled = 0", NO_ARGS);
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
	const char *user = fixture_user(f, "m@example.org", NULL), *agent = fixture_agent(f, "a");
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
	const char *agent = fixture_agent(f, "a");
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

static int64_t listed(struct fixture *f, const char *address)
{
	struct answer r = ask(f, f->admin, NULL, "GET /admin/users?q=%s", address);

	STATUS(r, 200);
	return json_integer_value(at(&r, "total"));
}

TEST(members_who_are_only_invited_have_no_account)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id), *id, *again, *token;
	struct answer r;

	r = ask(f, f->admin, "{\"email\":\"mistyped@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	STATUS(r, 201);
	id = text_at(&r, "user_id");
	r = ask(f, f->admin, "{\"email\":\"mistyped@example.org\"}", "POST /tenant/%s/members",
		other);
	STATUS(r, 201);
	again = text_at(&r, "user_id");
	test_step("invited twice: a row, but no account");
	CHECK_INT(listed(f, "mistyped"), 0);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from users where email like 'mistyped%'"), 1);
	test_step("gone with the last invitation");
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", other, again), 204);
	CHECK_INT(fixture_count(f, "select count(*) from users where email like 'mistyped%'"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from invitations"), 0);

	test_step("a suspension is remembered, and shown");
	r = ask(f, f->admin, "{\"email\":\"banned@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	id = text_at(&r, "user_id");
	fixture_sql(f, "update users set is_suspended = 1 where email = $1",
		ARGS(T("banned@example.org")));
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, id), 204);
	CHECK_INT(listed(f, "banned"), 1);

	test_step("accepted, it is an account, and stays one");
	r = ask(f, f->admin, "{\"email\":\"new@example.org\"}", "POST /tenant/%s/members",
		f->tenant_id);
	r = ask(f, NULL,
		arena_printf(&f->arena,
			"{\"token\":\"%s\",\"name\":\"N\",\"password\":\"long enough\"}",
			text_at(&r, "invite_token")),
		"POST /auth/accept-invite");
	STATUS(r, 200);
	id = text_at(&r, "user.id");
	token = text_at(&r, "token");
	CHECK(json_is_false(at(&r, "user.email_proven")));
	CHECK_INT(listed(f, "new"), 1);
	r = ask(f, f->admin, NULL, "GET /admin/users?proven=false&q=new");
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	r = ask(f, f->admin, NULL, "GET /admin/users?proven=true&q=new");
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, id), 204);
	CHECK_INT(listed(f, "new"), 1);
	r = ask(f, token, NULL, "GET /me");
	CHECK(json_is_false(at(&r, "email_proven")));
	r = ask(f, f->admin, NULL, "GET /me");
	CHECK(json_is_true(at(&r, "email_proven")));
	fixture_close(f);
}

/* ---- what inviting tells ---- */

/* The body without what differs by itself: addresses, ids, tokens and times. */
static const char *shape_of(struct fixture *f, json_t *o)
{
	static const char *const own[] = { "user_id", "email", "invite_url", "invite_token",
		"created_at" };
	char *text;
	const char *copy;

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (json_is_string(json_object_get(o, own[i])))
			json_object_set_new(o, own[i], json_string("given"));
	text = json_dumps(o, JSON_SORT_KEYS);
	copy = arena_strdup(&f->arena, text);
	free(text);
	return copy;
}

static const char *invite_shape(struct fixture *f, const char *email, const char **ret_id)
{
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"email\":\"%s\",\"role\":\"GUEST\"}", email),
		"POST /tenant/%s/members", f->tenant_id);

	STATUS(r, 201);
	CHECK_STR(text_at(&r, "email"), email);
	*ret_id = arena_strdup(&f->arena, text_at(&r, "user_id"));
	CHECK(strstr(header_of(f, &r, "Location"), *ret_id));
	return shape_of(f, r.json);
}

static const char *listed_shape(struct fixture *f, const char *id)
{
	struct answer r =
		ask(f, f->admin, NULL, "GET /tenant/%s/members?per_page=100", f->tenant_id);
	json_t *row;
	size_t i;

	json_array_foreach(at(&r, "items"), i,
		row) if (strcmp(json_string_value(json_object_get(row, "user_id")), id) ==
			 0) return shape_of(f, row);
	return "missing";
}

TEST(members_inviting_tells_nothing_of_an_account)
{
	struct fixture *f = fixture_open();
	const char *known = fixture_user(f, "Known.Person@example.org", NULL);
	const char *elsewhere = fixture_tenant(f, "elsewhere", f->admin_id);
	const char *listed, *first = NULL;
	const char *token, *ids[3], *shapes[3],
		*user = fixture_user(f, "asked@example.org", &token);
	static const char *const addresses[] = { "nobody@example.org", "known.person@example.org",
		"invited@example.org" };
	struct answer r;

	fixture_sql(f, "update users set name = 'Known', email_proven_at = 1 where id = $1",
		ARGS(T(known)));
	STATUS(ask(f, f->admin, "{\"email\":\"invited@example.org\",\"name\":\"Invited\"}",
		       "POST /tenant/%s/members", elsewhere),
		201);
	for (int i = 0; i < 3; i++) {
		test_step("%s", addresses[i]);
		shapes[i] = invite_shape(f, addresses[i], &ids[i]);
		CHECK_STR(shapes[i], shapes[0]);
		listed = listed_shape(f, ids[i]);
		if (!i)
			first = listed;
		CHECK_STR(listed, first ? first : "");
		CHECK(strcmp(listed, "missing") != 0);
		r = ask(f, f->admin, "{\"role\":\"MEMBER\"}", "PATCH /tenant/%s/members/%s",
			f->tenant_id, ids[i]);
		STATUS(r, 200);
		STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, ids[i]),
			204);
	}
	test_step("nor does the audit log, nor somebody who declines");
	shapes[0] = invite_shape(f, "asked@example.org", &ids[0]);
	fixture_sql(f, "update users set name = 'Asked', email_proven_at = 1 where id = $1",
		ARGS(T(user)));
	STATUS(ask(f, token, "{\"accept\":false}", "POST /me/invitations/%s", f->tenant_id), 204);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?per_page=100", f->tenant_id);
	STATUS(r, 200);
	CHECK(strstr(r.body, "member.add") && !strstr(r.body, known) && !strstr(r.body, user));
	test_step("whoever accepts is known");
	invite_shape(f, "asked@example.org", &ids[0]);
	STATUS(ask(f, token, "{\"accept\":true}", "POST /me/invitations/%s", f->tenant_id), 200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/members", f->tenant_id);
	CHECK(strstr(r.body, user) && strstr(r.body, "\"Asked\"") && !strstr(r.body, ids[0]));
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, ids[0]), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, user), 204);
	fixture_close(f);
}

/* ---- look-alikes ---- */

TEST(members_addresses_that_look_alike_are_refused)
{
	static const char *const alike[] = { "alice\u200b@example.org", "alice\u2060@example.org",
		"\u202ealice@example.org", "al\u00adice@example.org", "alice@example\u3002org",
		"alice@example\uff0eorg", "\uff41lice@example.org", "\u0430lice@example.org",
		"al\u0131ce@example.org", "\u00e4@example.org", "a\u0308@example.org",
		"alice@ex\u00e4mple.org", "alice@\u0435xample.org", "alice@example.org\u00a0",
		"alice\x7f@example.org" };
	static const char *const fine[] = { "Alice@Example.ORG", "a.b+c_d'e@example.org",
		"ada@xn--exmple-cua.org" };
	struct fixture *f = fixture_open();
	const char *known = fixture_user(f, "\u00e4lter@example.org", NULL);
	char hash[PASSWORD_HASH_MAX];
	struct answer r;

	for (size_t i = 0; i < sizeof alike / sizeof *alike; i++) {
		static const char *const inprocs[] = { "members", "allowed-accounts" };

		test_step("%zu", i);
		for (size_t d = 0; d < 2; d++) {
			r = ask(f, f->admin,
				arena_printf(&f->arena, "{\"email\":\"%s\"}", alike[i]),
				"POST /tenant/%s/%s", f->tenant_id, inprocs[d]);
			STATUS(r, 422);
			CHECK(refuses(&r, "email", "format"));
		}
	}
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
		STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"email\":\"%s\"}", fine[i]),
			       "POST /tenant/%s/members", f->tenant_id),
			201);
	test_step("one that was taken before signs in");
	CHECK(password_hash("long enough", 11, hash));
	fixture_sql(f, "update users set password_hash = $2, email_proven_at = 1 where id = $1",
		ARGS(T(known), T(hash)));
	STATUS(ask(f, NULL, "{\"email\":\"\u00e4lter@example.org\",\"password\":\"long enough\"}",
		       "POST /auth/login"),
		200);
	fixture_close(f);
}
