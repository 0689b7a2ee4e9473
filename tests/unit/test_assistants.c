/* test_assistants.c - agents as OpenAI-style assistants: pages, fields, what is refused, and who sees them. */
#include "fixture.h"

#define A "/v1/assistants"

static const char *make(struct fixture *f, const char *more)
{
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena, "{\"model\":\"lodge-agent\"%s}", more), "POST " A);

	STATUS(r, 200);
	return text_at(&r, "id");
}

TEST(assistants_are_agents_of_the_tenant)
{
	struct fixture *f = fixture_open();
	struct answer r;
	const char *id;

	r = ask(f, f->admin,
		"{\"model\":\"lodge-agent\",\"name\":\"Support desk\",\"description\":\"D\","
		"\"instructions\":\"Be kind.\",\"metadata\":{\"a\":\"b\"},\"temperature\":0.5,"
		"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"add\"}}],"
		"\"response_format\":\"auto\",\"tool_resources\":{\"x\":1},\"nobody_knows\":[1]}",
		"POST " A "\nOpenAI-Beta: assistants=v2");
	STATUS(r, 200);
	id = text_at(&r, "id");
	CHECK_STR(text_at(&r, "object"), "assistant");
	CHECK_STR(text_at(&r, "model"), "lodge-agent");
	CHECK_STR(text_at(&r, "instructions"), "Be kind.");
	CHECK_STR(text_at(&r, "metadata.a"), "b");
	CHECK(json_integer_value(at(&r, "created_at")) > 1700000000);
	CHECK(json_integer_value(at(&r, "created_at")) < 5000000000);
	CHECK(header_of(f, &r, "x-request-id") != NULL);

	test_step("as an agent");
	r = ask(f, f->admin, NULL, "GET /agents/%s", id);
	CHECK_STR(text_at(&r, "name"), "Support desk");
	CHECK_STR(text_at(&r, "description_prompt"), "Be kind.");
	CHECK(strncmp(text_at(&r, "slug"), "assistant-", 10) == 0);
	CHECK_INT(fixture_count(f, "select count(*) from audit_logs where action = 'agent.create'"),
		1);

	test_step("an agent made elsewhere is one, too");
	r = ask(f, f->admin, "{\"name\":\"Other\",\"slug\":\"other\"}", "POST /tenant/%s/agents",
		f->tenant_id);
	r = ask(f, f->admin, NULL, "GET " A "/%s", text_at(&r, "id"));
	CHECK_STR(text_at(&r, "name"), "Other");
	CHECK(json_is_null(at(&r, "instructions")));
	CHECK_INT(json_object_size(at(&r, "metadata")), 0);

	test_step("changed");
	r = ask(f, f->admin,
		"{\"name\":\"Desk\",\"description\":null,\"metadata\":{\"c\":\"d\"},\"model\":\"demo\"}",
		"POST " A "/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "Desk");
	CHECK(json_is_null(at(&r, "description")));
	CHECK_STR(text_at(&r, "instructions"), "Be kind.");
	CHECK_STR(text_at(&r, "model"), "demo");
	CHECK(!at(&r, "metadata.a"));

	test_step("the audit log says what was changed");
	STATUS(ask(f, f->admin,
		       "{\"name\":\"Other\",\"temperature\":0.3,\"tools\":[{\"type\":\"function\","
		       "\"function\":{\"name\":\"look\"}}]}",
		       "POST " A "/%s", id),
		200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=agent.update&per_page=1",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.resource_id"), id);
	CHECK_STR(text_at(&r, "items.0.meta.name.to"), "Other");
	CHECK_STR(text_at(&r, "items.0.meta.temperature.to"), "0.3");
	CHECK(strstr(text_at(&r, "items.0.meta.tools.to"), "look"));
	CHECK_INT(json_object_size(at(&r, "items.0.meta")), 3);
	STATUS(ask(f, f->admin, "{\"temperature\":0.9}", "POST " A "/%s", id), 200);
	r = ask(f, f->admin, NULL, "GET /tenant/%s/audit-logs?action=agent.update&per_page=1",
		f->tenant_id);
	CHECK_STR(text_at(&r, "items.0.meta.temperature.from"), "0.3");
	CHECK_INT(json_object_size(at(&r, "items.0.meta")), 1);

	test_step("a chain that is changed elsewhere counts");
	fixture_sql(f, "delete from agent_models where agent_id = $1", ARGS(T(id)));
	r = ask(f, f->admin, NULL, "GET " A "/%s", id);
	CHECK_STR(text_at(&r, "model"), "lodge-agent");

	test_step("deleted");
	r = ask(f, f->admin, NULL, "DELETE " A "/%s", id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "object"), "assistant.deleted");
	CHECK(json_is_true(at(&r, "deleted")));
	r = ask(f, f->admin, NULL, "GET " A "/%s", id);
	STATUS(r, 404);
	CHECK_STR(text_at(&r, "error.type"), "not_found_error");
	STATUS(ask(f, f->admin, NULL, "GET /agents/%s", id), 404);
	CHECK_INT(fixture_count(f, "select count(*) from assistants"), 0);
	fixture_close(f);
}

/* The digits of the names on a page. */
static const char *names(struct fixture *f, const struct answer *r)
{
	const char *out = "";
	json_t *item;
	size_t i;

	json_array_foreach(at(r, "data"), i, item) out = arena_printf(
		&f->arena, "%s%s", out, json_string_value(json_object_get(item, "name")));
	return arena_printf(&f->arena, "%s%s", out, json_is_true(at(r, "has_more")) ? "+" : "");
}

