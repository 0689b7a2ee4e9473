/* ledger_check.h - the sums kept beside the ledger, held against a recount of its rows. */
#pragma once
#include "store/store.h"

/* Hours against the rows of the ledger, days against hours, tenants' days against days: all of them in
 * the transaction under way, an hour at a time.  *ret is a sentence that names the first difference,
 * or NULL. */
int ledger_check(struct db *db, struct arena *a, const char **ret);

extern const struct statement_set ledger_check_sql;
