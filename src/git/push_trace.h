/* push_trace.h - what a push has done and left, by the repository itself and not by what was said of it: where its refs stood
 * before and stand after, and which packs came.
 *
 * Git takes the objects of a push out of their quarantine before it looks whether
 * a branch moves forward.  Those of a push that moved nothing are removed here, or
 * pushes that are refused would fill the disk.  Whoever asks has the repository to itself. */
#pragma once
#include "git/push_commands.h"

struct push_trace {
	const char *path;
	const char **packs; /* files that were there before */
	size_t count;
	char (*ids)[GIT_ID_LEN + 1]; /* where the ref of each command stood; "": nowhere */
	bool known;		     /* both could be read */
};

/* Before git hears of it.  What a git that was killed left of its quarantine goes. */
void push_trace_begin(
	struct push_trace *t, const struct push *p, const char *path, struct arena *a);
/* After: marks as done what the push has moved, and removes what came with one that moved nothing. */
void push_trace_end(struct push_trace *t, struct push *p, struct arena *a);
