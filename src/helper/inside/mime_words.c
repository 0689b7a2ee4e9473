/* mime_words.c - encoded words in base64 that end with padding, with another behind them.
 *
 * GMime puts words that follow each other together before it decodes them, for
 * those that were cut within a character, and loses all behind the first
 * padding.  Many programs write such words, one after the other.  Here each of
 * them becomes one in the other encoding, which GMime does not put together
 * with the next.  What is no such word stays as it is. */
#include <glib.h>
#include <string.h>

#include "helper/inside/mime_parts.h"

/* An encoded word in base64 at `at`. */
struct word {
	const char *charset, *payload, *end; /* behind its ?= */
	size_t charset_len, payload_len;
};

static bool read_word(const char *at, const char *end, struct word *ret)
{
	const char *p = at + 2;

	if (end - at < 8 || memcmp(at, "=?", 2) != 0)
		return false;
	ret->charset = p;
	while (p < end && *p != '?' && (unsigned char)*p > ' ')
		p++;
	ret->charset_len = (size_t)(p - ret->charset);
	if (end - p < 5 || p[0] != '?' || (p[1] != 'B' && p[1] != 'b') || p[2] != '?')
		return false;
	p += 3;
	ret->payload = p;
	while (p < end && (g_ascii_isalnum(*p) || *p == '+' || *p == '/' || *p == '='))
		p++;
	ret->payload_len = (size_t)(p - ret->payload);
	ret->end = p + 2;
	return end - p >= 2 && p[0] == '?' && p[1] == '=';
}

/* Whether nothing but blanks, across lines, lies before another encoded word. */
static bool is_followed(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p > at && end - p > 2 && p[0] == '=' && p[1] == '?';
}

static void put_quoted(struct buf *b, const struct word *w)
{
	gchar *text = g_strndup(w->payload, w->payload_len);
	gsize len = 0;
	guchar *bytes = g_base64_decode(text, &len);

	buf_printf(b, "=?%.*s?Q?", (int)w->charset_len, w->charset);
	for (gsize i = 0; i < len; i++)
		buf_printf(b, g_ascii_isalnum((char)bytes[i]) ? "%c" : "=%02X", bytes[i]);
	buf_puts(b, "?=");
	g_free(bytes);
	g_free(text);
}

static size_t head_len(const char *bytes, size_t len)
{
	const char *crlf = memmem(bytes, len, "\n\r\n", 3), *lf = memmem(bytes, len, "\n\n", 2);
	const char *end = crlf && (!lf || crlf < lf) ? crlf : lf;

	return end ? (size_t)(end - bytes) : len;
}

bool mime_part_words(struct buf *b, const char *bytes, size_t len)
{
	const char *head_end = bytes + head_len(bytes, len), *done = bytes, *at = bytes;
	struct word w;

	while ((at = memmem(at, (size_t)(head_end - at), "=?", 2))) {
		if (!read_word(at, head_end, &w)) {
			at += 2;
			continue;
		}
		if (w.payload_len && w.payload[w.payload_len - 1] == '=' &&
			is_followed(w.end, head_end)) {
			buf_put(b, done, (size_t)(at - done));
			put_quoted(b, &w);
			done = w.end;
		}
		at = w.end;
	}
	if (done == bytes)
		return false;
	buf_put(b, done, (size_t)(bytes + len - done));
	return !b->overflow;
}
