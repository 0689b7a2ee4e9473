/* test_http_door.c - the server without sockets, and what can be seen best through it: gzip. */
#include "t.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

#include "http/http.h"

struct hall {
	int begun, ended, sent, dropped, faults;
	pthread_t worker;
	bool working;
	struct http_exchange *parked;
};

static void *finish_soon(void *arg)
{
	struct http_exchange *x = arg;

	x->reply.status = 202;
	buf_lit(&x->reply.body, "later");
	http_finish(x);
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
	struct hall *h = ctx;
	const struct http_request *r = &x->request;

	if (strcmp(r->path, "/thread") == 0) {
		if (h->working)
			pthread_join(h->worker, NULL);
		h->working = pthread_create(&h->worker, NULL, finish_soon, x) == 0;
		return HTTP_KEPT;
	}
	if (strcmp(r->path, "/self") == 0) { /* finished before it is kept: also allowed */
		finish_soon(x);
		return HTTP_KEPT;
	}
	if (strcmp(r->path, "/parked") == 0) {
		h->parked = x;
		return HTTP_KEPT;
	}
	x->reply.status = strcmp(r->path, "/404") == 0 ? 404 : 200;
	x->reply.type =
		strcmp(r->path, "/png") == 0 ? "image/png" : "application/json; charset=utf-8";
	buf_printf(&x->reply.body, "[%s %zu", r->path, r->body_len);
	if (strcmp(r->path, "/short") != 0)
		for (int i = 0; i < 400; i++)
			buf_printf(&x->reply.body, ",%d", i);
	buf_lit(&x->reply.body, "]");
	http_gzip(x);
	return HTTP_REPLIED;
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	struct hall *h = ctx;

	h->faults++;
	x->reply.status = error_row(err)->status;
	buf_puts(&x->reply.body, sentence);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	struct hall *h = ctx;

	CHECK(x->request.peer.loopback);
	h->sent += complete;
	h->dropped += !complete;
}

static void on_begin(void *ctx, struct http_loop *loop)
{
	((struct hall *)ctx)->begun++;
	CHECK_INT(http_loop_index(loop), 0);
}

static void on_end(void *ctx, struct http_loop *loop)
{
	(void)loop;
	((struct hall *)ctx)->ended++;
}

static struct http_inproc *open_inproc(struct hall *h, int deferred_ms)
{
	struct http_limits limits = { .max_head = 4096,
		.max_headers = 16,
		.max_body = 1000,
		.header_ms = 1,
		.body_ms = 1,
		.idle_ms = 1,
		.reply_ms = 1,
		.deferred_ms = deferred_ms };
	struct http_handler handler = { on_head, on_request, on_fault, on_sent, NULL, NULL,
		on_begin, on_end, h };

	*h = (struct hall){ 0 };
	return http_inproc_new(&limits, &handler);
}

static void close_inproc(struct hall *h, struct http_inproc *d)
{
	if (h->working)
		pthread_join(h->worker, NULL);
	http_inproc_free(d);
	CHECK_INT(h->begun, 1);
	CHECK_INT(h->ended, 1);
}

