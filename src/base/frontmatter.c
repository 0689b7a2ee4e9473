/* frontmatter.c - the structure of a head, and its writer; see frontmatter.h. */
#include "base/frontmatter.h"

#include <string.h>
#include <strings.h>

#include "base/frontmatter_parts.h"
#include "base/json.h"

enum { KEY_MAX = 1024 };

#define TOO_DEEP "this nests too deeply: a list or map holds texts only"

/* ---- keys ---- */

/* The colon after a plain key, or NULL if the line has none. */
static const char *colon_of(const char *p)
{
	for (; *p != '\n'; p++) {
		if (*p == '#' && (p[-1] == ' ' || p[-1] == '\t'))
			return NULL;
		if (*p == ':' && strchr(" \t\n", p[1]))
			return p;
	}
	return NULL;
}

/* True if the text at p is a key with its colon. */
static bool is_front_key(struct front_reader *r, const char *p)
{
	struct front_reader probe = *r;
	const char *text;

	if (*p != '"' && *p != '\'')
		return !strchr("[{", *p) && colon_of(p);
	if (!front_quoted(&probe, &p, 0, true, &text))
		return false;
	p += strspn(p, " \t");
	return *p == ':';
}

/* A key and its colon; *at is then after the colon and the blanks that follow it. */
static bool read_front_key(struct front_reader *r, const char **at, bool in_flow, const char **ret)
{
	const char *p = *at, *colon;
	bool quoted = *p == '"' || *p == '\'';

	if (quoted) {
		if (!front_quoted(r, &p, 0, true, ret))
			return false;
		p += strspn(p, " \t");
	} else {
		if (strchr("&*!", *p))
			return front_fault(r, p, "anchors, aliases and tags are not taken");
		if (strchr("?-", *p) && strchr(" \t\n", p[1]))
			return front_fault(r, p, "a key with its value is wanted here");
		if (strchr("|>%@`,[]{}#:", *p))
			return front_fault(r, p, "a key cannot begin with this character");
		colon = colon_of(p);
		if (!colon || (in_flow && strcspn(p, ",[]{}") < (size_t)(colon - p)))
			return front_fault(r, p, "a key is followed by a colon and a blank");
		*ret = arena_strndup(r->arena, p, (size_t)(colon - p));
		for (size_t n = (size_t)(colon - p); n && strchr(" \t", (*ret)[n - 1]);)
			((char *)*ret)[--n] = '\0';
		p = colon;
	}
	if (*p != ':' || (!(quoted && in_flow) && !strchr(" \t\n", p[1])))
		return front_fault(r, p, "a key is followed by a colon and a blank");
	if (!**ret || strlen(*ret) > KEY_MAX)
		return front_fault(r, *at, "a key has 1 to 1,024 bytes");
	*at = p + 1 + strspn(p + 1, " \t");
	return true;
}

/* ---- lists and maps ---- */

struct items {
	struct front_item *at;
	size_t count, cap;
};

static bool add_front_item(struct front_reader *r, struct items *list, const char *where,
	const char *key, const char *text)
{
	if (list->count == FRONT_ITEMS_MAX)
		return front_fault(r, where, "a list or map has at most 1,000 items");
	if (!key && !text)
		return front_fault(r, where, "an item of a list is empty");
	for (size_t i = 0; key && i < list->count; i++)
		if (strcmp(list->at[i].key, key) == 0)
			return front_fault(r, where, "this key is there already");
	if (list->count == list->cap) {
		struct front_item *more =
			arena_array(r->arena, struct front_item, list->cap ? list->cap * 2 : 8);

		if (list->count)
			memcpy(more, list->at, list->count * sizeof *more);
		list->cap = list->cap ? list->cap * 2 : 8;
		list->at = more;
	}
	list->at[list->count++] = (struct front_item){ key, text };
	return true;
}

/* Over blank lines and comments; false if a line is indented with a tab. */
static bool skip_lines(struct front_reader *r, const char **at)
{
	const char *p = *at;

	while (*p && (front_is_blank(p) || p[strspn(p, " \t")] == '#'))
		p = front_next_line(p);
	*at = p;
	if (p[front_indent(p)] == '\t')
		return front_fault(r, p, "indent with blanks, not with a tab");
	return true;
}

