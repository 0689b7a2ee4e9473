/* bucket_folder.c - a bucket in a folder of this machine, or of one that several machines see.
 *
 *   FOLDER/lodge-bucket          the mark by which it is known
 *   FOLDER/serving.lock          held by those who serve it
 *   FOLDER/TENANT/xy/BLOB        bytes; xy are the last two signs of the blob
 *   FOLDER/TENANT/xy/BLOB.part   bytes on their way in (from another bucket: BLOB. and a number)
 *
 * Names are ids that we made, never a caller's words, and every one is opened
 * beneath the folder and through no link and no mount: whoever plants one
 * there is refused, not followed.  Bytes are on the disk before they have their
 * name, and the name is before anybody is told. */
#include "bucket/bucket_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder_lock.h"

#define MARK_NEW MARK ".new"
#define LOCK "serving.lock"

enum { PATH_LEN = ID_LEN + 16 };

/* A descriptor, or -1 with errno. */
static int open_beneath(int folder, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

/* Of a blob, or of one on its way in. */
static void fan_name(const char *blob, char out[3])
{
	memcpy(out, blob + ID_LEN - 2, 2);
	out[2] = '\0';
}

/* A folder in another, made where it is not there and on the disk before anything is put into it. */
static int enter_folder(int in, const char *name, bool makes)
{
	int fd = open_beneath(in, name, O_RDONLY | O_DIRECTORY, 0);

	if (fd >= 0 || errno != ENOENT || !makes)
		return fd;
	if (mkdirat(in, name, 0700) && errno != EEXIST)
		return -1;
	if (fsync(in))
		return -1;
	return open_beneath(in, name, O_RDONLY | O_DIRECTORY, 0);
}

/* The folder in which a blob lies. */
static int enter_fan(struct bucket *b, const char *tenant_id, const char *blob, bool makes)
{
	int tenant = enter_folder(b->folder, tenant_id, makes), fan, err;
	char name[3];

	if (tenant < 0)
		return -1;
	fan_name(blob, name);
	fan = enter_folder(tenant, name, makes);
	err = errno;
	close(tenant);
	errno = err;
	return fan;
}

static void part_name(const struct bucket_upload *u, char out[PATH_LEN])
{
	snprintf(out, PATH_LEN, "%s.%s", u->blob.text, u->suffix);
}

static int folder_begin(struct bucket_upload *u)
{
	char name[PATH_LEN];

	part_name(u, name);
	u->folder = enter_fan(u->bucket, u->tenant_id, u->blob.text, true);
	if (u->folder < 0)
		return errno;
	u->file = open_beneath(u->folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	return u->file < 0 ? errno : 0;
}

static int folder_write(struct bucket_upload *u, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t put = write(u->file, at, n);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0) {
			at += put;
			n -= (size_t)put;
		}
	}
	return 0;
}

static int folder_finish(struct bucket_upload *u, struct bucket_said *said)
{
	char name[PATH_LEN];

	(void)said;
	part_name(u, name);
	if (fsync(u->file) || renameat(u->folder, name, u->folder, u->blob.text) ||
		fsync(u->folder))
		return errno;
	return 0;
}

static void folder_discard(struct bucket_upload *u)
{
	char name[PATH_LEN];

	part_name(u, name);
	if (u->file >= 0) {
		close(u->file);
		if (!u->kept) {
			unlinkat(u->folder, name, 0);
			if (!u->copies)
				unlinkat(u->folder, u->blob.text, 0);
		}
	}
	if (u->folder >= 0)
		close(u->folder);
	u->file = u->folder = -1;
}

static int folder_open(struct bucket *b, const char *tenant_id, const char *blob, int64_t size,
	int *ret_fd, struct bucket_said *said)
{
	int fan = enter_fan(b, tenant_id, blob, false), fd, err = 0;

	(void)said;
	(void)size;
	if (fan < 0)
		return errno;
	fd = open_beneath(fan, blob, O_RDONLY, 0);
	if (fd < 0)
		err = errno;
	close(fan);
	*ret_fd = fd;
	return err;
}

