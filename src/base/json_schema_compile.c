/* json_schema_compile.c - from the text of a schema to rules, refusing what will not be checked.
 *
 * The tree is walked once; every place where a schema may stand becomes a
 * rule.  References are resolved after that, for they may point anywhere, and
 * only a place that became a rule is good.  Last, a walk over the keywords that
 * look at the same instance finds a schema that would never end. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json_schema_parts.h"

struct compiler {
	struct arena *arena;
	struct json_violations *faults;
	struct json_node *tree;
	struct rule **rules; /* by the index of their nodes */
	size_t rule_count, pattern_count;
};

static struct rule *compile_rule(
	struct compiler *c, const struct json_node *n, const struct spot *at, bool top);

/* A schema has many places and few faults: their texts are not made before they are needed. */
static const struct spot *spot_below(
	struct arena *a, const struct spot *up, const char *name, size_t at)
{
	struct spot *out = arena_new(a, struct spot);

	*out = (struct spot){ up, name, at };
	return out;
}

static void schema_fault(struct compiler *c, const struct spot *at, const char *keyword,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void schema_fault(
	struct compiler *c, const struct spot *at, const char *keyword, const char *fmt, ...)
{
	va_list ap;

	if (c->faults->count == JSON_VIOLATIONS_MAX) {
		c->faults->unlisted++;
		return;
	}
	va_start(ap, fmt);
	json_violate(c->faults, c->arena, json_spot_path(c->arena, at), keyword, "%s",
		arena_vprintf(c->arena, fmt, ap));
	va_end(ap);
}

/* ---- regular expressions ---- */

static void free_pattern(void *code)
{
	pcre2_code_free(code);
}

/* As ECMAScript reads them, as far as PCRE2 can. */
static pcre2_code *compile_pattern(struct compiler *c, const char *text, size_t len,
	const struct spot *path, const char *keyword)
{
	const uint32_t options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY |
				 PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF |
				 PCRE2_NEVER_BACKSLASH_C;
	pcre2_compile_context *ctx = pcre2_compile_context_create(NULL);
	pcre2_code *code = NULL;
	PCRE2_UCHAR why[128];
	size_t at = 0;
	int error = 0;

	if (ctx && len <= JSON_SCHEMA_PATTERN_MAX && c->pattern_count < JSON_SCHEMA_PATTERNS_MAX) {
		pcre2_set_compile_extra_options(ctx, PCRE2_EXTRA_ALT_BSUX);
		code = pcre2_compile((PCRE2_SPTR)text, len, options, &error, &at, ctx);
	}
	pcre2_compile_context_free(ctx);
	if (code) {
		c->pattern_count++;
		arena_defer(c->arena, free_pattern, code);
		return code;
	}
	if (len > JSON_SCHEMA_PATTERN_MAX)
		schema_fault(c, path, keyword,
			"is longer than the %d bytes a regular expression may have",
			JSON_SCHEMA_PATTERN_MAX);
	else if (c->pattern_count == JSON_SCHEMA_PATTERNS_MAX)
		schema_fault(c, path, keyword,
			"is one regular expression more than the %d a schema may have",
			JSON_SCHEMA_PATTERNS_MAX);
	else if (pcre2_get_error_message(error, why, sizeof why) > 0)
		schema_fault(c, path, keyword,
			"is no regular expression that is understood here: %s, at byte %zu",
			(const char *)why, at);
	return NULL;
}

/* ---- the forms of values ---- */

static bool bad_form(
	struct compiler *c, const struct clause *k, const struct spot *path, const char *must)
{
	schema_fault(c, path, k->keyword->name, "must be %s", must);
	return false;
}

static bool names_are_distinct(struct arena *a, const struct json_node *n)
{
	size_t most = JSON_SCHEMA_TEXT_MAX;

	for (size_t i = 0; i < n->count; i++)
		if (n->items[i]->type != JSON_STRING)
			return false;
	return !json_hashed_twice(json_hashed(a, n), n->count, &most) && most;
}

static bool is_count(const struct json_node *n)
{
	return n->type == JSON_NUMBER && n->number >= 0 && n->number == floor(n->number) &&
	       n->number <= 9007199254740991.0;
}

/* The bit of a type's name; integer has the bit of JSON_FAULT, which no value is. */
static unsigned type_bit(const struct json_node *n)
{
	static const char *const names[] = { [JSON_FAULT] = "integer",
		[JSON_NULL] = "null",
		[JSON_BOOL] = "boolean",
		[JSON_NUMBER] = "number",
		[JSON_STRING] = "string",
		[JSON_ARRAY] = "array",
		[JSON_OBJECT] = "object" };

	for (unsigned i = 0; n->type == JSON_STRING && i < sizeof names / sizeof *names; i++)
		if (strlen(names[i]) == n->len && memcmp(names[i], n->text, n->len) == 0)
			return 1u << i;
	return 0;
}

static bool read_types(struct compiler *c, struct clause *k, const struct spot *path)
{
	const char *must = "null, boolean, integer, number, string, array, object, or a list of "
			   "these without repeats";

	if (k->value->type == JSON_STRING) {
		k->types = type_bit(k->value);
		return k->types || bad_form(c, k, path, must);
	}
	if (k->value->type != JSON_ARRAY || !k->value->count ||
		!names_are_distinct(c->arena, k->value))
		return bad_form(c, k, path, must);
	for (size_t i = 0; i < k->value->count; i++) {
		unsigned bit = type_bit(k->value->items[i]);

		if (!bit)
			return bad_form(c, k, path, must);
		k->types |= bit;
	}
	return true;
}

static bool read_dialect(struct compiler *c, const struct clause *k, const struct spot *path)
{
	static const char *const known[] = { "json-schema.org/draft/2020-12/schema",
		"json-schema.org/draft/2019-09/schema", "json-schema.org/draft-07/schema" };
	const char *text = k->value->type == JSON_STRING ? k->value->text : "";
	size_t len;

	text += strncmp(text, "https://", 8) == 0 ? 8 : strncmp(text, "http://", 7) == 0 ? 7 : 0;
	len = strcspn(text, "#");
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i]) == len && strncmp(text, known[i], len) == 0 &&
			(!text[len] || !text[len + 1]))
			return true;
	return bad_form(c, k, path, "https://json-schema.org/draft/2020-12/schema, or left out");
}

