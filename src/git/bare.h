/* bare.h - bare git repositories in folders of ours: making, reading and committing, by libgit2.
 *
 * What is inside was pushed by strangers.  Nothing is ever checked out: files
 * are read as objects, by mode, so that a link or a submodule is only told of
 * and never followed.  The size of an object is looked at before the object is
 * read, and what is inflated on the way to it is bounded; no setting of the machine's users counts, and hooks are nothing to the
 * library.  Everything here waits for the disk: never on a loop. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "contract/schema.h"

struct bare;

enum {
	BARE_ID_LEN = 40,	   /* SHA-1 in hexadecimal; others are refused */
	BARE_COMMIT_MAX = 1 << 20, /* bytes of a commit or a tag */
	BARE_TREE_MAX = 8 << 20,   /* of one folder */
	BARE_BASE_MAX =
		16
		<< 20, /* of what an object is kept as a difference from, unless it is larger itself */
	BARE_REFS_MAX = 20000, /* that are listed, and their bytes */
	BARE_REFS_BYTES_MAX = 4 << 20,
	BARE_WALK_MAX = 2000,  /* commits that a history goes through */
	BARE_PARENTS_MAX = 32, /* of a commit that are looked at */
};

/* An empty one, whose main branch has the name; on the disk when it returns.  ERR_CONFLICT if something is there. */
int bare_make(const char *path, const char *main, struct arena *a, struct problem *p);
/* ERR_UPSTREAM, with a sentence for people, if it is not there or cannot be read: so do all that follow. */
int bare_open(struct bare **ret, const char *path, struct arena *a, struct problem *p);
void bare_close(struct bare *b);

/* ---- refs ---- */

/* What is wrong with the name of a branch or tag, as in "must not ...", by git's rules; NULL if nothing is. */
const char *ref_name_fault(const char *name);
/* It reads as the full id of an object. */
bool ref_name_is_id(const char *name);

enum bare_refs { BARE_BRANCHES, BARE_TAGS };
/* Their names in order, without refs/heads/ or refs/tags/.  *ret_complete is false where there are more than are listed, or one
 * that is not UTF-8. */
int bare_refs(struct bare *b, enum bare_refs which, struct arena *a, struct list *ret,
	bool *ret_complete, struct problem *p);
/* Whether there is a branch or tag of exactly that name. */
int bare_has_ref(struct bare *b, const char *name, bool *ret, struct arena *a, struct problem *p);
/* What a ref names by its whole name ("refs/heads/main"), whatever that is; "": there is no such ref. */
int bare_ref_id(struct bare *b, const char *name, char ret[BARE_ID_LEN + 1], struct arena *a,
	struct problem *p);
/* The commit of a branch, of a tag, or of its own id, which is what a name of 40 digits is, whatever a branch is called.
 * ERR_NOT_FOUND. */
int bare_commit_of(struct bare *b, const char *ref, char ret[BARE_ID_LEN + 1], struct arena *a,
	struct problem *p);
/* The same of a branch alone. */
int bare_tip(struct bare *b, const char *branch, char ret[BARE_ID_LEN + 1], struct arena *a,
	struct problem *p);

/* ---- files ---- */

/* What is wrong with a path in a repository; NULL if nothing is.  It has no slash at its ends. */
const char *bare_path_fault(const char *path);

enum bare_kind { BARE_FILE, BARE_PROGRAM, BARE_LINK, BARE_FOLDER, BARE_MODULE };

struct bare_entry {
	const char *name;
	enum bare_kind kind;
	char id[BARE_ID_LEN + 1];
	int64_t size; /* of a file or program; else NIL */
};

/* What lies in a folder ("": the root) of a commit, in git's order, after the entry of that name (NULL: from the first), at most so
 * many.  A name that is not UTF-8 has question marks.  ERR_NOT_FOUND if there is no such folder. */
int bare_folder(struct bare *b, const char *commit, const char *path, const char *after,
	size_t most, struct arena *a, struct list *ret, bool *ret_more, struct problem *p);
/* What is there by that path; ERR_NOT_FOUND. */
int bare_entry(struct bare *b, const char *commit, const char *path, struct bare_entry *ret,
	struct arena *a, struct problem *p);
/* The bytes of a file or program by its id; ERR_TOO_LARGE if they are more than so many. */
int bare_bytes(struct bare *b, const char *id, size_t most, struct arena *a, const char **ret,
	size_t *ret_len, struct problem *p);

enum {
	BARE_EXPORT_FILES_MAX = 10000, /* folders among them */
	BARE_EXPORT_BYTES_MAX = 256 << 20,
	BARE_EXPORT_DEPTH_MAX = 32,
};

struct bare_exported {
	size_t files, left_out; /* links and submodules */
	int64_t bytes;
};

/* Writes the files of a commit into an empty folder; ERR_TOO_LARGE beyond those. */
int bare_export(struct bare *b, const char *commit, int folder, struct bare_exported *ret,
	struct arena *a, struct problem *p);

/* ---- history ---- */

struct bare_change {
	char id[BARE_ID_LEN + 1];
	const char *title, *author_name, *author_email;
	int64_t at;	/* seconds since 1970, of the committer */
	int offset_min; /* his zone */
};

/* The commits that changed what is by a path ("": any), newest first, as `git log` has them: those of a branch that
 * came to nothing are left out.  From this commit on, at most so many, of the BARE_WALK_MAX that it goes through. */
int bare_history(struct bare *b, const char *from, const char *path, size_t most, struct arena *a,
	struct list *ret, struct problem *p);

/* The same out of what is kept in memory (1,024 histories, 8 MiB), and kept for the next who asks. */
int bare_history_kept(struct bare *b, const char *from, const char *path, size_t most,
	struct arena *a, struct list *ret, struct problem *p);
struct bare_cache_figures {
	uint64_t hits, misses;
	size_t entries, bytes;
};
struct bare_cache_figures bare_cache_figures(void);

/* ---- commits of our own ---- */

struct bare_file {
	const char *path, *bytes;
	size_t len;
};

struct bare_committing {
	const char
		*branch; /* NULL: none is moved, and the commit is there for whoever knows its id */
	const char *onto; /* the commit that it must be at; NULL: there is no such branch */
	const struct bare_file *files;
	size_t count;
	const char *name, *email, *message;
	int64_t at; /* seconds since 1970 */
};
enum { BARE_COMMIT_FILES_MAX = 16 };

/* Puts files into a branch.  ERR_CONFLICT if the branch has moved, somebody else is changing it, or a folder would
 * have to take the place of a file. */
int bare_commit(struct bare *b, const struct bare_committing *in, char ret[BARE_ID_LEN + 1],
	struct arena *a, struct problem *p);
/* Moves a branch from a commit (NULL: it is not there) to another one that is here.  ERR_CONFLICT if it is elsewhere. */
int bare_move(struct bare *b, const char *branch, const char *from, const char *to, struct arena *a,
	struct problem *p);
