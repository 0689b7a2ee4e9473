/* test_plan.c - what a plan holds: whose key goes where, in which order models stand, what is asked of
 * them.  The rows are changed behind the operations, so that each rule is met by itself. */
#include <string.h>

#include "base/clock.h"
#include "broker/candidates.h"
#include "broker/secrets.h"
#include "call/call.h"
#include "run_alone.h"
#include "t.h"

enum { MODELS_MAX = 8 };

struct table {
	struct alone *alone;
	struct app *app;
	struct db *db;
	struct arena arena;
	struct chat chat;
	struct candidates candidates;
	struct problem problem;
	struct broker_keys keys;
	const char *ids[MODELS_MAX]; /* of the chain, in its order */
};

static void change(struct table *t, const char *sql, const struct value *args, size_t count)
{
	struct statement *st = arena_new(&t->arena, struct statement);

	*st = (struct statement){ .name = "change", .sql = sql };
	CHECK_INT(db_begin(t->db, READ_WRITE), 0);
	CHECK_INT(db_run(t->db, st, NULL, args, count), 0);
	CHECK_INT(db_commit(t->db), 0);
}

static int make_for(struct table *t, const char *agent_id, const char *model_id)
{
	struct candidates_asked asked = { .tenant_id = alone_tenant(t->alone),
		.agent_id = agent_id,
		.model_id = model_id,
		.chat = &t->chat,
		.vault = t->app->vault,
		.keys = t->keys,
		.now = clock_now_us() };
	int err;

	t->problem = (struct problem){ 0 };
	CHECK_INT(db_begin(t->db, READ_ONLY), 0);
	err = candidates_find(t->db, &t->arena, &asked, &t->candidates, &t->problem);
	db_rollback(t->db);
	return err;
}

static int make(struct table *t)
{
	return make_for(t, alone_agent(t->alone), NULL);
}

static void table_open(struct table *t, const char *const *scripts)
{
	struct problem p = { 0 };

	*t = (struct table){ .alone = alone_open(scripts) };
	t->app = alone_app(t->alone);
	CHECK_INT(store_connect(t->app->store, &t->db, &t->arena, &p), 0);
	chat_open(&t->chat, &t->arena);
	chat_message_add(&t->chat, CHAT_USER, "hi");
	CHECK_INT(make(t), 0);
	for (size_t i = 0; i < t->candidates.count && i < MODELS_MAX; i++)
		t->ids[i] = arena_strdup(&t->arena, t->candidates.at[i].model_id);
}

static void table_close(struct table *t)
{
	db_close(t->db);
	arena_free(&t->arena);
	alone_close(t->alone);
}

static void set_secrets(struct table *t, const char *key, const char *header, const char *value)
{
	struct model_secrets s = { .api_key = key };
	const char *sealed;

	if (header)
		s.headers[s.header_count++] = (struct model_header){ header, value };
	CHECK_INT(model_secrets_seal(t->app->vault, &t->arena, t->ids[0], &s, &sealed), 0);
	change(t, "update models set secrets = $2 where id = $1", ARGS(T(t->ids[0]), T(sealed)));
}

static const char *key_at(struct table *t, const char *base_url)
{
	change(t, "update models set base_url = $2 where id = $1", ARGS(T(t->ids[0]), T(base_url)));
	CHECK_INT(make(t), 0);
	return t->candidates.at[0].target.api_key ? t->candidates.at[0].target.api_key : "none";
}

TEST(plan_gives_a_key_only_to_the_host_it_is_for)
{
	struct table t;

	table_open(&t, (const char *const[]){ "ok", NULL });
	t.keys = (struct broker_keys){ .openai = "sk-operator", .anthropic = "sk-other" };
	set_secrets(&t, NULL, NULL, NULL);
	test_step("the operator's");
	CHECK_STR(key_at(&t, "https://api.openai.com/v1"), "sk-operator");
	CHECK_STR(key_at(&t, "https://API.openai.com/v1"), "sk-operator");
	CHECK_STR(key_at(&t, "https://api.openai.com.example.org/v1"), "none");
	CHECK_STR(key_at(&t, "https://api.openai.com:8443/v1"), "none");
	CHECK_STR(key_at(&t, "https://api.openai.co/v1"), "none");
	CHECK_STR(key_at(&t, "http://api.openai.com/v1"), "none");
	test_step("the model's own comes before it");
	set_secrets(&t, "sk-model", NULL, NULL);
	CHECK_STR(key_at(&t, "https://api.openai.com/v1"), "sk-model");
	CHECK(!t.candidates.at[0].byok);
	test_step("of that kind of provider");
	set_secrets(&t, NULL, NULL, NULL);
	change(&t, "update models set kind = 'anthropic' where id = $1", ARGS(T(t.ids[0])));
	CHECK_STR(key_at(&t, "https://api.anthropic.com/v1"), "sk-other");
	CHECK_STR(key_at(&t, "https://api.openai.com/v1"), "none");
	table_close(&t);
}

