/* integrations.c - what may send events to a tenant's agents: the rows, their guardrails and secrets.
 *
 * A secret is shown once, when it is made or changed, and sealed.  Whoever
 * changes one may let the former count for a while; it is an act of its own
 * in the audit log. */
#include "api/integrations.h"

#include <string.h>

#include "api/api.h"
#include "api/hook.h"
#include "base/clock.h"
#include "contract/encode.h"
#include "outside/webhook.h"
#include "store/listing.h"

enum { RAILS_MAX = 128 * 1024 };

struct integration_row {
	const char *tenant_id, *id, *agent_id;
	int provider;
	const char *label;
	bool is_active;
	int64_t revision;
	struct moment before_until, last_event_at;
	const char *created_by_id;
	struct moment created_at, updated_at;
	const char *delivery_id_header, *sealed, *instructions;
	struct json guardrails;
};

FIELDS(integration_row) = {
	FIELD(integration_row, tenant_id),
	FIELD(integration_row, id),
	FIELD(integration_row, agent_id),
	FIELD(integration_row, provider, .words = &IntegrationProvider_words),
	FIELD(integration_row, label),
	FIELD(integration_row, is_active),
	FIELD(integration_row, revision),
	FIELD(integration_row, before_until, .nullable = true),
	FIELD(integration_row, last_event_at, .nullable = true),
	FIELD(integration_row, created_by_id, .nullable = true),
	FIELD(integration_row, created_at),
	FIELD(integration_row, updated_at),
	FIELD(integration_row, delivery_id_header, .nullable = true),
	FIELD(integration_row, sealed, .secret = true),
	FIELD(integration_row, instructions, .nullable = true),
	FIELD(integration_row, guardrails),
};
static SCHEMA(integration_row, .internal = true);

struct integration_query {
	const char *agent_id;
};

FIELDS(integration_query) = {
	FIELD(integration_query, agent_id, .nullable = true, .id = true,
		.doc = "Only those of this agent."),
};
static SCHEMA(integration_query, .doc = "Filters of the list of integrations.");

#define LIST_FROM                                                       \
	"integrations i where i.tenant_id = $1 and i.skill_id is null " \
	"and (cast($2 as text) is null or i.agent_id = $2)"

enum {
	INTEGRATION_LIST,
	INTEGRATION_ROW = INTEGRATION_LIST + LIST_SORTS,
	INTEGRATION_INSERT,
	INTEGRATION_UPDATE,
	INTEGRATION_REMOVE,
	INTEGRATION_COUNT,
	AGENT_THERE,
};

enum { INTEGRATIONS_MAX = 1000 };

static const struct statement sql[] = {
	LIST_STATEMENTS(
		"integration_list", &integration_row_schema, "{i.*}", LIST_FROM, "i.id", "3", "4"),
	[INTEGRATION_ROW] = { "integration_row",
		"select {*} from integrations where tenant_id = $1 and id = $2 and skill_id is null",
		.row = &integration_row_schema },
	[INTEGRATION_INSERT] = { "integration_insert",
		"insert into integrations ({*}) values ({$})", .row = &integration_row_schema },
	[INTEGRATION_UPDATE] = { "integration_update",
		"update integrations set {=} where tenant_id = {$tenant_id} and id = {$id}",
		.row = &integration_row_schema },
	[INTEGRATION_REMOVE] = { "integration_remove",
		"delete from integrations where tenant_id = $1 and id = $2" },
	[INTEGRATION_COUNT] = { "integration_count",
		"select count(*) from integrations where tenant_id = $1" },
	[AGENT_THERE] = { "integration_agent",
		"select count(*) from agents where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(integration_sql, sql);

/* ---- in and out ---- */

static const char *rails_text(struct call *c, const struct IntegrationGuardrails *rails)
{
	struct buf b;
	const char *text;

	if (!rails)
		return "{}";
	buf_init(&b, RAILS_MAX);
	encode_object(&b, &IntegrationGuardrails_schema, rails);
	text = arena_strndup(c->arena, b.at, b.len);
	buf_free(&b);
	return text;
}

static void show(struct call *c, const struct integration_row *row, const char *secret,
	struct IntegrationRead *ret)
{
	schema_init(&IntegrationRead_schema, c->arena, ret);
	schema_copy(&integration_row_schema, row, &IntegrationRead_schema, ret);
	ret->guardrails = hook_rails(c->app->patterns, c->arena, row->guardrails.text);
	ret->connected = row->is_active && row->last_event_at.us != NIL;
	ret->webhook_url =
		arena_printf(c->arena, "%s/hooks/%s", c->app->settings.public_url, row->id);
	ret->signing_secret = secret;
	ret->grace_until.us = row->before_until.us != NIL && row->before_until.us > c->now
				      ? row->before_until.us
				      : NIL;
}

static int find(struct call *c, struct integration_row *ret)
{
	int err = db_one(c->db, c->arena, &sql[INTEGRATION_ROW], ret,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "integration_id"))));

	c->audit.resource_id = call_param(c, "integration_id");
	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such integration.") : err;
}

