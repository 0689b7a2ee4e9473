/* jpeg.c - reading JPEG row by row, upright, already made smaller by its own arithmetic.
 *
 * A photograph of many pixels is read at a half, a quarter or an eighth, which
 * libjpeg does while it decodes; at least twice what is wanted is left to the
 * scaler.  Progressive pictures must be held by libjpeg until their last scan,
 * and so may have fewer pixels, and not endlessly many scans.  A picture that
 * is cut off is refused: libjpeg would fill the rest with grey. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "base/check.h"
#include "base/memory.h"
#include "media/codec.h"

enum { SCANS_MAX = 100, MEMORY_MAX = 160 * 1000 * 1000, APP1 = JPEG_APP0 + 1, EXIF_MAX = 0xffff };

struct jpeg_read {
	struct decoding *d;
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct jpeg_progress_mgr progress;
	uint8_t *row; /* RGBA */
	enum picture_verdict verdict;
	jmp_buf fault;
};

static struct jpeg_read *jpeg_read_of(j_common_ptr jpeg)
{
	return jpeg->client_data;
}

static void on_jpeg_fault(j_common_ptr jpeg)
{
	struct jpeg_read *r = jpeg_read_of(jpeg);
	char message[JMSG_LENGTH_MAX];

	jpeg->err->format_message(jpeg, message);
	r->verdict = decoding_refuse(
		r->d, PICTURE_DAMAGED, "The JPEG picture cannot be read: %s.", message);
	longjmp(r->fault, 1);
}

/* What libjpeg would only warn of, and guess the pixels. */
static void on_message(j_common_ptr jpeg, int level)
{
	static const int fatal[] = { JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_ARITH_BAD_CODE,
		JWRN_MUST_RESYNC, JWRN_BOGUS_PROGRESSION };

	for (size_t i = 0; level < 0 && i < sizeof fatal / sizeof *fatal; i++)
		if (jpeg->err->msg_code == fatal[i])
			on_jpeg_fault(jpeg);
}

static void refuse_jpeg(struct jpeg_read *r, enum picture_verdict verdict)
{
	r->verdict = verdict;
	longjmp(r->fault, 1);
}

static void on_progress(j_common_ptr jpeg)
{
	struct jpeg_read *r = jpeg_read_of(jpeg);

	if (r->jpeg.input_scan_number > SCANS_MAX)
		refuse_jpeg(r, decoding_refuse(r->d, PICTURE_UNSUPPORTED,
				       "The JPEG picture has more than %d scans; save it anew.",
				       SCANS_MAX));
}

static int find_orientation(const struct jpeg_read *r)
{
	for (const struct jpeg_marker_struct *m = r->jpeg.marker_list; m; m = m->next)
		if (m->marker == APP1 && m->data_length > 6 && memcmp(m->data, "Exif\0", 6) == 0)
			return exif_orientation(m->data + 6, m->data_length - 6);
	return 1;
}

static void choose_colours(struct jpeg_read *r)
{
	switch (r->jpeg.jpeg_color_space) {
	case JCS_GRAYSCALE:
	case JCS_RGB:
	case JCS_YCbCr:
		r->jpeg.out_color_space = JCS_EXT_RGBA;
		break;
	case JCS_CMYK:
	case JCS_YCCK:
		r->jpeg.out_color_space = JCS_CMYK;
		break;
	default:
		refuse_jpeg(r, decoding_refuse(r->d, PICTURE_UNSUPPORTED,
				       "The JPEG picture is neither grey, nor RGB, nor CMYK."));
	}
}

/* In place: four bytes stay four.  Adobe writes ink upside down. */
static void from_ink(struct jpeg_read *r)
{
	unsigned flip = r->jpeg.saw_Adobe_marker ? 0 : 255;

	for (uint8_t *p = r->row, *end = p + (size_t)r->jpeg.output_width * 4; p < end; p += 4) {
		unsigned black = p[3] ^ flip;

		for (int k = 0; k < 3; k++)
			p[k] = (uint8_t)(((p[k] ^ flip) * black + 127) / 255);
		p[3] = 255;
	}
}

static void choose_size(struct jpeg_read *r)
{
	struct jpeg_decompress_struct *j = &r->jpeg;
	unsigned least = j->image_width < j->image_height ? j->image_width : j->image_height;

	j->scale_num = j->scale_denom = 1;
	while (j->scale_denom < 8 && least / (j->scale_denom * 2) >= 2 * (unsigned)r->d->side)
		j->scale_denom *= 2;
}

/* Everything that may jump. */
static void read_jpeg_rows(struct jpeg_read *r)
{
	struct jpeg_decompress_struct *j = &r->jpeg;
	bool held;

	jpeg_create_decompress(j);
	j->progress = &r->progress;
	j->mem->max_memory_to_use = MEMORY_MAX;
	jpeg_mem_src(j, r->d->bytes, r->d->len);
	jpeg_save_markers(j, APP1, EXIF_MAX);
	jpeg_read_header(j, TRUE);
	held = j->progressive_mode || jpeg_has_multiple_scans(j);
	r->verdict = decoding_admit(r->d, j->image_width, j->image_height, held);
	if (r->verdict)
		longjmp(r->fault, 1);
	r->d->orientation = find_orientation(r);
	choose_colours(r);
	choose_size(r);
	jpeg_start_decompress(j);
	INVARIANT(j->output_components == 4); /* a row holds no more */
	r->row = memory_must((size_t)j->output_width * 4);
	scaler_begin(&r->d->scale, (int)j->output_width, (int)j->output_height, r->d->side);
	while (j->output_scanline < j->output_height) {
		int y = (int)j->output_scanline;

		jpeg_read_scanlines(j, &r->row, 1);
		if (j->out_color_space == JCS_CMYK)
			from_ink(r);
		scaler_row(&r->d->scale, y, 0, 1, r->row, (int)j->output_width);
	}
}

static enum picture_verdict read_jpeg_guarded(struct jpeg_read *r)
{
	if (setjmp(r->fault))
		return r->verdict;
	read_jpeg_rows(r);
	return PICTURE_GOOD;
}

enum picture_verdict jpeg_decode(struct decoding *d)
{
	struct jpeg_read r = { .d = d };
	enum picture_verdict verdict;

	r.jpeg.err = jpeg_std_error(&r.errors);
	r.errors.error_exit = on_jpeg_fault;
	r.errors.emit_message = on_message;
	r.progress.progress_monitor = on_progress;
	r.jpeg.client_data = &r;
	verdict = read_jpeg_guarded(&r);
	jpeg_destroy_decompress(&r.jpeg);
	free(r.row);
	return verdict;
}
