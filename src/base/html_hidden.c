/* html_hidden.c - see html_hidden.h. */
#include "base/html_hidden.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/css_value.h"

enum { DECLARATION_MAX = 400, COLOUR_MAX = 64, NEAR = 12 };

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
	bool no_box, cut; /* it is of no height or width; what goes beyond it is not shown */
	int32_t colour, ground;
};

static struct slice first_word(struct slice s)
{
	size_t n = 0;

	while (n < s.len && s.at[n] != '!' && (!is_blank(s.at[n]) || memchr(s.at, '(', n)))
		n++;
	while (n && is_blank(s.at[n - 1]))
		n--;
	return (struct slice){ s.at, n };
}

/* A length of at most so many pixels. */
static bool is_nothing(struct slice value, double most)
{
	double n;

	return css_length(value, &n) && n >= 0 && n <= most;
}

static bool is_transparent(struct slice value)
{
	double share;

	return css_share(value, &share) && share <= 0.05;
}

/* "-9999px" and the like, to either side. */
static bool is_far_off(double pixels)
{
	return pixels <= -500 || pixels >= 5000;
}

/* One of several lengths, as margins have them. */
static bool is_far_away(struct slice value)
{
	const char *at = value.at, *end = value.at + value.len;
	double n;

	for (; at < end; at++)
		if ((at == value.at || is_blank(at[-1])) &&
			css_length((struct slice){ at, (size_t)(end - at) }, &n) && is_far_off(n))
			return true;
	return false;
}

/* "0/0 a", "bold 1px x": the size is the number that is none or has a unit; a weight has no unit. */
static bool is_font_of_nothing(struct slice value)
{
	const char *at = value.at, *end = value.at + value.len;

	while (at < end) {
		const char *from = at;
		struct slice word;

		while (at < end && !is_blank(*at) && *at != '/')
			at++;
		word = (struct slice){ from, (size_t)(at - from) };
		if (is_nothing(word, 1) && (*from == '0' || *from == '.' || word.len > 1))
			return true;
		if (at < end && *at == '/')
			return false; /* the height of a line, and the family */
		at++;
	}
	return false;
}

static bool is_filtered(struct slice value)
{
	double share;

	return css_arguments(value, "opacity(", &share, 1) && share <= 0.05;
}

static bool is_moved_away(struct slice value)
{
	static const char *const scales[] = { "scale(", "scalex(", "scaley(", "scale3d(", NULL };
	const char *at = value.at, *end = value.at + value.len;

	/* one function after the other */
	for (; at < end; at++) {
		struct slice one = { at, (size_t)(end - at) };
		double v[3];
		size_t n;

		for (size_t i = 0; scales[i]; i++) {
			n = css_arguments(one, scales[i], v, 2);
			for (size_t k = 0; k < n; k++)
				if (v[k] >= 0 && v[k] <= 0.05)
					return true;
		}
		n = css_arguments(one, "translate", v, 3);
		for (size_t k = 0; k < n; k++)
			if (is_far_off(v[k]))
				return true;
	}
	return false;
}

/* All of it is cut off, from one side or from two. */
static bool is_inset_away(struct slice value)
{
	double v[4];
	size_t n = css_arguments(value, "inset(", v, 4);
	double most = memchr(value.at, '%', value.len) ? 100 : 1000;

	if (!n)
		return false;
	/* as margins have it: top, right, bottom, left */
	v[1] = n > 1 ? v[1] : v[0];
	v[2] = n > 2 ? v[2] : v[0];
	v[3] = n > 3 ? v[3] : v[1];
	return v[0] + v[2] >= most || v[1] + v[3] >= most;
}

/* Nothing of it is left: an outline of no size. */
static bool is_clipped(struct slice value)
{
	double v[8];
	size_t n = css_arguments(value, "circle(", v, 1), small = 0;

	n = n ? n : css_arguments(value, "ellipse(", v, 1);
	n = n ? n : css_arguments(value, "rect(", v, 4);
	n = n ? n : css_arguments(value, "polygon(", v, 8);
	for (size_t i = 0; i < n; i++)
		small += v[i] >= 0 && v[i] <= 1;
	return (n && small == n) || is_inset_away(value);
}

