/* gateway_models.c - the OpenAI-style list of models: the agents that the caller reaches, and the models
 * that may be called; and what such a name means. */
#include <string.h>

#include "base/utf8_cut.h"
#include "call/operation.h"
#include "openai/gateway.h"
#include "base/clock.h"
#include "broker/gate.h"

#define AGENT_PREFIX "agent:"

enum { AGENTS_MAX = 10000 };

FIELDS(OpenAIModel) = {
	FIELD(OpenAIModel, id, .required = true,
		.doc = "What to give as model: agent: and an agent's slug, or a model's slug."),
	FIELD(OpenAIModel, object, .constant = "model", .doc = "Always model."),
	FIELD(OpenAIModel, created, .required = true, .doc = "Unix time in seconds."),
	FIELD(OpenAIModel, owned_by, .required = true,
		.doc = "The tenant's id for an agent, lodge for a model."),
};
SCHEMA(OpenAIModel, .doc = "Something that can be called under this name.");

FIELDS(OpenAIModelList) = {
	FIELD(OpenAIModelList, object, .constant = "list", .doc = "Always list."),
	FIELD(OpenAIModelList, data, .required = true, .item = OBJECT, .of = &OpenAIModel_schema,
		.doc = "Agents first, then models, each newest first."),
};
SCHEMA(OpenAIModelList, .doc = "All that can be called.");

struct named_row {
	const char *id, *slug, *description_prompt, *voice;
};

FIELDS(named_row) = {
	FIELD(named_row, id),
	FIELD(named_row, slug),
	FIELD(named_row, description_prompt, .nullable = true),
	FIELD(named_row, voice, .nullable = true),
};
static SCHEMA(named_row, .internal = true);

enum {
	TENANT_BY_SLUG,
	TENANTS_OF_USER,
	AGENT_BY_ID,
	AGENT_BY_SLUG,
	MODEL_BY_SLUG,
	AGENTS_REACHED,
};

#define NAMED "select id, slug, description_prompt, voice from agents "

static const struct statement sql[] = {
	[TENANT_BY_SLUG] = { "gateway_tenant_by_slug",
		"select id as value from tenants where slug = $1", .row = &one_text_schema },
	[TENANTS_OF_USER] = { "gateway_tenants_of_user",
		"select m.tenant_id as value from members m join tenants t on t.id = m.tenant_id "
		"and t.status <> 'closed' where m.user_id = $1 and m.status = 'active' "
		"order by m.tenant_id limit 2",
		.row = &one_text_schema, .across = "all the tenants of one user" },
	[AGENT_BY_ID] = { "gateway_agent_by_id", NAMED "where tenant_id = $1 and id = $2",
		.row = &named_row_schema },
	[AGENT_BY_SLUG] = { "gateway_agent_by_slug", NAMED "where tenant_id = $1 and slug = $2",
		.row = &named_row_schema },
	[MODEL_BY_SLUG] = { "gateway_model_by_slug",
		"select id as value from models where slug = $1", .row = &one_text_schema },
	/* $3 1 if the caller holds OWNER on all, $4 the last agent within the plan or null */
	[AGENTS_REACHED] = { "gateway_agents",
		"select a.id, a.slug from agents a where a.tenant_id = $1 and a.hidden = 0 "
		"and a.is_active = 1 and (cast($4 as text) is null or a.id <= $4) "
		"and ($3 = 1 or (a.is_admin_only = 0 and (a.default_role_enabled = 1 "
		"or exists (select 1 from agent_roles r where r.tenant_id = $1 "
		"and r.agent_id = a.id and r.user_id = $2) "
		"or exists (select 1 from agent_group_roles g join group_members m "
		"on m.tenant_id = $1 and m.group_id = g.group_id and m.user_id = $2 "
		"where g.tenant_id = $1 and g.agent_id = a.id)))) order by a.id desc limit $5",
		.row = &named_row_schema },
};
STATEMENT_SET(gateway_sql, sql);

/* ---- whose tenant ---- */

