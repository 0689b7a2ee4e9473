/* test_budget.c - the ledger's sums against a recount of its rows, and budgets that hold when everybody
 * calls at once. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "broker/budget.h"
#include "broker/ledger_check.h"

#define START (INT64_C(20000) * DAY_US) /* some midnight */

static const char agent_a[] = "c00000000000000000000000a", agent_b[] = "c00000000000000000000000b";

/* ---- the ledger ---- */

struct entry {
	struct charge charge;
	int64_t at;
};

/* Some of a history, entered together. */
struct chunk {
	const struct entry *first;
	size_t count;
};

static int enter(struct db *db, void *data)
{
	const struct chunk *c = data;
	struct ledger_entry list[LEDGER_AT_ONCE];

	for (size_t i = 0; i < c->count; i++)
		list[i] = (struct ledger_entry){ &c->first[i].charge, c->first[i].at };
	return ledger_enter_all(db, list, c->count);
}

/* Every sum of one table, held against the same sum over the ledger. */
static void recount(struct fixture *f, const char *table, const char *where)
{
	static const char *const sums[][2] = {
		{ "sum(requests)", "count(*)" },
		{ "sum(input_tokens)", "sum(input_tokens)" },
		{ "sum(cache_read_tokens)", "sum(cache_read_tokens)" },
		{ "sum(cache_write_tokens)", "sum(cache_write_tokens)" },
		{ "sum(output_tokens)", "sum(output_tokens)" },
		{ "sum(cost_whole) + sum(cost_pd) / 1000000000000",
			"sum(cost_pd / 1000000000000) + sum(cost_pd % 1000000000000) / 1000000000000" },
		{ "sum(cost_pd) % 1000000000000", "sum(cost_pd % 1000000000000) % 1000000000000" },
	};

	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		const char *tail =
			arena_printf(&f->arena, "where tenant_id = '%s' %s", f->tenant_id, where);
		int64_t got = fixture_count(f,
			arena_printf(&f->arena, "select cast(coalesce(%s, 0) as bigint) from %s %s",
				sums[i][0], table, tail));
		int64_t want = fixture_count(
			f, arena_printf(&f->arena,
				   "select cast(coalesce(%s, 0) as bigint) from ledger %s",
				   sums[i][1], tail));

		test_step("%s of %s %s", sums[i][0], table, where);
		CHECK_INT(got, want);
	}
}

struct finding {
	struct fixture *f;
	const char *found;
};

static int check(struct db *db, void *data)
{
	struct finding *in = data;

	return ledger_check(db, &in->f->arena, &in->found);
}

/* What the check of the store finds wrong with the sums, or "". */
static const char *difference(struct fixture *f)
{
	struct finding in = { f, NULL };

	CHECK_INT(fixture_work(f, check, &in), 0);
	return in.found ? in.found : "";
}

/* Do two entries belong to the same sum?  Never, if they belong to none. */
static bool same_minute(const struct entry *a, const struct entry *b)
{
	return a->charge.agent_id && a->charge.agent_id == b->charge.agent_id &&
	       a->at / MINUTE_US == b->at / MINUTE_US;
}

static bool same_hour(const struct entry *a, const struct entry *b)
{
	return a->charge.agent_id == b->charge.agent_id &&
	       a->charge.model_id == b->charge.model_id && a->charge.byok == b->charge.byok &&
	       a->at / (60 * MINUTE_US) == b->at / (60 * MINUTE_US);
}

static bool same_user_day(const struct entry *a, const struct entry *b)
{
	return a->charge.user_id && a->charge.user_id == b->charge.user_id &&
	       a->at / DAY_US == b->at / DAY_US;
}

enum { KEYS = 3 };

static const struct {
	const char *sql;
	bool (*same)(const struct entry *, const struct entry *);
} keys[KEYS] = {
	{ "select distinct agent_id, minute from spend_minutes", same_minute },
	{ "select distinct agent_id, model_id, byok, hour from cost_hours", same_hour },
	{ "select distinct id, day from active_days where kind = 'user'", same_user_day },
};

static int64_t distinct(const struct entry *history, int count,
	bool (*same)(const struct entry *, const struct entry *))
{
	int64_t n = 0;

	for (int i = 0; i < count; i++) {
		int before = 0;

		while (before < i && !same(&history[before], &history[i]))
			before++;
		n += before == i && same(&history[i], &history[i]);
	}
	return n;
}

