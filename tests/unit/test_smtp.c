/* test_smtp.c - handing a message to a relay: what it hears, and what its answers mean. */
#include "outside/smtp.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "t.h"

enum { HEARD_MAX = 1 << 20 };

/* A relay for one connection: what it says at each place; NULL is what all is well with, "" hangs up. */
struct relay {
	const char *greeting, *ehlo, *mail, *rcpt, *data, *end;
	int listener, port;
	pthread_t thread;
	char *heard; /* everything */
	size_t len;
};

static bool relay_say(int fd, const char *said, const char *otherwise)
{
	char line[512];

	if (!said)
		said = otherwise;
	if (!*said)
		return false;
	snprintf(line, sizeof line, "%s\r\n", said);
	return send(fd, line, strlen(line), MSG_NOSIGNAL) > 0;
}

/* One line, or the message up to its end. */
static bool relay_hear(struct relay *r, int fd, const char *until, const char **ret)
{
	size_t began = r->len, n = strlen(until);
	char byte;

	while (r->len < HEARD_MAX && read(fd, &byte, 1) == 1) {
		r->heard[r->len++] = byte;
		r->heard[r->len] = '\0';
		if (r->len - began >= n && strcmp(r->heard + r->len - n, until) == 0) {
			*ret = r->heard + began;
			return true;
		}
	}
	return false;
}

static void relay_talk(struct relay *r, int fd)
{
	const char *line;

	if (!relay_say(fd, r->greeting, "220 relay ESMTP"))
		return;
	while (relay_hear(r, fd, "\r\n", &line)) {
		bool on;

		if (strncasecmp(line, "EHLO", 4) == 0)
			on = relay_say(fd, r->ehlo, "250-relay\r\n250 SIZE 1000000");
		else if (strncasecmp(line, "AUTH", 4) == 0)
			on = relay_say(fd, NULL, "334 ") && relay_hear(r, fd, "\r\n", &line) &&
			     relay_say(fd, NULL, "235 2.7.0 Ok");
		else if (strncasecmp(line, "MAIL", 4) == 0)
			on = relay_say(fd, r->mail, "250 2.1.0 Ok");
		else if (strncasecmp(line, "RCPT", 4) == 0)
			on = relay_say(fd, r->rcpt, "250 2.1.5 Ok");
		else if (strncasecmp(line, "DATA", 4) == 0)
			on = relay_say(fd, r->data, "354 Go on") &&
			     ((r->data && *r->data != '3') ||
				     (relay_hear(r, fd, "\r\n.\r\n", &line) &&
					     relay_say(fd, r->end, "250 2.0.0 Ok: queued")));
		else
			on = relay_say(fd, NULL, "221 2.0.0 Bye");
		if (!on)
			return;
	}
}

static void *relay_serve(void *arg)
{
	struct relay *r = arg;
	int fd = accept(r->listener, NULL, NULL);

	if (fd >= 0) {
		relay_talk(r, fd);
		close(fd);
	}
	return NULL;
}

static void relay_open(struct relay *r)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;

	r->heard = calloc(1, HEARD_MAX + 1);
	r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(r->listener, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(listen(r->listener, 1) == 0);
	CHECK(getsockname(r->listener, (struct sockaddr *)&at, &n) == 0);
	r->port = ntohs(at.sin_port);
	CHECK(pthread_create(&r->thread, NULL, relay_serve, r) == 0);
}

/* From here on what it heard may be read. */
static void relay_end(struct relay *r)
{
	shutdown(r->listener, SHUT_RDWR);
	pthread_join(r->thread, NULL);
	close(r->listener);
}

static void relay_close(struct relay *r)
{
	relay_end(r);
	free(r->heard);
}

static struct smtp_said send_one(
	struct relay *r, const char *scheme, const char *message, struct arena *a)
{
	struct smtp_relay to = { .url = arena_printf(a, "%s://127.0.0.1:%d", scheme, r->port),
		.hello = "lodge.example",
		.silence_s = 5 };
	struct smtp_mail mail = { "b+1.ab@example.com", "ann@example.org", message,
		strlen(message) };
	struct smtp_said said;

	smtp_send(&to, &mail, a, &said);
	return said;
}

TEST(smtp_hands_over_a_message_with_its_dots)
{
	struct relay r = { 0 };
	struct arena a = { 0 };
	struct smtp_said said;

	relay_open(&r);
	said = send_one(&r, "smtp", ".first\r\nb\r\n.\r\n..\r\nc .d\r\n", &a);
	CHECK(said.outcome == SMTP_SENT && said.code == 250 && !said.unsure);
	CHECK_STR(said.enhanced, "2.0.0");
	relay_end(&r);
	CHECK(strstr(r.heard, "EHLO lodge.example\r\n"));
	CHECK(strstr(r.heard, "MAIL FROM:<b+1.ab@example.com>"));
	CHECK(strstr(r.heard, "RCPT TO:<ann@example.org>\r\n"));
	CHECK(strstr(r.heard, "DATA\r\n..first\r\nb\r\n..\r\n...\r\nc .d\r\n.\r\n"));
	free(r.heard);
	arena_free(&a);
}

