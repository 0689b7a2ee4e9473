/* bare_export.c - the files of a commit, written out into an empty folder; see bare.h.
 *
 * What is written is only ever new and only ever below that folder: every name
 * is looked at first, every folder is made here and opened without following
 * links, and no link is written. */
#include "git/bare_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct exporting {
	struct bare *b;
	struct bare_exported *done;
	struct arena *a;
	struct problem *p;
};

static int export_fault(struct exporting *e, const char *name)
{
	return problem_set(e->p, e->a, ERR_INTERNAL, "the file %s cannot be written: %s",
		bare_text(e->a, name, 200), strerror(errno));
}

static int write_all(int fd, const char *at, size_t left)
{
	while (left) {
		ssize_t n = write(fd, at, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		at += n;
		left -= (size_t)n;
	}
	return 0;
}

static int export_file(
	struct exporting *e, int folder, const char *name, const git_oid *id, bool runs)
{
	git_object *object = NULL;
	const git_blob *blob;
	size_t size = 0, room = (size_t)(BARE_EXPORT_BYTES_MAX - e->done->bytes);
	int fd, err;

	if (++e->done->files > BARE_EXPORT_FILES_MAX)
		return problem_set(e->p, e->a, ERR_TOO_LARGE, "the commit has more than %d files",
			BARE_EXPORT_FILES_MAX);
	err = bare_measure(e->b, id, GIT_OBJECT_BLOB, room, &size, e->a, e->p);
	if (err == ERR_TOO_LARGE)
		return problem_set(e->p, e->a, err, "the files of the commit have more than %d MiB",
			BARE_EXPORT_BYTES_MAX >> 20);
	if (err == ERR_NOT_FOUND)
		return bare_unreadable(e->a, e->p);
	if (!err)
		err = bare_object_read(e->b, id, GIT_OBJECT_BLOB, size, &object, e->a, e->p);
	if (err)
		return err;
	blob = (const git_blob *)object;
	e->done->bytes += (int64_t)size;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		runs ? 0755 : 0644);
	if (fd < 0 || write_all(fd, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob)))
		err = export_fault(e, name);
	if (fd >= 0)
		close(fd);
	git_object_free(object);
	return err;
}

static int export_tree(struct exporting *e, int folder, const git_oid *id, int depth);

static int export_folder(
	struct exporting *e, int folder, const char *name, const git_oid *id, int depth)
{
	int fd, err;

	if (depth > BARE_EXPORT_DEPTH_MAX)
		return problem_set(e->p, e->a, ERR_TOO_LARGE,
			"the folders of the commit are more than %d deep", BARE_EXPORT_DEPTH_MAX);
	if (++e->done->files > BARE_EXPORT_FILES_MAX)
		return problem_set(e->p, e->a, ERR_TOO_LARGE, "the commit has more than %d files",
			BARE_EXPORT_FILES_MAX);
	if (mkdirat(folder, name, 0755))
		return export_fault(e, name);
	fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return export_fault(e, name);
	err = export_tree(e, fd, id, depth);
	close(fd);
	return err;
}

/* Bounded: each step goes one folder deeper. */
static int export_tree( // NOLINT(misc-no-recursion)
	struct exporting *e, int folder, const git_oid *id, int depth)
{
	git_tree *tree = NULL;
	int err = bare_tree_read(e->b, id, &tree, e->a, e->p);
	size_t count = err ? 0 : git_tree_entrycount(tree);

	if (err == ERR_NOT_FOUND)
		err = bare_unreadable(e->a, e->p);
	for (size_t i = 0; !err && i < count; i++) {
		const git_tree_entry *one = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(one);
		git_filemode_t mode = git_tree_entry_filemode(one);

		if (strchr(name, '/') || bare_path_fault(name))
			err = problem_set(e->p, e->a, ERR_INVALID,
				"the commit has a file whose name is not taken: %s",
				bare_text(e->a, name, 200));
		else if (mode == GIT_FILEMODE_TREE)
			err = export_folder(e, folder, name, git_tree_entry_id(one), depth + 1);
		else if (mode == GIT_FILEMODE_LINK || mode == GIT_FILEMODE_COMMIT)
			e->done->left_out++;
		else
			err = export_file(e, folder, name, git_tree_entry_id(one),
				mode == GIT_FILEMODE_BLOB_EXECUTABLE);
	}
	git_tree_free(tree);
	return err;
}

int bare_export(struct bare *b, const char *commit, int folder, struct bare_exported *ret,
	struct arena *a, struct problem *p)
{
	struct exporting e = { .b = b, .done = ret, .a = a, .p = p };
	git_commit *c = NULL;
	git_oid id;
	int err = git_oid_fromstr(&id, commit) ? ERR_NOT_FOUND : bare_commit_read(b, &id, &c, a, p);

	*ret = (struct bare_exported){ 0 };
	if (!err)
		err = export_tree(&e, folder, git_commit_tree_id(c), 0);
	git_commit_free(c);
	return err;
}
