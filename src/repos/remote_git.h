/* remote_git.h - git itself as a client of another host: what is there comes into a bare repository of ours, and a commit goes out.
 *
 * The host's addresses are looked up once and judged, and git is held to them;
 * it follows no redirect and speaks HTTP alone.  The token reaches it through a
 * file without a name, never by its arguments, its environment or the disk.
 * Branches and tags come, and nothing of submodules.  Everything here waits: for minutes, where the host is slow. */
#pragma once
#include "base/error.h"
#include "outside/remote_refs.h"

/* Of a token in an address book: "user:password", or a token alone. */
void remote_set_token(struct remote *r, struct arena *a, const char *token);

/* In the repository: held by whoever fetches into it, who also removes what an earlier one left there. */
#define REMOTE_GIT_LOCK "lodge-fetch"

/* Brings all branches and tags into the room that is left, and lets go of those that the host has no more; without room it brings none.  Whatever an earlier one left that was ended in the
 * middle is cleared away.  ERR_UPSTREAM or ERR_TOO_LARGE with a sentence; ERR_BUSY: somebody is at it; ERR_STOPPING. */
int remote_git_fetch(const struct remote *r, const char *path, int64_t bytes_max, struct arena *a,
	struct problem *p);
/* Moves a branch of the host from one commit to another, which the repository has.  ERR_CONFLICT if it is not there any more. */
int remote_git_push(const struct remote *r, const char *path, const char *branch, const char *from,
	const char *to, struct arena *a, struct problem *p);
/* Brings all branches and tags there, or none.  ERR_CONFLICT if one is there and would not only move forward. */
int remote_git_push_all(const struct remote *r, const char *path, int64_t bytes_max,
	struct arena *a, struct problem *p);
