/* forget.h - a message that is deleted leaves its words nowhere that people or models read.
 *
 * Not in the log of events, which is replayed; not in a summary, which stands
 * for it before the model (what is left is summed up anew when it is needed);
 * not in a title that was made of it.  What auditors keep is kept by whoever
 * deletes. */
#pragma once
#include "store/store.h"

/* Removes it from a session that is at rest.  ERR_NOT_FOUND. */
int session_forget_message(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *id, int64_t now);

extern const struct statement_set forget_sql;
