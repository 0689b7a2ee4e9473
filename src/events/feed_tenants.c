/* feed_tenants.c - the tenants that somebody follows, by their id: each stands once, for all who do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "events/feed_parts.h"

struct followed **feed_tenant_slot(struct feed *f, const char *id)
{
	size_t h = 5381;
	struct followed **at;

	for (const char *p = id; *p; p++)
		h = h * 33 ^ (unsigned char)*p;
	at = &f->table[h % FEED_TABLE];
	while (*at && strcmp((*at)->id, id) != 0)
		at = &(*at)->chain;
	return at;
}

struct followed *feed_follow(struct feed *f, const char *id)
{
	struct followed **at = feed_tenant_slot(f, id);

	if (!*at) {
		*at = memory_zeroed(sizeof **at);
		snprintf((*at)->id, sizeof(*at)->id, "%s", id);
	}
	(*at)->refs++;
	return *at;
}

void feed_unfollow(struct feed *f, struct followed *t)
{
	INVARIANT(t->refs > 0);
	if (--t->refs)
		return;
	*feed_tenant_slot(f, t->id) = t->chain;
	free(t);
}
