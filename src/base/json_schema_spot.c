/* json_schema_spot.c - where something is wrong, and which of many values are the same: for compiling and checking
 * alike; see json_schema_parts.h. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_schema_parts.h"

void json_violate(struct json_violations *v, struct arena *a, const char *path, const char *keyword,
	const char *fmt, ...)
{
	va_list ap;

	if (v->count == JSON_VIOLATIONS_MAX) {
		v->unlisted++;
		return;
	}
	va_start(ap, fmt);
	v->list[v->count++] = (struct json_violation){ path, keyword, arena_vprintf(a, fmt, ap) };
	va_end(ap);
}

/* "/name" with its escapes after the text. */
static char *pointer_add(struct arena *a, const char *path, const char *name, size_t len)
{
	size_t start = strlen(path);
	char *out = arena_alloc(a, start + 2 * len + 2), *to = out + start;

	memcpy(out, path, start);
	*to++ = '/';
	for (size_t i = 0; i < len; i++) {
		if (name[i] == '~' || name[i] == '/')
			*to++ = '~';
		*to++ = name[i] == '~' ? '0' : name[i] == '/' ? '1' : name[i] ? name[i] : '?';
	}
	return out;
}

const char *json_spot_path(struct arena *a, const struct spot *at)
{ /* NOLINT(misc-no-recursion): as deep as the text */
	const char *up;

	if (!at)
		return "";
	up = json_spot_path(a, at->up);
	return at->name ? pointer_add(a, up, at->name, at->at)
			: arena_printf(a, "%s/%zu", up, at->at);
}

/* ---- many values ---- */

static int by_hash(const void *x, const void *y)
{
	const struct hashed *a = x, *b = y;

	return (a->hash > b->hash) - (a->hash < b->hash);
}

struct hashed *json_hashed(struct arena *a, const struct json_node *list)
{
	struct hashed *out = arena_array(a, struct hashed, list->count + 1);

	for (size_t i = 0; i < list->count; i++)
		out[i] = (struct hashed){ json_tree_hash(list->items[i]), list->items[i] };
	qsort(out, list->count, sizeof *out, by_hash);
	return out;
}

const struct json_node *json_hashed_twice(const struct hashed *list, size_t count, size_t *most)
{
	for (size_t i = 1; i < count; i++)
		for (size_t j = i; j > 0 && list[j - 1].hash == list[i].hash && *most; j--) {
			--*most;
			if (json_tree_same(list[j - 1].node, list[i].node))
				return list[i].node;
		}
	return NULL;
}
