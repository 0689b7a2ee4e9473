/* wake.c - see wake.h. */
#include "mail/wake.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether the text, up to a blank, a semicolon or a bracket, is this word. */
static bool begins_with_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	while (is_blank(*text))
		text++;
	return strncasecmp(text, word, len) == 0 &&
	       (!text[len] || is_blank(text[len]) || strchr(";(,", text[len]));
}

static bool always(const char *value)
{
	(void)value;
	return true;
}

static bool is_not_no(const char *value)
{
	return !begins_with_word(value, "no");
}

static bool is_bulk(const char *value)
{
	return begins_with_word(value, "bulk") || begins_with_word(value, "junk") ||
	       begins_with_word(value, "list") || begins_with_word(value, "auto_reply");
}

/* "DR, RN": one of those that ask for no answer by machine. */
static bool suppresses(const char *value)
{
	for (const char *p = value; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (begins_with_word(p, "dr") || begins_with_word(p, "autoreply") ||
			begins_with_word(p, "all"))
			return true;
	}
	return false;
}

static const struct {
	const char *name;
	bool (*bars)(const char *value);
	const char *why;
} bars[] = {
	{ "auto-submitted", is_not_no, "It was sent by a machine (Auto-Submitted)." },
	{ "precedence", is_bulk, "It went to many (Precedence)." },
	{ "list-id", always, "It came by a mailing list (List-Id)." },
	{ "list-unsubscribe", always, "It went to subscribers (List-Unsubscribe)." },
	{ "feedback-id", always, "It went to many (Feedback-ID)." },
	{ "x-auto-response-suppress", suppresses,
		"Its sender wants no automatic answer (X-Auto-Response-Suppress)." },
};

/* MAILER-DAEMON, x-request, owner-x: those that carry mail, not those that write it. */
static bool is_carrier(const char *address)
{
	const char *at = strrchr(address, '@');
	size_t len = at ? (size_t)(at - address) : strlen(address);

	return (len == 13 && strncasecmp(address, "mailer-daemon", 13) == 0) ||
	       (len > 8 && strncasecmp(address + len - 8, "-request", 8) == 0) ||
	       (len > 6 && strncasecmp(address, "owner-", 6) == 0);
}

int mail_hops(const struct mail_header *headers, size_t count)
{
	int most = 0;

	for (size_t i = 0; i < count; i++) {
		const char *p = headers[i].value;
		int hops = 0;

		if (strcmp(headers[i].name, "x-lodge-hops") != 0)
			continue;
		while (is_blank(*p))
			p++;
		if (*p < '0' || *p > '9')
			return MAIL_HOPS_MAX + 1;
		for (; *p >= '0' && *p <= '9' && hops <= MAIL_HOPS_MAX; p++)
			hops = hops * 10 + (*p - '0');
		while (is_blank(*p))
			p++;
		if (*p || hops > MAIL_HOPS_MAX)
			return MAIL_HOPS_MAX + 1;
		most = hops > most ? hops : most;
	}
	return most;
}

const char *mail_wake_bar(const struct mail_waking *w)
{
	if (!w->return_path || !*w->return_path)
		return "It has no address for answers (null return path).";
	if (!w->from)
		return "It does not say who wrote it.";
	if (w->own)
		return "It comes from an address of this service.";
	if (is_carrier(w->from) || is_carrier(w->return_path))
		return "It was sent by a mail system.";
	for (size_t i = 0; i < w->count; i++)
		for (size_t k = 0; k < sizeof bars / sizeof *bars; k++)
			if (strcmp(w->headers[i].name, bars[k].name) == 0 &&
				bars[k].bars(w->headers[i].value))
				return bars[k].why;
	if (mail_hops(w->headers, w->count) > MAIL_HOPS_MAX)
		return "It has gone between agents too often (X-Lodge-Hops).";
	return NULL;
}
