/* json_read.c - the strict cursor of json.h. */
#include "base/json.h"
#include "base/json_names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool reader_fail(struct json_reader *r, const char *what)
{
	if (!r->fault) {
		r->fault = what;
		r->fault_at = (size_t)(r->at - r->text);
	}
	return false;
}

void json_open(struct json_reader *r, struct arena *a, const char *text, size_t len)
{
	*r = (struct json_reader){ .text = text, .at = text, .end = text + len, .arena = a };
	if (len > UINT32_MAX) /* names are known by where they stand */
		reader_fail(r, "the text is too long");
}

static void skip_space(struct json_reader *r)
{
	while (r->at < r->end &&
		(*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
		r->at++;
}

enum json_type json_peek(struct json_reader *r)
{
	if (r->fault)
		return JSON_FAULT;
	skip_space(r);
	if (r->at == r->end) {
		reader_fail(r, "the text ends where a value should be");
		return JSON_FAULT;
	}
	switch (*r->at) {
	case 'n':
		return JSON_NULL;
	case 't':
	case 'f':
		return JSON_BOOL;
	case '"':
		return JSON_STRING;
	case '[':
		return JSON_ARRAY;
	case '{':
		return JSON_OBJECT;
	default:
		if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))
			return JSON_NUMBER;
		reader_fail(r, "this is not the beginning of a value");
		return JSON_FAULT;
	}
}

static bool reader_word(struct json_reader *r, const char *text)
{
	size_t n = strlen(text);

	if (json_peek(r) == JSON_FAULT)
		return false;
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
		return reader_fail(r, "this is not a value");
	r->at += n;
	return true;
}

bool json_read_null(struct json_reader *r)
{
	return reader_word(r, "null");
}

bool json_read_bool(struct json_reader *r, bool *ret)
{
	*ret = json_peek(r) == JSON_BOOL && *r->at == 't';
	return reader_word(r, *ret ? "true" : "false");
}

