/* child.h - programs of ours beside the running one, begun with nothing of it: no descriptor but those that are given, no
 * variable, no signal that is blocked or ignored. */
#pragma once
#include <limits.h>
#include <sys/types.h>

/* Where a package puts it, where a build has it, and where a build has it for its tests; "" if it is at none of them. */
void child_find(const char *name, char ret[PATH_MAX]);
/* Begins the program; `fd` is its descriptor 0, what it says elsewhere is dropped.  0, or an errno. */
int child_begin(const char *path, char *const argv[], int fd, pid_t *ret);
/* Ends it, whatever it still does; the status with which it ended, which a signal does not change any more once it has. */
int child_end(pid_t pid);
