/* pkt_line.c - see pkt_line.h. */
#include "git/pkt_line.h"

#include "base/check.h"

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

enum pkt pkt_next(struct pkt_reader *r, struct slice *ret)
{
	static const enum pkt short_ones[PKT_HEAD + 1] = { PKT_FLUSH, PKT_DELIM, PKT_ENDS, PKT_BAD,
		PKT_BAD };
	size_t len = 0;

	*ret = (struct slice){ NULL, 0 };
	for (size_t i = 0; i < PKT_HEAD; i++) {
		int digit = i < r->len ? digit_of(r->at[i]) : 0;

		if (digit < 0)
			return PKT_BAD;
		len = len * 16 + (size_t)digit;
	}
	if (r->len < PKT_HEAD)
		return PKT_MORE;
	if (len <= PKT_HEAD) {
		if (short_ones[len] != PKT_BAD) {
			r->at += PKT_HEAD;
			r->len -= PKT_HEAD;
		}
		return short_ones[len];
	}
	if (len > PKT_MAX)
		return PKT_BAD;
	if (r->len < len)
		return PKT_MORE;
	*ret = (struct slice){ r->at + PKT_HEAD, len - PKT_HEAD };
	r->at += len;
	r->len -= len;
	return PKT_LINE;
}

struct slice pkt_text(struct slice line)
{
	if (line.len && line.at[line.len - 1] == '\n')
		line.len--;
	return line;
}

void pkt_put(struct buf *b, const void *bytes, size_t n)
{
	INVARIANT(n && n <= PKT_MAX - PKT_HEAD);
	buf_printf(b, "%04zx", n + PKT_HEAD);
	buf_put(b, bytes, n);
}

void pkt_puts(struct buf *b, const char *text)
{
	pkt_put(b, text, strlen(text));
}

void pkt_flush(struct buf *b)
{
	buf_lit(b, "0000");
}

void pkt_put_band(struct buf *b, int band, const void *bytes, size_t n, size_t most)
{
	INVARIANT(most > PKT_HEAD + 1 && most <= PKT_MAX);
	most -= PKT_HEAD + 1;
	for (const char *at = bytes; n;) {
		size_t part = n < most ? n : most;

		buf_printf(b, "%04zx%c", part + PKT_HEAD + 1, band);
		buf_put(b, at, part);
		at += part;
		n -= part;
	}
}
