/* entry_names.h - names of what lies in an archive, as they must be to mean one thing everywhere.
 *
 * A name is a relative path of plain parts that stays inside its folder; two
 * names of one archive are two names also where the case of letters makes no
 * difference, and none is a file where another has a folder. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* No empty part, none of `.` and `..`, no backslash, no colon, no control character, not absolute, UTF-8, of at
 * most so many bytes and parts; 0 parts: as many as fit. */
bool entry_name_valid(const char *name, size_t len, size_t bytes_max, size_t parts_max);

struct entry_name {
	const char *name; /* without the slash at the end of a folder's */
	size_t len;
	bool folder;
};

/* Which of them, by its number, is in the way of one before it; `count` if none is. */
size_t entry_names_clash(struct arena *a, const struct entry_name *names, size_t count);
