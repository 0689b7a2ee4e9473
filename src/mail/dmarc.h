/* dmarc.h - whether a message is from the domain that its From names: records of DMARC (RFC 7489), alignment, the verdict.
 *
 * A signature says that some domain signed.  It is aligned when that domain
 * and the one in From belong to one organisation, by the list of public
 * suffixes (libpsl), or are the same where the record wants that.  Nothing
 * here asks the DNS. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "mail/address.h"
#include "mail/authres.h"
#include "mail/dkim.h"

enum dmarc_policy { DMARC_NONE, DMARC_QUARANTINE, DMARC_REJECT };

struct dmarc_record {
	enum dmarc_policy policy, subdomains; /* p= and sp= */
	bool strict_dkim, strict_spf;	      /* adkim=s, aspf=s */
};

/* A text of the DNS; false if it is no record of DMARC. */
bool dmarc_parse(const char *text, size_t len, struct dmarc_record *ret);
/* "example.org" of "a.b.example.org"; the domain itself where it is a public suffix. */
void dmarc_organisation(const char *domain, char ret[MAIL_DOMAIN_MAX + 1]);
/* The one or two names in the DNS under which the record is looked for, in order; returns how many. */
size_t dmarc_names(struct arena *a, const char *from_domain, const char *ret[2]);
bool dmarc_aligned(const char *from_domain, const char *other, bool strict);

/* fail: the server in front says so, whatever else there is; or the domain has a record, and of the signatures that are
 * aligned all are bad.  pass: a good signature is aligned, or that server says so.  none: nothing proves anything.  `record`
 * may be NULL. */
enum mail_verdict dmarc_judge(const char *from_domain, const struct dmarc_record *record,
	const struct dkim_check *dkim, const struct authres *server);
