/* mailbox.h - the mailboxes of agents: what their addresses are, and who has which.
 *
 * Every agent has an internal mailbox from its birth, and an external one where
 * its tenant and itself are to have one and the house has a domain for mail.
 * An address is made of the two slugs, which never change, and so is not
 * changed either while the domain stays.  This room knows no requests. */
#pragma once
#include "store/store.h"

enum MailboxKind { MailboxKind_internal, MailboxKind_external };
extern const struct words MailboxKind_words;

/* Internal addresses lie under this name, which no DNS server has. */
#define MAILBOX_INTERNAL_DOMAIN "lodge.internal"

enum {
	MAILBOX_ADDRESS_MAX = 254, /* bytes, as RFC 5321 has it */
	MAILBOX_LOCAL_MAX = 64,
	MAILBOX_DOMAIN_MAX = 150, /* of mail_domain: two labels and a local part fit besides */
};

/* What whoever runs the program has chosen.  Every way in which an agent is made asks for it, commands included, so that it
 * is the process's own; set before anything runs.  The texts must outlive it. */
struct mailbox_policy {
	const char *domain; /* of external mailboxes; "": there are none */
	bool provisions;    /* mailboxes are made at all */
	bool relays;	    /* there is somebody who takes mail to the outside */
	const char *house;  /* the address that the service writes from; "": it writes to nobody */
	const char *authserv_id; /* whose Authentication-Results are believed; "": nobody's */
	const char *resolver;	 /* of names; "": the system's */
	int64_t bytes_max;	 /* of a message from outside */
	int64_t new_recipients_day;
	int64_t tenant_bytes_max; /* that a tenant's mail and bucket hold together; 0: any number */
};
void mailbox_policy_set(const struct mailbox_policy *policy);
const struct mailbox_policy *mailbox_policy(void);
/* True for a domain that mail can be sent to: labels of letters, digits and hyphens with dots between, not that of
 * internal addresses nor one under it; and for "". */
bool mailbox_domain_valid(const char *text);

/* The address that an agent's mailbox has.  A slug that is no DNS label, or leaves no room, gives way to the id. */
struct mailbox_names {
	const char *agent_id, *agent_slug, *tenant_id, *tenant_slug;
};
const char *mailbox_address(
	struct arena *a, enum MailboxKind kind, const struct mailbox_names *names);
/* ---- in the transaction at hand ---- */

/* Who has paused it: what the operator has paused only the operator lets go on. */
enum mailbox_pause { MAILBOX_PAUSED_BY_PEOPLE = 1, MAILBOX_PAUSED_BY_OPERATOR = 2 };

struct mailbox_row {
	const char *tenant_id, *id, *agent_id;
	int kind;
	const char *address;
	bool enabled;
	int64_t paused; /* of enum mailbox_pause, each that holds */
	int64_t message_count, last_message_at, created_at;
};
SCHEMA_DECLARED(mailbox_row);

/* Whether mail goes in and out of it. */
static inline bool mailbox_is_active(const struct mailbox_row *m)
{
	return m->enabled && !m->paused;
}

/* By its id; by its address, whatever the case; the agent's one of a kind.  ERR_NOT_FOUND. */
int mailbox_find(struct db *db, struct arena *a, const char *tenant_id, const char *id,
	struct mailbox_row *ret);
int mailbox_at(struct db *db, struct arena *a, const char *tenant_id, const char *address,
	struct mailbox_row *ret);
int mailbox_of(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	enum MailboxKind kind, struct mailbox_row *ret);
/* What stands behind the @ of the tenant's external addresses, whether or not it has any; NULL: the house has no domain. */
int mailbox_domain_of(struct db *db, struct arena *a, const char *tenant_id, const char **ret);
/* Takes these pauses off, and puts those on. */
int mailbox_pause(struct db *db, const char *tenant_id, const char *id, unsigned off, unsigned on);
/* One message more came or went, now. */
int mailbox_count(struct db *db, const char *tenant_id, const char *id, int64_t now);

/* What brings the mailboxes of agents in line: those of one agent, as its row is by now; or of up to `most` agents in the
 * order of tenants and ids, from where the walk has come to. */
struct mailbox_walk {
	bool internal, external;	  /* which are looked at */
	bool dry;			  /* nothing is written, and all is counted */
	const char *only_tenant;	  /* NULL: all */
	char tenant_id[32], agent_id[32]; /* behind which it goes on; "" at first */
	int64_t changed;		  /* made, activated, deactivated, addressed anew */
	bool more;
};
enum { MAILBOX_WALK_PIECE = 500 };
int mailbox_converge(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct mailbox_walk *w);
int mailbox_walk(struct db *db, struct arena *a, struct mailbox_walk *w);

extern const struct statement_set mailbox_sql;
