/* test_agent_delete.c - deleting an agent leaves nothing of it, in whatever table the store has: which
 * tables those are is asked of the store, so that a new one cannot be forgotten. */
#include "fixture.h"

#include "base/id.h"

/* Tables that keep the id of an agent or a session that is gone, and why. */
static const char *const keepers[] = {
	"audit_logs",			     /* what was done stays told */
	"ledger", "cost_days", "cost_hours", /* and what it cost */
	"conversation_rows", /* goes on without its session, and with what others said */
	"search_things", "search_words", /* found by type and id; test_search.c has them */
	"reservations", "spend_minutes",
	"rate_slots", /* calls under way are settled; the rest ages */
};

struct column_row {
	const char *name;
	bool is_text;
};

FIELDS(column_row) = {
	FIELD(column_row, name),
	FIELD(column_row, is_text),
};
static SCHEMA(column_row, .internal = true);

static struct list ask_store(
	struct fixture *f, struct db *db, const char *sqlite, const char *postgres)
{
	struct statement *st = arena_new(&f->arena, struct statement);
	struct list rows = { 0 };

	*st = (struct statement){ "test", fixture_is_sqlite() ? sqlite : postgres,
		.row = &column_row_schema, .scan = "a test" };
	if (db_all(db, &f->arena, st, &rows, 1000, NO_ARGS))
		test_fail(__FILE__, __LINE__, "%s: %s", st->sql, db_error(db));
	return rows;
}

static struct list tables_with(struct fixture *f, struct db *db, const char *column)
{
	return ask_store(f, db,
		arena_printf(&f->arena,
			"select m.name, 1 as is_text from sqlite_master m join "
			"pragma_table_info(m.name) c where m.type = 'table' and c.name = '%s'",
			column),
		arena_printf(&f->arena,
			"select table_name as name, 1 as is_text from information_schema.columns "
			"where table_schema = current_schema() and column_name = '%s' and table_name "
			"in (select tablename from pg_tables where schemaname = current_schema())",
			column));
}

/* The columns that a row cannot do without. */
static struct list needed_columns(struct fixture *f, struct db *db, const char *table)
{
	return ask_store(f, db,
		arena_printf(&f->arena,
			"select name, type = 'TEXT' as is_text from pragma_table_info('%s') "
			"where \"notnull\" = 1 and dflt_value is null",
			table),
		arena_printf(&f->arena,
			"select column_name as name, case when data_type = 'text' then 1 else 0 end "
			"as is_text from information_schema.columns where table_schema = "
			"current_schema() and table_name = '%s' and is_nullable = 'NO' and "
			"column_default is null",
			table));
}

static bool goes_with_agents(struct fixture *f, const char *table)
{
	const char *sql =
		fixture_is_sqlite()
			? arena_printf(&f->arena,
				  "select count(*) from pragma_foreign_key_list('%s') where "
				  "\"table\" = 'agent_rows' and \"from\" = 'agent_id' and \"to\" = 'id' "
				  "and on_delete = 'CASCADE'",
				  table)
			: arena_printf(&f->arena,
				  "select count(*) from pg_constraint where contype = 'f' and "
				  "conrelid = '%s'::regclass and confrelid = 'agent_rows'::regclass and "
				  "confdeltype = 'c'",
				  table);

	return fixture_count(f, sql) > 0;
}

struct ids {
	const char *tenant_id, *agent_id, *user_id, *group_id, *session_id;
};

static const char *value_of(struct fixture *f, const struct column_row *c, const struct ids *ids)
{
	static int n;
	const struct {
		const char *name, *value;
	} known[] = {
		{ "tenant_id", ids->tenant_id },
		{ "agent_id", ids->agent_id },
		{ "user_id", ids->user_id },
		{ "group_id", ids->group_id },
		{ "session_id", ids->session_id },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(c->name, known[i].name) == 0)
			return arena_printf(&f->arena, "'%s'", known[i].value);
	return c->is_text ? arena_printf(&f->arena, "'x%d'", ++n) : "1";
}

