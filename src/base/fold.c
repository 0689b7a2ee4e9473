/* fold.c - see fold.h.  Engines disagree about case beyond ASCII, and about collations; a folded
 * column written by us gives the same answer on both. */
#include "base/fold.h"

#include <stdbool.h>
#include <string.h>

/* The lower-case letter of a code point below U+0800. */
static unsigned lower(unsigned c)
{
	if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
		(c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
		return c + 32;
	if (c >= 0x400 && c <= 0x40f)
		return c + 80;
	if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14a && c <= 0x177))
		return c | 1;
	if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
		return c + (c & 1);
	return c;
}

/* Folded letters take as many bytes as their capitals, so the copy has the text's length. */
char *fold(struct arena *a, const char *text)
{
	char *copy = arena_strdup(a, text);

	for (unsigned char *p = (unsigned char *)copy; *p; p++) {
		if (*p < 0x80) {
			*p = (unsigned char)lower(*p);
		} else if (*p >= 0xc3 && *p <= 0xdf && p[1]) {
			unsigned c = lower((*p & 0x1fu) << 6 | (p[1] & 0x3fu));

			p[0] = (unsigned char)(0xc0 | c >> 6);
			p[1] = (unsigned char)(0x80 | (c & 0x3f));
			p++;
		}
	}
	return copy;
}

/* What stands for a letter of U+00C0..U+017F once its marks are gone. */
/* clang-format off */
static const char bare[][3] = {
	"a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i",
	"d", "n", "o", "o", "o", "o", "o", "", "o", "u", "u", "u", "u", "y", "th", "ss",
	"a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i",
	"d", "n", "o", "o", "o", "o", "o", "", "o", "u", "u", "u", "u", "y", "th", "y",
	"a", "a", "a", "a", "a", "a", "c", "c", "c", "c", "c", "c", "c", "c", "d", "d",
	"d", "d", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "g", "g", "g", "g",
	"g", "g", "g", "g", "h", "h", "h", "h", "i", "i", "i", "i", "i", "i", "i", "i",
	"i", "i", "ij", "ij", "j", "j", "k", "k", "k", "l", "l", "l", "l", "l", "l", "l",
	"l", "l", "l", "n", "n", "n", "n", "n", "n", "n", "n", "n", "o", "o", "o", "o",
	"o", "o", "oe", "oe", "r", "r", "r", "r", "r", "r", "s", "s", "s", "s", "s", "s",
	"s", "s", "t", "t", "t", "t", "t", "t", "u", "u", "u", "u", "u", "u", "u", "u",
	"u", "u", "u", "u", "w", "w", "y", "y", "y", "z", "z", "z", "z", "z", "z", "s",
};
/* clang-format on */
_Static_assert(sizeof bare / sizeof *bare == 0x180 - 0xc0, "a row for each letter");

/* The last code point there is: what is above every text with the same beginning. */
#define LAST_POINT 0x10ffff

/* Marks that combine with the letter before them. */
static bool is_mark(unsigned c)
{
	return c >= 0x300 && c <= 0x36f;
}

static bool is_separator(unsigned c)
{
	if (c < 0x80)
		return !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'));
	return c < 0xc0 || c == 0xd7 || c == 0xf7 || (c >= 0x2000 && c <= 0x206f) ||
	       (c >= 0x3000 && c <= 0x303f) || c == LAST_POINT;
}

/* Reads one code point of valid UTF-8. */
static unsigned next_point(const unsigned char **p)
{
	unsigned c = *(*p)++;
	int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

	c &= more ? 0x3fu >> more : 0x7fu;
	for (; more && **p; more--)
		c = c << 6 | (*(*p)++ & 0x3fu);
	return c;
}

/* No letter grows by more than it had, so the text's length is room enough. */
char *fold_words(struct arena *a, const char *text)
{
	const unsigned char *p = (const unsigned char *)fold(a, text);
	char *words = arena_raw(a, strlen(text) + 1, 1), *out = words;
	bool between = false;

	while (*p) {
		const unsigned char *from = p;
		unsigned c = next_point(&p);

		if (is_mark(c))
			continue;
		if (is_separator(c)) {
			between = true;
			continue;
		}
		if (between && out > words)
			*out++ = ' ';
		between = false;
		if (c >= 0xc0 && c < 0x180) {
			for (const char *letter = bare[c - 0xc0]; *letter; letter++)
				*out++ = *letter;
		} else {
			for (; from < p; from++)
				*out++ = (char)*from;
		}
	}
	*out = '\0';
	return words;
}

char *fold_pattern(struct arena *a, const char *text)
{
	const char *folded = fold(a, text);
	char *pattern = arena_raw(a, 2 * strlen(folded) + 3, 1), *out = pattern;

	*out++ = '%';
	for (; *folded; folded++) {
		if (strchr("%_!", *folded))
			*out++ = '!';
		*out++ = *folded;
	}
	*out++ = '%';
	*out = '\0';
	return pattern;
}
