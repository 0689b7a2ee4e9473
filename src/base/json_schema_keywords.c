/* json_schema_keywords.c - what each keyword asks of a value, and the table of them; see json_schema.h.
 *
 * A keyword answers whether it is satisfied, and says why not where somebody
 * asks.  Inside anyOf, oneOf, not, if and contains nobody does: those speak
 * for themselves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_schema_multiple.h"
#include "base/json_schema_parts.h"

#define KEYWORD(name)                                                                          \
	static bool name(struct checking *k, const struct rule *rule, const struct clause *cl, \
		const struct json_node *n, const struct spot *at)

/* Where it is, and what it says, is made only for those that are listed. */
#define VIOLATED(...)                                                                   \
	((!k->out ? (void)rule                                                          \
		 : k->out->count == JSON_VIOLATIONS_MAX                                 \
			 ? (void)k->out->unlisted++                                     \
			 : json_violate(k->out, k->arena, json_spot_path(k->arena, at), \
				   cl->keyword->name, __VA_ARGS__)),                    \
		false)

/* ---- any value ---- */

KEYWORD(check_type)
{
	bool whole = n->type == JSON_NUMBER && n->number == floor(n->number);
	struct buf b;
	const char *names;

	if (cl->types >> n->type & 1 || (whole && cl->types & 1))
		return true;
	if (!k->out)
		return false;
	buf_init(&b, 256);
	json_tree_write(&b, cl->value);
	names = arena_take(k->arena, &b);
	return VIOLATED("must be of type %s", names);
}

KEYWORD(check_enum)
{
	uint64_t hash = json_tree_hash(n);
	size_t low = 0, high = cl->value->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cl->sorted[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < cl->value->count && cl->sorted[low].hash == hash && check_spend(k, 1); low++)
		if (json_tree_same(cl->sorted[low].node, n))
			return true;
	return VIOLATED("must be one of the %zu values in enum", cl->value->count);
}

KEYWORD(check_const)
{
	check_spend(k, 1 + n->count + n->len / 16);
	return json_tree_same(cl->value, n) || VIOLATED("must be the one value in const");
}

/* ---- numbers ---- */

KEYWORD(check_minimum)
{
	return n->number >= cl->value->number ||
	       VIOLATED("must be at least %.*s", (int)cl->value->len, cl->value->text);
}

KEYWORD(check_maximum)
{
	return n->number <= cl->value->number ||
	       VIOLATED("must be at most %.*s", (int)cl->value->len, cl->value->text);
}

KEYWORD(check_above)
{
	return n->number > cl->value->number ||
	       VIOLATED("must be above %.*s", (int)cl->value->len, cl->value->text);
}

KEYWORD(check_below)
{
	return n->number < cl->value->number ||
	       VIOLATED("must be below %.*s", (int)cl->value->len, cl->value->text);
}

KEYWORD(check_multiple)
{
	return json_number_is_multiple(n, cl->value) ||
	       VIOLATED("must be a multiple of %.*s", (int)cl->value->len, cl->value->text);
}

/* ---- strings ---- */

KEYWORD(check_min_length)
{
	check_spend(k, n->len / 16);
	return (double)utf8_count(n->text, n->len) >= cl->value->number ||
	       VIOLATED("must have at least %.0f characters", cl->value->number);
}

KEYWORD(check_max_length)
{
	check_spend(k, n->len / 16);
	return (double)utf8_count(n->text, n->len) <= cl->value->number ||
	       VIOLATED("must have at most %.0f characters", cl->value->number);
}

KEYWORD(check_pattern)
{
	return check_match(k, cl->pattern, n->text, n->len) ||
	       VIOLATED("must match %s", check_quoted(k, cl->value->text, cl->value->len));
}

/* ---- arrays ---- */

static size_t prefix_of(const struct rule *rule)
{
	const struct clause *prefix = rule_clause(rule, "prefixItems");

	return prefix ? prefix->count : 0;
}

