/* assistants.c - OpenAI-style assistants: the agents of a tenant, listed, made, read, changed and deleted in
 * that shape.  What an agent has as an assistant only (metadata, functions of the caller's) lies in a row
 * beside it; everything else is the agent's own. */
#include "openai/assistants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "call/operation.h"
#include "openai/gateway.h"
#include "openai/openai_page.h"
#include "openai/openai_tools.h"
#include "api/plans/plans.h"
#include "base/clock.h"

FIELDS(assistant_notes) = {
	FIELD(assistant_notes, tenant_id),
	FIELD(assistant_notes, agent_id),
	FIELD(assistant_notes, model_id, .nullable = true),
	FIELD(assistant_notes, temperature, .nullable = true),
	FIELD(assistant_notes, top_p, .nullable = true),
	FIELD(assistant_notes, metadata),
	FIELD(assistant_notes, tools),
};
static SCHEMA(assistant_notes, .internal = true);

enum {
	PAIR_OF(ASSISTANT_LIST),
	ASSISTANT_READ,
	NOTES_READ,
	NOTES_PUT,
	MODEL_REACHED,
	CHAIN_CLEAR,
	CHAIN_SET,
};

/* The model that was named, as long as it leads the chain. */
#define LEADS                                                                                \
	"coalesce((select m.slug from agent_models g join models m on m.id = g.model_id "    \
	"where g.tenant_id = a.tenant_id and g.agent_id = a.id and g.model_id = n.model_id " \
	"and g.priority = 0), '" ASSISTANT_MODEL "') as model"
#define SHOWN                                                                         \
	"a.id, a.created_at / 1000000 as created_at, 'assistant' as object, a.name, " \
	"a.description, a.description_prompt as instructions, n.metadata, " LEADS
#define FROM                                                                                  \
	"agents a left join assistants n on n.tenant_id = a.tenant_id and n.agent_id = a.id " \
	"where a.tenant_id = $1 "

static const struct statement sql[] = {
	/* $2 user, $3 1 if the caller holds OWNER on all */
	PAGE_STATEMENTS(ASSISTANT_LIST, "assistant_list", &AssistantObject_schema, SHOWN,
		FROM "and a.hidden = 0 and ($3 = 1 or (a.is_admin_only = 0 "
		     "and (a.default_role_enabled = 1 "
		     "or exists (select 1 from agent_roles r where r.tenant_id = $1 "
		     "and r.agent_id = a.id and r.user_id = $2) "
		     "or exists (select 1 from agent_group_roles g join group_members m "
		     "on m.tenant_id = $1 and m.group_id = g.group_id and m.user_id = $2 "
		     "where g.tenant_id = $1 and g.agent_id = a.id))))",
		"a.id"),
	[ASSISTANT_READ] = { "assistant_read", "select " SHOWN " from " FROM "and a.id = $2",
		.row = &AssistantObject_schema },
	[NOTES_READ] = { "assistant_notes_read",
		"select {*} from assistants where tenant_id = $1 and agent_id = $2",
		.row = &assistant_notes_schema },
	[NOTES_PUT] = { "assistant_notes_put",
		"insert into assistants ({*}) values ({$}) on conflict (tenant_id, agent_id) "
		"do update set model_id = :model_id, temperature = :temperature, top_p = :top_p, "
		"metadata = :metadata, tools = :tools",
		.row = &assistant_notes_schema },
	[MODEL_REACHED] = { "assistant_model",
		"select m.id as value from models m where m.slug = $2 "
		"and m.status in ('active', 'experimental') and (m.available_to_all_tenants = 1 or "
		"exists (select 1 from model_tenants e where e.tenant_id = $1 and e.model_id = m.id))",
		.row = &one_text_schema },
	[CHAIN_CLEAR] = { "assistant_chain_clear",
		"delete from agent_models where tenant_id = $1 and agent_id = $2" },
	[CHAIN_SET] = { "assistant_chain_set",
		"insert into agent_models (tenant_id, agent_id, model_id, access, priority, created_at) "
		"values ($1, $2, $3, 'full', 0, $4)" },
};
STATEMENT_SET(assistant_sql, sql);

