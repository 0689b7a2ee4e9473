/* fuzz_route.c - paths into the router and query strings into structs.  A first byte chooses the method;
 * a question mark divides path and query.  What matches must match its own route again when its
 * parameters are put into the published path. */
#include "setup.h"

#include "serve/registry.h"
#include "base/id.h"

static void check_match(struct arena *a, enum method method, const struct route_match *m)
{
	struct route_match again;
	const char *path = m->route->path, *built = "";

	while (*path) {
		size_t n = strcspn(path, "{");

		built = arena_printf(a, "%s%.*s", built, (int)n, path);
		path += n;
		if (*path) {
			const char *name = arena_strndup(a, path + 1, strcspn(path, "}") - 1);
			const char *value = route_param(m, name);

			/* A path without its tenant leaves that parameter open. */
			if (value && strstr(name, "id") && !id_valid(value, strlen(value)))
				abort();
			built = arena_printf(
				a, "%s%s", built, value ? value : "c0123456789abcdefghijklmn");
			path = strchr(path, '}') + 1;
		}
	}
	router_find(service.app.router, a, method, built, strlen(built), &again);
	if (again.route != m->route)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct page_query page;
	struct problem p = { 0 };
	struct route_match m;
	const char *text = (const char *)data + 1, *mark;
	size_t path_len;

	if (size < 1)
		return 0;
	mark = memchr(text, '?', size - 1);
	path_len = mark ? (size_t)(mark - text) : size - 1;
	router_find(service.app.router, &a, (enum method)(data[0] % (METHOD_OTHER + 1)), text,
		path_len, &m);
	if (m.route)
		check_match(&a, (enum method)(data[0] % (METHOD_OTHER + 1)), &m);
	if (mark) {
		struct query_target targets[2] = { { &page_query_schema, &page } };
		size_t count = 1;

		if (m.route && m.route->op->query)
			targets[count++] = (struct query_target){ m.route->op->query,
				arena_alloc(&a, m.route->op->query->size) };
		decode_query(service.app.patterns, &a, targets, count, UNKNOWN_REFUSED, mark + 1,
			size - 2 - path_len, &p);
	}
	arena_free(&a);
	return 0;
}
