/* gone.c - see gone.h.
 *
 * What hangs on something goes before it, table by table, so that the foreign
 * keys never have more to take along than the few rows of an agent's settings.
 * How far it has come is what is still there: whoever starts after a crash, or
 * beside another process, finds the rest and goes on. */
#include "api/erasure/gone.h"

#include <stdlib.h>
#include <string.h>

#include "api/service.h"
#include "call/operation.h"
#include "search/search.h"
#include "base/clock.h"
#include "mailboxes/mail_objects.h"
#include "sessions/session.h"
#include "sessions/session_file.h"
#include "store/batches.h"
#include "store/sweep.h"

struct gone_row {
	const char *tenant_id, *id;
};

FIELDS(gone_row) = {
	FIELD(gone_row, tenant_id),
	FIELD(gone_row, id),
};
static SCHEMA(gone_row, .internal = true);

/* The first two are an agent's. */
enum { SESSION, INTEGRATION, OF_AGENTS, THREAD = OF_AGENTS, CONVERSATION, AGENT, KINDS };
enum { FIND, DROP = FIND + KINDS, OF_AGENT = DROP + KINDS, UNFILE = OF_AGENT + OF_AGENTS };

#define GONE(table)                                                                      \
	{                                                                                \
		"gone_" table,                                                           \
			"select tenant_id, id from " table " where gone_at is not null " \
			"order by gone_at, tenant_id, id limit 1",                       \
			.row = &gone_row_schema, .across = "maintenance of all tenants", \
			.scan = "the few that are deleted, by an index of their own"     \
	}
#define GONE_DROP(table)                                                                     \
	{                                                                                    \
		"gone_drop_" table, "delete from " table " where tenant_id = $1 and id = $2" \
	}
#define GONE_OF_AGENT(table)                                       \
	{                                                          \
		"gone_of_agent_" table,                            \
			"select tenant_id, id from " table         \
			" where tenant_id = $1 and agent_id = $2 " \
			"order by id limit 1",                     \
			.row = &gone_row_schema                    \
	}

