/* query.c - query strings into structs through the same tables as bodies; see decode.h. */
#include <string.h>

#include "base/json.h"
#include "contract/decode.h"
#include "contract/value.h"

static int query_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

char *percent_decode(struct arena *a, const char *text, size_t len, bool plus_is_space)
{
	char *copy = arena_raw(a, len + 1, 1), *out = copy;

	for (size_t i = 0; i < len; i++) {
		int hi, lo;

		if (text[i] == '+' && plus_is_space) {
			*out++ = ' ';
		} else if (text[i] != '%') {
			*out++ = text[i];
		} else {
			if (len - i < 3 || (hi = query_hex_digit(text[i + 1])) < 0 ||
				(lo = query_hex_digit(text[i + 2])) < 0 || (hi | lo) == 0)
				return NULL;
			*out++ = (char)(hi << 4 | lo);
			i += 2;
		}
	}
	*out = '\0';
	return utf8_valid(copy, (size_t)(out - copy)) ? copy : NULL;
}

static void query_list_value(
	struct check *k, const struct field *f, struct list *list, const char *text)
{
	struct field item = value_item_field(f);
	size_t size = value_item_size(f), count = *text != '\0', limit = (size_t)field_limit(f);

	for (const char *p = text; *p; p++)
		count += *p == ',';
	k->over = count > limit;
	if (k->over)
		count = limit;
	list->at = arena_alloc(k->arena, size * count + 1);
	for (list->count = 0; list->count < count; list->count++) {
		size_t len = strcspn(text, ",");

		value_from_text(k, &item, (char *)list->at + size * list->count, f->name,
			arena_strndup(k->arena, text, len), len);
		text += len + (text[len] == ',');
	}
	value_check_list(k, f, list, f->name);
}

static void one_value(struct check *k, const struct field *f, void *object, const char *text)
{
	void *at = (char *)object + f->at;
	struct json_reader r;
	struct json_number n;

	switch (f->kind) {
	case FLAG:
		if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
			problem_field(
				k->problem, k->arena, f->name, "type", "must be true or false");
		*(tri *)at = *text == 't';
		break;
	case INTEGER:
	case NUMBER:
	case MONEY:
		json_open(&r, k->arena, text, strlen(text));
		if (json_peek(&r) == JSON_NUMBER && json_read_number(&r, &n) && r.at == r.end)
			value_from_number(k, f, at, f->name, &n);
		else
			problem_field(k->problem, k->arena, f->name, "type", "must be a number");
		break;
	case TEXT:
	case CHOICE:
	case MOMENT:
		value_from_text(k, f, at, f->name, text, strlen(text));
		break;
	case LIST:
		query_list_value(k, f, at, text);
		break;
	case JSON:
	case OBJECT: /* lint keeps these out of queries */
		break;
	}
}

struct seen_parameters {
	uint64_t bits;
};

/* False if no struct has the parameter. */
static bool take_parameter(struct check *k, const struct query_target *targets,
	struct seen_parameters *seen, size_t count, const char *name, const char *value)
{
	for (size_t t = 0; t < count; t++) {
		const struct field *f = schema_field(targets[t].schema, name, strlen(name));
		uint64_t bit;

		if (!f)
			continue;
		bit = UINT64_C(1) << (f - targets[t].schema->fields);
		if (seen[t].bits & bit)
			problem_field(
				k->problem, k->arena, name, "repeated", "is given more than once");
		else
			one_value(k, f, targets[t].object, value);
		seen[t].bits |= bit;
		return true;
	}
	return false;
}

int decode_query(const struct patterns *patterns, struct arena *a,
	const struct query_target *targets, size_t count, enum unknown unknown, const char *query,
	size_t len, struct problem *p)
{
	enum { TARGETS_MAX = 4 };
	struct seen_parameters seen[TARGETS_MAX] = { 0 };
	struct check k = { .patterns = patterns, .arena = a, .problem = p };
	const char *end = query + len;

	for (size_t t = 0; t < count; t++)
		schema_init(targets[t].schema, a, targets[t].object);
	while (query < end) {
		const char *stop = memchr(query, '&', (size_t)(end - query)), *equals;
		char *name, *value;

		if (!stop)
			stop = end;
		equals = memchr(query, '=', (size_t)(stop - query));
		name = percent_decode(a, query, (size_t)((equals ? equals : stop) - query), true);
		value = equals ? percent_decode(a, equals + 1, (size_t)(stop - equals - 1), true)
			       : "";
		if (!name || !value) {
			*p = (struct problem){ 0 };
			return problem_set(p, a, ERR_MALFORMED,
				"The query string has a broken percent escape, or is not UTF-8.");
		}
		if ((*name || equals) && !take_parameter(&k, targets, seen, count, name, value) &&
			unknown == UNKNOWN_REFUSED)
			problem_field(p, a, name, "unknown_field",
				"is not a parameter of this operation");
		query = stop + 1;
	}
	for (size_t t = 0; t < count; t++)
		for (size_t i = 0; i < targets[t].schema->count; i++)
			if (targets[t].schema->fields[i].required && !(seen[t].bits >> i & 1))
				problem_field(p, a, targets[t].schema->fields[i].name, "required",
					"is required");
	return p->err;
}
