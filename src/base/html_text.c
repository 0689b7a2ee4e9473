/* html_text.c - see html_text.h.  A scanner over tags, not a parser: pages are often wrong, and nothing
 * depends on where an element ends but those that are left out whole. */
#include "base/html_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/html_hidden.h"

enum { TAG_NAME_MAX = 16, HREF_MAX = 500, ENTITY_MAX = 32, GROWTH = 3, GROUNDS_MAX = 32 };

/* An element that has a colour of its own behind its text. */
struct ground {
	char name[TAG_NAME_MAX];
	int32_t before; /* the colour around it */
	unsigned inner; /* elements of its name that are open in it */
};

struct html {
	const char *at, *end;
	struct arena *arena;
	struct buf out;
	int breaks;	     /* line ends that are due before the next word: 0 to 2 */
	bool blank;	     /* a blank is due */
	int pre;	     /* inside so many <pre> */
	char href[HREF_MAX]; /* of the link that is open, or "" */
	int32_t ground;	     /* the colour behind the text, or HTML_GROUND_UNKNOWN */
	struct ground grounds[GROUNDS_MAX];
	size_t ground_count;
	unsigned closed; /* details that show nothing but the summary that we are in */
	bool letter;	 /* no window shows its title */
};

struct tag {
	char name[TAG_NAME_MAX]; /* lower case */
	bool closes;
	const char *attributes, *end; /* up to the > */
};

/* ---- writing ---- */

static void put_due(struct html *h)
{
	if (h->out.len) {
		for (int i = 0; i < h->breaks; i++)
			buf_putc(&h->out, '\n');
		if (!h->breaks && h->blank)
			buf_putc(&h->out, ' ');
	}
	h->breaks = 0;
	h->blank = false;
}

static void put_break(struct html *h, int count)
{
	if (h->breaks < count)
		h->breaks = count;
}

static void put_byte(struct html *h, char c)
{
	bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';

	if (!space) {
		put_due(h);
		buf_putc(&h->out, c);
	} else if (!h->pre) {
		h->blank = true;
	} else if (c != '\r') {
		put_due(h);
		buf_putc(&h->out, c);
	}
}

static void put_point(struct html *h, uint32_t c)
{
	char bytes[4];
	size_t n = 0;

	if (c < 0x80) {
		bytes[n++] = (char)c;
	} else if (c < 0x800) {
		bytes[n++] = (char)(0xc0 | c >> 6);
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		bytes[n++] = (char)(0xe0 | c >> 12);
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | c >> 18);
		bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		bytes[n++] = (char)(0x80 | (c & 0x3f));
	}
	for (size_t i = 0; i < n; i++)
		put_byte(h, bytes[i]);
}

/* ---- entities ---- */

static const struct {
	const char *name;
	uint32_t point;
} entities[] = {
	{ "amp", '&' },
	{ "lt", '<' },
	{ "gt", '>' },
	{ "quot", '"' },
	{ "apos", '\'' },
	{ "nbsp", ' ' },
	{ "shy", 0xad },
	{ "copy", 0xa9 },
	{ "reg", 0xae },
	{ "trade", 0x2122 },
	{ "deg", 0xb0 },
	{ "plusmn", 0xb1 },
	{ "micro", 0xb5 },
	{ "para", 0xb6 },
	{ "sect", 0xa7 },
	{ "middot", 0xb7 },
	{ "times", 0xd7 },
	{ "divide", 0xf7 },
	{ "frac12", 0xbd },
	{ "laquo", 0xab },
	{ "raquo", 0xbb },
	{ "ndash", 0x2013 },
	{ "mdash", 0x2014 },
	{ "lsquo", 0x2018 },
	{ "rsquo", 0x2019 },
	{ "ldquo", 0x201c },
	{ "rdquo", 0x201d },
	{ "bull", 0x2022 },
	{ "hellip", 0x2026 },
	{ "euro", 0x20ac },
	{ "pound", 0xa3 },
	{ "yen", 0xa5 },
	{ "cent", 0xa2 },
	{ "larr", 0x2190 },
	{ "uarr", 0x2191 },
	{ "rarr", 0x2192 },
	{ "darr", 0x2193 },
	{ "minus", 0x2212 },
	{ "le", 0x2264 },
	{ "ge", 0x2265 },
	{ "ne", 0x2260 },
	{ "Auml", 0xc4 },
	{ "Ouml", 0xd6 },
	{ "Uuml", 0xdc },
	{ "auml", 0xe4 },
	{ "ouml", 0xf6 },
	{ "uuml", 0xfc },
	{ "szlig", 0xdf },
	{ "eacute", 0xe9 },
	{ "egrave", 0xe8 },
	{ "ecirc", 0xea },
	{ "agrave", 0xe0 },
	{ "aacute", 0xe1 },
	{ "acirc", 0xe2 },
	{ "atilde", 0xe3 },
	{ "aring", 0xe5 },
	{ "aelig", 0xe6 },
	{ "ccedil", 0xe7 },
	{ "iacute", 0xed },
	{ "icirc", 0xee },
	{ "ntilde", 0xf1 },
	{ "oacute", 0xf3 },
	{ "ocirc", 0xf4 },
	{ "oslash", 0xf8 },
	{ "uacute", 0xfa },
	{ "ugrave", 0xf9 },
	{ "ucirc", 0xfb },
};

