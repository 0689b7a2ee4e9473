/* repo_push.h - what a push leaves in the store once git has taken it: what the audit log tells of it, and that the repository is to
 * be looked at. */
#pragma once
#include "git/push_trace.h"
#include "repos/repo.h"

/* Whether any of it was done. */
bool repo_push_did(const struct push *p);
/* One that has the repository to itself (repo_lock_push). */
struct repo_pushing {
	int64_t room; /* bytes that it may bring, by what the disk has */
	struct push_trace trace;
};
/* ERR_NO_SPACE: the repository is full.  push_trace_end() is the end of it. */
int repo_push_begin(struct repo_pushing *w, const struct repos *r, const char *id,
	const struct push *p, struct arena *a);
/* The refs that were made or moved, as JSON for the audit log. */
const char *repo_push_meta(struct arena *a, enum RepoPurpose purpose, const struct push *p);
/* Bytes that a push may still bring; 0: the repository is full. */
int64_t repo_room(const struct repos *r, const struct repository *row);
/* In the transaction at hand: it has so many bytes now, and where it stands is to be looked at. */
int repo_pushed(
	struct db *db, struct arena *a, const struct repository *row, int64_t size, int64_t now);
