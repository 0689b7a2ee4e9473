/* mcp_tools.h - the tools that clients of the Model Context Protocol find: each agent that the caller may ask, and
 * a few for what was said and what there is. */
#pragma once
#include "mcp/mcp_out.h"

#define MCP_ASK "ask_"

/* What is asked of an agent. */
struct McpAsk {
	const char *message, *session_id; /* session_id: "" for a new one */
};
SCHEMA_DECLARED(McpAsk);

/* The agent that the tool stands for, with the caller's rights on it in c->caller: ERR_NOT_FOUND without a sentence if
 * there is none for them. */
int mcp_agent_find(struct call *c, const char *tool, const char **ret_id);
/* The arguments of the message, by the tool's own table: ERR_INVALID with each field in c->problem. */
int mcp_arguments(struct call *c, const struct mcp_spoken *said, const struct schema *s, void *ret);

int mcp_tools_list(struct mcp_turn *t);
/* The same of tools/call: MCP_BEGINS if an agent is asked, which is for a transaction that writes. */
enum { MCP_BEGINS = 1 };
int mcp_tools_call(struct mcp_turn *t);

/* A session and its newest messages before one of them (NULL: of all), oldest first, as JSON text: what the tool and the
 * resource both show.  404 in one form for all that is not for the caller. */
int mcp_session_text(
	struct call *c, const char *session_id, const char *before, size_t most, const char **ret);

extern const struct statement_set mcp_tools_sql;