/* "#65" or "#x41" */
static uint32_t entity_number(const char *text, size_t len)
{
	uint32_t base = len > 1 && (text[1] | 0x20) == 'x' ? 16 : 10, value = 0;

	for (size_t i = base == 16 ? 2 : 1; i < len; i++) {
		const char *digits = "0123456789abcdef", *d = strchr(digits, text[i] | 0x20);

		if (text[i] >= '0' && text[i] <= '9')
			d = digits + (text[i] - '0');
		if (!d || !*d || (uint32_t)(d - digits) >= base)
			return 0;
		value = value * base + (uint32_t)(d - digits);
		if (value > 0x10ffff)
			return 0xfffd;
	}
	return value >= 0xd800 && value < 0xe000 ? 0xfffd : value;
}

/* At an &: what it stands for, or the & itself. */
static void put_entity(struct html *h)
{
	size_t most = (size_t)(h->end - h->at), len = 1;
	const char *name = h->at + 1;
	uint32_t point = 0;

	while (len < most && len < ENTITY_MAX &&
		strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#",
			h->at[len]) &&
		h->at[len])
		len++;
	if (len > 2 && *name == '#')
		point = entity_number(name, len - 1);
	for (size_t i = 0; !point && i < sizeof entities / sizeof *entities; i++)
		if (strlen(entities[i].name) == len - 1 &&
			memcmp(entities[i].name, name, len - 1) == 0)
			point = entities[i].point;
	if (!point) {
		put_byte(h, '&');
		h->at++;
		return;
	}
	put_point(h, point);
	h->at += len;
	if (h->at < h->end && *h->at == ';')
		h->at++;
}

/* ---- tags ---- */

static bool tag_is_one_of(const struct tag *t, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(*list, t->name) == 0)
			return true;
	return false;
}

