/* stream_fixture.c - see stream_fixture.h. */
#include "stream_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "contract/decode.h"
#include "http_fixture.h"
#include "sessions/session_tx.h"

void stream_fixture_open(struct stream_fixture *s, int reply_ms)
{
	struct http_settings settings = loopback_settings(2);
	struct http_handler handler;
	struct problem p = { 0 };
	struct answer r;

	memset(s, 0, sizeof *s);
	s->f = fixture_open();
	if (reply_ms)
		settings.limits.reply_ms = reply_ms;
	handler = call_handler(&s->f->app);
	if (http_server_new(&s->server, &settings, &handler, &s->f->arena, &p) ||
		http_server_start(s->server)) {
		test_fail(__FILE__, __LINE__, "%s", p.detail);
		exit(2);
	}
	snprintf(s->address, sizeof s->address, "%s", http_server_address(s->server));
	r = ask(s->f, s->f->admin, "{\"name\":\"A\",\"slug\":\"stream\"}", "POST /tenant/%s/agents",
		s->f->tenant_id);
	STATUS(r, 201);
	s->agent_id = text_at(&r, "id");
}

void stream_fixture_close(struct stream_fixture *s)
{
	hub_stop(s->f->app.hub);
	http_server_stop(s->server, 5000);
	http_server_free(s->server);
	fixture_close(s->f);
}

const char *stream_session(struct stream_fixture *s, const char *user_id)
{
	struct id id = id_new(NULL);
	const char *session_id = arena_strdup(&s->f->arena, id.text);

	fixture_sql(s->f,
		"insert into session_rows (tenant_id, id, agent_id, status, origin, iteration_count, "
		"message_count, last_event_id, created_at, updated_at) "
		"values ($1, $2, $3, 'completed', 'user', 0, 0, 0, 1, 1)",
		ARGS(T(s->f->tenant_id), T(session_id), T(s->agent_id)));
	fixture_sql(s->f, "insert into directory (id, tenant_id) values ($1, $2)",
		ARGS(T(session_id), T(s->f->tenant_id)));
	if (user_id)
		fixture_sql(s->f,
			"insert into session_people (tenant_id, user_id, session_id) "
			"values ($1, $2, $3)",
			ARGS(T(s->f->tenant_id), T(user_id), T(session_id)));
	return session_id;
}

struct addition {
	const char *tenant_id, *session_id, *data;
	enum session_event kind;
};

/* One event by itself. */
static int event_add(struct db *db, struct arena *a, const struct addition *in)
{
	struct session_tx p;
	int err = tx_open(&p, db, a, in->tenant_id, in->session_id, clock_now_us(), NULL);

	if (!err)
		err = tx_event(&p, in->kind, in->data);
	return err ? err : tx_close(&p);
}

static int add(struct db *db, void *data)
{
	struct addition *in = data;
	struct arena a = { 0 };
	int err = event_add(db, &a, in);

	arena_free(&a);
	return err;
}

void stream_add(
	struct stream_fixture *s, const char *session_id, enum session_event kind, const char *data)
{
	struct addition in = { s->f->tenant_id, session_id, data, kind };

	CHECK_INT(fixture_work(s->f, add, &in), 0);
}

/* ---- the client ---- */

void reader_open(struct reader *c, const struct stream_fixture *s, const char *token,
	const char *last_id, const char *path, ...)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	const char *colon = strchr(s->address, ':');
	int window = 64 * 1024; /* so that little is on its way to one who does not read */
	struct buf out;
	char where[512];
	va_list ap;

	memset(c, 0, sizeof *c);
	buf_init(&c->raw, 256 << 20);
	buf_init(&c->text, 256 << 20);
	buf_init(&c->data, 64 << 20);
	buf_init(&out, 4096);
	va_start(ap, path);
	vsnprintf(where, sizeof where, path, ap);
	va_end(ap);
	if (last_id)
		snprintf(c->last_id, sizeof c->last_id, "%s", last_id);
	to.sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
	if (connect(c->fd, (struct sockaddr *)&to, sizeof to))
		test_fail(__FILE__, __LINE__, "cannot connect");
	buf_printf(
		&out, "GET %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n", where, token);
	if (last_id)
		buf_printf(&out, "Last-Event-ID: %s\r\n", last_id);
	buf_lit(&out, "\r\n");
	if (write(c->fd, out.at, out.len) != (ssize_t)out.len)
		test_fail(__FILE__, __LINE__, "cannot write");
	buf_free(&out);
}

void reader_close(struct reader *c)
{
	close(c->fd);
	buf_free(&c->raw);
	buf_free(&c->text);
	buf_free(&c->data);
}

