/* restore.c - puts a copy in the place of an SQLite store that nobody serves.
 *
 * The copy is read whole, proven, and only then given the store's name; what was there gets a name with the time, once what its
 * log has is in it.  Wherever it is broken off, either the former store is in place, or none is: a start beside the
 * master key then refuses, and the command is run again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/folder.h"
#include "store/beside.h"
#include "store/engine.h"

struct restoring {
	const char *path, *fresh, *folder;
	const struct store_beside *beside;
	int lock_fd;
	struct arena *a;
	struct problem *p;
};

static int restore_fault(const struct restoring *r, const char *what, const char *path)
{
	return problem_set(r->p, r->a, ERR_STORE, "cannot %s %s: %s", what, path, strerror(errno));
}

static const char *path_with_suffix(const struct restoring *r, const char *path, const char *suffix)
{
	return arena_printf(r->a, "%s%s", path, suffix);
}

static int lock_former(struct restoring *r)
{
	r->lock_fd = open(r->path, O_RDWR | O_CLOEXEC);
	if (r->lock_fd < 0 && errno != ENOENT)
		return restore_fault(r, "open", r->path);
	if (r->lock_fd >= 0 && flock(r->lock_fd, LOCK_EX | LOCK_NB))
		return problem_set(r->p, r->a, ERR_STORE,
			"the store %s is in use by another lodge (serve, migrate or copy); stop it first",
			r->path);
	return 0;
}

static int copy_file(const struct restoring *r, const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out, err = 0;
	ssize_t n = 1;

	if (in < 0)
		return restore_fault(r, "read", from);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0)
		err = restore_fault(r, "write", to);
	while (!err && n > 0) {
		n = sendfile(out, in, NULL, 1 << 30);
		if (n < 0)
			err = restore_fault(r, "copy to", to);
	}
	if (!err && fsync(out))
		err = restore_fault(r, "write", to);
	if (out >= 0)
		close(out);
	close(in);
	return err;
}

static void drop_fresh(const struct restoring *r)
{
	unlink(r->fresh);
	unlink(path_with_suffix(r, r->fresh, "-wal"));
	unlink(path_with_suffix(r, r->fresh, "-shm"));
	unlink(path_with_suffix(r, r->fresh, "-journal"));
}

/* Is it a store, whole, and one that this program may work on? */
static int verify_copy(const struct restoring *r, const char *file)
{
	struct store_settings settings = { .where = path_with_suffix(r, "sqlite:", r->fresh),
		.queue_max = 1 };
	struct store *copy = NULL;
	struct db *db = NULL;
	struct problem unread = { 0 };
	const char *beyond;
	struct store_version v = { 0 };
	int err = store_open(&copy, &settings, STORE_NEW, r->a, r->p);

	if (!err && (store_version(copy, &v, r->a, &unread) || !v.tables))
		err = problem_set(r->p, r->a, ERR_STORE, "%s is not a store of lodge%s%s", file,
			unread.detail ? ", or it is damaged: " : "",
			unread.detail ? unread.detail : "");
	if (!err && !store_version_admits(&v))
		err = store_version_refuse(&v, file, r->a, r->p);
	if (!err)
		err = store_fits(copy, &beyond, r->a, r->p);
	if (!err)
		err = store_check(copy, r->a, r->p);
	if (!err)
		err = store_connect(copy, &db, r->a, r->p);
	if (!err)
		err = r->beside->run(r->beside->ctx, db, v.tables, r->a, r->p);
	if (!err && store_copy_done(db))
		err = problem_set(r->p, r->a, ERR_STORE, "the copy failed: %s", db_error(db));
	db_close(db);
	store_close(copy);
	return err;
}

/* Root leaves it to whom the folder belongs. */
static int hand_over(const struct restoring *r)
{
	struct stat st;

	if (geteuid() != 0)
		return 0;
	if (stat(r->folder, &st))
		return restore_fault(r, "look at", r->folder);
	return chown(r->fresh, st.st_uid, st.st_gid) ? restore_fault(r, "hand over", r->fresh) : 0;
}

