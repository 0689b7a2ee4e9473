/* guardrails.c - see guardrails.h. */
#include "webhooks/guardrails.h"

enum { NAMES_MAX = 100 };

const struct words IntegrationProvider_words = {
	.title = "IntegrationProvider",
	.list = (const char *const[]){ "github", "gitlab", "slack", "stripe", "linear", "sentry",
		"standard", "generic", NULL },
	.doc = "Who sends the events, and thereby how they are signed.",
};

const struct words hook_provider_words = {
	.list = (const char *const[]){ "github", "gitlab", "slack", "stripe", "linear", "sentry",
		"standard", "generic", "skill", NULL },
	.doc = "The same, and the addresses of skills.",
};

const struct words HoursRule_words = {
	.title = "HoursRule",
	.list = (const char *const[]){ "hold", "refuse", "ignore", NULL },
	.doc = "What becomes of an event outside the agent's working hours.",
};

const struct words BudgetRule_words = {
	.title = "BudgetRule",
	.list = (const char *const[]){ "hold", "refuse", NULL },
	.doc = "What becomes of an event while the agent's budget is spent.",
};

const struct words DeliveryStatus_words = {
	.title = "DeliveryStatus",
	.list = (const char *const[]){ "rejected", "blocked", "accepted", "delivered", "failed",
		NULL },
	.doc = "Rejected: not verified. Blocked: refused by a guardrail. Accepted: waits for the "
	       "agent. Delivered: a session was made of it. Failed: none could be made.",
};

FIELDS(IntegrationGuardrails) = {
	FIELD(IntegrationGuardrails, events, .nullable = true, .item = TEXT, BOUNDS(0, NAMES_MAX),
		.example = "[\"issues.opened\",\"push\"]",
		.doc = "Only these events: an event's name, or name.action; null lets all pass."),
	FIELD(IntegrationGuardrails, senders, .nullable = true, .item = TEXT, BOUNDS(0, NAMES_MAX),
		.example = "[\"octocat\"]",
		.doc = "Only events caused by these, whatever the case; null lets all pass."),
	FIELD(IntegrationGuardrails, repositories, .nullable = true, .item = TEXT,
		BOUNDS(0, NAMES_MAX), .example = "[\"acme/*\"]",
		.doc = "Only events of these repositories, projects, channels or teams; a * at the "
		       "end stands for the rest; null lets all pass."),
	FIELD(IntegrationGuardrails, own_senders, .label = "The agent's own names",
		.nullable = true, .item = TEXT, BOUNDS(0, NAMES_MAX), .example = "[\"lodge-bot\"]",
		.doc = "Names under which the agent itself acts there: what it caused is not "
		       "delivered to it."),
	FIELD(IntegrationGuardrails, block_bots, .preset = "false",
		.doc = "True: events that the service says a program caused are refused."),
	FIELD(IntegrationGuardrails, max_bytes, .label = "Largest event", .unit = "bytes",
		.nullable = true, BOUNDS(1, 1048576), .example = "65536",
		.doc = "The largest body; null: 1 MiB."),
	FIELD(IntegrationGuardrails, per_minute, .label = "Events a minute", .nullable = true,
		BOUNDS(1, 100000), .example = "60",
		.doc = "So many events a minute at most; null: as many as come."),
	FIELD(IntegrationGuardrails, working_hours, .preset = "\"hold\"", .words = &HoursRule_words,
		.doc = "Outside the agent's working hours: hold the event until they begin, refuse "
		       "it, or ignore them and let the agent work on it at any hour."),
	FIELD(IntegrationGuardrails, budget, .preset = "\"hold\"", .words = &BudgetRule_words,
		.doc = "While the agent's budget is spent: hold the event until there is room, or "
		       "refuse it and fail what runs out in the middle."),
	FIELD(IntegrationGuardrails, refuse_repeats_hours, .label = "Refuse repeats for",
		.unit = "hours", .nullable = true, BOUNDS(1, 720), .example = "24",
		.doc = "For so many hours a body that was taken is refused under another id: some services do not "
		       "sign the id, and what was recorded can be sent again. Two real events may have one body; "
		       "null, the default, takes both."),
};
SCHEMA(IntegrationGuardrails,
	.doc = "What a verified event must pass before it reaches the agent. That the integration and "
	       "the agent are active and the tenant is not suspended is always asked.");
