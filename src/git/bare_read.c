/* bare_read.c - folders and files of a commit, as objects; see bare.h. */
#include "git/bare_parts.h"

#include <string.h>

#include "base/utf8.h"

static enum bare_kind kind_of(git_filemode_t mode)
{
	switch (mode) {
	case GIT_FILEMODE_TREE:
		return BARE_FOLDER;
	case GIT_FILEMODE_BLOB_EXECUTABLE:
		return BARE_PROGRAM;
	case GIT_FILEMODE_LINK:
		return BARE_LINK;
	case GIT_FILEMODE_COMMIT:
		return BARE_MODULE;
	default:
		return BARE_FILE;
	}
}

static int root_of(
	struct bare *b, const char *commit, git_tree **ret, struct arena *a, struct problem *p)
{
	git_commit *c = NULL;
	git_oid id;
	int err = git_oid_fromstr(&id, commit) ? ERR_NOT_FOUND : bare_commit_read(b, &id, &c, a, p);

	if (!err)
		err = bare_tree_read(b, git_commit_tree_id(c), ret, a, p);
	git_commit_free(c);
	return err;
}

static void fill_entry(struct arena *a, const git_tree_entry *e, struct bare_entry *ret)
{
	char *name = arena_strdup(a, git_tree_entry_name(e));

	utf8_clean(name, strlen(name));
	ret->name = name;
	ret->kind = kind_of(git_tree_entry_filemode(e));
	ret->size = NIL;
	git_oid_tostr(ret->id, sizeof ret->id, git_tree_entry_id(e));
}

/* Part by part, through folders alone. */
int bare_entry(struct bare *b, const char *commit, const char *path, struct bare_entry *ret,
	struct arena *a, struct problem *p)
{
	git_tree *tree = NULL;
	int err = root_of(b, commit, &tree, a, p);

	for (const char *at = path; !err;) {
		size_t n = strcspn(at, "/");
		const git_tree_entry *e = git_tree_entry_byname(tree, arena_strndup(a, at, n));
		git_tree *next = NULL;

		if (!e) {
			err = ERR_NOT_FOUND;
			break;
		}
		if (!at[n]) {
			fill_entry(a, e, ret);
			break;
		}
		err = kind_of(git_tree_entry_filemode(e)) == BARE_FOLDER
			      ? bare_tree_read(b, git_tree_entry_id(e), &next, a, p)
			      : ERR_NOT_FOUND;
		git_tree_free(tree);
		tree = next;
		at += n + 1;
	}
	git_tree_free(tree);
	return err;
}

static int open_folder(struct bare *b, const char *commit, const char *path, git_tree **ret,
	struct arena *a, struct problem *p)
{
	struct bare_entry e;
	git_oid id;
	int err;

	if (!*path)
		return root_of(b, commit, ret, a, p);
	err = bare_entry(b, commit, path, &e, a, p);
	if (!err && e.kind != BARE_FOLDER)
		err = ERR_NOT_FOUND;
	if (!err && git_oid_fromstr(&id, e.id))
		err = ERR_NOT_FOUND;
	return err ? err : bare_tree_read(b, &id, ret, a, p);
}

/* The place behind an entry; what is there no more is as if at the end. */
static size_t place_after(const git_tree *tree, const char *after)
{
	size_t count = git_tree_entrycount(tree);

	for (size_t i = 0; after && i < count; i++)
		if (strcmp(git_tree_entry_name(git_tree_entry_byindex(tree, i)), after) == 0)
			return i + 1;
	return after ? count : 0;
}

int bare_folder(struct bare *b, const char *commit, const char *path, const char *after,
	size_t most, struct arena *a, struct list *ret, bool *ret_more, struct problem *p)
{
	struct bare_entry *found = arena_array(a, struct bare_entry, most + 1);
	struct problem unsized = { 0 }; /* one that is not there only has no size */
	git_tree *tree = NULL;
	size_t at, count, n = 0;
	int err = open_folder(b, commit, path, &tree, a, p);

	if (err)
		return err;
	count = git_tree_entrycount(tree);
	for (at = place_after(tree, after); at < count && n < most; at++) {
		const git_tree_entry *e = git_tree_entry_byindex(tree, at);
		size_t size = 0;

		fill_entry(a, e, &found[n]);
		if (found[n].kind <= BARE_PROGRAM &&
			bare_measure(b, git_tree_entry_id(e), GIT_OBJECT_BLOB, SIZE_MAX, &size, a,
				&unsized) == 0)
			found[n].size = (int64_t)size;
		n++;
	}
	git_tree_free(tree);
	*ret = (struct list){ found, n };
	*ret_more = at < count;
	return 0;
}

int bare_bytes(struct bare *b, const char *id, size_t most, struct arena *a, const char **ret,
	size_t *ret_len, struct problem *p)
{
	git_object *object = NULL;
	const git_blob *blob;
	git_oid oid;
	size_t size = 0;
	char *copy;
	int err = git_oid_fromstr(&oid, id)
			  ? ERR_NOT_FOUND
			  : bare_measure(b, &oid, GIT_OBJECT_BLOB, most, &size, a, p);

	if (!err && size > ARENA_LARGE && !arena_room(a, size + 1))
		err = ERR_BUSY;
	if (!err)
		err = bare_object_read(b, &oid, GIT_OBJECT_BLOB, size, &object, a, p);
	if (err)
		return err;
	blob = (const git_blob *)object;
	size = (size_t)git_blob_rawsize(blob);
	copy = arena_raw(a, size + 1, 1);
	memcpy(copy, git_blob_rawcontent(blob), size);
	copy[size] = '\0';
	git_object_free(object);
	*ret = copy;
	*ret_len = size;
	return 0;
}
