/* test_tool_turns.c - agents at work with tools outside: one of an MCP server, and those that hang, flood or
 * fail.  Whatever a tool does, the model is told and the session goes on. */
#include "mcp_stage.h"
#include "turn_stage.h"

TEST(tool_turns_call_the_tools_of_an_mcp_server)
{
	struct mcp_stage server;
	struct turn_stage s;
	struct answer r;

	turn_open(&s, NULL);
	mcp_stage_open(&server,
		"[{\"name\":\"search\",\"description\":\"Finds pages.\",\"inputSchema\":{\"type\":"
		"\"object\",\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":[\"q\"]}}]");
	s.f->app.settings.allow_private_addresses = true;
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena,
			"{\"url\":\"http://127.0.0.1:%d/mcp\",\"headers\":{\"X-Key\":\"s3cret-key\"}}",
			server.peer.port),
		"POST /tenant/%s/tools/import-mcp", s.f->tenant_id);
	STATUS(r, 200);
	turn_tool(&s, s.agent_id, "search");
	CHECK_INT(turn_say(&s, "use tool search with {\"q\":\"lodges\"}"), 0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "The tool search answered: {\"q\":\"lodges\"}"));
	CHECK(strstr(server.last_head, "\r\nX-Key: s3cret-key\r\n"));
	/* what does not suit never reaches the server */
	CHECK_INT(turn_say(&s, "use tool search with {\"q\":7}"), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	CHECK(strstr(turn_transcript(&s), "The arguments do not suit the tool: /q "));
	mcp_stage_close(&server);
	turn_close(&s);
}

static void answer(struct peer *p, int fd, const char *request)
{
	static char some[65536];

	if (strstr(request, " /hang ")) {
		peer_hang(p, fd);
	} else if (strstr(request, " /fail ")) {
		peer_reply(fd, 500, "text/plain", "no luck", 7);
	} else {
		memset(some, 'x', sizeof some);
		peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n", 43);
		for (int i = 0; i < 1600 && peer_say(fd, some, sizeof some); i++)
			;
	}
}

static void make_tool(struct turn_stage *s, const struct peer *p, const char *name)
{
	STATUS(ask(s->f, s->f->admin,
		       arena_printf(&s->f->arena,
			       "{\"name\":\"%s\",\"kind\":\"http\",\"description\":\"D\",\"config\":{"
			       "\"method\":\"GET\",\"url\":\"http://127.0.0.1:%d/%s\",\"timeout_s\":1}}",
			       name, p->port, name),
		       "POST /tenant/%s/tools", s->f->tenant_id),
		201);
	turn_tool(s, s->agent_id, name);
}

TEST(tool_turns_go_on_whatever_a_tool_does)
{
	struct turn_stage s;
	struct peer p;

	turn_open(&s, NULL);
	peer_open(&p, answer);
	s.f->app.settings.allow_private_addresses = true;
	make_tool(&s, &p, "hang");
	make_tool(&s, &p, "fail");
	make_tool(&s, &p, "flood");
	CHECK_INT(
		turn_say(&s,
			"use tool hang with {} and use tool fail with {} and use tool flood with {}"),
		0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "The call failed: "));
	CHECK(strstr(turn_transcript(&s), "The service answered 500.\nno luck"));
	CHECK(strstr(turn_transcript(&s), "of more than 8388608. What was read of it is kept"));
	CHECK_INT(turn_count(&s, "select size_bytes from session_files where session_id = %s"),
		8 << 20);
	CHECK_STR(turn_text(&s,
			  "select content_type as value from session_files where session_id = %s"),
		"text/csv");
	CHECK_INT(turn_say(&s, "count to 3"), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	peer_close(&p);
	turn_close(&s);
}
