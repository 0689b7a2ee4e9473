/* hook_fixture.c - see hook_fixture.h. */
#include "hook_fixture.h"

#include <unistd.h>

#include "webhooks/hook_log.h"
#include "base/clock.h"
#include "base/crypto.h"

void hook_fixture_begin(struct hook_fixture *s, struct fixture *f, const char *more)
{
	static int agents;
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"name\":\"Hooked\",\"slug\":\"hooked-%d\"}", ++agents),
		"POST /tenant/%s/agents", f->tenant_id);

	STATUS(r, 201);
	s->f = f;
	s->agent_id = text_at(&r, "id");
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"provider\":\"github\",\"label\":\"Rocket\",\"agent_id\":\"%s\"%s}",
			s->agent_id, more),
		"POST /tenant/%s/integrations", f->tenant_id);
	STATUS(r, 201);
	s->id = text_at(&r, "id");
	s->secret = text_at(&r, "signing_secret");
}

struct hook_fixture hook_fixture_open(const char *more)
{
	struct hook_fixture s = { 0 };

	hook_fixture_begin(&s, fixture_open(), more);
	return s;
}

const char *hook_sign(struct fixture *f, const char *secret, const char *body, size_t len)
{
	uint8_t mac[SHA256_LEN];
	char hex[65];

	hmac_sha256(secret, strlen(secret), body, len, mac);
	hex_write(mac, sizeof mac, hex);
	return arena_printf(&f->arena, "sha256=%s", hex);
}

const char *hook_request(struct hook_fixture *s, const char *body, const char *delivery_id)
{
	return arena_printf(&s->f->arena,
		"POST /hooks/%s\nUser-Agent: GitHub-Hookshot/1\r\nX-GitHub-Event: issues\r\n"
		"X-GitHub-Delivery: %s\r\nX-Hub-Signature-256: %s",
		s->id, delivery_id ? delivery_id : arena_printf(&s->f->arena, "sent-%d", ++s->sent),
		hook_sign(s->f, s->secret, body, strlen(body)));
}

struct answer hook_send(struct hook_fixture *s, const char *body, const char *delivery_id)
{
	return ask(s->f, NULL, body, "%s", hook_request(s, body, delivery_id));
}

void hook_settle(struct hook_fixture *s)
{
	for (int tries = 0; tries < 4000; tries++) {
		if (!fixture_count(
			    s->f, "select count(*) from deliveries where status = 'accepted'"))
			return;
		usleep(5000);
	}
	test_fail(__FILE__, __LINE__, "events wait for ever");
}

void hook_logged(struct hook_fixture *s, const char *integration_id, int64_t calls)
{
	const char *sql = arena_printf(&s->f->arena,
		"select coalesce(sum(calls), 0) from deliveries where integration_id = '%s' "
		"and status in ('rejected', 'blocked')",
		integration_id ? integration_id : s->id);
	int64_t seen = 0;

	for (int tries = 0; tries < 2000; tries++) {
		hook_log_flush(s->f->service.hook_log, s->f->app.store, clock_now_us());
		seen = fixture_count(s->f, sql);
		if (seen >= calls)
			break;
		usleep(5000);
	}
	CHECK_INT(seen, calls);
}

struct answer hook_log(struct hook_fixture *s)
{
	struct answer r = ask(s->f, s->f->admin, NULL, "GET /tenant/%s/integrations/%s/deliveries",
		s->f->tenant_id, s->id);

	STATUS(r, 200);
	return r;
}
