/* folder.h - names that outlive a loss of power. */
#pragma once

/* Has the folder that holds this path on the disk, and with it what was named, renamed or removed there.
 * 0, or -1 with errno. */
int folder_sync(const char *path);
