/* remote_end.h - how a request to a host of repositories ended: one closed list, and the sentence for whoever runs the service.
 *
 * Both ways to such a host come to it: git's own wire and the host's REST. */
#pragma once
#include "outside/fetch.h"

/* name, word */
#define REMOTE_ENDS(X)                \
	X(OK, "ok")                   \
	X(REFUSED, "refused")         \
	X(MISSING, "missing")         \
	X(TAKEN, "taken")             \
	X(LIMITED, "limited")         \
	X(UNREACHABLE, "unreachable") \
	X(GARBAGE, "garbage")

enum remote_end {
#define X(name, word) REMOTE_##name,
	REMOTE_ENDS(X)
#undef X
		REMOTE_END_COUNT
};
extern const char *const remote_end_words[REMOTE_END_COUNT];

enum { REMOTE_RETRY_MAX_S = 3600 };

struct remote_said {
	enum remote_end end;
	int64_t retry_after_s; /* as the host asks for, at most REMOTE_RETRY_MAX_S; -1: it does not */
	const char *why;       /* a sentence; NULL where it is REMOTE_OK */
};

/* `now` is in seconds since 1970, for a host that names a moment. */
struct remote_said remote_said_of(
	struct arena *a, const struct fetched *got, bool had_token, int64_t now);
/* Nobody answered; the words are those of fetch_run(). */
struct remote_said remote_unreached(struct arena *a, const char *why);
/* It answered, but not as it should: "it ...". */
struct remote_said remote_garbage(struct arena *a, const char *why);
/* What a header Retry-After says, which is NULL where there is none. */
int64_t remote_retry_after(const char *text, int64_t now);
/* Where a redirect of a GET may be followed to, once: scheme, host and port are those that were asked.  NULL: nowhere. */
const char *remote_moved_to(struct arena *a, const char *asked, const struct fetched *got);
