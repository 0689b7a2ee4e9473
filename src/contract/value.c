/* value.c - the bounds of a single value; see value.h. */
#include "contract/value.h"

#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "mail/address.h"

static const size_t item_sizes[] = { [FLAG] = sizeof(bool),
	[INTEGER] = sizeof(int64_t),
	[NUMBER] = sizeof(double),
	[MONEY] = sizeof(struct money),
	[TEXT] = sizeof(const char *),
	[CHOICE] = sizeof(int),
	[MOMENT] = sizeof(struct moment),
	[JSON] = sizeof(struct json),
	[OBJECT] = 0,
	[LIST] = sizeof(struct list) };

const char *value_path(struct check *k, const char *path, const char *name)
{
	return *path ? arena_printf(k->arena, "%s.%s", path, name) : name;
}

/* One that mail can be sent to as it stands, by the rule of mail itself: plain, without quotes. */
bool email_valid(const char *text, size_t len)
{
	struct mail_address parsed;
	const char *fault;

	return !memchr(text, '"', len) && mail_address_parse(text, len, &parsed, &fault) &&
	       !parsed.wide;
}

static void text_value(struct check *k, const struct field *f, const char **at, const char *path,
	const char *text, size_t len)
{
	size_t points = f->has_min || f->max ? utf8_count(text, len) : 0;
	struct problem *p = k->problem;

	if (memchr(text, '\0', len))
		problem_field(
			p, k->arena, path, "character", "must not contain the character U+0000");
	else if (f->constant && strcmp(text, f->constant) != 0)
		problem_field(p, k->arena, path, "constant", "must be %s", f->constant);
	else if (f->has_min && points < (size_t)f->min)
		problem_field(p, k->arena, path, "too_short", "must have at least %zu character%s",
			(size_t)f->min, f->min == 1 ? "" : "s");
	else if (f->max && points > (size_t)f->max)
		problem_field(p, k->arena, path, "too_long", "must have at most %zu characters",
			(size_t)f->max);
	else if (!f->max && len > (size_t)field_limit(f))
		problem_field(p, k->arena, path, "too_long", "must have at most %zu bytes",
			(size_t)field_limit(f));
	else if (f->id && !id_valid(text, len))
		problem_field(p, k->arena, path, "pattern", "must be an id: %s", ID_PATTERN);
	else if (f->email && !email_valid(text, len))
		problem_field(p, k->arena, path, "format",
			"must be an email address in plain letters (ASCII); a domain with others is written as "
			"xn--");
	else if (f->pattern && !patterns_match(k->patterns, f->pattern, text, len))
		problem_field(p, k->arena, path, "pattern", "%s%s%s",
			f->rule ? f->rule : "must match ", f->rule ? ": " : "", f->pattern);
	else if (f->check && f->check(text))
		problem_field(p, k->arena, path, "format", "%s", f->check(text));
	*at = text;
}

