/* test_costs.c - reports of costs against a recount, over any stretch of time; what stands out; tables. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "api/costs/cost_parts.h"
#include "broker/ledger.h"

enum { CHARGES = 600, AGENTS = 3, MODELS = 3 };

struct history {
	struct fixture *f;
	struct charge charges[CHARGES];
	int64_t at[CHARGES];
	const char *agents[AGENTS]; /* the last is NULL: no agent */
	int64_t now;
};

static const char *const models[MODELS] = { "model-a", "model-b", "model-c" };

static int enter_all(struct db *db, void *data)
{
	struct history *h = data;
	int err = 0;

	for (int i = 0; !err && i < CHARGES; i++)
		err = ledger_enter(db, &h->charges[i], h->at[i]);
	return err;
}

/* Forty days of calls of two agents and of none. */
static void make_history(struct history *h)
{
	unsigned seed = 11;

	h->now = clock_now_us();
	for (int i = 0; i < CHARGES; i++) {
		h->at[i] = h->now - (int64_t)rand_r(&seed) % (40 * 86400) * SECOND_US -
			   rand_r(&seed) % 1000000;
		h->charges[i] = (struct charge){
			.tenant_id = h->f->tenant_id,
			.agent_id = h->agents[rand_r(&seed) % AGENTS],
			.model_id = models[rand_r(&seed) % MODELS],
			.byok = rand_r(&seed) % 4 == 0,
			.usage = { .input = rand_r(&seed) % 10000,
				.cache_read = rand_r(&seed) % 1000,
				.cache_write = rand_r(&seed) % 1000,
				.output = rand_r(&seed) % 3000 },
			.cost_pd = (int64_t)rand_r(&seed) * 1000,
		};
	}
	CHECK_INT(fixture_work(h->f, enter_all, h), 0);
}

static struct history *history_open(void)
{
	struct history *h = calloc(1, sizeof *h);

	h->f = fixture_open();
	for (int i = 0; i < AGENTS - 1; i++) {
		struct answer r = ask(h->f, h->f->admin,
			arena_printf(
				&h->f->arena, "{\"name\":\"Agent %d\",\"slug\":\"a%d\"}", i, i),
			"POST /tenant/%s/agents", h->f->tenant_id);

		STATUS(r, 201);
		h->agents[i] = text_at(&r, "id");
	}
	make_history(h);
	return h;
}

static void history_close(struct history *h)
{
	fixture_close(h->f);
	free(h);
}

/* What the report must say of one agent, counted from the charges themselves. */
static void check_agent(
	struct history *h, const struct answer *r, const char *id, int64_t from, int64_t to)
{
	int64_t requests = 0, input = 0, read = 0, cost = 0, byok = 0;
	json_t *row = NULL, *item;
	size_t n;

	for (int i = 0; i < CHARGES; i++) {
		const struct charge *c = &h->charges[i];

		if (h->at[i] < from || h->at[i] >= to ||
			(id ? !c->agent_id || strcmp(c->agent_id, id) != 0 : c->agent_id != NULL))
			continue;
		requests++;
		input += c->usage.input;
		read += c->usage.cache_read;
		cost += c->cost_pd;
		byok += c->byok ? c->cost_pd : 0;
	}
	json_array_foreach(at(r, "agents"), n,
		item) if (strcmp(json_string_value(json_object_get(item, "agent_id")),
				  id ? id : "direct") == 0) row = item;
	CHECK(!row == !requests);
	if (!row)
		return;
	CHECK_INT(json_integer_value(json_object_get(row, "requests")), requests);
	CHECK_INT(json_integer_value(json_object_get(row, "input_tokens")), input);
	CHECK_INT(json_integer_value(json_object_get(row, "cache_read_tokens")), read);
	CHECK(fabs(json_number_value(json_object_get(row, "cost_usd")) - (double)cost / 1e12) <
		1e-12);
	CHECK(fabs(json_number_value(json_object_get(row, "byok_cost_usd")) - (double)byok / 1e12) <
		1e-12);
}

static const char *moment(struct fixture *f, int64_t us)
{
	time_t seconds = (time_t)(us / SECOND_US);
	char text[32];
	struct tm t;

	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &t));
	return arena_printf(&f->arena, "%s.%03dZ", text, (int)(us % SECOND_US / 1000));
}

