/* git_spool.h - the body of one of git's requests, kept in a file without a name until all of it is there: so a slow sender holds
 * no program and no thread, and git reads a file.  Bodies may come compressed; what they come to has a most, and so
 * has what all bodies of a tenant and of the process come to at once (repos/repo_bodies.h). */
#pragma once
#include <sys/types.h>

#include "call/call.h"
#include "repos/repo_bodies.h"

struct git_spool;

struct repos;
struct git_spool_setup {
	struct repos *repos; /* who counts what all bodies have */
	const char *tenant_id;
	const char *folder; /* where the file lies */
	int64_t most;
	bool may_be_memory; /* it is to change nothing: where the disk does not take it, it may be kept in memory, if it is small */
};

/* Goes with the arena. */
struct git_spool *git_spool_new(struct arena *a, const struct git_spool_setup *setup);
/* Content-Encoding: NULL, or a sentence. */
const char *git_spool_coding(struct git_spool *s, const char *coding);
/* 0; ERR_TOO_LARGE, ERR_MALFORMED, ERR_BUSY, ERR_NO_SPACE or ERR_STORE, with a sentence. */
int git_spool_add(
	struct git_spool *s, const void *bytes, size_t n, struct arena *a, struct problem *p);
/* Whether what has come is all of a compressed body. */
bool git_spool_whole(const struct git_spool *s);
/* At its beginning, to be read; -1: nothing came. */
int git_spool_read(const struct git_spool *s);
/* Its beginning, which stays to be read. */
ssize_t git_spool_peek(const struct git_spool *s, void *ret, size_t most);
/* Puts a beginning that is a few bytes longer in the place of what there is. */
bool git_spool_begin_with(struct git_spool *s, const char *head, size_t n, size_t instead_of);
