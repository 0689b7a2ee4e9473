/* git_orphans.h - git that outlived the process which began it: it was killed, and nobody waits for what git does, or ends it. */
#pragma once
#include <stdbool.h>

/* `lock` is of a file that git was given to hold (git_child.h), and is held.  Ends all programs of this machine that have it, and
 * takes it; false: somebody else has it, such as a program of another machine that shares the folder. */
bool git_orphans_end(int lock);
