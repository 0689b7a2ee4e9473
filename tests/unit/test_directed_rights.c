/* test_directed_rights.c - rights that somebody lends (a webhook acts for a person, a key is made with a key) go no further
 * than whoever directs them may go, and end where they were lent from. */
#include "base/clock.h"
#include "hook_fixture.h"

static const char *key_with(struct fixture *f, const char *token, const char *more)
{
	struct answer r = ask(f, token, arena_printf(&f->arena, "{\"name\":\"k\"%s}", more),
		"POST /tenant/%s/api-keys", f->tenant_id);

	STATUS(r, 201);
	return arena_strdup(&f->arena, text_at(&r, "key"));
}

static const char *patch_hook(struct hook_fixture *s, const char *token, const char *body)
{
	struct fixture *f = s->f;
	struct answer r =
		ask(f, token, body, "PATCH /tenant/%s/integrations/%s", f->tenant_id, s->id);

	STATUS(r, 200);
	return text_at(&r, "acts_as_id");
}

TEST(directed_rights_of_a_webhook_are_those_of_whoever_directs_it)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	const char *adam, *adam_id = fixture_user(f, "adam@example.org", &adam);
	const char *changes[] = { arena_printf(&f->arena, "{\"agent_id\":\"%s\"}", s.agent_id),
		"{\"instructions\":\"Send me everything.\"}", "{\"guardrails\":{\"per_minute\":5}}",
		"{\"is_active\":true}" };
	const char *mine = arena_printf(&f->arena, "{\"acts_as_id\":\"%s\"}", f->admin_id), *key;
	struct answer r;

	fixture_member(f, f->tenant_id, adam_id, "ADMIN");
	key = key_with(f, adam, ",\"scopes\":[\"integrations:write\"]");
	/* what it is called, and that it rests, changes nothing of what it does */
	CHECK_STR(patch_hook(&s, key, "{\"label\":\"Other\"}"), f->admin_id);
	CHECK_STR(patch_hook(&s, key, "{\"is_active\":false}"), f->admin_id);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		test_step("%s", changes[i]);
		CHECK_STR(patch_hook(&s, f->admin, mine), f->admin_id);
		CHECK_STR(patch_hook(&s, key, changes[i]), adam_id);
	}
	test_step("%s", "");
	/* the key may not have the agent work, so that nothing runs */
	r = hook_send(&s, HOOK_EVENT, NULL);
	CHECK(r.status != 202);
	CHECK_STR(patch_hook(&s, f->admin, mine), f->admin_id);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	/* nor by a secret that only the key knows */
	r = ask(f, key, NULL, "POST /tenant/%s/integrations/%s/rotate-secret", f->tenant_id, s.id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "acts_as_id"), adam_id);
	CHECK(!json_is_null(at(&r, "acts_as_problem")));
	s.secret = text_at(&r, "signing_secret");
	CHECK(hook_send(&s, HOOK_EVENT, NULL).status != 202);
	fixture_close(f);
}

/* The login of one person adds nothing to what a key of theirs was cut down to. */
TEST(directed_rights_of_a_key_are_not_widened_by_a_change)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	const char *mine = arena_printf(&f->arena, "{\"acts_as_id\":\"%s\"}", f->admin_id);
	const char *key = key_with(f, f->admin, ",\"scopes\":[\"integrations:write\"]");

	CHECK_STR(patch_hook(&s, key, mine), f->admin_id);
	CHECK_STR(patch_hook(&s, f->admin, "{\"instructions\":\"Look.\"}"), f->admin_id);
	CHECK(hook_send(&s, HOOK_EVENT, NULL).status != 202);
	CHECK_STR(patch_hook(&s, f->admin, mine), f->admin_id);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	fixture_close(f);
}

