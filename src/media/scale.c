/* scale.c - see scale.h. */
#include "media/scale.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void *alloc_table(size_t count, size_t size)
{
	void *at = calloc(count, size);

	if (!at) {
		fprintf(stderr, "lodge: out of memory (%zu bytes)\n", count * size);
		abort();
	}
	return at;
}

/* sRGB, IEC 61966-2-1. */
static float to_light(float v)
{
	return v <= 0.04045F ? v / 12.92F : powf((v + 0.055F) / 1.055F, 2.4F);
}

static uint8_t to_byte(float v)
{
	return v <= 0 ? 0 : v >= 1 ? 255 : (uint8_t)lroundf(v * 255);
}

static uint8_t from_light(float v)
{
	return to_byte(v <= 0.0031308F ? v * 12.92F : 1.055F * powf(v, 1 / 2.4F) - 0.055F);
}

static bool scaler_shrinks(const struct scaler *s)
{
	return s->size >= s->side;
}

/* In units of 1/size of a pixel made, the square's pixel i covers [i * side, (i + 1) * side). */
static void share_out(struct scaler *s)
{
	for (int i = 0; i < s->size; i++) {
		int64_t from = (int64_t)i * s->side, end;

		s->cell[i] = (int)(from / s->size);
		INVARIANT(s->cell[i] < s->side);
		end = (int64_t)(s->cell[i] + 1) * s->size;
		s->share[i] = (float)(end < from + s->side ? end - from : s->side);
	}
}

void scaler_begin(struct scaler *s, int width, int height, int side)
{
	int held;

	INVARIANT(width > 0 && height > 0 && side > 0 && !s->sum);
	*s = (struct scaler){ .side = side, .size = width < height ? width : height };
	s->left = (width - s->size) / 2;
	s->top = (height - s->size) / 2;
	held = scaler_shrinks(s) ? side : s->size;
	s->sum = alloc_table((size_t)held * (size_t)held * 4, sizeof(float));
	/* One cell more: the last pixel's rest, which is nothing, falls there. */
	s->row = alloc_table(((size_t)held + 1) * 4, sizeof(float));
	s->cell = alloc_table((size_t)s->size, sizeof(int));
	s->share = alloc_table((size_t)s->size, sizeof(float));
	for (int i = 0; i < 256; i++)
		s->light[i] = to_light((float)i / 255);
	if (scaler_shrinks(s))
		share_out(s);
}

/* Linear light times alpha, and alpha. */
static void read_pixel(const struct scaler *s, const uint8_t *rgba, float out[4])
{
	float alpha = (float)rgba[3] * (1 / 255.0F);

	out[0] = s->light[rgba[0]] * alpha;
	out[1] = s->light[rgba[1]] * alpha;
	out[2] = s->light[rgba[2]] * alpha;
	out[3] = alpha;
}

static void add_weighted(float *to, const float *from, float weight, int count)
{
	for (int i = 0; i < count; i++)
		to[i] += from[i] * weight;
}

/* First along the row, then the row into the one or two rows it falls on. */
static void add_row(struct scaler *s, int y, int x, int step, const uint8_t *rgba, int count)
{
	int width = s->side * 4, cell = s->cell[y];
	float pixel[4], rest = (float)s->side - s->share[y];

	INVARIANT(rest > 0 ? cell + 1 < s->side : cell < s->side); /* rows of `sum` */
	memset(s->row, 0, ((size_t)width + 4) * sizeof *s->row);
	for (int i = 0; i < count; i++, x += step, rgba += 4) {
		float *to;

		if (x < 0 || x >= s->size)
			continue;
		to = s->row + (size_t)s->cell[x] * 4;
		read_pixel(s, rgba, pixel);
		add_weighted(to, pixel, s->share[x], 4);
		add_weighted(to + 4, pixel, (float)s->side - s->share[x], 4);
	}
	add_weighted(s->sum + (size_t)cell * (size_t)width, s->row, s->share[y], width);
	if (rest > 0)
		add_weighted(s->sum + ((size_t)cell + 1) * (size_t)width, s->row, rest, width);
}

void scaler_row(struct scaler *s, int y, int x, int step, const uint8_t *rgba, int count)
{
	INVARIANT(s->sum && step > 0 && count >= 0);
	y -= s->top;
	x -= s->left;
	if (y < 0 || y >= s->size)
		return;
	if (scaler_shrinks(s)) {
		add_row(s, y, x, step, rgba, count);
		return;
	}
	for (int i = 0; i < count; i++, x += step)
		if (x >= 0 && x < s->size)
			read_pixel(s, rgba + (size_t)i * 4,
				s->sum + ((size_t)y * (size_t)s->size + (size_t)x) * 4);
}

static void write_pixel(const float sum[4], float weight, uint8_t *rgba)
{
	rgba[3] = to_byte(sum[3] / weight);
	for (int k = 0; k < 3; k++)
		rgba[k] = rgba[3] ? from_light(sum[k] / sum[3]) : 0;
}

/* Between which two of the held pixels the one to make lies, and how far. */
static int pixels_between(const struct scaler *s, int i, int *ret_next, float *ret_part)
{
	float at = ((float)i + 0.5F) * (float)s->size / (float)s->side - 0.5F;
	int first;

	at = at < 0 ? 0 : at > (float)(s->size - 1) ? (float)(s->size - 1) : at;
	first = (int)at;
	*ret_next = first + 1 < s->size ? first + 1 : first;
	*ret_part = at - (float)first;
	return first;
}

static void enlarge_pixel(const struct scaler *s, int x, int y, uint8_t *rgba)
{
	int x2, y2;
	float right, below, mix[4] = { 0 };
	int x1 = pixels_between(s, x, &x2, &right), y1 = pixels_between(s, y, &y2, &below);
	const float *upper = s->sum + (size_t)y1 * (size_t)s->size * 4;
	const float *lower = s->sum + (size_t)y2 * (size_t)s->size * 4;

	add_weighted(mix, upper + (size_t)x1 * 4, (1 - right) * (1 - below), 4);
	add_weighted(mix, upper + (size_t)x2 * 4, right * (1 - below), 4);
	add_weighted(mix, lower + (size_t)x1 * 4, (1 - right) * below, 4);
	add_weighted(mix, lower + (size_t)x2 * 4, right * below, 4);
	write_pixel(mix, 1, rgba);
}

void scaler_end(struct scaler *s, uint8_t *rgba)
{
	float weight = (float)s->size * (float)s->size;

	INVARIANT(s->sum);
	for (int y = 0; y < s->side; y++) {
		for (int x = 0; x < s->side; x++) {
			size_t at = ((size_t)y * (size_t)s->side + (size_t)x) * 4;

			if (scaler_shrinks(s))
				write_pixel(s->sum + at, weight, rgba + at);
			else
				enlarge_pixel(s, x, y, rgba + at);
		}
	}
}

void scaler_free(struct scaler *s)
{
	free(s->sum);
	free(s->row);
	free(s->cell);
	free(s->share);
	*s = (struct scaler){ 0 };
}
