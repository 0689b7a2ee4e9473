/* mcp.c - see mcp.h: which revision a server speaks, and what is asked of it. */
#include "outside/mcp.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8_cut.h"
#include "outside/mcp_wire.h"

static int mcp_refuse(const char **ret_why, const char *why)
{
	*ret_why = why;
	return ERR_UPSTREAM;
}

/* ---- who is there? ---- */

static bool supports_version(struct mcp_line *l, struct slice object, const char *list, bool modern)
{
	if (modern)
		return mcp_list_holds(l->arena, object, list, MCP_VERSION_MODERN);
	for (size_t i = 0; i < MCP_LEGACY_COUNT; i++)
		if (mcp_list_holds(l->arena, object, list, mcp_legacy_versions[i]))
			return true;
	return false;
}

/* Asks in the new way; what is no answer in the new way is one of an older server. */
static int find_era(struct mcp_line *l, const char **ret_why)
{
	struct mcp_request in = { .method = "server/discover", .modern = true };
	struct mcp_exchange x;
	const struct mcp_message *m = &x.message;
	int err = mcp_exchange(l, &in, &x, ret_why);
	bool reply;

	if (err)
		return err;
	if (x.status == 401 || x.status == 403)
		return mcp_refuse(ret_why,
			arena_printf(l->arena, "the server lets nobody in with these headers (%d)",
				x.status));
	reply = m->kind == MCP_REPLY;
	l->peer->era = MCP_LEGACY;
	if (reply && !m->failed) {
		/* some older servers answer anything with an empty result */
		if (supports_version(l, m->result, "supportedVersions", true))
			l->peer->era = MCP_MODERN;
	} else if (reply && m->code == MCP_UNSUPPORTED_VERSION) {
		if (!supports_version(l, m->data, "supported", false))
			return mcp_refuse(ret_why,
				"the server speaks none of the revisions of the protocol that are known "
				"here");
	} else if (reply && (m->code == MCP_HEADER_MISMATCH || m->code == MCP_MISSING_CAPABILITY)) {
		l->peer->era = MCP_MODERN;
	}
	return 0;
}

/* The handshake of the older revisions. */
static int mcp_initialize(struct mcp_line *l, const char **ret_why)
{
	static const char params[] = "\"protocolVersion\":\"" MCP_VERSION_LEGACY "\","
				     "\"capabilities\":{},\"clientInfo\":{\"name\":\"lodge\","
				     "\"version\":\"" LODGE_VERSION "\"}";
	struct mcp_request in = { .method = "initialize", .params = SLICE(params) };
	struct mcp_exchange x;
	const char *version;
	int err;

	l->peer->version[0] = l->peer->session[0] = '\0';
	err = mcp_exchange(l, &in, &x, ret_why);
	if (err)
		return err;
	if (x.message.kind != MCP_REPLY)
		return mcp_refuse(ret_why,
			arena_printf(l->arena,
				"the server answered %d and does not speak the protocol at this address",
				x.status));
	if (x.message.failed)
		return mcp_refuse(ret_why, arena_printf(l->arena, "the server refused us: %.*s",
						   UTF8_SHOWN(300, x.message.error)));
	version = mcp_read_member(l->arena, x.message.result, "protocolVersion");
	if (!mcp_legacy_known(version, MCP_LEGACY_COUNT))
		return mcp_refuse(ret_why,
			"the server speaks none of the revisions of the protocol that are known here");
	strcpy(l->peer->version, version);
	if (x.session &&
		(strlen(x.session) > MCP_SESSION_MAX ||
			strspn(x.session, "!\"#$%&'()*+,-./0123456789:;<=>?@"
					  "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"
					  "abcdefghijklmnopqrstuvwxyz{|}~") != strlen(x.session)))
		return mcp_refuse(ret_why, "the server's session has no usable name");
	if (x.session)
		strcpy(l->peer->session, x.session);
	in = (struct mcp_request){ .method = "notifications/initialized", .notice = true };
	err = mcp_exchange(l, &in, &x, ret_why);
	if (!err && x.status >= 400)
		return mcp_refuse(
			ret_why, arena_printf(l->arena, "the server answered %d to the handshake",
					 x.status));
	return err;
}

static int open_peer(struct mcp_line *l, const char **ret_why)
{
	int err = l->peer->era == MCP_UNKNOWN ? find_era(l, ret_why) : 0;

	if (!err && l->peer->era == MCP_LEGACY && !l->peer->version[0])
		err = mcp_initialize(l, ret_why);
	return err;
}

/* ---- asking ---- */

/* True if what is known of the server no longer holds, and has been forgotten. */
static bool has_changed(struct mcp_line *l, const struct mcp_exchange *x)
{
	const struct mcp_message *m = &x->message;

	if (l->peer->era == MCP_LEGACY && l->peer->session[0] && x->status == 404) {
		l->peer->version[0] = l->peer->session[0] = '\0';
		return true;
	}
	if (l->peer->era == MCP_MODERN &&
		((m->kind == MCP_REPLY && m->failed && m->code == MCP_UNSUPPORTED_VERSION) ||
			(m->kind != MCP_REPLY &&
				(x->status == 400 || x->status == 404 || x->status == 405)))) {
		*l->peer = (struct mcp_peer){ .era = MCP_UNKNOWN };
		return true;
	}
	return false;
}

/* A reply, whatever it says.  What was refused without being looked at is asked once more. */
static int mcp_ask(
	struct mcp_line *l, struct mcp_request *in, struct mcp_message *ret, const char **ret_why)
{
	struct mcp_exchange x;
	int err = 0;

