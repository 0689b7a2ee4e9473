/* budget_rate.c - how many messages an agent takes in a minute and in an hour; see budget.h and budget_parts.h. */
#include "broker/budget_parts.h"

#include "base/clock.h"
#include "broker/room.h"
#include "store/row.h"
#include "store/sweep.h"

struct slot_row {
	int64_t slot, calls;
};

FIELDS(slot_row) = {
	FIELD(slot_row, slot),
	FIELD(slot_row, calls),
};
static SCHEMA(slot_row, .internal = true);

struct rate_slot {
	const char *tenant_id, *agent_id;
	int64_t seconds, slot, calls;
};

FIELDS(rate_slot) = { ROW_FIELDS(rate_slot, tenant_id, agent_id, seconds, slot, calls) };
static SCHEMA(rate_slot, .internal = true);

#define FORGET_SLOTS(seconds)                                                                 \
	"delete from rate_slots where (tenant_id, agent_id, seconds, slot) in "               \
	"(select tenant_id, agent_id, seconds, slot from rate_slots where seconds = " seconds \
	" and slot < $1 order by slot limit $2)"

enum {
	CALLS,
	CALLS_BY_SLOT,
	CALLS_ADD,
	FORGET_SECONDS,
	FORGET_SLOT_MINUTES,
};

static const struct statement sql[] = {
	[CALLS] = { "budget_calls",
		"select " SUM_OF("calls") " from rate_slots where tenant_id = $1 and agent_id = $2 "
					  "and seconds = $3 and slot >= $4" },
	[CALLS_BY_SLOT] = { "budget_calls_by_slot",
		"select slot, calls from rate_slots where tenant_id = $1 and agent_id = $2 "
		"and seconds = $3 and slot >= $4 order by slot",
		.row = &slot_row_schema },
	[CALLS_ADD] = { "budget_calls_add",
		"insert into rate_slots ({*}) values ({$}) "
		"on conflict (tenant_id, agent_id, seconds, slot) "
		"do update set calls = rate_slots.calls + :calls",
		.row = &rate_slot_schema },
	[FORGET_SECONDS] = { "budget_forget_seconds", FORGET_SLOTS("1"), .across = "what is old" },
	[FORGET_SLOT_MINUTES] = { "budget_forget_slot_minutes", FORGET_SLOTS("60"),
		.across = "what is old" },
};
STATEMENT_SET(budget_rate_sql, sql);

static const struct window {
	int64_t seconds; /* of a slot */
	int64_t slots;	 /* in the window */
	const char *name;
	int forget; /* the statement */
} windows[] = {
	{ 1, 60, "minute", FORGET_SECONDS },
	{ 60, 60, "hour", FORGET_SLOT_MINUTES },
};

/* A slot that the window cuts counts whole: no stretch of its length ever holds more than the limit. */
static int calls_in(struct db *db, const struct reservation *b, const struct window *w, int64_t now,
	int64_t *ret)
{
	int64_t slot = now / (w->seconds * SECOND_US);

	return db_int(db, &sql[CALLS], ret,
		ARGS(T(b->tenant_id), T(b->agent_id), N(w->seconds), N(slot - w->slots)));
}

/* Seconds until more than `over` have left the window. */
static int wait_for_slot(struct db *db, struct arena *a, const struct reservation *b,
	const struct window *w, int64_t over, int64_t now)
{
	int64_t unit = w->seconds * SECOND_US;
	struct list rows;

	if (db_all(db, a, &sql[CALLS_BY_SLOT], &rows, (size_t)w->slots + 1,
		    ARGS(T(b->tenant_id), T(b->agent_id), N(w->seconds), N(now / unit - w->slots))))
		return (int)w->seconds;
	for (size_t i = 0; i < rows.count; i++) {
		const struct slot_row *row = (const struct slot_row *)rows.at + i;
		int64_t leaves = (row->slot + w->slots + 1) * unit;

		over -= row->calls;
		if (over < 0)
			return (int)((leaves - now + SECOND_US - 1) / SECOND_US);
	}
	return (int)w->seconds;
}

static int64_t messages_of(const struct reservation *b)
{
	return b->messages ? b->messages : 1;
}

static int check_calls(struct db *db, struct arena *a, const struct reservation *b,
	const struct window *w, int64_t most, int64_t now, struct problem *p)
{
	int64_t calls, more = messages_of(b);
	int err = most == NIL ? 0 : calls_in(db, b, w, now, &calls);

	if (err || most == NIL || calls + more <= most)
		return err;
	p->code = "rate_limited";
	p->final = true;
	if (more > most) {
		p->retry_after_s = ROOM_NEVER_S;
		return problem_set(p, a, ERR_THROTTLED,
			"This agent may take %lld messages in a %s, and this is %lld at once: bring fewer.",
			(long long)most, w->name, (long long)more);
	}
	p->retry_after_s = wait_for_slot(db, a, b, w, calls + more - 1 - most, now);
	return problem_set(p, a, ERR_THROTTLED,
		"This agent may take %lld messages in a %s, and has taken them.", (long long)most,
		w->name);
}

static int count_call(struct db *db, const struct reservation *b, const struct window *w,
	int64_t most, int64_t now)
{
	if (most == NIL)
		return 0;
	return db_put(db, &sql[CALLS_ADD],
		&(struct rate_slot){ .tenant_id = b->tenant_id,
			.agent_id = b->agent_id,
			.seconds = w->seconds,
			.slot = now / (w->seconds * SECOND_US),
			.calls = messages_of(b) });
}

int budget_check_rates(
	struct db *db, struct arena *a, const struct reservation *b, int64_t now, struct problem *p)
{
	int err = check_calls(db, a, b, &windows[0], b->per_minute, now, p);

	return err ? err : check_calls(db, a, b, &windows[1], b->per_hour, now, p);
}

int budget_count_rates(struct db *db, const struct reservation *b, int64_t now)
{
	int err = count_call(db, b, &windows[0], b->per_minute, now);

	return err ? err : count_call(db, b, &windows[1], b->per_hour, now);
}

int budget_count(struct db *db, struct arena *a, const struct reservation *b, bool take,
	int64_t now, struct problem *p)
{
	int err = budget_check_rates(db, a, b, now, p);

	return err || !take ? err : budget_count_rates(db, b, now);
}

static int calls_left(struct db *db, const struct reservation *b, const struct window *w,
	int64_t most, int64_t now, int64_t *ret)
{
	int64_t calls = 0;
	int err = most == NIL ? 0 : calls_in(db, b, w, now, &calls);

	*ret = most == NIL ? NIL : most > calls ? most - calls : 0;
	return err;
}

int budget_rates_left(
	struct db *db, const struct reservation *b, int64_t now, struct budget_left *ret)
{
	int err = calls_left(db, b, &windows[0], b->per_minute, now, &ret->calls_in_minute);

	return err ? err : calls_left(db, b, &windows[1], b->per_hour, now, &ret->calls_in_hour);
}

void budget_rates_forget(struct store *store, int64_t now)
{
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
		sweep_submit(store, &sql[windows[i].forget],
			now / (windows[i].seconds * SECOND_US) - 2 * windows[i].slots);
}
