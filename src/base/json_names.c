/* json_names.c - the names of the objects that are being read, so that one that comes twice is found.
 *
 * There is one stack for a whole text: an object puts its names on top and
 * takes them off when it ends, so memory follows the names that are open at
 * once and never the number of objects.  A name is eight bytes: where it
 * stands, and a fingerprint.  Few names are compared one by one; those of a
 * larger object are also in a hash table, one for all objects.  What was put
 * in last is taken out first, and so open addressing needs no tombstones. */
#include "base/json_names.h"
#include "base/crypto.h"

#include <string.h>

enum { LISTED = 16, FIRST_CAP = 32, SHORT_NAME = 32 };

struct name {
	uint32_t offset; /* of its quote in the text */
	uint32_t print;	 /* of the name as it is meant, without escapes */
};

struct json_names {
	struct name *stack;
	uint32_t *table; /* places in the stack, from 1; 0: free */
	uint32_t count, cap;
	uint32_t hashed, slots; /* of the table: used, and how many there are */
	int objects;
	struct frame {
		uint32_t start; /* of its names in the stack */
		bool hashed;
	} frames[JSON_DEPTH_MAX];
};

/* Names are few and short as a rule: then their length and ends tell most apart. */
static uint32_t quick_print(const char *name, size_t len)
{
	uint32_t head = 0, tail = 0;

	if (len > SHORT_NAME)
		return (uint32_t)keyed_hash(name, len);
	memcpy(&head, name, len < 4 ? len : 4);
	if (len > 4)
		memcpy(&tail, name + len - 4, 4);
	return head ^ tail * 31 ^ (uint32_t)len << 27;
}

/* Whether the name that stands at the offset, and was found well formed, is this one. */
static bool is_name_at(const struct json_reader *r, uint32_t offset, const char *name, size_t len)
{
	struct json_reader raw = { .at = r->text + offset + 1, .end = r->end };
	size_t used = 0;

	while (*raw.at != '"') {
		char piece[4], *end = piece;
		size_t n;

		if (*raw.at == '\\') {
			raw.at++;
			json_unescape(&raw, &end);
		} else {
			*end++ = *raw.at++;
		}
		n = (size_t)(end - piece);
		if (n > len - used || memcmp(name + used, piece, n) != 0)
			return false;
		used += n;
	}
	return used == len;
}

/* Where the search for a name of this object begins: the same name elsewhere lies elsewhere. */
static uint32_t first_slot(const struct json_names *n, uint32_t start, uint32_t print)
{
	return (print ^ start * UINT32_C(0x9e3779b1)) & (n->slots - 1);
}

static void table_put(struct json_names *n, uint32_t start, uint32_t place)
{
	uint32_t at = first_slot(n, start, n->stack[place].print);

	while (n->table[at])
		at = (at + 1) & (n->slots - 1);
	n->table[at] = place + 1;
	n->hashed++;
}

static void table_drop(struct json_names *n, uint32_t start, uint32_t place)
{
	uint32_t at = first_slot(n, start, n->stack[place].print);

	while (n->table[at] != place + 1)
		at = (at + 1) & (n->slots - 1);
	n->table[at] = 0;
	n->hashed--;
}

/* Makes room for some more; all is put in again in the order of the stack. */
static void table_grow(struct json_reader *r, uint32_t more)
{
	struct json_names *n = r->names;

	if ((n->hashed + more) * 4 <= n->slots * 3)
		return;
	n->slots = n->slots ? n->slots * 4 : LISTED * 8;
	n->table = arena_array(r->arena, uint32_t, n->slots);
	n->hashed = 0;
	for (int o = 0; o < n->objects; o++) {
		const struct frame *f = &n->frames[o];
		uint32_t end = o + 1 < n->objects ? f[1].start : n->count;

		for (uint32_t i = f->start; f->hashed && i < end; i++)
			table_put(n, f->start, i);
	}
}

/* The object has become a large one: its names so far get proper hashes. */
static void begin_hashing(struct json_reader *r, struct frame *f)
{
	struct json_names *n = r->names;

	table_grow(r, LISTED + 1);
	for (uint32_t i = f->start; i < n->count; i++) {
		struct json_reader again = { .text = r->text, .end = r->end, .arena = r->arena };
		const char *name = "";
		size_t len = 0;

		again.at = r->text + n->stack[i].offset;
		json_read_name(&again, &name, &len);
		n->stack[i].print = (uint32_t)keyed_hash(name, len);
		table_put(n, f->start, i);
	}
	f->hashed = true;
}

static bool is_listed(
	struct json_reader *r, const struct frame *f, uint32_t print, const char *name, size_t len)
{
	const struct json_names *n = r->names;

	for (uint32_t i = f->start; i < n->count; i++)
		if (n->stack[i].print == print && is_name_at(r, n->stack[i].offset, name, len))
			return true;
	return false;
}

static bool is_in_table(
	struct json_reader *r, const struct frame *f, uint32_t print, const char *name, size_t len)
{
	const struct json_names *n = r->names;
	uint32_t at = first_slot(n, f->start, print);

	for (; n->table[at]; at = (at + 1) & (n->slots - 1)) {
		uint32_t place = n->table[at] - 1;

		/* the innermost object's names are on top: a lower place is another object's */
		if (place >= f->start && n->stack[place].print == print &&
			is_name_at(r, n->stack[place].offset, name, len))
			return true;
	}
	return false;
}

static void push_name(struct json_reader *r, size_t offset, uint32_t print)
{
	struct json_names *n = r->names;

	if (n->count == n->cap) {
		uint32_t cap = n->cap ? n->cap * 2 : FIRST_CAP;
		struct name *more = arena_raw(r->arena, cap * sizeof *more, _Alignof(struct name));

		if (n->count)
			memcpy(more, n->stack, n->count * sizeof *more);
		n->stack = more;
		n->cap = cap;
	}
	n->stack[n->count++] = (struct name){ (uint32_t)offset, print };
}

const char *json_names_add(struct json_reader *r, size_t offset, const char *name, size_t len)
{
	static const char twice[] = "this name comes twice in its object";
	struct json_names *n = r->names;
	struct frame *f = &n->frames[n->objects - 1];
	uint32_t print;

	if (n->count == JSON_NAMES_MAX)
		return "there are more names in this object and those around it than are taken";
	if (!f->hashed && n->count - f->start == LISTED)
		begin_hashing(r, f);
	print = f->hashed ? (uint32_t)keyed_hash(name, len) : quick_print(name, len);
	if ((f->hashed ? is_in_table : is_listed)(r, f, print, name, len))
		return twice;
	if (f->hashed)
		table_grow(r, 1);
	push_name(r, offset, print);
	if (f->hashed)
		table_put(n, f->start, n->count - 1);
	return NULL;
}

void json_names_enter(struct json_reader *r)
{
	struct json_names *n = r->names;

	if (!n) { /* the frames need no clearing */
		n = r->names = arena_raw(r->arena, sizeof *n, _Alignof(struct json_names));
		memset(n, 0, offsetof(struct json_names, frames));
	}
	n->frames[n->objects++] = (struct frame){ .start = n->count };
}

void json_names_leave(struct json_reader *r)
{
	struct json_names *n = r->names;
	const struct frame *f = &n->frames[--n->objects];

	while (f->hashed && n->count > f->start)
		table_drop(n, f->start, --n->count);
	n->count = f->start;
}