TEST(assistants_are_paged_by_cursor)
{
	struct fixture *f = fixture_open();
	const char *id[6];
	struct answer r;

	for (int i = 1; i <= 5; i++)
		id[i] = make(f, arena_printf(&f->arena, ",\"name\":\"%d\"", i));
	static const struct {
		const char *query;
		int after, before;
		const char *want;
	} cases[] = {
		{ "", 0, 0, "54321" },
		{ "limit=2", 0, 0, "54+" },
		{ "limit=2", 4, 0, "32+" },
		{ "limit=2", 2, 0, "1" },
		{ "limit=5", 0, 0, "54321" },
		{ "order=asc&limit=2", 0, 0, "12+" },
		{ "order=asc&limit=3", 2, 0, "345" },
		{ "order=asc&limit=2", 0, 4, "23+" },
		{ "order=asc&limit=9", 0, 3, "12" },
		{ "limit=2", 0, 2, "43+" },
		{ "limit=2", 0, 4, "5" },
		{ "limit=9", 5, 2, "43" },
		{ "order=asc", 1, 4, "23" },
		{ "limit=1&include[]=x", 1, 0, "" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *query = cases[i].query;

		if (cases[i].after)
			query = arena_printf(&f->arena, "%s&after=%s", query, id[cases[i].after]);
		if (cases[i].before)
			query = arena_printf(&f->arena, "%s&before=%s", query, id[cases[i].before]);
		test_step("%s", query);
		r = ask(f, f->admin, NULL, "GET " A "?%s", *query == '&' ? query + 1 : query);
		STATUS(r, 200);
		CHECK_STR(names(f, &r), cases[i].want);
		if (!*cases[i].want)
			CHECK(json_is_null(at(&r, "first_id")));
	}
	r = ask(f, f->admin, NULL, "GET " A "?limit=2");
	CHECK_STR(text_at(&r, "first_id"), id[5]);
	CHECK_STR(text_at(&r, "last_id"), id[4]);
	r = ask(f, f->admin, NULL, "GET " A "?limit=101");
	STATUS(r, 400);
	CHECK_STR(text_at(&r, "error.param"), "limit");
	fixture_close(f);
}

TEST(assistants_refuse_in_openais_shape)
{
	static const struct {
		const char *body, *param;
		int status;
	} cases[] = {
		{ "{}", "model", 400 },
		{ "{\"model\":7}", "model", 400 },
		{ "{\"model\":\"gpt-4o\"}", NULL, 404 },
		{ "{\"model\":\"lodge-agent\",\"name\":\"a/b\"}", "name", 400 },
		{ "{\"model\":\"lodge-agent\",\"temperature\":3}", "temperature", 400 },
		{ "{\"model\":\"lodge-agent\",\"metadata\":{\"a\":1}}", "metadata", 400 },
		{ "{\"model\":\"lodge-agent\",\"tools\":{}}", "tools", 400 },
		{ "{\"model\":\"lodge-agent\",\"tools\":[{\"type\":\"code_interpreter\"}]}",
			"tools[0].type", 400 },
		{ "{\"model\":\"lodge-agent\",\"tools\":[{\"type\":\"function\"}]}",
			"tools[0].function", 400 },
		{ "{\"model\":\"lodge-agent\",\"tools\":[{\"type\":\"function\",\"function\":"
		  "{\"name\":\"a\"}},{\"type\":\"function\",\"function\":{\"name\":\"a\"}}]}",
			"tools[1].function", 400 },
		{ "{\"model\":\"lodge-agent\",\"response_format\":{\"type\":\"json_object\"}}",
			"response_format", 400 },
		{ "{\"model\":", NULL, 400 },
	};
	struct fixture *f = fixture_open();
	struct answer r;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].body);
		r = ask(f, f->admin, cases[i].body, "POST " A);
		CHECK_INT(r.status, cases[i].status);
		CHECK(text_at(&r, "error.message") != NULL);
		if (cases[i].param)
			CHECK_STR(text_at(&r, "error.param"), cases[i].param);
	}
	CHECK_INT(fixture_count(f, "select count(*) from agents"), 0);
	STATUS(ask(f, NULL, NULL, "GET " A), 401);
	fixture_close(f);
}

TEST(assistants_follow_the_gateways_rule_of_tenants)
{
	struct fixture *f = fixture_open();
	const char *token, *id = fixture_user(f, "two@example.org", &token), *other;
	struct answer r;

	fixture_member(f, f->tenant_id, id, "MEMBER");
	other = fixture_tenant(f, "other", id);
	make(f, ",\"name\":\"Here\"");
	STATUS(ask(f, token, NULL, "GET " A), 400);
	r = ask(f, token, NULL, "GET " A "\nOpenAI-Organization: %s", f->tenant_id);
	CHECK_STR(names(f, &r), "Here");
	r = ask(f, token, NULL, "GET " A "\nOpenAI-Organization: other");
	CHECK_STR(names(f, &r), "");
	r = ask(f, token, "{\"model\":\"demo\",\"name\":\"There\"}",
		"POST " A "\nOpenAI-Organization: %s", other);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "model"), "demo");
	fixture_close(f);
}
