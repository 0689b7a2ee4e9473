/* test_http_stream.c - replies that are sent while they are made: over a socket, with peers that are
 * slow, deaf or dead, and through the in-process server. */
#include "http_fixture.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/conn.h"

enum { PIECE = 16 * 1024, SMALL_WAIT_MS = 200 };

/* The maker: a thread for each exchange, which writes `total` bytes and waits when it is told to. */
struct maker {
	struct http_fixture fixture; /* for its client and its server */
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct http_exchange *x;
	int rooms;    /* told to go on and not yet gone on */
	size_t total; /* bytes to write; the test may hold it back by `allowed` */
	size_t allowed;
	_Atomic bool not_whole;
	_Atomic size_t written;
	_Atomic bool parked; /* waiting for room */
	_Atomic int gone, makers, done;
	_Atomic size_t most; /* bytes the two buffers have taken, as seen when parked */
	struct memory_account house, account;
	pthread_t thread;
};

static struct maker *maker_of(struct http_exchange *x)
{
	return x->data;
}

static void allow_room(struct maker *m)
{
	pthread_mutex_lock(&m->lock);
	m->rooms++;
	pthread_cond_broadcast(&m->change);
	pthread_mutex_unlock(&m->lock);
}

static void on_room(struct http_exchange *x)
{
	struct maker *m = maker_of(x);
	const struct http_box *b = (const struct http_box *)x; /* the maker waits: nobody writes */
	size_t held = b->stream.waiting.cap + x->reply.body.cap;

	if (held > m->most)
		m->most = held;
	allow_room(m);
}

static void await_room(struct maker *m)
{
	pthread_mutex_lock(&m->lock);
	m->parked = true;
	while (!m->rooms)
		pthread_cond_wait(&m->change, &m->lock);
	m->rooms--;
	m->parked = false;
	pthread_mutex_unlock(&m->lock);
}

static size_t await_allowed(struct maker *m)
{
	size_t n;

	pthread_mutex_lock(&m->lock);
	while (m->written >= m->allowed)
		pthread_cond_wait(&m->change, &m->lock);
	n = m->allowed - m->written;
	pthread_mutex_unlock(&m->lock);
	return n;
}

static void allow(struct maker *m, size_t bytes)
{
	pthread_mutex_lock(&m->lock);
	m->allowed = bytes;
	pthread_cond_broadcast(&m->change);
	pthread_mutex_unlock(&m->lock);
}

static void *make(void *arg)
{
	struct maker *m = arg;
	struct http_exchange *x = m->x;
	static const char piece[PIECE] = { [0 ... PIECE - 1] = 'x' };

	x->reply.status = 200;
	x->reply.type = "text/plain";
	if (http_stream_begin(x, on_room)) {
		while (m->written < m->total) {
			size_t n = await_allowed(m), left = m->total - m->written;
			enum http_flow flow;

			n = n < left ? n : left;
			n = n < PIECE ? n : PIECE;
			flow = http_stream_write(x, piece, n);
			m->written += n;
			if (flow == HTTP_STREAM_GONE) {
				m->gone++;
				break;
			}
			if (flow == HTTP_STREAM_FULL)
				await_room(m);
		}
	} else {
		m->gone++;
	}
	http_stream_end(x, !m->not_whole);
	m->done++;
	return NULL;
}

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	(void)x;
	return HTTP_GO_ON;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	struct maker *m = ctx;

	x->data = m;
	if (strcmp(x->request.path, "/stream") != 0) {
		http_fixture_answer(x);
		return HTTP_REPLIED;
	}
	m->x = x;
	if (m->makers++)
		pthread_join(m->thread, NULL);
	pthread_create(&m->thread, NULL, make, m);
	return HTTP_KEPT;
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	x->reply.status = error_row(err)->status;
	buf_puts(&x->reply.body, sentence);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	struct maker *m = ctx;

	(void)x;
	atomic_fetch_add(complete ? &m->fixture.sent : &m->fixture.dropped, 1);
}

static struct memory_account *on_account(void *ctx, struct http_exchange *x)
{
	(void)x;
	return &((struct maker *)ctx)->account;
}

