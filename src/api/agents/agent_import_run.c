/* agent_import_run.c - the agent itself, with its chain and its tools: all of it or nothing; see agent_import.h.
 *
 * The row that says of which file it was made is written with it, so that the
 * same file again, also at the same moment, finds this agent. */
#include <string.h>

#include "api/agents/agent_import.h"
#include "api/agents/agent_row.h"
#include "api/models/model_row.h"
#include "api/models/models.h"
#include "api/plans/plans.h"
#include "base/id.h"
#include "base/utf8_cut.h"
#include "store/row.h"

enum { CHAIN_LONGEST = 5 };

struct import_row {
	const char *tenant_id, *sha256, *agent_id, *source_platform;
	int64_t created_at;
};

FIELDS(import_row) = {
	ROW_FIELDS(import_row, tenant_id, sha256, agent_id, source_platform, created_at),
};
static SCHEMA(import_row, .internal = true);

struct import_found {
	const char *agent_id, *agent_slug, *agent_name, *source_platform;
};

FIELDS(import_found) = {
	ROW_FIELDS(import_found, agent_id, agent_slug, agent_name, source_platform),
};
static SCHEMA(import_found, .internal = true);

struct import_times {
	const char *tenant_id, *id;
	bool is_active;
	int64_t created_at, updated_at;
};

FIELDS(import_times) = {
	ROW_FIELDS(import_times, tenant_id, id, is_active, created_at, updated_at),
};
static SCHEMA(import_times, .internal = true);

struct import_model {
	const char *id;
	int status;
};

FIELDS(import_model) = {
	FIELD(import_model, id),
	FIELD(import_model, status, .words = &ModelStatus_words),
};
static SCHEMA(import_model, .internal = true);

struct import_link {
	const char *tenant_id, *agent_id, *model_id, *access;
	int64_t priority, created_at;
};

FIELDS(import_link) = {
	ROW_FIELDS(import_link, tenant_id, agent_id, model_id, access, priority, created_at),
};
static SCHEMA(import_link, .internal = true);

struct import_tool {
	const char *id;
	bool by_members;
};

FIELDS(import_tool) = { ROW_FIELDS(import_tool, id, by_members) };
static SCHEMA(import_tool, .internal = true);

struct import_tool_row {
	const char *tenant_id, *agent_id, *tool_id, *id, *configuration;
	bool is_enabled;
	int64_t created_at, updated_at;
};

FIELDS(import_tool_row) = {
	ROW_FIELDS(import_tool_row, tenant_id, agent_id, tool_id, id, configuration, is_enabled,
		created_at, updated_at),
};
static SCHEMA(import_tool_row, .internal = true);

struct import_bundle_row {
	const char *tenant_id, *agent_id, *bundle_id, *granted_by_user_id;
	int64_t created_at;
};

FIELDS(import_bundle_row) = {
	ROW_FIELDS(import_bundle_row, tenant_id, agent_id, bundle_id, created_at),
	ROW_NULLABLE(import_bundle_row, granted_by_user_id),
};
static SCHEMA(import_bundle_row, .internal = true);

enum {
	IMPORT_FIND,
	IMPORT_NOTE,
	IMPORT_TIMES,
	IMPORT_MODEL,
	IMPORT_LINK,
	IMPORT_TOOL,
	IMPORT_TOOL_GIVE,
	IMPORT_BUNDLE,
	IMPORT_BUNDLE_GIVE,
};

