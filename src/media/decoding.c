/* decoding.c - what every format does before it decodes: see codec.h. */
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "media/codec.h"

enum { LARGE_BLOCK = 4 << 20, LARGE_REST = 8 << 20 };

enum picture_verdict decoding_refuse(
	struct decoding *d, enum picture_verdict verdict, const char *fmt, ...)
{
	va_list ap;

	INVARIANT(verdict != PICTURE_GOOD);
	va_start(ap, fmt);
	vsnprintf(d->why, PICTURE_WHY_MAX, fmt, ap);
	va_end(ap);
	return verdict;
}

/* The C library learns from the first large block it gets back to keep the next ones in the thread's
 * heap: 36 MB a thread after progressive pictures of 12 million pixels.  It is told not to. */
static void return_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, LARGE_REST);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

enum picture_verdict decoding_admit(
	struct decoding *d, uint32_t width, uint32_t height, bool held_whole)
{
	uint64_t most = held_whole ? PICTURE_HELD_MAX : PICTURE_PIXELS_MAX;

	if (!width || !height)
		return decoding_refuse(d, PICTURE_DAMAGED, "The picture has no pixels.");
	if (width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX)
		return decoding_refuse(d, PICTURE_TOO_LARGE,
			"The picture is %u x %u pixels; the most is %d on a side.", width, height,
			PICTURE_SIDE_MAX);
	if ((uint64_t)width * height > most)
		return decoding_refuse(d, PICTURE_TOO_LARGE,
			"The picture is %u x %u pixels; the most is %llu million%s.", width, height,
			(unsigned long long)most / 1000000,
			held_whole ? " in this kind of file" : "");
	if (held_whole)
		pthread_once(&once, return_memory);
	return PICTURE_GOOD;
}