TEST(ledger_sums_equal_a_recount_of_random_histories)
{
	enum { ENTRIES = 600 };
	struct fixture *f = fixture_open();
	static const char *const models[] = { "m1", "m2", "m3" };
	static const char *const agents[] = { agent_a, agent_b, NULL };
	static struct entry history[ENTRIES];
	int64_t spent = 0;
	unsigned seed = 7;

	for (int i = 0; i < ENTRIES; i++) {
		struct entry *e = &history[i];

		*e = (struct entry){ .at = START + (int64_t)(rand_r(&seed) % 5) * DAY_US };
		e->at += (int64_t)(rand_r(&seed) % 86400) * SECOND_US;
		e->charge = (struct charge){
			.tenant_id = f->tenant_id,
			.agent_id = agents[rand_r(&seed) % 3],
			.model_id = models[rand_r(&seed) % 3],
			.user_id = rand_r(&seed) % 60 ? NULL : f->admin_id,
			.byok = rand_r(&seed) % 2,
			.usage = { rand_r(&seed) % 100000, rand_r(&seed) % 1000,
				rand_r(&seed) % 1000, rand_r(&seed) % 5000, 0, false },
			.cost_pd = 1 + (int64_t)rand_r(&seed) * 1000000007 % (3 * PICODOLLARS),
		};
		if (i % 3 == 0) { /* these come together, about midnight */
			e->at = START - (int64_t)(rand_r(&seed) % 90) * SECOND_US;
			e->charge.agent_id = agent_a;
			e->charge.model_id = models[0];
		}
		if (i < 2) { /* a sum beyond 64 bits of picodollars, of the same */
			e->charge = history[0].charge;
			e->charge.agent_id = NULL;
			e->charge.cost_pd = INT64_MAX - 5 - 2 * i;
			e->at = history[0].at;
		}
		spent += e->charge.agent_id ? e->charge.cost_pd : 0;
	}
	for (size_t i = 0, count; i < ENTRIES; i += count) {
		count = i ? 1 + (size_t)rand_r(&seed) % LEDGER_AT_ONCE : 2;
		count = count > ENTRIES - i ? ENTRIES - i : count;
		CHECK_INT(fixture_work(f, enter, &(struct chunk){ &history[i], count }), 0);
	}
	CHECK_INT(
		fixture_count(f, "select cast(sum(cost_pd) as bigint) from spend_minutes"), spent);
	for (int i = 0; i < KEYS; i++) /* each sum under its own key */
		CHECK_INT(fixture_count(f, arena_printf(&f->arena, "select count(*) from (%s) k",
						   keys[i].sql)),
			distinct(history, ENTRIES, keys[i].same));
	CHECK_STR(difference(f), "");
	recount(f, "cost_days", "");
	recount(f, "cost_hours", "");
	recount(f, "usage_days", "");
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++)
			for (int byok = 0; byok < 2; byok++) {
				const char *where = arena_printf(&f->arena,
					"and agent_id = '%s' and model_id = '%s' and byok = %d",
					agents[i] ? agents[i] : "", models[k], byok);

				recount(f, "cost_days", where);
				recount(f, "cost_hours", where);
			}
	fixture_close(f);
}

/* Changes a row, looks for these words in what is found, and takes the change back. */
static void breaks(struct fixture *f, const char *change, const char *back, const char *table,
	const char *words)
{
	const char *found;

	test_step("%s", change);
	fixture_sql(f, change, NO_ARGS);
	found = difference(f);
	CHECK(strncmp(found, table, strlen(table)) == 0);
	if (!strstr(found, words))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", words, found);
	fixture_sql(f, back, NO_ARGS);
	CHECK_STR(difference(f), "");
}

TEST(ledger_check_names_the_first_sum_that_differs)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", fixture_user(f, "other@example.org", NULL));
	unsigned seed = 3;

	CHECK_STR(difference(f), "");
	for (int i = 0; i < 60; i++) {
		struct entry e = { .at = START + (int64_t)(rand_r(&seed) % 3) * DAY_US +
					 (int64_t)(rand_r(&seed) % 86400) * SECOND_US };

		e.charge = (struct charge){ .tenant_id = i % 2 ? other : f->tenant_id,
			.agent_id = i % 3 ? agent_a : NULL,
			.model_id = "m",
			.byok = i % 5 == 0,
			.usage = { .input = 10, .output = 20 },
			.cost_pd = i < 2 ? INT64_MAX - i : (int64_t)rand_r(&seed) * 3000 };
		CHECK_INT(fixture_work(f, enter, &(struct chunk){ &e, 1 }), 0);
	}
	CHECK_STR(difference(f), "");
	/* By how much depends on how many shards a sum is kept in. */
