/* reply.c - the last stretch of a call: the operation's struct, or its problem, into HTTP. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "call/call.h"
#include "call/steps.h"
#include "contract/anthropic_fault.h"
#include "contract/encode.h"

enum { LOCATION_MAX = 8 * 1024 };

static void write_problem(struct buf *b, const char *request_id, const struct problem *p)
{
	const struct error_row *row = error_row(p->err);
	const char *code = p->code ? p->code : row->code;

	buf_printf(b, "{\"type\":\"urn:lodge:problem:%s\",\"title\":", code);
	json_write_string(b, row->title, strlen(row->title));
	buf_printf(b, ",\"status\":%d,\"detail\":", row->status);
	json_write_string(
		b, p->detail ? p->detail : row->title, strlen(p->detail ? p->detail : row->title));
	buf_printf(b, ",\"request_id\":\"%s\"", request_id);
	if (p->first) {
		buf_lit(b, ",\"errors\":[");
		for (const struct field_error *e = p->first; e; e = e->next) {
			buf_lit(b, "{\"field\":");
			json_write_string(b, e->field, strlen(e->field));
			buf_printf(b, ",\"code\":\"%s\",\"message\":", e->code);
			json_write_string(b, e->message, strlen(e->message));
			buf_puts(b, e->next || p->unlisted ? "}," : "}");
		}
		if (p->unlisted)
			buf_printf(b,
				"{\"field\":\"\",\"code\":\"more\",\"message\":\"and %zu further errors\"}",
				p->unlisted);
		buf_putc(b, ']');
	}
	buf_lit(b, "}\n");
}

/* A conflict with what will be over soon. */
static bool clears_up(const struct error_row *row, const struct problem *p)
{
	return row->status == 409 && p->retry_after_s;
}

/* The status and the headers that go with a problem, whatever the shape of its body. */
static void head_of_problem(struct http_reply *r, const struct problem *p)
{
	const struct error_row *row = error_row(p->err);

	buf_clear(&r->body);
	buf_clear(&r->extra);
	r->status = row->status;
	if (row->status == 401 && p->challenge)
		buf_printf(&r->extra,
			"WWW-Authenticate: Bearer realm=\"lodge\", error=\"invalid_token\", "
			"error_description=\"%s\"\r\n",
			p->challenge);
	else if (row->status == 401)
		buf_lit(&r->extra, "WWW-Authenticate: Bearer realm=\"lodge\"\r\n");
	if ((row->status == 503 || row->status == 429 || clears_up(row, p)) &&
		p->retry_after_s != RETRY_NEVER_S)
		buf_printf(
			&r->extra, "Retry-After: %d\r\n", p->retry_after_s ? p->retry_after_s : 1);
	if (p->final)
		buf_lit(&r->extra, "X-Should-Retry: false\r\n");
}

static void reply_to_openai(struct http_exchange *x, const struct problem *p)
{
	struct http_reply *r = &x->reply;

	if (p->err == ERR_INVALID) /* what these clients expect of it */
		r->status = 400;
	/* Their libraries repeat a conflict by themselves. */
	if (r->status == 409 && !p->final && !p->retry_after_s)
		buf_lit(&r->extra, "X-Should-Retry: false\r\n");
	r->type = "application/json";
	openai_problem(&r->body, p);
	buf_putc(&r->body, '\n');
}

/* Their clients find the request's id in a header of this name. */
static void reply_to_anthropic(struct http_exchange *x, const struct problem *p)
{
	struct http_reply *r = &x->reply;
	const struct error_row *row = error_row(p->err);
	const struct field_error *first = p->first;
	const char *message = p->detail ? p->detail : row->title;

	if (p->err == ERR_INVALID)
		r->status = 400;
	if (r->status == 409 && !p->final && !p->retry_after_s)
		buf_lit(&r->extra, "X-Should-Retry: false\r\n");
	buf_printf(&r->extra, "request-id: %s\r\n", x->request_id);
	if (first)
		message = arena_printf(&x->arena, "%s: %s", first->field, first->message);
	r->type = "application/json";
	anthropic_fault_write(&r->body, r->status, message, x->request_id);
	r->status = anthropic_status(r->status);
	buf_putc(&r->body, '\n');
}

/* A client of Anthropic's is told so wherever one of OpenAI's would be. */
static enum dialect dialect_of(const struct app *app, const struct http_request *r)
{
	enum dialect d = r->path ? router_dialect(app->router, r->path, r->path_len) : DIALECT_OWN;

	return d == DIALECT_OPENAI && http_header(r, ANTHROPIC_HEADER) ? DIALECT_ANTHROPIC : d;
}

void problem_reply(const struct app *app, struct http_exchange *x, const struct problem *p)
{
	head_of_problem(&x->reply, p);
	switch (dialect_of(app, &x->request)) {
	case DIALECT_OPENAI:
		reply_to_openai(x, p);
		break;
	case DIALECT_ANTHROPIC:
		reply_to_anthropic(x, p);
		break;
	case DIALECT_OWN:
		x->reply.type = "application/problem+json";
		write_problem(&x->reply.body, x->request_id, p);
	}
}

