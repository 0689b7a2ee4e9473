/* sql_address.c - where a database is: its name resolved once, and the address judged that will be connected to. */
#include <netdb.h>
#include <string.h>

#include "outside/address.h"
#include "outside/sql/sql.h"

bool sql_address(const struct sql_asked *in, struct sql_place *ret, struct buf *why)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV
	};
	struct addrinfo *all = NULL;
	enum egress egress = (enum egress)in->task.egress;
	bool listed, found = false;
	int port = 0, err;

	for (const char *p = in->text[SQL_PORT]; *p >= '0' && *p <= '9' && port < 65536; p++)
		port = port * 10 + (*p - '0');
	egress_allow(in->text[SQL_ALLOWED]);
	listed = egress_lists_host(in->text[SQL_HOST], port);
	err = getaddrinfo(in->text[SQL_HOST], in->text[SQL_PORT], &hints, &all);
	if (err) {
		buf_printf(why, "The name of the database's host cannot be resolved: %s.",
			gai_strerror(err));
		return false;
	}
	for (const struct addrinfo *i = all; i && !found; i = i->ai_next) {
		if (!listed && !egress_allows_address(egress, i->ai_addr))
			continue;
		ret->is_public = address_kind(i->ai_addr) == ADDRESS_PUBLIC;
		found = getnameinfo(i->ai_addr, i->ai_addrlen, ret->digits, sizeof ret->digits,
				NULL, 0, NI_NUMERICHOST) == 0;
	}
	freeaddrinfo(all);
	if (!found)
		buf_puts(why,
			"The database's host has no address that may be called: private ones are permitted by the setting allow_private_addresses.");
	return found;
}
