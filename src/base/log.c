/* log.c - formats a line into a stack buffer and writes it with one write(2), so that
 * lines of several threads never mix; see log.h. */
#include "base/log.h"
#include "base/clock.h"

#include <errno.h>
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
 * left is left out.  So the line stays what it is: text or JSON. */
enum { LINE_MAX_ = 8192, VALUE_MAX = 1024, TAIL = 64 };

struct line {
	char text[LINE_MAX_];
	size_t len;
};

static void put(struct line *l, const char *text, size_t n)
{
	memcpy(l->text + l->len, text, n);
	l->len += n;
}

static void put_text(struct line *l, const char *text)
{
	put(l, text, strlen(text));
}

static void put_escaped(struct line *l, const char *text)
{
	size_t start = l->len;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char hex[8];

		if (l->len - start >= VALUE_MAX && (c & 0xc0) != 0x80) {
			put_text(l, "...");
			return;
		}
		if (c == '"' || c == '\\') {
			put(l, (char[]){ '\\', *text }, 2);
		} else if (c < 0x20 || c == 0x7f) {
			snprintf(hex, sizeof hex, "\\u%04x", c);
			put_text(l, hex);
		} else {
			put(l, text, 1);
		}
	}
}

static bool fits(const struct line *l, const struct log_pair *p)
{
	size_t value = p->is_number ? 20 : VALUE_MAX + 16;

	return l->len + strlen(p->name) + value + TAIL <= sizeof l->text;
}

static bool plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (p - text >= VALUE_MAX || (unsigned char)*p <= ' ' || *p == '"' || *p == '\\' ||
			*p == '=' || *p == 0x7f)
			return false;
	return *text != '\0';
}

static void put_value(struct line *l, const struct log_pair *p, enum log_format format)
{
	char number[24];

	if (p->is_number) {
		snprintf(number, sizeof number, "%lld", (long long)p->number);
		put_text(l, number);
	} else if (format == LOG_TEXT && plain(p->text)) {
		put_text(l, p->text);
	} else {
		put_text(l, "\"");
		put_escaped(l, p->text);
		put_text(l, "\"");
	}
}

static void write_all(const char *at, size_t n)
{
	while (n) {
		ssize_t got = write(STDERR_FILENO, at, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return; /* nowhere left to complain */
		at += got;
		n -= (size_t)got;
	}
}

void log_line(enum log_level level, const char *message, const struct log_pair *pairs)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	enum log_format format = shape;
	struct line l = { .len = 0 };
	char now[TIME_TEXT_LEN];

	if (!log_wants(level))
		return;
	time_write(clock_now_us(), now);
	if (format == LOG_JSON)
		put_text(&l, "{\"time\":\"");
	put(&l, now, sizeof now);
	put_text(&l, format == LOG_JSON ? "\",\"level\":\"" : " ");
	put_text(&l, names[level]);
	put_text(&l, format == LOG_JSON ? "\",\"message\":\"" : " ");
	put_escaped(&l, message);
	if (format == LOG_JSON)
		put_text(&l, "\"");
	for (const struct log_pair *p = pairs; p && p->name; p++) {
		if ((!p->is_number && !p->text) || !fits(&l, p))
			continue;
		put_text(&l, format == LOG_JSON ? ",\"" : " ");
		put_text(&l, p->name);
		put_text(&l, format == LOG_JSON ? "\":" : "=");
		put_value(&l, p, format);
	}
	if (format == LOG_JSON)
		l.text[l.len++] = '}';
	l.text[l.len++] = '\n';
	write_all(l.text, l.len);
}