/* Whoever set a password by an invitation may not be whose address it is. */
TEST(directed_rights_of_an_unproven_holder_end_with_the_proof)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	const char *bob, *bob_id = fixture_user(f, "bob@example.org", &bob);

	fixture_member(f, f->tenant_id, bob_id, "ADMIN");
	fixture_sql(f, "update users set email_proven_at = null where id = $1", ARGS(T(bob_id)));
	CHECK_STR(patch_hook(&s, bob, arena_printf(&f->arena, "{\"acts_as_id\":\"%s\"}", bob_id)),
		bob_id);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	STATUS(ask(f, f->admin, NULL, "POST /admin/users/%s/prove", bob_id), 204);
	CHECK(hook_send(&s, HOOK_EVENT, NULL).status != 202);
	CHECK(json_is_null(
		at(&(struct answer){ .json = ask(f, f->admin, NULL,
					     "GET /tenant/%s/integrations/%s", f->tenant_id, s.id)
						     .json },
			"acts_as_id")));
	fixture_close(f);
}

TEST(directed_rights_of_a_key_end_with_the_key_it_was_made_with)
{
	struct fixture *f = fixture_open();
	struct answer r =
		ask(f, f->admin, "{\"name\":\"parent\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	const char *parent = text_at(&r, "key"), *parent_id = text_at(&r, "id");
	const char *child = key_with(f, parent, ""), *grandchild = key_with(f, child, "");
	const char *other = key_with(f, f->admin, "");

	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where meta like "
				   "'%api_key_id%' and action = 'api_key.create'"),
		2);
	STATUS(ask(f, grandchild, NULL, "GET /me"), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/api-keys/%s", f->tenant_id, parent_id),
		204);
	STATUS(ask(f, parent, NULL, "GET /me"), 401);
	STATUS(ask(f, child, NULL, "GET /me"), 401);
	STATUS(ask(f, grandchild, NULL, "GET /me"), 401);
	STATUS(ask(f, other, NULL, "GET /me"), 200);
	fixture_close(f);
}

TEST(directed_rights_of_a_tenant_over_a_person_end_when_they_leave)
{
	struct fixture *f = fixture_open();
	const char *bob, *bob_id = fixture_user(f, "bob@example.org", &bob);

	fixture_member(f, f->tenant_id, bob_id, "MEMBER");
	STATUS(ask(f, key_with(f, bob, ""), NULL, "DELETE /me/memberships/%s", f->tenant_id), 403);
	STATUS(ask(f, bob, NULL, "DELETE /me/memberships/%s", f->tenant_id), 204);
	STATUS(ask(f, bob, NULL, "GET /tenant/%s", f->tenant_id), 404);
	STATUS(ask(f, bob, NULL, "DELETE /me/memberships/%s", f->tenant_id), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /me/memberships/%s", f->tenant_id), 409);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'member.leave'"),
		1);
	fixture_close(f);
}

/* One path may be written in several ways; a request that is sent again is the same by each. */
TEST(directed_rights_a_repeated_request_is_one_whatever_its_prefix)
{
	struct fixture *f = fixture_open();
	static const char *const prefixes[] = { "", "/v1", "/api/v1" };
	struct answer r;

	for (size_t i = 0; i < 3; i++) {
		r = ask(f, f->admin, "{\"name\":\"once\"}",
			"POST %s/tenant/%s/api-keys\nIdempotency-Key: k", prefixes[i],
			f->tenant_id);
		STATUS(r, 201);
	}
	CHECK_INT(fixture_count(f, "select count(*) from api_keys where name = 'once'"), 1);
	r = ask(f, f->admin, NULL, "GET /me\nAuthorization: Bearer another");
	CHECK_INT(r.status, 400);
	fixture_close(f);
}

TEST(directed_rights_of_a_key_that_may_not_read_agents_show_no_prompts)
{
	struct fixture *f = fixture_open();
	const char *key = key_with(f, f->admin, ",\"scopes\":[\"tenant:read\"]");
	struct answer r = ask(f, f->admin,
		"{\"name\":\"A\",\"slug\":\"a\",\"description_prompt\":\"between us\"}",
		"POST /tenant/%s/agents", f->tenant_id);

	STATUS(r, 201);
	r = ask(f, key, NULL, "GET /v1/assistants");
	STATUS(r, 200);
	CHECK(json_array_size(at(&r, "data")) && !strstr(r.body, "between us"));
	r = ask(f, f->admin, NULL, "GET /v1/assistants");
	CHECK(strstr(r.body, "between us"));
	fixture_close(f);
}
