/* fixture_schemas.c - the schemas of tests on PostgreSQL; see fixture.h.
 *
 * Making all tables takes as long as most tests, and so a schema is used again: its rows are deleted and those that
 * the migrations put there come back from a copy.  A test that changed a table, a view, a trigger or a constraint,
 * or left very many rows, leaves a schema that nobody else gets. */
#include <libpq-fe.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"

enum { SPARE_MAX = 8, NAME_MAX_LEN = 32 };

static char spare[SPARE_MAX][NAME_MAX_LEN];
static int spare_count;

static PGconn *server;
static pid_t server_owner; /* a child has no part in its parent's connection and schemas */

static PGconn *server_connection(void)
{
	if (server_owner != getpid()) {
		server = PQconnectdb(fixture_engine());
		server_owner = getpid();
		spare_count = 0;
	}
	return server;
}

/* Some tests cut every connection that there is; it is made again, once. */
static PGresult *schema_result(const char *sql)
{
	PGresult *result = PQexec(server_connection(), sql);

	if (PQstatus(server) == CONNECTION_OK)
		return result;
	PQclear(result);
	PQreset(server);
	return PQexec(server, sql);
}

static bool schema_run(const char *sql, char *ret_wrong, size_t len)
{
	PGresult *result = schema_result(sql);
	ExecStatusType status = PQresultStatus(result);

	snprintf(ret_wrong, len, "%s", PQerrorMessage(server));
	PQclear(result);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static void schema_must(const char *sql)
{
	char wrong[256];

	if (!schema_run(sql, wrong, sizeof wrong))
		test_fail(__FILE__, __LINE__, "%s: %s", sql, wrong);
}

const char *fixture_schema(struct arena *a)
{
	static int count;
	const char *name = arena_printf(a, "t%d_%d", (int)getpid(), ++count);

	schema_must(arena_printf(a, "create schema %s", name));
	return name;
}

static void schema_remove(struct arena *a, const char *name)
{
	schema_must(arena_printf(a,
		"set client_min_messages = warning; drop schema %s cascade; "
		"drop schema if exists %s_first cascade",
		name, name));
}

/* Every row that describes the schema, by the transaction that wrote it last. */
#define SHAPE                                                                                   \
	"(select md5(string_agg(d, ' ' order by d)) from ("                                     \
	"with c as (select oid, xmin from pg_class where relnamespace = '%1$s'::regnamespace) " \
	"select 'class ' || oid || ' ' || xmin as d from c "                                    \
	"union all select 'column ' || attrelid || ' ' || attnum || ' ' || a.xmin "             \
	"from pg_attribute a join c on attrelid = oid "                                         \
	"union all select 'trigger ' || t.oid || ' ' || t.xmin "                                \
	"from pg_trigger t join c on tgrelid = c.oid "                                          \
	"union all select 'rule ' || r.oid || ' ' || r.xmin "                                   \
	"from pg_rewrite r join c on ev_class = c.oid "                                         \
	"union all select 'default ' || f.oid || ' ' || f.xmin "                                \
	"from pg_attrdef f join c on adrelid = c.oid "                                          \
	"union all select 'constraint ' || oid || ' ' || xmin "                                 \
	"from pg_constraint where connamespace = '%1$s'::regnamespace "                         \
	"union all select 'function ' || oid || ' ' || xmin "                                   \
	"from pg_proc where pronamespace = '%1$s'::regnamespace) s)"

/* The first rows and the shape of a schema, in another beside it. */
static const char keep_first[] =
	"create schema %1$s_first; "
	"do $$ declare t name; found bool; begin "
	"for t in select relname from pg_class "
	"where relnamespace = '%1$s'::regnamespace and relkind = 'r' loop "
	"execute format('select exists (select 1 from %1$s.%%I)', t) into found; "
	"if found then execute format("
	"'create table %1$s_first.%%I as table %1$s.%%I', t, t); end if; "
	"end loop; end $$; "
	"create table %1$s_first.first_shape as select " SHAPE " as shape";

/* 20,000 rows take longer to delete, and to be stepped over from then on, than a schema takes to make. */
static const char give_back[] =
	"set session_replication_role = replica; set client_min_messages = warning; "
	"do $$ declare t name; n bigint; total bigint := 0; begin "
	"for t in select relname from pg_class "
	"where relnamespace = '%1$s'::regnamespace and relkind = 'r' loop "
	"execute format('delete from %1$s.%%I', t); "
	"get diagnostics n = row_count; total := total + n; end loop; "
	"for t in select relname from pg_class where relnamespace = '%1$s_first'::regnamespace "
	"and relkind = 'r' and relname <> 'first_shape' loop "
	"execute format('insert into %1$s.%%I select * from %1$s_first.%%I', t, t); end loop; "
	"if total > 20000 or " SHAPE " is distinct from (select shape from %1$s_first.first_shape) "
	"then raise exception 'this schema cannot be used again'; end if; end $$";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static const char *schema_text(struct arena *a, const char *text, const char *name)
{
	return arena_printf(a, text, name);
}
#pragma GCC diagnostic pop

static void remove_spare(void)
{
	struct arena a = { 0 };

	if (getpid() != server_owner)
		return;
	while (spare_count)
		schema_remove(&a, spare[--spare_count]);
	PQfinish(server);
	arena_free(&a);
}

void fixture_schema_keep(struct arena *a, const char *name)
{
	schema_must(schema_text(a, keep_first, name));
}

const char *fixture_schema_spare(struct arena *a)
{
	server_connection();
	return spare_count ? arena_strdup(a, spare[--spare_count]) : NULL;
}

void fixture_schema_drop(const char *name)
{
	static bool registered;
	struct arena a = { 0 };
	char wrong[256];

	server_connection();
	if (spare_count < SPARE_MAX &&
		schema_run(schema_text(&a, give_back, name), wrong, sizeof wrong)) {
		snprintf(spare[spare_count++], NAME_MAX_LEN, "%s", name);
		if (!registered)
			atexit(remove_spare);
		registered = true;
	} else {
		schema_remove(&a, name);
	}
	arena_free(&a);
}