/* Between the parts of what stands in brackets: blanks, line ends, comments. */
static bool skip_in_flow(struct front_reader *r, const char **at, size_t parent)
{
	const char *p = *at + strspn(*at, " \t");

	while (*p == '\n' || (*p == '#' && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\n'))) {
		p = front_next_line(p);
		if (!skip_lines(r, &p))
			return false;
		if (!*p)
			return front_fault(r, *at, "a bracket is not closed");
		if (front_indent(p) <= parent)
			return front_fault(r, p, "the lines inside brackets must be indented");
		p += front_indent(p);
	}
	*at = p;
	return true;
}

static bool flow_text(struct front_reader *r, const char **at, size_t parent, const char **ret)
{
	if (**at == '[' || **at == '{')
		return front_fault(r, *at, TOO_DEEP);
	if (**at == '"' || **at == '\'')
		return front_quoted(r, at, parent, false, ret);
	return front_plain_in_flow(r, at, ret);
}

/* [a, "b"] or {a: b} */
static bool read_flow(struct front_reader *r, const char **at, size_t parent, struct front_entry *e)
{
	const bool map = **at == '{';
	const char close = map ? '}' : ']';
	struct items list = { 0 };
	const char *p = *at + 1;

	for (;;) {
		const char *key = NULL, *text = NULL, *where;

		if (!skip_in_flow(r, &p, parent))
			return false;
		if (*p == close)
			break;
		where = p;
		if (map && (!read_front_key(r, &p, true, &key) || !skip_in_flow(r, &p, parent)))
			return false;
		if (!(map && strchr(",}", *p)) && !flow_text(r, &p, parent, &text))
			return false;
		if (!add_front_item(r, &list, where, key, text) || !skip_in_flow(r, &p, parent))
			return false;
		if (*p != close && *p != ',')
			return front_fault(r, p, "a comma or the closing bracket is wanted here");
		p += *p == ',';
	}
	*at = p + 1;
	e->kind = map ? FRONT_MAP : FRONT_LIST;
	e->items = list.at;
	e->count = list.count;
	return front_line_ends(r, at);
}

/* A text, also if it begins on the line below its key; nothing there is null. */
static bool text_below(struct front_reader *r, const char **at, size_t parent, const char **ret)
{
	const char *p = *at;

	*ret = NULL;
	if (*p == '[' || *p == '{')
		return front_fault(r, p, TOO_DEEP);
	if (*p != '\n' && *p != '#')
		return front_text(r, at, parent, ret);
	*at = front_next_line(p);
	if (!skip_lines(r, at))
		return false;
	p = *at + front_indent(*at);
	if (!**at || front_indent(*at) <= parent)
		return true;
	if (*p == '[' || *p == '{' || is_front_key(r, p) || (*p == '-' && strchr(" \t\n", p[1])))
		return front_fault(r, p, TOO_DEEP);
	*at = p;
	return front_text(r, at, parent, ret);
}

static bool read_front_list(struct front_reader *r, const char **at, struct front_entry *e)
{
	size_t indent = front_indent(*at);
	struct items list = { 0 };

	while (**at && front_indent(*at) == indent && (*at)[indent] == '-' &&
		strchr(" \t\n", (*at)[indent + 1])) {
		const char *where = *at, *p = *at + indent + 1, *text = NULL;

		p += strspn(p, " \t");
		if (!text_below(r, &p, indent, &text) ||
			!add_front_item(r, &list, where, NULL, text) || !skip_lines(r, &p))
			return false;
		*at = p;
	}
	e->kind = FRONT_LIST;
	e->items = list.at;
	e->count = list.count;
	return true;
}

static bool read_map(struct front_reader *r, const char **at, struct front_entry *e)
{
	size_t indent = front_indent(*at);
	struct items list = { 0 };

	while (**at && front_indent(*at) == indent) {
		const char *where = *at, *p = *at + indent, *key = NULL, *text = NULL;

		if (!read_front_key(r, &p, false, &key) || !text_below(r, &p, indent, &text) ||
			!add_front_item(r, &list, where, key, text) || !skip_lines(r, &p))
			return false;
		*at = p;
	}
	e->kind = FRONT_MAP;
	e->items = list.at;
	e->count = list.count;
	return true;
}

/* ---- entries ---- */

static bool read_front_text(struct front_reader *r, const char **at, struct front_entry *e)
{
	if (!front_text(r, at, 0, &e->text))
		return false;
	e->kind = e->text ? FRONT_TEXT : FRONT_NULL;
	return true;
}

/* What a key of the first level holds; *at is after its colon, and then at the beginning of a line. */
static bool read_front_value(struct front_reader *r, const char **at, struct front_entry *e)
{
	const char *p;

	if (**at == '[' || **at == '{')
		return read_flow(r, at, 0, e);
	if (**at != '\n' && **at != '#')
		return read_front_text(r, at, e);
	*at = front_next_line(*at);
	if (!skip_lines(r, at))
		return false;
	p = *at + front_indent(*at);
	if (*p == '-' && strchr(" \t\n", p[1]))
		return read_front_list(r, at, e);
	if (!**at || p == *at)
		return true; /* nothing: null */
	if (*p == '[' || *p == '{') {
		*at = p;
		return read_flow(r, at, 0, e);
	}
	if (is_front_key(r, p))
		return read_map(r, at, e);
	*at = p;
	return read_front_text(r, at, e);
}

static bool read_entries(struct front_reader *r, struct frontmatter *f)
{
	const char *p = r->start, *counted = p;
	int line = 2; /* the first is --- */

	for (;;) {
		struct front_entry *e = &f->entries[f->count];

		if (!skip_lines(r, &p))
			return false;
		if (!*p)
			return true;
		if (front_indent(p))
			return front_fault(r, p, "this line is indented and belongs to no key");
		if (f->count == FRONT_ENTRIES_MAX)
			return front_fault(r, p, "there are more than 64 keys");
		for (; counted < p; counted++)
			line += *counted == '\n';
		e->line = line;
		if (!read_front_key(r, &p, false, &e->key))
			return false;
		if (front_find(f, e->key))
			return front_fault(r, counted, "this key is there already");
		if (!read_front_value(r, &p, e))
			return false;
		f->count++;
	}
}

const struct front_entry *front_find(const struct frontmatter *f, const char *key)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->entries[i].key, key) == 0)
			return &f->entries[i];
	return NULL;
}

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

