/* openapi.c - the document around the types: info, servers, paths, shared responses.
 * Streamed into the buffer in one pass over the routes; see openapi.h. */
#include "contract/openapi.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/anthropic_fault.h"
#include "contract/openai_fault.h"
#include "contract/openapi_parts.h"
#include "contract/router.h"

struct document {
	struct buf *o;
	const struct contract_parts *parts;
	struct arena arena;
	struct types types;
	const struct route **routes; /* those published */
	size_t count;
	struct answers_used used;
};

static const char description[] =
	"Every path answers the same at the root, under /v1 and under /api/v1, and tenants is the same "
	"word as tenant. A path under /tenant/{tenant_id}/agents/{agent_id} also answers under "
	"/agents/{agent_id}, and one under /tenant/{tenant_id}/sessions/{session_id} under "
	"/sessions/{session_id}. Paths with a server of their own answer only as printed.\n\n"
	"Errors are application/problem+json (RFC 9457). Updates are partial: what is left out stays. "
	"A body with a field that is not in its schema is refused. Times are UTC; ids sort by creation. "
	"x-max is a ceiling of this service where the contract states none: bytes of text and JSON, "
	"items of lists, value of numbers. x-default is the value of an absent field where the contract "
	"states none. x-enum lists what this service takes where the contract says only that it is text. "
	"For forms, x-label is what a field is called where its name says it badly, x-unit what a number counts, "
	"x-long marks a text of many lines, x-unused a field that is kept and that nothing is done with. "
	"x-any marks a value that may be any JSON, because somebody else decides what it is. "
	"x-events lists the events of a stream by name, with the schema of their data; the schema of the stream is that of one event's data. "
	"x-stale marks a report that may be some seconds old where the service reads it from a replica. "
	"x-to-come says why no operation takes or gives a type yet.\n\n"
	"What begins with /v1 and is no path of this service's own answers errors as OpenAI's service does, and what begins with /v1/messages as Anthropic's. "
	"Faults of HTTP itself, which no operation sees, are 408, 413, 414, 417, 431, 501 and 505; a path that is not "
	"there is 404, a method that it does not take 405 with Allow. Every answer carries X-Request-Id.";

static void write_info(struct document *d)
{
	struct buf *o = d->o;
	static const struct {
		const char *root, *doc;
	} roots[] = {
		{ "", "The root; every operation is listed as it is spelled here." },
		{ "/v1", "The same operations, by version." },
		{ "/api/v1", "The same operations, by the long spelling." },
	};

	doc_text(o, "openapi", "3.1.0");
	doc_json(o, "info", "{");
	doc_text(o, "title", "Lodge");
	doc_text(o, "summary", "A multi-tenant service that hosts configurable AI agents.");
	doc_text(o, "description", description);
	doc_json(o, "contact", "{");
	doc_text(o, "name", "Whoever operates this service");
	if (*d->parts->public_url)
		doc_text(o, "url", d->parts->public_url);
	buf_putc(o, '}');
	doc_json(o, "license", "{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}");
	doc_text(o, "version", d->parts->version);
	buf_putc(o, '}');
	doc_json(o, "servers", "[");
	for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
		const char *url =
			arena_printf(&d->arena, "%s%s", d->parts->public_url, roots[i].root);

		doc_item(o);
		buf_putc(o, '{');
		doc_text(o, "url", *url ? url : "/");
		doc_text(o, "description", roots[i].doc);
		buf_putc(o, '}');
	}
	buf_putc(o, ']');
	doc_json(o, "security", "[{\"bearer\":[]},{\"cookie\":[]}]");
}

static const char *tag_doc(const struct document *d, const char *name)
{
	for (size_t i = 0; i < d->parts->count; i++)
		for (const struct tag *t = d->parts->resources[i]->tags; t && t->name; t++)
			if (strcmp(t->name, name) == 0)
				return t->doc;
	return NULL;
}

static void write_tags(struct document *d)
{
	doc_json(d->o, "tags", "[");
	for (size_t i = 0; i < d->count; i++) {
		size_t first = 0;

		while (strcmp(d->routes[first]->tag, d->routes[i]->tag) != 0)
			first++;
		if (first < i)
			continue;
		doc_item(d->o);
		buf_putc(d->o, '{');
		doc_text(d->o, "name", d->routes[i]->tag);
		if (tag_doc(d, d->routes[i]->tag))
			doc_text(d->o, "description", tag_doc(d, d->routes[i]->tag));
		buf_putc(d->o, '}');
	}
	buf_putc(d->o, ']');
}

