/* open.h - from settings to a store that can be used; what every subcommand begins with. */
#pragma once
#include <stdio.h>

#include "bucket/bucket.h"
#include "serve/settings.h"
#include "store/store.h"

/* Opens the store the settings name, making the data folder if it is not there. */
int open_store(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p);
/* The same, and refuses one that is not at this program's version. */
int open_current(struct store **ret, const struct settings *s, enum store_open how, struct arena *a,
	struct problem *p);
/* Beside others, and as it is if it is older. */
int open_older(struct store **ret, const struct settings *s, struct arena *a, struct problem *p);
/* The bucket that the settings name; see bucket.h for who uses it. */
int open_bucket(struct bucket **ret, const struct settings *s, struct db *db, enum bucket_claim how,
	struct arena *a, struct problem *p);
/* Another place, which is made the service's own if it is empty. */
int open_bucket_at(struct bucket **ret, const struct settings *s, const char *where, struct db *db,
	struct arena *a, struct problem *p);
/* The folder of repositories, for the one that serves; and the addresses of them, once its own is known. */
struct repos;
int open_repos(struct repos **ret, const struct settings *s, struct db *db, struct arena *a,
	struct problem *p);
/* That they do not lie in the folder of the bucket. */
int open_repos_apart(const struct settings *s, struct arena *a, struct problem *p);
struct app;
int open_repo_urls(const struct app *app, struct arena *a, struct problem *p);
/* For the one that serves or migrates.  Unless it may make one, a store that is missing beside a master key is
 * refused: its owner would find an empty house. */
int open_to_serve(struct store **ret, const struct settings *s, bool may_make, struct arena *a,
	struct problem *p);
/* Makes anew what is derived from the tables, where this program or a migration derives it otherwise: the index
 * of words, and the number at which the order of events goes on.  After every store_migrate. */
int open_derived(struct db *db, struct arena *a);
/* What is wrong with the address and the password that the environment holds for a super administrator, or
 * NULL; what is not set is not wrong. */
const char *first_admin_fault(void);
/* One line on standard error: what failed.  Returns the exit status. */
int complain(const struct problem *p);
/* A text of somebody else's, without what could steer a terminal. */
void print_plain(FILE *to, const char *text);
/* copy_commands.c: what restore does where the store is on PostgreSQL. */
int command_restore_rows(const struct settings *s, const char *file, struct arena *a);
