/* rules.c - see rules.h. */
#include "contract/rules.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

struct span {
	uint32_t first, last;
};

/* Controls, ends of lines, and what turns the direction of the text after it: in a name they change how what stands beside
 * it is shown. */
static const struct span forbidden_points[] = {
	{ 0x01, 0x1f },
	{ 0x7f, 0x9f },
	{ 0x2028, 0x202e },
	{ 0x2066, 0x2069 },
	{ 0 },
};

/* What shows nothing by itself.  Names of many scripts need joiners and marks of direction, so beside a letter they may
 * stand. */
static const struct span unseen_points[] = {
	{ 0x20, 0x20 },
	{ 0xa0, 0xa0 },
	{ 0xad, 0xad },
	{ 0x34f, 0x34f },
	{ 0x61c, 0x61c },
	{ 0x115f, 0x1160 },
	{ 0x1680, 0x1680 },
	{ 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },
	{ 0x2000, 0x200f },
	{ 0x202f, 0x202f },
	{ 0x205f, 0x2065 },
	{ 0x206a, 0x206f },
	{ 0x2800, 0x2800 },
	{ 0x3000, 0x3000 },
	{ 0x3164, 0x3164 },
	{ 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfff8 },
	{ 0xe0000, 0xe0fff },
	{ 0 },
};

static bool is_among(const struct span *spans, uint32_t point)
{
	for (; spans->last; spans++)
		if (point >= spans->first && point <= spans->last)
			return true;
	return false;
}

/* The code point of a sequence of `len` bytes. */
static uint32_t point_at(const char *text, size_t len)
{
	uint32_t point = (unsigned char)*text;

	if (len > 1)
		point &= 0x7fU >> len;
	for (size_t i = 1; i < len; i++)
		point = point << 6 | ((unsigned char)text[i] & 0x3fU);
	return point;
}

const char *check_shown_name(const char *text)
{
	const char *end = text + strlen(text);
	bool seen = false;
	size_t len;

	for (; text < end; text += len) {
		uint32_t point;

		len = utf8_step(text, end);
		if (!len)
			return "must be UTF-8";
		point = point_at(text, len);
		if (is_among(forbidden_points, point))
			return "must not have control characters, nor such as turn the direction of text";
		seen |= !is_among(unseen_points, point);
	}
	return seen ? NULL : "must have a character that shows";
}