static int lines_with(const struct candidate *c, const char *name)
{
	int n = 0;

	for (const char *const *h = c->headers; *h; h++)
		n += strncasecmp(*h, name, strlen(name)) == 0 && (*h)[strlen(name)] == ':';
	return n;
}

TEST(plan_sends_a_models_own_header_in_the_place_of_the_providers)
{
	struct table t;

	table_open(&t, (const char *const[]){ "ok", NULL });
	set_secrets(&t, "sk-model", NULL, NULL);
	CHECK_INT(make(&t), 0);
	CHECK_INT(lines_with(&t.candidates.at[0], "Authorization"), 1);
	set_secrets(&t, "sk-model", "authorization", "Basic x");
	CHECK_INT(make(&t), 0);
	CHECK_INT(lines_with(&t.candidates.at[0], "Authorization"), 1);
	CHECK_STR(t.candidates.at[0].headers[lines_with(&t.candidates.at[0], "content-type")],
		"authorization: Basic x");
	table_close(&t);
}

TEST(plan_prices_and_bounds_a_call)
{
	struct table t;

	table_open(&t, (const char *const[]){ "ok", NULL });
	CHECK_INT(t.candidates.at[0].price.prompt, 1000000);
	CHECK_INT(t.candidates.at[0].output_tokens, DEFAULT_MAX_TOKENS);
	change(&t,
		"update models set is_free = 1, max_tokens = 17, timeout_s = 3, total_timeout_s = 9",
		NO_ARGS);
	t.chat.max_tokens = 100;
	CHECK_INT(make(&t), 0);
	CHECK_INT(t.candidates.at[0].price.prompt, 0);
	CHECK_INT(t.candidates.at[0].price.completion, 0);
	CHECK_INT(t.candidates.at[0].output_tokens, 17);
	CHECK_INT(t.candidates.at[0].silence_ms, 3000);
	CHECK_INT(t.candidates.at[0].total_ms, 9000);
	t.chat.max_tokens = 5;
	CHECK_INT(make(&t), 0);
	CHECK_INT(t.candidates.at[0].output_tokens, 5);
	test_step("the agent's limits");
	CHECK(t.candidates.per_minute == NIL && t.candidates.per_hour == NIL);
	change(&t,
		"insert into chat_configs (tenant_id, agent_id, chat_rph_limit, chat_rpm_limit, "
		"working_hours_enabled) values ($1, $2, 60, 6, 0)",
		ARGS(T(alone_tenant(t.alone)), T(alone_agent(t.alone))));
	change(&t, "update agent_rows set hourly_limit_pd = 42 where tenant_id = $1 and id = $2",
		ARGS(T(alone_tenant(t.alone)), T(alone_agent(t.alone))));
	CHECK_INT(make(&t), 0);
	CHECK_INT(t.candidates.per_minute, 6);
	CHECK_INT(t.candidates.per_hour, 60);
	CHECK_INT(t.candidates.hourly_limit_pd, 42);
	table_close(&t);
}

static void check_order(struct table *t, const char *order)
{
	CHECK_INT(make(t), 0);
	CHECK_INT(t->candidates.count, strlen(order));
	for (size_t i = 0; i < t->candidates.count && i < strlen(order); i++)
		CHECK_STR(t->candidates.at[i].model_id, t->ids[order[i] - 'a']);
}

static void grant(struct table *t, char model, int priority, int at)
{
	change(t,
		"update agent_models set priority = $3, created_at = $4 where tenant_id = $1 "
		"and model_id = $2",
		ARGS(T(alone_tenant(t->alone)), T(t->ids[model - 'a']), N(priority), N(at)));
}

static void fail_over(struct table *t, char from, const char *to)
{
	const char *text = "[";

	for (size_t i = 0; to[i]; i++)
		text = arena_printf(
			&t->arena, "%s%s\"%s\"", text, i ? "," : "", t->ids[to[i] - 'a']);
	change(t, "update models set failover_chain = $2 where id = $1",
		ARGS(T(t->ids[from - 'a']), T(arena_printf(&t->arena, "%s]", text))));
}

