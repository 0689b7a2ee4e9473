/* folder.h - names that outlive a loss of power, and what a folder takes. */
#pragma once
#include <stdint.h>

/* Has the folder that holds this path on the disk, and with it what was named, renamed or removed there.
 * 0, or -1 with errno. */
int folder_sync(const char *path);

/* Bytes on the disk of all that is in it, itself too, by whole blocks; nothing of what is not there. */
int64_t folder_size(const char *path);
