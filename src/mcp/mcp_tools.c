/* mcp_tools.c - see mcp_tools.h.
 *
 * What a tool takes stands in a table, of which both its input schema and the
 * check of its arguments are made.  Agents come last, by their slugs; the
 * list is the caller's own, and the same as long as nothing changes. */
#include "mcp/mcp_tools.h"

#include <string.h>

#include "api/sessions/autocomplete.h"
#include "api/sessions/session_rows.h"
#include "contract/encode.h"
#include "contract/openapi.h"
#include "sessions/session.h"
#include "store/row.h"

enum {
	TOOLS_PAGE = 1000,
	TOOLS_TTL_MS = 5000,
	TOOLS_TEXT_MAX = 16 << 20,
	SESSION_TEXT_MAX = 64 << 20,
};

/* ---- what they take ---- */

FIELDS(McpAsk) = {
	FIELD(McpAsk, message, .required = true, AT_LEAST(1), .prompt = true,
		.ceiling = SESSION_MESSAGE_MAX, .doc = "What to say to the agent."),
	FIELD(McpAsk, session_id, .id = true,
		.doc = "Go on in this session of the agent; without it a new one begins."),
};
SCHEMA(McpAsk, .internal = true);

struct McpListSessions {
	const char *agent_id, *after;
	int64_t limit;
};

FIELDS(McpListSessions) = {
	FIELD(McpListSessions, agent_id, .id = true, .doc = "Only sessions of this agent."),
	FIELD(McpListSessions, after, .id = true,
		.doc = "Go on after this session: next of the answer before."),
	FIELD(McpListSessions, limit, .preset = "20", BOUNDS(1, 100), .doc = "The most to answer."),
};
static SCHEMA(McpListSessions, .internal = true);

struct McpReadSession {
	const char *session_id, *before;
	int64_t limit;
};

FIELDS(McpReadSession) = {
	FIELD(McpReadSession, session_id, .required = true, .id = true, .doc = "Which session."),
	FIELD(McpReadSession, before, .id = true,
		.doc = "Only messages before this one: next of the answer before."),
	FIELD(McpReadSession, limit, .preset = "50", BOUNDS(1, 200),
		.doc = "The most messages to answer, the newest."),
};
static SCHEMA(McpReadSession, .internal = true);

/* In the order of enum MentionType; without a title, so that they stand in the schema itself. */
static const struct words found_types = {
	.list = (const char *const[]){ "agent", "user", "skill", "tool", "session", NULL },
};

struct McpSearch {
	const char *query;
	struct list types;
	int64_t limit;
};

FIELDS(McpSearch) = {
	FIELD(McpSearch, query, .required = true, BOUNDS(1, 128),
		.doc = "Words, or their beginnings: each must begin a word of the name."),
	FIELD(McpSearch, types, .item = CHOICE, .words = &found_types, .max = 5,
		.doc = "Only things of these types; all without it."),
	FIELD(McpSearch, limit, .preset = "10", BOUNDS(1, 50), .doc = "The most to answer."),
};
static SCHEMA(McpSearch, .internal = true);

int mcp_arguments(struct call *c, const struct mcp_spoken *said, const struct schema *s, void *ret)
{
	const char *text = said->arguments ? said->arguments : "{}";

	if (said->bad_arguments)
		return call_field(c, "arguments", "type", "must be an object");
	return decode_body(c->app->patterns, c->arena, s, UNKNOWN_REFUSED, text, strlen(text), ret,
		&c->problem);
}

/* ---- agents ---- */

struct offered_agent {
	const char *id, *slug, *name, *description;
};

FIELDS(offered_agent) = {
	FIELD(offered_agent, id),
	FIELD(offered_agent, slug),
	FIELD(offered_agent, name),
	FIELD(offered_agent, description, .nullable = true),
};
static SCHEMA(offered_agent, .internal = true);

/* Who asks.  `all`: they hold OWNER on every agent; `member`: agents that are open to members may be asked. */
struct offered_to {
	const char *tenant_id, *user_id, *after, *last_id;
	int64_t all, member, most;
};

FIELDS(offered_to) = {
	ROW_FIELDS(offered_to, tenant_id, user_id, after, all, member, most),
	ROW_NULLABLE(offered_to, last_id),
};
static SCHEMA(offered_to, .internal = true);

