/* feed_number.h - the number under which an event stands in the one order of everything that happens.
 *
 * Whoever has read everything up to a number must never miss a lower one that
 * is committed later.  On SQLite there is one writer, and a counter will do.
 * On PostgreSQL a counter would make writers wait for each other; there the
 * number is that of the transaction, and readers go no further than the
 * oldest transaction that is still open (FEED_HORIZON). */
#pragma once
#include "store/store.h"

/* On PostgreSQL the number is an expression in the insert. */
#define FEED_NUMBER_POSTGRES \
	"(select n + pg_current_xact_id()::text::bigint from feed where id = 1)"

/* The next number, on SQLite; 0 on PostgreSQL. */
int feed_step(struct db *db, int64_t *ret);

/* How far one may read: no lower number will be committed any more.  *ret_started is a number by which
 * everything that is committed now will be readable. */
int feed_horizon(struct db *db, struct arena *a, int64_t *ret, int64_t *ret_started);

/* When a store is opened to be served: makes sure that new numbers are above all that were given, also
 * where the tables came from another engine or another server. */
int feed_repair(struct db *db);

/* An agent has changed: those who may see it are told.  In the transaction of the change. */
int feed_agent_changed(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *action, int64_t now);

/* Something in a list has changed, of that tenant or of the FEED_HOUSE: the same. */
struct ChangeEvent;
int feed_changed(struct db *db, struct arena *a, const char *tenant_id,
	const struct ChangeEvent *event, int64_t now);

extern const struct statement_set feed_number_sql;
