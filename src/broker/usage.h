/* usage.h - what one model call used: tokens, and where those are paid, characters and seconds.
 *
 * The four buckets are disjoint: their sum is everything the model read and
 * wrote.  Providers count differently (some include cached tokens in their
 * input, some do not); whoever reads a provider's figures brings them here. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct usage {
	int64_t input;	     /* read, and neither from the cache nor into it */
	int64_t cache_read;  /* read from the cache */
	int64_t cache_write; /* read, and written into the cache */
	int64_t output;	     /* written */
	int64_t reasoning;   /* of output: thought, not shown */
	int64_t characters;  /* of a text that was spoken */
	int64_t seconds;     /* of sound that was written down, begun ones as whole */
	bool estimated;	     /* counted by us, for the provider did not say */
};