static struct below *below_add(struct compiler *c, struct clause *k, size_t most)
{
	if (!k->below)
		k->below = arena_array(c->arena, struct below, most);
	return &k->below[k->count++];
}

static bool read_schemas(struct compiler *c, struct clause *k, const struct spot *path)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	if (k->value->type != JSON_ARRAY || !k->value->count)
		return bad_form(c, k, path, "a list of one or more schemas");
	for (size_t i = 0; i < k->value->count; i++)
		below_add(c, k, k->value->count)->rule = compile_rule(
			c, k->value->items[i], spot_below(c->arena, path, NULL, i), false);
	return true;
}

/* An object whose members are schemas, or lists of names, or schemas by regular expressions. */
static bool read_keyword_members(struct compiler *c, struct clause *k, const struct spot *path)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	enum form form = k->keyword->form;

	if (k->value->type != JSON_OBJECT)
		return bad_form(c, k, path, "an object");
	for (size_t i = 0; i < k->value->count; i++) {
		const struct json_member *m = &k->value->members[i];
		const struct spot *where = spot_below(c->arena, path, m->name, m->len);
		struct below *b = below_add(c, k, k->value->count);

		*b = (struct below){ .name = m->name, .len = m->len, .value = m->value };
		if (form == FORM_NAMES_BY_NAME) {
			if (m->value->type != JSON_ARRAY || !names_are_distinct(c->arena, m->value))
				return bad_form(c, k, where, "a list of names without repeats");
			continue;
		}
		if (form == FORM_SCHEMA_BY_PATTERN)
			b->pattern = compile_pattern(c, m->name, m->len, where, k->keyword->name);
		b->rule = compile_rule(c, m->value, where, false);
	}
	return true;
}

static bool read_pattern(struct compiler *c, struct clause *k, const struct spot *path)
{
	if (k->value->type != JSON_STRING)
		return bad_form(c, k, path, "a string");
	k->pattern = compile_pattern(c, k->value->text, k->value->len, path, k->keyword->name);
	return k->pattern != NULL;
}

static bool read_subschema(struct compiler *c, struct clause *k, const struct spot *path)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	if (k->value->type == JSON_ARRAY && strcmp(k->keyword->name, "items") == 0)
		return bad_form(c, k, path, "one schema; a list of them is called prefixItems");
	below_add(c, k, 1)->rule = compile_rule(c, k->value, path, false);
	return true;
}

