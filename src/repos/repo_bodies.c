/* repo_bodies.c - see repo_bodies.h. */
#include "repos/repo_bodies.h"

#include <stdio.h>
#include <string.h>

#include "repos/repos_parts.h"

enum { OF_ALL = 4, OF_TENANT = 2 };

/* The tenant's, or one that is free; NULL: all are others'. */
static struct repo_body_share *share_of(struct repos *r, const char *tenant_id)
{
	struct repo_body_share *free_one = NULL;

	for (size_t i = 0; i < REPO_BODIES_TENANTS; i++) {
		struct repo_body_share *s = &r->bodies[i];

		if (s->bytes && strcmp(s->tenant_id, tenant_id) == 0)
			return s;
		if (!s->bytes && !free_one)
			free_one = s;
	}
	if (free_one)
		snprintf(free_one->tenant_id, sizeof free_one->tenant_id, "%s", tenant_id);
	return free_one;
}

bool repo_bodies_take(struct repos *r, const char *tenant_id, int64_t bytes)
{
	struct repo_body_share *s;
	bool has;

	pthread_mutex_lock(&r->bodies_lock);
	s = share_of(r, tenant_id);
	has = s && s->bytes + bytes <= OF_TENANT * r->bytes_max &&
	      r->bodies_bytes + bytes <= OF_ALL * r->bytes_max;
	if (has) {
		s->bytes += bytes;
		r->bodies_bytes += bytes;
	}
	pthread_mutex_unlock(&r->bodies_lock);
	return has;
}

void repo_bodies_give(struct repos *r, const char *tenant_id, int64_t bytes)
{
	if (!bytes)
		return;
	pthread_mutex_lock(&r->bodies_lock);
	share_of(r, tenant_id)->bytes -= bytes;
	r->bodies_bytes -= bytes;
	pthread_mutex_unlock(&r->bodies_lock);
}
