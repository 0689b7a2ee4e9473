/* published.c - an answer against the document: its status, its type and its headers are those that
 * /openapi.json publishes for the operation, neither others nor fewer.  Every answer that a test sees
 * passes through here, so that whoever makes an operation answer something new is told at once. */
#include "document.h"
#include "fixture.h"

#include <ctype.h>
#include <stdlib.h>

#include "contract/event.h"

/* Any answer may carry these; the document does not repeat them at every operation. */
static const char *const everywhere[] = { "Date", "Content-Type", "Content-Length",
	"Transfer-Encoding", "Connection", "Keep-Alive", "X-Request-Id", "Cache-Control", "Vary",
	"Content-Encoding", "Content-Disposition", "X-Accel-Buffering", "X-Content-Type-Options",
	"Content-Security-Policy", "Referrer-Policy", "Strict-Transport-Security", "Server",
	"Set-Cookie", "Idempotency-Replayed", NULL };

/* Faults of HTTP itself, found before an operation is known; the document's description names them. */
static const int below[] = { 408, 414, 417, 431, 501, 505 };

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

/* What an answer of this type is said to be; NULL: nothing. */
static json_t *content_of(json_t *reply, const char *type)
{
	json_t *content = json_object_get(reply, "content"), *one;
	const char *name;

	json_object_foreach(content, name, one)
	{
		if (type && same_type(name, type))
			return one;
	}
	return NULL;
}

/* Its own schema takes the event, and so does that of the stream as a whole. */
static void check_event(const char *what, json_t *stream, const char *name, const char *data)
{
	json_t *v = json_loads(data, JSON_DECODE_ANY, NULL);
	json_t *schema = json_object_get(
		json_object_get(json_object_get(stream, "x-events"), name ? name : EVENT_UNNAMED),
		"schema");
	const char *why;

	if (!v)
		v = json_string(data);
	why = !schema ? "(there is no such event)" : document_refuses(schema, v);
	if (!why)
		why = document_refuses(json_object_get(stream, "schema"), v);
	if (why)
		test_fail(__FILE__, __LINE__, "%s tells %s as it is not published: %s in %.600s",
			what, name ? name : "something unnamed", why, data);
	json_decref(v);
}

/* A whole answer that is JSON. */
static void check_body(const char *what, json_t *content, const struct answer *r)
{
	const char *why = content && r->json
				  ? document_refuses(json_object_get(content, "schema"), r->json)
				  : NULL;

	if (why)
		test_fail(__FILE__, __LINE__, "%s is not as it is published: %s in %.600s", what,
			why, r->body);
}

static void check_events(struct fixture *f, const char *what, json_t *reply, const struct answer *r)
{
	const char *type = header_of(f, r, "Content-Type");
	json_t *stream = content_of(reply, "text/event-stream");
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
		check_event(what, stream, name, data);
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
		if (json_is_true(json_object_get(document_resolved(one), "required")) &&
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
	reply = document_resolved(json_object_get(responses, status));
	if (!reply) {
		test_fail(__FILE__, __LINE__, "%s is not published: %.300s", what, r->body);
		return;
	}
	check_type(what, reply, header_of(f, r, "Content-Type"));
	check_headers(f, what, reply, r);
	check_body(what, content_of(reply, header_of(f, r, "Content-Type")), r);
	check_events(f, what, reply, r);
}