#define BREAKS(table, set, back, words) \
	breaks(f, "update " table " set " set, "update " table " set " back, table, words)
	BREAKS("cost_hours", "requests = requests + 1", "requests = requests - 1", "requests is ");
	BREAKS("cost_hours", "output_tokens = output_tokens - 7",
		"output_tokens = output_tokens + 7", "output_tokens is ");
	BREAKS("cost_hours", "cost_pd = cost_pd + 1", "cost_pd = cost_pd - 1",
		"its cost is another");
	BREAKS("cost_hours", "hour = hour + 10000", "hour = hour - 10000", "too low");
	BREAKS("cost_days", "input_tokens = input_tokens + 5", "input_tokens = input_tokens - 5",
		"input_tokens is ");
	BREAKS("cost_days", "cost_whole = cost_whole + 1", "cost_whole = cost_whole - 1",
		"its cost is another");
	BREAKS("cost_days", "day = day + 100", "day = day - 100", "too low");
	BREAKS("usage_days", "cache_read_tokens = cache_read_tokens + 2",
		"cache_read_tokens = cache_read_tokens - 2", "cache_read_tokens is ");
	BREAKS("usage_days", "day = day + 100", "day = day - 100", "too low");

	test_step("a row that is in no sum, and one tenant's among others");
	fixture_sql(f,
		"insert into ledger (tenant_id, id, agent_id, model_id, byok, outcome, estimated, "
		"input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, "
		"reasoning_tokens, cost_pd) values ($1, 'c0hzzzzzzzz0000000000000a', '', 'm', 1, 'ok', "
		"0, 1, 0, 0, 0, 0, 0)",
		ARGS(T(other)));
	CHECK(strstr(difference(f), other) && strstr(difference(f), "its own key"));
	fixture_sql(f, "update tenants set status = 'closed' where id = $1", ARGS(T(other)));
	CHECK(strstr(difference(f), other)); /* nothing of it is going */
	fixture_sql(f, "insert into erasures (tenant_id, what, removed) values ($1, 'ledger', 1)",
		ARGS(T(other)));
	CHECK_STR(difference(f), ""); /* it is being erased */
	fixture_close(f);
}

/* ---- one caller ---- */

struct deal {
	struct fixture *f;
	struct reservation b;
	int64_t now;
	struct charge c;
	struct problem p;
	struct arena arena;
	int64_t recovered;
};

static int reserve(struct db *db, void *data)
{
	struct deal *d = data;

	d->p = (struct problem){ 0 };
	return budget_reserve(db, &d->arena, &d->b, d->now, &(struct budget_used){ 0 }, &d->p);
}

static int settle(struct db *db, void *data)
{
	struct deal *d = data;

	return budget_settle(db, &d->b, &d->c, d->now);
}

static int recover(struct db *db, void *data)
{
	struct deal *d = data;

	return budget_recover(db, &d->arena, d->now, &d->recovered);
}

/* A dollar a token in, two out: figures that can be checked by eye. */
static struct deal deal_of(struct fixture *f, int64_t limit_usd)
{
	return (struct deal){
		.f = f,
		.b = { .tenant_id = f->tenant_id,
			.agent_id = agent_a,
			.model_id = "m",
			.price = { PICODOLLARS, 2 * PICODOLLARS, NIL, NIL },
			.prompt_tokens = 10,
			.output_tokens = 20,
			.hourly_limit_pd = limit_usd == NIL ? NIL : limit_usd * PICODOLLARS,
			.per_minute = NIL,
			.per_hour = NIL },
		.c = { .tenant_id = f->tenant_id, .agent_id = agent_a, .model_id = "m" },
		.now = START,
	};
}

/* Settles at so many output tokens. */
static int settle_at(struct deal *d, int64_t output)
{
	d->c.usage = (struct usage){ .input = d->b.prompt_tokens, .output = output };
	CHECK_INT(price_cost(&d->b.price, &d->c.usage, &d->c.cost_pd), 0);
	return fixture_work(d->f, settle, d);
}