static bool is_public(const struct document *d, const struct route *r)
{
	return r->permission == d->parts->permission_public;
}

static bool method_changes(const struct route *r)
{
	return r->method != METHOD_GET && r->method != METHOD_HEAD;
}

static bool gives_events(const struct route *r)
{
	return r->op->gives && strcmp(r->op->gives, "text/event-stream") == 0;
}

/* A read of one object can be asked for only if it changed. */
static bool reads_one(const struct route *r)
{
	return r->method == METHOD_GET && route_tags(r);
}

/* Is it a POST that does something with an object that can be read? */
static bool acts_on_object(const struct document *d, const struct route *r)
{
	size_t len = route_object_len(r);
	bool found = false;

	for (size_t i = 0; len && i < d->count; i++) {
		const struct route *get = d->routes[i];

		if (get->method != METHOD_GET)
			continue;
		if (strcmp(get->path, r->path) == 0)
			return false;
		found |= strlen(get->path) == len && memcmp(get->path, r->path, len) == 0 &&
			 route_tags(get);
	}
	return found;
}

static bool route_conditional(const struct document *d, const struct route *r)
{
	return method_changes(r) && !r->as_printed &&
	       (r->method != METHOD_POST || acts_on_object(d, r));
}

static bool names_something(const struct schema *query)
{
	for (size_t i = 0; query && i < query->count; i++)
		if (query->fields[i].id || query->fields[i].item_id)
			return true;
	return false;
}

/* It answers with what a model says, or with why none did. */
static bool calls_models(const struct route *r)
{
	return route_foreign(r) && r->patient;
}

static bool can_occur(const struct document *d, const struct route *r, int err)
{
	bool body = r->op->body || r->op->takes, query = r->op->query || r->op->list;

	switch (err) {
	case ERR_UNAUTHENTICATED:
	case ERR_FORBIDDEN:
		return !is_public(d, r) || (method_changes(r) && body) || r->writes ||
		       (err == ERR_FORBIDDEN && r->op->gives_file); /* a signature of its own */
	case ERR_UPSTREAM:
		return (r->op->prepare && (r->writes || !is_public(d, r))) || calls_models(r) ||
		       r->op->brings_files || r->op->reads_files;
	case ERR_TOO_SLOW:
		return calls_models(r) || r->op->brings_files || r->op->on_disk ||
		       r->op->reads_files;
	case ERR_NOT_FOUND: /* what the path names, or the query, or the body, or OpenAI-Organization */
		return strchr(r->path, '{') || names_something(r->op->query) || r->agent_in_body ||
		       route_foreign(r);
	case ERR_CONFLICT: /* or something is lacking that it waits for */
		return method_changes(r) || r->op->awaits || r->op->unseals;
	case ERR_PRECONDITION:
		return route_conditional(d, r);
	case ERR_TOO_LARGE:
		return (body && (!r->op->intake || r->op->bounded_intake)) || r->op->reads_files;
	case ERR_MEDIA_TYPE:
		return body;
	case ERR_RANGE:
		return r->op->gives_file;
	case ERR_NO_SPACE:
		return r->op->intake || r->op->brings_files || r->op->on_disk || r->op->takes_room;
	case ERR_INVALID: /* a parameter that is not known is refused everywhere */
		return route_repeatable(r) ||
		       (!route_foreign(r) && (body || query || !r->op->open_query));
	default:
		return true;
	}
}

static void write_query(struct document *d, const struct schema *s)
{
	struct buf *o = d->o;

	for (size_t i = 0; s && i < s->count; i++) {
		const struct field *f = &s->fields[i];

		doc_item(o);
		buf_putc(o, '{');
		doc_text(o, "name", f->name);
		doc_text(o, "in", "query");
		doc_text(o, "description", f->doc);
		if (f->required)
			doc_json(o, "required", "true");
		if (f->kind == LIST)
			doc_json(o, "explode", "false");
		doc_json(o, "schema", "{");
		doc_facts(o, f, true);
		buf_putc(o, '}');
		if (f->example) {
			doc_key(o, "example");
			doc_sample(o, f);
		}
		buf_putc(o, '}');
	}
}

static void write_sort(struct document *d, const struct words *sorts)
{
	doc_item(d->o);
	buf_lit(d->o,
		"{\"name\":\"sort\",\"in\":\"query\",\"description\":\"Sorts by this field, a "
		"minus for falling; not together with after.\","
		"\"schema\":{\"type\":\"string\",\"enum\":[");
	for (size_t i = 0; sorts->list[i]; i++) {
		doc_item(d->o);
		buf_printf(d->o, "\"%s\",\"-%s\"", sorts->list[i], sorts->list[i]);
	}
	buf_lit(d->o, "]}}");
}