const char *words_listed(struct arena *a, const struct words *w)
{
	struct buf b;

	buf_init(&b, 4096);
	for (int i = 0; w->list[i]; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", w->list[i]);
	return arena_take(a, &b);
}

static void choice_value(struct check *k, const struct field *f, int *at, const char *path,
	const char *text, size_t len)
{
	*at = words_find(f->words, text, len);
	if (*at >= 0)
		return;
	problem_field(k->problem, k->arena, path, "choice", "must be one of: %s",
		words_listed(k->arena, f->words));
}

void value_from_text(struct check *k, const struct field *f, void *at, const char *path,
	const char *text, size_t len)
{
	if (f->kind == TEXT) {
		text_value(k, f, at, path, text, len);
	} else if (f->kind == CHOICE) {
		choice_value(k, f, at, path, text, len);
	} else if (!time_read(text, len, &((struct moment *)at)->us)) {
		((struct moment *)at)->us = NIL;
		problem_field(k->problem, k->arena, path, "format",
			"must be a date and time such as 2026-01-31T12:00:00Z");
	}
}

/* Dollars as they were typed, to the last digit.  Their bounds are whole dollars. */
static void money_value(struct check *k, const struct field *f, struct money *at, const char *path,
	const struct json_number *n)
{
	size_t sign = *n->text == '-'; /* of nothing: what is below it is refused before */
	int64_t pd;

	if (money_parse_number(n->text + sign, n->len - sign, &pd))
		problem_field(k->problem, k->arena, path, "too_fine",
			"must be a whole number of picodollars: at most 12 digits after the point");
	else if (pd > (int64_t)field_limit(f) * PICODOLLARS) /* which fits: lint.c */
		problem_field(k->problem, k->arena, path, "too_large", "must be at most %.17g",
			field_limit(f));
	else
		at->pd = pd;
}

void value_from_number(struct check *k, const struct field *f, void *at, const char *path,
	const struct json_number *n)
{
	if (f->kind == INTEGER && !n->is_integer)
		problem_field(k->problem, k->arena, path, "type",
			"must be a whole number between -9007199254740991 and 9007199254740991");
	else if ((f->has_min || f->kind == MONEY) && n->value < f->min)
		problem_field(
			k->problem, k->arena, path, "too_small", "must be at least %.17g", f->min);
	else if (n->value > field_limit(f))
		problem_field(k->problem, k->arena, path, "too_large", "must be at most %.17g",
			field_limit(f));
	else if (f->kind == MONEY)
		money_value(k, f, at, path, n);
	else if (f->kind == INTEGER)
		*(int64_t *)at = n->integer;
	else
		*(double *)at = n->value;
}

struct field value_item_field(const struct field *list)
{
	return (struct field){
		.name = list->name,
		.name_len = list->name_len,
		.kind = list->item,
		.size = (uint16_t)value_item_size(list),
		.id = list->item_id,
		.words = list->words,
		.of = list->of,
	};
}

size_t value_item_size(const struct field *list)
{
	return list->item == OBJECT ? list->of->size : item_sizes[list->item];
}

/* True if item i equals an earlier one. */
static bool item_repeated(const struct field *f, const struct list *list, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (f->item == TEXT && ((char **)list->at)[i] && ((char **)list->at)[j] &&
			strcmp(((char **)list->at)[i], ((char **)list->at)[j]) == 0)
			return true;
		if (f->item == CHOICE && ((int *)list->at)[i] == ((int *)list->at)[j])
			return true;
	}
	return false;
}

void value_check_list(
	struct check *k, const struct field *f, const struct list *list, const char *path)
{
	if (f->has_min && list->count < (size_t)f->min)
		problem_field(k->problem, k->arena, path, "too_few",
			"must have at least %zu item%s", (size_t)f->min, f->min == 1 ? "" : "s");
	if (k->over)
		problem_field(k->problem, k->arena, path, "too_many", "must have at most %zu items",
			(size_t)field_limit(f));
	k->over = false;
	for (size_t i = 1; f->distinct && i < list->count; i++)
		if (item_repeated(f, list, i))
			problem_field(k->problem, k->arena,
				arena_printf(k->arena, "%s[%zu]", path, i), "repeated",
				"is in the list already");
}

const char *value_compact(struct arena *a, const char *text, size_t len)
{
	struct buf b;

	buf_init(&b, len + 1);
	json_write_compact(&b, text, len);
	return arena_take(a, &b);
}

void value_preset(struct arena *a, const struct field *f, void *object, const char *json)
{
	struct problem ignored = { 0 };
	struct check k = { .arena = a, .problem = &ignored };
	struct json_reader r;
	struct json_number n;
	void *at = (char *)object + f->at;
	const char *text;
	size_t len;

	json_open(&r, a, json, strlen(json));
	switch (json_peek(&r)) {
	case JSON_BOOL:
		*(tri *)at = *json == 't';
		break;
	case JSON_NUMBER:
		json_read_number(&r, &n);
		value_from_number(&k, f, at, "", &n);
		break;
	case JSON_STRING:
		json_read_string(&r, &text, &len);
		value_from_text(&k, f, at, "", text, len);
		break;
	case JSON_ARRAY:
		((struct list *)at)->at = arena_alloc(a, 1); /* only the empty list is a preset */
		break;
	case JSON_OBJECT:
		((struct json *)at)->text = json;
		break;
	case JSON_NULL:
	case JSON_FAULT:
		break;
	}
}
