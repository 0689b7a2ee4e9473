/* agent_chat.c - an agent's chat limits and working hours, as people read and change them. */
#include <string.h>

#include "api/agents/agent_extras.h"
#include "call/operation.h"
#include "queue/jobs.h"

static int read_config(struct call *c, struct chat_config *ret)
{
	return chat_config_read(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, ret);
}

OPERATION(readAgentChatConfig, NONE, AgentChatConfigRead)
{
	struct chat_config row;
	int err = read_config(c, &row);

	schema_copy(&chat_config_schema, &row, &AgentChatConfigRead_schema, out);
	return err;
}

/* The row as it would be after the change; its values are sound each by itself, and what is cleared has a
 * meaning of its own, so that nothing but the order of the two times can be wrong. */
static int check_chat_row(struct call *c, const struct chat_config *row)
{
	const char *start = row->working_hours_start;

	if (chat_config_end(row) <= chat_config_start(row))
		call_field(c, "working_hours_end", "order",
			"must be later than working_hours_start (%s); hours do not pass midnight",
			start ? start : "00:00");
	return c->problem.err;
}

CHECK_STEP(updateAgentChatConfig, AgentChatConfigUpdate)
{
	struct chat_config row;

	if (read_config(c, &row))
		return;
	schema_patch(&AgentChatConfigUpdate_schema, in, &chat_config_schema, &row);
	check_chat_row(c, &row);
}

OPERATION(updateAgentChatConfig, AgentChatConfigUpdate, AgentChatConfigRead,
	.check = updateAgentChatConfig_check)
{
	struct chat_config before, after;
	int err = read_config(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(chat_config, &before, &after));
	if (schema_present(&AgentChatConfigUpdate_schema, in, "working_hours_enabled"))
		after.working_hours_enabled = in->working_hours_enabled > 0; /* null clears it */
	err = check_chat_row(c, &after);
	if (err)
		return err;
	err = call_update(c, CHANGE(chat_config, &before, &after), NULL);
	if (!err)
		err = chat_config_write(c->db, &after);
	return err ? err : jobs_wake(c->db, after.tenant_id, after.agent_id, c->now);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/chat-config", &readAgentChatConfig, PERM_AGENT_READ, 200, .tag = "Agents",
		.doc = "Read how much the agent chats, and when." },
	{ METHOD_PUT, A "/chat-config", &updateAgentChatConfig, PERM_AGENT_WRITE, 200,
		"agent.chat_config", .tag = "Agents",
		.doc = "Change the chat limits and working hours that are sent; null clears." },
};
RESOURCE(agent_chat, routes, NULL);
