/* fold.h - comparing text without regard to case, the same on every engine because done here. */
#pragma once
#include "base/arena.h"

/* Lower case for ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic; the rest as it is. */
char *fold(struct arena *a, const char *text);
/* %folded%, for LIKE ... ESCAPE '!'. */
char *fold_pattern(struct arena *a, const char *text);
/* The words of a text, folded, without the marks on Latin letters, one space between them. */
char *fold_words(struct arena *a, const char *text);