static bool read_keyword_value(
	struct compiler *c, struct clause *k, const struct spot *path, bool top)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	const struct json_node *v = k->value;

	switch (k->keyword->form) {
	case FORM_NOTE:
	case FORM_VALUE:
		return true;
	case FORM_TEXT:
		return v->type == JSON_STRING || bad_form(c, k, path, "a string");
	case FORM_DIALECT:
		return read_dialect(c, k, path);
	case FORM_TOP_TEXT:
		return (v->type == JSON_STRING && top) ||
		       bad_form(c, k, path, "a string, and stand only at the top of the schema");
	case FORM_TYPES:
		return read_types(c, k, path);
	case FORM_VALUES:
		if (v->type == JSON_ARRAY)
			k->sorted = json_hashed(c->arena, v);
		return k->sorted || bad_form(c, k, path, "a list of values");
	case FORM_FLAG:
		return v->type == JSON_BOOL || bad_form(c, k, path, "true or false");
	case FORM_NUMBER:
		return v->type == JSON_NUMBER || bad_form(c, k, path, "a number");
	case FORM_POSITIVE:
		return (v->type == JSON_NUMBER && v->number > 0) ||
		       bad_form(c, k, path, "a number above 0");
	case FORM_COUNT:
		return is_count(v) || bad_form(c, k, path, "a whole number of at least 0");
	case FORM_PATTERN:
		return read_pattern(c, k, path);
	case FORM_NAMES:
		return (v->type == JSON_ARRAY && names_are_distinct(c->arena, v)) ||
		       bad_form(c, k, path, "a list of names without repeats");
	case FORM_SCHEMA:
		return read_subschema(c, k, path);
	case FORM_SCHEMAS:
		return read_schemas(c, k, path);
	case FORM_NAMES_BY_NAME:
	case FORM_SCHEMA_BY_NAME:
	case FORM_SCHEMA_BY_PATTERN:
		return read_keyword_members(c, k, path);
	case FORM_REF:
		return (v->type == JSON_STRING && *v->text == '#') ||
		       bad_form(c, k, path, "a place in this schema, such as #/$defs/name");
	}
	return false;
}

/* ---- one schema ---- */

static int by_keyword(const void *x, const void *y)
{
	const struct clause *a = x, *b = y;

	return (a->keyword > b->keyword) - (a->keyword < b->keyword);
}

static void compile_member(
	struct compiler *c, struct rule *rule, const struct json_member *m, bool top)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	const struct spot *path = spot_below(c->arena, rule->at, m->name, m->len);
	struct clause clause = { .keyword = json_keyword(m->name, m->len), .value = m->value };

	if (m->len > 2 && memcmp(m->name, "x-", 2) == 0)
		return;
	if (!clause.keyword)
		schema_fault(c, path, "",
			"is not a keyword that is checked here; leave it out, or begin it with x-");
	else if (read_keyword_value(c, &clause, path, top) && clause.keyword->form != FORM_NOTE)
		rule->clauses[rule->count++] = clause;
}

static struct rule *compile_rule(
	struct compiler *c, const struct json_node *n, const struct spot *at, bool top)
{ /* NOLINT(misc-no-recursion): depth is bounded by the reader */
	struct rule *rule = arena_new(c->arena, struct rule);

	rule->at = at;
	c->rules[n->index] = rule;
	if (++c->rule_count > JSON_SCHEMA_RULES_MAX) {
		if (c->rule_count == JSON_SCHEMA_RULES_MAX + 1)
			schema_fault(c, at, "",
				"is one more than the %d schemas that may stand in one",
				JSON_SCHEMA_RULES_MAX);
	} else if (n->type == JSON_BOOL) {
		rule->never = !n->flag;
	} else if (n->type != JSON_OBJECT) {
		schema_fault(c, at, "", "must be a schema: an object, true or false");
	} else {
		rule->clauses = arena_array(c->arena, struct clause, n->count + 1);
		for (size_t i = 0; i < n->count; i++)
			compile_member(c, rule, &n->members[i], top);
		if (rule->count)
			qsort(rule->clauses, rule->count, sizeof *rule->clauses, by_keyword);
	}
	return rule;
}

/* ---- references ---- */

/* One part of a pointer, without its escapes: first %41, then ~0 and ~1.  NULL if one is broken. */
static char *pointer_part(struct compiler *c, const char *text, size_t len, size_t *ret_len)
{
	char *out = arena_alloc(c->arena, len + 1);
	size_t n = 0, m = 0;

	for (size_t i = 0; i < len; i++, n++) {
		out[n] = text[i];
		if (text[i] == '%') {
			char digits[3] = { 0 }, *end;

			if (len - i < 3)
				return NULL;
			memcpy(digits, text + i + 1, 2);
			out[n] = (char)strtoul(digits, &end, 16);
			if (end != digits + 2 || digits[0] == '+' || digits[0] == '-')
				return NULL;
			i += 2;
		}
	}
	for (size_t i = 0; i < n; i++, m++) {
		if (out[i] == '~' && (i + 1 == n || (out[i + 1] != '0' && out[i + 1] != '1')))
			return NULL;
		out[m] = out[i] != '~' ? out[i] : out[++i] == '0' ? '~' : '/';
	}
	*ret_len = m;
	return out;
}

