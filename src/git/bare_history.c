/* bare_history.c - which commits changed a file; see bare.h.
 *
 * Commits are visited by time, newest first.  One whose file is as in one of its
 * parents did not change it, and only that parent is followed, as `git log`
 * does: what is on the other side came to nothing.  The library has no such
 * walk, and its own would read a commit before anybody could ask for its size.
 * A folder that is the same as in the commit before is not read again. */
#include "git/bare_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	NODES_MAX = 3 * BARE_WALK_MAX,
	BUCKETS = 16384, /* a power of two, more than twice the nodes */
	LEVELS_MAX = 32,
	TITLE_BYTES = 500,
	NAME_BYTES = 200,
};

/* What is by the path in a commit. */
struct found {
	git_oid id;
	git_filemode_t mode; /* 0: nothing */
};

struct node {
	git_commit *commit; /* until it was visited */
	struct found found;
	git_time_t at;
	bool queued;
};

/* What was last seen of a folder on the way: what is in it by the next part of the path. */
struct level {
	git_oid tree;
	bool known;
	struct found child;
};

struct walk {
	struct bare *b;
	struct arena *a;
	struct problem *p;
	const char *path;
	struct level levels[LEVELS_MAX];
	struct node nodes[NODES_MAX];
	git_oid ids[NODES_MAX];
	size_t count;
	uint16_t buckets[BUCKETS]; /* a node's place and one, by its id; 0: none */
	uint16_t heap[NODES_MAX];  /* of those to be visited, the newest first */
	size_t waiting, visited;
};

/* ---- the path ---- */

static bool same_found(const struct found *one, const struct found *other)
{
	return one->mode == other->mode && (!one->mode || git_oid_equal(&one->id, &other->id));
}

/* What a folder has by one part of the path. */
static int look_in(struct walk *w, size_t level, const git_oid *tree_id, const char *part,
	size_t len, struct found *ret)
{
	struct level *l = &w->levels[level];
	const git_tree_entry *e;
	git_tree *tree = NULL;
	char name[1024 + 1];
	int err;

	*ret = (struct found){ .mode = 0 };
	if (len >= sizeof name)
		return 0;
	if (l->known && git_oid_equal(&l->tree, tree_id)) {
		*ret = l->child;
		return 0;
	}
	err = bare_tree_read(w->b, tree_id, &tree, w->a, w->p);
	if (err)
		return err;
	memcpy(name, part, len);
	name[len] = '\0';
	e = git_tree_entry_byname(tree, name);
	if (e) {
		git_oid_cpy(&ret->id, git_tree_entry_id(e));
		ret->mode = git_tree_entry_filemode(e);
	}
	git_tree_free(tree);
	git_oid_cpy(&l->tree, tree_id);
	l->known = true;
	l->child = *ret;
	return 0;
}

static int find_path(struct walk *w, const git_oid *root, struct found *ret)
{
	const char *at = w->path;
	git_oid tree = *root;

	*ret = (struct found){ .mode = 0 };
	if (!*at) {
		*ret = (struct found){ *root, GIT_FILEMODE_TREE };
		return 0;
	}
	for (size_t level = 0; level < LEVELS_MAX; level++) {
		size_t n = strcspn(at, "/");
		int err = look_in(w, level, &tree, at, n, ret);

		if (err || !ret->mode || !at[n])
			return err;
		if (ret->mode != GIT_FILEMODE_TREE)
			break;
		tree = ret->id;
		at += n + 1;
	}
	*ret = (struct found){ .mode = 0 };
	return 0;
}

/* ---- commits to visit ---- */

static size_t bucket_of(const git_oid *id)
{
	uint32_t n;

	memcpy(&n, id->id, sizeof n);
	return n & (BUCKETS - 1);
}

static bool is_newer(const struct walk *w, uint16_t one, uint16_t other)
{
	return w->nodes[one].at != w->nodes[other].at ? w->nodes[one].at > w->nodes[other].at
						      : one < other;
}

static void swap_places(struct walk *w, size_t one, size_t other)
{
	uint16_t kept = w->heap[one];

	w->heap[one] = w->heap[other];
	w->heap[other] = kept;
}

