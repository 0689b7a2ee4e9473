/* fold.c - see fold.h.  Engines disagree about case beyond ASCII, and about collations; a folded
 * column written by us gives the same answer on both. */
#include "base/fold.h"

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
