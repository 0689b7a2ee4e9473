/* picture_fixture.c - see picture_fixture.h. */
#include "picture_fixture.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include <jpeglib.h>

#include "t.h"

enum { STAGE_MAX = 64 << 20 };

struct picture picture_paint(int width, int height, void (*paint)(int x, int y, uint8_t *rgba))
{
	struct picture p = { width, height, calloc((size_t)width * (size_t)height, 4) };

	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			paint(x, y, picture_at(&p, x, y));
	return p;
}

void picture_free(struct picture *p)
{
	free(p->rgba);
	p->rgba = NULL;
}

uint8_t *picture_at(const struct picture *p, int x, int y)
{
	return p->rgba + ((size_t)y * (size_t)p->width + (size_t)x) * 4;
}

struct picture picture_read(const void *png, size_t len)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	struct picture p = { 0 };

	if (png_image_begin_read_from_memory(&image, png, len)) {
		image.format = PNG_FORMAT_RGBA;
		p = (struct picture){ (int)image.width, (int)image.height,
			malloc(PNG_IMAGE_SIZE(image)) };
		if (!png_image_finish_read(&image, NULL, p.rgba, 0, NULL))
			picture_free(&p);
	}
	if (!p.rgba)
		test_fail(__FILE__, __LINE__, "not a PNG: %s", image.message);
	return p;
}

static void png_out(png_structp png, png_bytep bytes, size_t n)
{
	buf_put(png_get_io_ptr(png), bytes, n);
}

/* How a kind is written: its type, its depth, and which bytes of RGBA make a pixel. */
static const struct {
	int type, depth, count;
	int from[4];
} kinds[PNG_KINDS] = {
	[KIND_GRAY_1] = { PNG_COLOR_TYPE_GRAY, 1, 1, { 0 } },
	[KIND_GRAY_8] = { PNG_COLOR_TYPE_GRAY, 8, 1, { 0 } },
	[KIND_GRAY_16] = { PNG_COLOR_TYPE_GRAY, 16, 1, { 0 } },
	[KIND_GRAY_ALPHA_8] = { PNG_COLOR_TYPE_GRAY_ALPHA, 8, 2, { 0, 3 } },
	[KIND_GRAY_ALPHA_16] = { PNG_COLOR_TYPE_GRAY_ALPHA, 16, 2, { 0, 3 } },
	[KIND_PALETTE] = { PNG_COLOR_TYPE_PALETTE, 8, 1, { 0 } },
	[KIND_RGB_8] = { PNG_COLOR_TYPE_RGB, 8, 3, { 0, 1, 2 } },
	[KIND_RGB_16] = { PNG_COLOR_TYPE_RGB, 16, 3, { 0, 1, 2 } },
	[KIND_RGBA_8] = { PNG_COLOR_TYPE_RGB_ALPHA, 8, 4, { 0, 1, 2, 3 } },
	[KIND_RGBA_16] = { PNG_COLOR_TYPE_RGB_ALPHA, 16, 4, { 0, 1, 2, 3 } },
};

/* The colours of a palette: each seen for the first time gets the next number. */
struct palette {
	png_color colours[256];
	png_byte alpha[256];
	int count;
};

static uint8_t palette_number(struct palette *l, const uint8_t *rgba)
{
	for (int i = 0; i < l->count; i++)
		if (l->colours[i].red == rgba[0] && l->colours[i].green == rgba[1] &&
			l->colours[i].blue == rgba[2] && l->alpha[i] == rgba[3])
			return (uint8_t)i;
	if (l->count == 256) {
		test_fail(__FILE__, __LINE__, "too many colours");
		return 0;
	}
	l->colours[l->count] = (png_color){ rgba[0], rgba[1], rgba[2] };
	l->alpha[l->count] = rgba[3];
	return (uint8_t)l->count++;
}

static void png_pixel(
	uint8_t *row, int x, enum png_kind kind, const uint8_t *rgba, struct palette *palette)
{
	if (kind == KIND_GRAY_1) {
		if (rgba[0] >= 128)
			row[x / 8] |= (uint8_t)(0x80 >> x % 8);
		return;
	}
	for (int k = 0; k < kinds[kind].count; k++) {
		uint8_t v = kind == KIND_PALETTE ? palette_number(palette, rgba)
						 : rgba[kinds[kind].from[k]];
		int at = x * kinds[kind].count + k;

		if (kinds[kind].depth == 16)
			row[at * 2] = row[at * 2 + 1] = v;
		else
			row[at] = v;
	}
}

void picture_fixture_png(
	struct buf *out, const struct picture *p, enum png_kind kind, bool interlaced)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	png_bytep *rows = calloc((size_t)p->height, sizeof *rows);
	struct palette palette = { .count = 0 };

	for (int y = 0; y < p->height; y++) {
		rows[y] = calloc((size_t)p->width, 8);
		for (int x = 0; x < p->width; x++)
			png_pixel(rows[y], x, kind, picture_at(p, x, y), &palette);
	}
	buf_init(out, STAGE_MAX);
	png_set_write_fn(png, out, png_out, NULL);
	png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, kinds[kind].depth,
		kinds[kind].type, interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
		PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (kind == KIND_PALETTE) {
		png_set_PLTE(png, info, palette.colours, palette.count);
		png_set_tRNS(png, info, palette.alpha, palette.count, NULL);
	}
	png_set_text(png, info,
		&(png_text){ .compression = PNG_TEXT_COMPRESSION_NONE,
			.key = "Comment",
			.text = "secret-place" },
		1);
	png_write_info(png, info);
	png_write_image(png, rows);
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	for (int y = 0; y < p->height; y++)
		free(rows[y]);
	free(rows);
}

