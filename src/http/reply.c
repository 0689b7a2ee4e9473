/* reply.c - a reply put into bytes.
 *
 * Every reply carries Date, X-Request-Id, nosniff, and says how it ends.  The
 * handler's own lines are checked before they go out, so that no value it was
 * given can forge a header.  Nothing here knows what a reply means. */
#include "http/conn.h"

static const struct {
	int status;
	const char *words;
} phrases[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 206, "Partial Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 411, "Length Required" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 414, "URI Too Long" },
	{ 415, "Unsupported Media Type" },
	{ 416, "Range Not Satisfiable" },
	{ 417, "Expectation Failed" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
	{ 507, "Insufficient Storage" },
	{ 529, "Overloaded" },
};

static const char *status_phrase(int status)
{
	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (phrases[i].status == status)
			return phrases[i].words;
	return "Other";
}

static bool status_has_body(int status)
{
	return status != 204 && status != 304;
}

bool http_reply_has_body(const struct http_exchange *x)
{
	return x->reply.body.len && status_has_body(x->reply.status) &&
	       x->request.method != METHOD_HEAD;
}

/* Whether one of the lines is of this name (lower case, without the colon). */
static bool has_line(const struct buf *extra, const char *name)
{
	const char *at = extra->at, *end = at + extra->len;
	size_t len = strlen(name);

	while (at < end) {
		const char *next = memchr(at, '\n', (size_t)(end - at));

		if ((size_t)(end - at) > len && at[len] == ':' && http_word_is(at, len, name))
			return true;
		at = next ? next + 1 : end;
	}
	return false;
}

/* name ":" text CRLF, again and again. */
bool http_reply_valid(const struct http_reply *r)
{
	const char *at = r->extra.at, *end = r->extra.len ? at + r->extra.len : at;

	if (r->status < 200 || r->status > 599 || r->extra.overflow || r->body.overflow)
		return false;
	if (r->type &&
		(strlen(r->type) > HTTP_TYPE_MAX || !http_text_valid(r->type, strlen(r->type))))
		return false;
	while (at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at)), *name = at;

		while (at < end && http_token[(unsigned char)*at])
			at++;
		if (!lf || at == name || *at != ':' || lf[-1] != '\r' ||
			!http_text_valid(at, (size_t)(lf - 1 - at)))
			return false;
		at = lf + 1;
	}
	return true;
}

static char *put_head_bytes(char *at, const char *text, size_t n)
{
	memcpy(at, text, n);
	return at + n;
}

#define PUT(at, literal) put_head_bytes((at), (literal), sizeof(literal) - 1)

static char *put_head_number(char *at, size_t v)
{
	char digits[20];
	size_t i = sizeof digits;

	do
		digits[--i] = (char)('0' + v % 10);
	while (v /= 10);
	return put_head_bytes(at, digits + i, sizeof digits - i);
}

char *http_reply_head(const struct http_exchange *x, bool close, char *at)
{
	const struct http_reply *r = &x->reply;
	bool body = status_has_body(r->status);

	if (r->status == 200) {
		at = PUT(at, "HTTP/1.1 200 OK\r\nDate: ");
	} else {
		const char *words = status_phrase(r->status);

		at = PUT(at, "HTTP/1.1 ");
		at = put_head_number(at, (size_t)r->status);
		*at++ = ' ';
		at = put_head_bytes(at, words, strlen(words));
		at = PUT(at, "\r\nDate: ");
	}
	at = put_head_bytes(at, x->loop->date, sizeof x->loop->date);
	if (body && r->type) {
		at = PUT(at, "\r\nContent-Type: ");
		at = put_head_bytes(at, r->type, strlen(r->type));
	}
	if (r->streams && x->request.minor > 0) {
		at = PUT(at, "\r\nTransfer-Encoding: chunked");
	} else if (body && !r->streams) {
		at = PUT(at, "\r\nContent-Length: ");
		at = put_head_number(at, r->file ? r->file->len : r->body.len);
	}
	at = PUT(at, "\r\nX-Request-Id: ");
	at = put_head_bytes(at, x->request_id, ID_LEN);
	at = PUT(at, "\r\nX-Content-Type-Options: nosniff\r\n");
	if (!r->extra.len || !has_line(&r->extra, "cache-control"))
		at = PUT(at, "Cache-Control: no-store\r\n");
	if (r->status == 503 && (!r->extra.len || !has_line(&r->extra, "retry-after")))
		at = PUT(at, "Retry-After: 1\r\n");
	if (close)
		at = PUT(at, "Connection: close\r\n");
	else if (x->request.minor == 0)
		at = PUT(at, "Connection: keep-alive\r\n");
	if (r->extra.len)
		at = put_head_bytes(at, r->extra.at, r->extra.len);
	return PUT(at, "\r\n");
}