TEST(budget_cuts_to_the_room_and_refuses_only_without_any)
{
	struct fixture *f = fixture_open();
	struct deal one = deal_of(f, 100), two = deal_of(f, 100), three = deal_of(f, 100);

	CHECK_INT(fixture_work(f, reserve, &one), 0);
	CHECK_INT(one.b.made.amount_pd, 50 * PICODOLLARS);
	CHECK_INT(one.b.output_tokens, 20);
	two.b.output_tokens = 1000; /* the rest pays for 20 */
	CHECK_INT(fixture_work(f, reserve, &two), 0);
	CHECK_INT(two.b.output_tokens, 20);
	CHECK_INT(fixture_work(f, reserve, &three), ERR_THROTTLED);
	CHECK_STR(three.p.code, "budget_exhausted");
	CHECK(three.p.final && three.p.retry_after_s > 0);
	CHECK_INT(settle_at(&one, 5), 0); /* came to 20: there is room for 30 */
	CHECK_INT(fixture_work(f, reserve, &three), 0);
	CHECK_INT(three.b.output_tokens, 10);
	CHECK_INT(settle_at(&one, 5), ERR_NOT_FOUND); /* once */
	CHECK_INT(fixture_count(f, "select count(*) from ledger"), 1);
	arena_free(&one.arena);
	arena_free(&two.arena);
	arena_free(&three.arena);
	fixture_close(f);
}

/* Several deals in one transaction, as they come under load. */
struct deals {
	struct deal at[4];
	int err[4];
};

static int reserve_together(struct db *db, void *data)
{
	struct deals *in = data;
	struct budget_used used = { 0 };

	for (int i = 0; i < 4; i++) {
		struct deal *d = &in->at[i];

		d->p = (struct problem){ 0 };
		in->err[i] = budget_reserve(db, &d->arena, &d->b, d->now, &used, &d->p);
	}
	return 0;
}

static int settle_together(struct db *db, void *data)
{
	struct deals *in = data;
	struct settlement list[4];
	int err;

	for (int i = 0; i < 4; i++)
		list[i] = (struct settlement){ &in->at[i].b, &in->at[i].c, in->at[i].now, 0 };
	err = budget_settle_all(db, list, 4);
	for (int i = 0; i < 4; i++)
		in->err[i] = list[i].err;
	return err;
}

TEST(budget_is_the_same_for_many_in_one_transaction)
{
	struct fixture *f = fixture_open();
	struct deal before = deal_of(f, 100);
	struct deals in = { { deal_of(f, 100), deal_of(f, 100), deal_of(f, 100), deal_of(f, 100) },
		{ 0 } };

	for (int i = 0; i < 4; i += 3) /* another's limit is another's */
		in.at[i].b.agent_id = in.at[i].c.agent_id = agent_b;
	in.at[0].b.output_tokens = 5;
	in.at[1].b.output_tokens = 30;
	in.at[2].b.per_minute = 5;
	in.at[3].b.output_tokens = 45;
	CHECK_INT(fixture_work(f, reserve, &before), 0); /* 50 */
	CHECK_INT(fixture_work(f, reserve_together, &in), 0);
	CHECK_INT(in.err[0] || in.err[1] || in.err[3], 0);
	CHECK_INT(in.at[0].b.output_tokens, 5);
	CHECK_INT(in.at[1].b.output_tokens, 20);
	CHECK_INT(in.err[2], ERR_THROTTLED);
	CHECK_STR(in.at[2].p.code, "budget_exhausted");
	CHECK_INT(in.at[3].b.output_tokens, 35);
	CHECK_INT(fixture_count(f, "select count(*) from reservations"), 4);
	CHECK_INT(fixture_count(f, "select count(*) from rate_slots"), 0); /* it was no call */
	for (int i = 0; i < 4; i++) {
		in.at[i].c.usage = (struct usage){ .input = 10, .output = i };
		CHECK_INT(price_cost(&in.at[i].b.price, &in.at[i].c.usage, &in.at[i].c.cost_pd), 0);
	}
	CHECK_INT(fixture_work(f, settle_together, &in), 0);
	CHECK_INT(in.err[0] || in.err[1] || in.err[3], 0);
	CHECK_INT(in.err[2], ERR_NOT_FOUND); /* nothing was reserved, and nothing is entered */
	CHECK_INT(fixture_count(f, "select count(*) from reservations"), 1);
	CHECK_INT(fixture_count(f, "select count(*) from ledger"), 3);
	CHECK_INT(fixture_count(f, "select cast(sum(cost_pd) as bigint) from spend_minutes"),
		38 * PICODOLLARS);
	CHECK_STR(difference(f), "");
	for (int i = 0; i < 4; i++)
		arena_free(&in.at[i].arena);
	arena_free(&before.arena);
	fixture_close(f);
}

