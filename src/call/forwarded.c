/* forwarded.c - where a request comes from: its peer, or what proxies that are trusted say of it.
 *
 * X-Forwarded-For is read from its near end, one address for each proxy that
 * is trusted.  What stands there is parsed and written anew, so that nothing
 * but an address ever reaches the log, the audit or the store; where it is no
 * address, the last one that was is where the request comes from. */
#include "call/forwarded.h"

#include <arpa/inet.h>
#include <string.h>

static bool write_v4(const void *bytes, char out[INET6_ADDRSTRLEN])
{
	return inet_ntop(AF_INET, bytes, out, INET6_ADDRSTRLEN) != NULL;
}

/* 192.0.2.1, 192.0.2.1:443, 2001:db8::1, [2001:db8::1] or [2001:db8::1]:443. */
bool address_read(const char *text, size_t len, char out[INET6_ADDRSTRLEN])
{
	char copy[INET6_ADDRSTRLEN + sizeof "[]:65535"], *host = copy, *end;
	struct in6_addr v6;
	struct in_addr v4;

	if (!len || len >= sizeof copy || memchr(text, '\0', len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (*copy == '[') {
		host++;
		end = strchr(host, ']');
	} else {
		end = strchr(host, ':');
		if (end && strchr(end + 1, ':'))
			end = NULL; /* all of it is one address */
	}
	if (end) {
		const char *port = *end == ']' ? end + 1 : end;

		if (*port && (*port != ':' || !port[1] || strspn(port + 1, "0123456789") > 5 ||
				     port[1 + strspn(port + 1, "0123456789")]))
			return false;
		*end = '\0';
	} else if (*copy == '[') {
		return false;
	}
	if (*copy != '[' && inet_pton(AF_INET, host, &v4) == 1)
		return write_v4(&v4, out);
	if (inet_pton(AF_INET6, host, &v6) != 1)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&v6))
		return write_v4(v6.s6_addr + 12, out);
	return inet_ntop(AF_INET6, &v6, out, INET6_ADDRSTRLEN) != NULL;
}

/* Steps backwards through the items of a list; false before its beginning. */
static bool item_before(const char *from, const char **at, const char **ret, size_t *ret_len)
{
	const char *end = *at, *start;

	if (!end)
		return false;
	for (start = end; start > from && start[-1] != ','; start--)
		;
	*at = start > from ? start - 1 : NULL;
	while (start < end && (*start == ' ' || *start == '\t'))
		start++;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*ret = start;
	*ret_len = (size_t)(end - start);
	return true;
}

void forwarded_address(
	const struct http_request *r, const struct app_settings *s, char out[INET6_ADDRSTRLEN])
{
	memcpy(out, r->peer.text, INET6_ADDRSTRLEN);
	if (!s->trusts)
		return;
	for (size_t i = r->header_count; i--;) {
		const struct http_header *h = &r->headers[i];
		const char *at = h->value + h->value_len, *item;
		size_t len;

		if (strcmp(h->name, "x-forwarded-for") != 0)
			continue;
		while (item_before(h->value, &at, &item, &len)) {
			char next[INET6_ADDRSTRLEN];

			if (!s->trusts(s->trusts_ctx, out) || !address_read(item, len, next))
				return;
			memcpy(out, next, sizeof next);
		}
	}
}
