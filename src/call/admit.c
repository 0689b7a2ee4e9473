/* admit.c - what happens to a request before its operation runs: where it comes from, what it says, who
 * says it, and whether they may. */
#include <string.h>
#include <strings.h>

#include "access/scrapers.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8_cut.h"
#include "call/forwarded.h"
#include "call/steps.h"

enum { USER_AGENT_MAX = 512 }; /* bytes */

FIELDS(page_query) = {
	FIELD(page_query, page, .preset = "1", BOUNDS(1, 1000000), .doc = "Which page, from 1."),
	FIELD(page_query, per_page, .preset = "50", BOUNDS(1, 200), .doc = "Rows on a page."),
	FIELD(page_query, after, .nullable = true, .id = true,
		.doc = "Continue after this id instead of counting pages; deep pages stay cheap."),
	FIELD(page_query, sort, .nullable = true, BOUNDS(1, 64),
		.doc = "A field to sort by, with - before it for descending."),
	FIELD(page_query, total, .nullable = true, .preset = "true",
		.doc = "False leaves the count out."),
};
SCHEMA(page_query, .doc = "What every list takes.");

const char *call_address(const struct call *c)
{
	char *text = arena_raw(c->arena, INET6_ADDRSTRLEN, 1);

	forwarded_address(&c->x->request, &c->app->settings, text);
	return text;
}

const char *call_user_agent(const struct call *c)
{
	const char *text = http_header(&c->x->request, "user-agent");
	size_t len = text ? strlen(text) : 0;

	if (len <= USER_AGENT_MAX)
		return text;
	return arena_strndup(c->arena, text, utf8_cut(text, len, USER_AGENT_MAX));
}

/* Straight from this machine, and not through a proxy on it. */
static bool is_loopback(const struct call *c)
{
	const struct http_request *r = &c->x->request;

	return r->peer.loopback && !http_header_count(r, "x-forwarded-for") &&
	       !http_header_count(r, "forwarded");
}

/* JSON is UTF-8: who says that it is written otherwise is not read otherwise. */
static bool is_utf8_type(const char *type)
{
	const char *charset = strcasestr(type, "charset=");

	if (!charset)
		return true;
	charset += strlen("charset=");
	charset += *charset == '"';
	return strncasecmp(charset, "utf-8", 5) == 0 && strchr("\"; \t", charset[5]);
}

static bool is_json_type(const char *type)
{
	size_t len = strcspn(type, "; \t");

	if (!is_utf8_type(type))
		return false;
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

/* Where nothing is asked for, {} says nothing: clients that always send a body may. */
static bool is_empty_object(const struct call *c)
{
	const struct http_request *r = &c->x->request;
	const char *key;
	struct json_reader j;
	size_t len;

	json_open(&j, c->arena, r->body, r->body_len);
	return json_enter_object(&j) && !json_next_key(&j, &key, &len) && json_end(&j);
}

bool call_decode_query(struct call *c)
{
	const struct http_request *r = &c->x->request;
	struct query_target targets[2];
	size_t count = 0;
	void *object;

	if (c->op->query) {
		c->query = object = arena_alloc(c->arena, c->op->query->size);
		targets[count++] = (struct query_target){ c->op->query, object };
	}
	if (c->op->list)
		targets[count++] = (struct query_target){ &page_query_schema, &c->page };
	return decode_query(c->app->patterns, c->arena, targets, count,
		       c->op->open_query ? UNKNOWN_IGNORED : UNKNOWN_REFUSED, r->query,
		       r->query_len, &c->refusal) == 0;
}

void call_decode(struct call *c)
{
	const struct http_request *r = &c->x->request;
	const char *type = http_header(r, "content-type");
	bool none = (c->op->body_optional || route_foreign(c->route)) && !r->body_len;
	void *object;

	if (!call_decode_query(c))
		return;
	if (c->op->takes) {
		take_raw(c, type);
	} else if (c->op->body) {
		if (r->body_len && (!type || !is_json_type(type))) {
			problem_set(&c->refusal, c->arena, ERR_MEDIA_TYPE,
				"Send the body as Content-Type: application/json, in UTF-8.");
			return;
		}
		c->body = object = arena_alloc(c->arena, c->op->body->size);
		/* Other services overlook what they do not know. */
		decode_body(c->app->patterns, c->arena, c->op->body,
			route_foreign(c->route) ? UNKNOWN_IGNORED : UNKNOWN_REFUSED,
			none ? "{}" : r->body, none ? 2 : r->body_len, object, &c->refusal);
	} else if (r->body_len && !route_foreign(c->route) && !is_empty_object(c)) {
		problem_set(&c->refusal, c->arena, ERR_MALFORMED, "This operation takes no body.");
	}
}

/* What follows the name, where that is this machine's own: its port. */
static const char *after_loopback(const char *url)
{
	static const char *const names[] = { "http://localhost", "http://127.0.0.1",
		"http://[::1]" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);

		if (strncmp(url, names[i], n) == 0 && (!url[n] || url[n] == ':'))
			return url + n;
	}
	return NULL;
}

