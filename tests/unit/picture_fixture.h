/* picture_fixture.h - pictures for tests, written by the libraries themselves, and read back. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct picture {
	int width, height;
	uint8_t *rgba;
};

/* paint(x, y, rgba) colours each pixel; freed with picture_free(). */
struct picture picture_paint(int width, int height, void (*paint)(int x, int y, uint8_t *rgba));
void picture_free(struct picture *p);
uint8_t *picture_at(const struct picture *p, int x, int y);
/* A PNG as RGBA; a failure, and no pixels, if it is none. */
struct picture picture_read(const void *png, size_t len);

enum png_kind {
	KIND_GRAY_1,
	KIND_GRAY_8,
	KIND_GRAY_16,
	KIND_GRAY_ALPHA_8,
	KIND_GRAY_ALPHA_16,
	KIND_PALETTE,
	KIND_RGB_8,
	KIND_RGB_16,
	KIND_RGBA_8,
	KIND_RGBA_16,
	PNG_KINDS
};
/* A kind without some of what a pixel has leaves it out; grey is the red of a pixel. */
void picture_fixture_png(
	struct buf *out, const struct picture *p, enum png_kind kind, bool interlaced);

enum jpeg_kind { KIND_YCC, KIND_GREY, KIND_RGB, KIND_CMYK, KIND_YCCK, JPEG_KINDS };
struct jpeg_how {
	enum jpeg_kind kind;
	bool progressive, many_scans;
	bool plain_ink;	 /* CMYK without Adobe's marker */
	int orientation; /* 0: no EXIF */
	bool big_endian; /* of the EXIF */
};
void picture_fixture_jpeg(struct buf *out, const struct picture *p, struct jpeg_how how);

void picture_fixture_webp(struct buf *out, const struct picture *p, bool lossless);
