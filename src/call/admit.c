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

void call_decode(struct call *c)
{
	const struct http_request *r = &c->x->request;
	struct query_target targets[2];
	size_t count = 0;
	const char *type = http_header(r, "content-type");
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
	if (c->op->body) {
		if (r->body_len && (!type || !is_json(type))) {
			problem_set(&c->refusal, c->arena, ERR_MEDIA_TYPE,
				"Send the body as Content-Type: application/json.");
			return;
		}
		c->body = object = arena_alloc(c->arena, c->op->body->size);
		decode_body(c->app->patterns, c->arena, c->op->body, UNKNOWN_REFUSED, r->body,
			r->body_len, object, &c->refusal);
	} else if (r->body_len) {
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

int call_permit(struct call *c)
{
	struct place place = {
		.tenant_id = call_param(c, "tenant_id"),
		.agent_id = call_param(c, "agent_id"),
		.session_id = call_param(c, "session_id"),
		.finds_agent = c->route->finds_agent,
	};
	bool loopback = is_loopback(c);
	int err;

	c->caller = (struct caller){ .role = -1 };
	if (permission_scope(c->route->permission) == SCOPE_OPEN ||
		(c->route->permission == PERM_METRICS && loopback))
		return 0;
	if (c->credential.bad)
		return call_fail(
			c, ERR_UNAUTHENTICATED, "That is not a credential of this service.");
	err = caller_load(&c->caller, c->db, c->arena, &c->credential, c->now,
		c->app->settings.session_idle_us, &c->problem);
	if (!err)
		err = check_origin(c);
	if (!err)
		err = caller_permit(&c->caller, c->db, c->arena, c->route->permission, &place,
			loopback, &c->problem);
	return err;
}
