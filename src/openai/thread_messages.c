/* thread_messages.c - the messages of a thread, in whichever state it is.  Of a session they are what people
 * and the agent said; what tools said is part of the steps of a run. */
#include <string.h>

#include "base/utf8_cut.h"
#include "call/operation.h"
#include "search/search.h"
#include "api/sessions/session_rows.h"
#include "openai/openai_media.h"
#include "openai/threads.h"
#include "base/clock.h"
#include "base/json.h"
#include "sessions/forget.h"
#include "sessions/session.h"
#include "store/row.h"

enum { CONTENT_TEXT_MAX = 2 * SESSION_MESSAGE_MAX };

FIELDS(thread_said) = {
	FIELD(thread_said, id),
	FIELD(thread_said, author_id, .nullable = true),
	FIELD(thread_said, role),
	FIELD(thread_said, status),
	FIELD(thread_said, run_id, .nullable = true),
	FIELD(thread_said, metadata),
	FIELD(thread_said, content),
	FIELD(thread_said, tool_calls),
	FIELD(thread_said, created_at),
	FIELD(thread_said, parts, .nullable = true, .item = OBJECT, .of = &MessagePart_schema),
};
static SCHEMA(thread_said, .internal = true);

struct thread_message_query {
	int64_t limit;
	int order;
	const char *after, *before, *run_id;
};

static const struct words order_words = { .list = (const char *const[]){ "asc", "desc", NULL } };

FIELDS(thread_message_query) = {
	FIELD(thread_message_query, limit, .preset = "20", BOUNDS(1, OPENAI_PAGE_MAX),
		.doc = "How many at most."),
	FIELD(thread_message_query, order, .preset = "\"desc\"", .words = &order_words,
		.doc = "By creation: asc, oldest first, or desc."),
	FIELD(thread_message_query, after, .nullable = true, BOUNDS(1, 64),
		.doc = "Those after the one with this id."),
	FIELD(thread_message_query, before, .nullable = true, BOUNDS(1, 64),
		.doc = "Those before the one with this id."),
	FIELD(thread_message_query, run_id, .nullable = true, BOUNDS(1, 64),
		.doc = "Only what was written in this run."),
};
static SCHEMA(thread_message_query, .doc = "What the list of messages takes.");

/* Before anything is read into it. */
#define NOTHING_SAID                                                               \
	{                                                                          \
		.id = "", .role = "", .status = "", .metadata = "", .content = "", \
		.tool_calls = "[]"                                                 \
	}

enum {
	PAIR_OF(WAITING_LIST),
	PAIR_OF(SAID_LIST),
	WAITING_READ,
	SAID_READ,
	WAITING_ADD,
	WAITING_UPDATE,
	SAID_UPDATE,
	WAITING_REMOVE,
	FILE_REMOVE,
	SAID_KEEP,
};

#define WAITING_COLUMNS                                                                 \
	"m.id, m.author_id, m.role, 'complete' as status, null as run_id, m.metadata, " \
	"m.content, '[]' as tool_calls, m.created_at, m.parts"
#define WAITING_FROM                                                     \
	"thread_messages m where m.tenant_id = $1 and m.thread_id = $2 " \
	"and m.deleted_at is null"
#define SAID_COLUMNS                                                                           \
	"m.id, m.author_id, m.role, m.status, m.run_id, m.metadata, m.content, m.tool_calls, " \
	"m.created_at, m.parts"
/* A message that only calls tools is none here. */
#define SAID_FROM                                                  \
	"messages m where m.tenant_id = $1 and m.session_id = $2 " \
	"and (m.role = 'user' or (m.role = 'assistant' and m.content <> ''))"

#define KEPT                                                                                   \
	"tenant_id, session_id, id, run_id, author_id, role, status, tool_call_id, model_id, " \
	"prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, "   \
	"created_at, metadata, tool_calls, content, parts"

struct waiting_words {
	const char *tenant_id, *thread_id, *id, *role, *metadata, *content, *author_id;
	int64_t created_at;
	struct list parts;
};

FIELDS(waiting_words) = {
	ROW_FIELDS(waiting_words, tenant_id, thread_id, id, role, metadata, content, created_at),
	ROW_NULLABLE(waiting_words, author_id),
	FIELD(waiting_words, parts, .nullable = true, .item = OBJECT, .of = &MessagePart_schema),
};
static SCHEMA(waiting_words, .internal = true);

