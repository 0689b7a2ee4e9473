/* test_agent_bucket.c - agents that come out of the tenant's bucket and go into it. */
#include "bundle_fixture.h"
#include "fixture.h"

static struct answer put_object(struct fixture *f, const char *key, const void *bytes, size_t len)
{
	return ask_bytes(f, f->admin, bytes, len,
		"PUT /tenant/%s/bucket/object?key=%s\nContent-Type: application/octet-stream",
		f->tenant_id, key);
}

static struct answer import_object(struct fixture *f, const char *token, const char *uri)
{
	return ask(f, token, arena_printf(&f->arena, "{\"storage_uri\":\"%s\"}", uri),
		"POST /tenant/%s/agents/import-from-bucket", f->tenant_id);
}

static const char *uri_of(struct fixture *f, const char *tenant_id, const char *key)
{
	return arena_printf(&f->arena, "bucket://%s/%s", tenant_id, key);
}

TEST(agent_import_from_the_bucket)
{
	struct fixture *f = fixture_open();
	const char *id, *token,
		*other = fixture_tenant(f, "other", fixture_user(f, "o@example.com", &token));
	size_t len;
	const char *text = bundle_example(&f->arena, "letta-2.af", &len);
	const char *const elsewhere[] = { "file:///etc/passwd", "s3://bucket/x.zip", "bucket://",
		uri_of(f, other, "in/a.af"), uri_of(f, f->tenant_id, ""),
		uri_of(f, f->tenant_id, "../x"), uri_of(f, f->tenant_id, ".lodge/x"),
		uri_of(f, f->tenant_id, "/in/a.af") };
	int64_t agents = fixture_count(f, "select count(*) from agent_rows");
	struct answer r;

	STATUS(put_object(f, "in/a.af", text, len), 201);
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
		test_step("%s", elsewhere[i]);
		r = import_object(f, f->admin, elsewhere[i]);
		STATUS(r, 422);
		CHECK(refuses(&r, "storage_uri", "bucket"));
	}
	test_step("one that is not there");
	r = import_object(f, f->admin, uri_of(f, f->tenant_id, "in/b.af"));
	STATUS(r, 422);
	CHECK(refuses(&r, "storage_uri", "unknown"));
	test_step("what is no bundle makes nothing, and the object stays");
	STATUS(put_object(f, "in/c", "PK\3\4 nothing", 12), 201);
	STATUS(import_object(f, f->admin, uri_of(f, f->tenant_id, "in/c")), 422);
	CHECK_INT(fixture_count(f, "select count(*) from agent_rows"), agents);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_objects"), 2);

	test_step("tried, which makes nothing");
	r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"storage_uri\":\"%s\",\"name\":\"Other\"}",
			uri_of(f, f->tenant_id, "in/a.af")),
		"POST /tenant/%s/agents/import-from-bucket/dry-run", f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "agent_name"), "Other");
	CHECK_INT(json_integer_value(at(&r, "messages_imported")), 4);
	CHECK_INT(fixture_count(f, "select count(*) from agent_rows"), agents);

	test_step("made, and made once");
	r = import_object(f, f->admin, uri_of(f, f->tenant_id, "in/a.af"));
	STATUS(r, 201);
	id = text_at(&r, "agent_id");
	CHECK_STR(text_at(&r, "source_platform"), "letta");
	CHECK(json_is_false(at(&r, "idempotent_reuse")));
	CHECK_INT(json_integer_value(at(&r, "messages_imported")), 4);
	r = import_object(f, f->admin, uri_of(f, f->tenant_id, "in/a.af"));
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "agent_id"), id);
	CHECK(json_is_true(at(&r, "idempotent_reuse")));
	CHECK_INT(json_integer_value(at(&r, "messages_imported")), 0);
	fixture_close(f);
}

