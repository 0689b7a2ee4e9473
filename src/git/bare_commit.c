/* bare_commit.c - commits of our own; see bare.h.
 *
 * A branch is only moved from the commit that the caller has seen: the library
 * compares under the ref's lock, as git itself does, so that a push in between
 * is never lost. */
#include "git/bare_parts.h"

#include <string.h>

#include "git/stale_lock.h"

#define MOVED "The branch has changed meanwhile, or somebody is changing it: read it again."

/* What a folder would have to take the place of, or the other way around. */
static int check_place(
	struct bare *b, const char *onto, const char *path, struct arena *a, struct problem *p)
{
	for (const char *end = strchr(path, '/');; end = strchr(end + 1, '/')) {
		const char *part = end ? arena_strndup(a, path, (size_t)(end - path)) : path;
		struct bare_entry e;
		int err = bare_entry(b, onto, part, &e, a, p);

		if (err)
			return err == ERR_NOT_FOUND ? 0 : err;
		if ((e.kind == BARE_FOLDER) == !end)
			return problem_set(p, a, ERR_CONFLICT,
				"In the repository %s is %s, and the file %s cannot be put there.",
				part, end ? "no folder" : "a folder", path);
		if (!end)
			return 0;
	}
}

static int make_tree(struct bare *b, const struct bare_committing *in, git_tree *base, git_oid *ret,
	struct arena *a, struct problem *p)
{
	git_tree_update updates[BARE_COMMIT_FILES_MAX];
	int err;

	for (size_t i = 0; i < in->count; i++) {
		err = in->onto ? check_place(b, in->onto, in->files[i].path, a, p) : 0;

		if (err)
			return err;
		updates[i] = (git_tree_update){ .action = GIT_TREE_UPDATE_UPSERT,
			.filemode = GIT_FILEMODE_BLOB,
			.path = in->files[i].path };
		if (git_blob_create_from_buffer(
			    &updates[i].id, b->repo, in->files[i].bytes, in->files[i].len))
			return bare_unwritten(a, p);
	}
	bare_read_begin(BARE_TREE_MAX); /* it reads the folders on the way once more */
	err = git_tree_create_updated(ret, b->repo, base, in->count, updates);
	bare_read_end();
	return err ? bare_unwritten(a, p) : 0;
}

/* Names are people's own: what would end one is left out. */
static const char *signable(struct arena *a, const char *text, const char *otherwise)
{
	char *copy = arena_strdup(a, bare_text(a, text, 200)), *to = copy;

	for (const char *c = copy; *c; c++)
		if (*c != '<' && *c != '>')
			*to++ = *c;
	*to = '\0';
	return copy[strspn(copy, " .,:;\"'\\")] ? copy : otherwise;
}

static int write_commit(struct bare *b, const struct bare_committing *in, git_commit *parent,
	const git_oid *tree_id, git_oid *ret, struct arena *a, struct problem *p)
{
	const git_commit *parents[] = { parent };
	git_signature *who = NULL;
	git_tree *tree = NULL;
	int err = bare_tree_read(b, tree_id, &tree, a, p), why;

	if (!err && git_signature_new(&who, signable(a, in->name, "Lodge"),
			    signable(a, in->email, "lodge@localhost"), in->at, 0))
		err = bare_unwritten(a, p);
	if (!err) {
		const char *ref = in->branch ? arena_printf(a, "refs/heads/%s", in->branch) : NULL;

		if (ref)
			stale_lock_drop(git_repository_path(b->repo), ref);
		why = git_commit_create(ret, b->repo, ref, who, who, NULL, in->message, tree,
			parent ? 1 : 0, parents);
		if (why == GIT_EMODIFIED || why == GIT_ELOCKED || why == GIT_EEXISTS)
			err = problem_set(p, a, ERR_CONFLICT, MOVED);
		else if (why)
			err = bare_unwritten(a, p);
	}
	git_signature_free(who);
	git_tree_free(tree);
	return err;
}

int bare_commit(struct bare *b, const struct bare_committing *in, char ret[BARE_ID_LEN + 1],
	struct arena *a, struct problem *p)
{
	git_commit *parent = NULL;
	git_tree *base = NULL;
	git_oid onto, tree, made;
	int err = 0;

	if (in->onto)
		err = git_oid_fromstr(&onto, in->onto) ? ERR_NOT_FOUND
						       : bare_commit_read(b, &onto, &parent, a, p);
	if (!err && parent)
		err = bare_tree_read(b, git_commit_tree_id(parent), &base, a, p);
	if (!err)
		err = make_tree(b, in, base, &tree, a, p);
	if (!err && parent && git_oid_equal(&tree, git_commit_tree_id(parent)))
		made = onto; /* it is all there */
	else if (!err)
		err = write_commit(b, in, parent, &tree, &made, a, p);
	if (!err)
		git_oid_tostr(ret, BARE_ID_LEN + 1, &made);
	git_tree_free(base);
	git_commit_free(parent);
	return err;
}

int bare_move(struct bare *b, const char *branch, const char *from, const char *to, struct arena *a,
	struct problem *p)
{
	const char *name = arena_printf(a, "refs/heads/%s", branch);
	git_reference *ref = NULL;
	git_oid was, is;
	int why;

	if (git_oid_fromstr(&is, to) || (from && git_oid_fromstr(&was, from)))
		return ERR_NOT_FOUND;
	why = from ? git_reference_create_matching(&ref, b->repo, name, &is, 1, &was, NULL)
		   : git_reference_create(&ref, b->repo, name, &is, 0, NULL);
	git_reference_free(ref);
	if (why == GIT_EMODIFIED || why == GIT_ELOCKED || why == GIT_EEXISTS ||
		why == GIT_ENOTFOUND)
		return problem_set(p, a, ERR_CONFLICT, MOVED);
	return why ? bare_unwritten(a, p) : 0;
}
