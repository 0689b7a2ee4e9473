/* skill_md.c - SKILL.md: the head by the rules of the Agent Skills format, the body as it is.
 *
 * The head becomes the JSON of a SkillCreate and goes the way of a body, so
 * that the tables alone know the bounds; what they find is told with the line
 * and the name it has in the file.  Fields the format does not name are
 * refused, as its own validator does: they belong under metadata. */
#include <stdlib.h>
#include <string.h>

#include "api/skills/skill_bundle.h"
#include "base/frontmatter.h"
#include "base/json.h"
#include "contract/decode.h"

enum { HEAD_JSON_MAX = 16 * 1024 * 1024, SLUG_MAX = 64, KEY_MAX = 1024 };

enum field_kind { FIELD_TEXT, FIELD_LIST, FIELD_MAP };

/* Names in the file and in the tables. */
static const struct {
	const char *key, *field;
	enum field_kind kind;
} names[] = {
	{ "name", "slug", FIELD_TEXT },
	{ "description", "description", FIELD_TEXT },
	{ "license", "license", FIELD_TEXT },
	{ "compatibility", "compatibility", FIELD_TEXT },
	{ "allowed-tools", "allowed_tools", FIELD_LIST },
	{ "metadata", "metadata", FIELD_MAP },
};

enum { NAMES = sizeof names / sizeof *names };

static void put_head_member(struct buf *b, const char *field, const char *text)
{
	buf_printf(b, "%s\"%s\":", b->len > 1 ? "," : "", field);
	if (text)
		json_write_string(b, text, strlen(text));
	else
		buf_lit(b, "null");
}

/* Words between blanks or commas; what stands in round brackets is one with its word. */
static size_t split_tools(struct arena *a, const char *text, const char **out, size_t most)
{
	size_t n = 0;

	while (*(text += strspn(text, " \t\n,")) && n < most) {
		const char *end = text;
		int depth = 0;

		for (; *end && (depth > 0 || !strchr(" \t\n,", *end)); end++)
			depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
		out[n++] = arena_strndup(a, text, (size_t)(end - text));
		text = end;
	}
	return n;
}

/* ---- the head ---- */

struct head {
	struct arena *arena;
	struct helper_tree tree;
	const struct json_member **fields; /* as they stand in the file */
	size_t count;
};

static int by_index(const void *a, const void *b)
{
	const struct json_member *const *x = a, *const *y = b;

	return (*x)->value->index < (*y)->value->index ? -1 : 1;
}

/* The members of an object as they stand in the file; a tree has them by name. */
static const struct json_member **in_order(struct arena *a, const struct json_node *object)
{
	const struct json_member **out =
		arena_array(a, const struct json_member *, object->count + 1);

	for (size_t i = 0; i < object->count; i++)
		out[i] = &object->members[i];
	qsort(out, object->count, sizeof *out, by_index);
	return out;
}

/* In the file, whose first line is the ---. */
static int line_of(const struct head *h, const struct json_node *n)
{
	return (int)h->tree.lines[n->index] + 1;
}

static bool is_single(const struct json_node *n)
{
	return n->type != JSON_ARRAY && n->type != JSON_OBJECT;
}

/* Every single value is a text, as it is written: 1.0 and true as well; NULL for null. */
static const char *text_of(struct arena *a, const struct json_node *n)
{
	if (n->type == JSON_BOOL)
		return n->flag ? "true" : "false";
	if (n->type == JSON_NUMBER)
		return arena_strndup(a, n->text, n->len);
	return n->type == JSON_STRING ? n->text : NULL;
}

static const struct json_member *find_field(const struct head *h, const char *key)
{
	for (size_t i = 0; i < h->count; i++)
		if (strcmp(h->fields[i]->name, key) == 0)
			return h->fields[i];
	return NULL;
}

static void put_tools(struct buf *b, struct arena *a, const struct json_node *n)
{
	const char *text = is_single(n) ? text_of(a, n) : NULL;
	size_t most = n->type == JSON_ARRAY ? n->count : text ? strlen(text) / 2 + 1 : 0, count = 0;
	const char **tools = arena_array(a, const char *, most + 1);

	if (text)
		count = split_tools(a, text, tools, most);
	for (; n->type == JSON_ARRAY && count < n->count; count++)
		tools[count] = text_of(a, n->items[count]);
	buf_printf(b, "%s\"allowed_tools\":[", b->len > 1 ? "," : "");
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_putc(b, ',');
		json_write_string(b, tools[i], strlen(tools[i]));
	}
	buf_putc(b, ']');
}

/* All but the name for people, which *ret_name is then. */
static void put_metadata(
	struct buf *b, struct arena *a, const struct json_node *n, const char **ret_name)
{
	const struct json_member **pairs = in_order(a, n);
	size_t written = 0;

