/* test_http_server.c - the server over real sockets on the loopback: what a client sees on the wire. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http_fixture.h"

TEST(http_server_replies)
{
	struct http_fixture s;
	struct buf in = { 0 };

	http_fixture_open(&s, &fixture_limits);
	test_step("a plain reply");
	http_fixture_ask(&s, GET_CLOSE("/a?b=c"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 200 OK\r\nDate: "));
	CHECK(http_fixture_contains(&in, "\r\nContent-Type: text/plain\r\n"));
	CHECK(http_fixture_contains(&in, "\r\nContent-Length: 13\r\n"));
	CHECK(http_fixture_contains(&in, "\r\nX-Request-Id: c"));
	CHECK(http_fixture_contains(&in, "\r\nX-Content-Type-Options: nosniff\r\n"));
	CHECK(http_fixture_contains(&in, "\r\nCache-Control: no-store\r\n"));
	CHECK(http_fixture_contains(&in, "\r\nConnection: close\r\n"));
	CHECK(http_fixture_contains(&in, "\r\n\r\nGET /a?b=c 0:"));
	test_step("HEAD has the head of GET");
	http_fixture_ask(&s, "HEAD /a?b=c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", &in);
	CHECK(http_fixture_contains(&in, "\r\nContent-Length: 14\r\n"));
	CHECK(strcmp(http_fixture_text(&in) + in.len - 4, "\r\n\r\n") == 0);
	test_step("204 and 304 have no body");
	http_fixture_ask(&s, GET_CLOSE("/204"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 204 No Content\r\n") &&
		!http_fixture_contains(&in, "Content-Length"));
	CHECK(strcmp(http_fixture_text(&in) + in.len - 4, "\r\n\r\n") == 0);
	http_fixture_ask(&s, GET_CLOSE("/304"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 304 Not Modified\r\n") &&
		!http_fixture_contains(&in, "Content-Length"));
	CHECK(strcmp(http_fixture_text(&in) + in.len - 4, "\r\n\r\n") == 0);
	test_step("HTTP/1.0");
	http_fixture_ask(&s, "GET / HTTP/1.0\r\n\r\n", &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 200 OK\r\n"));
	http_fixture_ask(
		&s, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", &in);
	CHECK_INT(http_fixture_count(&in, "HTTP/1.1 200 OK\r\n"), 2);
	CHECK_INT(http_fixture_count(&in, "Connection: keep-alive\r\n"), 1);
	test_step("a handler's own Cache-Control, and a line that would forge another");
	http_fixture_ask(&s, GET_CLOSE("/cached"), &in);
	CHECK(http_fixture_contains(&in, "Cache-Control: max-age=5\r\n") &&
		!http_fixture_contains(&in, "no-store"));
	http_fixture_ask(&s, GET_CLOSE("/forged"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 500 ") && !http_fixture_contains(&in, "Location"));
	test_step("a large reply");
	http_fixture_ask(&s, GET_CLOSE("/big"), &in);
	CHECK(in.len > 4000000 && strcmp(http_fixture_text(&in) + in.len - 10, "000399999\n") == 0);
	http_fixture_close(&s);
	CHECK_INT(s.dropped, 0);
	buf_free(&in);
}

TEST(http_server_keeps_alive)
{
	struct http_fixture s;
	struct buf in;
	int fd;

	http_fixture_open(&s, &fixture_limits);
	fd = http_fixture_dial(&s);
	for (int i = 0; i < 50; i++) {
		buf_init(&in, 1 << 20);
		http_fixture_say(
			fd, i % 2 ? "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
				  : GET("/y"));
		CHECK(http_fixture_hear(fd, &in, i % 2 ? "POST /x? 3:abc" : "GET /y? 0:"));
		buf_free(&in);
	}
	CHECK_INT(http_server_stats(s.server).open, 1);
	CHECK_INT(http_server_stats(s.server).accepted, 1);
	close(fd);
	http_fixture_close(&s);
	CHECK_INT(s.sent, 50);
}

/* Every third is kept, and finished by another thread; the replies come in order all the same. */
TEST(http_server_pipelines)
{
	enum { COUNT = 1000 };
	struct http_fixture s;
	struct buf out, in;
	int fd, at = 0;

	http_fixture_open(&s, &fixture_limits);
	buf_init(&out, 1 << 20);
	buf_init(&in, 8 << 20);
	for (int i = 0; i < COUNT; i++)
		buf_printf(&out, "GET %s?%d HTTP/1.1\r\nHost: a\r\n%s\r\n",
			i % 3 ? "/now" : "/kept", i, i == COUNT - 1 ? "Connection: close\r\n" : "");
	fd = http_fixture_dial(&s);
	http_fixture_say(fd, http_fixture_text(&out));
	http_fixture_hear(fd, &in, NULL);
	close(fd);
	CHECK_INT(http_fixture_count(&in, "HTTP/1.1 200 OK\r\n"), COUNT);
	for (const char *p = http_fixture_text(&in); (p = strstr(p, "\r\n\r\nGET ")); p++) {
		const char *mark = strchr(p, '?');

		CHECK_INT(mark ? strtol(mark + 1, NULL, 10) : -1, at);
		at++;
	}
	CHECK_INT(at, COUNT);
	http_fixture_close(&s);
	CHECK_INT(s.sent, COUNT);
	buf_free(&out);
	buf_free(&in);
}

