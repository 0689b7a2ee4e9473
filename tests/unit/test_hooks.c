/* test_hooks.c - events from outside on their way in: verified, guarded, taken once, logged. */
#include "hook_fixture.h"

#include <sodium.h>
#include <stdlib.h>
#include <unistd.h>

#include "webhooks/hook_log.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "race.h"

#define COUNT(s, sql) fixture_count((s)->f, sql)

TEST(integrations_are_made_read_changed_and_deleted)
{
	struct hook_fixture s =
		hook_fixture_open(",\"guardrails\":{\"events\":[\"push\"],\"per_minute\":5}");
	struct fixture *f = s.f;
	struct answer r =
		ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", f->tenant_id, s.id);

	STATUS(r, 200);
	CHECK(json_is_null(at(&r, "signing_secret")));
	CHECK(!strstr(r.body, s.secret));
	CHECK_STR(text_at(&r, "webhook_url"),
		arena_printf(&f->arena, "http://lodge.test/hooks/%s", s.id));
	CHECK_STR(text_at(&r, "guardrails.events.0"), "push");
	CHECK_STR(text_at(&r, "guardrails.working_hours"), "hold");
	CHECK(json_is_false(at(&r, "connected")));
	r = ask(f, f->admin, "{\"label\":\"New\",\"is_active\":false,\"guardrails\":null}",
		"PATCH /tenant/%s/integrations/%s", f->tenant_id, s.id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "label"), "New");
	CHECK(json_is_false(at(&r, "is_active")));
	CHECK(json_is_null(at(&r, "guardrails.events")));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations?agent_id=%s", f->tenant_id,
		s.agent_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	r = ask(f, f->admin, NULL, "GET /agents/%s/integrations", s.agent_id);
	CHECK_STR(text_at(&r, "items.0.provider"), "github");
	CHECK(json_is_false(at(&r, "items.0.connected")));
	CHECK_INT(
		COUNT(&s, "select count(*) from audit_logs where action like 'integration.%'"), 2);
	CHECK_INT(
		fixture_count(f, arena_printf(&f->arena,
					 "select count(*) from audit_logs where meta like '%%%s%%'",
					 s.secret)),
		0);
	CHECK_INT(fixture_count(
			  f, arena_printf(&f->arena,
				     "select count(*) from integrations where sealed like '%%%s%%'",
				     s.secret)),
		0);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/integrations/%s", f->tenant_id, s.id),
		204);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", f->tenant_id, s.id), 404);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 401);
	fixture_close(f);
}

TEST(integrations_refuse_what_does_not_fit)
{
	struct fixture *f = fixture_open();
	struct hook_fixture s = { 0 };
	const char *other = fixture_tenant(f, "other", f->admin_id);
	struct answer r;

	hook_fixture_begin(&s, f, "");
#define TRY(fields)                                                                              \
	(r = ask(f, f->admin,                                                                    \
		 arena_printf(&f->arena, "{\"label\":\"L\",\"agent_id\":\"%s\",%s}", s.agent_id, \
			 fields),                                                                \
		 "POST /tenant/%s/integrations", f->tenant_id))
	TRY("\"provider\":\"standard\",\"signing_secret\":\"not a key\"");
	CHECK(refuses(&r, "signing_secret", "format"));
	TRY("\"provider\":\"github\",\"signing_secret\":\"short\"");
	CHECK(refuses(&r, "signing_secret", "too_short"));
	TRY("\"provider\":\"skill\"");
	CHECK(refuses(&r, "provider", "choice"));
	TRY("\"provider\":\"github\",\"delivery_id_header\":\"X-Id\"");
	CHECK(refuses(&r, "delivery_id_header", "combination"));
	TRY("\"provider\":\"github\",\"guardrails\":{\"per_minute\":0}");
	CHECK(refuses(&r, "guardrails.per_minute", "too_small"));
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"label\":\"L\",\"provider\":\"github\",\"agent_id\":\"%s\"}",
			s.agent_id),
		"POST /tenant/%s/integrations", other);
	CHECK(refuses(&r, "agent_id", "unknown"));
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", other, s.id), 404);
	TRY("\"provider\":\"stripe\",\"signing_secret\":\"whsec_from_stripe\"");
	STATUS(r, 201);
	fixture_close(f);
}

