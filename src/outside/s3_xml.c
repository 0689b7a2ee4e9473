/* s3_xml.c - see s3_xml.h. */
#include "outside/s3_xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { TEXT_MAX = 1 << 16, NUMBER_MAX = 8 };

static const struct {
	const char *name;
	char c;
} entities[] = { { "lt;", '<' }, { "gt;", '>' }, { "amp;", '&' }, { "quot;", '"' },
	{ "apos;", '\'' } };

static const char *find_text(const char *at, const char *end, const char *what)
{
	return at < end ? memmem(at, (size_t)(end - at), what, strlen(what)) : NULL;
}

/* The bracket that ends a tag: quotes in it are passed over. */
static const char *tag_end(const char *at, const char *end)
{
	char quote = '\0';

	for (; at < end; at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '>')
			return at;
	}
	return NULL;
}

static bool tag_is(const char *at, const char *end, const char *name)
{
	size_t n = strlen(name);

	return (size_t)(end - at) > n && memcmp(at, name, n) == 0 && strchr(" \t\r\n/>", at[n]);
}

bool s3_xml_element(struct s3_xml *x, const char *name, struct s3_xml *ret_inner)
{
	while (x->at < x->end) {
		const char *open = memchr(x->at, '<', (size_t)(x->end - x->at));
		const char *shut = open ? tag_end(open + 1, x->end) : NULL, *close;

		if (!shut)
			break;
		x->at = shut + 1;
		if (!tag_is(open + 1, x->end, name))
			continue;
		if (shut[-1] == '/') {
			*ret_inner = (struct s3_xml){ shut, shut };
			return true;
		}
		for (close = find_text(shut, x->end, "</"); close;
			close = find_text(close + 2, x->end, "</"))
			if (tag_is(close + 2, x->end, name))
				break;
		if (!close)
			break;
		*ret_inner = (struct s3_xml){ shut + 1, close };
		x->at = close;
		return true;
	}
	x->at = x->end;
	return false;
}

/* After the ampersand; the bytes that it took, or 0. */
static size_t put_entity(struct buf *b, const char *at, const char *end)
{
	char digits[NUMBER_MAX + 1] = "", *stop;
	const char *semicolon = memchr(at, ';', (size_t)(end - at));
	size_t n = semicolon ? (size_t)(semicolon - at) : 0;
	unsigned long code;

	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
		size_t len = strlen(entities[i].name);

		if (n + 1 == len && memcmp(at, entities[i].name, len) == 0) {
			buf_putc(b, entities[i].c);
			return len;
		}
	}
	if (n < 2 || n > NUMBER_MAX || *at != '#')
		return 0;
	memcpy(digits, at + 1, n - 1);
	code = *digits == 'x' ? strtoul(digits + 1, &stop, 16) : strtoul(digits, &stop, 10);
	if (*stop || !code || code > 127)
		return 0;
	buf_putc(b, (char)code);
	return n + 1;
}

const char *s3_xml_text(struct s3_xml in, struct arena *a, const char *name)
{
	struct s3_xml inner;
	struct buf b;
	const char *text = NULL;
	bool good;

	if (!s3_xml_element(&in, name, &inner))
		return NULL;
	buf_init(&b, TEXT_MAX);
	good = true;
	while (good && inner.at < inner.end) {
		size_t took = 1;

		if (*inner.at == '&')
			took = put_entity(&b, inner.at + 1, inner.end) + 1;
		else if (*inner.at == '<' || *inner.at == '\0')
			took = 0;
		else
			buf_putc(&b, *inner.at);
		good = took > (*inner.at == '&') && !b.overflow;
		inner.at += took;
	}
	if (good)
		text = arena_strndup(a, b.len ? b.at : "", b.len);
	buf_free(&b);
	return text;
}

const char *s3_xml_escape(struct arena *a, const char *text)
{
	struct buf b;

	buf_init(&b, TEXT_MAX);
	for (; *text; text++) {
		size_t i = 0;

		while (i < sizeof entities / sizeof *entities && entities[i].c != *text)
			i++;
		if (i < sizeof entities / sizeof *entities)
			buf_printf(&b, "&%s", entities[i].name);
		else
			buf_putc(&b, *text);
	}
	return arena_take(a, &b);
}
