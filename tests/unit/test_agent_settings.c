/* test_agent_settings.c - the settings of an agent that have a path of their own: chat limits and
 * hours, budget, skills, favourites, integrations. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

static struct answer put_chat(struct fixture *f, const char *id, const char *body)
{
	return ask(f, f->admin, body, "PUT /agents/%s/chat-config", id);
}

TEST(chat_config_changes_what_is_sent)
{
	static const char empty[] =
		"{\"chat_rph_limit\":null,\"chat_rpm_limit\":null,\"working_hours_days\":null,"
		"\"working_hours_enabled\":false,\"working_hours_start\":null,"
		"\"working_hours_end\":null,\"working_hours_tz\":null}";
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a"), *tag;
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/chat-config", id);

	STATUS(r, 200);
	CHECK_STR(r.body, empty);
	tag = header_of(f, &r, "ETag");
	STATUS(put_chat(f, id, "{}"), 200);
	r = put_chat(f, id,
		"{\"chat_rph_limit\":86400,\"chat_rpm_limit\":1,\"working_hours_days\":[\"Sun\",\"Mon\"],"
		"\"working_hours_enabled\":true,\"working_hours_start\":\"00:00\","
		"\"working_hours_end\":\"23:59\",\"working_hours_tz\":\"America/Argentina/Buenos_Aires\"}");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "working_hours_days.0"), "Sun");
	CHECK_STR(text_at(&r, "working_hours_days.1"), "Mon");
	r = put_chat(f, id, "{\"chat_rpm_limit\":null,\"working_hours_end\":\"00:01\"}");
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "chat_rph_limit")), 86400);
	CHECK(json_is_null(at(&r, "chat_rpm_limit")));
	CHECK_STR(text_at(&r, "working_hours_start"), "00:00");
	CHECK(json_is_true(at(&r, "working_hours_enabled")));
	CHECK_STR(ask(f, f->admin, NULL, "GET /agents/%s/chat-config", id).body, r.body);
	STATUS(ask(f, f->admin, "{}", "PUT /agents/%s/chat-config\nIf-Match: %s", id, tag), 412);

	test_step("null clears, and for the flag that is false");
	r = put_chat(f, id,
		"{\"chat_rph_limit\":null,\"working_hours_days\":null,\"working_hours_enabled\":null,"
		"\"working_hours_start\":null,\"working_hours_end\":null,\"working_hours_tz\":null}");
	STATUS(r, 200);
	CHECK_STR(r.body, empty);
	r = put_chat(f, id, "{\"working_hours_days\":[]}");
	STATUS(r, 200);
	CHECK_INT(json_array_size(at(&r, "working_hours_days")), 0);
	CHECK_INT(fixture_count(f,
			  "select count(*) from audit_logs where action = 'agent.chat_config' "
			  "and meta like '%Buenos_Aires%'"),
		2);
	fixture_close(f);
}

TEST(chat_config_refuses_what_is_no_time_zone_or_day)
{
	static const struct {
		const char *body, *field, *code;
	} cases[] = {
		{ "{\"working_hours_start\":\"24:00\"}", "working_hours_start", "format" },
		{ "{\"working_hours_end\":\"99:99\"}", "working_hours_end", "format" },
		{ "{\"working_hours_end\":\"9:00\"}", "working_hours_end", "pattern" },
		{ "{\"working_hours_end\":\"09:00\\n\"}", "working_hours_end", "pattern" },
		{ "{\"working_hours_start\":\"\xd9\xa0\xd9\xa9:00\"}", "working_hours_start",
			"pattern" },
		{ "{\"working_hours_tz\":\"Mars/Olympus\"}", "working_hours_tz", "format" },
		{ "{\"working_hours_tz\":\"../zoneinfo/UTC\"}", "working_hours_tz", "format" },
		{ "{\"working_hours_tz\":\"/etc/localtime\"}", "working_hours_tz", "format" },
		{ "{\"working_hours_tz\":\"\"}", "working_hours_tz", "format" },
		{ "{\"working_hours_days\":[\"Mon\",\"Tue\",\"Mon\"]}", "working_hours_days[2]",
			"repeated" },
		{ "{\"working_hours_days\":[\"Monday\"]}", "working_hours_days[0]", "choice" },
		{ "{\"working_hours_start\":\"12:00\",\"working_hours_end\":\"12:00\"}",
			"working_hours_end", "order" },
		{ "{\"working_hours_start\":\"22:00\",\"working_hours_end\":\"06:00\"}",
			"working_hours_end", "order" },
		{ "{\"chat_rph_limit\":86401}", "chat_rph_limit", "too_large" },
		{ "{\"chat_rpm_limit\":0}", "chat_rpm_limit", "too_small" },
		{ "{\"chat_rpm_limit\":1.5}", "chat_rpm_limit", "type" },
	};
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		test_step("%s", cases[i].body);
		r = put_chat(f, id, cases[i].body);
		CHECK(refuses(&r, cases[i].field, cases[i].code));
	}
	CHECK_INT(fixture_count(f, "select count(*) from chat_configs"), 0);

	test_step("every fault is told at once");
	r = put_chat(f, id,
		"{\"working_hours_end\":\"25:00\",\"working_hours_start\":\"9\",\"chat_rpm_limit\":0,"
		"\"working_hours_tz\":\"nowhere\",\"working_hours_days\":[\"Mon\",\"Mon\"]}");
	CHECK(refuses(&r, "working_hours_end", "format"));
	CHECK(refuses(&r, "working_hours_start", "pattern"));
	CHECK(refuses(&r, "chat_rpm_limit", "too_small"));
	CHECK(refuses(&r, "working_hours_tz", "format"));
	CHECK(refuses(&r, "working_hours_days[1]", "repeated"));
	fixture_close(f);
}

TEST(chat_config_is_judged_as_it_would_be_after_the_change)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r;

	STATUS(put_chat(f, id, "{\"working_hours_enabled\":true}"), 200);
	STATUS(put_chat(f, id, "{\"working_hours_start\":\"09:00\"}"), 200);
	r = put_chat(f, id, "{\"working_hours_end\":\"09:00\"}");
	CHECK(refuses(&r, "working_hours_end", "order"));
	STATUS(put_chat(f, id, "{\"working_hours_end\":\"17:00\"}"), 200);
	r = put_chat(f, id, "{\"working_hours_start\":\"17:00\"}");
	CHECK(refuses(&r, "working_hours_end", "order"));
	r = put_chat(f, id, "{\"working_hours_start\":null,\"working_hours_end\":\"00:00\"}");
	CHECK(refuses(&r, "working_hours_end", "order"));
	STATUS(put_chat(f, id, "{\"working_hours_start\":\"23:59\",\"working_hours_end\":null}"),
		200);
	fixture_close(f);
}

/* The fields in the order in which they are shown, with what each may be set to. */
static const struct {
	const char *name, *values[2], *cleared;
} chat_fields[] = {
	{ "chat_rph_limit", { "600", "7" }, "null" },
	{ "chat_rpm_limit", { "30", "1" }, "null" },
	{ "working_hours_days", { "[\"Mon\"]", "[]" }, "null" },
	{ "working_hours_enabled", { "true", "false" }, "false" },
	{ "working_hours_start", { "\"09:00\"", "\"18:30\"" }, "null" },
	{ "working_hours_end", { "\"17:00\"", "\"19:00\"" }, "null" },
	{ "working_hours_tz", { "\"Asia/Tokyo\"", "\"UTC\"" }, "null" },
};
enum { CHAT_FIELDS = 7, CHAT_START = 4, CHAT_END = 5, CHAT_CHANGES = 2187 /* 3 for each field */ };

