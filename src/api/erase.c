/* erase.c - see erase.h.
 *
 * Deleting a tenant closes it at once: from then on it is not there for
 * anybody.  What it leaves is removed here, a bounded number of rows in each
 * transaction so that nobody else waits long, and counted as it goes, so that
 * a restart loses neither its place nor the account.  Audit rows stay, without
 * personal data; the last one says what was removed. */
#include "api/erase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "access/seal.h"
#include "api/api.h"
#include "base/clock.h"
#include "base/id.h"

enum {
	ERASE_FIND,
	ERASE_COUNT,
	ERASE_ACCOUNT,
	ERASE_DIRECTORY,
	ERASE_SESSIONS,
	ERASE_THREADS,
	ERASE_TENANT,
	ERASE_FORGET
};

struct account_row {
	const char *what;
	int64_t removed;
};

FIELDS(account_row) = {
	FIELD(account_row, what),
	FIELD(account_row, removed),
};
static SCHEMA(account_row, .internal = true);

static const struct statement sql[] = {
	[ERASE_FIND] = { "erase_find",
		"select id as value from tenants where status = 'closed' order by id limit 1",
		.row = &one_text_schema, .scan = "the roster, once a minute" },
	[ERASE_COUNT] = { "erase_count",
		"insert into erasures (tenant_id, what, removed) values ($1, $2, $3) "
		"on conflict (tenant_id, what) do update set removed = erasures.removed + $3" },
	[ERASE_ACCOUNT] = { "erase_account",
		"select what, removed from erasures where tenant_id = $1 order by what",
		.row = &account_row_schema },
	[ERASE_DIRECTORY] = { "erase_directory",
		"delete from directory where id in "
		"(select a.id from agents a where a.tenant_id = $1 order by a.id limit 200)" },
	[ERASE_SESSIONS] = { "erase_session_directory",
		"delete from directory where id in "
		"(select s.id from sessions s where s.tenant_id = $1 order by s.id limit 200)" },
	[ERASE_THREADS] = { "erase_thread_directory",
		"delete from directory where id in "
		"(select t.id from threads t where t.tenant_id = $1 order by t.id limit 200)" },
	[ERASE_TENANT] = { "erase_tenant", "delete from tenants where id = $1" },
	[ERASE_FORGET] = { "erase_forget", "delete from erasures where tenant_id = $1" },
};
STATEMENT_SET(erase_sql, sql);

#define SWEEP(table, keys)                                                                        \
	{                                                                                         \
		table, "delete from " table " where tenant_id = $1 and (" keys                    \
		       ") in (select " keys " from " table " where tenant_id = $1 order by " keys \
		       " limit 200)"                                                              \
	}

/* Children before parents.  Agents, sessions and threads go with their directory entries. */
static const struct statement sweeps[] = {
	SWEEP("search_words", "shelf, type, score, tail, id"),
	SWEEP("search_things", "type, id"),
	SWEEP("jobs", "id"),
	SWEEP("responses", "id"),
	SWEEP("run_notes", "session_id, run_id"),
	SWEEP("thread_messages", "thread_id, id"),
	SWEEP("threads", "id"),
	SWEEP("assistants", "agent_id"),
	SWEEP("tenant_events", "feed, id"),
	SWEEP("deliveries_past", "integration_id, delivery_key"),
	SWEEP("deliveries", "integration_id, id"),
	SWEEP("integration_rates", "integration_id"),
	SWEEP("session_events", "session_id, seq"),
	SWEEP("session_calls", "session_id, message_id, position"),
	SWEEP("approvals", "id"),
	SWEEP("session_files", "session_id, id"),
	SWEEP("session_summaries", "session_id, last_message_id"),
	SWEEP("session_runs", "session_id, id"),
	SWEEP("session_people", "user_id, session_id"),
	SWEEP("messages", "session_id, id"),
	SWEEP("memories", "agent_id, id"),
	SWEEP("sessions", "id"),
	SWEEP("integrations", "id"),
	SWEEP("chat_configs", "agent_id"),
	SWEEP("agent_skill_permissions", "agent_id, skill_id, action"),
	SWEEP("agent_skills", "agent_id, skill_id"),
	SWEEP("skill_files", "skill_id, path"),
	SWEEP("skills", "id"),
	SWEEP("favorites", "user_id, agent_id"),
	SWEEP("agent_models", "agent_id, model_id"),
	SWEEP("user_models", "user_id, model_id"),
	SWEEP("model_tenants", "model_id"),
	SWEEP("agent_group_roles", "agent_id, group_id"),
	SWEEP("agent_roles", "agent_id, user_id"),
	SWEEP("agent_avatars", "agent_id"),
	SWEEP("scanner_grants", "agent_id, id"),
	SWEEP("agent_tool_bundles", "agent_id, bundle_id"),
	SWEEP("agent_tools", "agent_id, tool_id"),
	SWEEP("agents", "id"),
	SWEEP("tool_bundle_tools", "bundle_id, tool_id"),
	SWEEP("tool_bundles", "id"),
	SWEEP("tools", "id"),
	SWEEP("scanners", "id"),
	SWEEP("group_members", "group_id, user_id"),
	SWEEP("groups", "id"),
	SWEEP("api_keys", "id"),
	SWEEP("invitations", "hash"),
	SWEEP("allowed_accounts", "id"),
	SWEEP("members", "user_id"),
	SWEEP("usage_days", "day, shard"),
	SWEEP("reservations", "id"),
	SWEEP("ledger", "id"),
	SWEEP("cost_days", "day, agent_id, model_id, byok, shard"),
	SWEEP("cost_hours", "hour, agent_id, model_id, byok, shard"),
	SWEEP("spend_minutes", "agent_id, minute, shard"),
	SWEEP("rate_slots", "agent_id, seconds, slot"),
	SWEEP("former_agents", "id"),
	SWEEP("provider_keys", "provider"),
	SWEEP("active_days", "day, kind, id"),
	SWEEP("tenant_counts", "shard"),
};
STATEMENT_SET(sweep_sql, sweeps);

