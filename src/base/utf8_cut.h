/* utf8_cut.h - texts of others that are shown or kept up to a length: they end with a whole character. */
#pragma once
#include <string.h>

/* The most bytes of valid UTF-8 up to `most` that end with a whole character. */
size_t utf8_cut(const char *text, size_t len, size_t most);
/* The two arguments of a %.*s that shows so many bytes of a text at most. */
#define UTF8_SHOWN(most, text) \
	(int)utf8_cut((text), strnlen((text), (size_t)(most) + 1), (most)), (text)
/* Takes off what is left of a character at the end of a text that was printed into too small a room. */
void utf8_trim(char *text);