static void take_text_colour(struct look *l, struct slice value)
{
	double opacity;
	int32_t colour = css_colour(value, &opacity);

	l->hidden |= opacity <= 0.05;
	/* What is no colour leaves the one before it; of names not all are known here. */
	if (colour < 0 && !(value.len && (*value.at | 0x20) >= 'a' && (*value.at | 0x20) <= 'z'))
		return;
	l->has_colour = true;
	l->colour = colour;
}

static void take_ground(struct look *l, struct slice value)
{
	double opacity;
	int32_t colour = css_colour(value, &opacity);

	if (opacity > 0.05 && !css_is(value, "inherit") && !css_is(value, "none"))
		l->ground = colour;
}

/* What a declaration does that hides by itself. */
static const struct {
	const char *name, *word; /* the value that hides, or NULL */
	bool (*hides)(struct slice value);
} hiding[] = {
	{ "display", "none", NULL },
	{ "visibility", "hidden", NULL },
	{ "visibility", "collapse", NULL },
	{ "content-visibility", "hidden", NULL },
	{ "mso-hide", "all", NULL },
	{ "opacity", NULL, is_transparent },
	{ "zoom", NULL, is_transparent },
	{ "scale", NULL, is_transparent },
	{ "font", NULL, is_font_of_nothing },
	{ "filter", NULL, is_filtered },
	{ "-webkit-filter", NULL, is_filtered },
	{ "transform", NULL, is_moved_away },
	{ "-webkit-transform", NULL, is_moved_away },
	{ "clip", NULL, is_clipped },
	{ "clip-path", NULL, is_clipped },
	{ "-webkit-clip-path", NULL, is_clipped },
	{ "text-indent", NULL, is_far_away },
	{ "left", NULL, is_far_away },
	{ "right", NULL, is_far_away },
	{ "top", NULL, is_far_away },
	{ "bottom", NULL, is_far_away },
	{ "inset", NULL, is_far_away },
	{ "translate", NULL, is_far_away },
	{ "margin", NULL, is_far_away },
	{ "margin-left", NULL, is_far_away },
	{ "margin-right", NULL, is_far_away },
	{ "margin-top", NULL, is_far_away },
};

static void take_declaration(struct look *l, struct slice name, struct slice whole)
{
	struct slice value = first_word(whole);

	for (size_t i = 0; i < sizeof hiding / sizeof *hiding; i++)
		if (css_is(name, hiding[i].name))
			l->hidden |= hiding[i].word ? css_is(value, hiding[i].word)
						    : hiding[i].hides(whole);
	if (css_is(name, "font-size"))
		l->hidden |= is_nothing(value, 1);
	else if (css_is(name, "max-height") || css_is(name, "max-width"))
		l->hidden |= is_nothing(value, 0);
	else if (css_is(name, "height") || css_is(name, "width"))
		l->no_box |= is_nothing(value, 1);
	else if (css_is(name, "overflow") || css_is(name, "overflow-x") ||
		 css_is(name, "overflow-y"))
		l->cut |= css_is(value, "hidden") || css_is(value, "clip");
	else if (css_is(name, "color") || css_is(name, "-webkit-text-fill-color"))
		take_text_colour(l, value);
	else if (css_is(name, "background-color") || css_is(name, "background"))
		take_ground(l, value);
	else if (css_is(name, "background-image"))
		l->ground = HTML_GROUND_UNKNOWN;
}

/* ---- their text ---- */

/* One declaration as it is gathered.  What is longer than it holds is looked at as far as it goes. */
struct gathered {
	char text[DECLARATION_MAX];
	size_t len;
	int brackets;
	char quote;
};

static void end_declaration(struct look *l, struct gathered *g)
{
	const char *colon = memchr(g->text, ':', g->len), *end = g->text + g->len;

	if (colon)
		take_declaration(l, trimmed(g->text, colon), trimmed(colon + 1, end));
	*g = (struct gathered){ 0 };
}

/* Behind a backslash: "3a " or the byte itself. */
static int read_escape(struct slice *rest)
{
	struct slice after = *rest;
	int c = css_attribute_byte(&after), value = 0, digits = 0;

	for (; digits < 6 && c >= 0 && css_hex(c) >= 0; digits++) {
		value = value * 16 + css_hex(c);
		*rest = after;
		c = css_attribute_byte(&after);
	}
	if (!digits) {
		*rest = after;
		return c < 0 ? '?' : c;
	}
	if (c >= 0 && is_blank((char)c))
		*rest = after;
	return value > 0 && value < 0x80 ? value : '?';
}