static const struct statement sql[] = {
	PAGE_STATEMENTS(WAITING_LIST, "thread_waiting_list", &thread_said_schema, WAITING_COLUMNS,
		WAITING_FROM, "m.id"),
	PAGE_STATEMENTS(SAID_LIST, "thread_said_list", &thread_said_schema, SAID_COLUMNS,
		SAID_FROM " and (cast($3 as text) is null or (m.run_id = $3 "
			  "and m.role = 'assistant'))",
		"m.id"),
	[WAITING_READ] = { "thread_waiting_read",
		"select " WAITING_COLUMNS " from " WAITING_FROM " and m.id = $3",
		.row = &thread_said_schema },
	[SAID_READ] = { "thread_said_read",
		"select " SAID_COLUMNS " from " SAID_FROM " and m.id = $3",
		.row = &thread_said_schema },
	[WAITING_ADD] = { "thread_waiting_add", "insert into thread_messages ({*}) values ({$})",
		.row = &waiting_words_schema },
	[WAITING_UPDATE] = { "thread_waiting_update",
		"update thread_messages set metadata = $4 "
		"where tenant_id = $1 and thread_id = $2 and id = $3" },
	[SAID_UPDATE] = { "thread_said_update",
		"update messages set metadata = $4 "
		"where tenant_id = $1 and session_id = $2 and id = $3" },
	[WAITING_REMOVE] = { "thread_waiting_remove",
		"update thread_messages set deleted_at = $4, deleted_by_id = $5 "
		"where tenant_id = $1 and thread_id = $2 and id = $3" },
	[FILE_REMOVE] = { "thread_file_remove",
		"delete from thread_files where tenant_id = $1 and thread_id = $2 and id = $3" },
	[SAID_KEEP] = { "thread_said_keep",
		"insert into deleted_messages (" KEPT ", deleted_at, deleted_by_id) select " KEPT
		", cast($4 as bigint), cast($5 as text) from messages "
		"where tenant_id = $1 and session_id = $2 and id = $3" },
};
STATEMENT_SET(thread_message_sql, sql);

/* ---- in ---- */

/* The text of a part, "" for an image, or NULL with the field refused. */
static const char *part_text(struct call *c, const char *field, const char *part)
{
	const char *type = openai_text(c->arena, part, "type");
	const char *text = openai_text(c->arena, part, "text");

	if (type && strcmp(type, "text") == 0 && text)
		return text;
	if (type && strcmp(type, "image_url") == 0)
		return "";
	call_field(c, field, "choice",
		"must be a part of type text or image_url: files of a provider are not known here");
	return NULL;
}

static int content_text(struct call *c, const char *field, const char *json, const char **ret,
	struct session_parts *ret_parts)
{
	struct json_reader r;
	const char *item, *text = "";
	struct buf b;
	size_t len, i = 0;

	buf_init(&b, CONTENT_TEXT_MAX);
	json_open(&r, c->arena, json, strlen(json));
	if (json_peek(&r) == JSON_STRING) {
		if (json_read_string(&r, &text, &len))
			buf_put(&b, text, len);
	} else if (json_peek(&r) == JSON_ARRAY) {
		json_enter_array(&r);
		while (text && json_next_item(&r) && json_skip(&r, &item, &len)) {
			text = part_text(c, arena_printf(c->arena, "%s[%zu]", field, i++),
				arena_strndup(c->arena, item, len));
			buf_puts(&b, text && *text && b.len ? "\n" : "");
			buf_puts(&b, text ? text : "");
		}
	} else {
		call_field(c, field, "type", "must be a text or an array of parts");
		text = NULL;
	}
	if (text && *json == '[' && openai_media(c, field, json, MEDIA_THREADS, ret_parts))
		text = NULL;
	if (text && !b.len && !ret_parts->count)
		call_field(c, field, "too_short", "must not be empty");
	else if (b.overflow || b.len > SESSION_MESSAGE_MAX)
		call_field(c, field, "too_long", "must be at most %d bytes", SESSION_MESSAGE_MAX);
	else if (b.len && memchr(b.at, '\0', b.len))
		call_field(c, field, "character", "must not contain the character U+0000");
	*ret = arena_take(c->arena, &b);
	return c->problem.err;
}