TEST(costs_report_equals_a_recount_over_any_time)
{
	static const int64_t lengths[] = { SECOND_US, 600 * SECOND_US, HOUR_US, 5 * HOUR_US, DAY_US,
		3 * DAY_US + 7 * HOUR_US, 30 * DAY_US, 41 * DAY_US };
	struct history *h = history_open();
	unsigned seed = 5;

	for (int i = 0; i < 64; i++) {
		int64_t length = lengths[i % 8] + (i % 3 ? 0 : 12345000);
		int64_t to = h->now - (int64_t)rand_r(&seed) % (39 * 86400) * SECOND_US, from;
		struct answer r;

		to = to / 1000 * 1000; /* times are written in milliseconds */
		if (i % 5 == 0)	       /* the ends of hours and days are where mistakes live */
			to = to / DAY_US * DAY_US;
		if (i % 5 == 1)
			to = to / HOUR_US * HOUR_US;
		from = to - length;
		test_step("from %s to %s", moment(h->f, from), moment(h->f, to));
		r = ask(h->f, h->f->admin, NULL, "GET /tenant/%s/billing/agent-costs?from=%s&to=%s",
			h->f->tenant_id, moment(h->f, from), moment(h->f, to));
		STATUS(r, 200);
		CHECK_STR(text_at(&r, "period.label"), "custom");
		for (int k = 0; k < AGENTS; k++)
			check_agent(h, &r, h->agents[k], from, to);
	}
	history_close(h);
}

TEST(costs_report_has_periods_names_and_a_table)
{
	struct history *h = history_open();
	static const char *const periods[] = { "24h", "7d", "30d", "month" };
	struct answer r;
	json_t *first;

	for (size_t i = 0; i < 4; i++) {
		r = ask(h->f, h->f->admin, NULL, "GET /tenant/%s/billing/agent-costs?period=%s",
			h->f->tenant_id, periods[i]);
		STATUS(r, 200);
		CHECK_STR(text_at(&r, "period.label"), periods[i]);
	}
	r = ask(h->f, h->f->admin, NULL, "GET /tenant/%s/billing/agent-costs", h->f->tenant_id);
	CHECK_STR(text_at(&r, "period.label"), "30d");
	CHECK_INT(json_array_size(at(&r, "agents")), 3);
	first = at(&r, "agents.0");
	CHECK(json_number_value(json_object_get(first, "cost_usd")) >=
		json_number_value(at(&r, "agents.1.cost_usd")));
	CHECK_STR(text_at(&r, "agents.0.top_model"), text_at(&r, "agents.0.models.0.model_id"));
	CHECK(json_number_value(json_object_get(first, "cache_hit_rate")) > 0);
	r = ask(h->f, h->f->admin, NULL, "GET /tenant/%s/billing/agent-costs?format=csv",
		h->f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(header_of(h->f, &r, "Content-Type"), "text/csv; charset=utf-8");
	CHECK(strncmp(r.body, "agent_id,agent_name,", 20) == 0);
	CHECK(strstr(r.body, ",Agent 0,") != NULL);
	r = ask(h->f, h->f->admin, NULL,
		"GET /tenant/%s/billing/agent-costs?period=7d&from=2026-01-01T00:00:00Z",
		h->f->tenant_id);
	CHECK(refuses(&r, "period", "combination"));
	r = ask(h->f, h->f->admin, NULL,
		"GET /tenant/%s/billing/agent-costs?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
		h->f->tenant_id);
	CHECK(refuses(&r, "to", "range"));
	history_close(h);
}

TEST(costs_series_add_up_to_the_report)
{
	static const char *const queries[] = { "bucket=day&by=agent", "bucket=day&by=model",
		"bucket=hour&by=agent", "bucket=hour&by=model" };
	struct history *h = history_open();
	int64_t to = h->now / DAY_US * DAY_US, from = to - 20 * DAY_US;
	struct answer r =
		ask(h->f, h->f->admin, NULL, "GET /tenant/%s/billing/agent-costs?from=%s&to=%s",
			h->f->tenant_id, moment(h->f, from), moment(h->f, to));
	double want = json_number_value(at(&r, "total_cost_usd"));

	for (size_t i = 0; i < 4; i++) {
		r = ask(h->f, h->f->admin, NULL,
			"GET /tenant/%s/billing/timeseries?from=%s&to=%s&%s", h->f->tenant_id,
			moment(h->f, from), moment(h->f, to), queries[i]);
		STATUS(r, 200);
		CHECK(fabs(json_number_value(at(&r, "total_cost_usd")) - want) < 1e-9);
		CHECK_INT(json_array_size(at(&r, "series")), 3);
	}
	history_close(h);
}

TEST(costs_of_many_agents_and_models_stay_apart)
{
	enum { MANY_AGENTS = 70, MANY_MODELS = 40 };
	struct fixture *f = fixture_open();
	struct answer r;
	size_t n;
	json_t *row;

	fixture_sql(f,
		"with recursive i(n) as (select 0 union all select n + 1 from i where n < 5599) "
		"insert into cost_days (tenant_id, day, agent_id, model_id, byok, shard, requests, "
		"input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd) "
		"select $1, 20000, cast(n % 70 as text), cast(n / 70 % 40 as text), n / 2800, 0, 1, n, 0, "
		"0, 0, 0, 999999999999 from i",
		ARGS(T(f->tenant_id)));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/billing/agent-costs?from=%s&to=%s", f->tenant_id,
		moment(f, 20000 * DAY_US), moment(f, 20001 * DAY_US));
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "agents")), MANY_AGENTS);
	json_array_foreach(at(&r, "agents"), n, row)
	{
		int64_t id = atoll(json_string_value(json_object_get(row, "agent_id"))), want = 0;

		for (int64_t i = id; i < 5600; i += MANY_AGENTS)
			want += i;
		CHECK_INT(json_array_size(json_object_get(row, "models")), MANY_MODELS);
		CHECK_INT(json_integer_value(json_object_get(row, "requests")), 80);
		CHECK_INT(json_integer_value(json_object_get(row, "input_tokens")), want);
		CHECK(fabs(json_number_value(json_object_get(row, "byok_cost_usd")) -
			      40 * 0.999999999999) < 1e-11);
	}
	fixture_close(f);
}

