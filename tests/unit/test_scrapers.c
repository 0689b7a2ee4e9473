/* test_scrapers.c - which machine keys are believed while the store is away, and for how long. */
#include "access/scrapers.h"
#include "t.h"

#include <stdio.h>

static const char *hash_of(int n)
{
	static char text[65];

	snprintf(text, sizeof text, "%064d", n);
	return text;
}

TEST(scrapers_are_known_for_an_hour_from_when_they_were_last_seen)
{
	struct scrapers *s = scrapers_new();

	CHECK(!scrapers_know(s, hash_of(1), 5));
	scrapers_saw(s, hash_of(1), 5);
	CHECK(scrapers_know(s, hash_of(1), 5));
	CHECK(scrapers_know(s, hash_of(1), 4 + SCRAPER_KEPT_MS));
	CHECK(!scrapers_know(s, hash_of(1), 5 + SCRAPER_KEPT_MS));
	test_step("seen again, and not longer for having been asked for");
	scrapers_saw(s, hash_of(1), 1000);
	CHECK(scrapers_know(s, hash_of(1), 999 + SCRAPER_KEPT_MS));
	CHECK(!scrapers_know(s, hash_of(1), 1000 + SCRAPER_KEPT_MS));
	test_step("one that is gone is gone at once, and nobody else with it");
	scrapers_saw(s, hash_of(2), 1000);
	scrapers_forget(s, hash_of(1));
	scrapers_forget(s, hash_of(3));
	CHECK(!scrapers_know(s, hash_of(1), 1000));
	CHECK(scrapers_know(s, hash_of(2), 1000));
	scrapers_free(s);
}

TEST(scrapers_are_few)
{
	struct scrapers *s = scrapers_new();

	for (int i = 0; i < SCRAPERS_MAX + 10; i++)
		scrapers_saw(s, hash_of(i), i + 1);
	for (int i = 0; i < SCRAPERS_MAX + 10; i++)
		CHECK_INT(scrapers_know(s, hash_of(i), 100), i >= 10);
	scrapers_free(s);
}
