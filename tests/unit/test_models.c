/* test_models.c - the registry of models: what is taken, what is refused and why, and that no key ever
 * comes back. */
#include "fixture.h"

#include "broker/secrets.h"

#define HOSTED                                                                                          \
	"{\"name\":\"Large\",\"slug\":\"large\",\"kind\":\"openai\",\"available_to_all_tenants\":true," \
	"\"context_window\":200000,\"supports_tools\":true,"                                            \
	"\"pricing\":{\"prompt\":\"0.000003\",\"completion\":\"0.000015\"},"                            \
	"\"config\":{\"base_url\":\"https://models.example.org/v1/\",\"model\":\"large-1\","            \
	"\"api_key\":\"sk-very-secret\",\"headers\":{\"X-Org\":\"hidden-org\",\"X-Two\":\"two\"}}}"

static struct answer make(struct fixture *f, const char *body)
{
	return ask(f, f->admin, body, "POST /admin/models");
}

static const char *make_demo(struct fixture *f, const char *slug)
{
	struct answer r =
		make(f, arena_printf(&f->arena,
				"{\"name\":\"%s\",\"slug\":\"%s\",\"kind\":\"demo\"}", slug, slug));

	STATUS(r, 201);
	return text_at(&r, "id");
}

static struct answer patch(struct fixture *f, const char *id, const char *body)
{
	return ask(f, f->admin, body, "PATCH /admin/models/%s", id);
}

/* What is sealed in the row. */
static struct model_secrets secrets_of(struct fixture *f, const char *id)
{
	struct text_row {
		const char *value;
	};
	static const struct field fields[] = { FIELD(text_row, value) };
	static const struct schema row_schema = {
		.name = "row", .size = sizeof(struct text_row), .fields = fields, .count = 1
	};
	struct statement st = { "test", "select secrets as value from models where id = $1",
		.row = &row_schema, .scan = "a test" };
	struct model_secrets s;
	struct text_row row;
	struct problem p = { 0 };
	struct db *db;

	CHECK_INT(store_connect(f->app.store, &db, &f->arena, &p), 0);
	CHECK_INT(db_one(db, &f->arena, &st, &row, ARGS(T(id))), 0);
	CHECK(!row.value || !strstr(row.value, "secret"));
	CHECK_INT(model_secrets_open(f->app.vault, &f->arena, id, row.value, &s), 0);
	db_close(db);
	return s;
}

TEST(models_are_entered_read_and_listed_without_secrets)
{
	struct fixture *f = fixture_open();
	struct answer r = make(f, HOSTED), again;
	const char *id = text_at(&r, "id");
	struct model_secrets s;

	STATUS(r, 201);
	CHECK_STR(header_of(f, &r, "Location"), arena_printf(&f->arena, "/admin/models/%s", id));
	CHECK_STR(text_at(&r, "status"), "active");
	CHECK_STR(text_at(&r, "config.base_url"), "https://models.example.org/v1");
	CHECK_STR(text_at(&r, "config.model"), "large-1");
	CHECK(json_is_true(at(&r, "config.api_key_set")));
	CHECK(!at(&r, "config.api_key"));
	CHECK_INT(json_integer_value(at(&r, "config.timeout_s")), 60);
	CHECK_INT(json_integer_value(at(&r, "config.total_timeout_s")), 600);
	CHECK(json_is_null(at(&r, "config.headers.X-Org")));
	CHECK_INT(json_object_size(at(&r, "config.headers")), 2);
	CHECK_STR(text_at(&r, "pricing.prompt"), "0.000003");
	CHECK(json_is_null(at(&r, "pricing.cache_read")));
	again = ask(f, f->admin, NULL, "GET /admin/models/%s", id);
	STATUS(again, 200);
	CHECK_STR(again.body, r.body);
	r = ask(f, f->admin, NULL, "GET /admin/models");
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	CHECK_STR(text_at(&r, "items.0.id"), id);
	CHECK(!strstr(r.body, "secret") && !strstr(r.body, "hidden-org"));
	s = secrets_of(f, id);
	CHECK_STR(s.api_key, "sk-very-secret");
	CHECK_STR(model_header_find(&s, "x-org")->value, "hidden-org");
	r = ask(f, f->admin, NULL, "GET /admin/audit-logs");
	CHECK(strstr(r.body, "model.create") && !strstr(r.body, "very-secret") &&
		!strstr(r.body, "hidden-org"));
	r = make(f, HOSTED);
	STATUS(r, 409);
	CHECK(strstr(text_at(&r, "detail"), "large"));
	STATUS(ask(f, f->admin, NULL, "GET /admin/models/c000000000000000000000000"), 404);
	fixture_close(f);
}

