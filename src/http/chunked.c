/* chunked.c - the chunked coding as a state machine, a byte at a time outside the data.
 *
 * Sizes are plain hexadecimal, every CRLF exact, extensions bounded and
 * ignored, trailers held to the rules of headers, bounded and dropped.  It
 * knows the bytes and the maximum, not where they come from. */
#include "http/parse.h"

#include "base/check.h"

enum chunk_state {
	SIZE,	      /* hexadecimal digits */
	BEFORE_EXTRA, /* white space that only a semicolon may follow */
	EXTRA,
	SIZE_LF,
	DATA,
	DATA_CR,
	DATA_LF,
	TRAILER, /* at the beginning of a line */
	TRAILER_NAME,
	TRAILER_VALUE,
	TRAILER_LF,
	END_LF,
	END,
};

static int chunked_fault(struct http_chunked *d, int err, const char *sentence)
{
	d->fault = sentence;
	return err;
}

static int chunked_malformed(struct http_chunked *d)
{
	return chunked_fault(d, ERR_MALFORMED, "The chunked body is not well formed.");
}

static int hex_of(unsigned char b)
{
	if (b >= '0' && b <= '9')
		return b - '0';
	b |= 0x20;
	return b >= 'a' && b <= 'f' ? b - 'a' + 10 : -1;
}

static bool is_text_byte(unsigned char b)
{
	return b == '\t' || (b >= 0x20 && b != 0x7f);
}

static int count_extra(struct http_chunked *d)
{
	if (++d->extra > HTTP_CHUNK_EXTRA)
		return chunked_fault(d, ERR_MALFORMED, "The chunk extensions are too large.");
	return 0;
}

static int take_size(struct http_chunked *d, unsigned char b)
{
	int digit = hex_of(b);

	if (digit >= 0) {
		if (++d->digits > HTTP_CHUNK_DIGITS)
			return chunked_fault(d, ERR_MALFORMED, "A chunk size has too many digits.");
		d->left = d->left << 4 | (unsigned)digit;
		return 0;
	}
	if (!d->digits)
		return chunked_malformed(d);
	if (b == '\r')
		d->state = SIZE_LF;
	else if (b == ';')
		d->state = EXTRA;
	else if (b == ' ' || b == '\t')
		d->state = BEFORE_EXTRA;
	else
		return chunked_malformed(d);
	return d->state == SIZE_LF ? 0 : count_extra(d);
}

static int take_extra(struct http_chunked *d, unsigned char b)
{
	if (d->state == BEFORE_EXTRA) {
		if (b == ';')
			d->state = EXTRA;
		else if (b != ' ' && b != '\t')
			return chunked_malformed(d);
	} else if (b == '\r') {
		d->state = SIZE_LF;
		return 0;
	} else if (!is_text_byte(b)) {
		return chunked_malformed(d);
	}
	return count_extra(d);
}

static int take_trailer(struct http_chunked *d, unsigned char b)
{
	if (++d->trailers > HTTP_TRAILER_MAX)
		return chunked_fault(d, ERR_HEADERS_TOO_LARGE, "The trailers are too large.");
	switch (d->state) {
	case TRAILER:
		if (b == '\r')
			d->state = END_LF;
		else if (http_token[b])
			d->state = TRAILER_NAME;
		else
			return chunked_malformed(d);
		return 0;
	case TRAILER_NAME:
		if (b == ':')
			d->state = TRAILER_VALUE;
		else if (!http_token[b])
			return chunked_malformed(d);
		return 0;
	case TRAILER_VALUE:
		if (b == '\r')
			d->state = TRAILER_LF;
		else if (!is_text_byte(b))
			return chunked_malformed(d);
		return 0;
	default:
		if (b != '\n')
			return chunked_malformed(d);
		d->state = d->state == END_LF ? END : TRAILER;
		return 0;
	}
}

static int take_byte(struct http_chunked *d, unsigned char b)
{
	switch (d->state) {
	case SIZE:
		return take_size(d, b);
	case BEFORE_EXTRA:
	case EXTRA:
		return take_extra(d, b);
	case SIZE_LF:
		d->state = d->left ? DATA : TRAILER;
		d->digits = 0;
		return b == '\n' ? 0 : chunked_malformed(d);
	case DATA_CR:
		d->state = DATA_LF;
		return b == '\r' ? 0 : chunked_malformed(d);
	case DATA_LF:
		d->state = SIZE;
		return b == '\n' ? 0 : chunked_malformed(d);
	default:
		return take_trailer(d, b);
	}
}

int http_chunked_take(struct http_chunked *d, const char *at, size_t n, size_t *ret_used,
	struct buf *out, uint64_t max_body)
{
	size_t i = 0;
	int r = HTTP_MORE;

	while (i < n && r == HTTP_MORE) {
		if (d->state == DATA) {
			size_t some = d->left < n - i ? (size_t)d->left : n - i;

			INVARIANT(some > 0);
			buf_put(out, at + i, some);
			i += some;
			d->left -= some;
			if (!d->left)
				d->state = DATA_CR;
			continue;
		}
		r = take_byte(d, (unsigned char)at[i++]);
		if (r < 0)
			break;
		INVARIANT(out->len <= max_body);
		if (d->state == DATA && d->left > max_body - out->len)
			r = chunked_fault(
				d, ERR_TOO_LARGE, "The body is larger than is taken here.");
		else if (d->state == END)
			r = HTTP_DONE;
	}
	*ret_used = i;
	return r;
}
