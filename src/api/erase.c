/* erase.c - see erase.h.
 *
 * Deleting a tenant closes it at once: from then on it is not there for
 * anybody.  What it leaves is removed here, a bounded number of rows in each
 * transaction so that nobody else waits long, and counted as it goes, so that
 * a restart loses neither its place nor the account.  Audit rows stay, without
 * personal data; the last one says what was removed. */
#include "api/erase.h"

#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "access/seal.h"
#include "api/api.h"
#include "base/clock.h"

enum { ERASE_FIND, ERASE_COUNT, ERASE_ACCOUNT, ERASE_DIRECTORY, ERASE_TENANT, ERASE_FORGET };

struct text_row {
	const char *value;
};

FIELDS(text_row) = { FIELD(text_row, value) };
static SCHEMA(text_row, .internal = true);

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
		.row = &text_row_schema, .scan = "the roster, once a minute" },
	[ERASE_COUNT] = { "erase_count",
		"insert into erasures (tenant_id, what, removed) values ($1, $2, $3) "
		"on conflict (tenant_id, what) do update set removed = erasures.removed + $3" },
	[ERASE_ACCOUNT] = { "erase_account",
		"select what, removed from erasures where tenant_id = $1 order by what",
		.row = &account_row_schema },
	[ERASE_DIRECTORY] = { "erase_directory",
		"delete from directory where id in "
		"(select a.id from agents a where a.tenant_id = $1 order by a.id limit 200)" },
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

/* Children before parents.  Agents go with their directory entries. */
static const struct statement sweeps[] = {
	SWEEP("messages", "session_id, id"),
	SWEEP("sessions", "id"),
	SWEEP("favorites", "user_id, agent_id"),
	SWEEP("agent_group_roles", "agent_id, group_id"),
	SWEEP("agent_roles", "agent_id, user_id"),
	SWEEP("agents", "id"),
	SWEEP("group_members", "group_id, user_id"),
	SWEEP("groups", "id"),
	SWEEP("api_keys", "id"),
	SWEEP("invitations", "hash"),
	SWEEP("allowed_accounts", "id"),
	SWEEP("members", "user_id"),
	SWEEP("usage_days", "day"),
	SWEEP("active_days", "day, kind, id"),
	SWEEP("tenant_counts", "shard"),
};
STATEMENT_SET(sweep_sql, sweeps);

enum { SWEEPS = sizeof sweeps / sizeof *sweeps };

/* Removes some rows of the first table that has any, and at last what is personal in the audit log;
 * *ret_removed is 0 when nothing is left. */
static int sweep(struct db *db, const char *tenant_id, int64_t *ret_removed)
{
	int err = 0;

	*ret_removed = 0;
	for (int i = 0; !err && !*ret_removed && i < SWEEPS; i++) {
		if (strcmp(sweeps[i].name, "agents") == 0)
			err = db_run(db, &sql[ERASE_DIRECTORY], NULL, ARGS(T(tenant_id)));
		if (!err)
			err = db_run(db, &sweeps[i], ret_removed, ARGS(T(tenant_id)));
		if (!err && *ret_removed)
			err = db_run(db, &sql[ERASE_COUNT], NULL,
				ARGS(T(tenant_id), T(sweeps[i].name), N(*ret_removed)));
	}
	if (err || *ret_removed)
		return err;
	err = audit_erase_some(db, tenant_id, clock_now_us(), ret_removed);
	if (!err && *ret_removed)
		err = db_run(db, &sql[ERASE_COUNT], NULL,
			ARGS(T(tenant_id), T("audit_logs"), N(*ret_removed)));
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

struct erasure {
	struct work work;
	struct app *app;
	bool more;
};

static int erase_run(struct work *w, struct db *db)
{
	struct erasure *e = (struct erasure *)w;
	struct arena a = { 0 };
	struct text_row tenant;
	int64_t removed;
	int err = db_one(db, &a, &sql[ERASE_FIND], &tenant, NO_ARGS);

	e->more = !err;
	if (!err)
		err = sweep(db, tenant.value, &removed);
	if (!err && e->more && !removed)
		err = conclude(db, &a, tenant.value);
	arena_free(&a);
	return err == ERR_NOT_FOUND ? 0 : err;
}

static void erase_done(struct work *w, int err)
{
	struct erasure *e = (struct erasure *)w;

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
