/* settings_parts.h - what the files that read settings share. */
#pragma once
#include "serve/setting_value.h"

/* One reading of the settings. */
struct settings_reading {
	struct settings *s;
	struct arena *a;
	struct problem *p;
	const struct settings_source *from;
	struct settings_origin *origins;
	const char **arguments;
	bool only_arguments; /* after -- */
};

/* settings_take.c.  A value as it may stand in a sentence: one line, not too long. */
const char *settings_shown(struct arena *a, const struct setting *row, const char *value);
/* Checks a value and keeps it, unless the setting has one from a place of higher rank. */
int settings_take(struct settings_reading *l, const struct setting *row, struct settings_origin o,
	const char *value);
/* settings_file.c: lodge.conf, or the file that was named. */
int settings_take_file(struct settings_reading *l);
