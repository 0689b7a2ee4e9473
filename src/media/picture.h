/* picture.h - from a picture somebody sends to a small square PNG.
 *
 * Bytes in, bytes out, or a sentence that says what is wrong.  This room
 * knows formats and pixels; it must never know whose picture it is, where it
 * is kept, or how it came.
 *
 * What is kept is the square in the middle, upright, as 8-bit RGB (RGBA where
 * something is transparent) and nothing else: no text, place, profile or
 * thumbnail of the original survives.  Colours are taken as sRGB and mixed in
 * linear light; profiles are not applied, for a table of colours is a parser
 * more and the difference is slight at this size.
 *
 * Sizes are read from the header and judged before anything is decoded.
 * Pictures that arrive row by row are never held whole.  Of an animated PNG
 * its still picture is taken; animated WebP has none and is refused. */
#pragma once
#include <stddef.h>

#include "base/buf.h"

enum {
	PICTURE_SIDE_MAX = 8192,	       /* pixels on a side */
	PICTURE_PIXELS_MAX = 40 * 1000 * 1000, /* of a picture that is read row by row */
	PICTURE_HELD_MAX = 16 * 1000 * 1000,   /* of one that its format makes us hold whole */
};

enum picture_verdict {
	PICTURE_GOOD,
	PICTURE_OTHER_TYPE,  /* not of the type it is said to be, or of none known here */
	PICTURE_TOO_LARGE,   /* too many pixels */
	PICTURE_DAMAGED,     /* broken or cut off */
	PICTURE_UNSUPPORTED, /* whole, but of a kind that is not read */
};

enum { PICTURE_WHY_MAX = 256 };

/* `type` is what the sender calls it: image/png, image/jpeg or image/webp.  Appends the PNG, side x
 * side pixels, to out; else `why` holds a sentence for the sender. */
enum picture_verdict picture_square(const void *bytes, size_t len, const char *type, int side,
	struct buf *out, char why[PICTURE_WHY_MAX]);
