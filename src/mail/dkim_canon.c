/* dkim_canon.c - a message as it is signed: its headers and its body, simple (as they are) or relaxed (blanks and case
 * make no difference).  RFC 6376, 3.4. */
#include <string.h>
#include <strings.h>

#include "mail/dkim_parts.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The line at *at with its CR LF, and *at behind it. */
static struct slice next_line(const char **at, const char *end)
{
	const char *from = *at, *p = from;

	for (;;) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));

		if (!lf || (lf > from && lf[-1] == '\r')) {
			*at = lf ? lf + 1 : end;
			return (struct slice){ from, (size_t)(*at - from) };
		}
		p = lf + 1;
	}
}

bool dkim_split(struct arena *a, const char *message, size_t len, struct dkim_check *ret)
{
	const char *at = message, *end = message + len;

	ret->fields = arena_array(a, struct slice, DKIM_HEADERS_MAX);
	ret->field_count = 0;
	ret->body = (struct slice){ end, 0 };
	while (at < end) {
		struct slice line = next_line(&at, end);
		struct slice *last = ret->field_count ? &ret->fields[ret->field_count - 1] : NULL;

		if (line.len == 2 && memcmp(line.at, "\r\n", 2) == 0) {
			ret->body = (struct slice){ at, (size_t)(end - at) };
			break;
		}
		if (is_blank(*line.at) && last) {
			last->len = (size_t)(line.at + line.len - last->at);
			continue;
		}
		if (ret->field_count == DKIM_HEADERS_MAX)
			return false;
		ret->fields[ret->field_count++] = line;
	}
	for (size_t i = 0; i < ret->field_count; i++)
		if (ret->fields[i].len >= 2 &&
			memcmp(ret->fields[i].at + ret->fields[i].len - 2, "\r\n", 2) == 0)
			ret->fields[i].len -= 2;
	return true;
}

bool dkim_field_is(struct slice field, const char *name, size_t len)
{
	size_t at = len;

	if (field.len <= len || strncasecmp(field.at, name, len) != 0)
		return false;
	while (at < field.len && is_blank(field.at[at]))
		at++;
	return at < field.len && field.at[at] == ':';
}

void dkim_put_field(struct buf *b, struct slice field, bool relaxed)
{
	const char *colon = memchr(field.at, ':', field.len), *end = field.at + field.len, *p;
	bool due = false;

	if (!relaxed || !colon) {
		buf_put(b, field.at, field.len);
		buf_lit(b, "\r\n");
		return;
	}
	for (p = field.at; p < colon; p++)
		if (!is_blank(*p))
			buf_putc(b, (char)(*p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p));
	buf_putc(b, ':');
	for (p = colon + 1; p < end && (is_blank(*p) || *p == '\r' || *p == '\n');)
		p++;
	for (; p < end; p++) {
		if (is_blank(*p)) {
			due = true;
		} else if (*p != '\r' && *p != '\n') {
			if (due)
				buf_putc(b, ' ');
			due = false;
			buf_putc(b, *p);
		}
	}
	buf_lit(b, "\r\n");
}

/* ---- bodies ---- */

/* Empty lines count once something follows them. */
struct body_run {
	struct sha256_run *hash;
	size_t empty;
};

static void put_empty_lines(struct body_run *r)
{
	for (; r->empty; r->empty--)
		sha256_add(r->hash, "\r\n", 2);
}

static void put_relaxed(struct body_run *r, struct slice line)
{
	const char *p = line.at, *end = line.at + line.len;

	while (end > p && is_blank(end[-1]))
		end--;
	if (p == end) {
		r->empty++;
		return;
	}
	put_empty_lines(r);
	while (p < end) {
		const char *from = p;

		while (p < end && !is_blank(*p))
			p++;
		sha256_add(r->hash, from, (size_t)(p - from));
		if (p < end)
			sha256_add(r->hash, " ", 1);
		while (p < end && is_blank(*p))
			p++;
	}
	sha256_add(r->hash, "\r\n", 2);
}

static void put_simple(struct body_run *r, struct slice line)
{
	if (!line.len) {
		r->empty++;
		return;
	}
	put_empty_lines(r);
	sha256_add(r->hash, line.at, line.len);
	sha256_add(r->hash, "\r\n", 2);
}

void dkim_hash_body(struct slice body, bool relaxed, uint8_t ret[SHA256_LEN])
{
	const char *at = body.at, *end = body.at + body.len;
	struct body_run r = { sha256_begin(), 0 };
	bool any = false;

	while (at < end) {
		struct slice line = next_line(&at, end);

		if (line.len >= 2 && memcmp(line.at + line.len - 2, "\r\n", 2) == 0)
			line.len -= 2;
		if (relaxed)
			put_relaxed(&r, line);
		else
			put_simple(&r, line);
		any |= !r.empty;
	}
	/* An empty body is one empty line where nothing is relaxed. */
	if (!any && !relaxed)
		sha256_add(r.hash, "\r\n", 2);
	sha256_end(r.hash, ret);
}