/* An agent shows what the file says: whoever may not read the one does not get the other. */
TEST(agent_import_from_the_bucket_reads_the_bucket)
{
	static const char *const scopes[] = { "\"agents:create\",\"agent:read\"",
		"\"agents:create\",\"bucket:read\"" };
	struct fixture *f = fixture_open();
	int64_t agents = fixture_count(f, "select count(*) from agent_rows");

	STATUS(put_object(f, "in/s.md", "# Secret", 8), 201);
	for (int may = 0; may < 2; may++) {
		struct answer key = ask(f, f->admin,
			arena_printf(&f->arena, "{\"name\":\"k\",\"scopes\":[%s]}", scopes[may]),
			"POST /tenant/%s/api-keys", f->tenant_id);

		test_step("%s", scopes[may]);
		STATUS(key, 201);
		STATUS(import_object(f, text_at(&key, "key"), uri_of(f, f->tenant_id, "in/s.md")),
			may ? 201 : 403);
		CHECK_INT(fixture_count(f, "select count(*) from agent_rows"), agents + may);
		/* nor what there is */
		STATUS(import_object(f, text_at(&key, "key"), uri_of(f, f->tenant_id, "in/none")),
			may ? 422 : 403);
	}
	fixture_close(f);
}

TEST(agent_export_into_the_bucket)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "desk"),
		   *uri = uri_of(f, f->tenant_id, "out/desk.zip");
	const char *body = arena_printf(&f->arena, "{\"storage_uri\":\"%s\"}", uri);
	struct answer r, sent;

	r = ask(f, f->admin, body, "POST /tenant/%s/agents/%s/export", f->tenant_id, agent);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "storage_uri"), uri);
	test_step("the same bytes as those that are sent");
	sent = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s/export", f->tenant_id, agent);
	STATUS(sent, 200);
	CHECK_INT(json_integer_value(at(&r, "size_bytes")), (int64_t)sent.body_len);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/bucket/object?key=out/desk.zip", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(r.body_len, sent.body_len);
	CHECK(memcmp(r.body, sent.body, sent.body_len) == 0);
	test_step("again in its place");
	STATUS(ask(f, f->admin, body, "POST /tenant/%s/agents/%s/export", f->tenant_id, agent),
		200);
	CHECK_INT(fixture_count(f, "select count(*) from bucket_objects"), 1);
	test_step("not elsewhere");
	r = ask(f, f->admin, "{\"storage_uri\":\"bucket://x/y\"}",
		"POST /tenant/%s/agents/%s/export", f->tenant_id, agent);
	STATUS(r, 422);
	CHECK(refuses(&r, "storage_uri", "bucket"));
	test_step("back again, as another");
	r = import_object(f, f->admin, uri);
	STATUS(r, 201);
	CHECK(strcmp(text_at(&r, "agent_id"), agent) != 0);
	fixture_close(f);
}

/* A bundle on its way to the disk is the tenant's, and a room in the bucket is claimed for it first. */
TEST(agent_export_into_the_bucket_holds_what_a_tenant_may)
{
	struct fixture *f = fixture_open();
	const char *agent = fixture_agent(f, "desk"), *body, *other;
	size_t len = (size_t)800 * 1024;
	char *text = arena_alloc(&f->arena, len + 1);
	uint32_t seed = 1;
	struct answer r;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		text[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[seed >>
											     26];
	}
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"description_prompt\":\"%s\"}", text),
		       "PATCH /tenant/%s/agents/%s", f->tenant_id, agent),
		200);
	body = arena_printf(
		&f->arena, "{\"storage_uri\":\"%s\"}", uri_of(f, f->tenant_id, "out/desk.zip"));
	other = arena_printf(
		&f->arena, "{\"storage_uri\":\"%s\"}", uri_of(f, f->tenant_id, "out/b.zip"));
	f->app.settings.tenant_memory = 512 * 1024;
	r = ask(f, f->admin, body, "POST /tenant/%s/agents/%s/export", f->tenant_id, agent);
	STATUS(r, 503);
	CHECK(strstr(text_at(&r, "detail"), "hold all the memory"));
	CHECK_INT(fixture_count(f, "select count(*) from bucket_objects"), 0);
	f->app.settings.tenant_memory = 64 << 20;
	STATUS(ask(f, f->admin, body, "POST /tenant/%s/agents/%s/export", f->tenant_id, agent),
		200);
	test_step("in its own place it fits, and beside it not");
	STATUS(ask(f, f->admin, body, "POST /tenant/%s/agents/%s/export", f->tenant_id, agent),
		200);
	r = ask(f, f->admin, other, "POST /tenant/%s/agents/%s/export", f->tenant_id, agent);
	STATUS(r, 507);
	fixture_close(f);
}
