/* disk.h - a disk that remembers what was asked of it, so that a loss of power can be played at any moment.
 *
 * A layer over SQLite's own way to files, installed as the process's default,
 * so that whatever opens a store writes through it.  Every write, cut and sync of a database and
 * of its log is remembered in order.  What a sync has not covered may, after a loss, be there, be gone, or be
 * there in some of its sectors; and one write may be there while an earlier one is gone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before anything opens a database. */
void disk_install(void);
/* Whether files say of themselves what those of this machine say (a write damages nothing beside it), or
 * promise nothing; for files that are opened from now on. */
void disk_acknowledged(bool as_usual);
/* From now on all is remembered; what lies in the folder now is on the disk. */
void disk_record(const char *folder, const char *name);
void disk_forget(void);

/* Something was promised to somebody, from any thread. */
void disk_acknowledge(int64_t number);

struct disk_counts {
	size_t moments, syncs, file_writes, log_writes, cuts;
};
struct disk_counts disk_counts(void);
/* The first moment from `from` on that lies right before or after a sync; SIZE_MAX if there is none. */
size_t disk_next_sync(size_t from);

enum disk_loss {
	LOSE_ALL,    /* of what no sync covers */
	LOSE_NONE,   /* a process that was killed */
	LOSE_SOME,   /* by chance, each for itself */
	LOSE_PIECES, /* and some of what is left is torn */
	LOSS_COUNT
};
/* Puts into a folder what is left after a loss at a moment; how many promises had been made by then. */
int64_t disk_lose(size_t moment, enum disk_loss how, uint64_t chance, const char *folder);
