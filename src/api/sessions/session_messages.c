/* session_messages.c - what is said in a session: read by pages, and say something.
 *
 * A page is read along the key from its newest end, and its total is kept in
 * the session's row, so that a long session opens like a short one. */
#include <string.h>

#include "api/sessions/session_rows.h"
#include "api/sessions/session_stream.h"
#include "store/listing.h"

/* $1 tenant, $2 session */
#define FROM "messages m where m.tenant_id = $1 and m.session_id = $2"

enum { LIST_OF(MESSAGE_LIST), LAST_EVENT };

static const struct statement sql[] = {
	[MESSAGE_LIST] = { "message_count",
		"select message_count from sessions where tenant_id = $1 and id = $2" },
	[MESSAGE_LIST_PAGE] = { "message_page",
		"select " MESSAGE_COLUMNS " from " FROM
		" order by m.id desc limit {limit} offset {offset}",
		.row = &TaskMessageRead_schema },
	[MESSAGE_LIST_AFTER] = { "message_after",
		"select " MESSAGE_COLUMNS " from " FROM
		" and m.id < {after} order by m.id desc limit {limit}",
		.row = &TaskMessageRead_schema },
	[LAST_EVENT] = { "message_last_event",
		"select last_event_id from sessions where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(session_message_sql, sql);

int message_rows_before(struct call *c, const char *session_id, const char *before, size_t most,
	struct list *ret, bool *ret_more)
{
	const struct db_page page = { .rows = most + 1, .bytes = CALL_PAGE_BYTES, .after = before };
	int err = db_page(c->db, c->arena, &sql[before ? MESSAGE_LIST_AFTER : MESSAGE_LIST_PAGE],
		ret, &page, ret_more, ARGS(T(c->caller.tenant_id), T(session_id)));

	if (!err && ret->count > most) {
		ret->count = most;
		*ret_more = true;
	}
	return err;
}

/* The number of the latest event is of the same moment as the messages: a stream that goes on after it neither misses a
 * piece of what is being written nor tells one again. */
LIST_OPERATION(listMessages, NONE, TaskMessageRead, .long_read = true, .header = "X-Last-Event-Id")
{
	const struct value session[] = { T(c->caller.tenant_id), T(c->caller.session_id) };
	int64_t last = 0;
	int err = db_int(c->db, &sql[LAST_EVENT], &last, session, 2);

	if (err)
		return err;
	buf_printf(&c->x->reply.extra, "X-Last-Event-Id: %lld\r\n", (long long)last);
	return call_list(c, &sql[MESSAGE_LIST], session, 2);
}

/* With Accept: text/event-stream the answer comes on the same connection: all that happens from this
 * message on, to the end of its run. */
OPERATION(createMessage, MessageCreate, TaskMessageRead, .gives = "text/event-stream",
	.events = &session_event_stream)
{
	const char *session_id = c->caller.session_id, *id = NULL;
	struct session_stream_asked asked = { .tenant_id = c->caller.tenant_id,
		.session_id = session_id };
	struct session_parts parts = { 0 };
	int err = session_parts_refer(c->db, c->arena, c->caller.tenant_id, session_id,
		&in->file_ids, strlen(in->content), &parts, &c->problem);

	if (!err)
		err = session_parts_taken(c, c->caller.agent_id, &parts, 1);
	if (!err)
		err = session_room(c, c->caller.agent_id, NULL, 1);
	if (!err)
		err = db_int(c->db, &sql[LAST_EVENT], &asked.after,
			ARGS(T(c->caller.tenant_id), T(session_id)));
	if (!err)
		err = session_hear(c, session_id, in->content, &parts, &id, &asked.run_id);
	if (err)
		return err;
	c->audit.resource_id = session_id;
	c->audit.meta = arena_printf(c->arena, "{\"message_id\":\"%s\"}", id);
	err = message_row_read(c, session_id, id, out);
	return !err && session_stream_wanted(c) ? session_stream(c, &asked) : err;
}

#define S "/tenant/{tenant_id}/sessions/{session_id}"

static const struct route routes[] = {
	{ METHOD_GET, S "/messages", &listMessages, PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "List what was said, newest first; a message that is being written comes "
		       "with its text so far." },
	{ METHOD_POST, S "/messages", &createMessage, PERM_SESSION_WRITE, 202, "session.message",
		.tag = "Sessions", .patient = true,
		.doc = "Say something; the agent sets to work, or hears it in the run under way. With "
		       "Accept: text/event-stream the answer is what happens, as it happens, to the end "
		       "of the run." },
};
RESOURCE(session_messages, routes, NULL, &session_message_sql);
