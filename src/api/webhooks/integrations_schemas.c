/* integrations_schemas.c - the tables for integrations, their deliveries, and webhooks of skills. */
#include "api/webhooks/integrations.h"

#include "api/sessions/sessions.h"

#define HEADER_NAME                        \
	.pattern = "^[A-Za-z0-9-]{1,64}$", \
	.rule = "may have letters A to Z, digits and hyphens only"
#define GUARDRAILS_EXAMPLE                                                             \
	"{\"events\":[\"issues.opened\",\"push\"],\"repositories\":[\"acme/rocket\"]," \
	"\"per_minute\":60}"

enum { INSTRUCTIONS_MAX = 8000 };

const struct words HookOutcome_words = {
	.title = "HookOutcome",
	.list = (const char *const[]){ "accepted", "duplicate", "ping", NULL },
	.doc = "Whether an event was taken, or had been taken before.",
};

const struct words CallOutcome_words = {
	.title = "CallOutcome",
	.list = (const char *const[]){ "accepted", "rejected", NULL },
	.doc = "Whether a call of a skill's webhook was taken.",
};

FIELDS(IntegrationCreate) = {
	FIELD(IntegrationCreate, provider, .required = true, .words = &IntegrationProvider_words,
		.doc = "Who will send events."),
	FIELD(IntegrationCreate, label, .required = true, BOUNDS(1, 128),
		.example = "\"Rocket repo\"", .doc = "What people call it."),
	FIELD(IntegrationCreate, agent_id, .label = "Agent", .required = true, .id = true,
		.doc = "The agent that gets the events."),
	FIELD(IntegrationCreate, guardrails, .nullable = true, .of = &IntegrationGuardrails_schema,
		.example = GUARDRAILS_EXAMPLE,
		.doc = "What events must pass; absent: the defaults."),
	FIELD(IntegrationCreate, signing_secret, .nullable = true, .secret = true, BOUNDS(8, 255),
		.doc = "The secret, where the service has chosen it; absent: a new one is made."),
	FIELD(IntegrationCreate, delivery_id_header, .label = "Header with the delivery's id",
		.nullable = true, HEADER_NAME, BOUNDS(1, 64), .example = "\"X-Delivery-Id\"",
		.doc = "Provider generic: the header with the sender's id of the delivery. Without "
		       "one an event is known by its body."),
	FIELD(IntegrationCreate, instructions, .prompt = true, .nullable = true,
		BOUNDS(1, INSTRUCTIONS_MAX),
		.example = "\"Triage the issue and answer in a comment.\"",
		.doc = "What the agent is to do with these events; it is told beside its own prompt."),
	FIELD(IntegrationCreate, is_active, .label = "Active", .preset = "true",
		.doc = "False: verified events are refused."),
};
SCHEMA(IntegrationCreate, .doc = "A new integration.");

FIELDS(IntegrationUpdate) = {
	FIELD(IntegrationUpdate, label, BOUNDS(1, 128), .example = "\"Rocket repo\"",
		.doc = "What people call it."),
	FIELD(IntegrationUpdate, agent_id, .label = "Agent", .id = true,
		.doc = "The agent that gets the events."),
	FIELD(IntegrationUpdate, guardrails, .nullable = true, .of = &IntegrationGuardrails_schema,
		.example = GUARDRAILS_EXAMPLE,
		.doc = "In place of those that stand; null: the defaults."),
	FIELD(IntegrationUpdate, delivery_id_header, .label = "Header with the delivery's id",
		.nullable = true, HEADER_NAME, BOUNDS(1, 64), .example = "\"X-Delivery-Id\"",
		.doc = "Provider generic: the header with the sender's id of the delivery."),
	FIELD(IntegrationUpdate, instructions, .prompt = true, .nullable = true,
		BOUNDS(1, INSTRUCTIONS_MAX),
		.example = "\"Triage the issue and answer in a comment.\"",
		.doc = "What the agent is to do with these events."),
	FIELD(IntegrationUpdate, acts_as_id, .id = true,
		.doc = "Yourself: from now on it acts as you, with the credential of this request. "
		       "Nobody lends another's rights."),
	FIELD(IntegrationUpdate, is_active, .label = "Active", .example = "true",
		.doc = "False: verified events are refused."),
};
SCHEMA(IntegrationUpdate, .partial = true, .doc = "What is to change of an integration.");