int thread_say(struct call *c, const struct thread *t, const struct ThreadMessageCreate *in,
	const char *field, const char **ret_id)
{
	struct arena *a = c->arena;
	struct session_words words = { .tenant_id = c->caller.tenant_id,
		.session_id = t->id,
		.author_id = c->caller.user_id,
		.by = session_actor_of(c),
		.role = thread_role_words.list[in->role],
		.now = c->now };
	struct session_parts parts = { 0 };
	struct list kept;
	struct id id;
	int64_t made;
	int err = content_text(
		c, arena_printf(a, "%scontent", field), in->content.text, &words.content, &parts);

	words.parts = &parts;
	if (!err && parts.count && in->role != THREAD_USER)
		err = call_field(c, arena_printf(a, "%scontent", field), "format",
			"must be text: images are what a user brings");
	if (!err && t->agent_id)
		err = session_parts_taken(c, t->agent_id, &parts, 1);

	if (!err && in->attachments.text && strcmp(in->attachments.text, "[]") != 0)
		err = call_field(c, arena_printf(a, "%sattachments", field), "too_long",
			"must be empty: files of a provider are not known here");
	if (!err)
		err = openai_metadata(c, arena_printf(a, "%smetadata", field), in->metadata.text,
			&words.metadata);
	if (err)
		return err;
	if (t->agent_id)
		return session_say(c->db, a, &words, ret_id, &c->problem);
	id = id_new(&made);
	*ret_id = arena_strdup(a, id.text);
	err = session_parts_keep(
		c->db, a, PARTS_OF_THREAD, words.tenant_id, t->id, &parts, &kept, &c->problem);
	return err ? err
		   : db_put(c->db, &sql[WAITING_ADD],
			     &(struct waiting_words){ .tenant_id = words.tenant_id,
				     .thread_id = t->id,
				     .id = *ret_id,
				     .role = words.role,
				     .metadata = words.metadata,
				     .content = words.content,
				     .author_id = words.author_id,
				     .created_at = made,
				     .parts = kept });
}

/* ---- out ---- */

static void put_text_part(struct buf *b, const char *text, size_t len)
{
	if (!len)
		return;
	buf_puts(b, b->len > 1 ? "," : "");
	buf_lit(b, "{\"type\":\"text\",\"text\":{\"value\":");
	json_write_string(b, text, len);
	buf_lit(b, ",\"annotations\":[]}}");
}

/* An image as such, and what threads of OpenAI's do not know in words. */
static void put_media_part(struct arena *a, struct buf *b, const struct MessagePart *part)
{
	const char *value = part->url ? part->url : part->file_id, *words;

	if (part->type != MessagePartType_image) {
		words = session_part_instead(a, part);
		put_text_part(b, words, strlen(words));
		return;
	}
	buf_puts(b, b->len > 1 ? "," : "");
	buf_puts(b, part->url ? "{\"type\":\"image_url\",\"image_url\":{\"url\":"
			      : "{\"type\":\"image_file\",\"image_file\":{\"file_id\":");
	json_write_string(b, value, strlen(value));
	buf_printf(b, ",\"detail\":\"%s\"}}", part->detail ? part->detail : "auto");
}

/* The text with what stands in it. */
static const char *content_json(struct arena *a, const char *text, const struct list *parts)
{
	const struct MessagePart *part = parts->at;
	size_t len = strlen(text), at = 0;
	struct buf b;

	buf_init(&b, (size_t)64 << 20);
	buf_putc(&b, '[');
	for (size_t i = 0; i < parts->count; i++) {
		size_t place = (size_t)part[i].place < len ? (size_t)part[i].place : len;

		if (place > at) {
			put_text_part(&b, text + at, place - at);
			at = place;
		}
		put_media_part(a, &b, &part[i]);
		at += text[at] == '\n';
	}
	put_text_part(&b, text + at, len - at);
	buf_putc(&b, ']');
	return arena_take(a, &b);
}

void thread_message_view(struct arena *a, const char *thread_id, const char *agent_id,
	const struct thread_said *m, struct ThreadMessageObject *out)
{
	bool agents = strcmp(m->role, "assistant") == 0, broken = strcmp(m->status, "failed") == 0;
	bool writing = strcmp(m->status, "streaming") == 0;
	int64_t at = m->created_at / SECOND_US;

	*out = (struct ThreadMessageObject){ .id = m->id,
		.object = "thread.message",
		.created_at = at,
		.thread_id = thread_id,
		.status = writing  ? "in_progress"
			  : broken ? "incomplete"
				   : "completed",
		.incomplete_details = { broken ? "{\"reason\":\"run_failed\"}" : NULL },
		.completed_at = writing || broken ? NIL : at,
		.incomplete_at = broken ? at : NIL,
		.role = m->role,
		.content = { *m->content || m->parts.count ? content_json(a, m->content, &m->parts)
							   : NULL },
		.assistant_id = agents && m->run_id ? agent_id : NULL,
		.run_id = agents ? m->run_id : NULL,
		.metadata = { *m->metadata ? m->metadata : NULL } };
}

