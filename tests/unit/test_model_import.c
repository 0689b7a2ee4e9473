/* test_model_import.c - lists of models and prices: both forms, what is made, changed, left and refused. */
#include "fixture.h"

#include <stdlib.h>

#include "api/models/model_import.h"
#include "base/clock.h"

static const char litellm[] =
	"{\"sample_spec\":{\"mode\":\"one of chat, embedding\",\"input_cost_per_token\":0.0},"
	"\"claude-x\":{\"litellm_provider\":\"anthropic\",\"mode\":\"chat\",\"max_input_tokens\":200000,"
	"\"input_cost_per_token\":3e-06,\"output_cost_per_token\":1.5e-05,"
	"\"cache_read_input_token_cost\":3e-07,\"cache_creation_input_token_cost\":3.75e-06,"
	"\"supports_function_calling\":true,\"supports_vision\":true,\"search_context\":{\"a\":[1]}},"
	"\"groq/llama-x\":{\"litellm_provider\":\"groq\",\"mode\":\"chat\",\"input_cost_per_token\":5e-8},"
	"\"embed-x\":{\"litellm_provider\":\"openai\",\"mode\":\"embedding\"},"
	"\"bedrock/x\":{\"litellm_provider\":\"bedrock\",\"mode\":\"chat\"},"
	"\"fine-x\":{\"litellm_provider\":\"openai\",\"mode\":\"chat\",\"input_cost_per_token\":1.5e-13},"
	"\"bad slug\":{\"litellm_provider\":\"openai\",\"mode\":\"chat\"}}";

struct desk {
	struct fixture *f;
	struct model_editor e;
	struct problem problem;
	struct buf lines;
	struct model_import report;
};

static struct desk *desk_open(void)
{
	struct desk *d = calloc(1, sizeof *d);

	d->f = fixture_open();
	buf_init(&d->lines, 1 << 20);
	d->report.lines = &d->lines;
	d->e = (struct model_editor){ .arena = &d->f->arena,
		.vault = d->f->app.vault,
		.patterns = d->f->app.patterns,
		.problem = &d->problem };
	return d;
}

static void desk_close(struct desk *d)
{
	buf_free(&d->lines);
	fixture_close(d->f);
	free(d);
}

static int import(struct desk *d, const char *text)
{
	struct problem p = { 0 };
	int err;

	d->problem = (struct problem){ 0 };
	CHECK_INT(store_connect(d->f->app.store, &d->e.db, &d->f->arena, &p), 0);
	CHECK_INT(db_begin(d->e.db, READ_WRITE), 0);
	err = model_import(&d->e, text, strlen(text), clock_now_us(), &d->report);
	if (err)
		db_rollback(d->e.db);
	else
		CHECK_INT(db_commit(d->e.db), 0);
	db_close(d->e.db);
	return err;
}

static bool says(struct desk *d, const char *line)
{
	const char *all = arena_strndup(&d->f->arena, d->lines.at ? d->lines.at : "", d->lines.len);

	if (strstr(all, line))
		return true;
	printf("%s\n", all);
	return false;
}

/* The model of that slug, as the registry shows it. */
static json_t *model(struct desk *d, const char *slug)
{
	struct answer r = ask(d->f, d->f->admin, NULL, "GET /admin/models?per_page=200");
	json_t *item;
	size_t i;

	json_array_foreach(at(&r, "items"), i, item)
	{
		if (strcmp(json_string_value(json_object_get(item, "slug")), slug) == 0)
			return item;
	}
	return NULL;
}

static const char *text_of(json_t *v, const char *a, const char *b)
{
	v = json_object_get(v, a);
	return json_string_value(b ? json_object_get(v, b) : v);
}

TEST(import_of_the_well_known_list)
{
	struct desk *d = desk_open();
	json_t *m;

	CHECK_INT(import(d, litellm), 0);
	CHECK_INT(d->report.made, 2);
	CHECK_INT(d->report.no_chat, 2);
	CHECK_INT(d->report.no_provider, 1);
	CHECK_INT(d->report.refused, 2);
	CHECK(says(d, "made claude-x: anthropic, disabled until it has a key\n"));
	CHECK(says(d, "refused fine-x: input_cost_per_token is 1.5e-13"));
	CHECK(says(d, "refused bad slug: slug "));
	m = model(d, "claude-x");
	CHECK_STR(text_of(m, "kind", NULL), "anthropic");
	CHECK_STR(text_of(m, "status", NULL), "disabled");
	CHECK_STR(text_of(m, "config", "model"), "claude-x");
	CHECK_STR(text_of(m, "pricing", "prompt"), "0.000003");
	CHECK_STR(text_of(m, "pricing", "completion"), "0.000015");
	CHECK_STR(text_of(m, "pricing", "cache_read"), "0.0000003");
	CHECK_STR(text_of(m, "pricing", "cache_write"), "0.00000375");
	CHECK_INT(json_integer_value(json_object_get(m, "context_window")), 200000);
	CHECK(json_is_true(json_object_get(m, "supports_tools")));
	CHECK(json_is_true(json_object_get(m, "supports_vision")));
	CHECK(json_is_false(json_object_get(m, "available_to_all_tenants")));
	m = model(d, "groq/llama-x");
	CHECK_STR(text_of(m, "config", "model"), "llama-x");
	CHECK_STR(text_of(m, "config", "base_url"), "https://api.groq.com/openai/v1");

	test_step("again: nothing changes");
	CHECK_INT(import(d, litellm), 0);
	CHECK_INT(d->report.made + d->report.changed, 0);
	CHECK_INT(d->report.same, 2);

	test_step("what was configured stays, what it costs follows the list");
	STATUS(ask(d->f, d->f->admin,
		       "{\"name\":\"Mine\",\"status\":\"active\",\"description\":\"D\",\"config\":"
		       "{\"base_url\":\"https://own.example.org\",\"model\":\"own\",\"api_key\":\"k\"}}",
		       "PATCH /admin/models/%s", text_of(model(d, "claude-x"), "id", NULL)),
		200);
	CHECK_INT(import(d, "{\"claude-x\":{\"litellm_provider\":\"anthropic\",\"mode\":\"chat\","
			    "\"max_input_tokens\":400000,\"input_cost_per_token\":0.000002,"
			    "\"supports_function_calling\":true,\"supports_vision\":true}}"),
		0);
	CHECK_INT(d->report.changed, 1);
	CHECK(says(d, "changed claude-x: context_window, pricing\n"));
	m = model(d, "claude-x");
	CHECK_STR(text_of(m, "name", NULL), "Mine");
	CHECK_STR(text_of(m, "status", NULL), "active");
	CHECK_STR(text_of(m, "config", "base_url"), "https://own.example.org");
	CHECK_STR(text_of(m, "pricing", "prompt"), "0.000002");
	CHECK(!text_of(m, "pricing", "completion"));
	CHECK_INT(json_integer_value(json_object_get(m, "context_window")), 400000);
	desk_close(d);
}

