/* throttle.c - see throttle.h.
 *
 * Subjects of counts, each with the most that fit into THROTTLE_US:
 *
 *   device:MARK               one browser at one account
 *   pair:ACCOUNT:ADDRESS      one address at one account
 *   strangers:ACCOUNT         everybody else at one account
 *   address:ADDRESS           one address at any account it is not familiar with
 *   login:HASH                somebody signed in, at their own password
 *   WHAT[:WHOM][:ADDRESS]     an allowance; with "day:" before it, one that lasts a day
 *
 * ACCOUNT is a digest of the address that was typed, MARK one of the account
 * and the place, so that neither can be read from the store. */
#include "access/throttle.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/fold.h"

enum { OWN_MOST = 10, STRANGERS_MOST = 100, ADDRESS_MOST = 50, FAMILIAR_MOST = 20 };
enum {
	ATTEMPT_READ,
	ATTEMPT_TAKE,
	ATTEMPT_FAIL,
	ATTEMPT_UNDO,
	ATTEMPT_CLEAR,
	ATTEMPT_CLEAR_ALL,
	FAMILIAR_READ,
	FAMILIAR_NOTE,
	FAMILIAR_TRIM,
	FAMILIAR_MARKS,
	FAMILIAR_FORGET,
};

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
	[ATTEMPT_TAKE] = { "attempt_take",
		"insert into attempts (subject, failures, since) values ($1, 1, $2) "
		"on conflict (subject) do update set "
		"failures = case when attempts.since < $3 then 1 else attempts.failures + 1 end, "
		"since = case when attempts.since < $3 then $2 else attempts.since end "
		"where attempts.since < $3 or attempts.failures < $4" },
	[ATTEMPT_FAIL] = { "attempt_fail",
		"insert into attempts (subject, failures, since) values ($1, 1, $2) "
		"on conflict (subject) do update set "
		"failures = case when attempts.since < $3 then 1 else attempts.failures + 1 end, "
		"since = case when attempts.since < $3 then $2 else attempts.since end" },
	[ATTEMPT_UNDO] = { "attempt_undo",
		"update attempts set failures = failures - 1 where subject = $1 and failures > 0" },
	[ATTEMPT_CLEAR] = { "attempt_clear", "delete from attempts where subject = $1" },
	[ATTEMPT_CLEAR_ALL] = { "attempt_clear_all",
		"delete from attempts where subject >= $1 and subject < $2" },
	[FAMILIAR_READ] = { "familiar_read",
		"select count(*) from familiar where account = $1 and mark = $2 and seen_at > $3" },
	[FAMILIAR_NOTE] = { "familiar_note",
		"insert into familiar (account, mark, seen_at) values ($1, $2, $3) "
		"on conflict (account, mark) do update set seen_at = $3" },
	[FAMILIAR_TRIM] = { "familiar_trim",
		"delete from familiar where account = $1 and seen_at < (select f.seen_at "
		"from familiar f where f.account = $1 order by f.seen_at desc limit 1 offset $2)" },
	[FAMILIAR_MARKS] = { "familiar_marks",
		"select mark as value from familiar where account = $1 order by mark",
		.row = &one_text_schema },
	[FAMILIAR_FORGET] = { "familiar_forget", "delete from familiar where account = $1" },
};
STATEMENT_SET(throttle_sql, sql);

struct count {
	const char *subject;
	int64_t most, lasts_us;
};

static const char *throttle_digest(struct arena *a, const char *text)
{
	char *hash = arena_alloc(a, 65);

	credential_hash(text, hash);
	return hash;
}

/* The address itself is not kept. */
static const char *account_of(struct arena *a, const char *email)
{
	return throttle_digest(a, fold_ascii(a, email));
}

static const char *address_subject(struct arena *a, const char *what, const char *ip)
{
	char half[INET6_ADDRSTRLEN];
	struct in6_addr six;

	if (!ip || inet_pton(AF_INET6, ip, &six) != 1 || IN6_IS_ADDR_V4MAPPED(&six))
		return arena_printf(a, "%s:%s", what, ip ? ip : "");
	memset(six.s6_addr + 8, 0, 8);
	return arena_printf(a, "%s:%s/64", what, inet_ntop(AF_INET6, &six, half, sizeof half));
}

/* How a place is known to an account. */
static const char *mark_of(struct arena *a, const char *account, const char *place)
{
	return throttle_digest(a, arena_printf(a, "%s %s", account, place));
}

