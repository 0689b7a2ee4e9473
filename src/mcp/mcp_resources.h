/* mcp_resources.h - what clients of the Model Context Protocol may read: sessions, skills and the files of skills.
 *
 *   lodge://sessions/{session_id}{?before}     JSON: the session and its newest messages
 *   lodge://skills/{skill_id}                  Markdown: SKILL.md
 *   lodge://skills/{skill_id}/files/{+path}    a file of the skill */
#pragma once
#include "mcp/mcp_out.h"

int mcp_resources_list(struct mcp_turn *t);
int mcp_resource_templates(struct mcp_turn *t);
int mcp_resource_read(struct mcp_turn *t);

/* What an address names; for mcp_resources.c and the fuzzer. */
struct mcp_address {
	enum { MCP_ADDRESS_SESSION, MCP_ADDRESS_SKILL, MCP_ADDRESS_FILE } kind;
	const char *id;
	const char *before; /* of a session; or NULL */
	const char *path;   /* of a file */
};
/* False if it is none of ours. */
bool mcp_address_read(struct arena *a, const char *uri, struct mcp_address *ret);