TEST(models_demo_is_in_a_fresh_store)
{
	struct fixture *f = fixture_open();
	struct answer r = ask(f, f->admin, NULL, "GET /admin/models");

	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.slug"), "demo");
	CHECK_STR(text_at(&r, "items.0.kind"), "demo");
	CHECK_STR(text_at(&r, "items.0.status"), "active");
	CHECK(json_is_true(at(&r, "items.0.is_free")));
	CHECK(json_is_true(at(&r, "items.0.available_to_all_tenants")));
	CHECK(json_is_null(at(&r, "items.0.config")));
	CHECK_STR(text_at(&r, "items.0.pricing.prompt"), "0");
	CHECK(strstr(text_at(&r, "items.0.description"), "offline demonstration"));
	fixture_close(f);
}

#define M(kind, rest) "{\"name\":\"N\",\"slug\":\"n\",\"kind\":\"" kind "\"" rest "}"
#define C(rest) M("openai", ",\"config\":{" rest "}")
#define URL(url) C("\"model\":\"m\",\"base_url\":\"" url "\"")

TEST(models_refuse_what_is_wrong_and_name_it)
{
	static const struct {
		const char *body, *field, *code;
	} cases[] = {
		{ M("magic", ""), "kind", "choice" },
		{ M("openai", ""), "config", "required" },
		{ M("anthropic", ",\"config\":null"), "config", "required" },
		{ M("openai_responses", ",\"config\":{}"), "config.base_url", "required" },
		{ M("openai", ",\"config\":{}"), "config.model", "required" },
		{ M("demo", ",\"config\":{\"base_url\":\"https://x.example.org\"}"),
			"config.base_url", "not_for_kind" },
		{ M("router", ",\"config\":{\"model\":\"m\"}"), "config.model", "not_for_kind" },
		{ M("demo", ",\"pricing\":{\"prompt\":0.1}"), "pricing.prompt", "type" },
		{ M("demo", ",\"pricing\":{\"input\":\"0.1\"}"), "pricing.input", "unknown_field" },
		{ M("demo", ",\"pricing\":{\"completion\":\"1e-6\"}"), "pricing.completion",
			"money" },
		{ M("demo", ",\"context_window\":0"), "context_window", "too_small" },
		{ M("demo", ",\"status\":\"on\""), "status", "choice" },
		{ "{\"name\":\"N\",\"slug\":\"agent:x\",\"kind\":\"demo\"}", "slug", "pattern" },
		{ "{\"name\":\"N\",\"slug\":\"a b\",\"kind\":\"demo\"}", "slug", "pattern" },
		{ "{\"slug\":\"n\",\"kind\":\"demo\"}", "name", "required" },
		{ C("\"base_url\":3"), "config.base_url", "type" },
		{ C("\"key\":\"x\""), "config.key", "unknown_field" },
		{ C("\"api_key\":\"a b\""), "config.api_key", "pattern" },
		{ C("\"api_key\":\"a\\nb\""), "config.api_key", "pattern" },
		{ C("\"timeout_s\":0"), "config.timeout_s", "too_small" },
		{ C("\"timeout_s\":61,\"total_timeout_s\":60"), "config.total_timeout_s",
			"too_small" },
		{ C("\"max_tokens\":0"), "config.max_tokens", "too_small" },
		{ C("\"headers\":[]"), "config.headers", "type" },
		{ C("\"headers\":{\"Host\":\"x\"}"), "config.headers.Host", "header" },
		{ C("\"headers\":{\"proxy-auth\":\"x\"}"), "config.headers.proxy-auth", "header" },
		{ C("\"headers\":{\"a b\":\"x\"}"), "config.headers.a b", "header" },
		{ C("\"headers\":{\"X\":\"a\\r\\nY: b\"}"), "config.headers.X", "header" },
		{ C("\"headers\":{\"X\":\"1\",\"x\":\"2\"}"), "config.headers.x", "header" },
		{ C("\"headers\":{\"X\":3}"), "config.headers.X", "type" },
		{ C("\"headers\":{\"X\":null}"), "config.headers.X", "header" },
		{ URL("ftp://x.example.org"), "config.base_url", "address" },
		{ URL("x.example.org/v1"), "config.base_url", "address" },
		{ URL("https://"), "config.base_url", "address" },
		{ URL("https://u:p@x.example.org"), "config.base_url", "address" },
		{ URL("https://@x.example.org"), "config.base_url", "address" },
		{ URL("https://x.example.org/v1?a=b"), "config.base_url", "address" },
		{ URL("https://x.example.org/v1#f"), "config.base_url", "address" },
		{ URL("https://x.example.org\\\\@10.0.0.1"), "config.base_url", "address" },
		{ URL("https://x.example.org/a b"), "config.base_url", "address" },
		{ URL("http://x.example.org/v1"), "config.base_url", "address" },
		{ URL("https://127.0.0.1/v1"), "config.base_url", "address" },
		{ URL("https://localhost:8000"), "config.base_url", "address" },
		{ URL("https://10.1.2.3"), "config.base_url", "address" },
		{ URL("https://169.254.169.254/latest"), "config.base_url", "address" },
		{ URL("https://[::1]/v1"), "config.base_url", "address" },
		{ URL("https://[fd00::1]"), "config.base_url", "address" },
		{ URL("https://2130706433"), "config.base_url", "address" },
		{ URL("https://0x7f.1"), "config.base_url", "address" },
	};
	struct fixture *f = fixture_open();

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct answer r = make(f, cases[i].body);

		test_step("%s", cases[i].body);
		if (!refuses(&r, cases[i].field, cases[i].code))
			test_fail(__FILE__, __LINE__, "%s is not refused: %s", cases[i].field,
				r.body);
	}
	CHECK_INT(fixture_count(f, "select count(*) from models"), 1);
	fixture_close(f);
}

