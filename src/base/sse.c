/* sse.c - the reader of sse.h. */
#include "base/sse.h"

#include <string.h>

/* A line of data has its field's name in front. */
enum { LINE_MAX_BYTES = SSE_EVENT_MAX + 16 };

void sse_open(struct sse *s, bool (*take)(void *, const char *, struct slice), void *to)
{
	*s = (struct sse){ .take = take, .to = to };
	buf_init(&s->line, LINE_MAX_BYTES);
	buf_init(&s->data, SSE_EVENT_MAX);
}

void sse_close(struct sse *s)
{
	buf_free(&s->line);
	buf_free(&s->data);
}

/* Brings the line that is still elsewhere into our own memory. */
static void keep_first(struct sse *s)
{
	if (s->first.at)
		buf_put(&s->data, s->first.at, s->first.len);
	s->first.at = NULL;
}

static void dispatch_event(struct sse *s)
{
	struct slice data = s->first.at ? s->first : (struct slice){ s->data.at, s->data.len };

	if (!data.at)
		data.at = "";
	if (s->has_data && !s->take(s->to, s->name, data))
		s->stopped = true;
	s->first.at = NULL;
	s->data.len = 0;
	s->has_data = false;
	s->name[0] = '\0';
}

static void field_name(struct sse *s, const char *value, size_t len)
{
	size_t n = len < SSE_NAME_MAX ? len : SSE_NAME_MAX - 1;

	memcpy(s->name, value, n);
	s->name[n] = '\0';
}

static void field_data(struct sse *s, const char *value, size_t len)
{
	if (len > SSE_EVENT_MAX) {
		s->data.overflow = true;
		return;
	}
	if (!s->has_data) {
		s->has_data = true;
		s->first = (struct slice){ value, len };
		return;
	}
	keep_first(s);
	buf_putc(&s->data, '\n');
	buf_put(&s->data, value, len);
}

static void field_id(struct sse *s, const char *value, size_t len)
{
	if (len >= SSE_ID_MAX || memchr(value, '\0', len))
		return;
	memcpy(s->id, value, len);
	s->id[len] = '\0';
}

static void field_retry(struct sse *s, const char *value, size_t len)
{
	int64_t ms = 0;

	for (size_t i = 0; i < len; i++) {
		if (value[i] < '0' || value[i] > '9' || len > 9)
			return;
		ms = ms * 10 + (value[i] - '0');
	}
	s->retry_ms = ms;
}

static void take_sse_line(struct sse *s, const char *line, size_t len)
{
	const char *colon;
	size_t name, skip;

	if (len > LINE_MAX_BYTES) {
		s->line.overflow = true;
		return;
	}
	if (!s->begun && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
		line += 3;
		len -= 3;
	}
	s->begun = true;
	if (!len) {
		dispatch_event(s);
		return;
	}
	colon = memchr(line, ':', len);
	name = colon ? (size_t)(colon - line) : len;
	skip = name + (colon != NULL);
	if (skip < len && line[skip] == ' ')
		skip++;
	if (name == 4 && memcmp(line, "data", 4) == 0)
		field_data(s, line + skip, len - skip);
	else if (name == 5 && memcmp(line, "event", 5) == 0)
		field_name(s, line + skip, len - skip);
	else if (name == 2 && memcmp(line, "id", 2) == 0)
		field_id(s, line + skip, len - skip);
	else if (name == 5 && memcmp(line, "retry", 5) == 0)
		field_retry(s, line + skip, len - skip);
}

/* The first line end in the bytes, or NULL. */
static const char *line_end(const char *p, const char *end)
{
	const char *lf = memchr(p, '\n', (size_t)(end - p));
	const char *cr = memchr(p, '\r', (size_t)((lf ? lf : end) - p));

	return cr ? cr : lf;
}

bool sse_feed(struct sse *s, const char *bytes, size_t len)
{
	const char *p = bytes, *end = bytes + len;

	while (p < end && !s->stopped) {
		const char *stop;

		if (s->after_cr) {
			s->after_cr = false;
			if (*p == '\n') {
				p++;
				continue;
			}
		}
		stop = line_end(p, end);
		if (!stop) {
			buf_put(&s->line, p, (size_t)(end - p));
			break;
		}
		if (s->line.len) {
			buf_put(&s->line, p, (size_t)(stop - p));
			take_sse_line(s, s->line.at, s->line.len);
			/* The line's memory is used again: what points there is kept. */
			keep_first(s);
			s->line.len = 0;
		} else {
			take_sse_line(s, p, (size_t)(stop - p));
		}
		s->after_cr = *stop == '\r';
		p = stop + 1;
		if (s->data.overflow || s->line.overflow)
			break;
	}
	keep_first(s);
	if (s->data.overflow || s->line.overflow)
		s->stopped = true;
	return !s->data.overflow && !s->line.overflow;
}

bool sse_ends_with(const struct sse *s, const char *data)
{
	const char *line = s->line.at;
	size_t len = s->line.len, want = strlen(data);

	if (s->stopped)
		return false;
	if (s->has_data)
		return !len && s->data.len == want && memcmp(s->data.at, data, want) == 0;
	if (len < 5 || memcmp(line, "data:", 5) != 0)
		return false;
	line += 5;
	len -= 5;
	if (len && *line == ' ') {
		line++;
		len--;
	}
	return len == want && memcmp(line, data, want) == 0;
}
