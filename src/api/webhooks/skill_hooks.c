/* skill_hooks.c - webhooks of an agent's skills: addresses with a token, by which programs set a skill to
 * work, and the log of their calls. */
#include <string.h>

#include "api/webhooks/integrations.h"
#include "call/operation.h"
#include "api/erasure/gone.h"
#include "webhooks/hook.h"
#include "api/sessions/sessions.h"
#include "base/crypto.h"
#include "store/listing.h"
#include "store/row.h"

#define TOKEN_HOOK "lodge_hook_"

enum { HOOKS_MAX = 50 }; /* of one skill of one agent */

#define COLUMNS                                                                                     \
	"i.id, i.agent_id, i.skill_id, i.label, i.acts_as_id, i.created_by_id, i.last_event_at as " \
	"last_call_at, i.created_at"
#define HOOKS_FROM "integrations i where i.tenant_id = $1 and i.agent_id = $2 and i.skill_id = $3"
#define CALLS_FROM                                                        \
	"deliveries d left join sessions s on s.tenant_id = d.tenant_id " \
	"and s.id = d.made_session_id where d.tenant_id = $1 and d.integration_id = $2"

/* A call as its row has it; what is shown is made of it. */
struct skill_call_row {
	const char *id, *webhook_id;
	int status;
	const char *outcome, *caller_ip, *user_agent;
	int64_t calls;
	const char *session_id, *error;
	int waiting_for;
	struct moment waiting_until, created_at, delivered_at;
};

FIELDS(skill_call_row) = {
	FIELD(skill_call_row, id),
	FIELD(skill_call_row, webhook_id),
	FIELD(skill_call_row, status, .words = &DeliveryStatus_words),
	FIELD(skill_call_row, outcome),
	FIELD(skill_call_row, caller_ip, .nullable = true),
	FIELD(skill_call_row, user_agent, .nullable = true),
	FIELD(skill_call_row, calls),
	FIELD(skill_call_row, session_id, .nullable = true),
	FIELD(skill_call_row, error, .nullable = true),
	FIELD(skill_call_row, waiting_for, .nullable = true, .words = &WaitingFor_words),
	FIELD(skill_call_row, waiting_until, .nullable = true),
	FIELD(skill_call_row, created_at),
	FIELD(skill_call_row, delivered_at, .nullable = true),
};
static SCHEMA(skill_call_row, .internal = true);

enum {
	LIST_OF(HOOK_LIST),
	LIST_OF(CALL_LIST),
	HOOK_READ,
	HOOK_INSERT,
	HOOK_REMOVE,
	HOOK_COUNT,
	GRANT_THERE,
};

struct skill_hook_row {
	const char *tenant_id, *id, *agent_id, *skill_id, *label, *created_by_id, *token_hash,
		*key_id;
	int64_t created_at;
};

FIELDS(skill_hook_row) = {
	ROW_FIELDS(skill_hook_row, tenant_id, id, agent_id, label, created_at),
	ROW_NULLABLE(skill_hook_row, skill_id, created_by_id, token_hash, key_id),
};
static SCHEMA(skill_hook_row, .internal = true);

static const struct statement sql[] = {
	LISTING(HOOK_LIST, "skill_hook_list", &SkillWebhookRead_schema, COLUMNS, HOOKS_FROM,
		"i.id"),
	LISTING(CALL_LIST, "skill_call_list", &skill_call_row_schema,
		"d.id, d.integration_id as webhook_id, d.status, d.outcome, d.caller_ip, "
		"d.user_agent, d.calls, d.made_session_id as session_id, d.error, s.waiting_for, "
		"s.waiting_until, d.created_at, "
		"d.delivered_at",
		CALLS_FROM, "d.id"),
	[HOOK_READ] = { "skill_hook_read", "select " COLUMNS " from " HOOKS_FROM " and i.id = $4",
		.row = &SkillWebhookRead_schema },
	[HOOK_INSERT] = { "skill_hook_insert",
		"insert into integration_rows ({*}, provider, is_active, updated_at, acts_as_id) "
		"values ({$}, 'skill', 1, :created_at, :created_by_id)",
		.row = &skill_hook_row_schema },
	[HOOK_REMOVE] = { "skill_hook_remove", HOOK_REMOVE_SQL },
	[HOOK_COUNT] = { "skill_hook_held", "select count(*) from " HOOKS_FROM },
	[GRANT_THERE] = { "skill_hook_grant",
		"select count(*) from agent_skills where tenant_id = $1 and agent_id = $2 "
		"and skill_id = $3" },
};
STATEMENT_SET(skill_hook_sql, sql);

#define HERE T(c->caller.tenant_id), T(c->caller.agent_id), T(call_param(c, "skill_id"))

static int need_grant(struct call *c)
{
	int64_t there = 0;
	int err = db_int(c->db, &sql[GRANT_THERE], &there, ARGS(HERE));

	return !err && !there
		       ? call_fail(c, ERR_NOT_FOUND, "This skill was not given to the agent.")
		       : err;
}

static int find_skill_hook(struct call *c, struct SkillWebhookRead *ret)
{
	int err = db_one(
		c->db, c->arena, &sql[HOOK_READ], ret, ARGS(HERE, T(call_param(c, "webhook_id"))));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such webhook.") : err;
}