static int check_agent(struct call *c, const char *agent_id)
{
	int64_t there = 0;
	int err =
		db_int(c->db, &sql[AGENT_THERE], &there, ARGS(T(c->caller.tenant_id), T(agent_id)));

	if (!err && !there)
		call_field(c, "agent_id", "unknown", "must be an agent of this tenant");
	return err;
}

static void check_header(struct call *c, int provider, const char *name)
{
	if (name && provider != WEBHOOK_GENERIC)
		call_field(c, "delivery_id_header", "combination", "is for provider generic only");
}

/* The one that was given, if it will do, or a new one. */
static const char *choose_secret(struct call *c, int provider, const char *given)
{
	const struct webhook_provider *p = &webhook_providers[provider];
	const char *fault = given ? webhook_secret_fault(p, given) : NULL;

	if (fault)
		call_field(c, "signing_secret", "format", "%s", fault);
	return given ? given : webhook_secret_new(p, c->arena);
}

static int check_room(struct call *c)
{
	int64_t held = 0;
	int err = db_int(c->db, &sql[INTEGRATION_COUNT], &held, ARGS(T(c->caller.tenant_id)));

	if (!err && held >= INTEGRATIONS_MAX)
		return call_fail(c, ERR_CONFLICT,
			"This tenant has %d integrations and webhooks, the most there may be.",
			INTEGRATIONS_MAX);
	return err;
}

/* ---- the operations ---- */

OPERATION(listIntegrations, .list = true, .reply = &IntegrationRead_schema,
	.query = &integration_query_schema)
{
	const struct integration_query *in = c->query;
	const struct integration_row *row;
	struct IntegrationRead *shown;
	int err =
		call_list(c, &sql[INTEGRATION_LIST], ARGS(T(c->caller.tenant_id), T(in->agent_id)));

	if (err)
		return err;
	row = c->items.at;
	shown = arena_array(c->arena, struct IntegrationRead, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++)
		show(c, &row[i], NULL, &shown[i]);
	c->items.at = shown;
	return 0;
}

OPERATION(createIntegration, .body = &IntegrationCreate_schema, .reply = &IntegrationRead_schema)
{
	const struct IntegrationCreate *in = c->body;
	struct id id = id_new(NULL);
	struct integration_row row;
	const char *secret;
	int err = check_agent(c, in->agent_id);

	if (err)
		return err;
	secret = choose_secret(c, in->provider, in->signing_secret);
	check_header(c, in->provider, in->delivery_id_header);
	if (c->problem.err)
		return c->problem.err;
	err = check_room(c);
	if (err)
		return err;
	schema_init(&integration_row_schema, c->arena, &row);
	schema_copy(&IntegrationCreate_schema, in, &integration_row_schema, &row);
	row.tenant_id = c->caller.tenant_id;
	row.id = c->audit.resource_id = arena_strdup(c->arena, id.text);
	row.revision = 1;
	row.before_until.us = row.last_event_at.us = NIL;
	row.created_by_id = c->caller.user_id;
	row.created_at.us = row.updated_at.us = c->now;
	row.guardrails.text = rails_text(c, in->guardrails);
	row.sealed = hook_seal(c->app->vault, c->arena, row.id, secret, NULL);
	show(c, &row, secret, c->reply);
	c->audit.agent_id = row.agent_id;
	c->audit.meta = arena_printf(
		c->arena, "{\"provider\":\"%s\"}", IntegrationProvider_words.list[row.provider]);
	c->location = arena_printf(c->arena, "/tenant/%s/integrations/%s", row.tenant_id, row.id);
	return db_put(c->db, c->arena, &sql[INTEGRATION_INSERT], &row);
}

