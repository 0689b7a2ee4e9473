/* share.c - how many connections, and how much of unfinished heads, each address has.
 *
 * Looked up when a connection comes and when it goes, never in between: a
 * connection knows its entry.  A proxy that many stand after has none. */
#include "http/share.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/crypto.h"

enum { CELLS = 1024 };

struct http_shares {
	pthread_mutex_t lock; /* over the next, and every entry's link */
	struct http_share *cells[CELLS];
};

void http_network(const char *address, char out[INET6_ADDRSTRLEN])
{
	struct in6_addr v6;

	if (inet_pton(AF_INET6, address, &v6) == 1) {
		memset(v6.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &v6, out, INET6_ADDRSTRLEN);
		return;
	}
	snprintf(out, INET6_ADDRSTRLEN, "%s", address);
}

struct http_shares *http_shares_new(void)
{
	struct http_shares *s = calloc(1, sizeof *s);

	if (s)
		pthread_mutex_init(&s->lock, NULL);
	return s;
}

void http_shares_free(struct http_shares *s)
{
	for (size_t i = 0; s && i < CELLS; i++) {
		while (s->cells[i]) {
			struct http_share *e = s->cells[i];

			s->cells[i] = e->next;
			free(e);
		}
	}
	if (s)
		pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct http_share **share_cell_of(struct http_shares *s, const char *network)
{
	struct http_share **at = &s->cells[keyed_hash(network, strlen(network)) % CELLS];

	while (*at && strcmp((*at)->network, network) != 0)
		at = &(*at)->next;
	return at;
}

struct http_share *http_share_take(struct http_shares *s, const char *address)
{
	char network[INET6_ADDRSTRLEN];
	struct http_share **at, *e;

	http_network(address, network);
	pthread_mutex_lock(&s->lock);
	at = share_cell_of(s, network);
	if (!*at && (*at = calloc(1, sizeof **at)))
		memcpy((*at)->network, network, sizeof network);
	e = *at;
	if (e)
		e->count++;
	pthread_mutex_unlock(&s->lock);
	return e;
}

void http_share_put(struct http_shares *s, struct http_share *e)
{
	pthread_mutex_lock(&s->lock);
	INVARIANT(e->count > 0);
	if (--e->count == 0) {
		*share_cell_of(s, e->network) = e->next;
		free(e);
	}
	pthread_mutex_unlock(&s->lock);
}