	for (int turn = 0; turn < 2; turn++) {
		err = open_peer(l, ret_why);
		in->modern = l->peer->era == MCP_MODERN;
		if (!err)
			err = mcp_exchange(l, in, &x, ret_why);
		if (err || !has_changed(l, &x))
			break;
	}
	if (err)
		return err;
	*ret = x.message;
	if (ret->kind == MCP_REPLY)
		return 0;
	if (x.status == 401 || x.status == 403)
		return mcp_refuse(ret_why,
			arena_printf(l->arena, "the server lets nobody in with these headers (%d)",
				x.status));
	return mcp_refuse(
		ret_why, x.status >= 200 && x.status < 300
				 ? "the server's answer is no reply to the request"
				 : arena_printf(l->arena, "the server answered %d", x.status));
}

static struct mcp_line open_line(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer)
{
	return (struct mcp_line){
		.arena = a, .way = way, .peer = peer, .line = fetch_line_new(), .url = way->url
	};
}

static int list_tools(struct mcp_line *l, struct mcp_tools *tools, const char **ret_why)
{
	const char *cursor = NULL;
	int err = 0;

	*tools = (struct mcp_tools){ arena_array(l->arena, struct mcp_tool, MCP_TOOLS_MAX) };
	for (int page = 0; !err; page++) {
		struct mcp_request in = { .method = "tools/list" };
		struct mcp_message m;
		struct buf b;

		if (page == MCP_PAGES_MAX || tools->more)
			return mcp_refuse(ret_why, "the server has too many tools");
		buf_init(&b, MCP_ANSWER_MAX);
		if (cursor) {
			buf_puts(&b, "\"cursor\":");
			json_write_string(&b, cursor, strlen(cursor));
		}
		in.params = (struct slice){ b.at, b.len };
		err = mcp_ask(l, &in, &m, ret_why);
		buf_free(&b);
		if (!err && m.failed)
			err = mcp_refuse(ret_why, arena_printf(l->arena, "the server refused: %.*s",
							  UTF8_SHOWN(300, m.error)));
		if (!err && !mcp_read_tools(l->arena, m.result, tools, &cursor))
			err = mcp_refuse(ret_why, "the server's list of tools is not one");
		if (!cursor)
			break;
	}
	return err;
}

static const char *schema_now(struct mcp_line *l, const char *tool)
{
	struct mcp_tools tools;
	const char *why;

	if (list_tools(l, &tools, &why))
		return NULL;
	for (size_t i = 0; i < tools.count; i++)
		if (strcmp(tools.list[i].name, tool) == 0)
			return tools.list[i].input_schema;
	return NULL;
}

static int call_once(struct mcp_line *l, const char *tool, const char *arguments,
	const char *schema, struct mcp_message *ret, const char **ret_why)
{
	struct fetch_header params[MCP_PARAMS_MAX];
	struct mcp_request in = { .method = "tools/call", .name = tool, .more = params };
	const char *fault = mcp_param_headers(l->arena, schema, arguments, params, &in.more_count);
	struct buf b;
	int err;

	if (fault)
		return mcp_refuse(ret_why, arena_printf(l->arena, "the tool's schema %s", fault));
	buf_init(&b, MCP_ANSWER_MAX);
	buf_puts(&b, "\"name\":");
	json_write_string(&b, tool, strlen(tool));
	buf_puts(&b, ",\"arguments\":");
	buf_puts(&b, arguments);
	in.params = (struct slice){ b.at, b.len };
	err = mcp_ask(l, &in, ret, ret_why);
	buf_free(&b);
	return err;
}

int mcp_call(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer, const char *tool,
	const char *arguments, const char *schema, struct mcp_result *ret, const char **ret_why)
{
	struct mcp_line l = open_line(a, way, peer);
	struct mcp_message m;
	int err = call_once(&l, tool, arguments, schema, &m, ret_why);

	if (!err && m.failed && m.code == MCP_HEADER_MISMATCH) {
		/* the server marks other arguments by now */
		const char *newer = schema_now(&l, tool);

		if (newer && strcmp(newer, schema) != 0)
			err = call_once(&l, tool, arguments, newer, &m, ret_why);
	}
	fetch_line_free(l.line);
	if (err)
		return err;
	if (m.failed) {
		*ret = (struct mcp_result){ .failed = true };
		ret->text = arena_printf(a, "The server answered with the error %lld: %s",
			(long long)m.code, m.error);
		ret->len = strlen(ret->text);
	} else if (!mcp_read_result(a, m.result, ret)) {
		return mcp_refuse(ret_why, "the server's answer is not the result of a tool");
	}
	return 0;
}

int mcp_tools(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer,
	struct mcp_tool **ret, size_t *ret_count, const char **ret_why)
{
	struct mcp_line l = open_line(a, way, peer);
	struct mcp_tools tools = { 0 };
	int err = list_tools(&l, &tools, ret_why);

	fetch_line_free(l.line);
	*ret = tools.list;
	*ret_count = err ? 0 : tools.count;
	return err;
}

void mcp_end(struct arena *a, const struct mcp_way *way, struct mcp_peer *peer)
{
	struct mcp_line l;

	if (peer->era == MCP_LEGACY && peer->session[0]) {
		l = open_line(a, way, peer);
		mcp_delete(&l);
		fetch_line_free(l.line);
	}
	peer->session[0] = peer->version[0] = '\0';
}
