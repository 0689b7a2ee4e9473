/* share.h - what one address has of the listener: connections, and bytes of heads that are not whole. */
#pragma once
#include <netinet/in.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "http/http.h"

struct http_share {
	struct http_share *next;
	_Atomic size_t count; /* connections */
	_Atomic int64_t held; /* bytes */
	char network[INET6_ADDRSTRLEN];
};

struct http_shares;
struct http_shares *http_shares_new(void);
void http_shares_free(struct http_shares *s);
/* The entry of an address, for one more connection of it; NULL if there is no memory: it has none then.  From
 * any thread. */
struct http_share *http_share_take(struct http_shares *s, const char *address);
void http_share_put(struct http_shares *s, struct http_share *e);
