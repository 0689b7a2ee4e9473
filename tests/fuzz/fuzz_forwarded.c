/* fuzz_forwarded.c - what proxies say of where a request comes from.  The first byte says which
 * addresses are trusted, the rest is the head of a request.  Whatever it holds, every value of a header
 * is UTF-8, the address is one, and without trust it is the peer's. */
#include "setup.h"

#include <arpa/inet.h>

#include "base/utf8.h"
#include "call/forwarded.h"
#include "http/parse.h"

static bool trusts(const void *ctx, const char *address)
{
	const uint8_t *how = ctx;

	return *how & 1 || strcmp(address, "192.0.2.1") == 0 || (*how & 2 && strchr(address, ':'));
}

static void check(const struct http_request *r, const uint8_t *how)
{
	struct app_settings s = { .trusts = *how & 4 ? NULL : trusts, .trusts_ctx = how };
	char out[INET6_ADDRSTRLEN];
	uint8_t bytes[16];

	for (size_t i = 0; i < r->header_count; i++)
		if (!utf8_valid(r->headers[i].value, r->headers[i].value_len) ||
			strlen(r->headers[i].value) != r->headers[i].value_len)
			abort();
	forwarded_address(r, &s, out);
	if (!memchr(out, '\0', sizeof out) ||
		(inet_pton(AF_INET, out, bytes) != 1 && inet_pton(AF_INET6, out, bytes) != 1))
		abort();
	if (!s.trusts && strcmp(out, r->peer.text) != 0)
		abort();
}

/* Each line alone, too: an address is read to itself. */
static void check_alone(const char *text, size_t len)
{
	char out[INET6_ADDRSTRLEN], again[INET6_ADDRSTRLEN];

	if (address_read(text, len, out) &&
		(!address_read(out, strlen(out), again) || strcmp(out, again) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { HEADERS = 40, HEAD = 16 * 1024 };
	static struct http_header headers[HEADERS];
	static const char first[] = "GET / HTTP/1.1\r\nHost: a\r\n", last[] = "\r\n\r\n";
	struct arena a = { 0 };
	struct http_request r = { .peer = { .text = "192.0.2.1" } };
	struct http_head h = { .request = &r,
		.headers = headers,
		.arena = &a,
		.max_head = HEAD,
		.max_headers = HEADERS };
	struct buf text;
	size_t used;

	if (!size)
		return 0;
	check_alone((const char *)data + 1, size - 1);
	buf_init(&text, HEAD * 2);
	buf_lit(&text, first);
	buf_put(&text, data + 1, size - 1);
	buf_lit(&text, last);
	if (!text.overflow && http_head_take(&h, text.at, text.len, &used) == HTTP_DONE)
		check(&r, data);
	buf_free(&text);
	arena_free(&a);
	return 0;
}