static const struct statement sql[] = {
	[IMPORT_FIND] = { "import_find",
		"select i.agent_id, a.slug as agent_slug, a.name as agent_name, i.source_platform "
		"from agent_imports i join agents a on a.tenant_id = i.tenant_id and a.id = i.agent_id "
		"where i.tenant_id = $1 and i.sha256 = $2",
		.row = &import_found_schema },
	/* What stands there is of an agent that was deleted, or that whoever imports does not see. */
	[IMPORT_NOTE] = { "import_note",
		"insert into agent_imports ({*}) values ({$}) on conflict (tenant_id, sha256) do update "
		"set agent_id = excluded.agent_id, source_platform = excluded.source_platform, "
		"created_at = excluded.created_at",
		.row = &import_row_schema },
	[IMPORT_TIMES] = { "import_times",
		"update agent_rows set is_active = :is_active, created_at = :created_at, "
		"updated_at = :updated_at where tenant_id = :tenant_id and id = :id",
		.args = &import_times_schema },
	[IMPORT_MODEL] = { "import_model",
		"select m.id, m.status from models m where m.slug = $2 "
		"and (m.available_to_all_tenants = 1 or exists (select 1 from model_tenants e "
		"where e.tenant_id = $1 and e.model_id = m.id))",
		.row = &import_model_schema },
	[IMPORT_LINK] = { "import_link", "insert into agent_models ({*}) values ({$})",
		.row = &import_link_schema },
	[IMPORT_TOOL] = { "import_tool",
		"select id, case grantable_by when 'members' then 1 else 0 end as by_members "
		"from tools where tenant_id = $1 and name = $2",
		.row = &import_tool_schema },
	[IMPORT_TOOL_GIVE] = { "import_tool_give", "insert into agent_tools ({*}) values ({$})",
		.row = &import_tool_row_schema },
	[IMPORT_BUNDLE] = { "import_bundle",
		"select g.id, case when exists (select 1 from tool_bundle_tools b join tools t "
		"on t.tenant_id = $1 and t.id = b.tool_id where b.tenant_id = $1 and b.bundle_id = g.id "
		"and t.grantable_by = 'admins') then 0 else 1 end as by_members "
		"from tool_bundles g where g.tenant_id = $1 and g.slug = $2",
		.row = &import_tool_schema },
	[IMPORT_BUNDLE_GIVE] = { "import_bundle_give",
		"insert into agent_tool_bundles ({*}) values ({$})",
		.row = &import_bundle_row_schema },
};
STATEMENT_SET(agent_import_sql, sql);

/* ---- models ---- */

/* The first that the file names is what it asks for. */
static int give_models(const struct agent_importer *who, const struct agent_bundle *b,
	const char *agent_id, struct AgentImportResult *out)
{
	const char *const *slug = b->models.at;
	const char *missing = "";
	size_t given = 0;
	int err = 0;

	out->model_slug_requested = b->models.count ? slug[0] : NULL;
	for (size_t i = 0; !err && i < b->models.count && given < CHAIN_LONGEST; i++) {
		struct import_model m;

		err = db_one(who->db, who->a, &sql[IMPORT_MODEL], &m,
			ARGS(T(who->tenant_id), T(slug[i])));
		if (err == ERR_NOT_FOUND || (!err && !model_status_is_offered(m.status)) ||
			!(who->agent & PERM(AGENT_MODELS_WRITE))) {
			missing = arena_printf(who->a, "%s%s%.*s", missing, *missing ? ", " : "",
				UTF8_SHOWN(100, slug[i]));
			err = err == ERR_NOT_FOUND ? 0 : err;
			continue;
		}
		if (!err && !who->dry)
			err = db_put(who->db, &sql[IMPORT_LINK],
				&(struct import_link){ who->tenant_id, agent_id, m.id,
					ModelAccess_words.list[ModelAccess_full], (int64_t)given,
					who->now });
		if (!given++)
			out->model_slug_resolved = slug[i];
		if (b->one_model)
			break;
	}
	if (err)
		return err;
	if (given) {
		if (*missing && !b->one_model)
			out->model_warning = arena_printf(who->a,
				"Not to be had here, and left out of the chain: %s.", missing);
		return 0;
	}
	out->model_fallback_used = true;
	out->model_warning =
		*missing ? arena_printf(who->a,
				   "Not to be had here: %s. The tenant's default model is used.",
				   missing)
			 : "The file names no model. The tenant's default is used.";
	return who->dry ? 0
			: model_give_default(who->db, who->a, who->tenant_id, agent_id, who->now);
}

/* ---- tools ---- */

static bool may_give(const struct agent_importer *who, bool by_members)
{
	return who->agent & PERM(AGENT_TOOLS_WRITE) &&
	       (by_members || who->tenant & PERM(TOOLS_WRITE));
}

static void add_name(struct arena *a, struct list *l, const char *name)
{
	*BUNDLE_ADD(a, l, const char *) = name;
}

