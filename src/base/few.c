/* few.c - see few.h. */
#include "base/few.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_named(const struct few *f, const char *name, size_t len)
{
	for (const char *at = f->text; f->len && at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (strcspn(at, ",") == len && memcmp(at, name, len) == 0)
			return true;
	}
	return false;
}

static void few_put(struct few *f, const char *text, size_t len)
{
	memcpy(f->text + f->len, text, len);
	f->len += len;
	f->text[f->len] = '\0';
}

void few_add(struct few *f, const char *name, size_t len)
{
	char clean[FEW_NAME_BYTES];

	if (f->count > FEW_NAMES || !len)
		return;
	len = len < sizeof clean ? len : sizeof clean;
	for (size_t i = 0; i < len; i++)
		clean[i] = isalnum((unsigned char)name[i]) || (name[i] && strchr("_-.[]", name[i]))
				   ? name[i]
				   : '_';
	if (is_named(f, clean, len))
		return;
	if (f->len)
		few_put(f, ", ", 2);
	if (f->count++ < FEW_NAMES)
		few_put(f, clean, len);
	else
		few_put(f, "...", 3);
}

const char *few_text(const struct few *f, struct arena *a)
{
	return f->len ? arena_strndup(a, f->text, f->len) : NULL;
}