enum { AGENTS_OFFERED, AGENT_NAMED };

static const struct statement sql[] = {
	[AGENTS_OFFERED] = { "mcp_agents",
		"select a.id, a.slug, a.name, a.description from agents a "
		"where a.tenant_id = :tenant_id and a.slug > :after and a.hidden = 0 "
		"and a.is_active = 1 and (cast(:last_id as text) is null or a.id <= :last_id) "
		"and (:all = 1 or (a.is_admin_only = 0 and ((a.default_role_enabled = 1 "
		"and :member = 1) or " HOLDS_ROLE(
			":user_id", "'MANAGER', 'OWNER'") "))) "
							  "order by a.slug limit :most",
		.row = &offered_agent_schema, .args = &offered_to_schema },
	[AGENT_NAMED] = { "mcp_agent",
		"select id as value from agents where tenant_id = $1 and slug = $2",
		.row = &one_text_schema },
};
STATEMENT_SET(mcp_tools_sql, sql);

int mcp_agent_find(struct call *c, const char *tool, const char **ret_id)
{
	struct place place = { .tenant_id = c->caller.tenant_id };
	struct one_text found;
	int err = ERR_NOT_FOUND;

	if (strncmp(tool, MCP_ASK, strlen(MCP_ASK)) == 0)
		err = db_one(c->db, c->arena, &sql[AGENT_NAMED], &found,
			ARGS(T(place.tenant_id), T(tool + strlen(MCP_ASK))));
	if (err)
		return err;
	*ret_id = place.agent_id = found.value;
	return caller_permit(
		&c->caller, c->db, c->arena, PERM_SESSION_WRITE, &place, false, &c->problem);
}

static int read_offered(struct call *c, const char *after, struct list *ret)
{
	const struct caller *who = &c->caller;
	const struct offered_to to = { .tenant_id = who->tenant_id,
		.user_id = who->user_id,
		.after = after,
		.last_id = who->read_only_after,
		.all = caller_holds_all(who),
		.member = who->role >= 0 && who->role <= ROLE_MEMBER,
		.most = TOOLS_PAGE + 1 };

	*ret = (struct list){ 0 };
	if (!caller_cut(who, PERM(SESSION_WRITE)))
		return 0;
	return db_all(c->db, c->arena, &sql[AGENTS_OFFERED], ret, TOOLS_PAGE + 1,
		BY_NAME(offered_to, &to));
}

/* ---- the list ---- */

static int call_list_sessions(struct mcp_turn *t);
static int call_read_session(struct mcp_turn *t);
static int call_search(struct mcp_turn *t);

static const struct own_tool {
	const char *name, *title, *description;
	const struct schema *takes;
	int (*call)(struct mcp_turn *t);
} own_tools[] = {
	{ "list_sessions", "List sessions",
		"List the sessions with agents that you take part in, newest first.",
		&McpListSessions_schema, call_list_sessions },
	{ "read_session", "Read a session",
		"Read what was said in a session with an agent, oldest first.",
		&McpReadSession_schema, call_read_session },
	{ "search", "Search",
		"Find agents, skills, tools, sessions and people by the words of their names.",
		&McpSearch_schema, call_search },
};

static void put_tool(struct buf *out, const char *name, const char *title, const char *description,
	const char *schema, bool reads)
{
	buf_putc(out, '{');
	mcp_put_text(out, "name", name);
	mcp_put_text(out, "title", title);
	mcp_put_text(out, "description", description);
	buf_lit(out, ",\"inputSchema\":");
	buf_puts(out, schema);
	buf_puts(out, reads ? ",\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}"
			    : ",\"annotations\":{\"readOnlyHint\":false,\"openWorldHint\":true}}");
}

static const char *schema_text(struct arena *a, const struct schema *s)
{
	struct buf b;

	buf_init(&b, 64 * 1024);
	openapi_object(&b, s);
	return arena_take(a, &b);
}

static const char *ask_description(struct arena *a, const struct offered_agent *agent)
{
	bool said = agent->description && *agent->description;

	return arena_printf(a,
		"Ask the agent %s%s%s The answer names its session_id: pass that to go on in the "
		"same conversation.",
		agent->name, said ? ": " : ".", said ? agent->description : "");
}

