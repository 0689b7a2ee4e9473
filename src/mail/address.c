/* address.c - see address.h. */
#include "mail/address.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"

/* What stands for itself in a local part or a label. */
static bool is_atom_byte(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c >= 0x80 || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

static char small(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

/* ---- domains ---- */

static bool is_label(const char *text, size_t len)
{
	if (!len || len > MAIL_DOMAIN_LABEL_MAX || text[0] == '-' || text[len - 1] == '-')
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)small(text[i]);

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c >= 0x80))
			return false;
	}
	return true;
}

bool mail_domain_valid(const char *text, size_t len)
{
	size_t from = 0;

	if (len > MAIL_DOMAIN_MAX || !utf8_valid(text, len))
		return false;
	for (size_t i = 0; i <= len; i++)
		if (i == len || text[i] == '.') {
			if (!is_label(text + from, i - from))
				return false;
			from = i + 1;
		}
	return true;
}

/* ---- local parts ---- */

/* a.b.c */
static bool is_dot_atom(const char *text, size_t len)
{
	bool dot = true;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' ? dot : !is_atom_byte((unsigned char)text[i]))
			return false;
		dot = text[i] == '.';
	}
	return !dot;
}

/* After the " of a quoted text: what it means, into room for MAIL_LOCAL_MAX; 0 if it does not end. */
static size_t read_quoted(const char *text, size_t len, char *ret, size_t *ret_len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"') {
			*ret_len = n;
			return i + 1;
		}
		if (c == '\\' && i + 1 < len)
			c = (unsigned char)text[++i];
		if (c < ' ' || c == 0x7f || n == MAIL_LOCAL_MAX)
			return 0;
		ret[n++] = (char)c;
	}
	return 0;
}

/* How many bytes the local part has in the text; 0 if it is none. */
static size_t read_local(const char *text, size_t len, struct mail_address *ret)
{
	size_t used = 0, n = 0;

	if (len && *text == '"') {
		used = read_quoted(text + 1, len - 1, ret->local, &n);
		used += used > 0;
	} else {
		while (used < len && text[used] != '@')
			used++;
		if (!is_dot_atom(text, used) || used > MAIL_LOCAL_MAX)
			return 0;
		memcpy(ret->local, text, n = used);
	}
	ret->local[n] = '\0';
	return n ? used : 0;
}

/* ---- the whole ---- */

/* The text from its two parts; false if it is too long. */
static bool write_text(struct mail_address *m)
{
	char quoted[2 * MAIL_LOCAL_MAX + 3];
	const char *local = m->local;
	size_t n = 0;

	if (!is_dot_atom(local, strlen(local))) {
		quoted[n++] = '"';
		for (const char *p = m->local; *p; p++) {
			if (*p == '"' || *p == '\\')
				quoted[n++] = '\\';
			quoted[n++] = *p;
		}
		quoted[n++] = '"';
		quoted[n] = '\0';
		local = quoted;
		if (n > MAIL_LOCAL_MAX)
			return false;
	}
	m->wide = false;
	for (const char *p = m->local; *p; p++)
		m->wide |= (unsigned char)*p >= 0x80;
	for (const char *p = m->domain; *p; p++)
		m->wide |= (unsigned char)*p >= 0x80;
	return snprintf(m->text, sizeof m->text, "%s@%s", local, m->domain) < (int)sizeof m->text;
}

static bool parse(const char *text, size_t len, struct mail_address *m, const char **ret_fault)
{
	size_t used, rest;

	*ret_fault = "The address is longer than 254 bytes.";
	if (len > MAIL_ADDRESS_MAX)
		return false;
	*ret_fault = "The address has a control character, or is not UTF-8.";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	if (!utf8_valid(text, len))
		return false;
	*ret_fault = "The address has a source route.";
	if (len && *text == '@')
		return false;
	*ret_fault = "What stands before the @ is no name of a mailbox of at most 64 bytes.";
	used = read_local(text, len, m);
	if (!used || used == len || text[used] != '@')
		return false;
	text += used + 1;
	rest = len - used - 1;
	*ret_fault = "An address of a machine in brackets is not taken.";
	if (rest && *text == '[')
		return false;
	*ret_fault = "What stands behind the @ is no domain.";
	if (!mail_domain_valid(text, rest))
		return false;
	for (size_t i = 0; i < rest; i++)
		m->domain[i] = small(text[i]);
	m->domain[rest] = '\0';
	*ret_fault = "The address is too long.";
	return write_text(m);
}

