/* text.c - reading, writing and comparing escaped text; see text.h. */
#include "broker/text.h"

#include <string.h>

/* A copy in which every byte that is not UTF-8 is U+FFFD. */
static const char *mend_utf8(struct arena *a, const char *text, size_t len, size_t *ret_len)
{
	enum { LONGEST = 4 };
	char *out = arena_raw(a, 3 * len + 1, 1), *at = out;

	while (len) {
		size_t n = 1;

		while (n < len && n < LONGEST && !utf8_valid(text, n))
			n++;
		if (utf8_valid(text, n)) {
			memcpy(at, text, n);
			at += n;
		} else {
			memcpy(at, "\xef\xbf\xbd", 3);
			at += 3;
			n = 1;
		}
		text += n;
		len -= n;
	}
	*ret_len = (size_t)(at - out);
	return out;
}

struct slice text_escape(struct arena *a, const char *text, size_t len)
{
	struct buf b;
	struct slice s;

	if (!utf8_valid(text, len))
		text = mend_utf8(a, text, len, &len);
	buf_init(&b, 6 * len + 16);
	json_write_string(&b, text, len);
	s = (struct slice){ arena_strndup(a, b.at + 1, b.len - 2), b.len - 2 };
	buf_free(&b);
	return s;
}

const char *text_decode(struct arena *a, struct slice escaped, size_t *ret_len)
{
	struct json_reader r;
	const char *text;
	char *quoted;
	size_t len;

	*ret_len = 0;
	if (!escaped.len)
		return "";
	quoted = arena_raw(a, escaped.len + 2, 1);
	quoted[0] = quoted[escaped.len + 1] = '"';
	memcpy(quoted + 1, escaped.at, escaped.len);
	json_open(&r, a, quoted, escaped.len + 2);
	if (!json_read_string(&r, &text, &len))
		return "";
	*ret_len = len;
	return text;
}

const char *text_plain(struct arena *a, struct slice escaped)
{
	static const char mark[] = "\xEF\xBF\xBD";
	size_t len, nuls = 0;
	const char *text = text_decode(a, escaped, &len);
	char *plain, *out;

	for (size_t i = 0; i < len; i++)
		nuls += !text[i];
	if (!nuls)
		return text;
	plain = out = arena_raw(a, len + nuls * (sizeof mark - 2) + 1, 1);
	for (size_t i = 0; i < len; i++) {
		if (text[i])
			*out++ = text[i];
		else
			out = mempcpy(out, mark, sizeof mark - 1);
	}
	*out = '\0';
	return plain;
}

struct slice text_without_nul(struct arena *a, struct slice raw)
{
	static const char nul[] = "\\u0000", mark[] = "\\ufffd";
	char *copy;

	if (!raw.at || !memmem(raw.at, raw.len, nul, sizeof nul - 1))
		return raw;
	copy = arena_strndup(a, raw.at, raw.len);
	for (size_t i = 0; i + 1 < raw.len; i++) {
		if (copy[i] != '\\')
			continue;
		if (raw.len - i >= sizeof nul - 1 && memcmp(copy + i, nul, sizeof nul - 1) == 0)
			memcpy(copy + i, mark, sizeof mark - 1);
		i++; /* what is escaped begins no escape */
	}
	return (struct slice){ copy, raw.len };
}

bool text_is(struct slice s, const char *plain)
{
	return s.at && s.len == strlen(plain) && memcmp(s.at, plain, s.len) == 0;
}

void text_put(struct buf *b, struct slice s)
{
	buf_put(b, s.at, s.len);
}

void text_put_quoted(struct buf *b, struct slice s)
{
	buf_putc(b, '"');
	buf_put(b, s.at, s.len);
	buf_putc(b, '"');
}

bool text_refuse(struct json_reader *r, const char *what)
{
	if (!r->fault) {
		r->fault = what;
		r->fault_at = (size_t)(r->at - r->text);
	}
	return false;
}

bool text_read(struct json_reader *r, struct slice *ret)
{
	*ret = (struct slice){ 0 };
	if (json_peek(r) == JSON_NULL)
		return json_read_null(r);
	return json_read_escaped(r, &ret->at, &ret->len);
}

bool text_read_word(struct json_reader *r, const char **ret)
{
	size_t len;

	*ret = "";
	if (json_peek(r) == JSON_NULL)
		return json_read_null(r);
	if (!json_read_string(r, ret, &len))
		return false;
	return strlen(*ret) == len || text_refuse(r, "this must not hold the character U+0000");
}

bool text_read_raw(struct json_reader *r, struct slice *ret)
{
	*ret = (struct slice){ 0 };
	if (json_peek(r) == JSON_NULL)
		return json_read_null(r);
	return json_skip(r, &ret->at, &ret->len);
}

bool text_read_count(struct json_reader *r, int64_t *ret)
{
	struct json_number n;

	if (json_peek(r) == JSON_NULL)
		return json_read_null(r);
	if (!json_read_number(r, &n))
		return false;
	if (!n.is_integer || n.integer < 0 || n.integer > TOKENS_MAX)
		return text_refuse(r, "this number of tokens is absurd");
	*ret = n.integer;
	return true;
}