static void take_head(struct reader *c)
{
	char *end = c->raw.len ? memmem(c->raw.at, c->raw.len, "\r\n\r\n", 4) : NULL;

	if (!end)
		return;
	c->status = (int)strtol(c->raw.at + 9, NULL, 10);
	c->raw_at = (size_t)(end - c->raw.at) + 4;
}

/* Out of the chunks. */
static void take_chunks(struct reader *c)
{
	while (c->raw.at) {
		char *at = c->raw.at + c->raw_at, *end;
		size_t have = c->raw.len - c->raw_at, n;

		if (c->left > 2) {
			n = have < c->left - 2 ? have : c->left - 2;
			buf_put(&c->text, at, n);
			c->raw_at += n;
			c->left -= n;
			if (c->left > 2)
				return;
			continue;
		}
		if (c->left) { /* the line end after a chunk */
			if (have < c->left)
				return;
			c->raw_at += c->left;
			c->left = 0;
			continue;
		}
		if (!at || !have)
			return;
		end = memmem(at, have, "\r\n", 2);
		if (!end)
			return;
		n = strtoul(at, NULL, 16);
		c->raw_at += (size_t)(end - at) + 2;
		if (!n) {
			c->over = c->whole = true;
			return;
		}
		c->left = n + 2;
	}
}

static bool hear(struct reader *c, int ms)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	char bytes[65536];
	ssize_t n;

	if (c->over || poll(&p, 1, ms) <= 0)
		return false;
	n = read(c->fd, bytes, sizeof bytes);
	if (n <= 0) {
		c->over = true;
		return false;
	}
	if (c->raw_at == c->raw.len)
		c->raw.len = c->raw_at = 0;
	buf_put(&c->raw, bytes, (size_t)n);
	buf_putc(&c->raw, '\0'); /* numbers are read up to it; it is not counted */
	c->raw.len--;
	if (!c->status)
		take_head(c);
	if (c->status == 200)
		take_chunks(c);
	return true;
}

/* Its name is in the table, and where it comes in the feed's envelope, that is what the table says. */
static void check_event(const struct reader *c)
{
	const struct schema *s = &FeedEvent_schema;
	struct arena a = { 0 };
	struct problem p = { 0 };
	size_t i = 0;

	while (i < stream_event_count && strcmp(stream_events[i].name, c->event) != 0)
		i++;
	if (i == stream_event_count)
		test_fail(__FILE__, __LINE__, "there is no event %s in the table", c->event);
	if (strncmp(c->data.at, "{\"tenant_id\"", 12) == 0 &&
		decode_body(NULL, &a, s, UNKNOWN_REFUSED, c->data.at, c->data.len,
			arena_alloc(&a, s->size), &p))
		test_fail(__FILE__, __LINE__, "%s %s: %s", c->event, c->data.at,
			p.first ? p.first->message : "");
	arena_free(&a);
}

/* One block of lines; false if it is no event. */
static bool take_block(struct reader *c, char *at, char *end)
{
	bool any = false;

	c->data.len = 0;
	*c->event = '\0';
	while (at < end) {
		char *line = memchr(at, '\n', (size_t)(end - at));

		line = line ? line : end;
		if (strncmp(at, "id: ", 4) == 0) {
			snprintf(c->id, sizeof c->id, "%.*s", (int)(line - at - 4), at + 4);
			strcpy(c->last_id, c->id);
		} else if (strncmp(at, "event: ", 7) == 0) {
			snprintf(c->event, sizeof c->event, "%.*s", (int)(line - at - 7), at + 7);
		} else if (strncmp(at, "data: ", 6) == 0) {
			buf_put(&c->data, at + 6, (size_t)(line - at - 6));
			any = true;
		}
		at = line + 1;
	}
	buf_putc(&c->data, '\0');
	c->data.len--;
	return any;
}

bool reader_next(struct reader *c, int ms)
{
	int64_t due = clock_mono_ms() + ms, now;

	for (;;) {
		char *at = c->text.at + c->text_at;
		size_t have = c->text.len - c->text_at;
		char *end = have ? memmem(at, have, "\n\n", 2) : NULL;

		if (end) {
			c->text_at += (size_t)(end - at) + 2;
			if (!take_block(c, at, end))
				continue;
			check_event(c);
			return true;
		}
		now = clock_mono_ms();
		if (c->over || now > due)
			return false;
		hear(c, (int)(due - now) + 1);
	}
}

bool reader_await_end(struct reader *c, int ms)
{
	int64_t due = clock_mono_ms() + ms;

	while (!c->over && clock_mono_ms() < due)
		reader_next(c, (int)(due - clock_mono_ms()));
	return c->over;
}