TEST(smtp_tells_whose_fault_a_refusal_is)
{
	static const struct {
		struct relay relay;
		enum smtp_outcome outcome;
		int code;
		const char *enhanced;
		bool unsure, unclear;
	} cases[] = {
		{ { .greeting = "554 5.7.1 Not you" }, SMTP_LATER, 554, "5.7.1", false },
		{ { .greeting = "421 4.3.2 Full" }, SMTP_LATER, 421, "4.3.2", false },
		{ { .greeting = "" }, SMTP_LATER, 0, "", false },
		{ { .mail = "530 5.7.0 Authentication required" }, SMTP_LATER, 530, "5.7.0",
			false },
		{ { .mail = "550 5.7.1 This sender not" }, SMTP_LATER, 550, "5.7.1", false },
		{ { .mail = "552 5.3.4 Too big" }, SMTP_REFUSED, 552, "5.3.4", false },
		{ { .rcpt = "450 4.2.0 Greylisted" }, SMTP_LATER, 450, "4.2.0", false },
		{ { .rcpt = "550 5.1.1 No such user" }, SMTP_REFUSED, 550, "5.1.1", false },
		{ { .rcpt = "550 nobody" }, SMTP_REFUSED, 550, "", false },
		{ { .rcpt = "550-5.1.1 not\r\n550 5.1.1 here" }, SMTP_REFUSED, 550, "5.1.1",
			false },
		{ { .rcpt = "554 5.7.1 <a@b.c>: Relay access denied" }, SMTP_LATER, 554, "5.7.1",
			false, true },
		{ { .rcpt = "550 5.7.26 Prove yourself" }, SMTP_LATER, 550, "5.7.26", false, true },
		{ { .rcpt = "554 Not for you" }, SMTP_LATER, 554, "", false, true },
		{ { .rcpt = "550 relay not permitted" }, SMTP_LATER, 550, "", false, true },
		{ { .rcpt = "550 5.1.1 No relay of that name" }, SMTP_REFUSED, 550, "5.1.1",
			false },
		{ { .rcpt = "530 5.5.1 Say who you are" }, SMTP_LATER, 530, "5.5.1", false },
		{ { .data = "530 Authentication required" }, SMTP_LATER, 530, "", false },
		{ { .end = "550 5.7.1 Spam" }, SMTP_REFUSED, 550, "5.7.1", false },
		{ { .data = "451 4.3.0 Later" }, SMTP_LATER, 451, "4.3.0", false },
		{ { .end = "554 5.6.0 Bad message" }, SMTP_REFUSED, 554, "5.6.0", false },
		{ { .end = "452 4.3.1 Disk full" }, SMTP_LATER, 452, "4.3.1", false },
		{ { .end = "" }, SMTP_LATER, 0, "", true },
		{ { .rcpt = "" }, SMTP_LATER, 0, "", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct relay r = cases[i].relay;
		struct arena a = { 0 };
		struct smtp_said said;

		relay_open(&r);
		said = send_one(&r, "smtp", "Subject: x\r\n\r\nx\r\n", &a);
		CHECK_INT(said.outcome, cases[i].outcome);
		CHECK_INT(said.code, cases[i].code);
		CHECK_STR(said.enhanced, cases[i].enhanced);
		CHECK_INT(said.unsure, cases[i].unsure);
		CHECK_INT(said.unclear, cases[i].unclear);
		CHECK(*said.text);
		relay_close(&r);
		arena_free(&a);
	}
}

TEST(smtp_sends_nothing_where_no_one_listens_or_tls_is_missing)
{
	struct relay r = { 0 };
	struct arena a = { 0 };
	struct smtp_said said;

	relay_open(&r);
	said = send_one(&r, "smtps", "x\r\n", &a);
	CHECK(said.outcome == SMTP_LATER && !said.code && !said.unsure);
	relay_end(&r);
	CHECK(!strstr(r.heard, "EHLO"));
	free(r.heard);
	said = send_one(&r, "smtp", "x\r\n", &a);
	CHECK(said.outcome == SMTP_LATER && !said.code && !said.unsure && *said.text);
	arena_free(&a);
}

TEST(smtp_refuses_relays_that_say_too_much)
{
	CHECK(!smtp_relay_fault("smtp://127.0.0.1:25"));
	CHECK(!smtp_relay_fault("smtps://mail.example.com:465"));
	CHECK(!smtp_relay_fault("smtp://[::1]:587/"));
	CHECK(smtp_relay_fault("http://mail.example.com:25"));
	CHECK(smtp_relay_fault("mail.example.com:25"));
	CHECK(smtp_relay_fault("smtp://mail.example.com"));
	CHECK(smtp_relay_fault("smtp://u:p@mail.example.com:25"));
	CHECK(smtp_relay_fault("smtp://mail.example.com:25/x"));
	CHECK(smtp_relay_fault("smtp://mail.example.com:25?x=y"));
	CHECK(smtp_path_is_plain("") && smtp_path_is_plain("\"a(b\"@example.com"));
	CHECK(!smtp_path_is_plain("a@b.c>\r\nRCPT TO:<d@e.f"));
	CHECK(!smtp_path_is_plain("a b@c.d") && !smtp_path_is_plain("a@b.c\n"));
}

TEST(smtp_names_no_address_that_is_not_plain)
{
	static const char *const bad[] = { "\"a b\"@example.org", "\"a<b\"@example.org",
		"\"a>b\"@example.org", "a\r\nb@example.org", "" };
	struct smtp_relay to = { .url = "smtp://127.0.0.1:1", .hello = "lodge.example" };
	struct arena a = { 0 };
	struct smtp_said said;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct smtp_mail mail = { "b@example.com", bad[i], "a\r\n", 3 };

		test_step("%s", bad[i]);
		smtp_send(&to, &mail, &a, &said);
		CHECK(said.outcome == SMTP_REFUSED && said.code == 0 && !said.unsure);
		CHECK_STR(said.text, SMTP_NOT_PLAIN);
	}
	test_step("nor as a sender");
	smtp_send(&to, &(struct smtp_mail){ "\"a b\"@example.org", "b@example.com", "a\r\n", 3 },
		&a, &said);
	CHECK(said.outcome == SMTP_REFUSED);
	arena_free(&a);
}

