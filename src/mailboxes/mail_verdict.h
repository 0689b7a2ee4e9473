/* mail_verdict.h - whether a message from outside is from whom it says, with the DNS asked.
 *
 * It waits: for the slow threads.  Only names of the From's own organisation are
 * asked for, since nothing else could prove it, and all of them within a few
 * seconds together. */
#pragma once
#include "mail/authres.h"
#include "mail/reading.h"

enum { MAIL_VERDICT_MS = 8000 }; /* for all questions of one message */

/* ERR_UPSTREAM if the DNS did not answer and it would have mattered: then *ret is none. */
int mail_verdict(struct arena *a, const struct mail_read *m, const char *raw, size_t len,
	int64_t now, enum mail_verdict *ret);
