/* feed_number.c - see feed_number.h. */
#include "events/feed_number.h"

#include "base/id.h"
#include "events/events.h"
#include "store/row.h"

enum { STEP, HORIZON, HIGHEST, RAISE, ADD_AGENT };

struct horizon_row {
	int64_t horizon, started;
};

FIELDS(horizon_row) = {
	FIELD(horizon_row, horizon),
	FIELD(horizon_row, started),
};
static SCHEMA(horizon_row, .internal = true);

struct agent_event {
	const char *tenant_id, *id, *about_id, *data;
	int64_t created_at, feed;
};

FIELDS(agent_event) = { ROW_FIELDS(agent_event, tenant_id, id, about_id, data, created_at, feed) };
static SCHEMA(agent_event, .internal = true);

#define AGENT_EVENT(number)                                                                         \
	"insert into tenant_events (tenant_id, id, kind, about_id, data, created_at, feed) values " \
	"(:tenant_id, :id, '" FEED_AGENT "', :about_id, :data, :created_at, " number ")"

static const struct statement sql[] = {
	[STEP] = { "feed_step", "update feed set n = n + 1 where id = 1 returning n" },
	[HORIZON] = { "feed_horizon", "select n as horizon, n as started from feed where id = 1",
		.postgres =
			"select n + pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1 as horizon, "
			"n + pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1 as started "
			"from feed where id = 1",
		.row = &horizon_row_schema },
	[HIGHEST] = { "feed_highest",
		"select coalesce(max(case when t.one > coalesce(t.two, 0) then t.one else "
		"coalesce(t.two, 0) end), 0) from (select coalesce((select max(e.feed) from "
		"session_events e where e.tenant_id = x.id), 0) as one, (select max(e.feed) from "
		"tenant_events e where e.tenant_id = x.id) as two from tenants x) t",
		.scan = "one look into each tenant's order, at the start of the service",
		.across = "numbers are one row for all tenants" },
	[RAISE] = { "feed_raise", "update feed set n = $1 where id = 1 and n < $1",
		.postgres = "update feed set n = $1 - pg_current_xact_id()::text::bigint + 1 "
			    "where id = 1 and n + pg_current_xact_id()::text::bigint <= $1" },
	[ADD_AGENT] = { "feed_add_agent", AGENT_EVENT(":feed"),
		.postgres = AGENT_EVENT(FEED_NUMBER_POSTGRES), .args = &agent_event_schema },
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

int feed_repair(struct db *db)
{
	int64_t highest = 0;
	int err = db_int(db, &sql[HIGHEST], &highest, NO_ARGS);

	return err ? err : db_run(db, &sql[RAISE], NULL, ARGS(N(highest)));
}

int feed_agent_changed(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *action, int64_t now)
{
	struct id id = id_new(NULL);
	const struct AgentEvent event = { .agent_id = agent_id, .action = action };
	const char *data = event_text(a, &AgentEvent_schema, &event);
	int64_t number;
	int err = data ? feed_step(db, &number) : ERR_BUSY;

	if (!err)
		err = db_put(db, &sql[ADD_AGENT],
			&(struct agent_event){ .tenant_id = tenant_id,
				.id = id.text,
				.about_id = agent_id,
				.data = data,
				.created_at = now,
				.feed = number });
	return err ? err : db_notice(db, "events", arena_printf(a, "%s %s 0", tenant_id, agent_id));
}
