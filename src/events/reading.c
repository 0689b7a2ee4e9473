/* reading.c - see reading.h. */
#include "events/reading.h"

#include "base/log.h"

int events_connect(struct store *store, struct db **db, struct arena *a)
{
	struct problem p = { 0 };
	int err;

	if (*db)
		return 0;
	err = store_connect(store, db, a, &p);
	if (err)
		log_warn("events cannot be read for a moment", LOG_S("error", p.detail));
	arena_reset(a);
	return err;
}

void events_give_up(struct db **db)
{
	if (!*db)
		return;
	log_warn("events cannot be read for a moment", LOG_S("error", db_error(*db)));
	db_rollback(*db);
	db_close(*db);
	*db = NULL;
}
