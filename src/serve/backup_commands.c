/* backup_commands.c - `lodge backup` and `lodge restore`: the store, and the repositories of agents with it. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "bucket/bucket.h"
#include "serve/manual.h"
#include "serve/master_key.h"
#include "serve/open.h"
#include "serve/repo_copies.h"

/* What the store names and no copy of it holds; an older one has no such rows. */
static void count_objects(
	struct store *store, struct arena *a, int64_t *ret_objects, int64_t *ret_bytes)
{
	struct problem ignored = { 0 };
	struct db *db = NULL;

	if (store_version_seen(store) < BUCKET_SINCE || store_connect(store, &db, a, &ignored))
		return;
	if (bucket_totals(db, ret_objects, ret_bytes))
		*ret_objects = 0;
	db_close(db);
}

/* The first word that is no flag, nor the value of one. */
static const char *file_argument(const struct settings *s)
{
	for (size_t i = 0; i < s->argument_count; i++)
		if (strcmp(s->arguments[i], "--repositories") == 0)
			i++;
		else if (strncmp(s->arguments[i], "--", 2) != 0)
			return s->arguments[i];
	return "";
}

int command_backup(const struct settings *s, struct arena *a)
{
	const char *file = s->arguments[0];
	struct repo_backup repos = { .lock = -1 };
	struct store *store = NULL;
	struct problem p = { 0 };
	int64_t objects = 0, bytes = 0;
	int err = open_older(&store, s, a, &p);

	if (!err)
		err = repo_backup_begin(&repos, s, file, a, &p);
	/* The repositories after the rows: each of them finds its own as it was then, or newer. */
	if (!err)
		err = store_backup_with(store, file, &repos.beside, a, &p);
	repo_backup_end(&repos, a);
	if (!err) {
		count_objects(store, a, &objects, &bytes);
		printf("Wrote %s, a copy of the store %s. Keep the master key apart from it; without it sealed secrets "
		       "stay sealed.\n",
			file, store_said(s->store, a));
		printf("It holds every row, and the bytes of pictures, of skills and of small files of sessions.\n");
		repo_backup_say(&repos);
		if (objects)
			printf("The bytes of tenants' buckets are not in it: copy %s%s%s too, now.\n"
			       "They are %lld objects of %lld bytes, large files of sessions among them.\n",
				s->bucket, *s->bucket_also ? " and " : "", s->bucket_also,
				(long long)objects, (long long)bytes);
		err = repo_backup_missing(s, store, a, &p);
	}
	store_close(store);
	return err ? complain(&p) : 0;
}

/* Whether the key that is there opens what the restored store has sealed; it may be put there later. */
static void compare_key(const struct settings *s, struct arena *a)
{
	struct vault_keys keys = { 0 };
	struct problem p = { 0 };
	struct store *store = NULL;
	struct db *db = NULL;
	int err = open_store(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = master_key_connect(s->master_key_file, store, &db, &keys, a, &p);
	wipe(&keys, sizeof keys);
	if (!err)
		db_close(db);
	store_close(store);
	if (err)
		printf("Before it is served: %s.\n", p.detail);
}

/* Once the store is in its place. */
static int restore_repositories(
	const struct settings *s, struct repo_restoring *repos, struct arena *a, struct problem *p)
{
	struct store *store = NULL;
	int err = open_store(&store, s, STORE_BESIDE, a, p);

	if (!err)
		err = repo_restore_end(repos, store, a, p);
	store_close(store);
	return err;
}

static int restore_file(const struct settings *s, const char *file, struct repo_restoring *repos,
	struct arena *a, struct problem *p)
{
	const char *kept = NULL;
	int err = store_restore(s->store, file, &repos->beside, &kept, a, p);

	if (err)
		return err;
	printf("Put %s in the place of the store %s.\n", file, store_said(s->store, a));
	if (kept)
		printf("The former store is kept as %s; remove it when it is not needed.\n", kept);
	printf("Bytes in the bucket that only a newer store names are kept for a week once it is served.\n");
	return 0;
}

int command_restore(const struct settings *s, struct arena *a)
{
	const char *file = file_argument(s);
	struct repo_restoring repos;
	struct problem p = { 0 };
	bool said = false, goes_on;
	int err = repo_restore_begin(&repos, s, file, a, &p);

	goes_on = repos.placed;
	if (!err && !goes_on)
		err = repos.rows ? repo_restore_prove(&repos, file, a, &p)
				 : restore_file(s, file, &repos, a, &p);
	if (!err && !goes_on && repos.placed)
		goes_on = true; /* the rows turned out to be there */
	if (!err && goes_on)
		printf("Going on with what was broken off: the store is in its place.\n");
	else if (!err && repos.rows)
		said = (err = command_restore_rows(s, file, a)) != 0;
	if (!err)
		err = repo_restore_placed(&repos, a, &p);
	if (!err)
		err = restore_repositories(s, &repos, a, &p);
	if (!err)
		compare_key(s, a);
	repo_restore_close(&repos, a);
	return said ? err : err ? complain(&p) : 0;
}
