/* lmtp.c - see lmtp.h: the states, the commands and the replies; lmtp_data.c has the bytes of messages. */
#include "mail/lmtp.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "mail/lmtp_data.h"

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

static void move(struct lmtp *s, enum lmtp_state to)
{
	INVARIANT_MOVE(moves, s->state, to);
	s->state = to;
}

/* ---- replies ---- */

/* One line of a reply, with no byte in it that is not plain. */
static void send_line(struct lmtp *s, int code, char mark, const char *status, const char *text)
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

static void reply(struct lmtp *s, int code, const char *status, const char *text)
{
	send_line(s, code, ' ', status, text);
}

static void forget(struct lmtp *s)
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
	reply(s, 421, status, text);
	move(s, LMTP_CLOSED);
}

void lmtp_gone(struct lmtp *s)
{
	if (s->state == LMTP_DATA)
		s->calls->dropped(s->owner);
	move(s, LMTP_CLOSED);
}

/* A command that is none, or not now; too many of them end it. */
static void bad_command(struct lmtp *s, int code, const char *status, const char *text)
{
	if (++s->bad >= LMTP_BAD_MAX)
		lmtp_leave(s, "4.7.0", "Too many commands were wrong");
	else
		reply(s, code, status, text);
}

/* One that brings nothing on. */
static bool idle_command(struct lmtp *s)
{
	if (++s->idle < LMTP_IDLE_MAX)
		return true;
	lmtp_leave(s, "4.7.0", "Too many commands without a message");
	return false;
}

/* ---- commands ---- */

static void hello(struct lmtp *s, const char *rest, bool extended)
{
	char size[48];

	if (!*rest || strlen(rest) > MAIL_DOMAIN_MAX) {
		bad_command(s, 501, "5.5.4", "Say who you are");
		return;
	}
	if (!idle_command(s))
		return;
	move(s, LMTP_READY);
	forget(s);
	if (!extended) {
		reply(s, 250, "", s->host);
		return;
	}
	snprintf(size, sizeof size, "SIZE %llu", (unsigned long long)s->size_max);
	send_line(s, 250, '-', "", s->host);
	send_line(s, 250, '-', "", "PIPELINING");
	send_line(s, 250, '-', "", "ENHANCEDSTATUSCODES");
	send_line(s, 250, '-', "", "8BITMIME");
	send_line(s, 250, '-', "", "SMTPUTF8");
	send_line(s, 250, ' ', "", size);
}

static void do_lhlo(struct lmtp *s, const char *rest)
{
	if (s->smtp)
		bad_command(s, 500, "5.5.1", "This is SMTP: say EHLO");
	else
		hello(s, rest, true);
}

static void do_ehlo(struct lmtp *s, const char *rest)
{
	if (s->smtp)
		hello(s, rest, true);
	else
		bad_command(s, 500, "5.5.1", "This is LMTP: say LHLO");
}

static void do_helo(struct lmtp *s, const char *rest)
{
	if (s->smtp)
		hello(s, rest, false);
	else
		bad_command(s, 500, "5.5.1", "This is LMTP: say LHLO");
}

/* "FROM:" or "TO:" and a path, whose end is *rest then; false where it was refused. */
static bool read_path(struct lmtp *s, const char *word, const char **rest, struct mail_address *ret)
{
	const char *p = *rest, *fault;
	size_t used;

	if (strncasecmp(p, word, strlen(word)) != 0) {
		bad_command(s, 501, "5.5.4", "The command is not complete");
		return false;
	}
	p += strlen(word);
	p += strspn(p, " ");
	used = mail_address_path(p, strlen(p), ret, &fault);
	if (!used || (p[used] && p[used] != ' ')) {
		bad_command(s, 501, *word == 'F' ? "5.1.7" : "5.1.3",
			used ? "Something follows the address" : fault);
		return false;
	}
	*rest = p + used;
	return true;
}

static bool read_size(const char *text, size_t len, uint64_t *ret)
{
	*ret = 0;
	if (!len || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(text[i] - '0');
	}
	return true;
}

static bool word_is(const char *at, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(at, word, len) == 0;
}

