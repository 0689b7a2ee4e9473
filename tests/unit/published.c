/* published.c - an answer against the document: its status, its type and its headers are those that
 * /openapi.json publishes for the operation, neither others nor fewer.  Every answer that a test sees
 * passes through here, so that whoever makes an operation answer something new is told at once. */
#include "fixture.h"

#include <ctype.h>
#include <stdlib.h>

#include "contract/decode.h"
#include "contract/event.h"
#include "serve/registry.h"

/* Any answer may carry these; the document does not repeat them at every operation. */
static const char *const everywhere[] = { "Date", "Content-Type", "Content-Length",
	"Transfer-Encoding", "Connection", "Keep-Alive", "X-Request-Id", "Cache-Control", "Vary",
	"Content-Encoding", "Content-Disposition", "X-Accel-Buffering", "X-Content-Type-Options",
	"Content-Security-Policy", "Referrer-Policy", "Strict-Transport-Security", "Server",
	"Set-Cookie", "Idempotency-Replayed", NULL };

/* Faults of HTTP itself, found before an operation is known; the document's description names them. */
static const int below[] = { 408, 414, 417, 431, 501, 505 };

static json_t *document(void)
{
	static json_t *doc;
	struct buf text;

	if (doc)
		return doc;
	buf_init(&text, 64 << 20);
	operations_document(&text, api_resources, api_resource_count, "http://lodge.test");
	doc = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, NULL);
	buf_free(&text);
	return doc;
}

/* The thing itself, or what it refers to. */
static json_t *resolved(json_t *v)
{
	const char *ref = json_string_value(json_object_get(v, "$ref"));
	char word[128];

	if (!ref)
		return v;
	v = document();
	for (ref += strlen("#/"); *ref; ref += *ref == '/') {
		size_t len = strcspn(ref, "/");

		CHECK(len < sizeof word);
		memcpy(word, ref, len);
		word[len] = '\0';
		v = json_object_get(v, word);
		ref += len;
	}
	return v;
}

/* "text/html" and "text/html; charset=utf-8" are one type. */
static bool same_type(const char *a, const char *b)
{
	size_t len = strcspn(a, ";");

	return len == strcspn(b, ";") && strncmp(a, b, len) == 0;
}

static void check_type(const char *what, json_t *reply, const char *type)
{
	json_t *content = json_object_get(reply, "content"), *one;
	const char *name;

	if (!type && !content)
		return;
	json_object_foreach(content, name, one)
	{
		if (type && (same_type(name, type) || strcmp(name, "*/*") == 0))
			return;
	}
	test_fail(__FILE__, __LINE__, "%s comes as %s, which is not published", what,
		type ? type : "nothing");
}

/* The event's data is what its row says: members of the schema, all that are required, and no others. */
static bool data_fits(struct fixture *f, const struct stream_event *e, const char *data, size_t len)
{
	struct problem p = { 0 };

	if (e->literal)
		return strlen(e->literal) == len && memcmp(e->literal, data, len) == 0;
	return !e->data || !decode_body(NULL, &f->arena, e->data, UNKNOWN_REFUSED, data, len,
				   arena_alloc(&f->arena, e->data->size), &p);
}

static bool is_told(struct fixture *f, const struct route *route, const char *name,
	const char *data, size_t len)
{
	const struct event_stream *s = route->op->events;

	for (size_t i = 0; i < s->count; i++) {
		const struct stream_event *e = &s->table[i];

		if ((e->streams & s->bit) && (name ? !e->unnamed : e->unnamed) &&
			(!name || strcmp(e->name, name) == 0) &&
			(!route->openai || data_fits(f, e, data, len)))
			return true;
	}
	return false;
}

/* Every event of a stream is one of its rows, and its data fits; what tests write into the log of a session themselves
 * is held to its name alone. */
static void check_events(
	struct fixture *f, const char *what, const struct route *route, const struct answer *r)
{
	const char *type = header_of(f, r, "Content-Type");
	char *next;

	if (!type || !same_type(type, "text/event-stream"))
		return;
	for (char *frame = answer_unchunked(f, r); *frame; frame = next) {
		char *end = strstr(frame, "\n\n"), *name, *data;

		if (!end) {
			test_fail(__FILE__, __LINE__, "%s breaks off: %s", what, frame);
			return;
		}
		*end = '\0';
		next = end + 2;
		name = strstr(frame, "event: ");
		data = strstr(frame, "data: ");
		if (!data) /* a comment, or a place alone */
			continue;
		name = name && name < data ? name + strlen("event: ") : NULL;
		if (name)
			data[-1] = '\0';
		data += strlen("data: ");
		if (!is_told(f, route, name, data, strlen(data)))
			test_fail(__FILE__, __LINE__, "%s tells %s, which is not published: %s",
				what, name ? name : "something unnamed", data);
	}
}

static bool is_everywhere(const char *name, size_t len)
{
	for (size_t i = 0; everywhere[i]; i++)
		if (strlen(everywhere[i]) == len && strncasecmp(everywhere[i], name, len) == 0)
			return true;
	return false;
}

static bool is_published(json_t *headers, const char *name, size_t len)
{
	const char *key;
	json_t *one;

	json_object_foreach(headers, key, one)
	{
		if (strlen(key) == len && strncasecmp(key, name, len) == 0)
			return true;
	}
	return false;
}

static void check_headers(
	struct fixture *f, const char *what, json_t *reply, const struct answer *r)
{
	json_t *headers = json_object_get(reply, "headers"), *one;
	const char *name;

	json_object_foreach(headers, name, one)
	{
		if (json_is_true(json_object_get(resolved(one), "required")) &&
			!header_of(f, r, name))
			test_fail(
				__FILE__, __LINE__, "%s has no %s, which is published", what, name);
	}
	for (const char *line = strstr(r->head, "\r\n"); line && line[2];
		line = strstr(line + 2, "\r\n")) {
		size_t len = strcspn(line + 2, ":");

		if (!is_everywhere(line + 2, len) && !is_published(headers, line + 2, len))
			test_fail(__FILE__, __LINE__, "%s has a %.*s, which is not published", what,
				(int)len, line + 2);
	}
}

void published(struct fixture *f, const struct route *route, const struct answer *r)
{
	char method[8] = "", status[8], what[256];
	json_t *responses, *reply;

	if (route->unpublished)
		return;
	for (size_t i = 0; i < sizeof below / sizeof *below; i++)
		if (r->status == below[i])
			return;
	for (size_t i = 0; method_name(route->method)[i]; i++)
		method[i] = (char)tolower((unsigned char)method_name(route->method)[i]);
	snprintf(status, sizeof status, "%d", r->status);
	snprintf(what, sizeof what, "%s with %s", route->op->id, status);
	responses = json_object_get(
		json_object_get(
			json_object_get(json_object_get(document(), "paths"), route->path), method),
		"responses");
	reply = resolved(json_object_get(responses, status));
	if (!reply) {
		test_fail(__FILE__, __LINE__, "%s is not published: %.300s", what, r->body);
		return;
	}
	check_type(what, reply, header_of(f, r, "Content-Type"));
	check_headers(f, what, reply, r);
	check_events(f, what, route, r);
}
