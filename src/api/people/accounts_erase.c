/* accounts_erase.c - what users that are gone leave: what agents kept for them alone goes, and where they took part, and
 * what is personal in audit entries is erased.
 *
 * There may be a great many, in tenants that the user left long ago too, so
 * every tenant is looked at in turn, a bounded number of entries in each
 * transaction.  How far it has come is a row, so that a restart goes on. */
#include <stdlib.h>

#include "api/people/accounts.h"
#include "api/service.h"
#include "base/clock.h"
#include "store/batches.h"
#include "store/sweep.h"

enum { TENANTS_AT_ONCE = 200, MEMORIES_AT_ONCE = 20 };

struct erasure_row {
	const char *user_id, *after_tenant;
};

FIELDS(erasure_row) = {
	FIELD(erasure_row, user_id),
	FIELD(erasure_row, after_tenant),
};
static SCHEMA(erasure_row, .internal = true);

enum {
	ERASURE_NEXT,
	ERASURE_PEOPLE,
	ERASURE_MEMORIES,
	ERASURE_TENANTS,
	ERASURE_REACHED,
	ERASURE_DONE
};

#define OF_HOUSE .across = "accounts belong to the house"

static const struct statement sql[] = {
	[ERASURE_NEXT] = { "user_erasure_next",
		"select user_id, after_tenant from user_erasures order by user_id limit 1",
		.row = &erasure_row_schema, .scan = "its first row" },
	[ERASURE_PEOPLE] = { "user_erasure_people",
		"delete from session_people where user_id = $1 and session_id in "
		"(select session_id from session_people where user_id = $1 order by session_id limit $2)",
		OF_HOUSE },
	[ERASURE_MEMORIES] = { "user_erasure_memories",
		"delete from memories where user_id = $1 and id in "
		"(select id from memories where user_id = $1 limit $2)",
		OF_HOUSE },
	[ERASURE_TENANTS] = { "user_erasure_tenants",
		"select id as value from tenants where id > $1 order by id limit $2",
		.row = &one_text_schema },
	[ERASURE_REACHED] = { "user_erasure_reached",
		"update user_erasures set after_tenant = $2 where user_id = $1" },
	[ERASURE_DONE] = { "user_erasure_done", "delete from user_erasures where user_id = $1" },
};
STATEMENT_SET(account_erase_sql, sql);

struct account_erasure {
	struct batches batches; /* first */
	struct app *app;
};

/* The tenants in turn, up to the first in which there was something. */
static int erase_in_tenants(const struct audit_eraser *e, const struct erasure_row *row)
{
	struct list tenants = { 0 };
	const char *reached = row->after_tenant;
	int64_t erased = 0;
	int err = db_all(e->db, e->arena, &sql[ERASURE_TENANTS], &tenants, TENANTS_AT_ONCE,
		ARGS(T(row->after_tenant), N(TENANTS_AT_ONCE)));

	if (!err && !tenants.count)
		return db_run(e->db, &sql[ERASURE_DONE], NULL, ARGS(T(row->user_id)));
	for (size_t i = 0; !err && !erased && i < tenants.count; i++) {
		const char *tenant_id = ((const struct one_text *)tenants.at)[i].value;

		err = audit_erase_user(e, tenant_id, row->user_id, &erased);
		if (!erased)
			reached = tenant_id;
	}
	return err ? err
		   : db_run(e->db, &sql[ERASURE_REACHED], NULL, ARGS(T(row->user_id), T(reached)));
}

/* What is theirs alone; *ret_removed is 0 when nothing is left. */
static int erase_own(struct db *db, const char *user_id, int64_t *ret_removed)
{
	int err = db_run(db, &sql[ERASURE_PEOPLE], ret_removed, ARGS(T(user_id), N(SWEEP_PIECE)));

	return err || *ret_removed ? err
				   : db_run(db, &sql[ERASURE_MEMORIES], ret_removed,
					     ARGS(T(user_id), N(MEMORIES_AT_ONCE)));
}

static int accounts_erase_take(struct batches *b, struct db *db)
{
	struct account_erasure *e = (struct account_erasure *)b;
	struct arena a = { 0 };
	struct audit_eraser eraser = { db, &a, e->app->chain_key, clock_now_us() };
	struct erasure_row row;
	int64_t erased = 0;
	int err = db_one(db, &a, &sql[ERASURE_NEXT], &row, NO_ARGS);

	b->more = !err;
	if (!err && !*row.after_tenant)
		err = erase_own(db, row.user_id, &erased);
	if (!err && !erased && !*row.after_tenant)
		err = audit_erase_user(&eraser, NULL, row.user_id, &erased);
	if (!err && !erased)
		err = erase_in_tenants(&eraser, &row);
	arena_free(&a);
	return err == ERR_NOT_FOUND ? 0 : err;
}

struct batches *accounts_erase_new(struct app *app)
{
	struct account_erasure *e = calloc(1, sizeof *e);

	if (!e)
		return NULL;
	e->batches.take = accounts_erase_take;
	e->app = app;
	return &e->batches;
}

void accounts_erase_submit(struct app *app)
{
	batches_start(service_of(app)->removals[REMOVE_ACCOUNTS], app->store);
}
