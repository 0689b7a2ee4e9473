/* repo_copy.c - see repo_copy.h. */
#include "repos/repo_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"

enum { AT_ONCE = 1 << 20, DEPTH_MAX = 64, FOLDERS_OPEN = 16 };

struct copying {
	struct arena a; /* of one repository */
	struct repo_copied *told;
	const char *failed; /* the file at which it ended */
	int why;
};

static int fail(struct copying *c, const char *path)
{
	c->why = errno;
	c->failed = path;
	return -1;
}

static int pour(int from, int to)
{
	ssize_t n;

	do
		n = copy_file_range(from, NULL, to, NULL, AT_ONCE, 0);
	while (n > 0 || (n < 0 && errno == EINTR));
	if (n == 0 || (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP))
		return (int)n;
	for (;;) { /* between file systems that cannot */
		char bytes[64 * 1024];

		n = read(from, bytes, sizeof bytes);
		if (n <= 0)
			return (int)n;
		for (ssize_t done = 0; done < n;) {
			ssize_t wrote = write(to, bytes + done, (size_t)(n - done));

			if (wrote < 0)
				return -1;
			done += wrote;
		}
	}
}

/* One that is not there (any more) is none; so is what is no plain file. */
static int copy_file(struct copying *c, const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), out, err;
	struct stat st;

	if (in < 0)
		return errno == ENOENT || errno == ELOOP ? 0 : fail(c, from);
	if (fstat(in, &st) || !S_ISREG(st.st_mode)) {
		close(in);
		return 0;
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = out < 0 || pour(in, out) || fchmod(out, st.st_mode & 0777) ? fail(c, to) : 0;
	if (out >= 0 && close(out) && !err)
		err = fail(c, to);
	close(in);
	c->told->size_bytes += st.st_size;
	return err;
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	return n > len && strcmp(name + n - len, end) == 0;
}

static const char *under(struct copying *c, const char *folder, const char *name)
{
	return arena_printf(&c->a, "%s/%s", folder, name);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What is only on its way to be something has such a name. */
static bool is_begun(const char *name)
{
	return strncmp(name, "tmp_", 4) == 0 || strncmp(name, "incoming-", 9) == 0;
}

/* `objects`: of objects, where names are git's own; of refs they are anybody's, and only a lock has that end. */
static int copy_folder(struct copying *c, const char *from, const char *to, bool objects, int depth)
{
	const struct dirent *e;
	DIR *d = opendir(from);
	int err = 0;

	if (!d)
		return errno == ENOENT ? 0 : fail(c, from);
	if (mkdir(to, 0700) || depth > DEPTH_MAX)
		err = fail(c, to);
	while (!err && (e = readdir(d))) {
		const char *name = arena_strdup(&c->a, e->d_name), *one = under(c, from, name);

		if (*name == '.' || ends_with(name, ".lock") || (objects && is_begun(name)))
			continue;
		if (is_folder(one))
			err = objects && strcmp(name, "pack") == 0
				      ? 0
				      : copy_folder(c, one, under(c, to, name), objects, depth + 1);
		else if (!objects || strcmp(name, "alternates") != 0)
			err = copy_file(c, one, under(c, to, name));
	}
	closedir(d);
	return err;
}

/* A pack is there once its index is: both, or neither. */
static int copy_packs(struct copying *c, const char *from, const char *to)
{
	static const char *const ends[] = { "pack", "rev", "bitmap", "mtimes", "keep", "idx" };
	const struct dirent *e;
	DIR *d = opendir(from);
	int err = 0;

	if (!d)
		return errno == ENOENT ? 0 : fail(c, from);
	if (mkdir(to, 0700))
		err = fail(c, to);
	while (!err && (e = readdir(d))) {
		int len = (int)strlen(e->d_name) - (int)strlen("idx");

		if (!ends_with(e->d_name, ".idx") || is_begun(e->d_name))
			continue;
		for (size_t i = 0; !err && i < sizeof ends / sizeof *ends; i++) {
			const char *name = arena_printf(&c->a, "%.*s%s", len, e->d_name, ends[i]);

			err = copy_file(c, under(c, from, name), under(c, to, name));
		}
	}
	closedir(d);
	return err;
}

static int copy_one(struct copying *c, const char *from, const char *to)
{
	static const char *const heads[] = { "HEAD", "config", "packed-refs", "shallow" };
	const char *objects = under(c, from, "objects"), *copied = under(c, to, "objects");
	int err = mkdir(to, 0700) ? fail(c, to) : 0;

	/* Loose refs first: one that is in both is newer there. */
	if (!err)
		err = copy_folder(c, under(c, from, "refs"), under(c, to, "refs"), false, 0);
	for (size_t i = 0; !err && i < sizeof heads / sizeof *heads; i++)
		err = copy_file(c, under(c, from, heads[i]), under(c, to, heads[i]));
	if (!err)
		err = copy_folder(c, objects, copied, true, 0);
	if (!err)
		err = copy_packs(c, under(c, objects, "pack"), under(c, copied, "pack"));
	c->told->repositories += !err;
	return err;
}

bool repo_copy_is_one(const char *name)
{
	return strlen(name) == ID_LEN + 4 && id_valid(name, ID_LEN) &&
	       strcmp(name + ID_LEN, ".git") == 0;
}

static int sync_all(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -1;
	err = syncfs(fd);
	close(fd);
	return err ? err : folder_sync(folder);
}

int repo_copy_all(const char *from, const char *to, struct repo_copied *ret, struct arena *a,
	struct problem *p)
{
	struct copying c = { .told = ret };
	const struct dirent *e;
	DIR *d = opendir(from);
	int err = 0;

	*ret = (struct repo_copied){ 0 };
	if (!d && errno == ENOENT)
		return 0;
	if (!d || mkdir(to, 0700))
		err = fail(&c, d ? to : from);
	while (!err && (e = readdir(d)))
		if (repo_copy_is_one(e->d_name)) {
			arena_reset(&c.a);
			err = copy_one(&c, under(&c, from, e->d_name), under(&c, to, e->d_name));
		}
	if (d)
		closedir(d);
	if (!err && sync_all(to))
		err = fail(&c, to);
	if (err)
		problem_set(p, a, ERR_STORE, "the repositories cannot be copied: %s: %s", c.failed,
			strerror(c.why));
	arena_free(&c.a);
	return err ? ERR_STORE : 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

void repo_copy_drop(const char *folder)
{
	nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}
