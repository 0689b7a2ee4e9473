/* dns.h - the texts that a name of the domain name system has, keys and policies of mail, and the servers that take its mail.
 *
 * It waits, so it belongs on the slow pool.  A name that has none is told
 * apart from a server that does not answer: the first is an answer. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum {
	DNS_TEXTS_MAX = 32,  /* of one name; those after them are not looked at */
	DNS_TEXT_MAX = 4096, /* bytes of one, its pieces put together; a longer one is left out */
	DNS_NAME_MAX = 253,
};

struct dns_texts {
	const char *at[DNS_TEXTS_MAX]; /* a NUL within one ends it */
	size_t count;
};

/* "192.0.2.53" or "192.0.2.53:5353". */
bool dns_server_valid(const char *server);
/* Letters, digits, "-", "_" and dots between labels of at most 63 bytes. */
bool dns_name_valid(const char *name);
/* From this server, or from the system's if it is NULL.  0, with or without texts; ERR_INVALID for what is no name;
 * ERR_UPSTREAM if nobody answers, or with an error. */
int dns_texts(const char *server, const char *name, struct arena *a, struct dns_texts *ret);
/* The names of the servers that take mail for this one (MX), in the order they come; "." says that nobody does.  Likewise. */
int dns_mail_servers(const char *server, const char *name, struct arena *a, struct dns_texts *ret);
