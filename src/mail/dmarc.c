/* dmarc.c - see dmarc.h. */
#include "mail/dmarc.h"

#include <libpsl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { RECORD_MAX = 4096, TAGS_MAX = 64 };

static struct slice trimmed(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct slice){ at, (size_t)(end - at) };
}

static bool is_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

static bool read_policy(struct slice value, enum dmarc_policy *ret)
{
	static const char *const names[] = { "none", "quarantine", "reject" };

	for (int i = DMARC_NONE; i <= DMARC_REJECT; i++)
		if (is_word(value, names[i])) {
			*ret = (enum dmarc_policy)i;
			return true;
		}
	return false;
}

/* "v=DMARC1" comes first, and p= is there; what is not known is passed over. */
bool dmarc_parse(const char *text, size_t len, struct dmarc_record *ret)
{
	const char *at = text, *end = text + len;
	bool policy = false, subdomains = false;

	*ret = (struct dmarc_record){ 0 };
	if (len > RECORD_MAX)
		return false;
	for (size_t i = 0; at < end && i < TAGS_MAX; i++) {
		const char *stop = memchr(at, ';', (size_t)(end - at)), *equals;
		struct slice key, value;

		stop = stop ? stop : end;
		equals = memchr(at, '=', (size_t)(stop - at));
		key = trimmed(at, equals ? equals : stop);
		value = equals ? trimmed(equals + 1, stop) : (struct slice){ "", 0 };
		if (i == 0 && (!is_word(key, "v") || value.len != 6 ||
				      memcmp(value.at, "DMARC1", 6) != 0))
			return false;
		if (is_word(key, "p"))
			policy |= read_policy(value, &ret->policy);
		else if (is_word(key, "sp"))
			subdomains |= read_policy(value, &ret->subdomains);
		else if (is_word(key, "adkim"))
			ret->strict_dkim = is_word(value, "s");
		else if (is_word(key, "aspf"))
			ret->strict_spf = is_word(value, "s");
		at = stop < end ? stop + 1 : end;
	}
	if (!subdomains)
		ret->subdomains = ret->policy;
	return policy;
}

void dmarc_organisation(const char *domain, char ret[MAIL_DOMAIN_MAX + 1])
{
	const char *registered = psl_registrable_domain(psl_builtin(), domain);

	snprintf(ret, MAIL_DOMAIN_MAX + 1, "%s", registered ? registered : domain);
}

size_t dmarc_names(struct arena *a, const char *from_domain, const char *ret[2])
{
	char organisation[MAIL_DOMAIN_MAX + 1];

	dmarc_organisation(from_domain, organisation);
	ret[0] = arena_printf(a, "_dmarc.%s", from_domain);
	ret[1] = NULL;
	if (strcmp(organisation, from_domain) == 0)
		return 1;
	ret[1] = arena_printf(a, "_dmarc.%s", organisation);
	return 2;
}

bool dmarc_aligned(const char *from_domain, const char *other, bool strict)
{
	char a[MAIL_DOMAIN_MAX + 1], b[MAIL_DOMAIN_MAX + 1];

	if (strcasecmp(from_domain, other) == 0)
		return true;
	if (strict)
		return false;
	dmarc_organisation(from_domain, a);
	dmarc_organisation(other, b);
	/* Two names under one public suffix are two organisations. */
	return strcasecmp(a, b) == 0;
}

enum mail_verdict dmarc_judge(const char *from_domain, const struct dmarc_record *record,
	const struct dkim_check *dkim, const struct authres *server)
{
	bool strict = record && record->strict_dkim, spoiled = false;

	if (server && server->found && server->dmarc == MAIL_FAIL)
		return MAIL_FAIL;
	for (size_t i = 0; i < dkim->count; i++) {
		const struct dkim_signature *s = &dkim->at[i];

		if (!s->domain || !dmarc_aligned(from_domain, s->domain, strict))
			continue;
		if (s->verdict == MAIL_PASS)
			return MAIL_PASS;
		spoiled |= s->verdict == MAIL_FAIL;
	}
	if (server && authres_vouches(server, from_domain))
		return MAIL_PASS;
	return record && spoiled ? MAIL_FAIL : MAIL_NONE;
}
