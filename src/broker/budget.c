/* budget.c - how much money an agent may spend, reserved and settled; see budget.h. */
#include "broker/budget_parts.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/id.h"
#include "broker/room.h"
#include "store/row.h"
#include "store/sweep.h"

#define WINDOW_US HOUR_US

struct reservation_row {
	const char *tenant_id, *id, *agent_id, *model_id, *user_id, *session_id;
	bool byok;
	int64_t amount_pd, input_tokens, output_tokens, characters, seconds, lease_until;
};

FIELDS(reservation_row) = {
	FIELD(reservation_row, tenant_id),
	FIELD(reservation_row, id),
	FIELD(reservation_row, agent_id),
	FIELD(reservation_row, model_id),
	FIELD(reservation_row, user_id, .nullable = true),
	FIELD(reservation_row, session_id, .nullable = true),
	FIELD(reservation_row, byok),
	FIELD(reservation_row, amount_pd),
	FIELD(reservation_row, input_tokens),
	FIELD(reservation_row, output_tokens),
	FIELD(reservation_row, characters),
	FIELD(reservation_row, seconds),
	FIELD(reservation_row, lease_until),
};
static SCHEMA(reservation_row, .internal = true);

/* What an agent has spent at most, and what is reserved for its calls. */
struct used_row {
	int64_t spent_pd, reserved_pd;
};

FIELDS(used_row) = {
	FIELD(used_row, spent_pd),
	FIELD(used_row, reserved_pd),
};
static SCHEMA(used_row, .internal = true);

struct spent_row {
	int64_t minute, spent_pd;
};

FIELDS(spent_row) = {
	FIELD(spent_row, minute),
	FIELD(spent_row, spent_pd),
};
static SCHEMA(spent_row, .internal = true);

enum {
	SPENT,
	SPENT_AT_EDGE,
	RESERVED,
	USED_AT_MOST,
	SPENT_BY_MINUTE,
	RESERVE,
	UNRESERVE,
	EXTEND,
	EXPIRED,
	FORGET_MINUTES,
};

static const struct statement sql[] = {
	[SPENT] = { "budget_spent",
		"select " SUM_OF(
			"cost_pd") " from spend_minutes "
				   "where tenant_id = $1 and agent_id = $2 and minute > $3" },
	[SPENT_AT_EDGE] = { "budget_spent_at_edge",
		"select " SUM_OF("cost_pd") " from ledger where tenant_id = $1 and agent_id = $2 "
					    "and id >= $3 and id < $4 and cost_pd > 0" },
	[RESERVED] = { "budget_reserved",
		"select " SUM_OF(
			"amount_pd") " from reservations where tenant_id = $1 and agent_id = $2" },
	[USED_AT_MOST] = { "budget_used_at_most",
		"select (select " SUM_OF(
			"cost_pd") " from spend_minutes where tenant_id = $1 and agent_id = $2 "
				   "and minute >= $3) as spent_pd, (select " SUM_OF(
					   "amount_pd") " from reservations "
							"where tenant_id = $1 and agent_id = $2) as reserved_pd",
		.row = &used_row_schema },
	[SPENT_BY_MINUTE] = { "budget_by_minute",
		"select minute, " SUM_OF(
			"cost_pd") " as spent_pd from spend_minutes "
				   "where tenant_id = $1 and agent_id = $2 and minute >= $3 group by minute order by minute",
		.row = &spent_row_schema },
	[RESERVE] = { "budget_reserve", "insert into reservations ({*}) values ({$})",
		.row = &reservation_row_schema },
	[UNRESERVE] = { "budget_unreserve",
		"delete from reservations where tenant_id = $1 and agent_id = $2 and id = $3" },
	[EXTEND] = { "budget_extend", "update reservations set lease_until = $4 "
				      "where tenant_id = $1 and agent_id = $2 and id = $3" },
	[EXPIRED] = { "budget_expired",
		"select {*} from reservations where lease_until < $1 order by lease_until limit $2",
		.row = &reservation_row_schema, .across = "whoever left them",
		.scan = "the calls under way, once a minute; an index would cost every call" },
	[FORGET_MINUTES] = { "budget_forget_minutes",
		"delete from spend_minutes where (tenant_id, agent_id, minute, shard) in "
		"(select tenant_id, agent_id, minute, shard from spend_minutes where minute < $1 "
		"order by minute limit $2)",
		.across = "what is old" },
};
STATEMENT_SET(budget_sql, sql);

