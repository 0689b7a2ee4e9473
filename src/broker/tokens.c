/* tokens.c - the counter of tokens.h.  A prompt may be a megabyte, and is counted for every call: so
 * sixteen bytes at a time. */
#include "broker/tokens.h"

#include <string.h>

enum { QUARTER = 2, HALF = 4, TWO_BYTES = 3, THREE_BYTES = 6, FOUR_BYTES = 12 };

typedef uint8_t lanes __attribute__((vector_size(16)));

/* The weight of each byte in eighths: a character's stands with its first byte.  Each comparison
 * gives all ones or nothing, which cuts a weight out. */
static lanes weigh_lanes(lanes v)
{
	lanes letter = (lanes)((lanes)((v | 0x20) - 'a') < 26);
	lanes quarter = letter | (lanes)(v <= ' ') | (lanes)(v == '\\');
	lanes weight = (quarter & QUARTER) | (~quarter & HALF);

	weight = (lanes)(v < 0x80) & weight;
	weight |= (lanes)(v >= 0xc0) & (lanes)(v < 0xe0) & TWO_BYTES;
	weight |= (lanes)(v >= 0xe0) & (lanes)(v < 0xf0) & THREE_BYTES;
	return weight | ((lanes)(v >= 0xf0) & FOUR_BYTES);
}

static int64_t sum_lanes(lanes v)
{
	uint8_t bytes[sizeof v];
	int64_t n = 0;

	memcpy(bytes, &v, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		n += bytes[i];
	return n;
}

void tokens_add(struct tokens *t, struct slice escaped)
{
	enum { STEP = sizeof(lanes), ROUNDS = UINT8_MAX / FOUR_BYTES };
	const char *p = escaped.at;
	size_t left = escaped.len;
	lanes v = { 0 };

	while (left >= STEP) {
		lanes weights = { 0 };

		/* As often as a lane can bear it. */
		for (int i = 0; i < ROUNDS && left >= STEP; i++, p += STEP, left -= STEP) {
			memcpy(&v, p, STEP);
			weights += weigh_lanes(v);
		}
		t->eighths += sum_lanes(weights);
	}
	if (left) {
		/* Bytes that are not there count like those inside a character: nothing. */
		memset(&v, 0x80, sizeof v);
		memcpy(&v, p, left);
		t->eighths += sum_lanes(weigh_lanes(v));
	}
}

int64_t tokens_count(const struct tokens *t)
{
	return (t->eighths + 7) / 8;
}
