/* postgres_memo.c - see postgres_memo.h.
 *
 * A writer's transaction holds the work of many calls, and most of them ask
 * the same things first: who is this, which plan has the tenant, which model
 * is the first.  While it lasts nobody else writes (postgres_flight.c), so an
 * answer holds until the transaction itself changes a relation that it was
 * read from.  Which those are is told by the text of a statement: every word
 * in it that names a relation.  Too many are found rather than too few, as a
 * column that is called like a table is one of them; what deletes may delete
 * elsewhere too, and makes everything forgotten.
 *
 * The queue's claims take their own lock and not the writers' (STEP_BY_STEP),
 * so what they write is never remembered. */
#include "store/postgres_memo.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/crypto.h"
#include "base/memory.h"

enum {
	ENTRIES = 128, /* a power of two */
	WAYS = 4,      /* places that an answer may have */
	ARGS_BYTES = 512,
	RESULT_BYTES = 64 * 1024,
	WORD_MAX = 64,
	CELLS = 1024 /* for the names */
};

struct memo_entry {
	const void *statement; /* NULL: it is free */
	struct relation_set relations;
	PGresult *result;
	size_t len;
	char args[ARGS_BYTES];
};

struct memo_relation {
	char name[WORD_MAX];
	int number;
	struct relation_set made_of; /* itself, and of a view what it reads */
};

struct memo {
	struct memo_entry entries[ENTRIES];
	struct memo_relation *relations[CELLS];
	int count;
};

static const char *const written_unlocked[] = { "jobs", "job_runners" };

struct memo *memo_new(void)
{
	return memory_zeroed(sizeof(struct memo));
}

static void entry_drop(struct memo_entry *e)
{
	PQclear(e->result);
	e->result = NULL;
	e->statement = NULL;
}

void memo_clear(struct memo *m)
{
	for (struct memo_entry *e = m->entries; e < m->entries + ENTRIES; e++)
		if (e->statement)
			entry_drop(e);
}

void memo_free(struct memo *m)
{
	if (!m)
		return;
	memo_clear(m);
	for (size_t i = 0; i < CELLS; i++)
		free(m->relations[i]);
	free(m);
}

/* ---- relations ---- */

static void set_add(struct relation_set *to, const struct relation_set *from)
{
	for (size_t i = 0; i < MEMO_RELATIONS / 64; i++)
		to->bits[i] |= from->bits[i];
}

static bool sets_meet(const struct relation_set *a, const struct relation_set *b)
{
	uint64_t both = 0;

	for (size_t i = 0; i < MEMO_RELATIONS / 64; i++)
		both |= a->bits[i] & b->bits[i];
	return both != 0;
}

static struct memo_relation **relation_cell(const struct memo *m, const char *word)
{
	size_t at = 5381;

	for (const char *p = word; *p; p++)
		at = at * 33 + (unsigned char)*p;
	for (;; at++) {
		struct memo_relation *const *cell = &m->relations[at % CELLS];

		if (!*cell || strcmp((*cell)->name, word) == 0)
			return (struct memo_relation **)cell;
	}
}

/* The next word of a text, in small letters; what stands in quotes is none.  NULL at its end. */
static const char *next_word(const char **at, char word[WORD_MAX])
{
	const char *p = *at;
	size_t n = 0;

	while (*p && !isalpha((unsigned char)*p) && *p != '_') {
		if (*p == '\'') {
			p = strchr(p + 1, '\'');
			if (!p)
				return NULL;
		}
		p++;
	}
	if (!*p)
		return NULL;
	for (; isalnum((unsigned char)*p) || *p == '_'; p++)
		if (n < WORD_MAX - 1)
			word[n++] = (char)tolower((unsigned char)*p);
	word[n] = '\0';
	*at = p;
	return word;
}

static void add_relations(const struct memo *m, struct relation_set *to, const char *text)
{
	char word[WORD_MAX];

	while (next_word(&text, word)) {
		struct memo_relation *r = *relation_cell(m, word);

		if (r)
			set_add(to, &r->made_of);
	}
}

void memo_name(struct memo *m, const char *relation, const char *view)
{
	struct memo_relation **cell = relation_cell(m, relation), *r;

	if (!*cell) {
		INVARIANT(m->count < MEMO_RELATIONS && strlen(relation) < WORD_MAX);
		*cell = r = memory_zeroed(sizeof *r);
		strcpy(r->name, relation); /* NOLINT: its length is asked for above */
		r->number = m->count++;
		r->made_of.bits[r->number / 64] = UINT64_C(1) << r->number % 64;
	}
	if (view)
		add_relations(m, &(*cell)->made_of, view);
}

