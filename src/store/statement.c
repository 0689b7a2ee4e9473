/* statement.c - what a statement's text comes to on an engine: column lists, type words, and the places of its
 * arguments, each with what is bound to it.  All of it is found here, once, when the statement is prepared; what
 * is wrong with the text is a sentence, which the check of all statements shows before anything is served. */
#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "store/engine.h"

enum { TEXT_MAX = 64 * 1024 };

struct expansion {
	const struct engine *engine;
	const struct statement *st;
	const struct schema *named; /* whose members names are; NULL: there are none */
	struct arena *arena;
	struct statement_form *form;
	struct buf out;
	bool numbers; /* some place is a number */
};

static void expansion_fault(struct expansion *x, const char *what, const char *at, size_t len)
{
	if (!x->form->fault)
		x->form->fault = arena_printf(
			x->arena, "statement %s: %.*s %s", x->st->name, (int)len, at, what);
}

/* ---- places ---- */

static void put_number(struct expansion *x, int n)
{
	buf_printf(&x->out, x->engine == &sqlite_engine ? "?%d" : "$%d", n);
}

/* The place of something: the one it has already, or the next. */
static void put_place(struct expansion *x, int what)
{
	struct statement_form *form = x->form;
	int n = 0;

	while (n < form->count && form->place[n] != what)
		n++;
	if (n == DB_ARGS) {
		expansion_fault(x, "is more than a statement may have", "its places", 10);
		return;
	}
	if (n == form->count)
		form->place[form->count++] = (int16_t)what;
	put_number(x, n + 1);
}

static bool can_be_bound(const struct field *f)
{
	return !f->computed && f->kind != NUMBER && (f->kind != OBJECT || !f->of);
}

static void put_field(struct expansion *x, const struct field *f)
{
	x->form->named = true;
	if (!can_be_bound(f))
		expansion_fault(x, "cannot be bound", f->name, f->name_len);
	put_place(x, (int)(f - x->named->fields));
}

static void put_name(struct expansion *x, const char *name, size_t len)
{
	const struct field *f = x->named ? schema_field(x->named, name, len) : NULL;

	if (f)
		put_field(x, f);
	else
		expansion_fault(x, "is no member of what it is given", name, len);
}

/* Numbers keep theirs, and the page's own come after the highest. */
static void count_numbers(struct expansion *x, const char *sql)
{
	int highest = 0;

	for (const char *p = strchr(sql, '$'); p; p = strchr(p + 1, '$')) {
		int n = 0;

		for (const char *d = p + 1; isdigit((unsigned char)*d) && n <= DB_ARGS; d++)
			n = n * 10 + (*d - '0');
		highest = n > highest ? n : highest;
	}
	if (highest > DB_ARGS) {
		expansion_fault(x, "are more than a statement may have", "its numbers", 11);
		highest = DB_ARGS;
	}
	x->numbers = highest > 0;
	for (x->form->count = 0; x->form->count < highest; x->form->count++)
		x->form->place[x->form->count] = (int16_t)x->form->count;
}

static bool put_page_place(struct expansion *x, const char *word, size_t len)
{
	static const struct {
		const char *word;
		int what;
	} places[] = {
		{ "limit", PLACE_LIMIT },
		{ "offset", PLACE_OFFSET },
		{ "after", PLACE_AFTER },
		{ "before", PLACE_BEFORE },
	};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		if (strlen(places[i].word) == len && memcmp(places[i].word, word, len) == 0) {
			x->form->paged = true;
			put_place(x, places[i].what);
			return true;
		}
	}
	return false;
}

/* ---- columns and words ---- */

static bool is_key_column(const struct field *f)
{
	return strcmp(f->name, "id") == 0 || strcmp(f->name, "tenant_id") == 0;
}

static void put_columns(struct expansion *x, char what, const char *alias, size_t alias_len)
{
	const struct schema *s = what == '*' ? x->st->row : x->named;
	bool first = true;

	if (!s)
		expansion_fault(x, "stands for the columns of nothing", &what, 1);
	for (const struct field *f = s ? s->fields : NULL; s && f < s->fields + s->count; f++) {
		if (f->computed || (what == '=' && is_key_column(f)))
			continue;
		if (!first)
			buf_lit(&x->out, ", ");
		first = false;
		if (alias_len) {
			buf_put(&x->out, alias, alias_len);
			buf_putc(&x->out, '.');
		}
		if (what != '$')
			buf_puts(&x->out, field_column(f));
		if (what == '=')
			buf_lit(&x->out, " = ");
		if (what != '*')
			put_field(x, f);
	}
}

