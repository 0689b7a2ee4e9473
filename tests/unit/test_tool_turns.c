/* test_tool_turns.c - agents at work with tools outside: one of an MCP server, and those that hang, flood or
 * fail.  Whatever a tool does, the model is told and the session goes on. */
#include "mcp_fixture.h"
#include "turn_fixture.h"
#include "bucket/bucket.h"

TEST(tool_turns_call_the_tools_of_an_mcp_server)
{
	struct mcp_fixture server;
	struct turn_fixture s;
	struct answer r;

	turn_open(&s, NULL);
	mcp_fixture_open(&server,
		"[{\"name\":\"search\",\"description\":\"Finds pages.\",\"inputSchema\":{\"type\":"
		"\"object\",\"properties\":{\"q\":{\"type\":\"string\"}},\"required\":[\"q\"]}},"
		"{\"name\":\"breaks\",\"description\":\"Fails.\",\"inputSchema\":{\"type\":\"object\"}}]");
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
	/* a model that is only given texts knows a failure from an answer */
	turn_tool(&s, s.agent_id, "breaks");
	CHECK_INT(turn_say(&s, "use tool breaks with {}"), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		3);
	CHECK(strstr(turn_transcript(&s),
		"The tool breaks answered: The call failed:\nthe disk is gone"));
	mcp_fixture_close(&server);
	turn_close(&s);
}

/* One provider has a mark for it, and is given it with the next request. */
TEST(tool_turns_mark_what_failed_for_a_provider_that_knows_such_a_mark)
{
	struct turn_fixture s;
	const char *body;

	turn_open_mock(&s, (const char *const[]){ "400", NULL },
		(const char *const[]){ "calculator", NULL });
	fixture_sql(s.f, "update models set kind = 'demo'", NO_ARGS);
	CHECK_INT(turn_say(&s, "use tool calculator with {\"expression\":\"6*7\"} and use tool "
			       "calculator with {\"expression\":\"1/0\"}"),
		0);
	turn_await(&s, "completed");
	fixture_sql(
		s.f, "update models set kind = 'anthropic' where base_url is not null", NO_ARGS);
	CHECK_INT(turn_say(&s, "go on"), 0);
	turn_await(&s, "failed");
	body = s.gateway.mock.last_body;
	CHECK(strstr(body, "\"text\":\"42\"}]},{\"type\":\"tool_result\"") != NULL);
	CHECK(strstr(body, "}],\"is_error\":true}") != NULL);
	turn_close(&s);
}

static void answer(struct peer *p, int fd, const char *request)
{
	static char some[65536];

	if (strstr(request, " /hang ")) {
		peer_hang(p, fd);
	} else if (strstr(request, " /fail ")) {
		peer_reply(fd, 500, "text/plain", "no luck", 7);
	} else if (strstr(request, " /some ")) {
		memset(some, 'y', sizeof some);
		peer_reply(fd, 200, "text/csv", some, sizeof some);
	} else {
		memset(some, 'x', sizeof some);
		peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\r\n", 43);
		for (int i = 0; i < 1600 && peer_say(fd, some, sizeof some); i++)
			;
	}
}

static void make_tool(struct turn_fixture *s, const struct peer *p, const char *name)
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
	struct turn_fixture s;
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

