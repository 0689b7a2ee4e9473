/* forwarded.h - the address of whoever calls, where proxies stand between. */
#pragma once
#include "call/call.h"

/* An address as proxies write it, perhaps with a port; written anew. */
bool address_read(const char *text, size_t len, char out[INET6_ADDRSTRLEN]);
/* The peer's, or what trusted proxies say, read from the near end. */
void forwarded_address(
	const struct http_request *r, const struct app_settings *s, char out[INET6_ADDRSTRLEN]);
