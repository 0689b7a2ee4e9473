/* test_bounds.c - every field of every body of every operation, through the in-process server and into the store: at,
 * below and above each limit, null, of another type, a word that is not on its list, and a field
 * that nobody knows.  What is refused must be refused by name, what is good must be taken, and what was
 * taken must be read back as it was sent.  The cases come from the tables; test_decode.c has the finer
 * ones that need no store. */
#include "matrix.h"

#include <stdlib.h>

#include "serve/registry.h"

/* One body with one field changed. */
struct trial {
	struct matrix_fixture *s;
	const struct route *route;
	const struct row *row;
	const struct field *field;
	int taken, refused;
};

/* A fault in the form of a value, as the decoder names it; anything else is a rule after the form. */
static bool is_of_form(const char *code)
{
	static const char *const codes[] = { "type", "null", "too_short", "too_long", "too_small",
		"too_large", "too_few", "too_many", "choice", "character", "format",
		"unknown_field" };

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i], code) == 0)
			return true;
	return false;
}

/* The code with which the answer refuses the field for its form, or NULL. */
static const char *fault_of(const struct answer *r, const struct field *f)
{
	const char *field = f->name;
	json_t *item;
	size_t i, len = strlen(field);

	if (r->status != 422)
		return NULL;
	json_array_foreach(at(r, "errors"), i, item)
	{
		const char *name = json_string_value(json_object_get(item, "field"));
		const char *code = json_string_value(json_object_get(item, "code"));

		if (strncmp(name, field, len) == 0 && (!name[len] || strchr("[.", name[len])) &&
			is_of_form(code) && (f->words || strcmp(code, "choice") != 0))
			return code;
	}
	return NULL;
}

static struct caller_case caller_for(const struct trial *t)
{
	bool super = strcmp(t->row->needs, NEED_SUPER) == 0;

	return (struct caller_case){
		.world = &t->s->alpha,
		.token = super ? t->s->f->admin : t->s->alpha.owner,
		.user_id = super ? t->s->f->admin_id : t->s->alpha.owner_id,
		.super = super,
		.owner = !super,
	};
}

/* The row's own body with one member set to the value, which is consumed. */
static struct answer try_with(struct trial *t, const char *name, json_t *value)
{
	struct fixture *f = t->s->f;
	struct caller_case c = caller_for(t);
	struct target target = target_of(&t->s->alpha, AGENT_OPEN);
	struct answer r;
	json_t *body;
	char *text;

	freshen(t->s, t->row, &c, &target);
	body = json_loads(body_fill(f, t->row->body, &target), 0, NULL);
	json_object_set_new(body, name, value);
	text = json_dumps(body, JSON_COMPACT);
	r = ask(f, c.token, text, "%s %s", method_name(t->route->method),
		path_fill(f, t->route->path, &target));
	free(text);
	json_decref(body);
	return r;
}

static void refused(struct trial *t, json_t *value, const char *why)
{
	struct answer r = try_with(t, t->field->name, value);
	const char *code = fault_of(&r, t->field);

	t->refused++;
	if (!code)
		test_fail(__FILE__, __LINE__, "%s: %s %s is not refused: %d %.300s",
			t->route->op->id, t->field->name, why, r.status, r.body);
}

/* 0 and 0.0 are the same number. */
static bool same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

/* Good in form; a rule after the form may still refuse it, but not the store or the program. */
static void taken(struct trial *t, json_t *value, const char *why)
{
	json_t *sent = json_incref(value);
	struct answer r = try_with(t, t->field->name, value);
	json_t *back = r.json ? json_object_get(r.json, t->field->name) : NULL;

	t->taken++;
	if (fault_of(&r, t->field) || r.status >= 500 || r.status == 400)
		test_fail(__FILE__, __LINE__, "%s: %s %s is refused: %d %.300s", t->route->op->id,
			t->field->name, why, r.status, r.body);
	if (r.status == t->route->status && back && !t->field->secret && !json_is_null(sent) &&
		t->field->kind != MOMENT && t->field->kind != JSON && !same(sent, back))
		test_fail(__FILE__, __LINE__, "%s: %s %s is read back otherwise", t->route->op->id,
			t->field->name, why);
	json_decref(sent);
}

static json_t *letters(const char *letter, size_t n)
{
	size_t each = strlen(letter);
	char *text = malloc(n * each + 1);
	json_t *value;

	for (size_t i = 0; i < n; i++)
		memcpy(text + i * each, letter, each);
	value = json_stringn(text, n * each);
	free(text);
	return value;
}

static void try_text(struct trial *t)
{
	const struct field *f = t->field;
	size_t limit = (size_t)field_limit(f);

	if (f->has_min && f->min >= 1)
		refused(t, json_string(""), "below its minimum");
	refused(t, letters("a", limit + 1), "above its maximum");
	if (f->pattern || f->id || f->email || f->constant || f->check)
		return;
	if (f->has_min && f->min >= 1)
		taken(t, letters("a", (size_t)f->min), "at its minimum");
	taken(t, letters("a", limit), "at its maximum");
	if (f->max) /* characters, not bytes */
		taken(t, letters("\xf0\x9f\x8f\xa0", limit), "of houses at its maximum");
	taken(t, json_string("\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xf0\x9f\x8f\xa0 e\xcc\x81"),
		"from right to left");
	refused(t, json_stringn("a\0b", 3), "with U+0000");
}

