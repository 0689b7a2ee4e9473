/* stale_lock.h - locks of refs that a program left behind which was killed: without them nobody could move that ref again. */
#pragma once

enum {
	STALE_LOCK_S = 15 * 60
}; /* longer than any program of ours that takes one may run (GIT_WALL_MS) */

/* Removes the lock of a ref such as refs/heads/main, and that of the packed ones, where nobody can be at work under it any more.  It
 * waits for the disk. */
void stale_lock_drop(const char *repository, const char *ref);
