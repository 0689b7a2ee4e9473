/* test_http_server.c - the server over real sockets on the loopback: what a client sees on the wire. */
#include "t.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/http.h"

enum { PATIENCE_MS = 10000 }; /* the bound on every wait; nothing comes near it */

/* The handler: `GET /kept` goes to another thread, `/parked` waits for the test, `/big` is big,
 * `/early` answers without the body, `/hold` halts the loop until the test lets it go, `/turn` says
 * how many came before, everything else is told what it sent. */
struct stage {
	struct http_server *server;
	struct arena arena;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct http_exchange *kept[64], *parked[64];
	int kept_count, parked_count;
	bool over, holding, let_go;
	int turns; /* of the one loop that is asked for them */
	pthread_t worker;
	_Atomic int sent, dropped, begun, ended;
};

static enum http_verdict keep(struct stage *s, struct http_exchange *x, bool park)
{
	pthread_mutex_lock(&s->lock);
	if (park)
		s->parked[s->parked_count++] = x;
	else
		s->kept[s->kept_count++] = x;
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->lock);
	return HTTP_KEPT;
}

static void hold(struct stage *s)
{
	pthread_mutex_lock(&s->lock);
	s->holding = true;
	pthread_cond_broadcast(&s->change);
	while (!s->let_go)
		pthread_cond_wait(&s->change, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void answer(struct http_exchange *x)
{
	const struct http_request *r = &x->request;

	x->reply.status = 200;
	x->reply.type = "text/plain";
	buf_printf(&x->reply.body, "%s %s?%s %zu%s:", r->method_text, r->path, r->query,
		r->body_len, r->tls ? " tls" : "");
	buf_put(&x->reply.body, r->body, r->body_len < 1000 ? r->body_len : 1000);
}

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	if (strcmp(x->request.path, "/small") == 0)
		x->max_body = 4;
	if (strcmp(x->request.path, "/early") != 0)
		return HTTP_GO_ON;
	x->reply.status = 401;
	return HTTP_REPLIED;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	struct stage *s = ctx;

	if (strcmp(x->request.path, "/kept") == 0)
		return keep(s, x, false);
	if (strcmp(x->request.path, "/parked") == 0)
		return keep(s, x, true);
	if (strcmp(x->request.path, "/hold") == 0)
		hold(s);
	answer(x);
	if (strcmp(x->request.path, "/turn") == 0)
		buf_printf(&x->reply.body, "turn %d.", s->turns++);
	if (strcmp(x->request.path, "/big") == 0)
		for (int i = 0; i < 400 * 1000; i++)
			buf_printf(&x->reply.body, "%09d\n", i);
	if (strcmp(x->request.path, "/204") == 0)
		x->reply.status = 204;
	if (strcmp(x->request.path, "/304") == 0)
		x->reply.status = 304;
	if (strcmp(x->request.path, "/forged") == 0)
		buf_puts(&x->reply.extra, "Location: a\r\n\r\nb\r\n");
	if (strcmp(x->request.path, "/cached") == 0)
		buf_puts(&x->reply.extra, "ETag: \"x\"\r\nCache-Control: max-age=5\r\n");
	return HTTP_REPLIED;
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	x->reply.status = error_row(err)->status;
	x->reply.type = "text/plain";
	buf_puts(&x->reply.body, sentence);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	struct stage *s = ctx;

	(void)x;
	atomic_fetch_add(complete ? &s->sent : &s->dropped, 1);
}

static void on_begin(void *ctx, struct http_loop *loop)
{
	struct stage *s = ctx;

	http_loop_set(loop, s);
	atomic_fetch_add(&s->begun, 1);
}

static void on_end(void *ctx, struct http_loop *loop)
{
	struct stage *s = ctx;

	CHECK(http_loop_get(loop) == s);
	atomic_fetch_add(&s->ended, 1);
}

static void *work(void *arg)
{
	struct stage *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->over || s->kept_count) {
		struct http_exchange *x;

		if (!s->kept_count) {
			pthread_cond_wait(&s->change, &s->lock);
			continue;
		}
		x = s->kept[--s->kept_count];
		pthread_mutex_unlock(&s->lock);
		answer(x);
		http_finish(x);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static const struct http_limits usual = {
	.max_head = 16 * 1024,
	.max_headers = 64,
	.max_body = 8 * 1024 * 1024,
	.max_connections = 100,
	.header_ms = PATIENCE_MS,
	.body_ms = PATIENCE_MS,
	.idle_ms = PATIENCE_MS,
	.reply_ms = PATIENCE_MS,
	.parked_ms = PATIENCE_MS,
};

static int try_open(struct stage *s, const struct http_limits *limits, const char *listen_on,
	const char *cert, const char *key, struct problem *p)
{
	struct http_settings settings = {
		.listen = listen_on, .tls_cert = cert, .tls_key = key, .loops = 2, .limits = *limits
	};
	struct http_handler handler = { on_head, on_request, on_fault, on_sent, NULL, on_begin,
		on_end, s };

	memset(s, 0, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	return http_server_new(&s->server, &settings, &handler, &s->arena, p);
}

static void open_stage(struct stage *s, const struct http_limits *limits)
{
	struct problem p = { 0 };

	CHECK_INT(try_open(s, limits, "127.0.0.1:0", NULL, NULL, &p), 0);
	CHECK_INT(http_server_start(s->server), 0);
	CHECK_INT(s->begun, 2);
	pthread_create(&s->worker, NULL, work, s);
}

static void close_stage(struct stage *s)
{
	http_server_stop(s->server, PATIENCE_MS);
	CHECK_INT(s->ended, s->begun);
	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_cond_broadcast(&s->change);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->worker, NULL);
	http_server_free(s->server);
	arena_free(&s->arena);
}

/* Waits until n exchanges stand parked. */
static void await_parked(struct stage *s, int n)
{
	pthread_mutex_lock(&s->lock);
	while (s->parked_count < n)
		pthread_cond_wait(&s->change, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static void await_count(_Atomic int *counter, int n)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(counter) < n; i++)
		poll(NULL, 0, 1);
	CHECK_INT(atomic_load(counter), n);
}

/* The client */

static int dial(struct stage *s)
{
	const char *at = http_server_address(s->server);
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(strchr(at, ':') + 1, NULL, 10)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, "127.0.0.1", &sa.sin_addr);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof sa) == 0);
	return fd;
}

