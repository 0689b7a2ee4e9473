/* scrapers.c - see scrapers.h. */
#include "access/scrapers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"

enum { HASH_MAX = 2 * SHA256_LEN };

struct scrapers {
	pthread_mutex_t lock;
	size_t count;
	struct seen_scraper {
		char hash[HASH_MAX + 1];
		int64_t at_ms;
	} seen[SCRAPERS_MAX];
};

struct scrapers *scrapers_new(void)
{
	struct scrapers *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void scrapers_free(struct scrapers *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct seen_scraper *find_scraper(struct scrapers *s, const char *hash)
{
	for (size_t i = 0; i < s->count; i++)
		if (same_bytes(s->seen[i].hash, strlen(s->seen[i].hash), hash, strlen(hash)))
			return &s->seen[i];
	return NULL;
}

/* A free place, or that of the one that was seen longest ago. */
static struct seen_scraper *take_scraper_slot(struct scrapers *s)
{
	struct seen_scraper *oldest = s->seen;

	if (s->count < SCRAPERS_MAX)
		return &s->seen[s->count++];
	for (size_t i = 1; i < s->count; i++)
		if (s->seen[i].at_ms < oldest->at_ms)
			oldest = &s->seen[i];
	return oldest;
}

void scrapers_saw(struct scrapers *s, const char *hash, int64_t now_ms)
{
	struct seen_scraper *one;

	if (strlen(hash) > HASH_MAX)
		return;
	pthread_mutex_lock(&s->lock);
	one = find_scraper(s, hash);
	if (!one) {
		one = take_scraper_slot(s);
		snprintf(one->hash, sizeof one->hash, "%s", hash);
	}
	one->at_ms = now_ms;
	pthread_mutex_unlock(&s->lock);
}

void scrapers_forget(struct scrapers *s, const char *hash)
{
	struct seen_scraper *one;

	pthread_mutex_lock(&s->lock);
	one = find_scraper(s, hash);
	if (one)
		*one = s->seen[--s->count];
	pthread_mutex_unlock(&s->lock);
}

bool scrapers_know(struct scrapers *s, const char *hash, int64_t now_ms)
{
	const struct seen_scraper *one;
	bool known;

	pthread_mutex_lock(&s->lock);
	one = find_scraper(s, hash);
	known = one && now_ms - one->at_ms < SCRAPER_KEPT_MS;
	pthread_mutex_unlock(&s->lock);
	return known;
}
