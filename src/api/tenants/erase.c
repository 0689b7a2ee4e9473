/* erase.c - see erase.h.
 *
 * Deleting a tenant closes it at once and names the time from which on its
 * rows go; until then it can be restored.  What it leaves is removed here, a bounded number of rows in each
 * transaction so that nobody else waits long, and counted as it goes, so that
 * a restart loses neither its place nor the account.  Audit rows stay, without
 * personal data; the last one says what was removed. */
#include "api/tenants/erase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "access/audit_chain.h"
#include "api/service.h"
#include "call/operation.h"
#include "api/people/proof.h"
#include "base/clock.h"
#include "base/id.h"
#include "store/batches.h"
#include "store/sweep.h"

enum {
	ERASE_FIND,
	ERASE_COUNT,
	ERASE_ACCOUNT,
	ERASE_DIRECTORY,
	ERASE_SESSIONS,
	ERASE_THREADS,
	ERASE_OBJECTS,
	ERASE_REPOSITORIES,
	ERASE_RELEASED,
	ERASE_INVITED,
	ERASE_TENANT,
	ERASE_FORGET
};

struct erased_count_row {
	const char *what;
	int64_t removed;
};

FIELDS(erased_count_row) = {
	FIELD(erased_count_row, what),
	FIELD(erased_count_row, removed),
};
static SCHEMA(erased_count_row, .internal = true);

static const struct statement sql[] = {
	[ERASE_FIND] = { "erase_find",
		"select id as value from tenants where erase_at <= $1 order by erase_at, id limit 1",
		.row = &one_text_schema, .scan = "the few that are deleted, once a minute" },
	[ERASE_COUNT] = { "erase_count",
		"insert into erasures (tenant_id, what, removed) values ($1, $2, $3) "
		"on conflict (tenant_id, what) do update set removed = erasures.removed + $3" },
	[ERASE_ACCOUNT] = { "erase_account",
		"select what, removed from erasures where tenant_id = $1 order by what",
		.row = &erased_count_row_schema },
	[ERASE_DIRECTORY] = { "erase_directory",
		"delete from directory where tenant_id = $1 and id in "
		"(select a.id from agent_rows a where a.tenant_id = $1 order by a.id limit $2)" },
	[ERASE_SESSIONS] = { "erase_session_directory",
		"delete from directory where tenant_id = $1 and id in "
		"(select s.id from session_rows s where s.tenant_id = $1 order by s.id limit $2)" },
	[ERASE_THREADS] = { "erase_thread_directory",
		"delete from directory where tenant_id = $1 and id in "
		"(select t.id from thread_rows t where t.tenant_id = $1 order by t.id limit $2)" },
	[ERASE_OBJECTS] = { "erase_object_bytes",
		"insert into bucket_trash (folder, blob, since) select o.tenant_id, o.blob, 0 "
		"from bucket_objects o where o.tenant_id = $1 order by o.id limit $2" },
	[ERASE_REPOSITORIES] = { "erase_repository_folders",
		"insert into repository_trash (id, owner, former, size_bytes, since, remove_at) "
		"select r.id, r.tenant_id, r.agent_id, r.size_bytes, 0, 0 "
		"from repositories r where r.tenant_id = $1 order by r.id limit $2" },
	[ERASE_RELEASED] = { "erase_released",
		"update repository_trash set remove_at = 0 where owner = $1" },
	[ERASE_INVITED] = { "erase_invited",
		"select user_id as value from members where tenant_id = $1 and status = 'invited' "
		"order by user_id limit $2",
		.row = &one_text_schema },
	[ERASE_TENANT] = { "erase_tenant", "delete from tenants where id = $1" },
	[ERASE_FORGET] = { "erase_forget", "delete from erasures where tenant_id = $1" },
};
STATEMENT_SET(erase_sql, sql);

#define SWEEP_AS(name, table, keys)                                                                \
	{                                                                                          \
		name, "delete from " table " where tenant_id = $1 and (" keys ") in (select " keys \
		      " from " table " where tenant_id = $1 order by " keys " limit $2)"           \
	}
#define SWEEP(table, keys) SWEEP_AS(table, table, keys)