static struct http_handler handler_of(struct maker *m)
{
	return (struct http_handler){ .head = on_head,
		.request = on_request,
		.fault = on_fault,
		.sent = on_sent,
		.account = on_account,
		.house = &m->house,
		.ctx = m };
}

static void maker_init(struct maker *m, size_t total)
{
	*m = (struct maker){ .total = total, .allowed = total };
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->change, NULL);
}

static void maker_open(struct maker *m, size_t total, const struct http_limits *limits)
{
	struct http_settings settings = { .listen = "127.0.0.1:0", .loops = 1, .limits = *limits };
	struct http_handler handler;
	struct problem p = { 0 };

	maker_init(m, total);
	handler = handler_of(m);
	CHECK_INT(
		http_server_new(&m->fixture.server, &settings, &handler, &m->fixture.arena, &p), 0);
	CHECK_INT(http_server_start(m->fixture.server), 0);
}

static void maker_close(struct maker *m)
{
	http_server_stop(m->fixture.server, PATIENCE_MS);
	if (m->makers)
		pthread_join(m->thread, NULL);
	http_server_free(m->fixture.server);
	arena_free(&m->fixture.arena);
	CHECK_INT(m->done, m->makers);
}

/* Waits until the maker has been parked for a while without getting on. */
static void await_parked(struct maker *m)
{
	size_t before;

	for (int i = 0; i < PATIENCE_MS / 50; i++) {
		before = m->written;
		poll(NULL, 0, 50);
		if (m->parked && m->written == before && before)
			return;
	}
	test_fail(__FILE__, __LINE__, "the maker was never told to wait");
}

/* The bytes of the chunks, joined; *ret_whole says if their end came. */
static size_t dechunk(struct buf *in, bool *ret_whole)
{
	const char *at = strstr(http_fixture_text(in), "\r\n\r\n") + 4, *end = in->at + in->len;
	size_t sum = 0;

	*ret_whole = false;
	while (at < end) {
		char *next;
		size_t n = strtoul(at, &next, 16);

		*ret_whole = n == 0;
		sum += n;
		at = next + 2 + n + 2;
	}
	return sum;
}

TEST(http_stream_sends_chunks_and_keeps_the_connection)
{
	struct maker m;
	struct buf in;
	bool whole;
	int fd;

	maker_open(&m, 300 * 1000, &fixture_limits);
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 64 << 20);
	http_fixture_say(fd, GET("/stream"));
	CHECK(http_fixture_hear(fd, &in, "\r\n0\r\n\r\n"));
	CHECK(http_fixture_contains(&in, "Transfer-Encoding: chunked\r\n"));
	CHECK(!http_fixture_contains(&in, "Content-Length"));
	CHECK_INT(dechunk(&in, &whole), 300 * 1000);
	CHECK(whole);
	in.len = 0;
	http_fixture_say(fd, GET_CLOSE("/after"));
	http_fixture_hear(fd, &in, NULL);
	CHECK(http_fixture_contains(&in, "GET /after"));
	close(fd);
	http_fixture_await(&m.fixture.sent, 2);
	buf_free(&in);
	maker_close(&m);
}

TEST(http_stream_answers_head_and_what_waits_behind_it)
{
	struct maker m;
	struct buf in;

	maker_open(&m, 1000, &fixture_limits);
	buf_init(&in, 1 << 20);
	http_fixture_ask(
		&m.fixture, "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" GET_CLOSE("/after"), &in);
	CHECK(http_fixture_contains(&in, "Transfer-Encoding: chunked\r\n"));
	CHECK(!http_fixture_contains(&in, "xxx"));
	CHECK_INT(http_fixture_count(&in, "HTTP/1.1 200"), 2);
	CHECK(http_fixture_contains(&in, "GET /after"));
	buf_free(&in);
	http_fixture_await(&m.fixture.sent, 2);
	maker_close(&m);
}

