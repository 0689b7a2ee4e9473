/* mail_verdict.h - whether a message from outside is from whom it says, with the DNS asked.
 *
 * It waits: for the slow threads.  Only names of the From's own organisation are
 * asked for, since nothing else could prove it, and all of them within a few
 * seconds together. */
#pragma once
#include "mail/authres.h"
#include "mail/reading.h"
#include "mailboxes/mail_dns_turn.h"

enum { MAIL_VERDICT_MS = 8000 }; /* for all questions of one message */

struct mail_judged {
	enum mail_verdict verdict;
	const char *
		doubt; /* why it does not count that somebody vouches for the sender: a sentence, or NULL */
	enum mail_dns_turn turn; /* with ERR_UPSTREAM: why the DNS was not asked, or that it was */
	/* Of one that is proven: what may have been written above it, or its envelope, by others, and joins it to no thread. */
	bool open_references, open_address;
};

/* How a message came. */
struct mail_coming {
	const char *recipient; /* of the envelope */
	bool by_lmtp; /* the server in front brought it: its Authentication-Results may be believed */
	int64_t at;
};

/* ERR_UPSTREAM if the DNS did not answer and it would have mattered: then the verdict
 * is none. */
int mail_verdict(struct arena *a, const struct mail_read *m, const char *raw, size_t len,
	const struct mail_coming *how, struct mail_judged *ret);
