/* test_tool_try.c - a tool called once by a person: the same checks, bounds and masks as for an agent. */
#include <pthread.h>
#include <unistd.h>

#include "mcp_fixture.h"
#include "race.h"

/* Says back the key that it was sent. */
static void answer_key(struct peer *p, int fd, const char *request)
{
	static const char body[] = "{\"temperature\":18,\"you sent\":\"Bearer s3cret-key\"}";

	(void)p;
	CHECK(strstr(request, "GET /weather?city=Paris "));
	CHECK(strstr(request, "\r\nAuthorization: Bearer s3cret-key\r\n"));
	peer_reply(fd, 200, "application/json", body, strlen(body));
}

static const char *made_tool(struct fixture *f, const char *body)
{
	return fixture_created(f, f->admin, body, "POST /tenant/%s/tools", f->tenant_id);
}

static struct answer try_tool(
	struct fixture *f, const char *token, const char *tool, const char *body)
{
	return ask(f, token, body, "POST /tenant/%s/tools/%s/try", f->tenant_id, tool);
}

static const char *weather(struct fixture *f, int port)
{
	return made_tool(f,
		arena_printf(&f->arena,
			"{\"name\":\"weather\",\"kind\":\"http\",\"description\":\"d\",\"input_schema\":"
			"{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":"
			"[\"city\"]},\"config\":{\"method\":\"GET\",\"url\":"
			"\"http://127.0.0.1:%d/weather?city={{city}}\",\"headers\":"
			"{\"Authorization\":\"Bearer s3cret-key\"}}}",
			port));
}

TEST(tool_try_calls_it_once_and_hides_its_secrets)
{
	struct fixture *f = fixture_open();
	struct peer p = { 0 };
	const char *tool;
	struct answer r;

	peer_open(&p, answer_key);
	f->app.settings.allow_private_addresses = true;
	tool = weather(f, p.port);
	r = try_tool(f, f->admin, tool, "{\"arguments\":{}}");
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "failed")));
	CHECK(strstr(text_at(&r, "text"), "do not suit"));
	CHECK_INT(p.asked, 0);
	r = try_tool(f, f->admin, tool, "{\"arguments\":{\"city\":\"Paris\"}}");
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "failed")) && json_is_false(at(&r, "was_cut")));
	CHECK(strstr(text_at(&r, "text"), "\"temperature\":18"));
	CHECK(!strstr(r.body, "s3cret") && strstr(r.body, "********"));
	CHECK_INT(p.asked, 1);
	/* the rules for addresses hold at the moment of the call */
	f->app.settings.allow_private_addresses = false;
	r = try_tool(f, f->admin, tool, "{\"arguments\":{\"city\":\"Paris\"}}");
	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "failed")));
	CHECK_INT(p.asked, 1);
	/* on record, without what it was given */
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=tool.try", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 3);
	CHECK_STR(text_at(&r, "items.0.resource_id"), tool);
	CHECK_STR(text_at(&r, "items.1.meta.name"), "weather");
	CHECK(json_is_false(at(&r, "items.1.meta.failed")));
	CHECK(!strstr(r.body, "Paris") && !strstr(r.body, "s3cret"));
	peer_close(&p);
	fixture_close(f);
}

TEST(tool_try_asks_an_mcp_server)
{
	struct fixture *f = fixture_open();
	struct mcp_fixture s;
	struct answer r;

	mcp_fixture_open(&s, "[{\"name\":\"search\",\"inputSchema\":{\"type\":\"object\"}}]");
	f->app.settings.allow_private_addresses = true;
	r = try_tool(f, f->admin,
		made_tool(f,
			arena_printf(&f->arena,
				"{\"name\":\"search\",\"kind\":\"mcp\",\"description\":\"d\",\"config\":"
				"{\"url\":\"http://127.0.0.1:%d/mcp\",\"tool\":\"search\"}}",
				s.peer.port)),
		"{\"arguments\":{\"q\":\"otters\"}}");
	STATUS(r, 200);
	CHECK(json_is_false(at(&r, "failed")));
	CHECK(strstr(text_at(&r, "text"), "otters"));
	mcp_fixture_close(&s);
	fixture_close(f);
}

