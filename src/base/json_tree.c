/* json_tree.c - see json_tree.h.  The depth of every recursion is bounded by the reader. */
#include "base/json_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"

struct builder {
	struct json_reader r;
	uint32_t count;
	const char *const *paths; /* what is wanted; NULL: all */
};

/* Where the building is: which of the paths lead here, and how many bytes of them are passed. */
struct way {
	uint64_t paths;
	size_t passed;
	bool all; /* one of them ends here: everything below is wanted */
};

/* The way on to a member, or to an item by its number; false if nothing there is wanted. */
static bool way_on(const struct builder *b, const struct way *from, const char *name, size_t len,
	struct way *ret)
{
	*ret = (struct way){ .passed = from->passed + len + 1, .all = from->all };
	if (from->all)
		return true;
	for (uint64_t left = from->paths; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		const char *rest = b->paths[i] + from->passed;

		if (strncmp(rest, name, len) != 0 || (rest[len] && rest[len] != '.'))
			continue;
		ret->paths |= UINT64_C(1) << i;
		ret->all |= !rest[len];
	}
	return ret->paths != 0;
}

/* What an array or object has gathered so far; it grows by doubling. */
struct json_items {
	void *at;
	size_t count, cap, size;
};

static void *json_items_add(struct arena *a, struct json_items *g)
{
	if (g->count == g->cap) {
		void *more = arena_alloc(a, g->size * (g->cap = g->cap ? g->cap * 2 : 4));

		if (g->count)
			memcpy(more, g->at, g->size * g->count);
		g->at = more;
	}
	return (char *)g->at + g->size * g->count++;
}

static int by_member_name(const void *x, const void *y)
{
	const struct json_member *a = x, *b = y;
	size_t least = a->len < b->len ? a->len : b->len;
	int order = least ? memcmp(a->name, b->name, least) : 0;

	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static struct json_node *build_node(struct builder *b, const struct way *way);

static void build_array(struct builder *b, const struct way *way, struct json_node *n)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	struct json_items g = { .size = sizeof(struct json_node *) };

	json_enter_array(&b->r);
	for (size_t i = 0; json_next_item(&b->r); i++) {
		struct json_node *item;
		struct way on;
		char number[24];

		/* items after the first that is not wanted are not, either */
		if (!way->all &&
			(i > g.count ||
				!way_on(b, way, number,
					(size_t)snprintf(number, sizeof number, "%zu", i), &on))) {
			json_skip(&b->r, NULL, NULL);
			continue;
		}
		item = build_node(b, way->all ? way : &on);
		*(struct json_node **)json_items_add(b->r.arena, &g) = item;
	}
	n->items = g.at;
	n->count = g.count;
}

static void build_object(struct builder *b, const struct way *way, struct json_node *n)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	struct json_items g = { .size = sizeof(struct json_member) };
	struct json_member m = { 0 };

	json_enter_object(&b->r);
	while (json_next_key(&b->r, &m.name, &m.len)) {
		struct way on;

		if (!way_on(b, way, m.name, m.len, &on)) {
			json_skip(&b->r, NULL, NULL);
			continue;
		}
		m.value = build_node(b, &on);
		*(struct json_member *)json_items_add(b->r.arena, &g) = m;
	}
	n->members = g.at;
	n->count = g.count;
	if (n->count > 1)
		qsort(n->members, n->count, sizeof *n->members, by_member_name);
}

/* On a fault the tree is of no use; the reader remembers. */
static struct json_node *build_node(struct builder *b, const struct way *way)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	struct json_node *n = arena_new(b->r.arena, struct json_node);
	struct json_number number;

	n->index = b->count++;
	n->type = json_peek(&b->r);
	switch (n->type) {
	case JSON_NULL:
		json_read_null(&b->r);
		break;
	case JSON_BOOL:
		json_read_bool(&b->r, &n->flag);
		break;
	case JSON_NUMBER:
		if (json_read_number(&b->r, &number)) {
			n->number = number.value;
			n->text = number.text;
			n->len = number.len;
		}
		break;
	case JSON_STRING:
		json_read_string(&b->r, &n->text, &n->len);
		break;
	case JSON_ARRAY:
		build_array(b, way, n);
		break;
	case JSON_OBJECT:
		build_object(b, way, n);
		break;
	case JSON_FAULT:
		break;
	}
	return n;
}

static struct json_node *build_tree(struct arena *a, const char *text, size_t len, struct builder b,
	const struct way *way, const char **ret_fault, size_t *ret_count)
{
	struct json_node *root;

	json_open(&b.r, a, text, len);
	root = build_node(&b, way);
	if (!json_end(&b.r)) {
		if (ret_fault)
			*ret_fault = arena_printf(a, "at byte %zu: %s", b.r.fault_at, b.r.fault);
		return NULL;
	}
	if (ret_count)
		*ret_count = b.count;
	return root;
}

