/* http_fixture.c - see http_fixture.h. */
#include "http_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

static enum http_verdict keep(struct http_fixture *s, struct http_exchange *x, bool park)
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

static void hold(struct http_fixture *s)
{
	pthread_mutex_lock(&s->lock);
	s->holding = true;
	pthread_cond_broadcast(&s->change);
	while (!s->let_go)
		pthread_cond_wait(&s->change, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

void http_fixture_answer(struct http_exchange *x)
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
	struct http_fixture *s = ctx;

	if (strcmp(x->request.path, "/kept") == 0)
		return keep(s, x, false);
	if (strcmp(x->request.path, "/parked") == 0)
		return keep(s, x, true);
	if (strcmp(x->request.path, "/hold") == 0)
		hold(s);
	http_fixture_answer(x);
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
	struct http_fixture *s = ctx;

	(void)x;
	atomic_fetch_add(complete ? &s->sent : &s->dropped, 1);
}

static void on_begin(void *ctx, struct http_loop *loop)
{
	struct http_fixture *s = ctx;

	http_loop_set(loop, s);
	atomic_fetch_add(&s->begun, 1);
}

static void on_end(void *ctx, struct http_loop *loop)
{
	struct http_fixture *s = ctx;

	CHECK(http_loop_get(loop) == s);
	atomic_fetch_add(&s->ended, 1);
}

void *http_fixture_work(void *arg)
{
	struct http_fixture *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->over || s->kept_count) {
		struct http_exchange *x;

		if (!s->kept_count) {
			pthread_cond_wait(&s->change, &s->lock);
			continue;
		}
		x = s->kept[--s->kept_count];
		pthread_mutex_unlock(&s->lock);
		http_fixture_answer(x);
		http_finish(x);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

const struct http_limits fixture_limits = {
	.max_head = 16 * 1024,
	.max_headers = 64,
	.max_body = 8 * 1024 * 1024,
	.max_connections = 100,
	.header_ms = PATIENCE_MS,
	.body_ms = PATIENCE_MS,
	.idle_ms = PATIENCE_MS,
	.reply_ms = PATIENCE_MS,
	.deferred_ms = PATIENCE_MS,
};

struct http_settings loopback_settings(int loops)
{
	struct http_settings s = {
		.listen = "127.0.0.1:0", .loops = loops, .limits = fixture_limits
	};

	s.limits.max_body = 32 << 20;
	s.limits.max_connections = 2000;
	s.limits.deferred_ms = s.limits.patient_ms = 6 * PATIENCE_MS;
	return s;
}

int http_fixture_try(struct http_fixture *s, const struct http_limits *limits,
	const char *listen_on, const char *cert, const char *key, struct problem *p)
{
	struct http_settings settings = {
		.listen = listen_on, .tls_cert = cert, .tls_key = key, .loops = 2, .limits = *limits
	};
	struct http_handler handler = { on_head, on_request, on_fault, on_sent, NULL, NULL,
		on_begin, on_end, s };

	memset(s, 0, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	return http_server_new(&s->server, &settings, &handler, &s->arena, p);
}

void http_fixture_open(struct http_fixture *s, const struct http_limits *limits)
{
	struct problem p = { 0 };

	CHECK_INT(http_fixture_try(s, limits, "127.0.0.1:0", NULL, NULL, &p), 0);
	CHECK_INT(http_server_start(s->server), 0);
	CHECK_INT(s->begun, 2);
	pthread_create(&s->worker, NULL, http_fixture_work, s);
}

void http_fixture_close(struct http_fixture *s)
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
void http_fixture_await_parked(struct http_fixture *s, int n)
{
	pthread_mutex_lock(&s->lock);
	while (s->parked_count < n)
		pthread_cond_wait(&s->change, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

void http_fixture_await(_Atomic int *counter, int n)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(counter) < n; i++)
		poll(NULL, 0, 1);
	CHECK_INT(atomic_load(counter), n);
}

/* The client */

int http_fixture_dial(struct http_fixture *s)
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
bool http_fixture_say(int fd, const char *bytes)
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

bool fixture_was_reset;

/* Reads until the end, or until `until` stands in what came (never if NULL); false at the end. */
bool http_fixture_hear(int fd, struct buf *in, const char *until)
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
		fixture_was_reset = n < 0;
		if (n <= 0)
			return false;
		in->len += (size_t)n;
	}
}

const char *http_fixture_text(struct buf *in)
{
	buf_putc(in, '\0');
	in->len--;
	return in->at;
}

int http_fixture_count(struct buf *in, const char *what)
{
	int count = 0;

	for (const char *at = http_fixture_text(in); (at = strstr(at, what)); at++)
		count++;
	return count;
}

bool http_fixture_starts(struct buf *in, const char *with)
{
	return strncmp(http_fixture_text(in), with, strlen(with)) == 0;
}

bool http_fixture_contains(struct buf *in, const char *what)
{
	return strstr(http_fixture_text(in), what) != NULL;
}

/* Sends on a new connection and hears all until the server closes. */
void http_fixture_ask(struct http_fixture *s, const char *bytes, struct buf *in)
{
	int fd = http_fixture_dial(s);

	buf_free(in);
	buf_init(in, 64 << 20);
	http_fixture_say(fd, bytes);
	http_fixture_hear(fd, in, NULL);
	close(fd);
}
