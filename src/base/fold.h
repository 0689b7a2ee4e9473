/* fold.h - comparing text without regard to case, the same on every engine because done here.
 *
 * Case is folded as Unicode says, in whole (NFKC_Casefold, by utf8proc): case,
 * width and spelling of marks make no difference.  For finding, the four
 * letters i of Turkish are one.  What is stored folded is folded anew when
 * fold_version() changes (search/refold.c). */
#pragma once
#include "base/arena.h"

char *fold(struct arena *a, const char *text);
/* %folded%, for LIKE ... ESCAPE '!'. */
char *fold_pattern(struct arena *a, const char *text);
/* The words of a text, folded, without the marks on Latin letters, one space between them. */
char *fold_words(struct arena *a, const char *text);
/* Lower case for ASCII letters, the rest as it is: for addresses, which only look alike otherwise. */
char *fold_ascii(struct arena *a, const char *text);
/* Which rules these are: ours, and Unicode's. */
const char *fold_version(struct arena *a);
