/* api.c - the list of resources and statements, and the runtime made from the tables; see api.h. */
#include "api/api.h"

#include "access/audit.h"
#include "access/seal.h"
#include "access/throttle.h"
#include "api/agent_extras.h"
#include "api/agents.h"
#include "api/assistants.h"
#include "api/audit.h"
#include "api/benchmarks.h"
#include "api/bootstrap.h"
#include "api/costs.h"
#include "api/mail.h"
#include "api/models.h"
#include "api/oidc_people.h"
#include "api/roles.h"
#include "api/scanner.h"
#include "api/sessions.h"
#include "api/skills.h"
#include "api/tools.h"
#include "api/users.h"
#include "call/chores.h"
#include "call/steps.h"
#include "contract/lint.h"
#include "contract/openapi.h"
#include "contract/types.h"

extern const struct resource audit_resource;
extern const struct statement_set audit_list_sql;

extern const struct resource session_audit_resource, access_resource, admin_tenants_resource,
	admin_users_resource, plans_resource, account_resource, agents_resource, allowed_resource,
	groups_resource, identity_resource, keys_resource, members_resource, oidc_resource,
	roles_resource, system_resource, tenants_resource;

/* Types that are published; their operations come with their rooms. */
#define TYPES_ONLY(area) \
	static const struct resource area##_types = { .name = #area, .schemas = area##_schemas }

TYPES_ONLY(agent_extras);
TYPES_ONLY(assistants);
TYPES_ONLY(benchmarks);
TYPES_ONLY(costs);
TYPES_ONLY(mail);
TYPES_ONLY(models);
TYPES_ONLY(scanner);
TYPES_ONLY(sessions);
TYPES_ONLY(skills);
TYPES_ONLY(tools);

const struct resource *const api_resources[] = {
	&system_resource,
	&identity_resource,
	&account_resource,
	&oidc_resource,
	&tenants_resource,
	&keys_resource,
	&members_resource,
	&groups_resource,
	&allowed_resource,
	&plans_resource,
	&admin_tenants_resource,
	&admin_users_resource,
	&agents_resource,
	&roles_resource,
	&access_resource,
	&session_audit_resource,
	&audit_resource,
	&agent_extras_types,
	&assistants_types,
	&benchmarks_types,
	&costs_types,
	&mail_types,
	&models_types,
	&scanner_types,
	&sessions_types,
	&skills_types,
	&tools_types,
};
const size_t api_resource_count = sizeof api_resources / sizeof *api_resources;

extern const struct statement_set session_audit_sql, erase_sql, sweep_sql, access_sql,
	admin_tenant_sql, admin_user_sql, plan_sql, account_sql, agent_sql, allowed_sql, group_sql,
	identity_sql, key_sql, member_sql, oidc_sql, role_sql, system_sql, tenant_sql;

const struct statement_set *const api_statements[] = {
	&caller_sql,
	&audit_sql,
	&seal_sql,
	&seal_check_sql,
	&audit_list_sql,
	&repeat_sql,
	&chores_sql,
	&bootstrap_sql,
	&system_sql,
	&throttle_sql,
	&identity_sql,
	&account_sql,
	&oidc_sql,
	&oidc_people_sql,
	&tenant_sql,
	&key_sql,
	&plan_sql,
	&erase_sql,
	&sweep_sql,
	&admin_tenant_sql,
	&admin_user_sql,
	&member_sql,
	&group_sql,
	&allowed_sql,
	&agent_sql,
	&role_sql,
	&access_sql,
	&session_audit_sql,
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

int api_setup(struct app *app, struct arena *a, struct problem *p)
{
	struct types types = { 0 };
	const char *sentence = NULL;

	if (contract_lint(api_resources, api_resource_count, permission_name, a, &sentence))
		return problem_set(p, a, ERR_INTERNAL, "the tables are wrong: %s", sentence);
	app->resources = api_resources;
	app->resource_count = api_resource_count;
	types_collect(&types, a, api_resources, api_resource_count);
	types_add(&types, a, &page_query_schema, TYPE_QUERIED);
	app->patterns = patterns_new(types_schemas(&types, a), types.count, &sentence);
	if (!app->patterns)
		return problem_set(p, a, ERR_INTERNAL, "the pattern %s does not compile", sentence);
	app->router = router_new(api_resources, api_resource_count);
	app->metrics = metrics_new(router_route_count(app->router));
	return 0;
}

void api_teardown(struct app *app)
{
	metrics_free(app->metrics);
	router_free(app->router);
	patterns_free(app->patterns);
}
