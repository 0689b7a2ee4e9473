/* css_value.c - see css_value.h. */
#include "base/css_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_MAX = 32 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

bool css_is(struct slice value, const char *word)
{
	return value.len == strlen(word) && strncasecmp(value.at, word, value.len) == 0;
}

/* ---- entities ---- */

static const struct {
	const char *name;
	char byte;
} named[] = { { "colon", ':' }, { "semi", ';' }, { "lpar", '(' }, { "rpar", ')' }, { "num", '#' },
	{ "percnt", '%' }, { "period", '.' }, { "comma", ',' }, { "sol", '/' }, { "ast", '*' },
	{ "bsol", '\\' }, { "excl", '!' }, { "plus", '+' }, { "quot", '"' }, { "apos", '\'' },
	{ "amp", '&' }, { "Tab", '\t' }, { "NewLine", '\n' }, { "nbsp", '?' } };

int css_hex(int c)
{
	return c >= '0' && c <= '9'			? c - '0'
	       : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
							: -1;
}

/* "#58" and "#x3a", as far as there are digits: how many bytes it has, 0 if it is none. */
static size_t read_point(struct slice s, int *ret)
{
	int base = s.len > 1 && (s.at[1] | 0x20) == 'x' ? 16 : 10;
	size_t from = base == 16 ? 2 : 1, n = from;
	long point = 0;

	for (; n < s.len; n++) {
		int d = css_hex(s.at[n]);

		if (d < 0 || d >= base)
			break;
		point = point > 0x10ffff ? point : point * base + d;
	}
	*ret = point < 0x80 ? (int)point : '?';
	return n > from ? n : 0;
}

static size_t read_name(struct slice s, int *ret)
{
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		size_t n = strlen(named[i].name);

		if (s.len > n && memcmp(named[i].name, s.at, n) == 0 && s.at[n] == ';') {
			*ret = named[i].byte;
			return n;
		}
	}
	return 0;
}

int css_attribute_byte(struct slice *rest)
{
	struct slice behind;
	size_t used = 0;
	int c;

	if (!rest->len)
		return -1;
	behind = (struct slice){ rest->at + 1, rest->len - 1 };
	c = (unsigned char)*rest->at;
	if (c == '&' && behind.len)
		used = *behind.at == '#' ? read_point(behind, &c) : read_name(behind, &c);
	used += 1;
	if (used > 1 && used < rest->len && rest->at[used] == ';')
		used++;
	rest->at += used;
	rest->len -= used;
	return c < 0x80 ? c : '?';
}

/* ---- lengths ---- */

/* The number that a value begins with, and what stands behind it. */
static bool read_number(struct slice value, double *ret, struct slice *ret_unit)
{
	char text[NUMBER_MAX], *end;
	size_t n = 0;

	if (value.len > 5 && strncasecmp(value.at, "calc(", 5) == 0)
		value = (struct slice){ value.at + 5, value.len - 5 };
	while (n < value.len && n < sizeof text - 1 && memchr("+-.0123456789", value.at[n], 13)) {
		text[n] = value.at[n];
		n++;
	}
	text[n] = '\0';
	*ret = strtod(text, &end);
	if (end == text)
		return false;
	n = (size_t)(end - text);
	*ret_unit = (struct slice){ value.at + n, value.len - n };
	return true;
}

static const struct {
	const char *name;
	double pixels;
} units[] = { { "px", 1 }, { "pt", 1.33 }, { "pc", 16 }, { "mm", 3.8 }, { "cm", 38 }, { "in", 96 },
	{ "rem", 16 }, { "em", 16 }, { "ex", 8 }, { "ch", 8 }, { "vw", 10 }, { "vh", 8 },
	{ "vmin", 8 }, { "vmax", 10 } };

bool css_length(struct slice value, double *ret)
{
	struct slice unit;

	if (!read_number(value, ret, &unit))
		return false;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (unit.len >= strlen(units[i].name) &&
			strncasecmp(unit.at, units[i].name, strlen(units[i].name)) == 0) {
			*ret *= units[i].pixels;
			return true;
		}
	if (unit.len && *unit.at == '%')
		*ret *= 5; /* of something of five hundred */
	return true;
}

bool css_share(struct slice value, double *ret)
{
	struct slice unit;

	if (!read_number(value, ret, &unit))
		return false;
	if (unit.len && *unit.at == '%')
		*ret /= 100;
	return true;
}

/* What stands between the brackets of a function whose name begins with this; absent where it is another. */
static struct slice inside(struct slice value, const char *name)
{
	size_t n = strlen(name);
	const char *open, *close;