static int tenant_named(struct call *c, const char *name, const char **ret)
{
	struct one_text row;
	int err = 0;

	*ret = name;
	if (!id_valid(name, strlen(name))) {
		err = db_one(c->db, c->arena, &sql[TENANT_BY_SLUG], &row, ARGS(T(name)));
		*ret = row.value;
	}
	return err;
}

static int only_tenant(struct call *c, const char **ret)
{
	struct list rows;
	int err = db_all(
		c->db, c->arena, &sql[TENANTS_OF_USER], &rows, 2, ARGS(T(c->caller.user_id)));

	if (err)
		return err;
	if (rows.count != 1)
		return call_fail(c, ERR_MALFORMED,
			rows.count
				? "You are in several tenants: name one, by its id or slug, in the header OpenAI-Organization, or use an API key."
				: "You are in no tenant: name one, by its id or slug, in the header OpenAI-Organization.");
	*ret = ((const struct one_text *)rows.at)->value;
	return 0;
}

int gateway_tenant(struct call *c)
{
	const char *name = http_header(&c->x->request, "openai-organization");
	bool key = c->caller.kind == CREDENTIAL_KEY;
	struct place place = { 0 };
	int err;

	if (key && !(name && *name))
		return 0;
	err = name && *name ? tenant_named(c, name, &place.tenant_id)
			    : only_tenant(c, &place.tenant_id);
	if (!err && key && strcmp(place.tenant_id, c->caller.tenant_id) != 0)
		err = ERR_NOT_FOUND;
	if (!err && !key)
		err = caller_permit(
			&c->caller, c->db, c->arena, PERM_TENANT_READ, &place, false, &c->problem);
	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such tenant here.");
	return err;
}

int gateway_tenant_read(struct call *c)
{
	int err = gateway_tenant(c);

	return err ? err : caller_also(&c->caller, c->arena, PERM_TENANT_READ, &c->problem);
}

bool gateway_calls_models(const struct caller *who)
{
	return (who->through_super || (who->role >= 0 && who->role <= ROLE_MEMBER)) &&
	       (!who->scoped || who->scopes & PERM(SESSION_WRITE));
}

/* ---- what a name means ---- */

int gateway_unknown(struct call *c, const char *model)
{
	c->problem = (struct problem){ .code = "model_not_found" };
	return problem_set(&c->problem, c->arena, ERR_NOT_FOUND,
		"The model '%.*s' does not exist, or is not for you.", UTF8_SHOWN(200, model));
}

static int find_named_agent(struct call *c, const char *model, struct named_row *ret)
{
	bool by_slug = strncmp(model, AGENT_PREFIX, strlen(AGENT_PREFIX)) == 0;

	if (!by_slug && !id_valid(model, strlen(model)))
		return ERR_NOT_FOUND;
	return db_one(c->db, c->arena, &sql[by_slug ? AGENT_BY_SLUG : AGENT_BY_ID], ret,
		ARGS(T(c->caller.tenant_id), T(by_slug ? model + strlen(AGENT_PREFIX) : model)));
}

static int permit_model(struct call *c)
{
	const struct caller *who = &c->caller;

	if (gateway_calls_models(who))
		return 0;
	if (who->scoped && !(who->scopes & PERM(SESSION_WRITE)))
		return caller_lacks(c->arena, PERM_SESSION_WRITE, &c->problem);
	return call_fail(c, ERR_FORBIDDEN,
		"Guests do not call models directly; call an agent that you reach.");
}

int gateway_find(struct call *c, const char *model, int permission, struct gateway_named *ret)
{
	struct named_row agent;
	struct one_text found;
	struct place place = { .tenant_id = c->caller.tenant_id };
	int err = find_named_agent(c, model, &agent);

	*ret = (struct gateway_named){ 0 };
	if (!err) {
		place.agent_id = agent.id;
		err = caller_permit(
			&c->caller, c->db, c->arena, permission, &place, false, &c->problem);
		*ret = (struct gateway_named){ .agent_id = agent.id,
			.description_prompt = agent.description_prompt,
			.voice = agent.voice };
	} else if (err == ERR_NOT_FOUND) {
		err = db_one(c->db, c->arena, &sql[MODEL_BY_SLUG], &found, ARGS(T(model)));
		ret->model_id = found.value;
		if (!err)
			err = permit_model(c);
	}
	return err == ERR_NOT_FOUND ? gateway_unknown(c, model) : err;
}

