/* entry_names.c - see entry_names.h. */
#include "base/entry_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/utf8.h"

bool entry_name_valid(const char *name, size_t len, size_t bytes_max, size_t parts_max)
{
	const char *end = name + len;
	size_t parts = 0;

	if (!len || len > bytes_max || !utf8_valid(name, len))
		return false;
	for (const char *p = name; p < end; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '\\' || *p == ':')
			return false;
	for (const char *p = name; p <= end; parts++) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t n = (size_t)((slash ? slash : end) - p);

		if (!n || (n == 1 && *p == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n + 1;
	}
	return !parts_max || parts <= parts_max;
}

struct folded_name {
	const char *text;
	size_t number;
	bool folder;
};

/* A slash comes before all else, so that what lies in a folder follows it at once. */
static int by_path(const void *a, const void *b)
{
	const struct folded_name *x = a, *y = b;
	const unsigned char *p = (const unsigned char *)x->text;
	const unsigned char *q = (const unsigned char *)y->text;

	while (*p && *p == *q)
		p++, q++;
	if (*p == *q)
		return x->number < y->number ? -1 : 1;
	return (*p == '/' ? 1 : *p) - (*q == '/' ? 1 : *q);
}

size_t entry_names_clash(struct arena *a, const struct entry_name *names, size_t count)
{
	struct folded_name *all = arena_array(a, struct folded_name, count + 1);
	size_t found = count;

	for (size_t i = 0; i < count; i++)
		all[i] = (struct folded_name){
			fold(a, arena_strndup(a, names[i].name, names[i].len)), i, names[i].folder
		};
	qsort(all, count, sizeof *all, by_path);
	for (size_t i = 1; i < count; i++) {
		const struct folded_name *x = &all[i - 1], *y = &all[i];
		size_t n = strlen(x->text), later = x->number > y->number ? x->number : y->number;

		if (strncmp(x->text, y->text, n) != 0)
			continue;
		if ((!y->text[n] || (y->text[n] == '/' && !x->folder)) && later < found)
			found = later;
	}
	return found;
}
