/* http_tool.c - see http_tool.h. */
#include "outside/http_tool.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"

struct render {
	struct arena *arena;
	const struct tool_config *config;
	const struct json_node *arguments;
	const char *why; /* the first fault, or NULL */
};

static void render_fault(struct render *r, const char *why)
{
	if (!r->why)
		r->why = why;
}

/* ---- arguments as text ---- */

/* NULL if it is absent or null. */
static const struct json_node *find_argument(const struct render *r, const char *name, size_t len)
{
	const struct json_node *n = json_tree_member(r->arguments, name, len);

	return n && n->type != JSON_NULL ? n : NULL;
}

static const char *keep_rendered(struct render *r, struct buf *b)
{
	const char *out = arena_strndup(r->arena, b->len ? b->at : "", b->len);

	if (b->overflow)
		render_fault(r, "The request is larger than 1 MiB.");
	buf_free(b);
	return out;
}

/* A string as it is, anything else as JSON. */
static const char *argument_text(struct render *r, const struct json_node *n)
{
	struct buf b;

	if (!n)
		return "";
	if (n->type == JSON_STRING) {
		if (strlen(n->text) != n->len)
			render_fault(r, "An argument holds a NUL.");
		return n->text;
	}
	buf_init(&b, HTTP_TOOL_REQUEST_MAX);
	json_tree_write(&b, n);
	return keep_rendered(r, &b);
}

static bool is_plain(const struct json_node *n)
{
	return n && n->type != JSON_ARRAY && n->type != JSON_OBJECT;
}

/* Fills the places of a text, each through `put`. */
static void fill_places(struct render *r, struct buf *out, const char *text, size_t len,
	void (*put)(struct render *r, struct buf *out, const char *name, size_t len))
{
	const char *copy = arena_strndup(r->arena, text, len), *name, *end, *open;
	size_t name_len;

	while ((open = tool_place(copy, &name, &name_len, &end)) != NULL) {
		buf_put(out, copy, (size_t)(open - copy));
		if (name)
			put(r, out, name, name_len);
		else
			buf_puts(out, "{{");
		copy = end;
	}
	buf_puts(out, copy);
}

static void put_as_is(struct render *r, struct buf *out, const char *name, size_t len)
{
	buf_puts(out, argument_text(r, find_argument(r, name, len)));
}

static void put_escaped_argument(struct render *r, struct buf *out, const char *name, size_t len)
{
	buf_puts(out, fetch_escape(r->arena, argument_text(r, find_argument(r, name, len))));
}

/* ---- the URL ---- */

static void put_in_path(struct render *r, struct buf *out, const char *name, size_t len)
{
	const struct json_node *n = find_argument(r, name, len);

	if (!is_plain(n))
		render_fault(
			r, arena_printf(r->arena,
				   "The argument %.*s is part of the path and must be a string, a "
				   "number, true or false.",
				   (int)len, name));
	else if (n->type == JSON_STRING && !n->len)
		render_fault(
			r, arena_printf(r->arena,
				   "The argument %.*s is part of the path and must not be empty.",
				   (int)len, name));
	else
		put_escaped_argument(r, out, name, len);
}

/* A segment of one or two dots would be taken as a way up. */
static void put_segment(struct render *r, struct buf *out, const char *text, size_t len)
{
	size_t start = out->len, n;

	fill_places(r, out, text, len, put_in_path);
	n = out->len - start;
	if (memmem(text, len, "{{", 2) && n && n <= 2 &&
		strspn(arena_strndup(r->arena, out->at + start, n), ".") == n)
		render_fault(r, "An argument would change the path of the address.");
}

/* "name={{x}}" without the argument is left out. */
static bool pair_is_absent(struct render *r, const char *pair, size_t len)
{
	const char *copy = arena_strndup(r->arena, pair, len), *value = strchr(copy, '='), *name,
		   *end;
	size_t name_len;

	return value && tool_place(value + 1, &name, &name_len, &end) == value + 1 && name &&
	       !*end && !find_argument(r, name, name_len);
}

static void put_query(struct render *r, struct buf *out, const char *query)
{
	bool first = true;

	for (const char *p = query;; p++) {
		size_t len = strcspn(p, "&");

		if (!pair_is_absent(r, p, len)) {
			buf_putc(out, first ? '?' : '&');
			fill_places(r, out, p, len, put_escaped_argument);
			first = false;
		}
		p += len;
		if (!*p)
			break;
	}
}

