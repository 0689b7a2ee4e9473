/* test_http_body.c - bodies that are handed on while they come, and replies that are files: over a socket and through
 * the in-process server. */
#include "http_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "http/conn.h"

enum { LARGE = 3 * 1024 * 1024 + 7, REFUSED_AT = 2 };

/* Takes pieces on a thread of its own, which the test may hold. */
struct taker {
	struct http_fixture fixture; /* for its client and its server */
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct http_exchange *x; /* whose piece it has */
	const char *bytes;
	size_t len;
	bool held, over;
	pthread_t thread;
	size_t most; /* bytes that its buffers took */
	_Atomic size_t taken, pieces, requests, given_back, warmed;
	char file[32];
	size_t file_len;
};

/* The byte at a place of every body and file here. */
static char byte_at(size_t i)
{
	return (char)('a' + i * 7 % 26);
}

static void take_piece(struct taker *t, struct http_exchange *x, const char *bytes, size_t n)
{
	const struct http_box *b = (const struct http_box *)x;
	bool goes_on;

	for (size_t i = 0; i < n; i++)
		if (bytes[i] != byte_at(t->taken + i)) {
			test_fail(__FILE__, __LINE__, "byte %zu is wrong", t->taken + i);
			break;
		}
	if (b->piece.cap > t->most)
		t->most = b->piece.cap;
	t->taken += n;
	t->pieces++;
	goes_on = strcmp(x->request.path, "/refused") != 0 || t->pieces < REFUSED_AT;
	if (!goes_on) {
		x->reply.status = 507;
		buf_puts(&x->reply.body, "no more");
	}
	http_piece_done(x, goes_on);
}

static void *taker_work(void *arg)
{
	struct taker *t = arg;

	pthread_mutex_lock(&t->lock);
	while (!t->over || t->x) {
		struct http_exchange *x = t->x;

		if (!x || (t->held && !t->over)) {
			pthread_cond_wait(&t->change, &t->lock);
			continue;
		}
		t->x = NULL;
		pthread_mutex_unlock(&t->lock);
		take_piece(t, x, t->bytes, t->len);
		pthread_mutex_lock(&t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static bool has_piece(struct taker *t)
{
	bool has;

	pthread_mutex_lock(&t->lock);
	has = t->x != NULL;
	pthread_mutex_unlock(&t->lock);
	return has;
}

static void sink_piece(struct http_exchange *x, const char *bytes, size_t n)
{
	struct taker *t = x->data;

	pthread_mutex_lock(&t->lock);
	CHECK(!t->x);
	t->x = x;
	t->bytes = bytes;
	t->len = n;
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
}

static void gave_back(void *data)
{
	((struct taker *)data)->given_back++;
}

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	x->data = ctx;
	if (strcmp(x->request.path, "/file") == 0)
		return HTTP_GO_ON;
	x->sink = sink_piece;
	x->max_body = strcmp(x->request.path, "/short") == 0 ? 1000 : 64 * 1024 * 1024;
	arena_defer(&x->arena, gave_back, ctx);
	return HTTP_GO_ON;
}

static void warm_file(struct http_exchange *x, int fd, uint64_t at, uint64_t len)
{
	struct taker *t = x->data;
	char *bytes = malloc(len);

	CHECK(pread(fd, bytes, len, (off_t)at) >= 0);
	free(bytes);
	t->warmed++;
	http_piece_done(x, true);
}

static void answer_file(struct taker *t, struct http_exchange *x)
{
	const char *q = x->request.query;
	bool head = x->request.method == METHOD_HEAD;

	x->reply.status = 200;
	x->reply.type = "text/plain";
	x->reply.file = arena_new(&x->arena, struct http_file);
	*x->reply.file = (struct http_file){
		.fd = head ? -1 : open(t->file, O_RDONLY | O_CLOEXEC),
		.at = *q ? strtoull(q, NULL, 10) : 0,
		.len = strchr(q, '-') ? strtoull(strchr(q, '-') + 1, NULL, 10) : t->file_len,
		.warm = warm_file,
	};
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	struct taker *t = ctx;

	if (strcmp(x->request.path, "/file") == 0) {
		answer_file(t, x);
		return HTTP_REPLIED;
	}
	t->requests++;
	CHECK_INT(x->request.body_len, 0);
	x->reply.status = 200;
	buf_printf(&x->reply.body, "took %zu", (size_t)t->taken);
	t->taken = 0;
	return HTTP_REPLIED;
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	x->reply.status = error_row(err)->status;
	buf_puts(&x->reply.body, sentence);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	struct taker *t = ctx;

	(void)x;
	atomic_fetch_add(complete ? &t->fixture.sent : &t->fixture.dropped, 1);
}

static struct http_handler handler_of(struct taker *t)
{
	return (struct http_handler){
		.head = on_head, .request = on_request, .fault = on_fault, .sent = on_sent, .ctx = t
	};
}

static void taker_init(struct taker *t)
{
	*t = (struct taker){ .file = "/tmp/lodge-test-file.XXXXXX", .file_len = LARGE };
	char *bytes = malloc(LARGE);
	int fd = mkstemp(t->file);

	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = byte_at(i);
	CHECK_INT(write(fd, bytes, LARGE), LARGE);
	close(fd);
	free(bytes);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->change, NULL);
	pthread_create(&t->thread, NULL, taker_work, t);
}

static void taker_fini(struct taker *t)
{
	pthread_mutex_lock(&t->lock);
	t->over = true;
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	unlink(t->file);
}

static void taker_open(struct taker *t, const struct http_limits *limits)
{
	struct http_settings settings = { .listen = "127.0.0.1:0", .loops = 1, .limits = *limits };
	struct http_handler handler;
	struct problem p = { 0 };

	taker_init(t);
	handler = handler_of(t);
	CHECK_INT(
		http_server_new(&t->fixture.server, &settings, &handler, &t->fixture.arena, &p), 0);
	CHECK_INT(http_server_start(t->fixture.server), 0);
}

static void hold_taker(struct taker *t, bool held)
{
	pthread_mutex_lock(&t->lock);
	t->held = held;
	pthread_cond_broadcast(&t->change);
	pthread_mutex_unlock(&t->lock);
}

static void taker_close(struct taker *t)
{
	hold_taker(t, false);
	http_server_stop(t->fixture.server, PATIENCE_MS);
	http_server_free(t->fixture.server);
	taker_fini(t);
	arena_free(&t->fixture.arena);
}

static char *large_body(size_t n)
{
	char *bytes = malloc(n + 1);

	for (size_t i = 0; i < n; i++)
		bytes[i] = byte_at(i);
	bytes[n] = '\0';
	return bytes;
}

/* All of it, however slowly it is taken; false if the server closes. */
static bool send_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t put = send(fd, bytes, n, MSG_NOSIGNAL);

		if (put <= 0)
			return false;
		bytes += put;
		n -= (size_t)put;
	}
	return true;
}