int mcp_tools_list(struct mcp_turn *t)
{
	struct call *c = t->c;
	const char *cursor = t->said->cursor, *after, *next = NULL;
	const char *schema = schema_text(c->arena, &McpAsk_schema);
	const struct offered_agent *agent;
	struct list agents;
	int err;

	/* A page goes on after the slug that the one before ended with. */
	after = cursor ? mcp_cursor_read(c, "tools", cursor) : "";
	if (t->said->bad_cursor || !after)
		return mcp_turn_fail(t, MCP_INVALID_PARAMS, "cursor is none that was handed out");
	err = read_offered(c, after, &agents);
	if (err)
		return err;
	agent = agents.at;
	if (agents.count > TOOLS_PAGE) {
		agents.count = TOOLS_PAGE;
		next = mcp_cursor(c, "tools", agent[TOOLS_PAGE - 1].slug);
	}
	mcp_result_begin(t->out, t->post->modern, t->said->id);
	buf_lit(t->out, "\"tools\":[");
	for (size_t i = 0; !cursor && i < sizeof own_tools / sizeof *own_tools; i++) {
		buf_puts(t->out, i ? "," : "");
		put_tool(t->out, own_tools[i].name, own_tools[i].title, own_tools[i].description,
			schema_text(c->arena, own_tools[i].takes), true);
	}
	for (size_t i = 0; i < agents.count; i++) {
		buf_puts(t->out, i || !cursor ? "," : "");
		put_tool(t->out, arena_printf(c->arena, MCP_ASK "%s", agent[i].slug), agent[i].name,
			ask_description(c->arena, &agent[i]), schema, false);
	}
	buf_putc(t->out, ']');
	mcp_put_text(t->out, "nextCursor", next);
	mcp_put_cache(t->out, t->post->modern, TOOLS_TTL_MS);
	mcp_result_end(t->out);
	return 0;
}

/* ---- what they answer ---- */

/* As a model needs them: what TaskSessionRead and TaskMessageRead have of the same names. */
struct McpSession {
	const char *id, *agent_id, *title;
	int status;
	int64_t message_count;
	struct moment created_at, updated_at;
};

FIELDS(McpSession) = {
	FIELD(McpSession, id),
	FIELD(McpSession, agent_id),
	FIELD(McpSession, title, .nullable = true),
	FIELD(McpSession, status, .words = &session_state_words),
	FIELD(McpSession, message_count),
	FIELD(McpSession, created_at),
	FIELD(McpSession, updated_at),
};
static SCHEMA(McpSession, .internal = true);

struct McpMessage {
	const char *id;
	int role, status;
	const char *author_name, *content;
	struct moment created_at;
};

FIELDS(McpMessage) = {
	FIELD(McpMessage, id),
	FIELD(McpMessage, role, .words = &MessageRole_words),
	FIELD(McpMessage, status, .words = &MessageStatus_words),
	FIELD(McpMessage, author_name, .nullable = true, .left_out = true),
	FIELD(McpMessage, content),
	FIELD(McpMessage, created_at),
};
static SCHEMA(McpMessage, .internal = true);

static void put_session(struct buf *b, const struct TaskSessionRead *row)
{
	struct McpSession shown;

	schema_copy(&TaskSessionRead_schema, row, &McpSession_schema, &shown);
	encode_object(b, &McpSession_schema, &shown);
}

static void put_next(struct buf *b, const char *next)
{
	if (next)
		mcp_put_text(b, "next", next);
	buf_putc(b, '}');
}

static int answer_json(struct mcp_turn *t, struct buf *b)
{
	const char *text = arena_take(t->c->arena, b);

	mcp_put_tool_json(t->out, t->post->modern, t->said->id, text);
	return 0;
}

static const char *given(const char *text)
{
	return text && *text ? text : NULL;
}

