/* bare_refs.c - branches and tags; see bare.h. */
#include "git/bare_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "git/ref_files.h"

static const char *const prefixes[] = {
	[BARE_BRANCHES] = "refs/heads/", [BARE_TAGS] = "refs/tags/"
};

struct ref_list {
	struct arena *a;
	const char **names;
	size_t count, room, bytes, skip;
	bool complete;
};

static int take_ref(const char *name, void *data)
{
	struct ref_list *l = data;
	size_t len = strlen(name + l->skip);

	/* One may come twice. */
	if (l->count == 2 * BARE_REFS_MAX || l->bytes + len > 2 * BARE_REFS_BYTES_MAX) {
		l->complete = false;
		return 1; /* enough */
	}
	if (!utf8_valid(name + l->skip, len)) {
		l->complete = false;
		return 0;
	}
	if (l->count == l->room) {
		const char **grown = arena_array(l->a, const char *, 2 * l->room);

		memcpy(grown, l->names, l->count * sizeof *grown);
		l->names = grown;
		l->room *= 2;
	}
	l->names[l->count++] = arena_strndup(l->a, name + l->skip, len);
	l->bytes += len;
	return 0;
}

static int by_name(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* Each once, in order, and not more than are listed. */
static void put_in_order(struct ref_list *l)
{
	size_t kept = 0, bytes = 0;

	qsort(l->names, l->count, sizeof *l->names, by_name);
	for (size_t i = 0; i < l->count; i++) {
		if (kept && strcmp(l->names[kept - 1], l->names[i]) == 0)
			continue;
		bytes += strlen(l->names[i]);
		if (kept == BARE_REFS_MAX || bytes > BARE_REFS_BYTES_MAX) {
			l->complete = false;
			break;
		}
		l->names[kept++] = l->names[i];
	}
	l->count = kept;
}

int bare_refs(struct bare *b, enum bare_refs which, struct arena *a, struct list *ret,
	bool *ret_complete, struct problem *p)
{
	enum { ROOM = 64 };
	struct ref_list l = { .a = a,
		.names = arena_array(a, const char *, ROOM),
		.room = ROOM,
		.skip = strlen(prefixes[which]),
		.complete = true };

	if (ref_files_each(git_repository_path(b->repo), prefixes[which], take_ref, &l) < 0)
		return bare_unreadable(a, p);
	put_in_order(&l);
	*ret = (struct list){ l.names, l.count };
	*ret_complete = l.complete;
	return 0;
}

/* Its commit, behind however many tags. */
static int look_up_ref(struct bare *b, const char *prefix, const char *name, git_reference **ret,
	struct arena *a, struct problem *p)
{
	int err = git_reference_lookup(ret, b->repo, arena_printf(a, "%s%s", prefix, name));

	if (err == GIT_ENOTFOUND || err == GIT_EINVALIDSPEC)
		return ERR_NOT_FOUND;
	return err ? bare_unreadable(a, p) : 0;
}

int bare_has_ref(struct bare *b, const char *name, bool *ret, struct arena *a, struct problem *p)
{
	int err = ERR_NOT_FOUND;

	for (int i = BARE_BRANCHES; err == ERR_NOT_FOUND && i <= BARE_TAGS; i++) {
		git_reference *ref = NULL;

		err = look_up_ref(b, prefixes[i], name, &ref, a, p);
		git_reference_free(ref);
	}
	*ret = !err;
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* A tag may name a tag, and so on: a few are followed. */
static int peel(struct bare *b, git_oid *id, struct arena *a, struct problem *p)
{
	enum { TAGS_DEEP = 8 };

	for (int i = 0; i < TAGS_DEEP; i++) {
		git_tag *tag = NULL;
		int err = bare_tag_read(b, id, &tag, a, p);

		if (err == ERR_NOT_FOUND)
			return bare_measure(b, id, GIT_OBJECT_COMMIT, BARE_COMMIT_MAX, NULL, a, p);
		if (err)
			return err;
		git_oid_cpy(id, git_tag_target_id(tag));
		git_tag_free(tag);
	}
	return ERR_NOT_FOUND;
}

static int commit_of_ref(struct bare *b, const char *prefix, const char *name,
	char ret[BARE_ID_LEN + 1], struct arena *a, struct problem *p)
{
	git_reference *ref = NULL, *direct = NULL;
	git_oid id;
	int err = look_up_ref(b, prefix, name, &ref, a, p);

	if (err)
		return err;
	if (git_reference_resolve(&direct, ref)) {
		git_reference_free(ref);
		return ERR_NOT_FOUND;
	}
	git_oid_cpy(&id, git_reference_target(direct));
	git_reference_free(direct);
	git_reference_free(ref);
	err = peel(b, &id, a, p);
	if (!err)
		git_oid_tostr(ret, BARE_ID_LEN + 1, &id);
	return err;
}

int bare_ref_id(struct bare *b, const char *name, char ret[BARE_ID_LEN + 1], struct arena *a,
	struct problem *p)
{
	git_oid id;
	int err = git_reference_name_to_id(&id, b->repo, name);

	*ret = '\0';
	if (!err)
		git_oid_tostr(ret, BARE_ID_LEN + 1, &id);
	return !err || err == GIT_ENOTFOUND || err == GIT_EINVALIDSPEC ? 0 : bare_unreadable(a, p);
}

int bare_tip(struct bare *b, const char *branch, char ret[BARE_ID_LEN + 1], struct arena *a,
	struct problem *p)
{
	return commit_of_ref(b, prefixes[BARE_BRANCHES], branch, ret, a, p);
}

int bare_commit_of(struct bare *b, const char *ref, char ret[BARE_ID_LEN + 1], struct arena *a,
	struct problem *p)
{
	git_oid id;
	int err;

	if (!ref_name_is_id(ref)) {
		if (ref_name_fault(ref))
			return ERR_NOT_FOUND;
		err = commit_of_ref(b, prefixes[BARE_BRANCHES], ref, ret, a, p);
		return err == ERR_NOT_FOUND ? commit_of_ref(b, prefixes[BARE_TAGS], ref, ret, a, p)
					    : err;
	}
	/* Never a branch that somebody named like a commit. */
	if (git_oid_fromstr(&id, ref))
		return ERR_NOT_FOUND;
	err = peel(b, &id, a, p);
	if (!err)
		git_oid_tostr(ret, BARE_ID_LEN + 1, &id);
	return err;
}
