/* threads.c - OpenAI-style threads: see threads.h.
 *
 * Who may see a thread in which nobody works yet is decided here: who made
 * it, and those who hold OWNER on every agent.  Of a session access/caller.c
 * decides. */
#include "api/threads.h"

#include <string.h>

#include "api/api.h"
#include "api/gateway.h"
#include "api/search.h"
#include "api/session_rows.h"
#include "base/clock.h"
#include "sessions/session.h"

enum { MOVED_PAGE = 200 };

FIELDS(thread) = {
	FIELD(thread, id),
	FIELD(thread, agent_id, .nullable = true),
	FIELD(thread, created_by_id, .nullable = true),
	FIELD(thread, metadata),
	FIELD(thread, status, .nullable = true),
	FIELD(thread, run_id, .nullable = true),
	FIELD(thread, created_at),
	FIELD(thread, last_event_id),
};
static SCHEMA(thread, .internal = true);

struct moved_row {
	const char *id, *role, *metadata, *content;
};

FIELDS(moved_row) = {
	FIELD(moved_row, id),
	FIELD(moved_row, role),
	FIELD(moved_row, metadata),
	FIELD(moved_row, content),
};
static SCHEMA(moved_row, .internal = true);

enum {
	THREAD_TENANT,
	THREAD_READ,
	THREAD_SESSION,
	THREAD_INSERT,
	THREAD_FILE,
	THREAD_UNFILE,
	THREAD_REMOVE,
	THREAD_UPDATE,
	THREAD_UPDATE_SESSION,
	THREAD_WORDS,
};

static const struct statement sql[] = {
	[THREAD_TENANT] = { "thread_tenant",
		"select tenant_id as value from directory where id = $1", .row = &one_text_schema },
	[THREAD_READ] = { "thread_read",
		"select id, created_by_id, metadata, created_at, 0 as last_event_id from threads "
		"where tenant_id = $1 and id = $2",
		.row = &thread_schema },
	[THREAD_SESSION] = { "thread_session",
		"select s.id, s.agent_id, s.created_by_id, s.metadata, r.status, s.run_id, "
		"s.created_at, s.last_event_id from sessions s left join session_runs r "
		"on r.tenant_id = s.tenant_id and r.session_id = s.id and r.id = s.run_id "
		"where s.tenant_id = $1 and s.id = $2",
		.row = &thread_schema },
	[THREAD_INSERT] = { "thread_insert",
		"insert into threads (tenant_id, id, created_by_id, created_at, metadata) "
		"values ($1, $2, $3, $4, $5)" },
	[THREAD_FILE] = { "thread_file", "insert into directory (id, tenant_id) values ($1, $2)" },
	[THREAD_UNFILE] = { "thread_unfile", "delete from directory where id = $1" },
	[THREAD_REMOVE] = { "thread_remove",
		"delete from threads where tenant_id = $1 and id = $2" },
	[THREAD_UPDATE] = { "thread_update",
		"update threads set metadata = $3 where tenant_id = $1 and id = $2" },
	[THREAD_UPDATE_SESSION] = { "thread_update_session",
		"update sessions set metadata = $3, updated_at = $4 where tenant_id = $1 and id = $2" },
	[THREAD_WORDS] = { "thread_words",
		"select id, role, metadata, content from thread_messages "
		"where tenant_id = $1 and thread_id = $2 and id > $3 order by id limit $4",
		.row = &moved_row_schema },
};
STATEMENT_SET(thread_sql, sql);

/* ---- finding one ---- */

static int unknown(struct call *c, const char *id)
{
	c->problem = (struct problem){ 0 };
	return call_fail(c, ERR_NOT_FOUND, "No thread found with id '%.64s'.", id);
}

