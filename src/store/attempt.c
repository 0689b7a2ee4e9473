/* attempt.c - a part of a transaction that may fail, or be taken back, alone: see db_attempt() in store.h.
 *
 * Inside it every statement is waited for, so that its error is met where it
 * belongs, or none is, so that many cost little and an error is met at the end;
 * what it would have told others is taken back with it. */
#include "store/engine.h"

static const struct statement steps[] = {
	{ "attempt", "savepoint attempt", .scan = "no table" },
	{ "attempt_keep", "release attempt", .scan = "no table" },
	{ "attempt_undo", "rollback to attempt", .scan = "no table" },
};

static int attempt_step(struct db *db, int which)
{
	return db_run(db, &steps[which], NULL, NO_ARGS);
}

/* Of the piece, and not of the store or of the house. */
static bool is_own_fault(struct db *db, int err)
{
	return error_row(err)->status < 500 && !db->engine->lost(db);
}

int db_attempt(struct db *db, int (*fn)(void *ctx), void *ctx, bool keep, int *ret_err)
{
	struct notice *before = db->notices;
	bool eager = db->eager;
	int err;

	db->eager = true;
	*ret_err = 0;
	err = attempt_step(db, 0);
	if (!err) {
		*ret_err = fn(ctx);
		if (*ret_err && !is_own_fault(db, *ret_err))
			err = *ret_err;
	}
	if (!err && (*ret_err || !keep)) {
		err = attempt_step(db, 2);
		db->notices = before;
	}
	if (!err)
		err = attempt_step(db, 1);
	db->eager = eager;
	return err;
}

int db_attempt_all(struct db *db, int (*fn)(void *ctx), void *ctx, int *ret_err)
{
	struct notice *before = db->notices;
	bool eager = db->eager;
	int64_t none;
	int err;

	*ret_err = 0;
	err = db_run(db, &steps[0], &none, NO_ARGS); /* with it what others did not wait for */
	if (err)
		return err;
	db->eager = false;
	*ret_err = fn(ctx);
	if (!*ret_err)
		*ret_err = db_run(db, &steps[1], &none, NO_ARGS);
	db->eager = eager;
	if (!*ret_err)
		return 0;
	if (!is_own_fault(db, *ret_err))
		return *ret_err;
	err = db_run(db, &steps[2], &none, NO_ARGS);
	if (!err)
		err = db_run(db, &steps[1], &none, NO_ARGS);
	db->notices = before;
	db->late = false; /* it was met */
	return err;
}
