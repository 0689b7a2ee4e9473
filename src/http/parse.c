/* parse.c - the head of a request, a line at a time.
 *
 * Each line is checked when its end arrives and copied into the exchange's
 * arena, names in lower case, so that the connection's buffer is free again
 * at once and a faulty line is answered without waiting for the rest.  This
 * file knows nothing of connections; see chunked.c for bodies. */
#include "http/parse.h"

#include "base/utf8.h"

#include <string.h>

static int head_fault(struct http_head *h, int err, const char *sentence)
{
	h->fault = sentence;
	return err;
}

static bool is_header_blank(char b)
{
	return b == ' ' || b == '\t';
}

static enum method method_of(const char *at, size_t n)
{
	static const struct {
		const char *name;
		size_t len;
		enum method method;
	} known[] = {
		{ "GET", 3, METHOD_GET },
		{ "HEAD", 4, METHOD_HEAD },
		{ "POST", 4, METHOD_POST },
		{ "PUT", 3, METHOD_PUT },
		{ "PATCH", 5, METHOD_PATCH },
		{ "DELETE", 6, METHOD_DELETE },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (n == known[i].len && memcmp(at, known[i].name, n) == 0)
			return known[i].method;
	return METHOD_OTHER;
}

/* Cuts scheme and authority off an absolute target (RFC 9112, 3.2.2); path may come out empty. */
static int take_authority(struct http_head *h, const char **at, const char *end)
{
	const char *host, *stop;

	if (end - *at > 7 && http_word_is(*at, 7, "http://"))
		host = *at + 7;
	else if (end - *at > 8 && http_word_is(*at, 8, "https://"))
		host = *at + 8;
	else
		return head_fault(
			h, ERR_MALFORMED, "The request target does not begin with a slash.");
	for (stop = host; stop < end && *stop != '/' && *stop != '?'; stop++)
		;
	if (!http_host_valid(host, (size_t)(stop - host)))
		return head_fault(
			h, ERR_MALFORMED, "The host in the request target is not a valid one.");
	h->authority = arena_strndup(h->arena, host, (size_t)(stop - host));
	*at = stop;
	return 0;
}

static int take_target(struct http_head *h, const char *at, size_t n)
{
	struct http_request *r = h->request;
	const char *end = at + n, *mark;
	int err;

	if (n > HTTP_TARGET_MAX)
		return head_fault(h, ERR_URI_TOO_LONG, "The request target is longer than 8 KiB.");
	if (!n || !http_is_visible(at, n) || memchr(at, '#', n))
		return head_fault(h, ERR_MALFORMED,
			"The request target holds bytes that have no place in it.");
	if (n == 1 && *at == '*' && strcmp(r->method_text, "OPTIONS") == 0) {
		r->path = "*";
		r->path_len = 1;
		return 0;
	}
	if (*at != '/' && (err = take_authority(h, &at, end)) < 0)
		return err;
	mark = memchr(at, '?', (size_t)(end - at));
	r->path_len = (size_t)((mark ? mark : end) - at);
	r->path = r->path_len ? arena_strndup(h->arena, at, r->path_len) : "/";
	r->path_len = r->path_len ? r->path_len : 1;
	if (mark) {
		r->query_len = (size_t)(end - mark - 1);
		r->query = arena_strndup(h->arena, mark + 1, r->query_len);
	}
	return 0;
}

/* The line comes without its CRLF. */
static int take_request_line(struct http_head *h, const char *at, size_t n)
{
	static const char shape[] = "The request line is not `method target HTTP/1.1`.";
	struct http_request *r = h->request;
	const char *space = memchr(at, ' ', n), *last = memrchr(at, ' ', n);
	const char *version;
	size_t len;

	if (!space || !last || space == at || space == last)
		return head_fault(h, ERR_MALFORMED, shape);
	version = last + 1;
	len = (size_t)(space - at);
	if (len > HTTP_METHOD_MAX)
		return head_fault(h, ERR_MALFORMED, "The method is too long.");
	for (size_t i = 0; i < len; i++)
		if (!http_token[(unsigned char)at[i]])
			return head_fault(h, ERR_MALFORMED, "The method is not a token.");
	if (at + n - version != 8 || memcmp(version, "HTTP/", 5) != 0 || version[5] < '0' ||
		version[5] > '9' || version[6] != '.' || version[7] < '0' || version[7] > '9')
		return head_fault(h, ERR_MALFORMED, shape);
	if (version[5] != '1')
		return head_fault(h, ERR_VERSION, "Only HTTP/1.0 and HTTP/1.1 are spoken here.");
	r->minor = version[7] == '0' ? 0 : 1;
	r->method = method_of(at, len);
	r->method_text = r->method == METHOD_GET ? "GET" : arena_strndup(h->arena, at, len);
	return take_target(h, space + 1, (size_t)(last - space - 1));
}

static int take_length(struct http_head *h, const char *at, size_t n)
{
	uint64_t v = 0;

	if (h->has_length)
		return head_fault(h, ERR_MALFORMED, "Content-Length comes twice.");
	h->has_length = true;
	for (size_t i = 0; i < n; i++) {
		if (at[i] < '0' || at[i] > '9')
			return head_fault(h, ERR_MALFORMED, "Content-Length is not a number.");
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(at[i] - '0'), &v))
			return head_fault(h, ERR_MALFORMED, "Content-Length is beyond all bounds.");
	}
	if (!n)
		return head_fault(h, ERR_MALFORMED, "Content-Length is empty.");
	h->request->content_length = v;
	return 0;
}

