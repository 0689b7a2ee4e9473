/* tenants_schemas.c - the tables for tenants, their plans, and what super administrators see of
 * them. */
#include "api/tenants/tenants.h"

#include "contract/rules.h"

#include "api/skills/skills.h"

static const char *const TenantStatus_list[] = {
	[TenantStatus_active] = "active",
	[TenantStatus_trial] = "trial",
	[TenantStatus_abandoned] = "abandoned",
	[TenantStatus_suspended] = "suspended",
	[TenantStatus_closed] = "closed",
	NULL,
};
const struct words TenantStatus_words = {
	.title = "TenantStatus",
	.list = TenantStatus_list,
	.doc = "Where a tenant stands; suspended is the same as is_suspended, and only active and "
	       "trial tenants run. A closed one lets nobody in but super administrators; nothing in "
	       "it is lost.",
};

FIELDS(UsageSummary30d) = {
	FIELD(UsageSummary30d, requests, .required = true, .example = "5120",
		.doc = "Calls to models."),
	FIELD(UsageSummary30d, input_tokens, .required = true, .example = "804113",
		.doc = "Input that came from no cache."),
	FIELD(UsageSummary30d, output_tokens, .required = true, .example = "210554",
		.doc = "Tokens written by models."),
	FIELD(UsageSummary30d, cache_read_tokens, .required = true, .example = "1300220",
		.doc = "Input read from a provider's cache."),
	FIELD(UsageSummary30d, cache_write_tokens, .required = true, .example = "90110",
		.doc = "Input written to a provider's cache."),
	FIELD(UsageSummary30d, cost_usd, .required = true, .example = "12.75",
		.doc = "All of it, on our keys and on the tenant's own."),
	FIELD(UsageSummary30d, active_agents, .required = true, .example = "7",
		.doc = "Agents that called a model at least once."),
	FIELD(UsageSummary30d, active_users, .required = true, .example = "11",
		.doc = "Users who wrote to an agent at least once."),
};
SCHEMA(UsageSummary30d,
	.doc = "Model use of a tenant over the last 30 days; the token counts do not overlap.");

FIELDS(TaskSummary30d) = {
	FIELD(TaskSummary30d, sessions, .required = true, .example = "240",
		.doc = "Sessions started, subtasks not counted."),
	FIELD(TaskSummary30d, completed, .required = true, .example = "221",
		.doc = "Sessions that ended well."),
	FIELD(TaskSummary30d, failed, .required = true, .example = "9",
		.doc = "Sessions that ended with an error."),
	FIELD(TaskSummary30d, cancelled, .required = true, .example = "6",
		.doc = "Sessions stopped by a person."),
	FIELD(TaskSummary30d, running, .required = true, .example = "4",
		.doc = "Sessions at work now."),
	FIELD(TaskSummary30d, messages, .required = true, .example = "3120",
		.doc = "Messages in all of these sessions."),
	FIELD(TaskSummary30d, subtasks, .required = true, .example = "58",
		.doc = "Sessions started by another session."),
};
SCHEMA(TaskSummary30d, .doc = "Sessions of a tenant over the last 30 days.");

