/* agent_models.c - an agent's chain of models, the grants it is made of, and the catalog people choose
 * from.  Whether a model can be called is the gate's to say: see broker/gate.h. */
#include <string.h>

#include "call/operation.h"
#include "api/models/models.h"
#include "broker/gate.h"
#include "broker/price.h"
#include "store/row.h"

enum { CHAIN_MAX = 5, PRIORITY_MAX = CHAIN_MAX - 1 };

struct choice_row {
	int status;
};

FIELDS(choice_row) = { FIELD(choice_row, status, .words = &ModelStatus_words) };
static SCHEMA(choice_row, .internal = true);

enum {
	CHAIN_LIST,
	CHAIN_READ,
	CHAIN_SIZE,
	CHAIN_END,
	GRANT_ADD,
	GRANT_CHANGE,
	GRANT_REMOVE,
	GRANT_REMOVE_ALL,
	MODEL_CHOICE,
};

struct chain_link {
	const char *tenant_id, *agent_id, *model_id, *access;
	int64_t priority, created_at;
};

FIELDS(chain_link) = {
	ROW_FIELDS(chain_link, tenant_id, agent_id, model_id, access, priority, created_at),
};
static SCHEMA(chain_link, .internal = true);

#define OF_AGENT "where tenant_id = $1 and agent_id = $2"

static const struct statement sql[] = {
	[CHAIN_LIST] = { "agent_model_list",
		"select {*} from agent_models " OF_AGENT " order by priority, created_at, model_id",
		.row = &AgentModelRead_schema },
	[CHAIN_READ] = { "agent_model_read",
		"select {*} from agent_models " OF_AGENT " and model_id = $3",
		.row = &AgentModelRead_schema },
	[CHAIN_SIZE] = { "agent_model_count", "select count(*) from agent_models " OF_AGENT },
	[CHAIN_END] = { "agent_model_end",
		"select coalesce(max(priority) + 1, 0) from agent_models " OF_AGENT },
	[GRANT_ADD] = { "agent_model_add", "insert into agent_models ({*}) values ({$})",
		.row = &chain_link_schema },
	[GRANT_CHANGE] = { "agent_model_change",
		"update agent_models set access = :access, priority = :priority "
		"where tenant_id = :tenant_id and agent_id = :agent_id and model_id = :model_id",
		.row = &chain_link_schema },
	[GRANT_REMOVE] = { "agent_model_remove",
		"delete from agent_models " OF_AGENT " and model_id = $3" },
	[GRANT_REMOVE_ALL] = { "agent_model_remove_all", "delete from agent_models " OF_AGENT },
	[MODEL_CHOICE] = { "model_choice",
		"select m.status from models m where m.id = $2 and (m.available_to_all_tenants = 1 or "
		"exists (select 1 from model_tenants e where e.tenant_id = $1 and e.model_id = m.id))",
		.row = &choice_row_schema },
};
STATEMENT_SET(agent_model_sql, sql);

/* ---- grants ---- */

/* ERR_NOT_FOUND if the tenant does not reach the model. */
static int find_choice(struct call *c, const char *model_id, struct choice_row *ret)
{
	return db_one(c->db, c->arena, &sql[MODEL_CHOICE], ret,
		ARGS(T(c->caller.tenant_id), T(model_id)));
}

static int read_agent_grant(struct call *c, const char *model_id, struct AgentModelRead *ret)
{
	return db_one(c->db, c->arena, &sql[CHAIN_READ], ret,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(model_id)));
}

static int put_grant(struct call *c, int statement, const struct AgentModelRead *g)
{
	return db_put(c->db, &sql[statement],
		&(struct chain_link){ .tenant_id = c->caller.tenant_id,
			.agent_id = g->agent_id,
			.model_id = g->model_id,
			.access = g->access,
			.priority = g->priority,
			.created_at = g->created_at.us });
}

static void note_agent_grant(struct call *c, const char *model_id)
{
	c->audit.resource_id = c->caller.agent_id;
	c->audit.meta = arena_printf(c->arena, "{\"model_id\":\"%s\"}", model_id);
}

/* The model must be one that can be chosen now. */
static int admit_model(struct call *c, const char *model_id)
{
	struct choice_row choice;
	int err = find_choice(c, model_id, &choice);

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such model here.");
	if (!err && !model_status_is_offered(choice.status))
		return call_fail(c, ERR_CONFLICT,
			"The model is %s; only active and experimental models can be granted.",
			ModelStatus_words.list[choice.status]);
	return err;
}

