/* test_decode.c - every field of every schema against its own bounds: absent, null, of each other type,
 * at, below and above each limit.  The cases come from the tables, so a new field is covered at once. */
#include "t.h"

#include <stdlib.h>

#include "serve/registry.h"
#include "base/json.h"
#include "contract/encode.h"
#include "contract/types.h"

struct under_test {
	struct arena arena;
	struct service service;
	struct types types;
};

static void begin(struct under_test *u)
{
	struct problem p = { 0 };

	*u = (struct under_test){ 0 };
	if (api_setup(&u->service, &u->arena, &p))
		test_fail(__FILE__, __LINE__, "%s", p.detail);
	types_collect(&u->types, &u->arena, api_resources, api_resource_count);
}

static void end(struct under_test *u)
{
	api_teardown(&u->service);
	arena_free(&u->arena);
}

/* Decodes {"name":VALUE} against a schema of this one field; the code of its error, or "". */
static const char *code_of(struct under_test *u, const struct schema *s, const struct field *f,
	const char *value, size_t len)
{
	struct schema one = { .name = s->name, .size = s->size, .fields = f, .count = 1 };
	struct arena a = { 0 };
	struct problem p = { 0 };
	const char *code;
	struct buf b;
	int err;

	buf_init(&b, len + 1000);
	buf_putc(&b, '{');
	if (value) {
		buf_printf(&b, "\"%s\":", f->name);
		buf_put(&b, value, len);
	}
	buf_putc(&b, '}');
	err = decode_body(u->service.app.patterns, &a, &one, UNKNOWN_REFUSED, b.at, b.len,
		arena_alloc(&a, s->size), &p);
	code = p.first ? p.first->code : "";
	buf_free(&b);
	arena_free(&a);
	return !err ? "" : err != ERR_INVALID ? "(malformed)" : code;
}

static const char *code(
	struct under_test *u, const struct schema *s, const struct field *f, const char *value)
{
	return code_of(u, s, f, value, value ? strlen(value) : 0);
}

/* A string of n letters. */
static const char *letters(struct under_test *u, const char *letter, size_t n)
{
	size_t each = strlen(letter);
	char *text = arena_alloc(&u->arena, n * each + 3), *p = text;

	*p++ = '"';
	if (each == 1)
		memset(p, *letter, n);
	for (size_t i = 0; each > 1 && i < n * each; i++)
		p[i] = letter[i % each];
	p[n * each] = '"';
	return text;
}

static void check_text(struct under_test *u, const struct schema *s, const struct field *f)
{
	bool free_form = !f->pattern && !f->id && !f->email && !f->constant && !f->check;
	size_t limit = (size_t)field_limit(f);

	if (f->has_min && f->min >= 1)
		CHECK_STR(code(u, s, f, "\"\""), "too_short");
	if (free_form) {
		CHECK_STR(code(u, s, f, letters(u, "a", limit)), "");
		CHECK_STR(code(u, s, f, letters(u, "a", limit + 1)), "too_long");
		CHECK_STR(code(u, s, f, "\"a\\u0000b\""), "character");
	}
	if (free_form && f->max) /* the contract counts characters, not bytes */
		CHECK_STR(code(u, s, f, letters(u, "é", limit)), "");
	if (f->pattern && f->max)
		CHECK_STR(code(u, s, f, letters(u, "a", limit + 1)), "too_long");
	if (f->pattern && f->min <= 2)
		CHECK_STR(code(u, s, f, "\"_\\n\""), "pattern");
	if (f->check && !f->pattern)
		CHECK_STR(code(u, s, f, "\" \""), "format");
	if (f->id) {
		CHECK_STR(code(u, s, f, "\"c0123456789abcdefghijklmn\""), "");
		CHECK_STR(code(u, s, f, "\"c0123456789abcdefghijklmn\\n\""), "pattern");
		CHECK_STR(code(u, s, f, "\"C0123456789abcdefghijklmn\""), "pattern");
	}
	if (f->email) {
		CHECK_STR(code(u, s, f, "\"a@b.example\""), "");
		CHECK_STR(code(u, s, f, "\"a b@example\""), "format");
		CHECK_STR(code(u, s, f, "\"a@b..example\""), "format");
	}
}

