/* skill_md.c - SKILL.md: the head by the rules of the Agent Skills format, the body as it is.
 *
 * The head becomes the JSON of a SkillCreate and goes the way of a body, so
 * that the tables alone know the bounds; what they find is told with the line
 * and the name it has in the file.  Fields the format does not name are
 * refused, as its own validator does: they belong under metadata. */
#include <string.h>

#include "api/skills/skill_bundle.h"
#include "base/frontmatter.h"
#include "base/json.h"
#include "contract/decode.h"

enum { HEAD_JSON_MAX = 16 * 1024 * 1024, SLUG_MAX = 64 };

/* Names in the file and in the tables. */
static const struct {
	const char *key, *field;
	enum front_kind kind;
} names[] = {
	{ "name", "slug", FRONT_TEXT },
	{ "description", "description", FRONT_TEXT },
	{ "license", "license", FRONT_TEXT },
	{ "compatibility", "compatibility", FRONT_TEXT },
	{ "allowed-tools", "allowed_tools", FRONT_LIST },
	{ "metadata", "metadata", FRONT_MAP },
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

static void put_tools(struct buf *b, struct arena *a, const struct front_entry *e)
{
	const char **tools = arena_array(a, const char *, FRONT_ITEMS_MAX);
	size_t n = e->kind == FRONT_TEXT ? split_tools(a, e->text, tools, FRONT_ITEMS_MAX) : 0;

	for (; e->kind == FRONT_LIST && n < e->count; n++)
		tools[n] = e->items[n].text;
	buf_printf(b, "%s\"allowed_tools\":[", b->len > 1 ? "," : "");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(b, ',');
		json_write_string(b, tools[i], strlen(tools[i]));
	}
	buf_putc(b, ']');
}

/* All but the name for people, which *ret_name is then. */
static void put_metadata(struct buf *b, const struct front_entry *e, const char **ret_name)
{
	size_t n = 0;

	buf_printf(b, "%s\"metadata\":{", b->len > 1 ? "," : "");
	for (size_t i = 0; i < e->count; i++) {
		const char *text = e->items[i].text ? e->items[i].text : "";

		if (strcmp(e->items[i].key, SKILL_NAME_KEY) == 0) {
			*ret_name = text;
			continue;
		}
		if (n++)
			buf_putc(b, ',');
		json_write_string(b, e->items[i].key, strlen(e->items[i].key));
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

static bool kind_fits(int i, enum front_kind kind)
{
	return kind == names[i].kind || kind == FRONT_NULL ||
	       (names[i].kind == FRONT_LIST && kind == FRONT_TEXT);
}

/* The head as the JSON of a SkillCreate. */
static void head_json(
	struct buf *b, struct arena *a, const struct frontmatter *f, struct problem *p)
{
	const char *slug = NULL, *name = NULL;

	buf_putc(b, '{');
	for (size_t i = 0; i < f->count; i++) {
		const struct front_entry *e = &f->entries[i];
		int k = find_name(e->key);

		if (k < 0)
			problem_field(p, a, e->key, "unknown_field",
				"line %d: is not a field of " SKILL_MD "; put it under metadata",
				e->line);
		else if (!kind_fits(k, e->kind))
			problem_field(p, a, e->key, "type", "line %d: must be %s", e->line,
				names[k].kind == FRONT_TEXT   ? "a text"
				: names[k].kind == FRONT_LIST ? "a text or a list of texts"
							      : "a map of texts");
		else if (names[k].kind == FRONT_TEXT)
			put_head_member(b, names[k].field, e->text);
		else if (names[k].kind == FRONT_LIST)
			put_tools(b, a, e);
		else
			put_metadata(b, e, &name);
		if (k == 0)
			slug = e->text;
	}
	if (!name) /* the slug, if that is one: else it is blamed once */
		name = slug && *slug && strlen(slug) <= SLUG_MAX ? slug : "-";
	put_head_member(b, "name", name);
	put_head_member(b, "instructions", arena_strndup(a, f->body, f->body_len));
	buf_putc(b, '}');
}

/* From the table's name of a field to the file's, with the line where it stands. */
static void tell_lines(struct arena *a, const struct frontmatter *f, struct problem *p)
{
	for (struct field_error *e = p->first; e; e = e->next) {
		const struct front_entry *entry;

		if (strncmp(e->message, "line ", 5) == 0)
			continue;
		if (strcmp(e->field, "name") == 0)
			e->field = "metadata." SKILL_NAME_KEY;
		for (int i = 0; i < NAMES; i++) {
			size_t n = strlen(names[i].field);

			if (strncmp(e->field, names[i].field, n) != 0 ||
				(e->field[n] && !strchr(".[", e->field[n])))
				continue;
			e->field = arena_printf(a, "%s%s", names[i].key, e->field + n);
			entry = front_find(f, names[i].key);
			if (entry)
				e->message =
					arena_printf(a, "line %d: %s", entry->line, e->message);
			break;
		}
	}
}

int skill_md_read(struct arena *a, const struct patterns *patterns, const char *text, size_t len,
	struct SkillCreate *ret, struct problem *p)
{
	struct frontmatter *f = arena_new(a, struct frontmatter);
	struct problem own = { 0 };
	struct buf b;

	if (!front_read(a, text, len, f)) {
		if (f->fault_line)
			return problem_field(
				p, a, SKILL_MD, "syntax", "line %d: %s", f->fault_line, f->fault);
		return problem_field(p, a, SKILL_MD, "syntax", "%s", f->fault);
	}
	if (f->body_len > CEILING_PROMPT)
		return problem_field(p, a, "instructions", "too_long",
			"must have at most %d bytes after the head", CEILING_PROMPT);
	buf_init(&b, HEAD_JSON_MAX);
	head_json(&b, a, f, &own);
	decode_body(patterns, a, &SkillCreate_schema, UNKNOWN_REFUSED, b.at, b.len, ret, &own);
	buf_free(&b);
	skill_check(&own, a, ret->description, &ret->metadata, &ret->allowed_tools);
	tell_lines(a, f, &own);
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
