/* html_hidden.c - see html_hidden.h. */
#include "base/html_hidden.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/slice.h"

enum { VALUE_MAX = 64, NEAR = 12 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static struct slice trimmed(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	while (end > at && is_blank(end[-1]))
		end--;
	return (struct slice){ at, (size_t)(end - at) };
}

static bool is_word(struct slice s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.at, word, s.len) == 0;
}

/* ---- colours ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'			? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							: -1;
}

static int32_t read_hex(struct slice s)
{
	int32_t value = 0;

	if (s.len != 3 && s.len != 6)
		return HTML_GROUND_UNKNOWN;
	for (size_t i = 0; i < s.len; i++) {
		int d = hex_digit(s.at[i]);

		if (d < 0)
			return HTML_GROUND_UNKNOWN;
		value = value << 4 | d;
		if (s.len == 3)
			value = value << 4 | d;
	}
	return value;
}

/* "rgb(255, 255, 255)" */
static int32_t read_rgb(const char *text)
{
	const char *p = strchr(text, '(');
	int32_t value = 0;

	for (int i = 0; p && i < 3; i++) {
		char *end;
		long n = strtol(p + 1, &end, 10);

		if (end == p + 1 || n < 0 || n > 255)
			return HTML_GROUND_UNKNOWN;
		value = value << 8 | (int32_t)n;
		p = end + strspn(end, " ");
		if (*p != ',' && *p != ' ' && *p != ')')
			return HTML_GROUND_UNKNOWN;
	}
	return p ? value : HTML_GROUND_UNKNOWN;
}

static int32_t read_colour(struct slice s)
{
	static const struct {
		const char *name;
		int32_t colour;
	} names[] = { { "white", HTML_WHITE }, { "black", 0 }, { "red", 0xff0000 },
		{ "gray", 0x808080 }, { "grey", 0x808080 }, { "silver", 0xc0c0c0 },
		{ "whitesmoke", 0xf5f5f5 }, { "snow", 0xfffafa }, { "ivory", 0xfffff0 },
		{ "ghostwhite", 0xf8f8ff } };
	char text[VALUE_MAX];

	if (s.len && *s.at == '#')
		return read_hex((struct slice){ s.at + 1, s.len - 1 });
	if (s.len >= sizeof text)
		return HTML_GROUND_UNKNOWN;
	memcpy(text, s.at, s.len);
	text[s.len] = '\0';
	if (strncasecmp(text, "rgb", 3) == 0)
		return read_rgb(text);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcasecmp(text, names[i].name) == 0)
			return names[i].colour;
	return HTML_GROUND_UNKNOWN;
}

/* Whether nobody could tell them apart. */
static bool is_near(int32_t a, int32_t b)
{
	if (a < 0 || b < 0)
		return false;
	for (int shift = 0; shift < 24; shift += 8)
		if (abs((a >> shift & 0xff) - (b >> shift & 0xff)) > NEAR)
			return false;
	return true;
}

/* ---- styles ---- */

struct look {
	bool hidden, has_colour;
	int32_t colour, ground;
};

/* "0", "0px", "0.0em": none of it; also of what is less than one. */
static bool is_nothing(struct slice value, double below)
{
	char text[VALUE_MAX], *end;
	double n;

	if (!value.len || value.len >= sizeof text)
		return false;
	memcpy(text, value.at, value.len);
	text[value.len] = '\0';
	n = strtod(text, &end);
	return end != text && n >= 0 && n <= below && *end != '%';
}

/* "-9999px" and the like. */
static bool is_far_away(struct slice value)
{
	char text[VALUE_MAX];

	if (!value.len || value.len >= sizeof text)
		return false;
	memcpy(text, value.at, value.len);
	text[value.len] = '\0';
	return strtod(text, NULL) <= -500;
}

static struct slice first_word(struct slice s)
{
	size_t n = 0;

	while (n < s.len && s.at[n] != '!' && (!is_blank(s.at[n]) || memchr(s.at, '(', n)))
		n++;
	while (n && is_blank(s.at[n - 1]))
		n--;
	return (struct slice){ s.at, n };
}

static void take_declaration(struct look *l, struct slice name, struct slice whole)
{
	struct slice value = first_word(whole);

	if (is_word(name, "display"))
		l->hidden |= is_word(value, "none");
	else if (is_word(name, "visibility"))
		l->hidden |= is_word(value, "hidden") || is_word(value, "collapse");
	else if (is_word(name, "mso-hide"))
		l->hidden |= is_word(value, "all");
	else if (is_word(name, "opacity"))
		l->hidden |= is_nothing(value, 0.05);
	else if (is_word(name, "font-size"))
		l->hidden |= is_nothing(value, 1);
	else if (is_word(name, "max-height") || is_word(name, "max-width"))
		l->hidden |= is_nothing(value, 0);
	else if (is_word(name, "text-indent") || is_word(name, "left") || is_word(name, "top") ||
		 is_word(name, "margin-left"))
		l->hidden |= is_far_away(value);
	else if (is_word(name, "color")) {
		l->has_colour = true;
		l->colour = read_colour(value);
		l->hidden |= is_word(value, "transparent");
	} else if (is_word(name, "background-color") || is_word(name, "background")) {
		if (!is_word(value, "transparent") && !is_word(value, "inherit") &&
			!is_word(value, "none"))
			l->ground = read_colour(value);
	} else if (is_word(name, "background-image")) {
		l->ground = HTML_GROUND_UNKNOWN;
	}
}

static void take_style(struct look *l, struct slice style)
{
	const char *at = style.at, *end = style.at + style.len;

	while (at < end) {
		const char *stop = memchr(at, ';', (size_t)(end - at)), *colon;

		stop = stop ? stop : end;
		colon = memchr(at, ':', (size_t)(stop - at));
		if (colon)
			take_declaration(l, trimmed(at, colon), trimmed(colon + 1, stop));
		at = stop < end ? stop + 1 : end;
	}
}

/* ---- attributes ---- */

static void take_attribute(struct look *l, struct slice name, struct slice value)
{
	if (is_word(name, "hidden"))
		l->hidden |= !is_word(value, "until-found");
	else if (is_word(name, "style"))
		take_style(l, value);
	else if (is_word(name, "bgcolor"))
		l->ground = read_colour(value);
	else if (is_word(name, "background"))
		l->ground = HTML_GROUND_UNKNOWN;
	else if (is_word(name, "color") && !l->has_colour) {
		l->has_colour = true;
		l->colour = read_colour(value);
	}
}

bool html_hides(const char *attributes, size_t len, int32_t ground, int32_t *ret_ground)
{
	const char *p = attributes, *end = attributes + len;
	struct look l = { .ground = ground, .colour = HTML_GROUND_UNKNOWN };

	while (p < end) {
		const char *from;
		struct slice name, value = { "", 0 };

		while (p < end && (is_blank(*p) || *p == '/'))
			p++;
		from = p;
		while (p < end && !is_blank(*p) && *p != '=' && *p != '/')
			p++;
		name = (struct slice){ from, (size_t)(p - from) };
		while (p < end && is_blank(*p))
			p++;
		if (p < end && *p == '=') {
			char quote;

			for (p++; p < end && is_blank(*p);)
				p++;
			quote = p < end && (*p == '"' || *p == '\'') ? *p++ : '\0';
			from = p;
			while (p < end && (quote ? *p != quote : !is_blank(*p)))
				p++;
			value = (struct slice){ from, (size_t)(p - from) };
			p += p < end && quote;
		}
		take_attribute(&l, name, value);
	}
	*ret_ground = l.ground;
	return l.hidden || (l.has_colour && is_near(l.colour, l.ground));
}
