/* lmtp_data.c - the bytes of a message: dots taken off, the one end of data, and what is refused in it.
 *
 * A server in front that takes another end of data than this one lets a
 * stranger smuggle a second message, with any sender, behind the first.  So
 * there is one end, CR LF . CR LF, and a CR or LF that stands alone spoils the
 * message: nothing of it is handed on any more, and its end is still waited
 * for. */
#include "mail/lmtp_data.h"

#include <string.h>

void lmtp_data_begin(struct lmtp *s)
{
	s->place = AT_LINE;
	s->size = 0;
	s->refused = (struct lmtp_reply){ 0 };
}

static void refuse(struct lmtp *s, int code, const char *status, const char *text)
{
	if (!s->refused.code)
		s->refused = (struct lmtp_reply){ code, status, text };
}

static void hand_on(struct lmtp *s, const char *at, size_t len)
{
	s->size += len;
	if (s->size > s->size_max)
		refuse(s, 552, "5.3.4", "The message is too large");
	if (len && !s->refused.code)
		s->calls->bytes(s->owner, at, len);
}

static size_t plain_run(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bytes[n] != '\r' && bytes[n] != '\n' && bytes[n] != '\0')
		n++;
	return n;
}

/* A byte in a line, that is no CR: what it means there. */
static void take_byte(struct lmtp *s, char c)
{
	if (c == '\n')
		refuse(s, 550, "5.6.11", "The message has an LF without a CR before it");
	else if (c == '\0')
		refuse(s, 550, "5.6.0", "The message has a NUL");
	hand_on(s, &c, 1);
	s->place = IN_LINE;
}

static void bare_cr(struct lmtp *s)
{
	refuse(s, 550, "5.6.11", "The message has a CR without an LF behind it");
}

/* One byte; true at the end of the data. */
static bool step(struct lmtp *s, char c)
{
	switch (s->place) {
	case AT_LINE:
		if (c == '.') {
			s->place = AT_DOT;
			return false;
		}
		break;
	case AT_DOT: /* the dot itself is left out */
		if (c == '\r') {
			s->place = AT_DOT_CR;
			return false;
		}
		break;
	case AT_DOT_CR:
		if (c == '\n')
			return true;
		bare_cr(s);
		break;
	case AT_CR:
		if (c == '\n') {
			hand_on(s, "\r\n", 2);
			s->place = AT_LINE;
			return false;
		}
		bare_cr(s);
		break;
	case IN_LINE:
		break;
	}
	if (c == '\r')
		s->place = AT_CR;
	else
		take_byte(s, c);
	return false;
}

size_t lmtp_data_push(struct lmtp *s, const char *bytes, size_t len, bool *ret_ended)
{
	size_t used = 0;

	*ret_ended = false;
	while (used < len && !*ret_ended) {
		size_t run = 0;

		if (s->place == AT_LINE && bytes[used] != '.')
			s->place = IN_LINE;
		if (s->place == IN_LINE)
			run = plain_run(bytes + used, len - used);
		if (len - used - run >= 2 && s->place == IN_LINE &&
			memcmp(bytes + used + run, "\r\n", 2) == 0) {
			run += 2; /* a line with its end, at once */
			s->place = AT_LINE;
		}
		hand_on(s, bytes + used, run);
		used += run;
		if (!run)
			*ret_ended = step(s, bytes[used++]);
	}
	return used;
}
