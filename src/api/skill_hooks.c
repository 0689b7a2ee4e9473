/* skill_hooks.c - webhooks of an agent's skills: addresses with a token, by which programs set a skill to
 * work, and the log of their calls. */
#include <string.h>

#include "api/api.h"
#include "api/hook.h"
#include "base/crypto.h"
#include "store/listing.h"

#define TOKEN_HOOK "lodge_hook_"

enum { HOOKS_MAX = 50 }; /* of one skill of one agent */

#define COLUMNS                                                                       \
	"i.id, i.agent_id, i.skill_id, i.label, i.created_by_id, i.last_event_at as " \
	"last_call_at, i.created_at"
#define HOOKS_FROM "integrations i where i.tenant_id = $1 and i.agent_id = $2 and i.skill_id = $3"
#define CALLS_FROM "deliveries d where d.tenant_id = $1 and d.integration_id = $2"

/* A call as its row has it; what is shown is made of it. */
struct call_row {
	const char *id, *webhook_id;
	int status;
	const char *outcome, *caller_ip, *user_agent;
	int64_t calls;
	const char *session_id, *error;
	struct moment created_at, delivered_at;
};

FIELDS(call_row) = {
	FIELD(call_row, id),
	FIELD(call_row, webhook_id),
	FIELD(call_row, status, .words = &DeliveryStatus_words),
	FIELD(call_row, outcome),
	FIELD(call_row, caller_ip, .nullable = true),
	FIELD(call_row, user_agent, .nullable = true),
	FIELD(call_row, calls),
	FIELD(call_row, session_id, .nullable = true),
	FIELD(call_row, error, .nullable = true),
	FIELD(call_row, created_at),
	FIELD(call_row, delivered_at, .nullable = true),
};
static SCHEMA(call_row, .internal = true);

enum {
	HOOK_LIST,
	CALL_LIST = HOOK_LIST + LIST_SORTS,
	HOOK_READ = CALL_LIST + LIST_SORTS,
	HOOK_INSERT,
	HOOK_REMOVE,
	HOOK_COUNT,
	GRANT_THERE,
};

static const struct statement sql[] = {
	LIST_STATEMENTS(
		"skill_hook_list", &SkillWebhookRead_schema, COLUMNS, HOOKS_FROM, "i.id", "4", "5"),
	LIST_STATEMENTS("skill_call_list", &call_row_schema,
		"d.id, d.integration_id as webhook_id, d.status, d.outcome, d.caller_ip, "
		"d.user_agent, d.calls, d.made_session_id as session_id, d.error, d.created_at, "
		"d.delivered_at",
		CALLS_FROM, "d.id", "3", "4"),
	[HOOK_READ] = { "skill_hook_read", "select " COLUMNS " from " HOOKS_FROM " and i.id = $4",
		.row = &SkillWebhookRead_schema },
	[HOOK_INSERT] = { "skill_hook_insert",
		"insert into integrations (tenant_id, id, agent_id, skill_id, provider, label, "
		"is_active, created_by_id, created_at, updated_at, token_hash) "
		"values ($1, $2, $3, $4, 'skill', $5, 1, $6, $7, $7, $8)" },
	[HOOK_REMOVE] = { "skill_hook_remove",
		"delete from integrations where tenant_id = $1 and id = $2" },
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

static int find(struct call *c, struct SkillWebhookRead *ret)
{
	int err = db_one(
		c->db, c->arena, &sql[HOOK_READ], ret, ARGS(HERE, T(call_param(c, "webhook_id"))));

	c->audit.resource_id = call_param(c, "webhook_id");
	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such webhook.") : err;
}

static void complete(struct call *c, struct SkillWebhookRead *hook, const char *token)
{
	hook->url =
		arena_printf(c->arena, "%s/hooks/skills/%s", c->app->settings.public_url, hook->id);
	hook->token = token;
}

OPERATION(listSkillWebhooks, .list = true, .reply = &SkillWebhookRead_schema)
{
	struct SkillWebhookRead *hooks;
	int err = need_grant(c);

	if (!err)
		err = call_list(c, &sql[HOOK_LIST], ARGS(HERE));
	hooks = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++)
		complete(c, &hooks[i], NULL);
	return err;
}

OPERATION(createSkillWebhook, .body = &SkillWebhookCreate_schema, .body_optional = true,
	.reply = &SkillWebhookRead_schema)
{
	const struct SkillWebhookCreate *in = c->body;
	struct SkillWebhookRead *out = c->reply;
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
	out->id = c->audit.resource_id = arena_strdup(c->arena, id.text);
	out->agent_id = c->caller.agent_id;
	out->skill_id = call_param(c, "skill_id");
	out->label = in->label ? in->label : "Webhook";
	out->created_by_id = c->caller.user_id;
	out->last_call_at.us = NIL;
	out->created_at.us = c->now;
	complete(c, out, token);
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s/skills/%s/webhooks/%s",
		c->caller.tenant_id, out->agent_id, out->skill_id, out->id);
	c->audit.meta = arena_printf(c->arena, "{\"skill_id\":\"%s\"}", out->skill_id);
	return db_run(c->db, &sql[HOOK_INSERT], NULL,
		ARGS(T(c->caller.tenant_id), T(out->id), T(out->agent_id), T(out->skill_id),
			T(out->label), T(out->created_by_id), N(c->now), T(hash)));
}

OPERATION(deleteSkillWebhook)
{
	struct SkillWebhookRead hook;
	int err = find(c, &hook);

	return err ? err
		   : db_run(c->db, &sql[HOOK_REMOVE], NULL,
			     ARGS(T(c->caller.tenant_id), T(hook.id)));
}

static void show_call(const struct call_row *row, struct SkillWebhookCallRead *ret)
{
	bool refused =
		row->status == DeliveryStatus_rejected || row->status == DeliveryStatus_blocked;

	schema_copy(&call_row_schema, row, &SkillWebhookCallRead_schema, ret);
	ret->outcome = refused ? CallOutcome_rejected : CallOutcome_accepted;
	ret->reason = refused ? row->outcome : NULL;
}

OPERATION(listSkillWebhookCalls, .list = true, .reply = &SkillWebhookCallRead_schema)
{
	struct SkillWebhookRead hook;
	struct SkillWebhookCallRead *shown;
	const struct call_row *rows;
	int err = find(c, &hook);

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
RESOURCE(skill_hooks, routes, NULL);
