/* api.c - the list of resources and statements, and the runtime made from the tables; see api.h. */
#include "api/api.h"

#include "api/hook_deliver.h"
#include "api/hook_log.h"
#include "api/search.h"
#include "api/gateway.h"
#include "call/steps.h"
#include "contract/lint.h"
#include "contract/openapi.h"
#include "contract/types.h"
#include "sessions/session.h"

/* clang-format off */
/* Every resource, in the order in which the document shows them. */
#define RESOURCES(X) \
	X(system) \
	X(identity) \
	X(account) \
	X(oidc) \
	X(tenants) \
	X(keys) \
	X(members) \
	X(groups) \
	X(allowed) \
	X(plans) \
	X(admin_tenants) \
	X(admin_users) \
	X(admin_queue) \
	X(agents) \
	X(roles) \
	X(access) \
	X(models) \
	X(agent_models) \
	X(user_models) \
	X(sessions) \
	X(session_messages) \
	X(session_subtasks) \
	X(approvals) \
	X(session_files) \
	X(session_export) \
	X(memories) \
	X(session_audit) \
	X(session_events) \
	X(me_events) \
	X(audit) \
	X(costs) \
	X(cost_series) \
	X(agent_clone) \
	X(agent_settings) \
	X(agent_chat) \
	X(avatars) \
	X(autocomplete) \
	X(skills) \
	X(skill_files) \
	X(agent_skills) \
	X(tools) \
	X(tool_import) \
	X(agent_tools) \
	X(tool_bundles) \
	X(integrations) \
	X(deliveries) \
	X(skill_hooks) \
	X(hooks) \
	X(scanner) \
	X(provider_keys) \
	X(gateway) \
	X(gateway_models) \
	X(assistants) \
	X(threads) \
	X(thread_messages) \
	X(runs) \
	X(responses)

/* Types that are published; their operations come with their rooms. */
#define TYPES(X) \
	X(agent_extras) \
	X(benchmarks) \
	X(mail)

/* Every statement the program knows, by resource. */
#define STATEMENTS(X) \
	X(caller_sql) \
	X(audit_sql) \
	X(seal_sql) \
	X(seal_check_sql) \
	X(audit_list_sql) \
	X(repeat_sql) \
	X(chores_sql) \
	X(jobs_sql) \
	X(queue_round_sql) \
	X(queue_desk_sql) \
	X(admin_queue_sql) \
	X(bootstrap_sql) \
	X(system_sql) \
	X(throttle_sql) \
	X(identity_sql) \
	X(account_sql) \
	X(oidc_sql) \
	X(oidc_people_sql) \
	X(tenant_sql) \
	X(key_sql) \
	X(plan_sql) \
	X(erase_sql) \
	X(sweep_sql) \
	X(admin_tenant_sql) \
	X(admin_user_sql) \
	X(member_sql) \
	X(group_sql) \
	X(allowed_sql) \
	X(agent_sql) \
	X(role_sql) \
	X(access_sql) \
	X(model_sql) \
	X(model_edit_sql) \
	X(admin_model_sql) \
	X(agent_model_sql) \
	X(user_model_sql) \
	X(gate_sql) \
	X(session_row_sql) \
	X(session_api_sql) \
	X(session_message_sql) \
	X(subtask_api_sql) \
	X(approval_api_sql) \
	X(session_file_sql) \
	X(session_export_sql) \
	X(memory_api_sql) \
	X(session_audit_sql) \
	X(session_stream_sql) \
	X(me_events_sql) \
	X(hub_sql) \
	X(feed_sql) \
	X(feed_number_sql) \
	X(retention_sql) \
	X(ledger_sql) \
	X(budget_sql) \
	X(cost_sql) \
	X(cost_series_sql) \
	X(agent_row_sql) \
	X(clone_sql) \
	X(copy_sql) \
	X(agent_settings_sql) \
	X(chat_config_sql) \
	X(avatar_sql) \
	X(search_sql) \
	X(autocomplete_sql) \
	X(skill_sql) \
	X(skill_store_sql) \
	X(skillset_sql) \
	X(agent_skill_sql) \
	X(tool_sql) \
	X(agent_tool_sql) \
	X(tool_bundle_sql) \
	X(hook_sql) \
	X(hooks_sql) \
	X(hook_log_sql) \
	X(hook_deliver_sql) \
	X(integration_sql) \
	X(delivery_sql) \
	X(skill_hook_sql) \
	X(scanner_sql) \
	X(agent_tools_sql) \
	X(builtin_session_sql) \
	X(builtin_memory_sql) \
	X(builtin_skill_sql) \
	X(ledger_check_sql) \
	X(cost_name_sql) \
	X(provider_key_sql) \
	X(provider_key_api_sql) \
	X(gateway_sql) \
	X(assistant_sql) \
	X(thread_sql) \
	X(thread_message_sql) \
	X(run_view_sql) \
	X(response_sql) \
	X(response_agent_sql) \
	X(responses_sql) \
	X(pen_sql) \
	X(pen_call_sql) \
	X(session_end_sql) \
	X(approval_sql) \
	X(session_sql) \
	X(event_sql) \
	X(prompt_sql) \
	X(turn_sql) \
	X(turn_file_sql) \
	X(turn_model_sql) \
	X(turn_answer_sql) \
	X(subtask_sql)

