/* mail_counts.c - see mail_counts.h. */
#include "mailboxes/mail_counts.h"

#include <stdatomic.h>

#include "base/log.h"

static _Atomic uint64_t counts[MAIL_COUNTS];
static _Atomic bool away;

void mail_count(enum mail_count what)
{
	atomic_fetch_add_explicit(&counts[what], 1, memory_order_relaxed);
}

uint64_t mail_counted(enum mail_count what)
{
	return atomic_load_explicit(&counts[what], memory_order_relaxed);
}

/* A 4xx may be about one recipient, and says nothing either way; 421 is about the relay itself, and a 5xx that is no end is
 * about us. */
bool mail_relay_said(const struct smtp_said *said)
{
	bool later = said->outcome == SMTP_LATER;

	if (later && said->code >= 400 && said->code < 500 && said->code != 421)
		return false;
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