	buf_printf(b, "%s\"metadata\":{", b->len > 1 ? "," : "");
	for (size_t i = 0; i < n->count; i++) {
		const char *text = text_of(a, pairs[i]->value);

		text = text ? text : "";
		if (strcmp(pairs[i]->name, SKILL_NAME_KEY) == 0) {
			*ret_name = text;
			continue;
		}
		if (written++)
			buf_putc(b, ',');
		json_write_string(b, pairs[i]->name, strlen(pairs[i]->name));
		buf_putc(b, ':');
		json_write_string(b, text, strlen(text));
	}
	buf_putc(b, '}');
}

static int find_name(const char *key)
{
	for (int i = 0; i < NAMES; i++)
		if (strcmp(names[i].key, key) == 0)
			return i;
	return -1;
}

/* Whether it is what the field holds; else *ret_where is what is not. */
static bool kind_fits(
	enum field_kind kind, const struct json_node *n, const struct json_node **ret_where)
{
	*ret_where = n;
	if (is_single(n))
		return kind != FIELD_MAP || n->type == JSON_NULL;
	if (kind != (n->type == JSON_ARRAY ? FIELD_LIST : FIELD_MAP))
		return false;
	for (size_t i = 0; i < n->count; i++) {
		const struct json_node *item =
			kind == FIELD_LIST ? n->items[i] : n->members[i].value;

		*ret_where = item;
		if (!is_single(item) || (kind == FIELD_LIST && item->type == JSON_NULL))
			return false;
	}
	return true;
}

/* One field of the head as a member of the JSON. */
static void put_field(struct buf *b, const struct head *h, const struct json_member *m,
	const char **ret_name, struct problem *p)
{
	static const char *const wanted[] = { [FIELD_TEXT] = "a text",
		[FIELD_LIST] = "a text or a list of texts",
		[FIELD_MAP] = "a map of texts" };
	int k = find_name(m->name);
	const struct json_node *where;

	if (k < 0)
		problem_field(p, h->arena, m->name, "unknown_field",
			"line %d: is not a field of " SKILL_MD "; put it under metadata",
			line_of(h, m->value));
	else if (!kind_fits(names[k].kind, m->value, &where))
		problem_field(p, h->arena, m->name, "type", "line %d: must be %s",
			line_of(h, where), wanted[names[k].kind]);
	else if (names[k].kind == FIELD_TEXT)
		put_head_member(b, names[k].field, text_of(h->arena, m->value));
	else if (names[k].kind == FIELD_LIST)
		put_tools(b, h->arena, m->value);
	else
		put_metadata(b, h->arena, m->value, ret_name);
}

/* The head as the JSON of a SkillCreate. */
static void head_json(
	struct buf *b, const struct head *h, const struct frontmatter *f, struct problem *p)
{
	const struct json_member *slug = find_field(h, names[0].key);
	const char *text = slug ? text_of(h->arena, slug->value) : NULL, *name = NULL;

	buf_putc(b, '{');
	for (size_t i = 0; i < h->count; i++)
		put_field(b, h, h->fields[i], &name, p);
	if (!name) /* the slug, if that is one: else it is blamed once */
		name = text && *text && strlen(text) <= SLUG_MAX ? text : "-";
	put_head_member(b, "name", name);
	put_head_member(b, "instructions", arena_strndup(h->arena, f->body, f->body_len));
	buf_putc(b, '}');
}

/* From the table's name of a field to the file's, with the line where it stands. */
static void tell_lines(const struct head *h, struct problem *p)
{
	for (struct field_error *e = p->first; e; e = e->next) {
		const struct json_member *m;

		if (strncmp(e->message, "line ", 5) == 0)
			continue;
		if (strcmp(e->field, "name") == 0)
			e->field = "metadata." SKILL_NAME_KEY;
		for (int i = 0; i < NAMES; i++) {
			size_t n = strlen(names[i].field);

			if (strncmp(e->field, names[i].field, n) != 0 ||
				(e->field[n] && !strchr(".[", e->field[n])))
				continue;
			e->field = arena_printf(h->arena, "%s%s", names[i].key, e->field + n);
			m = find_field(h, names[i].key);
			if (m)
				e->message = arena_printf(
					h->arena, "line %d: %s", line_of(h, m->value), e->message);
			break;
		}
	}
}

static int head_fault(struct arena *a, struct problem *p, int line, const char *fault)
{
	if (line)
		return problem_field(p, a, SKILL_MD, "syntax", "line %d: %s", line, fault);
	return problem_field(p, a, SKILL_MD, "syntax", "%s", fault);
}

