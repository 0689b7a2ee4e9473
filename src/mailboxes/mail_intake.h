/* mail_intake.h - a message from outside on its way in: whose mailboxes it is for, its bytes, and the rows that make it ours.
 *
 *   addressed (one recipient after the other) -> written, piece by piece, to the disk -> finished -> kept
 *
 * Bytes go into the bucket of each tenant among the recipients as they come, and
 * are there before the transaction that names them; a sender is told that we
 * have it when that is committed.  All recipients of one tenant are one
 * transaction and one object.  This file knows neither SMTP nor requests. */
#pragma once
#include "base/id.h"
#include "bucket/bucket.h"
#include "mail/address.h"

enum { MAIL_LETTER_RECIPIENTS_MAX = 100 };

enum mail_taking {
	MAIL_TAKES, /* it may come; once it is kept: it is ours */
	MAIL_KNOWN, /* the mailbox has had it before, and nothing was written */
	MAIL_NOBODY,
	MAIL_OFF,    /* the mailbox, its agent or its tenant takes no mail */
	MAIL_BARRED, /* its rules keep the envelope's sender out */
	MAIL_FULL,   /* the tenant's bucket has no room: later, perhaps */
	MAIL_AWAY,   /* store or bucket: later */
	MAIL_TAKINGS
};

struct mail_recipient {
	char address[MAIL_ADDRESS_MAX + 1]; /* as it was given */
	enum mail_taking taking;
	char tenant_id[ID_LEN + 1], agent_id[ID_LEN + 1], mailbox_id[ID_LEN + 1];
	char thread_id[ID_LEN + 1], bounced_id[ID_LEN + 1]; /* "": none */
	char arrival_id[ID_LEN + 1];			    /* once it is kept */
};

struct mail_incoming;

/* The size is what was announced, 0 if nothing was; by_lmtp: a server of the same machine hands it over.  Belongs to one thread
 * at a time. */
struct mail_incoming *mail_incoming_new(
	struct bucket *bucket, const char *sender, int64_t size, bool by_lmtp);
/* What no row names is removed, which waits for the disk: on a thread of the pool, if there is one. */
void mail_incoming_free(struct mail_incoming *l, struct pool *disk);

/* Whose mailbox an address is, and what there was to know of it. */
struct mail_found {
	struct mail_recipient recipient;
	int64_t used; /* what the tenant's bucket holds */
};

/* In a transaction that reads, which may run again; the envelope's sender, and `size` as above.  What it is, is the recipient's taking; an error is the
 * store's. */
int mail_find(struct db *db, struct arena *a, const char *sender, const struct mail_address *to,
	int64_t tenant_max, int64_t size, struct mail_found *ret);
/* After it: one that takes mail becomes a recipient of the letter, if its tenant has room; the others are only told what they
 * are. */
enum mail_taking mail_incoming_add(struct mail_incoming *l, const struct mail_found *found);
size_t mail_incoming_count(const struct mail_incoming *l);
const struct mail_recipient *mail_incoming_recipient(const struct mail_incoming *l, size_t i);

/* These two wait for the disk.  Where the bytes of a tenant cannot be had, its recipients are told so in the end. */
void mail_incoming_write(struct mail_incoming *l, const char *bytes, size_t n);
void mail_incoming_finish(struct mail_incoming *l);

/* In a transaction that writes, once for each tenant: its rows.  It may run again.  The recipients know what became of them when it
 * is committed; where it is not, mail_incoming_failed() says why. */
size_t mail_incoming_tenants(const struct mail_incoming *l);
int mail_incoming_keep(
	struct mail_incoming *l, struct db *db, struct arena *a, size_t tenant, int64_t now);
void mail_incoming_failed(struct mail_incoming *l, size_t tenant, int err);

/* mail_domain, or a name below it: "TENANT.mail_domain". */
bool mail_domain_is_ours(const char *domain);
/* "TENANT" of TENANT.mail_domain, "" of mail_domain itself; NULL: it is not ours. */
const char *mail_tenant_label(struct arena *a, const char *domain);

extern const struct statement_set mail_intake_sql;