TEST(hooks_take_a_signed_event_once)
{
	struct hook_fixture s = hook_fixture_open("");
	struct answer r = hook_send(&s, HOOK_EVENT, "d-1");
	const char *id = text_at(&r, "id");

	STATUS(r, 202);
	CHECK_STR(text_at(&r, "status"), "accepted");
	CHECK_STR(text_at(&r, "delivery_id"), "d-1");
	r = hook_send(&s, HOOK_EVENT, "d-1");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "duplicate");
	CHECK_STR(text_at(&r, "id"), id);
	STATUS(hook_send(&s, HOOK_EVENT, "d-2"), 202);
	hook_settle(&s);
	r = hook_log(&s);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	CHECK_STR(text_at(&r, "items.1.delivery_id"), "d-1");
	CHECK_STR(text_at(&r, "items.1.outcome"), "accepted");
	CHECK_STR(text_at(&r, "items.1.event"), "issues");
	CHECK_STR(text_at(&r, "items.1.action"), "opened");
	CHECK_STR(text_at(&r, "items.1.user_agent"), "GitHub-Hookshot/1");
	CHECK_STR(
		text_at(&r, "items.1.summary"), "ann opened issue #7 \"It leaks\" in acme/rocket");
	CHECK(text_at(&r, "items.1.caller_ip") != NULL);
	CHECK_INT(COUNT(&s, "select count(*) from sessions where origin = 'webhook'"), 2);
	r = ask(s.f, s.f->admin, NULL, "GET /agents/%s/integrations", s.agent_id);
	CHECK(json_is_true(at(&r, "items.0.connected")));
	fixture_close(s.f);
}

TEST(hooks_take_the_same_id_on_another_integration)
{
	struct hook_fixture s = hook_fixture_open(""), other = { 0 };

	hook_fixture_begin(&other, s.f, "");
	STATUS(hook_send(&s, HOOK_EVENT, "d-1"), 202);
	STATUS(hook_send(&other, HOOK_EVENT, "d-1"), 202);
	STATUS(hook_send(&other, HOOK_EVENT, "d-1"), 200);
	fixture_close(s.f);
}

TEST(hooks_answer_alike_whatever_is_wrong)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	const char *good = hook_sign(f, s.secret, HOOK_EVENT, strlen(HOOK_EVENT));
	const char *bad = hook_sign(f, "another secret", HOOK_EVENT, strlen(HOOK_EVENT));
	struct answer answers[5];

	answers[0] = ask(f, NULL, HOOK_EVENT, "POST /hooks/%s\nX-Hub-Signature-256: %s", s.id, bad);
	answers[1] = ask(f, NULL, HOOK_EVENT, "POST /hooks/%s", s.id);
	answers[2] = ask(f, NULL, HOOK_EVENT,
		"POST /hooks/cjld2cyuq0000t3rmniod1foy\nX-Hub-Signature-256: %s", good);
	answers[3] = ask(f, NULL, HOOK_EVENT,
		"POST /hooks/%s\nX-Hub-Signature-256: %s\r\nX-Hub-Signature-256: %s", s.id, good,
		good);
	answers[4] = ask(
		f, f->admin, HOOK_EVENT, "POST /hooks/%s", s.id); /* no credential of ours counts */
	for (int i = 0; i < 5; i++) {
		test_step("%d", i);
		STATUS(answers[i], 401);
		CHECK_STR(text_at(&answers[i], "detail"), text_at(&answers[0], "detail"));
		CHECK_STR(text_at(&answers[i], "type"), text_at(&answers[0], "type"));
		CHECK(strlen(answers[i].body) == strlen(answers[0].body));
	}
	CHECK_INT(COUNT(&s, "select count(*) from deliveries where body <> ''"), 0);
	CHECK_INT(COUNT(&s, "select count(*) from jobs"), 0);
	fixture_close(f);
}

