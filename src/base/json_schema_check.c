/* json_schema_check.c - an instance against the rules; see json_schema.h.
 *
 * Steps, depth and the time of regular expressions are bounded.  Whatever
 * runs out of them is not satisfied, and that alone is told. */
#include <string.h>

#include "base/clock.h"
#include "base/json_schema_parts.h"

/* Of one regular expression over one text: ways tried, ways within each other, and memory for them. */
enum { MATCH_LIMIT = 100 * 1000, DEPTH_LIMIT = 10 * 1000, HEAP_KIB = 4096, MATCH_STEPS = 500 };

/* A part of a name, for a sentence. */
const char *check_quoted(struct checking *k, const char *text, size_t len)
{
	enum { SHOWN = 80 };
	struct buf b;

	buf_init(&b, SHOWN * 6 + 8);
	while (len > SHOWN || (len && !utf8_valid(text, len)))
		len--;
	json_write_string(&b, text, len);
	return arena_take(k->arena, &b);
}

bool check_spend(struct checking *k, size_t steps)
{
	k->steps += steps;
	if (k->steps > k->most && !k->spent)
		k->spent = "takes more steps to check than are allowed";
	return !k->spent;
}

bool check_match(struct checking *k, const pcre2_code *code, const char *text, size_t len)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	int64_t began = clock_mono_us();
	int found = PCRE2_ERROR_NOMEMORY;

	if (data && check_spend(k, MATCH_STEPS + len))
		found = pcre2_match(
			code, (PCRE2_SPTR)text, len, 0, PCRE2_NO_UTF_CHECK, data, k->limits);
	pcre2_match_data_free(data);
	k->regex_us += clock_mono_us() - began;
	if (!k->spent && ((found < 0 && found != PCRE2_ERROR_NOMATCH) ||
				 k->regex_us > JSON_SCHEMA_MS_MAX * 1000))
		k->spent = "takes a regular expression of the schema too long";
	return found >= 0;
}

bool check_rule(struct checking *k, const struct rule *rule, const struct json_node *n,
	const struct spot *at)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = !rule->never;

	if (k->depth == JSON_SCHEMA_DEPTH_MAX && !k->spent)
		k->spent = "goes deeper into the schema than is allowed";
	if (!check_spend(k, 1))
		return false;
	if (!good && k->out)
		json_violate(
			k->out, k->arena, json_spot_path(k->arena, at), "", "must not be here");
	k->depth++;
	for (size_t i = 0; i < rule->count && (good || k->out); i++) {
		const struct clause *cl = &rule->clauses[i];

		if (cl->keyword->check && (!cl->keyword->of || cl->keyword->of == n->type))
			good &= cl->keyword->check(k, rule, cl, n, at);
	}
	k->depth--;
	return good;
}

bool check_silently(struct checking *k, const struct rule *rule, const struct json_node *n,
	const struct spot *at)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	struct json_violations *out = k->out;
	bool good;

	k->out = NULL;
	good = check_rule(k, rule, n, at);
	k->out = out;
	return good;
}

bool json_schema_check(const struct json_schema *s, struct arena *a, const char *text, size_t len,
	struct json_violations *out)
{
	return json_schema_check_within(s, a, text, len, &(size_t){ JSON_SCHEMA_STEPS_MAX }, out);
}

bool json_schema_check_within(const struct json_schema *s, struct arena *a, const char *text,
	size_t len, size_t *left, struct json_violations *out)
{
	struct checking k = { .arena = a, .out = out, .most = *left };
	const char *why = NULL;
	struct json_node *n = json_tree(a, text, len, &why, NULL);

	*out = (struct json_violations){ .count = 0 };
	if (!n) {
		json_violate(out, a, "", "", "is not JSON: %s", why);
		return false;
	}
	k.limits = pcre2_match_context_create(NULL);
	if (k.limits) {
		pcre2_set_match_limit(k.limits, MATCH_LIMIT);
		pcre2_set_depth_limit(k.limits, DEPTH_LIMIT);
		pcre2_set_heap_limit(k.limits, HEAP_KIB);
	} else {
		k.spent = "cannot be checked without memory";
	}
	check_rule(&k, s->root, n, NULL);
	pcre2_match_context_free(k.limits);
	*left -= k.steps < *left ? k.steps : *left;
	if (k.spent) {
		*out = (struct json_violations){ .count = 0 };
		json_violate(out, a, "", "", "%s", k.spent);
	}
	return !out->count;
}
