/* shape.c - see shape.h. */
#include "mail/shape.h"

#include <string.h>
#include <strings.h>

#include "mail/dkim_parts.h"

enum {
	VALUE_MAX = 1000,
	BOUNDARY_MAX = 70,
	PLAIN_MAX = 1 << 20, /* that is looked through for the ends of parts */
	PLAIN_HYPHENS = 100, /* lines that begin with two */
};

/* What is said of the body, as far as it matters. */
struct shape {
	char type[64], charset[32],
		boundary[BOUNDARY_MAX + 1]; /* small letters but the last; "": not said */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* ---- the head ---- */

/* A name and a colon, and lines that go on with more than blanks: others take another line for the end of the head. */
static bool is_field(struct slice f)
{
	const char *colon = memchr(f.at, ':', f.len), *end = f.at + f.len;

	if (!colon || colon == f.at)
		return false;
	for (const char *p = f.at; p < colon; p++)
		if (*p <= ' ' || *p >= 0x7f)
			return false;
	for (const char *p = colon + 1, *stop; p < end; p = stop + 1) {
		bool blank = true;

		stop = memchr(p, '\n', (size_t)(end - p));
		stop = stop ? stop : end;
		for (const char *q = p; q < stop && blank; q++)
			blank = is_blank(*q);
		if (blank && p > colon + 1)
			return false;
	}
	return true;
}

/* The value of the one header of this name; "" where there is none.  False: there are two, or it is longer than any that is meant. */
static bool value_of(const struct dkim_check *c, const char *name, char ret[VALUE_MAX + 1])
{
	size_t n = 0, found = 0;

	for (size_t i = 0; i < c->field_count; i++) {
		struct slice f = c->fields[i];
		const char *p;

		if (!dkim_field_is(f, name, strlen(name)))
			continue;
		if (found++ || f.len > VALUE_MAX)
			return false;
		for (p = (const char *)memchr(f.at, ':', f.len) + 1; p < f.at + f.len; p++)
			ret[n++] = is_blank(*p) ? ' ' : *p;
	}
	while (n && ret[n - 1] == ' ')
		n--;
	ret[n] = '\0';
	return true;
}

/* ---- Content-Type, of which only what everybody reads alike is understood ---- */

static size_t token_length(const char *p)
{
	size_t n = 0;

	while (p[n] > ' ' && p[n] < 0x7f && !strchr("()<>@,;:\\\"/[]?=*'%", p[n]))
		n++;
	return n;
}

static bool put_word(char *ret, size_t room, const char *at, size_t len, bool small)
{
	if (!len || len >= room || *ret)
		return false;
	for (size_t i = 0; i < len; i++)
		ret[i] = (char)(small && at[i] >= 'A' && at[i] <= 'Z' ? at[i] | 0x20 : at[i]);
	ret[len] = '\0';
	return true;
}

/* "; name=value" or "; name="value"": *at behind it. */
static bool read_parameter(const char **at, struct shape *s)
{
	const char *name = *at + 1, *value;
	size_t name_len, len;
	bool quoted;

	name += strspn(name, " ");
	name_len = token_length(name);
	if (!*name) { /* a semicolon at the end */
		*at = name;
		return true;
	}
	value = name + name_len;
	if (!name_len || *value++ != '=')
		return false;
	quoted = *value == '"';
	value += quoted;
	len = quoted ? strcspn(value, "\"\\") : strcspn(value, "; \"\\()");
	*at = value + len;
	if (quoted && *(*at)++ != '"')
		return false;
	*at += strspn(*at, " ");
	if (name_len == 7 && strncasecmp(name, "charset", 7) == 0)
		return put_word(s->charset, sizeof s->charset, value, len, true);
	if (name_len == 8 && strncasecmp(name, "boundary", 8) == 0)
		return put_word(s->boundary, sizeof s->boundary, value, len, false);
	return true;
}

static bool read_type(const char *value, struct shape *s)
{
	const char *p = value + strspn(value, " ");
	size_t main_len = token_length(p), len;

	*s = (struct shape){ .type = "" };
	if (!*p)
		return true;
	if (!main_len || p[main_len] != '/')
		return false;
	len = main_len + 1 + token_length(p + main_len + 1);
	if (len == main_len + 1 || !put_word(s->type, sizeof s->type, p, len, true))
		return false;
	p += len;
	p += strspn(p, " ");
	while (*p == ';')
		if (!read_parameter(&p, s))
			return false;
	return !*p;
}

/* ---- the body ---- */

/* The next line without what ends it, and *at behind it. */
static struct slice next_line(const char **at, const char *end)
{
	const char *from = *at, *lf = memchr(from, '\n', (size_t)(end - from));
	const char *stop = lf ? lf : end;

