/* settings_take.c - one value of a setting: checked, kept or outranked, and the sentence where it is not good. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "serve/settings_parts.h"

enum { SHOWN_MAX = 60 };

const char *settings_shown(struct arena *a, const struct setting *row, const char *value)
{
	char text[SHOWN_MAX + 1];
	size_t n = 0;

	if (row && row->secret)
		return "the value";
	for (; value[n] && n < SHOWN_MAX; n++)
		text[n] = (unsigned char)value[n] < ' ' || value[n] == 0x7f ? '?' : value[n];
	text[n] = '\0';
	return arena_printf(a, "\"%s\"%s", text, value[n] ? "..." : "");
}

static int refuse_setting(struct settings_reading *l, const struct setting *row,
	const struct settings_origin *o, const char *value, const char *fault)
{
	return problem_set(l->p, l->a, ERR_USAGE, "%s %s: %s %s; give %s", row->name, o->words,
		settings_shown(l->a, row, value), fault, setting_wanted(row, l->a));
}

int settings_take(struct settings_reading *l, const struct setting *row, struct settings_origin o,
	const char *value)
{
	struct settings_origin *had = &l->origins[row - settings_table];
	struct settings outranked;
	const char *fault;

	value = arena_strdup(l->a, value);
	fault = setting_read(row, l->a, value, had->place > o.place ? &outranked : l->s);
	if (fault)
		return refuse_setting(l, row, &o, value, fault);
	if (had->place <= o.place)
		*had = o;
	return 0;
}
