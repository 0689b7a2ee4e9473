/* buf.c - growth and formatting for struct buf; see buf.h. */
#include "base/buf.h"
#include "base/check.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST = 512, WORDS = 4096 };

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .max = max };
}

void buf_free(struct buf *b)
{
	free(b->at);
	*b = (struct buf){ .max = b->max };
}

bool buf_grow(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : LEAST;
	char *at;

	INVARIANT(b->len <= b->cap);
	if (b->overflow || n > b->max || b->len > b->max - n) {
		b->overflow = true;
		return false;
	}
	while (cap < b->len + n)
		cap *= 2;
	if (cap > b->max)
		cap = b->max;
	/* A few words are always to be had: a refusal has some. */
	at = b->at || cap > WORDS ? memory_grow(b->at, cap) : memory_get(cap);
	if (!at) { /* what it has stays; whoever made it asks at the end */
		b->overflow = b->starved = true;
		return false;
	}
	b->at = at;
	b->cap = cap;
	return true;
}

void buf_fit(struct buf *b)
{
	enum { MUCH = 64 * 1024 };
	char *at;

	if (b->cap - b->len < MUCH || !b->len)
		return;
	at = realloc(b->at, b->len);
	if (!at)
		return;
	b->at = at;
	b->cap = b->len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len <= 0 || !buf_room(b, (size_t)len + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(b->at + b->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

void buf_put_int(struct buf *b, int64_t v)
{
	char digits[20];
	int at = sizeof digits;
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do {
		digits[--at] = (char)('0' + u % 10);
		u /= 10;
	} while (u);
	if (v < 0)
		buf_putc(b, '-');
	buf_put(b, digits + at, sizeof digits - (size_t)at);
}
