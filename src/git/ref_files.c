/* ref_files.c - see ref_files.h.  The files first, then packed-refs: what is packed meanwhile is in the second before it leaves the first. */
#include "git/ref_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 1024, DEPTH_MAX = 64 };

struct visit {
	int (*take)(const char *name, void *ctx);
	void *ctx;
	char name[NAME_MAX_BYTES];
};

static int visit_folder(struct visit *v, int parent, const char *path, size_t len, int depth);

static bool is_lock(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".lock") == 0;
}

static int visit_entry(struct visit *v, int folder, const struct dirent *e, size_t len, int depth)
{
	size_t n = strlen(e->d_name);
	int type = e->d_type;
	struct stat st;

	if (*e->d_name == '.' || len + n + 2 > sizeof v->name) /* none that git takes */
		return 0;
	if (type == DT_UNKNOWN && fstatat(folder, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : type;
	memcpy(v->name + len, e->d_name, n + 1);
	if (type == DT_REG)
		return is_lock(e->d_name) ? 0 : v->take(v->name, v->ctx);
	if (type != DT_DIR || depth == DEPTH_MAX)
		return 0;
	v->name[len + n] = '/';
	v->name[len + n + 1] = '\0';
	return visit_folder(v, folder, e->d_name, len + n + 1, depth + 1);
}

/* v->name begins with the name of the folder, which has `len` bytes. */
static int visit_folder(struct visit *v, int parent, const char *path, size_t len, int depth)
{
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = 0;
	const struct dirent *e;
	DIR *folder;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1; /* or it has just become empty */
	folder = fdopendir(fd);
	if (!folder) {
		close(fd);
		return -1;
	}
	while (!err && (errno = 0, e = readdir(folder)))
		err = visit_entry(v, fd, e, len, depth);
	if (!err && errno)
		err = -1;
	closedir(folder);
	return err;
}

/* A line is "ID NAME"; others begin with # or ^. */
static int visit_packed(struct visit *v, const char *path, const char *prefix)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int err = 0;

	if (!in)
		return errno == ENOENT ? 0 : -1;
	while (!err && (n = getline(&line, &room, in)) > 0) {
		const char *name = memchr(line, ' ', (size_t)n);

		line[n - (line[n - 1] == '\n')] = '\0';
		if (*line == '#' || *line == '^' || !name ||
			strncmp(name + 1, prefix, strlen(prefix)) != 0)
			continue;
		err = v->take(name + 1, v->ctx);
	}
	if (ferror(in))
		err = -1;
	free(line);
	fclose(in);
	return err;
}

int ref_files_each(const char *repository, const char *prefix,
	int (*take)(const char *name, void *ctx), void *ctx)
{
	struct visit v = { .take = take, .ctx = ctx };
	char path[4096];
	int err;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", repository, prefix) >= sizeof path ||
		(size_t)snprintf(v.name, sizeof v.name, "%s", prefix) >= sizeof v.name)
		return -1;
	err = visit_folder(&v, AT_FDCWD, path, strlen(prefix), 0);
	if (err)
		return err;
	snprintf(path, sizeof path, "%s/packed-refs", repository);
	return visit_packed(&v, path, prefix);
}
