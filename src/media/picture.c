/* picture.c - which format it is, whether it may be decoded, which way up it goes; see picture.h. */
#include "media/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "media/codec.h"

struct format {
	const char *type, *name;
	enum picture_verdict (*decode)(struct decoding *d);
};

enum { PNG, JPEG, WEBP, FORMATS };

static const struct format formats[FORMATS] = {
	[PNG] = { "image/png", "PNG", png_decode },
	[JPEG] = { "image/jpeg", "JPEG", jpeg_decode },
	[WEBP] = { "image/webp", "WebP", webp_decode },
};

/* By its first bytes; NULL if they are of none. */
static const struct format *format_of(const uint8_t *at, size_t len)
{
	if (len >= 8 && memcmp(at, "\x89PNG\r\n\x1a\n", 8) == 0)
		return &formats[PNG];
	if (len >= 3 && memcmp(at, "\xff\xd8\xff", 3) == 0)
		return &formats[JPEG];
	if (len >= 12 && memcmp(at, "RIFF", 4) == 0 && memcmp(at + 8, "WEBP", 4) == 0)
		return &formats[WEBP];
	return NULL;
}

/* The pixel of a square that EXIF's orientation puts at (x, y). */
static size_t source_pixel_of(int orientation, int side, int x, int y)
{
	int last = side - 1, from_x = x, from_y = y;

	if (orientation >= 5) { /* lying: columns are rows */
		from_x = y;
		from_y = x;
	}
	if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
		from_x = last - from_x;
	if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
		from_y = last - from_y;
	return (size_t)from_y * (size_t)side + (size_t)from_x;
}

static enum picture_verdict finish_picture(struct decoding *d, struct buf *out)
{
	size_t pixels = (size_t)d->side * (size_t)d->side;
	uint8_t *made = malloc(pixels * 8), *upright = made + pixels * 4;
	bool ok;

	INVARIANT(d->orientation >= 1 && d->orientation <= 8);
	if (!made)
		abort();
	scaler_end(&d->scale, made);
	for (int y = 0; y < d->side; y++)
		for (int x = 0; x < d->side; x++)
			memcpy(upright + ((size_t)y * (size_t)d->side + (size_t)x) * 4,
				made + source_pixel_of(d->orientation, d->side, x, y) * 4, 4);
	ok = png_encode(upright, d->side, out);
	free(made);
	return ok ? PICTURE_GOOD
		  : decoding_refuse(
			    d, PICTURE_UNSUPPORTED, "The picture cannot be written as PNG.");
}

enum picture_verdict picture_square(const void *bytes, size_t len, const char *type, int side,
	struct buf *out, char why[PICTURE_WHY_MAX])
{
	struct decoding d = {
		.bytes = bytes, .len = len, .side = side, .orientation = 1, .why = why
	};
	const struct format *f = format_of(bytes, len);
	enum picture_verdict verdict;

	why[0] = '\0';
	if (!f)
		return decoding_refuse(
			&d, PICTURE_OTHER_TYPE, "The body is no PNG, JPEG or WebP picture.");
	if (strcmp(f->type, type) != 0)
		return decoding_refuse(&d, PICTURE_OTHER_TYPE,
			"The body is a %s picture and not %s; send it as Content-Type: %s.",
			f->name, type, f->type);
	verdict = f->decode(&d);
	if (!verdict)
		verdict = finish_picture(&d, out);
	scaler_free(&d.scale);
	return verdict;
}