TEST(hooks_refuse_what_they_cannot_read_though_it_is_signed)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	static const struct {
		const char *body, *more;
		int status;
		const char *outcome;
	} cases[] = {
		{ "[1]", "X-GitHub-Delivery: a", 400, "not_json" },
		{ "{\"a\":\"\xff\"}", "X-GitHub-Delivery: b", 400, "not_json" },
		{ "{}", "X-Nothing: x", 400, "no_delivery_id" },
		{ "{}", "X-GitHub-Delivery: d\r\nContent-Encoding: gzip", 415, "content_type" },
		{ "{}", "X-GitHub-Delivery: e\r\nContent-Type: text/plain", 415, "content_type" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct answer r;

		test_step("%zu", i);
		STATUS(ask(f, NULL, cases[i].body, "POST /hooks/%s\nX-Hub-Signature-256: %s\r\n%s",
			       s.id, hook_sign(f, s.secret, cases[i].body, strlen(cases[i].body)),
			       cases[i].more),
			cases[i].status);
		hook_logged(&s, NULL, (int64_t)i + 1);
		r = hook_log(&s);
		CHECK_STR(text_at(&r, "items.0.outcome"), cases[i].outcome);
		CHECK_STR(text_at(&r, "items.0.status"), "rejected");
	}
	/* one that is written down later stands where it came in */
	STATUS(ask(f, NULL, "{}", "POST /hooks/%s\nX-Hub-Signature-256: none", s.id), 401);
	STATUS(hook_send(&s, HOOK_EVENT, "d-last"), 202);
	hook_logged(&s, NULL, (int64_t)(sizeof cases / sizeof *cases) + 1);
	{
		struct answer r = hook_log(&s);

		CHECK_STR(text_at(&r, "items.0.delivery_id"), "d-last");
		CHECK_STR(text_at(&r, "items.1.status"), "rejected");
		CHECK(strcmp(text_at(&r, "items.0.created_at"),
			      text_at(&r, "items.1.created_at")) >= 0);
	}
	fixture_close(f);
}