TEST(models_list_every_fault_at_once)
{
	struct fixture *f = fixture_open();
	struct answer r = make(f,
		M("openai",
			",\"pricing\":{\"prompt\":1},\"config\":{\"base_url\":\"https://10.0.0.1\","
			"\"headers\":{\"Host\":\"x\"}},"
			"\"failover_chain\":[\"c000000000000000000000000\"]"));

	CHECK(refuses(&r, "pricing.prompt", "type"));
	CHECK(refuses(&r, "config.base_url", "address"));
	CHECK(refuses(&r, "config.model", "required"));
	CHECK(refuses(&r, "config.headers.Host", "header"));
	CHECK(refuses(&r, "failover_chain[0]", "unknown"));
	fixture_close(f);
}

TEST(models_reach_private_addresses_where_the_setting_allows)
{
	static const char *const urls[] = { URL("http://127.0.0.1:11434/v1"),
		URL("http://[::1]:8000"), URL("https://10.1.2.3"), URL("http://x.example.org") };
	struct fixture *f = fixture_open();

	f->app.settings.allow_private_addresses = true;
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		test_step("%s", urls[i]);
		STATUS(make(f, urls[i]), 201);
		fixture_sql(f, "delete from models where slug = 'n'", NO_ARGS);
	}
	fixture_close(f);
}

