/* retention.c - see retention.h. */
#include "sessions/retention.h"

#include <stdlib.h>

#include "base/clock.h"

enum { PIECE = 500 };
enum { DROP_DELTAS, DROP_TENANT_EVENTS, DROPS };

static const struct statement sql[DROPS] = {
	[DROP_DELTAS] = { "drop_deltas",
		"delete from session_events where (tenant_id, session_id, seq) in "
		"(select e.tenant_id, e.session_id, e.seq from session_events e join sessions s "
		"on s.tenant_id = e.tenant_id and s.id = e.session_id where e.kind = 'delta' "
		"and e.created_at < $1 and s.writing_id is null order by e.created_at limit $2)",
		.across = "a chore for all tenants" },
	[DROP_TENANT_EVENTS] = { "drop_tenant_events",
		"delete from tenant_events where (tenant_id, feed, id) in "
		"(select tenant_id, feed, id from tenant_events where created_at < $1 "
		"order by created_at limit $2)",
		.across = "a chore for all tenants" },
};
STATEMENT_SET(retention_sql, sql);

struct chore {
	struct work work; /* first: it is handed back */
	struct store *store;
	const struct statement *st;
	int64_t before, dropped;
};

static int run(struct work *w, struct db *db)
{
	struct chore *c = (struct chore *)w;

	c->dropped = 0;
	return db_run(db, c->st, &c->dropped, ARGS(N(c->before), N(PIECE)));
}

static void done(struct work *w, int err)
{
	struct chore *c = (struct chore *)w;

	/* Without success the next round tries again. */
	if (err || c->dropped < PIECE || store_submit(c->store, &c->work))
		free(c);
}

static void submit(struct store *store, const struct statement *st, int64_t before)
{
	struct chore *c = calloc(1, sizeof *c);

	if (!c)
		return;
	*c = (struct chore){ .work = { .run = run, .done = done, .mode = READ_WRITE },
		.store = store,
		.st = st,
		.before = before };
	if (store_submit(store, &c->work))
		free(c);
}

void retention_submit(struct store *store, int64_t now)
{
	submit(store, &sql[DROP_DELTAS], now - DELTAS_KEPT_S * SECOND_US);
	submit(store, &sql[DROP_TENANT_EVENTS], now - TENANT_EVENTS_KEPT_S * SECOND_US);
}