/* ---- statements ---- */

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* Functions that answer another thing each time, and what locks. */
static bool is_impure(const char *word)
{
	static const char *const words[] = { "for", "nextval", "setval", "random", "now",
		"clock_timestamp", "statement_timestamp", "current_timestamp", "set_config",
		"insert", "update", "delete", NULL };

	return strncmp(word, "pg_", 3) == 0 || is_one_of(word, words);
}

struct statement_sense memo_sense(const struct memo *m, const char *sql)
{
	static const char *const one_target[] = { "insert", "update", NULL };
	struct statement_sense s = { .sweeps = true };
	char first[WORD_MAX] = "", word[WORD_MAX];
	const char *at = sql;
	bool targeted;

	if (!m || !m->count || !next_word(&at, first))
		return s;
	targeted = is_one_of(first, one_target);
	s.pure = strcmp(first, "select") == 0;
	s.sweeps = !s.pure && !targeted;
	while (next_word(&at, word)) {
		const struct memo_relation *r = *relation_cell(m, word);

		if (r && targeted) {
			set_add(&s.relations, &r->made_of);
			return s; /* what it changes is named first */
		}
		if (r)
			set_add(&s.relations, &r->made_of);
		s.pure = s.pure && !is_impure(word);
	}
	for (size_t i = 0; i < sizeof written_unlocked / sizeof *written_unlocked; i++) {
		const struct memo_relation *r = *relation_cell(m, written_unlocked[i]);

		s.pure = s.pure && !(r && sets_meet(&s.relations, &r->made_of));
	}
	return s;
}

/* ---- answers ---- */

/* The arguments one after the other, each with its kind and length; SIZE_MAX: too long. */
static size_t write_args(char out[ARGS_BYTES], const struct value *args, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct value *v = &args[i];
		size_t len = v->kind == VALUE_TEXT ? strlen(v->text) : v->len;

		if (v->kind == VALUE_ROW || v->kind == VALUE_BYTES)
			return SIZE_MAX;
		if (v->kind != VALUE_TEXT)
			len = v->kind == VALUE_INT ? sizeof v->n : 0;
		if (len > ARGS_BYTES || at + 1 + sizeof len + len > ARGS_BYTES)
			return SIZE_MAX;
		out[at++] = (char)v->kind;
		memcpy(out + at, &len, sizeof len);
		at += sizeof len;
		if (len)
			memcpy(out + at, v->kind == VALUE_INT ? (const void *)&v->n : v->text, len);
		at += len;
	}
	return at;
}

static bool entry_is(
	const struct memo_entry *e, const void *statement, const char *args, size_t len)
{
	return e->statement == statement && e->len == len && memcmp(e->args, args, len) == 0;
}

/* The one that holds it; else one that is free, or another that gives way. */
static struct memo_entry *entry_place(
	const struct memo *m, const void *statement, const char *args, size_t len)
{
	uint64_t h = keyed_hash(args, len) ^ (uintptr_t)statement / sizeof(void *);
	const struct memo_entry *place = &m->entries[h % ENTRIES];

	for (size_t i = 0; i < WAYS; i++) {
		const struct memo_entry *e = &m->entries[(h + i) % ENTRIES];

		if (entry_is(e, statement, args, len))
			return (struct memo_entry *)e;
		if (place->statement && !e->statement)
			place = e;
	}
	return (struct memo_entry *)place;
}

PGresult *memo_find(
	const struct memo *m, const void *statement, const struct value *args, size_t count)
{
	char text[ARGS_BYTES];
	size_t len = write_args(text, args, count);
	const struct memo_entry *e;

	if (len == SIZE_MAX)
		return NULL;
	e = entry_place(m, statement, text, len);
	return entry_is(e, statement, text, len) ? e->result : NULL;
}

bool memo_keep(struct memo *m, const void *statement, const struct statement_sense *sense,
	const struct value *args, size_t count, PGresult *result)
{
	char text[ARGS_BYTES];
	size_t len = write_args(text, args, count);
	struct memo_entry *e;

	if (!sense->pure || len == SIZE_MAX || PQresultMemorySize(result) > RESULT_BYTES)
		return false;
	e = entry_place(m, statement, text, len);
	if (e->statement)
		entry_drop(e);
	e->statement = statement;
	e->relations = sense->relations;
	e->result = result;
	e->len = len;
	memcpy(e->args, text, len);
	return true;
}

void memo_changes(struct memo *m, const struct statement_sense *sense)
{
	if (sense->pure)
		return;
	for (struct memo_entry *e = m->entries; e < m->entries + ENTRIES; e++)
		if (e->statement && (sense->sweeps || sets_meet(&e->relations, &sense->relations)))
			entry_drop(e);
}