TEST(hooks_speak_each_services_tongue)
{
	struct fixture *f = fixture_open();
	struct hook_fixture s = { 0 };
	int64_t now = clock_now_us() / SECOND_US;
	static const char *const providers[] = { "gitlab", "slack", "stripe", "linear", "sentry",
		"standard", "generic", NULL };
	const char *body = arena_printf(&f->arena,
		"{\"id\":\"evt_1\",\"event_id\":\"Ev1\",\"type\":\"x\",\"webhookTimestamp\":%lld000}",
		(long long)now);

	hook_fixture_begin(&s, f, "");
	for (const char *const *p = providers; *p; p++) {
		struct answer r = ask(f, f->admin,
			arena_printf(&f->arena,
				"{\"provider\":\"%s\",\"label\":\"L\",\"agent_id\":\"%s\"}", *p,
				s.agent_id),
			"POST /tenant/%s/integrations", f->tenant_id);
		const char *id = text_at(&r, "id"), *secret = text_at(&r, "signing_secret");
		const char *sign = hook_sign(f, secret, body, strlen(body)) + strlen("sha256=");
		const char *text, *lines = "";

		test_step("%s", *p);
		STATUS(r, 201);
		if (strcmp(*p, "slack") == 0) {
			text = arena_printf(&f->arena, "v0:%lld:%s", (long long)now, body);
			lines = arena_printf(&f->arena,
				"X-Slack-Request-Timestamp: %lld\r\nX-Slack-Signature: v0=%s",
				(long long)now, hook_sign(f, secret, text, strlen(text)) + 7);
		} else if (strcmp(*p, "stripe") == 0) {
			text = arena_printf(&f->arena, "%lld.%s", (long long)now, body);
			lines = arena_printf(&f->arena, "Stripe-Signature: t=%lld,v1=%s",
				(long long)now, hook_sign(f, secret, text, strlen(text)) + 7);
		} else if (strcmp(*p, "linear") == 0) {
			lines = arena_printf(
				&f->arena, "Linear-Delivery: d\r\nLinear-Signature: %s", sign);
		} else if (strcmp(*p, "sentry") == 0) {
			lines = arena_printf(
				&f->arena, "Request-ID: d\r\nSentry-Hook-Signature: %s", sign);
		} else if (strcmp(*p, "generic") == 0) {
			lines = arena_printf(&f->arena, "X-Hub-Signature-256: sha256=%s", sign);
		} else {
			uint8_t key[64], mac[SHA256_LEN];
			char base64[64];
			size_t n = 0;

			sodium_base642bin(key, sizeof key, secret + 6, strlen(secret + 6), NULL, &n,
				NULL, sodium_base64_VARIANT_ORIGINAL);
			text = arena_printf(&f->arena, "d.%lld.%s", (long long)now, body);
			hmac_sha256(key, n, text, strlen(text), mac);
			sodium_bin2base64(base64, sizeof base64, mac, sizeof mac,
				sodium_base64_VARIANT_ORIGINAL);
			lines = arena_printf(&f->arena,
				"webhook-id: d\r\nwebhook-timestamp: %lld\r\nwebhook-signature: v1,%s",
				(long long)now, base64);
		}
		STATUS(ask(f, NULL, body, "POST /hooks/%s\n%s", id, lines), 202);
		STATUS(ask(f, NULL, body, "POST /hooks/%s\n%s", id, lines), 200);
		STATUS(ask(f, NULL, HOOK_EVENT, "POST /hooks/%s\n%s", id, lines), 401);
	}
	fixture_close(f);
}

TEST(hooks_answer_slacks_challenge_once_it_is_signed)
{
	struct fixture *f = fixture_open();
	struct hook_fixture s = { 0 };
	const char *body =
		"{\"token\":\"t\",\"challenge\":\"3eZbrw1aB\",\"type\":\"url_verification\"}";
	int64_t now = clock_now_us() / SECOND_US;
	const char *text = arena_printf(&f->arena, "v0:%lld:%s", (long long)now, body), *id;
	struct answer r;

	hook_fixture_begin(&s, f, "");
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"provider\":\"slack\",\"label\":\"L\",\"agent_id\":\"%s\",\"signing_secret\":"
			"\"slack-chose-this\"}",
			s.agent_id),
		"POST /tenant/%s/integrations", f->tenant_id);
	STATUS(r, 201);
	id = text_at(&r, "id");
	STATUS(ask(f, NULL, body, "POST /hooks/%s", id), 401);
	r = ask(f, NULL, body,
		"POST /hooks/%s\nX-Slack-Request-Timestamp: %lld\r\nX-Slack-Signature: v0=%s", id,
		(long long)now, hook_sign(f, "slack-chose-this", text, strlen(text)) + 7);
	STATUS(r, 200);
	CHECK_STR(r.body, "3eZbrw1aB");
	CHECK_INT(fixture_count(f, "select count(*) from jobs"), 0);
	fixture_close(f);
}