struct json_node *json_tree(
	struct arena *a, const char *text, size_t len, const char **ret_fault, size_t *ret_count)
{
	return build_tree(a, text, len, (struct builder){ .count = 0 },
		&(struct way){ .all = true }, ret_fault, ret_count);
}

struct json_node *json_tree_pick(struct arena *a, const char *text, size_t len,
	const char *const *paths, size_t count, const char **ret_fault)
{
	struct way way = { .paths = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX };

	return build_tree(a, text, len, (struct builder){ .paths = paths }, &way, ret_fault, NULL);
}

struct json_node *json_tree_member(const struct json_node *object, const char *name, size_t len)
{
	struct json_member wanted = { .name = name, .len = len }, *found;

	if (object->type != JSON_OBJECT || !object->count)
		return NULL;
	found = bsearch(&wanted, object->members, object->count, sizeof wanted, by_member_name);
	return found ? found->value : NULL;
}

const char *json_tree_text(const struct json_node *object, const char *name)
{
	const struct json_node *n = json_tree_member(object, name, strlen(name));

	return n && n->type == JSON_STRING ? n->text : NULL;
}

static bool plain_integer(const struct json_node *n)
{
	for (size_t i = 0; i < n->len; i++)
		if (n->text[i] == '.' || n->text[i] == 'e' || n->text[i] == 'E')
			return false;
	return true;
}

/* Two whole numbers are compared as they are written: a double does not hold all of them. */
static bool same_number(const struct json_node *a, const struct json_node *b)
{
	if (a->number != b->number)
		return false;
	if (a->number == 0 || !plain_integer(a) || !plain_integer(b))
		return true;
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool same_json_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && (!a_len || memcmp(a, b, a_len) == 0);
}

bool json_tree_same(const struct json_node *a, const struct json_node *b)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	if (a->type != b->type || a->count != b->count)
		return false;
	switch (a->type) {
	case JSON_BOOL:
		return a->flag == b->flag;
	case JSON_NUMBER:
		return same_number(a, b);
	case JSON_STRING:
		return same_json_text(a->text, a->len, b->text, b->len);
	case JSON_ARRAY:
		for (size_t i = 0; i < a->count; i++)
			if (!json_tree_same(a->items[i], b->items[i]))
				return false;
		return true;
	case JSON_OBJECT:
		for (size_t i = 0; i < a->count; i++) {
			const struct json_member *x = &a->members[i], *y = &b->members[i];

			if (!same_json_text(x->name, x->len, y->name, y->len) ||
				!json_tree_same(x->value, y->value))
				return false;
		}
		return true;
	case JSON_NULL:
	case JSON_FAULT:
		break;
	}
	return true;
}

static uint64_t mix_hash(uint64_t hash, uint64_t more)
{
	return (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

uint64_t json_tree_hash(const struct json_node *n)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	uint64_t hash = mix_hash(n->type, n->count);
	double zero = n->number == 0 ? 0 : n->number; /* minus zero is zero */

	switch (n->type) {
	case JSON_BOOL:
		return mix_hash(hash, n->flag);
	case JSON_NUMBER:
		return mix_hash(hash, keyed_hash(&zero, sizeof zero));
	case JSON_STRING:
		return mix_hash(hash, keyed_hash(n->text, n->len));
	case JSON_ARRAY:
		for (size_t i = 0; i < n->count; i++)
			hash = mix_hash(hash, json_tree_hash(n->items[i]));
		return hash;
	case JSON_OBJECT:
		for (size_t i = 0; i < n->count; i++)
			hash = mix_hash(
				mix_hash(hash, keyed_hash(n->members[i].name, n->members[i].len)),
				json_tree_hash(n->members[i].value));
		return hash;
	case JSON_NULL:
	case JSON_FAULT:
		break;
	}
	return hash;
}

void json_tree_write(struct buf *out, const struct json_node *n)
{ /* NOLINT(misc-no-recursion): depth is bounded */
	switch (n->type) {
	case JSON_NULL:
	case JSON_FAULT:
		buf_lit(out, "null");
		break;
	case JSON_BOOL:
		buf_puts(out, n->flag ? "true" : "false");
		break;
	case JSON_NUMBER:
		buf_put(out, n->text, n->len);
		break;
	case JSON_STRING:
		json_write_string(out, n->text, n->len);
		break;
	case JSON_ARRAY:
		buf_putc(out, '[');
		for (size_t i = 0; i < n->count; i++) {
			if (i)
				buf_putc(out, ',');
			json_tree_write(out, n->items[i]);
		}
		buf_putc(out, ']');
		break;
	case JSON_OBJECT:
		buf_putc(out, '{');
		for (size_t i = 0; i < n->count; i++) {
			if (i)
				buf_putc(out, ',');
			json_write_string(out, n->members[i].name, n->members[i].len);
			buf_putc(out, ':');
			json_tree_write(out, n->members[i].value);
		}
		buf_putc(out, '}');
		break;
	}
}
