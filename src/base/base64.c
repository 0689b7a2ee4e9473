/* base64.c - see base64.h. */
#include "base/base64.h"

#include <ctype.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_bytes(size_t len)
{
	return len / 4 * 3 + 3;
}

size_t base64_length(size_t bytes)
{
	return (bytes + 2) / 3 * 4;
}

bool base64_decode(const char *text, size_t len, unsigned char *out, size_t *ret_len)
{
	signed char value[256];
	unsigned held = 0, bits = 0;
	size_t n = 0, pads = 0, seen = 0;

	memset(value, -1, sizeof value);
	for (int i = 0; i < 64; i++)
		value[(unsigned char)digits[i]] = (signed char)i;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (value[c] >= 0 && !pads) {
			held = held << 6 | (unsigned)value[c];
			bits += 6;
			seen++;
			if (bits >= 8) {
				bits -= 8;
				out[n++] = (unsigned char)(held >> bits);
				held &= (1U << bits) - 1;
			}
		} else if (c == '=' && pads < 2) {
			pads++;
		} else if (!isspace(c)) {
			return false;
		}
	}
	*ret_len = n;
	return !held && seen % 4 != 1 && (!pads || (seen + pads) % 4 == 0);
}

void base64_encode(const void *bytes, size_t len, char *out)
{
	const unsigned char *in = bytes;

	for (; len >= 3; len -= 3, in += 3) {
		*out++ = digits[in[0] >> 2];
		*out++ = digits[(in[0] & 3) << 4 | in[1] >> 4];
		*out++ = digits[(in[1] & 15) << 2 | in[2] >> 6];
		*out++ = digits[in[2] & 63];
	}
	if (!len)
		return;
	*out++ = digits[in[0] >> 2];
	*out++ = digits[(in[0] & 3) << 4 | (len == 2 ? in[1] >> 4 : 0)];
	*out++ = len == 2 ? digits[(in[1] & 15) << 2] : '=';
	*out = '=';
}
