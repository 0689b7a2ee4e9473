/* assistants.h - agents in the shape of the assistants API. */
#pragma once
#include "call/call.h"

struct AssistantObject {
	const char *id;
	int64_t created_at;
	const char *object, *name, *description, *instructions;
	struct json metadata;
	const char *model;
};
SCHEMA_DECLARED(AssistantObject);

struct AssistantList {
	struct list data;
	const char *object, *first_id, *last_id;
	bool has_more;
};
SCHEMA_DECLARED(AssistantList);

struct AssistantCreate {
	const char *model, *name, *description, *instructions;
	struct json tools, metadata;
	double temperature, top_p;
	struct json response_format;
};
SCHEMA_DECLARED(AssistantCreate);

struct AssistantUpdate {
	uint64_t present;
	const char *model, *name, *description, *instructions;
	struct json tools, metadata;
	double temperature, top_p;
	struct json response_format;
};
SCHEMA_DECLARED(AssistantUpdate);

/* The model that an assistant names if it names none: whatever is in the agent's chain. */
#define ASSISTANT_MODEL "lodge-agent"

/* What an agent has as an assistant only. */
struct assistant_notes {
	const char *tenant_id, *agent_id, *model_id, *temperature, *top_p, *metadata, *tools;
};

/* Empty ones if the agent has none. */
int assistant_notes_read(struct db *db, struct arena *a, const char *tenant_id,
	const char *agent_id, struct assistant_notes *ret);

/* The id of a model that the tenant reaches, by its slug; 404 `model_not_found`. */
int assistant_model(struct call *c, const char *slug, const char **ret_id);