static void allow_header(struct call *c)
{
	bool first = true;

	buf_lit(&c->x->reply.extra, "Allow: ");
	for (int m = 0; m < METHOD_COUNT; m++) {
		if (c->match.allowed >> m & 1) {
			buf_printf(&c->x->reply.extra, "%s%s", first ? "" : ", ",
				method_name((enum method)m));
			first = false;
		}
	}
	buf_lit(&c->x->reply.extra, "\r\n");
}

void call_put_html(struct buf *b, const char *text)
{
	for (; *text; text++)
		if (strchr("&<>\"'", *text))
			buf_printf(b, "&#%d;", *text);
		else
			buf_putc(b, *text);
}

static bool is_for_people(const struct call *c)
{
	const char *accept = http_header(&c->x->request, "accept");

	return c->op && c->op->browsed && accept && strstr(accept, "text/html");
}

/* Without a script; the style is that of the service's own pages. */
static void problem_page(struct call *c, const struct problem *p)
{
	static const char title[] = "That did not work";
	struct buf *b = &c->x->reply.body;

	head_of_problem(&c->x->reply, p);
	c->x->reply.type = "text/html; charset=utf-8";
	buf_lit(&c->x->reply.extra,
		"Content-Security-Policy: default-src 'none'; img-src data:; style-src 'self'; font-src 'self'; base-uri 'none'; "
		"form-action 'none'; frame-ancestors 'none'\r\nCache-Control: no-store\r\n"
		"Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n");
	buf_lit(b,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	call_put_html(b, title);
	buf_lit(b,
		"</title>\n<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"");
	call_put_html(b, c->app->settings.public_url);
	buf_lit(b, "/pages/account.css\">\n</head>\n<body>\n<main>\n<h1>");
	call_put_html(b, title);
	buf_lit(b, "</h1>\n<p id=\"say\" class=\"bad\">");
	call_put_html(b, p->detail ? p->detail : error_row(p->err)->title);
	buf_printf(b, "</p>\n<p class=\"small\">For whoever runs this service: request %s.</p>\n",
		c->x->request_id);
	buf_lit(b, "</main>\n</body>\n</html>\n");
}

/* Git shows its user what is plain text, and asks for a name and a password where Basic is taken. */
static void problem_in_plain_words(struct call *c, const struct problem *p)
{
	const char *words = p->detail ? p->detail : error_row(p->err)->title;
	struct http_reply *r = &c->x->reply;

	head_of_problem(r, p);
	if (r->status == 401) {
		buf_clear(&r->extra);
		buf_lit(&r->extra,
			"WWW-Authenticate: Basic realm=\"lodge\", charset=\"UTF-8\"\r\n");
	}
	buf_lit(&r->extra, "Cache-Control: no-cache\r\n");
	r->type = "text/plain; charset=utf-8";
	buf_puts(&r->body, words);
	buf_putc(&r->body, '\n');
}

void call_write_problem(struct call *c, const struct problem *p)
{
	if (c->op && c->op->tell && c->op->tell(c, p))
		return;
	if (c->op && c->op->basic)
		problem_in_plain_words(c, p);
	else if (is_for_people(c))
		problem_page(c, p);
	else
		problem_reply(c->app, c->x, p);
	if (p->err == ERR_METHOD)
		allow_header(c);
}

static void write_list_page(struct call *c)
{
	struct buf *b = &c->x->reply.body;

	buf_lit(b, "{\"items\":[");
	for (size_t i = 0; i < c->items.count; i++) {
		if (i)
			buf_putc(b, ',');
		encode_object(b, c->op->reply, (const char *)c->items.at + i * c->op->reply->size);
	}
	buf_putc(b, ']');
	if (c->total != NIL)
		buf_printf(b, ",\"total\":%lld", (long long)c->total);
	buf_printf(b, ",\"page\":%lld,\"per_page\":%lld,\"next_after\":", (long long)c->page.page,
		(long long)c->page.per_page);
	if (c->next_after)
		buf_printf(b, "\"%s\"}\n", c->next_after);
	else
		buf_lit(b, "null}\n");
	c->items = (struct list){ 0 };
	arena_reset(&c->rows);
}

/* What PUT makes is where it was put: the route's path, with what the parameters stand for, and the query
 * where that says which one. */
static const char *location_of(struct call *c)
{
	struct buf out;
	const char *text;

	buf_init(&out, LOCATION_MAX);
	for (const char *p = c->route->path; *p;) {
		size_t len = strcspn(p, "{");
		const char *name, *value;

		buf_put(&out, p, len);
		p += len;
		if (!*p)
			break;
		len = strcspn(p, "}");
		name = arena_strndup(c->arena, p + 1, len - 1);
		value = call_param(c, name);
		/* A path may leave its tenant out. */
		buf_puts(&out, value ? value : c->caller.tenant_id);
		p += len + 1;
	}
	if (c->op->query && c->x->request.query_len) {
		buf_putc(&out, '?');
		buf_put(&out, c->x->request.query, c->x->request.query_len);
	}
	text = out.overflow ? NULL : arena_strndup(c->arena, out.at, out.len);
	buf_free(&out);
	return text;
}

/* What was made by a POST to its collection. */
static const char *place_of_made(struct call *c)
{
	const char *made = call_made(c), *collection = made ? location_of(c) : NULL;

	return collection ? arena_printf(c->arena, "%s/%s", collection, made) : NULL;
}

void call_write_reply(struct call *c)
{
	struct http_reply *r = &c->x->reply;
	int status = c->standing ? 200 : c->route->status;

	if (c->nothing) {
		r->status = 204;
		return;
	}
	r->status = status;
	if (r->type) /* the operation has written its body itself, in another form */
		return;
	if (c->op->list) {
		write_list_page(c);
	} else if (c->op->reply) {
		encode_object(&r->body, c->op->reply, c->reply);
		buf_putc(&r->body, '\n');
	}
	if (!r->type)
		r->type = c->op->list || c->op->reply ? "application/json" : c->op->gives;
	if (status == 201 && !c->location)
		c->location = c->route->method == METHOD_PUT ? location_of(c) : place_of_made(c);
	if (c->location && status == 201)
		buf_printf(&r->extra, "Location: %s\r\n", c->location);
}

void call_etag(const struct buf *body, char out[ETAG_LEN + 1])
{
	uint8_t digest[SHA256_LEN];

	sha256(body->at, body->len, digest);
	out[0] = '"';
	hex_write(digest, (ETAG_LEN - 2) / 2, out + 1);
	out[ETAG_LEN - 1] = '"';
	out[ETAG_LEN] = '\0';
}

/* Is the tag in a list such as `"a", W/"b"`, or is that list `*`?  Weak tags count only if asked. */
bool call_etag_listed(const char *list, const char *tag, bool weak_counts)
{
	const char *p = list + strspn(list, " \t");

	if (strcmp(p, "*") == 0)
		return true;
	while (*p) {
		bool weak = strncmp(p, "W/", 2) == 0;
		size_t len;

		p += weak ? 2 : 0;
		len = strcspn(p, ",");
		while (len && (p[len - 1] == ' ' || p[len - 1] == '\t'))
			len--;
		if ((!weak || weak_counts) && len == strlen(tag) && memcmp(p, tag, len) == 0)
			return true;
		p += strcspn(p, ",");
		p += strspn(p, ", \t");
	}
	return false;
}

/* A single object carries its tag; a reader who has that version gets 304. */
void call_tag_reply(struct call *c)
{
	const char *known = http_header(&c->x->request, "if-none-match");
	struct http_reply *r = &c->x->reply;
	char tag[ETAG_LEN + 1];

	if (r->status != 200 || !route_tags(c->route))
		return;
	call_etag(&r->body, tag);
	buf_lit(&r->extra, "ETag: ");
	buf_put(&r->extra, tag, ETAG_LEN);
	buf_printf(
		&r->extra, "\r\nCache-Control: %s\r\n", c->cache ? c->cache : "private, no-cache");
	if (known && c->route->method == METHOD_GET && call_etag_listed(known, tag, true)) {
		r->status = 304;
		r->body.len = 0;
		r->type = NULL;
	}
}

/* ---- files ---- */

static bool is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("._-", c));
}