static void send_head(int fd, const char *path, size_t n)
{
	char head[200];

	snprintf(head, sizeof head, "PUT %s HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n",
		path, n);
	CHECK(http_fixture_say(fd, head));
}

static void new_buf(struct buf *in)
{
	buf_init(in, 16 * 1024 * 1024);
}

TEST(http_body_is_handed_on_in_pieces)
{
	struct taker t;
	struct buf in;
	char *body = large_body(LARGE);
	int fd;

	taker_open(&t, &fixture_limits);
	new_buf(&in);
	fd = http_fixture_dial(&t.fixture);
	send_head(fd, "/", LARGE);
	CHECK(send_all(fd, body, LARGE));
	CHECK(http_fixture_hear(fd, &in, "took 3145735"));
	/* And in chunks, on the same connection; and none at all. */
	CHECK(http_fixture_say(
		fd, "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"));
	for (size_t at = 0; at < LARGE;) {
		size_t n = LARGE - at < 70001 ? LARGE - at : 70001;
		char line[32];

		snprintf(line, sizeof line, "%zx\r\n", n);
		CHECK(http_fixture_say(fd, line) && send_all(fd, body + at, n) &&
			http_fixture_say(fd, "\r\n"));
		at += n;
	}
	CHECK(http_fixture_say(fd, "0\r\n\r\n"));
	in.len = 0;
	CHECK(http_fixture_hear(fd, &in, "took 3145735"));
	in.len = 0;
	send_head(fd, "/", 0);
	CHECK(http_fixture_hear(fd, &in, "took 0"));
	CHECK_INT(t.requests, 3);
	CHECK(t.most <= 2 * HTTP_PIECE);
	close(fd);
	taker_close(&t);
	CHECK_INT(t.given_back, 3);
	buf_free(&in);
	free(body);
}

