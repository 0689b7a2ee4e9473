/* answer.c - see answer.h.  No length is believed before it was held against a limit, and no byte is kept that was not
 * asked for; the readers inside have looked at the same things, which proves nothing once one of them was fooled. */
#include "helper/answer.h"

#include <string.h>

#include "base/entry_names.h"
#include "base/utf8.h"

char *answer_bytes(struct answer_source *s, struct arena *a, size_t len, enum answer *ret)
{
	char *bytes;

	*ret = ANSWER_MEMORY;
	if (arena_full(a) || !arena_room(a, len + 1))
		return NULL;
	bytes = arena_raw(a, len + 1, _Alignof(uint32_t));
	bytes[len] = '\0';
	*ret = ANSWER_CUT;
	return s->pull(s, bytes, len) ? bytes : NULL;
}

enum answer answer_fault(
	struct answer_source *s, struct arena *a, const struct helper_record *r, const char **ret)
{
	enum answer why;
	char *text;

	if (r->name_len || !r->len || r->len >= HELPER_FAULT_MAX)
		return ANSWER_NONSENSE;
	text = answer_bytes(s, a, r->len, &why);
	if (!text)
		return why;
	if (!utf8_valid(text, r->len) || memchr(text, '\0', r->len))
		return ANSWER_NONSENSE;
	*ret = text;
	return ANSWER_FAULT;
}

/* ---- files ---- */

struct files_reader {
	struct answer_source *source;
	struct arena *arena;
	const struct helper_limits *limits;
	struct helper_files *files;
	size_t cap, total;
};

static void add_file(struct files_reader *f, struct helper_file file)
{
	struct helper_files *all = f->files;

	if (all->count == f->cap) {
		struct helper_file *more =
			arena_array(f->arena, struct helper_file, 2 * f->cap + 8);

		if (f->cap)
			memcpy(more, all->at, f->cap * sizeof *more);
		all->at = more;
		f->cap = 2 * f->cap + 8;
	}
	all->at[all->count++] = file;
}

static enum answer read_file(struct files_reader *f, const struct helper_record *r)
{
	const struct helper_limits *l = f->limits;
	enum answer why;
	char *name, *bytes;

	if (f->files->count >= l->entries || !r->name_len || r->name_len > l->path ||
		r->len > l->one || r->len > l->all - f->total)
		return ANSWER_NONSENSE;
	name = answer_bytes(f->source, f->arena, r->name_len, &why);
	if (!name)
		return why;
	if (!entry_name_valid(name, r->name_len, l->path, l->depth))
		return ANSWER_NONSENSE;
	bytes = answer_bytes(f->source, f->arena, r->len, &why);
	if (!bytes)
		return why;
	f->total += r->len;
	add_file(f, (struct helper_file){ name, bytes, r->len });
	return ANSWER_WHOLE;
}

static bool names_differ(struct arena *a, const struct helper_files *files)
{
	struct entry_name *names = arena_array(a, struct entry_name, files->count + 1);

	for (size_t i = 0; i < files->count; i++)
		names[i] =
			(struct entry_name){ files->at[i].name, strlen(files->at[i].name), false };
	return entry_names_clash(a, names, files->count) == files->count;
}

enum answer answer_files(struct answer_source *s, struct arena *a,
	const struct helper_limits *limits, struct helper_files *ret)
{
	struct files_reader f = { .source = s, .arena = a, .limits = limits, .files = ret };
	enum answer got = ANSWER_WHOLE;

	*ret = (struct helper_files){ 0 };
	while (got == ANSWER_WHOLE) {
		struct helper_record r;

		if (!s->pull(s, &r, sizeof r))
			return ANSWER_CUT;
		if (r.kind == RECORD_FAULT)
			return answer_fault(s, a, &r, &ret->fault);
		if (r.kind == RECORD_END)
			return !r.name_len && !r.len && names_differ(a, ret) ? ANSWER_WHOLE
									     : ANSWER_NONSENSE;
		got = r.kind == RECORD_FILE ? read_file(&f, &r) : ANSWER_NONSENSE;
	}
	return got;
}

/* ---- trees ---- */

static enum answer read_tree(struct answer_source *s, struct arena *a,
	const struct helper_record *r, size_t *ret_count, struct helper_tree *ret)
{
	const char *fault;
	enum answer why;
	char *text;

	if (r->kind != RECORD_TREE || r->name_len || !r->len || r->len > HELPER_JSON_MAX)
		return ANSWER_NONSENSE;
	text = answer_bytes(s, a, r->len, &why);
	if (!text)
		return why;
	ret->root = json_tree(a, text, r->len, &fault, ret_count);
	if (ret->root)
		return ANSWER_WHOLE;
	return strcmp(fault, JSON_TOO_MUCH) == 0 ? ANSWER_MEMORY : ANSWER_NONSENSE;
}

static enum answer read_lines(
	struct answer_source *s, struct arena *a, size_t count, struct helper_tree *ret)
{
	struct helper_record r;
	enum answer why;

	if (!s->pull(s, &r, sizeof r))
		return ANSWER_CUT;
	if (r.kind != RECORD_LINES || r.name_len || r.len != count * sizeof(uint32_t))
		return ANSWER_NONSENSE;
	ret->lines = (const uint32_t *)(const void *)answer_bytes(s, a, r.len, &why);
	if (!ret->lines)
		return why;
	for (size_t i = 0; i < count; i++)
		if (!ret->lines[i] || ret->lines[i] > HELPER_YAML_MAX + 1)
			return ANSWER_NONSENSE;
	return ANSWER_WHOLE;
}

enum answer answer_tree(struct answer_source *s, struct arena *a, struct helper_tree *ret)
{
	struct helper_record r;
	size_t count = 0;
	enum answer got;

	*ret = (struct helper_tree){ 0 };
	if (!s->pull(s, &r, sizeof r))
		return ANSWER_CUT;
	if (r.kind == RECORD_FAULT) {
		if (r.line > HELPER_YAML_MAX + 1)
			return ANSWER_NONSENSE;
		ret->fault_line = r.line;
		return answer_fault(s, a, &r, &ret->fault);
	}
	got = read_tree(s, a, &r, &count, ret);
	if (got == ANSWER_WHOLE)
		got = read_lines(s, a, count, ret);
	if (got != ANSWER_WHOLE)
		return got;
	if (!s->pull(s, &r, sizeof r))
		return ANSWER_CUT;
	return r.kind == RECORD_END && !r.name_len && !r.len ? ANSWER_WHOLE : ANSWER_NONSENSE;
}