/* GitHub tries an address when it is made: that is no work for an agent, whatever the guardrails say. */
TEST(hooks_acknowledge_githubs_ping)
{
	struct hook_fixture s =
		hook_fixture_open(",\"guardrails\":{\"events\":[\"issues.opened\"]}");
	struct fixture *f = s.f;
	const char *body = "{\"zen\":\"Design for failure.\",\"hook_id\":1}";
	const char *request = arena_printf(&f->arena,
		"POST /hooks/%s\nX-GitHub-Event: ping\r\nX-GitHub-Delivery: p-1\r\n"
		"X-Hub-Signature-256: %s",
		s.id, hook_sign(f, s.secret, body, strlen(body)));
	struct answer r = ask(f, NULL, body, "%s", request);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "ping");
	CHECK_INT(fixture_count(f, "select count(*) from jobs"), 0);
	CHECK_INT(fixture_count(f, "select count(*) from sessions"), 0);
	r = hook_log(&s);
	CHECK_STR(text_at(&r, "items.0.outcome"), "ping");
	CHECK_STR(text_at(&r, "items.0.status"), "delivered");
	r = ask(f, NULL, body, "%s", request);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "status"), "duplicate");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s", f->tenant_id, s.id);
	CHECK(json_is_true(at(&r, "connected")));
	STATUS(ask(f, NULL, "{\"zen\":\"Forged\"}", "%s", request), 401);
	fixture_close(f);
}

TEST(hooks_refuse_a_body_that_was_taken_if_asked_to)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	struct answer r;

	STATUS(hook_send(&s, HOOK_EVENT, "a-1"), 202);
	STATUS(hook_send(&s, HOOK_EVENT, "a-2"), 202); /* two real events may have one body */
	CHECK_INT(fixture_count(f, "select count(*) from delivery_bodies"), 0);
	STATUS(ask(f, f->admin, "{\"guardrails\":{\"refuse_repeats_hours\":2}}",
		       "PATCH /tenant/%s/integrations/%s", f->tenant_id, s.id),
		200);
	STATUS(hook_send(&s, HOOK_EVENT, "b-1"), 202);
	r = hook_send(&s, HOOK_EVENT, "b-2");
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:repeats");
	STATUS(hook_send(&s, HOOK_EVENT, "b-1"), 200); /* the sender's own retry */
	STATUS(hook_send(&s, "{\"action\":\"closed\"}", "b-3"), 202);
	CHECK_INT(fixture_count(f, "select count(*) from delivery_bodies"), 2);
	fixture_sql(f, "update delivery_bodies set seen_at = seen_at - 7200000001", NO_ARGS);
	STATUS(hook_send(&s, HOOK_EVENT, "b-4"), 202);
	STATUS(hook_send(&s, HOOK_EVENT, "b-5"), 403);
	fixture_sql(f, "update delivery_bodies set seen_at = 1", NO_ARGS);
	hook_bodies_forget(f->app.store, clock_now_us());
	for (int i = 0; i < 30000 && fixture_count(f, "select count(*) from delivery_bodies"); i++)
		usleep(5000);
	CHECK_INT(fixture_count(f, "select count(*) from delivery_bodies"), 0);
	hook_settle(&s);
	fixture_close(f);
}

TEST(hooks_tell_of_addresses_that_are_not_there_and_never_more_than_now_and_then)
{
	struct hook_log *log = hook_log_new();
	char text[4096] = "";
	int64_t now = clock_now_us();
	FILE *told = tmpfile();
	int kept, lines = 0;

	fflush(stderr);
	kept = dup(2);
	dup2(fileno(told), 2);
	log_setup(LOG_WARN, LOG_TEXT);
	for (int i = 0; i < 1000; i++)
		hook_log_unknown(log, "nobody", "192.0.2.1", now + i);
	hook_log_unknown(log, "nobody", "192.0.2.1", now + 11 * SECOND_US);
	log_setup(getenv("LODGE_TEST_LOG") ? LOG_DEBUG : LOG_SILENT, LOG_TEXT);
	fflush(stderr);
	dup2(kept, 2);
	close(kept);
	rewind(told);
	while (fgets(text, sizeof text, told))
		lines += strstr(text, "an address that is not there") != NULL;
	fclose(told);
	CHECK_INT(lines, 2);
	CHECK(strstr(text, "1000") && strstr(text, "192.0.2.1"));
	CHECK_INT((int64_t)hook_log_unknown_calls(log), 1001);
	hook_log_free(log);
}

