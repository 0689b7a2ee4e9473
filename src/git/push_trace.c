/* push_trace.c - see push_trace.h. */
#include "git/push_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "git/bare.h"

enum { PACKS_MAX = 100000, FOLDERS_OPEN = 8 };

/* ---- refs ---- */

/* Where the ref of each command stands. */
static bool read_refs(
	const struct push *p, const char *path, char (*ids)[GIT_ID_LEN + 1], struct arena *a)
{
	struct problem problem = { 0 };
	struct bare *b = NULL;
	int err = bare_open(&b, path, a, &problem);

	for (size_t i = 0; !err && i < p->count; i++)
		err = bare_ref_id(b, p->commands[i].ref, ids[i], a, &problem);
	bare_close(b);
	return !err;
}

/* ---- packs ---- */

static int by_name(const void *one, const void *other)
{
	return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static bool list_packs(struct push_trace *t, struct arena *a)
{
	const struct dirent *e;
	DIR *d = opendir(arena_printf(a, "%s/objects/pack", t->path));
	size_t room = 64;

	t->packs = arena_array(a, const char *, room);
	t->count = 0;
	if (!d)
		return errno == ENOENT;
	while (t->count < PACKS_MAX && (e = readdir(d))) {
		if (t->count == room) {
			const char **grown = arena_array(a, const char *, 2 * room);

			memcpy(grown, t->packs, t->count * sizeof *grown);
			t->packs = grown;
			room *= 2;
		}
		t->packs[t->count++] = arena_strdup(a, e->d_name);
	}
	closedir(d);
	qsort(t->packs, t->count, sizeof *t->packs, by_name);
	return t->count < PACKS_MAX;
}

static bool is_index(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".idx") == 0;
}

/* A pack without its index is none, so that goes first. */
static size_t drop_new(const struct push_trace *t, bool indexes, struct arena *a)
{
	const struct dirent *e;
	DIR *d = opendir(arena_printf(a, "%s/objects/pack", t->path));
	size_t n = 0;

	while (d && (e = readdir(d))) {
		const char *name = e->d_name;

		if (strncmp(name, "pack-", 5) == 0 && is_index(name) == indexes &&
			!bsearch(&name, t->packs, t->count, sizeof *t->packs, by_name))
			n += unlinkat(dirfd(d), name, 0) == 0;
	}
	if (d)
		closedir(d);
	return n;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path) && errno != ENOENT ? errno : 0;
}

/* Where git puts the objects of a push until they are whole: nobody else pushes, so that none of these is anybody's. */
static void drop_quarantines(const char *path, struct arena *a)
{
	const char *objects = arena_printf(a, "%s/objects", path);
	const struct dirent *e;
	DIR *d = opendir(objects);

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, "tmp_objdir-incoming-", 20) == 0 ||
			strncmp(e->d_name, "incoming-", 9) == 0)
			nftw(arena_printf(a, "%s/%s", objects, e->d_name), remove_one, FOLDERS_OPEN,
				FTW_DEPTH | FTW_PHYS);
	if (d)
		closedir(d);
}

/* ---- a push ---- */

void push_trace_begin(struct push_trace *t, const struct push *p, const char *path, struct arena *a)
{
	*t = (struct push_trace){ .path = path };
	t->ids = arena_raw(a, (p->count + 1) * sizeof *t->ids, 1);
	drop_quarantines(path, a);
	t->known = list_packs(t, a) && read_refs(p, path, t->ids, a);
}

void push_trace_end(struct push_trace *t, struct push *p, struct arena *a)
{
	char(*now)[GIT_ID_LEN + 1] = arena_raw(a, (p->count + 1) * sizeof *now, 1);
	bool moved = false;
	size_t n;

	drop_quarantines(t->path, a);
	if (!t->known || !read_refs(p, t->path, now, a))
		return; /* what git said of it stands */
	for (size_t i = 0; i < p->count; i++) {
		struct push_command *one = &p->commands[i];

		moved = moved || strcmp(t->ids[i], now[i]) != 0;
		one->done = strcmp(now[i], one->new_id) == 0 && strcmp(t->ids[i], now[i]) != 0;
	}
	if (moved)
		return;
	n = drop_new(t, true, a);
	n += drop_new(t, false, a);
	if (n)
		log_info("the objects of a push that moved nothing were removed",
			LOG_S("repository", t->path), LOG_N("files", (int64_t)n));
}
