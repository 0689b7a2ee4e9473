/* test_acts.c - what is stored acts as its text says: greeting, first instructions, the mark on long
 * sessions, and what a model can do. */
#include <pthread.h>
#include <string.h>

#include "turn_fixture.h"

#define MOCK(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define IMAGE                                                                            \
	"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"what is it?\"}," \
	"{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://example.org/a.png\"}}]}]"
#define TOOL ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"look\"}}]"

static void patch_agent(struct turn_fixture *s, const char *body)
{
	STATUS(ask(s->f, s->f->admin, body, "PATCH /agents/%s", s->agent_id), 200);
}

TEST(acts_the_greeting_is_for_whoever_begins_a_session)
{
	struct turn_fixture s;
	struct answer r;

	turn_open(&s, NULL);
	patch_agent(&s, "{\"initial_greeting\":\"Welcome!\"}");
	r = ask(s.f, s.f->admin, "{\"name\":\"k\"}", "POST /tenant/%s/api-keys", s.f->tenant_id);
	for (int key = 0; key < 2; key++) {
		struct answer begun, said;

		begun = ask(s.f, key ? text_at(&r, "key") : s.f->admin, "{}",
			"POST /agents/%s/sessions", s.agent_id);
		STATUS(begun, 201);
		CHECK_STR(text_at(&begun, "origin"), key ? "api" : "user");
		said = ask(
			s.f, s.f->admin, NULL, "GET /sessions/%s/messages", text_at(&begun, "id"));
		CHECK_STR(text_at(&said, "items.0.content"), "Welcome!");
	}
	turn_close(&s);
}

TEST(acts_the_first_instructions_are_given_once)
{
	struct turn_fixture s;

	turn_open_mock(&s, MOCK("ok"), NULL);
	for (int round = 1; round <= 2; round++) {
		test_step("round %d", round);
		patch_agent(&s, round == 1 ? "{\"bootstrap_instructions\":\"Begin. [mark]\"}"
					   : "{\"bootstrap_instructions\":\"Again. [mark]\"}");
		turn_session(&s);
		CHECK_INT(turn_say(&s, "hi"), 0);
		turn_await(&s, "completed");
		CHECK_INT(s.gateway.mock.marked, 2 * round - 1);
		CHECK_INT(turn_say(&s, "more, in the same session"), 0);
		turn_await(&s, "completed");
		CHECK_INT(s.gateway.mock.marked, 2 * round);
		turn_session(&s);
		CHECK_INT(turn_say(&s, "hi"), 0);
		turn_await(&s, "completed");
		CHECK_INT(s.gateway.mock.marked, 2 * round);
	}
	patch_agent(&s, "{\"voice\":\"alto\"}");
	turn_session(&s);
	CHECK_INT(turn_say(&s, "hi"), 0);
	turn_await(&s, "completed");
	CHECK_INT(s.gateway.mock.marked, 4);
	test_step("a call without a session is not the agent's first");
	patch_agent(&s, "{\"bootstrap_instructions\":\"Anew. [mark]\"}");
	STATUS(gateway_ask(&s.gateway, s.f->admin, ""), 200);
	CHECK_INT(s.gateway.mock.marked, 4);
	turn_close(&s);
}

TEST(acts_the_first_instructions_are_given_once_to_many_at_once)
{
	enum { BEGINNERS = 6 };
	struct turn_fixture s;

	turn_open_mock(&s, MOCK("ok"), NULL);
	patch_agent(&s, "{\"bootstrap_instructions\":\"Begin. [mark]\"}");
	/* The turn of each runs while the next begins. */
	for (int i = 0; i < BEGINNERS; i++)
		STATUS(ask(s.f, s.f->admin, "{\"message\":\"hi\"}", "POST /agents/%s/sessions",
			       s.agent_id),
			201);
	turn_await_count(&s,
		"select count(*) from sessions where status = 'completed' and id <> %s", BEGINNERS);
	CHECK_INT(s.gateway.mock.marked, 1);
	turn_close(&s);
}

