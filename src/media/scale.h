/* scale.h - the middle square of a picture, made smaller or larger while its rows arrive.
 *
 * Making it smaller, every pixel is added to the pixels it falls on, weighted
 * by how much of it does; so rows may come in any order, each once, and with
 * gaps, as interlaced pictures need it.  Making it larger is bilinear, from
 * the few pixels there are.  Sums are of linear light times alpha: mixing the
 * stored values darkens edges, and mixing without alpha lets the colour of
 * invisible pixels bleed. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct scaler {
	int side;	  /* of what is made */
	int left, top;	  /* of the square that is cut out */
	int size;	  /* its side */
	float *sum;	  /* side x side if smaller, size x size if larger; 4 a pixel */
	float *row;	  /* one row of sums */
	int *cell;	  /* smaller: where each of the square's columns or rows begins */
	float *share;	  /* and how much of it falls there, in 1/size; the rest falls after it */
	float light[256]; /* linear light of a stored value */
};

void scaler_begin(struct scaler *s, int width, int height, int side);
/* Pixels of row y, `count` of them, at x, x + step ...; RGBA, not premultiplied. */
void scaler_row(struct scaler *s, int y, int x, int step, const uint8_t *rgba, int count);
/* side x side pixels of RGBA; what is invisible has no colour. */
void scaler_end(struct scaler *s, uint8_t *rgba);
void scaler_free(struct scaler *s);