static bool send_text(struct http_inproc *d, const char *text, struct buf *out)
{
	bool open;

	out->len = 0;
	open = http_inproc_send(d, text, strlen(text), out);
	buf_putc(out, '\0');
	out->len--;
	return open;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"

TEST(http_inproc_serves)
{
	struct hall h;
	struct http_inproc *d = open_inproc(&h, 10000);
	struct buf out;
	int count = 0;

	buf_init(&out, 8 << 20);
	test_step("in one piece and in many");
	CHECK(send_text(d, GET("/short"), &out));
	CHECK(strstr(out.at, "\r\n\r\n[/short 0]"));
	CHECK(send_text(d, "POST /short HTTP/1.1\r\nHost: a\r\nConte", &out));
	CHECK_INT(out.len, 0);
	CHECK(send_text(d, "nt-Length: 3\r\n\r\na", &out));
	CHECK_INT(out.len, 0);
	CHECK(send_text(d, "bc" GET("/next"), &out));
	CHECK(strstr(out.at, "\r\n\r\n[/short 3]HTTP/1.1 200 OK\r\n"));
	test_step("kept exchanges are waited for");
	CHECK(send_text(d, GET("/self") GET("/thread") GET("/short"), &out));
	for (const char *at = out.at; (at = strstr(at, "HTTP/1.1 202 Accepted\r\n")); at++)
		count++;
	CHECK_INT(count, 2);
	CHECK(strstr(out.at, "\r\n\r\n[/short 0]"));
	test_step("the server closes; the next bytes open anew");
	CHECK(!send_text(d, "nonsense\r\n", &out));
	CHECK(strstr(out.at, "HTTP/1.1 400 Bad Request\r\n"));
	CHECK(send_text(d, GET("/short"), &out));
	test_step("the client closes");
	CHECK(send_text(d, "GET / HT", &out));
	out.len = 0;
	CHECK(!http_inproc_half_close(d, &out));
	CHECK(out.len && strncmp(out.at, "HTTP/1.1 400 ", 13) == 0);
	out.len = 0;
	CHECK(!http_inproc_half_close(d, &out));
	CHECK_INT(out.len, 0);
	CHECK(send_text(
		d, "POST /short HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc", &out));
	close_inproc(&h, d);
	CHECK_INT(h.dropped, 1);
	CHECK_INT(h.faults, 2);
	buf_free(&out);
}

TEST(http_inproc_gives_up_on_parked)
{
	struct hall h;
	struct http_inproc *d = open_inproc(&h, 20);
	struct buf out;

	buf_init(&out, 1 << 20);
	CHECK(!send_text(d, GET("/parked") GET("/never"), &out));
	CHECK(strncmp(out.at, "HTTP/1.1 504 ", 13) == 0);
	CHECK(!strstr(out.at, "never"));
	CHECK_INT(h.sent, 1);
	finish_soon(h.parked);
	CHECK(send_text(d, GET("/short"), &out));
	CHECK_INT(h.sent, 2);
	CHECK_INT(h.dropped, 1);
	close_inproc(&h, d);
	buf_free(&out);
}

/* The body of the one reply in out, unpacked if it is packed. */
static size_t unpack(const struct buf *out, char *into, size_t room)
{
	const char *body = memmem(out->at, out->len, "\r\n\r\n", 4);
	z_stream z = { 0 };
	size_t n;

	if (!body)
		return 0;
	body += 4;
	z.next_in = (unsigned char *)body;
	z.avail_in = (unsigned)(out->at + out->len - body);
	z.next_out = (unsigned char *)into;
	z.avail_out = (unsigned)room;
	inflateInit2(&z, 15 + 16);
	CHECK_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK_INT(z.avail_in, 0);
	n = z.total_out;
	inflateEnd(&z);
	return n;
}

TEST(http_inproc_gzip)
{
	static const struct {
		const char *path, *accept;
		bool packed, vary;
	} rows[] = {
		{ "/a", "gzip", true, true },
		{ "/a", "deflate, GZIP;q=0.5", true, true },
		{ "/a", "gzip ; q=1.000", true, true },
		{ "/a", "*", true, true },
		{ "/a", "*;q=0.1", true, true },
		{ "/a", "x-gzip", true, true },
		{ "/a", "gzip;q=0", false, true },
		{ "/a", "gzip;q=0.000, *", false, true },
		{ "/a", "*;q=0", false, true },
		{ "/a", "gzip;q=2", false, true },
		{ "/a", "gzip;q=0.0001", false, true },
		{ "/a", "gzip;x=1", false, true },
		{ "/a", "gzipped, br", false, true },
		{ "/a", "", false, true },
		{ "/short", "gzip", false, false },
		{ "/png", "gzip", false, false },
		{ "/404", "gzip", false, false },
	};
	struct hall h;
	struct http_inproc *d = open_inproc(&h, 1000);
	struct buf out;
	char request[256], plain[8192];

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		test_step("%s %s", rows[i].path, rows[i].accept);
		snprintf(request, sizeof request,
			"GET %s HTTP/1.1\r\nHost: a\r\nAccept-Encoding: %s\r\n\r\n", rows[i].path,
			rows[i].accept);
		CHECK(send_text(d, request, &out));
		CHECK_INT(strstr(out.at, "\r\nContent-Encoding: gzip\r\n") != NULL, rows[i].packed);
		CHECK_INT(strstr(out.at, "\r\nVary: Accept-Encoding\r\n") != NULL, rows[i].vary);
		if (rows[i].packed) {
			size_t n = unpack(&out, plain, sizeof plain);

			CHECK_INT(n, 1496);
			CHECK(n && strncmp(plain, "[/a 0,0,1,2,3,", 14) == 0 &&
				plain[n - 1] == ']');
			CHECK(out.len < 1496);
		}
	}
	close_inproc(&h, d);
	buf_free(&out);
}