FIELDS(IntegrationRotate) = {
	FIELD(IntegrationRotate, grace_s, .label = "Former secret counts for", .unit = "seconds",
		.preset = "0", BOUNDS(0, 604800),
		.doc = "For so long the former secret counts too; 0: it stops at once."),
	FIELD(IntegrationRotate, signing_secret, .nullable = true, .secret = true, BOUNDS(8, 255),
		.doc = "The new secret, where the service has chosen it; absent: one is made."),
};
SCHEMA(IntegrationRotate, .doc = "How to change a signing secret.");

FIELDS(IntegrationRead) = {
	FIELD(IntegrationRead, id, .required = true, .id = true, .doc = "The integration."),
	FIELD(IntegrationRead, tenant_id, .required = true, .id = true, .doc = "The tenant."),
	FIELD(IntegrationRead, agent_id, .required = true, .id = true,
		.doc = "The agent that gets the events."),
	FIELD(IntegrationRead, provider, .required = true, .words = &IntegrationProvider_words,
		.doc = "Who sends events."),
	FIELD(IntegrationRead, label, .required = true, .example = "\"Rocket repo\"",
		.doc = "What people call it."),
	FIELD(IntegrationRead, is_active, .required = true, .example = "true",
		.doc = "False: verified events are refused."),
	FIELD(IntegrationRead, connected, .required = true, .example = "true", .computed = true,
		.doc = "It is active, a verified event has come, and the signing secret is not lost."),
	FIELD(IntegrationRead, webhook_url, .required = true, .computed = true,
		.example = "\"https://lodge.example.org/hooks/cjld2cyuq0000t3rmniod1foy\"",
		.doc = "The address to give to the service."),
	FIELD(IntegrationRead, guardrails, .required = true, .of = &IntegrationGuardrails_schema,
		.example = GUARDRAILS_EXAMPLE, .doc = "What events must pass."),
	FIELD(IntegrationRead, delivery_id_header, .required = true, .nullable = true,
		.example = "null", .doc = "The header with a generic sender's id of the delivery."),
	FIELD(IntegrationRead, instructions, .required = true, .nullable = true, .example = "null",
		.doc = "What the agent is to do with these events."),
	FIELD(IntegrationRead, signing_secret, .required = true, .nullable = true, .computed = true,
		.example = "null",
		.doc = "Shown once, when it is made or changed; null ever after."),
	FIELD(IntegrationRead, grace_until, .required = true, .nullable = true, .example = "null",
		.doc = "Until when the former secret counts too; null: it does not."),
	FIELD(IntegrationRead, last_event_at, .required = true, .nullable = true, .example = "null",
		.doc = "When a verified event last came, to within an hour."),
	FIELD(IntegrationRead, acts_as_id, .required = true, .nullable = true, .id = true,
		.doc = "As whom it acts: what it begins has the rights this user has at that moment, "
		       "and no more than the key it was set up with; null: nobody answers for it, "
		       "and it does not run."),
	FIELD(IntegrationRead, acts_as_problem, .required = true, .nullable = true,
		.computed = true, .example = "null",
		.doc = "Why it may not run now, in a sentence; null while it may."),
	FIELD(IntegrationRead, created_by_id, .required = true, .nullable = true,
		.doc = "Who made it; null when no person did."),
	FIELD(IntegrationRead, created_at, .required = true, .doc = "When it was made."),
	FIELD(IntegrationRead, updated_at, .required = true, .doc = "When it last changed."),
};
SCHEMA(IntegrationRead, .doc = "An address to which a service sends signed events for an agent.");

