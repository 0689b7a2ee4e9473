/* mirrors_parts.h - what the files of the mirrors share.  Private: no other room includes it. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "repos/mirrors.h"
#include "store/pool.h"

struct mirrors {
	struct mirrors_settings settings;
	struct pool *askers;   /* wait for hosts to list their refs */
	struct pool *fetchers; /* wait for git */
	pthread_mutex_t lock;  /* over what is begun while the service stops */
	_Atomic bool stopping; /* seen by requests and by git */
	_Atomic int
		groups; /* of the sweep that are under way, and one while it reads which are due */
};

static inline const struct host *mirrors_host(const struct mirrors *m)
{
	return m->settings.host ? *m->settings.host : NULL;
}
