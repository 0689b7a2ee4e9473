/* repo_bodies.h - bytes of requests of git that wait on the disk until all of one is there: of each process of the service at most
 * four times what a repository may have, and half of that of one tenant. */
#pragma once
#include "repos/repo.h"

enum { REPO_BODIES_TENANTS = 64 }; /* that send something at the same time */

/* False: not now. */
bool repo_bodies_take(struct repos *r, const char *tenant_id, int64_t bytes);
void repo_bodies_give(struct repos *r, const char *tenant_id, int64_t bytes);
