/* price_list.c - see price_list.h. */
#include "api/models/price_list.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "broker/price.h"

enum { ENTRY_MAX = 1024 * 1024, NAME_MAX_BYTES = 128 };

/* Providers that speak one of the protocols we do, and where they listen. */
static const struct price_provider {
	const char *name, *kind, *base_url;
} providers[] = {
	{ "anthropic", "anthropic", "https://api.anthropic.com/v1" },
	{ "cerebras", "openai", "https://api.cerebras.ai/v1" },
	{ "deepseek", "openai", "https://api.deepseek.com/v1" },
	{ "fireworks_ai", "openai", "https://api.fireworks.ai/inference/v1" },
	{ "gemini", "openai", "https://generativelanguage.googleapis.com/v1beta/openai" },
	{ "groq", "openai", "https://api.groq.com/openai/v1" },
	{ "mistral", "openai", "https://api.mistral.ai/v1" },
	{ "openai", "openai", "https://api.openai.com/v1" },
	{ "openrouter", "openai", "https://openrouter.ai/api/v1" },
	{ "perplexity", "openai", "https://api.perplexity.ai" },
	{ "together_ai", "openai", "https://api.together.xyz/v1" },
	{ "xai", "openai", "https://api.x.ai/v1" },
};

static const struct price_provider *provider_named(const char *name)
{
	for (size_t i = 0; name && i < sizeof providers / sizeof *providers; i++)
		if (strcmp(providers[i].name, name) == 0)
			return &providers[i];
	return NULL;
}

/* ---- an entry of LiteLLM's list ---- */

struct litellm {
	const char *provider, *mode;
	int64_t context_window; /* 0: not said */
	bool tools, vision;
	const char *prices[4]; /* as decimal text, in the order of price_names */
	const char *fault;
};

/* Their name, and ours. */
static const char *const price_names[4][2] = {
	{ "input_cost_per_token", "prompt" },
	{ "output_cost_per_token", "completion" },
	{ "cache_read_input_token_cost", "cache_read" },
	{ "cache_creation_input_token_cost", "cache_write" },
};

/* True if the member was a price and has been read. */
static bool take_price(struct json_reader *r, const char *name, struct litellm *out)
{
	char text[MONEY_TEXT_MAX];
	struct json_number n;
	int64_t pd;

	for (size_t i = 0; i < 4; i++) {
		if (strcmp(name, price_names[i][0]) != 0 || json_peek(r) != JSON_NUMBER)
			continue;
		if (!json_read_number(r, &n))
			return true;
		if (money_parse_number(n.text, n.len, &pd))
			out->fault = arena_printf(r->arena,
				"%s is %.*s, which is not a whole number of 0.000000000001 USD",
				name, n.len > 40 ? 40 : (int)n.len, n.text);
		else
			out->prices[i] = arena_strdup(r->arena, money_text(pd, text));
		return true;
	}
	return false;
}

static void take_member(struct json_reader *r, const char *name, struct litellm *out)
{
	enum json_type type = json_peek(r);
	struct json_number n;
	size_t len;

	if (take_price(r, name, out))
		return;
	if (type == JSON_STRING && strcmp(name, "litellm_provider") == 0)
		json_read_string(r, &out->provider, &len);
	else if (type == JSON_STRING && strcmp(name, "mode") == 0)
		json_read_string(r, &out->mode, &len);
	else if (type == JSON_BOOL && strcmp(name, "supports_function_calling") == 0)
		json_read_bool(r, &out->tools);
	else if (type == JSON_BOOL && strcmp(name, "supports_vision") == 0)
		json_read_bool(r, &out->vision);
	else if (type == JSON_NUMBER && strcmp(name, "max_input_tokens") == 0)
		out->context_window =
			json_read_number(r, &n) && n.is_integer && n.integer > 0 ? n.integer : 0;
	else
		json_skip(r, NULL, NULL);
}

static void put_entry_text(struct buf *b, const char *name, const char *text, size_t len)
{
	buf_printf(b, "\"%s\":", name);
	json_write_string(b, text, len);
	buf_putc(b, ',');
}

/* What the list knows better than whoever configured the model. */
static void put_facts(struct buf *b, const struct litellm *in)
{
	const char *comma = "";

	if (in->context_window)
		buf_printf(b, "\"context_window\":%lld,", (long long)in->context_window);
	buf_printf(b, "\"supports_tools\":%s,\"supports_vision\":%s,\"pricing\":{",
		in->tools ? "true" : "false", in->vision ? "true" : "false");
	for (size_t i = 0; i < 4; i++) {
		if (!in->prices[i])
			continue;
		buf_printf(b, "%s\"%s\":\"%s\"", comma, price_names[i][1], in->prices[i]);
		comma = ",";
	}
	buf_putc(b, '}');
}

