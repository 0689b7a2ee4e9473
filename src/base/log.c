/* log.c - formats a line into a stack buffer and writes it at once, if whoever reads the log reads; see log.h.
 *
 * A reader that stands still must not stop the service: before each write the
 * descriptor is asked whether there is room, and a line for which there is
 * none is dropped and counted.  The descriptor itself is left as it was given,
 * for other processes may share it.  Rejected: a thread with a queue, which
 * would lose the last lines of a process that dies, those that matter most. */
#include "base/log.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic enum log_level wanted = LOG_INFO;
static _Atomic enum log_format shape = LOG_TEXT;

void log_setup(enum log_level level, enum log_format format)
{
	wanted = level;
	shape = format;
}

bool log_wants(enum log_level level)
{
	return level <= wanted;
}

/* A line under construction.  A long value is cut, and the cut is shown; a pair for which no room is
 * left is left out.  So the line stays what it is: text or JSON.  Whatever the arithmetic says, no byte
 * is put where there is no room for it. */
enum { VALUE_MAX = 1024, TAIL = 64 };

struct line_buffer {
	char *text;
	size_t len;
};

static void line_put(struct line_buffer *l, const char *text, size_t n)
{
	if (n > LOG_LINE_MAX - l->len)
		return;
	memcpy(l->text + l->len, text, n);
	l->len += n;
}

static void line_put_text(struct line_buffer *l, const char *text)
{
	line_put(l, text, strlen(text));
}

/* One character of a value as it may stand in a line: itself, or an escape.  What is not UTF-8 becomes
 * the sign for that; controls, those above ASCII among them, must not reach a terminal. */
static size_t escape_char(const char *at, const char *end, char out[8])
{
	unsigned char c = (unsigned char)*at;
	size_t n = utf8_step(at, end);

	if (c == '"' || c == '\\')
		snprintf(out, 8, "\\%c", c);
	else if (c < 0x20 || c == 0x7f)
		snprintf(out, 8, "\\u%04x", c);
	else if (!n)
		memcpy(out, "\\ufffd", 7);
	else if (c == 0xc2 && (unsigned char)at[1] < 0xa0)
		snprintf(out, 8, "\\u%04x", (unsigned char)at[1]);
	else
		memcpy(out, at, n), out[n] = '\0';
	return n ? n : 1;
}

/* At most VALUE_MAX bytes, and three that show a cut. */
static void line_put_escaped(struct line_buffer *l, const char *text)
{
	const char *end = text + strnlen(text, VALUE_MAX + 1);
	size_t start = l->len;

	while (text < end) {
		char one[8];
		size_t n = escape_char(text, end, one), len = strlen(one);

		if (l->len - start + len > VALUE_MAX) {
			line_put_text(l, "...");
			return;
		}
		line_put(l, one, len);
		text += n;
	}
}

static bool pair_fits(const struct line_buffer *l, const struct log_pair *p)
{
	size_t value = p->is_number ? 20 : VALUE_MAX + 16;

	return l->len + strlen(p->name) + value + TAIL <= LOG_LINE_MAX;
}

static bool is_plain_value(const char *text)
{
	for (const char *p = text; *p; p++)
		if (p - text >= VALUE_MAX || *p <= ' ' || *p > '~' || *p == '"' || *p == '\\' ||
			*p == '=')
			return false;
	return *text != '\0';
}

static void line_put_value(struct line_buffer *l, const struct log_pair *p, enum log_format format)
{
	char number[24];

	if (p->is_number) {
		snprintf(number, sizeof number, "%lld", (long long)p->number);
		line_put_text(l, number);
	} else if (format == LOG_TEXT && is_plain_value(p->text)) {
		line_put_text(l, p->text);
	} else {
		line_put_text(l, "\"");
		line_put_escaped(l, p->text);
		line_put_text(l, "\"");
	}
}

size_t log_compose(char out[LOG_LINE_MAX], enum log_level level, enum log_format format,
	const char *message, const struct log_pair *pairs)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	struct line_buffer l = { 0 };
	char now[TIME_TEXT_LEN];

	l.text = out;
	time_write(clock_now_us(), now);
	if (format == LOG_JSON)
		line_put_text(&l, "{\"time\":\"");
	line_put(&l, now, sizeof now);
	line_put_text(&l, format == LOG_JSON ? "\",\"level\":\"" : " ");
	line_put_text(&l, names[level]);
	line_put_text(&l, format == LOG_JSON ? "\",\"message\":\"" : " ");
	line_put_escaped(&l, message);
	if (format == LOG_JSON)
		line_put_text(&l, "\"");
	for (const struct log_pair *p = pairs; p && p->name; p++) {
		if ((!p->is_number && !p->text) || !pair_fits(&l, p))
			continue;
		line_put_text(&l, format == LOG_JSON ? ",\"" : " ");
		line_put_text(&l, p->name);
		line_put_text(&l, format == LOG_JSON ? "\":" : "=");
		line_put_value(&l, p, format);
	}
	line_put_text(&l, format == LOG_JSON ? "}\n" : "\n");
	return l.len;
}

/* ---- out of the process ---- */

/* Where there is any room in a pipe, there is room for so much: nothing of this size waits. */
enum { PIECE = PIPE_BUF };

static struct {
	pthread_mutex_t lock;
	char rest[LOG_LINE_MAX]; /* of a line of which a part is out */
	size_t rest_len;
	uint64_t silent; /* lines dropped since the last that went out */
} out = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Atomic uint64_t dropped;

static bool has_room(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && p.revents & POLLOUT;
}

/* How much of it is out.  What cannot be written at all counts as out: nowhere is left to complain. */
static size_t write_some(const char *at, size_t n)
{
	size_t done = 0;

	while (done < n && has_room()) {
		ssize_t got = write(STDERR_FILENO, at + done, n - done < PIECE ? n - done : PIECE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			break;
		if (got <= 0)
			return n;
		done += (size_t)got;
	}
	return done;
}

/* With the lock: false if there is no room for a whole line's beginning. */
static bool write_log_line(const char *text, size_t n)
{
	size_t done = write_some(out.rest, out.rest_len);

	out.rest_len -= done;
	memmove(out.rest, out.rest + done, out.rest_len);
	if (out.rest_len)
		return false;
	done = write_some(text, n);
	if (!done && n)
		return false;
	out.rest_len = n - done;
	memcpy(out.rest, text + done, out.rest_len);
	return true;
}

static void tell_dropped(void)
{
	char text[LOG_LINE_MAX];
	const struct log_pair pairs[] = { LOG_N("lines", (int64_t)out.silent), { 0 } };

	if (out.silent &&
		write_log_line(
			text, log_compose(text, LOG_WARN, shape,
				      "the log was not read: lines of it are missing here", pairs)))
		out.silent = 0;
}

void log_line(enum log_level level, const char *message, const struct log_pair *pairs)
{
	char text[LOG_LINE_MAX];
	size_t n;

	if (!log_wants(level))
		return;
	n = log_compose(text, level, shape, message, pairs);
	pthread_mutex_lock(&out.lock);
	tell_dropped();
	if (out.silent || !write_log_line(text, n)) {
		out.silent++;
		atomic_fetch_add_explicit(&dropped, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&out.lock);
}

uint64_t log_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed);
}