TEST(http_body_asks_for_what_waits_and_takes_what_fits)
{
	struct taker t;
	struct buf in;
	int fd;

	taker_open(&t, &fixture_limits);
	new_buf(&in);
	fd = http_fixture_dial(&t.fixture);
	CHECK(http_fixture_say(fd,
		"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
	CHECK(http_fixture_hear(fd, &in, "100 Continue\r\n\r\n"));
	CHECK(http_fixture_say(fd, "aho"));
	CHECK(http_fixture_hear(fd, &in, "took 3"));
	close(fd);
	in.len = 0;
	http_fixture_ask(
		&t.fixture, "PUT /short HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", &in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 413"));
	/* Over several chunks, of which each would fit. */
	in.len = 0;
	http_fixture_ask(&t.fixture,
		"PUT /short HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\naho\r\n3e7\r\n",
		&in);
	CHECK(http_fixture_starts(&in, "HTTP/1.1 413"));
	taker_close(&t);
	buf_free(&in);
}

/* Waits until the sender cannot get rid of more. */
static size_t send_until_stuck(int fd, const char *body, size_t n)
{
	size_t sent = 0;

	for (int idle = 0; sent < n && idle < 10;) {
		ssize_t put = send(fd, body + sent, n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		idle = put > 0 ? 0 : idle + 1;
		sent += put > 0 ? (size_t)put : 0;
		if (put <= 0)
			poll(NULL, 0, 20);
	}
	return sent;
}

TEST(http_body_waits_for_a_slow_taker)
{
	enum { MUCH = 48 * 1024 * 1024 };
	struct taker t;
	struct buf in;
	char *body = large_body(MUCH);
	size_t sent;
	int fd;

	taker_open(&t, &fixture_limits);
	new_buf(&in);
	hold_taker(&t, true);
	fd = http_fixture_dial(&t.fixture);
	send_head(fd, "/", MUCH);
	sent = send_until_stuck(fd, body, MUCH);
	/* What is in the kernel's hands is the kernel's matter; but not all of it is with us. */
	CHECK(sent < MUCH);
	CHECK_INT(t.taken, 0);
	hold_taker(&t, false);
	CHECK(send_all(fd, body + sent, MUCH - sent));
	CHECK(http_fixture_hear(fd, &in, "took 50331648"));
	CHECK(t.most <= 2 * HTTP_PIECE);
	close(fd);
	taker_close(&t);
	buf_free(&in);
	free(body);
}

TEST(http_body_is_refused_in_the_middle)
{
	struct taker t;
	struct buf in;
	char *body = large_body(LARGE);
	int fd;

	taker_open(&t, &fixture_limits);
	new_buf(&in);
	fd = http_fixture_dial(&t.fixture);
	send_head(fd, "/refused", LARGE);
	send_all(fd, body, LARGE);
	CHECK(!http_fixture_hear(fd, &in, NULL));
	CHECK(http_fixture_starts(&in, "HTTP/1.1 507"));
	CHECK(http_fixture_contains(&in, "Connection: close"));
	CHECK_INT(t.requests, 0);
	CHECK_INT(t.pieces, REFUSED_AT);
	close(fd);
	taker_close(&t);
	CHECK_INT(t.given_back, 1);
	buf_free(&in);
	free(body);
}

TEST(http_body_of_a_sender_who_goes_is_given_back)
{
	struct taker t;
	char *body = large_body(LARGE);
	int fd;

	taker_open(&t, &fixture_limits);
	/* Between two pieces. */
	fd = http_fixture_dial(&t.fixture);
	send_head(fd, "/", LARGE);
	CHECK(send_all(fd, body, HTTP_PIECE + 100));
	for (int i = 0; i < PATIENCE_MS / 10 && !t.pieces; i++)
		poll(NULL, 0, 10);
	close(fd);
	http_fixture_await(&t.fixture.sent, 1); /* it is told so, heard or not */
	t.taken = 0;
	/* And while the first is being taken. */
	hold_taker(&t, true);
	fd = http_fixture_dial(&t.fixture);
	send_head(fd, "/", LARGE);
	CHECK(send_all(fd, body, HTTP_PIECE + 100));
	for (int i = 0; i < PATIENCE_MS / 10 && !has_piece(&t); i++)
		poll(NULL, 0, 10);
	CHECK(has_piece(&t));
	close(fd);
	hold_taker(&t, false);
	http_fixture_await(&t.fixture.dropped, 1);
	taker_close(&t);
	CHECK_INT(t.given_back, 2);
	CHECK_INT(t.requests, 0);
	free(body);
}

TEST(http_body_that_stops_coming_is_told_so)
{
	struct http_limits limits = fixture_limits;
	struct taker t;
	struct buf in;
	char *body = large_body(LARGE);
	int fd;

	limits.body_ms = 300;
	taker_open(&t, &limits);
	new_buf(&in);
	hold_taker(&t,
		true); /* a piece is with the taker: another exchange is answered in its place */
	fd = http_fixture_dial(&t.fixture);
	send_head(fd, "/", LARGE);
	CHECK(send_all(fd, body, HTTP_PIECE + 100));
	CHECK(http_fixture_hear(fd, &in, "\r\n\r\n"));
	CHECK(http_fixture_starts(&in, "HTTP/1.1 408"));
	CHECK_INT(t.given_back, 0);
	hold_taker(&t, false);
	http_fixture_await(&t.fixture.dropped, 1);
	close(fd);
	taker_close(&t);
	CHECK_INT(t.given_back, 1);
	buf_free(&in);
	free(body);
}

TEST(http_body_through_the_server_without_sockets)
{
	struct taker t;
	struct http_handler handler;
	struct http_inproc *d;
	struct buf in;
	char *body = large_body(LARGE);
	const char *head = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3145735\r\n\r\n";

	taker_init(&t);
	handler = handler_of(&t);
	d = http_inproc_new(&fixture_limits, &handler);
	new_buf(&in);
	CHECK(http_inproc_send(d, head, strlen(head), &in));
	CHECK(http_inproc_send(d, body, LARGE, &in));
	CHECK(http_fixture_contains(&in, "took 3145735"));
	in.len = 0;
	CHECK(http_inproc_send(d, GET("/file"), strlen(GET("/file")), &in));
	CHECK(in.len > LARGE && memcmp(in.at + in.len - LARGE, body, LARGE) == 0);
	http_inproc_free(d);
	taker_fini(&t);
	buf_free(&in);
	free(body);
}

/* The last n bytes that were heard are the file's from `from` on. */
static bool ends_with_file(struct buf *in, size_t from, size_t n)
{
	if (in->len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (in->at[in->len - n + i] != byte_at(from + i))
			return false;
	return true;
}

TEST(http_file_is_sent_whole_in_part_and_not_at_all)
{
	struct taker t;
	struct buf in;

	taker_open(&t, &fixture_limits);
	new_buf(&in);
	http_fixture_ask(&t.fixture, GET_CLOSE("/file"), &in);
	CHECK(http_fixture_contains(&in, "Content-Length: 3145735\r\n"));
	CHECK(ends_with_file(&in, 0, LARGE));
	in.len = 0;
	http_fixture_ask(&t.fixture, GET("/file?100-50") GET_CLOSE("/file?3145730-5"), &in);
	CHECK_INT(http_fixture_count(&in, "HTTP/1.1 200"), 2);
	CHECK(ends_with_file(&in, 3145730, 5));
	in.len = 0;
	http_fixture_ask(
		&t.fixture, "HEAD /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", &in);
	CHECK(http_fixture_contains(&in, "Content-Length: 3145735\r\n"));
	CHECK(in.len < 1000);
	/* Shorter than was said: whoever counts sees that it is not whole. */
	in.len = 0;
	http_fixture_ask(&t.fixture, GET("/file?0-3145736"), &in);
	CHECK(ends_with_file(&in, 0, LARGE));
	http_fixture_await(&t.fixture.dropped, 1);
	taker_close(&t);
	buf_free(&in);
}

/* Whether nothing of it is in memory, once it has been asked to go. */
static bool is_cold(int fd)
{
	enum { PAGES = LARGE / 4096 + 1 };
	unsigned char in[PAGES] = { 0 };
	void *map = mmap(NULL, LARGE, PROT_READ, MAP_SHARED, fd, 0);
	size_t there = 0;

	if (map == MAP_FAILED || mincore(map, LARGE, in))
		there = PAGES;
	for (size_t i = 0; i < PAGES; i++)
		there += in[i] & 1;
	if (map != MAP_FAILED)
		munmap(map, LARGE);
	return !there;
}

TEST(http_file_that_is_not_in_memory_is_read_elsewhere)
{
	struct taker t;
	struct buf in;
	bool cold = false;
	int fd;

	taker_open(&t, &fixture_limits);
	new_buf(&in);
	fd = open(t.file, O_RDONLY | O_CLOEXEC);
	CHECK_INT(fsync(fd), 0);
	for (int i = 0; i < 20 && !cold; i++) { /* a file system that lives in memory never is */
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		cold = is_cold(fd);
		if (!cold)
			poll(NULL, 0, 10);
	}
	http_fixture_ask(&t.fixture, GET_CLOSE("/file"), &in);
	CHECK(ends_with_file(&in, 0, LARGE));
	if (cold)
		CHECK(t.warmed > 0);
	close(fd);
	taker_close(&t);
	buf_free(&in);
}
