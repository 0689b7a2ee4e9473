/* mail_deliver.c - `lodge mail deliver`: a message from standard input to the service at lmtp_listen.
 *
 * For mail servers that call a program.  It knows no store: all that it does is
 * to speak LMTP, and to say by its exit status what came of it.  A mail server
 * keeps a message for 75 alone and bounces it for any other, so that whatever
 * may be mended here ends with that.  The message is kept in a file without a
 * name first: its size is announced, and more recipients than one message may
 * have get it again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/arena.h"
#include "mail/address.h"
#include "mail/lmtp.h"
#include "serve/mail_place.h"
#include "serve/manual.h"

enum { LINE_MAX_BYTES = 1024, OUT_BYTES = 16 * 1024, WHY_BYTES = 800, WAIT_S = 600 };

struct delivery {
	int fd, status;
	FILE *message; /* lines ended with CR LF */
	int64_t size;
	const char *from;
	bool wide;		   /* an address needs SMTPUTF8 */
	char why[WHY_BYTES];	   /* the sentence of the status */
	char line[LINE_MAX_BYTES]; /* the last of a reply */
	char in[4096], out[OUT_BYTES];
	size_t in_at, in_len, out_len;
};

/* The gravest so far: what may be tried again comes before all, since who has it already is known then. */
static int deliver_fault(struct delivery *d, int status, const char *what, const char *why)
{
	if (d->status == EX_TEMPFAIL || (d->status && status != EX_TEMPFAIL))
		return d->status;
	d->status = status;
	snprintf(d->why, sizeof d->why, "%.280s%s%.400s", what, *what ? ": " : "", why);
	for (char *c = d->why; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?'; /* one line, which steers no terminal */
	return status;
}

/* ---- the service ---- */

static bool deliver_flush(struct delivery *d)
{
	size_t sent = 0;

	while (sent < d->out_len) {
		ssize_t n = send(d->fd, d->out + sent, d->out_len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	d->out_len = 0;
	return true;
}

static bool deliver_put(struct delivery *d, const char *bytes, size_t n)
{
	if (d->out_len + n > sizeof d->out && !deliver_flush(d))
		return false;
	memcpy(d->out + d->out_len, bytes, n);
	d->out_len += n;
	return true;
}

static int next_byte(struct delivery *d)
{
	ssize_t n;

	if (d->in_at < d->in_len)
		return (unsigned char)d->in[d->in_at++];
	do
		n = recv(d->fd, d->in, sizeof d->in, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -1;
	d->in_len = (size_t)n;
	d->in_at = 1;
	return (unsigned char)d->in[0];
}

/* The code of the next reply, whose last line is kept; 0: nobody is there any more. */
static int deliver_hear(struct delivery *d)
{
	size_t len = 0;
	int c;

	if (!deliver_flush(d))
		return 0;
	while ((c = next_byte(d)) >= 0) {
		if (c != '\n') {
			if (c != '\r' && len + 1 < sizeof d->line)
				d->line[len++] = (char)(c < ' ' || c > '~' ? '?' : c);
			continue;
		}
		d->line[len] = '\0';
		if (len >= 3 && d->line[3] != '-')
			return (int)strtol(d->line, NULL, 10);
		len = 0;
	}
	return 0;
}

/* Says something and hears: true if it was taken. */
static bool deliver_say(
	struct delivery *d, const char *text, int want, int otherwise, const char *what)
{
	int code = deliver_put(d, text, strlen(text)) ? deliver_hear(d) : 0;

	if (code == want)
		return true;
	deliver_fault(d, code / 100 == 5 ? otherwise : EX_TEMPFAIL, what,
		code ? d->line : "the service broke off the connection");
	return false;
}

/* ---- the message ---- */

/* All of standard input, its lines ended with CR LF. */
static bool keep_message(struct delivery *d)
{
	const int64_t most = setting_named("mail_max_bytes")->max;
	int last = '\n', c;

	d->message = tmpfile();
	while (d->message && d->size <= most && (c = getchar_unlocked()) != EOF) {
		if (c == '\n' && last != '\r') {
			putc_unlocked('\r', d->message);
			d->size++;
		}
		putc_unlocked(c, d->message);
		d->size++;
		last = c;
	}
	if (d->message && last != '\n') {
		fputs("\r\n", d->message);
		d->size += 2;
	}
	if (!d->message || ferror(stdin) || fflush(d->message) || ferror(d->message))
		deliver_fault(
			d, EX_TEMPFAIL, "the message cannot be kept meanwhile", strerror(errno));
	else if (d->size > most)
		deliver_fault(
			d, EX_DATAERR, "", "the message is larger than mail_max_bytes can ever be");
	return !d->status;
}

/* With the dots that protect, and what ends it. */
static bool deliver_bytes(struct delivery *d)
{
	int last = '\n', c;

	rewind(d->message);
	while ((c = getc_unlocked(d->message)) != EOF) {
		char byte = (char)c;

		if (last == '\n' && c == '.' && !deliver_put(d, ".", 1))
			return false;
		if (!deliver_put(d, &byte, 1))
			return false;
		last = c;
	}
	return deliver_put(d, ".\r\n", 3) && !ferror(d->message);
}

/* To as many as one message may have, on a connection. */
static void deliver_message(
	struct delivery *d, struct arena *a, const char *const *to, size_t count)
{
	const char *taken[LMTP_RECIPIENTS_MAX];
	size_t n = 0;

	if (!deliver_say(d, "LHLO localhost\r\n", 250, EX_TEMPFAIL, "") ||
		!deliver_say(d,
			arena_printf(a, "MAIL FROM:<%s> SIZE=%lld BODY=8BITMIME%s\r\n", d->from,
				(long long)d->size, d->wide ? " SMTPUTF8" : ""),
			250, EX_DATAERR, d->from))
		return;
	for (size_t i = 0; i < count; i++)
		if (deliver_say(
			    d, arena_printf(a, "RCPT TO:<%s>\r\n", to[i]), 250, EX_NOUSER, to[i]))
			taken[n++] = to[i];
	if (!n || !deliver_say(d, "DATA\r\n", 354, EX_TEMPFAIL, ""))
		return;
	if (!deliver_bytes(d)) {
		d->out_len = 0; /* it may have said why before it hung up */
		deliver_fault(d, EX_TEMPFAIL, "the message could not be handed over whole",
			deliver_hear(d) ? d->line : "the service broke off the connection");
		return;
	}
	for (size_t i = 0; i < n; i++)
		deliver_say(d, "", 250, EX_DATAERR, taken[i]);
}

static void deliver_to(struct delivery *d, const struct settings *s, struct arena *a,
	const char *const *to, size_t count)
{
	d->in_at = d->in_len = d->out_len = 0;
	d->line[0] = '\0';
	d->fd = mail_place_connect(s->lmtp_listen, WAIT_S);
	if (d->fd < 0) {
		deliver_fault(d, EX_TEMPFAIL,
			arena_printf(a, "nobody takes mail at lmtp_listen, %s", s->lmtp_listen),
			strerror(errno));
		return;
	}
	if (deliver_hear(d) == 220)
		deliver_message(d, a, to, count);
	else
		deliver_fault(d, EX_TEMPFAIL, "", *d->line ? d->line : "the service says nothing");
	close(d->fd);
}

/* ---- the command ---- */

/* It goes into a command of LMTP: an address, and nothing else. */
static bool is_address(struct delivery *d, const char *text, int otherwise)
{
	struct mail_address address;
	char sentence[200];
	const char *fault;

	if (!mail_address_parse(text, strlen(text), &address, &fault)) {
		snprintf(sentence, sizeof sentence, "this is no address: %s", fault);
		deliver_fault(d, otherwise, text, sentence);
		return false;
	}
	d->wide |= address.wide;
	return true;
}

/* What mail servers write for the null path where an argument may not be empty. */
static bool is_null_path(const char *text)
{
	return !*text || strcmp(text, "<>") == 0 || strcmp(text, "MAILER-DAEMON") == 0;
}

int command_mail_deliver(const struct settings *s, struct arena *a)
{
	const char **to = arena_array(a, const char *, s->argument_count + 1);
	struct delivery *d = arena_new(a, struct delivery);
	size_t count = 0, named = 0;

	d->from = "";
	for (size_t i = 0; i < s->argument_count; i++) {
		if (strcmp(s->arguments[i], "--from") == 0) {
			d->from = i + 1 < s->argument_count ? s->arguments[++i] : "";
			continue;
		}
		named++;
		if (is_address(d, s->arguments[i], EX_NOUSER))
			to[count++] = s->arguments[i];
	}
	if (is_null_path(d->from))
		d->from = "";
	if (!named)
		deliver_fault(d, EX_TEMPFAIL, "", "nobody is named whom the message is for");
	else if (!*s->lmtp_listen)
		deliver_fault(d, EX_TEMPFAIL, "", "lmtp_listen is not set");
	else if ((!*d->from || is_address(d, d->from, EX_DATAERR)) && count && keep_message(d))
		for (size_t i = 0; i < count; i += LMTP_RECIPIENTS_MAX)
			deliver_to(d, s, a, to + i,
				count - i < LMTP_RECIPIENTS_MAX ? count - i : LMTP_RECIPIENTS_MAX);
	if (d->message)
		fclose(d->message);
	if (d->status)
		fprintf(stderr, "lodge: %s\n", d->why);
	return d->status;
}
