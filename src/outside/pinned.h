/* pinned.h - the addresses of a host, looked up once and judged, for a program that would look them up again by itself. */
#pragma once
#include "base/arena.h"
#include "outside/address.h"

/* Those of the URL's host that may be reached, as libcurl wants them ("host:443:192.0.2.1,192.0.2.2"); "" where the host is an
 * address and needs none.  NULL, with a few words in *ret_why, where none may be, or the name is not known.  It waits. */
const char *pinned_addresses(
	struct arena *a, const char *url, enum egress egress, const char **ret_why);
