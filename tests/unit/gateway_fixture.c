/* gateway_fixture.c - see gateway_fixture.h. */
#include "gateway_fixture.h"

#include <poll.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "broker/broker.h"
#include "broker/secrets.h"
#include "run_alone.h"

void gateway_open(struct gateway_fixture *s)
{
	*s = (struct gateway_fixture){ .f = fixture_open() };
	mock_open(&s->mock);
}

void gateway_close(struct gateway_fixture *s)
{
	mock_close(&s->mock);
	fixture_close(s->f);
}

static bool is_silent(const char *script)
{
	static const char *const silent[] = { "stall", "silent", "slow", "later" };

	for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
		if (strncmp(script, silent[i], strlen(silent[i])) == 0)
			return true;
	return false;
}

const char *gateway_model(struct gateway_fixture *s, const char *script, const char *slug)
{
	struct id id = id_new(NULL);
	struct model_secrets secrets = { .api_key = "sk-model" };
	const char *url = mock_url(&s->mock, &s->f->arena, script), *sealed;

	CHECK_INT(model_secrets_seal(s->f->app.vault, &s->f->arena, id.text, &secrets, &sealed), 0);
	fixture_sql(s->f,
		"insert into models (id, name, slug, kind, status, supports_tools, supports_vision, "
		"is_free, available_to_all_tenants, prompt_pd, completion_pd, base_url, "
		"provider_model, timeout_s, total_timeout_s, has_api_key, header_names, secrets, "
		"failover_chain, created_at, updated_at) values ($1, $2, $2, 'openai', 'active', 1, 0, "
		"0, 1, $3, $4, $5, 'mock-model', $7, 20, 1, '[]', $6, '[]', 1, 1)",
		ARGS(T(id.text), T(slug), N(PROMPT_PD), N(COMPLETION_PD), T(url), T(sealed),
			/* who is to be found silent; anyone else takes his time under a sanitizer */
			N(is_silent(script) ? 1 : 15)));
	return arena_strdup(&s->f->arena, id.text);
}

void gateway_agent(struct gateway_fixture *s, const char *const *scripts)
{
	static int made;

	s->slug = arena_printf(&s->f->arena, "agent-%d", ++made);
	s->agent_id = s->model = fixture_agent(s->f, s->slug);
	/* Without the model that every new agent has. */
	fixture_sql(s->f, "delete from agent_models where agent_id = $1", ARGS(T(s->agent_id)));
	for (s->count = 0; scripts[s->count]; s->count++) {
		s->slugs[s->count] = arena_printf(&s->f->arena, "mock-%d-%d", made, s->count);
		s->models[s->count] = gateway_model(s, scripts[s->count], s->slugs[s->count]);
		fixture_sql(s->f,
			"insert into agent_models (tenant_id, agent_id, model_id, access, priority, "
			"created_at) values ($1, $2, $3, 'full', $4, 1)",
			ARGS(T(s->f->tenant_id), T(s->agent_id), T(s->models[s->count]),
				N(s->count)));
	}
}

struct answer gateway_ask(struct gateway_fixture *s, const char *token, const char *more)
{
	if (s->messages)
		return ask(s->f, token,
			GATEWAY_BODY(s,
				arena_printf(&s->f->arena, "%s%s", more,
					strstr(more, "max_tokens") ? "" : ",\"max_tokens\":4096")),
			"POST /v1/messages");
	return ask(s->f, token, GATEWAY_BODY(s, more), "POST /v1/chat/completions");
}

const char *gateway_text(struct gateway_fixture *s, const struct answer *r)
{
	char *events = answer_unchunked(s->f, r), *out = arena_alloc(&s->f->arena, r->body_len + 1),
	     *next;
	size_t len = 0;

	for (char *line = events; line && *line; line = next) {
		json_t *v;
		const char *text;

		next = strstr(line, "\n\n");
		if (next) {
			*next = '\0';
			next += 2;
		}
		if (s->messages && strstr(line, "\ndata: {"))
			line = strstr(line, "data: {");
		if (strncmp(line, "data: {", 7) != 0)
			continue;
		v = json_loads(line + 6, 0, NULL);
		if (!v)
			test_fail(__FILE__, __LINE__, "not JSON: %s", line);
		text = json_string_value(json_object_get(
			json_object_get(json_array_get(json_object_get(v, "choices"), 0), "delta"),
			"content"));
		if (s->messages)
			text = json_string_value(
				json_object_get(json_object_get(v, "delta"), "text"));
		if (text) {
			memcpy(out + len, text, strlen(text));
			len += strlen(text);
		}
		json_decref(v);
	}
	return out;
}

void gateway_await_settled(struct gateway_fixture *s)
{
	for (int i = 0; i < 30000; i++) {
		if (!fixture_count(s->f, "select count(*) from reservations"))
			return;
		poll(NULL, 0, 2);
	}
	test_fail(__FILE__, __LINE__, "something is still reserved");
}

void gateway_settled(struct gateway_fixture *s, int64_t rows, int64_t cost_pd)
{
	gateway_await_settled(s);
	CHECK_INT(fixture_count(s->f, "select count(*) from ledger"), rows);
	CHECK_INT(fixture_count(s->f, "select coalesce(sum(cost_pd), 0) from ledger"), cost_pd);
}

void gateway_rebroker(struct gateway_fixture *s, const struct broker_settings *settings)
{
	struct broker_settings in = *settings;

	broker_stop(s->f->service.broker, 0);
	broker_free(s->f->service.broker);
	in.store = s->f->app.store;
	in.vault = s->f->app.vault;
	in.slow = s->f->app.slow;
	in.held = s->f->app.held;
	in.accounting = in.allow_private_addresses = true;
	s->f->service.broker = broker_new(&in);
}

/* ---- without HTTP: see run_alone.h ---- */

struct alone *alone_open(const char *const *scripts)
{
	struct gateway_fixture *s = calloc(1, sizeof *s);

	gateway_open(s);
	gateway_agent(s, scripts);
	return (struct alone *)s;
}

void alone_close(struct alone *a)
{
	gateway_close((struct gateway_fixture *)a);
	free(a);
}

struct app *alone_app(struct alone *a)
{
	return &((struct gateway_fixture *)a)->f->app;
}

const char *alone_tenant(struct alone *a)
{
	return ((struct gateway_fixture *)a)->f->tenant_id;
}

const char *alone_agent(struct alone *a)
{
	return ((struct gateway_fixture *)a)->agent_id;
}

int64_t alone_count(struct alone *a, const char *sql)
{
	gateway_await_settled((struct gateway_fixture *)a);
	return fixture_count(((struct gateway_fixture *)a)->f, sql);
}
