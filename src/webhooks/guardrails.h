/* guardrails.h - what an event is held against, and what can become of it: the tables that whoever takes,
 * judges, logs and delivers events shares. */
#pragma once
#include "contract/schema.h"

/* In the order of enum webhook_service; in rows also skill, for a skill's own address. */
extern const struct words IntegrationProvider_words, hook_provider_words;
enum { PROVIDER_SKILL = 8 };

enum HoursRule { HoursRule_hold, HoursRule_refuse, HoursRule_ignore };
enum BudgetRule { BudgetRule_hold, BudgetRule_refuse };
extern const struct words HoursRule_words, BudgetRule_words;

struct IntegrationGuardrails {
	struct list events, senders, repositories, own_senders;
	bool block_bots;
	int64_t max_bytes, per_minute;
	int working_hours, budget;
	int64_t refuse_repeats_hours;
};
SCHEMA_DECLARED(IntegrationGuardrails);

enum DeliveryStatus {
	DeliveryStatus_rejected,
	DeliveryStatus_blocked,
	DeliveryStatus_accepted,
	DeliveryStatus_delivered,
	DeliveryStatus_failed,
};
extern const struct words DeliveryStatus_words;
