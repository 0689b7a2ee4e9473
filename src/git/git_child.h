/* git_child.h - git itself, which speaks for a repository on the wire: a program of its own for each request.
 *
 * It is given nothing of ours: an empty environment but PATH, no descriptor but
 * its three and a lock, no configuration of this machine or of a user.  What it may do is said by
 * configuration that we give it: no hooks, objects are checked as they come, a
 * most of bytes, no branch is forced or deleted.  It has limits of memory, of processor and of time, and goes with
 * all that it has begun.  It knows nothing of who asks. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum git_service { GIT_UPLOAD_PACK, GIT_RECEIVE_PACK };
/* "git-upload-pack", "git-receive-pack": as the wire calls them. */
const char *git_service_name(enum git_service service);

struct git_setup {
	int config; /* a file that holds more configuration, which only git sees; 0: none */
	/* A lock of ours that it and all that it begins hold as well, so that it is held as long as any of them lives, whatever
	 * becomes of us; 0: none. */
	int holds;
	enum git_service service;
	bool stateless;	  /* one request and its answer, and not a conversation */
	bool advertises;  /* what there is, and nothing more */
	int version;	  /* of the protocol: 0 to 2 */
	const char *path; /* of the repository */
	int64_t input_max; /* bytes that a push may bring, or a file that it writes may have; above 0 */
	/* Another command in the place of the service, NULL-terminated, of GIT_WORDS_MAX words at most. */
	const char *const *words;
	bool yields; /* to all others on this machine */
};
enum { GIT_WORDS_MAX = 24, GIT_HELD_FD = 4 /* `holds`, as git sees it */ };

/* Begins git with these three descriptors, in a group of its own; 0, or an errno. */
int git_child_begin(const struct git_setup *setup, const int fds[3], pid_t *ret);
/* Ends it and all that it has begun, if it has not ended; how it ended, as waitpid() says. */
int git_child_end(pid_t pid);
/* The same where it has so long to end by itself. */
int git_child_await_for(pid_t pid, int wall_ms);
/* Where all that it says has been heard that is a moment. */
int git_child_await(pid_t pid);

enum git_end {
	GIT_ENDED,    /* it said all, and ended well */
	GIT_FAILED,   /* it ended otherwise */
	GIT_LATE,     /* it took longer than it may, and was ended */
	GIT_UNWANTED, /* nobody waits for it any more, or the service stops */
	GIT_UNBEGUN,  /* it could not be begun */
};

struct git_run {
	struct git_setup setup;
	int in;	     /* what it reads, from where that stands; -1: nothing */
	int wall_ms; /* 0: GIT_WALL_MS */
	const _Atomic bool *stop;
	/* Takes what it says; false: no more is wanted.  May wait. */
	bool (*take)(void *ctx, const char *bytes, size_t n);
	/* Asked now and then while it says nothing: whether anybody waits. */
	bool (*wanted)(void *ctx);
	void *ctx;
};
enum { GIT_WALL_MS = 600 * 1000, GIT_SAID_MAX = 400 };

struct git_result {
	enum git_end end;
	int status;		 /* of waitpid() */
	char said[GIT_SAID_MAX]; /* the beginning of what it complained of; of `words` the end */
};

/* Begins git and hands on what it says, until it has ended.  Waits: never on a loop. */
enum git_end git_run(const struct git_run *run, struct git_result *ret);
