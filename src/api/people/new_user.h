/* new_user.h - entering a user, whoever they are and however they come. */
#pragma once
#include "store/store.h"

struct new_user {
	const char *email, *name, *password_hash;
	bool is_super_admin;
	bool proven; /* the address is known to be theirs: see proof.h */
};

/* ERR_DUPLICATE if the address is known. */
int user_make(struct db *db, struct arena *a, const struct new_user *in, const char **ret_id);

extern const struct statement_set new_user_sql;
