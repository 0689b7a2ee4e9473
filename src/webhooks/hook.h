/* hook.h - an address to which events are sent, with what decides about them; shared by those who take
 * events, log them, and deliver them. */
#pragma once
#include "call/call.h"
#include "webhooks/guardrails.h"

/* An integration (or a skill's webhook) as it stands, and how its agent and tenant do. */
struct hook {
	const char *tenant_id, *id, *agent_id, *skill_id;
	int provider;
	const char *label;
	bool is_active;
	int64_t revision, before_until, last_event_at;
	const char *token_hash, *delivery_id_header, *sealed, *guardrails;
	bool tenant_runs, agent_active, plan_read_only, skill_on;
	bool has_budget, has_hours; /* the agent has a limit; keeps to hours */
	const char *seen_id;	    /* the delivery that has the key asked for */
};
SCHEMA_DECLARED(hook);

/* By its id alone: senders know no tenant.  key is the sender's id of an event, or NULL.  ERR_NOT_FOUND. */
int hook_find(struct db *db, struct arena *a, const char *id, const char *key, struct hook *ret);

/* The secrets that count now, the newest first; how many. */
enum { HOOK_SECRETS = 2 };
size_t hook_secrets(struct vault *vault, struct arena *a, const struct hook *h, int64_t now,
	const char *ret[HOOK_SECRETS]);
/* A secret sealed; with the one before it, or NULL. */
const char *hook_seal(
	struct vault *vault, struct arena *a, const char *id, const char *now, const char *before);

/* What the presets of the schema say, at hand. */
extern const struct IntegrationGuardrails hook_rails_default;
/* Stored text of guardrails as a struct; "" gives the defaults. */
struct IntegrationGuardrails *hook_rails(
	const struct patterns *patterns, struct arena *a, const char *text);

/* A call as it is written down. */
struct delivery_row {
	const char *tenant_id, *integration_id, *id, *delivery_key, *delivery_id;
	int status;
	const char *outcome, *event, *action, *caller_ip, *user_agent;
	int64_t calls, attempts, created_at, delivered_at;
	const char *made_session_id, *error, *summary, *body;
};
SCHEMA_DECLARED(delivery_row);

/* *ret_new is false if the key is taken already. */
int delivery_insert(struct db *db, const struct delivery_row *row, bool *ret_new);
int delivery_find(struct db *db, struct arena *a, const char *tenant_id, const char *integration_id,
	const char *id, struct delivery_row *ret);
/* Has the delivery wait for its turn. */
int delivery_queue(struct db *db, struct arena *a, const struct delivery_row *row, int64_t now);

/* Forgets the digests of bodies that no guardrail asks for any more. */
void hook_bodies_forget(struct store *store, int64_t now);

#define DELIVERY_JOB "webhook.deliver"

/* Text of a stranger's header as it may be stored: visible ASCII, cut; NULL stays NULL. */
const char *hook_clean(struct arena *a, const char *text);

/* Why what this address begins may not run now, as a sentence; NULL: it may. */
int hook_actor_problem(struct call *c, const char *agent_id, const char *id, const char **ret);

extern const struct statement_set hook_sql;