/* The provider's name for the model: without the provider's own before it. */
static const char *bare_name(const char *slug, const char *provider)
{
	size_t len = strlen(provider);

	return strncmp(slug, provider, len) == 0 && slug[len] == '/' ? slug + len + 1 : slug;
}

static void compose_entry(struct arena *a, const struct litellm *in, const struct price_provider *p,
	struct price_entry *out)
{
	const char *model = bare_name(out->slug, p->name);
	size_t len = strlen(out->slug);
	struct buf b;

	buf_init(&b, ENTRY_MAX);
	buf_putc(&b, '{');
	put_entry_text(&b, "name", out->slug, len);
	put_entry_text(&b, "slug", out->slug, len);
	put_entry_text(&b, "kind", p->kind, strlen(p->kind));
	buf_lit(&b, "\"config\":{");
	put_entry_text(&b, "base_url", p->base_url, strlen(p->base_url));
	put_entry_text(&b, "model", model, strlen(model));
	b.len--;
	buf_lit(&b, "},");
	put_facts(&b, in);
	buf_putc(&b, '}');
	out->create = arena_strndup(a, b.at, b.len);
	b.len = 0;
	buf_putc(&b, '{');
	put_facts(&b, in);
	buf_putc(&b, '}');
	out->update = arena_take(a, &b);
}

static struct price_entry litellm_entry(
	struct json_reader *r, struct arena *a, const char *slug, size_t slug_len)
{
	struct price_entry entry = { .slug = slug };
	struct litellm in = { 0 };
	const struct price_provider *p;
	const char *name;
	size_t len;

	if (json_peek(r) != JSON_OBJECT) {
		json_skip(r, NULL, NULL);
		entry.kind = PRICE_NO_CHAT;
		return entry;
	}
	json_enter_object(r);
	while (json_next_key(r, &name, &len))
		take_member(r, name, &in);
	p = provider_named(in.provider);
	if (!in.mode || strcmp(in.mode, "chat") != 0)
		entry.kind = PRICE_NO_CHAT;
	else if (!p)
		entry.kind = PRICE_NO_PROVIDER;
	else if (in.fault || strlen(slug) != slug_len || slug_len > NAME_MAX_BYTES)
		entry.kind = PRICE_FAULTY;
	entry.fault = in.fault ? in.fault : "its name is not one that can be used";
	if (entry.kind == PRICE_ENTRY)
		compose_entry(a, &in, p, &entry);
	return entry;
}

/* ---- an entry of our own ---- */

/* The slug, for messages; decoding it comes later. */
static const char *slug_of(struct arena *a, const char *text, size_t len)
{
	const char *name, *slug = NULL;
	struct json_reader r;
	size_t n;

	json_open(&r, a, text, len);
	if (json_peek(&r) != JSON_OBJECT)
		return NULL;
	json_enter_object(&r);
	while (json_next_key(&r, &name, &n)) {
		if (strcmp(name, "slug") == 0 && json_peek(&r) == JSON_STRING)
			json_read_string(&r, &slug, &n);
		else
			json_skip(&r, NULL, NULL);
	}
	return slug;
}

static struct price_entry own_entry(struct json_reader *r, struct arena *a)
{
	struct price_entry entry = { 0 };
	const char *text;
	size_t len;

	if (!json_skip(r, &text, &len))
		return entry;
	entry.create = entry.update = arena_strndup(a, text, len);
	entry.slug = slug_of(a, text, len);
	if (!entry.slug) {
		entry.kind = PRICE_FAULTY;
		entry.fault = "it is not an object with a slug";
	}
	return entry;
}

int price_list_read(const char *text, size_t len, struct arena *a,
	int (*each)(void *ctx, const struct price_entry *entry), void *ctx, struct problem *p)
{
	struct json_reader r;
	struct price_entry entry;
	const char *name;
	size_t n;
	int err = 0;

	json_open(&r, a, text, len);
	if (json_peek(&r) == JSON_ARRAY) {
		json_enter_array(&r);
		while (!err && json_next_item(&r)) {
			entry = own_entry(&r, a);
			err = r.fault ? 0 : each(ctx, &entry);
		}
	} else if (json_peek(&r) == JSON_OBJECT) {
		json_enter_object(&r);
		while (!err && json_next_key(&r, &name, &n)) {
			entry = litellm_entry(&r, a, name, n);
			err = r.fault ? 0 : each(ctx, &entry);
		}
	} else if (!r.fault) {
		return problem_set(p, a, ERR_BAD_JSON,
			"the list is neither an array of models nor an object of prices");
	}
	if (!err && !json_end(&r))
		err = problem_set(p, a, ERR_BAD_JSON, "the list is not JSON: at byte %zu, %s",
			r.fault_at, r.fault);
	return err;
}