static int is_familiar(struct db *db, const char *account, const char *mark, int64_t now, bool *ret)
{
	int64_t found = 0;
	int err = db_int(
		db, &sql[FAMILIAR_READ], &found, ARGS(T(account), T(mark), N(now - FAMILIAR_US)));

	*ret = found > 0;
	return err;
}

static struct count lasting(const char *subject, int64_t most)
{
	return (struct count){ subject, most, THROTTLE_US };
}

/* How the place is known: a browser by its mark; *ret_mark stays NULL for an address. */
static int find_familiar(struct db *db, struct arena *a, const struct throttle *t, int64_t now,
	const char **ret_mark, bool *ret)
{
	const char *account = account_of(a, t->email), *mark;
	int err = 0;

	*ret_mark = NULL;
	*ret = false;
	if (t->device) {
		mark = mark_of(a, account, t->device);
		err = is_familiar(db, account, mark, now, ret);
		if (!err && *ret)
			*ret_mark = mark;
	}
	if (!err && !*ret) {
		mark = mark_of(a, account, address_subject(a, "address", t->ip));
		err = is_familiar(db, account, mark, now, ret);
	}
	return err;
}

int throttle_familiar(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, bool *ret)
{
	const char *mark;

	return find_familiar(db, a, t, now, &mark, ret);
}

/* What an attempt counts against: a place that is familiar has a count of its own, and no other. */
static int counts_of(struct db *db, struct arena *a, const struct throttle *t, int64_t now,
	struct count out[THROTTLE_COUNTS], int *ret)
{
	const char *address = address_subject(a, "address", t->ip), *account, *mark;
	bool familiar = false;
	int err;

	*ret = 1;
	if (t->login) {
		out[0] = lasting(arena_printf(a, "login:%s", t->login), OWN_MOST);
		return 0;
	}
	out[0] = lasting(address, ADDRESS_MOST);
	if (!*t->email)
		return 0;
	account = account_of(a, t->email);
	err = find_familiar(db, a, t, now, &mark, &familiar);
	out[0] = lasting(mark ? arena_printf(a, "device:%s", mark)
			      : arena_printf(a, "pair:%s:%s", account, address),
		OWN_MOST);
	if (err || familiar)
		return err;
	out[1] = lasting(arena_printf(a, "strangers:%s", account), STRANGERS_MOST);
	out[2] = lasting(address, ADDRESS_MOST);
	*ret = 3;
	return 0;
}

static int refuse_attempt(
	struct arena *a, int64_t until, int64_t now, const char *of_what, struct problem *p)
{
	p->retry_after_s = (int)((until - now) / SECOND_US) + 1;
	if (p->retry_after_s < 1)
		p->retry_after_s = 1;
	return problem_set(
		p, a, ERR_THROTTLED, "Too many %s; wait %d seconds.", of_what, p->retry_after_s);
}

static int check_one(struct db *db, struct arena *a, const struct count *n, int64_t now,
	const char *of_what, struct problem *p)
{
	struct attempt_row row;
	int err = db_one(db, a, &sql[ATTEMPT_READ], &row, ARGS(T(n->subject)));

	if (err == ERR_NOT_FOUND)
		return 0;
	if (err || row.failures < n->most || row.since + n->lasts_us <= now)
		return err;
	return refuse_attempt(a, row.since + n->lasts_us, now, of_what, p);
}

/* One more, or ERR_THROTTLED: at once, so that those who come at the same moment are counted too. */
static int take_one(struct db *db, struct arena *a, const struct count *n, int64_t now,
	const char *of_what, struct problem *p)
{
	int64_t taken = 0;
	int err = db_run(db, &sql[ATTEMPT_TAKE], &taken,
		ARGS(T(n->subject), N(now), N(now - n->lasts_us), N(n->most)));

	if (err || taken)
		return err;
	err = check_one(db, a, n, now, of_what, p);
	/* Given back in between: there may be room in a moment. */
	return err ? err : refuse_attempt(a, now, now, of_what, p);
}

static int count_one(struct db *db, const char *subject, int64_t now)
{
	return db_run(db, &sql[ATTEMPT_FAIL], NULL, ARGS(T(subject), N(now), N(now - THROTTLE_US)));
}

static const char of_what[] = "failed logins";

int throttle_check(
	struct db *db, struct arena *a, const struct throttle *t, int64_t now, struct problem *p)
{
	struct count counts[THROTTLE_COUNTS];
	int n = 0, err = counts_of(db, a, t, now, counts, &n);