/* The bytes between the markers with LF line ends; NULL with a fault. */
static const char *cut_head(
	struct arena *a, const char *text, const char *end, struct frontmatter *f)
{
	const char *p = text, *stop;
	size_t n = front_marker_len(p, end);
	char *head, *out;

	if (!n) {
		f->fault_line = 1;
		f->fault = "the file does not begin with a line of ---";
		return NULL;
	}
	for (p += n, stop = p; stop < end && !front_marker_len(stop, end);) {
		const char *line = memchr(stop, '\n', (size_t)(end - stop));

		stop = line ? line + 1 : end;
	}
	if (stop == end) {
		f->fault = "the head is not closed by a line of ---";
		return NULL;
	}
	if (stop - p > FRONT_HEAD_MAX) {
		f->fault = "the head has more than 128 KiB";
		return NULL;
	}
	f->body = stop + front_marker_len(stop, end);
	if (f->body < end && *f->body == '\n')
		f->body++;
	else if (end - f->body >= 2 && memcmp(f->body, "\r\n", 2) == 0)
		f->body += 2;
	f->body_len = (size_t)(end - f->body);
	head = out = arena_raw(a, (size_t)(stop - p) + 1, 1);
	for (; p < stop; p++)
		if (*p != '\r' || p + 1 == stop || p[1] != '\n')
			*out++ = *p;
	*out = '\0';
	return head;
}

bool front_read(struct arena *a, const char *text, size_t len, struct frontmatter *ret)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct front_reader r = { .arena = a };
	const char *end = text + len;

	*ret = (struct frontmatter){ 0 };
	if (!utf8_valid(text, len) || memchr(text, '\0', len)) {
		ret->fault = "the file is not UTF-8 text";
		return false;
	}
	if (len >= 3 && memcmp(text, mark, 3) == 0)
		text += 3;
	r.start = cut_head(a, text, end, ret);
	if (!r.start)
		return false;
	for (const char *p = r.start; *p && !r.fault; p++)
		if ((*p > 0 && *p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
			front_fault(&r, p, "a control character stands in the head");
	if (!r.fault && read_entries(&r, ret))
		return true;
	ret->fault = r.fault;
	ret->fault_line = 2;
	for (const char *p = r.start; p < r.fault_at; p++)
		ret->fault_line += *p == '\n';
	return false;
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
