/* token.c - the alphabet of HTTP: tokens, visible text, lists, hosts (RFC 9110, 5.6 and 7.2).
 *
 * Small questions about bytes, shared by requests and replies.  No state. */
#include "http/parse.h"

#define LETTER(l) [l - 32] = l, [l] = l

const unsigned char http_token[256] = {
	/* clang-format off */
	['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*',
	['+'] = '+', ['-'] = '-', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`', ['|'] = '|',
	['~'] = '~', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5',
	['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9',
	LETTER('a'), LETTER('b'), LETTER('c'), LETTER('d'), LETTER('e'), LETTER('f'), LETTER('g'),
	LETTER('h'), LETTER('i'), LETTER('j'), LETTER('k'), LETTER('l'), LETTER('m'), LETTER('n'),
	LETTER('o'), LETTER('p'), LETTER('q'), LETTER('r'), LETTER('s'), LETTER('t'), LETTER('u'),
	LETTER('v'), LETTER('w'), LETTER('x'), LETTER('y'), LETTER('z'),
	/* clang-format on */
};

/* Without branches, so that the compiler looks at many bytes at once. */
bool http_text_valid(const char *at, size_t n)
{
	unsigned bad = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char b = (unsigned char)at[i];

		bad |= (unsigned)(b < 0x20) & (unsigned)(b != '\t');
		bad |= (unsigned)(b == 0x7f);
	}
	return !bad;
}

bool http_has_high(const char *at, size_t n)
{
	unsigned char all = 0;

	for (size_t i = 0; i < n; i++)
		all |= (unsigned char)at[i];
	return all & 0x80;
}

bool http_is_visible(const char *at, size_t n)
{
	unsigned bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= (unsigned)((unsigned char)(at[i] - 0x21) > 0x7e - 0x21);
	return !bad;
}

bool http_word_is(const char *at, size_t n, const char *word)
{
	if (strlen(word) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)at[i] | (at[i] >= 'A' && at[i] <= 'Z' ? 0x20 : 0)) !=
			(unsigned char)word[i])
			return false;
	return true;
}

static bool is_token_blank(char b)
{
	return b == ' ' || b == '\t';
}

bool http_list_next(const char **at, const char *end, const char **ret_item, size_t *ret_len)
{
	const char *item = *at, *stop;

	while (item < end && (is_token_blank(*item) || *item == ','))
		item++;
	if (item == end)
		return false;
	stop = memchr(item, ',', (size_t)(end - item));
	if (!stop)
		stop = end;
	*at = stop;
	while (is_token_blank(stop[-1]))
		stop--;
	*ret_item = item;
	*ret_len = (size_t)(stop - item);
	return true;
}

static bool is_hex(char b)
{
	return (b >= '0' && b <= '9') || ((b | 0x20) >= 'a' && (b | 0x20) <= 'f');
}

/* The end of a name (unreserved, sub-delims, percent-encoded) or of an IPv6 address; NULL if bad. */
static const char *host_end(const char *at, const char *end)
{
	const char *from = at;

	if (at < end && *at == '[') {
		for (at++; at < end && (is_hex(*at) || *at == ':' || *at == '.'); at++)
			;
		return at < end && *at == ']' && at - from > 2 ? at + 1 : NULL;
	}
	for (; at < end && *at != ':'; at++) {
		bool delim = *at && strchr("(),;=", *at), odd = !*at || strchr("#^`|", *at);

		if ((!http_token[(unsigned char)*at] && !delim) || odd)
			return NULL;
		if (*at == '%' && (end - at < 3 || !is_hex(at[1]) || !is_hex(at[2])))
			return NULL;
	}
	return at > from ? at : NULL;
}

/* uri-host [ ":" port ], not empty, without user information (RFC 9110, 7.2 and 4.2). */
bool http_host_valid(const char *at, size_t n)
{
	const char *end = at + n;
	unsigned port = 0;

	at = host_end(at, end);
	if (!at || at == end)
		return at != NULL;
	if (*at++ != ':' || end - at > 5)
		return false;
	for (; at < end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		port = port * 10 + (unsigned)(*at - '0');
	}
	return port <= 65535;
}
