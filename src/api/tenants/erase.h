/* erase.h - removing everything of a deleted tenant when its time has come, some rows at a time. */
#pragma once
#include "call/call.h"

/* Looks for tenants whose erase_at has passed and removes them in bounded pieces, after whatever else waits. */
void erase_submit(struct app *app);
/* What api_setup() makes of it; freed with free(). */
struct batches *erase_new(struct app *app);
