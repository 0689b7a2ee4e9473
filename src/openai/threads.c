/* threads.c - OpenAI-style threads: see threads.h. */
#include "openai/threads.h"

#include <string.h>

#include "call/operation.h"
#include "openai/gateway.h"
#include "openai/openai_media.h"
#include "api/erasure/gone.h"
#include "search/search.h"
#include "api/sessions/session_rows.h"
#include "base/clock.h"
#include "sessions/session.h"
#include "store/row.h"

enum { MOVED_PAGE = 200 };

struct moved_row {
	const char *id, *author_id, *role, *metadata, *content;
	int64_t created_at;
	struct list parts; /* struct MessagePart */
};

FIELDS(moved_row) = {
	FIELD(moved_row, id),
	FIELD(moved_row, author_id, .nullable = true),
	FIELD(moved_row, role),
	FIELD(moved_row, metadata),
	FIELD(moved_row, content),
	FIELD(moved_row, created_at),
	FIELD(moved_row, parts, .nullable = true, .item = OBJECT, .of = &MessagePart_schema),
};
static SCHEMA(moved_row, .internal = true);

enum {
	THREAD_INSERT,
	THREAD_FILE,
	THREAD_UNFILE,
	THREAD_REMOVE,
	THREAD_UPDATE,
	THREAD_UPDATE_SESSION,
	THREAD_WORDS,
	THREAD_DELETED,
	THREAD_UNHEARD,
	THREAD_UNHEARD_SESSION,
};

struct new_thread {
	const char *tenant_id, *id, *created_by_id, *metadata;
	int64_t created_at;
};

FIELDS(new_thread) = {
	ROW_FIELDS(new_thread, tenant_id, id, metadata, created_at),
	ROW_NULLABLE(new_thread, created_by_id),
};
static SCHEMA(new_thread, .internal = true);

static const struct statement sql[] = {
	[THREAD_INSERT] = { "thread_insert", "insert into thread_rows ({*}) values ({$})",
		.row = &new_thread_schema },
	[THREAD_FILE] = { "thread_file", "insert into directory (id, tenant_id) values ($1, $2)" },
	[THREAD_UNFILE] = { "thread_unfile",
		"delete from directory where tenant_id = $1 and id = $2" },
	[THREAD_REMOVE] = { "thread_remove",
		"update thread_rows set gone_at = $3 where tenant_id = $1 and id = $2" },
	[THREAD_UPDATE] = { "thread_update",
		"update thread_rows set metadata = $3 where tenant_id = $1 and id = $2" },
	[THREAD_UPDATE_SESSION] = { "thread_update_session",
		"update session_rows set metadata = $3, updated_at = $4 where tenant_id = $1 and id = $2" },
	[THREAD_WORDS] = { "thread_words",
		"select {*} from thread_messages where tenant_id = $1 and thread_id = $2 "
		"and id > $3 and deleted_at is null order by id limit $4",
		.row = &moved_row_schema },
	[THREAD_DELETED] = { "thread_deleted",
		"insert into deleted_messages (tenant_id, session_id, id, author_id, role, status, "
		"prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd, "
		"created_at, metadata, tool_calls, content, parts, deleted_at, deleted_by_id) "
		"select tenant_id, thread_id, id, author_id, role, 'complete', 0, 0, 0, 0, 0, "
		"created_at, metadata, '[]', content, parts, deleted_at, deleted_by_id "
		"from thread_messages "
		"where tenant_id = $1 and thread_id = $2 and deleted_at is not null" },
	[THREAD_UNHEARD] = { "thread_unheard",
		"select count(*) from thread_messages where tenant_id = $1 and thread_id = $2 "
		"and role = 'user' and deleted_at is null" },
	/* What was said before the last run began, or before it wrote, it has heard. */
	[THREAD_UNHEARD_SESSION] = { "thread_unheard_session",
		"select count(*) from messages where tenant_id = $1 and session_id = $2 "
		"and role = 'user' and run_id is null and id > coalesce((select m.id from messages m "
		"where m.tenant_id = $1 and m.session_id = $2 and m.run_id is not null "
		"order by m.id desc limit 1), '') and created_at > coalesce((select r.created_at "
		"from session_runs r where r.tenant_id = $1 and r.session_id = $2 "
		"order by r.id desc limit 1), 0)" },
};
STATEMENT_SET(thread_sql, sql);

/* ---- making one, and having an agent begin in it ---- */