bool mail_address_parse(
	const char *text, size_t len, struct mail_address *ret, const char **ret_fault)
{
	bool ok;

	*ret = (struct mail_address){ 0 };
	ok = parse(text, len, ret, ret_fault);
	if (ok)
		*ret_fault = NULL;
	else
		*ret = (struct mail_address){ 0 };
	return ok;
}

size_t mail_address_path(
	const char *text, size_t len, struct mail_address *ret, const char **ret_fault)
{
	bool quoted = false;
	size_t end = 1;

	*ret = (struct mail_address){ 0 };
	*ret_fault = "The address must stand in < and >.";
	if (!len || *text != '<')
		return 0;
	for (; end < len && (quoted || text[end] != '>'); end++) {
		if (text[end] == '"')
			quoted = !quoted;
		else if (quoted && text[end] == '\\')
			end++;
	}
	if (end >= len)
		return 0;
	if (end == 1) {
		*ret_fault = NULL;
		return 2;
	}
	return mail_address_parse(text + 1, end - 1, ret, ret_fault) ? end + 1 : 0;
}

void mail_address_key(const struct mail_address *m, char ret[MAIL_ADDRESS_MAX + 1])
{
	size_t i = 0;

	for (; m->text[i]; i++)
		ret[i] = small(m->text[i]);
	ret[i] = '\0';
}

bool mail_address_same(const struct mail_address *a, const struct mail_address *b)
{
	return strcasecmp(a->text, b->text) == 0;
}

/* ---- plus parts ---- */

void mail_address_plus(const struct mail_address *m, struct slice *ret_base, struct slice *ret_plus)
{
	const char *plus = strchr(m->local, '+');

	*ret_base = (struct slice){ m->local, plus ? (size_t)(plus - m->local) : strlen(m->local) };
	*ret_plus = plus ? (struct slice){ plus + 1, strlen(plus + 1) } : (struct slice){ 0 };
}

bool mail_address_add_plus(const struct mail_address *m, const char *plus, struct mail_address *ret)
{
	struct slice base, before;

	mail_address_plus(m, &base, &before);
	*ret = (struct mail_address){ 0 };
	if (!is_dot_atom(plus, strlen(plus)) || strchr(plus, '+') ||
		base.len + 1 + strlen(plus) > MAIL_LOCAL_MAX)
		return false;
	snprintf(ret->local, sizeof ret->local, "%.*s+%s", (int)base.len, base.at, plus);
	snprintf(ret->domain, sizeof ret->domain, "%s", m->domain);
	return write_text(ret);
}

/* ---- agents' ---- */

bool mail_address_is_internal(const struct mail_address *m)
{
	size_t len = strlen(m->domain), suffix = strlen(MAIL_INTERNAL_SUFFIX);

	return len >= suffix && strcmp(m->domain + len - suffix, MAIL_INTERNAL_SUFFIX) == 0 &&
	       (len == suffix || m->domain[len - suffix - 1] == '.');
}

static bool is_plain_label(const char *slug)
{
	for (const char *p = slug; *p; p++)
		if ((unsigned char)*p >= 0x80)
			return false;
	return is_label(slug, strlen(slug));
}

bool mail_address_external(const char *agent_slug, const char *agent_id, const char *tenant_slug,
	const char *tenant_id, const char *domain, struct mail_address *ret)
{
	const char *local = agent_slug, *label = tenant_slug;
	char text[MAIL_LOCAL_MAX + 1 + MAIL_DOMAIN_LABEL_MAX + 1 + MAIL_DOMAIN_MAX + 1], *at;
	const char *fault;
	int n;

	*ret = (struct mail_address){ 0 };
	if (!is_plain_label(local) || strlen(local) + MAIL_PLUS_LEN > MAIL_LOCAL_MAX)
		local = agent_id;
	if (!is_plain_label(label))
		label = tenant_id;
	n = snprintf(text, sizeof text, "%s@%s.%s", local, label, domain);
	/* With a plus part it must still be an address. */
	if (n < 0 || n + MAIL_PLUS_LEN > MAIL_ADDRESS_MAX)
		return false;
	for (at = text; *at; at++)
		*at = small(*at);
	return mail_address_parse(text, strlen(text), ret, &fault);
}

bool mail_address_internal(const char *agent_slug, const char *agent_id, const char *tenant_slug,
	const char *tenant_id, struct mail_address *ret)
{
	return mail_address_external(
		agent_slug, agent_id, tenant_slug, tenant_id, MAIL_INTERNAL_SUFFIX, ret);
}
