/* remote_refs.h - the branches and tags of a repository on another host, by git's own wire: two requests, of which the second
 * asks for refs alone.
 *
 * Within 10 seconds, with at most so many refs and bytes (git/ls_refs.h), and
 * only to addresses that may be called.  A redirect is followed once, to the same
 * host.  It waits: never on a loop. */
#pragma once
#include "git/ls_refs.h"
#include "outside/remote_end.h"

struct remote {
	const char *url;   /* of the repository, as it is cloned */
	const char *user;  /* NULL: one that hosts take beside a token */
	const char *token; /* Basic, as the password; NULL: none */
	enum egress egress;
	int total_ms; /* for both requests together; 0: 10 seconds */
	const _Atomic bool *stop;
	bool (*wanted)(void *ctx); /* whether anybody waits; or NULL */
	void *ctx;
	struct fetch_line *line; /* for several on one host, one after the other; or NULL */
	bool known; /* it spoke the second version before, and is asked for refs at once */
	const char **ret_url; /* where it is, if the host pointed there; or NULL */
	fetch_fn *fetch;      /* NULL: fetch_run() */
};

/* What is wrong with the URL of a repository, as the end of a sentence that begins with its name; NULL: nothing. */
const char *remote_url_fault(const char *url, enum egress egress);

/* All branches and tags, and what HEAD stands for. */
struct remote_said remote_refs_list(const struct remote *r, struct arena *a, struct ls_refs *ret);

/* What is on the host by the name of a branch or tag. */
struct remote_ref {
	bool is_branch, is_tag;
	char branch_id[GIT_ID_LEN + 1],
		tag_id[GIT_ID_LEN + 1]; /* "" where it is none; that of a tag is its commit */
};
/* One ref alone, by exactly that name without refs/heads/ or refs/tags/, which must be a good one (ref_name_fault()). */
struct remote_said remote_ref_exact(
	const struct remote *r, struct arena *a, const char *name, struct remote_ref *ret);