/* The length of a sign of UTF-8 that turns letters round or is not seen, so that a name would read as another; 0 for
 * all else. */
static size_t hidden_sign(const char *at)
{
	const unsigned char *p = (const unsigned char *)at;

	if (p[0] == 0xc2 && p[1] < 0xa0)
		return 2; /* controls */
	if (p[0] == 0xe2 && p[1] == 0x80 &&
		(p[2] == 0x8b || p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae)))
		return 3; /* no width, marks of direction, separators, turns */
	if (p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf)
		return 3; /* U+2060 to U+206F */
	return 0;
}

/* As RFC 6266 has it: a name in ASCII for all, and where that is not the whole name, the name itself. */
void call_attach(struct call *c, const char *name)
{
	struct buf *out = &c->x->reply.extra;
	bool whole = true;

	if (!*name)
		name = "file";
	buf_lit(out, "Content-Disposition: attachment; filename=\"");
	for (const char *p = name; *p; p++) {
		buf_putc(out, is_plain(*p) ? *p : '_');
		whole = whole && !((unsigned char)*p & 0x80);
	}
	buf_putc(out, '"');
	if (!whole) {
		buf_lit(out, "; filename*=UTF-8''");
		for (const char *p = name; *p;) {
			size_t hidden = hidden_sign(p);

			if (is_plain(*p))
				buf_putc(out, *p);
			else if (hidden || ((unsigned char)*p < 0x80 && *p != ' '))
				buf_putc(out, '_');
			else
				buf_printf(out, "%%%02X", (unsigned)(unsigned char)*p);
			p += hidden ? hidden : 1;
		}
	}
	buf_lit(out, "\r\n");
}
