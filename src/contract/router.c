/* router.c - a tree of path segments; see router.h. */
#include "contract/router.h"

#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "contract/decode.h"

enum { SEGMENTS_MAX = 16 };

struct node {
	struct node *next; /* its sibling */
	const char *word;  /* not terminated */
	size_t len;
	struct node *words, *id, *any; /* children: literals, an id, anything */
	const struct route *routes[METHOD_COUNT];
	size_t index[METHOD_COUNT];
	const struct route *versioned; /* a GET for Anthropic's clients beside one of OpenAI's */
	size_t versioned_index;
	bool openai,
		anthropic; /* a word on the way to a route that answers as their service does */
};

struct router {
	struct arena arena;
	struct node root;
	const struct route **routes;
	size_t count;
};

struct segment {
	const char *at;
	size_t len;
};

/* Splits at slashes: SEGMENTS_MAX + 1 if there are more parts than have room, -1 if the path does not begin
 * with a slash. */
static int split_some(const char *path, size_t len, struct segment out[SEGMENTS_MAX])
{
	int count = 0;

	if (!len || *path != '/')
		return -1;
	for (size_t at = 1; at <= len;) {
		const char *slash = memchr(path + at, '/', len - at);
		size_t end = slash ? (size_t)(slash - path) : len;

		if (count == SEGMENTS_MAX)
			return SEGMENTS_MAX + 1;
		out[count++] = (struct segment){ path + at, end - at };
		at = end + 1;
	}
	return count;
}

/* The same for a path that may be one of ours: else -1. */
static int split_path(const char *path, size_t len, struct segment out[SEGMENTS_MAX])
{
	int count = split_some(path, len, out);

	return count > SEGMENTS_MAX ? -1 : count;
}

static bool segment_is(struct segment s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

static struct segment singular_segment(struct segment s)
{
	return segment_is(s, "tenants") ? (struct segment){ s.at, s.len - 1 } : s;
}

static bool takes_id(struct segment s)
{
	return s.len >= 4 && memcmp(s.at + s.len - 3, "id}", 3) == 0;
}

static struct node *node_child(struct router *r, struct node *parent, struct segment s)
{
	struct node **at =
		s.len && *s.at == '{' ? (takes_id(s) ? &parent->id : &parent->any) : NULL;

	if (!at) {
		s = singular_segment(s);
		for (at = &parent->words; *at; at = &(*at)->next)
			if ((*at)->len == s.len && memcmp((*at)->word, s.at, s.len) == 0)
				return *at;
	}
	if (!*at) {
		*at = arena_new(&r->arena, struct node);
		(*at)->word = s.at;
		(*at)->len = s.len;
	}
	return *at;
}

static void insert_route(
	struct router *r, const char *root, const struct segment *s, int count, size_t index)
{
	struct segment roots[SEGMENTS_MAX];
	const struct route *route = r->routes[index];
	struct node *n = &r->root;

	if (*root)
		for (int i = 0, roots_count = split_path(root, strlen(root), roots);
			i < roots_count; i++)
			n = node_child(r, n, roots[i]);
	for (int i = 0; i < count; i++) {
		n = node_child(r, n, s[i]);
		n->openai |= route->openai;
		n->anthropic |= route->anthropic;
	}
	if (route->anthropic && route->unpublished) {
		n->versioned = route;
		n->versioned_index = index;
		return;
	}
	n->routes[route->method] = route;
	n->index[route->method] = index;
	if (route->method == METHOD_GET && !route->writes && !n->routes[METHOD_HEAD]) {
		n->routes[METHOD_HEAD] = route;
		n->index[METHOD_HEAD] = index;
	}
}

static void insert_all(struct router *r, size_t index)
{
	static const char *const roots[] = { "", "/v1", "/api/v1" };
	const struct route *route = r->routes[index];
	struct segment s[SEGMENTS_MAX];
	int count = split_path(route->path, strlen(route->path), s);
	bool shortens = count >= 4 && segment_is(s[0], "tenant") &&
			segment_is(s[1], "{tenant_id}") &&
			((segment_is(s[2], "agents") && segment_is(s[3], "{agent_id}")) ||
				(segment_is(s[2], "sessions") && segment_is(s[3], "{session_id}")));

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		insert_route(r, roots[i], s, count, index);
		if (route->as_printed)
			return;
		if (shortens)
			insert_route(r, roots[i], s + 2, count - 2, index);
	}
}

struct router *router_new(const struct resource *const *resources, size_t count)
{
	struct router *r = calloc(1, sizeof *r);
	size_t total = 0;

	if (!r)
		abort();
	for (size_t i = 0; i < count; i++)
		total += resources[i]->route_count;
	r->routes = arena_array(&r->arena, const struct route *, total + 1);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < resources[i]->route_count; j++) {
			r->routes[r->count] = &resources[i]->routes[j];
			insert_all(r, r->count++);
		}
	return r;
}

void router_free(struct router *r)
{
	if (!r)
		return;
	arena_free(&r->arena);
	free(r);
}

size_t router_route_count(const struct router *r)
{
	return r->count;
}

