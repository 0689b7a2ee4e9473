/* history_cache.c - histories that were walked are kept for who asks next, by repository, commit and path; see bare.h.
 *
 * What a commit says never changes, so that nothing here is ever wrong, only
 * no longer asked for: what was used longest ago goes first.  The repository is
 * part of the name although the commit would do: nobody is told of commits
 * that another repository has, because they know one of them. */
#include "git/bare_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "git/git_log.h"

enum {
	ENTRIES = 1024,
	BYTES_MAX = 8 << 20, /* of all */
	ONE_MAX = 256 << 10, /* of one; a longer one is walked each time */
};

/* One piece of memory: its name, then the changes, then their texts. */
struct kept {
	uint64_t digest, used;
	size_t most, count, bytes;
	char *name; /* NULL: there is none */
	struct bare_change *changes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept entries[ENTRIES]; /* the lock's, as what follows */
static size_t bytes_kept;
static uint64_t clock_used;
static _Atomic uint64_t hits, misses;

static uint64_t digest_of(const char *name)
{
	uint64_t h = 14695981039346656037u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 1099511628211u;
	return h;
}

static struct kept *find(const char *name, uint64_t digest)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].name && entries[i].digest == digest &&
			strcmp(entries[i].name, name) == 0)
			return &entries[i];
	return NULL;
}

static void drop(struct kept *k)
{
	bytes_kept -= k->bytes;
	free(k->name);
	*k = (struct kept){ 0 };
}

/* A free place, for which others go while there are too many bytes. */
static struct kept *make_room(size_t bytes)
{
	for (;;) {
		struct kept *oldest = NULL, *free_one = NULL;

		for (size_t i = 0; i < ENTRIES; i++)
			if (!entries[i].name)
				free_one = &entries[i];
			else if (!oldest || entries[i].used < oldest->used)
				oldest = &entries[i];
		if (free_one && bytes_kept + bytes <= BYTES_MAX)
			return free_one;
		drop(oldest); /* there is one: a single one is smaller than all may be */
	}
}

static char *put_text(char **to, const char *text)
{
	char *at = *to;
	size_t n = strlen(text) + 1;

	memcpy(at, text, n);
	*to += n;
	return at;
}

static size_t bytes_of(const char *name, const struct bare_change *c, size_t count)
{
	size_t n = strlen(name) + 1 + _Alignof(struct bare_change) + count * sizeof *c;

	for (size_t i = 0; i < count; i++)
		n += strlen(c[i].title) + strlen(c[i].author_name) + strlen(c[i].author_email) + 3;
	return n;
}

static void keep(const char *name, size_t most, const struct bare_change *c, size_t count)
{
	const size_t bytes = bytes_of(name, c, count), head = strlen(name) + 1,
		     align = _Alignof(struct bare_change);
	struct bare_change *changes;
	struct kept *k;
	char *piece, *text;

	if (bytes > ONE_MAX)
		return;
	piece = memory_must(bytes);
	memcpy(piece, name, head);
	changes = (struct bare_change *)(piece + (head + align - 1) / align * align);
	text = (char *)(changes + count);
	for (size_t i = 0; i < count; i++) {
		changes[i] = c[i];
		changes[i].title = put_text(&text, c[i].title);
		changes[i].author_name = put_text(&text, c[i].author_name);
		changes[i].author_email = put_text(&text, c[i].author_email);
	}
	pthread_mutex_lock(&lock);
	k = find(name, digest_of(name));
	if (k)
		drop(k);
	k = make_room(bytes);
	*k = (struct kept){ digest_of(name), ++clock_used, most, count, bytes, piece, changes };
	bytes_kept += bytes;
	pthread_mutex_unlock(&lock);
}

/* One that was walked for fewer serves nobody who asks for more, unless there were no more. */
static bool take(const char *name, size_t most, struct arena *a, struct list *ret)
{
	struct bare_change *to = NULL;
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = find(name, digest_of(name));
	if (k && (k->most >= most || k->count < k->most)) {
		size_t count = k->count < most ? k->count : most;

		k->used = ++clock_used;
		to = arena_array(a, struct bare_change, count + 1);
		for (size_t i = 0; i < count; i++) {
			to[i] = k->changes[i];
			to[i].title = arena_strdup(a, to[i].title);
			to[i].author_name = arena_strdup(a, to[i].author_name);
			to[i].author_email = arena_strdup(a, to[i].author_email);
		}
		*ret = (struct list){ to, count };
	}
	pthread_mutex_unlock(&lock);
	return to;
}

/* By git where it is faster and goes further, else by ourselves. */
static int walk(struct bare *b, const char *from, const char *path, size_t most, struct arena *a,
	struct list *ret, struct problem *p)
{
	const char *repository = git_repository_path(b->repo);

	if (*path && git_log_fits(repository, a) &&
		git_log_history(repository, from, path, most, a, ret))
		return 0;
	return bare_history(b, from, path, most, a, ret, p);
}

int bare_history_kept(struct bare *b, const char *from, const char *path, size_t most,
	struct arena *a, struct list *ret, struct problem *p)
{
	const char *name = arena_printf(a, "%s %s %s", from, path, git_repository_path(b->repo));
	int err;

	if (take(name, most, a, ret)) {
		atomic_fetch_add(&hits, 1);
		return 0;
	}
	atomic_fetch_add(&misses, 1);
	err = walk(b, from, path, most, a, ret, p);
	if (!err)
		keep(name, most, ret->at, ret->count);
	return err;
}

struct bare_cache_figures bare_cache_figures(void)
{
	struct bare_cache_figures f = { .hits = atomic_load(&hits),
		.misses = atomic_load(&misses) };

	pthread_mutex_lock(&lock);
	f.bytes = bytes_kept;
	for (size_t i = 0; i < ENTRIES; i++)
		f.entries += entries[i].name != NULL;
	pthread_mutex_unlock(&lock);
	return f;
}
