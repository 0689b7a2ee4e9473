/* tenant_walk.c - see tenant_walk.h.
 *
 * It knows the SQL that statements here are written in, all in small letters: queries, their FROM and WHERE, joins,
 * subqueries anywhere, names given by WITH, and the three statements that change something.  What it does not
 * understand binds nothing, so that a new way to write a condition fails the test rather than passes it. */
#include "tenant_walk.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"

enum { TOKENS_MAX = 4000, SOURCES_MAX = 200, FACTS_MAX = 400, SCOPES_MAX = 200, NAMES_MAX = 20 };

struct scope {
	const struct scope *parent;
};

/* A table, a subquery or a function that rows come from. */
struct source {
	const struct scope *scope;
	const char *table; /* NULL: rows of a query whose own sources are looked at themselves */
	const char *alias; /* or NULL */
	bool bound;
	bool optional; /* of a left join */
};

/* Two columns, or a column and an argument, are equal. */
struct fact {
	const struct scope *scope;
	struct source *only; /* it holds for rows of this one alone; NULL: for all of the scope */
	size_t side[2];	     /* where each begins */
};

struct walk {
	struct arena *a;
	const struct list *columns;
	const char *token[TOKENS_MAX + 1];
	size_t match[TOKENS_MAX + 1]; /* of ( its ) */
	size_t count;
	struct scope scopes[SCOPES_MAX];
	struct source sources[SOURCES_MAX];
	struct fact facts[FACTS_MAX];
	const char *names[NAMES_MAX];
	size_t scope_count, source_count, fact_count, name_count;
	const char *trouble;
};

static void walk_query(struct walk *w, size_t i, size_t end, const struct scope *parent);

/* ---- words ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '?';
}

static size_t token_length(const char *p)
{
	size_t n = 1;

	if (*p == '\'') {
		while (p[n] && (p[n] != '\'' || p[n + 1] == '\''))
			n += p[n] == '\'' ? 2 : 1;
		return p[n] ? n + 1 : n;
	}
	while (is_word(*p) && is_word(p[n]))
		n++;
	return n;
}

static void split_tokens(struct walk *w, const char *sql)
{
	size_t open[64], depth = 0;

	for (const char *p = sql; *p; p += isspace((unsigned char)*p) ? 1 : token_length(p)) {
		if (isspace((unsigned char)*p))
			continue;
		if (w->count == TOKENS_MAX || depth == 64) {
			w->trouble = "is too long to be looked at";
			return;
		}
		if (*p == '(')
			open[depth++] = w->count;
		else if (*p == ')' && depth)
			w->match[open[--depth]] = w->count;
		w->token[w->count++] = arena_strndup(w->a, p, token_length(p));
	}
	w->token[w->count] = "";
}

static bool is(const struct walk *w, size_t i, const char *word)
{
	return strcmp(w->token[i], word) == 0;
}

static bool is_any(const struct walk *w, size_t i, const char *const *words)
{
	while (*words && !is(w, i, *words))
		words++;
	return *words != NULL;
}

/* The one after it, over what is in brackets or one of several cases. */
static size_t past(const struct walk *w, size_t i)
{
	size_t depth = is(w, i, "case");

	if (is(w, i, "("))
		return w->match[i] + 1;
	while (depth && ++i < w->count)
		depth += (size_t)is(w, i, "case") - (size_t)is(w, i, "end");
	return i + 1;
}

static size_t find_any(const struct walk *w, size_t i, size_t end, const char *const *words)
{
	while (i < end && !is_any(w, i, words))
		i = past(w, i);
	return i < end ? i : end;
}

static const char *const combining[] = { "union", "except", "intersect", NULL };
static const char *const queries[] = { "select", "with", "values", NULL };
static const char *const clause_ends[] = { "group", "order", "limit", "returning", "having",
	"window", "where", "join", "left", "inner", "cross", "from", "on", "for", NULL };
static const char *const no_alias[] = { "where", "group", "order", "limit", "returning", "having",
	"window", "on", "join", "left", "inner", "cross", "set", "using", "values", "select",
	"default", "indexed", "for", "from", ",", ")", "(", "=", "", NULL };

bool table_has(const struct list *columns, const char *table, const char *name)
{
	const struct table_column *c = columns->at;

	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(c[i].table, table) == 0 && strcmp(c[i].name, name) == 0)
			return true;
	return false;
}

/* ---- where rows come from ---- */

static struct source *add_source(struct walk *w, const struct scope *scope, const char *table)
{
	struct source *s = &w->sources[w->source_count];

	if (w->source_count == SOURCES_MAX - 1)
		w->trouble = "has too many tables to be looked at";
	else
		w->source_count++;
	*s = (struct source){ .scope = scope, .table = table, .alias = table };
	for (size_t i = 0; table && i < w->name_count; i++)
		if (strcmp(w->names[i], table) == 0)
			s->table = NULL;
	return s;
}