static void check_number(struct under_test *u, const struct schema *s, const struct field *f)
{
	char text[64];

	if (f->has_min) {
		snprintf(text, sizeof text, "%.17g", f->min);
		CHECK_STR(code(u, s, f, text), "");
		snprintf(text, sizeof text, "%.17g", f->min - 1);
		CHECK_STR(code(u, s, f, text), "too_small");
	}
	snprintf(text, sizeof text, "%.17g", field_limit(f));
	CHECK_STR(code(u, s, f, text), "");
	if (f->max) {
		snprintf(text, sizeof text, "%.17g", f->max + 1);
		CHECK_STR(code(u, s, f, text), "too_large");
	}
	if (f->kind == INTEGER) {
		CHECK_STR(code(u, s, f, "1.5"), "type");
		CHECK_STR(code(u, s, f, "1.0"), "");
		CHECK_STR(code(u, s, f, "9007199254740992"), "type");
	}
	if (f->kind == MONEY) {
		CHECK_STR(code(u, s, f, "0.000000000001"), "");
		CHECK_STR(code(u, s, f, "0.0000000000010"), "");
		CHECK_STR(code(u, s, f, "0.0000000000005"), "too_fine");
		CHECK_STR(code(u, s, f, "1.0000000000001"), "too_fine");
		CHECK_STR(code(u, s, f, "-0.000000000001"), "too_small");
		snprintf(text, sizeof text, "%.0f.000000000001", field_limit(f));
		CHECK_STR(code(u, s, f, text), "too_large");
	}
	CHECK_STR(code(u, s, f, "1e400"), "(malformed)");
}

static const char *item_text(const struct field *f, size_t i)
{
	static char text[64];

	if (f->item_id)
		snprintf(text, sizeof text, "\"c%024zu\"", i);
	else if (f->item == CHOICE)
		snprintf(text, sizeof text, "\"%s\"", f->words->list[0]);
	else
		snprintf(text, sizeof text, "\"t%zu\"", i);
	return text;
}

static const char *list_of(struct under_test *u, const struct field *f, size_t n)
{
	struct buf b;
	char *text;

	buf_init(&b, 1 << 20);
	buf_putc(&b, '[');
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? "," : "", item_text(f, i));
	buf_putc(&b, ']');
	text = arena_strndup(&u->arena, b.at, b.len);
	buf_free(&b);
	return text;
}

static void check_list(struct under_test *u, const struct schema *s, const struct field *f)
{
	size_t limit = (size_t)field_limit(f);

	CHECK_STR(code(u, s, f, "[1]"), "type");
	CHECK_STR(code(u, s, f, "[null]"), f->item == OBJECT ? "type" : "null");
	if (f->item == OBJECT)
		return;
	if (!f->distinct || f->item != CHOICE) {
		CHECK_STR(code(u, s, f, list_of(u, f, limit)), "");
		CHECK_STR(code(u, s, f, list_of(u, f, limit + 1)), "too_many");
	}
	if (f->has_min && f->min >= 1)
		CHECK_STR(code(u, s, f, "[]"), "too_few");
	if (f->item_id)
		CHECK_STR(code(u, s, f, "[\"x\"]"), "pattern");
	if (f->item == CHOICE)
		CHECK_STR(code(u, s, f, "[\"?\"]"), "choice");
	if (f->distinct && f->item_id)
		CHECK_STR(code(u, s, f,
				  "[\"c0123456789abcdefghijklmn\",\"c0123456789abcdefghijklmn\"]"),
			"repeated");
}