/* The parameters of MAIL; false for one that is not known, or twice, or wrong. */
static bool read_parameters(const char *p, struct lmtp_sender *ret)
{
	enum { SIZE = 1, BODY = 2, UTF8 = 4 } seen = 0, now;

	for (p += strspn(p, " "); *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");

		now = 0;
		if (len > 5 && strncasecmp(p, "SIZE=", 5) == 0 &&
			read_size(p + 5, len - 5, &ret->size))
			now = SIZE;
		else if (word_is(p, len, "BODY=8BITMIME") || word_is(p, len, "BODY=7BIT"))
			now = BODY;
		else if (word_is(p, len, "SMTPUTF8"))
			now = UTF8;
		if (!now || (seen & now))
			return false;
		seen |= now;
		ret->eight_bit |= now == BODY && word_is(p, len, "BODY=8BITMIME");
		ret->wide |= now == UTF8;
		p += len;
	}
	return true;
}

static void take_sender(struct lmtp *s, struct lmtp_reply r)
{
	reply(s, r.code, r.status, r.text);
	move(s, r.code < 400 ? LMTP_MAIL : LMTP_READY);
}

static void do_mail(struct lmtp *s, const char *rest)
{
	struct lmtp_sender from = { 0 };
	struct lmtp_reply r;

	if (s->state != LMTP_READY) {
		bad_command(s, 503, "5.5.1",
			s->state == LMTP_FRESH ? "Say who you are first"
					       : "A message is under way");
		return;
	}
	if (!read_path(s, "FROM:", &rest, &from.address))
		return;
	if (!read_parameters(rest, &from)) {
		bad_command(s, 555, "5.5.4", "A parameter is not known, or is wrong");
		return;
	}
	if (from.address.wide && !from.wide) {
		reply(s, 553, "5.6.7", "This address needs SMTPUTF8");
		return;
	}
	if (from.size > s->size_max) {
		reply(s, 552, "5.3.4", "The message is too large");
		return;
	}
	s->sender = from;
	move(s, LMTP_ASKED_MAIL);
	r = s->calls->mail(s->owner, &s->sender);
	if (r.code)
		take_sender(s, r);
}

static void take_recipient(struct lmtp *s, struct lmtp_reply r)
{
	reply(s, r.code, r.status, r.text);
	s->recipients += r.code < 400;
	move(s, s->recipients ? LMTP_RCPT : LMTP_MAIL);
}

static void do_rcpt(struct lmtp *s, const char *rest)
{
	struct mail_address to;
	struct lmtp_reply r;

	if (s->state != LMTP_MAIL && s->state != LMTP_RCPT) {
		bad_command(s, 503, "5.5.1", "Say MAIL first");
		return;
	}
	if (!read_path(s, "TO:", &rest, &to))
		return;
	if (rest[strspn(rest, " ")]) {
		bad_command(s, 555, "5.5.4", "A parameter is not known");
		return;
	}
	if (!*to.text) {
		bad_command(s, 501, "5.1.3", "The null path receives nothing");
		return;
	}
	if (to.wide && !s->sender.wide) {
		reply(s, 553, "5.6.7", "This address needs SMTPUTF8");
		return;
	}
	if (s->recipients == LMTP_RECIPIENTS_MAX) {
		reply(s, 452, "4.5.3",
			"Too many recipients: send the others a message of their own");
		return;
	}
	move(s, LMTP_ASKED_RCPT);
	r = s->calls->rcpt(s->owner, &to);
	if (r.code)
		take_recipient(s, r);
}

static void do_data(struct lmtp *s, const char *rest)
{
	if (*rest) {
		bad_command(s, 501, "5.5.4", "DATA has no parameters");
		return;
	}
	if (s->state != LMTP_RCPT) {
		bad_command(s, s->state == LMTP_MAIL ? 554 : 503, "5.5.1", "There is no recipient");
		return;
	}
	move(s, LMTP_DATA);
	lmtp_data_begin(s);
	s->calls->data(s->owner);
	reply(s, 354, "", "Go on; end with a dot on a line of its own");
}