static int folder_size(struct bucket *b, const char *tenant_id, const char *blob, int64_t *ret,
	struct bucket_said *said)
{
	int fan = enter_fan(b, tenant_id, blob, false), err = 0;
	struct stat st = { 0 };

	(void)said;
	if (fan < 0)
		return errno;
	if (fstatat(fan, blob, &st, AT_SYMLINK_NOFOLLOW))
		err = errno;
	else if (!S_ISREG(st.st_mode))
		err = EIO;
	close(fan);
	*ret = st.st_size;
	return err;
}

static int folder_remove(
	struct bucket *b, const char *tenant_id, const char *blob, struct bucket_said *said)
{
	int fan = enter_fan(b, tenant_id, blob, false), err = 0;

	(void)said;
	if (fan < 0)
		return errno == ENOENT ? 0 : errno;
	if (unlinkat(fan, blob, 0) && errno != ENOENT)
		err = errno;
	close(fan);
	return err;
}

static void folder_fold(struct bucket *b, const char *tenant_id, const char *blob)
{
	int tenant = enter_folder(b->folder, tenant_id, false);
	char name[3];

	if (tenant < 0)
		return;
	fan_name(blob, name);
	if (unlinkat(tenant, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		unlinkat(b->folder, tenant_id, AT_REMOVEDIR);
	close(tenant);
}

/* Each name of a folder, which is closed then; `.` and `..` are none. */
static int each_name(int fd, int (*fn)(void *ctx, int fd, const char *name), void *ctx)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int err = 0;

	if (!d) {
		err = errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(d)))
		if (e->d_name[0] != '.')
			err = fn(ctx, dirfd(d), e->d_name);
	closedir(d);
	return err;
}

struct folder_walk {
	int (*fn)(void *ctx, const struct bucket_found *found);
	void *ctx;
	const char *tenant_id;
};

static int walk_blob(void *ctx, int fd, const char *name)
{
	const struct folder_walk *w = ctx;
	size_t len = strlen(name);
	struct stat st;

	if (len < ID_LEN || !id_valid(name, ID_LEN) ||
		fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	return w->fn(w->ctx, &(struct bucket_found){ .tenant_id = w->tenant_id,
				     .name = name,
				     .whole = len == ID_LEN,
				     .size_bytes = st.st_size,
				     .changed_us = (int64_t)st.st_mtim.tv_sec * SECOND_US });
}

static int walk_fan(void *ctx, int fd, const char *name)
{
	return each_name(open_beneath(fd, name, O_RDONLY | O_DIRECTORY, 0), walk_blob, ctx);
}

static int walk_tenant(void *ctx, int fd, const char *name)
{
	struct folder_walk *w = ctx;

	if (!id_valid(name, strlen(name)))
		return 0;
	w->tenant_id = name;
	return each_name(open_beneath(fd, name, O_RDONLY | O_DIRECTORY, 0), walk_fan, w);
}

static int folder_each(
	struct bucket *b, int (*fn)(void *ctx, const struct bucket_found *found), void *ctx)
{
	struct folder_walk w = { fn, ctx, NULL };

	if (b->folder < 0) /* it was not made yet */
		return 0;
	return each_name(open_beneath(b->folder, ".", O_RDONLY | O_DIRECTORY, 0), walk_tenant, &w);
}

/* ---- the folder itself ---- */

/* But for what a file system has of its own, and a mark over which somebody died. */
static bool is_empty_folder(int fd)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = again < 0 ? NULL : fdopendir(again);
	const struct dirent *e;
	bool empty = d != NULL;

	while (d && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			strcmp(e->d_name, "lost+found") != 0 && strcmp(e->d_name, MARK_NEW) != 0)
			empty = false;
	if (d)
		closedir(d);
	else if (again >= 0)
		close(again);
	return empty;
}

static const char *path_of(const struct bucket *b)
{
	return b->where + strlen("dir:");
}

