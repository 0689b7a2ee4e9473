/* mock_fixture.c - see mock_fixture.h. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "http_fixture.h"
#include "mock_charge.h"
#include "mock_endpoint.h"
#include "mock_fixture.h"
#include "t.h"

static const char *const words[] = { "one", " two", " three", " four", " five" };
enum { WORDS = sizeof words / sizeof *words };

static void chunk(struct buf *b, const char *delta, const char *reason)
{
	buf_printf(b,
		"data: {\"id\":\"m1\",\"object\":\"chat.completion.chunk\",\"model\":\"mock\","
		"\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n",
		delta, reason);
}

static void usage(struct buf *b, const char *script)
{
	if (strcmp(script, "usage") == 0)
		buf_lit(b, "{\"prompt_tokens\":400000000000,\"completion_tokens\":400000000000,"
			   "\"total_tokens\":800000000000}");
	else
		buf_printf(b, "{\"prompt_tokens\":%d,\"completion_tokens\":%d,\"total_tokens\":%d}",
			MOCK_INPUT, MOCK_OUTPUT, MOCK_INPUT + MOCK_OUTPUT);
}

static void say_words(struct buf *b, int n)
{
	char delta[64];

	chunk(b, "\"role\":\"assistant\",\"content\":\"\"", "null");
	for (int i = 0; i < n && i < WORDS; i++) {
		snprintf(delta, sizeof delta, "\"content\":\"%s\"", words[i]);
		chunk(b, delta, "null");
	}
}

static void say_end(struct buf *b, const char *script)
{
	chunk(b, "", "\"stop\"");
	if (strcmp(script, "nousage") != 0) {
		buf_lit(b, "data: {\"id\":\"m1\",\"choices\":[],\"usage\":");
		usage(b, script);
		buf_lit(b, "}\n\n");
	}
	buf_lit(b, "data: [DONE]\n\n");
}

/* N calls of one tool, the same each time. */
static void say_calls(struct buf *b, const char *script, int n)
{
	const char *name = strcmp(script, "ghost") == 0 ? "ghost" : "calculator";
	const char *arguments = strcmp(script, "broken") == 0 ? "{\\\"expression\\\":"
							      : "{\\\"expression\\\":\\\"1+1\\\"}";
	struct buf delta;

	buf_init(&delta, 1 << 20);
	for (int i = 0; i < n; i++) {
		delta.len = 0;
		buf_printf(&delta,
			"\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"type\":\"function\","
			"\"function\":{\"name\":\"%s\",\"arguments\":\"%s\"}}]%c",
			i, i, name, arguments, '\0');
		chunk(b, delta.at, "null");
	}
	chunk(b, "", "\"tool_calls\"");
	buf_lit(b, "data: {\"id\":\"m1\",\"choices\":[],\"usage\":");
	usage(b, script);
	buf_lit(b, "}\n\ndata: [DONE]\n\n");
	buf_free(&delta);
}

static void say_thoughts(struct buf *b)
{
	chunk(b, "\"role\":\"assistant\",\"reasoning_content\":\"hm, \"", "null");
	chunk(b, "\"reasoning_content\":\"well\"", "null");
}

static void say_wish(struct buf *b)
{
	chunk(b,
		"\"tool_calls\":[{\"index\":0,\"id\":\"w1\",\"type\":\"function\",\"function\":{"
		"\"name\":\"add\",\"arguments\":\"\"}}]",
		"null");
	chunk(b, "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"a\\\":\"}}]",
		"null");
	chunk(b, "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]", "null");
	chunk(b, "", "\"tool_calls\"");
	buf_lit(b, "data: [DONE]\n\n");
}

