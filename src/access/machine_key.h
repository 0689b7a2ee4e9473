/* machine_key.h - credentials for scrapers and operators' scripts: a kind of their own, which opens one
 * thing (enum machine_purpose) and belongs to nobody.  They are made by whoever runs the program. */
#pragma once
#include "access/caller.h"

enum { MACHINE_NAME_MAX = 100, MACHINE_KEYS_MAX = 1000 };

struct machine_key {
	const char *id, *name;
	int purpose;			  /* enum machine_purpose */
	int64_t created_at, last_used_at; /* NIL: never */
};

/* Inside a transaction; each leaves a row in the audit log.  The token is shown once: the store keeps its
 * hash. */
int machine_key_make(struct db *db, struct arena *a, const char *name, enum machine_purpose purpose,
	const char **ret_token, const char **ret_id);
/* ERR_NOT_FOUND. */
int machine_key_revoke(struct db *db, struct arena *a, const char *id);
/* Items of struct machine_key, oldest first. */
int machine_key_list(struct db *db, struct arena *a, struct list *ret);

extern const struct statement_set machine_key_sql;
