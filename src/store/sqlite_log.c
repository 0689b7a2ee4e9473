/* sqlite_log.c - writes SQLite's log in few calls: a layer over its own way to files.
 *
 * SQLite writes each page of a commit in two calls, 24 bytes and then 4,096.
 * Here they are gathered while they follow each other, and written when
 * something else is asked of the file: at the latest by the sync that ends the
 * commit, before which no other connection looks at them.  That makes it right
 * only where every commit syncs (synchronous = full), and only for the log:
 * pages that a checkpoint puts into the file may be read without any sync.  A
 * file system on which a write may damage what lies beside it has SQLite pad
 * a commit beyond its last sync, and others read that: there each write goes
 * its own way.  tests/power plays losses of power against both. */
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "store/engine.h"

enum { GATHER_MAX = 96 * 1024 }; /* SQLite writes less than 128 KiB at a time */

/* What SQLite believes to be a file of its own lies behind it. */
struct log_file {
	sqlite3_file base;
	bool gathers;
	char *at; /* gathered */
	size_t len;
	sqlite3_int64 offset;
};

static sqlite3_file *log_file_own(sqlite3_file *f)
{
	return (sqlite3_file *)((struct log_file *)f + 1);
}

/* A quota, or a limit of the file's size, is as good as a full disk; SQLite knows only that. */
static int log_file_put(sqlite3_file *f, const void *bytes, int len, sqlite3_int64 offset)
{
	int rc = log_file_own(f)->pMethods->xWrite(log_file_own(f), bytes, len, offset);

	return rc == SQLITE_IOERR_WRITE && (errno == EFBIG || errno == EDQUOT) ? SQLITE_FULL : rc;
}

static int log_file_flush(sqlite3_file *f)
{
	struct log_file *l = (struct log_file *)f;
	int len = (int)l->len;

	l->len = 0;
	return len ? log_file_put(f, l->at, len, l->offset) : SQLITE_OK;
}

static int log_write(sqlite3_file *f, const void *bytes, int len, sqlite3_int64 offset)
{
	struct log_file *l = (struct log_file *)f;
	bool follows = l->len && offset == l->offset + (sqlite3_int64)l->len;
	int rc = SQLITE_OK;

	if (!follows || l->len + (size_t)len > GATHER_MAX) {
		rc = log_file_flush(f);
		l->offset = offset;
	}
	if (rc != SQLITE_OK)
		return rc;
	if (!l->gathers || len > GATHER_MAX || (!l->at && !(l->at = malloc(GATHER_MAX))))
		return log_file_put(f, bytes, len, offset);
	memcpy(l->at + l->len, bytes, (size_t)len);
	l->len += (size_t)len;
	return SQLITE_OK;
}

/* What was never synced was never committed. */
static int log_close(sqlite3_file *f)
{
	struct log_file *l = (struct log_file *)f;

	free(l->at);
	l->at = NULL;
	l->len = 0;
	return log_file_own(f)->pMethods->xClose(log_file_own(f));
}

static int log_read(sqlite3_file *f, void *bytes, int len, sqlite3_int64 offset)
{
	int rc = log_file_flush(f);

	return rc ? rc : log_file_own(f)->pMethods->xRead(log_file_own(f), bytes, len, offset);
}

static int log_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = log_file_flush(f);

	return rc ? rc : log_file_own(f)->pMethods->xTruncate(log_file_own(f), size);
}

static int log_sync(sqlite3_file *f, int flags)
{
	int rc = log_file_flush(f);

	return rc ? rc : log_file_own(f)->pMethods->xSync(log_file_own(f), flags);
}

static int log_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	int rc = log_file_flush(f);

	return rc ? rc : log_file_own(f)->pMethods->xFileSize(log_file_own(f), ret);
}

static int log_lock(sqlite3_file *f, int how)
{
	return log_file_own(f)->pMethods->xLock(log_file_own(f), how);
}

static int log_unlock(sqlite3_file *f, int how)
{
	return log_file_own(f)->pMethods->xUnlock(log_file_own(f), how);
}

static int log_reserved(sqlite3_file *f, int *ret)
{
	return log_file_own(f)->pMethods->xCheckReservedLock(log_file_own(f), ret);
}

static int log_control(sqlite3_file *f, int which, void *arg)
{
	int rc = log_file_flush(f);

	return rc ? rc : log_file_own(f)->pMethods->xFileControl(log_file_own(f), which, arg);
}

static int log_sector(sqlite3_file *f)
{
	return log_file_own(f)->pMethods->xSectorSize(log_file_own(f));
}

static int log_traits(sqlite3_file *f)
{
	return log_file_own(f)->pMethods->xDeviceCharacteristics(log_file_own(f));
}

/* The first version of the table: a log has no shared memory of its own, and is not mapped. */
static const sqlite3_io_methods log_methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = log_lock,
	.xUnlock = log_unlock,
	.xCheckReservedLock = log_reserved,
	.xFileControl = log_control,
	.xSectorSize = log_sector,
	.xDeviceCharacteristics = log_traits,
};

/* SQLite's list of such layers belongs to the process, and so does this one. */
static sqlite3_vfs layer, *below;
static pthread_once_t layered = PTHREAD_ONCE_INIT;

static int layer_open(
	sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *f, int flags, int *ret_flags)
{
	struct log_file *l = (struct log_file *)f;
	int rc;

	(void)vfs;
	if (!(flags & SQLITE_OPEN_WAL)) /* the rest is left as it is */
		return below->xOpen(below, name, f, flags, ret_flags);
	*l = (struct log_file){ .base = { NULL } };
	rc = below->xOpen(below, name, log_file_own(f), flags, ret_flags);
	if (log_file_own(f)->pMethods) {
		f->pMethods = &log_methods;
		l->gathers = log_traits(f) & SQLITE_IOCAP_POWERSAFE_OVERWRITE;
	}
	return rc;
}

static void add_layer(void)
{
	below = sqlite3_vfs_find(NULL);
	if (!below)
		abort();
	layer = *below;
	layer.pNext = NULL;
	layer.zName = "lodge";
	layer.szOsFile += (int)sizeof(struct log_file);
	layer.xOpen = layer_open;
	if (sqlite3_vfs_register(&layer, 0))
		abort();
}

const char *sqlite_layer(void)
{
	pthread_once(&layered, add_layer);
	return layer.zName;
}