/* A thread in which nobody works yet. */
static int permit_own(struct call *c, const char *tenant_id, const struct thread *t, int permission)
{
	struct caller *who = &c->caller;
	struct place place = { .tenant_id = tenant_id };
	int err = 0;

	if (who->kind == CREDENTIAL_LOGIN)
		err = caller_permit(
			who, c->db, c->arena, PERM_TENANT_READ, &place, false, &c->problem);
	if (err)
		return err;
	if (strcmp(who->user_id, t->created_by_id) != 0 && !caller_holds_all(who))
		return ERR_NOT_FOUND;
	if (who->scoped && !(who->scopes & permission_given_by(permission)))
		return caller_lacks(c->arena, permission, &c->problem);
	return 0;
}

int thread_find_id(struct call *c, const char *id, int permission, struct thread *ret)
{
	const char *key_tenant = c->caller.kind == CREDENTIAL_KEY ? c->caller.tenant_id : NULL;
	struct place place = { .session_id = id };
	struct one_text tenant;
	int err = db_one(c->db, c->arena, &sql[THREAD_TENANT], &tenant, ARGS(T(id)));

	if (!err && key_tenant && strcmp(key_tenant, tenant.value) != 0)
		err = ERR_NOT_FOUND;
	if (err)
		return err == ERR_NOT_FOUND ? unknown(c, id) : err;
	*ret = (struct thread){ 0 };
	err = db_one(c->db, c->arena, &sql[THREAD_READ], ret, ARGS(T(tenant.value), T(id)));
	if (!err) {
		err = permit_own(c, tenant.value, ret, permission);
	} else if (err == ERR_NOT_FOUND) {
		err = caller_permit(
			&c->caller, c->db, c->arena, permission, &place, false, &c->problem);
		if (!err)
			err = db_one(c->db, c->arena, &sql[THREAD_SESSION], ret,
				ARGS(T(tenant.value), T(id)));
	}
	return err == ERR_NOT_FOUND ? unknown(c, id) : err;
}

int thread_find(struct call *c, int permission, struct thread *ret)
{
	return thread_find_id(c, call_param(c, "thread_id"), permission, ret);
}

int thread_at_rest(struct call *c, const struct thread *t, const char *what)
{
	static const char *const under_way[] = { "queued", "in_progress", "requires_action" };

	for (size_t i = 0; t->status && i < sizeof under_way / sizeof *under_way; i++)
		if (strcmp(t->status, under_way[i]) == 0)
			return call_fail(c, ERR_MALFORMED,
				"%s while the run %s of the thread %s is active.", what, t->run_id,
				t->id);
	return 0;
}

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
		err = db_run(c->db, &sql[THREAD_INSERT], NULL,
			ARGS(T(c->caller.tenant_id), T(ret->id), T(ret->created_by_id),
				N(ret->created_at), T(ret->metadata)));
	if (!err)
		err = db_run(
			c->db, &sql[THREAD_FILE], NULL, ARGS(T(ret->id), T(c->caller.tenant_id)));
	for (size_t i = 0; !err && in && i < in->messages.count; i++)
		err = thread_say(c, ret, &words[i],
			arena_printf(c->arena, "%smessages[%zu].", field, i), &message_id);
	return err;
}

static int move_word(struct call *c, const struct thread *t, const struct moved_row *row)
{
	bool person = strcmp(row->role, thread_role_words.list[THREAD_USER]) == 0;
	struct session_words words = { .id = row->id,
		.tenant_id = c->caller.tenant_id,
		.session_id = t->id,
		.author_id = person ? t->created_by_id : NULL,
		.role = row->role,
		.content = row->content,
		.metadata = row->metadata,
		.now = c->now };
	const char *id;

	return session_say(c->db, c->arena, &words, &id, &c->problem);
}

