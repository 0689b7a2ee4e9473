/* fuzz_picture.c - pictures as a stranger could write them, all the way to the PNG that is kept.  The
 * type is the one the bytes begin like, so that the readers are reached.  What is made is a square of
 * the size asked for and can be read again; what is refused comes with a sentence and without bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "media/picture.h"

enum { SIDE = 24, MADE_MAX = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum picture_verdict square(const void *bytes, size_t len, const char *type, struct buf *out)
{
	char why[PICTURE_WHY_MAX];
	enum picture_verdict verdict = picture_square(bytes, len, type, SIDE, out, why);

	if ((verdict == PICTURE_GOOD) != (why[0] == '\0'))
		abort();
	return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *type = size && data[0] == 0x89  ? "image/png"
			   : size && data[0] == 'R' ? "image/webp"
						    : "image/jpeg";
	struct buf made, again;

	buf_init(&made, MADE_MAX);
	buf_init(&again, MADE_MAX);
	if (square(data, size, type, &made) != PICTURE_GOOD) {
		if (made.len)
			abort();
	} else {
		/* At its own size nothing is mixed: the same pixels, and so the same bytes. */
		if (memcmp(made.at + 16, "\0\0\0\x18\0\0\0\x18", 8) != 0 ||
			square(made.at, made.len, "image/png", &again) != PICTURE_GOOD ||
			again.len != made.len || memcmp(again.at, made.at, made.len) != 0)
			abort();
	}
	buf_free(&made);
	buf_free(&again);
	return 0;
}
