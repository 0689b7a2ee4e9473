/* mail_domains.h - which domains mail of this house has: those of its tenants, those that sign, and those that mailboxes still have
 * from before. */
#pragma once
#include "mailboxes/mail_intake.h"

enum { MAIL_DOMAINS_MAX = 200 };

/* ---- in the transaction at hand ---- */

/* A domain that is mail_domain, or of a tenant that there is.  ERR_NOT_FOUND: the tenant is not; ERR_INVALID: it lies elsewhere. */
int mail_domain_known(struct db *db, struct arena *a, const char *domain);
/* Those with a key to sign with, a one_text each; at most so many as there may be, and one more if there are more. */
int mail_domains_signing(struct db *db, struct arena *a, struct list *ret);
/* A sentence where mailboxes have addresses that mail does not come to, since mail_domain is another by now; NULL: none has. */
int mail_domain_left(struct db *db, struct arena *a, const char **ret);
/* Likewise where they have one that is reserved by now. */
int mail_domain_reserved(struct db *db, struct arena *a, const char **ret);
/* Likewise where mail goes out, and mail_domain has no key to sign it with. */
int mail_domain_unsigned(struct db *db, struct arena *a, const char **ret);

extern const struct statement_set mail_domains_sql;