/* Only `chunked` alone is spoken; another coding before it is unknown, anything after it a trick. */
static int take_coding(struct http_head *h, const char *at, size_t n)
{
	const char *end = at + n, *item;
	bool chunked = false;
	size_t len;

	if (h->has_coding)
		return head_fault(h, ERR_MALFORMED, "Transfer-Encoding comes twice.");
	h->has_coding = true;
	if (http_word_is(at, n, "chunked")) {
		h->request->chunked = true;
		return 0;
	}
	h->coding = ERR_MALFORMED;
	while (http_list_next(&at, end, &item, &len)) {
		if (chunked)
			return 0;
		chunked = http_word_is(item, len, "chunked");
		if (!chunked)
			h->coding = ERR_NOT_HERE;
	}
	if (chunked && h->coding != ERR_NOT_HERE)
		h->coding = ERR_MALFORMED;
	return 0;
}

static void take_connection(struct http_head *h, const char *at, size_t n)
{
	const char *end = at + n, *item;
	size_t len;

	while (http_list_next(&at, end, &item, &len)) {
		if (http_word_is(item, len, "close"))
			h->says_close = true;
		else if (http_word_is(item, len, "keep-alive"))
			h->says_keep = true;
	}
}

/* Fields that say one thing: of two, one would be looked at here, and perhaps the other by whoever stands in front. */
static int take_single(struct http_head *h, const struct http_header *f)
{
	static const char *const single[] = { "authorization", "content-type", "idempotency-key",
		"if-match", "last-event-id", "openai-organization", "openai-project", "origin" };

	_Static_assert(sizeof single / sizeof *single <= 8 * sizeof h->singles, "a bit for each");
	for (unsigned i = 0; i < sizeof single / sizeof *single; i++) {
		if (strlen(single[i]) != f->name_len ||
			memcmp(f->name, single[i], f->name_len) != 0)
			continue;
		if (h->singles >> i & 1)
			return head_fault(h, ERR_MALFORMED,
				arena_printf(h->arena, "The header %s comes twice.", single[i]));
		h->singles |= 1u << i;
	}
	return 0;
}

/* The few fields that decide where a request ends and whether the connection stays. */
static int take_meaning(struct http_head *h, struct http_header *f)
{
	if (f->name_len == 4 && memcmp(f->name, "host", 4) == 0) {
		if (h->host)
			return head_fault(h, ERR_MALFORMED, "Host comes twice.");
		h->host = f;
		if (!http_host_valid(f->value, f->value_len))
			return head_fault(h, ERR_MALFORMED, "Host is not a valid host.");
	} else if (f->name_len == 14 && memcmp(f->name, "content-length", 14) == 0) {
		return take_length(h, f->value, f->value_len);
	} else if (f->name_len == 17 && memcmp(f->name, "transfer-encoding", 17) == 0) {
		return take_coding(h, f->value, f->value_len);
	} else if (f->name_len == 10 && memcmp(f->name, "connection", 10) == 0) {
		take_connection(h, f->value, f->value_len);
	} else if (f->name_len == 6 && memcmp(f->name, "expect", 6) == 0) {
		if (http_word_is(f->value, f->value_len, "100-continue"))
			h->wants_continue = true;
		else
			h->odd_expectation = true;
	} else {
		return take_single(h, f);
	}
	return 0;
}