/* Tries to put a row there; one that needs a parent we do not know is left to its foreign key. */
static void fill(struct fixture *f, struct db *db, const char *table, const char *column,
	const struct ids *ids)
{
	struct list needed = needed_columns(f, db, table);
	const struct column_row *c = needed.at;
	const char *names = column, *values;
	struct statement *st = arena_new(&f->arena, struct statement);

	values = value_of(f, &(struct column_row){ column, true }, ids);
	for (size_t i = 0; i < needed.count; i++)
		if (strcmp(c[i].name, column) != 0) {
			names = arena_printf(&f->arena, "%s, %s", names, c[i].name);
			values = arena_printf(&f->arena, "%s, %s", values, value_of(f, &c[i], ids));
		}
	*st = (struct statement){ "test",
		arena_printf(&f->arena, "insert into %s (%s) values (%s)", table, names, values),
		.scan = "a test" };
	db_run(db, st, NULL, NO_ARGS);
}

static int64_t rows_with(struct fixture *f, const char *table, const char *column, const char *id)
{
	return fixture_count(f, arena_printf(&f->arena, "select count(*) from %s where %s = '%s'",
					table, column, id));
}

static bool is_kept(const char *table)
{
	for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++)
		if (strcmp(table, keepers[i]) == 0)
			return true;
	return false;
}

static struct ids make_world(struct fixture *f)
{
	struct ids ids = { .tenant_id = f->tenant_id, .user_id = f->admin_id };
	struct id session = id_new(NULL);
	struct answer r = ask(f, f->admin, "{\"name\":\"A\",\"slug\":\"a\"}",
		"POST /tenant/%s/agents", f->tenant_id);

	ids.agent_id = text_at(&r, "id");
	r = ask(f, f->admin, "{\"name\":\"G\"}", "POST /tenant/%s/groups", f->tenant_id);
	ids.group_id = text_at(&r, "id");
	ids.session_id = arena_strdup(&f->arena, session.text);
	fixture_sql(f,
		"insert into session_rows (tenant_id, id, agent_id, status, origin, iteration_count, "
		"message_count, last_event_id, created_at, updated_at) "
		"values ($1, $2, $3, 'completed', 'user', 0, 0, 0, 1, 1)",
		ARGS(T(f->tenant_id), T(ids.session_id), T(ids.agent_id)));
	fixture_sql(f, "insert into directory (id, tenant_id) values ($1, $2)",
		ARGS(T(ids.session_id), T(f->tenant_id)));
	return ids;
}

TEST(agents_leave_nothing_behind_in_any_table)
{
	struct fixture *f = fixture_open();
	struct ids ids = make_world(f);
	struct problem p = { 0 };
	struct list by_agent, by_session;
	const struct column_row *t;
	int filled = 0;
	struct db *db;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	by_agent = tables_with(f, db, "agent_id");
	by_session = tables_with(f, db, "session_id");
	CHECK(by_agent.count >= 7);
	CHECK(by_session.count >= 1);
	t = by_agent.at;
	for (size_t i = 0; i < by_agent.count; i++) {
		if (is_kept(t[i].name))
			continue;
		test_step("%s", t[i].name);
		if (!goes_with_agents(f, t[i].name))
			test_fail(__FILE__, __LINE__,
				"%s names an agent, and its rows do not go when the agent does",
				t[i].name);
		fill(f, db, t[i].name, "agent_id", &ids);
		filled += rows_with(f, t[i].name, "agent_id", ids.agent_id) > 0;
	}
	CHECK(filled >= 6);
	t = by_session.at;
	for (size_t i = 0; i < by_session.count; i++)
		fill(f, db, t[i].name, "session_id", &ids);
	CHECK_INT(rows_with(f, "messages", "session_id", ids.session_id), 1);
	db_close(db);

	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", ids.agent_id), 204);
	fixture_sweep(f);
	t = by_agent.at;
	for (size_t i = 0; i < by_agent.count; i++)
		if (!is_kept(t[i].name) && rows_with(f, t[i].name, "agent_id", ids.agent_id))
			test_fail(__FILE__, __LINE__, "%s still has the agent", t[i].name);
	t = by_session.at;
	for (size_t i = 0; i < by_session.count; i++)
		if (!is_kept(t[i].name) && rows_with(f, t[i].name, "session_id", ids.session_id))
			test_fail(__FILE__, __LINE__, "%s still has its session", t[i].name);
	CHECK_INT(fixture_count(f, "select count(*) from directory"), 0);
	CHECK(rows_with(f, "audit_logs", "agent_id", ids.agent_id) >= 2);
	fixture_close(f);
}