static int give_tool(const struct agent_importer *who, const struct BundleTool *asked,
	const char *agent_id, struct AgentImportResult *out)
{
	struct id id = id_new(NULL);
	struct import_tool t;
	int err = db_one(
		who->db, who->a, &sql[IMPORT_TOOL], &t, ARGS(T(who->tenant_id), T(asked->name)));

	if (err == ERR_NOT_FOUND || (!err && !may_give(who, t.by_members))) {
		add_name(who->a, &out->tools_unmatched, asked->name);
		if (!err)
			agent_import_warn(who, out,
				"The tool %s is there, but you may not give it to agents.",
				asked->name);
		return 0;
	}
	if (!err && !who->dry)
		err = db_put(who->db, &sql[IMPORT_TOOL_GIVE],
			&(struct import_tool_row){ .tenant_id = who->tenant_id,
				.agent_id = agent_id,
				.tool_id = t.id,
				.id = id.text,
				.configuration = "",
				.is_enabled = asked->is_enabled,
				.created_at = who->now,
				.updated_at = who->now });
	if (!err)
		add_name(who->a, &out->tools_attached, asked->name);
	if (!err && !asked->is_enabled)
		agent_import_warn(who, out,
			"The tool %s is switched off, as in the file; settings that it had are not part of one.",
			asked->name);
	return err;
}

static int give_bundle(const struct agent_importer *who, const char *slug, const char *agent_id,
	struct AgentImportResult *out)
{
	struct import_tool t;
	int err =
		db_one(who->db, who->a, &sql[IMPORT_BUNDLE], &t, ARGS(T(who->tenant_id), T(slug)));

	if (err == ERR_NOT_FOUND || (!err && !may_give(who, t.by_members))) {
		add_name(who->a, &out->tools_unmatched, slug);
		return 0;
	}
	if (!err && !who->dry)
		err = db_put(who->db, &sql[IMPORT_BUNDLE_GIVE],
			&(struct import_bundle_row){
				who->tenant_id, agent_id, t.id, who->user_id, who->now });
	if (!err)
		add_name(who->a, &out->tools_attached, slug);
	return err;
}

/* Of a list that begins with names, each `size` apart: is this one there before? */
static bool named_before(const struct list *l, size_t size, size_t at)
{
	const char *base = l->at;

	for (size_t i = 0; i < at; i++)
		if (strcmp(*(const char *const *)(base + i * size),
			    *(const char *const *)(base + at * size)) == 0)
			return true;
	return false;
}

static int give_tools(const struct agent_importer *who, const struct agent_bundle *b,
	const char *agent_id, struct AgentImportResult *out)
{
	const struct BundleTool *tool = b->tools.at;
	const char *const *slug = b->tool_bundles.at;
	int err = 0;

	for (size_t i = 0; !err && i < b->tools.count; i++)
		if (!named_before(&b->tools, sizeof *tool, i))
			err = give_tool(who, &tool[i], agent_id, out);
	for (size_t i = 0; !err && i < b->tool_bundles.count; i++)
		if (!named_before(&b->tool_bundles, sizeof *slug, i))
			err = give_bundle(who, slug[i], agent_id, out);
	return err;
}

/* ---- the agent ---- */

static int admit_agent(const struct agent_importer *who, const struct AgentBundleSettings *s)
{
	int64_t left;
	int err = plan_agents_left(who->db, who->a, who->tenant_id, &left);

	if (err)
		return err;
	if (left < 1) {
		who->p->code = "plan_limit";
		return problem_set(
			who->p, who->a, ERR_CONFLICT, "The tenant's plan admits no further agent.");
	}
	if ((s->is_admin_only || !s->default_role_enabled) &&
		!(who->agent & PERM(AGENT_ROLES_WRITE)))
		return problem_set(who->p, who->a, ERR_FORBIDDEN,
			"The agent of this file is open to administrators or named people only; to make such a one needs agent:roles:write.");
	return 0;
}

static bool may_set_budget(const struct agent_importer *who)
{
	return who->agent & PERM(AGENT_BUDGET_WRITE);
}

static int enter_agent(
	const struct agent_importer *who, const struct agent_import *what, struct agent_row *row)
{
	const struct agent_maker maker = { who->tenant_id, who->user_id, who->owns };
	struct AgentCreate asked;
	int err;

	schema_init(&AgentCreate_schema, who->a, &asked);
	schema_copy(&AgentBundleSettings_schema, &what->settings, &AgentCreate_schema, &asked);
	err = agent_row_begin(who->db, who->a, who->tenant_id, &asked, row);
	if (err)
		return err;
	if (what->bundle.settings)
		schema_copy(&AgentBundleSettings_schema, &what->settings, &agent_row_schema, row);
	if (!may_set_budget(who))
		row->hourly_limit_usd.pd = NIL;
	row->is_active = true; /* until its sessions are there */
	row->description_prompt = what->bundle.prompt;
	row->bootstrap_instructions = what->bundle.bootstrap;
	err = agent_slug_free(
		who->db, who->a, who->tenant_id, what->settings.slug, &row->slug, who->p);
	if (!err && who->dry)
		row->id = arena_strdup(who->a, id_new(NULL).text);
	else if (!err)
		err = agent_row_enter(who->db, who->a, &maker, row);
	return err == ERR_DUPLICATE ? ERR_RETRY : err; /* somebody was quicker since we asked */
}

