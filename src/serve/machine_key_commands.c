/* machine_key_commands.c - `lodge machine-key`: credentials for scrapers and scripts, while the service runs. */
#include <stdio.h>
#include <string.h>

#include "access/machine_key.h"
#include "base/clock.h"
#include "serve/manual.h"
#include "serve/open.h"

enum { TRIES = 10 };

/* What is asked for, and what came of it. */
struct machine_key_errand {
	struct arena *a;
	enum { ERRAND_MAKE, ERRAND_LIST, ERRAND_REVOKE } what;
	const char *name, *id, *token;
	int purpose;
	struct list keys;
};

static int act_on_machine_keys(struct machine_key_errand *e, struct db *db)
{
	switch (e->what) {
	case ERRAND_MAKE:
		return machine_key_make(
			db, e->a, e->name, (enum machine_purpose)e->purpose, &e->token, &e->id);
	case ERRAND_REVOKE:
		return machine_key_revoke(db, e->a, e->id);
	case ERRAND_LIST:
		break;
	}
	return machine_key_list(db, e->a, &e->keys);
}

static int transact_machine_keys(struct machine_key_errand *e, struct db *db)
{
	int err, tries = TRIES;

	do {
		err = db_begin(db, e->what == ERRAND_LIST ? READ_ONLY : READ_WRITE);
		if (!err)
			err = act_on_machine_keys(e, db);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while (err == ERR_RETRY && --tries);
	return err;
}

static int run_machine_key_command(const struct settings *s, struct machine_key_errand *e)
{
	struct store *store = NULL;
	struct db *db = NULL;
	struct problem p = { 0 };
	int err = open_current(&store, s, STORE_BESIDE, e->a, &p);

	if (!err)
		err = store_connect(store, &db, e->a, &p);
	if (!err)
		err = transact_machine_keys(e, db);
	if (err == ERR_NOT_FOUND)
		problem_set(&p, e->a, err, "there is no machine key %.40s", e->id);
	else if (err)
		problem_set(&p, e->a, err, "the store: %s", db ? db_error(db) : "");
	db_close(db);
	store_close(store);
	return err ? complain(&p) : 0;
}

/* The arguments in their order, without the flag; "" for one that is not there. */
static const char *machine_key_argument(const struct settings *s, size_t nth)
{
	for (size_t i = 0; i < s->argument_count; i++)
		if (strcmp(s->arguments[i], "--for") != 0 && nth-- == 0)
			return s->arguments[i];
	return "";
}

static int purpose_of(const char *word)
{
	for (int i = 0; machine_purpose_words.list[i]; i++)
		if (strcmp(machine_purpose_words.list[i], word) == 0)
			return i;
	return -1;
}

int command_machine_key_create(const struct settings *s, struct arena *a)
{
	const char *word = machine_key_argument(s, 0), *name = machine_key_argument(s, 1);
	struct machine_key_errand e = { .a = a,
		.what = ERRAND_MAKE,
		.name = *name ? name : word,
		.purpose = purpose_of(word) };
	struct problem p = { 0 };
	int status;

	if (e.purpose < 0)
		problem_set(&p, a, ERR_USAGE,
			"a machine key is made --for metrics or --for admin-read, not for \"%.40s\"",
			word);
	else if (strlen(e.name) > MACHINE_NAME_MAX)
		problem_set(
			&p, a, ERR_USAGE, "the name must have at most %d bytes", MACHINE_NAME_MAX);
	if (p.err)
		return complain(&p);
	status = run_machine_key_command(s, &e);
	if (!status) {
		fprintf(stderr, "Made the machine key %s for %s; its token is shown only now.\n",
			e.id, word);
		printf("%s\n", e.token);
	}
	return status;
}

int command_machine_key_list(const struct settings *s, struct arena *a)
{
	struct machine_key_errand e = { .a = a, .what = ERRAND_LIST };
	int status = run_machine_key_command(s, &e);

	for (size_t i = 0; !status && i < e.keys.count; i++) {
		const struct machine_key *key = (const struct machine_key *)e.keys.at + i;
		char made[TIME_TEXT_LEN + 1] = "", used[TIME_TEXT_LEN + 1] = "never";

		time_write(key->created_at, made);
		if (key->last_used_at != NIL)
			time_write(key->last_used_at, used);
		printf("%s  %-10s  made %.*s  used %.*s  %s\n", key->id,
			machine_purpose_words.list[key->purpose], TIME_TEXT_LEN, made,
			TIME_TEXT_LEN, used, key->name);
	}
	if (!status && !e.keys.count)
		printf("There is no machine key.\n");
	return status;
}

int command_machine_key_revoke(const struct settings *s, struct arena *a)
{
	struct machine_key_errand e = { .a = a, .what = ERRAND_REVOKE, .id = s->arguments[0] };
	int status = run_machine_key_command(s, &e);

	if (!status)
		printf("The machine key %s opens nothing any more.\n", e.id);
	return status;
}
