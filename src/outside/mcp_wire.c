/* mcp_wire.c - see mcp_wire.h. */
#include "outside/mcp_wire.h"

#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/sse.h"
#include "base/utf8_cut.h"
#include "outside/http_tool.h"

enum {
	REDIRECTS_MAX = 3,
	DECLINED_MAX = 8, /* requests of the server's during one of ours */
	OWN_HEADERS = 8,
	REQUEST_MAX = 1 << 20,
	GOODBYE_MS = 3000,
	RESUMES_MAX = 100, /* times that a stream is taken up again */
	RESUME_MS = 1000,  /* before that, unless the server says another */
	RESUME_MS_MAX = 10000,
};

/* One request under way. */
struct mcp_hearing {
	struct mcp_line *l;
	const struct mcp_request *in;
	struct sse events;
	struct mcp_message message;
	bool opened, heard;
	int declined;
};

/* ---- what is sent ---- */

static const char *body_of(struct mcp_line *l, const struct mcp_request *in, size_t *ret_len)
{
	const char *body;
	struct buf b;

	buf_init(&b, REQUEST_MAX);
	buf_puts(&b, "{\"jsonrpc\":\"2.0\",");
	if (!in->notice)
		buf_printf(&b, "\"id\":%lld,", (long long)l->last_id);
	buf_printf(&b, "\"method\":\"%s\"", in->method);
	if (in->modern || in->params.len) {
		buf_puts(&b, ",\"params\":{");
		buf_put(&b, in->params.at, in->params.len);
		if (in->modern)
			buf_printf(&b,
				"%s\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
				"\"" MCP_VERSION_MODERN "\","
				"\"io.modelcontextprotocol/clientInfo\":{\"name\":\"lodge\",\"version\":"
				"\"" LODGE_VERSION "\"},"
				"\"io.modelcontextprotocol/clientCapabilities\":{}}",
				in->params.len ? "," : "");
		buf_putc(&b, '}');
	}
	buf_putc(&b, '}');
	body = b.overflow ? NULL : arena_strndup(l->arena, b.at, b.len);
	*ret_len = b.len;
	buf_free(&b);
	return body;
}

/* The configured ones first, then ours, which they may not replace. */
static void put_headers(struct mcp_line *l, const struct mcp_request *in, struct fetch *out)
{
	const struct mcp_way *way = l->way;
	struct fetch_header *list = arena_array(
		l->arena, struct fetch_header, way->header_count + OWN_HEADERS + in->more_count);
	size_t n = 0;

	for (size_t i = 0; i < way->header_count; i++) {
		const char *name = way->headers[i].name;

		if (strncasecmp(name, "mcp-", 4) != 0 && strcasecmp(name, "accept") != 0 &&
			strcasecmp(name, "content-type") != 0)
			list[n++] = way->headers[i];
	}
	list[n++] = (struct fetch_header){ "Accept", "application/json, text/event-stream" };
	list[n++] = (struct fetch_header){ "Content-Type", "application/json" };
	if (in->modern) {
		list[n++] = (struct fetch_header){ "MCP-Protocol-Version", MCP_VERSION_MODERN };
		list[n++] = (struct fetch_header){ "Mcp-Method", in->method };
		if (in->name)
			list[n++] = (struct fetch_header){ "Mcp-Name",
				mcp_header_value(l->arena, in->name, strlen(in->name)) };
	} else {
		if (l->peer->version[0])
			list[n++] =
				(struct fetch_header){ "MCP-Protocol-Version", l->peer->version };
		if (l->peer->session[0])
			list[n++] = (struct fetch_header){ "Mcp-Session-Id", l->peer->session };
	}
	for (size_t i = 0; i < in->more_count; i++)
		list[n++] = in->more[i];
	out->headers = list;
	out->header_count = n;
}

static int time_left(const struct mcp_way *way)
{
	int64_t left = way->end_ms - clock_mono_ms();

	return left > 1 ? (int)left : 1;
}

