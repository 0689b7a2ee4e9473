/* lint.c - the rules on routes and operations, and the way through all rules; see lint.h. */
#include "contract/lint.h"

#include <string.h>

#include "base/error.h"
#include "contract/lint_schema.h"
#include "contract/router.h"

enum { SEGMENTS_MAX = 16 };

/* How a person finds the row. */
static const char *route_name(struct lint *l, const struct route *r)
{
	return arena_printf(
		l->arena, "%s %s", method_name(r->method), r->path ? r->path : "(no path)");
}

static bool route_text_empty(const char *text)
{
	return !text || !*text;
}

static bool has_permission(struct lint *l, const struct route *r)
{
	if (!r->permission)
		return lint_bad(l, "Route %s has no permission.", route_name(l, r));
	if (route_text_empty(l->permission_name(r->permission)))
		return lint_bad(l, "Route %s needs permission %d, which has no name.",
			route_name(l, r), r->permission);
	if (r->also && route_text_empty(l->permission_name(r->also)))
		return lint_bad(l, "Route %s also needs permission %d, which has no name.",
			route_name(l, r), r->also);
	return true;
}

static bool has_words(struct lint *l, const struct route *r)
{
	if (route_text_empty(r->doc))
		return lint_bad(l, "Route %s has no doc.", route_name(l, r));
	if (route_text_empty(r->tag))
		return lint_bad(l, "Route %s has no tag.", route_name(l, r));
	return true;
}

static bool has_tag_row(const struct lint *l, const char *name, bool *any)
{
	for (size_t i = 0; i < l->count; i++)
		for (const struct tag *t = l->resources[i]->tags; t && t->name; t++) {
			*any = true;
			if (strcmp(t->name, name) == 0)
				return true;
		}
	return false;
}

/* Where tags are told of at all, each is. */
static bool has_tag(struct lint *l, const struct route *r)
{
	bool any = false;

	if (has_tag_row(l, r->tag, &any) || !any || r->unpublished)
		return true;
	return lint_bad(l, "Nothing is said of the tag %s.", r->tag);
}

static bool tag_is_used(const struct lint *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		for (size_t j = 0; j < l->resources[i]->route_count; j++)
			if (strcmp(l->resources[i]->routes[j].tag, name) == 0)
				return true;
	return false;
}

static bool tags_are_used(struct lint *l)
{
	for (size_t i = 0; i < l->count; i++)
		for (const struct tag *t = l->resources[i]->tags; t && t->name; t++)
			if (!tag_is_used(l, t->name))
				return lint_bad(l, "No route has the tag %s.", t->name);
	return true;
}

static bool has_operation(struct lint *l, const struct route *r)
{
	if (!r->op || route_text_empty(r->op->id))
		return lint_bad(l, "Route %s has no operation with an id.", route_name(l, r));
	if (!r->op->apply)
		return lint_bad(l, "Operation %s has no apply.", r->op->id);
	if (r->op->stale_ok &&
		(r->method != METHOD_GET || r->writes || r->op->look || r->op->prepare))
		return lint_bad(l, "Operation %s may be stale and does more than read.", r->op->id);
	if (r->op->reserve && (!r->op->prepare || !r->op->release))
		return lint_bad(
			l, "Operation %s reserves what it cannot spend or release.", r->op->id);
	return true;
}

static bool answers_fit(struct lint *l, const struct route *r)
{
	if (r->method >= METHOD_COUNT)
		return lint_bad(l, "Route %s has no method.", route_name(l, r));
	if (r->status < 200 || r->status > 399)
		return lint_bad(
			l, "Route %s succeeds with status %d.", route_name(l, r), r->status);
	if (r->status == 204 && r->op->reply)
		return lint_bad(l, "Route %s answers 204 but names a reply.", route_name(l, r));
	if (r->op->list && !r->op->reply)
		return lint_bad(l, "Route %s is a list of nothing.", route_name(l, r));
	if (r->op->exports && !r->op->list)
		return lint_bad(l, "Route %s exports but is no list.", route_name(l, r));
	if (r->op->sorts && !r->op->list)
		return lint_bad(l, "Route %s has sorts but is no list.", route_name(l, r));
	if (r->op->sorts && (!r->op->sorts->list || !r->op->sorts->list[0]))
		return lint_bad(l, "Route %s has sorts without entries.", route_name(l, r));
	return true;
}