TEST(budget_of_exactly_the_cost_is_room)
{
	struct fixture *f = fixture_open();
	struct deal d = deal_of(f, 12); /* ten of prompt and one token */

	CHECK_INT(fixture_work(f, reserve, &d), 0);
	CHECK_INT(d.b.output_tokens, 1);
	CHECK_INT(settle_at(&d, 0), 0);
	d.b.price = (struct price){ 0, 0, NIL, NIL }; /* what costs nothing needs no room */
	d.b.hourly_limit_pd = 0;
	CHECK_INT(fixture_work(f, reserve, &d), 0);
	arena_free(&d.arena);
	fixture_close(f);
}

TEST(budget_hour_slides)
{
	struct fixture *f = fixture_open();
	struct deal d = deal_of(f, 50), next;

	d.now = START + 30 * SECOND_US; /* in the middle of a minute: the edge is cut exactly */
	CHECK_INT(fixture_work(f, reserve, &d), 0);
	CHECK_INT(settle_at(&d, 20), 0);
	next = deal_of(f, 50);
	for (int minutes = 1; minutes < 60; minutes += 7) {
		next.now = d.now + minutes * MINUTE_US;
		CHECK_INT(fixture_work(f, reserve, &next), ERR_THROTTLED);
	}
	next.now = d.now + 60 * MINUTE_US;
	CHECK_INT(fixture_work(f, reserve, &next), ERR_THROTTLED);
	CHECK(next.p.retry_after_s >= 1 && next.p.retry_after_s <= 61);
	next.now = d.now + 60 * MINUTE_US + 1;
	CHECK_INT(fixture_work(f, reserve, &next), 0);
	arena_free(&d.arena);
	arena_free(&next.arena);
	fixture_close(f);
}

TEST(budget_rates_hold_in_every_window)
{
	struct fixture *f = fixture_open();
	struct deal d = deal_of(f, NIL);
	int64_t begun[400], most = 0;
	int count = 0;

	d.b.per_minute = 7;
	d.b.per_hour = 60;
	for (int s = 0; s < 7300; s += 3) {
		d.now = START + s * SECOND_US + 123456;
		if (fixture_work(f, reserve, &d) == 0)
			begun[count++] = d.now;
		else
			CHECK_STR(d.p.code, "rate_limited");
	}
	CHECK(count >= 116 && count <= 180); /* about two hours of sixty */
	for (int i = 0; i < count; i++) {
		int minute = 0, hour = 0;

		for (int k = i; k < count && begun[k] < begun[i] + 60 * MINUTE_US; k++) {
			minute += begun[k] < begun[i] + MINUTE_US;
			hour++;
		}
		CHECK(minute <= 7 && hour <= 60);
		most = hour > most ? hour : most;
	}
	CHECK_INT(most, 60);
	arena_free(&d.arena);
	fixture_close(f);
}

/* Who waits as long as he is told gets in; who waits a second less does not. */
TEST(budget_retry_after_is_exact_for_rates)
{
	static const struct {
		int64_t per_minute, per_hour, most_s;
	} limits[] = { { 1, NIL, 61 }, { 3, NIL, 61 }, { NIL, 1, 3660 }, { NIL, 4, 3660 } };
	struct fixture *f = fixture_open();
	int agent = 0;

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		for (int64_t us = 0; us < SECOND_US; us += 333333) {
			struct deal d = deal_of(f, NIL);

			test_step("%zu at %lld", i, (long long)us);
			d.b.agent_id = arena_printf(&f->arena, "c%024d", ++agent);
			d.b.per_minute = limits[i].per_minute;
			d.b.per_hour = limits[i].per_hour;
			d.now = START + 7 * SECOND_US + us;
			while (fixture_work(f, reserve, &d) == 0)
				d.now += 40000;
			CHECK(d.p.retry_after_s >= 1 && d.p.retry_after_s <= limits[i].most_s);
			d.now += (int64_t)(d.p.retry_after_s - 1) * SECOND_US;
			CHECK_INT(fixture_work(f, reserve, &d), ERR_THROTTLED);
			CHECK_INT(d.p.retry_after_s, 1);
			d.now += SECOND_US;
			CHECK_INT(fixture_work(f, reserve, &d), 0);
			arena_free(&d.arena);
		}
	}
	fixture_close(f);
}

