/* gone.h - the rows of what was deleted: agents, sessions, threads, conversations, integrations.
 *
 * Deleting one marks its row, after which nobody finds it or anything that
 * hangs on it (the views of migration 35); the rows themselves go later, a
 * bounded piece in each transaction, however much there is. */
#pragma once
#include "call/call.h"

/* Has the rows of everything that is gone removed, after whatever else waits.  An operation that marks a row has it
 * called once that is committed: c->afterwards = gone_submit. */
void gone_submit(struct app *app);
/* What api_setup() makes of it; freed with free(). */
struct batches *gone_new(struct app *app);

/* One piece, in the transaction at hand; *ret_more: there may be another. */
int gone_take(struct db *db, bool *ret_more);

/* Marks an agent, and removes at once the few rows of its settings, which others count too. */
int gone_agent(struct db *db, const char *tenant_id, const char *agent_id, int64_t now);

/* $1 tenant, $2 integration, $3 now.  Its secrets go at once.  Without a skill, what becomes of that skill's grant does
 * not touch its log. */
#define INTEGRATION_GONE "gone_at = $3, token_hash = null, sealed = '', skill_id = null"
#define HOOK_REMOVE_SQL \
	"update integration_rows set " INTEGRATION_GONE " where tenant_id = $1 and id = $2"

extern const struct statement_set gone_sql, gone_heirs_sql, gone_agent_sql;