static void check_kind(struct under_test *u, const struct schema *s, const struct field *f)
{
	char text[256];

	switch (f->kind) {
	case FLAG:
		CHECK_STR(code(u, s, f, "true"), "");
		CHECK_STR(code(u, s, f, "1"), "type");
		break;
	case INTEGER:
	case NUMBER:
	case MONEY:
		check_number(u, s, f);
		break;
	case TEXT:
		check_text(u, s, f);
		break;
	case CHOICE:
		for (int i = 0; f->words->list[i]; i++) {
			snprintf(text, sizeof text, "\"%s\"", f->words->list[i]);
			CHECK_STR(code(u, s, f, text), "");
		}
		CHECK_STR(code(u, s, f, "\"?\""), "choice");
		break;
	case MOMENT:
		CHECK_STR(code(u, s, f, "\"2026-01-31T12:00:00Z\""), "");
		CHECK_STR(code(u, s, f, "\"2026-01-32T12:00:00Z\""), "format");
		break;
	case JSON:
		CHECK_STR(code(u, s, f, f->array ? "[{\"b\":null}]" : "{\"a\":[1,{\"b\":null}]}"),
			"");
		CHECK_STR(code(u, s, f, "{\"a\":1,\"a\":2}"), "(malformed)");
		snprintf(text, sizeof text, "{\"k\":%.200s}", "");
		break;
	case OBJECT:
		CHECK_STR(code(u, s, f, "[]"), "type");
		break;
	case LIST:
		check_list(u, s, f);
		break;
	}
}

/* One value of each JSON type; a field takes only its own. */
static void check_types(struct under_test *u, const struct schema *s, const struct field *f)
{
	static const struct {
		const char *value;
		unsigned kinds;
	} values[] = {
		{ "true", 1u << FLAG },
		{ "7", 1u << INTEGER | 1u << NUMBER | 1u << MONEY },
		{ "\"?\"", 1u << TEXT | 1u << CHOICE | 1u << MOMENT },
		{ "{}", 1u << JSON | 1u << OBJECT },
		{ "[]", 1u << LIST },
	};

	for (size_t i = 0; !f->any && i < sizeof values / sizeof *values; i++)
		if (!(values[i].kinds >> (f->array ? LIST : f->kind) & 1))
			CHECK_STR(code(u, s, f, values[i].value), "type");
	CHECK_STR(code(u, s, f, "null"), f->nullable ? "" : "null");
	CHECK_STR(code(u, s, f, NULL), f->required ? "required" : "");
}

TEST(decode_every_field_keeps_its_bounds)
{
	struct under_test u;
	size_t fields = 0;

	begin(&u);
	for (size_t i = 0; i < u.types.count; i++) {
		const struct schema *s = u.types.list[i].schema;

		/* Those without a struct are never decoded. */
		for (size_t k = 0; !s->told && k < s->count; k++, fields++) {
			test_step("%s.%s", s->name, s->fields[k].name);
			check_types(&u, s, &s->fields[k]);
			check_kind(&u, s, &s->fields[k]);
		}
		arena_reset(&u.arena);
		types_collect(&u.types, &u.arena, api_resources, api_resource_count);
	}
	CHECK(fields >= 455);
	end(&u);
}

static const struct schema *schema_named(struct under_test *u, const char *name)
{
	for (size_t i = 0; i < u->types.count; i++)
		if (strcmp(u->types.list[i].schema->name, name) == 0)
			return u->types.list[i].schema;
	test_fail(__FILE__, __LINE__, "no schema %s", name);
	return NULL;
}

TEST(decode_lists_every_offending_field)
{
	static const char body[] =
		"{\"name\":\"\",\"slug\":\"UPPER\",\"kind\":\"x\",\"hidden\":1,\"nope\":1}";
	struct under_test u;
	struct problem p = { 0 };
	const struct schema *s;

	begin(&u);
	s = schema_named(&u, "AgentCreate");
	CHECK_INT(decode_body(u.service.app.patterns, &u.arena, s, UNKNOWN_REFUSED, body,
			  strlen(body), arena_alloc(&u.arena, s->size), &p),
		ERR_INVALID);
	CHECK_INT(p.count, 5);
	p = (struct problem){ 0 };
	CHECK_INT(decode_body(u.service.app.patterns, &u.arena, s, UNKNOWN_IGNORED, body,
			  strlen(body), arena_alloc(&u.arena, s->size), &p),
		ERR_INVALID);
	CHECK_INT(p.count, 4);
	end(&u);
}

