/* mail_dns_turn.h - who may wait for the DNS, so that one that says nothing does not hold up the reading of all mail.
 *
 * The threads that read mail are few, and a stranger chooses whose keys are
 * asked for.  So a domain whose servers said nothing is not asked about for a
 * minute, whoever's letter it is; and of the domains that have not answered
 * before only one is asked about at a time.  What is remembered is of this
 * process, and bounded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	MAIL_DNS_SILENT_S = 60,	   /* for which nobody asks again */
	MAIL_DNS_GOOD_S = 60 * 60, /* for which one that answered counts as one that does */
	MAIL_DNS_SLOW_MS = 1000,   /* a question that fails sooner has held up nobody */
	MAIL_DNS_TURN_MS = 250,	   /* that one waits for its turn */
};

enum mail_dns_turn {
	MAIL_DNS_MAY,
	MAIL_DNS_SILENT, /* it said nothing when it was last asked */
	MAIL_DNS_BUSY,	 /* others are being asked: later */
};

struct mail_dns_asking {
	uint64_t key;
	bool alone; /* it has the one turn of those that are not known */
};

/* Of an organisation's domain, at this server.  MAIL_DNS_MAY: mail_dns_end() follows. */
enum mail_dns_turn mail_dns_begin(
	const char *server, const char *domain, struct mail_dns_asking *ret);
/* Answered, or silent for long; neither: nothing is remembered. */
void mail_dns_end(const struct mail_dns_asking *asking, bool answered, bool silent);
