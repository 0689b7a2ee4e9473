/* hook_log.h - the calls of webhooks that were refused, so that a flood of them fills nothing.
 *
 * They are noted in memory, alike ones together, and written at most once a
 * second: one row for all calls of an address that were refused in the same
 * way, with their number.  Of each integration only so many such rows are
 * kept.  What was accepted is not written here: its row is part of its
 * acceptance. */
#pragma once
#include "webhooks/hook.h"

enum {
	HOOK_LOG_CELLS = 256,	 /* rows a second, of all integrations together */
	HOOK_LOG_ADDRESSES = 16, /* of one integration; further ones share a row */
	HOOK_LOG_ROWS = 2000,	 /* of refused calls that are kept of one integration */
	HOOK_LOG_BODIES =
		60, /* blocked events a minute whose bodies are kept, of one integration */
};

struct hook_log *hook_log_new(void);
void hook_log_free(struct hook_log *log);

struct hook_note {
	const char *tenant_id, *integration_id;
	int status; /* enum DeliveryStatus */
	const char *outcome, *ip, *user_agent;
};

/* Notes a call; it is written at once if nothing was for a second, else with the next flush. */
void hook_log_note(
	struct hook_log *log, struct store *store, const struct hook_note *n, int64_t now);
/* Tells the log of the program of a call to an address that is not there: the first, and then at most one line in
 * ten seconds, with the number of calls since the last. */
void hook_log_unknown(struct hook_log *log, const char *id, const char *ip, int64_t now);
uint64_t hook_log_unknown_calls(const struct hook_log *log);
/* May one more blocked event of this integration be kept whole in this minute? */
bool hook_log_keeps(struct hook_log *log, const char *integration_id, int64_t now);
/* Writes what is noted; called twice a second. */
void hook_log_flush(struct hook_log *log, struct store *store, int64_t now);
/* Forgets calls that are older than they are kept (0: never), in bounded pieces; called now and then. */
void hook_log_forget(struct hook_log *log, struct store *store, int64_t retention_us, int64_t now);
/* How many calls could not be noted one by one, since the start. */
uint64_t hook_log_dropped(const struct hook_log *log);

extern const struct statement_set hook_log_sql;
