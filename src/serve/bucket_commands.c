/* bucket_commands.c - `lodge bucket move`: the bytes of all tenants' buckets to another place, while the service runs.
 *
 * It copies and removes nothing, so that whatever happens to it the bytes are
 * where they were.  On a terminal it shows how far it is in a line that is drawn
 * again and again, elsewhere in a line every few seconds; both on standard error. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bucket/bucket.h"
#include "serve/manual.h"
#include "serve/open.h"

enum { DRAW_MS = 100, LINE_MS = 5000, MIB = 1 << 20 };

struct move_show {
	bool terminal, quiet, drawn;
	int64_t shown; /* monotonic milliseconds */
};

static void show_moving(void *ctx, const struct bucket_moving *m)
{
	struct move_show *show = ctx;
	int64_t now = clock_mono_ms();

	if (show->quiet || (now - show->shown < (show->terminal ? DRAW_MS : LINE_MS) &&
				   m->looked_at < m->objects))
		return;
	show->shown = now;
	show->drawn = show->terminal;
	fprintf(stderr, "%s%lld of %lld objects, %lld of %lld MiB, %lld copied%s",
		show->terminal ? "\r\033[K" : "", (long long)m->looked_at, (long long)m->objects,
		(long long)(m->looked_at_bytes / MIB), (long long)(m->size_bytes / MIB),
		(long long)m->copied, show->terminal ? "" : "\n");
}

/* The word after --to, and whether it can be gone to. */
static const char *wanted_place(
	const struct settings *s, bool *ret_quiet, struct arena *a, struct problem *p)
{
	const char *to = NULL;

	*ret_quiet = false;
	for (size_t i = 0; i < s->argument_count; i++) {
		if (strcmp(s->arguments[i], "--to") == 0 && i + 1 < s->argument_count)
			to = s->arguments[++i];
		else if (strcmp(s->arguments[i], "--quiet") == 0)
			*ret_quiet = true;
	}
	if (!to || !bucket_where_valid(to))
		problem_set(p, a, ERR_USAGE,
			"--to must name the place to copy to: dir:PATH or s3://BUCKET/PREFIX");
	else if (strcmp(to, s->bucket) == 0 && !*s->bucket_also)
		problem_set(p, a, ERR_USAGE,
			"the setting bucket names %s already, and bucket_also names no place to copy from",
			to);
	else if (bucket_where_is_s3(to) && strcmp(to, s->bucket) != 0 &&
		 strcmp(to, s->bucket_also) != 0 &&
		 (bucket_where_is_s3(s->bucket) || bucket_where_is_s3(s->bucket_also)))
		problem_set(p, a, ERR_USAGE,
			"only one of the places can be in S3; go by way of a folder");
	return p->err ? NULL : to;
}

static void tell_moved(const struct settings *s, const char *to, const struct bucket_moving *m)
{
	printf("The bytes of all %lld objects (%lld bytes) are in %s: %lld were copied now, each held against its digest.\n",
		(long long)m->objects, (long long)m->size_bytes, to, (long long)m->copied);
	if (strcmp(to, s->bucket) == 0)
		printf("If every process serves with bucket = %s, take bucket_also out of the settings and start them anew: "
		       "what is in %s is not needed any more.\n",
			to, s->bucket_also);
	else
		printf("Next let every process serve with bucket = %s and bucket_also = %s, and run this again for what came "
		       "meanwhile.\n",
			to, s->bucket);
}

static int move_objects(const struct settings *s, struct store *store, const char *to, bool quiet,
	struct arena *a, struct problem *p)
{
	struct move_show show = { .terminal = isatty(STDERR_FILENO), .quiet = quiet };
	struct bucket *from = NULL, *there = NULL;
	struct bucket_moving m = { 0 };
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (!err)
		err = open_bucket(&from, s, db, BUCKET_LOOKS, a, p);
	if (!err)
		err = open_bucket_at(&there, s, to, db, a, p);
	if (!err)
		err = bucket_move(there, from, db, a, &m, show_moving, &show, p);
	if (show.drawn)
		fputc('\n', stderr);
	bucket_free(there);
	bucket_free(from);
	if (db)
		db_close(db);
	if (err)
		return err;
	if (m.first)
		return problem_set(p, a, ERR_CONFLICT,
			"of %lld objects the bytes are missing, and of %lld they are not those that were put; the first is "
			"%s. The others are in %s",
			(long long)m.missing, (long long)m.torn, m.first, to);
	tell_moved(s, to, &m);
	return 0;
}

int command_bucket_move(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	bool quiet;
	const char *to = wanted_place(s, &quiet, a, &p);
	int err;

	if (!to)
		return complain(&p);
	err = open_current(&store, s, STORE_BESIDE, a, &p);
	if (!err)
		err = move_objects(s, store, to, quiet, a, &p);
	store_close(store);
	return err ? complain(&p) : 0;
}

static int adopt_place(
	const struct settings *s, struct store *store, struct arena *a, struct problem *p)
{
	struct bucket *b = NULL;
	struct db *db = NULL;
	int err = store_connect(store, &db, a, p);

	if (!err)
		err = open_bucket(&b, s, db, BUCKET_ADOPTS, a, p);
	bucket_free(b);
	db_close(db);
	return err;
}

int command_bucket_adopt(const struct settings *s, struct arena *a)
{
	struct store *store = NULL;
	struct problem p = { 0 };
	int err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = adopt_place(s, store, a, &p);
	store_close(store);
	if (err)
		return complain(&p);
	printf("%s%s%s bear%s the mark of this store now, and no other store's service starts with it.\n"
	       "Whether the bytes of its objects are there, lodge check --objects says.\n",
		s->bucket, *s->bucket_also ? " and " : "", s->bucket_also,
		*s->bucket_also ? "" : "s");
	return 0;
}