/* At a <; false if it is none of a tag, and nothing is read. */
static bool read_tag(struct html *h, struct tag *t)
{
	const char *p = h->at + 1;
	size_t n = 0;
	char quote = '\0';

	*t = (struct tag){ .closes = p < h->end && *p == '/' };
	p += t->closes;
	if (p >= h->end || (*p | 0x20) < 'a' || (*p | 0x20) > 'z')
		return false;
	for (; p < h->end &&
		(((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') || (*p >= '0' && *p <= '9'));
		p++)
		if (n < TAG_NAME_MAX - 1)
			t->name[n++] = (char)(*p >= 'A' && *p <= 'Z' ? *p | 0x20 : *p);
	t->attributes = p;
	for (; p < h->end && (quote || *p != '>'); p++) {
		if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '"' || *p == '\'') && p[-1] == '=')
			quote = *p;
	}
	t->end = p;
	h->at = p < h->end ? p + 1 : p;
	return true;
}

/* After everything up to the tag that closes this one. */
static void skip_element(struct html *h, const char *name)
{
	size_t len = strlen(name);

	while (h->at < h->end) {
		const char *p = memchr(h->at, '<', (size_t)(h->end - h->at));
		struct tag t;

		if (!p) {
			h->at = h->end;
			return;
		}
		h->at = p;
		if ((size_t)(h->end - p) > len + 2 && p[1] == '/' &&
			strncasecmp(p + 2, name, len) == 0 && read_tag(h, &t)) {
			return;
		}
		if (h->at == p)
			h->at++;
	}
}

static void read_href(struct html *h, const struct tag *t)
{
	size_t n = 0;

	h->href[0] = '\0';
	for (const char *p = t->attributes; p + 5 < t->end; p++) {
		char quote;

		if ((*p != ' ' && *p != '\t' && *p != '\n') || strncasecmp(p + 1, "href=", 5) != 0)
			continue;
		p += 6;
		quote = p < t->end && (*p == '"' || *p == '\'') ? *p++ : '\0';
		while (p < t->end && *p != quote && (quote || (*p != ' ' && *p != '\t')) &&
			n < HREF_MAX - 1 && (unsigned char)*p > ' ')
			h->href[n++] = *p++;
		h->href[n] = '\0';
		/* one that is too long, or leads nowhere else, is left out */
		if (n == HREF_MAX - 1 || h->href[0] == '#' ||
			strncasecmp(h->href, "javascript:", 11) == 0 ||
			strncasecmp(h->href, "data:", 5) == 0)
			h->href[0] = '\0';
		return;
	}
}

static void put_href(struct html *h)
{
	if (h->href[0]) {
		h->blank = true;
		put_due(h);
		buf_putc(&h->out, '(');
		for (const char *p = h->href; *p; p += strncmp(p, "&amp;", 5) == 0 ? 5 : 1)
			buf_putc(&h->out, *p);
		buf_putc(&h->out, ')');
	}
	h->href[0] = '\0';
}

/* <!-- ... -->, <!DOCTYPE ...>, <? ... > */
static void skip_declaration(struct html *h)
{
	size_t left = (size_t)(h->end - h->at);
	bool comment = left >= 4 && memcmp(h->at, "<!--", 4) == 0;
	const char *mark = comment ? "-->" : ">",
		   *stop = comment ? memmem(h->at + 4, left - 4, mark, 3)
				   : memchr(h->at, '>', left);

	h->at = stop ? stop + strlen(mark) : h->end;
}

static const char *const unseen[] = { "script", "style", "noscript", "template", "svg", "iframe",
	"object", "select", "textarea", "audio", "canvas", "video", "datalist", "noframes", "meter",
	"progress", NULL };

/* After everything in an element that nobody sees, elements of its name within it counted; or, with `until`, before the
 * first tag of that name in it.  True if that came. */
static bool skip_hidden_until(struct html *h, const char *name, const char *until)
{
	static const char *const alone[] = { "p", "li", "td", "th", "tr", "dt", "dd", "option",
		NULL };
	struct tag t = { 0 };
	bool by_next;

	snprintf(t.name, sizeof t.name, "%s", name);
	by_next = tag_is_one_of(&t, alone);
	for (size_t depth = 1; h->at < h->end;) {
		const char *p = memchr(h->at, '<', (size_t)(h->end - h->at));

		h->at = p ? p : h->end;
		if (!p)
			return false;
		if (p + 1 < h->end && (p[1] == '!' || p[1] == '?')) {
			skip_declaration(h);
		} else if (!read_tag(h, &t)) {
			h->at = p + 1;
		} else if (strcmp(t.name, name) == 0) {
			if (!t.closes && by_next) {
				h->at = p;
				return false;
			}
			depth += t.closes ? (size_t)-1 : 1;
			if (!depth)
				return false;
		} else if (until && depth == 1 && !t.closes && strcmp(t.name, until) == 0) {
			h->at = p;
			return true;
		} else if (!t.closes && tag_is_one_of(&t, unseen)) {
			skip_element(h, t.name);
		}
	}
	return false;
}

static void skip_hidden(struct html *h, const char *name)
{
	skip_hidden_until(h, name, NULL);
}

/* What opens only when somebody asks for it: a dialogue, and of details all but their summary.  True if something was passed
 * over. */
static bool skip_closed(struct html *h, const struct tag *t)
{
	bool open = html_has(t->attributes, (size_t)(t->end - t->attributes), "open");

	if (t->closes && strcmp(t->name, "summary") == 0 && h->closed) {
		h->closed--;
		skip_hidden(h, "details");
	} else if (!t->closes && !open && strcmp(t->name, "dialog") == 0) {
		skip_hidden(h, "dialog");
	} else if (!t->closes && !open && strcmp(t->name, "details") == 0) {
		h->closed += skip_hidden_until(h, "details", "summary");
	} else {
		return false;
	}
	put_break(h, 1);
	return true;
}

static void leave_ground(struct html *h, const char *name)
{
	struct ground *top = h->ground_count ? &h->grounds[h->ground_count - 1] : NULL;

	if (!top || strcmp(top->name, name) != 0)
		return;
	if (top->inner) {
		top->inner--;
	} else {
		h->ground = top->before;
		h->ground_count--;
	}
}

static void enter_ground(struct html *h, const char *name, int32_t ground)
{
	struct ground *top = h->ground_count ? &h->grounds[h->ground_count - 1] : NULL;

	if (ground == h->ground || h->ground_count == GROUNDS_MAX) {
		if (top && strcmp(top->name, name) == 0)
			top->inner++;
		return;
	}
	top = &h->grounds[h->ground_count++];
	snprintf(top->name, sizeof top->name, "%s", name);
	top->before = h->ground;
	top->inner = 0;
	h->ground = ground;
}

/* What a tag's attributes do; true if it was hidden and all of it is behind us. */
static bool take_look(struct html *h, const struct tag *t)
{
	static const char *const empty[] = { "br", "hr", "img", "input", "meta", "link", "col",
		"area", "base", "wbr", "source", "embed", "track", "param", NULL };
	int32_t ground;

	if (tag_is_one_of(t, empty))
		return false;
	if (t->closes) {
		leave_ground(h, t->name);
		return false;
	}
	if (html_hides(t->attributes, (size_t)(t->end - t->attributes), h->ground, &ground)) {
		skip_hidden(h, t->name);
		return true;
	}
	enter_ground(h, t->name, ground);
	return false;
}

static void take_tag(struct html *h, const struct tag *t)
{
	static const char *const paragraphs[] = { "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul",
		"ol", "dl", "table", "pre", "blockquote", "section", "article", "header", "footer",
		"nav", "main", "aside", "figure", "form", "title", NULL };
	static const char *const lines[] = { "br", "div", "tr", "dt", "dd", "hr", "option",
		"caption", "figcaption", "address", "li", NULL };

	if (!t->closes && tag_is_one_of(t, unseen)) {
		if (t->end == t->attributes || t->end[-1] != '/' || strcmp(t->name, "svg") != 0)
			skip_element(h, t->name);
		return;
	}
	if (h->letter && !t->closes && strcmp(t->name, "title") == 0) {
		skip_element(h, t->name);
		return;
	}
	if (take_look(h, t)) {
		h->blank = true;
		return;
	}
	if (skip_closed(h, t))
		return;
	if (strcmp(t->name, "a") == 0) {
		put_href(h);
		if (!t->closes)
			read_href(h, t);
	}
	if (strcmp(t->name, "pre") == 0)
		h->pre = t->closes ? 0 : 1;
	if (tag_is_one_of(t, paragraphs))
		put_break(h, 2);
	else if (tag_is_one_of(t, lines))
		put_break(h, 1);
	else if (strcmp(t->name, "td") == 0 || strcmp(t->name, "th") == 0)
		h->blank = true;
	if (!t->closes && strcmp(t->name, "li") == 0) {
		put_byte(h, '-');
		h->blank = true;
	}
}

static const char *read_html(
	struct arena *a, const char *html, size_t len, bool letter, size_t *ret_len)
{
	struct html h = {
		.at = html, .end = html + len, .arena = a, .ground = HTML_WHITE, .letter = letter
	};
	const char *text;
	struct tag t;

	buf_init(&h.out, len * GROWTH + ENTITY_MAX);
	while (h.at < h.end) {
		if (*h.at == '<' && h.at + 1 < h.end && (h.at[1] == '!' || h.at[1] == '?'))
			skip_declaration(&h);
		else if (*h.at == '<' && read_tag(&h, &t))
			take_tag(&h, &t);
		else if (*h.at == '&')
			put_entity(&h);
		else
			put_byte(&h, *h.at++);
	}
	put_href(&h);
	*ret_len = h.out.len;
	text = arena_strndup(a, h.out.len ? h.out.at : "", h.out.len);
	buf_free(&h.out);
	return text;
}

const char *html_text(struct arena *a, const char *html, size_t len, size_t *ret_len)
{
	return read_html(a, html, len, false, ret_len);
}

const char *html_letter_text(struct arena *a, const char *html, size_t len, size_t *ret_len)
{
	return read_html(a, html, len, true, ret_len);
}

const char *latin1_text(struct arena *a, const char *bytes, size_t len, size_t *ret_len)
{
	static const uint16_t low[32] = { 0x20ac, 0xfffd, 0x201a, 0x192, 0x201e, 0x2026, 0x2020,
		0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0xfffd, 0x17d, 0xfffd, 0xfffd, 0x2018,
		0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153,
		0xfffd, 0x17e, 0x178 };
	struct html h = { .pre = 1, .arena = a };
	const char *text;

	buf_init(&h.out, len * GROWTH + 1);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		put_point(&h, c >= 0x80 && c < 0xa0 ? low[c - 0x80] : c);
	}
	*ret_len = h.out.len;
	text = arena_strndup(a, h.out.len ? h.out.at : "", h.out.len);
	buf_free(&h.out);
	return text;
}
