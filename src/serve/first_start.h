/* first_start.h - what an empty store begins with: a super administrator, and a tenant to look around in. */
#pragma once
#include "base/error.h"
#include "store/store.h"

/* Does nothing to a store that has somebody.  The password, if nobody chose one, is shown once, on standard output. */
int first_start(struct db *db, struct arena *a, struct problem *p);
