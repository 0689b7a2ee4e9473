/* test_rules.c - the rules that hold for every operation: errors, bodies, repeats, tags, compression. */
#include "fixture.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/clock.h"

static const char agent[] = "{\"name\":\"A\",\"slug\":\"a\"}";

TEST(rules_system_paths_answer)
{
	struct fixture *f = fixture_open();
	struct answer r;

	STATUS(ask(f, NULL, NULL, "GET /healthz"), 200);
	STATUS(ask(f, NULL, NULL, "GET /readyz"), 200);
	STATUS(ask(f, NULL, NULL, "GET /version"), 200);
	STATUS(ask(f, NULL, NULL, "GET /openapi.json"), 200);
	r = ask(f, f->admin, NULL, "GET /metrics");
	STATUS(r, 200);
	CHECK(strstr(r.body, "lodge_requests_total{operation=\"health\",status=\"2xx\"} 1\n"));
	fixture_close(f);
}

TEST(rules_errors_have_their_status_and_shape)
{
	struct fixture *f = fixture_open();
	struct answer r;

	r = ask(f, f->admin, NULL, "GET /nothing");
	STATUS(r, 404);
	CHECK_STR(header_of(f, &r, "Content-Type"), "application/problem+json");
	CHECK_STR(text_at(&r, "request_id"), header_of(f, &r, "X-Request-Id"));
	r = ask(f, f->admin, "{}", "PUT /tenant/%s/agents", f->tenant_id);
	STATUS(r, 405);
	CHECK_STR(header_of(f, &r, "Allow"), "GET, HEAD, POST");
	STATUS(ask(f, f->admin, agent, "POST /tenant/%s/agents\nContent-Type: text/plain",
		       f->tenant_id),
		415);
	STATUS(ask(f, f->admin, agent,
		       "POST /tenant/%s/agents\nContent-Type: application/json; charset=utf-8",
		       f->tenant_id),
		201);
	r = ask(f, f->admin, "{\"name\":\"A\",", "POST /tenant/%s/agents", f->tenant_id);
	STATUS(r, 400);
	CHECK(strstr(text_at(&r, "detail"), "At byte 12"));
	STATUS(ask(f, f->admin, "{\"name\":\"A\",\"name\":\"B\"}", "POST /tenant/%s/agents",
		       f->tenant_id),
		400);
	STATUS(ask(f, f->admin, "{\"name\":\"\\ud800\"}", "POST /tenant/%s/agents", f->tenant_id),
		400);
	STATUS(ask(f, f->admin, "\"text\"", "POST /tenant/%s/agents", f->tenant_id), 422);
	STATUS(ask(f, f->admin, "", "POST /tenant/%s/agents", f->tenant_id), 400);
	r = ask(f, f->admin, "{\"name\":\"\",\"slug\":\"A\",\"x\":1}", "POST /tenant/%s/agents",
		f->tenant_id);
	CHECK(refuses(&r, "name", "too_short"));
	CHECK(refuses(&r, "slug", "pattern"));
	CHECK(refuses(&r, "x", "unknown_field"));
	/* A stranger is not told what is wrong with a body. */
	STATUS(ask(f, NULL, "{", "POST /tenant/%s/agents", f->tenant_id), 401);
	STATUS(ask(f, f->admin, "{\"a\":1}", "GET /me"), 400);
	STATUS(ask(f, f->admin, "{}", "GET /me"), 200);
	fixture_close(f);
}

TEST(rules_reads_carry_a_tag_and_changes_honour_it)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin, agent, "POST /tenant/%s/agents", f->tenant_id);
	const char *id = text_at(&r, "id"), *tag, *newer;

	r = ask(f, f->admin, NULL, "GET /agents/%s", id);
	tag = header_of(f, &r, "ETag");
	CHECK_INT(strlen(tag), 34);
	r = ask(f, f->admin, NULL, "GET /agents/%s\nIf-None-Match: \"x\", W/%s", id, tag);
	STATUS(r, 304);
	CHECK_INT(r.body_len, 0);
	CHECK_STR(header_of(f, &r, "ETag"), tag);
	STATUS(ask(f, f->admin, "{\"voice\":\"v\"}", "PATCH /agents/%s\nIf-Match: \"x\"", id), 412);
	STATUS(ask(f, f->admin, "{\"voice\":\"v\"}", "PATCH /agents/%s\nIf-Match: W/%s", id, tag),
		412);
	r = ask(f, f->admin, "{\"voice\":\"v\"}", "PATCH /agents/%s\nIf-Match: \"x\", %s", id, tag);
	STATUS(r, 200);
	newer = header_of(f, &r, "ETag");
	CHECK(strcmp(newer, tag) != 0);
	STATUS(ask(f, f->admin, "{\"voice\":\"w\"}", "PATCH /agents/%s\nIf-Match: %s", id, tag),
		412);
	r = ask(f, f->admin, NULL, "GET /agents/%s", id);
	CHECK_STR(header_of(f, &r, "ETag"), newer);
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s\nIf-None-Match: %s", id, tag), 200);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s\nIf-Match: %s", id, tag), 412);
	test_step("what cannot be read by itself has no tag, and so none fits");
	STATUS(ask(f, f->admin, "{\"permissions\":[]}",
		       "PUT /agents/%s/skills/permissions\nIf-Match: \"x\"", id),
		412);
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/favorite\nIf-Match: %s", id, newer), 412);
	CHECK_INT(fixture_count(f, "select count(*) from favorites"), 0);
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/favorite\nIf-Match: *", id), 201);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s\nIf-Match: *", id), 204);
	fixture_close(f);
}

