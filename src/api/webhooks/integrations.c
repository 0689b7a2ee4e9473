/* integrations.c - what may send events to a tenant's agents: the rows, their guardrails and secrets.
 *
 * A secret is shown once, when it is made or changed, and sealed.  Whoever
 * changes one may let the former count for a while; it is an act of its own
 * in the audit log. */
#include "api/webhooks/integrations.h"

#include <string.h>

#include "access/sealed.h"
#include "call/operation.h"
#include "api/erasure/gone.h"
#include "webhooks/hook.h"
#include "base/clock.h"
#include "contract/encode.h"
#include "outside/webhook.h"
#include "sessions/actor.h"
#include "store/listing.h"

enum { RAILS_MAX = 128 * 1024 };

struct integration_row {
	const char *tenant_id, *id, *agent_id;
	int provider;
	const char *label;
	bool is_active;
	int64_t revision;
	struct moment before_until, last_event_at;
	const char *acts_as_id, *key_id, *created_by_id;
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
	FIELD(integration_row, acts_as_id, .nullable = true),
	FIELD(integration_row, key_id, .nullable = true),
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
	LIST_OF(INTEGRATION_LIST),
	INTEGRATION_ROW,
	INTEGRATION_INSERT,
	INTEGRATION_UPDATE,
	INTEGRATION_REMOVE,
	INTEGRATION_COUNT,
	AGENT_THERE,
};

enum { INTEGRATIONS_MAX = 1000 };

static const struct statement sql[] = {
	LISTING(INTEGRATION_LIST, "integration_list", &integration_row_schema, "{i.*}", LIST_FROM,
		"i.id"),
	[INTEGRATION_ROW] = { "integration_row",
		"select {*} from integrations where tenant_id = $1 and id = $2 and skill_id is null",
		.row = &integration_row_schema },
	[INTEGRATION_INSERT] = { "integration_insert",
		"insert into integration_rows ({*}) values ({$})", .row = &integration_row_schema },
	[INTEGRATION_UPDATE] = { "integration_update",
		"update integration_rows set {=} where tenant_id = :tenant_id and id = :id",
		.row = &integration_row_schema },
	[INTEGRATION_REMOVE] = { "integration_remove", HOOK_REMOVE_SQL },
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

	if (!rails)
		return "{}";
	buf_init(&b, RAILS_MAX);
	encode_object(&b, &IntegrationGuardrails_schema, rails);
	return arena_take(c->arena, &b);
}

int hook_actor_problem(struct call *c, const char *agent_id, const char *id, const char **ret)
{
	struct problem lost = { 0 };
	struct actor actor;
	int err = actor_of_hook(
		c->db, c->arena, c->caller.tenant_id, agent_id, id, c->now, &actor, &lost);

	*ret = err && lost.err == err ? lost.detail : NULL;
	return *ret ? 0 : err;
}

/* After the row's being stored. */
static int show_actor(struct call *c, struct IntegrationRead *ret)
{
	return hook_actor_problem(c, ret->agent_id, ret->id, &ret->acts_as_problem);
}

static void show_integration(struct call *c, const struct integration_row *row, const char *secret,
	struct IntegrationRead *ret)
{
	schema_init(&IntegrationRead_schema, c->arena, ret);
	schema_copy(&integration_row_schema, row, &IntegrationRead_schema, ret);
	ret->guardrails = hook_rails(c->app->patterns, c->arena, row->guardrails.text);
	ret->connected = row->is_active && row->last_event_at.us != NIL &&
			 strcmp(row->sealed, SEALED_GONE) != 0;
	ret->webhook_url =
		arena_printf(c->arena, "%s/hooks/%s", c->app->settings.public_url, row->id);
	ret->signing_secret = secret;
	ret->grace_until.us = row->before_until.us != NIL && row->before_until.us > c->now
				      ? row->before_until.us
				      : NIL;
}

static int find_integration(struct call *c, struct integration_row *ret)
{
	int err = db_one(c->db, c->arena, &sql[INTEGRATION_ROW], ret,
		ARGS(T(c->caller.tenant_id), T(call_param(c, "integration_id"))));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such integration.") : err;
}

static int check_integration_agent(struct call *c, const char *agent_id)
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

static int check_integration_room(struct call *c)
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

LIST_OPERATION(listIntegrations, integration_query, IntegrationRead)
{
	const struct integration_row *row;
	struct IntegrationRead *shown;
	int err =
		call_list(c, &sql[INTEGRATION_LIST], ARGS(T(c->caller.tenant_id), T(in->agent_id)));

	if (err)
		return err;
	row = c->items.at;
	shown = arena_array(c->arena, struct IntegrationRead, c->items.count + 1);
	for (size_t i = 0; !err && i < c->items.count; i++) {
		show_integration(c, &row[i], NULL, &shown[i]);
		err = show_actor(c, &shown[i]);
	}
	c->items.at = shown;
	return err;
}

CHECK_STEP(createIntegration, IntegrationCreate)
{
	if (in->agent_id)
		check_integration_agent(c, in->agent_id);
	if (in->provider < 0)
		return;
	choose_secret(c, in->provider, in->signing_secret);
	check_header(c, in->provider, in->delivery_id_header);
}