/* People type localhost where 127.0.0.1 is said, and the other way round. */
static bool is_same_origin(const char *origin, const char *ours)
{
	const char *theirs = after_loopback(origin), *port = after_loopback(ours);

	return strcmp(origin, ours) == 0 || (theirs && port && strcmp(theirs, port) == 0);
}

bool call_own_origin(const struct call *c)
{
	const char *origin = http_header(&c->x->request, "origin");

	return !origin || is_same_origin(origin, c->app->settings.public_url);
}

/* A browser sends our cookie along with requests that other pages cause; those are not ours. */
static int check_origin(struct call *c)
{
	if (!c->credential.cookie || !route_changes(c->route))
		return 0;
	if (http_header(&c->x->request, "origin") && call_own_origin(c))
		return 0;
	return call_fail(c, ERR_BAD_ORIGIN, "A change by cookie must come from %s.",
		c->app->settings.public_url);
}

/* The agent that the body names.  Without one the caller is asked for what it takes to see the place
 * at all, and is then told what is wrong with the body. */
static int permission_by_body(struct call *c, struct place *place)
{
	const struct field *f;

	if (c->refusal.err || !c->body)
		return place->tenant_id ? PERM_TENANT_READ : PERM_LOGIN;
	f = schema_field(c->op->body, "agent_id", strlen("agent_id"));
	place->agent_id = *(const char *const *)((const char *)c->body + f->at);
	return c->route->permission;
}

/* What the store says about a machine key counts for a while after it has gone away. */
static void remember_scraper(struct call *c, int err)
{
	if (c->credential.kind != CREDENTIAL_MACHINE)
		return;
	if (!err && c->caller.purpose == MACHINE_METRICS)
		scrapers_saw(c->app->scrapers, c->credential.hash, clock_mono_ms());
	else if (!err || err == ERR_UNAUTHENTICATED)
		scrapers_forget(c->app->scrapers, c->credential.hash);
}

static bool is_known_scraper(const struct call *c)
{
	return c->credential.kind == CREDENTIAL_MACHINE && !c->credential.bad &&
	       scrapers_know(c->app->scrapers, c->credential.hash, clock_mono_ms());
}

bool call_permit_unstored(const struct call *c)
{
	int permission = c->route->permission;

	return permission_scope(permission) == SCOPE_OPEN ||
	       (permission == PERM_METRICS && (is_loopback(c) || is_known_scraper(c)));
}

/* A slug has no dot: what follows one says which repository of the agent is meant. */
static int find_by_slug(struct call *c, struct place *place)
{
	const char *name = call_param(c, "repository");

	return caller_find_place(c->db, c->arena, call_param(c, "tenant_slug"),
		arena_strndup(c->arena, name, strcspn(name, ".")), place, &c->problem);
}

int call_permit(struct call *c)
{
	int permission = c->route->permission;
	struct place place = {
		.tenant_id = call_param(c, "tenant_id"),
		.agent_id = call_param(c, c->route->agent ? c->route->agent : "agent_id"),
		.session_id = call_param(c, "session_id"),
		.finds_agent = c->route->finds_agent,
		.admin_read = c->route->method == METHOD_GET &&
			      strncmp(c->route->path, "/admin/", 7) == 0,
	};
	bool loopback = is_loopback(c);
	int err;

	c->caller = (struct caller){ .role = -1 };
	if (c->route->agent_in_body)
		permission = permission_by_body(c, &place);
	if (permission_scope(permission) == SCOPE_OPEN || (permission == PERM_METRICS && loopback))
		return 0;
	if (c->credential.bad) {
		c->problem.challenge = "The token is not one of this service";
		return call_fail(
			c, ERR_UNAUTHENTICATED, "That is not a credential of this service.");
	}
	err = caller_load(&c->caller, c->db, c->arena, &c->credential, c->now,
		c->app->settings.session_idle_us, &c->problem);
	remember_scraper(c, err);
	if (!err)
		err = check_origin(c);
	if (!err && c->route->by_slug)
		err = find_by_slug(c, &place);
	if (!err)
		err = caller_permit(
			&c->caller, c->db, c->arena, permission, &place, loopback, &c->problem);
	if (!err && c->route->also)
		err = caller_also(&c->caller, c->arena, c->route->also, &c->problem);
	return err;
}