TEST(http_stream_ends_with_the_connection_in_1_0)
{
	struct maker m;
	struct buf in;

	maker_open(&m, 100 * 1000, &fixture_limits);
	buf_init(&in, 1 << 20);
	http_fixture_ask(&m.fixture, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &in);
	CHECK(!fixture_was_reset);
	CHECK(http_fixture_contains(&in, "Connection: close\r\n"));
	CHECK(!http_fixture_contains(&in, "chunked") &&
		!http_fixture_contains(&in, "Content-Length"));
	CHECK_INT(in.len - (size_t)(strstr(http_fixture_text(&in), "\r\n\r\n") + 4 - in.at),
		100 * 1000);
	test_step("one that is not whole");
	m.not_whole = true;
	m.written = 0;
	http_fixture_ask(&m.fixture, "GET /stream HTTP/1.0\r\n\r\n", &in);
	CHECK(fixture_was_reset);
	buf_free(&in);
	http_fixture_await(&m.fixture.dropped, 1);
	maker_close(&m);
}

TEST(http_stream_that_is_not_whole_has_no_end)
{
	struct maker m;
	struct buf in;
	bool whole;

	maker_open(&m, 100 * 1000, &fixture_limits);
	m.not_whole = true;
	buf_init(&in, 1 << 20);
	http_fixture_ask(&m.fixture, GET("/stream"), &in);
	CHECK_INT(dechunk(&in, &whole), 100 * 1000);
	CHECK(!whole);
	buf_free(&in);
	http_fixture_await(&m.fixture.dropped, 1);
	maker_close(&m);
}

TEST(http_stream_waits_for_a_slow_peer_in_bounded_memory)
{
	enum { TOTAL = 64 << 20, IN_KERNEL = 16 << 20 };
	struct maker m;
	struct buf in;
	size_t before;
	bool whole;
	int fd;

	maker_open(&m, TOTAL, &fixture_limits);
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 80 << 20);
	http_fixture_say(fd, GET_CLOSE("/stream"));
	await_parked(&m);
	CHECK(m.written < IN_KERNEL);
	before = m.written;
	for (size_t got = 0; got < 1 << 20;) { /* a little, and it goes on a little */
		ssize_t n;

		buf_room(&in, PIECE);
		n = recv(fd, in.at + in.len, PIECE, 0);
		CHECK(n > 0);
		in.len += (size_t)n;
		got += (size_t)n;
	}
	await_parked(&m);
	CHECK(m.written >= before && m.written < before + (8 << 20));
	http_fixture_hear(fd, &in, NULL);
	CHECK_INT(dechunk(&in, &whole), TOTAL);
	CHECK(m.most && m.most <= 4 * (HTTP_STREAM_HIGH + PIECE));
	CHECK(whole);
	close(fd);
	buf_free(&in);
	http_fixture_await(&m.fixture.sent, 1);
	maker_close(&m);
}

/* The two buffers are charged to whoever asks, and given back. */
TEST(http_stream_is_charged_for_what_waits)
{
	enum { TOTAL = 32 << 20 };
	struct maker m;
	struct buf in;
	int fd;

	maker_open(&m, TOTAL, &fixture_limits);
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 40 << 20);
	http_fixture_say(fd, GET_CLOSE("/stream"));
	await_parked(&m);
	CHECK(m.account.held >= HTTP_STREAM_HIGH && m.account.held < 1 << 20);
	http_fixture_hear(fd, &in, NULL);
	http_fixture_await(&m.fixture.sent, 1);
	CHECK(m.account.held == 0);
	close(fd);
	buf_free(&in);
	maker_close(&m);
}

/* Nothing waits and all was sent: the open stream keeps two small buffers, and what it was charged for more is given back. */
TEST(http_stream_gives_back_at_rest)
{
	enum { FIRST = 2 << 20, TOTAL = 4 << 20 };
	int64_t until = clock_mono_ms() + 15000;
	struct maker m;
	struct buf in;
	int fd;

	maker_open(&m, TOTAL, &fixture_limits);
	m.allowed = FIRST;
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 40 << 20);
	http_fixture_say(fd, GET_CLOSE("/stream"));
	while (in.len < FIRST) {
		ssize_t n;

		buf_room(&in, PIECE);
		n = recv(fd, in.at + in.len, PIECE, 0);
		CHECK(n > 0);
		in.len += (size_t)n;
	}
	CHECK(m.account.peak >= HTTP_STREAM_HIGH);
	while (m.account.held > HTTP_STREAM_HIGH && clock_mono_ms() < until)
		usleep(1000);
	CHECK(m.account.held <= HTTP_STREAM_HIGH);
	allow(&m, TOTAL);
	http_fixture_hear(fd, &in, NULL);
	CHECK(in.len > TOTAL && memcmp(in.at + in.len - 7, "\r\n0\r\n\r\n", 7) == 0);
	http_fixture_await(&m.fixture.sent, 1);
	CHECK(m.account.held == 0);
	close(fd);
	buf_free(&in);
	maker_close(&m);
}

