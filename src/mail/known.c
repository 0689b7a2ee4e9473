/* known.c - see known.h. */
#include "mail/known.h"

#include <string.h>
#include <strings.h>

#include "base/crypto.h"

/* What each server on the way adds, or writes anew. */
static const char *const traces[] = { "received", "return-path", "delivered-to", "x-original-to",
	"envelope-to", "authentication-results", "received-spf", NULL };
static const char *const names[] = { "message-id", "from", "dkim-signature", NULL };

static bool is_among(const char *const *list, const char *name, size_t len)
{
	for (; *list; list++)
		if (strlen(*list) == len && strncasecmp(*list, name, len) == 0)
			return true;
	return false;
}

void mail_known_begin(struct mail_known *k)
{
	*k = (struct mail_known){ .named = sha256_begin(), .rest = sha256_begin() };
}

static void add_to_field(struct mail_known *k, const char *bytes, size_t len)
{
	if (k->field == KNOWN_AS_TRACE || !len)
		return;
	sha256_add(k->rest, bytes, len);
	if (k->in_id && memchr(bytes, '@', len))
		k->has_id = true; /* an empty one names nothing */
	if (k->field == KNOWN_AS_NAMED)
		sha256_add(k->named, bytes, len);
}

/* The name is whole, or is none: what it has counts with the line. */
static void enter_field(struct mail_known *k)
{
	size_t len = k->name_len;

	while (len && (k->name[len - 1] == ' ' || k->name[len - 1] == '\t'))
		len--;
	k->field = is_among(traces, k->name, len)  ? KNOWN_AS_TRACE
		   : is_among(names, k->name, len) ? KNOWN_AS_NAMED
						   : KNOWN_AS_REST;
	k->in_id = k->field == KNOWN_AS_NAMED && len == strlen(names[0]) &&
		   strncasecmp(k->name, names[0], len) == 0;
	add_to_field(k, k->name, k->name_len);
	k->at = KNOWN_IN_LINE;
}

/* One byte of what a line begins with; false: it is not of the name, and was not taken. */
static bool take_name(struct mail_known *k, char c)
{
	bool first = k->name_len == 0, after_cr = k->name_len == 1 && k->name[0] == '\r';

	if (first && (c == ' ' || c == '\t')) {
		k->at = KNOWN_IN_LINE; /* the field goes on */
		return false;
	}
	if (c == '\n' && (first || after_cr)) {
		sha256_end(k->has_id ? k->rest : k->named, NULL);
		if (k->has_id)
			k->rest = NULL;
		else
			k->named = NULL;
		k->at = KNOWN_IN_BODY;
		return true;
	}
	if (c == ':' || c == '\n' || after_cr || k->name_len == sizeof k->name) {
		enter_field(k);
		return false;
	}
	k->name[k->name_len++] = c;
	return true;
}

void mail_known_push(struct mail_known *k, const char *bytes, size_t len)
{
	while (len && k->at != KNOWN_IN_BODY) {
		const char *end;
		size_t n;

		if (k->at == KNOWN_AT_NAME) {
			n = take_name(k, *bytes);
		} else {
			end = memchr(bytes, '\n', len);
			n = end ? (size_t)(end - bytes) + 1 : len;
			add_to_field(k, bytes, n);
			if (end) {
				k->at = KNOWN_AT_NAME;
				k->name_len = 0;
			}
		}
		bytes += n;
		len -= n;
	}
	if (len)
		sha256_add(k->has_id ? k->named : k->rest, bytes, len);
}

void mail_known_end(struct mail_known *k, char ret[MAIL_KNOWN_LEN + 1])
{
	struct sha256_run *kept = k->has_id ? k->named : k->rest,
			  *other = k->has_id ? k->rest : k->named;
	uint8_t digest[SHA256_LEN];

	sha256_end(other, NULL);
	sha256_end(kept, ret ? digest : NULL);
	if (ret)
		hex_write(digest, sizeof digest, ret);
	*k = (struct mail_known){ 0 };
}
