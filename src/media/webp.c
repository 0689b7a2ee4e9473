/* webp.c - reading WebP: cut to its square by the library, and made smaller there if it is large.
 *
 * Lossy pictures are decoded a few rows at a time; lossless ones and planes of
 * alpha are held whole by the library, and so may have fewer pixels. */
#include <webp/decode.h>

#include "base/check.h"
#include "media/codec.h"

enum { LOSSY = 1, REDUCED = 4 }; /* times the side: what is left for the scaler */

static enum picture_verdict read_pixels(
	struct decoding *d, WebPDecoderConfig *config, int width, int height)
{
	int size = width < height ? width : height, got;
	const uint8_t *at;
	VP8StatusCode status;

	config->options.use_cropping = 1;
	config->options.crop_left = (width - size) / 2;
	config->options.crop_top = (height - size) / 2;
	config->options.crop_width = config->options.crop_height = size;
	if (size > REDUCED * d->side) {
		config->options.use_scaling = 1;
		config->options.scaled_width = config->options.scaled_height = REDUCED * d->side;
	}
	config->output.colorspace = MODE_RGBA;
	status = WebPDecode(d->bytes, d->len, config);
	if (status != VP8_STATUS_OK)
		return decoding_refuse(d, PICTURE_DAMAGED, "The WebP picture cannot be read: %s.",
			status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED
				? "it is cut off"
				: "its data is damaged");
	got = config->output.width < config->output.height ? config->output.width
							   : config->output.height;
	scaler_begin(&d->scale, got, got, d->side);
	INVARIANT(config->output.u.RGBA.stride >= got * 4);
	at = config->output.u.RGBA.rgba;
	for (int y = 0; y < got; y++, at += config->output.u.RGBA.stride)
		scaler_row(&d->scale, y, 0, 1, at, got);
	return PICTURE_GOOD;
}

enum picture_verdict webp_decode(struct decoding *d)
{
	WebPDecoderConfig config;
	const WebPBitstreamFeatures *f = &config.input;
	enum picture_verdict verdict;

	if (!WebPInitDecoderConfig(&config) ||
		WebPGetFeatures(d->bytes, d->len, &config.input) != VP8_STATUS_OK)
		return decoding_refuse(d, PICTURE_DAMAGED, "The WebP picture has no whole header.");
	if (f->has_animation)
		return decoding_refuse(
			d, PICTURE_UNSUPPORTED, "The WebP picture is animated; send a still one.");
	verdict = decoding_admit(
		d, (uint32_t)f->width, (uint32_t)f->height, f->format != LOSSY || f->has_alpha);
	if (!verdict)
		verdict = read_pixels(d, &config, f->width, f->height);
	WebPFreeDecBuffer(&config.output);
	return verdict;
}
