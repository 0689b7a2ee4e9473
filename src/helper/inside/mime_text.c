/* mime_text.c - see mime_parts.h.
 *
 * The C library converts character sets by modules that it loads from files,
 * which there are none of once the program is locked in.  So those that mail
 * is written in are loaded before, and stay open. */
#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/entry_names.h"
#include "base/utf8.h"
#include "helper/inside/mime_parts.h"

static const char *const charsets[] = { "WINDOWS-1252", "ISO-8859-1", "ISO-8859-2", "ISO-8859-5",
	"ISO-8859-7", "ISO-8859-8", "ISO-8859-9", "ISO-8859-15", "WINDOWS-1250", "WINDOWS-1251",
	"WINDOWS-1253", "WINDOWS-1254", "WINDOWS-1255", "WINDOWS-1256", "WINDOWS-1257",
	"WINDOWS-1258", "KOI8-R", "KOI8-U", "GB18030", "GBK", "GB2312", "BIG5", "SHIFT_JIS",
	"EUC-JP", "ISO-2022-JP", "EUC-KR", "CP949", "TIS-620", "UTF-16", "UTF-7", "MACINTOSH" };

/* Never closed: a module stays while somebody uses it. */
static iconv_t held[sizeof charsets / sizeof *charsets];

void mime_charsets_prepare(void)
{
	for (size_t i = 0; i < sizeof charsets / sizeof *charsets; i++)
		held[i] = iconv_open("UTF-8", charsets[i]);
}

/* ---- texts ---- */

/* One character of UTF-8, or a byte that is none. */
static void put_point(struct buf *b, const char *at, size_t len, bool lines)
{
	unsigned char c = (unsigned char)*at;

	if (!len)
		buf_lit(b, "\xef\xbf\xbd");
	else if (len > 1 || (c >= ' ' && c != 0x7f) || (lines && (c == '\n' || c == '\t')))
		buf_put(b, at, len);
	else if (!lines && (c == '\t' || c == '\n'))
		buf_putc(b, ' ');
}

static void put_utf8(struct buf *b, const char *text, size_t len, bool lines)
{
	const char *end = text + len;

	while (text < end) {
		size_t n = utf8_step(text, end);

		if (lines && *text == '\r' && (text + 1 == end || text[1] != '\n'))
			buf_putc(b, '\n');
		else
			put_point(b, text, n, lines);
		text += n ? n : 1;
	}
}

/* False where the character set is not known. */
static bool convert(struct buf *b, const char *bytes, size_t len, const char *charset)
{
	iconv_t cd = iconv_open("UTF-8", charset);
	char *in = (char *)bytes, piece[4096];
	size_t left = len;

	if (cd == (iconv_t)-1)
		return false;
	while (left) {
		char *out = piece;
		size_t room = sizeof piece, before = left;
		size_t got = iconv(cd, &in, &left, &out, &room);

		put_utf8(b, piece, sizeof piece - room, true);
		if (got == (size_t)-1 && left && left == before && room == sizeof piece) {
			buf_lit(b, "\xef\xbf\xbd"); /* what is none in this set */
			in++;
			left--;
			iconv(cd, NULL, NULL, NULL, NULL);
		}
	}
	iconv_close(cd);
	return true;
}

static bool is_utf8_name(const char *charset)
{
	return !charset || strcasecmp(charset, "utf-8") == 0 || strcasecmp(charset, "utf8") == 0 ||
	       strcasecmp(charset, "us-ascii") == 0 || strcasecmp(charset, "ascii") == 0;
}

void mime_put_text(struct buf *b, const char *bytes, size_t len, const char *charset)
{
	struct buf out;
	bool done = false;

	buf_init(&out, HELPER_MIME_DECODED_MAX);
	if (!is_utf8_name(charset))
		done = convert(&out, bytes, len, charset);
	if (!done && !utf8_valid(bytes, len))
		done = convert(&out, bytes, len, "WINDOWS-1252");
	if (!done)
		put_utf8(&out, bytes, len, true);
	if (out.overflow)
		b->overflow = true;
	buf_put(b, out.at, out.len);
	buf_free(&out);
}

void mime_put_line(struct buf *b, const char *text, size_t len)
{
	put_utf8(b, text, len, false);
}

/* ---- names ---- */

/* Characters that turn the direction of writing, or are not seen: "gpj.exe" is to look like what it is. */
static bool is_tricky(const char *at, size_t len)
{
	static const char *const points[] = { "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d",
		"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac",
		"\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8",
		"\xe2\x81\xa9", "\xef\xbb\xbf", "\xd8\x9c" };

	for (size_t i = 0; i < sizeof points / sizeof *points; i++)
		if (strlen(points[i]) == len && memcmp(points[i], at, len) == 0)
			return true;
	return false;
}