/* The line comes without its CRLF. */
static int take_header(struct http_head *h, const char *at, size_t n)
{
	const char *end = at + n;
	struct http_header *f;
	char *name, *value;
	size_t len = 0;

	if (is_header_blank(*at))
		return head_fault(h, ERR_MALFORMED, "A header line begins with white space.");
	if (h->request->header_count == h->max_headers)
		return head_fault(h, ERR_HEADERS_TOO_LARGE, "There are too many headers.");
	name = arena_raw(h->arena, n + 2, 1);
	while (len < n && (name[len] = (char)http_token[(unsigned char)at[len]]))
		len++;
	if (!len || len == n || at[len] != ':')
		return head_fault(h, ERR_MALFORMED, "A header line is not `name: value`.");
	name[len] = '\0';
	for (at += len + 1; at < end && is_header_blank(*at); at++)
		;
	while (end > at && is_header_blank(end[-1]))
		end--;
	if (!http_text_valid(at, (size_t)(end - at)))
		return head_fault(h, ERR_MALFORMED, "A header holds a control byte.");
	value = name + len + 1;
	memcpy(value, at, (size_t)(end - at));
	value[end - at] = '\0';
	if (http_has_high(value, (size_t)(end - at)))
		utf8_clean(value, (size_t)(end - at));
	f = &h->headers[h->request->header_count++];
	*f = (struct http_header){ name, value, len, (size_t)(end - at) };
	return take_meaning(h, f);
}

/* The empty line has come: does it all go together? */
static int finish_head(struct http_head *h)
{
	struct http_request *r = h->request;

	if (!h->host && r->minor > 0)
		return head_fault(h, ERR_MALFORMED, "Host is missing.");
	if (h->has_coding && h->has_length)
		return head_fault(h, ERR_MALFORMED,
			"Content-Length and Transfer-Encoding exclude each other.");
	if (h->has_coding && r->minor == 0)
		return head_fault(h, ERR_MALFORMED, "HTTP/1.0 has no Transfer-Encoding.");
	if (h->coding)
		return head_fault(h, h->coding, "The only Transfer-Encoding taken is `chunked`.");
	if (h->odd_expectation)
		return head_fault(
			h, ERR_EXPECTATION, "The only expectation met is `100-continue`.");
	if (h->authority && h->host) {
		h->host->value = h->authority;
		h->host->value_len = strlen(h->authority);
	}
	r->headers = h->headers;
	r->has_body = r->chunked || r->content_length > 0;
	r->keep_alive = !h->says_close && (r->minor > 0 || h->says_keep);
	h->wants_continue = h->wants_continue && r->minor > 0 && r->has_body;
	return HTTP_DONE;
}

/* n bytes of a line are here, its end among them or not. */
static int check_size(struct http_head *h, size_t n, bool whole)
{
	size_t max = HTTP_TARGET_MAX + HTTP_METHOD_MAX + sizeof " HTTP/1.1\r\n";

	if (!whole)
		n++;
	if (!h->begun && n > (h->max_head < max ? h->max_head : max))
		return head_fault(h, ERR_URI_TOO_LONG, "The request line is too long.");
	if (n > h->max_head - h->total)
		return head_fault(h, ERR_HEADERS_TOO_LARGE, "The headers are too large.");
	return 0;
}

static int take_head_line(struct http_head *h, const char *at, size_t n)
{
	if (h->begun)
		return n ? take_header(h, at, n) : finish_head(h);
	if (!n) {
		if (h->blank)
			return head_fault(
				h, ERR_MALFORMED, "More than one empty line precedes the request.");
		h->blank = true;
		h->total = 0;
		return HTTP_MORE;
	}
	h->begun = true;
	return take_request_line(h, at, n);
}

int http_head_take(struct http_head *h, const char *at, size_t n, size_t *ret_used)
{
	const char *from = at, *end = at + n;
	int r = HTTP_MORE;

	while (r == HTTP_MORE) {
		size_t left = (size_t)(end - at);
		const char *lf = left > h->seen ? memchr(at + h->seen, '\n', left - h->seen) : NULL;
		size_t line = lf ? (size_t)(lf - at) + 1 : left;

		r = check_size(h, line, lf != NULL);
		if (r < 0)
			break;
		if (!lf) {
			h->seen = left;
			break;
		}
		if (line < 2 || lf[-1] != '\r') {
			r = head_fault(h, ERR_MALFORMED,
				"A line ends in a line feed without a carriage return.");
			break;
		}
		h->seen = 0;
		h->total += line;
		r = take_head_line(h, at, line - 2);
		at += line;
	}
	*ret_used = (size_t)(at - from);
	return r;
}