static const char *render_url(struct render *r)
{
	const char *url = r->config->url, *authority = strstr(url, "://");
	struct buf out;

	buf_init(&out, TOOL_URL_MAX * 4);
	authority = authority ? authority + 3 + strcspn(authority + 3, "/?") : url + strlen(url);
	buf_put(&out, url, (size_t)(authority - url));
	while (*authority == '/') {
		size_t len = strcspn(authority + 1, "/?");

		buf_putc(&out, '/');
		put_segment(r, &out, authority + 1, len);
		authority += 1 + len;
	}
	if (*authority == '?')
		put_query(r, &out, authority + 1);
	if (out.overflow)
		render_fault(r, "The arguments make the address longer than 16 KiB.");
	return keep_rendered(r, &out);
}

/* ---- headers ---- */

static bool only_place(const char *text, const char **ret_name, size_t *ret_len)
{
	const char *end;

	return tool_place(text, ret_name, ret_len, &end) == text && *ret_name && !*end;
}

static void render_headers(struct render *r, struct fetch *out)
{
	const struct tool_config *config = r->config;
	struct fetch_header *list =
		arena_array(r->arena, struct fetch_header, config->header_count + 1);
	bool typed = false;

	out->headers = list;
	for (size_t i = 0; i < config->header_count; i++) {
		const struct fetch_header *h = &config->headers[i];
		const char *name, *value;
		struct buf b;
		size_t len;

		typed |= strcasecmp(h->name, "content-type") == 0;
		if (only_place(h->value, &name, &len) && !find_argument(r, name, len))
			continue;
		buf_init(&b, HTTP_TOOL_REQUEST_MAX);
		fill_places(r, &b, h->value, strlen(h->value), put_as_is);
		value = keep_rendered(r, &b);
		for (const char *p = value; *p; p++)
			if ((unsigned char)*p < 0x20 || *p == 0x7f)
				render_fault(
					r, arena_printf(r->arena,
						   "An argument of the header %s holds a control "
						   "character.",
						   h->name));
		list[out->header_count++] = (struct fetch_header){ h->name, value };
	}
	if (!typed && config->body_kind != TOOL_BODY_NONE)
		list[out->header_count++] =
			(struct fetch_header){ "Content-Type", "application/json" };
}

/* ---- the body ---- */

/* A string that is one place becomes the argument itself, of whatever type it is. */
static void put_json(struct render *r, struct buf *out, const struct json_node *n)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	const struct json_node *value;
	const char *name, *text;
	struct buf b;
	size_t len;

	if (n->type == JSON_STRING && only_place(n->text, &name, &len)) {
		value = find_argument(r, name, len);
		if (value)
			json_tree_write(out, value);
		else
			buf_puts(out, "null");
	} else if (n->type == JSON_STRING) {
		buf_init(&b, HTTP_TOOL_REQUEST_MAX);
		fill_places(r, &b, n->text, n->len, put_as_is);
		text = keep_rendered(r, &b);
		json_write_string(out, text, strlen(text));
	} else if (n->type == JSON_ARRAY || n->type == JSON_OBJECT) {
		bool object = n->type == JSON_OBJECT;

		buf_putc(out, object ? '{' : '[');
		for (size_t i = 0; i < n->count; i++) {
			if (i)
				buf_putc(out, ',');
			if (object) {
				json_write_string(out, n->members[i].name, n->members[i].len);
				buf_putc(out, ':');
			}
			put_json(r, out, object ? n->members[i].value : n->items[i]);
		}
		buf_putc(out, object ? '}' : ']');
	} else {
		json_tree_write(out, n);
	}
}

static void render_body(struct render *r, struct fetch *out)
{
	const struct json_node *body = r->config->body;
	struct buf b;

	if (r->config->body_kind == TOOL_BODY_NONE)
		return;
	buf_init(&b, HTTP_TOOL_REQUEST_MAX);
	if (r->config->body_kind == TOOL_BODY_JSON)
		put_json(r, &b, body);
	else
		fill_places(r, &b, body->text, body->len,
			r->config->body_kind == TOOL_BODY_FORM ? put_escaped_argument : put_as_is);
	out->body_len = b.len;
	out->body = keep_rendered(r, &b);
}