int thread_make(
	struct call *c, const struct ThreadCreate *in, const char *field, struct thread *ret)
{
	const struct ThreadMessageCreate *words = in ? in->messages.at : NULL;
	int64_t made;
	struct id id = id_new(&made);
	const char *message_id;
	int err;

	*ret = (struct thread){ .id = arena_strdup(c->arena, id.text),
		.created_by_id = c->caller.user_id,
		.created_at = made };
	err = openai_metadata(c, arena_printf(c->arena, "%smetadata", field),
		in ? in->metadata.text : NULL, &ret->metadata);
	if (!err)
		err = db_put(c->db, &sql[THREAD_INSERT],
			&(struct new_thread){ .tenant_id = c->caller.tenant_id,
				.id = ret->id,
				.created_by_id = ret->created_by_id,
				.metadata = ret->metadata,
				.created_at = ret->created_at });
	if (!err)
		err = db_run(
			c->db, &sql[THREAD_FILE], NULL, ARGS(T(ret->id), T(c->caller.tenant_id)));
	for (size_t i = 0; !err && in && i < in->messages.count; i++)
		err = thread_say(c, ret, &words[i],
			arena_printf(c->arena, "%smessages[%zu].", field, i), &message_id);
	return err ? err
		   : call_audit_act(c,
			     (struct audit_entry){ .action = "thread.create",
				     .resource_id = ret->id,
				     .meta = arena_printf(c->arena, "{%s}",
					     thread_words_noted(c, in ? &in->messages : NULL)) });
}

/* Nobody knew which agent would read them when they were written. */
static int moved_parts_taken(struct call *c, const char *agent_id, const struct list *kept)
{
	const struct MessagePart *part = kept->at;
	struct session_parts parts = { arena_array(c->arena, struct session_part, kept->count + 1),
		kept->count };

	for (size_t i = 0; i < kept->count; i++)
		parts.at[i] = (struct session_part){ .told = part[i], .field = "assistant_id" };
	return session_parts_taken(c, agent_id, &parts, 1);
}

static int move_word(
	struct call *c, const struct thread *t, const char *agent_id, const struct moved_row *row)
{
	struct session_words words = { .id = row->id,
		.tenant_id = c->caller.tenant_id,
		.session_id = t->id,
		.author_id = row->author_id,
		.by = session_actor_of(c),
		.role = row->role,
		.content = row->content,
		.metadata = row->metadata,
		.kept = row->parts,
		.said_at = row->created_at,
		.now = c->now };
	const char *id;
	int err = moved_parts_taken(c, agent_id, &row->parts);

	return err ? err : session_say(c->db, c->arena, &words, &id, &c->problem);
}

static int move_words(struct call *c, const struct thread *t, const char *agent_id)
{
	struct list rows = { .count = MOVED_PAGE };
	const char *after_id = "";
	int err = 0;

	while (!err && rows.count == MOVED_PAGE) {
		const struct moved_row *row;

		err = db_all(c->db, c->arena, &sql[THREAD_WORDS], &rows, MOVED_PAGE,
			ARGS(T(c->caller.tenant_id), T(t->id), T(after_id), N(MOVED_PAGE)));
		row = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			err = move_word(c, t, agent_id, &row[i]);
			after_id = row[i].id;
		}
	}
	return err;
}

/* Its rows are removed later; its id may be a session's by then. */
static int remove_rows(struct call *c, const char *id)
{
	int err = db_run(
		c->db, &sql[THREAD_REMOVE], NULL, ARGS(T(c->caller.tenant_id), T(id), N(c->now)));

	if (!err)
		c->afterwards = gone_submit;
	return err;
}

int thread_begin(struct call *c, struct thread *t, const char *agent_id)
{
	const char *tenant_id = c->caller.tenant_id, *id;
	struct session_new session = { .id = t->id,
		.tenant_id = tenant_id,
		.agent_id = agent_id,
		.created_by_id = t->created_by_id,
		.origin = "api",
		.metadata = t->metadata,
		.now = c->now };
	int err = db_run(c->db, &sql[THREAD_UNFILE], NULL, ARGS(T(tenant_id), T(t->id)));

	if (!err)
		err = session_open(c->db, c->arena, &session, &id, &c->problem);
	if (!err)
		err = session_parts_move(c->db, tenant_id, t->id);
	if (!err)
		err = move_words(c, t, agent_id);
	if (!err)
		err = db_run(c->db, &sql[THREAD_DELETED], NULL, ARGS(T(tenant_id), T(t->id)));
	if (!err)
		err = remove_rows(c, t->id);
	if (!err)
		err = search_refresh(c->db, c->arena, tenant_id, MentionType_session, t->id);
	if (!err)
		err = session_noted(c, t->id, agent_id);
	return err ? err : thread_refresh(c, t);
}

