/* reserved.c - see reserved.h. */
#include "mail/reserved.h"

#include <stddef.h>
#include <string.h>

const char *const mail_reserved_locals[] = { "abuse", "admin", "administrator", "bounce", "bounces",
	"daemon", "hostmaster", "mailer-daemon", "no-reply", "nobody", "noreply", "postmaster",
	"root", "webmaster", NULL };
static const char *const labels[] = { "autoconfig", "autodiscover", "imap", "localhost", "mail",
	"mta-sts", "mx", "ns", "smtp", "www", NULL };

static bool is_among(const char *const *list, const char *slug)
{
	for (; *list; list++)
		if (strcmp(*list, slug) == 0)
			return true;
	return false;
}

bool mail_reserved_local(const char *slug)
{
	return is_among(mail_reserved_locals, slug);
}

bool mail_reserved_label(const char *slug)
{
	return is_among(mail_reserved_locals, slug) || is_among(labels, slug);
}
