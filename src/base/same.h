/* same.h - whether two texts are the same, either of which may not be there. */
#pragma once
#include <stdbool.h>
#include <string.h>

static inline bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}
