/* plans.h - plans, for those who show or keep to them. */
#pragma once
#include "api/tenants.h"
#include "call/call.h"

/* May the tenant have one more?  0, or ERR_CONFLICT with the code plan_limit. */
int plan_admits_agent(struct call *c);
int plan_admits_member(struct call *c);
/* How many more agents the tenant's plan admits; INT64_MAX without a limit. */
int plan_agents_left(struct db *db, struct arena *a, const char *tenant_id, int64_t *ret);
/* Works out which agents of the tenant are beyond its plan; after anything that may change it. */
int plan_settle(struct db *db, struct arena *a, const char *tenant_id);

int plan_show(struct call *c, const char *plan_id, struct PlanRead *out);
