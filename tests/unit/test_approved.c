/* test_approved.c - what a person approves is what is sent: with what is set for the agent, and not if that was
 * changed since. */
#include "peer_fixture.h"
#include "turn_fixture.h"

#include <stdio.h>
#include <string.h>

#define KEPT_SECRET "s3cret-value-9"
#define ASKED "use tool pay with {\"to\":\"ann\",\"usd\":1}"

static char last[4096];

static void take(struct peer *p, int fd, const char *request)
{
	(void)p;
	snprintf(last, sizeof last, "%s", request);
	peer_reply(fd, 200, "text/plain", "paid", 4);
}

struct scene {
	struct turn_fixture s;
	struct peer peer;
	const char *tool_id;
};

static const char *config(struct scene *k, const char *path)
{
	return arena_printf(&k->s.f->arena,
		"{\"method\":\"POST\",\"url\":\"http://127.0.0.1:%d/%s\",\"body\":"
		"{\"to\":\"{{to}}\",\"usd\":\"{{usd}}\",\"key\":\"{{api_key}}\"}}",
		k->peer.port, path);
}

static void scene_open(struct scene *k, const char *configuration)
{
	struct answer r;

	turn_open(&k->s, NULL);
	peer_open(&k->peer, take);
	k->s.f->app.settings.allow_private_addresses = true;
	r = ask(k->s.f, k->s.f->admin,
		arena_printf(&k->s.f->arena,
			"{\"name\":\"pay\",\"kind\":\"http\",\"description\":\"Pays.\",\"requires_approval\":true,"
			"\"input_schema\":{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"string\"},"
			"\"usd\":{\"type\":\"integer\"},\"api_key\":{\"type\":\"string\"},\"code\":{\"type\":"
			"\"string\",\"writeOnly\":true}},\"required\":[\"to\",\"usd\"]},\"config\":%s}",
			config(k, "wire")),
		"POST /tenant/%s/tools", k->s.f->tenant_id);
	STATUS(r, 201);
	k->tool_id = text_at(&r, "id");
	STATUS(ask(k->s.f, k->s.f->admin,
		       arena_printf(&k->s.f->arena, "{\"tool_id\":\"%s\",\"configuration\":%s}",
			       k->tool_id, configuration),
		       "POST /tenant/%s/agents/%s/tools", k->s.f->tenant_id, k->s.agent_id),
		201);
}

static void scene_close(struct scene *k)
{
	peer_close(&k->peer);
	turn_close(&k->s);
}

static void await_pending(struct scene *k, int64_t of)
{
	turn_await_count(&k->s, "select count(*) from approvals where session_id = %s", of);
	turn_await_count(&k->s,
		"select count(*) from approvals where session_id = %s and status = 'pending'", 1);
}

static struct answer pending(struct scene *k)
{
	struct answer r =
		ask(k->s.f, k->s.f->admin, NULL, "GET /sessions/%s/approvals", k->s.session_id);

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.0.status"), "pending");
	return r;
}

TEST(approved_arguments_are_those_that_are_sent)
{
	struct scene k;
	struct answer r;

	scene_open(&k, "{\"to\":\"mallory\",\"usd\":1000000,\"api_key\":\"" KEPT_SECRET
		       "\",\"code\":\"" KEPT_SECRET "\"}");
	CHECK_INT(turn_say(&k.s, ASKED), 0);
	await_pending(&k, 1);
	r = pending(&k);
	CHECK_STR(text_at(&r, "items.0.arguments.to"), "mallory");
	CHECK_INT(json_integer_value(at(&r, "items.0.arguments.usd")), 1000000);
	CHECK_STR(text_at(&r, "items.0.arguments.api_key"), "********");
	CHECK_STR(text_at(&r, "items.0.arguments.code"), "********");
	CHECK_INT(json_array_size(at(&r, "items.0.pinned")), 4);
	CHECK_INT(atomic_load(&k.peer.asked), 0);
	CHECK_INT(turn_decide(&k.s, true), 0);
	turn_await(&k.s, "completed");
	CHECK_INT(atomic_load(&k.peer.asked), 1);
	CHECK(strstr(last, "mallory") && strstr(last, "1000000") && strstr(last, KEPT_SECRET));

	test_step("the record says what was sent, and no secret");
	r = ask(k.s.f, k.s.f->admin, NULL, "GET /sessions/%s/export", k.s.session_id);
	CHECK(strstr(text_at(&r, "calls.0.arguments"), "mallory"));
	CHECK_STR(text_at(&r, "approvals.0.arguments.to"), "mallory");
	CHECK(!strstr(r.body, KEPT_SECRET));
	CHECK_INT(turn_count(&k.s, "select count(*) from session_events where session_id = %s "
				   "and data like '%" KEPT_SECRET "%'"),
		0);
	scene_close(&k);
}

TEST(approved_calls_are_asked_for_again_when_the_tool_was_changed)
{
	struct scene k;
	struct answer r;

	scene_open(&k, "{\"to\":\"mallory\",\"api_key\":\"" KEPT_SECRET "\"}");
	CHECK_INT(turn_say(&k.s, ASKED), 0);
	await_pending(&k, 1);

	test_step("another configuration");
	STATUS(ask(k.s.f, k.s.f->admin, "{\"configuration\":{\"to\":\"eve\"}}",
		       "PATCH /agents/%s/tools/%s", k.s.agent_id, k.tool_id),
		200);
	CHECK_INT(turn_decide(&k.s, true), 0);
	await_pending(&k, 2);
	CHECK_INT(atomic_load(&k.peer.asked), 0);
	r = pending(&k);
	CHECK_STR(text_at(&r, "items.0.arguments.to"), "eve");
	CHECK(!at(&r, "items.0.arguments.api_key"));

	test_step("another secret, though it is masked");
	STATUS(ask(k.s.f, k.s.f->admin, "{\"configuration\":{\"to\":\"eve\",\"api_key\":\"a\"}}",
		       "PATCH /agents/%s/tools/%s", k.s.agent_id, k.tool_id),
		200);
	CHECK_INT(turn_decide(&k.s, true), 0);
	await_pending(&k, 3);
	STATUS(ask(k.s.f, k.s.f->admin, "{\"configuration\":{\"to\":\"eve\",\"api_key\":\"b\"}}",
		       "PATCH /agents/%s/tools/%s", k.s.agent_id, k.tool_id),
		200);
	CHECK_INT(turn_decide(&k.s, true), 0);
	await_pending(&k, 4);

	test_step("another place to send it to");
	STATUS(ask(k.s.f, k.s.f->admin,
		       arena_printf(&k.s.f->arena, "{\"config\":%s}", config(&k, "other")),
		       "PATCH /tenant/%s/tools/%s", k.s.f->tenant_id, k.tool_id),
		200);
	CHECK_INT(turn_decide(&k.s, true), 0);
	await_pending(&k, 5);
	CHECK_INT(atomic_load(&k.peer.asked), 0);
	CHECK_INT(turn_count(&k.s, "select count(*) from session_events where session_id = %s "
				   "and data like '%approval_again%'"),
		4);

	test_step("and then it is made as it was approved");
	CHECK_INT(turn_decide(&k.s, true), 0);
	turn_await(&k.s, "completed");
	CHECK_INT(atomic_load(&k.peer.asked), 1);
	CHECK(strstr(last, "POST /other ") && strstr(last, "eve"));
	turn_check_events(&k.s);
	scene_close(&k);
}
