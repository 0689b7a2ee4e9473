/* user_commands.c - `lodge user`: the way back in for people, while the service runs or while it does not. */
#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "api/people/accounts.h"
#include "base/clock.h"
#include "serve/manual.h"
#include "serve/open.h"

enum { TRIES = 10, PAGE = 500 };

/* Something that is done to an account, with its entry in the audit log. */
struct deed {
	const char *action;
	int (*run)(struct db *db, struct arena *a, const struct account_row *who, void *out,
		struct problem *p);
	void *out;
};

static int act_on_user(struct db *db, struct arena *a, const char *email, const struct deed *deed,
	struct problem *p)
{
	struct account_row who;
	int err = account_find(db, a, email, &who);

	if (!err)
		err = deed->run(db, a, &who, deed->out, p);
	return err ? err
		   : audit_write(db, a,
			     &(struct audit_entry){ .action = deed->action,
				     .resource_id = who.id,
				     .meta = "{\"by\":\"lodge user\"}" });
}

static int change_user(struct db *db, struct arena *a, const char *email, const struct deed *deed,
	struct problem *p)
{
	int err, tries = TRIES;

	do {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = act_on_user(db, a, email, deed, p);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while (err == ERR_RETRY && --tries);
	if (err == ERR_NOT_FOUND)
		problem_set(p, a, err, "there is no user with the address %.255s", email);
	return err;
}

static int list_users(struct db *db, struct arena *a)
{
	struct list page = { .count = PAGE };
	const char *after = "";
	int err = db_begin(db, READ_ONLY);

	printf("%-36s  %-40s  %-6s  %-9s  %7s\n", "ID", "ADDRESS", "PROVEN", "IS", "TENANTS");
	while (!err && page.count == PAGE) {
		const struct account_row *row;

		err = account_list(db, a, after, PAGE, &page);
		row = page.at;
		for (size_t i = 0; !err && i < page.count; i++) {
			printf("%-36s  %-40s  %-6s  %-9s  %7lld\n", row[i].id, row[i].email,
				row[i].proven_at == NIL ? "no" : "yes",
				row[i].is_suspended	? "suspended"
				: row[i].is_super_admin ? "super"
							: "",
				(long long)row[i].tenants);
			after = row[i].email;
		}
	}
	db_rollback(db);
	return err;
}

/* Does it, or lists everybody if there is nothing to do. */
static int run_user_command(const struct settings *s, struct arena *a, const struct deed *deed)
{
	struct store *store = NULL;
	struct db *db = NULL;
	struct problem p = { 0 };
	int err = open_current(&store, s, STORE_BESIDE, a, &p);

	if (!err)
		err = store_connect(store, &db, a, &p);
	if (!err)
		err = deed ? change_user(db, a, s->arguments[0], deed, &p) : list_users(db, a);
	if (err)
		problem_set(&p, a, err, "the store: %s", db ? db_error(db) : "");
	db_close(db);
	store_close(store);
	return err ? complain(&p) : 0;
}

static int reset_user(
	struct db *db, struct arena *a, const struct account_row *who, void *out, struct problem *p)
{
	int err = account_unlock(db, a, who->id);

	(void)p;
	return err ? err : account_reset_link(db, who->id, NULL, clock_now_us(), out);
}

static int unlock_user(
	struct db *db, struct arena *a, const struct account_row *who, void *out, struct problem *p)
{
	(void)out, (void)p;
	return account_unlock(db, a, who->id);
}

static int unlink_user(
	struct db *db, struct arena *a, const struct account_row *who, void *out, struct problem *p)
{
	(void)out, (void)p;
	return account_unlink(db, a, who->id);
}

static int prove_user(
	struct db *db, struct arena *a, const struct account_row *who, void *out, struct problem *p)
{
	(void)out, (void)p;
	return account_prove(db, a, who->id, clock_now_us());
}

static int remove_user(
	struct db *db, struct arena *a, const struct account_row *who, void *out, struct problem *p)
{
	(void)out;
	return account_remove(db, a, who->id, clock_now_us(), p);
}

int command_user_list(const struct settings *s, struct arena *a)
{
	return run_user_command(s, a, NULL);
}

int command_user_reset_password(const struct settings *s, struct arena *a)
{
	struct account_link link;
	int status =
		run_user_command(s, a, &(struct deed){ "user.reset_password", reset_user, &link });

	if (!status)
		printf("%s/reset#%s\nHand this link to %s. It is good once, for 24 hours.\n",
			*s->public_url ? s->public_url : "http://THE-ADDRESS-OF-THE-SERVICE",
			link.token, s->arguments[0]);
	return status;
}

int command_user_unlock(const struct settings *s, struct arena *a)
{
	int status = run_user_command(s, a, &(struct deed){ "user.unlock", unlock_user, NULL });

	if (!status)
		printf("Wrong passwords for %s are forgotten.\n", s->arguments[0]);
	return status;
}

int command_user_unlink(const struct settings *s, struct arena *a)
{
	int status = run_user_command(s, a, &(struct deed){ "user.unlink", unlink_user, NULL });

	if (!status)
		printf("%s is linked to nobody at any provider.\n", s->arguments[0]);
	return status;
}

int command_user_prove(const struct settings *s, struct arena *a)
{
	int status = run_user_command(s, a, &(struct deed){ "user.prove", prove_user, NULL });

	if (!status)
		printf("%s is proven.\n", s->arguments[0]);
	return status;
}

int command_user_delete(const struct settings *s, struct arena *a)
{
	int status = run_user_command(s, a, &(struct deed){ "user.delete", remove_user, NULL });

	if (!status)
		printf("%s is deleted. The service erases what is personal in the audit log.\n",
			s->arguments[0]);
	return status;
}
