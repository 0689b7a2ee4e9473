/* listeners.c - see listeners.h. */
#include "call/listeners.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/memory.h"

enum { LISTENER_CELLS = 256, LISTENER_KEY_MAX = 48, LISTENER_RETRY_S = 30 };

/* Lives while it counts something. */
struct listener {
	struct listener *next;
	uint64_t count;
	char key[LISTENER_KEY_MAX];
};

struct listeners {
	pthread_mutex_t lock; /* over all below */
	struct listener *cells[LISTENER_CELLS];
};

struct listeners *listeners_new(void)
{
	struct listeners *l = memory_must(sizeof *l);

	*l = (struct listeners){ .lock = PTHREAD_MUTEX_INITIALIZER };
	return l;
}

void listeners_free(struct listeners *l)
{
	for (size_t i = 0; l && i < LISTENER_CELLS; i++) {
		while (l->cells[i]) {
			struct listener *e = l->cells[i];

			l->cells[i] = e->next;
			free(e);
		}
	}
	free(l);
}

static struct listener **listener_cell(struct listeners *l, const char *key)
{
	struct listener **at = &l->cells[keyed_hash(key, strlen(key)) % LISTENER_CELLS];

	while (*at && strcmp((*at)->key, key) != 0)
		at = &(*at)->next;
	return at;
}

/* Under the lock.  False if there are as many as there may be; 0 is no limit. */
static bool count_listener(
	struct listeners *l, const char *kind, const char *id, uint64_t max, struct listener **ret)
{
	char key[LISTENER_KEY_MAX];
	struct listener **at;

	if (!id || !max)
		return true;
	snprintf(key, sizeof key, "%s %s", kind, id);
	at = listener_cell(l, key);
	if (!*at) {
		*at = memory_must(sizeof **at);
		**at = (struct listener){ 0 };
		memcpy((*at)->key, key, sizeof key);
	}
	if ((*at)->count >= max)
		return false;
	(*at)->count++;
	*ret = *at;
	return true;
}

static void uncount_listener(struct listeners *l, struct listener *e)
{
	struct listener **at;

	if (!e || --e->count)
		return;
	at = listener_cell(l, e->key);
	*at = e->next;
	free(e);
}

static int refuse_listener(struct call *c, const char *whose, int64_t max)
{
	c->problem.code = "too_many_streams";
	c->problem.retry_after_s = LISTENER_RETRY_S;
	return call_fail(c, ERR_THROTTLED,
		"%s %lld streams of events open, which is the most. Close one that is no longer read, follow "
		"all sessions by one GET /me/events, or ask now and then with wait=false.",
		whose, (long long)max);
}

int listeners_enter(struct call *c, const char *tenant_id, struct listening *ret)
{
	const struct app_settings *s = &c->app->settings;
	struct listeners *l = c->app->listeners;
	bool mine, ours;

	if (!l)
		return 0;
	pthread_mutex_lock(&l->lock);
	mine = count_listener(l, "person", c->caller.user_id, s->person_streams, &ret->person);
	ours = mine && count_listener(l, "tenant", tenant_id, s->tenant_streams, &ret->tenant);
	if (!ours) {
		uncount_listener(l, ret->person);
		*ret = (struct listening){ 0 };
	}
	pthread_mutex_unlock(&l->lock);
	if (ours)
		return 0;
	return mine ? refuse_listener(c, "The tenant has", (int64_t)s->tenant_streams)
		    : refuse_listener(c, "You have", (int64_t)s->person_streams);
}

bool listeners_await(struct call *c, const char *kind, const char *id, uint64_t most)
{
	struct listeners *l = c->app->listeners;
	bool counted;

	if (!l || c->awaits.person)
		return true;
	pthread_mutex_lock(&l->lock);
	counted = count_listener(l, kind, id, most, &c->awaits.person);
	pthread_mutex_unlock(&l->lock);
	return counted;
}

void listeners_leave(struct app *app, struct listening *in)
{
	struct listeners *l = app->listeners;

	if (!l || (!in->person && !in->tenant))
		return;
	pthread_mutex_lock(&l->lock);
	uncount_listener(l, in->person);
	uncount_listener(l, in->tenant);
	pthread_mutex_unlock(&l->lock);
	*in = (struct listening){ 0 };
}