/* ---- what is heard ---- */

/* Answers a request of the server's: we are there, and can do nothing else. */
static void decline_request(struct mcp_hearing *h, const struct mcp_message *m)
{
	struct mcp_line *l = h->l;
	bool ping = strcmp(m->method, "ping") == 0;
	const char *body = arena_printf(l->arena,
		ping ? "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{}}"
		     : "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32601,\"message\":"
		       "\"Method not found\"}}",
		(int)m->id.len, m->id.at);
	struct mcp_request as = { .method = "", .notice = true };
	struct fetch f = { .url = l->url,
		.egress = l->way->egress,
		.body = body,
		.body_len = strlen(body),
		.total_ms = time_left(l->way),
		.stop = l->way->stop };
	struct fetched got;
	const char *why;

	if (h->in->modern || h->declined++ >= DECLINED_MAX)
		return;
	put_headers(l, &as, &f);
	(l->way->fetch ? l->way->fetch : fetch_run)(&f, l->arena, &got, &why);
}

static bool take_mcp_event(void *to, const char *name, struct slice data)
{
	struct mcp_hearing *h = to;
	struct mcp_message m;
	struct slice kept;

	if (*name && strcmp(name, "message") != 0)
		return true;
	kept = (struct slice){ arena_strndup(h->l->arena, data.at, data.len), data.len };
	mcp_read_message(h->l->arena, kept, h->l->last_id, &m);
	if (m.kind == MCP_REQUEST)
		decline_request(h, &m);
	if (m.kind != MCP_REPLY)
		return true;
	h->message = m;
	h->heard = true;
	return false;
}

static bool is_stream(const struct fetched *f)
{
	return f->content_type && strncasecmp(f->content_type, "text/event-stream", 17) == 0;
}

/* Ends the reading once the reply is here: some servers leave the stream open. */
static bool see_mcp_bytes(void *ctx, const struct fetched *head, const char *bytes, size_t n)
{
	struct mcp_hearing *h = ctx;

	if (!is_stream(head))
		return true;
	if (!h->opened)
		sse_open(&h->events, take_mcp_event, h);
	h->opened = true;
	return sse_feed(&h->events, bytes, n) && !h->heard;
}

/* ---- the exchange ---- */

/* Within the same origin, and as the same request. */
static bool line_follow_move(struct mcp_line *l, const struct fetched *f)
{
	struct fetch_origin from, to;

	if ((f->status != 307 && f->status != 308) || !f->location ||
		!fetch_origin(l->arena, l->url, &from) ||
		!fetch_origin(l->arena, f->location, &to) || strcmp(from.scheme, to.scheme) != 0 ||
		strcmp(from.host, to.host) != 0 || from.port != to.port)
		return false;
	l->url = f->location;
	return true;
}

static int post_mcp_request(
	struct mcp_line *l, struct fetch *request, struct fetched *ret, const char **ret_why)
{
	fetch_fn *fetch = l->way->fetch ? l->way->fetch : fetch_run;
	int err = 0;

	for (int turn = 0; turn <= REDIRECTS_MAX; turn++) {
		request->url = l->url;
		request->total_ms = time_left(l->way);
		err = fetch(request, l->arena, ret, ret_why);
		if (err || !line_follow_move(l, ret))
			break;
	}
	if (!err && http_is_redirect(ret)) {
		*ret_why = arena_printf(l->arena, "it redirects to %.*s, which is not followed",
			UTF8_SHOWN(200, ret->location));
		err = ERR_UPSTREAM;
	}
	return err;
}

/* False if there is no time for it. */
static bool pause_for(const struct mcp_way *way, int64_t ms)
{
	int64_t end = clock_mono_ms() + (ms < RESUME_MS_MAX ? ms : RESUME_MS_MAX);

	while (clock_mono_ms() < end) {
		if (clock_mono_ms() >= way->end_ms || (way->stop && *way->stop))
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	}
	return true;
}