KEYWORD(check_prefix_items)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = true;

	(void)rule;
	for (size_t i = 0; i < cl->count && i < n->count; i++)
		good &= check_rule(
			k, cl->below[i].rule, n->items[i], &(struct spot){ at, NULL, i });
	return good;
}

KEYWORD(check_items)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = true;

	for (size_t i = prefix_of(rule); i < n->count && !k->spent; i++)
		good &= check_rule(k, cl->below->rule, n->items[i], &(struct spot){ at, NULL, i });
	return good;
}

KEYWORD(check_contains)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	const struct clause *min = rule_clause(rule, "minContains");
	const struct clause *max = rule_clause(rule, "maxContains");
	double least = min ? min->value->number : 1, found = 0;

	for (size_t i = 0; i < n->count && !k->spent; i++)
		found += check_silently(
			k, cl->below->rule, n->items[i], &(struct spot){ at, NULL, i });
	if (found < least)
		return VIOLATED("must have at least %.0f items as contains describes", least);
	return !max || found <= max->value->number ||
	       VIOLATED("must have at most %.0f items as contains describes", max->value->number);
}

KEYWORD(check_min_count)
{
	return (double)n->count >= cl->value->number ||
	       VIOLATED("must have at least %.0f %s", cl->value->number,
		       n->type == JSON_ARRAY ? "items" : "members");
}

KEYWORD(check_max_count)
{
	return (double)n->count <= cl->value->number ||
	       VIOLATED("must have at most %.0f %s", cl->value->number,
		       n->type == JSON_ARRAY ? "items" : "members");
}

KEYWORD(check_unique)
{
	size_t most = JSON_SCHEMA_STEPS_MAX;
	const struct json_node *twice;

	if (!cl->value->flag || n->count < 2 || !check_spend(k, 4 * n->count))
		return true;
	twice = json_hashed_twice(json_hashed(k->arena, n), n->count, &most);
	check_spend(k, JSON_SCHEMA_STEPS_MAX - most);
	return !twice || VIOLATED("must not have an item twice");
}

/* ---- objects ---- */

KEYWORD(check_required)
{
	bool good = check_spend(k, cl->value->count);

	for (size_t i = 0; i < cl->value->count && !k->spent; i++) {
		const struct json_node *name = cl->value->items[i];

		if (!json_tree_member(n, name->text, name->len))
			good = VIOLATED(
				"must have the member %s", check_quoted(k, name->text, name->len));
	}
	return good;
}

KEYWORD(check_properties)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = check_spend(k, cl->count);

	(void)rule;
	for (size_t i = 0; i < cl->count && !k->spent; i++) {
		const struct below *b = &cl->below[i];
		const struct json_node *value = json_tree_member(n, b->name, b->len);

		if (value)
			good &= check_rule(
				k, b->rule, value, &(struct spot){ at, b->name, b->len });
	}
	return good;
}

KEYWORD(check_pattern_properties)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = true;

	(void)rule;
	for (size_t i = 0; i < n->count && !k->spent; i++)
		for (size_t j = 0; j < cl->count && !k->spent; j++) {
			const struct json_member *m = &n->members[i];

			if (check_match(k, cl->below[j].pattern, m->name, m->len))
				good &= check_rule(k, cl->below[j].rule, m->value,
					&(struct spot){ at, m->name, m->len });
		}
	return good;
}

/* True if properties or patternProperties of the same schema speak for the member. */
static bool is_named(struct checking *k, const struct rule *rule, const struct json_member *m)
{
	const struct clause *names = rule_clause(rule, "properties");
	const struct clause *patterns = rule_clause(rule, "patternProperties");

	if (names && json_tree_member(names->value, m->name, m->len))
		return true;
	for (size_t i = 0; patterns && i < patterns->count; i++)
		if (check_match(k, patterns->below[i].pattern, m->name, m->len))
			return true;
	return false;
}

