/* repos_parts.h - what the files of this folder share of the engine.  Private: no other room includes it. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "repos/repo.h"
#include "repos/repo_bodies.h"

/* What one tenant's requests have on the disk until they are whole. */
struct repo_body_share {
	char tenant_id[ID_LEN + 1];
	int64_t bytes; /* 0: it is nobody's */
};

struct repos {
	char *folder;
	char id[ID_LEN + 1]; /* of its mark, once it is claimed; or "" */
	int serving;	     /* the lock of the one that serves it; -1: it does not */
	int64_t bytes_max;
	struct image_choice image;
	char image_base[IMAGE_BASE_MAX + 1];
	pthread_mutex_t lock; /* over what is begun while the service stops */
	_Atomic bool sweeping, stopping;
	int64_t collected_us;	    /* of the sweep alone, as the next */
	char looked_at[ID_LEN + 1]; /* the last whose main branch was */
	int64_t keep_hour;	    /* when files are put in order; 24: never by itself */
	int64_t kept_day;	    /* of who calls repo_keep_submit(), as the next */
	struct pool *keeper;	    /* one thread; NULL until there is need */
	_Atomic bool keeping;
	pthread_mutex_t bodies_lock; /* over the next two */
	struct repo_body_share bodies[REPO_BODIES_TENANTS];
	int64_t bodies_bytes;
	_Atomic uint64_t keep_kept, keep_failed, keep_put_off;
};
