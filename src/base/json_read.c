/* json_read.c - the strict cursor of json.h. */
#include "base/json.h"
#include "base/crypto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool fail(struct json_reader *r, const char *what)
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
		fail(r, "the text ends where a value should be");
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
		fail(r, "this is not the beginning of a value");
		return JSON_FAULT;
	}
}

static bool word(struct json_reader *r, const char *text)
{
	size_t n = strlen(text);

	if (json_peek(r) == JSON_FAULT)
		return false;
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
		return fail(r, "this is not a value");
	r->at += n;
	return true;
}

bool json_read_null(struct json_reader *r)
{
	return word(r, "null");
}

bool json_read_bool(struct json_reader *r, bool *ret)
{
	*ret = json_peek(r) == JSON_BOOL && *r->at == 't';
	return word(r, *ret ? "true" : "false");
}

static bool is_digit(const struct json_reader *r)
{
	return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool digits(struct json_reader *r)
{
	if (!is_digit(r))
		return fail(r, "a digit is missing in this number");
	while (is_digit(r))
		r->at++;
	return true;
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
		return fail(r, "this is not a number");
	start = r->at;
	if (*r->at == '-')
		r->at++;
	if (r->at < r->end && *r->at == '0')
		r->at++;
	else if (!digits(r))
		return false;
	if (is_digit(r))
		return fail(r, "a number does not begin with 0");
	if (r->at < r->end && *r->at == '.') {
		plain = false;
		r->at++;
		if (!digits(r))
			return false;
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		plain = false;
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		if (!digits(r))
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
	if (len >= sizeof copy)
		text = arena_raw(r->arena, len + 1, 1);
	memcpy(text, start, len);
	text[len] = '\0';
	ret->value = strtod(text, NULL);
	if (!isfinite(ret->value)) {
		r->at = start;
		return fail(r, "this number is too large");
	}
	ret->is_integer = fabs(ret->value) <= most && ret->value == floor(ret->value);
	if (ret->is_integer)
		ret->integer = (int64_t)ret->value;
	return true;
}

/* The length of the UTF-8 sequence at p, or 0 if there is none. */
static size_t utf8_step(const unsigned char *p, const unsigned char *end)
{
	size_t n, i;

	if (*p < 0x80)
		return 1;
	n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (*p < 0xc2 || *p > 0xf4 || (size_t)(end - p) < n)
		return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
		(*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

bool utf8_valid(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;

	while (p < end) {
		size_t n = utf8_step(p, end);

		if (!n)
			return false;
		p += n;
	}
	return true;
}

size_t utf8_count(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* Four hex digits at p, or -1. */
static int hex4(const char *p, const char *end)
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

/* Reads the escape at r->at (behind the backslash). */
static bool escape(struct json_reader *r, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;
	int hi, lo;

	if (r->at == r->end)
		return fail(r, "the text ends inside a string");
	known = *r->at ? strchr(from, *r->at) : NULL;
	if (known) {
		*(*out)++ = to[known - from];
		r->at++;
		return true;
	}
	if (*r->at != 'u')
		return fail(r, "this escape is not known");
	hi = hex4(r->at + 1, r->end);
	if (hi < 0)
		return fail(r, "an escape \\u takes four hexadecimal digits");
	if (hi >= 0xdc00 && hi <= 0xdfff)
		return fail(r, "this is half of a surrogate pair");
	if (hi >= 0xd800 && hi <= 0xdbff) {
		if (r->end - r->at < 11 || r->at[5] != '\\' || r->at[6] != 'u' ||
			(lo = hex4(r->at + 7, r->end)) < 0xdc00 || lo > 0xdfff)
			return fail(r, "this is half of a surrogate pair");
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
static lanes stops(const char *p)
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
		lanes found = stops(p);
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
		return fail(r, "this is not a string");
	start = ++r->at;
	r->at = close = plain_run(start, r->end);
	if (close < r->end && *close == '"') {
		*ret = arena_strndup(r->arena, start, (size_t)(close - start));
		*ret_len = (size_t)(close - start);
		r->at++;
		return true;
	}
	/* A decoded string is never longer than its text: find the end, then decode. */
	while (close < r->end && *close != '"')
		close += *close == '\\' ? 2 : 1;
	if (close >= r->end) {
		r->at = r->end;
		return fail(r, "the text ends inside a string");
	}
	text = arena_raw(r->arena, (size_t)(close - start) + 1, 1);
	memcpy(text, start, (size_t)(r->at - start));
	out = text + (r->at - start);
	while (r->at < close) {
		size_t n;

		if (*r->at == '\\') {
			r->at++;
			if (!escape(r, &out))
				return false;
			continue;
		}
		if ((unsigned char)*r->at < 0x20)
			return fail(r, "a control character must be escaped");
		n = utf8_step((const unsigned char *)r->at, (const unsigned char *)close);
		if (!n)
			return fail(r, "this is not UTF-8");
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
		return fail(r, "this is not a string");
	start = ++r->at;
	for (;;) {
		char decoded[4], *out = decoded;
		size_t n;

		r->at = plain_run(r->at, r->end);
		if (r->at == r->end)
			return fail(r, "the text ends inside a string");
		if (*r->at == '"')
			break;
		if (*r->at == '\\') {
			r->at++;
			if (r->at < r->end && (*r->at == 'n' || *r->at == '"'))
				r->at++;
			else if (!escape(r, &out))
				return false;
			continue;
		}
		if ((unsigned char)*r->at < 0x20)
			return fail(r, "a control character must be escaped");
		for (; r->at < r->end && (unsigned char)*r->at >= 0x80; r->at += n) {
			n = utf8_step((const unsigned char *)r->at, (const unsigned char *)r->end);
			if (!n)
				return fail(r, "this is not UTF-8");
		}
	}
	*ret = start;
	*ret_len = (size_t)(r->at - start);
	r->at++;
	return true;
}

/* The keys met so far in one object, to refuse one that comes twice: a list
 * while there are few, a hash table when there are many. */
struct json_keys {
	struct json_keys *outer;
	struct key {
		const char *text;
		size_t len;
	} * slots;
	size_t count, cap;
};

enum { KEYS_LISTED = 16 };

static struct key *key_slot(struct json_keys *k, const char *text, size_t len)
{
	size_t at = k->cap > KEYS_LISTED ? keyed_hash(text, len) & (k->cap - 1) : 0;

	for (;; at = (at + 1) & (k->cap - 1)) {
		struct key *slot = &k->slots[at];

		if (!slot->text || (slot->len == len && memcmp(slot->text, text, len) == 0))
			return slot;
	}
}

static bool key_add(struct json_reader *r, const char *text, size_t len)
{
	struct json_keys *k = r->keys;
	struct key *slot;

	if (k->count + 1 >= k->cap || (k->cap > KEYS_LISTED && k->count * 2 >= k->cap)) {
		struct json_keys old = *k;

		k->cap = old.cap ? old.cap * 4 : KEYS_LISTED;
		k->slots = arena_array(r->arena, struct key, k->cap);
		for (size_t i = 0; i < old.cap; i++)
			if (old.slots[i].text)
				*key_slot(k, old.slots[i].text, old.slots[i].len) = old.slots[i];
	}
	slot = key_slot(k, text, len);
	if (slot->text)
		return false;
	*slot = (struct key){ text, len };
	k->count++;
	return true;
}

static bool enter(struct json_reader *r, char open)
{
	if (json_peek(r) == JSON_FAULT)
		return false;
	if (*r->at != open)
		return fail(r, open == '{' ? "this is not an object" : "this is not an array");
	if (r->depth == JSON_DEPTH_MAX)
		return fail(r, "this is nested too deeply");
	r->depth++;
	r->at++;
	r->first = true;
	return true;
}

/* Before a member or item: true if there is one, false at the end or on a fault. */
static bool next(struct json_reader *r, char close)
{
	if (r->fault)
		return false;
	skip_space(r);
	if (r->at == r->end)
		return fail(r, "the text ends too early");
	if (*r->at == close) {
		r->at++;
		r->depth--;
		r->first = false;
		return false;
	}
	if (r->first) {
		r->first = false;
		return true;
	}
	if (*r->at != ',')
		return fail(r, "a comma is missing");
	r->at++;
	skip_space(r);
	if (r->at < r->end && *r->at == close)
		return fail(r, "there is a comma before the end");
	return true;
}

bool json_enter_object(struct json_reader *r)
{
	struct json_keys *keys;

	if (!enter(r, '{'))
		return false;
	keys = arena_new(r->arena, struct json_keys);
	keys->outer = r->keys;
	r->keys = keys;
	return true;
}

bool json_next_key(struct json_reader *r, const char **ret, size_t *ret_len)
{
	const char *start, *name = "";
	size_t len = 0;

	if (!next(r, '}')) {
		if (!r->fault)
			r->keys = r->keys->outer;
		return false;
	}
	if (json_peek(r) != JSON_STRING)
		return fail(r, "a member begins with its name in quotes");
	start = r->at;
	if (!json_read_string(r, &name, &len))
		return false;
	*ret = name;
	*ret_len = len;
	if (!key_add(r, name, len)) {
		r->at = start;
		return fail(r, "this name comes twice in its object");
	}
	skip_space(r);
	if (r->at == r->end || *r->at != ':')
		return fail(r, "a colon is missing");
	r->at++;
	return true;
}

bool json_enter_array(struct json_reader *r)
{
	return enter(r, '[');
}

bool json_next_item(struct json_reader *r)
{
	return next(r, ']');
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
		while (json_next_key(r, &text, &len))
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
	return r->at == r->end || fail(r, "there is something behind the end of the value");
}
