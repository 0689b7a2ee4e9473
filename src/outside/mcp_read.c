/* mcp_read.c - see mcp_read.h. */
#include "outside/mcp_read.h"

#include <string.h>

static bool skip_to(struct json_reader *r, struct slice *ret)
{
	return json_skip(r, &ret->at, &ret->len);
}

static bool flag_or_false(struct json_reader *r)
{
	bool flag = false;

	if (json_peek(r) != JSON_BOOL)
		json_skip(r, NULL, NULL);
	else
		json_read_bool(r, &flag);
	return flag;
}

static bool message_answers(struct arena *a, const struct mcp_message *m, int64_t id)
{
	return m->kind == MCP_REPLY && m->id.at &&
	       strcmp(arena_strndup(a, m->id.at, m->id.len),
		       arena_printf(a, "%lld", (long long)id)) == 0;
}

void mcp_read_message(struct arena *a, struct slice text, int64_t id, struct mcp_message *ret)
{
	struct json_reader r;
	struct slice item;

	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_ARRAY) {
		mcp_message_read(a, text, ret);
	} else {
		*ret = (struct mcp_message){ .kind = MCP_NOTHING };
		if (!json_enter_array(&r))
			return;
		while (json_next_item(&r) && skip_to(&r, &item)) {
			mcp_message_read(a, item, ret);
			if (message_answers(a, ret, id))
				return;
		}
		*ret = (struct mcp_message){ .kind = MCP_NOTHING };
	}
	/* a reply to somebody else is none; an error may come without saying to what */
	if (ret->kind == MCP_REPLY && !message_answers(a, ret, id) &&
		!(ret->failed && (!ret->id.at || mcp_key_is(ret->id.at, ret->id.len, "null"))))
		ret->kind = MCP_NOTHING;
}

/* ---- what a tool said ---- */

struct mcp_block {
	const char *type, *text, *mime, *uri, *name, *description;
	size_t text_len, data_len; /* data: base64 characters */
	bool has_data;
};

static void read_mcp_block(struct json_reader *r, struct mcp_block *b)
{ /* NOLINT(misc-no-recursion): a resource is one step deep, and the reader bounds depth */
	const char *key;
	size_t len;

	if (json_peek(r) != JSON_OBJECT) {
		json_skip(r, NULL, NULL);
		return;
	}
	json_enter_object(r);
	while (json_next_key(r, &key, &len)) {
		if (mcp_key_is(key, len, "type")) {
			b->type = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "text") && json_peek(r) == JSON_STRING) {
			json_read_string(r, &b->text, &b->text_len);
		} else if (mcp_key_is(key, len, "mimeType")) {
			b->mime = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "uri")) {
			b->uri = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "name")) {
			b->name = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "description")) {
			b->description = mcp_text_or_null(r);
		} else if ((mcp_key_is(key, len, "data") || mcp_key_is(key, len, "blob")) &&
			   json_peek(r) == JSON_STRING) {
			const char *data;

			json_read_escaped(r, &data, &b->data_len);
			b->has_data = true;
		} else if (mcp_key_is(key, len, "resource")) {
			struct mcp_block inner = { 0 };

			read_mcp_block(r, &inner);
			inner.type = b->type;
			*b = inner;
			b->type = b->type ? b->type : "resource";
		} else {
			json_skip(r, NULL, NULL);
		}
	}
}