TEST(hooks_secrets_rotate_with_and_without_grace)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	const char *first = s.secret, *second;
	struct answer r = ask(f, f->admin, "{\"grace_s\":3600}",
		"POST /tenant/%s/integrations/%s/rotate-secret", f->tenant_id, s.id);

	STATUS(r, 200);
	s.secret = second = text_at(&r, "signing_secret");
	CHECK(second && strcmp(first, second) != 0);
	CHECK(at(&r, "grace_until") && !json_is_null(at(&r, "grace_until")));
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	s.secret = first;
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	fixture_sql(f, "update integration_rows set before_until = 1", NO_ARGS);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 401);
	s.secret = second;
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	r = ask(f, f->admin, NULL, "POST /tenant/%s/integrations/%s/rotate-secret", f->tenant_id,
		s.id);
	STATUS(r, 200);
	CHECK(json_is_null(at(&r, "grace_until")));
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 401);
	s.secret = text_at(&r, "signing_secret");
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	r = ask(f, f->admin, "{\"signing_secret\":\"one of my own\"}",
		"POST /tenant/%s/integrations/%s/rotate-secret", f->tenant_id, s.id);
	STATUS(r, 200);
	s.secret = "one of my own";
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	CHECK_INT(
		COUNT(&s,
			"select count(*) from audit_logs where action = 'integration.rotate_secret'"),
		3);
	fixture_close(f);
}

TEST(hooks_guardrails_block_and_leave_the_id_free)
{
	struct hook_fixture s = hook_fixture_open(",\"guardrails\":{\"events\":[\"push\"]}");
	struct fixture *f = s.f;
	struct answer r = hook_send(&s, HOOK_EVENT, "d-1");
	const char *id;

	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:events");
	r = hook_log(&s);
	CHECK_STR(text_at(&r, "items.0.status"), "blocked");
	CHECK_STR(text_at(&r, "items.0.outcome"), "events");
	CHECK_STR(text_at(&r, "items.0.delivery_id"), "d-1");
	id = text_at(&r, "items.0.id");
	CHECK_INT(COUNT(&s, "select count(*) from jobs"), 0);
	STATUS(ask(f, f->admin, "{\"guardrails\":null}", "PATCH /tenant/%s/integrations/%s",
		       f->tenant_id, s.id),
		200);
	STATUS(hook_send(&s, HOOK_EVENT, "d-1"), 202);
	STATUS(hook_send(&s, HOOK_EVENT, "d-1"), 200);
	/* taken meanwhile: by hand it would be a second time */
	STATUS(ask(f, f->admin, NULL, "POST /tenant/%s/integrations/%s/deliveries/%s/redeliver",
		       f->tenant_id, s.id, id),
		409);
	fixture_close(f);
}

