/* repo_swap.h - a copy of repositories put in the place of those in a folder, in two steps.
 *
 * The copy is first brought into the folder itself, under another name, where all that takes room or may be forbidden is
 * done; then nothing is left but to rename.  It happens inside the folder, which may be a disk of its own or lie where
 * nothing else may be made. */
#pragma once
#include "repos/repo_copy.h"

/* Brings the copy, owned by whom `like` belongs to, and looks whether those that are there can be put aside.  On failure
 * nothing of it is left. */
int repo_swap_begin(const char *copy, const char *folder, const char *like, struct repo_copied *ret,
	struct arena *a, struct problem *p);
/* The former ones are kept in *ret_kept, a folder in the folder; NULL if there were none. */
int repo_swap_end(const char *folder, const char *like, const char **ret_kept, struct arena *a,
	struct problem *p);
/* It is not to be after all. */
void repo_swap_drop(const char *folder, struct arena *a);