static const char *chat_object(struct arena *a, const char *const *values)
{
	const char *text = "";

	for (int i = 0; i < CHAT_FIELDS; i++)
		if (values[i])
			text = arena_printf(a, "%s%s\"%s\":%s", text, *text ? "," : "",
				chat_fields[i].name, values[i]);
	return arena_printf(a, "{%s}", text);
}

/* Every subset of the fields, each absent, null or set, one after the other on the same row, against a
 * row kept here.  Nothing can be refused but two times in the wrong order, and no null ever is. */
TEST(chat_config_takes_every_mixture_of_absent_null_and_set)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a"), *kept[CHAT_FIELDS], *next[CHAT_FIELDS],
		   *sent[CHAT_FIELDS];
	int refused = 0;

	for (int i = 0; i < CHAT_FIELDS; i++)
		kept[i] = chat_fields[i].cleared;
	for (int n = 0; n < CHAT_CHANGES; n++) {
		int mixture = n * 1009 % CHAT_CHANGES; /* each once, neighbours unlike */
		struct answer r;
		bool wrong;

		for (int i = 0, m = mixture; i < CHAT_FIELDS; i++, m /= 3) {
			const char *value = chat_fields[i].values[(n + i) % 2];

			sent[i] = m % 3 == 0 ? NULL : m % 3 == 1 ? "null" : value;
			next[i] = m % 3 == 0   ? kept[i]
				  : m % 3 == 1 ? chat_fields[i].cleared
					       : value;
		}
		wrong = is(next[CHAT_START], "\"18:30\"") && is(next[CHAT_END], "\"17:00\"");
		test_step("%s on %s", chat_object(&f->arena, sent), chat_object(&f->arena, kept));
		r = put_chat(f, id, chat_object(&f->arena, sent));
		STATUS(r, wrong ? 422 : 200);
		if (wrong) {
			CHECK(refuses(&r, "working_hours_end", "order"));
			refused++;
			continue;
		}
		memcpy(kept, next, sizeof kept);
		CHECK_STR(r.body, chat_object(&f->arena, kept));
	}
	CHECK(refused > 20);
	fixture_close(f);
}

