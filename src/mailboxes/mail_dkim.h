/* mail_dkim.h - the keys with which domains sign what is sent, sealed in the store, and what is published of them.
 *
 * A domain has one key in use and perhaps a next one, whose record is published
 * before it is used: whoever checks a signature must find its key.  The mail of
 * TENANT.DOMAIN is signed by DOMAIN where it has no key of its own, since DMARC
 * takes both for one organisation. */
#pragma once
#include "mail/dkim.h"
#include "mailboxes/mail_secret.h"

struct mail_dkim {
	const char *domain, *selector; /* as in d= and s= */
	const char *pem;
};

/* ---- in the transaction at hand ---- */

/* What mail from this domain is signed with.  ERR_NOT_FOUND: with nothing; ERR_SECRET if it cannot be opened. */
int mail_dkim_for(struct db *db, struct arena *a, struct vault *vault, const char *from_domain,
	struct mail_dkim *ret);
/* The domain's own, in use or the next.  Errors as above. */
int mail_dkim_read(struct db *db, struct arena *a, struct vault *vault, const char *domain,
	bool next, struct mail_dkim *ret);
/* In the place of the one that is there. */
int mail_dkim_write(struct db *db, struct arena *a, struct vault *vault,
	const struct mail_dkim *key, bool next, int64_t now);
/* The next one is used from now on, and there is no next one. */
int mail_dkim_turn(
	struct db *db, struct arena *a, struct vault *vault, const char *domain, int64_t now);
/* It has no key any more, neither in use nor next, whether or not they can be opened.  ERR_NOT_FOUND: it had none. */
int mail_dkim_forget(struct db *db, struct arena *a, const char *domain);

/* ---- without a store ---- */

/* Of RSA with 2048 bits.  Its selector is made of the second, so that none is used twice, also where the former key was lost or
 * removed: whoever has kept its record would find the new signature wrong.  It is not `taken` either. */
int mail_dkim_make(
	struct arena *a, const char *domain, const char *taken, int64_t now, struct mail_dkim *ret);
/* The text that is published under <selector>._domainkey.<domain>; NULL if the key cannot be read. */
const char *mail_dkim_record(struct arena *a, const struct mail_dkim *key);
/* Two texts that publish the same key, whatever blanks and tags stand around it. */
bool mail_dkim_same(const char *text, const char *record);
const char *mail_dkim_name(struct arena *a, const struct mail_dkim *key);
/* The header to put before the message, or NULL. */
const char *mail_dkim_sign(
	struct arena *a, const struct mail_dkim *key, const char *message, size_t len, int64_t now);

extern const struct statement_set mail_dkim_sql;
