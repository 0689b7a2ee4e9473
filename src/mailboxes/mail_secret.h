/* mail_secret.h - the keys that the house's mail has, by name, sealed in the store.
 *
 *   token             signs the plus parts of addresses (mail/token.h); made by the first start
 *   intake:DOMAIN     what raw mail by HTTP is signed with
 *   dkim:DOMAIN       the private key that mail from there is signed with, and its selector
 *
 * One that cannot be opened any more goes with its row, and is made anew. */
#pragma once
#include "access/vault.h"
#include "mail/token.h"
#include "store/store.h"

enum { MAIL_SECRET_NAME_MAX = 300 }; /* bytes */

/* ---- in the transaction at hand ---- */

/* ERR_NOT_FOUND; ERR_SECRET if it cannot be opened.  NUL-terminated. */
int mail_secret_read(struct db *db, struct arena *a, struct vault *vault, const char *name,
	const char **ret, size_t *ret_len);
/* In the place of the one that is there. */
int mail_secret_write(struct db *db, struct arena *a, struct vault *vault, const char *name,
	const char *bytes, size_t len, int64_t now);

/* Reads the key of tokens, which the first who asks makes; outside a transaction, before anything is served. */
int mail_token_key_load(struct db *db, struct arena *a, struct vault *vault, int64_t now);
/* The process's own, once it is loaded. */
const uint8_t *mail_token_key(void);

extern const struct statement_set mail_secret_sql;
