/* agent_chat.c - an agent's chat limits and working hours, as people read and change them. */
#include <string.h>

#include "api/agent_extras.h"
#include "api/api.h"

static int read_config(struct call *c, struct chat_config *ret)
{
	return chat_config_read(c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, ret);
}

OPERATION(readAgentChatConfig, .reply = &AgentChatConfigRead_schema)
{
	struct chat_config row;
	int err = read_config(c, &row);

	schema_copy(&chat_config_schema, &row, &AgentChatConfigRead_schema, c->reply);
	return err;
}

static void check_needed(struct call *c, const char *field, const char *text)
{
	if (!text)
		call_field(c, field, "required", "is needed while working hours are enabled");
}

/* The row as it would be after the change; its values are sound each by itself. */
static int check_row(struct call *c, const struct chat_config *row)
{
	int start = chat_config_minute(row->working_hours_start),
	    end = chat_config_minute(row->working_hours_end);

	if (start >= 0 && end >= 0 && end <= start)
		call_field(c, "working_hours_end", "order",
			"must be later than working_hours_start (%s); hours do not pass midnight",
			row->working_hours_start);
	if (row->working_hours_enabled) {
		check_needed(c, "working_hours_start", row->working_hours_start);
		check_needed(c, "working_hours_end", row->working_hours_end);
		check_needed(c, "working_hours_tz", row->working_hours_tz);
	}
	return c->problem.err;
}

OPERATION(updateAgentChatConfig, .body = &AgentChatConfigUpdate_schema,
	.reply = &AgentChatConfigRead_schema)
{
	const struct AgentChatConfigUpdate *in = c->body;
	const struct field *enabled =
		schema_field(&AgentChatConfigUpdate_schema, "working_hours_enabled", 21);
	struct chat_config before, after;
	int err = read_config(c, &before);

	if (err)
		return err;
	after = before;
	schema_patch(&AgentChatConfigUpdate_schema, in, &chat_config_schema, &after);
	if (in->got >> (enabled - AgentChatConfigUpdate_schema.fields) & 1)
		after.working_hours_enabled = in->working_hours_enabled > 0; /* null clears it */
	err = check_row(c, &after);
	if (err)
		return err;
	call_changed(c, &chat_config_schema, &before, &after);
	c->audit.resource_id = after.agent_id;
	schema_copy(&chat_config_schema, &after, &AgentChatConfigRead_schema, c->reply);
	return chat_config_write(c->db, c->arena, &after);
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/chat-config", &readAgentChatConfig, PERM_AGENT_READ, 200, .tag = "Agents",
		.doc = "Read how much the agent chats, and when." },
	{ METHOD_PUT, A "/chat-config", &updateAgentChatConfig, PERM_AGENT_WRITE, 200,
		"agent.chat_config", .tag = "Agents",
		.doc = "Change the chat limits and working hours that are sent; null clears." },
};
RESOURCE(agent_chat, routes, agent_extras_schemas);
