/* exif.c - which way up a photograph is, and nothing else that EXIF says. */
#include "media/codec.h"

#include <string.h>

#include "base/check.h"

enum { TAG_ORIENTATION = 0x0112, TYPE_SHORT = 3, ENTRY_LEN = 12 };

struct tiff {
	const uint8_t *at;
	size_t len;
	bool big; /* most significant byte first */
};

static uint32_t tiff_number(const struct tiff *t, size_t at, int bytes)
{
	uint32_t n = 0;

	INVARIANT(at <= t->len && (size_t)bytes <= t->len - at);
	for (int i = 0; i < bytes; i++)
		n |= (uint32_t)t->at[at + (size_t)i] << 8 * (t->big ? bytes - 1 - i : i);
	return n;
}

int exif_orientation(const uint8_t *tiff, size_t len)
{
	struct tiff t = { tiff, len, len >= 8 && tiff[0] == 'M' };
	size_t at, count;

	if (len < 8 || (memcmp(tiff, "MM\0*", 4) != 0 && memcmp(tiff, "II*\0", 4) != 0))
		return 1;
	at = tiff_number(&t, 4, 4);
	if (at > len - 2)
		return 1;
	count = tiff_number(&t, at, 2);
	at += 2;
	for (; count && len - at >= ENTRY_LEN; count--, at += ENTRY_LEN) {
		if (tiff_number(&t, at, 2) == TAG_ORIENTATION &&
			tiff_number(&t, at + 2, 2) == TYPE_SHORT) {
			uint32_t n = tiff_number(&t, at + 8, 2);

			return n >= 1 && n <= 8 ? (int)n : 1;
		}
	}
	return 1;
}