static bool is_visible(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* A new stream begins with a line of its own; what was heard last is remembered. */
static void hear_anew(struct mcp_hearing *h)
{
	struct sse before = h->events;

	sse_close(&h->events);
	sse_open(&h->events, take_mcp_event, h);
	memcpy(h->events.id, before.id, sizeof before.id);
	h->events.retry_ms = before.retry_ms;
}

/* The older revisions let a server close a stream before the reply and have it asked for again, after the
 * last event that was heard. */
static void resume_mcp_stream(struct mcp_hearing *h)
{
	struct mcp_line *l = h->l;

	for (int turn = 0; h->opened && !h->heard && !h->in->modern && h->events.id[0]; turn++) {
		struct mcp_request as = { .method = "",
			.notice = true,
			.more = &(struct fetch_header){ "Last-Event-ID",
				arena_strdup(l->arena, h->events.id) },
			.more_count = 1 };
		struct fetch f = { .url = l->url,
			.egress = l->way->egress,
			.method = "GET",
			.answer_max = MCP_ANSWER_MAX,
			.stop = l->way->stop,
			.line = l->line,
			.see = see_mcp_bytes,
			.see_ctx = h };
		int64_t wait = h->events.retry_ms ? h->events.retry_ms : RESUME_MS;
		struct fetched got;
		const char *why;

		if (turn == RESUMES_MAX || !is_visible(h->events.id) || !pause_for(l->way, wait))
			return;
		hear_anew(h);
		put_headers(l, &as, &f);
		f.total_ms = time_left(l->way);
		if ((l->way->fetch ? l->way->fetch : fetch_run)(&f, l->arena, &got, &why) ||
			got.status != 200 || !is_stream(&got))
			return;
	}
}

int mcp_exchange(struct mcp_line *l, const struct mcp_request *in, struct mcp_exchange *ret,
	const char **ret_why)
{
	struct mcp_hearing h = { .l = l, .in = in };
	struct fetch request = { .egress = l->way->egress,
		.method = "POST",
		.answer_max = MCP_ANSWER_MAX,
		.stop = l->way->stop,
		.line = l->line,
		.wanted = "mcp-session-id",
		.see = in->notice ? NULL : see_mcp_bytes,
		.see_ctx = &h };
	struct fetched got;
	int err;

	l->last_id++;
	*ret = (struct mcp_exchange){ .status = 0 };
	request.body = body_of(l, in, &request.body_len);
	if (!request.body) {
		*ret_why = "the request is larger than 1 MiB";
		return ERR_UPSTREAM;
	}
	put_headers(l, in, &request);
	err = post_mcp_request(l, &request, &got, ret_why);
	resume_mcp_stream(&h);
	if (h.opened)
		sse_close(&h.events);
	if (err && !h.heard)
		return err;
	ret->status = err ? 200 : got.status;
	ret->session = err ? NULL : got.header;
	if (h.heard)
		ret->message = h.message;
	else if (!in->notice && !is_stream(&got) && got.len)
		mcp_read_message(
			l->arena, (struct slice){ got.body, got.len }, l->last_id, &ret->message);
	if (ret->message.kind != MCP_REPLY)
		ret->message.kind = MCP_NOTHING;
	return 0;
}

void mcp_delete(struct mcp_line *l)
{
	struct mcp_request as = { .method = "", .notice = true };
	int left = time_left(l->way);
	struct fetch f = { .url = l->url,
		.egress = l->way->egress,
		.method = "DELETE",
		.total_ms = left < GOODBYE_MS ? left : GOODBYE_MS,
		.stop = l->way->stop,
		.line = l->line };
	struct fetched got;
	const char *why;

	put_headers(l, &as, &f);
	(l->way->fetch ? l->way->fetch : fetch_run)(&f, l->arena, &got, &why);
}
