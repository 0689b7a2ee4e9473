/* assistants_schemas.c - the tables for agents in the shape of the assistants API. */
#include "openai/assistants.h"
#include "openai/openai_shapes.h"

FIELDS(AssistantObject) = {
	FIELD(AssistantObject, id, .required = true, .doc = "The agent's id."),
	FIELD(AssistantObject, created_at, .required = true, .example = "1769851800",
		.doc = "When the agent was made, in seconds since 1970."),
	FIELD(AssistantObject, object, .constant = "assistant", .doc = "Always assistant."),
	FIELD(AssistantObject, name, .nullable = true, .example = "\"Support desk\"",
		.doc = "The agent's name."),
	FIELD(AssistantObject, description, .nullable = true,
		.example = "\"Answers questions of customers.\"", .doc = "What the agent is for."),
	FIELD(AssistantObject, instructions, .nullable = true, .prompt = true,
		.example = "\"You answer questions of customers, briefly and kindly.\"",
		.doc = "The agent's system prompt."),
	FIELD(AssistantObject, metadata, .shape = &pairs_shape, .otherwise = "{}",
		.doc = "Free pairs of text, kept as they were given."),
	FIELD(AssistantObject, model, .otherwise = "\"lodge-agent\"",
		.doc = "The model that was named for it, while it leads the agent's chain; else lodge-agent."),
};
SCHEMA(AssistantObject, .doc = "An agent, in the shape of an assistant.");

FIELDS(AssistantList) = {
	FIELD(AssistantList, data, .required = true, .item = OBJECT, .of = &AssistantObject_schema,
		.doc = "The assistants on this page."),
	FIELD(AssistantList, object, .constant = "list", .doc = "Always list."),
	FIELD(AssistantList, first_id, .nullable = true,
		.doc = "The first assistant on this page; null if there is none."),
	FIELD(AssistantList, last_id, .nullable = true,
		.doc = "The last one; pass it as after to read on."),
	FIELD(AssistantList, has_more, .preset = "false",
		.doc = "True when there is more after last_id."),
};
SCHEMA(AssistantList, .doc = "A page of assistants.");

#define NAME                                                                \
	.nullable = true, BOUNDS(1, 255), .pattern = "^[A-Za-z0-9 -]+$",    \
	.rule = "may have letters A to Z, digits, blanks and hyphens only", \
	.example = "\"Support desk\"",                                      \
	.doc = "The agent's name: letters, digits, spaces, "                \
	       "hyphens. Without one it is Assistant."
#define MODEL_DOC                                                                            \
	"lodge-agent for the models in the agent's chain, or a model's slug, which becomes " \
	"the chain."
#define TOOLS                                                                           \
	.shape = &chat_tool_shape, .nullable = true, .array = true, .example = "[]",    \
	.doc = "Functions that the caller runs itself, offered in every run; they are " \
	       "not shown again."
#define METADATA .shape = &pairs_shape, .nullable = true, .doc = "Up to 16 pairs of text."
#define TEMPERATURE                     \
	.nullable = true, BOUNDS(0, 2), \
	.doc = "Used in every run that says nothing else; null leaves it to the model."
#define TOP_P                           \
	.nullable = true, BOUNDS(0, 1), \
	.doc = "Used in every run that says nothing else; null leaves it to the model."
#define FORMAT                                                      \
	.shape = &text_format_shape, .nullable = true, .any = true, \
	.doc = "auto, or {type: text}: answers are plain text."

FIELDS(AssistantCreate) = {
	FIELD(AssistantCreate, model, .required = true, BOUNDS(1, 255),
		.example = "\"lodge-agent\"", .doc = MODEL_DOC),
	FIELD(AssistantCreate, name, NAME),
	FIELD(AssistantCreate, description, .nullable = true, .doc = "What the agent is for."),
	FIELD(AssistantCreate, instructions, .nullable = true, .prompt = true,
		.doc = "The agent's system prompt."),
	FIELD(AssistantCreate, tools, TOOLS),
	FIELD(AssistantCreate, metadata, METADATA),
	FIELD(AssistantCreate, temperature, TEMPERATURE),
	FIELD(AssistantCreate, top_p, TOP_P),
	FIELD(AssistantCreate, response_format, FORMAT),
};
SCHEMA(AssistantCreate, .doc = "An assistant to be made: an agent with this name and prompt.");

FIELDS(AssistantUpdate) = {
	FIELD(AssistantUpdate, model, .nullable = true, BOUNDS(1, 255),
		.example = "\"lodge-agent\"", .doc = MODEL_DOC),
	FIELD(AssistantUpdate, name, NAME),
	FIELD(AssistantUpdate, description, .nullable = true, .doc = "What the agent is for."),
	FIELD(AssistantUpdate, instructions, .nullable = true, .prompt = true,
		.doc = "The agent's system prompt."),
	FIELD(AssistantUpdate, tools, TOOLS),
	FIELD(AssistantUpdate, metadata, METADATA),
	FIELD(AssistantUpdate, temperature, TEMPERATURE),
	FIELD(AssistantUpdate, top_p, TOP_P),
	FIELD(AssistantUpdate, response_format, FORMAT),
};
SCHEMA(AssistantUpdate, .partial = true, .doc = "What is to be changed of an assistant.");
