/* admit.c - what happens to a request before its operation runs: where it comes from, what it says, who
 * says it, and whether they may. */
#include <string.h>
#include <strings.h>

#include "call/steps.h"

FIELDS(page_query) = {
	FIELD(page_query, page, .preset = "1", BOUNDS(1, 1000000), .doc = "Which page, from 1."),
	FIELD(page_query, per_page, .preset = "50", BOUNDS(1, 200), .doc = "Rows on a page."),
	FIELD(page_query, after, .nullable = true, .id = true,
		.doc = "Continue behind this id instead of counting pages; deep pages stay cheap."),
	FIELD(page_query, sort, .nullable = true, BOUNDS(1, 64),
		.doc = "A field to sort by, with - before it for descending."),
	FIELD(page_query, total, .nullable = true, .preset = "true",
		.doc = "False leaves the count out."),
};
SCHEMA(page_query, .doc = "What every list takes.");

/* What all lines of X-Forwarded-For say together, or NULL if there is none. */
static const char *forwarded_for(const struct call *c)
{
	const struct http_request *r = &c->x->request;
	const char *all = NULL;

	for (size_t i = 0; i < r->header_count; i++)
		if (strcmp(r->headers[i].name, "x-forwarded-for") == 0)
			all = arena_printf(c->arena, "%s%s%s", all ? all : "", all ? "," : "",
				r->headers[i].value);
	return all;
}

const char *call_address(const struct call *c)
{
	const struct app_settings *s = &c->app->settings;
	const char *forwarded = forwarded_for(c), *address = c->x->request.peer.text, *end;

	if (!forwarded || !s->trusts)
		return address;
	end = forwarded + strlen(forwarded);
	while (end > forwarded && s->trusts(s->trusts_ctx, address)) {
		const char *start = end;
		size_t len;

		while (start > forwarded && start[-1] != ',')
			start--;
		len = (size_t)(end - start);
		while (len && (*start == ' ' || *start == '\t'))
			start++, len--;
		while (len && (start[len - 1] == ' ' || start[len - 1] == '\t'))
			len--;
		address = arena_strndup(c->arena, start, len);
		end -= len;
		while (end > forwarded && end[-1] != ',')
			end--;
		end = end > forwarded ? end - 1 : forwarded;
	}
	return address;
}

/* Straight from this machine, and not through a proxy on it. */
static bool is_loopback(const struct call *c)
{
	const struct http_request *r = &c->x->request;

	return r->peer.loopback && !http_header_count(r, "x-forwarded-for") &&
	       !http_header_count(r, "forwarded");
}

static bool is_json(const char *type)
{
	size_t len = strcspn(type, "; \t");

	return (len == 16 && strncasecmp(type, "application/json", len) == 0) ||
	       (len > 5 && strncasecmp(type + len - 5, "+json", 5) == 0);
}

/* A body that is not JSON stays as it came; its type must be one of those the operation takes. */
static void take_raw(struct call *c, const char *type)
{
	const struct http_request *r = &c->x->request;
	const char *named = c->op->takes[0];

	for (const char *const *t = c->op->takes; *t; t++) {
		bool any = strcmp(*t, "*/*") == 0;

		if (any || (type && strcspn(type, "; \t") == strlen(*t) &&
				   strncasecmp(type, *t, strlen(*t)) == 0)) {
			c->raw = r->body;
			c->raw_len = r->body_len;
			c->raw_type = *t;
			return;
		}
		if (t != c->op->takes)
			named = arena_printf(c->arena, "%s, %s", named, *t);
	}
	problem_set(
		&c->refusal, c->arena, ERR_MEDIA_TYPE, "Send the body as Content-Type: %s.", named);
}

void call_decode(struct call *c)
{
	const struct http_request *r = &c->x->request;
	struct query_target targets[2];
	size_t count = 0;
	const char *type = http_header(r, "content-type");
	bool none = (c->op->body_optional || c->route->openai) && !r->body_len;
	void *object;

	if (c->op->query) {
		c->query = object = arena_alloc(c->arena, c->op->query->size);
		targets[count++] = (struct query_target){ c->op->query, object };
	}
	if (c->op->list)
		targets[count++] = (struct query_target){ &page_query_schema, &c->page };
	if (decode_query(c->app->patterns, c->arena, targets, count,
		    c->op->open_query ? UNKNOWN_IGNORED : UNKNOWN_REFUSED, r->query, r->query_len,
		    &c->refusal))
		return;
	if (c->op->takes) {
		take_raw(c, type);
	} else if (c->op->body) {
		if (r->body_len && (!type || !is_json(type))) {
			problem_set(&c->refusal, c->arena, ERR_MEDIA_TYPE,
				"Send the body as Content-Type: application/json.");
			return;
		}
		c->body = object = arena_alloc(c->arena, c->op->body->size);
		/* OpenAI's own service overlooks what it does not know. */
		decode_body(c->app->patterns, c->arena, c->op->body,
			c->route->openai ? UNKNOWN_IGNORED : UNKNOWN_REFUSED, none ? "{}" : r->body,
			none ? 2 : r->body_len, object, &c->refusal);
	} else if (r->body_len && !c->route->openai) {
		problem_set(&c->refusal, c->arena, ERR_MALFORMED, "This operation takes no body.");
	}
}

/* A browser sends our cookie along with requests that other pages cause; those are not ours. */
static int check_origin(struct call *c)
{
	const char *origin = http_header(&c->x->request, "origin");

	if (!c->credential.cookie || !route_changes(c->route))
		return 0;
	if (origin && strcmp(origin, c->app->settings.public_url) == 0)
		return 0;
	return call_fail(c, ERR_BAD_ORIGIN, "A change by cookie must come from %s.",
		c->app->settings.public_url);
}

/* The agent that the body names.  Without one the caller is asked for what it takes to see the place
 * at all, and is then told what is wrong with the body. */
static int permission_by_body(struct call *c, struct place *place)
{
	const struct field *f;

	if (c->refusal.err)
		return place->tenant_id ? PERM_TENANT_READ : PERM_LOGIN;
	f = schema_field(c->op->body, "agent_id", strlen("agent_id"));
	place->agent_id = *(const char *const *)((const char *)c->body + f->at);
	return c->route->permission;
}

int call_permit(struct call *c)
{
	int permission = c->route->permission;
	struct place place = {
		.tenant_id = call_param(c, "tenant_id"),
		.agent_id = call_param(c, c->route->agent ? c->route->agent : "agent_id"),
		.session_id = call_param(c, "session_id"),
		.finds_agent = c->route->finds_agent,
	};
	bool loopback = is_loopback(c);
	int err;

	c->caller = (struct caller){ .role = -1 };
	if (c->route->agent_in_body)
		permission = permission_by_body(c, &place);
	if (permission_scope(permission) == SCOPE_OPEN || (permission == PERM_METRICS && loopback))
		return 0;
	if (c->credential.bad)
		return call_fail(
			c, ERR_UNAUTHENTICATED, "That is not a credential of this service.");
	err = caller_load(&c->caller, c->db, c->arena, &c->credential, c->now,
		c->app->settings.session_idle_us, &c->problem);
	if (!err)
		err = check_origin(c);
	if (!err)
		err = caller_permit(
			&c->caller, c->db, c->arena, permission, &place, loopback, &c->problem);
	if (!err && c->route->also)
		err = caller_also(&c->caller, c->arena, c->route->also, &c->problem);
	return err;
}
