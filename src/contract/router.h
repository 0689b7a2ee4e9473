/* router.h - from a method and a path to the row that answers it.
 *
 * Every route answers under three roots (none, /v1, /api/v1), `tenants` is
 * the same word as `tenant`, and what lies under a tenant's agent or session
 * also answers without its tenant: the router inserts each spelling, so that
 * a lookup is one walk.  A literal wins over a parameter; a parameter whose
 * name ends in `id` takes only ids. */
#pragma once
#include "base/arena.h"
#include "contract/route.h"

struct router;

enum { ROUTE_PARAMS_MAX = 6 };

struct route_match {
	const struct route *route; /* NULL: no such path, or not with this method */
	size_t index;		   /* of the route, counted over all resources */
	/* The row of the same path for who sends ANTHROPIC_HEADER, or NULL; and its index. */
	const struct route *versioned;
	size_t versioned_index;
	unsigned allowed; /* bits of the methods the path takes; 0: no such path */
	size_t count;
	struct {
		const char *name, *value;
	} params[ROUTE_PARAMS_MAX];
};

struct router *router_new(const struct resource *const *resources, size_t count);
void router_free(struct router *r);
size_t router_route_count(const struct router *r);
const struct route *router_route(const struct router *r, size_t index);

/* The path is as sent, percent-encoded.  Values live in the arena. */
void router_find(const struct router *r, struct arena *a, enum method method, const char *path,
	size_t len, struct route_match *ret);
const char *route_param(const struct route_match *m, const char *name);
/* In whose shape what is wrong at a path is told, be there a route or not: the last word from its
 * beginning that leads to a route decides.  /v1 itself is OpenAI's, /v1/messages Anthropic's, /v1/tenants ours. */
enum dialect { DIALECT_OWN, DIALECT_OPENAI, DIALECT_ANTHROPIC };
enum dialect router_dialect(const struct router *r, const char *path, size_t len);
/* The GET row of what a route changes, or NULL: that of the same path; of a POST that does something with an object,
 * …/{id}/send, that of the object. */
const struct route *router_sibling_get(const struct router *r, const struct route *route);
/* How much of the path of such a POST names the object; 0 of every other route. */
size_t route_object_len(const struct route *r);
