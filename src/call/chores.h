/* chores.h - what must be done now and then: forgetting kept replies and logins that are past. */
#pragma once
#include "call/call.h"

/* Hands the chores to the store, in bounded pieces. */
void chores_submit(struct app *app);

/* Notes, at most once a minute and off the request's way, that a credential was used. */
void touch_credential(struct app *app, const struct caller *caller, int64_t last_used, int64_t now);

extern const struct statement_set chores_sql;