/* False if the server would not take it all. */
static bool say(int fd, const char *bytes)
{
	size_t n = strlen(bytes);

	while (n) {
		ssize_t put = send(fd, bytes, n, MSG_NOSIGNAL);

		if (put <= 0)
			return false;
		bytes += put;
		n -= (size_t)put;
	}
	return true;
}

static bool was_reset; /* how the last connection heard to its end has ended */

/* Reads until the end, or until `until` stands in what came (never if NULL); false at the end. */
static bool hear(int fd, struct buf *in, const char *until)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (until && in->len && memmem(in->at, in->len, until, strlen(until)))
			return true;
		if (poll(&p, 1, PATIENCE_MS) <= 0) {
			test_fail(__FILE__, __LINE__, "nothing came for too long");
			return false;
		}
		buf_room(in, 65536);
		n = recv(fd, in->at + in->len, 65535, 0);
		was_reset = n < 0;
		if (n <= 0)
			return false;
		in->len += (size_t)n;
	}
}

static const char *text_of(struct buf *in)
{
	buf_putc(in, '\0');
	in->len--;
	return in->at;
}

static int count_of(struct buf *in, const char *what)
{
	int count = 0;

	for (const char *at = text_of(in); (at = strstr(at, what)); at++)
		count++;
	return count;
}

static bool starts(struct buf *in, const char *with)
{
	return strncmp(text_of(in), with, strlen(with)) == 0;
}

static bool contains(struct buf *in, const char *what)
{
	return strstr(text_of(in), what) != NULL;
}