TEST(acts_a_long_session_is_marked_once)
{
	static const char notices[] =
		"select count(*) from session_events where session_id = %s and kind = 'notice' "
		"and data like '%%\"iterations\"%%'";
	struct turn_fixture s;
	struct answer r;

	turn_open(&s, (const char *const[]){ "calculator", NULL });
	patch_agent(&s, "{\"iteration_warn_threshold\":3}");
	CHECK_INT(turn_say(&s, "use tool calculator with {\"expression\":\"6*7\"}"), 0);
	turn_await(&s, "completed"); /* two turns */
	CHECK_INT(turn_count(&s, notices), 0);
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s", s.session_id);
	CHECK(json_is_null(at(&r, "attention_at")));
	for (int i = 0; i < 3; i++) {
		CHECK_INT(turn_say(&s, "count to 1"), 0);
		turn_await(&s, "completed");
		CHECK_INT(turn_count(&s, notices), 1);
	}
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s", s.session_id);
	CHECK(text_at(&r, "attention_at"));
	turn_close(&s);
}

static int64_t has_tools(struct turn_fixture *s)
{
	struct mock *m = &s->gateway.mock;
	bool there;

	pthread_mutex_lock(&m->lock);
	there = strstr(m->last_body, "\"tools\":") != NULL;
	pthread_mutex_unlock(&m->lock);
	return there;
}

TEST(acts_a_model_without_tools_is_offered_none)
{
	struct turn_fixture s;

	turn_open_mock(&s, MOCK("ok"), MOCK("calculator"));
	for (int able = 1; able >= 0; able--) {
		test_step(able ? "it can" : "it cannot");
		fixture_sql(s.f, "update models set supports_tools = $1 where kind = 'openai'",
			ARGS(N(able)));
		turn_session(&s);
		CHECK_INT(turn_say(&s, "hi"), 0);
		turn_await(&s, "completed");
		CHECK_INT(has_tools(&s), able);
	}
	turn_close(&s);
}

TEST(acts_a_model_is_asked_only_what_it_can)
{
	static const struct {
		const char *column, *more, *code;
	} cases[] = {
		{ "supports_tools", TOOL, "model_without_tools" },
		{ "supports_vision", NULL, "model_without_vision" },
	};
	struct gateway_fixture s;

	for (size_t i = 0; i < 2; i++) {
		const char *body, *set;
		struct answer r;

		gateway_open(&s);
		gateway_agent(&s, MOCK("slow-1", "ok"));
		test_step("%s", cases[i].column);
		body = cases[i].more
			       ? GATEWAY_BODY(&s, TOOL)
			       : arena_printf(&s.f->arena,
					 "{\"model\":\"%s\",\"messages\":" IMAGE "}", s.model);
		set = arena_printf(
			&s.f->arena, "update models set %s = $2 where id = $1", cases[i].column);
		for (int m = 0; m < 2; m++)
			fixture_sql(s.f, set, ARGS(T(s.models[m]), N(0)));
		r = ask(s.f, s.f->admin, body, "POST /v1/chat/completions");
		STATUS(r, 409);
		CHECK_STR(text_at(&r, "error.code"), cases[i].code);
		CHECK_INT(s.mock.asked, 0);
		test_step("%s, by the second of the chain", cases[i].column);
		fixture_sql(s.f, set, ARGS(T(s.models[1]), N(1)));
		STATUS(ask(s.f, s.f->admin, body, "POST /v1/chat/completions"), 200);
		CHECK_INT(s.mock.asked, 1);
		pthread_mutex_lock(&s.mock.lock);
		CHECK(strncmp(s.mock.last_head, "/ok/", 4) == 0);
		pthread_mutex_unlock(&s.mock.lock);
		gateway_close(&s);
	}
}
