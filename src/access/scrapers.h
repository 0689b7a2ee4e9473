/* scrapers.h - machine keys for the metrics that were seen in the store a while ago, so that whoever watches the
 * service can watch it while the store is away.
 *
 * This is the only thing about access that is believed without the store, and
 * it opens nothing but figures of the process.  A key that was revoked is
 * believed for SCRAPER_KEPT_MS at most from when it was last seen there; one
 * that is asked for and not there is forgotten at once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { SCRAPERS_MAX = 64, SCRAPER_KEPT_MS = 60 * 60 * 1000 };

struct scrapers;

struct scrapers *scrapers_new(void);
void scrapers_free(struct scrapers *s);
/* The store has a key for the metrics with this hash.  Of more than SCRAPERS_MAX, the one that was seen longest ago goes. */
void scrapers_saw(struct scrapers *s, const char *hash, int64_t now_ms);
/* It has none. */
void scrapers_forget(struct scrapers *s, const char *hash);
bool scrapers_know(struct scrapers *s, const char *hash, int64_t now_ms);
