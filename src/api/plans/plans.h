/* plans.h - plans, for those who show or keep to them. */
#pragma once
#include "call/call.h"

enum PlanStatus {
	PlanStatus_trialing,
	PlanStatus_active,
	PlanStatus_past_due,
	PlanStatus_canceled
};
extern const struct words PlanStatus_words;

struct PlanRead {
	const char *id, *name, *slug;
	struct money monthly_price_usd;
	int64_t max_agents, max_members, max_sessions_per_day;
	struct moment created_at;
};
SCHEMA_DECLARED(PlanRead);

struct PlanCreate {
	const char *name, *slug;
	struct money monthly_price_usd;
	int64_t max_agents, max_members, max_sessions_per_day;
};
SCHEMA_DECLARED(PlanCreate);

struct PlanUpdate {
	uint64_t present;
	const char *name;
	struct money monthly_price_usd;
	int64_t max_agents, max_members, max_sessions_per_day;
};
SCHEMA_DECLARED(PlanUpdate);

/* May the tenant have one more?  0, or ERR_CONFLICT with the code plan_limit. */
int plan_admits_agent(struct call *c);
int plan_admits_member(struct call *c);
/* How many more agents the tenant's plan admits; INT64_MAX without a limit. */
int plan_agents_left(struct db *db, struct arena *a, const char *tenant_id, int64_t *ret);
/* How many more sessions it allows on the day of `now`; the same. */
int plan_sessions_left(struct db *db, const char *tenant_id, int64_t now, int64_t *ret);
/* Works out which agents of the tenant are beyond its plan; after anything that may change it. */
int plan_settle(struct db *db, struct arena *a, const char *tenant_id);

int plan_show(struct call *c, const char *plan_id, struct PlanRead *out);
/* Names plan_id if there is no such plan; NULL is none that is asked for. */
void plan_check_id(struct call *c, const char *plan_id);

/* Counts agents and members of a tenant up or down, in the transaction that makes or removes them. */
int tenant_count(struct db *db, const char *tenant_id, int agents, int members);