TEST(tool_try_runs_what_is_built_in_only_where_no_session_is_needed)
{
	static const struct {
		const char *name, *body, *text; /* text NULL: refused */
	} rows[] = {
		{ "calculator", "{\"arguments\":{\"expression\":\"6*7\"}}", "42" },
		{ "time", "{\"arguments\":null}", "UTC" },
		{ "memory_write", "{\"arguments\":{\"content\":\"x\"}}", NULL },
		{ "subtask", "{\"arguments\":{\"title\":\"t\",\"message\":\"m\"}}", NULL },
		{ "skill_read", "{\"arguments\":{\"skill\":\"x\"}}", NULL },
	};
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct answer r = try_tool(f, f->admin,
			made_tool(
				f, arena_printf(&f->arena, "{\"name\":\"%s\",\"kind\":\"builtin\"}",
					   rows[i].name)),
			rows[i].body);

		test_step("%s", rows[i].name);
		STATUS(r, rows[i].text ? 200 : 409);
		if (rows[i].text)
			CHECK(strstr(text_at(&r, "text"), rows[i].text));
	}
	fixture_close(f);
}

TEST(tool_try_of_what_a_person_decides_needs_a_login)
{
	struct fixture *f = fixture_open();
	const char *tool = made_tool(f,
		"{\"name\":\"calculator\",\"kind\":\"builtin\",\"requires_approval\":true,"
		"\"person_only\":true}");
	const char *body = "{\"arguments\":{\"expression\":\"1+1\"}}";
	struct answer r =
		ask(f, f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", f->tenant_id);
	const char *key = text_at(&r, "key");

	STATUS(r, 201);
	r = try_tool(f, key, tool, body);
	STATUS(r, 403);
	r = try_tool(f, f->admin, tool, body);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "text"), "2");
	fixture_close(f);
}

enum { HANGING = 4 };

struct hanging {
	struct fixture *f;
	struct racer racers[HANGING];
};

static void answer_never(struct peer *p, int fd, const char *request)
{
	(void)request;
	peer_hang(p, fd);
}

static void *send_hanging(void *data)
{
	struct hanging *h = data;

	race(h->f, h->racers, HANGING);
	return NULL;
}

/* Of the pool that hashes passwords there is one thread here. */
TEST(tool_try_of_hosts_that_hang_holds_up_nobody_who_signs_in)
{
	struct fixture *f = fixture_open();
	struct hanging h = { .f = f };
	struct peer p = { 0 };
	const char *tool, *server;
	pthread_t thread;
	struct answer r;

	peer_open(&p, answer_never);
	f->app.settings.allow_private_addresses = true;
	tool = arena_printf(
		&f->arena, "POST /tenant/%s/tools/%s/try", f->tenant_id, weather(f, p.port));
	server = arena_printf(&f->arena, "{\"url\":\"http://127.0.0.1:%d/mcp\"}", p.port);
	for (size_t i = 0; i < HANGING; i++)
		h.racers[i] = i % 2 ? (struct racer){ f->admin, server,
			arena_printf(&f->arena, "POST /tenant/%s/tools/import-mcp", f->tenant_id) }
				    : (struct racer){ f->admin,
					      "{\"arguments\":{\"city\":\"Paris\"}}", tool };
	CHECK_INT(pthread_create(&thread, NULL, send_hanging, &h), 0);
	for (int i = 0; i < 10000 && p.open < HANGING; i++)
		usleep(1000);
	CHECK_INT(p.open, HANGING);
	r = fixture_sign_in(f, "nobody@example.org", "wrong");
	STATUS(r, 401); /* which takes as long as a password that is right */
	CHECK_INT(p.open, HANGING);
	p.over = true;
	pthread_join(thread, NULL);
	CHECK_INT(race_count(h.racers, HANGING, 200), HANGING / 2);
	CHECK_INT(race_count(h.racers, HANGING, 502), HANGING / 2);
	peer_close(&p);
	fixture_close(f);
}
