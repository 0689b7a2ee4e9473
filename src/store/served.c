/* served.c - whether a PostgreSQL store is being served, and that it is not while it is copied.
 *
 * On SQLite a lock on the file says so.  Here every process that serves has a lock of the database that many can have at
 * once, on the connection that hears notices: it is gone when the process is, however that ended.  Whoever copies a
 * store takes the same lock alone, and the writers' lock (postgres_flight.c) as well, so that neither
 * a process that has just lost its connection, nor a command beside, writes to it meanwhile. */
#include "store/postgres.h"

#define SERVED "hashtextextended('lodge.served.' || current_schema(), 0)"
#define WRITER "hashtextextended('lodge.writer.' || current_schema(), 0)"

enum { TAKE, ADMITS, SERVER, STANDBY, CLUSTER, SCHEMA_OF };

static const struct statement sql[] = {
	[TAKE] = { "served_take", "select 1",
		.postgres = "select case when pg_try_advisory_lock(" SERVED ") then 1 else 0 end" },
	[ADMITS] = { "served_admits", "select 1",
		.postgres = "select case when pg_try_advisory_lock_shared(" SERVED
			    ") then 1 else 0 end" },
	[SERVER] = { "served_server", "select 1", .postgres = "select pg_backend_pid()" },
	[CLUSTER] = { "served_cluster", "select '' as value",
		.postgres = "select system_identifier::text as value from pg_control_system()",
		.row = &one_text_schema },
	[SCHEMA_OF] = { "served_schema", "select '' as value",
		.postgres = "select d.oid::text || '/' || current_schema() as value "
			    "from pg_database d where d.datname = current_database()",
		.row = &one_text_schema },
	[STANDBY] = { "served_standby", "select 0",
		.postgres = "select case when pg_is_in_recovery() then 1 else 0 end" },
};

int served_say(struct db *db)
{
	return db->engine->script(db,
		"do $do$ begin if not pg_try_advisory_lock_shared(" SERVED
		") then raise exception 'the store is being copied'; end if; end $do$");
}

int served_admits(struct db *db, bool *ret)
{
	int64_t got = 0;
	int err = db_int(db, &sql[ADMITS], &got, NO_ARGS);

	*ret = got != 0;
	return err;
}

int served_take(struct db *db, const char *said, struct arena *a, struct problem *p)
{
	int64_t got = 0, server = 0, standby = 0;
	int err = db_int(db, &sql[SERVER], &server, NO_ARGS);

	if (!err)
		err = db_int(db, &sql[STANDBY], &standby, NO_ARGS);
	/* A lock of a session stays with the pooler's, and one of a standby is not seen by the primary. */
	if (!err && server != PQbackendPID(pg_impl(db)->conn))
		return problem_set(p, a, ERR_STORE,
			"%s leads through a pooler: give the address of the server itself", said);
	if (!err && standby)
		return problem_set(p, a, ERR_STORE,
			"%s is a standby: copy from the primary, or promote it first", said);
	if (!err)
		err = db_int(db, &sql[TAKE], &got, NO_ARGS);
	if (err)
		return problem_set(p, a, err, "%s: %s", said, db_error(db));
	if (!got)
		return problem_set(p, a, ERR_STORE,
			"the store %s is in use by another lodge (serve or copy); stop it first, on every machine",
			said);
	return 0;
}

int store_served_as(struct db *db, struct arena *a, const char **ret)
{
	struct one_text cluster = { 0 }, schema = { 0 };
	int err;

	*ret = NULL;
	if (db_is_sqlite(db))
		return 0;
	/* Where nobody may ask for that, the numbers of database and schema must do. */
	if (db_one(db, a, &sql[CLUSTER], &cluster, NO_ARGS))
		cluster.value = "unknown";
	err = db_one(db, a, &sql[SCHEMA_OF], &schema, NO_ARGS);
	if (!err)
		*ret = arena_printf(a, "postgres %s/%s", cluster.value, schema.value);
	return err;
}

int served_still(struct db *db)
{
	return db->engine->script(db, "set lock_timeout = '10s'; select pg_advisory_lock(" WRITER
				      "); set lock_timeout = 0");
}