/* What was settled since `since`: whole minutes from their sums, the one that is cut from its rows. */
static int spent_since(struct db *db, const struct reservation *b, int64_t since, int64_t *ret)
{
	int64_t minute = since / MINUTE_US, edge;
	struct id first = id_least(since), end = id_least((minute + 1) * MINUTE_US);
	int err = db_int(db, &sql[SPENT], ret, ARGS(T(b->tenant_id), T(b->agent_id), N(minute)));

	if (!err)
		err = db_int(db, &sql[SPENT_AT_EDGE], &edge,
			ARGS(T(b->tenant_id), T(b->agent_id), T(first.text), T(end.text)));
	if (!err)
		*ret += edge;
	return err;
}

/* Seconds until enough of what was spent has left the window; a reservation may be settled any moment. */
static int wait_for_room(
	struct db *db, struct arena *a, const struct reservation *b, int64_t lacking, int64_t now)
{
	struct list rows;
	int64_t since = (now - WINDOW_US) / MINUTE_US, freed = 0;

	if (db_all(db, a, &sql[SPENT_BY_MINUTE], &rows, 120,
		    ARGS(T(b->tenant_id), T(b->agent_id), N(since))))
		return 60;
	for (size_t i = 0; i < rows.count; i++) {
		const struct spent_row *row = (const struct spent_row *)rows.at + i;
		int64_t leaves = (row->minute + 1) * MINUTE_US + WINDOW_US;

		freed += row->spent_pd;
		if (freed >= lacking)
			return (int)((leaves - now) / SECOND_US) + 1;
	}
	return 5;
}

static int64_t price_or_zero(int64_t price)
{
	return price == NIL ? 0 : price;
}

/* The dearest way in which the prompt can be billed. */
static int64_t dearest_input(const struct price *p)
{
	int64_t most = price_or_zero(p->prompt);

	return p->cache_write != NIL && p->cache_write > most ? p->cache_write : most;
}

static int64_t room_of(int64_t limit, int64_t spent, int64_t reserved)
{
	__int128 room = (__int128)limit - spent - reserved;

	return room < 0 ? 0 : (int64_t)room;
}

/* The limit less what was settled in the hour and what is reserved, both to the last row. */
static int room_now(struct db *db, const struct reservation *b, int64_t now, int64_t *ret)
{
	int64_t spent = 0, reserved = 0;
	int err = spent_since(db, b, now - WINDOW_US, &spent);

	if (!err)
		err = db_int(db, &sql[RESERVED], &reserved, ARGS(T(b->tenant_id), T(b->agent_id)));
	*ret = room_of(b->hourly_limit_pd, spent, reserved);
	return err;
}

static bool is_of(const struct budget_used *used, const struct reservation *b)
{
	return used->agent_id && strcmp(used->agent_id, b->agent_id) == 0 &&
	       strcmp(used->tenant_id, b->tenant_id) == 0;
}

/* The same with the minute that the hour cuts taken as a whole: never more than there is, and one
 * statement.  The rows of that minute need only be counted where it matters. */
static int room_at_least(struct db *db, struct arena *a, const struct reservation *b, int64_t now,
	struct budget_used *used, int64_t *ret)
{
	int64_t since = (now - WINDOW_US) / MINUTE_US;
	struct used_row row;
	int err = 0;

	if (!is_of(used, b) || used->since != since) {
		err = db_one(db, a, &sql[USED_AT_MOST], &row,
			ARGS(T(b->tenant_id), T(b->agent_id), N(since)));
		*used = (struct budget_used){ b->tenant_id, b->agent_id, since,
			err ? 0 : row.spent_pd, err ? 0 : row.reserved_pd };
	}
	*ret = room_of(b->hourly_limit_pd, used->spent_pd, used->reserved_pd);
	return err;
}

