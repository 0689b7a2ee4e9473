/* erase.h - removing everything of a closed tenant, some rows at a time. */
#pragma once
#include "call/call.h"

/* Looks for closed tenants and removes them in bounded pieces, behind whatever else waits. */
void erase_submit(struct app *app);
