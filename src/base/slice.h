/* slice.h - a run of bytes that somebody else owns.  A NULL pointer is absent, which is not the same as
 * empty. */
#pragma once
#include <stddef.h>

struct slice {
	const char *at;
	size_t len;
};

/* For literals. */
#define SLICE(literal) ((struct slice){ (literal), sizeof(literal) - 1 })
