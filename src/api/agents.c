/* agents.c - the agent resource: listing, making, reading, changing and removing agents. */
#include "api/agents.h"

#include <string.h>

#include "api/api.h"
#include "api/bootstrap.h"
#include "api/plans.h"
#include "api/skills.h"
#include "base/fold.h"
#include "store/listing.h"

/* A row as it is stored: what AgentRead shows, and what only the service needs. */
struct agent_row {
	const char *tenant_id, *id, *name, *slug;
	int kind;
	const char *resource_class, *code_ref, *image_ref, *repo_url;
	bool is_active, is_admin_only, is_seed, hidden, default_role_enabled, can_author_skills,
		editor_enabled, external_mail_enabled, meeting_managed;
	int environment_mode, skill_visibility_scope;
	int64_t iteration_warn_threshold, hourly_limit_pd;
	const char *voice, *avatar_sha256, *created_by_id, *created_by_agent_id;
	struct moment created_at, updated_at;
	const char *name_folded, *ssh_public_key, *description, *initial_greeting,
		*description_prompt, *bootstrap_instructions;
};

FIELDS(agent_row) = {
	FIELD(agent_row, tenant_id),
	FIELD(agent_row, id),
	FIELD(agent_row, name),
	FIELD(agent_row, slug),
	FIELD(agent_row, kind, .words = &AgentKind_words),
	FIELD(agent_row, resource_class),
	FIELD(agent_row, code_ref),
	FIELD(agent_row, image_ref, .nullable = true),
	FIELD(agent_row, repo_url, .nullable = true),
	FIELD(agent_row, is_active),
	FIELD(agent_row, is_admin_only),
	FIELD(agent_row, is_seed),
	FIELD(agent_row, hidden),
	FIELD(agent_row, default_role_enabled),
	FIELD(agent_row, can_author_skills),
	FIELD(agent_row, editor_enabled),
	FIELD(agent_row, external_mail_enabled),
	FIELD(agent_row, meeting_managed),
	FIELD(agent_row, environment_mode, .words = &EnvironmentMode_words),
	FIELD(agent_row, skill_visibility_scope, .words = &SkillScope_words),
	FIELD(agent_row, iteration_warn_threshold, .nullable = true),
	FIELD(agent_row, hourly_limit_pd, .nullable = true),
	FIELD(agent_row, voice, .nullable = true),
	FIELD(agent_row, avatar_sha256, .nullable = true),
	FIELD(agent_row, created_by_id, .nullable = true),
	FIELD(agent_row, created_by_agent_id, .nullable = true),
	FIELD(agent_row, created_at),
	FIELD(agent_row, updated_at),
	FIELD(agent_row, name_folded),
	FIELD(agent_row, ssh_public_key, .nullable = true),
	FIELD(agent_row, description, .nullable = true),
	FIELD(agent_row, initial_greeting, .nullable = true),
	FIELD(agent_row, description_prompt, .nullable = true),
	FIELD(agent_row, bootstrap_instructions, .nullable = true),
};
static SCHEMA(agent_row, .internal = true);

struct agent_query {
	const char *q;
	int kind;
	tri favorite;
	bool include_hidden;
};

