/* tools_schemas.c - the tables for tools of a tenant, those an agent has, and bundles of them. */
#include "api/tools/tools.h"
#include "contract/shape.h"

#include "contract/rules.h"

#define NAME_RULE                             \
	.pattern = "^[A-Za-z0-9_.-]{1,128}$", \
	.rule = "may have letters A to Z, digits, points, hyphens and underscores only"

#define CONFIG_EXAMPLE                                                                   \
	"{\"method\":\"GET\",\"url\":\"https://api.example.org/weather?city={{city}}\"," \
	"\"headers\":{\"Authorization\":\"********\"}}"
#define SCHEMA_EXAMPLE \
	"{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}"

const struct words ToolKind_words = {
	.title = "ToolKind",
	.list = (const char *const[]){ "builtin", "http", "mcp", "sql", NULL },
	.doc = "What runs a tool: the program itself, a request, a server that speaks MCP, or a database.",
};

const struct words ToolGranter_words = {
	.title = "ToolGranter",
	.list = (const char *const[]){ "admins", "members", NULL },
	.doc = "Who may give a tool to an agent: those with tools:write, or whoever may change the "
	       "agent's tools.",
};

FIELDS(ToolConfig) = {
	TOLD(TEXT, method, .nullable = true, .example = "\"GET\"", .doc = "http: how it is asked."),
	TOLD(TEXT, url, .example = "\"https://weather.example.org/{{city}}\"",
		.doc = "Where it is; http: with {{argument}} places."),
	TOLD(JSON, headers, .nullable = true, .shape = &pairs_shape,
		.doc = "Sent with every request; shown as ********."),
	TOLD(JSON, body, .nullable = true, .any = true, .open = true,
		.doc = "http: what is sent, with {{argument}} places."),
	TOLD(LIST, allowed_hosts, .nullable = true, .item = TEXT,
		.doc = "http: hosts that an address with places may lead to."),
	TOLD(TEXT, tool, .nullable = true, .doc = "mcp: what the server calls it."),
	TOLD(TEXT, statement, .nullable = true,
		.doc = "sql: what is sent, with {{argument}} places for its parameters; absent: what the model says."),
	TOLD(FLAG, read_only, .nullable = true,
		.doc = "sql: true, as without it: nothing that a statement changes is kept."),
	TOLD(NUMBER, max_rows, .nullable = true, .doc = "sql: rows that are given at most."),
	TOLD(NUMBER, timeout_s, .nullable = true,
		.doc = "The longest that a call may take, in seconds."),
};
static TOLD_SCHEMA(ToolConfig,
	.doc = "How a tool is called: of kind http, mcp or sql; empty for one that is built in.");

