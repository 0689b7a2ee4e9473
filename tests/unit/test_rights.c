/* test_rights.c - what a credential, a role or an agent must not lend to another: rights that are looked for
 * where they could be got by a detour. */
#include "base/clock.h"
#include "fixture.h"

static const char *make_key(struct fixture *f, const char *token, const char *body)
{
	struct answer r = ask(f, token, body, "POST /tenant/%s/api-keys", f->tenant_id);

	STATUS(r, 201);
	return text_at(&r, "key");
}

TEST(rights_a_key_made_by_a_key_ends_no_later)
{
	struct fixture *f = fixture_open();
	char text[TIME_TEXT_LEN];
	struct arena *a = &f->arena;
	const char *key, *soon, *later;
	struct answer r;

	time_write(clock_now_us() + 3600 * SECOND_US, text);
	soon = arena_strndup(a, text, sizeof text);
	time_write(clock_now_us() + 7200 * SECOND_US, text);
	later = arena_strndup(a, text, sizeof text);
	key = make_key(
		f, f->admin, arena_printf(a, "{\"name\":\"a\",\"expires_at\":\"%s\"}", soon));
	/* left out: as late as its maker, and not for ever */
	r = ask(f, key, "{\"name\":\"b\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "expires_at"), soon);
	r = ask(f, text_at(&r, "key"), "{\"name\":\"c\",\"expires_at\":null}",
		"POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "expires_at"), soon);
	r = ask(f, key, arena_printf(a, "{\"name\":\"d\",\"expires_at\":\"%s\"}", later),
		"POST /tenant/%s/api-keys", f->tenant_id);
	CHECK(refuses(&r, "expires_at", "beyond"));
	/* a login lends for as long as it likes, also one that ends itself */
	r = ask(f, f->admin, "{\"name\":\"e\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	STATUS(r, 201);
	CHECK(json_is_null(at(&r, "expires_at")));
	fixture_close(f);
}

TEST(rights_a_key_approves_only_where_its_scopes_say_so)
{
	struct fixture *f = fixture_open();
	const char *all = make_key(f, f->admin, "{\"name\":\"all\"}");
	const char *named = make_key(f, f->admin,
		"{\"name\":\"named\",\"scopes\":[\"session:approve\",\"apikeys:own\"]}");
	struct answer r = ask(f, all, "{\"name\":\"x\",\"scopes\":[\"session:approve\"]}",
		"POST /tenant/%s/api-keys", f->tenant_id);

	CHECK(refuses(&r, "scopes[0]", "beyond"));
	STATUS(ask(f, named, "{\"name\":\"x\",\"scopes\":[\"session:approve\"]}",
		       "POST /tenant/%s/api-keys", f->tenant_id),
		201);
	fixture_close(f);
}

TEST(rights_to_shut_an_agent_are_those_to_give_roles)
{
	struct fixture *f = fixture_open();
	const char *manager_token, *owner_token, *agent, *key;
	const char *manager = fixture_user(f, "manager@example.org", &manager_token);
	const char *owner = fixture_user(f, "owner@example.org", &owner_token);

	fixture_member(f, f->tenant_id, manager, "MEMBER");
	fixture_member(f, f->tenant_id, owner, "MEMBER");
	agent = fixture_created(f, owner_token, "{\"name\":\"Desk\",\"slug\":\"desk\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	STATUS(ask(f, owner_token, "{\"role\":\"MANAGER\"}", "PUT /agents/%s/roles/%s", agent,
		       manager),
		201);
	STATUS(ask(f, manager_token, "{\"is_admin_only\":true}", "PATCH /agents/%s", agent), 403);
	STATUS(ask(f, manager_token, "{\"is_admin_only\":false,\"voice\":\"alto\"}",
		       "PATCH /agents/%s", agent),
		200);
	STATUS(ask(f, owner_token, NULL, "GET /agents/%s", agent), 200);

	/* a key that is to change settings and no more */
	key = make_key(f, owner_token,
		"{\"name\":\"k\",\"scopes\":[\"agent:read\",\"agent:write\",\"agents:create\"]}");
	STATUS(ask(f, key, "{\"is_admin_only\":true}", "PATCH /agents/%s", agent), 403);
	STATUS(ask(f, key, "{\"name\":\"Shut\",\"slug\":\"shut\",\"is_admin_only\":true}",
		       "POST /tenant/%s/agents", f->tenant_id),
		403);
	STATUS(ask(f, key, "{\"name\":\"Open\",\"slug\":\"open\"}", "POST /tenant/%s/agents",
		       f->tenant_id),
		201);
	STATUS(ask(f, owner_token, "{\"is_admin_only\":true}", "PATCH /agents/%s", agent), 200);
	STATUS(ask(f, owner_token, NULL, "GET /agents/%s", agent), 404);
	key = make_key(f, f->admin,
		"{\"name\":\"k\",\"scopes\":[\"agent:read\",\"agent:write\",\"agents:create\"]}");
	STATUS(ask(f, key, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent), 403);
	STATUS(ask(f, f->admin, "{\"name\":\"Copy\"}", "POST /agents/%s/clone", agent), 201);
	STATUS(ask(f, f->admin, "{\"is_admin_only\":false}", "PATCH /agents/%s", agent), 200);
	fixture_close(f);
}

/* ---- tools ---- */

#define HTTP(more)                                                                                  \
	"{\"name\":\"t%d\",\"kind\":\"http\",\"description\":\"D\",\"config\":{\"method\":\"GET\"," \
	"\"url\":\"https://api.example.org/\"" more "}}"
#define SECRET ",\"headers\":{\"Authorization\":\"Bearer s3cret\"}"

TEST(rights_tools_with_secrets_are_given_by_administrators)
{
	static const char *const bodies[] = { "{\"name\":\"time\",\"kind\":\"builtin\"}", HTTP(""),
		HTTP(SECRET) };
	static const char *const words[] = { "members", "members", "admins" };
	struct fixture *f = fixture_open();
	struct arena *a = &f->arena;
	const char *token, *user = fixture_user(f, "member@example.org", &token), *agent;

	fixture_member(f, f->tenant_id, user, "MEMBER");
	agent = fixture_created(f, token, "{\"name\":\"Mine\",\"slug\":\"mine\"}",
		"POST /tenant/%s/agents", f->tenant_id);
	for (int i = 0; i < 3; i++) {
		const char *tool = fixture_tool(f, arena_printf(a, bodies[i], i)), *bundle, *grant,
			   *held;
		bool may = i < 2;
		struct answer r =
			ask(f, token, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, tool);

		CHECK_STR(text_at(&r, "grantable_by"), words[i]);
		grant = arena_printf(a, "{\"tool_id\":\"%s\"}", tool);
		STATUS(ask(f, token, grant, "POST /agents/%s/tools", agent), may ? 201 : 403);
		r = ask(f, f->admin,
			arena_printf(
				a, "{\"name\":\"B\",\"slug\":\"b%d\",\"tools\":[\"%s\"]}", i, tool),
			"POST /tenant/%s/tool-bundles", f->tenant_id);
		bundle = text_at(&r, "id");
		held = arena_printf(a, "{\"bundle_id\":\"%s\"}", bundle);
		STATUS(ask(f, token, held, "POST /agents/%s/tool-bundles", agent), may ? 201 : 403);
		/* An administrator gives it, switched off: it stays so. */
		r = ask(f, f->admin,
			arena_printf(a, "{\"tool_id\":\"%s\",\"is_enabled\":false}", tool),
			"POST /agents/%s/tools", agent);
		CHECK_INT(r.status, may ? 200 : 201);
		r = ask(f, f->admin, held, "POST /agents/%s/tool-bundles", agent);
		CHECK_INT(r.status, may ? 200 : 201);
		STATUS(ask(f, token, "{\"is_enabled\":false}", "PATCH /agents/%s/tools/%s", agent,
			       tool),
			200);
		STATUS(ask(f, token, "{\"is_enabled\":true}", "PATCH /agents/%s/tools/%s", agent,
			       tool),
			may ? 200 : 403);
		STATUS(ask(f, token, "{\"configuration\":{\"a\":1}}", "PATCH /agents/%s/tools/%s",
			       agent, tool),
			may ? 200 : 403);
		STATUS(ask(f, token, NULL, "DELETE /agents/%s/tools/%s", agent, tool),
			may ? 204 : 403);
		STATUS(ask(f, token, NULL, "DELETE /agents/%s/tool-bundles/%s", agent, bundle),
			204);
		if (!may)
			STATUS(ask(f, token, NULL, "DELETE /agents/%s/tools/%s", agent, tool), 204);
	}
	fixture_close(f);
}

TEST(rights_a_tool_that_gets_a_secret_is_for_administrators)
{
	struct fixture *f = fixture_open();
	struct arena *a = &f->arena;
	const char *tool = fixture_tool(f, arena_printf(a, HTTP(""), 1));
	const char *with =
		"{\"config\":{\"method\":\"GET\",\"url\":\"https://api.example.org/\"" SECRET
		"}%s}";
	struct answer r;

	r = ask(f, f->admin, arena_printf(a, with, ""), "PATCH /tenant/%s/tools/%s", f->tenant_id,
		tool);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "grantable_by"), "admins");
	r = ask(f, f->admin, "{\"grantable_by\":\"members\"}", "PATCH /tenant/%s/tools/%s",
		f->tenant_id, tool);
	STATUS(r, 200);
	/* said once, it stays */
	r = ask(f, f->admin, arena_printf(a, with, ",\"description\":\"E\""),
		"PATCH /tenant/%s/tools/%s", f->tenant_id, tool);
	CHECK_STR(text_at(&r, "grantable_by"), "members");
	r = ask(f, f->admin, "{\"person_only\":true}", "PATCH /tenant/%s/tools/%s", f->tenant_id,
		tool);
	CHECK(refuses(&r, "person_only", "combination"));
	r = ask(f, f->admin, "{\"person_only\":true,\"requires_approval\":true}",
		"PATCH /tenant/%s/tools/%s", f->tenant_id, tool);
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "person_only")));
	r = ask(f, f->admin, "{\"requires_approval\":false}", "PATCH /tenant/%s/tools/%s",
		f->tenant_id, tool);
	CHECK(refuses(&r, "person_only", "combination"));
	fixture_close(f);
}
