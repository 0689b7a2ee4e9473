/* address.h - addresses of mail: what is one, how it is written, and which are those of agents.
 *
 * An address comes from strangers, and goes into commands of SMTP and into
 * header lines; so whatever is not plainly an address is none: no control
 * byte, no comment, no source route, no address of a machine in brackets.  A
 * struct mail_address is always a good one, of a fixed size, and owns its
 * text.  Nothing here knows which mailboxes there are. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/slice.h"

enum {
	MAIL_LOCAL_MAX = 64,
	MAIL_DOMAIN_MAX = 255,
	MAIL_ADDRESS_MAX = 254,	    /* of the whole */
	MAIL_DOMAIN_LABEL_MAX = 63, /* of one part of a domain */
	/* What follows the name of a mailbox in a plus part: +, an id, a dot, ten digits (mail/token.h). */
	MAIL_PLUS_LEN = 37,
	MAIL_NAME_MAX = 200, /* bytes of a display name that are kept */
	MAIL_LIST_MAX = 1000,
	MAIL_LIST_BYTES_MAX = 64 * 1024,
};

#define MAIL_INTERNAL_SUFFIX "lodge.internal"

struct mail_address {
	char text[MAIL_ADDRESS_MAX + 1];  /* as it is written: quotes only where they must be */
	char local[MAIL_LOCAL_MAX + 1];	  /* what is meant: without quotes */
	char domain[MAIL_DOMAIN_MAX + 1]; /* ASCII letters small */
	bool wide;			  /* has more than ASCII: goes only where SMTPUTF8 is */
};

/* local@domain and nothing around it.  False with a sentence about what is wrong. */
bool mail_address_parse(
	const char *text, size_t len, struct mail_address *ret, const char **ret_fault);

/* At the < of a path in a command of SMTP: how many bytes it has, up to its >; 0 with a sentence.  <> is the null path,
 * whose text is "". */
size_t mail_address_path(
	const char *text, size_t len, struct mail_address *ret, const char **ret_fault);

/* The one spelling by which addresses are compared and found: ASCII letters small. */
void mail_address_key(const struct mail_address *m, char ret[MAIL_ADDRESS_MAX + 1]);
bool mail_address_same(const struct mail_address *a, const struct mail_address *b);

/* "jo" and "x" of jo+x@…; a plus part that is not there is absent. */
void mail_address_plus(
	const struct mail_address *m, struct slice *ret_base, struct slice *ret_plus);
/* jo+x@… of jo@… and x; false where it would be too long, or x is no atom. */
bool mail_address_add_plus(
	const struct mail_address *m, const char *plus, struct mail_address *ret);

/* Whether it lies under the suffix that no mail from outside can reach. */
bool mail_address_is_internal(const struct mail_address *m);
/* <agent>@<tenant>.lodge.internal.  A slug that is no label, or leaves no room for a plus part, gives way to its id. */
bool mail_address_internal(const char *agent_slug, const char *agent_id, const char *tenant_slug,
	const char *tenant_id, struct mail_address *ret);
/* <agent>@<tenant>.<domain>, likewise.  False where the domain is none, or too long. */
bool mail_address_external(const char *agent_slug, const char *agent_id, const char *tenant_slug,
	const char *tenant_id, const char *domain, struct mail_address *ret);
/* A name of the DNS, of letters, digits and hyphens; more than ASCII is taken as it is. */
bool mail_domain_valid(const char *text, size_t len);

/* ---- lists, as people and header lines write them (mail/address_list.c) ---- */

struct mail_person {
	const char *name; /* UTF-8 without control characters, or "" */
	struct mail_address address;
};

struct mail_people {
	struct mail_person *at;
	size_t count;
};

/* "Jo <jo@example.org>, "Q, R" <q@example.org>, team: a@b, c@d;": groups are taken apart, comments passed over.  At most
 * `most` addresses.  False with a sentence. */
bool mail_people_parse(struct arena *a, const char *text, size_t len, size_t most,
	struct mail_people *ret, const char **ret_fault);
