/* api.c - the list of resources and statements, and the runtime made from the tables; see api.h. */
#include "api/api.h"

#include "access/audit.h"
#include "api/agent_extras.h"
#include "api/agents.h"
#include "api/assistants.h"
#include "api/audit.h"
#include "api/benchmarks.h"
#include "api/bootstrap.h"
#include "api/costs.h"
#include "api/mail.h"
#include "api/models.h"
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

extern const struct resource agents_resource, identity_resource, keys_resource, system_resource,
	tenants_resource;

/* Types that are published; their operations come with their rooms. */
#define TYPES_ONLY(area) \
	static const struct resource area##_types = { .name = #area, .schemas = area##_schemas }

TYPES_ONLY(agent_extras);
TYPES_ONLY(assistants);
TYPES_ONLY(audit);
TYPES_ONLY(benchmarks);
TYPES_ONLY(costs);
TYPES_ONLY(mail);
TYPES_ONLY(models);
TYPES_ONLY(roles);
TYPES_ONLY(scanner);
TYPES_ONLY(sessions);
TYPES_ONLY(skills);
TYPES_ONLY(tools);
TYPES_ONLY(users);

const struct resource *const api_resources[] = {
	&system_resource,
	&identity_resource,
	&tenants_resource,
	&keys_resource,
	&agents_resource,
	&agent_extras_types,
	&assistants_types,
	&audit_types,
	&benchmarks_types,
	&costs_types,
	&mail_types,
	&models_types,
	&roles_types,
	&scanner_types,
	&sessions_types,
	&skills_types,
	&tools_types,
	&users_types,
};
const size_t api_resource_count = sizeof api_resources / sizeof *api_resources;

extern const struct statement_set agent_sql, identity_sql, key_sql, system_sql, tenant_sql;

const struct statement_set *const api_statements[] = {
	&caller_sql,
	&audit_sql,
	&repeat_sql,
	&chores_sql,
	&bootstrap_sql,
	&system_sql,
	&identity_sql,
	&tenant_sql,
	&key_sql,
	&agent_sql,
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
