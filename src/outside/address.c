/* address.c - see address.h.  One table of networks; IPv4 is looked up as ::ffff:a.b.c.d. */
#include "outside/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
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

static enum address_kind address_kind_of(const uint8_t at[V6])
{
	for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
		if (lies_in(at, &networks[i]))
			return networks[i].kind;
	return ADDRESS_PUBLIC;
}

static void map_v4(uint8_t out[V6], const struct in_addr *v4)
{
	static const uint8_t head[MAPPED] = { [10] = 0xff, [11] = 0xff };

	memcpy(out, head, sizeof head);
	memcpy(out + MAPPED, v4, sizeof *v4);
}

enum address_kind address_kind(const struct sockaddr *sa)
{
	uint8_t at[V6];

	if (sa->sa_family == AF_INET)
		map_v4(at, &((const struct sockaddr_in *)(const void *)sa)->sin_addr);
	else if (sa->sa_family == AF_INET6)
		memcpy(at, &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr, V6);
	else
		return ADDRESS_PRIVATE;
	return address_kind_of(at);
}

/* A literal as the host of a URL is written; false for a name. */
static bool host_address(const char *host, uint8_t at[V6])
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strlen(host);
	struct in_addr v4;

	if (len > 1 && host[len - 1] == '.') /* the root: the same name */
		len--;
	if (len < sizeof text) {
		memcpy(text, host, len);
		text[len] = '\0';
	}
	if (len < sizeof text && inet_pton(AF_INET, text, &v4) == 1) {
		map_v4(at, &v4);
		return true;
	}
	if (len > 2 && *host == '[' && host[len - 1] == ']' && len - 2 < sizeof text) {
		memcpy(text, host + 1, len - 2);
		text[len - 2] = '\0';
		return inet_pton(AF_INET6, text, at) == 1;
	}
	return false;
}

enum address_kind address_kind_of_host(const char *host)
{
	size_t len = strlen(host);
	uint8_t at[V6];

	if (len > 1 && host[len - 1] == '.')
		len--;
	if (len == strlen("localhost") && strncasecmp(host, "localhost", len) == 0)
		return ADDRESS_LOOPBACK;
	return host_address(host, at) ? address_kind_of(at) : ADDRESS_PUBLIC;
}

bool egress_allows(enum egress egress, enum address_kind kind)
{
	return kind == ADDRESS_PUBLIC || egress == EGRESS_ANY ||
	       (egress == EGRESS_LOOPBACK && kind == ADDRESS_LOOPBACK);
}

/* ---- the list ---- */

enum { NAME_MAX_ = 254 };

static struct allowed_place {
	struct network network;
	char name[NAME_MAX_]; /* instead of a network; "" */
	int port;	      /* 0: any */
} allowed_places[EGRESS_LIST_MAX];
static size_t allowed_count;
static char *allowed_text;

static bool read_address_number(const char *text, long most, int *ret)
{
	size_t n = strspn(text, "0123456789");
	long value = n && n <= 5 && !text[n] ? strtol(text, NULL, 10) : -1;

	*ret = (int)value;
	return value >= 0 && value <= most;
}

/* "10.0.0.0/8", "::1" */
static bool read_network(char *text, struct network *ret)
{
	char *slash = strchr(text, '/');
	struct in_addr v4;
	int most = V6 * 8;

	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET6, text, ret->at) != 1) {
		if (inet_pton(AF_INET, text, &v4) != 1)
			return false;
		map_v4(ret->at, &v4);
		most = 32;
	}
	ret->bits = most;
	if (slash && !read_address_number(slash, most, &ret->bits))
		return false;
	ret->bits += V6 * 8 - most;
	return true;
}

static bool read_name(const char *text, char out[NAME_MAX_])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-._";
	size_t n = strlen(text);

	if (!n || n >= NAME_MAX_)
		return false;
	for (size_t i = 0; i <= n; i++)
		out[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i]);
	/* What has only digits and dots is an address that was mistyped. */
	return !out[strspn(out, letters)] && out[strspn(out, "0123456789.")];
}

/* "[::1]:443", "10.0.0.5:11434", "ollama:11434", or a network. */
static bool read_place(char *text, struct allowed_place *ret)
{
	char *colon = strrchr(text, ':'), *end = strchr(text, ']');

	*ret = (struct allowed_place){ 0 };
	if (*text == '[') {
		if (!end || (end[1] && end[1] != ':'))
			return false;
		if (end[1] && (!read_address_number(end + 2, 65535, &ret->port) || !ret->port))
			return false;
		*end = '\0';
		return strchr(text + 1, ':') && read_network(text + 1, &ret->network);
	}
	if (!colon || strchr(text, ':') != colon)
		return read_network(text, &ret->network);
	*colon = '\0';
	if (!read_address_number(colon + 1, 65535, &ret->port) || !ret->port)
		return false;
	return read_network(text, &ret->network) || read_name(text, ret->name);
}

/* How many places the text lists, or -1; out may be NULL. */
static int read_places(const char *text, struct allowed_place *out)
{
	struct allowed_place ignored;
	char item[NAME_MAX_ + 16];
	int count = 0;

	text += strspn(text, " \t");
	while (*text) {
		size_t n = strcspn(text, ","), len = n;

		while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
			len--;
		if (!len || len >= sizeof item || count == EGRESS_LIST_MAX)
			return -1;
		memcpy(item, text, len);
		item[len] = '\0';
		if (!read_place(item, out ? &out[count] : &ignored))
			return -1;
		count++;
		text += n;
		if (!*text)
			break;
		text++; /* after a comma comes another */
		text += strspn(text, " \t");
		if (!*text)
			return -1;
	}
	return count;
}

bool egress_list_valid(const char *text)
{
	return read_places(text, NULL) >= 0;
}

void egress_allow(const char *text)
{
	int count = read_places(text, allowed_places);

	allowed_count = count > 0 ? (size_t)count : 0;
	free(allowed_text);
	allowed_text = strdup(text);
}

const char *egress_allowed(void)
{
	return allowed_text ? allowed_text : "";
}

static bool lists_address(const uint8_t at[V6], int port)
{
	for (size_t i = 0; i < allowed_count; i++) {
		const struct allowed_place *p = &allowed_places[i];

		if (!*p->name && (!p->port || p->port == port) && lies_in(at, &p->network))
			return true;
	}
	return false;
}

static bool lists_name(const char *host, int port)
{
	size_t len = strlen(host);

	if (len > 1 && host[len - 1] == '.')
		len--;
	for (size_t i = 0; i < allowed_count; i++) {
		const struct allowed_place *p = &allowed_places[i];

		if (*p->name && p->port == port && strlen(p->name) == len &&
			strncasecmp(p->name, host, len) == 0)
			return true;
	}
	return false;
}

bool egress_lists_host(const char *host, int port)
{
	uint8_t at[V6];

	return allowed_count &&
	       (host_address(host, at) ? lists_address(at, port) : lists_name(host, port));
}

bool egress_allows_address(enum egress egress, const struct sockaddr *sa)
{
	uint8_t at[V6];
	int port;

	if (egress_allows(egress, address_kind(sa)))
		return true;
	if (!allowed_count)
		return false;
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)sa;

		map_v4(at, &v4->sin_addr);
		port = ntohs(v4->sin_port);
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)sa;

		memcpy(at, &v6->sin6_addr, V6);
		port = ntohs(v6->sin6_port);
	} else {
		return false;
	}
	return lists_address(at, port);
}