static void write_operation_parameters(struct document *d, const struct route *r)
{
	doc_json(d->o, "parameters", "[");
	write_query(d, r->op->query);
	if (r->op->list) {
		doc_reference(d->o, "parameters", "page");
		doc_reference(d->o, "parameters", "per_page");
		doc_reference(d->o, "parameters", "after");
		doc_reference(d->o, "parameters", "total");
		if (r->op->sorts)
			write_sort(d, r->op->sorts);
	}
	if (route_repeatable(r))
		doc_reference(d->o, "parameters", "idempotency_key");
	if (route_conditional(d, r))
		doc_reference(d->o, "parameters", "if_match");
	if (reads_one(r) || r->op->gives_file)
		doc_reference(d->o, "parameters", "if_none_match");
	if (r->op->gives_file) {
		doc_reference(d->o, "parameters", "range");
		doc_reference(d->o, "parameters", "if_range");
	}
	if (r->op->intake) {
		doc_reference(d->o, "parameters", "if_absent");
		doc_reference(d->o, "parameters", "x_sha256");
	}
	if (r->method == METHOD_GET && gives_events(r))
		doc_reference(d->o, "parameters", "last_event_id");
	if (route_foreign(r))
		doc_reference(d->o, "parameters", "openai_organization");
	buf_putc(d->o, ']');
}

/* JSON, or a form: any, where no table says what is in it. */
static bool carries_json(const char *type)
{
	return strcmp(type, "application/json") == 0 ||
	       strcmp(type, "application/x-www-form-urlencoded") == 0;
}

/* One type of content: with the schema and the example of that name, or without. */
static void write_type(
	struct document *d, const char *type, const struct schema *s, const char *suffix)
{
	bool text = strncmp(type, "text/", 5) == 0 || strstr(type, "ndjson");

	doc_key(d->o, type);
	if (s)
		buf_printf(d->o,
			"{\"schema\":{\"$ref\":\"#/components/schemas/%s%s\"},"
			"\"examples\":{\"sample\":{\"$ref\":\"#/components/examples/%s%s\"}}}",
			s->name, suffix, s->name, suffix);
	else
		buf_puts(
			d->o, text ? "{\"schema\":{\"type\":\"string\"}}"
			      : carries_json(type)
				      ? "{\"schema\":{\"x-any\":true}}"
				      : "{\"schema\":{\"type\":\"string\",\"format\":\"binary\"}}");
}

/* What comes instead of JSON, or beside it. */
static void write_given(struct document *d, const struct operation *op, const char *type)
{
	if (op->events && strcmp(type, "text/event-stream") == 0) {
		doc_key(d->o, type);
		doc_events(d->o, op->events);
	} else {
		write_type(d, type, type == op->gives ? op->raw_reply : NULL, "");
	}
}

/* A stream of events begins with 200, whatever the answer without one. */
static bool streams_apart(const struct route *r)
{
	return gives_events(r) && r->status != 200;
}

static void write_success_content(struct document *d, const struct route *r)
{
	const struct operation *op = r->op;

	if (!op->reply && !op->gives)
		return;
	doc_json(d->o, "content", "{");
	if (op->reply)
		write_type(d, "application/json", op->reply, op->list ? "Page" : "");
	if (op->gives && !streams_apart(r))
		write_given(d, op, op->gives);
	for (const char *const *t = op->may_give; t && *t; t++)
		write_given(d, op, *t);
	if (op->exports)
		write_type(d, "application/x-ndjson", NULL, "");
	if (op->streams)
		write_given(d, op, "text/event-stream");
	buf_putc(d->o, '}');
}

static void write_header(struct document *d, const char *name)
{
	doc_key(d->o, name);
	doc_reference(d->o, "headers", name);
}

static void write_success_headers(struct document *d, const struct route *r, int status)
{
	bool tag = ((status == 200 || status == 304) && route_tags(r)) ||
		   (r->op->own_tag && status != 204);
	bool place = status == 201;

	if (!tag && !place && !r->op->header && !r->anthropic)
		return;
	doc_json(d->o, "headers", "{");
	if (tag)
		write_header(d, "ETag");
	if (r->op->gives_file && status != 304)
		write_header(d, "Accept-Ranges");
	if (status == 206)
		write_header(d, "Content-Range");
	if (place)
		write_header(d, "Location");
	if (r->op->header)
		write_header(d, r->op->header);
	if (r->anthropic)
		write_header(d, "request-id");
	buf_putc(d->o, '}');
}

