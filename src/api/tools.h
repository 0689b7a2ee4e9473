/* tools.h - tools of an agent, and bundles of them. */
#pragma once
#include "contract/schema.h"

struct AgentToolGrant {
	const char *tool_id;
	bool is_enabled;
	struct json configuration;
};
SCHEMA_DECLARED(AgentToolGrant);

struct AgentToolRead {
	const char *agent_id, *tool_id;
	struct json configuration;
	bool is_enabled;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(AgentToolRead);

struct ToolBundleRead {
	const char *id, *tenant_id, *name, *slug, *description;
	struct list tools;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(ToolBundleRead);

struct AgentToolBundleGrantCreate {
	const char *bundle_id;
};
SCHEMA_DECLARED(AgentToolBundleGrantCreate);

struct AgentToolBundleRead {
	struct ToolBundleRead *bundle;
	const char *granted_by_user_id;
	struct moment created_at;
};
SCHEMA_DECLARED(AgentToolBundleRead);

/* NULL-terminated: all of the above. */
extern const struct schema *const tools_schemas[];
