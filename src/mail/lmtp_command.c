/* lmtp_command.c - see lmtp_command.h: what a line says, held against the letter of RFC 5321 and 2033. */
#include "mail/lmtp_command.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mail/lmtp_data.h"
#include "mail/lmtp_reply.h"

static void hello(struct lmtp *s, const char *rest, bool extended)
{
	char size[48];

	if (!*rest || strlen(rest) > MAIL_DOMAIN_MAX) {
		lmtp_bad(s, 501, "5.5.4", "Say who you are");
		return;
	}
	if (!lmtp_idle(s))
		return;
	lmtp_move(s, LMTP_READY);
	lmtp_forget(s);
	if (!extended) {
		lmtp_answer(s, 250, "", s->host);
		return;
	}
	snprintf(size, sizeof size, "SIZE %llu", (unsigned long long)s->size_max);
	lmtp_send_line(s, 250, '-', "", s->host);
	lmtp_send_line(s, 250, '-', "", "PIPELINING");
	lmtp_send_line(s, 250, '-', "", "ENHANCEDSTATUSCODES");
	lmtp_send_line(s, 250, '-', "", "8BITMIME");
	lmtp_send_line(s, 250, '-', "", "SMTPUTF8");
	lmtp_send_line(s, 250, ' ', "", size);
}

static void do_lhlo(struct lmtp *s, const char *rest)
{
	if (s->smtp)
		lmtp_bad(s, 500, "5.5.1", "This is SMTP: say EHLO");
	else
		hello(s, rest, true);
}

static void do_ehlo(struct lmtp *s, const char *rest)
{
	if (s->smtp)
		hello(s, rest, true);
	else
		lmtp_bad(s, 500, "5.5.1", "This is LMTP: say LHLO");
}

static void do_helo(struct lmtp *s, const char *rest)
{
	if (s->smtp)
		hello(s, rest, false);
	else
		lmtp_bad(s, 500, "5.5.1", "This is LMTP: say LHLO");
}