static bool names_an_agent(const struct schema *body)
{
	const struct field *f = schema_field(body, "agent_id", strlen("agent_id"));

	return f && f->kind == TEXT && f->id && f->required;
}

static bool body_fits(struct lint *l, const struct route *r)
{
	if ((r->method == METHOD_GET || r->method == METHOD_HEAD) && (r->op->body || r->op->takes))
		return lint_bad(l, "Route %s takes a body.", route_name(l, r));
	if (r->agent_in_body && (!r->op->body || !names_an_agent(r->op->body)))
		return lint_bad(l, "Route %s has no agent_id in its body.", route_name(l, r));
	if (r->op->intake && !r->op->takes)
		return lint_bad(l, "Route %s takes in a body of no type.", route_name(l, r));
	if (r->op->takes && (r->op->body || !r->op->takes[0]))
		return lint_bad(
			l, "Route %s takes both kinds of bodies, or none.", route_name(l, r));
	return true;
}

static bool is_audited(struct lint *l, const struct route *r)
{
	if (r->writes && r->method != METHOD_GET)
		return lint_bad(
			l, "Route %s says that it writes, and is no GET.", route_name(l, r));
	if (!route_changes(r) && r->audit)
		return lint_bad(l, "Route %s reads but names the audit verb %s.", route_name(l, r),
			r->audit);
	if (route_changes(r) && route_text_empty(r->audit) && route_text_empty(r->unaudited))
		return lint_bad(
			l, "Route %s changes something but names no audit verb.", route_name(l, r));
	if (!route_text_empty(r->audit) && r->unaudited)
		return lint_bad(l, "Route %s is both audited and unaudited.", route_name(l, r));
	return true;
}

/* One segment: a word, or a whole {name}. */
static bool segment_is_sound(const char *s, size_t len)
{
	const char *open = memchr(s, '{', len), *close = memchr(s, '}', len);

	if (!len)
		return false;
	if (!open && !close)
		return true;
	return open == s && close == s + len - 1 && len > 2;
}

static bool path_is_sound(struct lint *l, const struct route *r)
{
	size_t segments = 0, params = 0;

	if (route_text_empty(r->path) || *r->path != '/')
		return lint_bad(l, "Route %s does not begin with a slash.", route_name(l, r));
	for (const char *p = r->path; *p; p += strcspn(p, "/")) {
		size_t len = strcspn(++p, "/");

		if (!segment_is_sound(p, len))
			return lint_bad(l,
				"Route %s has a parameter that is not closed, or an empty part.",
				route_name(l, r));
		for (const char *q = r->path; *p == '{' && q < p; q++)
			if (strncmp(q, p, len) == 0)
				return lint_bad(l, "Route %s has the parameter %.*s twice.",
					route_name(l, r), (int)len, p);
		segments++;
		params += *p == '{';
	}
	if (r->agent && !strstr(r->path, arena_printf(l->arena, "/{%s}", r->agent)))
		return lint_bad(l, "Route %s has no parameter %s to name its agent.",
			route_name(l, r), r->agent);
	if (params > ROUTE_PARAMS_MAX || segments > SEGMENTS_MAX - 2)
		return lint_bad(l, "Route %s has too many parts.", route_name(l, r));
	return true;
}

static bool (*const route_rules[])(struct lint *, const struct route *) = {
	path_is_sound,
	has_words,
	has_tag,
	has_permission,
	has_operation,
	answers_fit,
	body_fits,
	is_audited,
};

/* What is left of the path after a prefix that ends at a slash or at its end, or NULL. */
static const char *path_behind(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 && (!path[n] || path[n] == '/') ? path + n : NULL;
}