int http_tool_render(const struct tool_config *config, const struct json_node *arguments,
	struct arena *a, struct fetch *ret, const char **ret_why)
{
	struct render r = { .arena = a, .config = config, .arguments = arguments };

	*ret = (struct fetch){ .method = config->method,
		.answer_max = HTTP_TOOL_ANSWER_MAX,
		.cut = true,
		.total_ms = (int)tool_config_ms(config) };
	if (arguments->type != JSON_OBJECT)
		render_fault(&r, "The arguments must be an object.");
	ret->url = render_url(&r);
	render_headers(&r, ret);
	render_body(&r, ret);
	*ret_why = r.why;
	return r.why ? ERR_INVALID : 0;
}

/* ---- sending, and redirects ---- */

static bool host_allowed(const struct tool_config *config, const char *host)
{
	for (size_t i = 0; i < config->host_count; i++)
		if (strcasecmp(config->allowed_hosts[i], host) == 0)
			return true;
	return false;
}

/* To another origin go only headers that say what is sent and wanted; all others may be secrets. */
static void drop_secrets(struct fetch *request, struct arena *a)
{
	static const char *const harmless[] = { "accept", "accept-language", "content-type" };
	struct fetch_header *list = arena_array(a, struct fetch_header, request->header_count + 1);
	size_t count = 0;

	for (size_t i = 0; i < request->header_count; i++)
		for (size_t k = 0; k < sizeof harmless / sizeof *harmless; k++)
			if (strcasecmp(request->headers[i].name, harmless[k]) == 0)
				list[count++] = request->headers[i];
	request->headers = list;
	request->header_count = count;
}

/* Turns the request into the one that the answer asks for; false, with why, if it may not be made. */
static bool follow_redirect(const struct tool_config *config, struct fetch *request,
	const struct fetched *answer, struct arena *a, const char **ret_why)
{
	bool get = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
	struct fetch_origin from, to;

	if (!fetch_origin(a, request->url, &from) || !fetch_origin(a, answer->location, &to)) {
		*ret_why = "it redirects to something that is no address";
		return false;
	}
	if (!tool_config_same_origin(a, request->url, answer->location)) {
		if (strcmp(from.scheme, "https") == 0 && strcmp(to.scheme, "https") != 0) {
			*ret_why = "it redirects from https to http";
			return false;
		}
		if (!host_allowed(config, to.host)) {
			*ret_why = arena_printf(
				a, "it redirects to %s, which is not among allowed_hosts", to.host);
			return false;
		}
		drop_secrets(request, a);
	}
	if (answer->status == 303 || (!get && answer->status < 303)) {
		request->method = strcmp(request->method, "HEAD") == 0 ? "HEAD" : "GET";
		request->body = NULL;
		request->body_len = 0;
	}
	request->url = answer->location;
	return true;
}

bool http_is_redirect(const struct fetched *answer)
{
	switch (answer->status) {
	case 301:
	case 302:
	case 303:
	case 307:
	case 308:
		return answer->location != NULL;
	default:
		return false;
	}
}

int http_tool_run(const struct tool_config *config, const char *arguments, size_t len,
	enum egress egress, const _Atomic bool *stop, fetch_fn *fetch, struct arena *a,
	struct fetched *ret, const char **ret_why)
{
	const struct json_node *values = json_tree(a, arguments, len, ret_why, NULL);
	int64_t end = clock_mono_ms() + tool_config_ms(config);
	struct fetch request;
	int err;

	if (!values)
		return ERR_INVALID;
	err = http_tool_render(config, values, a, &request, ret_why);
	request.egress = egress;
	request.stop = stop;
	for (int turn = 0; !err; turn++) {
		int64_t left = end - clock_mono_ms();

		request.total_ms = (int)(left > 1 ? left : 1);
		err = fetch(&request, a, ret, ret_why);
		if (err || !http_is_redirect(ret))
			break;
		if (turn == HTTP_TOOL_REDIRECTS_MAX) {
			*ret_why = "it redirects too often";
			err = ERR_UPSTREAM;
		} else if (!follow_redirect(config, &request, ret, a, ret_why)) {
			err = ERR_UPSTREAM;
		}
	}
	return err;
}
