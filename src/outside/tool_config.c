/* tool_config.c - see tool_config.h.  Everything here is about the text of a config; nothing is called. */
#include "outside/tool_config.h"

#include <string.h>
#include <strings.h>

#include "outside/sql_wire.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
#define TOKEN_CHARACTERS NAME_CHARACTERS "!#$%&'*+^`|~"

enum { SHOWN_MAX = 300 * 1024, TOOL_NAME_MAX = 128, HOST_MAX = 253 };

struct config_reader {
	struct arena *arena;
	const struct json_schema *input;
	struct tool_config *out;
	struct problem *problem;
	enum egress egress;
};

const char *tool_place(
	const char *text, const char **ret_name, size_t *ret_len, const char **ret_end)
{
	const char *open = strstr(text, "{{"), *name;
	size_t len;

	if (!open)
		return NULL;
	name = open + 2;
	len = strspn(name, NAME_CHARACTERS);
	if (len && strncmp(name + len, "}}", 2) == 0) {
		*ret_name = name;
		*ret_len = len;
		*ret_end = name + len + 2;
	} else {
		*ret_name = NULL;
		*ret_len = 0;
		*ret_end = open + 2;
	}
	return open;
}

/* ---- texts with places ---- */

static bool config_has_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return true;
	return false;
}

static void check_places(struct config_reader *r, const char *field, const char *text)
{
	const char *name, *end;
	size_t len;

	for (const char *p = text; r->input && tool_place(p, &name, &len, &end); p = end) {
		if (!name)
			problem_field(r->problem, r->arena, field, "place",
				"has {{ without the name of an argument and }}");
		else if (!json_schema_has_property(r->input, name, len))
			problem_field(r->problem, r->arena, field, "place",
				"has the place {{%.*s}}, which is not a property of input_schema",
				(int)len, name);
	}
}

static const char *config_text_of(
	struct config_reader *r, const struct json_node *n, const char *field, size_t max)
{
	if (n->type != JSON_STRING)
		problem_field(r->problem, r->arena, field, "type", "must be a string");
	else if (!n->len || n->len > max)
		problem_field(r->problem, r->arena, field, n->len ? "too_long" : "too_short",
			"must have 1 to %zu bytes", max);
	else if (config_has_control(n->text, n->len))
		problem_field(
			r->problem, r->arena, field, "control", "must not hold control characters");
	else
		return n->text;
	return NULL;
}

/* With every place filled by a letter. */
static const char *places_filled(struct arena *a, const char *text)
{
	const char *out = "", *p = text, *open, *name, *end;
	size_t len;

	while ((open = tool_place(p, &name, &len, &end)) != NULL) {
		out = arena_printf(a, "%s%.*sx", out, (int)(open - p), p);
		p = end;
	}
	return arena_printf(a, "%s%s", out, p);
}

/* True for "https://host:port" with whatever after it.  Other spellings are not taken, or somebody might
 * read the host elsewhere: to some, https:///x is https://x. */
static bool host_is_plain(const char *url)
{
	size_t scheme = strncmp(url, "https://", 8) == 0  ? 8
			: strncmp(url, "http://", 7) == 0 ? 7
							  : 0;
	size_t len = strcspn(url + scheme, "/?#");

	return scheme && len && strspn(url + scheme, NAME_CHARACTERS "[]:") == len;
}

/* Its password goes where secrets go. */
static void read_database(struct config_reader *r, const char *url)
{
	struct tool_config *out = r->out;
	const char *fault = sql_database_read(r->arena, url, r->egress, &out->database);

	out->url = url;
	if (fault)
		problem_field(r->problem, r->arena, "config.url", "address", "%s", fault);
	else if (out->database.password)
		out->headers[out->header_count++] =
			(struct fetch_header){ "password", out->database.password };
}

static void read_url(struct config_reader *r, const struct json_node *n)
{
	const char *field = "config.url", *url = config_text_of(r, n, field, TOOL_URL_MAX), *path,
		   *open;

	if (!url)
		return;
	if (r->out->kind == TOOL_SQL) {
		read_database(r, url);
		return;
	}
	path = strstr(url, "://");
	path = path ? path + 3 + strcspn(path + 3, "/?#") : url + strlen(url);
	open = strstr(url, "{{");
	if (open && open < path)
		problem_field(r->problem, r->arena, field, "place",
			"must not have a place in its scheme, host or port");
	else if (open && r->out->kind == TOOL_MCP)
		problem_field(r->problem, r->arena, field, "place", "must not have a place");
	else if (!host_is_plain(url) || !fetch_permits(places_filled(r->arena, url), r->egress))
		problem_field(r->problem, r->arena, field, "address",
			r->egress == EGRESS_ANY
				? "must be an http or https URL without user, password and fragment"
				: "must be an https URL without user, password and fragment, and not "
				  "of a private address (the setting allow_private_addresses permits "
				  "those)");
	else
		check_places(r, field, url);
	r->out->url = url;
}

