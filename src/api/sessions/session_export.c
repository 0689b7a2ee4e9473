/* session_export.c - all of a session in one document, JSON for programs or Markdown for people.
 *
 * It is read and sent page by page, so that a session of any length costs a
 * page of memory.  What programs get is described by SessionExport; what
 * people get is the conversation, with what tools said set off from it. */
#include <string.h>

#include "api/sessions/session_rows.h"
#include "base/clock.h"
#include "base/json.h"

enum { FORMAT_JSON, FORMAT_MARKDOWN };

static const struct words format_words = {
	.list = (const char *const[]){ "json", "markdown", NULL },
};

struct export_query {
	int format;
};

FIELDS(export_query) = {
	FIELD(export_query, format, .words = &format_words, .preset = "\"json\"",
		.doc = "json has everything; markdown is the conversation, for people."),
};
static SCHEMA(export_query, .doc = "How to write it.");

struct SessionRun {
	const char *id, *user_id, *status, *model_id;
	int64_t iteration_count, prompt_tokens, completion_tokens, cache_read_tokens,
		cache_write_tokens;
	struct money cost_usd;
	const char *error_code, *error;
	struct moment created_at, started_at, ended_at;
};

FIELDS(SessionRun) = {
	FIELD(SessionRun, id, .required = true, .id = true, .doc = "The run."),
	FIELD(SessionRun, user_id, .required = true, .nullable = true, .id = true,
		.doc = "Who drove the agent, if somebody did."),
	FIELD(SessionRun, status, .required = true, .example = "\"completed\"",
		.doc = "How far it came."),
	FIELD(SessionRun, model_id, .required = true, .nullable = true, .id = true,
		.doc = "The model it was asked to use, or used."),
	FIELD(SessionRun, iteration_count, .required = true, .doc = "Calls to a model."),
	FIELD(SessionRun, prompt_tokens, .required = true, .doc = "Input that came from no cache."),
	FIELD(SessionRun, completion_tokens, .required = true, .doc = "Tokens written."),
	FIELD(SessionRun, cache_read_tokens, .required = true, .doc = "Input read from a cache."),
	FIELD(SessionRun, cache_write_tokens, .required = true, .doc = "Input written to a cache."),
	FIELD(SessionRun, cost_usd, .column = "cost_pd", .required = true, .doc = "What it cost."),
	FIELD(SessionRun, error_code, .required = true, .nullable = true,
		.doc = "Why it failed, in a word."),
	FIELD(SessionRun, error, .required = true, .nullable = true,
		.doc = "Why it failed, in a sentence."),
	FIELD(SessionRun, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(SessionRun, started_at, .required = true, .nullable = true, .doc = "When it began."),
	FIELD(SessionRun, ended_at, .required = true, .nullable = true, .doc = "When it ended."),
};
static SCHEMA(SessionRun, .doc = "One setting to work of the agent.");

/* The key of a call is its message and its place in it; `id` holds both, for the walk. */
struct SessionCall {
	const char *id, *message_id, *tool_call_id, *name, *state, *arguments, *child_session_id;
	struct moment created_at, started_at, ended_at;
};

FIELDS(SessionCall) = {
	FIELD(SessionCall, id, .computed = true, .required = true,
		.doc = "The message that asked for it, and its place there."),
	FIELD(SessionCall, message_id, .required = true, .id = true,
		.doc = "The message that asked for it."),
	FIELD(SessionCall, tool_call_id, .computed = true, .required = true,
		.doc = "The call, as the message's tool_calls name it."),
	FIELD(SessionCall, name, .required = true, .doc = "The tool."),
	FIELD(SessionCall, state, .required = true, .doc = "What became of it."),
	FIELD(SessionCall, arguments, .computed = true, .required = true,
		.doc = "What the tool was given: what the model passed, with what is set for the "
		       "agent in its place; secrets are masked."),
	FIELD(SessionCall, child_session_id, .required = true, .nullable = true, .id = true,
		.doc = "The subtask that it began."),
	FIELD(SessionCall, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(SessionCall, started_at, .required = true, .nullable = true,
		.doc = "When it was made."),
	FIELD(SessionCall, ended_at, .required = true, .nullable = true,
		.doc = "When its result was there."),
};
static SCHEMA(SessionCall, .doc = "A call of a tool, and what became of it.");

struct SessionSummary {
	const char *id, *content;
	struct moment created_at;
};

FIELDS(SessionSummary) = {
	FIELD(SessionSummary, id, .computed = true, .required = true, .id = true,
		.doc = "The last message that it stands for."),
	FIELD(SessionSummary, content, .required = true, .prompt = true, .doc = "The text."),
	FIELD(SessionSummary, created_at, .required = true, .doc = "When it was written."),
};
static SCHEMA(SessionSummary,
	.doc = "What the model is shown in place of messages that its window no longer holds.");

struct SessionExport {
	const struct TaskSessionRead *session;
	struct list messages, runs, calls, approvals, summaries, subtasks, files;
};

FIELDS(SessionExport) = {
	FIELD(SessionExport, session, .required = true, .of = &TaskSessionRead_schema,
		.doc = "The session."),
	FIELD(SessionExport, messages, .required = true, .item = OBJECT,
		.of = &TaskMessageRead_schema,
		.doc = "What was said, oldest first; with what was deleted, for those who hold "
		       "audit:read."),
	FIELD(SessionExport, runs, .required = true, .item = OBJECT, .of = &SessionRun_schema,
		.doc = "How often the agent was set to work."),
	FIELD(SessionExport, calls, .required = true, .item = OBJECT, .of = &SessionCall_schema,
		.doc = "Calls of tools."),
	FIELD(SessionExport, approvals, .required = true, .item = OBJECT,
		.of = &ApprovalRead_schema, .doc = "Calls that needed a person's word."),
	FIELD(SessionExport, summaries, .required = true, .item = OBJECT,
		.of = &SessionSummary_schema,
		.doc = "What stands for messages beyond the model's window."),
	FIELD(SessionExport, subtasks, .required = true, .item = OBJECT,
		.of = &SubtaskSummary_schema,
		.doc = "What was given away; each is a session with an export of its own."),
	FIELD(SessionExport, files, .required = true, .item = OBJECT, .of = &SessionFileRead_schema,
		.doc = "What was too long for a message; the bytes are read one by one."),
};
static SCHEMA(SessionExport, .doc = "All of a session.");

/* Each: $1 tenant, $2 session; $3 who reads, $4 whether they hold OWNER on every agent. */
#define PAGE(name, columns, table, alias, key, rows)                                       \
	{                                                                                  \
		name,                                                                      \
			"select " columns " from " table " " alias " where " alias         \
			".tenant_id = $1 and " alias ".session_id = $2 and " alias "." key \
			" > {after} order by " alias "." key " limit {limit}",             \
			.row = &rows##_schema                                              \
	}

enum {
	ONE_SESSION,
	ALL_MESSAGES,
	EVERY_MESSAGE,
	ALL_RUNS,
	ALL_CALLS,
	ALL_APPROVALS,
	ALL_SUMMARIES,
	ALL_SUBTASKS,
	ALL_FILES,
};

static const struct statement sql[] = {
	[ONE_SESSION] = { "export_session",
		"select " SESSION_COLUMNS " from sessions s where s.tenant_id = $1 and s.id = $2 "
		"and s.id > {after} limit {limit}",
		.row = &TaskSessionRead_schema },
	[ALL_MESSAGES] =
		PAGE("export_messages", MESSAGE_COLUMNS, "messages", "m", "id", TaskMessageRead),
	[EVERY_MESSAGE] = { "export_every_message",
		"select " MESSAGE_COLUMNS " from messages m where m.tenant_id = $1 "
		"and m.session_id = $2 and m.id > {after} union all select " MESSAGE_DELETED_COLUMNS
		" from deleted_messages m where m.tenant_id = $1 and m.session_id = $2 "
		"and m.id > {after} order by id limit {limit}",
		.row = &TaskMessageRead_schema },
	[ALL_RUNS] = PAGE("export_runs", "{r.*}", "session_runs", "r", "id", SessionRun),
	[ALL_CALLS] = { "export_calls",
		"select {k.*}, coalesce(k.sent, k.arguments) as arguments, "
		"k.call_id as tool_call_id, k.message_id || cast(k.position as text) "
		"as id from session_calls k where k.tenant_id = $1 and k.session_id = $2 "
		"and (k.message_id, k.position) > (substr({after}, 1, 25), "
		"cast('0' || substr({after}, 26) as bigint)) order by k.message_id, k.position "
		"limit {limit}",
		.row = &SessionCall_schema },
	[ALL_APPROVALS] = PAGE("export_approvals",
		"{p.*}, (select s.agent_id from sessions s where s.tenant_id = $1 and s.id = $2) "
		"as agent_id, p.call_id as tool_call_id",
		"approvals", "p", "id", ApprovalRead),
	[ALL_SUMMARIES] = PAGE("export_summaries", "{y.*}, y.last_message_id as id",
		"session_summaries", "y", "last_message_id", SessionSummary),
	[ALL_SUBTASKS] = { "export_subtasks",
		"select " SUBTASK_COLUMNS("$3",
			"$4") " from sessions s join agents a on a.tenant_id = $1 "
			      "and a.id = s.agent_id where s.tenant_id = $1 and s.parent_session_id = $2 "
			      "and s.id > {after} order by s.id limit {limit}",
		.row = &SubtaskSummary_schema },
	[ALL_FILES] = PAGE("export_files", "{f.*}", "session_files", "f", "id", SessionFileRead),
};
STATEMENT_SET(session_export_sql, sql);

/* clang-format off */
#define JSON_PARTS(messages)                                                 \
	{ &sql[ONE_SESSION], "{\"session\":", NULL, NULL, NULL },            \
	{ &sql[messages], ",\"messages\":[", ",", "]", NULL },               \
	{ &sql[ALL_RUNS], ",\"runs\":[", ",", "]", NULL },                   \
	{ &sql[ALL_CALLS], ",\"calls\":[", ",", "]", NULL },                 \
	{ &sql[ALL_APPROVALS], ",\"approvals\":[", ",", "]", NULL },         \
	{ &sql[ALL_SUMMARIES], ",\"summaries\":[", ",", "]", NULL },         \
	{ &sql[ALL_SUBTASKS], ",\"subtasks\":[", ",", "]", NULL },         \
	{ &sql[ALL_FILES], ",\"files\":[", ",", "]}\n", NULL }
/* clang-format on */

enum { FOR_PEOPLE, FOR_AUDITORS, READERS, JSON_PARTS_COUNT = 8, MARKDOWN_PARTS_COUNT = 2 };

static const struct export_part json_parts[READERS][JSON_PARTS_COUNT] = {
	[FOR_PEOPLE] = { JSON_PARTS(ALL_MESSAGES) },
	[FOR_AUDITORS] = { JSON_PARTS(EVERY_MESSAGE) },
};

/* ---- for people ---- */

static void put_time(struct buf *out, int64_t us)
{
	char text[TIME_TEXT_LEN];

	time_write(us, text);
	buf_put(out, text, sizeof text);
}

/* One line, whatever it holds. */
static void put_markdown_line(struct buf *out, const char *text)
{
	for (const char *p = text; *p; p++)
		buf_putc(out, *p == '\n' || *p == '\r' ? ' ' : *p);
}

static void put_fence(struct buf *out, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_putc(out, '`');
}

/* Between fences that are longer than any within. */
static void put_fenced(struct buf *out, const char *kind, const char *text)
{
	size_t longest = 2, len = strlen(text);

	for (const char *p = text; *p;) {
		size_t run = strspn(p, "`");

		longest = run > longest ? run : longest;
		p += run ? run : strcspn(p, "`");
	}
	put_fence(out, longest + 1);
	buf_printf(out, "%s\n", kind);
	buf_put(out, text, len);
	buf_puts(out, len && text[len - 1] == '\n' ? "" : "\n");
	put_fence(out, longest + 1);
	buf_lit(out, "\n\n");
}

static void write_session(struct buf *out, const struct schema *schema, const void *row)
{
	const struct TaskSessionRead *s = row;

	(void)schema;
	buf_lit(out, "# ");
	put_markdown_line(out, s->title ? s->title : "Session");
	buf_printf(out, "\n\nSession %s of agent %s, begun ", s->id, s->agent_id);
	put_time(out, s->created_at.us);
	buf_printf(out, ", %s.\n\n", session_state_words.list[s->status]);
	if (s->error) {
		buf_lit(out, "It failed: ");
		put_markdown_line(out, s->error);
		buf_lit(out, "\n\n");
	}
}

/* What it holds besides text, by name: the bytes are read one by one. */
static void put_parts(struct buf *out, const struct list *parts)
{
	const struct MessagePart *part = parts->at;

	for (size_t i = 0; i < parts->count; i++) {
		buf_printf(out, "- %s: ", MessagePartType_words.list[part[i].type]);
		put_markdown_line(out, part[i].url ? part[i].url : part[i].name);
		if (part[i].file_id)
			buf_printf(out, " (file %s)", part[i].file_id);
		buf_putc(out, '\n');
	}
	buf_puts(out, parts->count ? "\n" : "");
}

static void write_markdown_message(struct buf *out, const struct schema *schema, const void *row)
{
	const struct TaskMessageRead *m = row;
	const struct ToolCall *calls = m->tool_calls.at;
	size_t len = strlen(m->content);

	(void)schema;
	buf_printf(out, "## %s, ", MessageRole_words.list[m->role]);
	put_time(out, m->created_at.us);
	if (m->status != MessageStatus_complete)
		buf_printf(out, ", %s", MessageStatus_words.list[m->status]);
	if (m->author_id) {
		buf_lit(out, ", written by ");
		put_markdown_line(out, m->author_name ? m->author_name : m->author_id);
	}
	if (m->deleted_at.us != NIL) {
		buf_lit(out, ", deleted ");
		put_time(out, m->deleted_at.us);
		buf_printf(out, " by %s", m->deleted_by_id ? m->deleted_by_id : "nobody known");
	}
	buf_lit(out, "\n\n");
	if (m->role == MessageRole_tool) {
		buf_lit(out, "Answer to ");
		put_markdown_line(out, m->tool_call_id ? m->tool_call_id : "a call");
		buf_lit(out, ":\n\n");
		put_fenced(out, "", m->content);
	} else if (len) {
		buf_put(out, m->content, len);
		buf_puts(out, m->content[len - 1] == '\n' ? "\n" : "\n\n");
	}
	put_parts(out, &m->parts);
	for (size_t i = 0; i < m->tool_calls.count; i++) {
		buf_lit(out, "Calls ");
		put_markdown_line(out, calls[i].name);
		buf_lit(out, " (");
		put_markdown_line(out, calls[i].id);
		buf_lit(out, "):\n\n");
		put_fenced(out, "json", calls[i].arguments.text);
	}
}

#define MARKDOWN_PARTS(messages)                                         \
	{ &sql[ONE_SESSION], NULL, NULL, NULL, write_session },          \
	{                                                                \
		&sql[messages], NULL, NULL, NULL, write_markdown_message \
	}

static const struct export_part markdown_parts[READERS][MARKDOWN_PARTS_COUNT] = {
	[FOR_PEOPLE] = { MARKDOWN_PARTS(ALL_MESSAGES) },
	[FOR_AUDITORS] = { MARKDOWN_PARTS(EVERY_MESSAGE) },
};

QUERY_OPERATION(
	exportSession, export_query, SessionExport, .gives = "text/markdown", .untagged = true)
{
	bool markdown = in->format == FORMAT_MARKDOWN;
	int reader = c->caller.tenant & PERM(AUDIT_READ) ? FOR_AUDITORS : FOR_PEOPLE;

	buf_printf(&c->x->reply.extra, "Content-Disposition: attachment; filename=\"%s.%s\"\r\n",
		c->caller.session_id, markdown ? "md" : "json");
	return call_export_parts(c, markdown ? "text/markdown; charset=utf-8" : "application/json",
		markdown ? markdown_parts[reader] : json_parts[reader],
		markdown ? MARKDOWN_PARTS_COUNT : JSON_PARTS_COUNT,
		ARGS(T(c->caller.tenant_id), T(c->caller.session_id), T(c->caller.user_id),
			N(caller_holds_all(&c->caller))));
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/export", &exportSession,
		PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "All of a session in one document, sent while it is read; one that ends "
		       "without its last chunk is not whole." },
};
RESOURCE(session_export, routes, NULL, &session_export_sql);