static void show_thread_message(struct call *c, const struct thread *t, const struct thread_said *m,
	struct ThreadMessageObject *out)
{
	thread_message_view(c->arena, t->id, t->agent_id, m, out);
}

static int find_thread_message(
	struct call *c, int permission, struct thread *t, struct thread_said *ret)
{
	int err = thread_find(c, permission, t);

	if (!err)
		err = db_one(c->db, c->arena, &sql[t->agent_id ? SAID_READ : WAITING_READ], ret,
			ARGS(T(c->caller.tenant_id), T(t->id), T(call_param(c, "message_id"))));
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "No message found with id '%.*s'.",
			UTF8_SHOWN(64, call_param(c, "message_id")));
	return err;
}

/* What was done to a message: never what it says. */
static void note_thread_message(struct call *c, const struct thread *t, const struct thread_said *m)
{
	c->audit.meta = arena_printf(c->arena,
		"{\"session_id\":\"%s\",\"message_id\":\"%s\",\"role\":\"%s\",\"author_id\":%s%s%s}",
		t->id, m->id, m->role, m->author_id ? "\"" : "",
		m->author_id ? m->author_id : "null", m->author_id ? "\"" : "");
}

/* One's own words anybody may take back; those of others, the agent's among them, whoever administers
 * the agent. */
static int permit_delete(struct call *c, const struct thread *t, const struct thread_said *m)
{
	if (m->author_id && strcmp(m->author_id, c->caller.user_id) == 0)
		return 0;
	if (t->agent_id)
		return caller_also(&c->caller, c->arena, PERM_AGENT_WRITE, &c->problem);
	return caller_holds_all(&c->caller)
		       ? 0
		       : call_fail(c, ERR_FORBIDDEN, "This message was written by somebody else.");
}

/* It is hidden from the conversation and kept for auditors. */
static int hide_thread_message(struct call *c, const struct thread *t, const struct thread_said *m)
{
	const struct value args[] = { T(c->caller.tenant_id), T(t->id), T(m->id), N(c->now),
		T(c->caller.user_id) };
	const struct MessagePart *part = m->parts.at;
	int err = db_run(c->db, &sql[t->agent_id ? SAID_KEEP : WAITING_REMOVE], NULL, args, 5);

	for (size_t i = 0; !err && !t->agent_id && i < m->parts.count; i++)
		if (part[i].file_id)
			err = db_run(c->db, &sql[FILE_REMOVE], NULL,
				ARGS(T(c->caller.tenant_id), T(t->id), T(part[i].file_id)));
	if (!err && t->agent_id)
		err = session_forget_message(
			c->db, c->arena, c->caller.tenant_id, t->id, m->id, c->now);
	if (!err && t->agent_id)
		err = search_refresh(
			c->db, c->arena, c->caller.tenant_id, MentionType_session, t->id);
	return err;
}

/* ---- the operations ---- */

OPERATION(createThreadMessage, ThreadMessageCreate, ThreadMessageObject, .open_query = true,
	.brings_files = true)
{
	struct thread_said m = NOTHING_SAID;
	struct thread t = { 0 };
	const char *id;
	int err = thread_find(c, PERM_SESSION_WRITE, &t);

	if (!err)
		err = thread_at_rest(c, &t, "Messages cannot be added");
	c->audit.resource_id = t.id;
	if (!err)
		err = thread_say(c, &t, in, "", &id);
	if (!err)
		err = db_one(c->db, c->arena, &sql[t.agent_id ? SAID_READ : WAITING_READ], &m,
			ARGS(T(c->caller.tenant_id), T(t.id), T(id)));
	if (err)
		return err;
	note_thread_message(c, &t, &m);
	show_thread_message(c, &t, &m, out);
	return 0;
}