	if (value.len < n || strncasecmp(value.at, name, n) != 0)
		return (struct slice){ 0 };
	open = memchr(value.at, '(', value.len);
	if (!open)
		return (struct slice){ 0 };
	open++;
	close = memchr(open, ')', (size_t)(value.at + value.len - open));
	return (struct slice){ open, (size_t)((close ? close : value.at + value.len) - open) };
}

static bool next_item(struct slice *rest, struct slice *ret)
{
	size_t n = 0;

	while (rest->len && (is_blank(*rest->at) || *rest->at == ',' || *rest->at == '/')) {
		rest->at++;
		rest->len--;
	}
	while (n < rest->len && !is_blank(rest->at[n]) && rest->at[n] != ',' && rest->at[n] != '/')
		n++;
	*ret = (struct slice){ rest->at, n };
	rest->at += n;
	rest->len -= n;
	return n > 0;
}

size_t css_arguments(struct slice value, const char *name, double *ret, size_t most)
{
	struct slice rest = inside(value, name), item;
	size_t count = 0;

	while (rest.at && count < most && next_item(&rest, &item)) {
		bool share = memchr(item.at, '%', item.len);

		if (!(share ? css_share(item, &ret[count]) : css_length(item, &ret[count])))
			continue;
		ret[count++] *= share ? 100 : 1;
	}
	return count;
}

/* ---- colours ---- */

/* "fff", "ffff", "ffffff", "ffffffff" */
static int32_t read_hex(struct slice s, double *ret_opacity)
{
	bool narrow = s.len <= 4;
	size_t each = narrow ? 1 : 2;
	uint32_t value = 0;

	if (s.len != 3 && s.len != 4 && s.len != 6 && s.len != 8)
		return CSS_COLOUR_UNKNOWN;
	for (size_t i = 0; i < s.len; i++) {
		int d = css_hex(s.at[i]);

		if (d < 0)
			return CSS_COLOUR_UNKNOWN;
		value = value << 4 | (uint32_t)d;
		if (narrow)
			value = value << 4 | (uint32_t)d;
	}
	if (s.len / each == 4) {
		*ret_opacity = (value & 0xff) / 255.0;
		value >>= 8;
	}
	return (int32_t)value;
}

static int32_t part(double v)
{
	return v <= 0 ? 0 : v >= 255 ? 255 : (int32_t)(v + 0.5);
}

static double hsl_part(double hue, double saturation, double light, double n)
{
	double k = fmod(n + hue / 30, 12), a = saturation * fmin(light, 1 - light);

	return 255 * (light - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1)));
}

static int32_t read_function(struct slice value, double *ret_opacity)
{
	bool hsl = value.len > 3 && strncasecmp(value.at, "hsl", 3) == 0;
	struct slice rest = inside(value, hsl ? "hsl" : "rgb"), item;
	double v[4] = { 0, 0, 0, 1 };
	size_t n = 0;

	while (rest.at && n < 4 && next_item(&rest, &item)) {
		struct slice unit;

		if (!read_number(item, &v[n], &unit))
			return CSS_COLOUR_UNKNOWN;
		if (unit.len && *unit.at == '%')
			v[n] *= n == 3 || hsl ? 0.01 : 2.55;
		n++;
	}
	if (n < 3)
		return CSS_COLOUR_UNKNOWN;
	*ret_opacity = v[3];
	if (hsl) {
		double hue = fmod(fmod(v[0], 360) + 360, 360), s = fmin(fmax(v[1], 0), 1),
		       l = fmin(fmax(v[2], 0), 1);

		v[0] = hsl_part(hue, s, l, 0);
		v[1] = hsl_part(hue, s, l, 8);
		v[2] = hsl_part(hue, s, l, 4);
	}
	return part(v[0]) << 16 | part(v[1]) << 8 | part(v[2]);
}

int32_t css_colour(struct slice value, double *ret_opacity)
{
	static const struct {
		const char *name;
		int32_t colour;
	} names[] = { { "white", 0xffffff }, { "black", 0 }, { "red", 0xff0000 },
		{ "gray", 0x808080 }, { "grey", 0x808080 }, { "silver", 0xc0c0c0 },
		{ "whitesmoke", 0xf5f5f5 }, { "snow", 0xfffafa }, { "ivory", 0xfffff0 },
		{ "ghostwhite", 0xf8f8ff }, { "floralwhite", 0xfffaf0 }, { "mintcream", 0xf5fffa },
		{ "azure", 0xf0ffff }, { "aliceblue", 0xf0f8ff }, { "seashell", 0xfff5ee } };

	*ret_opacity = 1;
	if (value.len && *value.at == '#')
		return read_hex((struct slice){ value.at + 1, value.len - 1 }, ret_opacity);
	if (css_is(value, "transparent"))
		*ret_opacity = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (css_is(value, names[i].name))
			return names[i].colour;
	return read_function(value, ret_opacity);
}