TEST(plan_stands_in_the_order_of_priority_then_grant)
{
	struct table t;

	table_open(&t, (const char *const[]){ "ok", "ok", "ok", "ok", "ok", "ok", NULL });
	check_order(&t, "abcdef");
	for (int i = 0; i < 6; i++)
		grant(&t, (char)('a' + i), i < 3 ? 2 : 1, 100 - i);
	check_order(&t, "fedcba");
	test_step("failover chains come after, to a depth, and none stands twice");
	change(&t, "delete from agent_models where tenant_id = $1 and model_id <> $2",
		ARGS(T(alone_tenant(t.alone)), T(t.ids[0])));
	check_order(&t, "a");
	fail_over(&t, 'a', "cb");
	fail_over(&t, 'b', "da");
	check_order(&t, "acbd");
	fail_over(&t, 'd', "e");
	fail_over(&t, 'e', "f");
	CHECK_INT(FAILOVER_DEPTH, 3);
	check_order(&t, "acbde"); /* f would be the fourth after a */
	test_step("a model that only stands in need not be granted, but the first must be");
	change(&t, "update agent_models set access = 'read_only' where tenant_id = $1",
		ARGS(T(alone_tenant(t.alone))));
	CHECK_INT(make(&t), ERR_FORBIDDEN);
	CHECK_STR(t.problem.code, "model_read_only");
	table_close(&t);
}

TEST(plan_says_of_several_refusals_the_first)
{
	struct table t;

	table_open(&t, (const char *const[]){ "ok", "ok", NULL });
	change(&t, "update models set status = 'disabled' where id = $1", ARGS(T(t.ids[0])));
	change(&t, "update models set base_url = null where id = $1", ARGS(T(t.ids[1])));
	CHECK_INT(make(&t), ERR_CONFLICT);
	CHECK_STR(t.problem.code, "model_disabled");
	change(&t, "delete from agent_models where tenant_id = $1", ARGS(T(alone_tenant(t.alone))));
	CHECK_INT(make(&t), ERR_CONFLICT);
	CHECK_STR(t.problem.code, "no_model");
	test_step("a model without an agent needs no grant");
	change(&t, "update models set status = 'active' where id = $1", ARGS(T(t.ids[0])));
	CHECK_INT(make_for(&t, NULL, t.ids[0]), 0);
	CHECK_STR(t.candidates.at[0].model_id, t.ids[0]);
	table_close(&t);
}

TEST(plan_routes_by_what_the_request_needs)
{
	struct table t;
	struct chat_message *m;

	table_open(&t, (const char *const[]){ "ok", "ok", "ok", NULL });
	test_step("a is a router; b is cheap and small, c is dear and able");
	change(&t, "update models set kind = 'router' where id = $1", ARGS(T(t.ids[0])));
	change(&t,
		"update models set available_to_all_tenants = 0, prompt_pd = 9 where id not in ($1, $2, $3)",
		ARGS(T(t.ids[0]), T(t.ids[1]), T(t.ids[2])));
	change(&t, "delete from agent_models where tenant_id = $1 and model_id <> $2",
		ARGS(T(alone_tenant(t.alone)), T(t.ids[0])));
	change(&t,
		"update models set available_to_all_tenants = 1, supports_tools = 0, supports_vision = 0, "
		"context_window = 8000 where id = $1",
		ARGS(T(t.ids[1])));
	change(&t,
		"update models set available_to_all_tenants = 1, supports_tools = 1, supports_vision = 1, "
		"context_window = 100000, prompt_pd = 5000000 where id = $1",
		ARGS(T(t.ids[2])));
	t.chat.max_tokens = 100;
	CHECK_INT(make(&t), 0);
	CHECK(t.candidates.count >= 2);
	CHECK_STR(t.candidates.at[0].model_id, t.ids[1]);
	CHECK_STR(t.candidates.at[1].model_id, t.ids[2]);
	test_step("what is free comes first");
	change(&t,
		"update models set is_free = 1, prompt_pd = null, completion_pd = null where id = $1",
		ARGS(T(t.ids[2])));
	CHECK_INT(make(&t), 0);
	CHECK_STR(t.candidates.at[0].model_id, t.ids[2]);
	change(&t, "update models set is_free = 0 where id = $1", ARGS(T(t.ids[2])));
	test_step("and what nobody has priced, last");
	CHECK_INT(make(&t), 0);
	CHECK_STR(t.candidates.at[0].model_id, t.ids[1]);
	test_step("long answers need room");
	t.chat.max_tokens = 8000;
	CHECK_INT(make(&t), 0);
	CHECK_STR(t.candidates.at[0].model_id, t.ids[2]);
	t.chat.max_tokens = 100;
	test_step("images need eyes");
	m = chat_message_add(&t.chat, CHAT_USER, "what is this?");
	chat_image(chat_part_add(&t.chat, m, PART_IMAGE_URL), SLICE("https://example.org/a.png"));
	CHECK_INT(make(&t), 0);
	CHECK_STR(t.candidates.at[0].model_id, t.ids[2]);
	change(&t, "update models set supports_vision = 0", NO_ARGS);
	CHECK_INT(make(&t), ERR_CONFLICT);
	CHECK_STR(t.problem.code, "no_model");
	table_close(&t);
}
