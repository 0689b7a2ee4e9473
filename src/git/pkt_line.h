/* pkt_line.h - git's lines on the wire: four digits that say how long a line is, and the line; see gitprotocol-common(5).
 *
 * Nothing is taken that git itself would not write: lengths are four digits of
 * hexadecimal, 1 to 65516 bytes follow, and of the short lengths only those that
 * have a meaning are there.  It knows nothing of what a line says. */
#pragma once
#include "base/buf.h"
#include "base/slice.h"

enum {
	PKT_HEAD = 4,
	PKT_MAX = 65520,	   /* with its four digits */
	PKT_BAND_MAX = PKT_MAX - 5 /* bytes of a side band in one line */
};

enum pkt {
	PKT_LINE,
	PKT_FLUSH, /* 0000 */
	PKT_DELIM, /* 0001 */
	PKT_ENDS,  /* 0002 */
	PKT_MORE,  /* the bytes end before the line does */
	PKT_BAD,
};

struct pkt_reader {
	const char *at;
	size_t len; /* what is left */
};

/* Takes the next line off.  Of PKT_MORE and PKT_BAD nothing is taken. */
enum pkt pkt_next(struct pkt_reader *r, struct slice *ret);
/* Without the LF that a line of text may end with. */
struct slice pkt_text(struct slice line);

/* One line, of at most PKT_MAX - PKT_HEAD bytes. */
void pkt_put(struct buf *b, const void *bytes, size_t n);
void pkt_puts(struct buf *b, const char *text);
void pkt_flush(struct buf *b);
/* Bytes of a side band, in as many lines as they need, each of at most `most` bytes with its head. */
void pkt_put_band(struct buf *b, int band, const void *bytes, size_t n, size_t most);
