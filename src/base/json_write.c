/* json_write.c - JSON text straight into a buffer; see json.h. */
#include "base/json.h"
#include "base/clock.h"
#include "base/money.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* 1 for the bytes that must be escaped inside a string. */
static const unsigned char special[256] = {
	[0 ... 0x1f] = 1,
	['"'] = 1,
	['\\'] = 1,
	[0x7f] = 1,
};

void json_write_string(struct buf *b, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len, *run = p;

	buf_putc(b, '"');
	for (; p < end; p++) {
		if (!special[*p])
			continue;
		buf_put(b, run, (size_t)(p - run));
		run = p + 1;
		switch (*p) {
		case '"':
			buf_lit(b, "\\\"");
			break;
		case '\\':
			buf_lit(b, "\\\\");
			break;
		case '\n':
			buf_lit(b, "\\n");
			break;
		case '\r':
			buf_lit(b, "\\r");
			break;
		case '\t':
			buf_lit(b, "\\t");
			break;
		default:
			buf_printf(b, "\\u%04x", *p);
		}
	}
	buf_put(b, run, (size_t)(p - run));
	buf_putc(b, '"');
}

void json_write_money(struct buf *b, __int128 pd)
{
	char text[MONEY_TEXT_MAX];

	buf_puts(b, money_text(pd, text));
}

void json_write_number(struct buf *b, double v)
{
	enum { PLACES_MAX = 20 };
	char text[32], plain[PLACES_MAX + 4];

	if (!isfinite(v)) {
		buf_lit(b, "null");
		return;
	}
	if (v == floor(v) && fabs(v) < 1e15) {
		buf_put_int(b, (int64_t)v);
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(text, sizeof text, "%.*g", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	/* Small sums of money are read by people: 0.00001, not 1e-05. */
	for (int places = 5; fabs(v) >= 1e-12 && fabs(v) < 1e-4 && places <= PLACES_MAX; places++) {
		snprintf(plain, sizeof plain, "%.*f", places, v);
		if (strtod(plain, NULL) == v) {
			buf_puts(b, plain);
			return;
		}
	}
	buf_puts(b, text);
}

void json_write_time(struct buf *b, int64_t us)
{
	char text[TIME_TEXT_LEN + 2];

	text[0] = text[TIME_TEXT_LEN + 1] = '"';
	time_write(us, text + 1);
	buf_put(b, text, sizeof text);
}

void json_write_compact(struct buf *b, const char *text, size_t len)
{
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!quoted && (c == ' ' || c == '\n' || c == '\r' || c == '\t'))
			continue;
		buf_putc(b, c);
		if (quoted && c == '\\' && i + 1 < len)
			buf_putc(b, text[++i]);
		else if (c == '"')
			quoted = !quoted;
	}
}
