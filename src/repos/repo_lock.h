/* repo_lock.h - who is at work in the folder of repositories, of all processes that share it: locks of files (flock), which go with
 * whoever holds them.
 *
 * A lock is a descriptor, closed to let go of it; -1: it could not be had. */
#pragma once
#include "repos/repo.h"

enum {
	REPO_SLOTS = 4, /* of git that serves ssh at once, in one folder */
	REPO_PUSH_WAIT_MS = 5000,
};

/* Files are put in order, or copied: one of these at a time.  With `waits`, until it can be had. */
int repo_lock_keeping(const struct repos *r, struct arena *a, bool waits);
/* Who has it, as in "process 12 on a-machine". */
const char *repo_lock_keeper(const struct repos *r, struct arena *a);
/* The folder is served, until repos_free(): by the processes of the store that `who` names (store_served_as()), or by one alone (NULL).
 * Waits a little for one that is just ending; false: another serves it, or puts a copy into it. */
bool repo_lock_serving(struct repos *r, struct arena *a, const char *who);
/* Nobody serves it while this is held; -1: somebody does. */
int repo_lock_unserved(const struct repos *r, struct arena *a);
/* Git is served by ssh, from before the store is read until the push is noted; -1 with EWOULDBLOCK: a copy is being put there. */
int repo_lock_ssh(const struct repos *r, struct arena *a);
/* Nobody is, while this is held. */
int repo_lock_no_ssh(const struct repos *r, struct arena *a);
/* Objects come into a repository of our own: one push or commit at a time, which does not wait for those who keep; they end.  Waits
 * so long for another; errno is EWOULDBLOCK where that took longer. */
int repo_lock_push(const struct repos *r, struct arena *a, const char *id, int wait_ms);
/* The same in two steps, for what is to be held by a program that is begun before: the file, and then its lock. */
int repo_push_place(const struct repos *r, struct arena *a, const char *id);
bool repo_push_enter(int place, int wait_ms);
/* Who holds that lock: those who keep have ended too. */
bool repo_push_is_alone(const struct repos *r, struct arena *a, const char *id, int wait_ms);
bool repo_push_runs(const struct repos *r, struct arena *a, const char *id);
/* Its files are cleared away or fetched from another host (remote_git.h), or put in order: one of these at a time.  Does not wait. */
int repo_lock_fetch(const struct repos *r, struct arena *a, const char *id);
/* One of the slots; a tenant has all but one of them at most.  Waits so long for it. */
int repo_lock_slot(const struct repos *r, struct arena *a, const char *tenant_id, int wait_ms);
/* -1 too. */
void repo_unlock(int fd);