FIELDS(DeliveryRead) = {
	FIELD(DeliveryRead, id, .required = true, .id = true, .doc = "The call."),
	FIELD(DeliveryRead, integration_id, .required = true, .id = true,
		.doc = "The integration."),
	FIELD(DeliveryRead, delivery_id, .required = true,
		.example = "\"72d3162e-cc78-11e3-81ab-4c9367dc0958\"",
		.doc = "The sender's id; empty where it was not verified."),
	FIELD(DeliveryRead, event, .required = true, .nullable = true, .example = "\"issues\"",
		.doc = "What happened, as the sender names it."),
	FIELD(DeliveryRead, action, .required = true, .nullable = true, .example = "\"opened\"",
		.doc = "More exactly, where the sender says so."),
	FIELD(DeliveryRead, status, .required = true, .words = &DeliveryStatus_words,
		.doc = "How it stands."),
	FIELD(DeliveryRead, outcome, .required = true, .example = "\"accepted\"",
		.doc = "What was decided: accepted, the guardrail that refused it, or why it was "
		       "rejected; secret_unopenable: the signing secret is lost, rotate it."),
	FIELD(DeliveryRead, summary, .required = true, .nullable = true,
		.example = "\"octocat opened issue #7 in acme/rocket\"",
		.doc = "The event in a sentence, once it was delivered or blocked."),
	FIELD(DeliveryRead, caller_ip, .required = true, .nullable = true,
		.example = "\"192.0.2.7\"", .doc = "Where it came from."),
	FIELD(DeliveryRead, user_agent, .required = true, .nullable = true,
		.example = "\"GitHub-Hookshot/044aadd\"", .doc = "How the caller named itself."),
	FIELD(DeliveryRead, calls, .required = true, .example = "1",
		.doc = "How many calls the row stands for: refused ones that come in numbers share "
		       "one."),
	FIELD(DeliveryRead, session_id, .required = true, .nullable = true,
		.doc = "The session that was made of it."),
	FIELD(DeliveryRead, attempts, .required = true, .example = "1",
		.doc = "How often it was tried to make a session of it."),
	FIELD(DeliveryRead, error, .required = true, .nullable = true, .example = "null",
		.doc = "Why the last attempt failed."),
	FIELD(DeliveryRead, waiting_for, .nullable = true, .words = &WaitingFor_words,
		.example = "null", .doc = "What its session waits for; null: for none of these."),
	FIELD(DeliveryRead, waiting_until, .nullable = true, .example = "null",
		.doc = "When that is tried next; null while it waits: no time will help."),
	FIELD(DeliveryRead, created_at, .required = true, .doc = "When it came."),
	FIELD(DeliveryRead, delivered_at, .required = true, .nullable = true, .example = "null",
		.doc = "When the session was made."),
	FIELD(DeliveryRead, label, .required = true, .example = "\"Issues of rocket\"",
		.doc = "What people call the integration."),
};
SCHEMA(DeliveryRead, .doc = "A call to an integration's address, and what became of it.");

FIELDS(DeliveryDetail) = {
	FIELD(DeliveryDetail, delivery, .required = true, .of = &DeliveryRead_schema,
		.doc = "The call."),
	FIELD(DeliveryDetail, body, .required = true, .nullable = true,
		.example = "\"{\\\"action\\\":\\\"opened\\\"}\"",
		.doc = "The event as it was sent, which is JSON; null where it was not kept."),
};
SCHEMA(DeliveryDetail, .doc = "A call with what it said.");

FIELDS(HookAnswer) = {
	FIELD(HookAnswer, status, .required = true, .words = &HookOutcome_words,
		.doc = "Whether the event is new; ping: the service only tried the address."),
	FIELD(HookAnswer, id, .required = true, .id = true, .doc = "Ours of the delivery."),
	FIELD(HookAnswer, delivery_id, .required = true,
		.example = "\"72d3162e-cc78-11e3-81ab-4c9367dc0958\"", .doc = "The sender's."),
};
SCHEMA(HookAnswer, .doc = "An event was taken, or had been before.");

FIELDS(SkillHookAnswer) = {
	FIELD(SkillHookAnswer, status, .required = true, .words = &CallOutcome_words,
		.doc = "Always accepted; what is not is an error."),
};
SCHEMA(SkillHookAnswer, .doc = "A call of a skill was taken.");

FIELDS(SkillWebhookCreate) = {
	FIELD(SkillWebhookCreate, label, .nullable = true, BOUNDS(1, 128),
		.example = "\"From the build\"", .doc = "What people call it."),
};
SCHEMA(SkillWebhookCreate, .doc = "A new address for a skill of an agent.");