QUERY_OPERATION(listThreadMessages, thread_message_query, ThreadMessageList, .long_read = true,
	.open_query = true)
{
	struct OpenAIPage asked = { in->limit, in->order, in->after, in->before };
	struct ThreadMessageObject *shown;
	struct openai_page page = { 0 };
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_READ, &t);

	*out = (struct ThreadMessageList){ .object = "list" };
	if (!err && t.agent_id)
		err = openai_page_read(c, &asked, &sql[SAID_LIST],
			ARGS(T(c->caller.tenant_id), T(t.id), T(in->run_id)), &page);
	else if (!err && !in->run_id)
		err = openai_page_read(c, &asked, &sql[WAITING_LIST],
			ARGS(T(c->caller.tenant_id), T(t.id)), &page);
	if (err)
		return err;
	shown = arena_array(c->arena, struct ThreadMessageObject, page.rows.count + 1);
	for (size_t i = 0; i < page.rows.count; i++)
		show_thread_message(c, &t, (const struct thread_said *)page.rows.at + i, &shown[i]);
	out->data = (struct list){ shown, page.rows.count };
	out->has_more = page.more;
	if (page.rows.count) {
		out->first_id = shown[0].id;
		out->last_id = shown[page.rows.count - 1].id;
	}
	return 0;
}

OPERATION(readThreadMessage, NONE, ThreadMessageObject, .open_query = true)
{
	struct thread_said m = NOTHING_SAID;
	struct thread t = { 0 };
	int err = find_thread_message(c, PERM_SESSION_READ, &t, &m);

	if (!err)
		show_thread_message(c, &t, &m, out);
	return err;
}

OPERATION(updateThreadMessage, OpenAIMetadataUpdate, ThreadMessageObject, .open_query = true)
{
	struct thread_said m = NOTHING_SAID;
	struct thread t = { 0 };
	int err = find_thread_message(c, PERM_SESSION_WRITE, &t, &m);

	if (!err && in->metadata.text)
		err = openai_metadata(c, "metadata", in->metadata.text, &m.metadata);
	if (!err && in->metadata.text)
		err = db_run(c->db, &sql[t.agent_id ? SAID_UPDATE : WAITING_UPDATE], NULL,
			ARGS(T(c->caller.tenant_id), T(t.id), T(m.id), T(m.metadata)));
	if (err)
		return err;
	note_thread_message(c, &t, &m);
	show_thread_message(c, &t, &m, out);
	return 0;
}

OPERATION(deleteThreadMessage, NONE, OpenAIDeleted, .open_query = true)
{
	struct thread_said m = NOTHING_SAID;
	struct thread t = { 0 };
	int err = find_thread_message(c, PERM_SESSION_WRITE, &t, &m);

	if (!err)
		err = permit_delete(c, &t, &m);
	if (!err)
		err = thread_at_rest(c, &t, "Messages cannot be deleted");
	if (!err && strcmp(m.tool_calls, "[]") != 0)
		err = call_fail(c, ERR_MALFORMED,
			"This message calls tools whose answers stand after it, and stays.");
	if (!err)
		err = hide_thread_message(c, &t, &m);
	if (!err)
		note_thread_message(c, &t, &m);
	*out = (struct OpenAIDeleted){ m.id, "thread.message.deleted", true };
	return err;
}

#define OPENAI .tag = "OpenAI", .as_printed = true, .openai = true
#define M "/v1/threads/{thread_id}/messages"

static const struct route routes[] = {
	{ METHOD_POST, M, &createThreadMessage, PERM_LOGIN, 200, "session.message", OPENAI,
		.doc = "Put a message into a thread in which no run is active." },
	{ METHOD_GET, M, &listThreadMessages, PERM_LOGIN, 200, OPENAI,
		.doc = "List what people and the agent said, by cursor." },
	{ METHOD_GET, M "/{message_id}", &readThreadMessage, PERM_LOGIN, 200, OPENAI,
		.doc = "Read a message." },
	{ METHOD_POST, M "/{message_id}", &updateThreadMessage, PERM_LOGIN, 200, "message.update",
		OPENAI, .doc = "Change the metadata of a message." },
	{ METHOD_DELETE, M "/{message_id}", &deleteThreadMessage, PERM_LOGIN, 200, "message.delete",
		OPENAI,
		.doc = "Hide a message that calls no tools from the conversation, while no run is "
		       "active; auditors still see it. Somebody else's needs agent:write." },
};
RESOURCE(thread_messages, routes, NULL, &thread_message_sql);
