/* open.h - from settings to a store that can be used; what every subcommand begins with. */
#pragma once
#include "serve/settings.h"
#include "store/store.h"

/* Opens the store the settings name, making the data folder if it is not there. */
int open_store(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p);
/* The same, and refuses one that is not at this program's version. */
int open_current(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p);
/* One line on standard error: what failed.  Returns the exit status. */
int complain(const struct problem *p);