static int admit_one_more(struct call *c)
{
	int64_t size = 0;
	int err = db_int(c->db, &sql[CHAIN_SIZE], &size,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (!err && size >= CHAIN_MAX)
		return call_fail(c, ERR_CONFLICT,
			"The agent's chain has %d models, which is the most; take one out first.",
			CHAIN_MAX);
	return err;
}

/* A new grant at the place asked for, or a standing one changed to it. */
static int set_grant(struct call *c, const char *model_id, int access, int64_t priority,
	struct AgentModelRead *out)
{
	int err = admit_model(c, model_id);

	note_agent_grant(c, model_id);
	if (err)
		return err;
	err = read_agent_grant(c, model_id, out);
	c->standing = !err;
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (err) {
		err = admit_one_more(c);
		if (err)
			return err;
		*out = (struct AgentModelRead){ .agent_id = c->caller.agent_id,
			.model_id = model_id,
			.created_at = { c->now } };
	}
	out->access = ModelAccess_words.list[access];
	out->priority = priority;
	return put_grant(c, c->standing ? GRANT_CHANGE : GRANT_ADD, out);
}

static int remove_grant(struct call *c, const char *model_id)
{
	int64_t removed = 0;
	int err = db_run(c->db, &sql[GRANT_REMOVE], &removed,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(model_id)));

	note_agent_grant(c, model_id);
	if (!err && !removed)
		return call_fail(c, ERR_NOT_FOUND, "The agent has no grant on this model.");
	return err;
}

OPERATION(grantModelToAgent, AgentModelGrant, AgentModelRead, .key = "agent_id", .may_stand = true)
{
	return set_grant(c, call_param(c, "model_id"), in->access, in->priority, out);
}

OPERATION(revokeModelFromAgent, NONE, NONE)
{
	return remove_grant(c, call_param(c, "model_id"));
}

/* ---- the chain ---- */