static const struct statement sql[] = {
	[FIND + SESSION] = GONE("session_rows"),
	[FIND + THREAD] = GONE("thread_rows"),
	[FIND + CONVERSATION] = GONE("conversation_rows"),
	[FIND + INTEGRATION] = GONE("integration_rows"),
	[FIND + AGENT] = GONE("agent_rows"),
	[DROP + SESSION] = GONE_DROP("session_rows"),
	[DROP + THREAD] = GONE_DROP("thread_rows"),
	[DROP + CONVERSATION] = GONE_DROP("conversation_rows"),
	[DROP + INTEGRATION] = GONE_DROP("integration_rows"),
	[DROP + AGENT] = GONE_DROP("agent_rows"),
	[OF_AGENT + SESSION] = GONE_OF_AGENT("session_rows"),
	[OF_AGENT + INTEGRATION] = GONE_OF_AGENT("integration_rows"),
	[UNFILE] = { "gone_unfile", "delete from directory where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(gone_sql, sql);

#define HEIR(of, table, owner, keys)                                                               \
	{                                                                                          \
		of " " table,                                                                      \
			"delete from " table " where tenant_id = $1 and " owner " = $2 and (" keys \
			") in (select " keys " from " table " where tenant_id = $1 and " owner     \
			" = $2 order by " keys " limit $3)"                                        \
	}
#define OF_SESSION(table, keys) HEIR("gone_session", table, "session_id", keys)
#define OF_INTEGRATION(table, keys) HEIR("gone_integration", table, "integration_id", keys)

/* All that hangs on each kind by a foreign key and can be many, or large; test_gone.c asks the store whether any is
 * missing. */
static const struct statement heirs[] = {
	OF_SESSION("responses", "id"),
	OF_SESSION("conversation_items", "conversation_id, place"),
	OF_SESSION("run_notes", "run_id"),
	OF_SESSION("deleted_messages", "id"),
	OF_SESSION("session_events", "seq"),
	OF_SESSION("session_calls", "message_id, position"),
	OF_SESSION("approvals", "id"),
	OF_SESSION("session_files", "id"), /* FILES_HEIR */
	OF_SESSION("session_summaries", "last_message_id"),
	OF_SESSION("session_runs", "id"),
	OF_SESSION("session_people", "user_id"),
	OF_SESSION("messages", "id"),
	OF_INTEGRATION("deliveries_past", "delivery_key"),
	OF_INTEGRATION("deliveries", "id"),
	OF_INTEGRATION("delivery_bodies", "digest"),
	OF_INTEGRATION("integration_rates", "integration_id"),
	HEIR("gone_thread", "thread_messages", "thread_id", "id"),
	HEIR("gone_thread", "thread_files", "thread_id", "id"),
	HEIR("gone_conversation", "conversation_items", "conversation_id", "place"),
	HEIR("gone_agent", "responses", "agent_id", "id"),
	HEIR("gone_agent", "memories", "agent_id", "id"),
	HEIR("gone_agent", "mail_threads", "agent_id", "id"),
	HEIR("gone_agent", "mail_sends", "agent_id", "id"),
	HEIR("gone_agent", "mail_correspondents", "agent_id", "address"),
};
STATEMENT_SET(gone_heirs_sql, heirs);

enum {
	FILES_HEIR = 7,
	SESSION_HEIRS = 12,
	THREAD_HEIRS = 2,
	CONVERSATION_HEIRS = 1,
	INTEGRATION_HEIRS = 4,
	AGENT_HEIRS = 5
};

static const struct {
	int first, count;
} heirs_of[KINDS] = {
	[SESSION] = { 0, SESSION_HEIRS },
	[INTEGRATION] = { SESSION_HEIRS, INTEGRATION_HEIRS },
	[THREAD] = { SESSION_HEIRS + INTEGRATION_HEIRS, THREAD_HEIRS },
	[CONVERSATION] = { SESSION_HEIRS + INTEGRATION_HEIRS + THREAD_HEIRS, CONVERSATION_HEIRS },
	[AGENT] = { SESSION_HEIRS + INTEGRATION_HEIRS + THREAD_HEIRS + CONVERSATION_HEIRS,
		AGENT_HEIRS },
};
_Static_assert(
	SESSION_HEIRS + THREAD_HEIRS + CONVERSATION_HEIRS + INTEGRATION_HEIRS + AGENT_HEIRS ==
		sizeof heirs / sizeof *heirs,
	"every heir is somebody's");

/* At most some for each member or tool of the tenant.  Integrations before the skills they belong to. */
#define SETTINGS(table)                                                                \
	{                                                                              \
		"agent_gone_" table,                                                   \
			"delete from " table " where tenant_id = $1 and agent_id = $2" \
	}

static const struct statement agent_goes[] = {
	SETTINGS("agent_roles"),
	SETTINGS("agent_group_roles"),
	SETTINGS("favorites"),
	SETTINGS("chat_configs"),
	SETTINGS("agent_avatars"),
	SETTINGS("agent_host_users"),
	SETTINGS("agent_imports"),
	/* Their folders go soon, and with them those that were let go of before. */
	{ "agent_gone_folders",
		"insert into repository_trash (id, owner, former, size_bytes, since, remove_at) "
		"select id, tenant_id, agent_id, size_bytes, cast($3 as bigint), cast($3 as bigint) "
		"from repositories where tenant_id = $1 and agent_id = $2" },
	{ "agent_gone_released",
		"update repository_trash set remove_at = $3 where owner = $1 and former = $2" },
	SETTINGS("prompt_proposals"),
	SETTINGS("prompt_refusals"),
	SETTINGS("prompt_bases"),
	SETTINGS("repositories"),
	SETTINGS("mailboxes"),
	SETTINGS("mail_rules"),
	SETTINGS("agent_models"),
	SETTINGS("agent_tools"),
	SETTINGS("agent_tool_bundles"),
	SETTINGS("scanner_grants"),
	SETTINGS("assistants"),
	SETTINGS("agent_skill_permissions"),
	{ "agent_gone_integrations", "update integration_rows set " INTEGRATION_GONE
				     " where tenant_id = $1 and agent_id = $2" },
	SETTINGS("agent_skills"),
	/* A slug cannot begin so: the one it had is free. */
	{ "agent_gone", "update agent_rows set gone_at = $3, slug = '~' || id where tenant_id = $1 "
			"and id = $2" },
};
STATEMENT_SET(gone_agent_sql, agent_goes);

int gone_agent(struct db *db, const char *tenant_id, const char *agent_id, int64_t now)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof agent_goes / sizeof *agent_goes; i++)
		err = strstr(agent_goes[i].sql, "$3")
			      ? db_run(db, &agent_goes[i], NULL,
					ARGS(T(tenant_id), T(agent_id), N(now)))
			      : db_run(db, &agent_goes[i], NULL, ARGS(T(tenant_id), T(agent_id)));
	return err;
}

