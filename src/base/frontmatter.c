/* frontmatter.c - see frontmatter.h. */
#include "base/frontmatter.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"

/* The length of the line `---` at p, with its end; 0 if it is another. */
static size_t front_marker_len(const char *p, const char *end)
{
	const char *q = p + 3;

	if (end - p < 3 || memcmp(p, "---", 3) != 0)
		return 0;
	while (q < end && (*q == ' ' || *q == '\t' || *q == '\r'))
		q++;
	return q == end ? (size_t)(q - p) : *q == '\n' ? (size_t)(q - p) + 1 : 0;
}

static bool front_fault(struct frontmatter *f, int line, const char *sentence)
{
	f->fault_line = line;
	f->fault = sentence;
	return false;
}

bool front_split(const char *text, size_t len, struct frontmatter *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	const char *end = text + len, *p;

	*ret = (struct frontmatter){ 0 };
	if (!utf8_valid(text, len) || memchr(text, '\0', len))
		return front_fault(ret, 0, "the file is not UTF-8 text");
	if (len >= 3 && memcmp(text, mark, 3) == 0)
		text += 3;
	if (!front_marker_len(text, end))
		return front_fault(ret, 1, "the file does not begin with a line of ---");
	ret->head = p = text + front_marker_len(text, end);
	while (p < end && !front_marker_len(p, end)) {
		const char *line = memchr(p, '\n', (size_t)(end - p));

		p = line ? line + 1 : end;
	}
	if (p == end)
		return front_fault(ret, 0, "the head is not closed by a line of ---");
	ret->head_len = (size_t)(p - ret->head);
	if (ret->head_len > FRONT_HEAD_MAX)
		return front_fault(ret, 0, "the head has more than 128 KiB");
	p += front_marker_len(p, end);
	if (p < end && *p == '\n')
		p++;
	else if (end - p >= 2 && memcmp(p, "\r\n", 2) == 0)
		p += 2;
	ret->body = p;
	ret->body_len = (size_t)(end - p);
	return true;
}

/* ---- the writer ---- */

/* Words that other readers take for something else than text. */
static bool is_word(const char *text)
{
	static const char *const words[] = { "null", "true", "false", "yes", "no", "on", "off", "y",
		"n", NULL };

	for (const char *const *w = words; *w; w++)
		if (strcasecmp(*w, text) == 0)
			return true;
	return false;
}

/* Letters, digits and what never means anything: such a text needs no quotes.  It begins with a letter,
 * so that nobody takes it for a number or a date. */
static bool is_simple(const char *text)
{
	size_t n = strlen(text);

	if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", *text) || !n)
		return false;
	if (text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
			      "_-./,;()+*'")])
		return false;
	return text[n - 1] != ' ' && !is_word(text);
}

/* The code point at *at, which is valid UTF-8. */
static unsigned code_point(const char **at)
{
	const unsigned char *p = (const unsigned char *)*at;
	int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
	unsigned c = more == 0 ? *p : *p & (0x3fu >> more);

	for (int i = 1; i <= more; i++)
		c = c << 6 | (p[i] & 0x3fu);
	*at += more + 1;
	return c;
}

void front_write_text(struct buf *out, const char *text)
{
	if (is_simple(text)) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	while (*text) {
		const char *from = text;
		unsigned c = code_point(&text);

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", (char)c);
		else if (c == '\n')
			buf_lit(out, "\\n");
		else if (c == '\t')
			buf_lit(out, "\\t");
		else if (c < ' ' || (c >= 0x7f && c <= 0x9f))
			buf_printf(out, "\\x%02x", c);
		else if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
			buf_printf(out, "\\u%04x", c);
		else
			buf_put(out, from, (size_t)(text - from));
	}
	buf_putc(out, '"');
}
