/* throttle.c - see throttle.h. */
#include "access/throttle.h"

#include "base/clock.h"
#include "base/fold.h"

#define WINDOW_US (15 * 60 * SECOND_US)

enum { ACCOUNT_FAILURES = 10, ADDRESS_FAILURES = 50 };
enum { ATTEMPT_READ, ATTEMPT_FAIL, ATTEMPT_CLEAR };

struct attempt_row {
	int64_t failures, since;
};

FIELDS(attempt_row) = {
	FIELD(attempt_row, failures),
	FIELD(attempt_row, since),
};
static SCHEMA(attempt_row, .internal = true);

static const struct statement sql[] = {
	[ATTEMPT_READ] = { "attempt_read",
		"select failures, since from attempts where subject = $1",
		.row = &attempt_row_schema },
	[ATTEMPT_FAIL] = { "attempt_fail",
		"insert into attempts (subject, failures, since) values ($1, 1, $2) "
		"on conflict (subject) do update set "
		"failures = case when attempts.since < $3 then 1 else attempts.failures + 1 end, "
		"since = case when attempts.since < $3 then $2 else attempts.since end" },
	[ATTEMPT_CLEAR] = { "attempt_clear", "delete from attempts where subject = $1" },
};
STATEMENT_SET(throttle_sql, sql);

/* The address itself is not kept. */
static const char *account_of(struct arena *a, const struct throttle *t)
{
	char *hash = arena_alloc(a, 65);

	credential_hash(fold(a, t->email), hash);
	return arena_printf(a, "account:%s", hash);
}

static const char *address_of(struct arena *a, const struct throttle *t)
{
	return arena_printf(a, "address:%s", t->ip);
}

static int check_one(struct db *db, struct arena *a, const char *subject, int64_t most, int64_t now,
	struct problem *p)
{
	struct attempt_row row;
	int err = db_one(db, a, &sql[ATTEMPT_READ], &row, ARGS(T(subject)));

	if (err == ERR_NOT_FOUND)
		return 0;
	if (err || row.failures < most || row.since + WINDOW_US <= now)
		return err;
	p->retry_after_s = (int)((row.since + WINDOW_US - now) / SECOND_US) + 1;
	return problem_set(
		p, a, ERR_THROTTLED, "Too many failed logins; wait %d seconds.", p->retry_after_s);
}

int throttle_check(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, struct problem *p)
{
	int err = *t->email ? check_one(db, a, account_of(a, t), ACCOUNT_FAILURES, now, p) : 0;

	return err ? err : check_one(db, a, address_of(a, t), ADDRESS_FAILURES, now, p);
}

int throttle_fail(struct db *db, struct arena *a, const struct throttle *t, int64_t now)
{
	int err = 0;

	if (*t->email)
		err = db_run(db, &sql[ATTEMPT_FAIL], NULL,
			ARGS(T(account_of(a, t)), N(now), N(now - WINDOW_US)));
	if (!err)
		err = db_run(db, &sql[ATTEMPT_FAIL], NULL,
			ARGS(T(address_of(a, t)), N(now), N(now - WINDOW_US)));
	return err;
}

int throttle_clear(struct db *db, struct arena *a, const struct throttle *t)
{
	return db_run(db, &sql[ATTEMPT_CLEAR], NULL, ARGS(T(account_of(a, t))));
}