/* ---- headers ---- */

/* What the connection is made of, and what would speak to a proxy. */
static bool is_our_header(const char *name)
{
	static const char *const list[] = { "host", "connection", "content-length", "expect",
		"keep-alive", "te", "trailer", "transfer-encoding", "upgrade" };

	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		if (strcasecmp(name, list[i]) == 0)
			return true;
	return strncasecmp(name, "proxy-", 6) == 0;
}

static void read_config_header(struct config_reader *r, const struct json_member *m)
{
	struct tool_config *out = r->out;
	const char *field = arena_printf(r->arena, "config.headers.%s", m->name), *value;

	if (!m->len || m->len > 128 || strspn(m->name, TOKEN_CHARACTERS) != m->len)
		problem_field(r->problem, r->arena, field, "name", "is not the name of a header");
	else if (is_our_header(m->name))
		problem_field(r->problem, r->arena, field, "name", "is set by the service itself");
	else if (out->header_count == TOOL_HEADERS_MAX)
		problem_field(r->problem, r->arena, "config.headers", "too_many",
			"must have at most %d headers", TOOL_HEADERS_MAX);
	else if ((value = config_text_of(r, m->value, field, TOOL_HEADER_VALUE_MAX)) != NULL) {
		for (size_t i = 0; i < out->header_count; i++)
			if (strcasecmp(out->headers[i].name, m->name) == 0)
				problem_field(r->problem, r->arena, field, "repeated",
					"is there twice, in another case");
		if (out->kind == TOOL_HTTP)
			check_places(r, field, value);
		else if (strstr(value, "{{"))
			problem_field(
				r->problem, r->arena, field, "place", "must not have a place");
		out->headers[out->header_count++] = (struct fetch_header){ m->name, value };
	}
}

static void read_config_headers(struct config_reader *r, const struct json_node *n)
{
	if (n->type != JSON_OBJECT) {
		problem_field(r->problem, r->arena, "config.headers", "type", "must be an object");
		return;
	}
	for (size_t i = 0; i < n->count; i++)
		read_config_header(r, &n->members[i]);
}

/* ---- the body ---- */

static void check_body(struct config_reader *r, const struct json_node *n)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	if (n->type == JSON_STRING && strlen(n->text) != n->len)
		problem_field(
			r->problem, r->arena, "config.body", "control", "must not hold a NUL");
	else if (n->type == JSON_STRING)
		check_places(r, "config.body", n->text);
	for (size_t i = 0; i < n->count; i++) {
		if (n->type == JSON_OBJECT && strstr(n->members[i].name, "{{"))
			problem_field(r->problem, r->arena, "config.body", "place",
				"must not have a place in the name of a member");
		check_body(r, n->type == JSON_OBJECT ? n->members[i].value : n->items[i]);
	}
}

static const char *content_type(const struct tool_config *config)
{
	for (size_t i = 0; i < config->header_count; i++)
		if (strcasecmp(config->headers[i].name, "content-type") == 0)
			return config->headers[i].value;
	return "application/json";
}

static void read_config_body(struct config_reader *r, const struct json_node *n)
{
	const char *type = content_type(r->out), *why = NULL;

	if (n->type == JSON_STRING && strcasestr(type, "json")) {
		n = json_tree(r->arena, n->text, n->len, &why, NULL);
		if (!n) {
			problem_field(r->problem, r->arena, "config.body", "json",
				"is not JSON, as its Content-Type says: %s", why);
			return;
		}
		r->out->body_kind = TOOL_BODY_JSON;
	} else if (n->type == JSON_STRING) {
		r->out->body_kind =
			strcasestr(type, "x-www-form-urlencoded") ? TOOL_BODY_FORM : TOOL_BODY_TEXT;
	} else {
		r->out->body_kind = TOOL_BODY_JSON;
	}
	r->out->body = n;
	check_body(r, n);
}

/* ---- the whole ---- */