/* The last part of a path, whoever's slashes it has. */
static const char *base_name(const char *name)
{
	const char *base = name;

	for (const char *p = name; *p; p++)
		if (*p == '/' || *p == '\\')
			base = p + 1;
	while (*base == '.' || *base == ' ')
		base++;
	return base;
}

/* Room for the end of the name, which says what it is. */
static size_t extension_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot != name && strlen(dot) <= 16 ? strlen(dot) : 0;
}

void mime_safe_name(
	char ret[HELPER_MIME_NAME_MAX + 1], const char *name, const char *type, size_t number)
{
	const char *base = base_name(name ? name : ""), *end = base + strlen(base);
	size_t extension = extension_of(base), most = HELPER_MIME_NAME_MAX - 55 - extension, n = 0;

	for (const char *p = base; p < end;) {
		size_t step = utf8_step(p, end);

		if (p == end - extension)
			most += extension;
		if (step && n + step <= most && !is_tricky(p, step)) {
			if (step == 1 &&
				((unsigned char)*p < ' ' || *p == 0x7f || strchr(":\"<>|?*", *p)))
				ret[n++] = '_';
			else
				memcpy(ret + n, p, step), n += step;
		}
		p += step ? step : 1;
	}
	while (n && (ret[n - 1] == '.' || ret[n - 1] == ' '))
		n--;
	ret[n] = '\0';
	if (!entry_name_valid(ret, n, HELPER_MIME_NAME_MAX, 1))
		snprintf(ret, HELPER_MIME_NAME_MAX + 1, "attachment-%zu%s", number,
			strcmp(type, "message/rfc822") == 0 ? ".eml"
			: strcmp(type, "text/plain") == 0   ? ".txt"
			: strcmp(type, "text/html") == 0    ? ".html"
							    : "");
}

/* ---- delivery status ---- */

static bool put_status_field(
	struct buf *b, size_t colon, size_t group, size_t *count, struct outlet *o)
{
	struct helper_record r = {
		.kind = RECORD_STATUS, .name_len = (uint32_t)colon, .line = group
	};
	char name[HELPER_MIME_NAME_MAX];
	struct buf value;
	bool good;

	if (++*count > HELPER_MIME_STATUS_MAX || group > HELPER_MIME_STATUS_MAX)
		return outlet_fault(o, 0, "The delivery status has too many fields.");
	for (size_t i = 0; i < colon; i++)
		name[i] = (char)(b->at[i] >= 'A' && b->at[i] <= 'Z' ? b->at[i] | 0x20 : b->at[i]);
	buf_init(&value, HELPER_MIME_VALUE_MAX);
	for (colon++; colon < b->len && (b->at[colon] == ' ' || b->at[colon] == '\t');)
		colon++;
	mime_put_line(&value, b->at + colon, b->len - colon);
	r.len = value.len;
	good = value.overflow ? outlet_fault(o, 0, "A field of the delivery status is too long.")
			      : o->put(o, &r, name, value.at);
	buf_free(&value);
	return good;
}

/* The field that was gathered, if it is one. */
static bool end_field(struct buf *b, size_t group, size_t *count, bool *any, struct outlet *o)
{
	const char *colon = b->len ? memchr(b->at, ':', b->len) : NULL;
	size_t n = colon ? (size_t)(colon - b->at) : 0;
	bool good = true, name = n && n <= HELPER_MIME_NAME_MAX;

	for (size_t i = 0; i < n && name; i++)
		name = b->at[i] == '-' || (b->at[i] >= '0' && b->at[i] <= '9') ||
		       ((b->at[i] | 0x20) >= 'a' && (b->at[i] | 0x20) <= 'z');
	if (name && !b->overflow) {
		good = put_status_field(b, n, group, count, o);
		*any = true;
	}
	buf_clear(b);
	return good;
}

bool mime_put_status(const char *text, size_t len, size_t *count, struct outlet *o)
{
	const char *at = text, *end = text + len;
	size_t group = 0;
	bool good = true, any = false;
	struct buf field;

	buf_init(&field, HELPER_MIME_VALUE_MAX);
	while (good && at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at)), *line_end;

		stop = stop ? stop : end;
		line_end = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
		if (line_end == at || (*at != ' ' && *at != '\t'))
			good = end_field(&field, group, count, &any, o);
		if (line_end == at && any) {
			group++;
			any = false;
		}
		buf_put(&field, at, (size_t)(line_end - at));
		at = stop < end ? stop + 1 : end;
	}
	if (good)
		good = end_field(&field, group, count, &any, o);
	buf_free(&field);
	return good;
}