static struct answer put_budget(struct fixture *f, const char *id, const char *number)
{
	return ask(f, f->admin, arena_printf(&f->arena, "{\"hourly_limit_usd\":%s}", number),
		"PUT /agents/%s/budget", id);
}

TEST(budget_is_kept_exactly_as_typed)
{
	static const struct {
		const char *typed, *shown;
		int64_t pd;
	} cases[] = {
		{ "0.1", "0.1", INT64_C(100000000000) },
		{ "0.3", "0.3", INT64_C(300000000000) },
		{ "2.675", "2.675", INT64_C(2675000000000) },
		{ "0", "0", 0 },
		{ "-0.0", "0", 0 },
		{ "1e6", "1000000", INT64_C(1000000000000000000) },
		{ "1000000", "1000000", INT64_C(1000000000000000000) },
		{ "0.000000000001", "0.000000000001", 1 },
		{ "1e-12", "0.000000000001", 1 },
		{ "0.00001234", "0.00001234", INT64_C(12340000) },
		{ "999999.999999", "999999.999999", INT64_C(999999999999000000) },
		{ "1.005", "1.005", INT64_C(1005000000000) },
		{ "12345.678901234", "12345.678901234", INT64_C(12345678901234000) },
		{ "33.000000000001", "33.000000000001", INT64_C(33000000000001) },
		{ "999999.999999999999", "999999.999999999999", INT64_C(999999999999999999) },
		{ "123456.789012345678", "123456.789012345678", INT64_C(123456789012345678) },
		{ "1.50E1", "15", INT64_C(15000000000000) },
	};
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r = ask(f, f->admin, NULL, "GET /agents/%s/budget", id);

	CHECK_STR(r.body, "{\"hourly_limit_usd\":null}");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *want =
			arena_printf(&f->arena, "{\"hourly_limit_usd\":%s}", cases[i].shown);

		test_step("%s", cases[i].typed);
		r = put_budget(f, id, cases[i].typed);
		STATUS(r, 200);
		CHECK_STR(r.body, want);
		CHECK_STR(ask(f, f->admin, NULL, "GET /agents/%s/budget", id).body, want);
		CHECK_INT(fixture_count(f, "select hourly_limit_pd from agents"), cases[i].pd);
	}
	test_step("left out it stays, null lifts it");
	r = ask(f, f->admin, "{}", "PUT /agents/%s/budget", id);
	CHECK_STR(r.body, "{\"hourly_limit_usd\":15}");
	r = put_budget(f, id, "null");
	CHECK_STR(r.body, "{\"hourly_limit_usd\":null}");
	CHECK_INT(fixture_count(f, "select count(*) from agents where hourly_limit_pd is null"), 1);
	fixture_close(f);
}

