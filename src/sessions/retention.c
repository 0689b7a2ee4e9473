/* retention.c - see retention.h. */
#include "sessions/retention.h"

#include "base/clock.h"
#include "store/sweep.h"

enum { DROP_DELTAS, DROP_TENANT_EVENTS, DROPS };

static const struct statement sql[DROPS] = {
	[DROP_DELTAS] = { "drop_deltas",
		"delete from session_events where (tenant_id, session_id, seq) in "
		"(select e.tenant_id, e.session_id, e.seq from session_events e join session_rows s "
		"on s.tenant_id = e.tenant_id and s.id = e.session_id where e.kind = 'delta' "
		"and e.created_at < $1 and s.writing_id is null order by e.created_at limit $2)",
		.across = "maintenance of all tenants" },
	[DROP_TENANT_EVENTS] = { "drop_tenant_events",
		"delete from tenant_events where (tenant_id, feed, id) in "
		"(select tenant_id, feed, id from tenant_events where created_at < $1 "
		"order by created_at limit $2)",
		.across = "maintenance of all tenants" },
};
STATEMENT_SET(retention_sql, sql);

void retention_submit(struct store *store, int64_t now)
{
	sweep_submit(store, &sql[DROP_DELTAS], now - DELTAS_KEPT_S * SECOND_US);
	sweep_submit(store, &sql[DROP_TENANT_EVENTS], now - TENANT_EVENTS_KEPT_S * SECOND_US);
}