static void try_number(struct trial *t)
{
	const struct field *f = t->field;
	bool whole = f->kind == INTEGER;

	if (f->has_min) {
		taken(t, whole ? json_integer((json_int_t)f->min) : json_real(f->min),
			"at its minimum");
		refused(t, whole ? json_integer((json_int_t)f->min - 1) : json_real(f->min - 1),
			"below its minimum");
	}
	if (f->max || f->ceiling) {
		double most = field_limit(f);

		taken(t, whole ? json_integer((json_int_t)most) : json_real(most),
			"at its maximum");
		refused(t, whole ? json_integer((json_int_t)most + 1) : json_real(most + 1),
			"above its maximum");
	}
	if (whole)
		refused(t, json_real(1.5), "with a fraction");
}

static void try_choice(struct trial *t)
{
	for (const char *const *word = t->field->words->list; *word; word++)
		taken(t, json_string(*word), *word);
	refused(t, json_string("no such word"), "that is not on its list");
}

static void try_list(struct trial *t)
{
	size_t limit = (size_t)field_limit(t->field);
	json_t *many = json_array();

	for (size_t i = 0; i <= limit; i++) {
		char text[32];

		snprintf(text, sizeof text, "c%024zu", i);
		json_array_append_new(many, json_string(text));
	}
	if (t->field->item == TEXT)
		refused(t, many, "above its maximum");
	else
		json_decref(many);
	if (t->field->has_min && t->field->min >= 1)
		refused(t, json_array(), "below its minimum");
	refused(t, json_pack("[{s:[]}]", "\x01"), "of other things");
}

static void try_field(struct trial *t)
{
	const struct field *f = t->field;

	test_step("%s: %s", t->route->op->id, f->name);
	if (f->nullable)
		taken(t, json_null(), "null");
	else
		refused(t, json_null(), "null");
	refused(t, f->kind == LIST ? json_true() : json_pack("[[]]"), "of another type");
	switch (f->kind) {
	case TEXT:
		try_text(t);
		break;
	case INTEGER:
	case NUMBER:
	case MONEY:
		try_number(t);
		break;
	case CHOICE:
		try_choice(t);
		break;
	case LIST:
		try_list(t);
		break;
	case FLAG:
		taken(t, json_true(), "true");
		taken(t, json_false(), "false");
		refused(t, json_integer(1), "1");
		break;
	case MOMENT:
		refused(t, json_string("yesterday"), "that is no time");
		break;
	case JSON:
	case OBJECT:
		refused(t, json_string("{}"), "as text");
		break;
	}
}

static void try_row(struct trial *t)
{
	const struct schema *s = t->route->op->body;
	struct answer r = try_with(t, "no_such_field", json_true());

	if (!refuses(&r, "no_such_field", "unknown_field"))
		test_fail(__FILE__, __LINE__, "%s takes a field nobody knows: %d", t->route->op->id,
			r.status);
	for (size_t i = 0; i < s->count; i++) {
		t->field = &s->fields[i];
		try_field(t);
	}
}

/* The first row of an operation that takes a JSON body; NULL where a caller of this fixture cannot send it. */
static const struct row *row_of(struct fixture *f, const struct route *route)
{
	const char *line = arena_printf(
		&f->arena, "%s %s", method_name(route->method), path_shape(f, route->path));

	if (route->openai) /* which tells one fault, and overlooks what it does not know */
		return NULL;
	for (size_t i = 0; i < matrix_row_count; i++) {
		const struct row *row = &matrix_rows[i];

		if (strcmp(row->line, line) == 0)
			return row->body && !row->may_lack &&
					       strcmp(row->needs, NEED_PUBLIC) != 0 &&
					       strcmp(row->needs, NEED_SIGNED) != 0
				       ? row
				       : NULL;
	}
	return NULL;
}

TEST(bounds_of_every_field_hold_through_the_door)
{
	struct matrix_fixture s = { .f = fixture_open() };
	struct trial t = { .s = &s };
	int operations = 0;

	for (size_t i = 0; i < api_resource_count; i++)
		for (size_t k = 0; k < api_resources[i]->route_count; k++) {
			t.route = &api_resources[i]->routes[k];
			t.row = t.route->op->body ? row_of(s.f, t.route) : NULL;
			if (!t.row)
				continue;
			/* What one operation did to its tenant must not refuse the next. */
			s.alpha = (struct world){ 0 };
			world_make(s.f, &s.alpha, arena_printf(&s.f->arena, "w%d", ++operations));
			try_row(&t);
		}
	printf("bounds: %d operations, %d values taken, %d refused\n", operations, t.taken,
		t.refused);
	CHECK(operations > 15);
	fixture_close(s.f);
}