/* While the loop is held, one client asks for much and then another for little: the second is
 * not made to wait until the first is done. */
TEST(http_server_is_fair)
{
	enum { MUCH = 100 };
	struct http_fixture s;
	struct buf in, out;
	int fds[5]; /* 0, 2 and 4 belong to the same loop */
	const char *at;

	http_fixture_open(&s, &fixture_limits);
	buf_init(&in, 1 << 20);
	for (int i = 0; i < 5; i++) {
		in.len = 0;
		fds[i] = http_fixture_dial(&s);
		http_fixture_say(fds[i], GET("/x"));
		CHECK(http_fixture_hear(fds[i], &in, "GET /x? 0:"));
	}
	http_fixture_say(fds[0], GET("/hold"));
	pthread_mutex_lock(&s.lock);
	while (!s.holding)
		pthread_cond_wait(&s.change, &s.lock);
	pthread_mutex_unlock(&s.lock);
	buf_init(&out, 1 << 20);
	for (int i = 0; i < MUCH; i++)
		buf_puts(&out, GET("/turn"));
	http_fixture_say(fds[2], http_fixture_text(&out));
	buf_free(&out);
	http_fixture_say(fds[4], GET("/turn"));
	pthread_mutex_lock(&s.lock);
	s.let_go = true;
	pthread_cond_broadcast(&s.change);
	pthread_mutex_unlock(&s.lock);
	in.len = 0;
	CHECK(http_fixture_hear(fds[4], &in, "turn "));
	at = strstr(http_fixture_text(&in), "turn ");
	CHECK(at && strtol(at + 5, NULL, 10) < MUCH);
	in.len = 0;
	CHECK(http_fixture_hear(fds[2], &in, "turn 100."));
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	http_fixture_close(&s);
	buf_free(&in);
}

