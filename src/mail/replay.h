/* replay.h - whether a letter that is proven to be from somebody is also meant for this mailbox, and now.
 *
 * A signature says who wrote a letter, not whom it was handed to: anybody who
 * has one can hand it to anybody, for as long as the key stands.  So it counts
 * only where the letter itself says that it is for this mailbox, has been
 * written lately, and has an id by which it is known when it comes again, and
 * where the signature holds all of these. */
#pragma once
#include "mail/address.h"
#include "mail/dkim.h"
#include "mail/reading.h"

enum { REPLAY_DAYS_OLD = 5, REPLAY_DAYS_AHEAD = 1 };

/* Why it does not count: a sentence, or NULL.  `to` is the recipient, of which a plus part makes no difference. */
const char *replay_doubt(const struct mail_read *m, const struct mail_address *to, int64_t now_s);
/* The same of one signature: what it leaves open for others to write, or how old it is. */
const char *replay_doubt_signature(
	const struct dkim_check *c, size_t which, const struct mail_read *m, int64_t now_s);
/* Whether the signature holds what joins the letter to others: In-Reply-To and References, those that are there. */
bool replay_holds_thread(const struct dkim_check *c, size_t which, const struct mail_read *m);
/* Whether To or Cc names this very address, its plus part included. */
bool replay_is_to(const struct mail_read *m, const struct mail_address *to);
