/* fuzz_http.c - any bytes, through the in-process server: no crash, no reply too many, every reply well formed.
 *
 * The first byte says how the rest is cut into pieces, and whether the client
 * shuts its side in the end.  The handler keeps every other request and
 * finishes it on the spot.  Bodies of some paths are taken while they come,
 * until a piece begins with an x. */
#include "setup.h"

#include "http/http.h"

#define MUST(cond)                                                                               \
	do {                                                                                     \
		if (!(cond)) {                                                                   \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #cond); \
			abort();                                                                 \
		}                                                                                \
	} while (0)

enum { MAX_BODY = 5000, SINK_MAX = 1 << 20, MAX_SENT = 1 << 16 };

/* What became of each exchange, in order. */
static struct {
	int status;
	bool head_only;
} answered[MAX_SENT];
static size_t sent, heads, faults;

/* What has been handed on of a body. */
struct sunk {
	size_t bytes;
	bool broken;
};

static void take_piece(struct http_exchange *x, const char *bytes, size_t n)
{
	struct sunk *s = x->data;
	size_t sum = 0;

	MUST(n && n <= HTTP_PIECE && !s->broken);
	for (size_t i = 0; i < n; i++)
		sum += (unsigned char)bytes[i]; /* all of it can be read */
	s->bytes += n;
	MUST(s->bytes <= x->max_body && sum <= n * 255);
	s->broken = *bytes == 'x';
	if (s->broken)
		x->reply.status = 507;
	http_piece_done(x, !s->broken);
}

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	const struct http_request *r = &x->request;

	(void)ctx;
	heads++;
	MUST(r->path[0] == '/' || (r->path[0] == '*' && r->path_len == 1));
	MUST(strlen(r->path) == r->path_len && strlen(r->query) == r->query_len);
	for (size_t i = 0; i < r->header_count; i++)
		MUST(strlen(r->headers[i].name) == r->headers[i].name_len &&
			strlen(r->headers[i].value) == r->headers[i].value_len);
	MUST(r->minor == 0 || http_header_count(r, "host") == 1);
	MUST(!(r->chunked && http_header(r, "content-length")));
	if (r->path_len == 4) {
		x->data = arena_new(&x->arena, struct sunk);
		x->sink = take_piece;
		x->max_body = SINK_MAX;
	}
	if (r->query_len != 1)
		return HTTP_GO_ON;
	x->reply.status = 401;
	return HTTP_REPLIED;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	static unsigned turn;
	const struct http_request *r = &x->request;

	(void)ctx;
	if (x->sink) {
		const struct sunk *s = x->data;

		MUST(!r->body_len && !s->broken);
		MUST(r->chunked || s->bytes == r->content_length);
	} else {
		MUST(r->body_len <= MAX_BODY && r->body[r->body_len] == '\0');
		MUST(r->chunked || r->body_len == r->content_length);
	}
	x->reply.status = r->path_len == 2 ? 204 : r->path_len == 3 ? 304 : 200;
	x->reply.type = "text/plain";
	for (size_t i = 0; i < r->path_len; i++)
		buf_put(&x->reply.body, r->body, r->body_len);
	buf_lit(&x->reply.extra, "ETag: \"x\"\r\n");
	http_gzip(x);
	if (turn++ % 2)
		return HTTP_REPLIED;
	http_finish(x);
	return HTTP_KEPT;
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	faults++;
	x->reply.status = error_row(err)->status;
	buf_puts(&x->reply.body, sentence);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	(void)ctx;
	if (!complete)
		return;
	MUST(sent < MAX_SENT);
	answered[sent].status = x->reply.status;
	answered[sent].head_only = x->request.method == METHOD_HEAD;
	sent++;
}

static const char *line_end(const char *at, const char *end)
{
	const char *lf = memchr(at, '\n', (size_t)(end - at));

	MUST(lf && lf > at && lf[-1] == '\r');
	for (const char *p = at; p < lf - 1; p++)
		MUST((unsigned char)*p >= 0x20 && (unsigned char)*p < 0x7f);
	return lf + 1;
}

/* One reply; returns its end. */
static const char *check_reply(const char *at, const char *end, size_t *final)
{
	const char *next = line_end(at, end);
	int status, dates = 0, ids = 0, lengths = 0;
	size_t length = 0;

	MUST(next - at > 14 && memcmp(at, "HTTP/1.1 ", 9) == 0 && at[12] == ' ');
	status = (int)strtol(at + 9, NULL, 10);
	while (at = next, next = line_end(at, end), next - at > 2) {
		MUST(memchr(at, ':', (size_t)(next - at)));
		dates += strncmp(at, "Date: ", 6) == 0;
		ids += strncmp(at, "X-Request-Id: c", 15) == 0;
		if (strncmp(at, "Content-Length: ", 16) == 0) {
			lengths++;
			length = strtoul(at + 16, NULL, 10);
		}
	}
	if (status == 100)
		return next;
	MUST(*final < sent && answered[*final].status == status);
	MUST(dates == 1 && ids == 1);
	if (status == 204 || status == 304)
		MUST(!lengths);
	else
		MUST(lengths == 1);
	if (!answered[*final].head_only)
		next += length;
	MUST(next <= end);
	(*final)++;
	return next;
}

static void check_replies(struct buf *out)
{
	const char *at, *end;
	size_t final = 0;

	buf_putc(out, '\0'); /* for strtoul */
	at = out->at;
	end = at + out->len - 1;
	while (at < end)
		at = check_reply(at, end, &final);
	MUST(final == sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct http_limits limits = {
		.max_head = 2000, .max_headers = 10, .max_body = MAX_BODY, .deferred_ms = 10000
	};
	static const struct http_handler handler = {
		.head = on_head, .request = on_request, .fault = on_fault, .sent = on_sent
	};
	struct http_inproc *d;
	struct buf out;
	size_t lines = 1, connections = 0, piece, at = 1;
	bool open = false;

	if (size < 2)
		return 0;
	sent = heads = faults = 0;
	d = http_inproc_new(&limits, &handler);
	MUST(d);
	buf_init(&out, 64 << 20);
	piece = data[0] & 0x7f ? (size_t)(data[0] & 0x7f) : size;
	while (at < size) {
		size_t n = piece < size - at ? piece : size - at;

		connections += !open;
		open = http_inproc_send(d, (const char *)data + at, n, &out);
		at += n;
	}
	if (data[0] & 0x80)
		http_inproc_half_close(d, &out);
	for (size_t i = 1; i < size; i++)
		lines += data[i] == '\n';
	MUST(!out.overflow);
	MUST(faults <= connections && sent <= heads + faults && sent <= lines + faults);
	check_replies(&out);
	buf_free(&out);
	http_inproc_free(d);
	return 0;
}
