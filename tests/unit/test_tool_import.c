/* test_tool_import.c - tools of an MCP server made tools of the tenant, with everything that may be wrong with
 * them. */
#include "mcp_fixture.h"

#define TOOLS                                                                                     \
	"[{\"name\":\"search\",\"description\":\"Finds pages.\",\"inputSchema\":{\"$schema\":"    \
	"\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\",\"properties\":{\"q\":{" \
	"\"type\":\"string\"}},\"required\":[\"q\"]}},"                                           \
	"{\"name\":\"plain\",\"title\":\"Plain\",\"inputSchema\":{\"type\":\"object\"}},"         \
	"{\"name\":\"odd name\",\"inputSchema\":{\"type\":\"object\"}},"                          \
	"{\"name\":\"anchored\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"     \
	"\"$anchor\":\"x\"}}}},"                                                                  \
	"{\"name\":\"marked\",\"inputSchema\":{\"type\":\"object\",\"x-mcp-header\":\"A\"}}]"

TEST(tool_import_makes_tools_and_tells_what_it_did_not)
{
	struct fixture *f = fixture_open();
	struct mcp_fixture s;
	const char *body;
	struct answer r;

	mcp_fixture_open(&s, TOOLS);
	body = arena_printf(&f->arena,
		"{\"url\":\"http://127.0.0.1:%d/mcp\",\"prefix\":\"wiki.\",\"headers\":{\"X-Key\":"
		"\"s3cret-key\"},\"requires_approval\":true}",
		s.peer.port);
	/* not to this machine, unless it is permitted */
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	STATUS(r, 422);
	CHECK(refuses(&r, "url", "address"));
	CHECK_INT(s.peer.asked, 0);
	f->app.settings.allow_private_addresses = true;
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	STATUS(r, 200);
	CHECK(strstr(s.last_head, "\r\nX-Key: s3cret-key\r\n"));
	CHECK(!strstr(r.body, "s3cret"));
	CHECK_INT(json_array_size(at(&r, "created")), 2);
	CHECK_STR(text_at(&r, "created.0.name"), "wiki.search");
	CHECK_STR(text_at(&r, "created.0.kind"), "mcp");
	CHECK_STR(text_at(&r, "created.0.description"), "Finds pages.");
	CHECK_STR(text_at(&r, "created.0.config.tool"), "search");
	CHECK_STR(text_at(&r, "created.0.config.headers.X-Key"), "********");
	CHECK(json_is_true(at(&r, "created.0.requires_approval")));
	CHECK_STR(text_at(&r, "created.1.description"), "Plain");
	CHECK_INT(json_array_size(at(&r, "skipped")), 3);
	CHECK_STR(text_at(&r, "skipped.0.name"), "odd name");
	CHECK_STR(text_at(&r, "skipped.0.reason"),
		"Its name must have 1 to 128 letters, digits, _, . and -.");
	CHECK_STR(text_at(&r, "skipped.1.name"), "anchored");
	CHECK(strstr(text_at(&r, "skipped.1.reason"), "input_schema/properties/a/$anchor "));
	CHECK_STR(text_at(&r, "skipped.2.reason"),
		"It has an x-mcp-header where no argument is named.");
	/* again: what is there stays as it is */
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "created")), 0);
	CHECK_INT(json_array_size(at(&r, "updated")), 0);
	CHECK_INT(json_array_size(at(&r, "removed")), 0);
	CHECK_INT(json_array_size(at(&r, "skipped")), 3);
	/* some of them */
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"url\":\"http://127.0.0.1:%d/mcp\",\"tools\":[\"plain\",\"absent\"]}",
			s.peer.port),
		"POST /tenant/%s/tools/import-mcp", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "created")), 1);
	CHECK_STR(text_at(&r, "created.0.name"), "plain");
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=tool.import_mcp",
		f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "items")), 3);
	CHECK_INT(json_integer_value(at(&r, "items.2.meta.created")), 2);
	CHECK(!strstr(r.body, "s3cret"));
	mcp_fixture_close(&s);
	/* nobody is there any more */
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	STATUS(r, 502);
	fixture_close(f);
}

