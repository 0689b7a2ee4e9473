/* replay.c - see replay.h. */
#include "mail/replay.h"

#include <string.h>
#include <strings.h>

#include "mail/date.h"
#include "mail/shape.h"

enum { DAY_S = 24 * 60 * 60 };

/* Each of them is there once, or not at all. */
static const char *const once[] = { "from", "to", "cc", "subject", "date", "message-id" };

static size_t count_of(const struct mail_read *m, const char *name, const char **ret_value)
{
	size_t count = 0;

	for (size_t i = 0; i < m->header_count; i++)
		if (strcmp(m->headers[i].name, name) == 0) {
			*ret_value = m->headers[i].value;
			count++;
		}
	return count;
}

static bool is_old(int64_t at_s, int64_t now_s)
{
	return at_s < now_s - (int64_t)REPLAY_DAYS_OLD * DAY_S;
}

static bool is_ahead(int64_t at_s, int64_t now_s)
{
	return at_s > now_s + (int64_t)REPLAY_DAYS_AHEAD * DAY_S;
}

static const char *doubt_date(const struct mail_read *m, int64_t now_s)
{
	const char *value = "";
	int64_t at_s;

	if (!count_of(m, "date", &value) || !mail_date_read(value, &at_s))
		return MAIL_UNPROVEN "it has no date that can be read.";
	if (is_old(at_s, now_s))
		return MAIL_UNPROVEN "it was written more than 5 days ago.";
	return is_ahead(at_s, now_s) ? MAIL_UNPROVEN "its date lies in the future." : NULL;
}

static bool is_named(const struct mail_people *people, const struct mail_address *to)
{
	struct slice want, base, plus;

	mail_address_plus(to, &want, &plus);
	for (size_t i = 0; i < people->count; i++) {
		const struct mail_address *one = &people->at[i].address;

		mail_address_plus(one, &base, &plus);
		if (base.len == want.len && strncasecmp(base.at, want.at, want.len) == 0 &&
			strcmp(one->domain, to->domain) == 0)
			return true;
	}
	return false;
}

static bool is_among(const struct mail_people *people, const struct mail_address *to)
{
	for (size_t i = 0; i < people->count; i++)
		if (mail_address_same(&people->at[i].address, to))
			return true;
	return false;
}

bool replay_is_to(const struct mail_read *m, const struct mail_address *to)
{
	return is_among(&m->to, to) || is_among(&m->cc, to);
}

const char *replay_doubt(const struct mail_read *m, const struct mail_address *to, int64_t now_s)
{
	const char *value;

	for (size_t i = 0; i < sizeof once / sizeof *once; i++)
		if (count_of(m, once[i], &value) > 1)
			return MAIL_UNPROVEN "a header is there twice that may be there once.";
	if (!is_named(&m->to, to) && !is_named(&m->cc, to))
		return MAIL_UNPROVEN "neither To nor Cc names this mailbox.";
	if (!m->message_id)
		return MAIL_UNPROVEN "it has no Message-ID to be known by when it comes again.";
	return doubt_date(m, now_s);
}

const char *replay_doubt_signature(
	const struct dkim_check *c, size_t which, const struct mail_read *m, int64_t now_s)
{
	int64_t at_s = c->at[which].signed_at_s;
	const char *value;

	for (size_t i = 0; i < sizeof once / sizeof *once; i++) {
		size_t there = dkim_fields_named(c, once[i]);

		/* Where the parser has found another number, what is signed is not what is read. */
		if (there != count_of(m, once[i], &value) || !dkim_covers(c, which, once[i]))
			return MAIL_UNPROVEN
				"its signature does not cover From, To, Cc, Subject, Date and Message-ID.";
	}
	if (at_s >= 0 && is_old(at_s, now_s))
		return MAIL_UNPROVEN "it was signed more than 5 days ago.";
	return at_s >= 0 && is_ahead(at_s, now_s) ? MAIL_UNPROVEN "its signature is of the future."
						  : shape_doubt(c, which);
}

bool replay_holds_thread(const struct dkim_check *c, size_t which, const struct mail_read *m)
{
	static const char *const joins[] = { "in-reply-to", "references" };
	const char *value;

	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (dkim_fields_named(c, joins[i]) != count_of(m, joins[i], &value) ||
			!dkim_covers(c, which, joins[i]))
			return false;
	return true;
}
