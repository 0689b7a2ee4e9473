/* repo_push.h - what a push leaves in the store once git has taken it: what the audit log tells of it, and that the repository is to
 * be looked at. */
#pragma once
#include "git/push_commands.h"
#include "repos/repo.h"

/* Whether any of it was done. */
bool repo_push_did(const struct push *p);
/* Marks as done what stands in the repository as the push wanted it: for one whose report was not heard. */
void repo_push_look(struct push *p, const char *path);
/* The refs that were made or moved, as JSON for the audit log. */
const char *repo_push_meta(struct arena *a, enum RepoPurpose purpose, const struct push *p);
/* Bytes that a push may still bring; 0: the repository is full. */
int64_t repo_room(const struct repos *r, const struct repository *row);
/* In the transaction at hand: it has so many bytes now, and prompts that follow it are to be looked at. */
int repo_pushed(
	struct db *db, struct arena *a, const struct repository *row, int64_t size, int64_t now);
