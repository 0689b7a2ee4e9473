/* reading.h - the connection with which a thread of this room reads the log: made when it is needed, and anew
 * after a failure. */
#pragma once
#include "store/store.h"

/* Nothing to do where *db is there.  The arena is empty after it. */
int events_connect(struct store *store, struct db **db, struct arena *a);
/* It failed: says so, and closes it. */
void events_give_up(struct store *store, struct db **db);