TEST(budget_refuses_what_is_too_fine_too_much_or_no_number)
{
	static const struct {
		const char *typed, *code;
	} cases[] = {
		{ "1e-13", "too_fine" },
		{ "0.0000000000005", "too_fine" },
		{ "0.1234567890123", "too_fine" },
		{ "1.0000000000001", "too_fine" },
		{ "5e-324", "too_fine" },
		{ "1000000.01", "too_large" },
		{ "1000000.000000000001", "too_large" },
		{ "123456.7890123456781", "too_fine" },
		{ "0.99999999999999999999", "too_fine" },
		{ "1e-999", "too_fine" },
		{ "1e300", "too_large" },
		{ "-0.01", "too_small" },
		{ "\"1\"", "type" },
		{ "true", "type" },
	};
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct answer r = put_budget(f, id, cases[i].typed);

		test_step("%s", cases[i].typed);
		CHECK(refuses(&r, "hourly_limit_usd", cases[i].code));
	}
	STATUS(put_budget(f, id, "NaN"), 400);
	CHECK_INT(fixture_count(f, "select count(*) from agents where hourly_limit_pd is null"), 1);
	fixture_close(f);
}

/* Whatever is taken comes back to the last digit, and lies in the store as whole picodollars. */
TEST(budget_round_trips_any_number)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");

	srandom(3);
	for (int i = 0; i < 300; i++) {
		int64_t pd = (int64_t)random() * random() % INT64_C(1000000000000000);
		const char *typed;
		struct answer r;
		double value;

		for (long n = random() % 12; n; n--) /* of every length */
			pd /= 10;
		typed = arena_printf(&f->arena, "%lld.%012lld", (long long)(pd / 1000000000000),
			(long long)(pd % 1000000000000));
		value = strtod(typed, NULL);
		test_step("%s", typed);
		r = put_budget(f, id, typed);
		STATUS(r, 200);
		CHECK(json_number_value(at(&r, "hourly_limit_usd")) == value);
		CHECK_INT(fixture_count(f, "select hourly_limit_pd from agents"), pd);
	}
	fixture_close(f);
}

TEST(skill_flags_have_paths_of_their_own)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a");
	struct answer r = ask(f, f->admin, "{\"can_author_skills\":true}",
		"PUT /agents/%s/can-author-skills", id);

	STATUS(r, 200);
	CHECK(json_is_true(at(&r, "can_author_skills")));
	CHECK_STR(ask(f, f->admin, NULL, "GET /agents/%s", id).body, r.body);
	r = ask(f, f->admin, "{\"can_author_skills\":null}", "PUT /agents/%s/can-author-skills",
		id);
	CHECK(refuses(&r, "can_author_skills", "null"));
	r = ask(f, f->admin, "{}", "PUT /agents/%s/can-author-skills", id);
	CHECK(refuses(&r, "can_author_skills", "required"));
	r = ask(f, f->admin, "{\"skill_visibility_scope\":\"tenant_allowed\"}",
		"PUT /tenant/%s/agents/%s/skill-visibility-scope", f->tenant_id, id);
	STATUS(r, 200);
	CHECK_STR(r.body, "{\"skill_visibility_scope\":\"tenant_allowed\"}");
	r = ask(f, f->admin, "{\"skill_visibility_scope\":\"all\"}",
		"PUT /agents/%s/skill-visibility-scope", id);
	CHECK(refuses(&r, "skill_visibility_scope", "choice"));
	r = ask(f, f->admin, NULL, "GET /agents/%s", id);
	CHECK_STR(text_at(&r, "skill_visibility_scope"), "tenant_allowed");
	STATUS(ask(f, f->admin, "{\"can_author_skills\":true}",
		       "PUT /agents/c%024d/can-author-skills", 1),
		404);
	fixture_close(f);
}

static bool shows_favorite(struct fixture *f, const char *token)
{
	struct answer r = ask(f, token, NULL, "GET /tenant/%s/agents", f->tenant_id);

	return json_is_true(at(&r, "items.0.is_favorite"));
}