static bool reader_at_digit(const struct json_reader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool reader_digits(struct json_reader *r)
{
	if (!reader_at_digit(r))
		return reader_fail(r, "a digit is missing in this number");
	while (reader_at_digit(r))
		r->at++;
	return true;
}

/* Is what stands there a whole number, to the last digit and not only to a double's? */
static bool is_whole(const char *p, const char *end)
{
	int64_t after_point = 0, zeros = 0, exponent = 0;
	bool point = false, zero = true, down;

	for (p += *p == '-'; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		after_point += point;
		zeros = *p == '0' ? zeros + 1 : 0;
		zero = zero && *p == '0';
	}
	down = p < end && p[1] == '-';
	for (p++; p < end; p++)
		if (*p >= '0' && *p <= '9' && exponent < INT32_MAX)
			exponent = exponent * 10 + (*p - '0');
	return zero || (down ? -exponent : exponent) >= after_point - zeros;
}

bool json_read_number(struct json_reader *r, struct json_number *ret)
{
	enum { WHOLE_DIGITS = 16 };
	const double most = 9007199254740991.0;
	const char *start;
	bool plain = true;
	size_t len;
	char copy[64], *text = copy;

	if (json_peek(r) != JSON_NUMBER)
		return reader_fail(r, "this is not a number");
	start = r->at;
	if (*r->at == '-')
		r->at++;
	if (r->at < r->end && *r->at == '0')
		r->at++;
	else if (!reader_digits(r))
		return false;
	if (reader_at_digit(r))
		return reader_fail(r, "a number does not begin with 0");
	if (r->at < r->end && *r->at == '.') {
		plain = false;
		r->at++;
		if (!reader_digits(r))
			return false;
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		plain = false;
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		if (!reader_digits(r))
			return false;
	}
	len = (size_t)(r->at - start);
	*ret = (struct json_number){ .text = start, .len = len };
	if (plain && len < WHOLE_DIGITS) {
		const char *p = start + (*start == '-');

		for (; p < r->at; p++)
			ret->integer = ret->integer * 10 + (*p - '0');
		if (*start == '-')
			ret->integer = -ret->integer;
		ret->value = (double)ret->integer;
		ret->is_integer = true;
		return true;
	}
	if (len >= sizeof copy) {
		if (!arena_room(r->arena, len))
			return reader_fail(r, JSON_TOO_MUCH);
		text = arena_raw(r->arena, len + 1, 1);
	}
	memcpy(text, start, len);
	text[len] = '\0';
	ret->value = strtod(text, NULL);
	if (!isfinite(ret->value)) {
		r->at = start;
		return reader_fail(r, "this number is too large");
	}
	ret->is_integer = fabs(ret->value) <= most && is_whole(start, r->at);
	if (ret->is_integer)
		ret->integer = (int64_t)ret->value;
	return true;
}

/* Four hex digits at p, or -1. */
static int read_hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;

		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static char *utf8_put(char *out, unsigned c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

bool json_unescape(struct json_reader *r, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;
	int hi, lo;

	if (r->at == r->end)
		return reader_fail(r, "the text ends inside a string");
	known = *r->at ? strchr(from, *r->at) : NULL;
	if (known) {
		*(*out)++ = to[known - from];
		r->at++;
		return true;
	}
	if (*r->at != 'u')
		return reader_fail(r, "this escape is not known");
	hi = read_hex4(r->at + 1, r->end);
	if (hi < 0)
		return reader_fail(r, "an escape \\u takes four hexadecimal digits");
	if (hi >= 0xdc00 && hi <= 0xdfff)
		return reader_fail(r, "this is half of a surrogate pair");
	if (hi >= 0xd800 && hi <= 0xdbff) {
		if (r->end - r->at < 11 || r->at[5] != '\\' || r->at[6] != 'u' ||
			(lo = read_hex4(r->at + 7, r->end)) < 0xdc00 || lo > 0xdfff)
			return reader_fail(r, "this is half of a surrogate pair");
		*out = utf8_put(
			*out, 0x10000u + ((unsigned)(hi - 0xd800) << 10) + (unsigned)(lo - 0xdc00));
		r->at += 11;
		return true;
	}
	*out = utf8_put(*out, (unsigned)hi);
	r->at += 5;
	return true;
}

/* Sixteen bytes at once, in whatever the machine has for it. */
typedef signed char lanes __attribute__((vector_size(16)));

/* All ones where the byte ends a plain run; as signed bytes, all that is not ASCII is below space. */
static lanes plain_run_stops(const char *p)
{
	lanes v;

	memcpy(&v, p, sizeof v);
	return (v < ' ') | (v == '"') | (v == '\\');
}

/* Which of eight bytes is the first that is not 0. */
static int first_byte(uint64_t v)
{
	return (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_ctzll(v)
							  : __builtin_clzll(v)) /
	       8;
}

/* Moves over plain ASCII inside a string: the common case, without a test a byte. */
static const char *plain_run(const char *p, const char *end)
{
	for (; end - p >= 16; p += 16) {
		lanes found = plain_run_stops(p);
		uint64_t half[2];

		memcpy(half, &found, sizeof half);
		if (half[0])
			return p + first_byte(half[0]);
		if (half[1])
			return p + 8 + first_byte(half[1]);
	}
	while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\' &&
		(unsigned char)*p < 0x80)
		p++;
	return p;
}

bool json_read_string(struct json_reader *r, const char **ret, size_t *ret_len)
{
	const char *close, *start;
	char *text, *out;

	if (json_peek(r) != JSON_STRING)
		return reader_fail(r, "this is not a string");
	start = ++r->at;
	r->at = close = plain_run(start, r->end);
	if (close < r->end && *close == '"') {
		if (!arena_room(r->arena, (size_t)(close - start)))
			return reader_fail(r, JSON_TOO_MUCH);
		*ret = arena_strndup(r->arena, start, (size_t)(close - start));
		*ret_len = (size_t)(close - start);
		r->at++;
		return true;
	}
	/* A decoded string is never longer than its text: find the end, then decode. */
	while ((close = plain_run(close, r->end)) < r->end && *close != '"')
		close += *close == '\\' ? 2 : 1;
	if (close >= r->end) {
		r->at = r->end;
		return reader_fail(r, "the text ends inside a string");
	}
	if (!arena_room(r->arena, (size_t)(close - start)))
		return reader_fail(r, JSON_TOO_MUCH);
	text = arena_raw(r->arena, (size_t)(close - start) + 1, 1);
	memcpy(text, start, (size_t)(r->at - start));
	out = text + (r->at - start);
	while (r->at < close) {
		size_t n;

		if (*r->at == '\\') {
			r->at++;
			if (!json_unescape(r, &out))
				return false;
			continue;
		}
		if ((unsigned char)*r->at < 0x20)
			return reader_fail(r, "a control character must be escaped");
		n = (unsigned char)*r->at < 0x80 ? (size_t)(plain_run(r->at, close) - r->at)
						 : utf8_step(r->at, close);
		if (!n)
			return reader_fail(r, "this is not UTF-8");
		memcpy(out, r->at, n);
		out += n;
		r->at += n;
	}
	*out = '\0';
	*ret = text;
	*ret_len = (size_t)(out - text);
	r->at = close + 1;
	return true;
}

bool json_read_escaped(struct json_reader *r, const char **ret, size_t *ret_len)
{
	const char *start;

	if (json_peek(r) != JSON_STRING)
		return reader_fail(r, "this is not a string");
	start = ++r->at;
	for (;;) {
		char decoded[4], *out = decoded;
		size_t n;

		r->at = plain_run(r->at, r->end);
		if (r->at == r->end)
			return reader_fail(r, "the text ends inside a string");
		if (*r->at == '"')
			break;
		if (*r->at == '\\') {
			r->at++;
			if (r->at < r->end && (*r->at == 'n' || *r->at == '"'))
				r->at++;
			else if (!json_unescape(r, &out))
				return false;
			continue;
		}
		if ((unsigned char)*r->at < 0x20)
			return reader_fail(r, "a control character must be escaped");
		for (; r->at < r->end && (unsigned char)*r->at >= 0x80; r->at += n) {
			n = utf8_step(r->at, r->end);
			if (!n)
				return reader_fail(r, "this is not UTF-8");
		}
	}
	*ret = start;
	*ret_len = (size_t)(r->at - start);
	r->at++;
	return true;
}

static bool reader_enter(struct json_reader *r, char open)
{
	if (json_peek(r) == JSON_FAULT)
		return false;
	if (*r->at != open)
		return reader_fail(
			r, open == '{' ? "this is not an object" : "this is not an array");
	if (r->depth == JSON_DEPTH_MAX)
		return reader_fail(r, "this is nested too deeply");
	r->depth++;
	r->at++;
	r->first = true;
	return true;
}

/* Before a member or item: true if there is one, false at the end or on a fault. */
static bool reader_has_next(struct json_reader *r, char close)
{
	if (r->fault)
		return false;
	skip_space(r);
	if (r->at == r->end)
		return reader_fail(r, "the text ends too early");
	if (*r->at == close) {
		r->at++;
		r->depth--;
		r->first = false;
		return false;
	}
	if (arena_full(r->arena))
		return reader_fail(r, JSON_TOO_MUCH);
	if (r->first) {
		r->first = false;
		return true;
	}
	if (*r->at != ',')
		return reader_fail(r, "a comma is missing");
	r->at++;
	skip_space(r);
	if (r->at < r->end && *r->at == close)
		return reader_fail(r, "there is a comma before the end");
	return true;
}

bool json_enter_object(struct json_reader *r)
{
	if (!reader_enter(r, '{'))
		return false;
	json_names_enter(r);
	return true;
}

bool json_read_name(struct json_reader *r, const char **ret, size_t *ret_len)
{
	const char *start = r->at;

	if (!json_read_escaped(r, ret, ret_len))
		return false;
	if (!memchr(*ret, '\\', *ret_len))
		return true;
	r->at = start;
	return json_read_string(r, ret, ret_len);
}

static bool next_key(struct json_reader *r, bool skipping, const char **ret, size_t *ret_len)
{
	const char *start, *name = "", *fault;
	size_t len = 0;

	if (!reader_has_next(r, '}')) {
		if (!r->fault)
			json_names_leave(r);
		return false;
	}
	if (json_peek(r) != JSON_STRING)
		return reader_fail(r, "a member begins with its name in quotes");
	start = r->at;
	if (!(skipping ? json_read_name : json_read_string)(r, &name, &len))
		return false;
	*ret = name;
	*ret_len = len;
	if (memchr(name, '\0',
		    len)) { /* two names that differ after it would be one to whoever compares */
		r->at = start;
		return reader_fail(r, "a name must not hold the character U+0000");
	}
	fault = json_names_add(r, (size_t)(start - r->text), name, len);
	if (fault) {
		r->at = start;
		return reader_fail(r, fault);
	}
	skip_space(r);
	if (r->at == r->end || *r->at != ':')
		return reader_fail(r, "a colon is missing");
	r->at++;
	return true;
}

bool json_next_key(struct json_reader *r, const char **ret, size_t *ret_len)
{
	return next_key(r, false, ret, ret_len);
}

bool json_enter_array(struct json_reader *r)
{
	return reader_enter(r, '[');
}

bool json_next_item(struct json_reader *r)
{
	return reader_has_next(r, ']');
}

static bool skip_value(struct json_reader *r) /* NOLINT(misc-no-recursion): depth is bounded */
{
	struct json_number number;
	const char *text;
	size_t len;
	bool flag;

	switch (json_peek(r)) {
	case JSON_NULL:
		return json_read_null(r);
	case JSON_BOOL:
		return json_read_bool(r, &flag);
	case JSON_NUMBER:
		return json_read_number(r, &number);
	case JSON_STRING:
		return json_read_escaped(r, &text, &len);
	case JSON_ARRAY:
		json_enter_array(r);
		while (json_next_item(r))
			skip_value(r);
		return !r->fault;
	case JSON_OBJECT:
		json_enter_object(r);
		while (next_key(r, true, &text, &len))
			skip_value(r);
		return !r->fault;
	case JSON_FAULT:
		break;
	}
	return false;
}

bool json_skip(struct json_reader *r, const char **ret_text, size_t *ret_len)
{
	const char *start;

	json_peek(r);
	start = r->at;
	if (!skip_value(r))
		return false;
	if (ret_text)
		*ret_text = start;
	if (ret_len)
		*ret_len = (size_t)(r->at - start);
	return true;
}

bool json_end(struct json_reader *r)
{
	if (r->fault)
		return false;
	skip_space(r);
	return r->at == r->end || reader_fail(r, "there is something after the end of the value");
}
