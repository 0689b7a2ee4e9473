/* mcp_stage.h - an MCP server on the loopback that has the tools it is given, and says of each call what it was
 * called with. */
#pragma once
#include "fixture.h"
#include "peer_stage.h"

struct mcp_stage {
	struct peer peer;
	const char *tools;    /* JSON list */
	char last_head[4096]; /* of the last request */
};

void mcp_stage_open(struct mcp_stage *s, const char *tools);
void mcp_stage_close(struct mcp_stage *s);

/* One without tools that lives as long as the process; the fixture may then call this machine. */
const char *matrix_mcp(struct fixture *f);