static void say_whole(struct buf *b, const char *script, const char *text, size_t len)
{
	buf_lit(b, "{\"id\":\"m1\",\"object\":\"chat.completion\",\"model\":\"mock\",\"choices\":[{"
		   "\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
	json_write_string(b, text, len);
	buf_lit(b, "},\"finish_reason\":\"stop\"}]");
	if (strcmp(script, "nousage") != 0) {
		buf_lit(b, ",\"usage\":");
		usage(b, script);
	}
	buf_putc(b, '}');
}

static enum http_verdict keep(struct mock *m, struct http_exchange *x)
{
	pthread_mutex_lock(&m->lock);
	if (m->kept_count < MOCK_KEPT_MAX)
		m->kept[m->kept_count++] = x;
	pthread_mutex_unlock(&m->lock);
	return HTTP_KEPT;
}

/* Says something for ever, as fast as it is taken. */
static void on_room(struct http_exchange *x)
{
	struct mock *m = x->data;
	struct buf b;
	enum http_flow flow;

	atomic_fetch_add(&m->rooms, 1);
	buf_init(&b, 1 << 20);
	for (int i = 0; i < 100; i++)
		chunk(&b, "\"content\":\"on and on and on and on \"", "null");
	do
		flow = http_stream_write(x, b.at, b.len);
	while (flow == HTTP_STREAM_OPEN);
	buf_free(&b);
}

/* What goes wrong after n words, or before any. */
static enum http_verdict broken(
	struct mock *m, struct http_exchange *x, const char *script, int n, bool stream)
{
	struct buf b;
	bool stalls = strcmp(script, "stall") == 0, whole = strcmp(script, "nodone") == 0;

	buf_init(&b, 16 << 20);
	if (stream)
		say_words(&b, n);
	else
		buf_lit(&b, "{\"id\":\"m1\",\"choices\":[{\"index\":0,\"message\":{\"ro");
	if (strcmp(script, "bad") == 0 && stream)
		buf_lit(&b, "data: {\"id\":\"m1\",\"choices\":[{{{\n\n");
	if (strcmp(script, "error") == 0 && stream)
		buf_lit(&b,
			"data: {\"error\":{\"message\":\"sk-model leaked\",\"type\":\"server_error\"}}\n\n");
	if (strcmp(script, "nul") == 0)
		buf_put(&b, "data: {\"a\0b\":1}\n\n", 18);
	if (strcmp(script, "utf8") == 0)
		buf_lit(&b,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n");
	if (strcmp(script, "huge") == 0) {
		buf_lit(&b, "data: {\"x\":\"");
		for (int i = 0; i < 9 << 20; i++)
			buf_putc(&b, 'x');
	}
	x->reply.status = 200;
	x->reply.type = stream ? "text/event-stream" : "application/json";
	http_stream_begin(x, NULL);
	http_stream_write(x, b.at, b.len);
	buf_free(&b);
	if (stalls)
		return keep(m, x);
	http_stream_end(x, whole || strcmp(script, "cut") != 0);
	return HTTP_KEPT;
}

static enum http_verdict good(struct http_exchange *x, const char *script, bool stream)
{
	const struct http_request *r = &x->request;

	x->reply.status = 200;
	x->reply.type = stream ? "text/event-stream" : "application/json";
	if (!stream && strcmp(script, "echo") == 0) {
		say_whole(&x->reply.body, script, r->body, r->body_len);
	} else if (!stream) {
		say_whole(&x->reply.body, script, MOCK_TEXT, strlen(MOCK_TEXT));
	} else {
		bool wants = strcmp(script, "wants") == 0;

		if (wants || strcmp(script, "thinks") == 0)
			say_thoughts(&x->reply.body);
		if (wants && !memmem(r->body, r->body_len, "\"role\":\"tool\"", 13)) {
			say_wish(&x->reply.body);
			return HTTP_REPLIED;
		}
		say_words(&x->reply.body, WORDS);
		say_end(&x->reply.body, script);
	}
	return HTTP_REPLIED;
}

static enum http_verdict refuse(struct http_exchange *x, int status, int wait)
{
	x->reply.status = status;
	x->reply.type = "application/json";
	if (status == 429)
		buf_printf(&x->reply.extra, "Retry-After: %d\r\n", wait);
	buf_lit(&x->reply.body, "{\"error\":{\"message\":\"no, sk-model\",\"type\":\"x\"}}");
	return HTTP_REPLIED;
}

static void note(struct mock *m, const struct http_request *r)
{
	struct buf head = {
		.at = m->last_head, .cap = sizeof m->last_head - 1, .max = sizeof m->last_head - 1
	};
	size_t n = r->body_len < sizeof m->last_body - 1 ? r->body_len : sizeof m->last_body - 1;

	pthread_mutex_lock(&m->lock);
	buf_printf(&head, "%s\n", r->path);
	for (size_t i = 0; i < r->header_count; i++)
		buf_printf(&head, "%s: %s\n", r->headers[i].name, r->headers[i].value);
	m->last_head[head.len] = '\0';
	memcpy(m->last_body, r->body, n);
	m->last_body[n] = '\0';
	pthread_mutex_unlock(&m->lock);
}

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	x->data = ctx;
	return HTTP_GO_ON;
}

static void be_slow(const struct mock *m, int ms)
{
	int64_t until = clock_mono_ms() + ms;

	while (!m->over && clock_mono_ms() < until)
		usleep(1000);
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	struct mock *m = ctx;
	const struct http_request *r = &x->request;
	bool stream = memmem(r->body, r->body_len, "\"stream\":true", 13) != NULL;
	char script[32] = "";
	int n = 0;

	atomic_fetch_add(&m->asked, 1);
	if (memmem(r->body, r->body_len, "[mark]", 6))
		atomic_fetch_add(&m->marked, 1);
	note(m, r);
	sscanf(r->path, "/%31[^/-]-%d", script, &n);
	if (atoi(script) >= 400)
		return refuse(x, atoi(script), n);
	if (strcmp(script, "slow") == 0 || strcmp(script, "later") == 0)
		be_slow(m, n);
	if (strcmp(script, "request") == 0)
		return mock_endpoint(m, x, n);
	if (strcmp(script, "charge") == 0 || strcmp(script, "figures") == 0)
		return mock_charge(x, stream, *script == 'f' ? n : -1);
	if (strcmp(script, "html") == 0 || strcmp(script, "type") == 0) {
		x->reply.status = 200;
		x->reply.type = *script == 'h' ? "text/html" : "image/png";
		buf_lit(&x->reply.body, "<html>sk-model</html>");
		return HTTP_REPLIED;
	}
	if (strcmp(script, "empty") == 0) {
		x->reply.status = 200;
		x->reply.type = stream ? "text/event-stream" : "application/json";
		return HTTP_REPLIED;
	}
	if (strcmp(script, "endless") == 0) {
		x->reply.status = 200;
		x->reply.type = "text/event-stream";
		http_stream_begin(x, on_room);
		on_room(x);
		return keep(m, x);
	}
	if (strcmp(script, "ghost") == 0 || strcmp(script, "same") == 0 ||
		strcmp(script, "broken") == 0 || strcmp(script, "later") == 0) {
		x->reply.status = 200;
		x->reply.type = "text/event-stream";
		say_calls(&x->reply.body, script, strcmp(script, "later") == 0 ? 1 : n);
		return HTTP_REPLIED;
	}
	if (strcmp(script, "silent") == 0) {
		x->reply.status = 200;
		x->reply.type = "text/event-stream";
		say_end(&x->reply.body, script);
		return HTTP_REPLIED;
	}
	if (strcmp(script, "ok") == 0 || strcmp(script, "slow") == 0 ||
		strcmp(script, "echo") == 0 || strcmp(script, "thinks") == 0 ||
		strcmp(script, "wants") == 0 || strstr(script, "usage"))
		return good(x, script, stream);
	return broken(m, x, script, n, stream);
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	x->reply.status = error_row(err)->status;
	x->reply.type = "text/plain";
	buf_puts(&x->reply.body, sentence);
}

void mock_open(struct mock *m)
{
	struct http_settings settings = loopback_settings(1);
	struct http_handler handler = {
		.head = on_head, .request = on_request, .fault = on_fault, .ctx = m
	};
	struct problem p = { 0 };

	settings.limits.idle_ms = settings.limits.reply_ms = settings.limits.patient_ms;
	memset(m, 0, sizeof *m);
	pthread_mutex_init(&m->lock, NULL);
	CHECK_INT(http_server_new(&m->server, &settings, &handler, &m->arena, &p), 0);
	CHECK_INT(http_server_start(m->server), 0);
}

void mock_close(struct mock *m)
{
	m->over = true;
	http_server_stop(m->server, 0);
	for (size_t i = 0; i < m->kept_count; i++)
		http_stream_end(m->kept[i], false);
	http_server_free(m->server);
	arena_free(&m->arena);
	pthread_mutex_destroy(&m->lock);
}

const char *mock_url(struct mock *m, struct arena *a, const char *script)
{
	return arena_printf(a, "http://%s/%s/v1", http_server_address(m->server), script);
}