TEST(favorites_belong_to_the_caller)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "m@example.org", &token), *super;
	const char *super_id = fixture_user(f, "s@example.org", &super);
	const char *id = fixture_agent(f, "a");
	struct answer r;

	fixture_member(f, f->tenant_id, user, "GUEST");
	fixture_sql(f, "update users set is_super_admin = 1 where id = $1", ARGS(T(super_id)));
	STATUS(ask(f, token, NULL, "DELETE /agents/%s/favorite", id), 404);
	r = ask(f, token, NULL, "PUT /agents/%s/favorite", id);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "user_id"), user);
	CHECK_STR(text_at(&r, "agent_id"), id);
	STATUS(ask(f, token, NULL, "PUT /agents/%s/favorite", id), 200);
	CHECK(shows_favorite(f, token));
	CHECK(!shows_favorite(f, f->admin));

	test_step("a super administrator from outside");
	STATUS(ask(f, super, NULL, "PUT /agents/%s/favorite", id), 201);
	CHECK(shows_favorite(f, super));
	STATUS(ask(f, super, NULL, "DELETE /agents/%s/favorite", id), 204);
	STATUS(ask(f, super, NULL, "DELETE /agents/%s/favorite", id), 404);
	CHECK(shows_favorite(f, token));

	test_step("whoever leaves takes them along");
	STATUS(ask(f, f->admin, NULL, "PUT /agents/%s/favorite", id), 201);
	STATUS(ask(f, f->admin, NULL, "DELETE /tenant/%s/members/%s", f->tenant_id, user), 204);
	CHECK_INT(fixture_count(f, "select count(*) from favorites"), 1);
	STATUS(ask(f, token, NULL, "PUT /agents/%s/favorite", id), 404);
	STATUS(ask(f, f->admin, NULL, "DELETE /agents/%s", id), 204);
	CHECK_INT(fixture_count(f, "select count(*) from favorites"), 0);
	CHECK_INT(
		fixture_count(f, "select count(*) from audit_logs where action = 'agent.favorite'"),
		4);
	CHECK_INT(fixture_count(
			  f, "select count(*) from audit_logs where action = 'agent.unfavorite'"),
		1);
	fixture_close(f);
}

TEST(integrations_of_an_agent_are_listed)
{
	struct fixture *f = fixture_open();
	const char *id = fixture_agent(f, "a"), *after;
	struct answer r = ask(f, f->admin, "{\"name\":\"B\"}", "POST /agents/%s/clone", id);
	const char *other = text_at(&r, "id");

	for (int i = 0; i < 5; i++)
		fixture_sql(f,
			"insert into integration_rows (tenant_id, id, agent_id, provider, label, "
			"is_active, created_at, updated_at, last_event_at) "
			"values ($1, $2, $3, 'github', $4, $5, 1, 1, 1)",
			ARGS(T(f->tenant_id),
				T(arena_printf(&f->arena, "c00000000000000000000000%d", i)),
				T(i == 4 ? other : id), T(arena_printf(&f->arena, "Label %d", i)),
				N(i % 2)));
	r = ask(f, f->admin, NULL, "GET /agents/%s/integrations?per_page=3", id);
	STATUS(r, 200);
	CHECK_INT(json_integer_value(at(&r, "total")), 4);
	CHECK_INT(json_array_size(at(&r, "items")), 3);
	CHECK_STR(text_at(&r, "items.0.label"), "Label 3");
	CHECK_STR(text_at(&r, "items.0.provider"), "github");
	CHECK(json_is_true(at(&r, "items.0.connected")));
	CHECK(json_is_false(at(&r, "items.1.connected")));
	after = text_at(&r, "next_after");
	r = ask(f, f->admin, NULL, "GET /agents/%s/integrations?per_page=3&after=%s", id, after);
	CHECK_INT(json_array_size(at(&r, "items")), 1);
	CHECK_STR(text_at(&r, "items.0.label"), "Label 0");
	CHECK(json_is_null(at(&r, "next_after")));
	fixture_close(f);
}
