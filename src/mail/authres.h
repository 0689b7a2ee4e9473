/* authres.h - the verdict of the mail server in front, as it wrote it into Authentication-Results (RFC 8601).
 *
 * Anybody can write such a header.  Believed is only the topmost one that
 * bears the configured name, because a server writes its own above those that
 * came with the message; without a configured name none is. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "mail/wake.h"

enum mail_verdict { MAIL_NONE, MAIL_PASS, MAIL_FAIL };

/* "none", "pass", "fail" */
const char *mail_verdict_name(enum mail_verdict v);

enum { MAIL_AUTHRES_FROM = 254 };

struct authres {
	bool found;
	enum mail_verdict dmarc, dkim, spf; /* by DMARC: the worse of all that are there */
	char dmarc_from
		[MAIL_AUTHRES_FROM]; /* header.from of the verdict by DMARC; "": it names none */
};

/* The headers from the top; `id` may be NULL. */
struct authres authres_read(const struct mail_header *headers, size_t count, const char *id);
/* Whether it says dmarc=pass of this domain; one that does not say of whom says it of nobody. */
bool authres_vouches(const struct authres *a, const char *domain);