/* "FROM:" or "TO:" and a path, whose end is *rest then; false where it was refused. */
static bool read_path(struct lmtp *s, const char *word, const char **rest, struct mail_address *ret)
{
	const char *p = *rest, *fault;
	size_t used;

	if (strncasecmp(p, word, strlen(word)) != 0) {
		lmtp_bad(s, 501, "5.5.4", "The command is not complete");
		return false;
	}
	p += strlen(word);
	p += strspn(p, " ");
	used = mail_address_path(p, strlen(p), ret, &fault);
	if (!used || (p[used] && p[used] != ' ')) {
		lmtp_bad(s, 501, *word == 'F' ? "5.1.7" : "5.1.3",
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

static void take_or_decline(struct lmtp *s, struct lmtp_reply r)
{
	if (r.code < 400)
		lmtp_answer(s, r.code, r.status, r.text);
	else
		lmtp_decline(s, r.code, r.status, r.text);
}

void lmtp_take_sender(struct lmtp *s, struct lmtp_reply r)
{
	take_or_decline(s, r);
	if (s->state != LMTP_CLOSED)
		lmtp_move(s, r.code < 400 ? LMTP_MAIL : LMTP_READY);
}

static void do_mail(struct lmtp *s, const char *rest)
{
	struct lmtp_sender from = { 0 };
	struct lmtp_reply r;

	if (s->state != LMTP_READY) {
		lmtp_bad(s, 503, "5.5.1",
			s->state == LMTP_FRESH ? "Say who you are first"
					       : "A message is under way");
		return;
	}
	if (!read_path(s, "FROM:", &rest, &from.address))
		return;
	if (!read_parameters(rest, &from)) {
		lmtp_bad(s, 555, "5.5.4", "A parameter is not known, or is wrong");
		return;
	}
	if (from.address.wide && !from.wide) {
		lmtp_decline(s, 553, "5.6.7", "This address needs SMTPUTF8");
		return;
	}
	if (from.size > s->size_max) {
		lmtp_decline(s, 552, "5.3.4", "The message is too large");
		return;
	}
	s->sender = from;
	lmtp_move(s, LMTP_ASKED_MAIL);
	r = s->calls->mail(s->owner, &s->sender);
	if (r.code)
		lmtp_take_sender(s, r);
}

void lmtp_take_recipient(struct lmtp *s, struct lmtp_reply r)
{
	take_or_decline(s, r);
	s->recipients += r.code < 400;
	if (s->state != LMTP_CLOSED)
		lmtp_move(s, s->recipients ? LMTP_RCPT : LMTP_MAIL);
}

static void do_rcpt(struct lmtp *s, const char *rest)
{
	struct mail_address to;
	struct lmtp_reply r;

	if (s->state != LMTP_MAIL && s->state != LMTP_RCPT) {
		lmtp_bad(s, 503, "5.5.1", "Say MAIL first");
		return;
	}
	if (!read_path(s, "TO:", &rest, &to))
		return;
	if (rest[strspn(rest, " ")]) {
		lmtp_bad(s, 555, "5.5.4", "A parameter is not known");
		return;
	}
	if (!*to.text) {
		lmtp_bad(s, 501, "5.1.3", "The null path receives nothing");
		return;
	}
	if (to.wide && !s->sender.wide) {
		lmtp_decline(s, 553, "5.6.7", "This address needs SMTPUTF8");
		return;
	}
	if (s->recipients == LMTP_RECIPIENTS_MAX) {
		lmtp_beyond(s);
		return;
	}
	lmtp_move(s, LMTP_ASKED_RCPT);
	r = s->calls->rcpt(s->owner, &to);
	if (r.code)
		lmtp_take_recipient(s, r);
}

static void do_data(struct lmtp *s, const char *rest)
{
	if (*rest) {
		lmtp_bad(s, 501, "5.5.4", "DATA has no parameters");
		return;
	}
	if (s->state != LMTP_RCPT) {
		lmtp_bad(s, s->state == LMTP_MAIL ? 554 : 503, "5.5.1", "There is no recipient");
		return;
	}
	lmtp_move(s, LMTP_DATA);
	lmtp_data_begin(s);
	s->calls->data(s->owner);
	lmtp_answer(s, 354, "", "Go on; end with a dot on a line of its own");
}

static void do_rset(struct lmtp *s, const char *rest)
{
	(void)rest;
	if (!lmtp_idle(s))
		return;
	if (s->state != LMTP_FRESH)
		lmtp_move(s, LMTP_READY);
	lmtp_forget(s);
	lmtp_answer(s, 250, "2.0.0", "Forgotten");
}

static void do_noop(struct lmtp *s, const char *rest)
{
	(void)rest;
	if (lmtp_idle(s))
		lmtp_answer(s, 250, "2.0.0", "Done");
}

static void do_vrfy(struct lmtp *s, const char *rest)
{
	(void)rest;
	if (lmtp_idle(s))
		lmtp_answer(s, 252, "2.5.0", "Try to send a message");
}

static void do_quit(struct lmtp *s, const char *rest)
{
	(void)rest;
	lmtp_answer(s, 221, "2.0.0", "Goodbye");
	lmtp_move(s, LMTP_CLOSED);
}

static void do_nothing(struct lmtp *s, const char *rest)
{
	(void)rest;
	lmtp_bad(s, 502, "5.5.1", "This command is not offered");
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

static bool has_control(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return true;
	return false;
}

void lmtp_run_line(struct lmtp *s)
{
	char *line = s->line;
	size_t word;

	line[s->line_len] = '\0';
	if (has_control(line, s->line_len)) {
		lmtp_bad(s, 500, "5.5.2", "A line ends with CR LF and has no control bytes");
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
	lmtp_bad(s, 500, "5.5.2", "There is no such command");
}
