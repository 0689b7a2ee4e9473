/* mail_folds.h - the addresses that are one person's: v@example.org and whatever v+…@example.org there is.
 *
 * Anybody can put a plus part into a From, and what is answered still comes to
 * the same mailbox; so whatever is counted by address is counted over all of
 * them.  Patterns for LIKE … ESCAPE '!'. */
#pragma once
#include "base/arena.h"

struct mail_folds {
	const char *base;   /* without a plus part */
	const char *plus;   /* with one */
	const char *quoted; /* with one that needs quotes */
};

/* For a column with one address. */
struct mail_folds mail_folds(struct arena *a, const char *address);
/* For a column with a list of them, as it is stored.  Two others of one list may be taken for it together; then it is counted
 * once too often. */
struct mail_folds mail_folds_listed(struct arena *a, const char *address);
/* Every address of its domain. */
const char *mail_folds_domain(struct arena *a, const char *address);
