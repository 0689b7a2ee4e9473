/* bare_parts.h - what the files of this folder share.  Private: no other room includes it. */
#pragma once
#include <git2.h>

#include "git/bare.h"

struct bare {
	git_repository *repo;
	git_odb *odb;
};

/* The library is there once this was called. */
void bare_begin(void);

/* Between these two the library takes, in this thread, no more than the read of an object of that size may.  True: it wanted more. */
void bare_memory_begin(void); /* once, when the library has begun */
void bare_read_begin(size_t size);
bool bare_read_end(void);

/* ERR_UPSTREAM with a sentence; what the library says goes to the log, because it names files of this machine. */
int bare_unreadable(struct arena *a, struct problem *p);
/* The same of what was to be written: ERR_NO_SPACE where the disk is full. */
int bare_unwritten(struct arena *a, struct problem *p);
/* An object that is there, of that type and no larger than that: ERR_NOT_FOUND, ERR_TOO_LARGE. */
int bare_measure(struct bare *b, const git_oid *id, git_object_t type, size_t most,
	size_t *ret_size, struct arena *a, struct problem *p);
/* Reads one that was measured; ERR_TOO_LARGE if the way to it leads over what is larger than it and than BARE_BASE_MAX, or is too
 * long. */
int bare_object_read(struct bare *b, const git_oid *id, git_object_t type, size_t size,
	git_object **ret, struct arena *a, struct problem *p);
int bare_commit_read(
	struct bare *b, const git_oid *id, git_commit **ret, struct arena *a, struct problem *p);
int bare_tree_read(
	struct bare *b, const git_oid *id, git_tree **ret, struct arena *a, struct problem *p);
int bare_tag_read(
	struct bare *b, const git_oid *id, git_tag **ret, struct arena *a, struct problem *p);
/* A text of a stranger's, of which so many bytes are shown. */
const char *bare_text(struct arena *a, const char *text, size_t most);
