/* first_start.c - see first_start.h. */
#include "serve/first_start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/people/accounts.h"
#include "api/tenants/bootstrap.h"
#include "base/crypto.h"
#include "serve/open.h"

enum { PASSWORD_LEN = 20 };

/* A password nobody chose: shown once, on standard output, never in the log. */
static const char *random_password(struct arena *a)
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
	char *text = arena_alloc(a, PASSWORD_LEN + 1);

	for (int i = 0; i < PASSWORD_LEN; i++) {
		uint32_t n;

		random_bytes(&n, sizeof n);
		text[i] = letters[n % (sizeof letters - 1)];
	}
	return text;
}

int first_start(struct db *db, struct arena *a, struct problem *p)
{
	const char *email = getenv("LODGE_ADMIN_EMAIL"), *password = getenv("LODGE_ADMIN_PASSWORD");
	const char *chosen = password && *password ? password : random_password(a);
	char hash[PASSWORD_HASH_MAX];
	struct new_user admin = {
		.email = email && *email ? email : "admin@localhost",
		.name = "Administrator",
		.password_hash = hash,
		.is_super_admin = true,
		.proven = true,
	};
	bool empty;
	int tries = 10, err = store_is_empty(db, &empty);

	if (err || !empty)
		return err;
	if (first_admin_fault())
		return problem_set(p, a, ERR_USAGE, "%s", first_admin_fault());
	if (!password_hash(chosen, strlen(chosen), hash))
		return problem_set(p, a, ERR_INTERNAL, "not enough memory to hash a password");
	do { /* another process may have been first: look again inside the transaction */
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = store_is_empty(db, &empty);
		if (!err && empty)
			err = bootstrap(db, a, &admin, TENANT_SEEDED);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while ((err == ERR_RETRY || err == ERR_DUPLICATE) && --tries);
	if (!err && empty) {
		printf("Made the super administrator %s", admin.email);
		if (chosen != password)
			printf(" with the password %s\n(shown only now)", chosen);
		printf("\n");
		fflush(stdout);
	}
	return err;
}