int assistant_notes_read(struct db *db, struct arena *a, const char *tenant_id,
	const char *agent_id, struct assistant_notes *ret)
{
	int err = db_one(db, a, &sql[NOTES_READ], ret, ARGS(T(tenant_id), T(agent_id)));

	if (err != ERR_NOT_FOUND)
		return err;
	*ret = (struct assistant_notes){
		.tenant_id = tenant_id, .agent_id = agent_id, .metadata = "{}", .tools = "[]"
	};
	return 0;
}

/* ---- what is asked of one ---- */

int assistant_model(struct call *c, const char *slug, const char **ret_id)
{
	struct one_text found = { 0 };
	int err = db_one(c->db, c->arena, &sql[MODEL_REACHED], &found,
		ARGS(T(c->caller.tenant_id), T(slug)));

	*ret_id = found.value;
	return err == ERR_NOT_FOUND ? gateway_unknown(c, slug) : err;
}

/* Sets the chain to the model that is named, unless it is the agent's own that is meant. */
static int choose_model(struct call *c, const char *model, struct assistant_notes *n)
{
	int err;

	n->model_id = NULL;
	if (strcmp(model, ASSISTANT_MODEL) == 0)
		return 0;
	if (c->caller.scoped && !(c->caller.scopes & PERM(AGENT_MODELS_WRITE)))
		return caller_lacks(c->arena, PERM_AGENT_MODELS_WRITE, &c->problem);
	err = assistant_model(c, model, &n->model_id);
	if (!err)
		err = db_run(c->db, &sql[CHAIN_CLEAR], NULL, ARGS(T(n->tenant_id), T(n->agent_id)));
	if (!err)
		err = db_run(c->db, &sql[CHAIN_SET], NULL,
			ARGS(T(n->tenant_id), T(n->agent_id), T(n->model_id), N(c->now)));
	return err;
}

static const char *assistant_number_text(struct arena *a, double v)
{
	return isnan(v) ? NULL : arena_printf(a, "%.6g", v);
}

static int put_notes(struct call *c, const struct assistant_notes *n)
{
	return db_put(c->db, &sql[NOTES_PUT], n);
}

static int show_assistant(struct call *c, const char *agent_id, struct AssistantObject *out)
{
	c->audit.agent_id = agent_id;
	return db_one(c->db, c->arena, &sql[ASSISTANT_READ], out,
		ARGS(T(c->caller.tenant_id), T(agent_id)));
}

/* ---- the operations ---- */

QUERY_OPERATION(listAssistants, OpenAIPage, AssistantList, .open_query = true)
{
	struct openai_page page;
	struct AssistantObject *row;
	int err = gateway_tenant_read(c);

	if (!err)
		err = openai_page_read(c, in, &sql[ASSISTANT_LIST],
			ARGS(T(c->caller.tenant_id), T(c->caller.user_id),
				N(caller_holds_all(&c->caller))),
			&page);
	if (err)
		return err;
	row = page.rows.at;
	/* A key that may not read an agent is not told what it is told. */
	for (size_t i = 0; i < page.rows.count; i++)
		if (!caller_cut(&c->caller, UINT64_C(1) << PERM_AGENT_READ))
			row[i].instructions = NULL;
	*out = (struct AssistantList){ .data = page.rows, .object = "list", .has_more = page.more };
	if (page.rows.count) {
		out->first_id = row[0].id;
		out->last_id = row[page.rows.count - 1].id;
	}
	return 0;
}

/* A slug of its own: nobody is asked for one. */
static const char *new_slug(struct arena *a)
{
	struct id id = id_new(NULL);

	return arena_printf(a, "assistant-%s", id.text + strlen(id.text) - 12);
}