KEYWORD(check_additional)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = true;

	for (size_t i = 0; i < n->count && !k->spent; i++) {
		const struct json_member *m = &n->members[i];

		if (is_named(k, rule, m))
			continue;
		if (cl->below->rule->never)
			good = VIOLATED(
				"must not have the member %s", check_quoted(k, m->name, m->len));
		else
			good &= check_rule(k, cl->below->rule, m->value,
				&(struct spot){ at, m->name, m->len });
	}
	return good;
}

KEYWORD(check_property_names)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = true;

	for (size_t i = 0; i < n->count && !k->spent; i++) {
		const struct json_member *m = &n->members[i];
		struct json_node name = { .type = JSON_STRING, .text = m->name, .len = m->len };

		if (!check_silently(k, cl->below->rule, &name, at))
			good = VIOLATED("must not have a member by the name %s",
				check_quoted(k, m->name, m->len));
	}
	return good;
}

KEYWORD(check_dependent_required)
{
	bool good = check_spend(k, cl->count);

	for (size_t i = 0; i < cl->count && !k->spent; i++) {
		const struct below *b = &cl->below[i];

		if (!json_tree_member(n, b->name, b->len) || !check_spend(k, b->value->count))
			continue;
		for (size_t j = 0; j < b->value->count; j++) {
			const struct json_node *name = b->value->items[j];

			if (!json_tree_member(n, name->text, name->len))
				good = VIOLATED("must have the member %s beside %s",
					check_quoted(k, name->text, name->len),
					check_quoted(k, b->name, b->len));
		}
	}
	return good;
}

KEYWORD(check_dependent_schemas)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = check_spend(k, cl->count);

	(void)rule;
	for (size_t i = 0; i < cl->count && !k->spent; i++)
		if (json_tree_member(n, cl->below[i].name, cl->below[i].len))
			good &= check_rule(k, cl->below[i].rule, n, at);
	return good;
}

/* ---- schemas over the same value ---- */

KEYWORD(check_all)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool good = true;

	(void)rule;
	for (size_t i = 0; i < cl->count && !k->spent; i++)
		good &= check_rule(k, cl->below[i].rule, n, at);
	return good;
}

KEYWORD(check_any)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	for (size_t i = 0; i < cl->count && !k->spent; i++)
		if (check_silently(k, cl->below[i].rule, n, at))
			return true;
	return VIOLATED("must satisfy one of the %zu schemas in anyOf", cl->count);
}

KEYWORD(check_one)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	size_t found = 0;

	for (size_t i = 0; i < cl->count && !k->spent; i++)
		found += check_silently(k, cl->below[i].rule, n, at);
	return found == 1 ||
	       VIOLATED("must satisfy exactly one of the %zu schemas in oneOf, not %zu", cl->count,
		       found);
}

KEYWORD(check_not)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	return !check_silently(k, cl->below->rule, n, at) ||
	       VIOLATED("must not be as `not` describes");
}

KEYWORD(check_if)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	bool holds = check_silently(k, cl->below->rule, n, at);
	const struct clause *next = rule_clause(rule, holds ? "then" : "else");

	return !next || check_rule(k, next->below->rule, n, at);
}

/* ---- the table ---- */

