/* repos_parts.h - what the files of this folder share of the engine.  Private: no other room includes it. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "repos/repo.h"

struct repos {
	char *folder;
	int64_t bytes_max;
	pthread_mutex_t lock; /* over what is begun while the service stops */
	_Atomic bool sweeping, stopping;
	int64_t collected_us; /* of the sweep alone */
};