static void read_method(struct config_reader *r, const struct json_node *n)
{
	static const char *const known[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" };

	for (size_t i = 0; n->type == JSON_STRING && i < sizeof known / sizeof *known; i++)
		if (strcmp(n->text, known[i]) == 0)
			r->out->method = known[i];
	if (!r->out->method)
		problem_field(r->problem, r->arena, "config.method", "choice",
			"must be one of: GET, HEAD, POST, PUT, PATCH, DELETE");
}

static void read_hosts(struct config_reader *r, const struct json_node *n)
{
	if (n->type != JSON_ARRAY || n->count > TOOL_HOSTS_MAX) {
		problem_field(r->problem, r->arena, "config.allowed_hosts", "type",
			"must be a list of at most %d names of hosts", TOOL_HOSTS_MAX);
		return;
	}
	for (size_t i = 0; i < n->count; i++) {
		const char *field = arena_printf(r->arena, "config.allowed_hosts[%zu]", i);
		const char *host = config_text_of(r, n->items[i], field, HOST_MAX);

		if (host && strspn(host, NAME_CHARACTERS "[]:") != strlen(host))
			problem_field(r->problem, r->arena, field, "host",
				"must be the name of a host, without scheme and path");
		else if (host)
			r->out->allowed_hosts[r->out->host_count++] = host;
	}
}

static void read_config_tool(struct config_reader *r, const struct json_node *n)
{
	const char *name = config_text_of(r, n, "config.tool", TOOL_NAME_MAX);

	if (name && strspn(name, NAME_CHARACTERS) != strlen(name))
		problem_field(r->problem, r->arena, "config.tool", "pattern",
			"must be made of letters, digits, _, . and -");
	r->out->tool = name;
}

static void read_timeout(struct config_reader *r, const struct json_node *n)
{
	if (n->type != JSON_NUMBER || n->number < 1 || n->number > TOOL_TIMEOUT_S_MAX ||
		n->number != (int)n->number)
		problem_field(r->problem, r->arena, "config.timeout_s", "range",
			"must be a whole number from 1 to %d", TOOL_TIMEOUT_S_MAX);
	else
		r->out->timeout_s = (int)n->number;
}

static void read_config_flag(
	struct config_reader *r, const struct json_node *n, const char *field, bool *ret)
{
	if (n->type != JSON_BOOL)
		problem_field(r->problem, r->arena, field, "type", "must be true or false");
	else
		*ret = n->flag;
}

static void read_read_only(struct config_reader *r, const struct json_node *n)
{
	bool reads = true;

	read_config_flag(r, n, "config.read_only", &reads);
	r->out->writes = !reads;
}

static void read_max_rows(struct config_reader *r, const struct json_node *n)
{
	if (n->type != JSON_NUMBER || n->number < 1 || n->number > SQL_ROWS_MAX ||
		n->number != (int)n->number)
		problem_field(r->problem, r->arena, "config.max_rows", "range",
			"must be a whole number from 1 to %d", SQL_ROWS_MAX);
	else
		r->out->rows_max = (int)n->number;
}

static void read_statement(struct config_reader *r, const struct json_node *n)
{
	if (n->type != JSON_STRING || !n->len || n->len > TOOL_SQL_MAX || strlen(n->text) != n->len)
		problem_field(r->problem, r->arena, "config.statement", "type",
			"must be a string of 1 to %d bytes without a NUL", TOOL_SQL_MAX);
	else
		check_places(r, "config.statement", r->out->statement = n->text);
}

static bool member_known(enum tool_kind kind, const char *name)
{
	static const char *const http[] = { "method", "url", "headers", "body", "allowed_hosts",
		"timeout_s", NULL };
	static const char *const mcp[] = { "url", "headers", "tool", "timeout_s", NULL };
	static const char *const sql[] = { "url", "statement", "read_only", "max_rows", "timeout_s",
		NULL };
	static const char *const *const known[] = {
		[TOOL_HTTP] = http, [TOOL_MCP] = mcp, [TOOL_SQL] = sql
	};

	for (const char *const *p = known[kind]; *p; p++)
		if (strcmp(*p, name) == 0)
			return true;
	return false;
}

static void need_member(struct config_reader *r, const struct json_node *config, const char *name)
{
	if (!json_tree_member(config, name, strlen(name)))
		problem_field(r->problem, r->arena, arena_printf(r->arena, "config.%s", name),
			"required", "is required");
}

static void read_config_members(struct config_reader *r, const struct json_node *config)
{
	static const struct {
		const char *name;
		void (*read)(struct config_reader *r, const struct json_node *n);
	} order[] = { { "method", read_method }, { "url", read_url },
		{ "headers", read_config_headers }, { "body", read_config_body },
		{ "allowed_hosts", read_hosts }, { "tool", read_config_tool },
		{ "statement", read_statement }, { "read_only", read_read_only },
		{ "max_rows", read_max_rows }, { "timeout_s", read_timeout } };

	for (size_t i = 0; i < config->count; i++)
		if (!member_known(r->out->kind, config->members[i].name))
			problem_field(r->problem, r->arena,
				arena_printf(r->arena, "config.%s", config->members[i].name),
				"unknown_field", "is not a field of such a config");
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		const char *name = order[i].name;
		const struct json_node *n = json_tree_member(config, name, strlen(name));

		if (n && n->type != JSON_NULL && member_known(r->out->kind, name))
			order[i].read(r, n);
	}
}