TEST(models_change_what_is_sent)
{
	struct fixture *f = fixture_open();
	struct answer r = make(f, HOSTED), before;
	const char *id = text_at(&r, "id");

	before = ask(f, f->admin, NULL, "GET /admin/models/%s", id);
	test_step("null leaves what cannot be empty, and clears the description");
	patch(f, id, "{\"description\":\"D\"}");
	r = patch(f, id,
		"{\"name\":null,\"status\":null,\"is_free\":null,\"available_to_all_tenants\":null,"
		"\"config\":null,\"pricing\":null,\"failover_chain\":null,\"description\":null}");
	STATUS(r, 200);
	json_object_del(r.json, "updated_at");
	json_object_del(before.json, "updated_at");
	CHECK(json_equal(r.json, before.json));
	r = patch(f, id,
		"{\"name\":\"Larger\",\"status\":\"experimental\",\"is_free\":true,"
		"\"available_to_all_tenants\":false,\"pricing\":{\"cache_read\":\"0.0000003\"}}");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "name"), "Larger");
	CHECK_STR(text_at(&r, "status"), "experimental");
	CHECK(json_is_true(at(&r, "is_free")));
	CHECK(json_is_false(at(&r, "available_to_all_tenants")));
	CHECK(json_is_null(at(&r, "pricing.prompt")));
	CHECK_STR(text_at(&r, "pricing.cache_read"), "0.0000003");
	CHECK(json_is_true(at(&r, "config.api_key_set")));
	r = patch(f, id, "{\"name\":\"\"}");
	CHECK(refuses(&r, "name", "too_short"));
	r = patch(f, id, "{\"config\":{\"base_url\":\"https://10.0.0.1\",\"x\":1}}");
	CHECK(refuses(&r, "config.x", "unknown_field"));
	r = patch(f, id, "{\"config\":{\"base_url\":\"https://10.0.0.1\"}}");
	CHECK(refuses(&r, "config.base_url", "address"));
	CHECK(refuses(&r, "config.model", "required"));
	r = patch(f, id, "{\"slug\":\"other\"}");
	CHECK(refuses(&r, "slug", "unknown_field"));
	STATUS(patch(f, "c000000000000000000000000", "{}"), 404);
	fixture_close(f);
}

#define ADDRESS "\"base_url\":\"https://two.example.org\",\"model\":\"m2\""

TEST(models_keep_replace_and_clear_the_key)
{
	struct fixture *f = fixture_open();
	struct answer r = make(f, HOSTED);
	const char *id = text_at(&r, "id");
	struct model_secrets s;
	char *body;

	test_step("what was read can be sent back");
	body = json_dumps(at(&r, "config"), 0);
	STATUS(patch(f, id, arena_printf(&f->arena, "{\"config\":%s}", body)), 200);
	free(body);
	s = secrets_of(f, id);
	CHECK_STR(s.api_key, "sk-very-secret");
	CHECK_STR(model_header_find(&s, "X-Two")->value, "two");

	test_step("a config without a key keeps it, and without headers drops them");
	r = patch(f, id, "{\"config\":{" ADDRESS "}}");
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "config.base_url"), "https://two.example.org");
	CHECK_INT(json_object_size(at(&r, "config.headers")), 0);
	s = secrets_of(f, id);
	CHECK_STR(s.api_key, "sk-very-secret");
	CHECK_INT(s.header_count, 0);

	test_step("another key");
	r = patch(f, id,
		"{\"config\":{" ADDRESS
		",\"api_key\":\"sk-other\",\"headers\":{\"X-A\":\"new\"}}}");
	s = secrets_of(f, id);
	CHECK_STR(s.api_key, "sk-other");
	CHECK_STR(s.headers[0].value, "new");

	test_step("a new header beside one that is kept");
	patch(f, id, "{\"config\":{" ADDRESS ",\"headers\":{\"X-A\":null,\"X-B\":\"b\"}}}");
	s = secrets_of(f, id);
	CHECK_INT(s.header_count, 2);
	CHECK_STR(model_header_find(&s, "X-A")->value, "new");

	test_step("null clears");
	r = patch(f, id, "{\"config\":{" ADDRESS ",\"api_key\":null}}");
	CHECK(json_is_false(at(&r, "config.api_key_set")));
	CHECK_INT(fixture_count(f, "select count(*) from models where secrets is not null"), 0);
	r = ask(f, f->admin, NULL, "GET /admin/audit-logs");
	CHECK(strstr(r.body, "\"(secret)\"") && !strstr(r.body, "sk-"));
	fixture_close(f);
}

