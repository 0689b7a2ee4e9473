/* assistants.h - agents in the shape of the assistants API. */
#pragma once
#include "contract/schema.h"

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

/* NULL-terminated: all of the above. */
extern const struct schema *const assistants_schemas[];
