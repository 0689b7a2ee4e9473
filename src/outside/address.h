/* address.h - which addresses of the network are nobody's business but this machine's.
 *
 * Whoever calls out on somebody's word asks here, about the address that is
 * really connected to and not about a name that may resolve to another one. */
#pragma once
#include <stdbool.h>
#include <sys/socket.h>

enum address_kind {
	ADDRESS_PUBLIC,
	ADDRESS_LOOPBACK,
	ADDRESS_PRIVATE, /* or reserved, link-local, multicast: not a place on the Internet */
};

/* How far a request may go.  Plain HTTP is only for what is not the Internet. */
enum reach {
	REACH_PUBLIC,	/* public addresses by HTTPS */
	REACH_LOOPBACK, /* also this machine, and that by plain HTTP too */
	REACH_ANY,	/* also private addresses, and any by plain HTTP too */
};

bool reach_holds(enum reach reach, enum address_kind kind);

enum address_kind address_kind(const struct sockaddr *sa);
/* The same for a literal ("127.0.0.1", "[::1]") or the name localhost; any other name is
 * ADDRESS_PUBLIC until it is resolved. */
enum address_kind address_kind_of_host(const char *host);
