/* secret_file.h - a secret of the operator's, kept in a file of its own: the only way in which one comes in
 * besides the store, for flags and variables are seen by others. */
#pragma once
#include "base/arena.h"

enum { SECRET_FILE_MAX = 512 };

/* The bytes of the file without the end of its line; NULL with a few words if there is none, or if
 * everybody can read it. */
const char *secret_file_read(struct arena *a, const char *path, const char **ret_fault);
