/* hub_topics.c - the sessions that somebody listens to, by their id, and the list of those to look at.
 *
 * A session is on the list once, however often it is told of before the
 * reading thread takes the whole list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "events/hub_parts.h"

enum { TABLE_MIN = 256 };

static size_t hash_of(const char *id)
{
	size_t h = 14695981039346656037u;

	for (; *id; id++)
		h = (h ^ (unsigned char)*id) * 1099511628211u;
	return h;
}

struct topic **hub_topic_slot(struct hub *h, const char *session_id)
{
	struct topic **at = &h->table[hash_of(session_id) & (h->table_size - 1)];

	while (*at && strcmp((*at)->session_id, session_id) != 0)
		at = &(*at)->chain;
	return at;
}

static void topics_widen(struct hub *h)
{
	struct topic **old = h->table;
	size_t size = h->table_size;

	h->table_size = size * 2;
	h->table = memory_zeroed(h->table_size * sizeof *h->table);
	for (size_t i = 0; i < size; i++) {
		struct topic *t = old[i], *next;

		for (; t; t = next) {
			struct topic **at = &h->table[hash_of(t->session_id) & (h->table_size - 1)];

			next = t->chain;
			t->chain = *at;
			*at = t;
		}
	}
	free(old);
}

struct topic *hub_topic(struct hub *h, const char *tenant_id, const char *session_id)
{
	struct topic **at = hub_topic_slot(h, session_id), *t = *at;

	if (t)
		return t;
	if (h->topic_count >= h->table_size) {
		topics_widen(h);
		at = hub_topic_slot(h, session_id);
	}
	t = *at = memory_zeroed(sizeof *t);
	t->empty = true;
	snprintf(t->tenant_id, sizeof t->tenant_id, "%s", tenant_id);
	snprintf(t->session_id, sizeof t->session_id, "%s", session_id);
	h->topic_count++;
	return t;
}

void hub_mark(struct hub *h, struct topic *t)
{
	if (t->is_dirty || h->stop)
		return;
	INVARIANT(!*h->dirty_last);
	t->is_dirty = true;
	t->dirty = NULL;
	if (!h->dirty)
		pthread_cond_signal(&h->news);
	*h->dirty_last = t;
	h->dirty_last = &t->dirty;
}

void hub_mark_all(struct hub *h)
{
	for (size_t i = 0; i < h->table_size; i++)
		for (struct topic *t = h->table[i]; t; t = t->chain)
			hub_mark(h, t);
}

void hub_topics_open(struct hub *h)
{
	h->table_size = TABLE_MIN;
	h->table = memory_zeroed(h->table_size * sizeof *h->table);
	h->dirty_last = &h->dirty;
}

static void topic_touch(struct watch *w)
{
	pthread_mutex_lock(&w->hub->lock);
	if (w->topic)
		hub_mark(w->hub, w->topic);
	pthread_mutex_unlock(&w->hub->lock);
}

void hub_resume(struct watch *w)
{
	atomic_store(&w->resumed, true);
	topic_touch(w);
}

void hub_unwatch(struct watch *w)
{
	atomic_store(&w->ended, true);
	topic_touch(w);
}
