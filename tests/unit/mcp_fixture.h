/* mcp_fixture.h - an MCP server on the loopback that has the tools it is given, and says of each call what it was
 * called with; one named `breaks` says that it failed. */
#pragma once
#include "fixture.h"
#include "peer_fixture.h"

struct mcp_fixture {
	struct peer peer;
	const char *tools;    /* JSON list */
	char last_head[4096]; /* of the last request */
};

void mcp_fixture_open(struct mcp_fixture *s, const char *tools);
void mcp_fixture_close(struct mcp_fixture *s);

/* One without tools that lives as long as the process; the fixture may then call this machine. */
const char *matrix_mcp(struct fixture *f);
