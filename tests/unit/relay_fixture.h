/* relay_fixture.h - a relay for tests: takes messages on loopback, a thread for each connection, and keeps what it took. */
#pragma once
#include "base/arena.h"

struct relay_peer;

struct relay_peer *relay_peer_open(void);
void relay_peer_close(struct relay_peer *r);
const char *relay_peer_url(const struct relay_peer *r, struct arena *a);
/* What it says to RCPT of this address from now on; NULL: that all is well. */
void relay_peer_says(struct relay_peer *r, const char *address, const char *reply);
/* How many it took; the last one for this address, and who sent it, or NULL.  They live as long as the relay. */
size_t relay_peer_count(struct relay_peer *r);
const char *relay_peer_message(struct relay_peer *r, const char *address);
const char *relay_peer_sender(struct relay_peer *r, const char *address);
