/* utf8.c - see utf8.h. */
#include "base/utf8.h"

size_t utf8_step(const char *text, const char *stop)
{
	const unsigned char *p = (const unsigned char *)text, *end = (const unsigned char *)stop;
	size_t n, i;

	if (*p < 0x80)
		return 1;
	n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (*p < 0xc2 || *p > 0xf4 || (size_t)(end - p) < n)
		return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
		(*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

bool utf8_valid(const char *text, size_t len)
{
	const char *p = text, *end = p + len;

	while (p < end) {
		size_t n = utf8_step(p, end);

		if (!n)
			return false;
		p += n;
	}
	return true;
}

void utf8_clean(char *text, size_t len)
{
	char *p = text, *end = p + len;

	while (p < end) {
		size_t n = utf8_step(p, end);

		if (!n)
			*p = '?';
		p += n ? n : 1;
	}
}

size_t utf8_count(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}
