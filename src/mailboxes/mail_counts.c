/* mail_counts.c - see mail_counts.h. */
#include "mailboxes/mail_counts.h"

#include <stdatomic.h>

#include "base/log.h"

static _Atomic uint64_t counts[MAIL_COUNTS];
static _Atomic bool away, took; /* the latter: it has taken something since the process began */
static _Atomic int unclear;	/* refusals of that kind one after the other */

enum { UNCLEAR_MAX = 3 };

void mail_count(enum mail_count what)
{
	atomic_fetch_add_explicit(&counts[what], 1, memory_order_relaxed);
}

uint64_t mail_counted(enum mail_count what)
{
	return atomic_load_explicit(&counts[what], memory_order_relaxed);
}

/* A 4xx may be about one recipient, and says nothing either way; 421 is about the relay itself, and a 5xx that is no end is
 * about us.  What may be either is about us when nobody else is taken. */
static bool tells_nothing(const struct smtp_said *said)
{
	if (said->outcome != SMTP_LATER)
		return false;
	if (said->unclear)
		return atomic_fetch_add(&unclear, 1) + 1 < UNCLEAR_MAX && atomic_load(&took);
	return said->code >= 400 && said->code < 500 && said->code != 421;
}

bool mail_relay_said(const struct smtp_said *said)
{
	bool later = said->outcome == SMTP_LATER;

	if (tells_nothing(said))
		return false;
	if (!later) {
		atomic_store(&unclear, 0);
		atomic_store(&took, true);
	}
	if (atomic_exchange(&away, later) == later)
		return false;
	if (later)
		log_warn("the mail relay takes nothing: mail and letters wait",
			LOG_N("code", said->code), LOG_S("reason", said->text));
	else
		log_line(LOG_WARN, "the mail relay takes mail again", NULL);
	return true;
}

bool mail_relay_is_away(void)
{
	return atomic_load(&away);
}
