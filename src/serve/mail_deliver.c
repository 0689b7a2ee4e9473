/* mail_deliver.c - `lodge mail deliver`: a message from standard input to the service at lmtp_listen.
 *
 * For mail servers that call a program.  It knows no store: all that it does is
 * to speak LMTP, and to say by its exit status what came of it.  Pipes bring
 * lines that end with LF, which become CR LF here. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/arena.h"
#include "mail/address.h"
#include "serve/manual.h"

enum { LINE_MAX_BYTES = 1024, OUT_BYTES = 16 * 1024, WAIT_S = 600 };

struct delivery {
	int fd, status;
	char line[LINE_MAX_BYTES]; /* the last of a reply */
	char in[4096], out[OUT_BYTES];
	size_t in_at, in_len, out_len;
};

/* The gravest so far: what may be tried again comes before all, since who has it already is known then. */
static int deliver_fault(struct delivery *d, int status, const char *what, const char *why)
{
	if (d->status != EX_TEMPFAIL && (!d->status || status == EX_TEMPFAIL)) {
		d->status = status;
		fprintf(stderr, "lodge: %s%s%.400s\n", what, *what ? ": " : "", why);
	}
	return d->status;
}

/* ---- the service ---- */

static int connect_at(const char *where)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct timeval wait = { .tv_sec = WAIT_S };
	char host[256], *port;
	int fd = -1;

	if (strncmp(where, "unix:", 5) == 0) {
		snprintf(at.sun_path, sizeof at.sun_path, "%s", where + 5);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at)) {
			close(fd);
			fd = -1;
		}
	} else {
		snprintf(host, sizeof host, "%s", *where == '[' ? where + 1 : where);
		port = strrchr(host, ':');
		*port++ = '\0';
		host[strcspn(host, "]")] = '\0';
		if (getaddrinfo(host, port, &hints, &found))
			return -1;
		fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen)) {
			close(fd);
			fd = -1;
		}
		freeaddrinfo(found);
	}
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	}
	return fd;
}

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

/* All of standard input, with CR LF and the dots that protect, and what ends it. */
static bool deliver_bytes(struct delivery *d)
{
	int last = '\n', c;

	while ((c = getchar_unlocked()) != EOF) {
		char byte = (char)c;

		if (last == '\n' && c == '.' && !deliver_put(d, ".", 1))
			return false;
		if (c == '\n' && last != '\r' && !deliver_put(d, "\r", 1))
			return false;
		if (!deliver_put(d, &byte, 1))
			return false;
		last = c;
	}
	if (last != '\n' && !deliver_put(d, "\r\n", 2))
		return false;
	return deliver_put(d, ".\r\n", 3) && !ferror(stdin);
}

static void deliver_message(struct delivery *d, struct arena *a, const char *from, bool wide,
	const char *const *to, size_t count)
{
	const char **taken = arena_array(a, const char *, count + 1);
	size_t n = 0;

	if (!deliver_say(d, "LHLO localhost\r\n", 250, EX_TEMPFAIL, "") ||
		!deliver_say(d,
			arena_printf(a, "MAIL FROM:<%s> BODY=8BITMIME%s\r\n", from,
				wide ? " SMTPUTF8" : ""),
			250, EX_DATAERR, from))
		return;
	for (size_t i = 0; i < count; i++)
		if (deliver_say(
			    d, arena_printf(a, "RCPT TO:<%s>\r\n", to[i]), 250, EX_NOUSER, to[i]))
			taken[n++] = to[i];
	if (!n || !deliver_say(d, "DATA\r\n", 354, EX_TEMPFAIL, ""))
		return;
	if (!deliver_bytes(d)) {
		deliver_fault(d, EX_TEMPFAIL, "", "the message could not be handed over whole");
		return;
	}
	for (size_t i = 0; i < n; i++)
		deliver_say(d, "", 250, EX_DATAERR, taken[i]);
}

/* ---- the command ---- */

/* It goes into a command of LMTP: an address, and nothing else. */
static bool is_address(const char *text, bool *wide)
{
	struct mail_address address;
	const char *fault;

	if (!mail_address_parse(text, strlen(text), &address, &fault)) {
		fprintf(stderr, "lodge: \"%.100s\" is no address: %s\n", text, fault);
		return false;
	}
	*wide |= address.wide;
	return true;
}

int command_mail_deliver(const struct settings *s, struct arena *a)
{
	const char **to = arena_array(a, const char *, s->argument_count + 1), *from = "";
	struct delivery *d = arena_new(a, struct delivery);
	size_t count = 0;
	bool wide = false;

	for (size_t i = 0; i < s->argument_count; i++) {
		if (strcmp(s->arguments[i], "--from") == 0 && i + 1 < s->argument_count)
			from = s->arguments[++i];
		else if (is_address(s->arguments[i], &wide))
			to[count++] = s->arguments[i];
		else
			return EX_NOUSER;
	}
	if (!count || (*from && !is_address(from, &wide))) {
		if (!count)
			fprintf(stderr, "lodge: nobody is named whom the message is for\n");
		return EX_USAGE;
	}
	if (!*s->lmtp_listen)
		return deliver_fault(d, EX_CONFIG, "", "lmtp_listen is not set");
	d->fd = connect_at(s->lmtp_listen);
	if (d->fd < 0)
		return deliver_fault(
			d, EX_TEMPFAIL, "nobody takes mail at lmtp_listen", s->lmtp_listen);
	if (deliver_hear(d) == 220)
		deliver_message(d, a, from, wide, to, count);
	else
		deliver_fault(d, EX_TEMPFAIL, "", *d->line ? d->line : "the service says nothing");
	close(d->fd);
	return d->status;
}