/* Without its root, and without the tenant where the path also answers without it. */
static const char *shortest_path(const char *path)
{
	static const char *const roots[] = { "/api/v1", "/v1" };
	static const char *const owned[] = { "/tenant/{tenant_id}/agents/{agent_id}",
		"/tenant/{tenant_id}/sessions/{session_id}" };

	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
		if (path_behind(path, roots[i]) && *path_behind(path, roots[i]))
			path = path_behind(path, roots[i]);
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		if (path_behind(path, owned[i]))
			return path + strlen("/tenant/{tenant_id}");
	return path;
}

/* The path with its parameters reduced to what the router tells apart, and its spellings to one. */
static const char *shape_of_path(struct lint *l, const char *path)
{
	char *shape = arena_alloc(l->arena, strlen(path) * 2 + 1), *out = shape;

	for (const char *p = path; *p; p += strcspn(p, "/")) {
		size_t len = strcspn(++p, "/");

		*out++ = '/';
		if (*p == '{')
			out = stpcpy(out, strncmp(p + len - 3, "id}", 3) == 0 ? "{id}" : "{}");
		else if (len == 7 && strncmp(p, "tenants", 7) == 0)
			out = stpcpy(out, "tenant");
		else
			out = mempcpy(out, p, len);
	}
	return shape;
}

struct placed {
	const struct route *route;
	const char *printed, *shortest; /* its shape, as printed and in its shortest spelling */
};

/* A row that only the header of Anthropic's clients leads to stands beside the one of the document. */
static bool is_versioned(const struct route *r)
{
	return r->anthropic && r->unpublished;
}

static bool pair_is_apart(struct lint *l, const struct placed *a, const struct placed *b)
{
	const struct route *r = a->route, *s = b->route;
	bool same = r->as_printed && s->as_printed ? strcmp(a->printed, b->printed) == 0
						   : strcmp(a->shortest, b->shortest) == 0;

	if (strcmp(r->op->id, s->op->id) == 0)
		return lint_bad(l, "The operation id %s stands at %s and at %s.", r->op->id,
			route_name(l, r), route_name(l, s));
	if (r->method == s->method && same &&
		!((r->openai && is_versioned(s)) || (s->openai && is_versioned(r))))
		return lint_bad(
			l, "The paths of %s and %s collide.", route_name(l, r), route_name(l, s));
	return true;
}

/* Whoever changes a part of something can read it, and so compare its ETag. */
static bool patched_are_read(struct lint *l, const struct placed *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		if (all[i].route->method != METHOD_PATCH)
			continue;
		while (k < n && (all[k].route->method != METHOD_GET ||
					strcmp(all[k].printed, all[i].printed) != 0))
			k++;
		if (k == n)
			return lint_bad(l, "What %s changes cannot be read at its path.",
				route_name(l, all[i].route));
	}
	return true;
}

static bool lint_routes(struct lint *l)
{
	struct placed *all;
	size_t total = 0, n = 0;

	for (size_t i = 0; i < l->count; i++)
		total += l->resources[i]->route_count;
	all = arena_array(l->arena, struct placed, total + 1);
	for (size_t i = 0; i < l->count; i++) {
		for (size_t j = 0; j < l->resources[i]->route_count; j++) {
			const struct route *r = &l->resources[i]->routes[j];

			for (size_t k = 0; k < sizeof route_rules / sizeof *route_rules; k++)
				if (!route_rules[k](l, r))
					return false;
			all[n] = (struct placed){ r, shape_of_path(l, r->path),
				shape_of_path(l, shortest_path(r->path)) };
			for (size_t k = 0; k < n; k++)
				if (!pair_is_apart(l, &all[k], &all[n]))
					return false;
			n++;
		}
	}
	return patched_are_read(l, all, n);
}

int contract_lint(const struct resource *const *resources, size_t count,
	const char *(*permission_name)(int permission), struct arena *a, const char **ret_sentence)
{
	struct lint l = { .arena = a,
		.resources = resources,
		.count = count,
		.permission_name = permission_name };

	types_collect(&l.types, a, resources, count);
	if (lint_routes(&l) && tags_are_used(&l) && lint_events(&l) && lint_schemas(&l))
		return 0;
	*ret_sentence = l.sentence;
	return ERR_INTERNAL;
}