FIELDS(agent_query) = {
	FIELD(agent_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only agents whose name or slug contains this, whatever the case."),
	FIELD(agent_query, kind, .nullable = true, .words = &AgentKind_words,
		.doc = "Only agents of this kind."),
	FIELD(agent_query, favorite, .nullable = true,
		.doc = "True: only the caller's favourites; false: only the others."),
	FIELD(agent_query, include_hidden, .preset = "false",
		.doc = "Also hidden agents, where the caller is MANAGER or above."),
};
SCHEMA(agent_query, .doc = "Filters of the list of agents.");

static const struct words agent_sorts = {
	.list = (const char *const[]){ "name", "created_at", "updated_at", NULL },
};

/* $1 tenant, $2 user.  The user's favourites are few: they are looked up once for the whole list. */
#define IS_FAVORITE                                              \
	"case when a.id in (select f.agent_id from favorites f " \
	"where f.tenant_id = $1 and f.user_id = $2) then 1 else 0 end"
#define LIST_COLUMNS "{a.*}, " IS_FAVORITE " as is_favorite"

/* What somebody who holds OWNER on every agent sees without filters: an index answers it alone. */
#define PLAIN_FROM "agents a where a.tenant_id = $1 and a.hidden = 0"

#define ROLE_RANK "case r.role when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end"
#define ROLE_HELD                                                               \
	"(select max(" ROLE_RANK ") from agent_roles r where r.tenant_id = $1 " \
	"and r.agent_id = a.id and r.user_id = $2)"
#define GROUP_ROLE_HELD                                                             \
	"(select max(" ROLE_RANK ") from agent_group_roles r join group_members m " \
	"on m.tenant_id = $1 and m.group_id = r.group_id and m.user_id = $2 "       \
	"where r.tenant_id = $1 and r.agent_id = a.id)"

/* $3 1 if the caller holds OWNER on all, $4 include hidden, $5 kind, $6 pattern, $7 favourites only
 * or not */
#define LIST_FROM                                                              \
	"agents a where a.tenant_id = $1 "                                     \
	"and ($3 = 1 or (a.is_admin_only = 0 and (a.default_role_enabled = 1 " \
	"or " ROLE_HELD " >= 1 or " GROUP_ROLE_HELD " >= 1))) "                \
	"and (a.hidden = 0 or ($4 = 1 and ($3 = 1 "                            \
	"or " ROLE_HELD " >= 2 or " GROUP_ROLE_HELD " >= 2))) "                \
	"and (cast($5 as text) is null or a.kind = $5) "                       \
	"and (cast($6 as text) is null or a.name_folded like $6 escape '!' "   \
	"or a.slug like $6 escape '!') "                                       \
	"and (cast($7 as bigint) is null or $7 = " IS_FAVORITE ")"

/* Behind the tenant's last agent in the file, or where its range of places begins. */
#define NEXT_PLACE                                                                   \
	"(select max(t.place << 32, coalesce((select a.place + 1 from agents a "     \
	"where a.place < ((t.place + 1) << 32) order by a.place desc limit 1), 0)) " \
	"from tenants t where t.id = {$tenant_id})"

enum {
	AGENT_LIST,
	AGENT_PLAIN = AGENT_LIST + LIST_SORTS + 6,
	AGENT_READ = AGENT_PLAIN + LIST_SORTS,
	AGENT_ROW,
	AGENT_INSERT,
	AGENT_UPDATE,
	AGENT_REMOVE,
	AGENT_FILE,
	AGENT_UNFILE,
	AGENT_OWN,
	AGENT_DEFAULTS,
};

static const struct statement sql[] = {
	LIST_STATEMENTS(
		"agent_list", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id", "8", "9"),
	SORT_STATEMENTS("agent_by_name", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		"8", "9", "a.name"),
	SORT_STATEMENTS("agent_by_creation", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		"8", "9", "a.id"),
	SORT_STATEMENTS("agent_by_update", &AgentListRead_schema, LIST_COLUMNS, LIST_FROM, "a.id",
		"8", "9", "a.updated_at"),
	LIST_STATEMENTS(
		"agent_plain", &AgentListRead_schema, LIST_COLUMNS, PLAIN_FROM, "a.id", "3", "4"),
	[AGENT_READ] = { "agent_read", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &AgentRead_schema },
	[AGENT_ROW] = { "agent_row", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &agent_row_schema },
	[AGENT_INSERT] = { "agent_insert",
		"insert into agents (place, {*}) values (" NEXT_PLACE ", {$})",
		.postgres = "insert into agents ({*}) values ({$})", .row = &agent_row_schema },
	[AGENT_UPDATE] = { "agent_update",
		"update agents set {=} where tenant_id = {$tenant_id} and id = {$id}",
		.row = &agent_row_schema },
	[AGENT_REMOVE] = { "agent_remove", "delete from agents where tenant_id = $1 and id = $2" },
	[AGENT_FILE] = { "agent_file", "insert into directory (id, tenant_id) values ($1, $2)" },
	[AGENT_UNFILE] = { "agent_unfile", "delete from directory where id = $1" },
	[AGENT_OWN] = { "agent_own",
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'OWNER', $4, $4)" },
	[AGENT_DEFAULTS] = { "agent_defaults",
		"select default_skill_visibility_scope as skill_visibility_scope from tenants where id = $1",
		.row = &agent_row_schema },
};
STATEMENT_SET(agent_sql, sql);

OPERATION(listAgents, .list = true, .reply = &AgentListRead_schema, .query = &agent_query_schema,
	.sorts = &agent_sorts)
{
	const struct agent_query *in = c->query;
	const struct caller *who = &c->caller;
	const char *kind = in->kind < 0 ? NULL : AgentKind_words.list[in->kind];
	const char *pattern = in->q ? fold_pattern(c->arena, in->q) : NULL;
	bool plain = !kind && !pattern && in->favorite < 0 && !in->include_hidden && !c->page.sort;
	struct AgentListRead *row;
	int err;

	if (plain && caller_holds_all(who))
		err = call_list(c, &sql[AGENT_PLAIN], ARGS(T(who->tenant_id), T(who->user_id)));
	else
		err = call_list(c, &sql[AGENT_LIST],
			ARGS(T(who->tenant_id), T(who->user_id), N(caller_holds_all(who)),
				N(in->include_hidden), T(kind), T(pattern),
				N(in->favorite < 0 ? NIL : in->favorite)));
	row = c->items.at;
	for (size_t i = 0; !err && i < c->items.count; i++)
		row[i].plan_read_only = caller_reads_only(who, row[i].id);
	return err;
}

/* Whoever makes an agent is its OWNER; a super administrator from outside the tenant holds that anyway. */
static int own(struct call *c, const struct agent_row *row)
{
	if (c->caller.role < 0)
		return 0;
	return db_run(c->db, &sql[AGENT_OWN], NULL,
		ARGS(T(row->tenant_id), T(row->id), T(c->caller.user_id), N(row->created_at.us)));
}

static int duplicate_slug(struct call *c, int err, const char *slug)
{
	if (err != ERR_DUPLICATE)
		return err;
	return call_fail(c, ERR_TAKEN, "This tenant has an agent with the slug %s already.", slug);
}

OPERATION(createAgent, .body = &AgentCreate_schema, .reply = &AgentRead_schema)
{
	const struct AgentCreate *in = c->body;
	struct agent_row row, defaults;
	int64_t now;
	struct id id = id_new(&now);
	int err = plan_admits_agent(c);

	if (!err)
		err = db_one(c->db, c->arena, &sql[AGENT_DEFAULTS], &defaults,
			ARGS(T(c->caller.tenant_id)));
	if (err)
		return err;
	schema_init(&agent_row_schema, c->arena, &row);
	schema_copy(&AgentCreate_schema, in, &agent_row_schema, &row);
	row.id = arena_strdup(c->arena, id.text);
	row.tenant_id = c->caller.tenant_id;
	row.code_ref = "main";
	row.is_active = row.default_role_enabled = row.external_mail_enabled = true;
	row.skill_visibility_scope = defaults.skill_visibility_scope;
	row.created_by_id = c->caller.user_id;
	row.created_at.us = row.updated_at.us = now;
	row.name_folded = fold(c->arena, row.name);
	err = duplicate_slug(c, db_put(c->db, c->arena, &sql[AGENT_INSERT], &row), row.slug);
	if (!err)
		err = db_run(c->db, &sql[AGENT_FILE], NULL, ARGS(T(row.id), T(row.tenant_id)));
	if (!err)
		err = own(c, &row);
	if (!err)
		err = tenant_count(c->db, row.tenant_id, 1, 0);
	if (err)
		return err;
	schema_copy(&agent_row_schema, &row, &AgentRead_schema, c->reply);
	c->audit.resource_id = c->audit.agent_id = row.id;
	c->location = arena_printf(c->arena, "/tenant/%s/agents/%s", row.tenant_id, row.id);
	return 0;
}

int agent_show(struct call *c)
{
	struct AgentRead *out = c->reply;
	int err = db_one(c->db, c->arena, &sql[AGENT_READ], out,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (!err)
		out->plan_read_only = caller_reads_only(&c->caller, out->id);
	return err;
}

OPERATION(readAgent, .reply = &AgentRead_schema)
{
	return agent_show(c);
}

OPERATION(updateAgent, .body = &AgentUpdate_schema, .reply = &AgentRead_schema)
{
	struct agent_row before, after;
	int err = db_one(c->db, c->arena, &sql[AGENT_ROW], &before,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));

	if (err)
		return err;
	after = before;
	schema_patch(&AgentUpdate_schema, c->body, &agent_row_schema, &after);
	after.name_folded = fold(c->arena, after.name);
	call_changed(c, &agent_row_schema, &before, &after);
	after.updated_at.us = c->now > before.updated_at.us ? c->now : before.updated_at.us + 1;
	err = db_put(c->db, c->arena, &sql[AGENT_UPDATE], &after);
	schema_copy(&agent_row_schema, &after, &AgentRead_schema, c->reply);
	c->audit.resource_id = after.id;
	return err;
}

OPERATION(deleteAgent)
{
	const struct caller *who = &c->caller;
	int err =
		db_run(c->db, &sql[AGENT_REMOVE], NULL, ARGS(T(who->tenant_id), T(who->agent_id)));

	if (!err)
		err = db_run(c->db, &sql[AGENT_UNFILE], NULL, ARGS(T(who->agent_id)));
	if (!err)
		err = tenant_count(c->db, who->tenant_id, -1, 0);
	if (!err && who->read_only_after)
		err = plan_settle(c->db, c->arena, who->tenant_id);
	c->audit.resource_id = who->agent_id;
	return err;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/agents", &listAgents, PERM_TENANT_READ, 200,
		.tag = "Agents", .doc = "List the agents the caller can see, newest first." },
	{ METHOD_POST, "/tenant/{tenant_id}/agents", &createAgent, PERM_AGENTS_CREATE, 201,
		"agent.create", .tag = "Agents",
		.doc = "Create an agent; the caller becomes its OWNER." },
	{ METHOD_GET, "/tenant/{tenant_id}/agents/{agent_id}", &readAgent, PERM_AGENT_READ, 200,
		.tag = "Agents", .finds_agent = true, .doc = "Read an agent." },
	{ METHOD_PATCH, "/tenant/{tenant_id}/agents/{agent_id}", &updateAgent, PERM_AGENT_WRITE,
		200, "agent.update", .tag = "Agents", .finds_agent = true,
		.doc = "Change the fields that are sent; null clears." },
	{ METHOD_DELETE, "/tenant/{tenant_id}/agents/{agent_id}", &deleteAgent, PERM_AGENT_DELETE,
		204, "agent.delete", .tag = "Agents",
		.doc = "Delete an agent and everything that hangs on it." },
};
RESOURCE(agents, routes, agents_schemas);
