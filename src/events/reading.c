/* reading.c - see reading.h. */
#include "events/reading.h"

int events_connect(struct store *store, struct db **db, struct arena *a)
{
	struct problem p = { 0 };
	int err;

	if (*db)
		return 0;
	err = store_connect(store, db, a, &p);
	if (err)
		store_complain(store, "events cannot be read for a moment", p.detail);
	arena_reset(a);
	return err;
}

void events_give_up(struct store *store, struct db **db)
{
	if (!*db)
		return;
	store_complain(store, "events cannot be read for a moment", db_error(*db));
	db_rollback(*db);
	db_close(*db);
	*db = NULL;
}
