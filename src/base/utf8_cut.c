/* utf8_cut.c - see utf8_cut.h. */
#include "base/utf8_cut.h"

#include "base/utf8.h"

size_t utf8_cut(const char *text, size_t len, size_t most)
{
	if (len <= most)
		return len;
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

void utf8_trim(char *text)
{
	size_t len = strlen(text), at = len;

	while (at && len - at < 3 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
		at--;
	if (at && (unsigned char)text[at - 1] >= 0xc0 && !utf8_step(text + at - 1, text + len))
		text[at - 1] = '\0';
}