/* The words in which the two dialects differ. */
static bool put_word(struct expansion *x, const char *word, size_t len)
{
	static const struct {
		const char *word, *sqlite, *postgres;
	} words[] = {
		{ "int", "integer", "bigint" },
		{ "text", "text", "text collate \"C\"" },
		{ "bytes", "blob", "bytea" },
		{ "rows", "strict", "" },
		{ "keyed", "strict, without rowid", "" },
		{ "place", "place integer primary key,", "" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0) {
			buf_puts(&x->out,
				x->engine == &sqlite_engine ? words[i].sqlite : words[i].postgres);
			return true;
		}
	}
	return false;
}

static void put_brace(struct expansion *x, const char *at, size_t len)
{
	if (len == 1 && strchr("*$=", *at))
		put_columns(x, *at, NULL, 0);
	else if (len > 2 && at[len - 1] == '*' && at[len - 2] == '.')
		put_columns(x, '*', at, len - 2);
	else if (!put_page_place(x, at, len) && !put_word(x, at, len))
		expansion_fault(x, "in braces is not known", at, len);
}

/* ---- the way through the text ---- */

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (islower((unsigned char)p[n]) || p[n] == '_' || (n && isdigit((unsigned char)p[n])))
		n++;
	return n;
}

/* What is quoted stays as it is; the end of it. */
static const char *put_quoted(struct expansion *x, const char *p)
{
	const char *end = strchr(p + 1, '\'');

	end = end ? end + 1 : p + strlen(p);
	buf_put(&x->out, p, (size_t)(end - p));
	return end;
}

static const char *put_next(struct expansion *x, const char *p)
{
	size_t name = *p == ':' ? name_length(p + 1) : 0;
	const char *close = *p == '{' ? strchr(p, '}') : NULL;

	if (*p == '\'')
		return put_quoted(x, p);
	if (p[0] == ':' && p[1] == ':') { /* a cast */
		buf_lit(&x->out, "::");
		return p + 2;
	}
	if (name) {
		put_name(x, p + 1, name);
		return p + 1 + name;
	}
	if (close) {
		put_brace(x, p + 1, (size_t)(close - p - 1));
		return close + 1;
	}
	if (*p == '$' && isdigit((unsigned char)p[1]) && x->engine == &sqlite_engine)
		buf_putc(&x->out, '?');
	else
		buf_putc(&x->out, *p);
	return p + 1;
}

void statement_form(struct arena *a, const struct engine *e, const struct statement *st,
	struct statement_form *ret)
{
	const char *p = e == &postgres_engine && st->postgres ? st->postgres : st->sql;
	struct expansion x = { .engine = e,
		.st = st,
		.named = st->args ? st->args : st->row,
		.arena = a,
		.form = ret };

	*ret = (struct statement_form){ 0 };
	buf_init(&x.out, TEXT_MAX);
	count_numbers(&x, p);
	while (*p)
		p = put_next(&x, p);
	if (ret->named && x.numbers)
		expansion_fault(&x, "are mixed", "numbers and names", 17);
	if (st->args && !ret->named)
		expansion_fault(&x, "is not named", st->args->name, strlen(st->args->name));
	if (x.out.overflow)
		expansion_fault(&x, "is too long", "its text", 8);
	ret->text = arena_strndup(a, x.out.at, x.out.len);
	buf_free(&x.out);
}

char *statement_script(struct arena *a, const struct engine *e, const char *name, const char *sql)
{
	struct statement st = { .name = name, .sql = sql };
	struct statement_form form = { 0 };
	struct expansion x = { .engine = e, .st = &st, .arena = a, .form = &form };
	char *text;

	buf_init(&x.out, TEXT_MAX);
	while (*sql) {
		const char *close = *sql == '{' ? strchr(sql, '}') : NULL;

		if (close && put_word(&x, sql + 1, (size_t)(close - sql - 1)))
			sql = close + 1;
		else
			buf_putc(&x.out, *sql++);
	}
	text = arena_strndup(a, x.out.at, x.out.len);
	buf_free(&x.out);
	return text;
}

const char *statement_fault(struct arena *a, const struct statement *st)
{
	struct statement_form form;

	statement_form(a, &sqlite_engine, st, &form);
	if (!form.fault && st->postgres)
		statement_form(a, &postgres_engine, st, &form);
	return form.fault;
}