FIELDS(ToolRead) = {
	FIELD(ToolRead, id, .required = true, .id = true, .doc = "The tool."),
	FIELD(ToolRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(ToolRead, name, .required = true, .example = "\"weather\"",
		.doc = "What models call it by; unique in its tenant."),
	FIELD(ToolRead, kind, .required = true, .words = &ToolKind_words, .doc = "What runs it."),
	FIELD(ToolRead, description, .required = true,
		.example = "\"Tells the weather of a city.\"",
		.doc = "Tells the model what the tool does and when to use it."),
	FIELD(ToolRead, input_schema, .open = true, .required = true, .example = SCHEMA_EXAMPLE,
		.doc = "What it takes, as JSON Schema; every call is checked against it."),
	FIELD(ToolRead, requires_approval, .required = true, .example = "false",
		.doc = "True: a person approves each call before it runs."),
	FIELD(ToolRead, person_only, .required = true, .example = "false",
		.doc = "True: the approval is given with a person's login, not with an API key."),
	FIELD(ToolRead, repeat_safe, .required = true, .example = "true",
		.doc = "True: a call whose outcome was lost may be made again."),
	FIELD(ToolRead, grantable_by, .required = true, .words = &ToolGranter_words,
		.doc = "Who may give it to an agent."),
	FIELD(ToolRead, config, .of = &ToolConfig_schema, .required = true,
		.example = CONFIG_EXAMPLE,
		.doc = "How it is called; the values of headers are shown as ********."),
	FIELD(ToolRead, is_seed, .required = true, .example = "false",
		.doc = "True for one that came with the tenant."),
	FIELD(ToolRead, created_at, .required = true, .doc = "When it was made."),
	FIELD(ToolRead, updated_at, .required = true, .doc = "When it last changed."),
};
SCHEMA(ToolRead, .doc = "Something an agent can do besides writing.");

FIELDS(ToolCreate) = {
	FIELD(ToolCreate, name, .required = true, NAME_RULE, BOUNDS(1, 128),
		.example = "\"weather\"",
		.doc = "Letters, digits, _, . and -; for kind builtin the name of a tool that is."),
	FIELD(ToolCreate, kind, .required = true, .words = &ToolKind_words, .doc = "What runs it."),
	FIELD(ToolCreate, description, .nullable = true, BOUNDS(1, 4096),
		.example = "\"Tells the weather of a city.\"",
		.doc = "For the model; required unless the tool is built in."),
	FIELD(ToolCreate, input_schema, .open = true, .label = "Parameters", .nullable = true,
		.example = SCHEMA_EXAMPLE,
		.doc = "JSON Schema 2020-12, the subset in the manual, of type object; absent: no "
		       "arguments. Not for kind builtin."),
	FIELD(ToolCreate, requires_approval, .label = "Ask a person first", .preset = "false",
		.doc = "True: a person approves each call before it runs."),
	FIELD(ToolCreate, person_only, .label = "Approved by a login only", .preset = "false",
		.doc = "True: the approval is given with a person's login, not with an API key; only "
		       "with requires_approval."),
	FIELD(ToolCreate, repeat_safe, .label = "May be repeated", .nullable = true,
		.example = "true",
		.doc = "True: a call whose outcome was lost may be made again; absent: false. Not for "
		       "kind builtin."),
	FIELD(ToolCreate, grantable_by, .label = "Given by", .nullable = true,
		.words = &ToolGranter_words,
		.doc = "Who may give it to an agent; absent: members for a tool that is built in or "
		       "has no secrets, admins for all others."),
	FIELD(ToolCreate, config, .of = &ToolConfig_schema, .label = "How it is called",
		.nullable = true, .example = CONFIG_EXAMPLE,
		.doc = "http: {method, url, headers?, body?, allowed_hosts?, "
		       "timeout_s?} with {{argument}} places; mcp: {url, headers?, tool, timeout_s?}; sql: "
		       "{url, statement?, read_only?, max_rows?, timeout_s?}. Not for kind builtin."),
};
SCHEMA(ToolCreate, .doc = "A tool to make.");

FIELDS(ToolUpdate) = {
	FIELD(ToolUpdate, name, NAME_RULE, BOUNDS(1, 128), .example = "\"weather\"",
		.doc = "Another name; not for kind builtin."),
	FIELD(ToolUpdate, description, BOUNDS(1, 4096),
		.example = "\"Tells the weather of a city.\"", .doc = "For the model."),
	FIELD(ToolUpdate, input_schema, .open = true, .label = "Parameters",
		.example = SCHEMA_EXAMPLE, .doc = "As when it was made; not for kind builtin."),
	FIELD(ToolUpdate, requires_approval, .label = "Ask a person first",
		.doc = "True: a person approves each call."),
	FIELD(ToolUpdate, person_only, .label = "Approved by a login only",
		.doc = "True: the approval is given with a person's login; only with "
		       "requires_approval."),
	FIELD(ToolUpdate, repeat_safe, .label = "May be repeated", .doc = "Not for kind builtin."),
	FIELD(ToolUpdate, grantable_by, .label = "Given by", .words = &ToolGranter_words,
		.doc = "Who may give it to an agent; agents that have it keep it. A tool that gets "
		       "its first secret is for admins unless this says otherwise."),
	FIELD(ToolUpdate, config, .of = &ToolConfig_schema, .label = "How it is called",
		.example = CONFIG_EXAMPLE,
		.doc = "All of it anew; a header or password sent as ******** keeps its value while scheme, "
		       "host and port stay the same. Not for kind builtin."),
};
SCHEMA(ToolUpdate, .partial = true, .doc = "Changes to a tool.");

FIELDS(ToolImportMcp) = {
	FIELD(ToolImportMcp, url, .required = true, BOUNDS(1, 4096),
		.example = "\"https://mcp.example.org/mcp\"", .doc = "The server's address."),
	FIELD(ToolImportMcp, headers, .shape = &pairs_shape, .nullable = true,
		.example = "{\"Authorization\":\"Bearer s3cret\"}", .secret = true,
		.doc = "Sent with every request; the values are sealed and not shown again."),
	FIELD(ToolImportMcp, prefix, .nullable = true, NAME_RULE, BOUNDS(1, 64),
		.example = "\"wiki.\"", .doc = "Put before the name of each tool."),
	FIELD(ToolImportMcp, tools, .nullable = true, .item = TEXT, .max = 200,
		.example = "[\"search\"]",
		.doc = "Only those with these names there; absent: all."),
	FIELD(ToolImportMcp, requires_approval, .preset = "false",
		.doc = "True: a person approves each call of these tools."),
};
SCHEMA(ToolImportMcp, .doc = "A server whose tools are to be made tools of the tenant.");

FIELDS(ToolImportSkipped) = {
	FIELD(ToolImportSkipped, name, .required = true, .doc = "Its name there."),
	FIELD(ToolImportSkipped, reason, .required = true, .doc = "Why it was not made."),
};
SCHEMA(ToolImportSkipped, .doc = "A tool of a server that was not imported.");

FIELDS(ToolImportResult) = {
	FIELD(ToolImportResult, created, .required = true, .item = OBJECT, .of = &ToolRead_schema,
		.doc = "The tools that were made, in the server's order."),
	FIELD(ToolImportResult, updated, .required = true, .item = OBJECT, .of = &ToolRead_schema,
		.doc = "Those of an earlier import that the server has changed since, as they are now."),
	FIELD(ToolImportResult, removed, .required = true, .item = OBJECT,
		.of = &ToolBundleTool_schema,
		.doc = "Those of an earlier import that the server does not have any more."),
	FIELD(ToolImportResult, skipped, .required = true, .item = OBJECT,
		.of = &ToolImportSkipped_schema, .doc = "Those that were not, with the reason."),
};
SCHEMA(ToolImportResult, .doc = "What came of an import.");

FIELDS(ToolTry) = {
	FIELD(ToolTry, arguments, .open = true, .nullable = true, .example = "{\"city\":\"Paris\"}",
		.doc = "What the tool is given; it must suit its input_schema. Null for nothing."),
};
SCHEMA(ToolTry, .doc = "One call of a tool, by a person.");

FIELDS(ToolTryResult) = {
	FIELD(ToolTryResult, failed, .required = true, .example = "false",
		.doc = "True if the call did not work; the text says why."),
	FIELD(ToolTryResult, text, .required = true, .example = "\"18 degrees, rain\"",
		.doc = "What a model would be told."),
	FIELD(ToolTryResult, was_cut, .required = true, .example = "false",
		.doc = "True if the answer is longer than what a model is told, or more than text."),
	FIELD(ToolTryResult, duration_ms, .required = true, .unit = "ms", .example = "184",
		.doc = "How long it took."),
};
SCHEMA(ToolTryResult, .doc = "What came of trying a tool.");

FIELDS(AgentToolGrant) = {
	FIELD(AgentToolGrant, tool_id, .required = true, .id = true,
		.doc = "A tool of the tenant, or one that is built in."),
	FIELD(AgentToolGrant, is_enabled, .preset = "true",
		.doc = "False keeps the grant but does not offer the tool to the model."),
	FIELD(AgentToolGrant, configuration, .open = true, .nullable = true,
		.example = "{\"max_results\":5}",
		.doc = "Settings of the tool for this agent; null for none."),
};
SCHEMA(AgentToolGrant, .doc = "Gives a tool to an agent.");

FIELDS(AgentToolUpdate) = {
	FIELD(AgentToolUpdate, is_enabled,
		.doc = "False keeps the grant but does not offer the tool to the model."),
	FIELD(AgentToolUpdate, configuration, .open = true, .nullable = true,
		.example = "{\"max_results\":5}",
		.doc = "All of the settings anew; null for none."),
};
SCHEMA(AgentToolUpdate, .partial = true, .doc = "Changes to a tool that an agent has.");

FIELDS(AgentToolRead) = {
	FIELD(AgentToolRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(AgentToolRead, tool_id, .required = true, .id = true, .doc = "The tool."),
	FIELD(AgentToolRead, configuration, .open = true, .required = true,
		.example = "{\"max_results\":5}",
		.doc = "Settings of the tool for this agent; empty when none are set, or when they cannot be opened with "
		       "the present master key: then calls of the tool fail and say so until they are set anew."),
	FIELD(AgentToolRead, is_enabled, .required = true, .example = "true",
		.doc = "False while the tool is not offered to the model."),
	FIELD(AgentToolRead, created_at, .required = true, .doc = "When the tool was given."),
	FIELD(AgentToolRead, updated_at, .required = true, .doc = "When the grant last changed."),
};
SCHEMA(AgentToolRead, .doc = "A tool that an agent has.");

FIELDS(ToolBundleTool) = {
	FIELD(ToolBundleTool, id, .required = true, .id = true, .doc = "The tool."),
	FIELD(ToolBundleTool, name, .required = true, .example = "\"weather\"", .doc = "Its name."),
};
SCHEMA(ToolBundleTool, .doc = "A tool in a bundle.");

FIELDS(ToolBundleRead) = {
	FIELD(ToolBundleRead, id, .required = true, .id = true, .doc = "The bundle."),
	FIELD(ToolBundleRead, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(ToolBundleRead, name, .required = true, .example = "\"Web research\"",
		.doc = "Shown to people."),
	FIELD(ToolBundleRead, slug, .required = true, .example = "\"web-research\"",
		.doc = "Names the bundle; unique in its tenant."),
	FIELD(ToolBundleRead, description, .required = true, .nullable = true,
		.example = "\"Search and read the web.\"", .doc = "What the bundle is for."),
	FIELD(ToolBundleRead, tools, .required = true, .computed = true, .item = OBJECT,
		.of = &ToolBundleTool_schema, .doc = "The tools in it, by name."),
	FIELD(ToolBundleRead, created_at, .required = true, .doc = "When the bundle was made."),
	FIELD(ToolBundleRead, updated_at, .required = true, .doc = "When it last changed."),
};
SCHEMA(ToolBundleRead, .doc = "Tools that are given together.");

FIELDS(ToolBundleCreate) = {
	FIELD(ToolBundleCreate, name, .required = true, BOUNDS(1, 255),
		.example = "\"Web research\"", .doc = "Shown to people."),
	FIELD(ToolBundleCreate, slug, .required = true, SLUG_RULE, BOUNDS(1, 64),
		.example = "\"web-research\"", .doc = "Names the bundle; unique in its tenant."),
	FIELD(ToolBundleCreate, description, .nullable = true, BOUNDS(0, 4096),
		.example = "\"Search and read the web.\"", .doc = "What the bundle is for."),
	FIELD(ToolBundleCreate, tools, .otherwise = "[]", .item = TEXT, .item_id = true,
		.distinct = true, BOUNDS(0, 200), .doc = "Ids of tools of the tenant."),
};
SCHEMA(ToolBundleCreate, .doc = "A bundle to make.");

FIELDS(ToolBundleUpdate) = {
	FIELD(ToolBundleUpdate, name, BOUNDS(1, 255), .example = "\"Web research\"",
		.doc = "Shown to people."),
	FIELD(ToolBundleUpdate, slug, SLUG_RULE, BOUNDS(1, 64), .example = "\"web-research\"",
		.doc = "Names the bundle; unique in its tenant."),
	FIELD(ToolBundleUpdate, description, .nullable = true, BOUNDS(0, 4096),
		.example = "\"Search and read the web.\"", .doc = "Null clears it."),
	FIELD(ToolBundleUpdate, tools, .item = TEXT, .item_id = true, .distinct = true,
		BOUNDS(0, 200),
		.doc = "All of its tools anew; agents that have it follow at once."),
};
SCHEMA(ToolBundleUpdate, .partial = true, .doc = "Changes to a bundle.");

FIELDS(AgentToolBundleGrantCreate) = {
	FIELD(AgentToolBundleGrantCreate, bundle_id, .required = true, .id = true,
		.doc = "A bundle of the tenant."),
};
SCHEMA(AgentToolBundleGrantCreate, .doc = "Gives a bundle of tools to the agent in the path.");

FIELDS(AgentToolBundleRead) = {
	FIELD(AgentToolBundleRead, bundle, .required = true, .of = &ToolBundleRead_schema,
		.doc = "The bundle with its tools."),
	FIELD(AgentToolBundleRead, granted_by_user_id, .required = true, .nullable = true,
		.doc = "Who gave it; null when no person did."),
	FIELD(AgentToolBundleRead, created_at, .required = true, .doc = "When it was given."),
};
SCHEMA(AgentToolBundleRead, .doc = "A bundle that an agent has.");