OPERATION(readIntegration, .reply = &IntegrationRead_schema)
{
	struct integration_row row;
	int err = find(c, &row);

	if (!err)
		show(c, &row, NULL, c->reply);
	return err;
}

static int store_change(struct call *c, const struct integration_row *before,
	struct integration_row *after, const char *secret)
{
	after->revision = before->revision + 1;
	after->updated_at.us = c->now > before->updated_at.us ? c->now : before->updated_at.us + 1;
	show(c, after, secret, c->reply);
	return db_put(c->db, c->arena, &sql[INTEGRATION_UPDATE], after);
}

OPERATION(updateIntegration, .body = &IntegrationUpdate_schema, .reply = &IntegrationRead_schema)
{
	const struct IntegrationUpdate *in = c->body;
	struct integration_row before, after;
	int err = find(c, &before);

	if (err)
		return err;
	after = before;
	schema_patch(&IntegrationUpdate_schema, in, &integration_row_schema, &after);
	if (schema_got(&IntegrationUpdate_schema, in, "guardrails"))
		after.guardrails.text = rails_text(c, in->guardrails);
	check_header(c, after.provider, after.delivery_id_header);
	if (strcmp(after.agent_id, before.agent_id) != 0)
		err = check_agent(c, after.agent_id);
	if (err || c->problem.err)
		return err ? err : c->problem.err;
	call_changed(c, &integration_row_schema, &before, &after);
	return store_change(c, &before, &after, NULL);
}

OPERATION(deleteIntegration)
{
	struct integration_row row;
	int err = find(c, &row);

	return err ? err
		   : db_run(c->db, &sql[INTEGRATION_REMOVE], NULL,
			     ARGS(T(row.tenant_id), T(row.id)));
}

OPERATION(rotateIntegrationSecret, .body = &IntegrationRotate_schema, .body_optional = true,
	.reply = &IntegrationRead_schema)
{
	const struct IntegrationRotate *in = c->body;
	struct integration_row before, after;
	const char *secret, *former[HOOK_SECRETS];
	size_t count = 0;
	int err = find(c, &before);

	if (err)
		return err;
	secret = choose_secret(c, before.provider, in->signing_secret);
	if (c->problem.err)
		return c->problem.err;
	after = before;
	if (in->grace_s)
		count = hook_secrets(c->app->vault, c->arena,
			&(struct hook){
				.id = before.id, .sealed = before.sealed, .before_until = NIL },
			c->now, former);
	after.sealed =
		hook_seal(c->app->vault, c->arena, before.id, secret, count ? former[0] : NULL);
	after.before_until.us = count ? c->now + in->grace_s * SECOND_US : NIL;
	c->audit.meta = arena_printf(c->arena, "{\"grace_s\":%lld}", (long long)in->grace_s);
	return store_change(c, &before, &after, secret);
}

#define I "/tenant/{tenant_id}/integrations"

static const struct route routes[] = {
	{ METHOD_GET, I, &listIntegrations, PERM_INTEGRATIONS_WRITE, 200, .tag = "Webhooks",
		.doc = "List the integrations of the tenant, newest first." },
	{ METHOD_POST, I, &createIntegration, PERM_INTEGRATIONS_WRITE, 201, "integration.create",
		.tag = "Webhooks",
		.doc = "Make an address for a service's events; its signing secret is shown once." },
	{ METHOD_GET, I "/{integration_id}", &readIntegration, PERM_INTEGRATIONS_WRITE, 200,
		.tag = "Webhooks", .doc = "Read an integration." },
	{ METHOD_PATCH, I "/{integration_id}", &updateIntegration, PERM_INTEGRATIONS_WRITE, 200,
		"integration.update", .tag = "Webhooks",
		.doc = "Change the fields that are sent." },
	{ METHOD_DELETE, I "/{integration_id}", &deleteIntegration, PERM_INTEGRATIONS_WRITE, 204,
		"integration.delete", .tag = "Webhooks",
		.doc = "Delete an integration and its log; what it sends is rejected from then on." },
	{ METHOD_POST, I "/{integration_id}/rotate-secret", &rotateIntegrationSecret,
		PERM_INTEGRATIONS_WRITE, 200, "integration.rotate_secret", .tag = "Webhooks",
		.doc = "Change the signing secret; the new one is shown once. The former stops at "
		       "once, or after grace_s." },
};
RESOURCE(integrations, routes, integrations_schemas);
