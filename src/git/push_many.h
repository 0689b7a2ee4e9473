/* push_many.h - how many branches and tags a repository has: each that a push makes is a file and folders of its own until they are
 * packed, so that there is a most of them, and those of a push with many are packed at once. */
#pragma once
#include "git/push_commands.h"

enum { PUSH_REFS_MAX = 50 * 1000 };

/* Refuses what the push would make beyond the most. */
void push_many_judge(struct push *p, const char *path);
/* After it was done: packs the refs of the repository if the push has made many.  Waits. */
void push_many_pack(const struct push *p, const char *path);