FIELDS(SkillWebhookRead) = {
	FIELD(SkillWebhookRead, id, .required = true, .id = true, .doc = "The webhook."),
	FIELD(SkillWebhookRead, agent_id, .required = true, .id = true, .doc = "The agent."),
	FIELD(SkillWebhookRead, skill_id, .required = true, .id = true, .doc = "The skill."),
	FIELD(SkillWebhookRead, label, .required = true, .example = "\"From the build\"",
		.doc = "What people call it."),
	FIELD(SkillWebhookRead, url, .required = true, .computed = true,
		.example = "\"https://lodge.example.org/hooks/skills/cjld2cyuq0000t3rmniod1foy\"",
		.doc = "Where to send JSON objects, with the token as bearer."),
	FIELD(SkillWebhookRead, token, .required = true, .nullable = true, .computed = true,
		.example = "null", .doc = "Shown once, when it is made; null ever after."),
	FIELD(SkillWebhookRead, acts_as_id, .required = true, .nullable = true, .id = true,
		.doc = "As whom it acts: what it begins has the rights this user has at that moment, "
		       "and no more than the key it was set up with; null: nobody answers for it, "
		       "and it does not run."),
	FIELD(SkillWebhookRead, acts_as_problem, .required = true, .nullable = true,
		.computed = true, .example = "null",
		.doc = "Why it may not run now, in a sentence; null while it may."),
	FIELD(SkillWebhookRead, created_by_id, .required = true, .nullable = true,
		.doc = "Who made it; null when no person did."),
	FIELD(SkillWebhookRead, last_call_at, .required = true, .nullable = true, .example = "null",
		.doc = "When a call was last accepted, to within an hour."),
	FIELD(SkillWebhookRead, created_at, .required = true, .doc = "When it was made."),
};
SCHEMA(SkillWebhookRead, .doc = "An address by which programs set a skill of an agent to work.");

FIELDS(SkillWebhookCallRead) = {
	FIELD(SkillWebhookCallRead, id, .required = true, .id = true, .doc = "The call."),
	FIELD(SkillWebhookCallRead, webhook_id, .required = true, .id = true,
		.doc = "The webhook."),
	FIELD(SkillWebhookCallRead, outcome, .required = true, .computed = true,
		.words = &CallOutcome_words, .doc = "Accepted or rejected."),
	FIELD(SkillWebhookCallRead, reason, .required = true, .nullable = true, .computed = true,
		.example = "null", .doc = "Why it was rejected."),
	FIELD(SkillWebhookCallRead, caller_ip, .required = true, .nullable = true,
		.example = "\"192.0.2.7\"", .doc = "Where it came from."),
	FIELD(SkillWebhookCallRead, user_agent, .required = true, .nullable = true,
		.example = "\"curl/7.88.1\"", .doc = "How the caller named itself."),
	FIELD(SkillWebhookCallRead, calls, .required = true, .example = "1",
		.doc = "How many calls the row stands for: rejected ones that come in numbers share "
		       "one."),
	FIELD(SkillWebhookCallRead, status, .required = true, .words = &DeliveryStatus_words,
		.doc = "How it stands."),
	FIELD(SkillWebhookCallRead, session_id, .required = true, .nullable = true,
		.doc = "The session that was made of it."),
	FIELD(SkillWebhookCallRead, error, .required = true, .nullable = true, .example = "null",
		.doc = "Why no session could be made of it."),
	FIELD(SkillWebhookCallRead, waiting_for, .nullable = true, .words = &WaitingFor_words,
		.example = "null", .doc = "What its session waits for; null: for none of these."),
	FIELD(SkillWebhookCallRead, waiting_until, .nullable = true, .example = "null",
		.doc = "When that is tried next; null while it waits: no time will help."),
	FIELD(SkillWebhookCallRead, created_at, .required = true, .doc = "When it came."),
	FIELD(SkillWebhookCallRead, delivered_at, .required = true, .nullable = true,
		.example = "null", .doc = "When the session was made."),
};
SCHEMA(SkillWebhookCallRead, .doc = "A call of a skill's webhook.");