struct piece {
	struct db *db;
	struct arena *a;
	struct sweep_pace pace;
	int64_t now;
};

/* The row itself, and by what it is found.  A thread's id may be that of the session it became. */
static int drop_row(const struct piece *p, int kind, const struct gone_row *row)
{
	int err = 0;

	if (kind == SESSION)
		err = search_remove(p->db, p->a, row->tenant_id, MentionType_session, row->id);
	if (!err && kind == SESSION)
		err = db_run(p->db, &sql[UNFILE], NULL, ARGS(T(row->tenant_id), T(row->id)));
	return err ? err
		   : db_run(p->db, &sql[DROP + kind], NULL, ARGS(T(row->tenant_id), T(row->id)));
}

/* Some rows of a table.  Objects of the bucket go with the last file that names them. */
static int take_heirs(
	const struct piece *p, int heir, const struct gone_row *row, int64_t *ret_removed)
{
	struct list objects = { 0 };
	int err = heir == FILES_HEIR ? session_file_objects(p->db, p->a, row->tenant_id, row->id,
					       p->pace.at_once, &objects)
				     : 0;

	if (!err)
		err = db_run(p->db, &heirs[heir], ret_removed,
			ARGS(T(row->tenant_id), T(row->id), N(p->pace.at_once)));
	return err ? err : session_file_unname(p->db, p->a, row->tenant_id, &objects, p->now);
}

/* Some rows of the first table that has any; when none has, the thing itself. */
static int take_some(
	const struct piece *p, int kind, const struct gone_row *row, int64_t *ret_removed)
{
	int err = 0;

	*ret_removed = 0;
	for (int i = 0; !err && !*ret_removed && i < heirs_of[kind].count; i++)
		err = take_heirs(p, heirs_of[kind].first + i, row, ret_removed);
	if (!err && !*ret_removed) {
		err = drop_row(p, kind, row);
		*ret_removed = 1;
	}
	return err;
}

/* What runs is ended, then its sessions and integrations go one by one, then its mail with the bytes that nobody else
 * has, then it. */
static int take_of_agent(const struct piece *p, const struct gone_row *agent, int64_t *ret_removed)
{
	struct gone_row row;
	int err =
		session_cancel_agent(p->db, p->a, agent->tenant_id, agent->id, p->now, ret_removed);

	if (err || *ret_removed)
		return err;
	for (int kind = SESSION; kind < OF_AGENTS; kind++) {
		err = db_one(p->db, p->a, &sql[OF_AGENT + kind], &row,
			ARGS(T(agent->tenant_id), T(agent->id)));
		if (!err)
			return take_some(p, kind, &row, ret_removed);
		if (err != ERR_NOT_FOUND)
			return err;
	}
	err = mail_files_drop_some(
		p->db, p->a, agent->tenant_id, agent->id, p->pace.at_once, p->now, ret_removed);
	return err || *ret_removed ? err : take_some(p, AGENT, agent, ret_removed);
}

/* A step; *ret_removed is 0 when nothing is left. */
static int gone_take_piece(const struct piece *p, int64_t *ret_removed)
{
	*ret_removed = 0;
	for (int kind = SESSION; kind < KINDS; kind++) {
		struct gone_row row;
		int err = db_one(p->db, p->a, &sql[FIND + kind], &row, NO_ARGS);

		if (!err)
			return kind == AGENT ? take_of_agent(p, &row, ret_removed)
					     : take_some(p, kind, &row, ret_removed);
		if (err != ERR_NOT_FOUND)
			return err;
	}
	return 0;
}

int gone_take(struct db *db, bool *ret_more)
{
	struct arena a = { 0 };
	struct piece p = { .db = db, .a = &a, .now = clock_now_us() };
	int64_t removed = 0;
	int err;

	sweep_pace_begin(&p.pace);
	do {
		err = gone_take_piece(&p, &removed);
		arena_reset(&a);
	} while (!err && removed && sweep_pace_goes_on(&p.pace, removed));
	*ret_more = removed > 0;
	arena_free(&a);
	return err;
}

static int gone_batch(struct batches *b, struct db *db)
{
	return gone_take(db, &b->more);
}

struct batches *gone_new(struct app *app)
{
	struct batches *b = calloc(1, sizeof *b);

	(void)app;
	if (b)
		b->take = gone_batch;
	return b;
}

void gone_submit(struct app *app)
{
	batches_start(service_of(app)->removals[REMOVE_GONE], app->store);
}