TEST(rules_a_repeat_with_the_same_key_acts_once)
{
	struct fixture *f = fixture_open();
	const char *token;
	const char *user = fixture_user(f, "u@example.org", &token);
	struct answer first, again, key;

	fixture_member(f, f->tenant_id, user, "ADMIN");
	first = ask(
		f, f->admin, agent, "POST /tenant/%s/agents\nIdempotency-Key: one", f->tenant_id);
	again = ask(
		f, f->admin, agent, "POST /tenant/%s/agents\nIdempotency-Key: one", f->tenant_id);
	STATUS(first, 201);
	STATUS(again, 201);
	CHECK_STR(again.body, first.body);
	CHECK_STR(header_of(f, &again, "Location"), header_of(f, &first, "Location"));
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'agent.create'"),
		1);

	test_step("another body");
	again = ask(f, f->admin, "{\"name\":\"B\",\"slug\":\"b\"}",
		"POST /tenant/%s/agents\nIdempotency-Key: one", f->tenant_id);
	STATUS(again, 422);
	CHECK_STR(text_at(&again, "type"), "urn:lodge:problem:idempotency_mismatch");

	test_step("another caller, another path");
	STATUS(ask(f, token, "{\"name\":\"C\",\"slug\":\"c\"}",
		       "POST /tenant/%s/agents\nIdempotency-Key: one", f->tenant_id),
		201);
	key = ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys\nIdempotency-Key: one",
		f->tenant_id);
	STATUS(key, 201);
	again = ask(f, f->admin, "{\"name\":\"k\"}",
		"POST /tenant/%s/api-keys\nIdempotency-Key: one", f->tenant_id);
	CHECK_STR(again.body, key.body);

	test_step("kept replies are sealed");
	CHECK_INT(
		fixture_count(f, "select count(*) from idempotency where reply like '%lodge_key%'"),
		0);

	test_step("a refusal is not kept");
	STATUS(ask(f, f->admin, agent, "POST /tenant/%s/agents\nIdempotency-Key: two",
		       f->tenant_id),
		409);
	STATUS(ask(f, f->admin, "{\"name\":\"D\",\"slug\":\"d\"}",
		       "POST /tenant/%s/agents\nIdempotency-Key: two", f->tenant_id),
		201);

	test_step("a day later it is a new request");
	fixture_sql(f, "update idempotency set created_at = $1",
		ARGS(N(clock_now_us() - 86401 * SECOND_US)));
	STATUS(ask(f, f->admin, agent, "POST /tenant/%s/agents\nIdempotency-Key: one",
		       f->tenant_id),
		409);
	again = ask(
		f, f->admin, agent, "POST /tenant/%s/agents\nIdempotency-Key: \t", f->tenant_id);
	CHECK(refuses(&again, "Idempotency-Key", "format"));
	fixture_close(f);
}

TEST(rules_large_json_is_compressed_on_request)
{
	struct fixture *f = fixture_open();
	struct answer plain, packed;
	static char text[4 << 20];
	z_stream z = { 0 };

	plain = ask(f, NULL, NULL, "GET /openapi.json");
	packed = ask(f, NULL, NULL, "GET /openapi.json\nAccept-Encoding: br, gzip;q=0.5");
	CHECK_STR(header_of(f, &packed, "Content-Encoding"), "gzip");
	CHECK_STR(header_of(f, &packed, "Vary"), "Accept-Encoding");
	CHECK(!header_of(f, &plain, "Content-Encoding"));
	CHECK(packed.body_len * 4 < plain.body_len);
	inflateInit2(&z, 16 + MAX_WBITS);
	z.next_in = (unsigned char *)packed.body;
	z.avail_in = (unsigned)packed.body_len;
	z.next_out = (unsigned char *)text;
	z.avail_out = sizeof text - 1;
	CHECK_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	CHECK(z.total_out == plain.body_len + 1 && text[plain.body_len] == '\n');
	text[plain.body_len] = '\0';
	CHECK_STR(text, plain.body);
	packed = ask(f, NULL, NULL, "GET /openapi.json\nAccept-Encoding: gzip;q=0");
	CHECK(!header_of(f, &packed, "Content-Encoding"));
	fixture_close(f);
}

static bool trusts_proxy(const void *ctx, const char *address)
{
	(void)ctx;
	return strncmp(address, "10.", 3) == 0 || strcmp(address, "127.0.0.1") == 0 || !*address;
}

TEST(rules_the_callers_address_comes_from_trusted_proxies_only)
{
	struct fixture *f = fixture_open();

	STATUS(ask(f, f->admin, "{\"name\":\"A\",\"slug\":\"a\"}",
		       "POST /tenant/%s/agents\nX-Forwarded-For: 1.2.3.4", f->tenant_id),
		201);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where ip = '1.2.3.4'"), 0);
	f->app.settings.trusts = trusts_proxy;
	STATUS(ask(f, f->admin, "{\"name\":\"A\",\"slug\":\"b\"}",
		       "POST /tenant/%s/agents\nX-Forwarded-For: 6.6.6.6, 1.2.3.4, 10.0.0.7",
		       f->tenant_id),
		201);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where ip = '1.2.3.4'"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where ip = '6.6.6.6'"), 0);
	fixture_close(f);
}
