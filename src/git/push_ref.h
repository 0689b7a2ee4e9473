/* push_ref.h - the whole names of branches and tags that may be pushed: git's rules, and what keeps a name readable for people and in
 * JSON. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
	PUSH_REF_MAX = 250, /* bytes of a whole name */
	PUSH_REF_PARTS = 8, /* between slashes, behind refs/heads or refs/tags */
};

/* NULL, or what is wrong with it. */
const char *push_ref_fault(const char *name);
bool push_ref_is_tag(const char *name);