static const char *or_else(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static void put_block(struct buf *out, const struct mcp_block *b, struct mcp_result *ret)
{
	const char *type = or_else(b->type, "no stated kind");

	if (out->len)
		buf_putc(out, '\n');
	if (strcmp(type, "text") == 0 && b->text) {
		buf_put(out, b->text, b->text_len);
	} else if (strcmp(type, "resource_link") == 0) {
		buf_printf(out, "[Link to %s: %s%s%s]", or_else(b->name, "a resource"),
			or_else(b->uri, "without an address"), b->description ? " - " : "",
			or_else(b->description, ""));
	} else if (b->text) {
		buf_printf(out, "[Resource %s]\n", or_else(b->uri, "without an address"));
		buf_put(out, b->text, b->text_len);
	} else {
		buf_printf(out, "[A block of %s%s%s%s%s", type, b->mime ? ", " : "",
			or_else(b->mime, ""), b->uri ? ", " : "", or_else(b->uri, ""));
		if (b->has_data)
			buf_printf(out, ", about %zu bytes", b->data_len / 4 * 3);
		buf_puts(out, ": it is no text and is not shown]");
		ret->more = true;
	}
}

/* Servers are asked to say structured content again as text; the text is JSON. */
static bool says_the_same(struct slice structured, const char *text, size_t len)
{
	struct buf one, other;
	bool same;

	buf_init(&one, structured.len + 1);
	json_write_compact(&one, structured.at, structured.len);
	buf_init(&other, len + 1);
	json_write_compact(&other, text, len);
	same = one.len == other.len && memcmp(one.at, other.at, one.len) == 0;
	buf_free(&one);
	buf_free(&other);
	return same;
}

static bool is_json_text(struct arena *a, const char *text, size_t len)
{
	struct json_reader r;

	json_open(&r, a, text, len);
	return json_skip(&r, NULL, NULL) && json_end(&r);
}

/* What the server would like to have from us first. */
static void read_wanted(struct arena *a, struct slice requests, struct buf *out)
{
	const char *key, *method, *message;
	struct json_reader r;
	struct slice one;
	size_t len;

	if (!requests.at)
		return;
	json_open(&r, a, requests.at, requests.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return;
	while (json_next_key(&r, &key, &len) && skip_to(&r, &one)) {
		struct slice params = { 0 };
		struct json_reader inner;
		const char *name;
		size_t name_len;

		method = mcp_read_member(a, one, "method");
		json_open(&inner, a, one.at, one.len);
		json_enter_object(&inner);
		while (json_next_key(&inner, &name, &name_len)) {
			if (mcp_key_is(name, name_len, "params"))
				skip_to(&inner, &params);
			else
				json_skip(&inner, NULL, NULL);
		}
		message = mcp_read_member(a, params, "message");
		buf_printf(out, " %s%s%s.", or_else(method, "something"), message ? ": " : "",
			or_else(message, ""));
	}
}

struct result_parts {
	struct slice structured, requests;
	const char *kind; /* resultType */
	bool has_content, same;
	size_t blocks;
};

static void read_mcp_content(struct arena *a, struct json_reader *r, struct buf *out,
	struct result_parts *parts, struct mcp_result *ret)
{
	if (json_peek(r) != JSON_ARRAY) {
		json_skip(r, NULL, NULL);
		return;
	}
	parts->has_content = true;
	json_enter_array(r);
	while (json_next_item(r)) {
		struct mcp_block b = { 0 };

		read_mcp_block(r, &b);
		if (r->fault)
			return;
		put_block(out, &b, ret);
		parts->blocks++;
		if (parts->structured.at && b.text && is_json_text(a, b.text, b.text_len))
			parts->same |= says_the_same(parts->structured, b.text, b.text_len);
	}
}

/* structuredContent may stand after the content that repeats it. */
static struct slice find_structured(struct arena *a, struct slice text)
{
	struct slice found = { 0 };
	struct json_reader r;
	const char *key;
	size_t len;

	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return found;
	while (json_next_key(&r, &key, &len))
		if (mcp_key_is(key, len, "structuredContent"))
			skip_to(&r, &found);
		else
			json_skip(&r, NULL, NULL);
	return found;
}

static bool read_parts(struct arena *a, struct slice text, struct buf *out,
	struct result_parts *parts, struct mcp_result *ret)
{
	struct json_reader r;
	const char *key;
	size_t len;

	parts->structured = find_structured(a, text);
	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return false;
	while (json_next_key(&r, &key, &len)) {
		if (mcp_key_is(key, len, "content"))
			read_mcp_content(a, &r, out, parts, ret);
		else if (mcp_key_is(key, len, "isError"))
			ret->failed = flag_or_false(&r);
		else if (mcp_key_is(key, len, "resultType"))
			parts->kind = mcp_text_or_null(&r);
		else if (mcp_key_is(key, len, "inputRequests"))
			skip_to(&r, &parts->requests);
		else
			json_skip(&r, NULL, NULL);
	}
	return json_end(&r);
}

bool mcp_read_result(struct arena *a, struct slice text, struct mcp_result *ret)
{
	struct result_parts parts = { 0 };
	struct buf out;
	bool good;

	*ret = (struct mcp_result){ .raw = text.at, .raw_len = text.len };
	buf_init(&out, MCP_ANSWER_MAX * 2);
	good = read_parts(a, text, &out, &parts, ret);
	if (parts.kind && strcmp(parts.kind, "complete") != 0) {
		out.len = 0;
		ret->failed = true;
		buf_puts(&out,
			"The tool was not run to its end: its server asks for something that "
			"cannot be given here.");
		read_wanted(a, parts.requests, &out);
	} else if (parts.structured.at && !parts.same) {
		if (out.len)
			buf_puts(&out, "\nStructured content: ");
		buf_put(&out, parts.structured.at, parts.structured.len);
	} else if (!parts.has_content && !parts.structured.at) {
		good = false;
	}
	ret->len = out.len;
	ret->text = arena_strndup(a, out.len ? out.at : "", out.len);
	buf_free(&out);
	return good;
}

/* ---- lists of tools ---- */

static void read_mcp_tool(struct arena *a, struct json_reader *r, struct mcp_tools *tools)
{
	struct mcp_tool t = { 0 };
	const char *key;
	size_t len;

	if (json_peek(r) != JSON_OBJECT) {
		json_skip(r, NULL, NULL);
		return;
	}
	json_enter_object(r);
	while (json_next_key(r, &key, &len)) {
		if (mcp_key_is(key, len, "name")) {
			t.name = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "title")) {
			t.title = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "description")) {
			t.description = mcp_text_or_null(r);
		} else if (mcp_key_is(key, len, "inputSchema")) {
			struct slice schema = { 0 };

			if (skip_to(r, &schema))
				t.input_schema = arena_strndup(a, schema.at, schema.len);
		} else {
			json_skip(r, NULL, NULL);
		}
	}
	if (!t.name || r->fault)
		return;
	t.input_schema = t.input_schema ? t.input_schema : "{\"type\":\"object\"}";
	t.fault = mcp_param_headers(a, t.input_schema, NULL, NULL, NULL);
	if (tools->count == MCP_TOOLS_MAX)
		tools->more = true;
	else
		tools->list[tools->count++] = t;
}

bool mcp_read_tools(
	struct arena *a, struct slice text, struct mcp_tools *tools, const char **ret_cursor)
{
	struct json_reader r;
	const char *key;
	bool found = false;
	size_t len;

	*ret_cursor = NULL;
	json_open(&r, a, text.at, text.len);
	if (json_peek(&r) != JSON_OBJECT || !json_enter_object(&r))
		return false;
	while (json_next_key(&r, &key, &len)) {
		if (mcp_key_is(key, len, "nextCursor")) {
			*ret_cursor = mcp_text_or_null(&r);
		} else if (mcp_key_is(key, len, "tools") && json_peek(&r) == JSON_ARRAY) {
			found = true;
			json_enter_array(&r);
			while (json_next_item(&r))
				read_mcp_tool(a, &r, tools);
		} else {
			json_skip(&r, NULL, NULL);
		}
	}
	return json_end(&r) && found;
}
