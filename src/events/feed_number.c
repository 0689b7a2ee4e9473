/* feed_number.c - see feed_number.h. */
#include "events/feed_number.h"

#include <string.h>

#include "base/id.h"
#include "events/events.h"
#include "store/row.h"

enum { STEP, HORIZON, HOME, HERE, HOME_SET, HIGHEST, RAISE, ADD };

struct horizon_row {
	int64_t horizon, started;
};

FIELDS(horizon_row) = {
	FIELD(horizon_row, horizon),
	FIELD(horizon_row, started),
};
static SCHEMA(horizon_row, .internal = true);

struct tenant_event {
	const char *tenant_id, *id, *kind, *about_id, *data;
	int64_t created_at, feed;
};

FIELDS(tenant_event) = {
	ROW_FIELDS(tenant_event, tenant_id, id, kind, about_id, data, created_at, feed),
};
static SCHEMA(tenant_event, .internal = true);

#define TENANT_EVENT(number)                                                                        \
	"insert into tenant_events (tenant_id, id, kind, about_id, data, created_at, feed) values " \
	"(:tenant_id, :id, :kind, :about_id, :data, :created_at, " number ")"

static const struct statement sql[] = {
	[STEP] = { "feed_step", "update feed set n = n + 1 where id = 1 returning n" },
	[HORIZON] = { "feed_horizon", "select n as horizon, n as started from feed where id = 1",
		.postgres =
			"select n + pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 as horizon, "
			"n + pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1 as started "
			"from feed where id = 1",
		.row = &horizon_row_schema },
	/* Where the numbers were last held against those that were given, and where that is now. */
	[HOME] = { "feed_home", "select value from meta where key = 'feed_home'",
		.row = &one_text_schema },
	[HERE] = { "feed_here", "select 'sqlite' as value",
		.postgres =
			"select 'postgres ' || system_identifier as value from pg_control_system()",
		.row = &one_text_schema, .scan = "no table" },
	[HOME_SET] = { "feed_home_set",
		"insert into meta (key, value) values ('feed_home', $1) on conflict (key) do update "
		"set value = excluded.value" },
	[HIGHEST] = { "feed_highest",
		"select coalesce(max(case when t.one > coalesce(t.two, 0) then t.one else "
		"coalesce(t.two, 0) end), 0) from (select coalesce((select max(e.feed) from "
		"session_events e where e.tenant_id = x.id), 0) as one, (select max(e.feed) from "
		"tenant_events e where e.tenant_id = x.id) as two from (select id from tenants "
		"union all select '" FEED_HOUSE "') x) t",
		.scan = "one look into each tenant's order, where the tables came from elsewhere" },
	[RAISE] = { "feed_raise", "update feed set n = $1 where id = 1 and n < $1",
		.postgres = "update feed set n = $1 - pg_current_xact_id()::text::bigint + 1 "
			    "where id = 1 and n + pg_current_xact_id()::text::bigint <= $1" },
	[ADD] = { "feed_add", TENANT_EVENT(":feed"), .postgres = TENANT_EVENT(FEED_NUMBER_POSTGRES),
		.args = &tenant_event_schema },
};
STATEMENT_SET(feed_number_sql, sql);

int feed_step(struct db *db, int64_t *ret)
{
	*ret = 0;
	return db_is_sqlite(db) ? db_int(db, &sql[STEP], ret, NO_ARGS) : 0;
}

int feed_horizon(struct db *db, struct arena *a, int64_t *ret, int64_t *ret_started)
{
	struct horizon_row row;
	int err = db_one(db, a, &sql[HORIZON], &row, NO_ARGS);

	if (err)
		return err;
	*ret = row.horizon;
	*ret_started = row.started;
	return 0;
}

/* The look into every tenant's order is taken once in each place: with ten thousand of them it took 80 ms of every
 * start, during which nobody could write. */
int feed_repair(struct db *db)
{
	struct arena a = { 0 };
	struct one_text home, here;
	int64_t highest = 0;
	int err = db_one(db, &a, &sql[HOME], &home, NO_ARGS);
	bool unknown = err == ERR_NOT_FOUND;

	if (!err || unknown)
		err = db_one(db, &a, &sql[HERE], &here, NO_ARGS);
	if (!err && (unknown || strcmp(home.value, here.value) != 0)) {
		err = db_int(db, &sql[HIGHEST], &highest, NO_ARGS);
		if (!err)
			err = db_run(db, &sql[RAISE], NULL, ARGS(N(highest)));
		if (!err)
			err = db_run(db, &sql[HOME_SET], NULL, ARGS(T(here.value)));
	}
	arena_free(&a);
	return err;
}

/* The row is put in the order of everything, and whoever follows the tenant is woken. */
static int add_tenant_event(struct db *db, struct arena *a, struct tenant_event row)
{
	struct id id = id_new(NULL);
	int err = row.data ? feed_step(db, &row.feed) : ERR_BUSY;

	row.id = id.text;
	if (!err)
		err = db_put(db, &sql[ADD], &row);
	return err ? err
		   : db_notice(
			     db, "events", arena_printf(a, "%s %s 0", row.tenant_id, row.about_id));
}

int feed_agent_changed(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *action, int64_t now)
{
	const struct AgentEvent event = { .agent_id = agent_id, .action = action };

	return add_tenant_event(db, a,
		(struct tenant_event){ .tenant_id = tenant_id,
			.kind = FEED_AGENT,
			.about_id = agent_id,
			.data = event_text(a, &AgentEvent_schema, &event),
			.created_at = now });
}

int feed_changed(struct db *db, struct arena *a, const char *tenant_id,
	const struct ChangeEvent *event, int64_t now)
{
	return add_tenant_event(db, a,
		(struct tenant_event){ .tenant_id = tenant_id,
			.kind = FEED_CHANGE,
			.about_id = event->id ? event->id : tenant_id,
			.data = event_text(a, &ChangeEvent_schema, event),
			.created_at = now });
}
