/* test_router.c - every declared path under every spelling, and what must not match. */
#include "t.h"

#include <stdlib.h>

#include "serve/registry.h"

#define OF_AGENT "/tenant/{tenant_id}/agents/{agent_id}"
#define AN_ID "c0123456789abcdefghijklmn"

/* The published path with an id in each place. */
static const char *filled(struct arena *a, const char *path)
{
	const char *out = "";

	while (*path) {
		size_t n = strcspn(path, "{");

		out = arena_printf(a, "%s%.*s", out, (int)n, path);
		path += n;
		if (*path) {
			out = arena_printf(a, "%s" AN_ID, out);
			path = strchr(path, '}') + 1;
		}
	}
	return out;
}

static void expect(struct router *r, struct arena *a, const struct route *route, const char *path)
{
	struct route_match m;

	test_step("%s %s", method_name(route->method), path);
	router_find(r, a, route->method, path, strlen(path), &m);
	CHECK(m.route == route || m.versioned == route);
}

static void expect_none(struct router *r, struct arena *a, const char *path)
{
	struct route_match m;

	test_step("%s", path);
	router_find(r, a, METHOD_GET, path, strlen(path), &m);
	CHECK(m.route == NULL && m.allowed == 0);
}

TEST(router_finds_every_route_under_every_spelling)
{
	struct router *r = router_new(api_resources, api_resource_count);
	struct arena a = { 0 };

	for (size_t i = 0; i < router_route_count(r); i++) {
		const struct route *route = router_route(r, i);
		const char *path = filled(&a, route->path);
		const char *plural = strncmp(path, "/tenant/", 8) == 0
					     ? arena_printf(&a, "/tenants%s", path + 7)
					     : path;

		expect(r, &a, route, path);
		if (route->as_printed) {
			expect_none(r, &a, arena_printf(&a, "/v1%s", path));
			continue;
		}
		expect(r, &a, route, plural);
		expect(r, &a, route, arena_printf(&a, "/v1%s", path));
		expect(r, &a, route, arena_printf(&a, "/api/v1%s", plural));
		if (strncmp(route->path, OF_AGENT, strlen(OF_AGENT)) == 0)
			expect(r, &a, route, strstr(path, "/agents/"));
	}
	router_free(r);
	arena_free(&a);
}

/* Whatever begins like a path of OpenAI's service is told what is wrong as that one tells it. */
TEST(router_knows_whose_shape_an_error_has)
{
	static const struct {
		const char *path;
		enum dialect dialect;
	} rows[] = {
		{ "/v1", DIALECT_OPENAI },
		{ "/v1/", DIALECT_OPENAI },
		{ "/v1/embeddings", DIALECT_OPENAI },
		{ "/v1/files/file-abc/content", DIALECT_OPENAI },
		{ "/v1/assistants/asst_abc123", DIALECT_OPENAI },
		{ "/v1/threads/thread_abc123/runs/run_x/steps", DIALECT_OPENAI },
		{ "/v1/models/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s", DIALECT_OPENAI },
		{ "/v1/messages", DIALECT_ANTHROPIC },
		{ "/v1/messages/batches/msgbatch_x", DIALECT_ANTHROPIC },
		{ "/v1/tenants", DIALECT_OWN },
		{ "/v1/tenants/nope/agents", DIALECT_OWN },
		{ "/v1/agents/asst_abc123", DIALECT_OWN },
		{ "/v1/me/nope", DIALECT_OWN },
		{ "/v1/admin", DIALECT_OWN },
		{ "/api/v1/embeddings", DIALECT_OWN },
		{ "/embeddings", DIALECT_OWN },
		{ "/", DIALECT_OWN },
		{ "*", DIALECT_OWN },
		{ "", DIALECT_OWN },
	};
	struct router *r = router_new(api_resources, api_resource_count);
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s", rows[i].path);
		CHECK_INT(router_dialect(r, rows[i].path, strlen(rows[i].path)), rows[i].dialect);
	}
	for (size_t i = 0; i < router_route_count(r); i++) {
		const struct route *route = router_route(r, i);
		const char *path = filled(&a, route->path);

		test_step("%s", path);
		CHECK_INT(router_dialect(r, path, strlen(path)),
			route->openai || (route->unpublished && route->anthropic) ? DIALECT_OPENAI
			: route->anthropic ? DIALECT_ANTHROPIC
					   : DIALECT_OWN);
		path = arena_printf(&a, "/v1%s", path);
		if (!route->as_printed)
			CHECK_INT(router_dialect(r, path, strlen(path)), DIALECT_OWN);
	}
	router_free(r);
	arena_free(&a);
}

TEST(router_takes_nothing_else)
{
	static const char *const paths[] = { "/", "//", "/nope", "/tenant", "/tenant/",
		"/tenant/x/agents", "/tenant/" AN_ID "/agents/", "/tenant/" AN_ID "//agents",
		"/tenant/" AN_ID "x/agents", "/v1/v1/tenant/" AN_ID, "/api/tenant/" AN_ID,
		"/agents/" AN_ID "/", "/agents/..", "/AGENTS/" AN_ID, "/healthz/", "/v1/healthz",
		"/me/", "*", "", "/agents/" AN_ID "\n" };
	struct router *r = router_new(api_resources, api_resource_count);
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (strcmp(paths[i], "/tenant") != 0)
			expect_none(r, &a, paths[i]);
	router_free(r);
	arena_free(&a);
}

TEST(router_names_the_parameters_and_the_methods)
{
	struct router *r = router_new(api_resources, api_resource_count);
	struct arena a = { 0 };
	struct route_match m;
	const char *path = "/api/v1/tenants/" AN_ID "/agents/c1123456789abcdefghijklmn";

	router_find(r, &a, METHOD_PATCH, path, strlen(path), &m);
	CHECK_STR(route_param(&m, "tenant_id"), AN_ID);
	CHECK_STR(route_param(&m, "agent_id"), "c1123456789abcdefghijklmn");
	path = "/agents/c1123456789abcdefghijklmn";
	router_find(r, &a, METHOD_POST, path, strlen(path), &m);
	CHECK(m.route == NULL);
	CHECK_INT(m.allowed,
		1u << METHOD_GET | 1u << METHOD_HEAD | 1u << METHOD_PATCH | 1u << METHOD_DELETE);
	router_find(r, &a, METHOD_GET, path, strlen(path), &m);
	CHECK(route_param(&m, "tenant_id") == NULL);
	CHECK_STR(route_param(&m, "agent_id"), "c1123456789abcdefghijklmn");
	router_free(r);
	arena_free(&a);
}