#define CHANGED                                                                            \
	"[{\"name\":\"search\",\"description\":\"Finds more.\",\"inputSchema\":{\"type\":" \
	"\"object\"}},{\"name\":\"new\",\"inputSchema\":{\"type\":\"object\"}},"           \
	"{\"name\":\"taken\",\"inputSchema\":{\"type\":\"object\"}}]"

TEST(tool_import_again_follows_the_server)
{
	struct fixture *f = fixture_open();
	struct mcp_fixture s;
	const char *body, *search, *plain, *agent = fixture_agent(f, "a");
	struct answer r;

	f->app.settings.allow_private_addresses = true;
	mcp_fixture_open(&s, TOOLS);
	body = arena_printf(&f->arena, "{\"url\":\"http://127.0.0.1:%d/mcp\",\"prefix\":\"wiki.\"}",
		s.peer.port);
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	search = text_at(&r, "created.0.id");
	plain = text_at(&r, "created.1.id");
	STATUS(ask(f, f->admin, arena_printf(&f->arena, "{\"tool_id\":\"%s\"}", plain),
		       "POST /agents/%s/tools", agent),
		201);
	STATUS(ask(f, f->admin, "{\"requires_approval\":true}", "PATCH /tenant/%s/tools/%s",
		       f->tenant_id, search),
		200);
	fixture_tool(f,
		"{\"name\":\"wiki.taken\",\"kind\":\"http\",\"description\":\"D\",\"config\":"
		"{\"method\":\"GET\",\"url\":\"https://example.org/\"}}");
	s.tools = CHANGED;

	test_step("only what is named");
	r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"url\":\"http://127.0.0.1:%d/mcp\",\"prefix\":\"wiki.\",\"tools\":[\"new\"]}",
			s.peer.port),
		"POST /tenant/%s/tools/import-mcp", f->tenant_id);
	CHECK_STR(text_at(&r, "created.0.name"), "wiki.new");
	CHECK_INT(json_array_size(at(&r, "updated")), 0);
	CHECK_INT(json_array_size(at(&r, "removed")), 0);

	test_step("all");
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "created")), 0);
	CHECK_INT(json_array_size(at(&r, "updated")), 1);
	CHECK_STR(text_at(&r, "updated.0.id"), search);
	CHECK_STR(text_at(&r, "updated.0.description"), "Finds more.");
	CHECK(json_is_true(at(&r, "updated.0.requires_approval")));
	CHECK_INT(json_array_size(at(&r, "removed")), 1);
	CHECK_STR(text_at(&r, "removed.0.id"), plain);
	CHECK_STR(text_at(&r, "skipped.0.name"), "taken");
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/tools/%s", f->tenant_id, plain), 404);
	r = ask(f, f->admin, NULL, "GET /agents/%s/tools", agent);
	CHECK(!strstr(r.body, plain));
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'tool.delete'"),
		1);

	test_step("a server that lists nothing is not believed");
	s.tools = "[]";
	r = ask(f, f->admin, body, "POST /tenant/%s/tools/import-mcp", f->tenant_id);
	CHECK_INT(json_array_size(at(&r, "removed")), 0);
	mcp_fixture_close(&s);
	fixture_close(f);
}

TEST(tool_import_is_refused_with_its_faults)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin,
		"{\"url\":\"ftp://x\",\"headers\":{\"Host\":\"a\",\"X\":\"********\"},\"prefix\":\"a b\"}",
		"POST /tenant/%s/tools/import-mcp", f->tenant_id);

	STATUS(r, 422);
	CHECK(refuses(&r, "prefix", "pattern"));
	r = ask(f, f->admin, "{\"url\":\"ftp://x\",\"headers\":{\"Host\":\"a\"}}",
		"POST /tenant/%s/tools/import-mcp", f->tenant_id);
	STATUS(r, 422);
	CHECK(refuses(&r, "url", "address") && refuses(&r, "headers.Host", "name"));
	r = ask(f, f->admin,
		"{\"url\":\"https://mcp.example.org/\",\"headers\":{\"X\":\"********\"}}",
		"POST /tenant/%s/tools/import-mcp", f->tenant_id);
	STATUS(r, 422);
	CHECK(refuses(&r, "headers.X", "masked"));
	fixture_close(f);
}
