/* tools.h - tools of a tenant, those an agent has, and bundles of them. */
#pragma once
#include "base/json_schema.h"
#include "contract/schema.h"

/* In the order of enum tool_kind. */
extern const struct words ToolKind_words;

enum ToolGranter { ToolGranter_admins, ToolGranter_members };
extern const struct words ToolGranter_words;

struct ToolRead {
	const char *id, *tenant_id, *name;
	int kind;
	const char *description;
	struct json input_schema;
	bool requires_approval, person_only, repeat_safe;
	int grantable_by;
	struct json config;
	bool is_seed;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(ToolRead);

struct ToolCreate {
	const char *name;
	int kind;
	const char *description;
	struct json input_schema;
	bool requires_approval, person_only;
	tri repeat_safe;
	int grantable_by;
	struct json config;
};
SCHEMA_DECLARED(ToolCreate);

struct ToolUpdate {
	uint64_t present;
	const char *name, *description;
	struct json input_schema;
	bool requires_approval, person_only, repeat_safe;
	int grantable_by;
	struct json config;
};
SCHEMA_DECLARED(ToolUpdate);

struct ToolImportMcp {
	const char *url;
	struct json headers;
	const char *prefix;
	struct list tools; /* names there; at NULL: all */
	bool requires_approval;
};
SCHEMA_DECLARED(ToolImportMcp);

struct ToolImportSkipped {
	const char *name, *reason;
};
SCHEMA_DECLARED(ToolImportSkipped);

struct ToolImportResult {
	struct list created, updated; /* of struct ToolRead */
	struct list removed;	      /* of struct ToolBundleTool */
	struct list skipped;	      /* of struct ToolImportSkipped */
};
SCHEMA_DECLARED(ToolImportResult);

struct ToolTry {
	struct json arguments;
};
SCHEMA_DECLARED(ToolTry);

struct ToolTryResult {
	bool failed;
	const char *text;
	bool was_cut;
	int64_t duration_ms;
};
SCHEMA_DECLARED(ToolTryResult);

struct AgentToolGrant {
	const char *tool_id;
	bool is_enabled;
	struct json configuration;
};
SCHEMA_DECLARED(AgentToolGrant);

struct AgentToolUpdate {
	uint64_t present;
	bool is_enabled;
	struct json configuration;
};
SCHEMA_DECLARED(AgentToolUpdate);

struct AgentToolRead {
	const char *agent_id, *tool_id;
	struct json configuration;
	bool is_enabled;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(AgentToolRead);

struct ToolBundleTool {
	const char *id, *name;
};
SCHEMA_DECLARED(ToolBundleTool);

struct ToolBundleRead {
	const char *id, *tenant_id, *name, *slug, *description;
	struct list tools; /* of struct ToolBundleTool */
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(ToolBundleRead);

struct ToolBundleCreate {
	const char *name, *slug, *description;
	struct list tools; /* ids */
};
SCHEMA_DECLARED(ToolBundleCreate);

struct ToolBundleUpdate {
	uint64_t present;
	const char *name, *slug, *description;
	struct list tools; /* ids */
};
SCHEMA_DECLARED(ToolBundleUpdate);

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

struct call;
/* An input_schema that was compiled before the store is asked: one of 64 KiB is not the writer's work. */
struct tool_input {
	const char *text; /* NULL: none was sent */
	struct json_schema *schema;
	struct json_violations faults;
};
/* In `prepare`. */
void tool_input_read(struct call *c, const char *text, struct tool_input *ret);

struct db;
struct arena;
struct builtin_tool;
/* Checks and makes one as it is asked for, in the tenant of the call.  ERR_INVALID with its fields. */
int tool_make(struct call *c, const struct ToolCreate *in, const struct tool_input *input,
	struct ToolRead *ret);
/* The tools of the call's tenant that stand for those of the MCP server with this address: struct tool_standing. */
struct tool_standing {
	const char *id, *name;
	const char *tool; /* its name there */
};
int tool_standing_of(struct call *c, const char *url, struct list *ret);
/* Gives one of them another description and input_schema, and another config where there is one; false in
 * *ret_changed if nothing differs.  ERR_INVALID with its fields. */
int tool_renew(struct call *c, const char *id, const struct ToolCreate *in,
	const struct tool_input *input, struct ToolRead *ret, bool *ret_changed);
/* Removes one, from agents and bundles too; *ret_meta is for the audit log. */
int tool_drop(struct call *c, const char *id, const char **ret_meta);
/* Whether the tenant of the call has a tool of this name. */
int tool_named(struct call *c, const char *name, bool *ret);
/* Makes one of the tools that are built in; ERR_DUPLICATE if the tenant has it. */
int tool_make_builtin(struct db *db, struct arena *a, const char *tenant_id,
	const struct builtin_tool *tool, int64_t now, const char **ret_id);
/* Makes a bundle of tools that the tenant has, and gives one to an agent.  ERR_DUPLICATE if its slug is
 * taken. */
int tool_bundle_make(struct db *db, struct arena *a, const char *tenant_id,
	const struct ToolBundleCreate *in, int64_t now, const char **ret_id);
int tool_bundle_give(struct db *db, const char *tenant_id, const char *agent_id,
	const char *bundle_id, const char *user_id, int64_t now);
/* May the caller give this tool of the tenant to an agent, or change how an agent has it?  ERR_NOT_FOUND, or
 * ERR_FORBIDDEN where it is for those with tools:write alone. */
int tool_grantable(struct call *c, const char *tool_id);