/* Where there is no room for them, one piece waits at a time; the stream is whole all the same. */
TEST(http_stream_waits_where_there_is_no_room)
{
	enum { TOTAL = 32 << 20 };

	for (int full = 0; full < 3; full++) {
		struct maker m;
		struct buf in;
		int fd;

		test_step("the %s is full", full == 2 ? "account" : full ? "house" : "kernel");
		maker_open(&m, TOTAL, &fixture_limits);
		m.house.max = m.account.max = 1 << 30;
		if (full == 1)
			m.house = (struct memory_account){ .held = 1000, .max = 999 };
		if (full == 2)
			m.account = (struct memory_account){ .held = 1 << 20, .max = 80 * 1024 };
		fd = http_fixture_dial(&m.fixture);
		buf_init(&in, 40 << 20);
		http_fixture_say(fd, GET_CLOSE("/stream"));
		await_parked(&m);
		http_fixture_hear(fd, &in, NULL);
		CHECK(in.len > TOTAL && memcmp(in.at + in.len - 7, "\r\n0\r\n\r\n", 7) == 0);
		if (full == 1)
			CHECK(m.most <= 4 * PIECE);
		else if (!full)
			CHECK(m.most > 4 * PIECE);
		close(fd);
		buf_free(&in);
		maker_close(&m);
	}
}

/* A word in between, which finds room again, does not take the place of what the maker waits for. */
TEST(http_stream_tells_of_room_whoever_wrote_meanwhile)
{
	enum { TOTAL = 32 << 20, BARRED = 256 << 20 };
	struct maker m;
	struct buf in;
	int64_t until;
	int fd;

	maker_open(&m, TOTAL, &fixture_limits);
	m.house = (struct memory_account){ .held = BARRED + 1, .max = BARRED };
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 40 << 20);
	http_fixture_say(fd, GET_CLOSE("/stream"));
	await_parked(&m);
	atomic_fetch_sub(&m.house.held, BARRED);
	until = clock_mono_ms() + PATIENCE_MS;
	while (http_stream_write(m.x, "y", 1) != HTTP_STREAM_OPEN && clock_mono_ms() < until)
		poll(NULL, 0, 1);
	http_fixture_hear(fd, &in, NULL);
	CHECK(in.len > TOTAL && memcmp(in.at + in.len - 7, "\r\n0\r\n\r\n", 7) == 0);
	close(fd);
	allow_room(&m); /* else it would wait for ever where the check fails */
	buf_free(&in);
	maker_close(&m);
}

TEST(http_stream_tells_its_maker_when_the_peer_dies)
{
	struct maker m;
	int fd;

	maker_open(&m, 64 << 20, &fixture_limits);
	fd = http_fixture_dial(&m.fixture);
	http_fixture_say(fd, GET("/stream"));
	await_parked(&m);
	close(fd);
	http_fixture_await(&m.gone, 1);
	http_fixture_await(&m.fixture.dropped, 1);
	test_step("while it has nothing to say");
	m.written = 0;
	allow(&m, 10);
	fd = http_fixture_dial(&m.fixture);
	http_fixture_say(fd, GET("/stream"));
	while (m.written < 10)
		poll(NULL, 0, 1);
	shutdown(fd, SHUT_RDWR);
	close(fd);
	for (size_t n = 20; m.gone < 2 && n < 100000; n += 10) {
		allow(&m, n);
		poll(NULL, 0, 1);
	}
	CHECK_INT(m.gone, 2);
	http_fixture_await(&m.fixture.dropped, 2);
	maker_close(&m);
}