/* Children before parents.  Agents, sessions and threads go with their directory entries. */
static const struct statement sweeps[] = {
	SWEEP("bucket_objects", "id"),
	SWEEP("bucket_usage", "tenant_id"),
	SWEEP("search_words", "visibility, type, score, tail, id"),
	SWEEP("search_things", "type, id"),
	SWEEP("jobs", "id"),
	SWEEP("responses", "id"),
	SWEEP("conversation_items", "conversation_id, place"),
	SWEEP_AS("conversations", "conversation_rows", "id"),
	SWEEP("run_notes", "session_id, run_id"),
	SWEEP("thread_messages", "thread_id, id"),
	SWEEP("thread_files", "thread_id, id"),
	SWEEP("deleted_messages", "session_id, id"),
	SWEEP_AS("threads", "thread_rows", "id"),
	SWEEP("assistants", "agent_id"),
	SWEEP("tenant_events", "feed, id"),
	SWEEP("deliveries_past", "integration_id, delivery_key"),
	SWEEP("deliveries", "integration_id, id"),
	SWEEP("integration_rates", "integration_id"),
	SWEEP("delivery_bodies", "integration_id, digest"),
	SWEEP("session_events", "session_id, seq"),
	SWEEP("session_calls", "session_id, message_id, position"),
	SWEEP("approvals", "id"),
	SWEEP("session_files", "session_id, id"),
	SWEEP("session_summaries", "session_id, last_message_id"),
	SWEEP("session_runs", "session_id, id"),
	SWEEP("session_people", "user_id, session_id"),
	SWEEP("messages", "session_id, id"),
	SWEEP("memories", "agent_id, id"),
	SWEEP_AS("sessions", "session_rows", "id"),
	SWEEP_AS("integrations", "integration_rows", "id"),
	SWEEP("chat_configs", "agent_id"),
	SWEEP("agent_skill_permissions", "agent_id, skill_id, action"),
	SWEEP("agent_skills", "agent_id, skill_id"),
	SWEEP("skill_version_files", "skill_id, digest, path"),
	SWEEP("skill_versions", "skill_id, digest"),
	SWEEP("skill_files", "skill_id, path"),
	SWEEP("skills", "id"),
	SWEEP("favorites", "user_id, agent_id"),
	SWEEP("agent_models", "agent_id, model_id"),
	SWEEP("user_models", "user_id, model_id"),
	SWEEP("model_tenants", "model_id"),
	SWEEP("agent_group_roles", "agent_id, group_id"),
	SWEEP("agent_roles", "agent_id, user_id"),
	SWEEP("agent_avatars", "agent_id"),
	SWEEP("agent_host_users", "agent_id"),
	SWEEP("agent_imports", "sha256"),
	SWEEP("prompt_proposals", "id"),
	SWEEP("prompt_refusals", "agent_id, field"),
	SWEEP("prompt_bases", "agent_id, field"),
	SWEEP("repositories", "id"),
	SWEEP("mail_sends", "id"),
	SWEEP("mail_correspondents", "agent_id, address"),
	SWEEP("mail_begun", "mailbox, id"),
	SWEEP("mail_attachments", "agent_id, id"),
	SWEEP("mail_messages", "agent_id, id"),
	SWEEP("mail_threads", "agent_id, id"),
	SWEEP("mail_rules", "agent_id"),
	SWEEP("tenant_mail_rules", "tenant_id"),
	SWEEP("mail_suppressions", "id"),
	SWEEP("mailboxes", "id"),
	SWEEP("scanner_grants", "agent_id, id"),
	SWEEP("agent_tool_bundles", "agent_id, bundle_id"),
	SWEEP("agent_tools", "agent_id, tool_id"),
	SWEEP_AS("agents", "agent_rows", "id"),
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

enum { SWEEPS = sizeof sweeps / sizeof *sweeps, INVITED_MAX = 200 };

/* Members, and of those who were only invited the addresses too. */
static int sweep_members(struct db *db, const struct statement *st, const char *tenant_id,
	int64_t at_once, int64_t *ret_removed)
{
	struct arena a = { 0 };
	struct list invited = { 0 };
	int err = db_all(
		db, &a, &sql[ERASE_INVITED], &invited, INVITED_MAX, ARGS(T(tenant_id), N(at_once)));

	if (!err)
		err = db_run(db, st, ret_removed, ARGS(T(tenant_id), N(at_once)));
	for (size_t i = 0; !err && i < invited.count; i++)
		err = address_uninvited(db, ((const struct one_text *)invited.at)[i].value);
	arena_free(&a);
	return err;
}

/* Those that are found by their ids: the entries go with their rows.  And the bytes of objects. */
static const struct {
	const char *name;
	int unfile;
} filed[] = {
	{ "agents", ERASE_DIRECTORY },
	{ "sessions", ERASE_SESSIONS },
	{ "threads", ERASE_THREADS },
	{ "bucket_objects", ERASE_OBJECTS },
	{ "repositories", ERASE_REPOSITORIES },
};

static int sweep_one(struct db *db, const struct statement *st, const char *tenant_id,
	int64_t at_once, int64_t *ret_removed)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof filed / sizeof *filed; i++)
		if (strcmp(st->name, filed[i].name) == 0)
			err = db_run(
				db, &sql[filed[i].unfile], NULL, ARGS(T(tenant_id), N(at_once)));
	if (!err && strcmp(st->name, "members") == 0)
		return sweep_members(db, st, tenant_id, at_once, ret_removed);
	return err ? err : db_run(db, st, ret_removed, ARGS(T(tenant_id), N(at_once)));
}