static int call_list_sessions(struct mcp_turn *t)
{
	struct McpListSessions in = { 0 };
	const struct TaskSessionRead *row;
	struct list rows;
	struct buf b;
	bool more = false;
	int err = mcp_arguments(t->c, t->said, &McpListSessions_schema, &in);

	if (!err)
		err = session_rows_mine(
			t->c, given(in.agent_id), given(in.after), (size_t)in.limit, &rows, &more);
	if (err)
		return err;
	row = rows.at;
	buf_init(&b, TOOLS_TEXT_MAX);
	buf_lit(&b, "{\"sessions\":[");
	for (size_t i = 0; i < rows.count; i++) {
		buf_puts(&b, i ? "," : "");
		put_session(&b, &row[i]);
	}
	buf_putc(&b, ']');
	put_next(&b, more ? row[rows.count - 1].id : NULL);
	return answer_json(t, &b);
}

int mcp_session_text(
	struct call *c, const char *session_id, const char *before, size_t most, const char **ret)
{
	struct place place = { .tenant_id = c->caller.tenant_id, .session_id = session_id };
	struct TaskSessionRead session;
	const struct TaskMessageRead *row;
	struct McpMessage shown;
	struct list rows;
	struct buf b;
	bool more = false;
	int err = caller_permit(
		&c->caller, c->db, c->arena, PERM_SESSION_READ, &place, false, &c->problem);

	if (!err)
		err = session_row_read(c, session_id, &session);
	if (!err)
		err = message_rows_before(c, session_id, before, most, &rows, &more);
	if (err)
		return err;
	row = rows.at;
	buf_init(&b, SESSION_TEXT_MAX);
	buf_lit(&b, "{\"session\":");
	put_session(&b, &session);
	buf_lit(&b, ",\"messages\":[");
	for (size_t i = rows.count; i--;) {
		schema_copy(&TaskMessageRead_schema, &row[i], &McpMessage_schema, &shown);
		encode_object(&b, &McpMessage_schema, &shown);
		buf_puts(&b, i ? "," : "");
	}
	buf_putc(&b, ']');
	put_next(&b, more ? row[rows.count - 1].id : NULL);
	*ret = arena_take(c->arena, &b);
	return 0;
}

static int call_read_session(struct mcp_turn *t)
{
	struct McpReadSession in = { 0 };
	const char *text;
	int err = mcp_arguments(t->c, t->said, &McpReadSession_schema, &in);

	if (!err)
		err = mcp_session_text(
			t->c, in.session_id, given(in.before), (size_t)in.limit, &text);
	if (!err)
		mcp_put_tool_json(t->out, t->post->modern, t->said->id, text);
	return err;
}

static int call_search(struct mcp_turn *t)
{
	struct McpSearch in = { 0 };
	struct list found = { 0 };
	struct buf b;
	int err = mcp_arguments(t->c, t->said, &McpSearch_schema, &in);

	if (!err)
		err = autocomplete_find(t->c, in.query, &in.types, (size_t)in.limit, &found);
	if (err)
		return err;
	buf_init(&b, TOOLS_TEXT_MAX);
	buf_lit(&b, "{\"results\":[");
	for (size_t i = 0; i < found.count; i++) {
		buf_puts(&b, i ? "," : "");
		encode_object(&b, &AutocompleteItem_schema,
			(const struct AutocompleteItem *)found.at + i);
	}
	buf_lit(&b, "]}");
	return answer_json(t, &b);
}

int mcp_tools_call(struct mcp_turn *t)
{
	const char *name = t->said->name, *agent_id;
	struct McpAsk in;
	int err;

	if (!name)
		return mcp_turn_fail(t, MCP_INVALID_PARAMS, "params.name must name a tool");
	for (size_t i = 0; i < sizeof own_tools / sizeof *own_tools; i++)
		if (strcmp(own_tools[i].name, name) == 0)
			return own_tools[i].call(t);
	err = mcp_agent_find(t->c, name, &agent_id);
	if (err == ERR_NOT_FOUND)
		return mcp_turn_fail(t, MCP_INVALID_PARAMS, "There is no tool of this name.");
	if (!err)
		err = mcp_arguments(t->c, t->said, &McpAsk_schema, &in);
	if (!err && t->post->batch)
		err = call_fail(t->c, ERR_CONFLICT,
			"An agent is asked by a message of its own, not in a list.");
	return err ? err : MCP_BEGINS;
}
