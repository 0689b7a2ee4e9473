/* test_dns.c - texts of names, from a server of our own on the loopback. */
#include "outside/dns.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "t.h"

/* Answers every question with these bytes after the question, so many answers and this code. */
struct name_server {
	int fd, port;
	pthread_t thread;
	int rcode;
	unsigned answers;
	const unsigned char *rest;
	size_t rest_len;
	bool mute;
};

static void *serve_names(void *arg)
{
	struct name_server *s = arg;
	unsigned char q[2048];
	struct sockaddr_in from;
	socklen_t from_len = sizeof from;
	ssize_t n;

	while ((n = recvfrom(s->fd, q, 512, 0, (struct sockaddr *)&from, &from_len)) > 12) {
		size_t end = 12;

		if (s->mute)
			continue;
		while (q[end])
			end += q[end] + 1u;
		end += 5;
		q[2] = 0x85;
		q[3] = (unsigned char)(0x80 | s->rcode);
		q[6] = (unsigned char)(s->answers >> 8);
		q[7] = (unsigned char)s->answers;
		memset(q + 8, 0, 4);
		memcpy(q + end, s->rest, s->rest_len);
		sendto(s->fd, q, end + s->rest_len, 0, (struct sockaddr *)&from, from_len);
	}
	return NULL;
}

static const char *names_open(struct name_server *s, struct arena *a)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;

	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(bind(s->fd, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK(getsockname(s->fd, (struct sockaddr *)&at, &n) == 0);
	s->port = ntohs(at.sin_port);
	CHECK(pthread_create(&s->thread, NULL, serve_names, s) == 0);
	return arena_printf(a, "127.0.0.1:%d", s->port);
}

static void names_close(struct name_server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)s->port) };

	sendto(s->fd, "x", 1, 0, (struct sockaddr *)&at, sizeof at);
	pthread_join(s->thread, NULL);
	close(s->fd);
}

#define RR_HEAD(type) 0xc0, 0x0c, 0, (type), 0, 1, 0, 0, 0, 60

TEST(dns_puts_the_pieces_of_a_text_together)
{
	static const unsigned char rest[] = { RR_HEAD(5), 0, 2, 0xc0, 0x0c, /* another name */
		RR_HEAD(16), 0, 8, 3, 'v', '=', 'D', 3, 'K', 'I', 'M', RR_HEAD(16), 0, 2, 1, 'x' };
	struct name_server s = { .answers = 3, .rest = rest, .rest_len = sizeof rest };
	struct arena a = { 0 };
	struct dns_texts t;
	const char *server = names_open(&s, &a);

	CHECK_INT(dns_texts(server, "s1._domainkey.example.com", &a, &t), 0);
	CHECK_INT(t.count, 2);
	if (t.count == 2) {
		CHECK_STR(t.at[0], "v=DKIM");
		CHECK_STR(t.at[1], "x");
	}
	names_close(&s);
	arena_free(&a);
}

TEST(dns_tells_nothing_there_from_nobody_there)
{
	static const unsigned char lies[] = { RR_HEAD(16), 0, 4, 9, 'v', '=', 'D' };
	static const struct {
		int rcode;
		unsigned answers;
		const unsigned char *rest;
		size_t rest_len;
		int err;
	} cases[] = {
		{ 0, 0, lies, 0, 0 },			       /* no such text */
		{ 3, 0, lies, 0, 0 },			       /* no such name */
		{ 2, 0, lies, 0, ERR_UPSTREAM },	       /* it failed */
		{ 5, 0, lies, 0, ERR_UPSTREAM },	       /* it refuses */
		{ 0, 1, lies, sizeof lies, 0 },		       /* a piece longer than its text */
		{ 0, 1, lies, sizeof lies - 2, ERR_UPSTREAM }, /* an answer that is cut */
		{ 0, 500, lies, sizeof lies, ERR_UPSTREAM },   /* more are promised */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct name_server s = { .rcode = cases[i].rcode,
			.answers = cases[i].answers,
			.rest = cases[i].rest,
			.rest_len = cases[i].rest_len };
		struct arena a = { 0 };
		struct dns_texts t;

		test_step("case %zu", i);
		CHECK_INT(dns_texts(names_open(&s, &a), "example.com", &a, &t), cases[i].err);
		CHECK_INT(t.count, 0);
		names_close(&s);
		arena_free(&a);
	}
}

TEST(dns_asks_for_names_only)
{
	struct arena a = { 0 };
	struct dns_texts t;

	CHECK_INT(dns_texts("127.0.0.1:1", "a b.example", &a, &t), ERR_INVALID);
	CHECK(dns_name_valid("_dmarc.example.com") && dns_name_valid("a"));
	CHECK(!dns_name_valid("") && !dns_name_valid(".a") && !dns_name_valid("a..b"));
	CHECK(!dns_name_valid("a.") && !dns_name_valid("a\nb"));
	CHECK(dns_server_valid("192.0.2.53") && dns_server_valid("192.0.2.53:5353"));
	CHECK(!dns_server_valid("ns.example") && !dns_server_valid("192.0.2.53:0"));
	CHECK(!dns_server_valid("192.0.2.53:") && !dns_server_valid("192.0.2.53:70000"));
	arena_free(&a);
}

TEST(dns_names_the_servers_of_mail)
{
	static const unsigned char rest[] = { RR_HEAD(15), 0, 9, 0, 10, 4, 'm', 'a', 'i', 'l', 0xc0,
		0x0c, RR_HEAD(16), 0, 2, 1, 'x', RR_HEAD(15), 0, 3, 0, 0, 0 };
	struct name_server s = { .answers = 3, .rest = rest, .rest_len = sizeof rest };
	struct arena a = { 0 };
	struct dns_texts t;
	const char *server = names_open(&s, &a);

	CHECK_INT(dns_mail_servers(server, "example.com", &a, &t), 0);
	CHECK_INT(t.count, 2);
	if (t.count == 2) {
		CHECK_STR(t.at[0], "mail.example.com");
		CHECK_STR(t.at[1], ".");
	}
	names_close(&s);
	test_step("cut within the name");
	s = (struct name_server){ .answers = 1, .rest = rest, .rest_len = 16 };
	server = names_open(&s, &a);
	CHECK_INT(dns_mail_servers(server, "example.com", &a, &t), ERR_UPSTREAM);
	names_close(&s);
	arena_free(&a);
}
