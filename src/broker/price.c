/* price.c - see price.h. */
#include "broker/price.h"

#include <string.h>

#include "base/json.h"
#include "contract/schema.h"

/* Adds count times price; false if it does not fit or makes no sense. */
static bool add_priced(__int128 *sum, int64_t count, int64_t price)
{
	__int128 product;

	if (count < 0 || (price < 0 && price != NIL))
		return false;
	if (price == NIL)
		return true;
	return !__builtin_mul_overflow((__int128)count, (__int128)price, &product) &&
	       !__builtin_add_overflow(*sum, product, sum);
}

int price_cost(const struct price *p, const struct usage *u, int64_t *ret_pd)
{
	int64_t read = p->cache_read == NIL ? p->prompt : p->cache_read;
	int64_t written = p->cache_write == NIL ? p->prompt : p->cache_write;
	__int128 sum = 0;

	if (!add_priced(&sum, u->input, p->prompt) || !add_priced(&sum, u->cache_read, read) ||
		!add_priced(&sum, u->cache_write, written) ||
		!add_priced(&sum, u->output, p->completion) ||
		!add_priced(&sum, u->characters, p->character) ||
		!add_priced(&sum, u->seconds, p->second) || sum > INT64_MAX)
		return ERR_INVALID;
	*ret_pd = (int64_t)sum;
	return 0;
}

/* ---- the object ---- */

static const struct part {
	const char *name;
	size_t at;
} parts[] = {
	{ "prompt", offsetof(struct price, prompt) },
	{ "completion", offsetof(struct price, completion) },
	{ "cache_read", offsetof(struct price, cache_read) },
	{ "cache_write", offsetof(struct price, cache_write) },
	{ "character", offsetof(struct price, character) },
	{ "second", offsetof(struct price, second) },
};

static int64_t *part_of(struct price *p, const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strlen(parts[i].name) == len && memcmp(parts[i].name, name, len) == 0)
			return (int64_t *)(void *)((char *)p + parts[i].at);
	return NULL;
}

/* One member; false when the text itself is broken. */
static bool read_price_part(
	struct json_reader *r, int64_t *part, const char *field, struct problem *p)
{
	const char *text;
	size_t len;

	switch (json_peek(r)) {
	case JSON_NULL:
		return json_read_null(r);
	case JSON_STRING:
		if (!json_read_string(r, &text, &len))
			return false;
		if (money_parse(text, len, part))
			problem_field(p, r->arena, field, "money",
				"must be USD a token (character, second) as decimal text such as \"0.000003\", not negative and "
				"not finer than 0.000000000001");
		return true;
	case JSON_NUMBER:
		problem_field(p, r->arena, field, "type",
			"must be a decimal string such as \"0.000003\": a number would lose digits, so "
			"put it in quotes");
		return json_skip(r, NULL, NULL);
	case JSON_BOOL:
	case JSON_ARRAY:
	case JSON_OBJECT:
	case JSON_FAULT:
		break;
	}
	problem_field(p, r->arena, field, "type",
		"must be a decimal string such as \"0.000003\" or null");
	return json_skip(r, NULL, NULL);
}

int price_read(const char *json, size_t len, const char *path, struct price *ret, struct arena *a,
	struct problem *p)
{
	struct json_reader r;
	const char *name;
	size_t name_len;
	size_t before = p->count + p->unlisted;

	*ret = NO_PRICE;
	json_open(&r, a, json, len);
	if (json_peek(&r) != JSON_OBJECT)
		return problem_field(p, a, path, "type", "must be an object of prices");
	json_enter_object(&r);
	while (json_next_key(&r, &name, &name_len)) {
		const char *field = arena_printf(a, "%s.%s", path, name);
		int64_t *part = part_of(ret, name, name_len);

		if (part) {
			if (!read_price_part(&r, part, field, p))
				break;
			continue;
		}
		problem_field(p, a, field, "unknown_field",
			"is not a price; prompt, completion, cache_read, cache_write, character and second are");
		if (!json_skip(&r, NULL, NULL))
			break;
	}
	if (!json_end(&r))
		return problem_field(p, a, path, "type", "must be an object of prices");
	return p->count + p->unlisted > before ? ERR_INVALID : 0;
}

const char *price_json(const struct price *price, struct arena *a)
{
	const char *out = "{";

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		int64_t pd = *(const int64_t *)(const void *)((const char *)price + parts[i].at);
		char text[MONEY_TEXT_MAX];

		out = arena_printf(a, "%s%s\"%s\":%s%s%s", out, i ? "," : "", parts[i].name,
			pd == NIL ? "" : "\"", pd == NIL ? "null" : money_text(pd, text),
			pd == NIL ? "" : "\"");
	}
	return arena_printf(a, "%s}", out);
}