/* The name of the series with this id. */
static const char *series_name(struct history *h, const char *query, const char *id)
{
	struct answer r = ask(h->f, h->f->admin, NULL, "GET /tenant/%s/billing/timeseries?%s",
		h->f->tenant_id, query);
	json_t *item;
	size_t n;

	STATUS(r, 200);
	json_array_foreach(at(&r, "series"), n, item)
	{
		if (strcmp(json_string_value(json_object_get(item, "id")), id) == 0)
			return json_string_value(json_object_get(item, "name"));
	}
	return "";
}

TEST(costs_series_carry_names)
{
	struct history *h = history_open();
	struct answer r = ask(h->f, h->f->admin,
		"{\"name\":\"Model A\",\"slug\":\"a\",\"kind\":\"demo\"}", "POST /admin/models");

	STATUS(r, 201);
	fixture_sql(
		h->f, "update models set id = 'model-a' where id = $1", ARGS(T(text_at(&r, "id"))));
	CHECK_STR(series_name(h, "by=model", "model-a"), "Model A");
	CHECK_STR(series_name(h, "by=model&bucket=hour", "model-a"), "Model A");
	CHECK_STR(series_name(h, "by=model", "model-b"), "model-b"); /* there is none such */
	CHECK_STR(series_name(h, "by=agent", h->agents[0]), "Agent 0");
	CHECK_STR(series_name(h, "by=agent", "direct"), "Calls without an agent");
	STATUS(ask(h->f, h->f->admin, NULL, "DELETE /agents/%s", h->agents[1]), 204);
	CHECK_STR(series_name(h, "by=agent", h->agents[1]), "Agent 1"); /* gone, not forgotten */
	history_close(h);
}

static struct list days_of(struct cost_day *days, const double *usd, size_t count, int64_t last)
{
	for (size_t i = 0; i < count; i++)
		days[i] = (struct cost_day){ "agent", last - (int64_t)count + (int64_t)i,
			(int64_t)usd[i], (int64_t)((usd[i] - (int64_t)usd[i]) * 1e12) };
	return (struct list){ days, count };
}

TEST(costs_that_stand_out_are_marked)
{
	static const double steady[] = { 1, 1.1, 0.9, 1, 1.2, 1, 0.8, 1, 1, 1.1 };
	static const double wild[] = { 0, 9, 1, 12, 0, 3, 8, 0, 15, 2 };
	struct cost_day days[16];
	struct list list = days_of(days, steady, 10, 100);

	CHECK(!cost_is_anomalous(&list, "agent", 100, 2));
	CHECK(cost_is_anomalous(&list, "agent", 100, 3));
	CHECK(!cost_is_anomalous(&list, "another", 100, 1000)); /* no history */
	list = days_of(days, steady, 6, 100);			/* not yet a week */
	CHECK(!cost_is_anomalous(&list, "agent", 100, 1000));
	list = days_of(days, wild, 10, 100);
	CHECK(!cost_is_anomalous(&list, "agent", 100, 20));
	CHECK(cost_is_anomalous(&list, "agent", 100, 60));
}