int64_t budget_least_pd(const struct price *p)
{
	__int128 sum = (__int128)dearest_input(p) + price_or_zero(p->completion) +
		       price_or_zero(p->character) + price_or_zero(p->second);

	return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

int budget_look(struct db *db, const struct reservation *b, int64_t now, struct budget_left *ret)
{
	int err = budget_rates_left(db, b, now, ret);

	ret->room_pd = NIL;
	if (!err && b->hourly_limit_pd != NIL)
		err = room_now(db, b, now, &ret->room_pd);
	return err;
}

/* What the least output costs that the call can be made with. */
static __int128 least_cost(const struct reservation *b, int64_t price)
{
	return (__int128)price * (b->least_output ? b->least_output : 1);
}

/* Output tokens that the room pays for besides the prompt; -1 if too few. */
static int64_t output_within(
	const struct reservation *b, int64_t room, __int128 prompt_cost, int64_t price)
{
	__int128 left = (__int128)room - prompt_cost, tokens;

	if (left < least_cost(b, price))
		return -1;
	tokens = price ? left / price : b->output_tokens;
	return tokens < b->output_tokens ? (int64_t)tokens : b->output_tokens;
}

/* `need` may be more than the whole limit: then no time helps. */
static int refuse_reservation(struct db *db, struct arena *a, const struct reservation *b,
	__int128 need, int64_t room, int64_t now, struct problem *p)
{
	char limit[MONEY_TEXT_MAX];
	__int128 lacking = need - room;

	p->code = "budget_exhausted";
	p->final = true;
	if (need > b->hourly_limit_pd) {
		p->retry_after_s = ROOM_NEVER_S;
		return problem_set(p, a, ERR_THROTTLED,
			"This agent may spend %s USD in an hour, which is less than this call can cost: "
			"only another limit helps.",
			money_text(b->hourly_limit_pd, limit));
	}
	p->retry_after_s = wait_for_room(db, a, b, (int64_t)lacking, now);
	return problem_set(p, a, ERR_THROTTLED,
		"This agent may spend %s USD in an hour, and the rest of that does not pay for this call.",
		money_text(b->hourly_limit_pd, limit));
}

/* Cuts what is wanted to what the room pays for, or refuses. */
static int cut_to_room(struct db *db, struct arena *a, struct reservation *b, __int128 prompt_cost,
	int64_t price, int64_t now, struct budget_used *used, struct problem *p)
{
	int64_t room, output;
	int err = room_at_least(db, a, b, now, used, &room);

	if (err || output_within(b, room, prompt_cost, price) == b->output_tokens)
		return err;
	err = room_now(db, b, now, &room);
	if (err)
		return err;
	output = output_within(b, room, prompt_cost, price);
	if (output < 0)
		return refuse_reservation(
			db, a, b, prompt_cost + least_cost(b, price), room, now, p);
	b->output_tokens = output;
	return 0;
}

int budget_need(struct db *db, struct arena *a, const struct reservation *b, int64_t need_pd,
	int64_t now, struct problem *p)
{
	int64_t room;
	int err = room_now(db, b, now, &room);

	return err || room >= need_pd ? err : refuse_reservation(db, a, b, need_pd, room, now, p);
}

static bool is_nothing(int64_t price)
{
	return price == 0 || price == NIL;
}

bool budget_is_free(const struct reservation *b)
{
	const struct price *p = &b->price;

	return is_nothing(p->prompt) && is_nothing(p->completion) && is_nothing(p->cache_read) &&
	       is_nothing(p->cache_write) && is_nothing(p->character) && is_nothing(p->second) &&
	       (!b->agent_id || (b->per_minute == NIL && b->per_hour == NIL));
}

static const char *budget_agent_of(const char *agent_id)
{
	return agent_id ? agent_id : "";
}

/* All but what it may write. */
static __int128 input_cost(const struct reservation *b)
{
	return (__int128)b->prompt_tokens * dearest_input(&b->price) +
	       (__int128)b->characters * price_or_zero(b->price.character) +
	       (__int128)b->seconds * price_or_zero(b->price.second);
}

/* Is there room for it, in calls and in money? */
static int find_room(struct db *db, struct arena *a, struct reservation *b, int64_t now,
	struct budget_used *used, struct problem *p)
{
	int64_t price = price_or_zero(b->price.completion);
	__int128 prompt_cost = input_cost(b), amount;
	int err = 0;

	if (b->agent_id)
		err = budget_check_rates(db, a, b, now, p);
	if (!err && b->agent_id && b->hourly_limit_pd != NIL && (prompt_cost || price))
		err = cut_to_room(db, a, b, prompt_cost, price, now, used, p);
	if (err)
		return err;
	amount = prompt_cost + (__int128)b->output_tokens * price;
	if (amount > INT64_MAX)
		return problem_set(
			p, a, ERR_INVALID, "The call could cost more than can be counted.");
	INVARIANT(amount >= 0 && b->output_tokens >= 0);
	b->made.amount_pd = (int64_t)amount;
	return 0;
}

int budget_reserve(struct db *db, struct arena *a, struct reservation *b, int64_t now,
	struct budget_used *used, struct problem *p)
{
	struct id id = id_new(NULL);
	int err;

	b->made.id[0] = '\0';
	err = find_room(db, a, b, now, used, p);
	if (!err && b->agent_id)
		err = budget_count_rates(db, b, now);
	if (!err)
		err = db_put(db, &sql[RESERVE],
			&(struct reservation_row){ .tenant_id = b->tenant_id,
				.id = id.text,
				.agent_id = budget_agent_of(b->agent_id),
				.model_id = b->model_id,
				.user_id = b->user_id,
				.session_id = b->session_id,
				.byok = b->byok,
				.amount_pd = b->made.amount_pd,
				.input_tokens = b->prompt_tokens,
				.output_tokens = b->output_tokens,
				.characters = b->characters,
				.seconds = b->seconds,
				.lease_until = now + RESERVATION_LEASE_S * SECOND_US });
	if (err)
		return err;
	memcpy(b->made.id, id.text, sizeof b->made.id);
	if (b->agent_id && is_of(used, b) &&
		__builtin_add_overflow(used->reserved_pd, b->made.amount_pd, &used->reserved_pd))
		used->reserved_pd = INT64_MAX;
	return 0;
}

/* A call that was answered is, also one that took nothing; of the others those that took something. */
static bool is_entered(const struct charge *c)
{
	const struct usage *u = &c->usage;

	return c->outcome == CHARGE_OK || u->input || u->cache_read || u->cache_write ||
	       u->output || u->characters || u->seconds;
}

static int remove_reservation(struct db *db, const char *id, const struct charge *c)
{
	int64_t removed;
	int err = db_run(db, &sql[UNRESERVE], &removed,
		ARGS(T(c->tenant_id), T(budget_agent_of(c->agent_id)), T(id)));

	return !err && !removed ? ERR_NOT_FOUND : err;
}

int budget_settle_all(struct db *db, struct settlement *list, size_t count)
{
	struct ledger_entry entries[LEDGER_AT_ONCE];
	size_t used = 0;

	INVARIANT(count <= LEDGER_AT_ONCE);
	for (size_t i = 0; i < count; i++) {
		struct settlement *s = &list[i];

		s->err = s->reservation->free
				 ? 0
				 : remove_reservation(db, s->reservation->made.id, s->charge);
		if (s->err && s->err != ERR_NOT_FOUND)
			return s->err;
		if (!s->err && is_entered(s->charge))
			entries[used++] = (struct ledger_entry){ s->charge, s->now };
	}
	return ledger_enter_all(db, entries, used);
}

int budget_settle(struct db *db, const struct reservation *b, const struct charge *c, int64_t now)
{
	struct settlement s = { b, c, now, 0 };
	int err = budget_settle_all(db, &s, 1);

	return err ? err : s.err;
}

int budget_extend(struct db *db, const struct reservation *b, int64_t now)
{
	int64_t changed;
	int err = db_run(db, &sql[EXTEND], &changed,
		ARGS(T(b->tenant_id), T(budget_agent_of(b->agent_id)), T(b->made.id),
			N(now + RESERVATION_LEASE_S * SECOND_US)));

	return !err && !changed ? ERR_NOT_FOUND : err;
}

int budget_recover(struct db *db, struct arena *a, int64_t now, int64_t *ret)
{
	struct list rows;
	int err = db_all(
		db, a, &sql[EXPIRED], &rows, RECOVERED_AT_ONCE, ARGS(N(now), N(RECOVERED_AT_ONCE)));

	*ret = 0;
	for (size_t i = 0; !err && i < rows.count; i++) {
		const struct reservation_row *row = (const struct reservation_row *)rows.at + i;
		struct charge c = {
			.tenant_id = row->tenant_id,
			.agent_id = *row->agent_id ? row->agent_id : NULL,
			.model_id = row->model_id,
			.user_id = row->user_id,
			.session_id = row->session_id,
			.byok = row->byok,
			.outcome = CHARGE_LOST,
			.usage = { .input = row->input_tokens,
				.output = row->output_tokens,
				.characters = row->characters,
				.seconds = row->seconds,
				.estimated = true },
			.cost_pd = row->amount_pd,
		};

		err = remove_reservation(db, row->id, &c);
		if (!err && is_entered(&c))
			err = ledger_enter(db, &c, now);
		if (!err)
			++*ret;
		else if (err == ERR_NOT_FOUND) /* its process lives after all, and was first */
			err = 0;
	}
	return err;
}

void budget_forget(struct store *store, int64_t now)
{
	sweep_submit(store, &sql[FORGET_MINUTES], (now - 2 * WINDOW_US) / MINUTE_US);
	budget_rates_forget(store, now);
}
