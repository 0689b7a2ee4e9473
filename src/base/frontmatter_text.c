/* frontmatter_text.c - the texts of a head: plain, quoted, folded and literal; see frontmatter.h. */
#include <stdint.h>
#include <string.h>

#include "base/frontmatter_parts.h"

enum { TEXT_MAX = 2 * FRONT_HEAD_MAX }; /* an escape of two bytes may stand for three */

static bool is_blank_char(char c)
{
	return c == ' ' || c == '\t';
}

static bool ends_word(char c)
{
	return is_blank_char(c) || c == '\n' || c == '\0';
}

bool front_fault(struct front_reader *r, const char *at, const char *sentence)
{
	if (!r->fault) {
		r->fault = sentence;
		r->fault_at = at;
	}
	return false;
}

size_t front_indent(const char *line)
{
	return strspn(line, " ");
}

bool front_is_blank(const char *line)
{
	return line[strspn(line, " \t")] == '\n';
}

const char *front_next_line(const char *line)
{
	return strchr(line, '\n') + 1;
}

bool front_line_ends(struct front_reader *r, const char **at)
{
	const char *p = *at + strspn(*at, " \t");

	if (*p != '\n' && (*p != '#' || p == *at))
		return front_fault(r, p, "there is something after the end of the value");
	*at = front_next_line(p);
	return true;
}

/* What was gathered, into the arena. */
static const char *keep_front_text(struct front_reader *r, struct buf *b)
{
	const char *text = arena_strndup(r->arena, b->len ? b->at : "", b->len);

	buf_free(b);
	return text;
}

static void put_code_point(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_putc(b, (char)c);
	} else if (c < 0x800) {
		buf_putc(b, (char)(0xc0 | c >> 6));
		buf_putc(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_putc(b, (char)(0xe0 | c >> 12));
		buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_putc(b, (char)(0xf0 | c >> 18));
		buf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(b, (char)(0x80 | (c & 0x3f)));
	}
}

