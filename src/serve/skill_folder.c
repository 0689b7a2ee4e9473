/* skill_folder.c - see skill_folder.h. */
#include "serve/skill_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16, ENTRIES_MAX = SKILL_FILES_MAX + 1, MD_MAX = CEILING_PROMPT + 256 * 1024 };

struct folder_walk {
	struct arena *arena;
	struct problem *problem;
	struct helper_file *entries;
	size_t count;
};

static int fail_folder_entry(struct folder_walk *w, const char *what, const char *path)
{
	return problem_set(
		w->problem, w->arena, ERR_STORE, "cannot %s %s: %s", what, path, strerror(errno));
}

static int refuse_folder_entry(struct folder_walk *w, const char *path, const char *why)
{
	return problem_set(w->problem, w->arena, ERR_INVALID, "%s %s", path, why);
}

/* What is in many folders and belongs to no skill. */
static bool is_folder_litter(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0 ||
	       strcmp(name, ".DS_Store") == 0;
}

static int read_skill_file(struct folder_walk *w, int fd, const char *path)
{
	size_t most = strcmp(path, SKILL_MD) == 0 ? MD_MAX : SKILL_FILE_MAX, len = 0;
	struct stat st;
	ssize_t got = 0;
	char *bytes;

	if (fstat(fd, &st))
		return fail_folder_entry(w, "read", path);
	if (!S_ISREG(st.st_mode))
		return refuse_folder_entry(w, path, "is a link or a device, not a file");
	if ((uint64_t)st.st_size > most)
		return refuse_folder_entry(w, path, "is too large");
	if (w->count == ENTRIES_MAX)
		return refuse_folder_entry(
			w, path, "is one file too many: a skill has at most 200");
	bytes = arena_raw(w->arena, (size_t)st.st_size + 1, 1);
	while (len < (size_t)st.st_size &&
		(got = read(fd, bytes + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)got;
	if (got < 0)
		return fail_folder_entry(w, "read", path);
	w->entries[w->count++] = (struct helper_file){ path, bytes, len };
	return 0;
}

static int read_folder(struct folder_walk *w, int fd, const char *path, int depth);

static int read_entry(
	struct folder_walk *w, int folder, const char *name, const char *path, int depth)
{ /* NOLINT(misc-no-recursion): at most DEPTH_MAX deep */
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return errno == ELOOP
			       ? refuse_folder_entry(w, path, "is a link or a device, not a file")
			       : fail_folder_entry(w, "open", path);
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return read_folder(w, fd, arena_printf(w->arena, "%s/", path), depth + 1);
	err = read_skill_file(w, fd, path);
	close(fd);
	return err;
}

/* Takes the descriptor; the path ends in a slash, or is empty for the first. */
static int read_folder(struct folder_walk *w, int fd, const char *path, int depth)
{ /* NOLINT(misc-no-recursion): at most DEPTH_MAX deep */
	DIR *dir = fdopendir(fd);
	const struct dirent *e;
	int err = 0;

	if (!dir) {
		close(fd);
		return fail_folder_entry(w, "open", path);
	}
	if (depth > DEPTH_MAX)
		err = refuse_folder_entry(w, path, "lies too deep");
	while (!err && (e = readdir(dir)) != NULL)
		if (!is_folder_litter(e->d_name))
			err = read_entry(w, dirfd(dir), e->d_name,
				arena_printf(w->arena, "%s%s", path, e->d_name), depth);
	closedir(dir);
	return err;
}

int skill_folder_read(struct arena *a, const char *folder, struct helper_file **ret,
	size_t *ret_count, struct problem *p)
{
	struct folder_walk w = { .arena = a, .problem = p };
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return fail_folder_entry(&w, "open", folder);
	w.entries = arena_array(a, struct helper_file, ENTRIES_MAX);
	err = read_folder(&w, fd, "", 0);
	*ret = w.entries;
	*ret_count = w.count;
	return err;
}

/* ---- out ---- */

static int write_file(
	struct folder_walk *w, int top, const char *path, const void *bytes, size_t len)
{
	mode_t mode = strncmp(path, "scripts/", 8) == 0 ? 0755 : 0644;
	size_t done = 0;
	ssize_t got = 0;
	int fd;

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (mkdirat(top, arena_strndup(w->arena, path, (size_t)(slash - path)), 0755) &&
			errno != EEXIST)
			return fail_folder_entry(w, "make the folder of", path);
	fd = openat(top, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return fail_folder_entry(w, "write", path);
	while (done < len && (got = write(fd, (const char *)bytes + done, len - done)) > 0)
		done += (size_t)got;
	if (close(fd) || got < 0)
		return fail_folder_entry(w, "write", path);
	return 0;
}

int skill_folder_write(struct arena *a, const char *folder, const struct SkillRead *skill,
	const struct list *files, struct problem *p)
{
	const char *place = arena_printf(a, "%s/%s", folder, skill->slug);
	const struct skill_file *f = files->at;
	struct folder_walk w = { .arena = a, .problem = p };
	struct buf md;
	int top, err;

	if (mkdir(folder, 0755) && errno != EEXIST)
		return fail_folder_entry(&w, "make", folder);
	if (mkdir(place, 0755))
		return fail_folder_entry(&w, "make", place);
	top = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top < 0)
		return fail_folder_entry(&w, "open", place);
	buf_init(&md, MD_MAX);
	skill_md_write(&md, a, skill);
	err = write_file(&w, top, SKILL_MD, md.at, md.len);
	buf_free(&md);
	for (size_t i = 0; !err && i < files->count; i++) {
		size_t len;
		const void *bytes = skill_file_bytes(a, &f[i], &len);

		err = write_file(&w, top, f[i].path, bytes, len);
	}
	close(top);
	return err;
}