static int read_head(
	struct head *h, struct helper *helper, const struct frontmatter *f, struct problem *p)
{
	struct helper_tree *t = &h->tree;
	int err = helper_yaml_lines(helper, h->arena, f->head, f->head_len, t);

	if (err == ERR_INVALID)
		return head_fault(
			h->arena, p, t->fault_line ? (int)t->fault_line + 1 : 0, t->fault);
	if (err)
		return problem_set(p, h->arena, err, "%s", t->fault);
	if (t->root->type == JSON_NULL) /* nothing but comments */
		return 0;
	if (t->root->type != JSON_OBJECT)
		return head_fault(
			h->arena, p, line_of(h, t->root), "a key with its value is wanted here");
	h->fields = in_order(h->arena, t->root);
	h->count = t->root->count;
	for (size_t i = 0; i < h->count; i++)
		if (!h->fields[i]->len || h->fields[i]->len > KEY_MAX)
			return head_fault(h->arena, p, line_of(h, h->fields[i]->value),
				"a key has 1 to 1,024 bytes");
	return 0;
}

int skill_md_read(struct arena *a, const struct patterns *patterns, struct helper *helper,
	const char *text, size_t len, struct SkillCreate *ret, struct problem *p)
{
	struct head h = { .arena = a };
	struct problem own = { 0 };
	struct frontmatter f;
	struct buf b;

	if (!front_split(text, len, &f))
		return head_fault(a, p, f.fault_line, f.fault);
	if (f.body_len > CEILING_PROMPT)
		return problem_field(p, a, "instructions", "too_long",
			"must have at most %d bytes after the head", CEILING_PROMPT);
	if (read_head(&h, helper, &f, p))
		return p->err;
	buf_init(&b, HEAD_JSON_MAX);
	head_json(&b, &h, &f, &own);
	decode_body(patterns, a, &SkillCreate_schema, UNKNOWN_REFUSED, b.at, b.len, ret, &own);
	buf_free(&b);
	skill_check(&own, a, ret->description, &ret->metadata, &ret->allowed_tools);
	tell_lines(&h, &own);
	if (own.err && !own.first)
		return problem_set(p, a, own.err, "%s", own.detail);
	for (const struct field_error *e = own.first; e; e = e->next)
		problem_field(p, a, e->field, e->code, "%s", e->message);
	return p->err;
}

/* ---- the writer ---- */

static void write_field(struct buf *out, const char *key, const char *text)
{
	if (!text)
		return;
	buf_printf(out, "%s: ", key);
	front_write_text(out, text);
	buf_putc(out, '\n');
}

/* In one line where reading that gives the same tools, else one below the other. */
static void write_allowed_tools(struct buf *out, struct arena *a, const struct list *tools)
{
	const char *const *items = tools->at;
	const char **again = arena_array(a, const char *, tools->count + 1), *line = "";
	bool same;

	if (!tools->count)
		return;
	for (size_t i = 0; i < tools->count; i++)
		line = arena_printf(a, "%s%s%s", line, i ? " " : "", items[i]);
	same = split_tools(a, line, again, tools->count + 1) == tools->count;
	for (size_t i = 0; same && i < tools->count; i++)
		same = strcmp(items[i], again[i]) == 0;
	if (same) {
		write_field(out, "allowed-tools", line);
		return;
	}
	buf_lit(out, "allowed-tools:\n");
	for (size_t i = 0; i < tools->count; i++) {
		buf_lit(out, "  - ");
		front_write_text(out, items[i]);
		buf_putc(out, '\n');
	}
}

static void write_pair(struct buf *out, const char *key, const char *text)
{
	buf_lit(out, "  ");
	front_write_text(out, key);
	buf_lit(out, ": ");
	front_write_text(out, text);
	buf_putc(out, '\n');
}

void skill_md_write(struct buf *out, struct arena *a, const struct SkillRead *s)
{
	bool named = strcmp(s->name, s->slug) != 0;
	struct json_reader r;
	const char *key, *text;
	size_t len;

	buf_lit(out, "---\n");
	write_field(out, "name", s->slug);
	write_field(out, "description", s->description);
	write_field(out, "license", s->license);
	write_field(out, "compatibility", s->compatibility);
	write_allowed_tools(out, a, &s->allowed_tools);
	json_open(&r, a, s->metadata.text, strlen(s->metadata.text));
	json_enter_object(&r);
	if (named || strcmp(s->metadata.text, "{}") != 0)
		buf_lit(out, "metadata:\n");
	if (named)
		write_pair(out, SKILL_NAME_KEY, s->name);
	while (json_next_key(&r, &key, &len) && json_read_string(&r, &text, &len))
		write_pair(out, key, text);
	buf_lit(out, "---\n\n");
	buf_puts(out, s->instructions);
}