const struct route *router_route(const struct router *r, size_t index)
{
	return r->routes[index];
}

struct route_walk {
	const struct segment *segments;
	int count;
	int params[ROUTE_PARAMS_MAX]; /* which segments were taken by parameters */
	int taken;
};

static const struct node *word_below(const struct node *n, struct segment s)
{
	s = singular_segment(s);
	for (const struct node *c = n->words; c; c = c->next)
		if (c->len == s.len && memcmp(c->word, s.at, s.len) == 0)
			return c;
	return NULL;
}

static const struct node *walk_segments(struct route_walk *w, const struct node *n, int at)
{ /* NOLINT(misc-no-recursion): at most SEGMENTS_MAX deep */
	const struct node *found;
	struct segment s;
	bool id;

	if (at == w->count) {
		for (int m = 0; m < METHOD_COUNT; m++)
			if (n->routes[m])
				return n;
		return NULL;
	}
	s = w->segments[at];
	found = word_below(n, s);
	if (found)
		found = walk_segments(w, found, at + 1);
	if (found)
		return found;
	id = id_valid(s.at, s.len);
	if (!s.len || w->taken == ROUTE_PARAMS_MAX)
		return NULL;
	w->params[w->taken++] = at;
	found = n->id && id ? walk_segments(w, n->id, at + 1) : NULL;
	if (!found && n->any)
		found = walk_segments(w, n->any, at + 1);
	if (!found)
		w->taken--;
	return found;
}

/* The names are those of the route's own path, counted from its end: an alias only drops from the front. */
static bool name_params(struct route_match *m, struct arena *a, const struct route_walk *w)
{
	struct segment names[SEGMENTS_MAX];
	int count = split_path(m->route->path, strlen(m->route->path), names);

	for (int i = 0; i < w->taken; i++) {
		struct segment value = w->segments[w->params[i]];
		struct segment name = names[count - w->count + w->params[i]];
		char *text = percent_decode(a, value.at, value.len, false);

		if (!text)
			return false;
		m->params[i].name = arena_strndup(a, name.at + 1, name.len - 2);
		m->params[i].value = text;
	}
	m->count = (size_t)w->taken;
	return true;
}

void router_find(const struct router *r, struct arena *a, enum method method, const char *path,
	size_t len, struct route_match *ret)
{
	struct segment segments[SEGMENTS_MAX];
	struct route_walk w = { .segments = segments, .count = split_path(path, len, segments) };
	const struct node *n = w.count < 0 ? NULL : walk_segments(&w, &r->root, 0);

	*ret = (struct route_match){ 0 };
	if (!n)
		return;
	for (int m = 0; m < METHOD_COUNT; m++)
		if (n->routes[m])
			ret->allowed |= 1u << m;
	if (method >= METHOD_COUNT || !n->routes[method])
		return;
	ret->route = n->routes[method];
	ret->index = n->index[method];
	if (n->versioned && method == n->versioned->method) {
		ret->versioned = n->versioned;
		ret->versioned_index = n->versioned_index;
	}
	if (!name_params(ret, a, &w))
		*ret = (struct route_match){ 0 };
}

enum dialect router_dialect(const struct router *r, const char *path, size_t len)
{
	struct segment s[SEGMENTS_MAX];
	const struct node *n = &r->root;

	/* Whoever asks for more parts than any path has begins like somebody else all the same. */
	for (int i = 0, count = split_some(path, len, s); i < count && i < SEGMENTS_MAX; i++) {
		const struct node *next = word_below(n, s[i]);

		if (!next)
			break;
		n = next;
	}
	return n->openai ? DIALECT_OPENAI : n->anthropic ? DIALECT_ANTHROPIC : DIALECT_OWN;
}

bool route_tags(const struct route *r)
{
	const struct operation *op = r->op;
	bool events = op->gives && strcmp(op->gives, "text/event-stream") == 0;

	return (r->method == METHOD_GET || r->method == METHOD_PUT || r->method == METHOD_PATCH) &&
	       !r->writes && !op->list && !op->storeless && !op->untagged &&
	       (op->reply || (op->gives && !events));
}

const char *route_param(const struct route_match *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (strcmp(m->params[i].name, name) == 0)
			return m->params[i].value;
	return NULL;
}

size_t route_object_len(const struct route *r)
{
	const char *last = strrchr(r->path, '/');

	return r->method == METHOD_POST && last && last > r->path && last[-1] == '}' &&
			       last[1] != '{'
		       ? (size_t)(last - r->path)
		       : 0;
}

static const struct route *find_get(const struct router *r, const char *path, size_t len)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->routes[i]->method == METHOD_GET && strlen(r->routes[i]->path) == len &&
			memcmp(r->routes[i]->path, path, len) == 0)
			return r->routes[i];
	return NULL;
}

const struct route *router_sibling_get(const struct router *r, const struct route *route)
{
	const struct route *same = find_get(r, route->path, strlen(route->path));
	size_t object = route_object_len(route);

	return same || !object ? same : find_get(r, route->path, object);
}
