/* plans_schemas.c - the tables for plans. */
#include "api/plans/plans.h"

#include "contract/rules.h"

static const char *const PlanStatus_list[] = {
	[PlanStatus_trialing] = "trialing",
	[PlanStatus_active] = "active",
	[PlanStatus_past_due] = "past_due",
	[PlanStatus_canceled] = "canceled",
	NULL,
};
const struct words PlanStatus_words = {
	.list = PlanStatus_list,
	.doc = "Where a tenant's subscription stands; canceled makes its agents read-only, the "
	       "others are alike to the service.",
};

FIELDS(PlanRead) = {
	FIELD(PlanRead, id, .required = true, .id = true, .doc = "The plan."),
	FIELD(PlanRead, name, .required = true, .example = "\"Team\"", .doc = "Shown to people."),
	FIELD(PlanRead, slug, .required = true, .example = "\"team\"",
		.doc = "Names the plan in settings; unique."),
	FIELD(PlanRead, monthly_price_usd, .computed = true, .required = true, .example = "49",
		.doc = "Price of one month."),
	FIELD(PlanRead, max_agents, .required = true, .nullable = true, .example = "20",
		.doc = "Agents beyond this number become read-only; null for no limit."),
	FIELD(PlanRead, max_members, .required = true, .nullable = true, .example = "50",
		.doc = "Members a tenant may have; null for no limit."),
	FIELD(PlanRead, max_sessions_per_day, .required = true, .nullable = true, .example = "1000",
		.doc = "Sessions a tenant may start in a day, UTC; null for no limit."),
	FIELD(PlanRead, created_at, .required = true, .doc = "When the plan was made."),
};
SCHEMA(PlanRead, .doc = "A plan: what it costs and how much it allows.");

#define PLAN_LIMITS(S)                                                                            \
	FIELD(S, monthly_price_usd, .preset = "0", AT_LEAST(0), .ceiling = 1000000,               \
		.doc = "Price of one month."),                                                    \
		FIELD(S, max_agents, .nullable = true, AT_LEAST(0),                               \
			.doc = "Agents beyond this number become read-only; null for no limit."), \
		FIELD(S, max_members, .nullable = true, AT_LEAST(1),                              \
			.doc = "Members a tenant may have; null for no limit."),                  \
		FIELD(S, max_sessions_per_day, .nullable = true, AT_LEAST(0),                     \
			.doc = "Sessions a tenant may start in a day; null for no limit.")

FIELDS(PlanCreate) = {
	FIELD(PlanCreate, name, .required = true, BOUNDS(1, 128), .example = "\"Team\"",
		.doc = "Shown to people."),
	FIELD(PlanCreate, slug, .required = true, SLUG_RULE, BOUNDS(1, 64), .example = "\"team\"",
		.doc = "Names the plan in settings; unique."),
	PLAN_LIMITS(PlanCreate),
};
SCHEMA(PlanCreate, .doc = "A plan to offer.");

FIELDS(PlanUpdate) = {
	FIELD(PlanUpdate, name, BOUNDS(1, 128), .example = "\"Team\"", .doc = "Shown to people."),
	PLAN_LIMITS(PlanUpdate),
};
SCHEMA(PlanUpdate, .partial = true, .doc = "Changes to a plan; what is left out stays.");