static void jpeg_pixel(uint8_t *to, const struct jpeg_how *how, const uint8_t *rgba)
{
	if (how->kind == KIND_GREY) {
		to[0] = rgba[0];
	} else if (how->kind == KIND_CMYK || how->kind == KIND_YCCK) {
		/* All ink in three plates, none in the black one. */
		for (int k = 0; k < 3; k++)
			to[k] = how->plain_ink ? (uint8_t)(255 - rgba[k]) : rgba[k];
		to[3] = how->plain_ink ? 0 : 255;
	} else {
		memcpy(to, rgba, 3);
	}
}

static void write_exif(struct jpeg_compress_struct *jpeg, int orientation, bool big)
{
	static const uint8_t little_endian[] = "Exif\0\0II*\0\x08\0\0\0\x02\0"
					       "\x0f\x01\x02\0\x04\0\0\0Cam\0"
					       "\x12\x01\x03\0\x01\0\0\0\0\0\0\0\0\0\0";
	static const uint8_t big_endian[] = "Exif\0\0MM\0*\0\0\0\x08\0\x02"
					    "\x01\x0f\0\x02\0\0\0\x04"
					    "Cam\0"
					    "\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0";
	uint8_t block[sizeof little_endian];

	memcpy(block, big ? big_endian : little_endian, sizeof block);
	block[6 + 8 + 2 + 12 + 8 + big] = (uint8_t)orientation;
	jpeg_write_marker(jpeg, JPEG_APP0 + 1, block, sizeof block);
}

/* Every coefficient of every colour in a scan of its own. */
static void script_scans(struct jpeg_compress_struct *jpeg, jpeg_scan_info *scans)
{
	int n = 0;

	scans[n++] = (jpeg_scan_info){ 3, { 0, 1, 2 }, 0, 0, 0, 0 };
	for (int colour = 0; colour < 3; colour++)
		for (int k = 1; k < 64; k++)
			scans[n++] = (jpeg_scan_info){ 1, { colour }, k, k, 0, 0 };
	jpeg->scan_info = scans;
	jpeg->num_scans = n;
}

void picture_fixture_jpeg(struct buf *out, const struct picture *p, struct jpeg_how how)
{
	static const struct {
		J_COLOR_SPACE in, as;
		int count;
	} spaces[JPEG_KINDS] = {
		[KIND_YCC] = { JCS_RGB, JCS_YCbCr, 3 },
		[KIND_GREY] = { JCS_GRAYSCALE, JCS_GRAYSCALE, 1 },
		[KIND_RGB] = { JCS_RGB, JCS_RGB, 3 },
		[KIND_CMYK] = { JCS_CMYK, JCS_CMYK, 4 },
		[KIND_YCCK] = { JCS_CMYK, JCS_YCCK, 4 },
	};
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	jpeg_scan_info scans[1 + 3 * 63];
	uint8_t *row = calloc((size_t)p->width, 4);
	unsigned char *made = NULL;
	unsigned long len = 0;

	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, &made, &len);
	jpeg.image_width = (JDIMENSION)p->width;
	jpeg.image_height = (JDIMENSION)p->height;
	jpeg.input_components = spaces[how.kind].count;
	jpeg.in_color_space = spaces[how.kind].in;
	jpeg_set_defaults(&jpeg);
	jpeg_set_colorspace(&jpeg, spaces[how.kind].as);
	jpeg_set_quality(&jpeg, 95, TRUE);
	if (how.plain_ink)
		jpeg.write_Adobe_marker = FALSE;
	if (how.many_scans)
		script_scans(&jpeg, scans);
	else if (how.progressive)
		jpeg_simple_progression(&jpeg);
	jpeg_start_compress(&jpeg, TRUE);
	if (how.orientation)
		write_exif(&jpeg, how.orientation, how.big_endian);
	for (int y = 0; y < p->height; y++) {
		for (int x = 0; x < p->width; x++)
			jpeg_pixel(row + (size_t)x * (size_t)spaces[how.kind].count, &how,
				picture_at(p, x, y));
		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	buf_init(out, STAGE_MAX);
	buf_put(out, made, len);
	free(made);
	free(row);
}

void picture_fixture_webp(struct buf *out, const struct picture *p, bool lossless)
{
	uint8_t *made = NULL;
	size_t len =
		lossless ? WebPEncodeLosslessRGBA(p->rgba, p->width, p->height, p->width * 4, &made)
			 : WebPEncodeRGBA(p->rgba, p->width, p->height, p->width * 4, 90, &made);

	buf_init(out, STAGE_MAX);
	buf_put(out, made, len);
	WebPFree(made);
}
