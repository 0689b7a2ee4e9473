/* integrations.h - what may send events to an agent from outside, and the log of what it sent. */
#pragma once
#include "webhooks/guardrails.h"

struct IntegrationCreate {
	int provider;
	const char *label, *agent_id;
	struct IntegrationGuardrails *guardrails;
	const char *signing_secret, *delivery_id_header, *instructions;
	bool is_active;
};
SCHEMA_DECLARED(IntegrationCreate);

struct IntegrationUpdate {
	uint64_t present;
	const char *label, *agent_id;
	struct IntegrationGuardrails *guardrails;
	const char *delivery_id_header, *instructions, *acts_as_id;
	bool is_active;
};
SCHEMA_DECLARED(IntegrationUpdate);

struct IntegrationRotate {
	int64_t grace_s;
	const char *signing_secret;
};
SCHEMA_DECLARED(IntegrationRotate);

struct IntegrationRead {
	const char *id, *tenant_id, *agent_id;
	int provider;
	const char *label;
	bool is_active, connected;
	const char *webhook_url;
	struct IntegrationGuardrails *guardrails;
	const char *delivery_id_header, *instructions, *signing_secret;
	struct moment grace_until, last_event_at;
	const char *acts_as_id, *acts_as_problem, *created_by_id;
	struct moment created_at, updated_at;
};
SCHEMA_DECLARED(IntegrationRead);

struct DeliveryRead {
	const char *id, *integration_id, *delivery_id, *event, *action;
	int status;
	const char *outcome, *summary, *caller_ip, *user_agent;
	int64_t calls;
	const char *session_id;
	int64_t attempts;
	const char *error;
	int waiting_for;
	struct moment waiting_until, created_at, delivered_at;
	const char *label;
};
SCHEMA_DECLARED(DeliveryRead);

struct DeliveryDetail {
	struct DeliveryRead *delivery;
	const char *body;
};
SCHEMA_DECLARED(DeliveryDetail);

enum HookOutcome { HookOutcome_accepted, HookOutcome_duplicate, HookOutcome_ping };
extern const struct words HookOutcome_words;

/* What a sender is told. */
struct HookAnswer {
	int status;
	const char *id, *delivery_id;
};
SCHEMA_DECLARED(HookAnswer);

struct SkillHookAnswer {
	int status;
};
SCHEMA_DECLARED(SkillHookAnswer);

struct SkillWebhookCreate {
	const char *label;
};
SCHEMA_DECLARED(SkillWebhookCreate);

struct SkillWebhookRead {
	const char *id, *agent_id, *skill_id, *label, *url, *token, *acts_as_id, *acts_as_problem,
		*created_by_id;
	struct moment last_call_at, created_at;
};
SCHEMA_DECLARED(SkillWebhookRead);

enum CallOutcome { CallOutcome_accepted, CallOutcome_rejected };
extern const struct words CallOutcome_words;

struct SkillWebhookCallRead {
	const char *id, *webhook_id;
	int outcome;
	const char *reason, *caller_ip, *user_agent;
	int64_t calls;
	int status;
	const char *session_id, *error;
	int waiting_for;
	struct moment waiting_until, created_at, delivered_at;
};
SCHEMA_DECLARED(SkillWebhookCallRead);
