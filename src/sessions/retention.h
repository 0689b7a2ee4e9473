/* retention.h - what of the log need not be kept.
 *
 * The pieces of a message are dropped an hour after it: whoever resumes from
 * among them gets the whole message, which stays as long as its session. */
#pragma once
#include "store/store.h"

enum { DELTAS_KEPT_S = 3600, TENANT_EVENTS_KEPT_S = 7 * 86400 };

/* Hands the work over to the store, a bounded piece at a time, until nothing is left. */
void retention_submit(struct store *store, int64_t now);

extern const struct statement_set retention_sql;