TEST(hooks_state_of_agent_and_tenant_counts)
{
	struct hook_fixture s = hook_fixture_open(",\"guardrails\":{\"budget\":\"refuse\"}");
	struct fixture *f = s.f;
	struct answer r;

#define BLOCKED(rule)                                                      \
	do {                                                               \
		r = hook_send(&s, HOOK_EVENT, NULL);                       \
		STATUS(r, 403);                                            \
		CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:" rule); \
	} while (0)
	fixture_sql(f, "update agent_rows set is_active = 0", NO_ARGS);
	BLOCKED("agent_active");
	fixture_sql(f, "update agent_rows set is_active = 1", NO_ARGS);
	fixture_sql(f, "update tenants set status = 'suspended'", NO_ARGS);
	BLOCKED("tenant_active");
	fixture_sql(f, "update tenants set status = 'closed'", NO_ARGS);
	BLOCKED("tenant_active");
	fixture_sql(f, "update tenants set status = 'active'", NO_ARGS);
	STATUS(ask(f, f->admin, "{\"is_active\":false}", "PATCH /tenant/%s/integrations/%s",
		       f->tenant_id, s.id),
		200);
	BLOCKED("integration_active");
	STATUS(ask(f, f->admin, "{\"is_active\":true}", "PATCH /tenant/%s/integrations/%s",
		       f->tenant_id, s.id),
		200);
	STATUS(ask(f, f->admin, "{\"hourly_limit_usd\":0}", "PUT /agents/%s/budget", s.agent_id),
		200);
	BLOCKED("budget");
	STATUS(ask(f, f->admin, "{\"hourly_limit_usd\":null}", "PUT /agents/%s/budget", s.agent_id),
		200);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	fixture_close(f);
}

TEST(hooks_rate_is_kept_to)
{
	struct hook_fixture s = hook_fixture_open(",\"guardrails\":{\"per_minute\":3}");
	struct answer r;

	for (int i = 0; i < 3; i++)
		STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	r = hook_send(&s, HOOK_EVENT, "late");
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:rate");
	STATUS(hook_send(&s, HOOK_EVENT, "sent-1"),
		200); /* a repeat is acknowledged all the same */
	fixture_sql(s.f, "update integration_rates set due_at = 1", NO_ARGS);
	STATUS(hook_send(&s, HOOK_EVENT, "late"), 202);
	fixture_close(s.f);
}

TEST(hooks_working_hours_hold_or_refuse)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	time_t now = (time_t)(clock_now_us() / SECOND_US);
	int hour = (int)(now / 3600 % 24);
	/* an hour of work that is not now */
	const char *hours = arena_printf(&f->arena,
		"{\"working_hours_enabled\":true,\"working_hours_start\":\"%02d:00\","
		"\"working_hours_end\":\"%02d:30\",\"working_hours_tz\":\"UTC\"}",
		(hour + 12) % 24, (hour + 12) % 24);
	const char *held = arena_printf(&f->arena,
		"select count(*) from jobs where run_at > %lld and waits_for = 'hours'",
		(long long)(now + 3600) * 1000000);
	struct answer r;

	STATUS(ask(f, f->admin, hours, "PUT /agents/%s/chat-config", s.agent_id), 200);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	for (int i = 0; i < 30000 && !fixture_count(f, held); i++)
		usleep(5000);
	CHECK_INT(fixture_count(f, held), 1);
	STATUS(ask(f, f->admin, "{\"guardrails\":{\"working_hours\":\"refuse\"}}",
		       "PATCH /tenant/%s/integrations/%s", f->tenant_id, s.id),
		200);
	r = hook_send(&s, HOOK_EVENT, NULL);
	STATUS(r, 403);
	CHECK_STR(text_at(&r, "type"), "urn:lodge:problem:working_hours");
	STATUS(ask(f, f->admin, "{\"guardrails\":{\"working_hours\":\"ignore\"}}",
		       "PATCH /tenant/%s/integrations/%s", f->tenant_id, s.id),
		200);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 202);
	hook_settle(&s);
	for (int i = 0;
		i < 30000 &&
		!fixture_count(f, "select count(*) from sessions where status = 'completed'");
		i++)
		usleep(5000);
	CHECK_INT(fixture_count(f, "select count(*) from sessions where status = 'completed'"), 1);
	CHECK_INT(fixture_count(f, held), 1);
	fixture_close(f);
}

TEST(hooks_identical_events_at_one_moment_are_one)
{
	enum { AT_ONCE = 16 };
	struct hook_fixture s = hook_fixture_open("");
	struct racer racers[AT_ONCE] = { 0 };

	for (int i = 0; i < AT_ONCE; i++)
		racers[i] = (struct racer){ .body = HOOK_EVENT,
			.request = hook_request(&s, HOOK_EVENT, "the-same") };
	race(s.f, racers, AT_ONCE);
	CHECK_INT(race_count(racers, AT_ONCE, 202), 1);
	CHECK_INT(race_count(racers, AT_ONCE, 200), AT_ONCE - 1);
	CHECK_INT(COUNT(&s, "select count(*) from deliveries"), 1);
	hook_settle(&s);
	CHECK_INT(COUNT(&s, "select count(*) from sessions"), 1);
	fixture_close(s.f);
}