TEST(smtp_is_broken_off_when_the_service_stops)
{
	struct relay r = { 0 };
	struct arena a = { 0 };
	_Atomic int stopping = 1;
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	struct smtp_mail mail = { "b@example.com", "ann@example.org", "a\r\n", 3 };
	struct smtp_relay to = { .hello = "lodge.example", .silence_s = 60, .stopping = &stopping };
	int64_t began = clock_mono_ms();
	struct smtp_said said;

	test_step("a relay that says nothing");
	r.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(r.listener, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(listen(r.listener, 1) == 0);
	CHECK(getsockname(r.listener, (struct sockaddr *)&at, &n) == 0);
	to.url = arena_printf(&a, "smtp://127.0.0.1:%d", ntohs(at.sin_port));
	smtp_send(&to, &mail, &a, &said);
	CHECK(said.outcome == SMTP_LATER && !said.unsure);
	smtp_try(&to, "check@example.com", &a, &said);
	CHECK(said.outcome == SMTP_LATER);
	CHECK(clock_mono_ms() - began < 20000);
	close(r.listener);
	arena_free(&a);
}

TEST(smtp_tries_a_relay_without_a_message)
{
	static const struct {
		struct relay relay;
		bool password;
		const char *fault;
	} cases[] = {
		{ { 0 }, false, NULL },
		{ { .greeting = "554 5.7.1 Go away" }, false, "554 5.7.1" },
		{ { .mail = "530 5.7.0 Authentication required" }, false, "530 5.7.0" },
		{ { .mail = "553 5.7.1 Not your address" }, false, "553 5.7.1" },
		{ { 0 }, true, "no AUTH" },
		{ { .ehlo = "250-relay\r\n250 AUTH PLAIN" }, true, NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct relay r = cases[i].relay;
		struct arena a = { 0 };
		struct smtp_relay to = { .hello = "lodge.example", .silence_s = 5 };
		struct smtp_said said;

		test_step("%zu", i);
		relay_open(&r);
		to.url = arena_printf(&a, "smtp://127.0.0.1:%d", r.port);
		to.user = to.password = cases[i].password ? "lodge" : NULL;
		smtp_try(&to, "check@example.com", &a, &said);
		CHECK_INT(said.outcome, cases[i].fault ? SMTP_LATER : SMTP_SENT);
		CHECK(strstr(said.text, cases[i].fault ? cases[i].fault : "250"));
		relay_end(&r);
		CHECK(!strstr(r.heard, "RCPT") && !strstr(r.heard, "DATA"));
		if (!cases[i].fault)
			CHECK(strstr(r.heard, "MAIL FROM:<check@example.com>\r\n"));
		free(r.heard);
		arena_free(&a);
	}
}
