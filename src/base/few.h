/* few.h - the first few of many names, in one line for people: "a, b, c, ...".  However many there are, it takes
 * little room and one look at each. */
#pragma once
#include <stddef.h>

#include "base/arena.h"

enum { FEW_NAMES = 20, FEW_NAME_BYTES = 64 };

struct few {
	int count;
	size_t len;
	char text[FEW_NAMES * (FEW_NAME_BYTES + 2) + sizeof ", ..."];
};

/* A name that is there already is not named again; signs that have no place in a header become `_`. */
void few_add(struct few *f, const char *name, size_t len);
/* NULL where there are none. */
const char *few_text(const struct few *f, struct arena *a);