static void push_node(struct walk *w, uint16_t node)
{
	size_t at = w->waiting;

	if (w->nodes[node].queued)
		return;
	w->nodes[node].queued = true;
	w->waiting++;
	w->heap[at] = node;
	while (at && is_newer(w, w->heap[at], w->heap[(at - 1) / 2])) {
		swap_places(w, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static uint16_t pop_node(struct walk *w)
{
	uint16_t first = w->heap[0];
	size_t at = 0;

	w->heap[0] = w->heap[--w->waiting];
	for (;;) {
		size_t next = 2 * at + 1;

		if (next >= w->waiting)
			return first;
		if (next + 1 < w->waiting && is_newer(w, w->heap[next + 1], w->heap[next]))
			next++;
		if (!is_newer(w, w->heap[next], w->heap[at]))
			return first;
		swap_places(w, at, next);
		at = next;
	}
}

/* The commit's node, made if it is new; NODES_MAX: there is no room for more. */
static int node_of(struct walk *w, const git_oid *id, size_t *ret)
{
	size_t at = bucket_of(id);
	struct node *n;
	int err;

	for (; w->buckets[at]; at = (at + 1) & (BUCKETS - 1))
		if (git_oid_equal(&w->ids[w->buckets[at] - 1], id)) {
			*ret = w->buckets[at] - 1u;
			return 0;
		}
	*ret = w->count;
	if (w->count == NODES_MAX)
		return 0;
	n = &w->nodes[w->count];
	err = bare_commit_read(w->b, id, &n->commit, w->a, w->p);
	if (err)
		return err;
	w->ids[w->count] = *id;
	w->buckets[at] = (uint16_t)++w->count;
	n->at = git_commit_time(n->commit);
	return find_path(w, git_commit_tree_id(n->commit), &n->found);
}

/* ---- the walk ---- */

static void note_change(struct walk *w, git_commit *c, struct bare_change *ret)
{
	const git_signature *author = git_commit_author(c);
	const char *title = git_commit_summary(c);

	git_oid_tostr(ret->id, sizeof ret->id, git_commit_id(c));
	ret->title = bare_text(w->a, title ? title : "", TITLE_BYTES);
	ret->author_name = bare_text(w->a, author->name, NAME_BYTES);
	ret->author_email = bare_text(w->a, author->email, NAME_BYTES);
	ret->at = git_commit_time(c);
	ret->offset_min = git_commit_time_offset(c);
}

/* Looks at the parents: true in *ret_changed if the file is in none of them as it is here. */
static int visit(struct walk *w, const struct node *n, bool *ret_changed)
{
	unsigned parents = git_commit_parentcount(n->commit);
	size_t ahead[BARE_PARENTS_MAX], count = 0;
	bool same = false;

	parents = parents > BARE_PARENTS_MAX ? BARE_PARENTS_MAX : parents;
	for (unsigned i = 0; !same && i < parents; i++) {
		size_t at;
		int err = node_of(w, git_commit_parent_id(n->commit, i), &at);

		if (err == ERR_NOT_FOUND || (!err && at == NODES_MAX))
			continue; /* it is not here, as of a shallow push; or too much is */
		if (err)
			return err;
		same = *w->path && same_found(&w->nodes[at].found, &n->found);
		if (same)
			count = 0;
		ahead[count++] = at;
	}
	for (size_t i = 0; i < count; i++)
		push_node(w, (uint16_t)ahead[i]);
	*ret_changed = !same && (!*w->path || parents || n->found.mode);
	return 0;
}

static int walk_on(struct walk *w, struct bare_change *changes, size_t most, size_t *ret)
{
	int err = 0;

	while (!err && w->waiting && *ret < most && w->visited++ < BARE_WALK_MAX) {
		struct node *n = &w->nodes[pop_node(w)];
		bool changed = false;

		err = visit(w, n, &changed);
		if (!err && changed)
			note_change(w, n->commit, &changes[(*ret)++]);
		git_commit_free(n->commit);
		n->commit = NULL;
	}
	return err;
}

int bare_history(struct bare *b, const char *from, const char *path, size_t most, struct arena *a,
	struct list *ret, struct problem *p)
{
	struct bare_change *changes = arena_array(a, struct bare_change, most + 1);
	struct walk *w = memory_zeroed(sizeof *w);
	size_t at = 0, count = 0;
	git_oid id;
	int err;

	w->b = b;
	w->a = a;
	w->p = p;
	w->path = path;
	err = git_oid_fromstr(&id, from) ? ERR_NOT_FOUND : node_of(w, &id, &at);
	if (!err) {
		push_node(w, (uint16_t)at);
		err = walk_on(w, changes, most, &count);
	}
	for (size_t i = 0; i < w->count; i++)
		git_commit_free(w->nodes[i].commit);
	free(w);
	*ret = (struct list){ changes, count };
	return err;
}