OPERATION(createAssistant, AssistantCreate, AssistantObject, .open_query = true)
{
	struct assistant_notes notes = { .tools = in->tools.text ? in->tools.text : "[]" };
	struct AgentCreate agent;
	struct agent_maker who;
	struct agent_row row;
	const char *functions;
	int err = gateway_tenant(c);

	if (!err)
		err = caller_also(&c->caller, c->arena, PERM_AGENTS_CREATE, &c->problem);
	if (!err)
		err = openai_tools(c, "tools", in->tools.text, TOOL_NESTED, &functions);
	if (!err)
		err = openai_metadata(c, "metadata", in->metadata.text, &notes.metadata);
	if (!err)
		err = openai_format(c, "response_format", in->response_format.text);
	if (!err)
		err = plan_admits_agent(c);
	if (err)
		return err;
	schema_init(&AgentCreate_schema, c->arena, &agent);
	agent.name = in->name ? in->name : "Assistant";
	agent.slug = new_slug(c->arena);
	agent.description = in->description;
	agent.description_prompt = in->instructions;
	who = agent_maker_of(c);
	err = agent_row_make(c->db, c->arena, &who, &agent, false, &row);
	if (err)
		return err;
	notes.tenant_id = row.tenant_id;
	notes.agent_id = row.id;
	notes.temperature = assistant_number_text(c->arena, in->temperature);
	notes.top_p = assistant_number_text(c->arena, in->top_p);
	err = choose_model(c, in->model, &notes);
	if (!err)
		err = put_notes(c, &notes);
	return err ? err : show_assistant(c, row.id, out);
}

OPERATION(readAssistant, NONE, AssistantObject, .open_query = true)
{
	return show_assistant(c, c->caller.agent_id, out);
}

#define GOT(name) schema_present(&AssistantUpdate_schema, in, name)

static int change_notes(struct call *c, const struct AssistantUpdate *in)
{
	struct assistant_notes before, notes;
	const char *functions;
	int err = assistant_notes_read(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, &before);

	notes = before;
	if (!err && GOT("tools")) {
		err = openai_tools(c, "tools", in->tools.text, TOOL_NESTED, &functions);
		notes.tools = in->tools.text ? in->tools.text : "[]";
	}
	if (!err && in->metadata.text)
		err = openai_metadata(c, "metadata", in->metadata.text, &notes.metadata);
	if (!err && GOT("response_format"))
		err = openai_format(c, "response_format", in->response_format.text);
	if (GOT("temperature"))
		notes.temperature = assistant_number_text(c->arena, in->temperature);
	if (GOT("top_p"))
		notes.top_p = assistant_number_text(c->arena, in->top_p);
	if (!err && in->model)
		err = caller_also(&c->caller, c->arena, PERM_AGENT_MODELS_WRITE, &c->problem);
	if (!err && in->model)
		err = choose_model(c, in->model, &notes);
	if (err)
		return err;
	call_changed_too(c, &assistant_notes_schema, &before, &notes);
	return put_notes(c, &notes);
}

OPERATION(updateAssistant, AssistantUpdate, AssistantObject, .open_query = true)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	if (in->name)
		after.name = in->name;
	if (GOT("description"))
		after.description = in->description;
	if (GOT("instructions"))
		after.description_prompt = in->instructions;
	err = agent_row_change(c, &before, &after);
	if (!err)
		err = change_notes(c, in);
	return err ? err : show_assistant(c, before.id, out);
}

OPERATION(deleteAssistant, NONE, OpenAIDeleted, .open_query = true)
{
	*out = (struct OpenAIDeleted){ c->caller.agent_id, "assistant.deleted", true };
	return agent_remove(c);
}

#define A "/v1/assistants"
#define OPENAI .tag = "OpenAI", .as_printed = true, .openai = true

static const struct route routes[] = {
	{ METHOD_GET, A, &listAssistants, PERM_LOGIN, 200, OPENAI,
		.doc = "List the agents you reach as assistants, by cursor." },
	{ METHOD_POST, A, &createAssistant, PERM_LOGIN, 200, "agent.create", OPENAI,
		.doc = "Make an assistant: an agent of the tenant, of which the caller becomes OWNER." },
	{ METHOD_GET, A "/{assistant_id}", &readAssistant, PERM_AGENT_READ, 200, OPENAI,
		.agent = "assistant_id", .doc = "Read an agent as an assistant." },
	{ METHOD_POST, A "/{assistant_id}", &updateAssistant, PERM_AGENT_WRITE, 200, "agent.update",
		OPENAI, .agent = "assistant_id",
		.doc = "Change the fields that are sent. Naming a model needs agent:models:write too." },
	{ METHOD_DELETE, A "/{assistant_id}", &deleteAssistant, PERM_AGENT_DELETE, 200,
		"agent.delete", OPENAI, .agent = "assistant_id",
		.doc = "Delete the agent and everything that hangs on it." },
};
RESOURCE(assistants, routes, NULL, &assistant_sql);
