/* assistants_schemas.c - the tables for agents in the shape of the assistants API. */
#include "api/assistants.h"

FIELDS(AssistantObject) = {
	FIELD(AssistantObject, id, .need = true, .doc = "The agent's id."),
	FIELD(AssistantObject, created_at, .need = true, .example = "1769851800",
		.doc = "When the agent was made, in seconds since 1970."),
	FIELD(AssistantObject, object, .constant = "assistant", .doc = "Always assistant."),
	FIELD(AssistantObject, name, .nullable = true, .example = "\"Support desk\"",
		.doc = "The agent's name."),
	FIELD(AssistantObject, description, .nullable = true,
		.example = "\"Answers questions of customers.\"", .doc = "What the agent is for."),
	FIELD(AssistantObject, instructions, .nullable = true, .prompt = true,
		.example = "\"You answer questions of customers, briefly and kindly.\"",
		.doc = "The agent's system prompt."),
	FIELD(AssistantObject, metadata, .otherwise = "{}",
		.doc = "Free pairs of text, kept as they were given."),
	FIELD(AssistantObject, model, .otherwise = "\"lodge-agent\"",
		.doc = "What to name as the model when calling it."),
};
SCHEMA(AssistantObject, .doc = "An agent, in the shape of an assistant.");

FIELDS(AssistantList) = {
	FIELD(AssistantList, data, .need = true, .item = OBJECT, .of = &AssistantObject_schema,
		.doc = "The assistants on this page."),
	FIELD(AssistantList, object, .constant = "list", .doc = "Always list."),
	FIELD(AssistantList, first_id, .nullable = true,
		.doc = "The first assistant on this page; null if there is none."),
	FIELD(AssistantList, last_id, .nullable = true,
		.doc = "The last one; pass it as after to read on."),
	FIELD(AssistantList, has_more, .preset = "false",
		.doc = "True when there is more behind last_id."),
};
SCHEMA(AssistantList, .doc = "A page of assistants.");

const struct schema *const assistants_schemas[] = {
	&AssistantObject_schema,
	&AssistantList_schema,
	NULL,
};