TEST(http_server_answers_half_closed)
{
	struct http_fixture s;
	struct buf in;
	const char *paths[] = { "/now", "/kept" };

	http_fixture_open(&s, &fixture_limits);
	for (int i = 0; i < 2; i++) {
		int fd = http_fixture_dial(&s);

		buf_init(&in, 1 << 20);
		http_fixture_say(fd, "POST ");
		http_fixture_say(fd, paths[i]);
		http_fixture_say(fd,
			" HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
		shutdown(fd, SHUT_WR);
		http_fixture_hear(fd, &in, NULL);
		CHECK(http_fixture_contains(&in, " 2:hi"));
		buf_free(&in);
		close(fd);
	}
	test_step("a request that breaks off");
	for (int i = 0; i < 2; i++) {
		int fd = http_fixture_dial(&s);

		buf_init(&in, 1 << 20);
		http_fixture_say(fd, i ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"
				       : "GET / HT");
		shutdown(fd, SHUT_WR);
		http_fixture_hear(fd, &in, NULL);
		CHECK(http_fixture_starts(&in, "HTTP/1.1 400 "));
		CHECK_INT(http_fixture_count(&in, "HTTP/1.1"), 1);
		buf_free(&in);
		close(fd);
	}
	http_fixture_close(&s);
}

TEST(http_server_refuses_what_is_malformed)
{
	static const struct {
		const char *bytes, *status;
	} rows[] = {
		{ "GET / HTTP/1.1\n", "400" }, /* at once: nothing follows it */
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400" },
		{ "GET / HTTP/3.0\r\n", "505" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "501" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n\r\n", "417" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", "413" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n",
			"413" },
		{ "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", "413" },
		{ "POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n",
			"413" },
		{ "POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
			"413" },
		{ "POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab", "401" },
	};
	struct http_fixture s;
	struct buf in = { 0 };

	http_fixture_open(&s, &fixture_limits);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char line[32];

		test_step("row %zu: %s", i, rows[i].status);
		snprintf(line, sizeof line, "HTTP/1.1 %s ", rows[i].status);
		http_fixture_ask(&s, rows[i].bytes, &in);
		CHECK(http_fixture_starts(&in, line));
		CHECK_INT(http_fixture_count(&in, "\r\nDate: "), 1);
		CHECK_INT(http_fixture_count(&in, "Connection: close\r\n"), 1);
		CHECK(!http_fixture_contains(&in, "100 Continue"));
	}
	test_step("a good request before the bad one is answered first");
	http_fixture_ask(&s, GET("/good") "BAD\r\n\r\n" GET("/never"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 200 ") &&
		http_fixture_contains(&in, "HTTP/1.1 400 "));
	CHECK_INT(http_fixture_count(&in, "HTTP/1.1 "), 2);
	CHECK_INT(http_server_stats(s.server).faults, sizeof rows / sizeof *rows);
	http_fixture_close(&s);
	buf_free(&in);
}

TEST(http_server_lets_a_refused_sender_read_the_answer)
{
	struct http_fixture s;
	struct buf in;
	char *bulk = malloc(1 << 20);
	int fd;

	memset(bulk, 'x', 1 << 20);
	bulk[(1 << 20) - 1] = '\0';
	http_fixture_open(&s, &fixture_limits);
	fd = http_fixture_dial(&s);
	buf_init(&in, 1 << 20);
	http_fixture_say(fd, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
	CHECK(http_fixture_say(fd, bulk));
	http_fixture_hear(fd, &in, NULL);
	CHECK(!fixture_was_reset && http_fixture_starts(&in, "HTTP/1.1 413 "));
	CHECK(http_fixture_contains(&in, "The body is larger than is taken here."));
	close(fd);
	http_fixture_close(&s);
	buf_free(&in);
	free(bulk);
}

TEST(http_server_says_continue)
{
	static const char head[] =
		"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
	struct http_fixture s;
	struct buf in;
	int fd;

	http_fixture_open(&s, &fixture_limits);
	fd = http_fixture_dial(&s);
	buf_init(&in, 1 << 20);
	http_fixture_say(fd, head);
	CHECK(http_fixture_hear(fd, &in, "\r\n\r\n"));
	CHECK_STR(http_fixture_text(&in), "HTTP/1.1 100 Continue\r\n\r\n");
	http_fixture_say(fd, "abc");
	CHECK(http_fixture_hear(fd, &in, "POST /x? 3:abc"));
	test_step("not when the body has begun");
	in.len = 0;
	http_fixture_say(fd,
		"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nab");
	poll(NULL, 0, 20);
	http_fixture_say(fd, "c");
	CHECK(http_fixture_hear(fd, &in, "POST /x? 3:abc"));
	CHECK(!http_fixture_contains(&in, "100 Continue"));
	test_step("not by HTTP/1.0");
	in.len = 0;
	http_fixture_say(
		fd, "POST /x HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
	http_fixture_hear(fd, &in, NULL);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 200 OK"));
	close(fd);
	http_fixture_close(&s);
	buf_free(&in);
}

/* An answer without the body keeps the connection if the body is here, and closes it if not. */
TEST(http_server_steps_over_bodies)
{
	struct http_fixture s;
	struct buf in = { 0 };

	http_fixture_open(&s, &fixture_limits);
	http_fixture_ask(&s,
		"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde" GET_CLOSE(
			"/next"),
		&in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 401 ") &&
		http_fixture_contains(&in, "GET /next? 0:"));
	http_fixture_close(&s);
	buf_free(&in);
}

TEST(http_server_reads_large_bodies)
{
	enum { SIZE = 3000000 };
	struct http_fixture s;
	struct buf out, in;

	http_fixture_open(&s, &fixture_limits);
	for (int chunked = 0; chunked < 2; chunked++) {
		int fd = http_fixture_dial(&s);

		buf_init(&out, 8 << 20);
		buf_init(&in, 1 << 20);
		if (chunked)
			buf_puts(&out,
				"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
		else
			buf_printf(&out, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n",
				SIZE);
		for (int i = 0; i < SIZE / 1000; i++) {
			if (chunked)
				buf_puts(&out, "3e8\r\n");
			buf_room(&out, 1000);
			memset(out.at + out.len, 'y', 1000);
			out.len += 1000;
			if (chunked)
				buf_puts(&out, "\r\n");
		}
		buf_puts(&out, chunked ? "0\r\n\r\n" GET_CLOSE("/next") : GET_CLOSE("/next"));
		http_fixture_say(fd, http_fixture_text(&out));
		http_fixture_hear(fd, &in, NULL);
		CHECK(http_fixture_contains(&in, "POST /? 3000000:yyy") &&
			http_fixture_contains(&in, "GET /next? 0:"));
		close(fd);
		buf_free(&out);
		buf_free(&in);
	}
	http_fixture_close(&s);
}

TEST(http_server_cuts_the_slow)
{
	struct http_limits limits = fixture_limits;
	struct http_fixture s;
	struct buf in;
	int fd;
	int64_t began;

	limits.header_ms = 150;
	limits.body_ms = 150;
	limits.idle_ms = 150;
	http_fixture_open(&s, &limits);
	test_step("a head that drips is cut, however often a byte comes");
	fd = http_fixture_dial(&s);
	buf_init(&in, 1 << 20);
	began = clock_mono_us();
	http_fixture_say(fd, "GET / HTTP/1.1\r\nX: ");
	for (struct pollfd p = { .fd = fd, .events = POLLIN }; !poll(&p, 1, 10);) {
		http_fixture_say(fd, "x");
		if (clock_mono_us() - began > PATIENCE_MS * 1000)
			break;
	}
	http_fixture_hear(fd, &in, NULL);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 408 "));
	CHECK(clock_mono_us() - began >= 140 * 1000);
	CHECK(clock_mono_us() - began < PATIENCE_MS / 2 * 1000);
	close(fd);
	test_step("a body that does not come");
	in.len = 0;
	fd = http_fixture_dial(&s);
	http_fixture_say(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
	http_fixture_hear(fd, &in, NULL);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 408 "));
	close(fd);
	test_step("silence, before and between requests, is met with silence");
	in.len = 0;
	fd = http_fixture_dial(&s);
	CHECK(!http_fixture_hear(fd, &in, NULL) && in.len == 0);
	close(fd);
	fd = http_fixture_dial(&s);
	http_fixture_say(fd, GET("/x"));
	CHECK(http_fixture_hear(fd, &in, "GET /x? 0:"));
	in.len = 0;
	CHECK(!http_fixture_hear(fd, &in, NULL) && in.len == 0);
	close(fd);
	http_fixture_close(&s);
	buf_free(&in);
}

TEST(http_server_cuts_who_does_not_read)
{
	struct http_limits limits = fixture_limits;
	struct http_fixture s;
	int fd, small = 4096;

	limits.reply_ms = 150;
	http_fixture_open(&s, &limits);
	fd = http_fixture_dial(&s);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	http_fixture_say(fd, GET("/big") GET("/big") GET("/big"));
	http_fixture_await(&s.dropped, 1);
	CHECK_INT(http_server_stats(s.server).timeouts, 1);
	close(fd);
	http_fixture_close(&s);
}

TEST(http_server_gives_up_on_parked)
{
	struct http_limits limits = fixture_limits;
	struct http_fixture s;
	struct buf in = { 0 };

	limits.deferred_ms = 100;
	http_fixture_open(&s, &limits);
	http_fixture_ask(&s, GET("/parked"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 504 ") &&
		http_fixture_contains(&in, "Connection: close\r\n"));
	CHECK_INT(s.sent, 1);
	CHECK_INT(s.dropped, 0);
	http_fixture_await_parked(&s, 1);
	http_fixture_answer(s.parked[0]);
	http_finish(s.parked[0]);
	http_fixture_await(&s.dropped, 1);
	http_fixture_close(&s);
	buf_free(&in);
}

static void *stop_server(void *arg)
{
	struct http_fixture *s = arg;

	http_server_stop(s->server, PATIENCE_MS);
	return NULL;
}

static _Atomic int turns; /* while it drains */

static void take_turn(void *ctx)
{
	atomic_fetch_add((_Atomic int *)ctx, 1);
}

static void *drain_server(void *arg)
{
	struct http_fixture *s = arg;

	http_server_drain(s->server, PATIENCE_MS, take_turn, &turns);
	return NULL;
}

TEST(http_server_survives_a_dying_peer)
{
	struct http_fixture s;
	struct linger now = { .l_onoff = 1, .l_linger = 0 };
	pthread_t stopper;
	int fd;

	http_fixture_open(&s, &fixture_limits);
	fd = http_fixture_dial(&s);
	http_fixture_say(fd, GET("/parked"));
	http_fixture_await_parked(&s, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(fd); /* with a reset */
	for (int i = 0; i < PATIENCE_MS && http_server_stats(s.server).open; i++)
		poll(NULL, 0, 1);
	CHECK_INT(http_server_stats(s.server).open, 0);
	CHECK_INT(s.dropped, 0);
	test_step("stopping waits for it, too");
	pthread_create(&stopper, NULL, stop_server, &s);
	poll(NULL, 0, 20); /* time for it to go wrong */
	http_fixture_answer(s.parked[0]);
	http_finish(s.parked[0]);
	pthread_join(stopper, NULL);
	CHECK_INT(s.dropped, 1);
	http_fixture_close(&s);
}

TEST(http_server_counts_connections)
{
	struct http_limits limits = fixture_limits;
	struct http_fixture s;
	struct buf in = { 0 };
	int fds[2];

	limits.max_connections = 2;
	http_fixture_open(&s, &limits);
	for (int i = 0; i < 2; i++) {
		fds[i] = http_fixture_dial(&s);
		http_fixture_say(fds[i], GET("/parked"));
	}
	http_fixture_await_parked(&s, 2);
	http_fixture_ask(&s, GET("/out"), &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 503 ") &&
		http_fixture_contains(&in, "\r\nRetry-After: 1\r\n"));
	CHECK_INT(http_server_stats(s.server).refused, 1);
	for (int i = 0; i < 2; i++) {
		http_fixture_answer(s.parked[i]);
		http_finish(s.parked[i]);
		close(fds[i]);
	}
	for (int i = 0; i < PATIENCE_MS && http_server_stats(s.server).open; i++)
		poll(NULL, 0, 1);
	http_fixture_ask(&s, GET_CLOSE("/again"), &in);
	CHECK(http_fixture_contains(&in, "GET /again? 0:"));
	CHECK_INT(http_server_stats(s.server).refused, 1);
	http_fixture_close(&s);
	buf_free(&in);
}

TEST(http_server_stops_gracefully)
{
	struct http_fixture s;
	struct buf in, none;
	pthread_t stopper;
	int busy, begun, idle[2]; /* an idle one in each loop */

	http_fixture_open(&s, &fixture_limits);
	buf_init(&in, 1 << 20);
	buf_init(&none, 1 << 20);
	for (int i = 0; i < 2; i++) {
		in.len = 0;
		idle[i] = http_fixture_dial(&s);
		http_fixture_say(idle[i], GET("/x"));
		CHECK(http_fixture_hear(idle[i], &in, "GET /x? 0:"));
	}
	begun = http_fixture_dial(&s);
	http_fixture_say(begun, GET("/x") "GET /begun HTTP/1.1\r\n");
	in.len = 0;
	CHECK(http_fixture_hear(begun, &in, "GET /x? 0:"));
	busy = http_fixture_dial(&s);
	http_fixture_say(busy, GET("/parked"));
	http_fixture_await_parked(&s, 1);
	turns = 0;
	pthread_create(&stopper, NULL, drain_server, &s);
	test_step("an idle connection is closed at once");
	for (int i = 0; i < 2; i++) {
		CHECK(!http_fixture_hear(idle[i], &none, NULL) && none.len == 0);
		close(idle[i]);
	}
	test_step("a begun request may finish");
	in.len = 0;
	http_fixture_say(begun, "Host: a\r\n\r\n");
	http_fixture_hear(begun, &in, NULL);
	CHECK(http_fixture_contains(&in, "Connection: close\r\n") &&
		http_fixture_contains(&in, "GET /begun? 0:"));
	test_step("who waits for it has things to do");
	for (int i = 0; i < PATIENCE_MS && !atomic_load(&turns); i++)
		poll(NULL, 0, 1);
	CHECK(atomic_load(&turns) > 0);
	test_step("a kept one is answered and closed");
	http_fixture_answer(s.parked[0]);
	http_finish(s.parked[0]);
	in.len = 0;
	http_fixture_hear(busy, &in, NULL);
	CHECK(http_fixture_contains(&in, "Connection: close\r\n") &&
		http_fixture_contains(&in, "GET /parked? 0:"));
	pthread_join(stopper, NULL);
	close(begun);
	close(busy);
	http_fixture_close(&s);
	CHECK_INT(s.dropped, 0);
	buf_free(&in);
	buf_free(&none);
}

TEST(http_server_stops_without_mercy)
{
	struct http_fixture s;
	struct buf in;
	int busy;

	http_fixture_open(&s, &fixture_limits);
	buf_init(&in, 1 << 20);
	busy = http_fixture_dial(&s);
	http_fixture_say(busy, GET("/parked"));
	http_fixture_await_parked(&s, 1);
	http_server_stop(s.server, 50);
	CHECK(!http_fixture_hear(busy, &in, NULL) && in.len == 0);
	http_fixture_answer(s.parked[0]);
	http_finish(s.parked[0]); /* too late, and harmless */
	close(busy);
	http_fixture_close(&s);
	buf_free(&in);
}

TEST(http_server_names_what_is_wrong_with_an_address)
{
	static const char *const bad[] = { "", "nonsense", "127.0.0.1", "127.0.0.1:", ":80",
		"127.0.0.1:99999999", "[::1:80", "localhost:80" };
	struct http_fixture s, other;
	struct problem p = { 0 };
	char want[256], taken[128];

	http_fixture_open(&s, &fixture_limits);
	snprintf(taken, sizeof taken, "127.0.0.1:0, %s", http_server_address(s.server));
	snprintf(want, sizeof want, "cannot listen on %s: address already in use",
		http_server_address(s.server));
	CHECK_INT(http_fixture_try(&other, &fixture_limits, taken, NULL, NULL, &p), ERR_USAGE);
	CHECK_STR(p.detail, want);
	arena_free(&other.arena);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		p = (struct problem){ 0 };
		test_step("%s", bad[i]);
		CHECK_INT(http_fixture_try(&other, &fixture_limits, bad[i], NULL, NULL, &p),
			ERR_USAGE);
		CHECK(p.detail && *p.detail);
		arena_free(&other.arena);
	}
	http_fixture_close(&s);
}

/* TLS */