/* A name that nothing has yet: two may be put aside within a second. */
static const char *free_name(const struct restoring *r)
{
	char when[48];
	time_t now = time(NULL);
	struct tm tm;
	size_t len = strftime(when, sizeof when, ".%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	const char *name = path_with_suffix(r, r->path, when);

	for (int i = 2; i < 100 && !access(name, F_OK); i++) {
		snprintf(when + len, sizeof when - len, "-%d", i);
		name = path_with_suffix(r, r->path, when);
	}
	return name;
}

/* So that the former store is one file, which one rename puts aside.  Of one that is damaged, or whose log is another's, file and log stay
 * as they are. */
static void fold_log(const struct restoring *r)
{
	struct store_settings settings = { .where = path_with_suffix(r, "sqlite:", r->path),
		.queue_max = 1 };
	struct problem unread = { 0 };
	struct store *former = NULL;
	struct db *db = NULL;

	if (r->lock_fd < 0 || !identity_has_log(r->path, r->a))
		return;
	if (store_open(&former, &settings, STORE_BESIDE, r->a, &unread) == 0 &&
		store_connect(former, &db, r->a, &unread) == 0)
		db->engine->script(db, "pragma wal_checkpoint(truncate)");
	db_close(db);
	store_close(former);
}

static bool has_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size > 0;
}

/* The file first: a log without its file is noticed, a file without its log is not.  Without a log, the file is all. */
static int put_aside(const struct restoring *r, const char **ret_kept)
{
	static const char *const parts[] = { "", "-wal", "-id" };
	const char *kept = free_name(r);
	bool whole = !has_bytes(path_with_suffix(r, r->path, "-wal"));

	*ret_kept = NULL;
	for (size_t i = 0; i < (whole ? 1 : sizeof parts / sizeof *parts); i++) {
		const char *from = path_with_suffix(r, r->path, parts[i]),
			   *to = path_with_suffix(r, kept, parts[i]);

		if (access(from, F_OK) && errno == ENOENT)
			continue;
		if (!store_rename_new(from, to))
			return restore_fault(r, "rename", from);
		*ret_kept = kept;
	}
	unlink(path_with_suffix(r, r->path, "-shm")); /* made anew from the log */
	if (whole)
		unlink(path_with_suffix(r, r->path, "-wal"));
	return 0;
}

static const char *folder_of(const char *path, struct arena *a)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_printf(a, "%.*s", (int)(slash - path) + 1, path) : ".";
}

static int replace_store(const struct restoring *r, const char *file, const char **ret_kept)
{
	int err;

	drop_fresh(r);
	err = copy_file(r, file, r->fresh);
	if (!err && identity_has_log(file, r->a))
		err = copy_file(r, path_with_suffix(r, file, "-wal"),
			path_with_suffix(r, r->fresh, "-wal"));
	if (!err)
		err = verify_copy(r, file);
	if (!err)
		err = hand_over(r);
	if (!err) {
		fold_log(r);
		err = put_aside(r, ret_kept);
	}
	if (!err && rename(r->fresh, r->path))
		err = restore_fault(r, "rename", r->fresh);
	if (!err)
		err = folder_sync(r->path) ? restore_fault(r, "write", r->folder) : 0;
	if (!err) /* of the former one; it told that one is missing, until now */
		unlink(path_with_suffix(r, r->path, "-id"));
	if (err)
		drop_fresh(r);
	return err;
}

int store_restore(const char *where, const char *file, const struct store_beside *beside,
	const char **ret_kept, struct arena *a, struct problem *p)
{
	struct restoring r = { .beside = beside, .a = a, .p = p, .lock_fd = -1 };
	int err;

	r.path = identity_path(where + 7, a);
	r.fresh = path_with_suffix(&r, r.path, ".restoring");
	r.folder = folder_of(r.path, a);
	err = lock_former(&r);
	if (!err)
		err = replace_store(&r, file, ret_kept);
	if (r.lock_fd >= 0)
		close(r.lock_fd);
	return err;
}