TEST(budget_retry_after_lets_in_when_money_is_there_again)
{
	struct fixture *f = fixture_open();
	struct deal d = deal_of(f, 60), next = deal_of(f, 60), never = deal_of(f, 11);

	CHECK_INT(fixture_work(f, reserve, &d), 0);
	d.now = START + 17 * SECOND_US + 250000;
	CHECK_INT(settle_at(&d, 20), 0); /* 50: what is left pays for the prompt alone */
	next.now = d.now + 40000;
	CHECK_INT(fixture_work(f, reserve, &next), ERR_THROTTLED);
	CHECK(next.p.retry_after_s > 3500 && next.p.retry_after_s <= 3660);
	next.now += (int64_t)next.p.retry_after_s * SECOND_US;
	CHECK_INT(fixture_work(f, reserve, &next), 0);
	/* what no hour ever pays for */
	never.b.agent_id = agent_b;
	CHECK_INT(fixture_work(f, reserve, &never), ERR_THROTTLED);
	CHECK_INT(never.p.retry_after_s, RETRY_NEVER_S);
	arena_free(&d.arena);
	arena_free(&next.arena);
	arena_free(&never.arena);
	fixture_close(f);
}

TEST(budget_settles_what_a_dead_process_left)
{
	struct fixture *f = fixture_open();
	struct deal d = deal_of(f, 100), late;

	CHECK_INT(fixture_work(f, reserve, &d), 0);
	late = d;
	d.now += (RESERVATION_LEASE_S - 1) * SECOND_US;
	CHECK_INT(fixture_work(f, recover, &d), 0);
	CHECK_INT(d.recovered, 0);
	d.now += 2 * SECOND_US;
	CHECK_INT(fixture_work(f, recover, &d), 0);
	CHECK_INT(d.recovered, 1);
	CHECK_INT(fixture_count(f, "select count(*) from reservations"), 0);
	CHECK_INT(fixture_count(
			  f, "select cost_pd from ledger where estimated = 1 and outcome = 'lost'"),
		50 * PICODOLLARS);
	CHECK_INT(settle_at(&late, 20), ERR_NOT_FOUND); /* it lives after all: not twice */
	CHECK_INT(fixture_count(f, "select count(*) from ledger"), 1);
	arena_free(&d.arena);
	fixture_close(f);
}

/* ---- all at once ---- */

struct rush {
	struct fixture *f;
	_Atomic int reserved, refused;
	_Atomic int64_t settled;
	int64_t limit_usd;
	int rounds;
};

static void *rush_main(void *arg)
{
	struct rush *r = arg;
	unsigned seed = (unsigned)(uintptr_t)pthread_self();

	for (int i = 0; i < r->rounds; i++) {
		struct deal d = deal_of(r->f, r->limit_usd);
		int err = fixture_work(r->f, reserve, &d);

		if (err == ERR_THROTTLED) {
			atomic_fetch_add(&r->refused, 1);
		} else {
			CHECK_INT(err, 0);
			atomic_fetch_add(&r->reserved, 1);
			CHECK_INT(settle_at(&d, rand_r(&seed) % (d.b.output_tokens + 1)), 0);
			atomic_fetch_add(&r->settled, d.c.cost_pd / PICODOLLARS);
		}
		arena_free(&d.arena);
	}
	return NULL;
}

static void rush(struct rush *r, int callers)
{
	pthread_t threads[64];

	for (int i = 0; i < callers; i++)
		pthread_create(&threads[i], NULL, rush_main, r);
	for (int i = 0; i < callers; i++)
		pthread_join(threads[i], NULL);
}

TEST(budget_holds_against_sixty_four_callers)
{
	struct fixture *f = fixture_open();
	struct rush r = { .f = f, .limit_usd = 1000, .rounds = 3 };
	int64_t left;

	rush(&r, 64);
	CHECK(r.settled <= 1000);
	CHECK_INT(fixture_count(f, "select count(*) from reservations"), 0);
	CHECK_INT(
		fixture_count(f, "select cast(sum(cost_pd) / 1000000000000 as bigint) from ledger"),
		r.settled);
	CHECK(r.reserved > 20); /* fifty dollars each at most */
	for (left = 1000 - r.settled; left >= 12; left = 1000 - r.settled) {
		struct rush one = { .f = f, .limit_usd = 1000, .rounds = 1 };

		rush(&one, 1); /* a budget with room is never refused */
		CHECK_INT(one.reserved, 1);
		r.settled += one.settled;
		if (!one.reserved)
			break;
	}
	CHECK(r.settled <= 1000);
	fixture_close(f);
}
