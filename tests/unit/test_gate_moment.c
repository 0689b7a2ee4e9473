/* test_gate_moment.c - what the catalog says of an agent's hours, rates and budget, brought about one by
 * one, and that it is what reserving for a call then does. */
#include "fixture.h"

#include "base/clock.h"
#include "broker/budget.h"
#include "broker/gate.h"

struct scene {
	struct fixture *f;
	const char *agent;
	const char *paid, *free, *unpriced; /* models in its chain */
	const char *outcome;		    /* of reserve(): the code of the refusal, or "" */
	int64_t prompt_tokens;
};

static const char *make_model(struct scene *s, const char *slug, const char *more)
{
	struct fixture *f = s->f;
	struct answer r = ask(f, f->admin,
		arena_printf(&f->arena,
			"{\"name\":\"M\",\"slug\":\"%s\",\"kind\":\"openai\",\"config\":"
			"{\"base_url\":\"https://m.example.org\",\"model\":\"m\"},"
			"\"available_to_all_tenants\":true%s}",
			slug, more),
		"POST /admin/models");

	STATUS(r, 201);
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/models/catalog/%s", s->agent,
		       text_at(&r, "id")),
		201);
	return text_at(&r, "id");
}

/* A dollar a token in, two out. */
static struct scene open_scene(void)
{
	struct scene s = { .f = fixture_open(), .prompt_tokens = 1 };

	s.agent = fixture_agent(s.f, "a");
	s.paid = make_model(&s, "paid", ",\"pricing\":{\"prompt\":\"1\",\"completion\":\"2\"}");
	s.free = make_model(&s, "free",
		",\"is_free\":true,\"pricing\":{\"prompt\":\"1\",\"completion\":\"2\"}");
	s.unpriced = make_model(&s, "unpriced", "");
	return s;
}

static const char *reason(struct scene *s, const char *model)
{
	struct answer r = ask(s->f, s->f->admin, NULL, "GET /agents/%s/models/catalog", s->agent);
	json_t *item;
	size_t i;

	STATUS(r, 200);
	json_array_foreach(at(&r, "items"), i, item)
	{
		const char *why = json_string_value(json_object_get(item, "uncallable_reason"));

		if (strcmp(json_string_value(json_object_get(item, "model_id")), model) != 0)
			continue;
		CHECK(json_is_true(json_object_get(item, "callable")) == !why);
		return why ? why : "callable";
	}
	return "not listed";
}

#define SAYS(model, words) CHECK(strstr(reason(&s, model), words) != NULL)

/* Books a call of the paid model by the agent's limits, and settles it at two tokens out. */
static int book(struct db *db, void *data)
{
	struct scene *s = data;
	const struct gate_who who = { s->f->tenant_id, s->agent, NULL };
	static const struct statement limits[] = {
		{ "test_hourly", "select coalesce(hourly_limit_pd, -1) from agents where id = $1" },
		{ "test_minute",
			"select coalesce(max(chat_rpm_limit), -1) from chat_configs where agent_id = $1" },
	};
	struct reservation b = { .tenant_id = who.tenant_id,
		.agent_id = who.agent_id,
		.model_id = s->paid,
		.price = { PICODOLLARS, 2 * PICODOLLARS, NIL, NIL },
		.prompt_tokens = s->prompt_tokens,
		.output_tokens = 2,
		.per_hour = NIL };
	struct charge c = { .tenant_id = who.tenant_id,
		.agent_id = who.agent_id,
		.model_id = s->paid,
		.usage = { .input = s->prompt_tokens, .output = 2 },
		.cost_pd = (s->prompt_tokens + 4) * PICODOLLARS };
	int64_t now = clock_now_us();
	struct problem p = { 0 };
	int err = db_int(db, &limits[0], &b.hourly_limit_pd, ARGS(T(s->agent)));

	if (!err)
		err = db_int(db, &limits[1], &b.per_minute, ARGS(T(s->agent)));
	b.hourly_limit_pd = b.hourly_limit_pd < 0 ? NIL : b.hourly_limit_pd;
	b.per_minute = b.per_minute < 0 ? NIL : b.per_minute;
	if (!err)
		err = budget_reserve(db, &s->f->arena, &b, now, &(struct budget_used){ 0 }, &p);
	s->outcome = p.code ? p.code : "";
	return err ? err : budget_settle(db, &b, &c, now);
}

