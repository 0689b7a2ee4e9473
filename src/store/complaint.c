/* complaint.c - what a store that fails has said about it in the log.
 *
 * A fault is met by everybody who wants something of the store, many times a second even while nobody asks
 * for anything.  It is said when it begins, then once a minute with how often it was met since, and once when it is
 * over: some time without it, in which work was done.  Faults are told apart by their sentences,
 * of which a few are remembered; more than that are only counted. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/engine.h"

enum { AGAIN_MS = 60 * 1000, OVER_MS = 5000 };

/* With the lock.  The one with this sentence, or one whose sentence is a minute old, or NULL. */
static struct complaint *complaint_of(struct complaints *c, const char *text, int64_t now)
{
	struct complaint *room = NULL;

	for (size_t i = 0; i < COMPLAINTS_MAX; i++) {
		struct complaint *k = &c->kept[i];

		if (*k->text && strncmp(k->text, text, sizeof k->text - 1) == 0)
			return k;
		if (!room && (!*k->text || now - k->said >= AGAIN_MS))
			room = k;
	}
	if (room) {
		*room = (struct complaint){ 0 };
		snprintf(room->text, sizeof room->text, "%s", text);
	}
	return room;
}

/* With the lock.  How often it was met since it was last said, with this time; 0: it is not to be said now. */
static uint64_t complaint_count(struct complaints *c, const char *text, int64_t now)
{
	struct complaint *k = complaint_of(c, text, now);
	uint64_t times;

	if (!k)
		return 0;
	k->unsaid++;
	if (k->said && now - k->said < AGAIN_MS)
		return 0;
	times = k->unsaid;
	k->said = now;
	k->unsaid = 0;
	return times;
}

void store_complain(struct store *s, const char *what, const char *error)
{
	struct complaints *c = &s->complaints;
	int64_t now = clock_mono_ms();
	char text[COMPLAINT_LEN];
	uint64_t times;

	snprintf(text, sizeof text, "%s: %s", what, error);
	pthread_mutex_lock(&c->lock);
	if (!c->began)
		c->began = now;
	c->failures++;
	c->last = now;
	c->done = store_stats(s).work_done;
	times = complaint_count(c, text, now);
	c->said |= times > 0;
	pthread_mutex_unlock(&c->lock);
	if (times > 1)
		log_error(what, LOG_S("engine", s->engine->name), LOG_S("error", error),
			LOG_N("times", (int64_t)times));
	else if (times)
		log_error(what, LOG_S("engine", s->engine->name), LOG_S("error", error));
}

/* One that comes back within a minute of being said is not said anew, and neither is its end. */
void complaints_watch(struct store *s)
{
	struct complaints *c = &s->complaints;
	int64_t now = clock_mono_ms(), began = 0;
	uint64_t failures = 0;

	if (s->fault || store_closed(s))
		return;
	pthread_mutex_lock(&c->lock);
	if (c->began && now - c->last >= OVER_MS && store_stats(s).work_done > c->done) {
		began = c->said ? c->began : 0;
		failures = c->failures;
		c->began = 0;
		c->failures = 0;
		c->said = false;
	}
	pthread_mutex_unlock(&c->lock);
	if (began)
		log_warn("the store works again", LOG_S("engine", s->engine->name),
			LOG_N("failures", (int64_t)failures),
			LOG_N("seconds", (now - began) / 1000));
}
