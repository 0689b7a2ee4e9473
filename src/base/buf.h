/* buf.h - a growable run of bytes with a named maximum.
 *
 * A buffer that would pass its maximum, or for which there is no memory,
 * keeps what it has, remembers that it overflowed, and ignores further bytes;
 * whoever made it asks once at the end.  Nothing here knows what the bytes mean. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *at;
	size_t len, cap;
	size_t max; /* the most it may hold */
	bool overflow;
	bool starved; /* and it was for want of memory */
};

void buf_init(struct buf *b, size_t max);
void buf_free(struct buf *b);
/* Makes room for n more bytes; false (and overflow set) when that would pass the maximum. */
bool buf_grow(struct buf *b, size_t n);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_put_int(struct buf *b, int64_t v);

/* Gives back what it does not use, where that is much. */
void buf_fit(struct buf *b);
/* Empty again, and as if nothing had overflowed; what memory it has stays. */
static inline void buf_clear(struct buf *b)
{
	b->len = 0;
	b->overflow = b->starved = false;
}

static inline bool buf_room(struct buf *b, size_t n)
{
	return n <= b->cap - b->len || buf_grow(b, n);
}

static inline void buf_put(struct buf *b, const void *bytes, size_t n)
{
	if (n && buf_room(b, n)) {
		memcpy(b->at + b->len, bytes, n);
		b->len += n;
	}
}

static inline void buf_puts(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text));
}

static inline void buf_putc(struct buf *b, char c)
{
	if (buf_room(b, 1))
		b->at[b->len++] = c;
}

/* What it holds as a C string, until it is changed; "" where there is no room for the end of one. */
static inline const char *buf_text(struct buf *b)
{
	if (!buf_room(b, 1))
		return "";
	b->at[b->len] = '\0';
	return b->at;
}

#define buf_lit(b, literal) buf_put((b), (literal), sizeof(literal) - 1)