/* In this order a schema's keywords are checked. */
static const struct keyword keywords[] = {
	{ "type", FORM_TYPES, .check = check_type },
	{ "enum", FORM_VALUES, .check = check_enum },
	{ "const", FORM_VALUE, .check = check_const },
	{ "minimum", FORM_NUMBER, JSON_NUMBER, .check = check_minimum },
	{ "maximum", FORM_NUMBER, JSON_NUMBER, .check = check_maximum },
	{ "exclusiveMinimum", FORM_NUMBER, JSON_NUMBER, .check = check_above },
	{ "exclusiveMaximum", FORM_NUMBER, JSON_NUMBER, .check = check_below },
	{ "multipleOf", FORM_POSITIVE, JSON_NUMBER, .check = check_multiple },
	{ "minLength", FORM_COUNT, JSON_STRING, .check = check_min_length },
	{ "maxLength", FORM_COUNT, JSON_STRING, .check = check_max_length },
	{ "pattern", FORM_PATTERN, JSON_STRING, .check = check_pattern },
	{ "minItems", FORM_COUNT, JSON_ARRAY, .check = check_min_count },
	{ "maxItems", FORM_COUNT, JSON_ARRAY, .check = check_max_count },
	{ "uniqueItems", FORM_FLAG, JSON_ARRAY, .check = check_unique },
	{ "prefixItems", FORM_SCHEMAS, JSON_ARRAY, .check = check_prefix_items },
	{ "items", FORM_SCHEMA, JSON_ARRAY, .check = check_items },
	{ "contains", FORM_SCHEMA, JSON_ARRAY, .check = check_contains },
	{ "minContains", FORM_COUNT },
	{ "maxContains", FORM_COUNT },
	{ "minProperties", FORM_COUNT, JSON_OBJECT, .check = check_min_count },
	{ "maxProperties", FORM_COUNT, JSON_OBJECT, .check = check_max_count },
	{ "required", FORM_NAMES, JSON_OBJECT, .check = check_required },
	{ "dependentRequired", FORM_NAMES_BY_NAME, JSON_OBJECT, .check = check_dependent_required },
	{ "propertyNames", FORM_SCHEMA, JSON_OBJECT, .check = check_property_names },
	{ "properties", FORM_SCHEMA_BY_NAME, JSON_OBJECT, .check = check_properties },
	{ "patternProperties", FORM_SCHEMA_BY_PATTERN, JSON_OBJECT,
		.check = check_pattern_properties },
	{ "additionalProperties", FORM_SCHEMA, JSON_OBJECT, .check = check_additional },
	{ "dependentSchemas", FORM_SCHEMA_BY_NAME, JSON_OBJECT, .in_place = true,
		.check = check_dependent_schemas },
	{ "$ref", FORM_REF, .in_place = true, .check = check_all },
	{ "allOf", FORM_SCHEMAS, .in_place = true, .check = check_all },
	{ "anyOf", FORM_SCHEMAS, .in_place = true, .check = check_any },
	{ "oneOf", FORM_SCHEMAS, .in_place = true, .check = check_one },
	{ "not", FORM_SCHEMA, .in_place = true, .check = check_not },
	{ "if", FORM_SCHEMA, .in_place = true, .check = check_if },
	{ "then", FORM_SCHEMA, .in_place = true },
	{ "else", FORM_SCHEMA, .in_place = true },
	{ "$defs", FORM_SCHEMA_BY_NAME },
	{ "definitions", FORM_SCHEMA_BY_NAME },
	{ "$schema", FORM_DIALECT },
	{ "$id", FORM_TOP_TEXT },
	{ "$comment", FORM_TEXT },
	{ "title", FORM_TEXT },
	{ "description", FORM_TEXT },
	{ "format", FORM_TEXT },
	{ "contentEncoding", FORM_TEXT },
	{ "contentMediaType", FORM_TEXT },
	{ "default", FORM_NOTE },
	{ "examples", FORM_VALUES },
	{ "deprecated", FORM_FLAG },
	{ "readOnly", FORM_FLAG },
	{ "writeOnly", FORM_FLAG },
};

const struct keyword *json_keyword(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (strlen(keywords[i].name) == len && memcmp(keywords[i].name, name, len) == 0)
			return &keywords[i];
	return NULL;
}

const struct clause *rule_clause(const struct rule *rule, const char *keyword)
{
	for (size_t i = 0; i < rule->count; i++)
		if (strcmp(rule->clauses[i].keyword->name, keyword) == 0)
			return &rule->clauses[i];
	return NULL;
}
