/* lmtp.c - see lmtp.h: bytes become lines or a message, and decisions replies.  lmtp_command.c has the commands, lmtp_reply.c the
 * states and replies, lmtp_data.c the bytes of messages. */
#include "mail/lmtp.h"

#include "base/check.h"
#include "mail/lmtp_command.h"
#include "mail/lmtp_data.h"
#include "mail/lmtp_reply.h"

/* Up to the end of a line, which is CR LF; the bytes it took. */
static size_t push_command(struct lmtp *s, const char *bytes, size_t len)
{
	size_t used = 0;

	while (used < len) {
		char c = bytes[used++];

		if (c == '\n' && s->line_len && s->line[s->line_len - 1] == '\r') {
			s->line_len--;
			s->lines++;
			if (s->line_long)
				lmtp_bad(s, 500, "5.5.2", "The line is too long");
			else
				lmtp_run_line(s);
			s->line_len = 0;
			s->line_long = false;
			break;
		}
		/* Of one that is too long the last byte is kept, which may be the CR. */
		if (s->line_len == LMTP_LINE_MAX - 1) {
			s->line_long = true;
			s->line_len = 0;
		}
		s->line[s->line_len++] = c;
	}
	return used;
}

/* ---- from outside ---- */

void lmtp_begin(struct lmtp *s, const struct lmtp_calls *calls, void *owner, const char *host,
	uint64_t size_max, bool smtp)
{
	*s = (struct lmtp){
		.calls = calls, .owner = owner, .host = host, .size_max = size_max, .smtp = smtp
	};
	lmtp_answer(s, 220, "", host);
}

bool lmtp_waits(const struct lmtp *s)
{
	return s->state == LMTP_ASKED_MAIL || s->state == LMTP_ASKED_RCPT ||
	       s->state == LMTP_ASKED_DATA;
}

/* The message is through, or refused. */
static void next_message(struct lmtp *s)
{
	lmtp_move(s, LMTP_READY);
	s->bad = s->idle = s->declined = s->beyond = 0;
	lmtp_forget(s);
}

static void end_data(struct lmtp *s)
{
	if (!s->refused.code) {
		lmtp_move(s, LMTP_ASKED_DATA);
		s->calls->end(s->owner);
		return;
	}
	s->calls->dropped(s->owner);
	for (unsigned i = 0; i < (s->smtp ? 1 : s->recipients); i++)
		lmtp_answer(s, s->refused.code, s->refused.status, s->refused.text);
	next_message(s);
}

static size_t push_data(struct lmtp *s, const char *bytes, size_t len)
{
	bool ended = false;
	size_t used = lmtp_data_push(s, bytes, len, &ended);

	/* Whoever goes on for so long will not stop either. */
	if (!ended && s->size > 2 * s->size_max + (1 << 20))
		lmtp_leave(s, "4.3.4", "The message does not end");
	if (ended)
		end_data(s);
	return used;
}

size_t lmtp_push(struct lmtp *s, const char *bytes, size_t len)
{
	size_t used = 0;

	while (used < len && !lmtp_waits(s) && s->state != LMTP_CLOSED)
		used += s->state == LMTP_DATA ? push_data(s, bytes + used, len - used)
					      : push_command(s, bytes + used, len - used);
	return used;
}

void lmtp_decide(struct lmtp *s, struct lmtp_reply r)
{
	INVARIANT(r.code >= 200 && r.code < 600 && r.code != 354);
	switch (s->state) {
	case LMTP_ASKED_MAIL:
		lmtp_take_sender(s, r);
		break;
	case LMTP_ASKED_RCPT:
		lmtp_take_recipient(s, r);
		break;
	case LMTP_ASKED_DATA:
		lmtp_answer(s, r.code, r.status, r.text);
		if (++s->decided == (s->smtp ? 1 : s->recipients))
			next_message(s);
		break;
	default: /* the connection went while it was being decided */
		INVARIANT(s->state == LMTP_CLOSED);
	}
}
