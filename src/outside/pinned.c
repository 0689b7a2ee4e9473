/* pinned.c - see pinned.h. */
#include "outside/pinned.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <string.h>

#include "outside/fetch.h"
#include "outside/why.h"

enum { ADDRESSES_MAX = 8 };

static bool is_literal(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return *host == '[' || inet_pton(AF_INET, host, bytes) == 1 ||
	       inet_pton(AF_INET6, host, bytes) == 1;
}

static const char *address_text(struct arena *a, const struct sockaddr *sa)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes = sa->sa_family == AF_INET
				    ? (const void *)&((const struct sockaddr_in *)sa)->sin_addr
				    : (const void *)&((const struct sockaddr_in6 *)sa)->sin6_addr;

	if (!inet_ntop(sa->sa_family, bytes, text, sizeof text))
		return NULL;
	return sa->sa_family == AF_INET ? arena_strdup(a, text) : arena_printf(a, "[%s]", text);
}

const char *pinned_addresses(
	struct arena *a, const char *url, enum egress egress, const char **ret_why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	bool listed = fetch_is_listed(url);
	struct fetch_origin origin;
	const char *all = NULL;
	size_t count = 0;

	if (!fetch_permits(url, egress) || !fetch_origin(a, url, &origin)) {
		*ret_why = WHY_ADDRESS_NOT_ALLOWED;
		return NULL;
	}
	if (is_literal(origin.host))
		return "";
	if (getaddrinfo(origin.host, NULL, &hints, &found)) {
		*ret_why = "its name is not known";
		return NULL;
	}
	for (const struct addrinfo *f = found; f && count < ADDRESSES_MAX; f = f->ai_next) {
		const char *text = listed || egress_allows_address(egress, f->ai_addr)
					   ? address_text(a, f->ai_addr)
					   : NULL;

		if (text && count++)
			all = arena_printf(a, "%s,%s", all, text);
		else if (text)
			all = arena_printf(a, "%s:%d:%s", origin.host, origin.port, text);
	}
	freeaddrinfo(found);
	if (!all)
		*ret_why = WHY_RESOLVES_TO_PRIVATE;
	return all;
}