static int give_chat(
	const struct agent_importer *who, const struct agent_import *what, const char *agent_id)
{
	struct chat_config row;
	int err = what->has_chat ? chat_config_read(who->db, who->a, who->tenant_id, agent_id, &row)
				 : ERR_NOT_FOUND;

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	schema_patch(&AgentChatConfigUpdate_schema, &what->chat, &chat_config_schema, &row);
	row.working_hours_enabled = what->chat.working_hours_enabled > 0;
	return chat_config_write(who->db, &row);
}

/* The file's own times, as far as they are not still to come. */
static int set_times(const struct agent_importer *who, const struct agent_import *what,
	const struct agent_row *row)
{
	int64_t changed = what->bundle.exported_at.us, made = what->settings.created_at.us;

	if (changed == NIL || changed > who->now)
		changed = row->updated_at.us;
	if (made == NIL || made > changed)
		made = changed < row->created_at.us ? changed : row->created_at.us;
	return db_run(who->db, &sql[IMPORT_TIMES], NULL,
		BY_NAME(import_times, &((struct import_times){ who->tenant_id, row->id,
					      what->settings.is_active, made, changed })));
}

/* What it is besides its row: the chain, tools, settings of chats, the picture. */
static int give_all(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	bool may_write = who->agent & PERM(AGENT_WRITE);
	int err = give_models(who, &what->bundle, agent_id, out);

	if (!err)
		err = give_tools(who, &what->bundle, agent_id, out);
	if (!may_write && (what->has_chat || what->png))
		agent_import_warn(who, out,
			"Settings of chats and the picture were not taken over: that needs agent:write.");
	if (!may_set_budget(who) && what->settings.hourly_limit_usd.pd != NIL)
		agent_import_warn(who, out,
			"What it may spend in an hour was not taken over: that needs agent:budget:write.");
	if (err || who->dry)
		return err;
	err = may_write ? give_chat(who, what, agent_id) : 0;
	if (!err && may_write && what->png)
		err = agent_avatar_keep(
			who->db, who->tenant_id, agent_id, what->png, what->png_len, who->now);
	return err;
}

static int make_agent(const struct agent_importer *who, const struct agent_import *what,
	struct AgentImportResult *out)
{
	const char *const *said = what->bundle.warnings.at;
	struct agent_row row;
	int err = admit_agent(who, &what->settings);

	for (size_t i = 0; i < what->bundle.warnings.count; i++)
		agent_import_warn(who, out, "%s", said[i]);
	if (!err)
		err = enter_agent(who, what, &row);
	if (!err && !who->dry)
		err = db_put(who->db, &sql[IMPORT_NOTE],
			&(struct import_row){ who->tenant_id, what->sha256, row.id,
				what->bundle.platform, who->now });
	if (!err)
		err = give_all(who, what, row.id, out);
	if (!err)
		err = agent_import_rows(who, what, row.id, out);
	if (!err && !who->dry)
		err = set_times(who, what, &row);
	if (err)
		return err;
	out->agent_id = row.id;
	out->agent_slug = row.slug;
	out->agent_name = row.name;
	out->source_platform = what->bundle.platform;
	return 0;
}

/* ---- whole ---- */

int agent_import_run(const struct agent_importer *who, const struct agent_import *what,
	struct AgentImportResult *out)
{
	struct import_found found;
	int err = db_one(who->db, who->a, &sql[IMPORT_FIND], &found,
		ARGS(T(who->tenant_id), T(what->sha256)));

	schema_init(&AgentImportResult_schema, who->a, out);
	if (err && err != ERR_NOT_FOUND)
		return err;
	/* One that somebody else made and that may not be seen stands in nobody's way. */
	if (err || (who->sees && !who->sees(who->note_ctx, found.agent_id)))
		return make_agent(who, what, out);
	schema_copy(&import_found_schema, &found, &AgentImportResult_schema, out);
	out->idempotent_reuse = true;
	return 0;
}
