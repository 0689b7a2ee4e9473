/* test_provider_keys.c - a tenant's own keys at providers: put, replaced, opened by the broker alone, and
 * shown to nobody. */
#include "fixture.h"

#include "broker/provider_keys.h"

#define KEYS "/tenant/%s/provider-keys"

struct opening {
	struct fixture *f;
	const char *tenant_id, *provider;
	struct provider_key key;
};

static int open_one(struct db *db, void *data)
{
	struct opening *o = data;

	return provider_key_open(
		db, o->f->app.vault, &o->f->arena, o->tenant_id, o->provider, &o->key);
}

static struct answer put(struct fixture *f, const char *provider, const char *body)
{
	return ask(f, f->admin, body, "PUT " KEYS "/%s", f->tenant_id, provider);
}

TEST(provider_key_is_put_replaced_and_removed)
{
	struct fixture *f = fixture_open();
	struct opening o = { f, f->tenant_id, "openai" };
	struct answer r = ask(f, f->admin, NULL, "GET " KEYS "/openai", f->tenant_id);

	STATUS(r, 404);
	CHECK_INT(fixture_work(f, open_one, &o), ERR_NOT_FOUND);
	r = put(f, "openai",
		"{\"api_key\":\"sk-first\",\"base_url\":\"https://m.example.org/v1//\"}");
	STATUS(r, 201);
	CHECK_STR(text_at(&r, "provider"), "openai");
	CHECK_STR(text_at(&r, "base_url"), "https://m.example.org/v1");
	CHECK_STR(text_at(&r, "created_at"), text_at(&r, "updated_at"));
	CHECK_INT(fixture_work(f, open_one, &o), 0);
	CHECK_STR(o.key.api_key, "sk-first");
	CHECK_STR(o.key.base_url, "https://m.example.org/v1");

	fixture_sql(f, "update provider_keys set created_at = 1000, updated_at = 1000", NO_ARGS);
	r = put(f, "openai", "{\"api_key\":\"sk-second\"}");
	STATUS(r, 200);
	CHECK(json_is_null(at(&r, "base_url")));
	CHECK_STR(text_at(&r, "created_at"), "1970-01-01T00:00:00.001Z");
	CHECK(strcmp(text_at(&r, "updated_at"), "1970-01-01T00:00:00.001Z") != 0);
	CHECK_INT(fixture_work(f, open_one, &o), 0);
	CHECK_STR(o.key.api_key, "sk-second");
	CHECK(!o.key.base_url);
	STATUS(ask(f, f->admin, NULL, "GET " KEYS "/openai", f->tenant_id), 200);

	STATUS(put(f, "anthropic", "{\"api_key\":\"sk-other\"}"), 201);
	r = ask(f, f->admin, NULL, "GET " KEYS, f->tenant_id);
	STATUS(r, 200);
	CHECK_STR(text_at(&r, "items.0.provider"), "anthropic");
	CHECK_STR(text_at(&r, "items.1.provider"), "openai");

	STATUS(ask(f, f->admin, NULL, "DELETE " KEYS "/openai", f->tenant_id), 204);
	STATUS(ask(f, f->admin, NULL, "DELETE " KEYS "/openai", f->tenant_id), 404);
	CHECK_INT(fixture_work(f, open_one, &o), ERR_NOT_FOUND);
	o.provider = "anthropic";
	CHECK_INT(fixture_work(f, open_one, &o), 0);
	fixture_close(f);
}

TEST(provider_key_is_refused_field_by_field)
{
	struct fixture *f = fixture_open();
	static const char *const strangers[] = { "demo", "router", "mistral", "OpenAI" };
	struct answer r;

	for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
		STATUS(put(f, strangers[i], "{\"api_key\":\"x\"}"), 404);
		STATUS(ask(f, f->admin, NULL, "GET " KEYS "/%s", f->tenant_id, strangers[i]), 404);
		STATUS(ask(f, f->admin, NULL, "DELETE " KEYS "/%s", f->tenant_id, strangers[i]),
			404);
	}
	r = put(f, "openai", "{\"base_url\":\"https://m.example.org\"}");
	CHECK(refuses(&r, "api_key", "required"));
	r = put(f, "openai", "{\"api_key\":\"two words\"}");
	CHECK(refuses(&r, "api_key", "pattern"));
	r = put(f, "openai", "{\"api_key\":\"x\",\"base_url\":\"https://127.0.0.1/v1\"}");
	CHECK(refuses(&r, "base_url", "address"));
	r = put(f, "openai", "{\"api_key\":\"x\",\"base_url\":\"http://m.example.org/v1\"}");
	CHECK(refuses(&r, "base_url", "address"));
	r = put(f, "openai", "{\"api_key\":\"x\",\"base_url\":\"https://m.example.org/?a=b\"}");
	CHECK(refuses(&r, "base_url", "address"));
	CHECK_INT(fixture_count(f, "select count(*) from provider_keys"), 0);
	f->app.settings.allow_private_addresses = true;
	STATUS(put(f, "openai", "{\"api_key\":\"x\",\"base_url\":\"http://127.0.0.1:8000/v1\"}"),
		201);
	fixture_close(f);
}

/* Counts the rows in which a text is found. */
static int64_t found(struct fixture *f, const char *table, const char *column, const char *text)
{
	return fixture_count(
		f, arena_printf(&f->arena, "select count(*) from %s where %s like '%%%s%%'", table,
			   column, text));
}

TEST(provider_key_is_shown_to_nobody)
{
	struct fixture *f = fixture_open();
	struct opening o = { f, f->tenant_id, "openai" };
	const char *other = fixture_tenant(f, "other", fixture_user(f, "other@example.org", NULL));
	struct answer r = put(f, "openai", "{\"api_key\":\"sk-of-nobody\"}");

	STATUS(r, 201);
	CHECK(!strstr(r.body, "sk-of-nobody"));
	r = ask(f, f->admin, NULL, "GET " KEYS "/openai", f->tenant_id);
	CHECK(!strstr(r.body, "sk-of-nobody") && !strstr(r.body, "api_key"));
	r = put(f, "openai", "{\"api_key\":\"sk-of-nobody\\u0000\"}");
	STATUS(r, 422);
	CHECK(!strstr(r.body, "sk-of-nobody"));
	CHECK_INT(found(f, "provider_keys", "sealed", "sk-of-nobody"), 0);
	CHECK_INT(found(f, "audit_logs", "meta", "sk-of-nobody"), 0);
	CHECK_INT(found(f, "audit_logs", "action", "provider_key.put"), 1);

	test_step("it opens only in its own place");
	o.tenant_id = other;
	CHECK_INT(fixture_work(f, open_one, &o), ERR_NOT_FOUND);
	fixture_sql(f, "update provider_keys set id = 'c000000000000000000000000'", NO_ARGS);
	o.tenant_id = f->tenant_id;
	CHECK_INT(fixture_work(f, open_one, &o), ERR_SECRET);
	fixture_close(f);
}
