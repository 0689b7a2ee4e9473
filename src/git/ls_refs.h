/* ls_refs.h - the refs of another git server, by its own wire: what a server says it can do, the question for refs of protocol
 * version 2 (`ls-refs`), and the answer; see gitprotocol-v2(5).  A server of the older versions lists them at once.
 *
 * Bytes are taken in pieces as they arrive.  What does not begin with a prefix
 * that was asked for is left out, as servers may send more than that.  More than
 * so many refs or bytes are not read: the list is then not complete.  Nothing is
 * known here of connections, or of whose server it is. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "git/push_commands.h"

enum {
	LS_REFS_MAX = 20000,
	LS_REFS_BYTES_MAX = 4 << 20, /* of one answer */
	LS_ADVERT_MAX = 64 * 1024,   /* of what a server of version 2 can do */
	LS_REF_NAME_MAX = 1024,
	LS_PREFIXES_MAX = 4,
};

struct ls_ref {
	const char *name; /* whole: refs/heads/main */
	char id[GIT_ID_LEN + 1];
	char peeled[GIT_ID_LEN +
		    1]; /* what a tag that is an object stands for; "": the id itself */
};

/* What to ask for: beginnings of whole names.  HEAD is asked for beside them. */
struct ls_ask {
	const char *prefixes[LS_PREFIXES_MAX];
	size_t count;
};

enum ls_state { LS_BEGINS, LS_SERVICE, LS_ABLE, LS_LISTS, LS_ENDED, LS_ENOUGH, LS_BAD };

struct ls_refs {
	/* Once it has ended: in order of their names, each once. */
	struct ls_ref *at;
	size_t count;
	bool complete;	  /* all that there are */
	const char *head; /* the whole name of what HEAD stands for, or NULL */

	/* What the server is, from its advertisement. */
	int version;	 /* 0 to 2; below 2 the advertisement was the list */
	bool can_unborn; /* it tells what HEAD stands for where there is no commit */
	bool says_format;

	/* Its own. */
	struct ls_ask ask;
	struct arena *a;
	struct buf held; /* a line that is not all there */
	enum ls_state state;
	size_t room, taken;
	const char *fault;
};

/* For the advertisement, which is read first. */
void ls_refs_begin(struct ls_refs *r, struct arena *a, const struct ls_ask *ask);
/* Takes the next bytes; false: no more are wanted. */
bool ls_refs_feed(struct ls_refs *r, const char *bytes, size_t n);
/* No more bytes come.  NULL, or a sentence that says what is wrong with them.  It is done with when version is below 2. */
const char *ls_refs_end(struct ls_refs *r);

/* The question of version 2, after its advertisement has ended. */
void ls_refs_write(const struct ls_refs *r, struct buf *out);
/* For the answer to it, which is fed and ended as the advertisement was. */
void ls_refs_again(struct ls_refs *r);

/* The ref of exactly that whole name, once it has ended; or NULL. */
const struct ls_ref *ls_refs_find(const struct ls_refs *r, const char *name);
/* Gives back what it holds beside the arena; at any time, also twice. */
void ls_refs_drop(struct ls_refs *r);