int tool_config_read(struct arena *a, enum tool_kind kind, const char *text, enum egress egress,
	const struct json_schema *input, struct tool_config *ret, struct problem *p)
{
	struct config_reader r = { a, input, ret, p, egress };
	const struct json_node *config = json_tree(a, text, strlen(text), NULL, NULL);
	size_t before = p->count;

	*ret = (struct tool_config){ .kind = kind, .rows_max = TOOL_SQL_ROWS };
	if (!config || config->type != JSON_OBJECT)
		return problem_field(p, a, "config", "type", "must be an object");
	need_member(&r, config, "url");
	if (kind != TOOL_SQL)
		need_member(&r, config, kind == TOOL_HTTP ? "method" : "tool");
	read_config_members(&r, config);
	if (ret->body && ret->method &&
		(strcmp(ret->method, "GET") == 0 || strcmp(ret->method, "HEAD") == 0))
		problem_field(
			p, a, "config.body", "combination", "does not go with %s", ret->method);
	return p->count == before ? 0 : ERR_INVALID;
}

/* ---- secrets ---- */

int tool_config_keep(struct arena *a, struct tool_config *config, const char *stored,
	bool same_origin, struct problem *p)
{
	const struct json_node *values =
		stored ? json_tree(a, stored, strlen(stored), NULL, NULL) : NULL;
	size_t before = p->count;

	for (size_t i = 0; i < config->header_count; i++) {
		struct fetch_header *h = &config->headers[i];
		const char *field = config->kind == TOOL_SQL
					    ? "config.url"
					    : arena_printf(a, "config.headers.%s", h->name),
			   *value;

		if (strcmp(h->value, TOOL_MASK) != 0)
			continue;
		value = values ? json_tree_text(values, h->name) : NULL;
		if (!value)
			problem_field(p, a, field, "masked",
				"is the mask of a value, and none that can be opened is stored for it: send it anew");
		else if (!same_origin)
			problem_field(p, a, field, "masked",
				config->kind == TOOL_SQL
					? "has the mask of a password that was stored for another host, port or user, or a safer sslmode; send the password anew"
					: "was stored for another scheme, host or port; send its value anew");
		else
			h->value = value;
	}
	return p->count == before ? 0 : ERR_INVALID;
}

const char *tool_config_secrets(struct arena *a, const struct tool_config *config)
{
	struct buf b;
	const char *out;

	buf_init(&b, SHOWN_MAX);
	buf_putc(&b, '{');
	for (size_t i = 0; i < config->header_count; i++) {
		const struct fetch_header *h = &config->headers[i];

		if (i)
			buf_putc(&b, ',');
		json_write_string(&b, h->name, strlen(h->name));
		buf_putc(&b, ':');
		json_write_string(&b, h->value, strlen(h->value));
	}
	buf_putc(&b, '}');
	out = b.overflow ? NULL : arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return out;
}

const char *tool_config_shown(struct arena *a, const char *text)
{
	struct json_node *config = json_tree(a, text, strlen(text), NULL, NULL), *headers, *url;
	struct buf b;

	url = config ? json_tree_member(config, "url", 3) : NULL;
	if (url && url->type == JSON_STRING && sql_database_named(url->text)) {
		url->text = sql_database_masked(a, url->text, TOOL_MASK);
		url->len = strlen(url->text);
	}

	headers = config ? json_tree_member(config, "headers", 7) : NULL;
	for (size_t i = 0; headers && headers->type == JSON_OBJECT && i < headers->count; i++)
		*headers->members[i].value = (struct json_node){
			.type = JSON_STRING, .text = TOOL_MASK, .len = strlen(TOOL_MASK)
		};
	if (!config)
		return "{}";
	buf_init(&b, SHOWN_MAX * 2);
	json_tree_write(&b, config);
	return arena_take(a, &b);
}

bool tool_config_same_origin(struct arena *a, const char *url, const char *other)
{
	struct fetch_origin x, y;

	if (sql_database_named(url))
		return sql_database_same(a, url, other);
	return fetch_origin(a, places_filled(a, url), &x) &&
	       fetch_origin(a, places_filled(a, other), &y) && strcmp(x.scheme, y.scheme) == 0 &&
	       strcmp(x.host, y.host) == 0 && x.port == y.port;
}