static void write_answer(struct document *d, const struct route *r, int status, const char *doc)
{
	doc_json(d->o, arena_printf(&d->arena, "%d", status), "{");
	doc_text(d->o, "description", doc);
	write_success_headers(d, r, status);
	if (status == r->status || status == 206 || (status == 200 && r->op->may_stand)) {
		write_success_content(d, r);
	} else if (status == 200) {
		doc_json(d->o, "content", "{");
		write_given(d, r->op, r->op->gives);
		buf_putc(d->o, '}');
	}
	buf_putc(d->o, '}');
}

static void write_success(struct document *d, const struct route *r)
{
	write_answer(d, r, r->status,
		r->status == 201   ? "Made."
		: r->status == 202 ? "Taken; the work goes on."
		: r->status == 204 ? "Done; there is nothing to say."
		: r->op->list	   ? "A page of the list."
		: r->op->reply	   ? r->op->reply->doc
		: gives_events(r)  ? "Server-sent events, as they happen."
				   : "Done.");
	if (r->op->may_stand)
		write_answer(d, r, 200, "It was there already, and is as asked for.");
	else if (streams_apart(r))
		write_answer(d, r, 200, "Server-sent events, where the request accepts them.");
	if (r->op->or_nothing)
		write_answer(d, r, 204, "Done; there is nothing to show.");
	if (r->op->gives_file)
		write_answer(d, r, 206, "The part of it that Range asks for.");
	if (reads_one(r) || r->op->gives_file)
		write_answer(d, r, 304, "Not changed since the ETag in If-None-Match.");
}

static void write_operation_responses(struct document *d, const struct route *r)
{
	doc_json(d->o, "responses", "{");
	write_success(d, r);
	for (const struct shared *e = doc_shared_errors; e->name; e++) {
		enum answer_shape shape = r->openai	 ? SHAPE_OPENAI
					  : r->anthropic ? SHAPE_ANTHROPIC
							 : SHAPE_OWN;
		int status = error_row(e->err)->status;

		if (!can_occur(d, r, e->err))
			continue;

		d->used.at[shape][e - doc_shared_errors] = true;
		doc_key(d->o, arena_printf(&d->arena, "%d",
				      r->anthropic ? anthropic_status(status) : status));
		doc_reference(d->o, "responses",
			arena_printf(&d->arena, "%s%s", doc_answer_prefix(shape), e->name));
	}
	buf_putc(d->o, '}');
}

static void write_body(struct document *d, const struct operation *op)
{
	if (!op->body && !op->takes)
		return;
	doc_json(d->o, "requestBody",
		op->body_optional ? "{\"required\":false" : "{\"required\":true");
	doc_json(d->o, "content", "{");
	if (op->body)
		write_type(d, "application/json", op->body, "");
	for (const char *const *t = op->takes; t && *t; t++)
		write_type(d, *t, op->raw_body, "");
	buf_lit(d->o, "}}");
}

/* Who may, in whose shape it answers, and what is noted of it. */
static const char *operation_terms(struct document *d, const struct route *r)
{
	const char *(*name)(int) = d->parts->permission_name;
	const char *who = is_public(d, r)
				  ? "Open to everybody."
				  : arena_printf(&d->arena, "Needs `%s`%s%s%s.",
					    name(r->permission), r->also ? " and `" : "",
					    r->also ? name(r->also) : "", r->also ? "`" : "");

	return arena_printf(&d->arena, "%s%s%s%s%s", who,
		r->openai ? " Answers and errors have OpenAI's shape." : "",
		r->audit ? " Entered in the audit log as `" : "", r->audit ? r->audit : "",
		r->audit ? "`." : "");
}

static void write_operation(struct document *d, const struct route *r)
{
	struct buf *o = d->o;
	char method[8] = "";

	for (size_t i = 0; method_name(r->method)[i]; i++)
		method[i] = (char)tolower((unsigned char)method_name(r->method)[i]);
	doc_json(o, method, "{");
	doc_text(o, "operationId", r->op->id);
	doc_json(o, "tags", "[");
	json_write_string(o, r->tag, strlen(r->tag));
	buf_putc(o, ']');
	doc_text(o, "summary", r->doc);
	doc_text(o, "description", operation_terms(d, r));
	write_operation_parameters(d, r);
	write_body(d, r->op);
	write_operation_responses(d, r);
	if (is_public(d, r))
		doc_json(o, "security", "[]");
	doc_text(o, "x-permission", d->parts->permission_name(r->permission));
	if (r->op->stale_ok)
		doc_json(o, "x-stale", "true");
	if (r->also)
		doc_text(o, "x-permission-also", d->parts->permission_name(r->also));
	if (r->audit)
		doc_text(o, "x-audit", r->audit);
	buf_putc(o, '}');
}

