/* tools_schemas.c - the tables for tools of an agent, and bundles of them. */
#include "api/tools.h"

FIELDS(AgentToolGrant) = {
	FIELD(AgentToolGrant, tool_id, .need = true, .id = true,
		.doc = "A tool of the tenant, or one that is built in."),
	FIELD(AgentToolGrant, is_enabled, .preset = "true",
		.doc = "False keeps the grant but does not offer the tool to the model."),
	FIELD(AgentToolGrant, configuration, .nullable = true, .example = "{\"max_results\":5}",
		.doc = "Settings of the tool for this agent; null for none."),
};
SCHEMA(AgentToolGrant, .doc = "Gives a tool to an agent.");

FIELDS(AgentToolRead) = {
	FIELD(AgentToolRead, agent_id, .need = true, .id = true, .doc = "The agent."),
	FIELD(AgentToolRead, tool_id, .need = true, .id = true, .doc = "The tool."),
	FIELD(AgentToolRead, configuration, .need = true, .example = "{\"max_results\":5}",
		.doc = "Settings of the tool for this agent; empty when none are set."),
	FIELD(AgentToolRead, is_enabled, .need = true, .example = "true",
		.doc = "False while the tool is not offered to the model."),
	FIELD(AgentToolRead, created_at, .need = true, .doc = "When the tool was given."),
	FIELD(AgentToolRead, updated_at, .need = true, .doc = "When the grant last changed."),
};
SCHEMA(AgentToolRead, .doc = "A tool that an agent has.");

FIELDS(ToolBundleRead) = {
	FIELD(ToolBundleRead, id, .need = true, .id = true, .doc = "The bundle."),
	FIELD(ToolBundleRead, tenant_id, .need = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(ToolBundleRead, name, .need = true, .example = "\"Web research\"",
		.doc = "Shown to people."),
	FIELD(ToolBundleRead, slug, .need = true, .example = "\"web-research\"",
		.doc = "Names the bundle; unique in its tenant."),
	FIELD(ToolBundleRead, description, .need = true, .nullable = true,
		.example = "\"Search and read the web.\"", .doc = "What the bundle is for."),
	FIELD(ToolBundleRead, tools, .need = true, .item = TEXT, .item_id = true,
		.doc = "The tools in it, in no order that matters."),
	FIELD(ToolBundleRead, created_at, .need = true, .doc = "When the bundle was made."),
	FIELD(ToolBundleRead, updated_at, .need = true, .doc = "When it last changed."),
};
SCHEMA(ToolBundleRead, .doc = "Tools that are given together.");

FIELDS(AgentToolBundleGrantCreate) = {
	FIELD(AgentToolBundleGrantCreate, bundle_id, .need = true, .id = true,
		.doc = "A bundle of the tenant."),
};
SCHEMA(AgentToolBundleGrantCreate, .doc = "Gives a bundle of tools to the agent in the path.");

FIELDS(AgentToolBundleRead) = {
	FIELD(AgentToolBundleRead, bundle, .need = true, .of = &ToolBundleRead_schema,
		.doc = "The bundle with its tools."),
	FIELD(AgentToolBundleRead, granted_by_user_id, .need = true, .nullable = true,
		.doc = "Who gave it; null when no person did."),
	FIELD(AgentToolBundleRead, created_at, .need = true, .doc = "When it was given."),
};
SCHEMA(AgentToolBundleRead, .doc = "A bundle that an agent has.");

const struct schema *const tools_schemas[] = {
	&AgentToolGrant_schema,
	&AgentToolRead_schema,
	&ToolBundleRead_schema,
	&AgentToolBundleGrantCreate_schema,
	&AgentToolBundleRead_schema,
	NULL,
};
