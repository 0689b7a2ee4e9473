/* published.c - an answer against the document: its status, its type and its headers are those that
 * /openapi.json publishes for the operation, neither others nor fewer.  Every answer that a test sees
 * passes through here, so that whoever makes an operation answer something new is told at once. */
#include "fixture.h"

#include <ctype.h>
#include <stdlib.h>

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

/* Every event of a stream is among those that are published for it. */
static void check_events(const char *what, json_t *reply, const struct answer *r)
{
	json_t *stream = json_object_get(json_object_get(reply, "content"), "text/event-stream");
	json_t *events = json_object_get(stream, "x-events");
	char name[64];

	for (const char *at = r->body; events && (at = strstr(at, "event: ")); at++) {
		if (at > r->body && at[-1] != '\n')
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 7, "\n"), at + 7);
		if (!json_object_get(events, name))
			test_fail(__FILE__, __LINE__, "%s tells %s, which is not published", what,
				name);
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
	check_events(what, reply, r);
}