static void complete_skill_hook(struct call *c, struct SkillWebhookRead *hook, const char *token)
{
	hook->url =
		arena_printf(c->arena, "%s/hooks/skills/%s", c->app->settings.public_url, hook->id);
	hook->token = token;
}

LIST_OPERATION(listSkillWebhooks, NONE, SkillWebhookRead)
{
	struct SkillWebhookRead *hooks;
	int err = need_grant(c);

	if (!err)
		err = call_list(c, &sql[HOOK_LIST], ARGS(HERE));
	hooks = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++) {
		complete_skill_hook(c, &hooks[i], NULL);
		err = hook_actor_problem(
			c, hooks[i].agent_id, hooks[i].id, &hooks[i].acts_as_problem);
	}
	return err;
}

OPERATION(createSkillWebhook, SkillWebhookCreate, SkillWebhookRead, .body_optional = true)
{
	char *token = arena_alloc(c->arena, TOKEN_MAX), hash[65];
	struct id id = id_new(NULL);
	int64_t held = 0;
	int err = need_grant(c);

	if (!err)
		err = db_int(c->db, &sql[HOOK_COUNT], &held, ARGS(HERE));
	if (err)
		return err;
	if (held >= HOOKS_MAX)
		return call_fail(c, ERR_CONFLICT,
			"This skill has %d webhooks here, the most there may be.", HOOKS_MAX);
	token_new(TOKEN_HOOK, token);
	credential_hash(token, hash);
	schema_init(&SkillWebhookRead_schema, c->arena, out);
	out->id = arena_strdup(c->arena, id.text);
	out->agent_id = c->caller.agent_id;
	out->skill_id = call_param(c, "skill_id");
	out->label = in->label ? in->label : "Webhook";
	out->created_by_id = out->acts_as_id = c->caller.user_id;
	out->last_call_at.us = NIL;
	out->created_at.us = c->now;
	complete_skill_hook(c, out, token);
	c->audit.meta = arena_printf(c->arena, "{\"skill_id\":\"%s\"}", out->skill_id);
	err = db_put(c->db, &sql[HOOK_INSERT],
		&(struct skill_hook_row){ .tenant_id = c->caller.tenant_id,
			.id = out->id,
			.agent_id = out->agent_id,
			.skill_id = out->skill_id,
			.label = out->label,
			.created_by_id = out->created_by_id,
			.token_hash = hash,
			.key_id = c->caller.key_id,
			.created_at = c->now });
	return err ? err : hook_actor_problem(c, out->agent_id, out->id, &out->acts_as_problem);
}

OPERATION(deleteSkillWebhook, NONE, NONE)
{
	struct SkillWebhookRead hook;
	int err = find_skill_hook(c, &hook);

	if (!err)
		err = db_run(c->db, &sql[HOOK_REMOVE], NULL,
			ARGS(T(c->caller.tenant_id), T(hook.id), N(c->now)));
	if (!err)
		c->afterwards = gone_submit;
	return err;
}

static void show_call(const struct skill_call_row *row, struct SkillWebhookCallRead *ret)
{
	bool refused =
		row->status == DeliveryStatus_rejected || row->status == DeliveryStatus_blocked;

	schema_copy(&skill_call_row_schema, row, &SkillWebhookCallRead_schema, ret);
	ret->outcome = refused ? CallOutcome_rejected : CallOutcome_accepted;
	ret->reason = refused ? row->outcome : NULL;
}

LIST_OPERATION(listSkillWebhookCalls, NONE, SkillWebhookCallRead)
{
	struct SkillWebhookRead hook;
	struct SkillWebhookCallRead *shown;
	const struct skill_call_row *rows;
	int err = find_skill_hook(c, &hook);

	if (!err)
		err = call_list(c, &sql[CALL_LIST], ARGS(T(c->caller.tenant_id), T(hook.id)));
	if (err)
		return err;
	rows = c->items.at;
	shown = arena_array(c->arena, struct SkillWebhookCallRead, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++)
		show_call(&rows[i], &shown[i]);
	c->items.at = shown;
	return 0;
}

#define W "/tenant/{tenant_id}/agents/{agent_id}/skills/{skill_id}/webhooks"

static const struct route routes[] = {
	{ METHOD_GET, W, &listSkillWebhooks, PERM_AGENT_SKILLS_WRITE, 200, .tag = "Webhooks",
		.doc = "List the webhooks of an agent's skill, newest first." },
	{ METHOD_POST, W, &createSkillWebhook, PERM_AGENT_SKILLS_WRITE, 201, "skill_webhook.create",
		.tag = "Webhooks",
		.doc = "Make an address by which programs set the skill to work; its token is shown "
		       "once." },
	{ METHOD_DELETE, W "/{webhook_id}", &deleteSkillWebhook, PERM_AGENT_SKILLS_WRITE, 204,
		"skill_webhook.delete", .tag = "Webhooks",
		.doc = "Delete a webhook and its log; its token is worth nothing from then on." },
	{ METHOD_GET, W "/{webhook_id}/calls", &listSkillWebhookCalls, PERM_AGENT_SKILLS_WRITE, 200,
		.tag = "Webhooks",
		.doc = "List the calls of a webhook, accepted or rejected, newest first." },
};
RESOURCE(skill_hooks, routes, NULL, &skill_hook_sql);