static size_t read_alias(struct walk *w, size_t i, size_t end, struct source *s)
{
	if (i < end && is(w, i, "as"))
		i++;
	if (i < end && !is_any(w, i, no_alias))
		s->alias = w->token[i++];
	return i;
}

static void walk_brackets(struct walk *w, size_t i, size_t end, const struct scope *scope)
{
	for (; i < end; i = is(w, i, "(") ? w->match[i] + 1 : i + 1) {
		if (!is(w, i, "("))
			continue;
		if (is_any(w, i + 1, queries))
			walk_query(w, i + 1, w->match[i], scope);
		else
			walk_brackets(w, i + 1, w->match[i], scope);
	}
}

static size_t walk_from(
	struct walk *w, size_t i, size_t end, const struct scope *scope, bool optional)
{
	for (;; i++) {
		struct source *s;

		if (is(w, i, "(")) {
			walk_query(w, i + 1, w->match[i], scope);
			s = add_source(w, scope, NULL);
			i = past(w, i);
		} else {
			bool function = is(w, i + 1, "(");

			s = add_source(w, scope, w->token[i++]);
			if (function) {
				s->table = NULL;
				walk_brackets(w, i, i + 1, scope);
				i = past(w, i);
			}
		}
		i = read_alias(w, i, end, s);
		s->optional = optional;
		if (i >= end || !is(w, i, ","))
			return i;
	}
}

/* ---- what must hold ---- */

/* A column, alone or after its table, or an argument: how many tokens; 0 if it is neither. */
static size_t plain_length(const struct walk *w, size_t i, size_t end)
{
	if (i + 3 == end && is(w, i + 1, "."))
		return 3;
	return i + 1 == end && w->token[i][0] != '\'' ? 1 : 0;
}

static void add_fact(
	struct walk *w, size_t i, size_t end, const struct scope *scope, struct source *only)
{
	size_t equals = i;

	while (equals < end && !is(w, equals, "="))
		equals = past(w, equals);
	if (equals == end || !plain_length(w, i, equals) || !plain_length(w, equals + 1, end))
		return;
	if (w->fact_count == FACTS_MAX)
		w->trouble = "has too many conditions to be looked at";
	else
		w->facts[w->fact_count++] = (struct fact){ scope, only, { i, equals + 1 } };
}

/* What stands between ANDs; one OR beside them, and nothing is certain. */
static void walk_condition(
	struct walk *w, size_t i, size_t end, const struct scope *scope, struct source *only)
{
	static const char *const or [] = { "or", NULL }, *const and[] = { "and", NULL };

	walk_brackets(w, i, end, scope);
	if (find_any(w, i, end, or) < end)
		return;
	while (i < end) {
		size_t next = find_any(w, i, end, and);

		add_fact(w, i, next, scope, only);
		i = next + 1;
	}
}

/* ---- statements ---- */

/* `with name as (...), ...`; where the rest begins. */
static size_t walk_names(struct walk *w, size_t i, const struct scope *parent)
{
	for (i += is(w, i + 1, "recursive") ? 2 : 1;; i++) {
		if (w->name_count < NAMES_MAX)
			w->names[w->name_count++] = w->token[i];
		for (i++; !is(w, i, "as"); i = past(w, i))
			;
		while (!is(w, i, "("))
			i++;
		walk_query(w, i + 1, w->match[i], parent);
		i = past(w, i);
		if (!is(w, i, ","))
			return i;
	}
}

static void walk_insert(struct walk *w, size_t i, size_t end, const struct scope *scope)
{
	static const char *const rest[] = { "on", "returning", NULL };
	struct source *s;
	size_t tail;

	while (!is(w, i, "into"))
		i++;
	s = add_source(w, scope, w->token[i + 1]);
	i = read_alias(w, i + 2, end, s);
	if (is(w, i, "(")) {
		for (size_t k = i + 1; k < w->match[i]; k++)
			s->bound |= is(w, k, "tenant_id");
		i = past(w, i);
	}
	tail = find_any(w, i, end, rest);
	if (is_any(w, i, queries))
		walk_query(w, i, tail, scope);
	walk_brackets(w, tail, end, scope);
}

/* The target of an update or a deletion; where what follows it begins. */
static size_t walk_target(struct walk *w, size_t i, size_t end, const struct scope *scope)
{
	size_t name = is(w, i, "update") ? i + 1 : i + 2;

	return read_alias(w, name + 1, end, add_source(w, scope, w->token[name]));
}

