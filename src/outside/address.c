/* address.c - see address.h.  One table of networks; IPv4 is looked up as ::ffff:a.b.c.d. */
#include "outside/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { V6 = 16, MAPPED = 12 };

#define V4(a, b, c, d) 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d

static const struct network {
	uint8_t at[V6];
	int bits;
	enum address_kind kind;
} networks[] = {
	{ { V4(127, 0, 0, 0) }, 96 + 8, ADDRESS_LOOPBACK },
	{ { [15] = 1 }, 128, ADDRESS_LOOPBACK },
	{ { V4(0, 0, 0, 0) }, 96 + 8, ADDRESS_PRIVATE },
	{ { V4(10, 0, 0, 0) }, 96 + 8, ADDRESS_PRIVATE },
	{ { V4(100, 64, 0, 0) }, 96 + 10, ADDRESS_PRIVATE },
	{ { V4(169, 254, 0, 0) }, 96 + 16, ADDRESS_PRIVATE },
	{ { V4(172, 16, 0, 0) }, 96 + 12, ADDRESS_PRIVATE },
	{ { V4(192, 0, 0, 0) }, 96 + 24, ADDRESS_PRIVATE },
	{ { V4(192, 168, 0, 0) }, 96 + 16, ADDRESS_PRIVATE },
	{ { V4(198, 18, 0, 0) }, 96 + 15, ADDRESS_PRIVATE },
	{ { V4(224, 0, 0, 0) }, 96 + 3, ADDRESS_PRIVATE },
	{ { 0xfc }, 7, ADDRESS_PRIVATE },
	{ { 0xfe, 0x80 }, 10, ADDRESS_PRIVATE },
	{ { 0xfe, 0xc0 }, 10, ADDRESS_PRIVATE },
	{ { 0xff }, 8, ADDRESS_PRIVATE },
	/* Ways to write an IPv4 address as another one: nobody needs them to reach a service. */
	{ { 0 }, 96, ADDRESS_PRIVATE },
	{ { [8] = 0xff, [9] = 0xff }, 96, ADDRESS_PRIVATE },
	{ { 0x20, 0x02 }, 16, ADDRESS_PRIVATE },
	{ { 0x20, 0x01, 0, 0 }, 32, ADDRESS_PRIVATE },
	{ { 0x00, 0x64, 0xff, 0x9b }, 32, ADDRESS_PRIVATE },
};

static bool lies_in(const uint8_t at[V6], const struct network *n)
{
	size_t whole = (size_t)n->bits / 8;
	int rest = n->bits % 8;

	if (memcmp(at, n->at, whole) != 0)
		return false;
	return !rest || ((at[whole] ^ n->at[whole]) >> (8 - rest)) == 0;
}

static enum address_kind kind_of(const uint8_t at[V6])
{
	for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
		if (lies_in(at, &networks[i]))
			return networks[i].kind;
	return ADDRESS_PUBLIC;
}

static void map(uint8_t out[V6], const struct in_addr *v4)
{
	static const uint8_t head[MAPPED] = { [10] = 0xff, [11] = 0xff };

	memcpy(out, head, sizeof head);
	memcpy(out + MAPPED, v4, sizeof *v4);
}

enum address_kind address_kind(const struct sockaddr *sa)
{
	uint8_t at[V6];

	if (sa->sa_family == AF_INET)
		map(at, &((const struct sockaddr_in *)(const void *)sa)->sin_addr);
	else if (sa->sa_family == AF_INET6)
		memcpy(at, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, V6);
	else
		return ADDRESS_PRIVATE;
	return kind_of(at);
}

enum address_kind address_kind_of_host(const char *host)
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strlen(host);
	struct in_addr v4;
	uint8_t at[V6];

	if (len > 1 && host[len - 1] == '.') /* the root: the same name */
		len--;
	if (len == strlen("localhost") && strncasecmp(host, "localhost", len) == 0)
		return ADDRESS_LOOPBACK;
	if (len < sizeof text) {
		memcpy(text, host, len);
		text[len] = '\0';
	}
	if (len < sizeof text && inet_pton(AF_INET, text, &v4) == 1) {
		map(at, &v4);
		return kind_of(at);
	}
	if (len > 2 && *host == '[' && host[len - 1] == ']' && len - 2 < sizeof text) {
		memcpy(text, host + 1, len - 2);
		text[len - 2] = '\0';
		if (inet_pton(AF_INET6, text, at) == 1)
			return kind_of(at);
	}
	return ADDRESS_PUBLIC;
}

bool reach_holds(enum reach reach, enum address_kind kind)
{
	return kind == ADDRESS_PUBLIC || reach == REACH_ANY ||
	       (reach == REACH_LOOPBACK && kind == ADDRESS_LOOPBACK);
}
