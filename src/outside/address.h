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
enum egress {
	EGRESS_PUBLIC,	 /* public addresses by HTTPS; and what is on the list, by plain HTTP too */
	EGRESS_LOOPBACK, /* also this machine, and that by plain HTTP too */
	EGRESS_ANY,	 /* also private addresses, and any by plain HTTP too */
};

bool egress_allows(enum egress egress, enum address_kind kind);

/* ---- private places that may be called all the same ---- */

/* Chosen by whoever runs the program, one list for the process: addresses (10.0.0.5, ::1), networks
 * (10.0.0.0/8), either with a port ([::1]:443, 10.0.0.5:11434), and names with one (ollama:11434), with
 * commas between.  A name stands for whatever it resolves to. */
enum { EGRESS_LIST_MAX = 64 };
bool egress_list_valid(const char *text);
/* Before any thread calls out.  "" empties the list. */
void egress_allow(const char *text);
/* That list, for a program of ours that calls out. */
const char *egress_allowed(void);
/* Is the host of a URL, a name or a literal, on the list with this port? */
bool egress_lists_host(const char *host, int port);
/* May this be connected to?  The list counts, too. */
bool egress_allows_address(enum egress egress, const struct sockaddr *sa);

enum address_kind address_kind(const struct sockaddr *sa);
/* The same for a literal ("127.0.0.1", "[::1]") or the name localhost; any other name is
 * ADDRESS_PUBLIC until it is resolved. */
enum address_kind address_kind_of_host(const char *host);