static void limit(struct scene *s, const char *usd)
{
	STATUS(ask(s->f, s->f->admin, arena_printf(&s->f->arena, "{\"hourly_limit_usd\":%s}", usd),
		       "PUT /tenant/%s/agents/%s/budget", s->f->tenant_id, s->agent),
		200);
}

static void chat(struct scene *s, const char *body)
{
	STATUS(ask(s->f, s->f->admin, body, "PUT /tenant/%s/agents/%s/chat-config", s->f->tenant_id,
		       s->agent),
		200);
}

TEST(catalog_shows_that_the_agent_is_off_work)
{
	static const char *const days[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
	struct scene s = open_scene();
	int64_t today = (clock_now_us() / DAY_US + 3) % 7; /* 1970 began on a Thursday */

	SAYS(s.paid, "callable");
	chat(&s, arena_printf(&s.f->arena,
			 "{\"working_hours_enabled\":true,\"working_hours_tz\":\"UTC\","
			 "\"working_hours_start\":\"00:00\",\"working_hours_end\":\"23:59\","
			 "\"working_hours_days\":[\"%s\"]}",
			 days[(today + 3) % 7]));
	SAYS(s.paid, "outside its working hours");
	SAYS(s.free, "outside its working hours");
	chat(&s, "{\"working_hours_enabled\":false}");
	SAYS(s.paid, "callable");
	fixture_close(s.f);
}

TEST(catalog_shows_that_the_agent_has_made_its_calls)
{
	struct scene s = open_scene();

	chat(&s, "{\"chat_rpm_limit\":2}");
	SAYS(s.paid, "callable");
	CHECK_INT(fixture_work(s.f, book, &s), 0);
	SAYS(s.paid, "callable");
	CHECK_INT(fixture_work(s.f, book, &s), 0);
	SAYS(s.paid, "as many messages as it may");
	SAYS(s.free, "as many messages as it may");
	CHECK_INT(fixture_work(s.f, book, &s), ERR_THROTTLED);
	CHECK_STR(s.outcome, "rate_limited");
	fixture_sql(s.f, "update rate_slots set slot = slot - 62 where seconds = 1", NO_ARGS);
	SAYS(s.paid, "callable");

	test_step("in an hour");
	fixture_sql(s.f,
		"insert into rate_slots (tenant_id, agent_id, seconds, slot, calls) "
		"values ($1, $2, 60, $3, 7)",
		ARGS(T(s.f->tenant_id), T(s.agent), N(clock_now_us() / (60 * SECOND_US) - 30)));
	chat(&s, "{\"chat_rpm_limit\":null,\"chat_rph_limit\":7}");
	SAYS(s.paid, "as many messages as it may");
	chat(&s, "{\"chat_rph_limit\":10}");
	SAYS(s.paid, "callable");
	fixture_close(s.f);
}

TEST(catalog_shows_that_the_budget_does_not_pay)
{
	struct scene s = open_scene();

	limit(&s, "2.999999");
	SAYS(s.paid, "does not pay for a call");
	SAYS(s.free, "callable");
	SAYS(s.unpriced, "callable");
	CHECK_INT(fixture_work(s.f, book, &s), ERR_THROTTLED);
	CHECK_STR(s.outcome, "budget_exhausted");
	limit(&s, "8"); /* a token in and two out are five */
	SAYS(s.paid, "callable");
	CHECK_INT(fixture_work(s.f, book, &s), 0);
	SAYS(s.paid, "callable"); /* three are left: one in, one out */
	limit(&s, "7.5");
	SAYS(s.paid, "does not pay for a call");
	CHECK_INT(fixture_work(s.f, book, &s), ERR_THROTTLED);
	limit(&s, "null");
	SAYS(s.paid, "callable");

	test_step("what is reserved is not there either");
	limit(&s, "10");
	SAYS(s.paid, "callable");
	fixture_sql(s.f,
		"insert into reservations (tenant_id, id, agent_id, model_id, byok, amount_pd, "
		"input_tokens, output_tokens, lease_until) values ($1, 'r', $2, 'm', 0, "
		"2500000000000, 1, 1, $3)",
		ARGS(T(s.f->tenant_id), T(s.agent), N(clock_now_us() + DAY_US)));
	SAYS(s.paid, "does not pay for a call");
	limit(&s, "0");
	SAYS(s.free, "callable");
	SAYS(s.unpriced, "callable");
	fixture_close(s.f);
}