/* 0, or an errno. */
static int open_folder(struct bucket *b)
{
	if (b->folder < 0)
		b->folder = open(path_of(b), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return b->folder < 0 ? errno : 0;
}

static int folder_fails(const struct bucket *b, struct bucket_said *said, const char *what)
{
	return problem_set(said->problem, said->arena, ERR_USAGE,
		"cannot %s the folder of the bucket, %s: %s", what, path_of(b), strerror(errno));
}

/* Of one that is to be made: where it would lie, and whether we may make it there. */
static int look_above(const struct bucket *b, struct bucket_said *said)
{
	const char *path = path_of(b), *slash = strrchr(path, '/');
	const char *above = !slash ? "."
			    : slash == path
				    ? "/"
				    : arena_strndup(said->arena, path, (size_t)(slash - path));

	return access(above, W_OK | X_OK) ? folder_fails(b, said, "make") : ENOENT;
}

static int folder_look(struct bucket *b, char id[ID_LEN + 1], struct bucket_said *said)
{
	char text[MARK_MAX + 1] = "";
	int err = open_folder(b), fd;
	struct stat is;
	ssize_t n;

	if (err == ENOENT)
		return look_above(b, said);
	if (err)
		return folder_fails(b, said, "open");
	fd = open_beneath(b->folder, MARK, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0 && errno == ENOSYS)
		return problem_set(said->problem, said->arena, ERR_USAGE,
			"the kernel has no openat2: the bucket needs Linux 5.6 or newer");
	if (fd < 0 && errno == ENOENT)
		return is_empty_folder(b->folder) ? ENOENT : ENOTEMPTY;
	if (fd < 0)
		return errno;
	err = fstat(fd, &is) ? errno : S_ISREG(is.st_mode) ? 0 : EINVAL;
	n = err ? 0 : read(fd, text, MARK_MAX);
	if (n < 0)
		err = errno;
	close(fd);
	bucket_mark_read(text, id);
	if (!err && faccessat(b->folder, ".", R_OK | W_OK | X_OK, AT_EACCESS))
		return folder_fails(b, said, "write to");
	return err;
}

/* Under another name first: a mark is whole, or it is not there. */
static int write_mark(int folder, const char *text)
{
	size_t len = strlen(text);
	int fd = open_beneath(folder, MARK_NEW, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int err = fd < 0 ? errno : 0;

	if (!err && (write(fd, text, len) != (ssize_t)len || fsync(fd)))
		err = errno ? errno : EIO;
	if (fd >= 0)
		close(fd);
	if (!err && (renameat(folder, MARK_NEW, folder, MARK) || fsync(folder)))
		err = errno;
	return err;
}

static int folder_mark(struct bucket *b, const char *id, struct bucket_said *said)
{
	if (mkdir(path_of(b), 0700) && errno != EEXIST)
		return folder_fails(b, said, "make");
	if (open_folder(b))
		return folder_fails(b, said, "open");
	return write_mark(b->folder, bucket_mark_text(said->arena, id));
}

/* 0, or an errno. */
static int folder_serve(struct bucket *b, const char *who, int wait_ms)
{
	int fd = open_beneath(b->folder, LOCK, O_RDWR | O_CREAT, 0600), err;

	if (fd < 0)
		return errno;
	if (folder_lock_join(fd, who, wait_ms)) {
		err = errno;
		close(fd);
		return err;
	}
	b->serving = fd;
	return 0;
}

static bool folder_is_served(struct bucket *b)
{
	int fd = b->folder < 0 ? -1 : open_beneath(b->folder, LOCK, O_RDWR, 0);
	bool served = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return served;
}

const struct bucket_kind bucket_folder = {
	.begin = folder_begin,
	.write = folder_write,
	.finish = folder_finish,
	.discard = folder_discard,
	.open = folder_open,
	.size = folder_size,
	.remove = folder_remove,
	.fold = folder_fold,
	.each = folder_each,
	.look = folder_look,
	.serve = folder_serve,
	.is_served = folder_is_served,
	.mark = folder_mark,
};
