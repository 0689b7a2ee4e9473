/* image_child.h - one run of a program that builds images, as a user who need not be ours, and no longer and larger than it may.
 *
 * What it says goes to standard error, without what could steer a terminal. */
#pragma once
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/* As whom it runs: us, unless we are root. */
struct image_user {
	uid_t uid;
	gid_t gid;
};

struct image_run {
	char *const *argv; /* the first is the path of the program */
	char *const *environment;
	const char *folder; /* in which it works; what is in there has IMAGE_WORK_MAX at most */
	struct image_user user;
	bool quiet; /* what it says is not shown */
};

#define IMAGE_WORK_MAX (INT64_C(20) << 30)
enum { IMAGE_WALL_MS = 3600 * 1000 };

/* From here on we write files as that user, and again as ourselves. */
int image_user_enter(struct image_user user);
void image_user_leave(void);

/* 0 when it has ended well; else a sentence.  An interrupt ends it too, and it goes when we go. */
int image_run(const struct image_run *run, struct arena *a, struct problem *p);