static const struct json_node *step_into(const struct json_node *n, const char *part, size_t len)
{
	size_t i = 0;

	if (n->type != JSON_ARRAY)
		return json_tree_member(n, part, len);
	if (!len || len > 6 || (*part == '0' && len > 1))
		return NULL;
	for (size_t k = 0; k < len; k++) {
		if (part[k] < '0' || part[k] > '9')
			return NULL;
		i = i * 10 + (size_t)(part[k] - '0');
	}
	return i < n->count ? n->items[i] : NULL;
}

static const struct json_node *find_place(struct compiler *c, const char *pointer)
{
	const struct json_node *n = c->tree;

	while (n && *pointer == '/') {
		size_t len = strcspn(pointer + 1, "/"), part_len = 0;
		const char *part = pointer_part(c, pointer + 1, len, &part_len);

		n = part ? step_into(n, part, part_len) : NULL;
		pointer += 1 + len;
	}
	return *pointer ? NULL : n;
}

static void resolve_refs(struct compiler *c, struct rule *rule)
{
	for (size_t i = 0; i < rule->count; i++) {
		struct clause *k = &rule->clauses[i];
		const struct json_node *place;
		struct rule *to;

		if (k->keyword->form != FORM_REF)
			continue;
		place = strlen(k->value->text) == k->value->len ? find_place(c, k->value->text + 1)
								: NULL;
		to = place ? c->rules[place->index] : NULL;
		if (to)
			below_add(c, k, 1)->rule = to;
		else
			schema_fault(c, rule->at, "$ref",
				"refers to %s, where this schema has no schema", k->value->text);
	}
}

/* True if the rule leads back to one under way without leaving the instance's place. */
static bool leads_back(struct rule *rule)
{ /* NOLINT(misc-no-recursion): at most as deep as there are rules */
	bool back = false;

	if (rule->walk != UNSEEN)
		return rule->walk == UNDER_WAY;
	rule->walk = UNDER_WAY;
	for (size_t i = 0; !back && i < rule->count; i++)
		for (size_t j = 0;
			!back && rule->clauses[i].keyword->in_place && j < rule->clauses[i].count;
			j++)
			back = leads_back(rule->clauses[i].below[j].rule);
	rule->walk = SEEN;
	return back;
}

struct json_schema *json_schema_compile(
	struct arena *a, const char *text, size_t len, struct json_violations *faults)
{
	struct compiler c = { .arena = a, .faults = faults };
	struct json_schema *schema = arena_new(a, struct json_schema);
	const char *why = NULL;
	size_t count = 0;

	*faults = (struct json_violations){ .count = 0 };
	if (len > JSON_SCHEMA_TEXT_MAX) {
		json_violate(faults, a, "", "", "is longer than the %d bytes a schema may have",
			JSON_SCHEMA_TEXT_MAX);
		return NULL;
	}
	c.tree = json_tree(a, text, len, &why, &count);
	if (!c.tree) {
		json_violate(faults, a, "", "", "is not JSON: %s", why);
		return NULL;
	}
	c.rules = arena_array(a, struct rule *, count);
	schema->root = compile_rule(&c, c.tree, NULL, true);
	for (size_t i = 0; !faults->count && i < count; i++)
		if (c.rules[i])
			resolve_refs(&c, c.rules[i]);
	for (size_t i = 0; !faults->count && i < count; i++)
		if (c.rules[i] && leads_back(c.rules[i]))
			schema_fault(&c, c.rules[i]->at, "$ref",
				"leads back to itself without going deeper into the value");
	return faults->count ? NULL : schema;
}

bool json_schema_has_property(const struct json_schema *s, const char *name, size_t len)
{
	const struct clause *k = rule_clause(s->root, "properties");

	return k && json_tree_member(k->value, name, len);
}

bool json_schema_is_type(const struct json_schema *s, const char *type)
{
	const struct clause *k = rule_clause(s->root, "type");

	return k && k->value->type == JSON_STRING && strcmp(k->value->text, type) == 0;
}
