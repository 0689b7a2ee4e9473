/* host_place.h - from settings to the host that keeps the repositories of agents. */
#pragma once
#include "base/error.h"
#include "hosts/host.h"
#include "serve/settings.h"

/* Its token is read here, and its texts are in the arena; *ret is NULL where the service itself is the host.  ERR_USAGE with a
 * sentence. */
int host_of(const struct host **ret, const struct settings *s, struct arena *a, struct problem *p);
/* For `lodge check`: asks the host who the token is, and says it.  A host that is away is no more than a warning. */
int host_check(const struct settings *s, struct arena *a, struct problem *p);
