/* statement.c - expands a statement's text for an engine: column lists, placeholders, type words. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/engine.h"

enum { TEXT_MAX = 64 * 1024 };

static void placeholder(struct buf *b, const struct engine *e, int n)
{
	buf_printf(b, e == &sqlite_engine ? "?%d" : "$%d", n);
}

/* The number under which a column is bound by db_put. */
static int column_number(const struct schema *s, const char *name, size_t len)
{
	int n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct field *f = &s->fields[i];

		n += !f->computed;
		if (f->name_len == len && memcmp(f->name, name, len) == 0)
			return f->computed ? 0 : n;
	}
	return 0;
}

static bool is_key(const struct field *f)
{
	return strcmp(f->name, "id") == 0 || strcmp(f->name, "tenant_id") == 0;
}

static void expand_columns(struct buf *b, const struct engine *e, const struct schema *s, char what,
	const char *alias, size_t alias_len)
{
	int n = 0;
	bool first = true;

	for (size_t i = 0; i < s->count; i++) {
		const struct field *f = &s->fields[i];

		if (f->computed)
			continue;
		n++;
		if (what == '=' && is_key(f))
			continue;
		if (!first)
			buf_lit(b, ", ");
		first = false;
		if (alias_len) {
			buf_put(b, alias, alias_len);
			buf_putc(b, '.');
		}
		if (what != '$')
			buf_put(b, f->name, f->name_len);
		if (what == '=')
			buf_lit(b, " = ");
		if (what != '*')
			placeholder(b, e, n);
	}
}

/* The words in which the two dialects differ. */
static bool expand_word(struct buf *b, const struct engine *e, const char *word, size_t len)
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
			buf_puts(b, e == &sqlite_engine ? words[i].sqlite : words[i].postgres);
			return true;
		}
	}
	return false;
}

static void expand_brace(struct buf *b, const struct engine *e, const struct statement *st,
	const char *at, size_t len)
{
	if (len == 1 && strchr("*$=", *at)) {
		expand_columns(b, e, st->row, *at, NULL, 0);
	} else if (len > 2 && at[len - 1] == '*' && at[len - 2] == '.') {
		expand_columns(b, e, st->row, '*', at, len - 2);
	} else if (*at == '$' && column_number(st->row, at + 1, len - 1)) {
		placeholder(b, e, column_number(st->row, at + 1, len - 1));
	} else if (!expand_word(b, e, at, len)) {
		fprintf(stderr, "lodge: statement %s: {%.*s} is not known\n", st->name, (int)len,
			at);
		abort();
	}
}

char *statement_text(struct arena *a, const struct engine *e, const struct statement *st)
{
	const char *p = e == &postgres_engine && st->postgres ? st->postgres : st->sql;
	struct buf b;
	char *text;

	buf_init(&b, TEXT_MAX);
	while (*p) {
		if (*p == '{') {
			const char *close = strchr(p, '}');

			expand_brace(&b, e, st, p + 1, (size_t)(close - p - 1));
			p = close + 1;
		} else if (*p == '$' && isdigit((unsigned char)p[1])) {
			placeholder(&b, e, (int)strtol(p + 1, (char **)&p, 10));
		} else {
			buf_putc(&b, *p++);
		}
	}
	text = arena_strndup(a, b.at, b.len);
	buf_free(&b);
	return text;
}
