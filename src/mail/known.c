/* known.c - see known.h. */
#include "mail/known.h"

#include <string.h>
#include <strings.h>

#include "base/crypto.h"

/* What each server on the way adds, or writes anew, and nobody here reads. */
static const char *const traces[] = { "received", "received-spf", "x-original-to", "envelope-to" };

static bool is_trace(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++)
		if (strlen(traces[i]) == len && strncasecmp(traces[i], name, len) == 0)
			return true;
	return false;
}

void mail_known_begin(struct mail_known *k)
{
	*k = (struct mail_known){ .plain = sha256_begin(), .whole = sha256_begin() };
}

/* One of the two is left, and takes the body. */
static void end_head(struct mail_known *k)
{
	bool large = k->lines > MAIL_KNOWN_HEAD_LINES || k->bytes > MAIL_KNOWN_HEAD_BYTES;

	sha256_end(large ? k->plain : k->whole, NULL);
	k->plain = large ? k->whole : k->plain;
	k->whole = NULL;
	k->at = KNOWN_IN_BODY;
}

static void add_to_line(struct mail_known *k, const char *bytes, size_t len)
{
	bool ends = len && bytes[len - 1] == '\n';

	if (!len)
		return;
	k->bytes += len;
	sha256_add(k->whole, bytes, len);
	if (!k->trace) {
		sha256_add(k->plain, bytes, len);
		return;
	}
	for (size_t i = 0; i < len && k->blank; i++)
		k->blank = strchr(" \t\r\n", bytes[i]) && bytes[i];
	if (ends && k->blank) /* which a reader may take for the end of the head */
		sha256_add(k->plain, "\n", 1);
}

/* The name is whole, or is none: what it has counts with the line. */
static void enter_field(struct mail_known *k, bool named)
{
	k->trace = named && is_trace(k->name, k->name_len);
	k->blank = !k->name_len;
	add_to_line(k, k->name, k->name_len);
	k->at = KNOWN_IN_LINE;
}

/* One byte of what a line begins with; false: it is not of the name, and was not taken. */
static bool take_name(struct mail_known *k, char c)
{
	bool first = k->name_len == 0, after_cr = k->name_len == 1 && k->name[0] == '\r';

	if (first && (c == ' ' || c == '\t')) {
		k->blank = true;
		k->at = KNOWN_IN_LINE; /* the field goes on */
		return false;
	}
	if (c == '\n' && (first || after_cr)) {
		end_head(k);
		return true;
	}
	if (c == ':' || c == '\n' || after_cr || k->name_len == sizeof k->name) {
		enter_field(k, c == ':');
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
			add_to_line(k, bytes, n);
			if (end) {
				k->at = KNOWN_AT_NAME;
				k->name_len = 0;
				k->lines++;
			}
		}
		bytes += n;
		len -= n;
	}
	if (len)
		sha256_add(k->plain, bytes, len);
}

void mail_known_end(struct mail_known *k, char ret[MAIL_KNOWN_LEN + 1])
{
	uint8_t digest[SHA256_LEN];

	if (k->at == KNOWN_AT_NAME && k->name_len) /* a line without an end */
		enter_field(k, false);
	if (k->at != KNOWN_IN_BODY)
		end_head(k);
	sha256_end(k->plain, ret ? digest : NULL);
	if (ret)
		hex_write(digest, sizeof digest, ret);
	*k = (struct mail_known){ 0 };
}

void mail_known_envelope(
	char known[MAIL_KNOWN_LEN + 1], const char *sender, const char *named, bool by_lmtp)
{
	struct sha256_run *run = sha256_begin();
	uint8_t digest[SHA256_LEN];

	sha256_add(run, known, MAIL_KNOWN_LEN);
	sha256_add(run, sender, strlen(sender) + 1);
	sha256_add(run, named, strlen(named) + 1);
	if (!by_lmtp)
		sha256_add(run, "", 1);
	sha256_end(run, digest);
	hex_write(digest, sizeof digest, known);
}