TEST(http_stream_cuts_off_a_deaf_peer)
{
	struct http_limits limits = fixture_limits;
	struct maker m;
	int fd;

	limits.reply_ms = SMALL_WAIT_MS;
	maker_open(&m, 64 << 20, &limits);
	fd = http_fixture_dial(&m.fixture);
	http_fixture_say(fd, GET("/stream"));
	http_fixture_await(&m.gone, 1);
	http_fixture_await(&m.fixture.dropped, 1);
	CHECK_INT(http_server_stats(m.fixture.server).timeouts, 1);
	close(fd);
	maker_close(&m);
}

TEST(http_stream_cuts_off_a_silent_maker)
{
	struct http_limits limits = fixture_limits;
	struct maker m;
	struct buf in;
	bool whole;
	int fd;

	limits.deferred_ms = SMALL_WAIT_MS;
	maker_open(&m, 1000, &limits);
	allow(&m, 10);
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 1 << 20);
	http_fixture_say(fd, GET("/stream"));
	http_fixture_hear(fd, &in, NULL);
	CHECK_INT(dechunk(&in, &whole), 10);
	CHECK(!whole);
	allow(&m, 1000);
	http_fixture_await(&m.gone, 1);
	close(fd);
	buf_free(&in);
	maker_close(&m);
}

/* Events: each is there before the next is made, and a maker may be silent for a while. */
TEST(http_stream_sends_each_event_at_once)
{
	struct http_limits limits = fixture_limits;
	struct maker m;
	struct buf in;
	int fd;

	limits.deferred_ms = limits.reply_ms = SMALL_WAIT_MS;
	maker_open(&m, 50, &limits);
	fd = http_fixture_dial(&m.fixture);
	buf_init(&in, 1 << 20);
	allow(&m, 10);
	http_fixture_say(fd, GET_CLOSE("/stream"));
	for (size_t n = 10; n <= 50; n += 10) {
		allow(&m, n);
		CHECK(http_fixture_hear(fd, &in, "a\r\nxxxxxxxxxx\r\n"));
		if (n < 50)
			in.len = 0;
		poll(NULL, 0, SMALL_WAIT_MS / 2);
	}
	http_fixture_hear(fd, &in, NULL);
	CHECK(http_fixture_contains(&in, "\r\n0\r\n\r\n"));
	close(fd);
	buf_free(&in);
	http_fixture_await(&m.fixture.sent, 1);
	maker_close(&m);
}

TEST(http_stream_ends_when_the_server_stops)
{
	struct maker m;
	int fd;

	maker_open(&m, 64 << 20, &fixture_limits);
	fd = http_fixture_dial(&m.fixture);
	http_fixture_say(fd, GET("/stream"));
	await_parked(&m);
	http_server_stop(m.fixture.server, 50);
	http_fixture_await(&m.gone, 1);
	close(fd);
	maker_close(&m);
}

TEST(http_stream_goes_through_the_door)
{
	struct http_handler handler;
	struct maker m;
	struct http_inproc *d;
	struct buf in;
	bool whole;

	maker_init(&m, 1 << 20);
	handler = handler_of(&m);
	d = http_inproc_new(&fixture_limits, &handler);
	buf_init(&in, 8 << 20);
	CHECK(http_inproc_send(d, GET("/stream"), strlen(GET("/stream")), &in));
	CHECK_INT(dechunk(&in, &whole), 1 << 20);
	CHECK(whole);
	in.len = 0;
	CHECK(http_inproc_send(d, GET("/after"), strlen(GET("/after")), &in));
	CHECK(http_fixture_contains(&in, "GET /after"));
	test_step("one that is not whole");
	in.len = 0;
	m.written = 0;
	m.not_whole = true;
	CHECK(!http_inproc_send(d, GET("/stream"), strlen(GET("/stream")), &in));
	dechunk(&in, &whole);
	CHECK(!whole);
	pthread_join(m.thread, NULL);
	http_inproc_free(d);
	buf_free(&in);
}