FIELDS(AdminTenantRead) = {
	FIELD(AdminTenantRead, id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(AdminTenantRead, name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Shown to people."),
	FIELD(AdminTenantRead, slug, .required = true, .example = "\"example\"",
		.doc = "Names the tenant in addresses; unique."),
	FIELD(AdminTenantRead, plan_id, .required = true, .id = true, .doc = "The plan it is on."),
	FIELD(AdminTenantRead, billing_email, .required = true, .nullable = true,
		.example = "\"billing@example.org\"",
		.doc = "Where invoices go; null if none was given. The service sends none."),
	FIELD(AdminTenantRead, created_at, .required = true, .doc = "When the tenant was made."),
	FIELD(AdminTenantRead, updated_at, .required = true,
		.doc = "When its settings last changed."),
	FIELD(AdminTenantRead, member_count, .computed = true, .required = true, .example = "12",
		.doc = "People who belong to it, invited ones included."),
	FIELD(AdminTenantRead, agent_count, .computed = true, .required = true, .example = "8",
		.doc = "Agents it has, hidden ones included."),
	FIELD(AdminTenantRead, abandoned_warning_sent_at, .nullable = true, .example = "null",
		.doc = "When it was warned that it looks abandoned; null if it never was, and nothing "
		       "warns yet."),
	FIELD(AdminTenantRead, allow_superadmin_access, .preset = "true",
		.doc = "False closes its agents and sessions to super administrators; only its "
		       "OWNER can open them again."),
	FIELD(AdminTenantRead, default_skill_visibility_scope, .words = &SkillScope_words,
		.doc = "The scope that new agents of the tenant begin with."),
	FIELD(AdminTenantRead, external_mail_enabled, .preset = "false",
		.doc = "Whether its agents may have external mailboxes."),
	FIELD(AdminTenantRead, is_suspended, .computed = true, .preset = "false",
		.doc = "True stops all its credentials and all its work."),
	FIELD(AdminTenantRead, paid, .preset = "false",
		.doc = "Whether the current period is paid for; a note of the super administrator's."),
	FIELD(AdminTenantRead, status, .words = &TenantStatus_words, .preset = "\"active\"",
		.doc = "Where the tenant stands."),
	FIELD(AdminTenantRead, voicebox_enabled, .preset = "false",
		.doc = "Whether its agents may speak, and its members have texts spoken."),
};
SCHEMA(AdminTenantRead, .doc = "A tenant in the super administrator's roster.");

FIELDS(AdminTenantDetailRead) = {
	FIELD(AdminTenantDetailRead, id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(AdminTenantDetailRead, name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Shown to people."),
	FIELD(AdminTenantDetailRead, slug, .required = true, .example = "\"example\"",
		.doc = "Names the tenant in addresses; unique."),
	FIELD(AdminTenantDetailRead, plan_id, .required = true, .id = true,
		.doc = "The plan it is on."),
	FIELD(AdminTenantDetailRead, billing_email, .required = true, .nullable = true,
		.example = "\"billing@example.org\"",
		.doc = "Where invoices go; null if none was given. The service sends none."),
	FIELD(AdminTenantDetailRead, created_at, .required = true,
		.doc = "When the tenant was made."),
	FIELD(AdminTenantDetailRead, updated_at, .required = true,
		.doc = "When its settings last changed."),
	FIELD(AdminTenantDetailRead, member_count, .computed = true, .required = true,
		.example = "12", .doc = "People who belong to it, invited ones included."),
	FIELD(AdminTenantDetailRead, agent_count, .computed = true, .required = true,
		.example = "8", .doc = "Agents it has, hidden ones included."),
	FIELD(AdminTenantDetailRead, plan, .computed = true, .required = true,
		.of = &PlanRead_schema, .doc = "The plan that plan_id names."),
	FIELD(AdminTenantDetailRead, plan_status, .required = true, .words = &PlanStatus_words,
		.doc = "Where the subscription stands."),
	FIELD(AdminTenantDetailRead, usage_summary_30d, .computed = true, .required = true,
		.of = &UsageSummary30d_schema, .doc = "Model use of the last 30 days."),
	FIELD(AdminTenantDetailRead, task_summary_30d, .computed = true, .required = true,
		.of = &TaskSummary30d_schema, .doc = "Sessions of the last 30 days."),
	FIELD(AdminTenantDetailRead, last_active_at, .computed = true, .required = true,
		.nullable = true,
		.doc = "When a member or an agent last did something; null if never."),
	FIELD(AdminTenantDetailRead, abandoned_warning_sent_at, .nullable = true, .example = "null",
		.doc = "When it was warned that it looks abandoned; null if it never was, and nothing "
		       "warns yet."),
	FIELD(AdminTenantDetailRead, allow_superadmin_access, .preset = "true",
		.doc = "False closes its agents and sessions to super administrators; only its "
		       "OWNER can open them again."),
	FIELD(AdminTenantDetailRead, default_skill_visibility_scope, .words = &SkillScope_words,
		.doc = "The scope that new agents of the tenant begin with."),
	FIELD(AdminTenantDetailRead, external_mail_enabled, .preset = "false",
		.doc = "Whether its agents may have external mailboxes."),
	FIELD(AdminTenantDetailRead, is_suspended, .computed = true, .preset = "false",
		.doc = "True stops all its credentials and all its work."),
	FIELD(AdminTenantDetailRead, paid, .preset = "false",
		.doc = "Whether the current period is paid for; a note of the super administrator's."),
	FIELD(AdminTenantDetailRead, status, .words = &TenantStatus_words, .preset = "\"active\"",
		.doc = "Where the tenant stands."),
	FIELD(AdminTenantDetailRead, voicebox_enabled, .preset = "false",
		.doc = "Whether its agents may speak, and its members have texts spoken."),
};
SCHEMA(AdminTenantDetailRead, .doc = "One tenant with its plan and 30 days of use.");

FIELDS(TenantRead) = {
	FIELD(TenantRead, id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(TenantRead, name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Shown to people."),
	FIELD(TenantRead, slug, .required = true, .example = "\"example\"",
		.doc = "Names the tenant in addresses; unique."),
	FIELD(TenantRead, plan_id, .required = true, .id = true, .doc = "The plan it is on."),
	FIELD(TenantRead, billing_email, .required = true, .nullable = true,
		.example = "\"billing@example.org\"",
		.doc = "Where invoices go; null if none was given. The service sends none."),
	FIELD(TenantRead, status, .required = true, .words = &TenantStatus_words,
		.preset = "\"active\"", .doc = "Where the tenant stands."),
	FIELD(TenantRead, is_suspended, .computed = true, .required = true, .preset = "false",
		.doc = "True stops all its credentials and all its work."),
	FIELD(TenantRead, allow_superadmin_access, .required = true, .preset = "true",
		.doc = "False closes its agents and sessions to super administrators; only its "
		       "OWNER can open them again."),
	FIELD(TenantRead, default_skill_visibility_scope, .required = true,
		.words = &SkillScope_words, .preset = "\"private_only\"",
		.doc = "The scope that new agents begin with."),
	FIELD(TenantRead, external_mail_enabled, .required = true, .preset = "false",
		.doc = "Whether its agents may have external mailboxes."),
	FIELD(TenantRead, voicebox_enabled, .required = true, .preset = "false",
		.doc = "Whether its agents may speak, and its members have texts spoken."),
	FIELD(TenantRead, paid, .required = true, .preset = "false",
		.doc = "Whether the current period is paid for; a note of the super administrator's."),
	FIELD(TenantRead, require_user_model_grants, .required = true, .preset = "true",
		.doc = "True asks a user for a grant on each paid model an agent calls for them; "
		       "OWNER and ADMIN hold all."),
	FIELD(TenantRead, created_at, .required = true, .doc = "When the tenant was made."),
	FIELD(TenantRead, updated_at, .required = true, .doc = "When its settings last changed."),
};
SCHEMA(TenantRead, .doc = "A tenant as its members see it.");

FIELDS(TenantCreate) = {
	FIELD(TenantCreate, name, .required = true, SHOWN_NAME, BOUNDS(1, 128),
		.example = "\"Example Ltd\"", .doc = "Shown to people."),
	FIELD(TenantCreate, slug, .required = true, SLUG_RULE, BOUNDS(1, 64),
		.example = "\"example\"",
		.doc = "Names the tenant in addresses; unique in the whole service. Names such as "
		       "postmaster and mail are reserved."),
	FIELD(TenantCreate, plan_id, .label = "Plan", .nullable = true, .id = true,
		.doc = "The plan to begin on; the service's default plan if absent."),
	FIELD(TenantCreate, billing_email, .nullable = true, .email = true, BOUNDS(3, 253),
		.example = "\"billing@example.org\"", .doc = "Where invoices go."),
};
SCHEMA(TenantCreate, .doc = "What it takes to make a tenant; whoever makes it becomes its OWNER.");

FIELDS(TenantUpdate) = {
	FIELD(TenantUpdate, name, SHOWN_NAME, BOUNDS(1, 128), .example = "\"Example Ltd\"",
		.doc = "Shown to people."),
	FIELD(TenantUpdate, billing_email, .nullable = true, .email = true, BOUNDS(3, 253),
		.example = "\"billing@example.org\"", .doc = "Where invoices go; null clears it."),
	FIELD(TenantUpdate, default_skill_visibility_scope, .label = "Skills that new agents write",
		.words = &SkillScope_words,
		.doc = "The scope that new agents begin with; standing agents keep theirs."),
	FIELD(TenantUpdate, allow_superadmin_access, .label = "Let super administrators in",
		.example = "true",
		.doc = "False closes agents and sessions to super administrators; only an OWNER "
		       "may set it."),
	FIELD(TenantUpdate, external_mail_enabled, .label = "External mail", .example = "true",
		.doc = "Whether agents may have external mailboxes."),
	FIELD(TenantUpdate, require_user_model_grants, .label = "Paid models need a grant",
		.example = "true",
		.doc = "Whether users need a grant on each paid model that an agent calls for "
		       "them."),
};
SCHEMA(TenantUpdate, .partial = true, .doc = "Changes to a tenant; what is left out stays.");

FIELDS(AdminTenantUpdate) = {
	FIELD(AdminTenantUpdate, plan_id, .label = "Plan", .id = true, .doc = "The plan it is on."),
	FIELD(AdminTenantUpdate, plan_status, .words = &PlanStatus_words,
		.doc = "Where the plan stands; canceled makes every agent read-only."),
	FIELD(AdminTenantUpdate, status, .words = &TenantStatus_words,
		.doc = "The tenant's state; suspended and closed keep its members out, stop its "
		       "work and lose nothing. A deleted tenant is restored instead."),
	FIELD(AdminTenantUpdate, is_suspended, .nullable = true,
		.doc = "The same state as a flag: true is status suspended, false lifts it."),
	FIELD(AdminTenantUpdate, paid, .example = "true",
		.doc = "Whether somebody pays; a note that changes nothing else."),
	FIELD(AdminTenantUpdate, external_mail_enabled, .label = "External mail", .example = "true",
		.doc = "Whether agents may have external mailboxes."),
	FIELD(AdminTenantUpdate, voicebox_enabled, .example = "true",
		.doc = "Whether agents may speak, and members have texts spoken."),
};
SCHEMA(AdminTenantUpdate, .partial = true,
	.doc = "What a super administrator changes about a tenant; what is left out stays.");

FIELDS(DeletedTenant) = {
	FIELD(DeletedTenant, id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(DeletedTenant, name, .required = true, .example = "\"Example Ltd\"",
		.doc = "Shown to people."),
	FIELD(DeletedTenant, slug, .required = true, .example = "\"example\"",
		.doc = "Stays taken until the tenant is erased."),
	FIELD(DeletedTenant, erase_at, .required = true,
		.doc = "From when on its rows are erased; until then it can be restored."),
};
SCHEMA(DeletedTenant, .doc = "A tenant that was deleted and is not erased yet.");