/* Removes a piece of rows; *ret_removed is 0 when nothing is left. */
static int sweep_tenant(struct db *db, const char *tenant_id, int64_t *ret_removed)
{
	struct sweep_pace pace;
	bool on = true;
	int err = 0;

	sweep_pace_begin(&pace);
	for (int i = 0; !err && on && i < SWEEPS;) {
		int64_t removed = 0;

		err = sweep_one(db, &sweeps[i], tenant_id, pace.at_once, &removed);
		if (!err && removed)
			err = db_run(db, &sql[ERASE_COUNT], NULL,
				ARGS(T(tenant_id), T(sweeps[i].name), N(removed)));
		on = sweep_pace_goes_on(&pace, removed) || !pace.rows;
		i += !removed;
	}
	*ret_removed = pace.rows;
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
static int conclude_erasure(struct db *db, struct arena *a, const char *tenant_id)
{
	struct list rows;
	const char *meta = "{";
	int err = db_all(db, a, &sql[ERASE_ACCOUNT], &rows, SWEEPS + 1, ARGS(T(tenant_id)));

	for (size_t i = 0; !err && i < rows.count; i++) {
		const struct erased_count_row *row = (const struct erased_count_row *)rows.at + i;

		meta = arena_printf(a, "%s%s\"%s\":%lld", meta, i ? "," : "", row->what,
			(long long)row->removed);
	}
	if (!err)
		err = db_run(db, &sql[ERASE_RELEASED], NULL, ARGS(T(tenant_id)));
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

struct tenant_erasure {
	struct batches batches; /* first */
	struct app *app;
	struct reached reached, next; /* next: by the batch that is not committed yet */
};

static void note_erase_reached(struct reached *r, const char *tenant, const char *entry)
{
	snprintf(r->tenant, sizeof r->tenant, "%s", tenant);
	snprintf(r->entry, sizeof r->entry, "%s", entry ? entry : "");
}

static int tenant_erase_take(struct batches *b, struct db *db)
{
	struct tenant_erasure *e = (struct tenant_erasure *)b;
	struct arena a = { 0 };
	struct audit_eraser eraser = { db, &a, e->app->chain_key, clock_now_us() };
	const char *at = "";
	struct one_text tenant;
	int64_t removed = 0;
	int err = db_one(db, &a, &sql[ERASE_FIND], &tenant, ARGS(N(clock_now_us())));

	b->more = !err;
	if (!err && strcmp(tenant.value, e->reached.tenant) == 0)
		at = e->reached.entry;
	if (!err)
		err = sweep_tenant(db, tenant.value, &removed);
	if (!err && !removed)
		err = sweep_audit(&eraser, tenant.value, &at);
	if (!err && !at)
		err = conclude_erasure(db, &a, tenant.value);
	if (!err)
		note_erase_reached(&e->next, tenant.value, at);
	arena_free(&a);
	return err == ERR_NOT_FOUND ? 0 : err;
}

static void erase_taken(struct batches *b)
{
	struct tenant_erasure *e = (struct tenant_erasure *)b;

	e->reached = e->next;
}

struct batches *erase_new(struct app *app)
{
	struct tenant_erasure *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->batches = (struct batches){ .take = tenant_erase_take, .taken = erase_taken };
	e->app = app;
	return &e->batches;
}

void erase_submit(struct app *app)
{
	batches_start(service_of(app)->removals[REMOVE_TENANTS], app->store);
}
