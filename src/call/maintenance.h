/* maintenance.h - what must be done now and then: forgetting kept replies and logins that are past. */
#pragma once
#include "call/call.h"

/* Hands it to the store, in bounded pieces until nothing is left of them (store/sweep.h). */
void maintenance_submit(struct app *app);

/* Notes, at most once a minute and off the request's way, that a credential was used. */
void touch_credential(struct app *app, const struct caller *caller, int64_t last_used, int64_t now);

extern const struct statement_set maintenance_sql;