LIST_OPERATION(listAgentModels, NONE, AgentModelRead, .key = "model_id")
{
	return call_short_list(c, &sql[CHAIN_LIST], CHAIN_MAX,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

/* Every item that cannot be chosen is named. */
static int check_agent_chain(struct call *c, const struct list *ids)
{
	const char *const *id = ids->at;

	for (size_t i = 0; id && i < ids->count; i++) {
		const char *field = arena_printf(c->arena, "model_ids[%zu]", i);
		struct choice_row choice;
		int err;

		if (!id[i]) /* of another type, and named for that */
			continue;
		err = find_choice(c, id[i], &choice);
		if (err == ERR_NOT_FOUND)
			call_field(c, field, "unknown", "is not a model that the tenant reaches");
		else if (err)
			return err;
		else if (!model_status_is_offered(choice.status))
			call_field(c, field, "status",
				"is %s; only active and experimental models can be chosen",
				ModelStatus_words.list[choice.status]);
	}
	return c->problem.err;
}

/* What stood keeps its access and its time; what is new may be called. */
static struct AgentModelRead link_for(
	struct call *c, const struct list *before, const char *model_id, int64_t priority)
{
	const struct AgentModelRead *standing = before->at;
	struct AgentModelRead link = { .agent_id = c->caller.agent_id,
		.model_id = model_id,
		.access = ModelAccess_words.list[ModelAccess_full],
		.created_at = { c->now } };

	for (size_t i = 0; i < before->count; i++)
		if (strcmp(standing[i].model_id, model_id) == 0)
			link = standing[i];
	link.priority = priority;
	return link;
}

static const char *chain_text(struct call *c, const struct list *links)
{
	const struct AgentModelRead *link = links->at;
	const char *out = "[";

	for (size_t i = 0; i < links->count; i++)
		out = arena_printf(c->arena, "%s%s\"%s\"", out, i ? "," : "", link[i].model_id);
	return arena_printf(c->arena, "%s]", out);
}

CHECK_STEP(setAgentModels, AgentModelChainUpdate)
{
	check_agent_chain(c, &in->model_ids);
}

REPLACE_OPERATION(setAgentModels, AgentModelChainUpdate, AgentModelRead, .key = "model_id",
	.check = setAgentModels_check)
{
	const char *const *ids = in->model_ids.at;
	struct AgentModelRead *links =
		arena_array(c->arena, struct AgentModelRead, in->model_ids.count);
	struct list before;
	int err = check_agent_chain(c, &in->model_ids);

	if (!err)
		err = db_all(c->db, c->arena, &sql[CHAIN_LIST], &before, CHAIN_MAX,
			ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
	if (!err)
		err = db_run(c->db, &sql[GRANT_REMOVE_ALL], NULL,
			ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
	for (size_t i = 0; !err && i < in->model_ids.count; i++) {
		links[i] = link_for(c, &before, ids[i], (int64_t)i);
		err = put_grant(c, GRANT_ADD, &links[i]);
	}
	if (err)
		return err;
	c->audit.meta = arena_printf(c->arena, "{\"model_ids\":{\"from\":%s,\"to\":%s}}",
		chain_text(c, &before),
		chain_text(c, &(struct list){ links, in->model_ids.count }));
	return listAgentModels_apply(c);
}

/* ---- the catalog ---- */

static const char *price_text(struct call *c, int64_t pd)
{
	char text[MONEY_TEXT_MAX];

	return pd == NIL ? NULL : arena_strdup(c->arena, money_text(pd, text));
}

static void show_catalog_model(
	struct call *c, const struct gate_facts *f, struct AgentCatalogModel *out)
{
	const struct gate_rule *refusal = gate_refusal(f);

	*out = (struct AgentCatalogModel){
		.model_id = f->model_id,
		.name = f->name,
		.kind = ModelKind_words.list[f->kind],
		.status = ModelStatus_words.list[f->status],
		.is_free = f->is_free,
		.enabled = f->access >= 0,
		.callable_via_router = gate_via_router(f),
		.callable = !refusal,
		.access = f->access < 0 ? NULL : ModelAccess_words.list[f->access],
		.priority = f->priority,
		.slug = f->slug,
		.description = f->description,
		.context_window = f->context_window,
		.prompt_price_usd_per_token = price_text(c, f->prompt_pd),
		.completion_price_usd_per_token = price_text(c, f->completion_pd),
		.supports_tools = f->supports_tools,
		.supports_vision = f->supports_vision,
		.uncallable_reason = refusal ? refusal->sentence : NULL,
		.user_granted = gate_user_granted(f),
	};
}

LIST_OPERATION(listAgentCatalog, NONE, AgentCatalogModel, .key = "model_id")
{
	const struct gate_who who = { c->caller.tenant_id, c->caller.agent_id, c->caller.user_id };
	struct AgentCatalogModel *shown;
	struct gate_moment moment;
	int err =
		call_list(c, gate_catalog, ARGS(T(who.tenant_id), T(who.agent_id), T(who.user_id)));

	if (!err)
		err = gate_moment_load(c->db, c->arena, &who, c->now, &moment);
	if (err)
		return err;
	shown = arena_array(c->arena, struct AgentCatalogModel, c->items.count + 1);
	for (size_t i = 0; i < c->items.count; i++) {
		struct gate_facts *f = (struct gate_facts *)c->items.at + i;

		f->moment = &moment;
		show_catalog_model(c, f, &shown[i]);
	}
	c->items.at = shown;
	return 0;
}

OPERATION(enableCatalogModel, NONE, AgentCatalogToggle, .may_stand = true)
{
	const char *model_id = call_param(c, "model_id");
	struct AgentModelRead grant;
	int64_t end = 0;
	int err = read_agent_grant(c, model_id, &grant);

	*out = (struct AgentCatalogToggle){ model_id, c->caller.agent_id, true };
	note_agent_grant(c, model_id);
	c->standing = !err;
	if (err != ERR_NOT_FOUND)
		return err;
	err = db_int(
		c->db, &sql[CHAIN_END], &end, ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
	return err ? err
		   : set_grant(c, model_id, ModelAccess_full,
			     end < PRIORITY_MAX ? end : PRIORITY_MAX, &grant);
}

OPERATION(disableCatalogModel, NONE, NONE)
{
	return remove_grant(c, call_param(c, "model_id"));
}

#define A "/tenant/{tenant_id}/agents/{agent_id}"
#define TM "/tenant/{tenant_id}/models/{model_id}"

static const struct route routes[] = {
	{ METHOD_GET, A "/models", &listAgentModels, PERM_AGENT_READ, 200, .tag = "Models",
		.doc = "List the agent's chain: the first is called, the next when it fails." },
	{ METHOD_PUT, A "/models", &setAgentModels, PERM_AGENT_MODELS_WRITE, 200,
		"agent.set_models", .tag = "Models",
		.doc = "Replace the chain. Models that stay keep their access; new ones may be called." },
	{ METHOD_GET, A "/models/catalog", &listAgentCatalog, PERM_AGENT_READ, 200, .tag = "Models",
		.doc = "List the models the tenant reaches, newest first, each with whether this agent, "
		       "driven by you, could call it now, and why not." },
	{ METHOD_PUT, A "/models/catalog/{model_id}", &enableCatalogModel, PERM_AGENT_MODELS_WRITE,
		201, "agent_model.grant", .tag = "Models",
		.doc = "Put a model at the end of the agent's chain, if it is not in it." },
	{ METHOD_DELETE, A "/models/catalog/{model_id}", &disableCatalogModel,
		PERM_AGENT_MODELS_WRITE, 204, "agent_model.revoke", .tag = "Models",
		.doc = "Take a model out of the agent's chain." },
	{ METHOD_POST, TM "/agents", &grantModelToAgent, PERM_AGENT_MODELS_WRITE, 201,
		"agent_model.grant", .tag = "Models", .agent_in_body = true,
		.doc = "Give an agent the use of a model; a standing grant takes on the access and the "
		       "priority that are sent." },
	{ METHOD_DELETE, TM "/agents/{agent_id}", &revokeModelFromAgent, PERM_AGENT_MODELS_WRITE,
		204, "agent_model.revoke", .tag = "Models",
		.doc = "Revoke an agent's grant on a model." },
};
RESOURCE(agent_models, routes, NULL, &agent_model_sql);
