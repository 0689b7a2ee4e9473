/* ledger.h - every model call that was paid for, entered once, and the sums kept beside.
 *
 * A row is entered in the caller's transaction together with all sums it
 * belongs to: they are the ledger's own and nobody else writes them.  It
 * knows tokens and money, and nothing of providers or budgets. */
#pragma once
#include "base/money.h"
#include "broker/usage.h"
#include "store/store.h"

enum charge_outcome { CHARGE_OK, CHARGE_FAILED, CHARGE_CANCELLED, CHARGE_LOST };

struct charge {
	const char *tenant_id;
	const char *agent_id; /* NULL: no agent called */
	const char *model_id;
	const char *user_id, *session_id; /* or NULL */
	bool byok;			  /* on the tenant's own key */
	enum charge_outcome outcome;
	struct usage usage;
	int64_t cost_pd;
};

enum { LEDGER_AT_ONCE = 64 };

struct ledger_entry {
	const struct charge *charge;
	int64_t now;
};

/* Enters up to LEDGER_AT_ONCE, each at its moment: a row for each, and their sums together where they are the same. */
int ledger_enter_all(struct db *db, const struct ledger_entry *list, size_t count);
int ledger_enter(struct db *db, const struct charge *c, int64_t now);

/* Which of the rows that writers share this one takes. */
int64_t ledger_shard(struct db *db);

extern const struct statement_set ledger_sql;
