/* throttle.c - see throttle.h. */
#include "access/throttle.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/clock.h"
#include "base/fold.h"

enum { ACCOUNT_FAILURES = 10, ADDRESS_FAILURES = 50 };
enum { ATTEMPT_READ, ATTEMPT_FAIL, ATTEMPT_UNDO, ATTEMPT_CLEAR };

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
	[ATTEMPT_UNDO] = { "attempt_undo",
		"update attempts set failures = failures - 1 where subject = $1 and failures > 0" },
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

static const char *address_of(struct arena *a, const char *what, const char *ip)
{
	char half[INET6_ADDRSTRLEN];
	struct in6_addr six;

	if (!ip || inet_pton(AF_INET6, ip, &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six))
		return arena_printf(a, "%s:%s", what, ip ? ip : "");
	memset(six.s6_addr + 8, 0, 8);
	return arena_printf(a, "%s:%s/64", what, inet_ntop(AF_INET6, &six, half, sizeof half));
}

static int check_one(struct db *db, struct arena *a, const char *subject, int64_t most, int64_t now,
	const char *of_what, struct problem *p)
{
	struct attempt_row row;
	int err = db_one(db, a, &sql[ATTEMPT_READ], &row, ARGS(T(subject)));

	if (err == ERR_NOT_FOUND)
		return 0;
	if (err || row.failures < most || row.since + THROTTLE_US <= now)
		return err;
	p->retry_after_s = (int)((row.since + THROTTLE_US - now) / SECOND_US) + 1;
	return problem_set(
		p, a, ERR_THROTTLED, "Too many %s; wait %d seconds.", of_what, p->retry_after_s);
}

static int count_one(struct db *db, const char *subject, int64_t now)
{
	return db_run(db, &sql[ATTEMPT_FAIL], NULL, ARGS(T(subject), N(now), N(now - THROTTLE_US)));
}

int throttle_check(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, struct problem *p)
{
	static const char of_what[] = "failed logins";
	int err = 0;

	if (*t->email)
		err = check_one(db, a, account_of(a, t), ACCOUNT_FAILURES, now, of_what, p);
	if (!err)
		err = check_one(
			db, a, address_of(a, "address", t->ip), ADDRESS_FAILURES, now, of_what, p);
	return err;
}

int throttle_fail(struct db *db, struct arena *a, const struct throttle *t, int64_t now)
{
	int err = *t->email ? count_one(db, account_of(a, t), now) : 0;

	return err ? err : count_one(db, address_of(a, "address", t->ip), now);
}

int throttle_clear(struct db *db, struct arena *a, const struct throttle *t)
{
	return db_run(db, &sql[ATTEMPT_CLEAR], NULL, ARGS(T(account_of(a, t))));
}

int allowance_check(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p)
{
	return check_one(db, a, address_of(a, l->what, l->ip), l->most, now,
		"of these from your address", p);
}

int allowance_take(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p)
{
	int err = allowance_check(db, a, l, now, p);

	return err ? err : count_one(db, address_of(a, l->what, l->ip), now);
}

int allowance_give_back(struct db *db, struct arena *a, const struct allowance *l)
{
	return db_run(db, &sql[ATTEMPT_UNDO], NULL, ARGS(T(address_of(a, l->what, l->ip))));
}
