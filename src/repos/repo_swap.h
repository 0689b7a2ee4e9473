/* repo_swap.h - a copy of repositories put in the place of those in a folder, in two steps.
 *
 * The copy is first brought into the folder itself, under another name, where all that takes room or may be forbidden is
 * done; then nothing is left but to rename.  It happens inside the folder, which may be a disk of its own or lie where
 * nothing else may be made.  A note beside the copy says how far it is: one that is broken off is gone on with, and no service
 * starts before. */
#pragma once
#include "repos/repo_copy.h"

enum repo_swap_state {
	SWAP_NONE,    /* nothing is under way; or it was broken off before anything was changed */
	SWAP_BROUGHT, /* the copy is beside them: the store may be in its place, or not */
	SWAP_PLACED,  /* the store is, and they are to follow */
	SWAP_ASIDE,   /* and the former ones are put aside, all of them */
};

struct repo_swap {
	enum repo_swap_state state;
	const char *of;	    /* the copy of the store that they belong to */
	const char *former; /* the name, in the folder, of where the former ones go */
};

/* How far one is. */
void repo_swap_look(const char *folder, struct repo_swap *ret, struct arena *a);
/* Brings the copy, owned by whom `like` belongs to, and looks whether those that are there can be put aside.  On failure
 * nothing of it is left. */
int repo_swap_begin(const char *copy, const char *folder, const char *like, const char *of,
	struct repo_copied *ret, struct arena *a, struct problem *p);
/* The store is in its place: from now on it is ended, by this process or another. */
int repo_swap_placed(const char *folder, const char *like, struct arena *a, struct problem *p);
/* Begins or goes on.  The former ones are kept in *ret_kept, a folder in the folder; NULL if there were none. */
int repo_swap_end(const char *folder, const char *like, const char **ret_kept, struct arena *a,
	struct problem *p);
/* All is as it is to be, or is not to be after all. */
void repo_swap_drop(const char *folder, struct arena *a);