TEST(decode_counts_what_it_does_not_list)
{
	struct under_test u;
	struct problem p = { 0 };
	const struct schema *s;
	struct buf b;

	begin(&u);
	s = schema_named(&u, "AgentCreate");
	buf_init(&b, 1 << 20);
	buf_lit(&b, "{\"name\":\"a\",\"slug\":\"a\"");
	for (int i = 0; i < FIELD_ERRORS_MAX + 5; i++)
		buf_printf(&b, ",\"x%d\":1", i);
	buf_putc(&b, '}');
	decode_body(u.service.app.patterns, &u.arena, s, UNKNOWN_REFUSED, b.at, b.len,
		arena_alloc(&u.arena, s->size), &p);
	CHECK_INT(p.count, FIELD_ERRORS_MAX);
	CHECK_INT(p.unlisted, 5);
	buf_free(&b);
	end(&u);
}

TEST(decode_then_encode_gives_the_same_object)
{
	static const char body[] =
		"{\"name\":\"A b\",\"slug\":\"a-b\",\"kind\":\"dba\",\"environment_mode\":\"isolated\","
		"\"can_author_skills\":true,\"hidden\":false,\"is_admin_only\":true,"
		"\"resource_class\":\"big\",\"description\":\"\\\"q\\\" \\u00e9 \\n\",\"description_prompt\":null,"
		"\"initial_greeting\":\"hi\",\"image_ref\":null,\"iteration_warn_threshold\":9,\"voice\":\"v\"}";
	static const char want[] =
		"{\"name\":\"A b\",\"slug\":\"a-b\",\"kind\":\"dba\",\"environment_mode\":\"isolated\","
		"\"can_author_skills\":true,\"hidden\":false,\"is_admin_only\":true,"
		"\"resource_class\":\"big\",\"description\":\"\\\"q\\\" é \\n\",\"description_prompt\":null,"
		"\"initial_greeting\":\"hi\",\"image_ref\":null,\"iteration_warn_threshold\":9,\"voice\":\"v\"}";
	struct under_test u;
	struct problem p = { 0 };
	const struct schema *s;
	void *object;
	struct buf b;

	begin(&u);
	s = schema_named(&u, "AgentCreate");
	object = arena_alloc(&u.arena, s->size);
	CHECK_INT(decode_body(u.service.app.patterns, &u.arena, s, UNKNOWN_REFUSED, body,
			  strlen(body), object, &p),
		0);
	buf_init(&b, 1 << 20);
	encode_object(&b, s, object);
	buf_putc(&b, '\0');
	CHECK_STR(b.at, want);
	buf_free(&b);
	end(&u);
}

TEST(decode_query_takes_each_parameter_once)
{
	static const struct {
		const char *query, *field, *code;
	} rows[] = {
		{ "", NULL, NULL },
		{ "page=2&per_page=200&total=false", NULL, NULL },
		{ "page=0", "page", "too_small" },
		{ "per_page=201", "per_page", "too_large" },
		{ "page=1&page=2", "page", "repeated" },
		{ "page=x", "page", "type" },
		{ "page=1.5", "page", "type" },
		{ "page=", "page", "type" },
		{ "total=maybe", "total", "type" },
		{ "after=x", "after", "pattern" },
		{ "nope=1", "nope", "unknown_field" },
		{ "p%61ge=3", NULL, NULL },
	};
	struct under_test u;

	begin(&u);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct page_query page;
		struct query_target target = { &page_query_schema, &page };
		struct problem p = { 0 };

		test_step("%s", rows[i].query);
		decode_query(u.service.app.patterns, &u.arena, &target, 1, UNKNOWN_REFUSED,
			rows[i].query, strlen(rows[i].query), &p);
		CHECK_INT(p.err, rows[i].code ? ERR_INVALID : 0);
		if (p.first && rows[i].code) {
			CHECK_STR(p.first->field, rows[i].field);
			CHECK_STR(p.first->code, rows[i].code);
		}
	}
	for (size_t i = 0; i < 3; i++) {
		static const char *const broken[] = { "page=%2", "%zz=1", "q=%00" };
		struct page_query page;
		struct query_target target = { &page_query_schema, &page };
		struct problem p = { 0 };

		CHECK_INT(decode_query(u.service.app.patterns, &u.arena, &target, 1,
				  UNKNOWN_REFUSED, broken[i], strlen(broken[i]), &p),
			ERR_MALFORMED);
	}
	end(&u);
}