TEST(tool_turns_keep_long_answers_in_the_bucket)
{
	struct turn_fixture s;
	struct peer p;

	turn_open(&s, NULL);
	peer_open(&p, answer);
	s.f->app.settings.allow_private_addresses = true;
	bucket_files_begin(s.f->service.bucket);
	make_tool(&s, &p, "some");
	make_tool(&s, &p, "flood");
	CHECK_INT(turn_say(&s, "use tool some with {}"), 0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "The whole is kept"));
	CHECK_INT(turn_count(&s, "select count(*) from session_files where object_id is not null "
				 "and length(content) = 0 and session_id = %s"),
		1);
	CHECK_INT(fixture_count(s.f, "select sum(size_bytes) from bucket_usage"), 65536);
	test_step("one for which there is no room ends nothing, and says so");
	CHECK_INT(turn_say(&s, "use tool flood with {}"), 0);
	turn_await_count(&s,
		"select count(*) from session_runs where session_id = %s and status = 'completed'",
		2);
	CHECK(strstr(turn_transcript(&s), "could not be kept"));
	CHECK_INT(fixture_count(s.f, "select count(*) from session_files"), 1);
	CHECK_INT(fixture_count(s.f, "select sum(size_bytes) from bucket_usage"), 65536);
	peer_close(&p);
	turn_close(&s);
}

/* They are looked at before anything is stored of them, off the thread that writes, and all of one answer share
 * what one may take: looking at each where it runs would find them sound in time. */
TEST(tool_turns_share_the_steps_of_one_call_among_all_of_an_answer)
{
	enum { DEEP = 19, CALLS = 8 };
	struct turn_fixture s;
	struct answer r;
	struct buf b, said;

	turn_open(&s, NULL);
	buf_init(&b, 64 * 1024);
	buf_init(&said, 64 * 1024);
	buf_lit(&b,
		"{\"name\":\"deep\",\"kind\":\"http\",\"description\":\"D\",\"config\":{\"method\":\"GET\",\"url\":"
		"\"https://nobody.invalid/\"},\"input_schema\":{\"type\":\"object\",\"properties\":"
		"{\"x\":{\"$ref\":\"#/$defs/d0\"}},\"$defs\":{");
	for (int i = 0; i < DEEP; i++)
		buf_printf(&b,
			"\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},",
			i, i + 1, i + 1);
	buf_printf(&b, "\"d%d\":{\"type\":\"string\"}}}}", DEEP);
	r = ask(s.f, s.f->admin, arena_strndup(&s.f->arena, b.at, b.len), "POST /tenant/%s/tools",
		s.f->tenant_id);
	STATUS(r, 201);
	turn_tool(&s, s.agent_id, "deep");
	for (int i = 0; i < CALLS; i++)
		buf_printf(&said, "%suse tool deep with {\"x\":%d}", i ? " and " : "", i);
	CHECK_INT(turn_say(&s, arena_strndup(&s.f->arena, said.at, said.len)), 0);
	turn_await(&s, "completed");
	CHECK(turn_count(&s,
		      "select count(*) from messages where session_id = %s and role = 'tool' "
		      "and content like '%%do not suit the tool: /x %%' "
		      "and content not like '%%more steps%%'") > 0);
	CHECK(turn_count(&s,
		      "select count(*) from messages where session_id = %s and role = 'tool' "
		      "and content like '%%more steps%%'") > 0);
	buf_free(&b);
	buf_free(&said);
	turn_close(&s);
}

/* An agent with a skill and without a single tool: what reads skills comes with them. */
TEST(tool_turns_read_a_skill_without_a_tool_of_their_own)
{
	struct turn_fixture s;
	struct answer r;

	turn_open(&s, NULL);
	r = ask(s.f, s.f->admin,
		"{\"name\":\"Letters\",\"slug\":\"letters\",\"description\":\"D\",\"instructions\":"
		"\"Write kindly.\"}",
		"POST /tenant/%s/skills", s.f->tenant_id);
	STATUS(r, 201);
	r = ask(s.f, s.f->admin,
		arena_printf(&s.f->arena, "{\"skill_id\":\"%s\"}", text_at(&r, "id")),
		"POST /tenant/%s/agents/%s/skills", s.f->tenant_id, s.agent_id);
	STATUS(r, 201);
	CHECK_INT(turn_say(&s, "use tool skill_read with {\"skill\":\"letters\"}"), 0);
	turn_await(&s, "completed");
	CHECK(strstr(turn_transcript(&s), "tool: Write kindly."));
	turn_close(&s);
}
