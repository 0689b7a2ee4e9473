/* codec.h - what the formats share.  Only this room uses it.
 *
 * A reader checks its header with decoding_admit(), starts the scaler with the
 * size it will deliver, and feeds it rows of RGBA. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "media/picture.h"
#include "media/scale.h"

struct decoding {
	const uint8_t *bytes;
	size_t len;
	int side;	     /* of the picture to make */
	int orientation;     /* as EXIF counts: 1 is upright */
	struct scaler scale; /* freed by whoever made the decoding */
	char *why;	     /* PICTURE_WHY_MAX */
};

enum picture_verdict decoding_refuse(struct decoding *d, enum picture_verdict verdict,
	const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* PICTURE_GOOD if a picture of this size may be decoded. */
enum picture_verdict decoding_admit(
	struct decoding *d, uint32_t width, uint32_t height, bool held_whole);

enum picture_verdict png_decode(struct decoding *d);
enum picture_verdict jpeg_decode(struct decoding *d);
enum picture_verdict webp_decode(struct decoding *d);

/* A square of RGBA; without its alpha if all of it is opaque. */
bool png_encode(const uint8_t *rgba, int side, struct buf *out);

/* The orientation in a TIFF block, 1 to 8; 1 if it says none. */
int exif_orientation(const uint8_t *tiff, size_t len);
