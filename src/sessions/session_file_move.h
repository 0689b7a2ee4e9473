/* session_file_move.h - large files of sessions whose bytes are in the store go to the bucket, one after the other, while all else
 * goes on.
 *
 * They are there from before there was a place for them, or because they came
 * about inside a commit (answers of quick tools, files of threads), or while the
 * bucket could not be reached.  Bytes first, then the row: whoever dies in
 * between begins again, and of several processes that move one file the first
 * has, and the others' bytes go.
 *
 * A program from before would find such files empty.  So it begins a day after
 * the first process that knows them has served the store, and by shutting older
 * programs out of it (docs/operating.md); in a store that was made new, at once. */
#pragma once
#include "bucket/bucket.h"

struct file_mover;
struct file_mover *file_mover_new(struct bucket *b, struct store *store, struct pool *disk);
/* Now and then.  Does not wait; nothing if it is under way. */
void file_mover_start(struct file_mover *m);
/* When the threads for disks have ended, for which see bucket_stop(). */
void file_mover_free(struct file_mover *m);

extern const struct statement_set session_file_move_sql;
