/* mcp_out.c - see mcp_out.h. */
#include "mcp/mcp_out.h"

#include <string.h>

enum {
	SENTENCE_MAX = 64 * 1024,
	CURSOR_MARK = 12, /* signs of a cursor that tell whether it is one */
	CURSOR_MAX = 128,
};

void mcp_put_text(struct buf *out, const char *name, const char *text)
{
	if (!text)
		return;
	if (out->len && !strchr("{[,", out->at[out->len - 1]))
		buf_putc(out, ',');
	json_write_string(out, name, strlen(name));
	buf_putc(out, ':');
	json_write_string(out, text, strlen(text));
}

void mcp_result_begin(struct buf *out, bool modern, const char *id)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{", id);
	if (modern)
		buf_lit(out,
			"\"resultType\":\"complete\",\"_meta\":{\"" MCP_META
			"serverInfo\":{\"name\":\"lodge\",\"version\":\"" LODGE_VERSION "\"}},");
}

void mcp_result_end(struct buf *out)
{
	buf_lit(out, "}}");
}

void mcp_put_cache(struct buf *out, bool modern, int ttl_ms)
{
	if (modern)
		buf_printf(out, ",\"ttlMs\":%d,\"cacheScope\":\"private\"", ttl_ms);
}

void mcp_put_error(struct buf *out, const char *id, const struct mcp_fault *f)
{
	buf_lit(out, "{\"jsonrpc\":\"2.0\"");
	if (id)
		buf_printf(out, ",\"id\":%s", id);
	buf_printf(out, ",\"error\":{\"code\":%d", (int)f->code);
	mcp_put_text(out, "message", f->message);
	if (f->data)
		buf_printf(out, ",\"data\":%s", f->data);
	buf_lit(out, "}}");
}

int mcp_error_status(bool modern, enum mcp_code code)
{
	switch (code) {
	case MCP_PARSE_ERROR:
	case MCP_INVALID_REQUEST:
	case MCP_HEADER_MISMATCH:
	case MCP_MISSING_CAPABILITY:
	case MCP_UNSUPPORTED_VERSION:
		return 400;
	case MCP_METHOD_NOT_FOUND:
		return modern ? 404 : 200;
	default:
		return 200;
	}
}

int mcp_turn_fail(struct mcp_turn *t, enum mcp_code code, const char *message)
{
	mcp_put_error(t->out, t->said->id, &(struct mcp_fault){ .code = code, .message = message });
	t->status = mcp_error_status(t->post->modern, code);
	return 0;
}

/* No secret: a cursor opens nothing.  It tells one of ours from a text that somebody made up. */
const char *mcp_cursor(struct call *c, const char *list, const char *after)
{
	char mark[65];

	credential_hash(
		arena_printf(c->arena, "%s\n%s\n%s", c->caller.tenant_id, list, after), mark);
	return arena_printf(c->arena, "%.*s%s", CURSOR_MARK, mark, after);
}

const char *mcp_cursor_read(struct call *c, const char *list, const char *cursor)
{
	size_t len = strlen(cursor);

	if (len < CURSOR_MARK || len > CURSOR_MAX ||
		strcmp(mcp_cursor(c, list, cursor + CURSOR_MARK), cursor) != 0)
		return NULL;
	return cursor + CURSOR_MARK;
}

void mcp_put_tool_error(struct buf *out, bool modern, const char *id, const char *sentence)
{
	mcp_result_begin(out, modern, id);
	buf_lit(out, "\"content\":[{\"type\":\"text\"");
	mcp_put_text(out, "text", sentence);
	buf_lit(out, "}],\"isError\":true");
	mcp_result_end(out);
}

void mcp_put_tool_json(struct buf *out, bool modern, const char *id, const char *json)
{
	mcp_result_begin(out, modern, id);
	buf_lit(out, "\"content\":[{\"type\":\"text\"");
	mcp_put_text(out, "text", json);
	buf_printf(out, "}],\"structuredContent\":%s,\"isError\":false", json);
	mcp_result_end(out);
}

const char *mcp_problem_text(struct arena *a, const struct problem *p)
{
	struct buf b;

	buf_init(&b, SENTENCE_MAX);
	buf_puts(&b, p->detail ? p->detail : error_row(p->err)->title);
	for (const struct field_error *e = p->first; e; e = e->next)
		buf_printf(&b, "%s %s %s", e == p->first ? ":" : ",", e->field, e->message);
	return arena_take(a, &b);
}