/* clang-format on */

#define X(name) extern const struct resource name##_resource;
RESOURCES(X)
#undef X

#define X(area)                                             \
	extern const struct schema *const area##_schemas[]; \
	static const struct resource area##_types = { .name = #area, .schemas = area##_schemas };
TYPES(X)
#undef X

const struct resource *const api_resources[] = {
#define X(name) &name##_resource,
	RESOURCES(X)
#undef X
#define X(name) &name##_types,
		TYPES(X)
#undef X
};
const size_t api_resource_count = sizeof api_resources / sizeof *api_resources;

#define X(name) extern const struct statement_set name;
STATEMENTS(X)
#undef X

const struct statement_set *const api_statements[] = {
#define X(name) &name,
	STATEMENTS(X)
#undef X
		NULL,
};

void api_openapi(struct buf *out, const char *public_url)
{
	openapi_write(out, &(struct contract_parts){ .resources = api_resources,
				   .count = api_resource_count,
				   .version = LODGE_VERSION,
				   .public_url = public_url,
				   .cookie = COOKIE_NAME,
				   .permission_name = permission_name,
				   .permission_public = PERM_PUBLIC });
}

/* Sessions are found by their titles, and know nothing of who finds them. */
static int index_session(
	struct db *db, struct arena *a, const char *tenant_id, const char *session_id)
{
	return search_refresh(db, a, tenant_id, MentionType_session, session_id);
}

int api_setup(struct app *app, struct arena *a, struct problem *p)
{
	struct types types = { 0 };
	const char *sentence = NULL;

	if (contract_lint(api_resources, api_resource_count, permission_name, a, &sentence))
		return problem_set(p, a, ERR_INTERNAL, "the tables are wrong: %s", sentence);
	session_on_title(index_session);
	app->resources = api_resources;
	app->resource_count = api_resource_count;
	types_collect(&types, a, api_resources, api_resource_count);
	types_add(&types, a, &page_query_schema, TYPE_QUERIED);
	app->patterns = patterns_new(types_schemas(&types, a), types.count, &sentence);
	if (!app->patterns)
		return problem_set(p, a, ERR_INTERNAL, "the pattern %s does not compile", sentence);
	app->router = router_new(api_resources, api_resource_count);
	app->metrics = metrics_new(router_route_count(app->router));
	app->hook_log = hook_log_new();
	if (!app->hook_log)
		return problem_set(p, a, ERR_INTERNAL, "not enough memory for the log of webhooks");
	app->loop_begins = gateway_loop_begins;
	app->loop_ends = gateway_loop_ends;
	app->hook_post = hook_post_new();
	if (!app->hook_log || !app->hook_post)
		return problem_set(p, a, ERR_INTERNAL, "not enough memory for webhooks");
	return 0;
}

void api_teardown(struct app *app)
{
	hook_log_free(app->hook_log);
	hook_post_free(app->hook_post);
	metrics_free(app->metrics);
	router_free(app->router);
	patterns_free(app->patterns);
}
