/* mail_counts.h - what became of mail in this process, in numbers, and whether the relay takes any.
 *
 * One relay serves what agents send and letters to people, so that both tell here what it said: the log has one line
 * when it goes away and one when it is back, and not one for each try.  What waits is in the store, for all processes. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "outside/smtp.h"

enum mail_count {
	MAIL_COUNT_SENT,     /* recipients outside: the relay has it */
	MAIL_COUNT_DEFERRED, /* tries that end in another */
	MAIL_COUNT_FAILED,   /* refused, or given up */
	MAIL_COUNT_LETTERS_SENT,
	MAIL_COUNT_LETTERS_DEFERRED,
	MAIL_COUNT_LETTERS_GIVEN_UP,
	MAIL_COUNT_UNREADABLE, /* mail from outside that could not be read */
	MAIL_COUNTS
};

/* Once it is committed. */
void mail_count(enum mail_count what);
uint64_t mail_counted(enum mail_count what);

/* What the relay said, or that it said nothing.  True if that is news: it went away, or is back. */
bool mail_relay_said(const struct smtp_said *said);
/* The last that was told of it was that it took nothing. */
bool mail_relay_is_away(void);