TEST(models_sealed_with_a_lost_key_say_so)
{
	struct fixture *f = fixture_open();
	struct answer r = make(f, HOSTED);
	const char *id = text_at(&r, "id");

	fixture_sql(f, "update models set secrets = 'x' where id = $1", ARGS(T(id)));
	r = patch(f, id, "{\"config\":{" ADDRESS "}}");
	STATUS(r, 422);
	CHECK(strstr(r.body, "present master key"));
	STATUS(patch(f, id, "{\"name\":\"Other\"}"), 200);
	/* entered anew, it is whole again */
	STATUS(patch(f, id, "{\"config\":{" ADDRESS ",\"api_key\":\"sk-new\",\"headers\":{}}}"),
		200);
	CHECK_STR(secrets_of(f, id).api_key, "sk-new");
	fixture_close(f);
}

static struct answer chain(struct fixture *f, const char *id, const char *to)
{
	return patch(f, id, arena_printf(&f->arena, "{\"failover_chain\":[%s]}", to));
}

TEST(models_failover_chain_leads_somewhere_and_not_back)
{
	struct fixture *f = fixture_open();
	const char *a = make_demo(f, "a"), *b = make_demo(f, "b"), *c = make_demo(f, "c");
	const char *qa = arena_printf(&f->arena, "\"%s\"", a);
	const char *qb = arena_printf(&f->arena, "\"%s\"", b);
	const char *qc = arena_printf(&f->arena, "\"%s\"", c);
	struct answer r = chain(f, a, arena_printf(&f->arena, "%s,%s", qb, qc));

	STATUS(r, 200);
	CHECK_STR(text_at(&r, "failover_chain.0"), b);
	CHECK_STR(text_at(&r, "failover_chain.1"), c);
	r = chain(f, a, qa);
	CHECK(refuses(&r, "failover_chain[0]", "itself"));
	r = chain(f, a, arena_printf(&f->arena, "%s,%s", qb, qb));
	CHECK(refuses(&r, "failover_chain[1]", "repeated"));
	r = chain(f, a, arena_printf(&f->arena, "%s,\"c000000000000000000000000\"", qb));
	CHECK(refuses(&r, "failover_chain[1]", "unknown"));
	r = chain(f, a, "\"x\"");
	STATUS(r, 422);
	STATUS(chain(f, b, qc), 200);
	r = chain(f, c, qa);
	CHECK(refuses(&r, "failover_chain[0]", "cycle"));
	CHECK(strstr(r.body, "c -> a -> c"));
	r = chain(f, b, qa);
	CHECK(refuses(&r, "failover_chain[0]", "cycle"));
	CHECK(strstr(r.body, "b -> a -> b"));
	STATUS(chain(f, a, ""), 200);
	STATUS(chain(f, c, qa), 200);
	r = chain(f, a, qb);
	CHECK(refuses(&r, "failover_chain[0]", "cycle"));
	CHECK(strstr(r.body, "a -> b -> c -> a"));
	fixture_close(f);
}

TEST(models_are_given_to_tenants_and_taken)
{
	struct fixture *f = fixture_open();
	const char *token, *user = fixture_user(f, "o@example.org", &token);
	const char *tenant = fixture_tenant(f, "other", user), *id = make_demo(f, "private");
	struct answer r = ask(f, token, NULL, "GET /tenant/%s/models", tenant);

	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	CHECK_STR(text_at(&r, "items.0.slug"), "demo");
	r = ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", id, tenant);
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "tenant_id"), tenant);
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", id, tenant), 200);
	r = ask(f, token, NULL, "GET /tenant/%s/models", tenant);
	CHECK_INT(json_integer_value(at(&r, "total")), 2);
	CHECK_STR(text_at(&r, "items.0.slug"), "private");
	CHECK(!at(&r, "items.0.config"));
	CHECK(json_is_null(at(&r, "items.0.pricing.prompt")));
	r = ask(f, f->admin, NULL, "GET /tenant/%s/models", f->tenant_id);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	patch(f, id, "{\"status\":\"deprecated\"}");
	r = ask(f, token, NULL, "GET /tenant/%s/models", tenant);
	CHECK_INT(json_integer_value(at(&r, "total")), 1);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/models/%s/tenants/%s", id, tenant), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE /admin/models/%s/tenants/%s", id, tenant), 404);
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", user, tenant), 404);
	STATUS(ask(f, f->admin, NULL, "PUT /admin/models/%s/tenants/%s", id, user), 404);
	STATUS(ask(f, token, NULL, "PUT /admin/models/%s/tenants/%s", id, tenant), 403);
	fixture_close(f);
}