/* Sends on a new connection and hears all until the server closes. */
static void ask(struct stage *s, const char *bytes, struct buf *in)
{
	int fd = dial(s);

	buf_free(in);
	buf_init(in, 64 << 20);
	say(fd, bytes);
	hear(fd, in, NULL);
	close(fd);
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_CLOSE(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

TEST(http_server_replies)
{
	struct stage s;
	struct buf in = { 0 };

	open_stage(&s, &usual);
	test_step("a plain reply");
	ask(&s, GET_CLOSE("/a?b=c"), &in);
	CHECK(starts(&in, "HTTP/1.1 200 OK\r\nDate: "));
	CHECK(contains(&in, "\r\nContent-Type: text/plain\r\n"));
	CHECK(contains(&in, "\r\nContent-Length: 13\r\n"));
	CHECK(contains(&in, "\r\nX-Request-Id: c"));
	CHECK(contains(&in, "\r\nX-Content-Type-Options: nosniff\r\n"));
	CHECK(contains(&in, "\r\nCache-Control: no-store\r\n"));
	CHECK(contains(&in, "\r\nConnection: close\r\n"));
	CHECK(contains(&in, "\r\n\r\nGET /a?b=c 0:"));
	test_step("HEAD has the head of GET");
	ask(&s, "HEAD /a?b=c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", &in);
	CHECK(contains(&in, "\r\nContent-Length: 14\r\n"));
	CHECK(strcmp(text_of(&in) + in.len - 4, "\r\n\r\n") == 0);
	test_step("204 and 304 have no body");
	ask(&s, GET_CLOSE("/204"), &in);
	CHECK(starts(&in, "HTTP/1.1 204 No Content\r\n") && !contains(&in, "Content-Length"));
	CHECK(strcmp(text_of(&in) + in.len - 4, "\r\n\r\n") == 0);
	ask(&s, GET_CLOSE("/304"), &in);
	CHECK(starts(&in, "HTTP/1.1 304 Not Modified\r\n") && !contains(&in, "Content-Length"));
	CHECK(strcmp(text_of(&in) + in.len - 4, "\r\n\r\n") == 0);
	test_step("HTTP/1.0");
	ask(&s, "GET / HTTP/1.0\r\n\r\n", &in);
	CHECK(starts(&in, "HTTP/1.1 200 OK\r\n"));
	ask(&s, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", &in);
	CHECK_INT(count_of(&in, "HTTP/1.1 200 OK\r\n"), 2);
	CHECK_INT(count_of(&in, "Connection: keep-alive\r\n"), 1);
	test_step("a handler's own Cache-Control, and a line that would forge another");
	ask(&s, GET_CLOSE("/cached"), &in);
	CHECK(contains(&in, "Cache-Control: max-age=5\r\n") && !contains(&in, "no-store"));
	ask(&s, GET_CLOSE("/forged"), &in);
	CHECK(starts(&in, "HTTP/1.1 500 ") && !contains(&in, "Location"));
	test_step("a large reply");
	ask(&s, GET_CLOSE("/big"), &in);
	CHECK(in.len > 4000000 && strcmp(text_of(&in) + in.len - 10, "000399999\n") == 0);
	close_stage(&s);
	CHECK_INT(s.dropped, 0);
	buf_free(&in);
}

TEST(http_server_keeps_alive)
{
	struct stage s;
	struct buf in;
	int fd;

	open_stage(&s, &usual);
	fd = dial(&s);
	for (int i = 0; i < 50; i++) {
		buf_init(&in, 1 << 20);
		say(fd, i % 2 ? "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
			      : GET("/y"));
		CHECK(hear(fd, &in, i % 2 ? "POST /x? 3:abc" : "GET /y? 0:"));
		buf_free(&in);
	}
	CHECK_INT(http_server_stats(s.server).open, 1);
	CHECK_INT(http_server_stats(s.server).accepted, 1);
	close(fd);
	close_stage(&s);
	CHECK_INT(s.sent, 50);
}

/* Every third is kept, and finished by another thread; the replies come in order all the same. */
TEST(http_server_pipelines)
{
	enum { COUNT = 1000 };
	struct stage s;
	struct buf out, in;
	int fd, at = 0;

	open_stage(&s, &usual);
	buf_init(&out, 1 << 20);
	buf_init(&in, 8 << 20);
	for (int i = 0; i < COUNT; i++)
		buf_printf(&out, "GET %s?%d HTTP/1.1\r\nHost: a\r\n%s\r\n",
			i % 3 ? "/now" : "/kept", i, i == COUNT - 1 ? "Connection: close\r\n" : "");
	fd = dial(&s);
	say(fd, text_of(&out));
	hear(fd, &in, NULL);
	close(fd);
	CHECK_INT(count_of(&in, "HTTP/1.1 200 OK\r\n"), COUNT);
	for (const char *p = text_of(&in); (p = strstr(p, "\r\n\r\nGET ")); p++) {
		const char *mark = strchr(p, '?');

		CHECK_INT(mark ? strtol(mark + 1, NULL, 10) : -1, at);
		at++;
	}
	CHECK_INT(at, COUNT);
	close_stage(&s);
	CHECK_INT(s.sent, COUNT);
	buf_free(&out);
	buf_free(&in);
}

/* While the loop is held, one client asks for much and then another for little: the second is
 * not made to wait until the first is done. */
TEST(http_server_is_fair)
{
	enum { MUCH = 100 };
	struct stage s;
	struct buf in, out;
	int fds[5]; /* 0, 2 and 4 belong to the same loop */
	const char *at;

	open_stage(&s, &usual);
	buf_init(&in, 1 << 20);
	for (int i = 0; i < 5; i++) {
		in.len = 0;
		fds[i] = dial(&s);
		say(fds[i], GET("/x"));
		CHECK(hear(fds[i], &in, "GET /x? 0:"));
	}
	say(fds[0], GET("/hold"));
	pthread_mutex_lock(&s.lock);
	while (!s.holding)
		pthread_cond_wait(&s.change, &s.lock);
	pthread_mutex_unlock(&s.lock);
	buf_init(&out, 1 << 20);
	for (int i = 0; i < MUCH; i++)
		buf_puts(&out, GET("/turn"));
	say(fds[2], text_of(&out));
	buf_free(&out);
	say(fds[4], GET("/turn"));
	pthread_mutex_lock(&s.lock);
	s.let_go = true;
	pthread_cond_broadcast(&s.change);
	pthread_mutex_unlock(&s.lock);
	in.len = 0;
	CHECK(hear(fds[4], &in, "turn "));
	at = strstr(text_of(&in), "turn ");
	CHECK(at && strtol(at + 5, NULL, 10) < MUCH);
	in.len = 0;
	CHECK(hear(fds[2], &in, "turn 100."));
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	close_stage(&s);
	buf_free(&in);
}

TEST(http_server_answers_half_closed)
{
	struct stage s;
	struct buf in;
	const char *paths[] = { "/now", "/kept" };

	open_stage(&s, &usual);
	for (int i = 0; i < 2; i++) {
		int fd = dial(&s);

		buf_init(&in, 1 << 20);
		say(fd, "POST ");
		say(fd, paths[i]);
		say(fd, " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n");
		shutdown(fd, SHUT_WR);
		hear(fd, &in, NULL);
		CHECK(contains(&in, " 2:hi"));
		buf_free(&in);
		close(fd);
	}
	test_step("a request that breaks off");
	for (int i = 0; i < 2; i++) {
		int fd = dial(&s);

		buf_init(&in, 1 << 20);
		say(fd, i ? "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"
			  : "GET / HT");
		shutdown(fd, SHUT_WR);
		hear(fd, &in, NULL);
		CHECK(starts(&in, "HTTP/1.1 400 "));
		CHECK_INT(count_of(&in, "HTTP/1.1"), 1);
		buf_free(&in);
		close(fd);
	}
	close_stage(&s);
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
	struct stage s;
	struct buf in = { 0 };

	open_stage(&s, &usual);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char line[32];

		test_step("row %zu: %s", i, rows[i].status);
		snprintf(line, sizeof line, "HTTP/1.1 %s ", rows[i].status);
		ask(&s, rows[i].bytes, &in);
		CHECK(starts(&in, line));
		CHECK_INT(count_of(&in, "\r\nDate: "), 1);
		CHECK_INT(count_of(&in, "Connection: close\r\n"), 1);
		CHECK(!contains(&in, "100 Continue"));
	}
	test_step("a good request before the bad one is answered first");
	ask(&s, GET("/good") "BAD\r\n\r\n" GET("/never"), &in);
	CHECK(starts(&in, "HTTP/1.1 200 ") && contains(&in, "HTTP/1.1 400 "));
	CHECK_INT(count_of(&in, "HTTP/1.1 "), 2);
	CHECK_INT(http_server_stats(s.server).faults, sizeof rows / sizeof *rows);
	close_stage(&s);
	buf_free(&in);
}

TEST(http_server_lets_a_refused_sender_read_the_answer)
{
	struct stage s;
	struct buf in;
	char *bulk = malloc(1 << 20);
	int fd;

	memset(bulk, 'x', 1 << 20);
	bulk[(1 << 20) - 1] = '\0';
	open_stage(&s, &usual);
	fd = dial(&s);
	buf_init(&in, 1 << 20);
	say(fd, "POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
	CHECK(say(fd, bulk));
	hear(fd, &in, NULL);
	CHECK(!was_reset && starts(&in, "HTTP/1.1 413 "));
	CHECK(contains(&in, "The body is larger than is taken here."));
	close(fd);
	close_stage(&s);
	buf_free(&in);
	free(bulk);
}

TEST(http_server_says_continue)
{
	static const char head[] =
		"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
	struct stage s;
	struct buf in;
	int fd;

	open_stage(&s, &usual);
	fd = dial(&s);
	buf_init(&in, 1 << 20);
	say(fd, head);
	CHECK(hear(fd, &in, "\r\n\r\n"));
	CHECK_STR(text_of(&in), "HTTP/1.1 100 Continue\r\n\r\n");
	say(fd, "abc");
	CHECK(hear(fd, &in, "POST /x? 3:abc"));
	test_step("not when the body has begun");
	in.len = 0;
	say(fd, "POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nab");
	poll(NULL, 0, 20);
	say(fd, "c");
	CHECK(hear(fd, &in, "POST /x? 3:abc"));
	CHECK(!contains(&in, "100 Continue"));
	test_step("not by HTTP/1.0");
	in.len = 0;
	say(fd, "POST /x HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
	hear(fd, &in, NULL);
	CHECK(starts(&in, "HTTP/1.1 200 OK"));
	close(fd);
	close_stage(&s);
	buf_free(&in);
}

/* An answer without the body keeps the connection if the body is here, and closes it if not. */
TEST(http_server_steps_over_bodies)
{
	struct stage s;
	struct buf in = { 0 };

	open_stage(&s, &usual);
	ask(&s,
		"POST /early HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde" GET_CLOSE(
			"/next"),
		&in);
	CHECK(starts(&in, "HTTP/1.1 401 ") && contains(&in, "GET /next? 0:"));
	close_stage(&s);
	buf_free(&in);
}

TEST(http_server_reads_large_bodies)
{
	enum { SIZE = 3000000 };
	struct stage s;
	struct buf out, in;

	open_stage(&s, &usual);
	for (int chunked = 0; chunked < 2; chunked++) {
		int fd = dial(&s);

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
		say(fd, text_of(&out));
		hear(fd, &in, NULL);
		CHECK(contains(&in, "POST /? 3000000:yyy") && contains(&in, "GET /next? 0:"));
		close(fd);
		buf_free(&out);
		buf_free(&in);
	}
	close_stage(&s);
}

TEST(http_server_cuts_the_slow)
{
	struct http_limits limits = usual;
	struct stage s;
	struct buf in;
	int fd;
	int64_t began;

	limits.header_ms = 150;
	limits.body_ms = 150;
	limits.idle_ms = 150;
	open_stage(&s, &limits);
	test_step("a head that drips is cut, however often a byte comes");
	fd = dial(&s);
	buf_init(&in, 1 << 20);
	began = clock_mono_us();
	say(fd, "GET / HTTP/1.1\r\nX: ");
	for (struct pollfd p = { .fd = fd, .events = POLLIN }; !poll(&p, 1, 10);) {
		say(fd, "x");
		if (clock_mono_us() - began > PATIENCE_MS * 1000)
			break;
	}
	hear(fd, &in, NULL);
	CHECK(starts(&in, "HTTP/1.1 408 "));
	CHECK(clock_mono_us() - began >= 140 * 1000);
	CHECK(clock_mono_us() - began < PATIENCE_MS / 2 * 1000);
	close(fd);
	test_step("a body that does not come");
	in.len = 0;
	fd = dial(&s);
	say(fd, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab");
	hear(fd, &in, NULL);
	CHECK(starts(&in, "HTTP/1.1 408 "));
	close(fd);
	test_step("silence, before and between requests, is met with silence");
	in.len = 0;
	fd = dial(&s);
	CHECK(!hear(fd, &in, NULL) && in.len == 0);
	close(fd);
	fd = dial(&s);
	say(fd, GET("/x"));
	CHECK(hear(fd, &in, "GET /x? 0:"));
	in.len = 0;
	CHECK(!hear(fd, &in, NULL) && in.len == 0);
	close(fd);
	close_stage(&s);
	buf_free(&in);
}

TEST(http_server_cuts_who_does_not_read)
{
	struct http_limits limits = usual;
	struct stage s;
	int fd, small = 4096;

	limits.reply_ms = 150;
	open_stage(&s, &limits);
	fd = dial(&s);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	say(fd, GET("/big") GET("/big") GET("/big"));
	await_count(&s.dropped, 1);
	CHECK_INT(http_server_stats(s.server).timeouts, 1);
	close(fd);
	close_stage(&s);
}

TEST(http_server_gives_up_on_parked)
{
	struct http_limits limits = usual;
	struct stage s;
	struct buf in = { 0 };

	limits.parked_ms = 100;
	open_stage(&s, &limits);
	ask(&s, GET("/parked"), &in);
	CHECK(starts(&in, "HTTP/1.1 504 ") && contains(&in, "Connection: close\r\n"));
	CHECK_INT(s.sent, 1);
	CHECK_INT(s.dropped, 0);
	await_parked(&s, 1);
	answer(s.parked[0]);
	http_finish(s.parked[0]);
	await_count(&s.dropped, 1);
	close_stage(&s);
	buf_free(&in);
}

static void *stop_server(void *arg)
{
	struct stage *s = arg;

	http_server_stop(s->server, PATIENCE_MS);
	return NULL;
}

TEST(http_server_survives_a_dying_peer)
{
	struct stage s;
	struct linger now = { .l_onoff = 1, .l_linger = 0 };
	pthread_t stopper;
	int fd;

	open_stage(&s, &usual);
	fd = dial(&s);
	say(fd, GET("/parked"));
	await_parked(&s, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	close(fd); /* with a reset */
	for (int i = 0; i < PATIENCE_MS && http_server_stats(s.server).open; i++)
		poll(NULL, 0, 1);
	CHECK_INT(http_server_stats(s.server).open, 0);
	CHECK_INT(s.dropped, 0);
	test_step("stopping waits for it, too");
	pthread_create(&stopper, NULL, stop_server, &s);
	poll(NULL, 0, 20); /* time for it to go wrong */
	answer(s.parked[0]);
	http_finish(s.parked[0]);
	pthread_join(stopper, NULL);
	CHECK_INT(s.dropped, 1);
	close_stage(&s);
}

TEST(http_server_counts_connections)
{
	struct http_limits limits = usual;
	struct stage s;
	struct buf in = { 0 };
	int fds[2];

	limits.max_connections = 2;
	open_stage(&s, &limits);
	for (int i = 0; i < 2; i++) {
		struct buf one;

		buf_init(&one, 1 << 20);
		fds[i] = dial(&s);
		say(fds[i], GET("/in"));
		CHECK(hear(fds[i], &one, "GET /in? 0:"));
		buf_free(&one);
	}
	ask(&s, GET("/out"), &in);
	CHECK(starts(&in, "HTTP/1.1 503 ") && contains(&in, "\r\nRetry-After: 1\r\n"));
	CHECK_INT(http_server_stats(s.server).refused, 1);
	close(fds[0]);
	for (int i = 0; i < PATIENCE_MS && http_server_stats(s.server).open > 1; i++)
		poll(NULL, 0, 1);
	ask(&s, GET_CLOSE("/again"), &in);
	CHECK(contains(&in, "GET /again? 0:"));
	close(fds[1]);
	close_stage(&s);
	buf_free(&in);
}

TEST(http_server_stops_gracefully)
{
	struct stage s;
	struct buf in, none;
	pthread_t stopper;
	int busy, begun, idle[2]; /* an idle one in each loop */

	open_stage(&s, &usual);
	buf_init(&in, 1 << 20);
	buf_init(&none, 1 << 20);
	for (int i = 0; i < 2; i++) {
		in.len = 0;
		idle[i] = dial(&s);
		say(idle[i], GET("/x"));
		CHECK(hear(idle[i], &in, "GET /x? 0:"));
	}
	begun = dial(&s);
	say(begun, GET("/x") "GET /begun HTTP/1.1\r\n");
	in.len = 0;
	CHECK(hear(begun, &in, "GET /x? 0:"));
	busy = dial(&s);
	say(busy, GET("/parked"));
	await_parked(&s, 1);
	pthread_create(&stopper, NULL, stop_server, &s);
	test_step("an idle connection is closed at once");
	for (int i = 0; i < 2; i++) {
		CHECK(!hear(idle[i], &none, NULL) && none.len == 0);
		close(idle[i]);
	}
	test_step("a begun request may finish");
	in.len = 0;
	say(begun, "Host: a\r\n\r\n");
	hear(begun, &in, NULL);
	CHECK(contains(&in, "Connection: close\r\n") && contains(&in, "GET /begun? 0:"));
	test_step("a kept one is answered and closed");
	answer(s.parked[0]);
	http_finish(s.parked[0]);
	in.len = 0;
	hear(busy, &in, NULL);
	CHECK(contains(&in, "Connection: close\r\n") && contains(&in, "GET /parked? 0:"));
	pthread_join(stopper, NULL);
	close(begun);
	close(busy);
	close_stage(&s);
	CHECK_INT(s.dropped, 0);
	buf_free(&in);
	buf_free(&none);
}

TEST(http_server_stops_without_mercy)
{
	struct stage s;
	struct buf in;
	int busy;

	open_stage(&s, &usual);
	buf_init(&in, 1 << 20);
	busy = dial(&s);
	say(busy, GET("/parked"));
	await_parked(&s, 1);
	http_server_stop(s.server, 50);
	CHECK(!hear(busy, &in, NULL) && in.len == 0);
	answer(s.parked[0]);
	http_finish(s.parked[0]); /* too late, and harmless */
	close(busy);
	close_stage(&s);
	buf_free(&in);
}

TEST(http_server_names_what_is_wrong_with_an_address)
{
	static const char *const bad[] = { "", "nonsense", "127.0.0.1", "127.0.0.1:", ":80",
		"127.0.0.1:99999999", "[::1:80", "localhost:80" };
	struct stage s, other;
	struct problem p = { 0 };
	char want[256], taken[128];

	open_stage(&s, &usual);
	snprintf(taken, sizeof taken, "127.0.0.1:0, %s", http_server_address(s.server));
	snprintf(want, sizeof want, "cannot listen on %s: address already in use",
		http_server_address(s.server));
	CHECK_INT(try_open(&other, &usual, taken, NULL, NULL, &p), ERR_USAGE);
	CHECK_STR(p.detail, want);
	arena_free(&other.arena);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		p = (struct problem){ 0 };
		test_step("%s", bad[i]);
		CHECK_INT(try_open(&other, &usual, bad[i], NULL, NULL, &p), ERR_USAGE);
		CHECK(p.detail && *p.detail);
		arena_free(&other.arena);
	}
	close_stage(&s);
}

/* TLS */

/* A key and a certificate for it, self-signed, in two new files. */
static void make_certificate(char cert[], char key[])
{
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	FILE *f;

	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), -60);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, pair);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
		(const unsigned char *)"localhost", -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	X509_sign(x, pair, EVP_sha256());
	f = fdopen(mkstemp(cert), "w");
	PEM_write_X509(f, x);
	fclose(f);
	f = fdopen(mkstemp(key), "w");
	PEM_write_PrivateKey(f, pair, NULL, NULL, 0, NULL, NULL);
	fclose(f);
	X509_free(x);
	EVP_PKEY_free(pair);
}

static void hear_tls(SSL *ssl, struct buf *in)
{
	int n;

	do {
		buf_room(in, 16384);
		n = SSL_read(ssl, in->at + in->len, 16383);
		if (n > 0)
			in->len += (size_t)n;
	} while (n > 0);
}

static SSL *dial_tls(struct stage *s, SSL_CTX *ctx, const char *protocol)
{
	SSL *ssl = SSL_new(ctx);

	SSL_set_fd(ssl, dial(s));
	SSL_set_alpn_protos(ssl, (const unsigned char *)protocol, (unsigned)strlen(protocol));
	return ssl;
}

static void hang_up(SSL *ssl)
{
	close(SSL_get_fd(ssl));
	SSL_free(ssl);
}

TEST(http_server_speaks_tls)
{
	char cert[] = "/tmp/lodge-cert-XXXXXX", key[] = "/tmp/lodge-key-XXXXXX";
	char cert2[] = "/tmp/lodge-cert-XXXXXX", key2[] = "/tmp/lodge-key-XXXXXX";
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	struct problem p = { 0 };
	struct stage s;
	struct buf in, plain = { 0 };
	SSL *ssl;

	make_certificate(cert, key);
	make_certificate(cert2, key2);
	test_step("a certificate that will not do is named");
	CHECK_INT(try_open(&s, &usual, "127.0.0.1:0", "/nowhere.pem", key, &p), ERR_USAGE);
	CHECK_STR(p.detail, "cannot use the certificate /nowhere.pem: No such file or directory");
	arena_free(&s.arena);
	p = (struct problem){ 0 };
	CHECK_INT(try_open(&s, &usual, "127.0.0.1:0", cert, key2, &p), ERR_USAGE);
	CHECK(p.detail && strstr(p.detail, key2));
	arena_free(&s.arena);
	p = (struct problem){ 0 };
	CHECK_INT(try_open(&s, &usual, "127.0.0.1:0", cert, key, &p), 0);
	CHECK_INT(http_server_start(s.server), 0);
	pthread_create(&s.worker, NULL, work, &s);

	test_step("requests, at once and kept");
	buf_init(&in, 64 << 20);
	ssl = dial_tls(&s, ctx, "\x02h2\x08http/1.1");
	CHECK_INT(SSL_connect(ssl), 1);
	CHECK_INT(SSL_write(ssl, GET("/a") GET("/kept") GET_CLOSE("/big"),
			  sizeof(GET("/a") GET("/kept") GET_CLOSE("/big")) - 1),
		sizeof(GET("/a") GET("/kept") GET_CLOSE("/big")) - 1);
	hear_tls(ssl, &in);
	CHECK(contains(&in, "GET /a? 0 tls:") && contains(&in, "GET /kept? 0 tls:"));
	CHECK(in.len > 4000000 && strcmp(text_of(&in) + in.len - 10, "000399999\n") == 0);
	CHECK(SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN);
	hang_up(ssl);
	test_step("a fault closes with goodbye");
	in.len = 0;
	ssl = dial_tls(&s, ctx, "\x08http/1.1");
	CHECK_INT(SSL_connect(ssl), 1);
	SSL_write(ssl, "BAD\r\n\r\n", 7);
	hear_tls(ssl, &in);
	CHECK(starts(&in, "HTTP/1.1 400 "));
	hang_up(ssl);
	test_step("neither old versions nor other protocols");
	ssl = dial_tls(&s, ctx, "\x02h2");
	CHECK(SSL_connect(ssl) != 1);
	hang_up(ssl);
	ssl = dial_tls(&s, ctx, "\x08http/1.1");
	SSL_set_security_level(ssl, 0);
	SSL_set_min_proto_version(ssl, TLS1_VERSION);
	SSL_set_max_proto_version(ssl, TLS1_1_VERSION);
	CHECK(SSL_connect(ssl) != 1);
	hang_up(ssl);
	test_step("plain text is no handshake");
	ask(&s, GET("/"), &plain);
	CHECK(!contains(&plain, "HTTP/1.1"));
	close_stage(&s);
	SSL_CTX_free(ctx);
	buf_free(&in);
	buf_free(&plain);
	unlink(cert);
	unlink(key);
	unlink(cert2);
	unlink(key2);
}
