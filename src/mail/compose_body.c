/* compose_body.c - bodies as they travel: quoted-printable or base64, in lines of at most 76. */
#include <string.h>

#include "base/base64.h"
#include "mail/compose_parts.h"

enum { LINE = 76, LINE_BYTES = 57 /* of base64 in a line */, PIECE = LINE_BYTES * 256 };

static bool is_literal(unsigned char c)
{
	return (c >= ' ' && c < 0x7f && c != '=') || c == '\t';
}

/* The bytes that must be written as three, and all. */
static bool prefers_base64(const char *text)
{
	size_t odd = 0, all = 0;

	for (const char *p = text; *p; p++, all++)
		odd += !is_literal((unsigned char)*p) && *p != '\n' && *p != '\r';
	return odd > all / 6;
}

/* ---- quoted-printable ---- */

struct qp {
	struct compose_out *out;
	char line[LINE + 4];
	size_t len;
};

static void qp_flush(struct qp *q, const char *end)
{
	compose_put(q->out, q->line, q->len);
	compose_puts(q->out, end);
	q->len = 0;
}

static void qp_byte(struct qp *q, unsigned char c, bool last)
{
	static const char hex[] = "0123456789ABCDEF";
	bool blank = c == ' ' || c == '\t';

	if (q->len + 3 > LINE - 1)
		qp_flush(q, "=\r\n");
	/* A blank at the end of a line gets lost, a dot or From at its beginning gets changed, on the way. */
	if (is_literal(c) && !(blank && last) && !(q->len == 0 && (c == '.' || c == 'F'))) {
		q->line[q->len++] = (char)c;
		return;
	}
	q->line[q->len++] = '=';
	q->line[q->len++] = hex[c >> 4];
	q->line[q->len++] = hex[c & 15];
}

static void put_printable(struct compose_out *o, const char *text)
{
	struct qp q = { .out = o };

	for (const char *p = text; *p; p++) {
		if (*p == '\r' && p[1] == '\n')
			continue;
		if (*p == '\n' || *p == '\r')
			qp_flush(&q, "\r\n");
		else
			qp_byte(&q, (unsigned char)*p, !p[1] || p[1] == '\n' || p[1] == '\r');
	}
	if (q.len)
		qp_flush(&q, "\r\n");
}

/* ---- base64 ---- */

static void put_lines(struct compose_out *o, const char *bytes, size_t len)
{
	char line[LINE + 2];

	for (size_t i = 0; i < len; i += LINE_BYTES) {
		size_t n = len - i < LINE_BYTES ? len - i : LINE_BYTES, out = base64_length(n);

		base64_encode(bytes + i, n, line);
		memcpy(line + out, "\r\n", 2);
		compose_put(o, line, out + 2);
	}
}

/* Text with CR LF, whatever it had. */
static void put_text_lines(struct compose_out *o, const char *text)
{
	char piece[PIECE];
	size_t n = 0;

	for (const char *p = text; *p; p++) {
		bool end = *p == '\n' || *p == '\r';

		if (*p == '\r' && p[1] == '\n')
			continue;
		if (end)
			piece[n++] = '\r';
		if (n == sizeof piece) {
			put_lines(o, piece, n);
			n = 0;
		}
		piece[n++] = (char)(end ? '\n' : *p);
		if (n == sizeof piece) {
			put_lines(o, piece, n);
			n = 0;
		}
	}
	put_lines(o, piece, n);
}

void compose_body(struct compose_out *o, const char *subtype, const char *text)
{
	bool base64 = prefers_base64(text);

	compose_puts(o, "Content-Type: text/");
	compose_puts(o, subtype);
	compose_puts(o, "; charset=utf-8\r\nContent-Transfer-Encoding: ");
	compose_puts(o, base64 ? "base64\r\n\r\n" : "quoted-printable\r\n\r\n");
	if (base64)
		put_text_lines(o, text);
	else
		put_printable(o, text);
}

bool compose_attached(struct compose_out *o, struct compose_source *s)
{
	char piece[PIECE];
	size_t have = 0;

	for (;;) {
		long n = s->pull(s, piece + have, sizeof piece - have);

		if (n < 0 || (size_t)n > sizeof piece - have)
			return false;
		have += (size_t)n;
		if (n && have < sizeof piece)
			continue;
		put_lines(o, piece, have);
		have = 0;
		if (!n)
			return true;
	}
}