/* {names} in the path; one that ends in `id` takes only ids. */
static void write_path_parameters(struct document *d, const char *path)
{
	struct buf *o = d->o;

	if (!strchr(path, '{'))
		return;
	doc_json(o, "parameters", "[");
	for (const char *p = strchr(path, '{'); p; p = strchr(p, '{')) {
		size_t len = strcspn(++p, "}");
		bool id = len >= 2 && strncmp(p + len - 2, "id", 2) == 0;

		doc_item(o);
		buf_lit(o, "{\"name\":");
		json_write_string(o, p, len);
		doc_text(o, "in", "path");
		doc_json(o, "required", "true");
		doc_json(o, "schema", "{\"type\":\"string\"");
		if (id)
			doc_text(o, "pattern", ID_PATTERN);
		buf_lit(o, "}}");
	}
	buf_putc(o, ']');
}

static void write_path(struct document *d, const struct route *first)
{
	doc_json(d->o, first->path, "{");
	if (first->as_printed) {
		doc_json(d->o, "servers", "[{");
		doc_text(d->o, "url", *d->parts->public_url ? d->parts->public_url : "/");
		doc_text(d->o, "description", "Only as printed here.");
		buf_lit(d->o, "}]");
	}
	write_path_parameters(d, first->path);
	for (size_t i = 0; i < d->count; i++)
		if (strcmp(d->routes[i]->path, first->path) == 0)
			write_operation(d, d->routes[i]);
	buf_putc(d->o, '}');
}

/* Each path once, with the operations of all its routes, wherever their rows stand. */
static void write_paths(struct document *d)
{
	doc_json(d->o, "paths", "{");
	for (size_t i = 0; i < d->count; i++) {
		size_t first = 0;

		while (strcmp(d->routes[first]->path, d->routes[i]->path) != 0)
			first++;
		if (first == i)
			write_path(d, d->routes[i]);
	}
	buf_putc(d->o, '}');
}

static void write_components(struct document *d)
{
	struct buf *o = d->o;

	doc_json(o, "components", "{");
	doc_json(o, "schemas", "{");
	doc_schemas(o, &d->types);
	doc_shapes(o, &d->types);
	doc_streams(o, &d->types);
	buf_putc(o, '}');
	doc_shared(o, &d->used);
	doc_json(o, "examples", "{");
	doc_examples(o, &d->types);
	buf_putc(o, '}');
	doc_json(o, "securitySchemes",
		"{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\","
		"\"description\":\"An API key, or the token of a sign-in.\"},"
		"\"cookie\":{\"type\":\"apiKey\",\"in\":\"cookie\"");
	doc_text(o, "name", d->parts->cookie);
	doc_text(o, "description",
		"The console's sign-in; a request that changes something must come from its pages.");
	buf_lit(o, "}}}");
}

static void collect_routes(struct document *d)
{
	size_t total = 0;

	for (size_t i = 0; i < d->parts->count; i++)
		total += d->parts->resources[i]->route_count;
	d->routes = arena_array(&d->arena, const struct route *, total + 1);
	for (size_t i = 0; i < d->parts->count; i++) {
		const struct resource *r = d->parts->resources[i];

		for (size_t j = 0; j < r->route_count; j++)
			if (!r->routes[j].unpublished)
				d->routes[d->count++] = &r->routes[j];
	}
}

void openapi_write(struct buf *out, const struct contract_parts *parts)
{
	struct document d = { .o = out, .parts = parts };

	collect_routes(&d);
	types_collect(&d.types, &d.arena, parts->resources, parts->count);
	types_add(&d.types, &d.arena, &Problem_schema, TYPE_SHOWN);
	types_add(&d.types, &d.arena, &OpenAIProblem_schema, TYPE_SHOWN);
	types_add(&d.types, &d.arena, &AnthropicProblem_schema, TYPE_SHOWN);
	types_sort(&d.types);
	buf_putc(out, '{');
	write_info(&d);
	write_tags(&d);
	write_paths(&d);
	write_components(&d);
	buf_putc(out, '}');
	arena_free(&d.arena);
}
