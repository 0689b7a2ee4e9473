/* letter_text.c - see letter_text.h. */
#include "mailboxes/letter_text.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "base/utf8_cut.h"
#include "mail/compose.h"
#include "mailboxes/mailbox.h"

#define SENDER "Lodge"
#define FOOT "\n\nNobody reads answers to this address.\n"

/* {link}, {who}, {tenant}, {lines} and {until} stand for members of struct letter. */
static const struct {
	const char *subject, *text;
} texts[LETTER_TEXTS] = {
	[LETTER_SAYS_INVITED] = { "You are invited to \"{tenant}\"",
		"{who} invites you to join \"{tenant}\".\n\n"
		"To accept, open this link. It works once, until {until}:\n\n{link}\n\n"
		"If you have an account already, sign in there and answer the invitation.\n"
		"If you do not know who invites you, do nothing." },
	[LETTER_SAYS_CONFIRM] = { "Confirm your address",
		"Somebody, you it seems, asked for an account with this address.\n\n"
		"To make it, open this link. It works once, until {until}:\n\n{link}\n\n"
		"If it was not you, do nothing: no account is made." },
	[LETTER_SAYS_KNOWN] = { "You have an account already",
		"Somebody, you perhaps, asked for an account with this address. There is one already,\n"
		"and nothing has changed.\n\n"
		"You sign in here, where you can also ask for a new password:\n\n{link}\n\n"
		"If it was not you, do nothing." },
	[LETTER_SAYS_RESET] = { "Set a new password",
		"Somebody, you it seems, asked for a new password for the account with this address.\n\n"
		"To set it, open this link. It works once, until {until}:\n\n{link}\n\n"
		"Every login of yours ends then, and every API key unless you say otherwise.\n"
		"If it was not you, do nothing: your password stays." },
	[LETTER_SAYS_PROVIDER] = { "You sign in without a password",
		"Somebody, you perhaps, asked for a new password for the account with this address.\n"
		"It has none: you sign in with {who}, here:\n\n{link}\n\n"
		"If it was not you, do nothing." },
	[LETTER_SAYS_APPROVALS] = { "Waiting for your word in \"{tenant}\"",
		"Agents of \"{tenant}\" have waited for more than an hour for somebody to allow or refuse\n"
		"what they want to do:\n\n{lines}\n"
		"All that waits for you is here:\n\n{link}" },
};

/* U+202A to U+202E and U+2066 to U+2069 turn the direction of what follows; U+0085, U+2028 and U+2029 end a line. */
static bool controls(const unsigned char *p, size_t n)
{
	if (n == 1)
		return *p < 0x20 || *p == 0x7f;
	if (n == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return n == 3 && p[0] == 0xe2 &&
	       ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
		       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

/* What programs that show mail make a link of: a full stop, colon, slash or @ between letters.  U+3002, U+FF0E and U+FF61 are
 * full stops in a domain too. */
static bool joins(const unsigned char *p, size_t n)
{
	if (n == 1)
		return strchr(".:/\\@", *p) != NULL;
	return n == 3 && (memcmp(p, "\xe3\x80\x82", 3) == 0 || memcmp(p, "\xef\xbc\x8e", 3) == 0 ||
				 memcmp(p, "\xef\xbd\xa1", 3) == 0);
}

/* A name in at most so many bytes, and an ellipsis.  A blank after what joins, so that no name becomes a link; no quotation
 * mark, since names stand between two. */
static const char *name_shown(struct arena *a, const char *text, size_t most)
{
	size_t len = text ? strlen(text) : 0, n;
	char *out = arena_alloc(a, most + 4), *to = out;
	const char *stop = text + len, *p = text;

	for (; p < stop; p += n) {
		bool joined;

		n = utf8_step(p, stop);
		joined = n && joins((const unsigned char *)p, n) && p + n < stop;
		if ((size_t)(to - out) + (n ? n : 1) + joined > most) {
			memcpy(to, "\xe2\x80\xa6", 3); /* an ellipsis */
			to += 3;
			break;
		}
		if (!n || controls((const unsigned char *)p, n)) {
			*to++ = ' ';
			n = n ? n : 1;
			continue;
		}
		memcpy(to, p, n);
		if (*to == '"')
			*to = '\'';
		to += n;
		if (joined && p[n] != ' ')
			*to++ = ' ';
	}
	*to = '\0';
	return out;
}

const char *letter_value(struct arena *a, const char *text)
{
	return name_shown(a, text, LETTER_VALUE_MAX);
}

static const char *value_named(
	struct arena *a, const struct letter *l, size_t most, const char *name, size_t n)
{
	const struct {
		const char *name, *value;
	} all[] = {
		{ "link", l->link },
		{ "lines", l->lines },
		{ "until", l->until },
		{ "who", name_shown(a, l->who, most) },
		{ "tenant", name_shown(a, l->tenant, most) },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strlen(all[i].name) == n && memcmp(all[i].name, name, n) == 0)
			return all[i].value ? all[i].value : "";
	return "";
}

static const char *fill_in(struct arena *a, const struct letter *l, size_t most, const char *text)
{
	const char *made;
	struct buf b;

	buf_init(&b, LETTER_BYTES_MAX);
	while (*text) {
		size_t n = strcspn(text, "{");

		buf_put(&b, text, n);
		text += n;
		if (*text) {
			n = strcspn(text, "}");
			buf_puts(&b, value_named(a, l, most, text + 1, n - 1));
			text += n + 1;
		}
	}
	made = b.overflow ? "" : arena_strndup(a, b.at ? b.at : "", b.len);
	buf_free(&b);
	return made;
}

const char *letter_subject(struct arena *a, const struct letter *l)
{
	return fill_in(a, l, LETTER_SUBJECT_NAME_MAX, texts[l->says].subject);
}

const char *letter_body(struct arena *a, const struct letter *l)
{
	return arena_printf(a, "%s" FOOT, fill_in(a, l, LETTER_VALUE_MAX, texts[l->says].text));
}

struct to_buf {
	struct compose_sink sink; /* first */
	struct buf *out;
};

static bool put_bytes(struct compose_sink *s, const void *bytes, size_t len)
{
	struct to_buf *t = (struct to_buf *)s;

	buf_put(t->out, bytes, len);
	return !t->out->overflow;
}

int letter_bytes(
	struct arena *a, const struct letter *l, const char *id, int64_t now, struct buf *out)
{
	const char *house = mailbox_policy()->house, *fault;
	struct to_buf t = { { put_bytes }, out };
	struct mail_person to = { .name = "" };
	struct compose_message m = {
		.from.name = SENDER,
		.to = { &to, 1 },
		.subject = letter_subject(a, l),
		.text = letter_body(a, l),
		.date_us = now,
		.origin = COMPOSE_AUTO_GENERATED,
		.boundary = id,
	};

	if (!mail_address_parse(house, strlen(house), &m.from.address, &fault) ||
		!mail_address_parse(l->to, strlen(l->to), &to.address, &fault))
		return ERR_INVALID;
	m.message_id = arena_printf(a, "%s@%s", id, m.from.address.domain);
	return mail_compose(&m, &t.sink, &fault);
}