static int escape_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* \xHH, \uHHHH, \UHHHHHHHH: `digits` of them at *at. */
static bool escape_by_number(struct front_reader *r, const char **at, int digits, struct buf *b)
{
	uint32_t c = 0;

	for (int i = 0; i < digits; i++) {
		int digit = escape_hex_digit((*at)[i]);

		if (digit < 0)
			return front_fault(r, *at, "an escape has too few hexadecimal digits");
		c = c << 4 | (uint32_t)digit;
	}
	if (!c || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return front_fault(r, *at, "an escape stands for no character");
	put_code_point(b, c);
	*at += digits;
	return true;
}

/* The escape whose letter is at *at. */
static bool read_escape(struct front_reader *r, const char **at, struct buf *b)
{
	static const struct {
		char letter;
		uint32_t c;
	} letters[] = {
		{ 'a', 7 },
		{ 'b', 8 },
		{ 't', 9 },
		{ '\t', 9 },
		{ 'n', 10 },
		{ 'v', 11 },
		{ 'f', 12 },
		{ 'r', 13 },
		{ 'e', 27 },
		{ ' ', ' ' },
		{ '"', '"' },
		{ '/', '/' },
		{ '\\', '\\' },
		{ 'N', 0x85 },
		{ '_', 0xa0 },
		{ 'L', 0x2028 },
		{ 'P', 0x2029 },
	};
	char letter = *(*at)++;

	for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
		if (letters[i].letter == letter) {
			put_code_point(b, letters[i].c);
			return true;
		}
	if (letter == 'x' || letter == 'u' || letter == 'U')
		return escape_by_number(r, at, letter == 'x' ? 2 : letter == 'u' ? 4 : 8, b);
	return front_fault(r, *at - 1, "a quoted text has an escape that is not known");
}

/* From the end of a line of a quoted text to the text of the next: a blank, or a line end for each
 * empty line between them; nothing after an escaped line end. */
static bool fold_line(struct front_reader *r, const char **at, size_t parent, bool escaped,
	size_t kept, struct buf *b)
{
	size_t empty = 0;
	const char *p = front_next_line(*at);

	while (!escaped && b->len > kept && is_blank_char(b->at[b->len - 1]))
		b->len--;
	for (; *p && front_is_blank(p); p = front_next_line(p))
		empty++;
	if (!*p)
		return front_fault(r, *at, "a quoted text is not closed");
	if (front_indent(p) <= parent)
		return front_fault(r, p, "the lines of a quoted text must be indented");
	if (!empty && !escaped)
		buf_putc(b, ' ');
	for (; empty; empty--)
		buf_putc(b, '\n');
	*at = p + strspn(p, " \t");
	return true;
}

bool front_quoted(
	struct front_reader *r, const char **at, size_t parent, bool one_line, const char **ret)
{
	const char quote = **at, *open = *at, *p = open + 1;
	size_t kept = 0; /* blanks before this were escaped, and stay */
	bool ok = true;
	struct buf b;

	buf_init(&b, TEXT_MAX);
	while (ok && (*p != quote || (quote == '\'' && p[1] == '\''))) {
		if (!*p || (*p == '\n' && one_line)) {
			ok = front_fault(r, open, "a quoted text is not closed");
		} else if (*p == '\n') {
			ok = fold_line(r, &p, parent, false, kept, &b);
		} else if (*p == '\'' && quote == '\'') {
			buf_putc(&b, '\'');
			p += 2;
		} else if (*p == '\\' && quote == '"' && p[1] == '\n' && !one_line) {
			p++;
			ok = fold_line(r, &p, parent, true, kept, &b);
		} else if (*p == '\\' && quote == '"') {
			p++;
			ok = read_escape(r, &p, &b);
			kept = b.len;
		} else {
			buf_putc(&b, *p++);
		}
	}
	*ret = keep_front_text(r, &b);
	*at = ok ? p + 1 : p;
	return ok;
}

/* Where a plain text ends on its line: before a comment, or in brackets before what separates; blanks at
 * its end do not count.  False if a colon makes it a key. */
static bool plain_line(struct front_reader *r, const char *p, bool in_flow, const char **ret)
{
	const char *end = p;

	for (; *p != '\n'; p++) {
		if (*p == '#' && is_blank_char(p[-1]))
			break;
		if (in_flow && strchr(",[]{}", *p))
			break;
		if (*p == ':' && (ends_word(p[1]) || (in_flow && strchr(",[]{}", p[1]))))
			return front_fault(r, p,
				"a plain text has a colon with a blank after it: put the text in quotes");
		if (!is_blank_char(*p))
			end = p + 1;
	}
	*ret = end;
	return true;
}

/* What a plain text may not begin with. */
static bool plain_begins(struct front_reader *r, const char *p)
{
	if (strchr("&*", *p))
		return front_fault(
			r, p, "anchors and aliases are not taken: put the text in quotes");
	if (*p == '!')
		return front_fault(r, p, "tags are not taken: put the text in quotes");
	if (strchr("%@`,[]{}#|>'\"", *p))
		return front_fault(r, p,
			"a plain text cannot begin with this character: put the text in quotes");
	if (strchr("-?:", *p) && ends_word(p[1]))
		return front_fault(r, p, "a list or a further key cannot stand here");
	return true;
}

static bool is_null(const char *text)
{
	return !*text || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
	       strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

bool front_plain_in_flow(struct front_reader *r, const char **at, const char **ret)
{
	const char *end = *at;

	if (!plain_begins(r, *at) || !plain_line(r, *at, true, &end))
		return false;
	*ret = arena_strndup(r->arena, *at, (size_t)(end - *at));
	*at = end;
	if (is_null(*ret))
		*ret = NULL;
	return true;
}

/* A plain text and the lines it goes on over, joined by blanks. */
static bool read_plain_text(
	struct front_reader *r, const char **at, size_t parent, const char **ret)
{
	const char *p = *at, *end = p, *next;
	bool ok = plain_begins(r, p);
	size_t empty = 0;
	struct buf b;

	buf_init(&b, TEXT_MAX);
	for (; ok; p = next + front_indent(next), empty = 0) {
		ok = plain_line(r, p, false, &end);
		if (!ok)
			break;
		buf_put(&b, p, (size_t)(end - p));
		*at = front_next_line(end);
		for (next = *at; *next && front_is_blank(next); next = front_next_line(next))
			empty++;
		if (!*next || front_indent(next) <= parent || next[strspn(next, " \t")] == '#')
			break;
		if (end[strspn(end, " \t")] == '#')
			ok = front_fault(r, next, "a plain text does not go on after a comment");
		else if (next[front_indent(next)] == '\t')
			ok = front_fault(r, next, "indent with blanks, not with a tab");
		if (!empty)
			buf_putc(&b, ' ');
		for (; empty; empty--)
			buf_putc(&b, '\n');
	}
	*ret = keep_front_text(r, &b);
	if (is_null(*ret))
		*ret = NULL;
	return ok;
}

struct block_style {
	bool folded;
	char chomp;    /* '+' keeps all line ends, '-' none, 0 one */
	size_t indent; /* 0: that of its first line */
};

/* `|`, `>`, with a digit and a sign after it in either order. */
static bool block_header(struct front_reader *r, const char **at, struct block_style *ret)
{
	const char *p = *at;

	*ret = (struct block_style){ .folded = *p++ == '>' };
	for (int i = 0; i < 2; i++) {
		if (*p >= '1' && *p <= '9' && !ret->indent)
			ret->indent = (size_t)(*p++ - '0');
		else if ((*p == '+' || *p == '-') && !ret->chomp)
			ret->chomp = *p++;
	}
	*at = p;
	if (!ends_word(*p))
		return front_fault(r, p, "after | or > stand only a digit, a sign and a comment");
	return front_line_ends(r, at);
}

/* A line of a block is empty if it has no more than the indentation. */
static bool block_line_is_empty(const char *line, size_t indent)
{
	size_t blanks = front_indent(line);

	return line[blanks] == '\n' && blanks <= indent;
}

static size_t skip_empty(const char **at, size_t indent)
{
	size_t n = 0;

	for (; **at && block_line_is_empty(*at, indent); *at = front_next_line(*at))
		n++;
	return n;
}

static void put_lines(struct buf *b, size_t n)
{
	for (; n; n--)
		buf_putc(b, '\n');
}

/* The indentation of the first line that is not empty; 0 if the block is. */
static bool block_indent(struct front_reader *r, const char *at, size_t parent, size_t *ret)
{
	size_t longest = 0;
	const char *p = at;

	for (; *p && p[front_indent(p)] == '\n'; p = front_next_line(p))
		if (front_indent(p) > longest)
			longest = front_indent(p);
	*ret = *p && front_indent(p) > parent ? front_indent(p) : 0;
	if (*ret && longest > *ret)
		return front_fault(r, at, "an empty line is indented more than the text below it");
	if (!*ret)
		*ret = longest > parent ? longest : parent + 1;
	return true;
}

static bool read_block_text(
	struct front_reader *r, const char **at, size_t parent, const char **ret)
{
	struct block_style k;
	size_t empty, end = 0;
	struct buf b;

	if (!block_header(r, at, &k))
		return false;
	k.indent += k.indent ? parent : 0;
	if (!k.indent && !block_indent(r, *at, parent, &k.indent))
		return false;
	buf_init(&b, TEXT_MAX);
	empty = skip_empty(at, k.indent);
	while (**at && front_indent(*at) >= k.indent) {
		const char *text = *at + k.indent, *stop = strchr(text, '\n');
		bool flush = !is_blank_char(*text);

		put_lines(&b, empty);
		buf_put(&b, text, (size_t)(stop - text));
		*at = stop + 1;
		end = 1;
		empty = skip_empty(at, k.indent);
		if (!**at || front_indent(*at) < k.indent)
			break;
		if (!k.folded || !flush || is_blank_char((*at)[k.indent]))
			buf_putc(&b, '\n');
		else if (!empty)
			buf_putc(&b, ' ');
	}
	if (k.chomp != '-')
		put_lines(&b, end);
	if (k.chomp == '+')
		put_lines(&b, empty);
	*ret = keep_front_text(r, &b);
	return true;
}

bool front_text(struct front_reader *r, const char **at, size_t parent, const char **ret)
{
	if (**at == '|' || **at == '>')
		return read_block_text(r, at, parent, ret);
	if (**at == '"' || **at == '\'')
		return front_quoted(r, at, parent, false, ret) && front_line_ends(r, at);
	return read_plain_text(r, at, parent, ret);
}
