/* mcp_issuers.h - who gives credentials for the Model Context Protocol besides this service, and whether one is good. */
#pragma once
#include "call/call.h"

/* Whom a token means that an OpenID provider gave for this address: the `vouch` of an operation (contract/route.h). */
int mcp_vouch(struct call *c, bool waits);
/* Where to learn who gives credentials (RFC 9728), as a part of a challenge; "" where nobody does but this service. */
const char *mcp_metadata_place(struct call *c);
