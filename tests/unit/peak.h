/* peak.h - the most heap that the process had since it was last asked: of everybody in it, libraries too. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* False where nothing counts it: only the address sanitizer tells of each block. */
bool peak_counts(void);
void peak_begin(void);
/* Bytes above what there was at the beginning. */
size_t peak_grown(void);