static void skip_comment(struct slice *rest)
{
	int before = 0, c;

	while ((c = css_attribute_byte(rest)) >= 0 && !(before == '*' && c == '/'))
		before = c;
}

/* True at what begins a comment, which is behind us then. */
static bool takes_comment(struct slice *rest, int c)
{
	struct slice after = *rest;

	if (c != '/' || css_attribute_byte(&after) != '*')
		return false;
	*rest = after;
	skip_comment(rest);
	return true;
}

/* As a browser reads it: entities first, then comments and escapes. */
static void take_style(struct look *l, struct slice style)
{
	struct gathered g = { 0 };
	int c;

	while ((c = css_attribute_byte(&style)) >= 0) {
		bool plain = false;

		if (!g.quote && takes_comment(&style, c))
			continue;
		if (c == '\\') {
			c = read_escape(&style);
			plain = true;
		}
		if (!plain && g.quote) {
			if (c == g.quote)
				g.quote = '\0';
		} else if (!plain && (c == '"' || c == '\'')) {
			g.quote = (char)c;
		} else if (!plain && c == ';' && g.brackets <= 0) {
			end_declaration(l, &g);
			continue;
		}
		g.brackets += plain || g.quote ? 0 : (c == '(') - (c == ')');
		if (g.len < sizeof g.text)
			g.text[g.len++] = (char)c;
	}
	end_declaration(l, &g);
}

/* ---- attributes ---- */

/* A colour that stands in an attribute of its own. */
static int32_t attribute_colour(struct slice value)
{
	char text[COLOUR_MAX];
	double opacity;
	size_t n = 0;
	int c;

	while (n < sizeof text && (c = css_attribute_byte(&value)) >= 0)
		text[n++] = (char)c;
	return css_colour(trimmed(text, text + n), &opacity);
}

static void take_attribute(struct look *l, struct slice name, struct slice value)
{
	if (css_is(name, "hidden"))
		l->hidden |= !css_is(value, "until-found");
	else if (css_is(name, "popover"))
		l->hidden = true;
	else if (css_is(name, "style"))
		take_style(l, value);
	else if (css_is(name, "bgcolor"))
		l->ground = attribute_colour(value);
	else if (css_is(name, "background"))
		l->ground = HTML_GROUND_UNKNOWN;
	else if (css_is(name, "color") && !l->has_colour) {
		l->has_colour = true;
		l->colour = attribute_colour(value);
	}
}

/* The next of a tag's attributes; false at the end. */
static bool next_attribute(
	const char **at, const char *end, struct slice *name, struct slice *value)
{
	const char *p = *at, *from;
	char quote;

	while (p < end && (is_blank(*p) || *p == '/'))
		p++;
	from = p;
	while (p < end && !is_blank(*p) && *p != '=' && *p != '/')
		p++;
	*name = (struct slice){ from, (size_t)(p - from) };
	*value = (struct slice){ "", 0 };
	while (p < end && is_blank(*p))
		p++;
	if (p < end && *p == '=') {
		for (p++; p < end && is_blank(*p);)
			p++;
		quote = p < end && (*p == '"' || *p == '\'') ? *p++ : '\0';
		from = p;
		while (p < end && (quote ? *p != quote : !is_blank(*p)))
			p++;
		*value = (struct slice){ from, (size_t)(p - from) };
		p += p < end && quote;
	}
	*at = p;
	return name->len || p < end;
}

bool html_has(const char *attributes, size_t len, const char *wanted)
{
	const char *p = attributes, *end = attributes + len;
	struct slice name, value;

	while (next_attribute(&p, end, &name, &value))
		if (css_is(name, wanted))
			return true;
	return false;
}

bool html_hides(const char *attributes, size_t len, int32_t ground, int32_t *ret_ground)
{
	const char *p = attributes, *end = attributes + len;
	struct look l = { .ground = ground, .colour = HTML_GROUND_UNKNOWN };
	struct slice name, value;

	while (next_attribute(&p, end, &name, &value))
		take_attribute(&l, name, value);
	*ret_ground = l.ground;
	return l.hidden || (l.no_box && l.cut) || (l.has_colour && is_near(l.colour, l.ground));
}