static int move_words(struct call *c, const struct thread *t)
{
	struct list rows = { .count = MOVED_PAGE };
	const char *behind = "";
	int err = 0;

	while (!err && rows.count == MOVED_PAGE) {
		const struct moved_row *row;

		err = db_all(c->db, c->arena, &sql[THREAD_WORDS], &rows, MOVED_PAGE,
			ARGS(T(c->caller.tenant_id), T(t->id), T(behind), N(MOVED_PAGE)));
		row = rows.at;
		for (size_t i = 0; !err && i < rows.count; i++) {
			err = move_word(c, t, &row[i]);
			behind = row[i].id;
		}
	}
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
	int err = db_run(c->db, &sql[THREAD_UNFILE], NULL, ARGS(T(t->id)));

	if (!err)
		err = session_open(c->db, c->arena, &session, &id, &c->problem);
	if (!err)
		err = move_words(c, t);
	if (!err)
		err = db_run(c->db, &sql[THREAD_REMOVE], NULL, ARGS(T(tenant_id), T(t->id)));
	if (!err)
		err = search_refresh(c->db, c->arena, tenant_id, MentionType_session, t->id);
	return err ? err : thread_refresh(c, t);
}

int thread_refresh(struct call *c, struct thread *t)
{
	const char *id = t->id;

	*t = (struct thread){ 0 };
	return db_one(
		c->db, c->arena, &sql[THREAD_SESSION], t, ARGS(T(c->caller.tenant_id), T(id)));
}

void thread_show(const struct thread *t, struct ThreadObject *out)
{
	*out = (struct ThreadObject){ .id = t->id,
		.object = "thread",
		.created_at = t->created_at / SECOND_US,
		.metadata = { t->metadata && *t->metadata ? t->metadata : NULL } };
}

/* ---- the operations ---- */

OPERATION(createThread, .body = &ThreadCreate_schema, .reply = &ThreadObject_schema,
	.open_query = true)
{
	struct thread t = { 0 };
	int err = gateway_tenant_read(c);

	if (!err && c->caller.scoped && !(c->caller.scopes & PERM(SESSION_WRITE)))
		err = caller_lacks(c->arena, PERM_SESSION_WRITE, &c->problem);
	if (!err)
		err = thread_make(c, c->body, "", &t);
	if (err)
		return err;
	c->audit.resource_id = t.id;
	thread_show(&t, c->reply);
	return 0;
}

OPERATION(readThread, .reply = &ThreadObject_schema, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_READ, &t);

	if (!err)
		thread_show(&t, c->reply);
	return err;
}

OPERATION(updateThread, .body = &OpenAIMetadataUpdate_schema, .reply = &ThreadObject_schema,
	.open_query = true)
{
	const struct OpenAIMetadataUpdate *in = c->body;
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_WRITE, &t);

	if (!err && in->metadata.text)
		err = openai_metadata(c, "metadata", in->metadata.text, &t.metadata);
	if (!err && in->metadata.text)
		err = db_run(c->db, &sql[t.agent_id ? THREAD_UPDATE_SESSION : THREAD_UPDATE], NULL,
			ARGS(T(c->caller.tenant_id), T(t.id), T(t.metadata), N(c->now)));
	c->audit.resource_id = t.id;
	if (!err)
		thread_show(&t, c->reply);
	return err;
}

OPERATION(deleteThread, .reply = &OpenAIDeleted_schema, .open_query = true)
{
	struct thread t = { 0 };
	int err = thread_find(c, PERM_SESSION_WRITE, &t);

	if (!err && t.agent_id)
		err = session_remove(c);
	if (!err && !t.agent_id)
		err = db_run(c->db, &sql[THREAD_UNFILE], NULL, ARGS(T(t.id)));
	if (!err && !t.agent_id)
		err = db_run(
			c->db, &sql[THREAD_REMOVE], NULL, ARGS(T(c->caller.tenant_id), T(t.id)));
	c->audit.resource_id = t.id;
	*(struct OpenAIDeleted *)c->reply = (struct OpenAIDeleted){ t.id, "thread.deleted", true };
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
RESOURCE(threads, routes, threads_schemas);