	*at = lf ? lf + 1 : end;
	while (stop > from && is_blank(stop[-1]))
		stop--;
	return (struct slice){ from, (size_t)(stop - from) };
}

static bool is_delimiter(struct slice line, const char *boundary, const char *behind)
{
	size_t len = strlen(boundary), more = strlen(behind);

	return line.len == 2 + len + more && memcmp(line.at, "--", 2) == 0 &&
	       memcmp(line.at + 2, boundary, len) == 0 &&
	       memcmp(line.at + 2 + len, behind, more) == 0;
}

/* Nothing stands before the first part or behind the last, and each part says what it is. */
static bool is_all_parts(struct slice body, const char *boundary)
{
	const char *at = body.at, *end = body.at + body.len;
	bool open = false, closed = false;

	while (at < end) {
		struct slice line = next_line(&at, end);

		if (closed && line.len)
			return false;
		closed |= is_delimiter(line, boundary, "--");
		if (closed || (!open && !line.len))
			continue;
		if (!is_delimiter(line, boundary, "")) {
			if (!open)
				return false;
			continue;
		}
		open = true;
		if (end - at < 8 || strncasecmp(at, "Content-", 8) != 0)
			return false;
	}
	return open && closed;
}

/* Whether a line is there once more with two hyphens behind it, as the end of parts is marked. */
static bool is_closed(struct slice line, const char *at, const char *end)
{
	while (at < end) {
		struct slice other = next_line(&at, end);

		if (other.len == line.len + 2 && memcmp(other.at, line.at, line.len) == 0 &&
			memcmp(other.at + line.len, "--", 2) == 0)
			return true;
	}
	return false;
}

/* Neither parts nor HTML, which as plain text would show what it quotes as if it were said. */
static bool is_plain(struct slice body)
{
	const char *at = body.at, *end = body.at + body.len;
	size_t tried = 0;

	if (body.len > PLAIN_MAX)
		return false;
	while (at < end) {
		struct slice line = next_line(&at, end);

		if (memmem(line.at, line.len, "</", 2))
			return false;
		if (line.len > 2 && memcmp(line.at, "--", 2) == 0 &&
			(++tried > PLAIN_HYPHENS || is_closed(line, at, end)))
			return false;
	}
	return true;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Whether all of it is as quoted-printable is written of text, with nothing encoded that need not be; and whether a line goes on
 * behind its end. */
static bool is_quoted_printable(struct slice body, bool *ret_soft)
{
	const char *at = body.at, *end = body.at + body.len;

	*ret_soft = false;
	while (at < end) {
		struct slice line = next_line(&at, end);

		for (size_t i = 0; i < line.len; i++) {
			int high, low, byte;

			if (line.at[i] != '=')
				continue;
			if (i + 1 == line.len) {
				*ret_soft = true;
				continue;
			}
			high = hex_digit(line.at[i + 1]);
			low = i + 2 < line.len ? hex_digit(line.at[i + 2]) : -1;
			byte = high * 16 + low;
			if (high < 0 || low < 0 ||
				(byte < 0x80 && (!byte || !strchr("=. \t-F", byte))))
				return false;
		}
	}
	return true;
}

static bool is_base64(struct slice body)
{
	for (size_t i = 0; i < body.len; i++) {
		char c = body.at[i];

		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') &&
			c != '+' && c != '/' && c != '=' && c != '\r' && c != '\n')
			return false;
	}
	return true;
}

static bool is_as_it_stands(const char *encoding)
{
	return !*encoding || strcasecmp(encoding, "7bit") == 0 ||
	       strcasecmp(encoding, "8bit") == 0 || strcasecmp(encoding, "binary") == 0;
}

/* The encoding that is said is the one that it has; one that hides the ends of lines would show. */
static bool fits_encoding(struct slice body, const char *encoding)
{
	bool soft, quoted = is_quoted_printable(body, &soft);

	if (is_as_it_stands(encoding))
		return !quoted || !soft;
	if (strcasecmp(encoding, "quoted-printable") == 0)
		return quoted;
	return strcasecmp(encoding, "base64") == 0 && is_base64(body);
}

/* Those in which ASCII is ASCII. */
static bool is_plain_charset(const char *charset)
{
	static const char *const begins[] = { "utf-8", "us-ascii", "iso-8859-", "windows-125" };

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (strncmp(charset, begins[i], strlen(begins[i])) == 0)
			return true;
	return !*charset;
}

static bool fits_type(struct slice body, const struct shape *s, const char *encoding)
{
	if (strncmp(s->type, "multipart/", 10) == 0)
		return strcmp(s->type, "multipart/digest") != 0 && *s->boundary &&
		       is_all_parts(body, s->boundary);
	return (!*s->type || strcmp(s->type, "text/plain") == 0) &&
	       strcasecmp(encoding, "base64") != 0 && is_plain_charset(s->charset) &&
	       is_plain(body);
}

const char *shape_doubt(const struct dkim_check *c, size_t which)
{
	static const char type_name[] = "content-type",
			  encoding_name[] = "content-transfer-encoding";
	char type[VALUE_MAX + 1], value[VALUE_MAX + 1], *encoding = value;
	bool type_held = dkim_holds(c, which, type_name),
	     encoding_held = dkim_holds(c, which, encoding_name), parts;
	struct shape s;

	for (size_t i = 0; i < c->field_count; i++)
		if (!is_field(c->fields[i]))
			return MAIL_UNPROVEN "a line of its head is no header.";
	if (!value_of(c, type_name, type) || !value_of(c, encoding_name, value))
		return MAIL_UNPROVEN "it says twice, or at too great length, what its body is.";
	encoding += strspn(encoding, " ");
	if (!read_type(type, &s) && !type_held)
		return MAIL_UNPROVEN
			"its signature does not cover Content-Type, which is not as it should be.";
	if (!type_held && !fits_type(c->body, &s, encoding))
		return MAIL_UNPROVEN
			"its signature does not cover Content-Type, and the body may be read in another way.";
	parts = strncmp(s.type, "multipart/", 10) == 0;
	if (!encoding_held &&
		(parts ? !is_as_it_stands(encoding) : !fits_encoding(c->body, encoding)))
		return MAIL_UNPROVEN
			"its signature does not cover Content-Transfer-Encoding, and the body may be read in another way.";
	return NULL;
}