enum { SWEEPS = sizeof sweeps / sizeof *sweeps };

/* Removes some rows of the first table that has any; *ret_removed is 0 when nothing is left. */
static int sweep(struct db *db, const char *tenant_id, int64_t *ret_removed)
{
	int err = 0;

	*ret_removed = 0;
	for (int i = 0; !err && !*ret_removed && i < SWEEPS; i++) {
		if (strcmp(sweeps[i].name, "agents") == 0)
			err = db_run(db, &sql[ERASE_DIRECTORY], NULL, ARGS(T(tenant_id)));
		if (strcmp(sweeps[i].name, "sessions") == 0)
			err = db_run(db, &sql[ERASE_SESSIONS], NULL, ARGS(T(tenant_id)));
		if (strcmp(sweeps[i].name, "threads") == 0)
			err = db_run(db, &sql[ERASE_THREADS], NULL, ARGS(T(tenant_id)));
		if (!err)
			err = db_run(db, &sweeps[i], ret_removed, ARGS(T(tenant_id)));
		if (!err && *ret_removed)
			err = db_run(db, &sql[ERASE_COUNT], NULL,
				ARGS(T(tenant_id), T(sweeps[i].name), N(*ret_removed)));
	}
	return err;
}

/* What is personal in some entries of the audit log; *at as in audit_erase_tenant(). */
static int sweep_audit(const struct audit_eraser *e, const char *tenant_id, const char **at)
{
	int64_t erased = 0;
	int err = audit_erase_tenant(e, tenant_id, at, &erased);

	if (!err && erased)
		err = db_run(e->db, &sql[ERASE_COUNT], NULL,
			ARGS(T(tenant_id), T("audit_logs"), N(erased)));
	return err;
}

/* Nothing is left but the tenant itself: it goes, and the account of it is written. */
static int conclude(struct db *db, struct arena *a, const char *tenant_id)
{
	struct list rows;
	const char *meta = "{";
	int err = db_all(db, a, &sql[ERASE_ACCOUNT], &rows, SWEEPS + 1, ARGS(T(tenant_id)));

	for (size_t i = 0; !err && i < rows.count; i++) {
		const struct account_row *row = (const struct account_row *)rows.at + i;

		meta = arena_printf(a, "%s%s\"%s\":%lld", meta, i ? "," : "", row->what,
			(long long)row->removed);
	}
	if (!err)
		err = db_run(db, &sql[ERASE_TENANT], NULL, ARGS(T(tenant_id)));
	if (!err)
		err = db_run(db, &sql[ERASE_FORGET], NULL, ARGS(T(tenant_id)));
	if (!err)
		err = audit_write(db, a,
			&(struct audit_entry){ .action = "tenant.erase",
				.tenant_id = tenant_id,
				.resource_id = tenant_id,
				.meta = arena_printf(a, "%s}", meta) });
	return err;
}

/* How far the audit log of a tenant has been gone through: its entries stay, so they would be found
 * again and again. */
struct reached {
	char tenant[ID_LEN + 1], entry[ID_LEN + 1];
};

struct erasure {
	struct work work;
	struct app *app;
	bool more;
	struct reached reached, next; /* next: by the run that is not committed yet */
};

static void reach(struct reached *r, const char *tenant, const char *entry)
{
	snprintf(r->tenant, sizeof r->tenant, "%s", tenant);
	snprintf(r->entry, sizeof r->entry, "%s", entry ? entry : "");
}

static int erase_run(struct work *w, struct db *db)
{
	struct erasure *e = (struct erasure *)w;
	struct arena a = { 0 };
	struct audit_eraser eraser = { db, &a, e->app->chain_key, clock_now_us() };
	const char *at = "";
	struct one_text tenant;
	int64_t removed = 0;
	int err = db_one(db, &a, &sql[ERASE_FIND], &tenant, NO_ARGS);

	e->more = !err;
	if (!err && strcmp(tenant.value, e->reached.tenant) == 0)
		at = e->reached.entry;
	if (!err)
		err = sweep(db, tenant.value, &removed);
	if (!err && !removed)
		err = sweep_audit(&eraser, tenant.value, &at);
	if (!err && !at)
		err = conclude(db, &a, tenant.value);
	if (!err)
		reach(&e->next, tenant.value, at);
	arena_free(&a);
	return err == ERR_NOT_FOUND ? 0 : err;
}

static void erase_done(struct work *w, int err)
{
	struct erasure *e = (struct erasure *)w;

	e->reached = e->next;
	if (!err && e->more && !store_submit(e->app->store, w))
		return;
	free(e);
}

void erase_submit(struct app *app)
{
	struct erasure *e = calloc(1, sizeof *e);

	if (!e)
		return;
	e->work = (struct work){ .run = erase_run, .done = erase_done, .mode = READ_WRITE };
	e->app = app;
	if (store_submit(app->store, &e->work))
		free(e);
}
