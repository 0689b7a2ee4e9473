/* refold.h - texts that are stored folded, and folded anew when the rules change. */
#pragma once
#include "store/store.h"

/* In a transaction: makes sure that what is stored folded is folded by fold_version(). */
int refold_ensure(struct db *db, struct arena *a);

extern const struct statement_set refold_sql;
