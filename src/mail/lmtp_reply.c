/* lmtp_reply.c - see lmtp_reply.h: the states and their moves, the replies, and when there is enough. */
#include "mail/lmtp_reply.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define TO(state) (1u << LMTP_##state)

static const unsigned moves[LMTP_STATES] = {
	[LMTP_FRESH] = TO(READY) | TO(CLOSED),
	[LMTP_READY] = TO(READY) | TO(ASKED_MAIL) | TO(CLOSED),
	[LMTP_ASKED_MAIL] = TO(READY) | TO(MAIL) | TO(CLOSED),
	[LMTP_MAIL] = TO(READY) | TO(ASKED_RCPT) | TO(CLOSED),
	[LMTP_ASKED_RCPT] = TO(MAIL) | TO(RCPT) | TO(CLOSED),
	[LMTP_RCPT] = TO(READY) | TO(ASKED_RCPT) | TO(DATA) | TO(CLOSED),
	[LMTP_DATA] = TO(READY) | TO(ASKED_DATA) | TO(CLOSED),
	[LMTP_ASKED_DATA] = TO(READY) | TO(CLOSED),
	[LMTP_CLOSED] = TO(CLOSED),
};

void lmtp_move(struct lmtp *s, enum lmtp_state to)
{
	INVARIANT_MOVE(moves, s->state, to);
	s->state = to;
}

/* ---- replies ---- */

void lmtp_send_line(struct lmtp *s, int code, char mark, const char *status, const char *text)
{
	char line[LMTP_TEXT_MAX + 32];
	int n = snprintf(line, sizeof line - 2, "%03d%c%s%s%s", code, mark, status,
		*status ? " " : "", text);
	size_t len = n < (int)sizeof line - 3 ? (size_t)n : sizeof line - 3;

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || (unsigned char)line[i] >= 0x7f)
			line[i] = '?';
	memcpy(line + len, "\r\n", 2);
	s->calls->send(s->owner, line, len + 2);
}

void lmtp_answer(struct lmtp *s, int code, const char *status, const char *text)
{
	lmtp_send_line(s, code, ' ', status, text);
}

void lmtp_forget(struct lmtp *s)
{
	s->recipients = s->decided = 0;
	s->sender = (struct lmtp_sender){ 0 };
	s->calls->forget(s->owner);
}

void lmtp_leave(struct lmtp *s, const char *status, const char *text)
{
	if (s->state == LMTP_CLOSED)
		return;
	if (s->state == LMTP_DATA)
		s->calls->dropped(s->owner);
	lmtp_answer(s, 421, status, text);
	lmtp_move(s, LMTP_CLOSED);
}

void lmtp_gone(struct lmtp *s)
{
	if (s->state == LMTP_DATA)
		s->calls->dropped(s->owner);
	lmtp_move(s, LMTP_CLOSED);
}

/* ---- enough ---- */

/* True while it is not. */
static bool count_to(struct lmtp *s, unsigned *count, unsigned most, const char *text)
{
	if (++*count < most)
		return true;
	lmtp_leave(s, "4.7.0", text);
	return false;
}

void lmtp_bad(struct lmtp *s, int code, const char *status, const char *text)
{
	if (count_to(s, &s->bad, LMTP_BAD_MAX, "Too many commands were wrong"))
		lmtp_answer(s, code, status, text);
}

void lmtp_decline(struct lmtp *s, int code, const char *status, const char *text)
{
	if (count_to(s, &s->declined, LMTP_DECLINED_MAX,
		    "Too many senders and recipients were refused"))
		lmtp_answer(s, code, status, text);
}

void lmtp_beyond(struct lmtp *s)
{
	if (count_to(s, &s->beyond, LMTP_BEYOND_MAX, "Far too many recipients"))
		lmtp_answer(s, 452, "4.5.3",
			"Too many recipients: send the others a message of their own");
}

bool lmtp_idle(struct lmtp *s)
{
	return count_to(s, &s->idle, LMTP_IDLE_MAX, "Too many commands without a message");
}
