/* breaker.h - which models not to call for a while, because they have just failed.
 *
 * One for the process.  An account is a model, and whose key it is called
 * with: a tenant's own bad key says nothing about the others'. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	BREAKER_FAULTS = 5,	  /* in a row open it */
	BREAKER_PAUSE_MS = 10000, /* the first time; twice as long each time a trial fails */
	BREAKER_PAUSE_MAX_MS = 160000,
	BREAKER_TRIAL_MS = 60000, /* a trial nobody has heard of for so long is over */
	BREAKER_CELLS = 1024, /* accounts remembered; two in one cell forget each other's faults */
};

enum breaker_word {
	BREAKER_GOOD,	 /* it answered, whatever it said */
	BREAKER_FAULT,	 /* it failed in a way of its own */
	BREAKER_LIMITED, /* it asked to be left alone for a time */
	BREAKER_NOTHING, /* the call was given up, and nothing was learnt */
	BREAKER_WORDS
};

struct breaker;

struct breaker *breaker_new(void);
void breaker_free(struct breaker *b);
/* May it be called now?  After a pause one caller is told so, and the others when it has come back. */
bool breaker_allows(struct breaker *b, const char *model_id, const char *owner, int64_t now_ms);
/* How the call went; `wait_ms` is for BREAKER_LIMITED. */
void breaker_hears(struct breaker *b, const char *model_id, const char *owner,
	enum breaker_word word, int64_t wait_ms, int64_t now_ms);
