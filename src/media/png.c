/* png.c - reading PNG row by row, whatever its depth and kind, and writing it without anything but
 * the pixels.  libpng reports faults by a jump: it leads back to the function that called setjmp,
 * which touches nothing it has changed since. */
#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "media/codec.h"

enum { HEADER_LEN = 24, CHUNK_MAX = 1024 * 1024 };

struct png_read {
	struct decoding *d;
	size_t at; /* how far it is read */
	png_structp png;
	png_infop info;
	uint8_t *row;
	enum picture_verdict verdict;
	jmp_buf fault;
};

static void on_png_fault(png_structp png, png_const_charp message)
{
	struct png_read *r = png_get_error_ptr(png);

	r->verdict = decoding_refuse(
		r->d, PICTURE_DAMAGED, "The PNG picture cannot be read: %s.", message);
	longjmp(r->fault, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
	(void)png;
	(void)message;
}

static void on_read(png_structp png, png_bytep out, size_t n)
{
	struct png_read *r = png_get_io_ptr(png);

	INVARIANT(r->at <= r->d->len);
	if (n > r->d->len - r->at)
		png_error(png, "it is cut off");
	memcpy(out, r->d->bytes + r->at, n);
	r->at += n;
}

/* Nothing is kept of what does not make pixels, so none of it is unpacked. */
static void skip_chunks(png_structp png)
{
	static const png_byte skipped[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0"
					  "pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0zTXt";

	png_set_keep_unknown_chunks(
		png, PNG_HANDLE_CHUNK_NEVER, skipped, (int)(sizeof skipped / 5));
	png_set_user_limits(png, PICTURE_SIDE_MAX, PICTURE_SIDE_MAX);
	png_set_chunk_malloc_max(png, CHUNK_MAX);
}

/* The rows of one pass, or all of them: the pass tells which pixels they are. */
static void read_pass(struct png_read *r, int pass, bool interlaced)
{
	int width = (int)png_get_image_width(r->png, r->info);
	int height = (int)png_get_image_height(r->png, r->info);
	int x = interlaced ? PNG_PASS_START_COL(pass) : 0,
	    y = interlaced ? PNG_PASS_START_ROW(pass) : 0;
	int step = interlaced ? 1 << PNG_PASS_COL_SHIFT(pass) : 1;
	int down = interlaced ? 1 << PNG_PASS_ROW_SHIFT(pass) : 1;
	int count = interlaced ? (int)PNG_PASS_COLS((png_uint_32)width, pass) : width;

	if (count <= 0)
		return;
	INVARIANT(x + (count - 1) * step < width);
	for (; y < height; y += down) {
		png_read_row(r->png, r->row, NULL);
		scaler_row(&r->d->scale, y, x, step, r->row, count);
	}
}

/* Everything that may jump. */
static void read_png_rows(struct png_read *r)
{
	bool interlaced;

	png_set_read_fn(r->png, r, on_read);
	skip_chunks(r->png);
	png_read_info(r->png, r->info);
	interlaced = png_get_interlace_type(r->png, r->info) == PNG_INTERLACE_ADAM7;
	png_set_expand(r->png);
	png_set_scale_16(r->png);
	png_set_gray_to_rgb(r->png);
	png_set_add_alpha(r->png, 0xff, PNG_FILLER_AFTER);
	png_read_update_info(r->png, r->info);
	if (png_get_rowbytes(r->png, r->info) != (size_t)png_get_image_width(r->png, r->info) * 4)
		png_error(r->png, "its pixels are of a kind that is not known");
	for (int pass = 0; pass < (interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++)
		read_pass(r, pass, interlaced);
}

static enum picture_verdict read_png_guarded(struct png_read *r)
{
	if (setjmp(r->fault))
		return r->verdict;
	read_png_rows(r);
	return PICTURE_GOOD;
}

static uint32_t png_big_endian(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

enum picture_verdict png_decode(struct decoding *d)
{
	struct png_read r = { .d = d };
	uint32_t width, height;

	if (d->len < HEADER_LEN || memcmp(d->bytes + 12, "IHDR", 4) != 0)
		return decoding_refuse(
			d, PICTURE_DAMAGED, "The PNG picture does not begin with its header.");
	width = png_big_endian(d->bytes + 16);
	height = png_big_endian(d->bytes + 20);
	r.verdict = decoding_admit(d, width, height, false);
	if (r.verdict)
		return r.verdict;
	r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_png_fault, on_warning);
	r.info = r.png ? png_create_info_struct(r.png) : NULL;
	r.row = malloc((size_t)width * 8);
	if (!r.info || !r.row) {
		fprintf(stderr, "lodge: libpng does not start\n");
		abort();
	}
	scaler_begin(&d->scale, (int)width, (int)height, d->side);
	r.verdict = read_png_guarded(&r);
	free(r.row);
	png_destroy_read_struct(&r.png, &r.info, NULL);
	return r.verdict;
}

struct png_made {
	struct buf *out;
	const uint8_t *rgba;
	int side;
	bool opaque;
	png_structp png;
	png_infop info;
	jmp_buf fault;
};

static void on_write_fault(png_structp png, png_const_charp message)
{
	struct png_made *w = png_get_error_ptr(png);

	(void)message;
	longjmp(w->fault, 1);
}

static void on_write(png_structp png, png_bytep bytes, size_t n)
{
	struct png_made *w = png_get_io_ptr(png);

	buf_put(w->out, bytes, n);
}

static void on_flush(png_structp png)
{
	(void)png;
}

static bool write_rows(struct png_made *w)
{
	if (setjmp(w->fault))
		return false;
	png_set_write_fn(w->png, w, on_write, on_flush);
	png_set_compression_level(w->png, 9);
	png_set_IHDR(w->png, w->info, (png_uint_32)w->side, (png_uint_32)w->side, 8,
		w->opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE,
		PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_write_info(w->png, w->info);
	if (w->opaque)
		png_set_filler(w->png, 0, PNG_FILLER_AFTER);
	for (int y = 0; y < w->side; y++)
		png_write_row(w->png, w->rgba + (size_t)y * (size_t)w->side * 4);
	png_write_end(w->png, NULL);
	return true;
}

bool png_encode(const uint8_t *rgba, int side, struct buf *out)
{
	struct png_made w = { .out = out, .rgba = rgba, .side = side, .opaque = true };
	size_t pixels = (size_t)side * (size_t)side;
	bool ok;

	for (size_t i = 0; i < pixels && w.opaque; i++)
		w.opaque = rgba[i * 4 + 3] == 255;
	w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &w, on_write_fault, on_warning);
	w.info = w.png ? png_create_info_struct(w.png) : NULL;
	ok = w.info && write_rows(&w);
	png_destroy_write_struct(&w.png, &w.info);
	return ok && !out->overflow;
}
