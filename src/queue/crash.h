/* crash.h - a process that dies of a fault of its own leaves a mark, and the next one in its place reads it.
 *
 * A service is killed by many: the machine, an operator, the kernel in want of
 * memory.  Only a fault (a bad address, an abort, a stack that is used up) says
 * that what ran is the reason.  The mark is a file that holds the process's
 * name. */
#pragma once
#include "base/arena.h"

/* From here on a fault writes `name` into the file.  Answers the name that the last process left there, or
 * NULL; the file is empty after that.  Without such a file nothing is marked, which is no error. */
const char *crash_watch(struct arena *a, const char *path, const char *name);