static void do_rset(struct lmtp *s, const char *rest)
{
	(void)rest;
	if (!idle_command(s))
		return;
	if (s->state != LMTP_FRESH)
		move(s, LMTP_READY);
	forget(s);
	reply(s, 250, "2.0.0", "Forgotten");
}

static void do_noop(struct lmtp *s, const char *rest)
{
	(void)rest;
	if (idle_command(s))
		reply(s, 250, "2.0.0", "Done");
}

static void do_vrfy(struct lmtp *s, const char *rest)
{
	(void)rest;
	if (idle_command(s))
		reply(s, 252, "2.5.0", "Try to send a message");
}

static void do_quit(struct lmtp *s, const char *rest)
{
	(void)rest;
	reply(s, 221, "2.0.0", "Goodbye");
	move(s, LMTP_CLOSED);
}

static void do_nothing(struct lmtp *s, const char *rest)
{
	(void)rest;
	bad_command(s, 502, "5.5.1", "This command is not offered");
}

static const struct {
	const char *word;
	void (*run)(struct lmtp *s, const char *rest);
} commands[] = {
	{ "LHLO", do_lhlo },
	{ "EHLO", do_ehlo },
	{ "HELO", do_helo },
	{ "MAIL", do_mail },
	{ "RCPT", do_rcpt },
	{ "DATA", do_data },
	{ "RSET", do_rset },
	{ "NOOP", do_noop },
	{ "VRFY", do_vrfy },
	{ "QUIT", do_quit },
	{ "EXPN", do_nothing },
	{ "HELP", do_nothing },
	{ "AUTH", do_nothing },
	{ "STARTTLS", do_nothing },
	{ "BDAT", do_nothing },
};

static void run_line(struct lmtp *s)
{
	char *line = s->line;
	size_t word;

	line[s->line_len] = '\0';
	if (memchr(line, '\0', s->line_len) || strpbrk(line, "\r\n")) {
		bad_command(s, 500, "5.5.2", "A line ends with CR LF and has no control bytes");
		return;
	}
	for (size_t n = s->line_len; n && line[n - 1] == ' ';)
		line[--n] = '\0';
	word = strcspn(line, " ");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (word_is(line, word, commands[i].word)) {
			commands[i].run(s, line + word + strspn(line + word, " "));
			return;
		}
	bad_command(s, 500, "5.5.2", "There is no such command");
}

/* Up to the end of a line, which is CR LF; the bytes it took. */
static size_t push_command(struct lmtp *s, const char *bytes, size_t len)
{
	size_t used = 0;

	while (used < len) {
		char c = bytes[used++];

		if (c == '\n' && s->line_len && s->line[s->line_len - 1] == '\r') {
			s->line_len--;
			if (s->line_long)
				bad_command(s, 500, "5.5.2", "The line is too long");
			else
				run_line(s);
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
	send_line(s, 220, ' ', "", host);
}

bool lmtp_waits(const struct lmtp *s)
{
	return s->state == LMTP_ASKED_MAIL || s->state == LMTP_ASKED_RCPT ||
	       s->state == LMTP_ASKED_DATA;
}

/* The message is through, or refused. */
static void next_message(struct lmtp *s)
{
	move(s, LMTP_READY);
	s->bad = s->idle = 0;
	forget(s);
}

static void end_data(struct lmtp *s)
{
	if (!s->refused.code) {
		move(s, LMTP_ASKED_DATA);
		s->calls->end(s->owner);
		return;
	}
	s->calls->dropped(s->owner);
	for (unsigned i = 0; i < (s->smtp ? 1 : s->recipients); i++)
		reply(s, s->refused.code, s->refused.status, s->refused.text);
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
		take_sender(s, r);
		break;
	case LMTP_ASKED_RCPT:
		take_recipient(s, r);
		break;
	case LMTP_ASKED_DATA:
		reply(s, r.code, r.status, r.text);
		if (++s->decided == (s->smtp ? 1 : s->recipients))
			next_message(s);
		break;
	default: /* the connection went while it was being decided */
		INVARIANT(s->state == LMTP_CLOSED);
	}
}