	for (int i = 0; !err && i < n; i++)
		err = check_one(db, a, &counts[i], now, of_what, p);
	return err;
}

int throttle_take(struct db *db, struct arena *a, const struct throttle *t, int64_t now,
	struct throttle_hold *ret, struct problem *p)
{
	struct count counts[THROTTLE_COUNTS];
	int n = 0, err = counts_of(db, a, t, now, counts, &n);

	*ret = (struct throttle_hold){ 0 };
	for (int i = 0; !err && i < n; i++) {
		err = take_one(db, a, &counts[i], now, of_what, p);
		if (err)
			break;
		INVARIANT(ret->count < THROTTLE_COUNTS);
		ret->subjects[ret->count++] = counts[i].subject;
	}
	return err;
}

int throttle_give_back(struct db *db, const struct throttle_hold *h)
{
	int err = 0;

	INVARIANT(h->count >= 0 && h->count <= THROTTLE_COUNTS);
	for (int i = 0; !err && i < h->count; i++)
		err = db_run(db, &sql[ATTEMPT_UNDO], NULL, ARGS(T(h->subjects[i])));
	return err;
}

int throttle_clear(struct db *db, const struct throttle_hold *h)
{
	int err = throttle_give_back(db, h);

	return err || !h->count ? err
				: db_run(db, &sql[ATTEMPT_CLEAR], NULL, ARGS(T(h->subjects[0])));
}

int throttle_fail(struct db *db, struct arena *a, const char *ip, int64_t now)
{
	return count_one(db, address_subject(a, "address", ip), now);
}

static int note_familiar(
	struct db *db, struct arena *a, const char *account, const char *place, int64_t now)
{
	return db_run(db, &sql[FAMILIAR_NOTE], NULL,
		ARGS(T(account), T(mark_of(a, account, place)), N(now)));
}

int throttle_know(struct db *db, struct arena *a, const struct throttle *t, int64_t now)
{
	const char *account = account_of(a, t->email);
	int err = note_familiar(db, a, account, address_subject(a, "address", t->ip), now);

	if (!err && t->device)
		err = note_familiar(db, a, account, t->device, now);
	return err ? err
		   : db_run(db, &sql[FAMILIAR_TRIM], NULL, ARGS(T(account), N(FAMILIAR_MOST - 1)));
}

int throttle_unlock(struct db *db, struct arena *a, const char *email)
{
	const char *account = account_of(a, email);
	struct list marks = { 0 };
	int err = db_run(
		db, &sql[ATTEMPT_CLEAR], NULL, ARGS(T(arena_printf(a, "strangers:%s", account))));

	/* `;` is the character after `:`. */
	if (!err)
		err = db_run(db, &sql[ATTEMPT_CLEAR_ALL], NULL,
			ARGS(T(arena_printf(a, "pair:%s:", account)),
				T(arena_printf(a, "pair:%s;", account))));
	if (!err)
		err = db_all(
			db, a, &sql[FAMILIAR_MARKS], &marks, 2 * FAMILIAR_MOST, ARGS(T(account)));
	for (size_t i = 0; !err && i < marks.count; i++)
		err = db_run(db, &sql[ATTEMPT_CLEAR], NULL,
			ARGS(T(arena_printf(
				a, "device:%s", ((const struct one_text *)marks.at)[i].value))));
	return err;
}

int throttle_forget(struct db *db, struct arena *a, const char *email)
{
	int err = throttle_unlock(db, a, email);

	return err ? err : db_run(db, &sql[FAMILIAR_FORGET], NULL, ARGS(T(account_of(a, email))));
}

static struct count count_of(struct arena *a, const struct allowance *l)
{
	const char *what = arena_printf(a, "%s%s%s%s", l->a_day ? THROTTLE_DAY : "", l->what,
		l->to ? ":" : "", l->to ? l->to : "");

	return (struct count){ address_subject(a, what, l->ip), l->most,
		l->a_day ? DAY_US : THROTTLE_US };
}

static const char *said_of(const struct allowance *l)
{
	return l->said ? l->said : "of these from your address";
}

int allowance_check(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p)
{
	struct count n = count_of(a, l);

	return check_one(db, a, &n, now, said_of(l), p);
}

int allowance_take(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p)
{
	struct count n = count_of(a, l);

	return take_one(db, a, &n, now, said_of(l), p);
}

int allowance_give_back(struct db *db, struct arena *a, const struct allowance *l)
{
	return db_run(db, &sql[ATTEMPT_UNDO], NULL, ARGS(T(count_of(a, l).subject)));
}