TEST(hooks_a_flood_of_rejected_calls_is_a_few_rows)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	struct answer r;
	int64_t calls = 0;

	for (int i = 0; i < 200; i++)
		STATUS(ask(f, NULL, HOOK_EVENT, "POST /hooks/%s\nX-Hub-Signature-256: sha256=00",
			       s.id),
			401);
	hook_logged(&s, NULL, 200);
	r = hook_log(&s);
	CHECK(json_integer_value(at(&r, "total")) >= 1 &&
		json_integer_value(at(&r, "total")) <= 20);
	for (size_t i = 0; i < json_array_size(at(&r, "items")); i++)
		calls += json_integer_value(
			json_object_get(json_array_get(at(&r, "items"), i), "calls"));
	CHECK_INT(calls, 200);
	CHECK_STR(text_at(&r, "items.0.outcome"), "signature");
	CHECK_STR(text_at(&r, "items.0.delivery_id"), "");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/integrations/%s/deliveries?status=accepted",
		f->tenant_id, s.id);
	CHECK_INT(json_integer_value(at(&r, "total")), 0);
	fixture_close(f);
}

TEST(hooks_the_log_is_bounded)
{
	struct hook_fixture s = hook_fixture_open(",\"guardrails\":{\"events\":[\"push\"]}");
	struct fixture *f = s.f;
	char ip[32];

	/* many addresses in one second share the last row */
	for (int i = 0; i < 100; i++) {
		snprintf(ip, sizeof ip, "192.0.2.%d", i);
		hook_log_note(f->service.hook_log, f->app.store,
			&(struct hook_note){ .tenant_id = f->tenant_id,
				.integration_id = s.id,
				.outcome = "signature",
				.ip = ip },
			clock_now_us());
	}
	hook_logged(&s, NULL, 100);
	STATUS(hook_send(&s, HOOK_EVENT, NULL), 403);
	CHECK(COUNT(&s, "select count(*) from deliveries where status = 'rejected'") <=
		2 * (HOOK_LOG_ADDRESSES + 1));
	CHECK_INT(COUNT(&s, "select sum(calls) from deliveries where status = 'rejected'"), 100);
	/* blocked events keep their bodies so many times a minute, and are counted from then on */
	for (int i = 0; i < HOOK_LOG_BODIES + 20; i++)
		STATUS(hook_send(&s, HOOK_EVENT, NULL), 403);
	hook_logged(&s, NULL, 100 + 1 + HOOK_LOG_BODIES + 20);
	CHECK(COUNT(&s,
		      "select count(*) from deliveries where status = 'blocked' and body <> ''") <=
		2 * HOOK_LOG_BODIES);
	fixture_close(f);
}

TEST(hooks_forgotten_calls_are_still_known)
{
	struct hook_fixture s = hook_fixture_open("");
	struct fixture *f = s.f;
	struct answer r = hook_send(&s, HOOK_EVENT, "d-1");
	const char *id = text_at(&r, "id");

	STATUS(r, 202);
	STATUS(hook_send(&s, HOOK_EVENT, "d-2"), 202);
	hook_settle(&s);
	fixture_sql(
		f, "update deliveries set status = 'accepted' where delivery_id = 'd-2'", NO_ARGS);
	f->app.settings.hook_retention_us = 1;
	hook_log_forget(f->service.hook_log, f->app.store, f->app.settings.hook_retention_us,
		clock_now_us() + SECOND_US);
	for (int i = 0; i < 30000 && COUNT(&s, "select count(*) from deliveries_past") == 0; i++)
		STATUS(hook_send(&s, HOOK_EVENT, "d-2"), 200);
	CHECK_INT(COUNT(&s, "select count(*) from deliveries where delivery_id = 'd-1'"), 0);
	CHECK_INT(COUNT(&s, "select count(*) from deliveries where delivery_id = 'd-2'"), 1);
	r = hook_send(&s, HOOK_EVENT, "d-1");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "id"), id);
	fixture_close(f);
}