TEST(import_says_nothing_that_could_steer_a_terminal)
{
	struct desk *d = desk_open();

	CHECK_INT(
		import(d,
			"[{\"name\":\"A\",\"slug\":\"a\\u001b[2J\\nmade b\\u009b\",\"kind\":\"demo\"},"
			"{\"name\":\"C\",\"slug\":\"c\",\"kind\":\"demo\",\"x\\u001b[2J\\r\":1}]"),
		0);
	CHECK_INT(d->report.refused, 2);
	CHECK(says(d, "refused a?[2J?made b??: slug "));
	CHECK(says(d, "refused c: x?[2J? "));
	for (size_t i = 0; i < d->lines.len; i++)
		CHECK(d->lines.at[i] == '\n' || (d->lines.at[i] >= ' ' && d->lines.at[i] <= '~'));
	desk_close(d);
}

TEST(import_of_an_array)
{
	struct desk *d = desk_open();
	json_t *m;

	CHECK_INT(
		import(d,
			"[{\"name\":\"A\",\"slug\":\"a\",\"kind\":\"openai\",\"pricing\":{\"prompt\":\"0.1\"}},"
			"{\"name\":\"B\",\"slug\":\"b\",\"kind\":\"openai\",\"config\":{\"base_url\":"
			"\"https://b.example.org\",\"model\":\"b\",\"api_key\":\"key-of-b\"}},"
			"{\"name\":\"C\",\"slug\":\"c\",\"kind\":\"openai\",\"status\":\"active\"},"
			"{\"name\":\"R\",\"slug\":\"r\",\"kind\":\"router\"},"
			"{\"name\":\"X\",\"slug\":\"x\",\"kind\":\"openai\",\"pricing\":{\"prompt\":0.1},"
			"\"config\":{\"base_url\":\"https://127.0.0.1\",\"model\":\"x\"}},"
			"{\"name\":\"Y\"},7,"
			"{\"name\":\"D\",\"slug\":\"demo\",\"kind\":\"router\"}]"),
		0);
	CHECK_INT(d->report.made, 4);
	CHECK_INT(d->report.refused, 4);
	CHECK(says(d, "made a: openai, disabled until it has a key\n"));
	CHECK(says(d, "made b: openai, active\n"));
	CHECK(says(d, "made c: openai, active\n"));
	CHECK(says(d, "made r: router, active\n"));
	CHECK(says(d, "refused x: pricing.prompt must be a decimal string"));
	CHECK(says(d, "config.base_url is a private or loopback address"));
	CHECK(says(d, "refused an entry: it is not an object with a slug\n"));
	CHECK(says(d, "refused demo: it is of the kind demo"));
	CHECK(!strstr(arena_strndup(&d->f->arena, d->lines.at, d->lines.len), "key-of-b"));
	CHECK(json_is_null(json_object_get(model(d, "a"), "config")));
	CHECK(json_is_true(
		json_object_get(json_object_get(model(d, "b"), "config"), "api_key_set")));

	test_step("what an entry says is changed, and nothing else");
	CHECK_INT(
		import(d,
			"[{\"name\":\"B2\",\"slug\":\"b\",\"kind\":\"openai\",\"supports_tools\":true}]"),
		0);
	CHECK(says(d, "changed b: name, supports_tools\n"));
	m = model(d, "b");
	CHECK_STR(text_of(m, "status", NULL), "active");
	CHECK(json_is_true(json_object_get(json_object_get(m, "config"), "api_key_set")));
	desk_close(d);
}

TEST(import_refuses_what_is_no_list)
{
	static const char *const bad[] = { "", "7", "\"x\"", "null", "[", "[{\"slug\":\"a\"}",
		"{\"a\":{\"mode\":\"chat\"}", "[{\"slug\":\"a\",\"slug\":\"b\"}]", "{} x", "\xff" };
	struct desk *d = desk_open();

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		test_step("%s", bad[i]);
		CHECK_INT(import(d, bad[i]), ERR_BAD_JSON);
		CHECK(d->problem.detail && strstr(d->problem.detail, "the list is "));
	}
	CHECK_INT(import(d, "[]"), 0);
	CHECK_INT(import(d, "{}"), 0);
	CHECK_INT(fixture_count(d->f, "select count(*) from models"), 1);
	desk_close(d);
}