/* ---- the list ---- */

/* An id holds the moment it was made at, in base 36. */
static int64_t made_at(const char *id)
{
	int64_t us = 0;

	for (int i = 1; id && i <= 11 && id[i]; i++)
		us = us * 36 + (id[i] <= '9' ? id[i] - '0' : id[i] - 'a' + 10);
	return us / SECOND_US;
}

static bool is_callable(struct gate_facts *f)
{
	f->access = ModelAccess_full; /* no agent is asked for its grant */
	return !gate_refusal(f);
}

int gateway_list(struct call *c, struct list *ret)
{
	struct gate_who who = { .user_id = c->caller.user_id };
	struct list agents, models = { 0 };
	struct OpenAIModel *shown;
	size_t n = 0;
	int err = gateway_tenant_read(c);

	who.tenant_id = c->caller.tenant_id;
	if (!err)
		err = db_all(c->db, c->arena, &sql[AGENTS_REACHED], &agents, AGENTS_MAX,
			ARGS(T(who.tenant_id), T(who.user_id), N(caller_holds_all(&c->caller)),
				T(c->caller.read_only_after), N(AGENTS_MAX)));
	if (!err && gateway_calls_models(&c->caller))
		err = gate_load_all(c->db, c->arena, &who, &models);
	if (err)
		return err;
	shown = arena_array(c->arena, struct OpenAIModel, agents.count + models.count + 1);
	for (size_t i = 0; i < agents.count; i++) {
		const struct named_row *row = (const struct named_row *)agents.at + i;

		shown[n++] =
			(struct OpenAIModel){ arena_printf(c->arena, AGENT_PREFIX "%s", row->slug),
				"model", made_at(row->id), who.tenant_id };
	}
	for (size_t i = models.count; i--;) {
		struct gate_facts *f = (struct gate_facts *)models.at + i;

		if (is_callable(f))
			shown[n++] = (struct OpenAIModel){ f->slug, "model", made_at(f->model_id),
				"lodge" };
	}
	*ret = (struct list){ shown, n };
	return 0;
}

OPERATION(listOpenAIModels, NONE, OpenAIModelList, .open_query = true)
{
	out->object = "list";
	return gateway_list(c, &out->data);
}

int gateway_one(struct call *c, const char *model, struct OpenAIModel *ret)
{
	struct gateway_named named;
	struct gate_facts facts;
	int err = gateway_tenant_read(c);

	if (!err)
		err = gateway_find(c, model, PERM_AGENT_READ, &named);
	if (err)
		return err;
	*ret = (struct OpenAIModel){ model, "model",
		made_at(named.agent_id ? named.agent_id : named.model_id),
		named.agent_id ? c->caller.tenant_id : "lodge" };
	if (named.agent_id)
		return 0;
	err = gate_load(c->db, c->arena,
		&(struct gate_who){
			.tenant_id = c->caller.tenant_id, .user_id = c->caller.user_id },
		named.model_id, &facts);
	return err ? err : is_callable(&facts) ? 0 : gateway_unknown(c, model);
}

OPERATION(readOpenAIModel, NONE, OpenAIModel, .open_query = true)
{
	return gateway_one(c, call_param(c, "model"), out);
}

static const struct route routes[] = {
	{ METHOD_GET, "/v1/models", &listOpenAIModels, PERM_LOGIN, 200, .tag = "OpenAI",
		.as_printed = true, .openai = true,
		.doc = "List what may be given as model: agents you reach, and models you may call." },
	{ METHOD_GET, "/v1/models/{model}", &readOpenAIModel, PERM_LOGIN, 200, .tag = "OpenAI",
		.as_printed = true, .openai = true,
		.doc = "Read one of them; a slug with a slash in it is percent-encoded." },
};
RESOURCE(gateway_models, routes, NULL, &gateway_sql);