static size_t walk_clause(struct walk *w, size_t i, size_t end, const struct scope *scope)
{
	if (is(w, i, "using"))
		w->trouble = "names tables in a way that is not understood here";
	if (is(w, i, "from") || is(w, i, "join"))
		return walk_from(w, i + 1, end, scope, is(w, i, "join") && is(w, i - 1, "left"));
	if (is(w, i, "where") || is(w, i, "on")) {
		struct source *last = &w->sources[w->source_count - 1];
		size_t to = find_any(w, i + 1, end, clause_ends);

		walk_condition(w, i + 1, to, scope, is(w, i, "on") && last->optional ? last : NULL);
		return to;
	}
	walk_brackets(w, i, i + 1, scope);
	return is(w, i, "(") ? past(w, i) : i + 1;
}

static void walk_part(struct walk *w, size_t i, size_t end, const struct scope *parent)
{
	struct scope *scope = &w->scopes[w->scope_count];

	if (i >= end)
		return;
	if (w->scope_count == SCOPES_MAX - 1) {
		w->trouble = "has too many queries to be looked at";
		return;
	}
	w->scope_count++;
	scope->parent = parent;
	if (is(w, i, "insert")) {
		walk_insert(w, i, end, scope);
		return;
	}
	if (is(w, i, "update") || is(w, i, "delete"))
		i = walk_target(w, i, end, scope);
	while (i < end)
		i = walk_clause(w, i, end, scope);
}

static void walk_query(struct walk *w, size_t i, size_t end, const struct scope *parent)
{
	if (is(w, i, "with"))
		i = walk_names(w, i, parent);
	while (i < end && !w->trouble) {
		size_t next = find_any(w, i, end, combining);

		walk_part(w, i, next, parent);
		i = next + (is(w, next, "") ? 0 : 1);
		i += i < end && is(w, i, "all");
	}
}

/* ---- what follows ---- */

static struct source *source_in(
	struct walk *w, const struct scope *scope, const char *alias, const char *column)
{
	struct source *derived = NULL;

	for (size_t i = 0; i < w->source_count; i++) {
		struct source *s = &w->sources[i];

		if (s->scope != scope)
			continue;
		if (alias && s->alias && strcmp(s->alias, alias) == 0)
			return s;
		if (!alias && s->table && table_has(w->columns, s->table, column))
			return s;
		if (!alias && !s->table)
			derived = s;
	}
	return derived;
}

/* Whose column it is; NULL: nobody's, or an argument. */
static struct source *owner_of(
	struct walk *w, const struct scope *scope, size_t at, const char **ret_column)
{
	bool qualified = is(w, at + 1, ".");
	struct source *found = NULL;

	*ret_column = w->token[qualified ? at + 2 : at];
	for (; scope && !found; scope = scope->parent)
		found = source_in(w, scope, qualified ? w->token[at] : NULL, *ret_column);
	return found;
}

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n >= m && strcmp(text + n - m, tail) == 0;
}

static bool names_tenant(const struct source *s, const char *column)
{
	return strcmp(s->table, "tenants") == 0 ? strcmp(column, "id") == 0
						: ends_with(column, "tenant_id");
}

/* Does this side of a fact stand for a tenant that is given? */
static bool is_given(struct walk *w, const struct scope *scope, size_t at)
{
	const char *column;
	struct source *s;

	if (w->token[at][0] == '?' || w->token[at][0] == '$')
		return true;
	s = owner_of(w, scope, at, &column);
	return s && (!s->table || (s->bound && names_tenant(s, column)));
}

static bool bind(struct walk *w, const struct fact *f, int side)
{
	const char *column;
	struct source *s = owner_of(w, f->scope, f->side[side], &column);

	/* What a subquery demands says nothing of the rows around it. */
	if (!s || !s->table || s->bound || s->scope != f->scope || (f->only && f->only != s) ||
		strcmp(column, strcmp(s->table, "tenants") == 0 ? "id" : "tenant_id") != 0)
		return false;
	s->bound = is_given(w, f->scope, f->side[!side]);
	return s->bound;
}

const char *tenant_unbound(struct arena *a, const struct list *columns, const char *sql)
{
	struct walk *w = arena_new(a, struct walk);
	const char *out = "";
	bool more = true;

	w->a = a;
	w->columns = columns;
	split_tokens(w, sql);
	if (!w->trouble)
		walk_query(w, 0, w->count, NULL);
	while (more) {
		more = false;
		for (size_t i = 0; i < w->fact_count; i++)
			more |= bind(w, &w->facts[i], 0) || bind(w, &w->facts[i], 1);
	}
	for (size_t i = 0; i < w->source_count; i++) {
		const struct source *s = &w->sources[i];

		if (s->table && !s->bound && table_has(columns, s->table, "tenant_id"))
			out = arena_printf(a, "%s%s%s", out, *out ? ", " : "", s->table);
	}
	return w->trouble ? w->trouble : out;
}