void thread_show(const struct thread *t, struct ThreadObject *out)
{
	*out = (struct ThreadObject){ .id = t->id,
		.object = "thread",
		.created_at = t->created_at / SECOND_US,
		.metadata = { t->metadata && *t->metadata ? t->metadata : NULL } };
}

int thread_brings(struct call *c, const struct thread *t, const struct list *more, int64_t *ret)
{
	const struct ThreadMessageCreate *m = more->at;
	int err = db_int(c->db, &sql[t->agent_id ? THREAD_UNHEARD_SESSION : THREAD_UNHEARD], ret,
		ARGS(T(c->caller.tenant_id), T(t->id)));

	for (size_t i = 0; i < more->count; i++)
		*ret += m[i].role == THREAD_USER;
	return err;
}

const char *thread_words_noted(struct call *c, const struct list *messages)
{
	const struct ThreadMessageCreate *m = messages ? messages->at : NULL;
	size_t count[] = { [THREAD_USER] = 0, [THREAD_ASSISTANT] = 0 };

	for (size_t i = 0; m && i < messages->count; i++)
		count[m[i].role]++;
	return arena_printf(c->arena, "\"messages\":{\"%s\":%zu,\"%s\":%zu}",
		thread_role_words.list[THREAD_USER], count[THREAD_USER],
		thread_role_words.list[THREAD_ASSISTANT], count[THREAD_ASSISTANT]);
}

/* ---- the operations ---- */

OPERATION(createThread, ThreadCreate, ThreadObject, .open_query = true)
{
	struct thread t = { 0 };
	int err = gateway_tenant_read(c);

	if (!err && c->caller.scoped && !(c->caller.scopes & PERM(SESSION_WRITE)))
		err = caller_lacks(c->arena, PERM_SESSION_WRITE, &c->problem);
	if (!err)
		err = thread_make(c, in, "", &t);
	if (err)
		return err;
	thread_show(&t, out);
	return 0;
}

OPERATION(readThread, NONE, ThreadObject, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_READ, &t);

	if (!err)
		thread_show(&t, out);
	return err;
}

OPERATION(updateThread, OpenAIMetadataUpdate, ThreadObject, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_WRITE, &t);

	if (!err && in->metadata.text)
		err = openai_metadata(c, "metadata", in->metadata.text, &t.metadata);
	if (!err && in->metadata.text)
		err = db_run(c->db, &sql[t.agent_id ? THREAD_UPDATE_SESSION : THREAD_UPDATE], NULL,
			ARGS(T(c->caller.tenant_id), T(t.id), T(t.metadata), N(c->now)));
	if (!err)
		thread_show(&t, out);
	return err;
}

OPERATION(deleteThread, NONE, OpenAIDeleted, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_WRITE, &t);

	if (!err && t.agent_id)
		err = session_remove(c);
	if (!err && !t.agent_id)
		err = db_run(
			c->db, &sql[THREAD_UNFILE], NULL, ARGS(T(c->caller.tenant_id), T(t.id)));
	if (!err && !t.agent_id)
		err = remove_rows(c, t.id);
	*out = (struct OpenAIDeleted){ t.id, "thread.deleted", true };
	return err;
}

#define OPENAI .tag = "OpenAI", .as_printed = true, .openai = true
#define T_ "/v1/threads"

static const struct route routes[] = {
	{ METHOD_POST, T_, &createThread, PERM_LOGIN, 200, "thread.create", OPENAI,
		.doc = "Make a thread, with or without messages. Its first run makes it a session." },
	{ METHOD_GET, T_ "/{thread_id}", &readThread, PERM_LOGIN, 200, OPENAI,
		.doc = "Read a thread, or a session as one." },
	{ METHOD_POST, T_ "/{thread_id}", &updateThread, PERM_LOGIN, 200, "thread.update", OPENAI,
		.doc = "Change the metadata of a thread." },
	{ METHOD_DELETE, T_ "/{thread_id}", &deleteThread, PERM_LOGIN, 200, "thread.delete", OPENAI,
		.doc = "Delete a thread, or the session that it is; what runs is cancelled." },
};
RESOURCE(threads, routes, NULL, &thread_sql, &thread_find_sql);
