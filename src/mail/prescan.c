/* prescan.c - see prescan.h. */
#include "mail/prescan.h"

#include <string.h>

/* Those that the parser takes apart as lists of addresses. */
static const char *const address_headers[] = { "from", "to", "cc", "bcc", "sender", "reply-to",
	"return-path", "resent-from", "resent-to", "resent-cc", "resent-bcc", "resent-sender",
	"resent-reply-to", "disposition-notification-to", "delivered-to", "mail-followup-to",
	"errors-to", "apparently-to" };

void prescan_begin(struct prescan *s, size_t bytes_max)
{
	*s = (struct prescan){ .bytes_max = bytes_max < PRESCAN_BYTES_MAX ? bytes_max
									  : PRESCAN_BYTES_MAX };
}

static bool refuse(struct prescan *s, const char *fault)
{
	s->fault = fault;
	return false;
}

static bool name_has_addresses(const struct prescan *s)
{
	size_t len = s->name_len;

	while (len && (s->name[len - 1] == ' ' || s->name[len - 1] == '\t'))
		len--;
	for (size_t i = 0; i < sizeof address_headers / sizeof *address_headers; i++)
		if (strlen(address_headers[i]) == len &&
			memcmp(s->name, address_headers[i], len) == 0)
			return true;
	return false;
}

/* A byte before the colon, or the colon. */
static void take_name(struct prescan *s, char c)
{
	if (c == ':') {
		s->in_name = false;
		s->in_addresses = name_has_addresses(s);
		s->field_bytes = s->field_colons = 0;
	} else if (s->name_len == PRESCAN_NAME_MAX) {
		s->in_name = false;
	} else {
		s->name[s->name_len++] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
}

static bool take_address(struct prescan *s, char c)
{
	s->field_bytes++;
	s->field_colons += c == ':';
	if (s->field_bytes > (s->in_body ? PRESCAN_INNER_MAX : PRESCAN_ADDRESS_MAX))
		return refuse(s, "A header with addresses is too long.");
	if (s->field_colons > (s->in_body ? PRESCAN_INNER_COLONS_MAX : PRESCAN_ADDRESS_COLONS_MAX))
		return refuse(s, "A header with addresses has too many groups.");
	return true;
}

/* Any byte but the end of a line. */
static bool take_byte(struct prescan *s, char c)
{
	size_t at = s->line_len++;

	if (at == 0 && c != ' ' &&
		c != '\t') { /* one with a blank goes on with the field before it */
		s->in_name = true;
		s->in_addresses = false;
		s->name_len = 0;
	}
	if (at == 1 && c == '-' && s->dash && ++s->boundaries > PRESCAN_BOUNDARIES_MAX)
		return refuse(s, "The message has too many parts.");
	s->dash = at == 0 && c == '-';
	if (s->in_addresses)
		return take_address(s, c);
	if (s->in_name)
		take_name(s, c);
	return true;
}

static bool end_line(struct prescan *s)
{
	if (!s->in_body && ++s->head_lines > PRESCAN_HEAD_LINES_MAX)
		return refuse(s, "The head of the message has too many lines.");
	if (!s->line_len) {
		s->in_body = true;
		s->in_addresses = false;
	}
	s->line_len = 0;
	s->in_name = false;
	return true;
}

static bool push_byte(struct prescan *s, char c)
{
	bool cr = s->cr;

	if (++s->bytes > PRESCAN_HEAD_MAX && !s->in_body)
		return refuse(s, "The head of the message is too long.");
	s->cr = c == '\r';
	if (c == '\n')
		return end_line(s);
	if (cr && !take_byte(s, '\r')) /* it ended no line */
		return false;
	return s->cr || take_byte(s, c);
}

/* Whether the rest of the line says nothing here. */
static bool is_idle(const struct prescan *s)
{
	return s->in_body && !s->in_addresses && !s->in_name && s->line_len > 1;
}

bool prescan_push(struct prescan *s, const char *bytes, size_t len)
{
	if (s->fault)
		return false;
	if (len > s->bytes_max - s->bytes)
		return refuse(s, "The message is too large.");
	if (len && memchr(bytes, '\0', len))
		return refuse(s, "The message has a NUL.");
	for (size_t i = 0; i < len;) {
		const char *end = is_idle(s) ? memchr(bytes + i, '\n', len - i) : bytes + i;
		size_t run = end ? (size_t)(end - bytes) - i : len - i;

		if (run) {
			s->bytes += run;
			s->line_len += run;
			s->cr = false;
			i += run;
		} else if (!push_byte(s, bytes[i++])) {
			return false;
		}
	}
	return true;
}

const char *prescan_fault(const char *bytes, size_t len, size_t bytes_max)
{
	struct prescan s;

	prescan_begin(&s, bytes_max);
	prescan_push(&s, bytes, len);
	return s.fault;
}