OPERATION(createIntegration, IntegrationCreate, IntegrationRead, .check = createIntegration_check)
{
	struct id id = id_new(NULL);
	struct integration_row row;
	const char *secret;
	int err = check_integration_agent(c, in->agent_id);

	if (err)
		return err;
	secret = choose_secret(c, in->provider, in->signing_secret);
	check_header(c, in->provider, in->delivery_id_header);
	if (c->problem.err)
		return c->problem.err;
	err = check_integration_room(c);
	if (err)
		return err;
	schema_init(&integration_row_schema, c->arena, &row);
	schema_copy(&IntegrationCreate_schema, in, &integration_row_schema, &row);
	row.tenant_id = c->caller.tenant_id;
	row.id = arena_strdup(c->arena, id.text);
	row.revision = 1;
	row.before_until.us = row.last_event_at.us = NIL;
	row.created_by_id = row.acts_as_id = c->caller.user_id;
	row.key_id = c->caller.key_id;
	row.created_at.us = row.updated_at.us = c->now;
	row.guardrails.text = rails_text(c, in->guardrails);
	row.sealed = hook_seal(c->app->vault, c->arena, row.id, secret, NULL);
	if (!row.sealed)
		return ERR_KEY;
	show_integration(c, &row, secret, out);
	c->audit.agent_id = row.agent_id;
	c->audit.meta = arena_printf(
		c->arena, "{\"provider\":\"%s\"}", IntegrationProvider_words.list[row.provider]);
	err = db_put(c->db, &sql[INTEGRATION_INSERT], &row);
	return err ? err : show_actor(c, out);
}

OPERATION(readIntegration, NONE, IntegrationRead)
{
	struct integration_row row;
	int err = find_integration(c, &row);

	if (err)
		return err;
	show_integration(c, &row, NULL, out);
	return show_actor(c, out);
}

static int store_change(struct call *c, const struct integration_row *before,
	struct integration_row *after, const char *secret, struct IntegrationRead *out)
{
	int err = call_update(c, CHANGE(integration_row, before, after), NULL);

	after->revision = before->revision + 1;
	show_integration(c, after, secret, out);
	if (!err)
		err = db_put(c->db, &sql[INTEGRATION_UPDATE], after);
	return err ? err : show_actor(c, out);
}

/* Whoever changes what it does, or knows its secret anew, answers for it from then on: nobody directs
 * another's rights.  To those of a key that stood before, the same person's login adds nothing. */
static void answer_for(struct call *c, struct integration_row *after)
{
	bool same = after->acts_as_id && strcmp(after->acts_as_id, c->caller.user_id) == 0;

	after->acts_as_id = c->caller.user_id;
	if (!same || c->caller.key_id)
		after->key_id = c->caller.key_id;
}

/* All but its name does something, and so does switching it on. */
static bool is_directed(const struct IntegrationUpdate *in)
{
	static const char *const fields[] = { "agent_id", "guardrails", "delivery_id_header",
		"instructions" };

	if (schema_present(&IntegrationUpdate_schema, in, "is_active") && in->is_active)
		return true;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (schema_present(&IntegrationUpdate_schema, in, fields[i]))
			return true;
	return false;
}

static void check_integration_actor(struct call *c, const char *user_id)
{
	if (!user_id || strcmp(user_id, c->caller.user_id) != 0)
		call_field(c, "acts_as_id", "choice",
			"must be yourself: nobody lends another's rights");
}

/* It acts as the caller from now on, and with no more than the credential of this call. */
static void take_over_integration(struct call *c, struct integration_row *after)
{
	check_integration_actor(c, after->acts_as_id);
	after->key_id = c->caller.key_id;
}

CHECK_STEP(updateIntegration, IntegrationUpdate)
{
	struct integration_row row;

	if (find_integration(c, &row))
		return;
	check_header(c, row.provider, in->delivery_id_header);
	if (in->agent_id)
		check_integration_agent(c, in->agent_id);
	if (in->acts_as_id)
		check_integration_actor(c, in->acts_as_id);
}

OPERATION(updateIntegration, IntegrationUpdate, IntegrationRead, .check = updateIntegration_check)
{
	struct integration_row before, after;
	int err = find_integration(c, &before);

	if (err)
		return err;
	call_merge(c, CHANGE(integration_row, &before, &after));
	if (schema_present(&IntegrationUpdate_schema, in, "guardrails"))
		after.guardrails.text = rails_text(c, in->guardrails);
	check_header(c, after.provider, after.delivery_id_header);
	if (schema_present(&IntegrationUpdate_schema, in, "acts_as_id"))
		take_over_integration(c, &after);
	else if (is_directed(in))
		answer_for(c, &after);
	if (strcmp(after.agent_id, before.agent_id) != 0)
		err = check_integration_agent(c, after.agent_id);
	if (err || c->problem.err)
		return err ? err : c->problem.err;
	return store_change(c, &before, &after, NULL, out);
}

OPERATION(deleteIntegration, NONE, NONE)
{
	struct integration_row row;
	int err = find_integration(c, &row);

	if (!err)
		err = db_run(c->db, &sql[INTEGRATION_REMOVE], NULL,
			ARGS(T(row.tenant_id), T(row.id), N(c->now)));
	if (!err)
		c->afterwards = gone_submit;
	return err;
}

CHECK_STEP(rotateIntegrationSecret, IntegrationRotate)
{
	struct integration_row row;

	if (in->signing_secret && !find_integration(c, &row))
		choose_secret(c, row.provider, in->signing_secret);
}

OPERATION(rotateIntegrationSecret, IntegrationRotate, IntegrationRead, .body_optional = true,
	.check = rotateIntegrationSecret_check)
{
	struct integration_row before, after;
	const char *secret, *former[HOOK_SECRETS];
	size_t count = 0;
	int err = find_integration(c, &before);

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
	if (!after.sealed)
		return ERR_KEY;
	after.before_until.us = count ? c->now + in->grace_s * SECOND_US : NIL;
	answer_for(c, &after);
	err = store_change(c, &before, &after, secret, out);
	c->audit.meta = arena_printf(c->arena, "{\"grace_s\":%lld}", (long long)in->grace_s);
	return err;
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
RESOURCE(integrations, routes, NULL, &integration_sql);
