/* tenants.h - tenants, their plans, and what super administrators see of them. */
#pragma once
#include "api/plans/plans.h"
#include "contract/schema.h"

enum TenantStatus {
	TenantStatus_active,
	TenantStatus_trial,
	TenantStatus_abandoned,
	TenantStatus_suspended,
	TenantStatus_closed
};
extern const struct words TenantStatus_words;

struct UsageSummary30d {
	int64_t requests, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens;
	struct money cost_usd;
	int64_t active_agents, active_users;
};
SCHEMA_DECLARED(UsageSummary30d);

struct TaskSummary30d {
	int64_t sessions, completed, failed, cancelled, running, messages, subtasks;
};
SCHEMA_DECLARED(TaskSummary30d);

struct AdminTenantRead {
	const char *id, *name, *slug, *plan_id, *billing_email;
	struct moment created_at, updated_at;
	int64_t member_count, agent_count;
	struct moment abandoned_warning_sent_at;
	bool allow_superadmin_access;
	int default_skill_visibility_scope;
	bool external_mail_enabled, is_suspended, paid;
	int status;
	bool voicebox_enabled;
};
SCHEMA_DECLARED(AdminTenantRead);

struct AdminTenantDetailRead {
	const char *id, *name, *slug, *plan_id, *billing_email;
	struct moment created_at, updated_at;
	int64_t member_count, agent_count;
	struct PlanRead *plan;
	int plan_status;
	struct UsageSummary30d *usage_summary_30d;
	struct TaskSummary30d *task_summary_30d;
	struct moment last_active_at, abandoned_warning_sent_at;
	bool allow_superadmin_access;
	int default_skill_visibility_scope;
	bool external_mail_enabled, is_suspended, paid;
	int status;
	bool voicebox_enabled;
};
SCHEMA_DECLARED(AdminTenantDetailRead);

struct TenantRead {
	const char *id, *name, *slug, *plan_id, *billing_email;
	int status;
	bool is_suspended, allow_superadmin_access;
	int default_skill_visibility_scope;
	bool external_mail_enabled, voicebox_enabled, paid, require_user_model_grants;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(TenantRead);

struct TenantCreate {
	const char *name, *slug, *plan_id, *billing_email;
};
SCHEMA_DECLARED(TenantCreate);

struct TenantUpdate {
	uint64_t present;
	const char *name, *billing_email;
	int default_skill_visibility_scope;
	bool allow_superadmin_access, external_mail_enabled, require_user_model_grants;
};
SCHEMA_DECLARED(TenantUpdate);

struct AdminTenantUpdate {
	uint64_t present;
	const char *plan_id;
	int plan_status, status;
	tri is_suspended;
	bool paid, external_mail_enabled, voicebox_enabled;
};
SCHEMA_DECLARED(AdminTenantUpdate);

struct DeletedTenant {
	const char *id, *name, *slug;
	struct moment erase_at;
};
SCHEMA_DECLARED(DeletedTenant);
