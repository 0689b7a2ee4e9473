/* agent_row.c - see agent_row.h. */
#include "api/agents/agent_row.h"

#include <string.h>

#include "api/agents/agents.h"
#include "call/operation.h"
#include "api/plans/plans.h"
#include "api/models/model_row.h"
#include "search/search.h"
#include "api/skills/skills.h"
#include "base/fold.h"
#include "base/id.h"
#include "base/same.h"
#include "mailboxes/mailbox.h"
#include "repos/converge.h"

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
	FIELD(agent_row, hourly_limit_usd, .column = "hourly_limit_pd", .nullable = true),
	FIELD(agent_row, voice, .nullable = true),
	FIELD(agent_row, avatar_sha256, .nullable = true),
	FIELD(agent_row, created_by_id, .nullable = true),
	FIELD(agent_row, created_by_agent_id, .nullable = true),
	FIELD(agent_row, created_at),
	FIELD(agent_row, updated_at),
	FIELD(agent_row, bootstrap_session_id, .nullable = true, .derived = true),
	FIELD(agent_row, name_folded, .derived = true),
	FIELD(agent_row, ssh_public_key, .nullable = true),
	FIELD(agent_row, description, .nullable = true),
	FIELD(agent_row, initial_greeting, .nullable = true),
	FIELD(agent_row, description_prompt, .nullable = true),
	FIELD(agent_row, bootstrap_instructions, .nullable = true),
};
SCHEMA(agent_row, .internal = true);

/* After the tenant's last agent in the file, or where its range of places begins. */
#define NEXT_PLACE                                                                   \
	"(select max(t.place << 32, coalesce((select a.place + 1 from agent_rows a " \
	"where a.place < ((t.place + 1) << 32) order by a.place desc limit 1), 0)) " \
	"from tenants t where t.id = :tenant_id)"

enum { ROW_READ, ROW_INSERT, ROW_UPDATE, ROW_FILE, ROW_OWN, ROW_DEFAULTS };

static const struct statement sql[] = {
	[ROW_READ] = { "agent_row", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &agent_row_schema },
	[ROW_INSERT] = { "agent_insert",
		"insert into agent_rows (place, {*}) values (" NEXT_PLACE ", {$})",
		.postgres = "insert into agent_rows ({*}) values ({$})", .row = &agent_row_schema,
		.across = "places are numbers of the house" },
	[ROW_UPDATE] = { "agent_update",
		"update agent_rows set {=} where tenant_id = :tenant_id and id = :id",
		.row = &agent_row_schema },
	[ROW_FILE] = { "agent_file", "insert into directory (id, tenant_id) values ($1, $2)" },
	[ROW_OWN] = { "agent_own",
		"insert into agent_roles (tenant_id, agent_id, user_id, role, created_at, updated_at) "
		"values ($1, $2, $3, 'OWNER', $4, $4)" },
	[ROW_DEFAULTS] = { "agent_defaults",
		"select default_skill_visibility_scope as skill_visibility_scope from tenants where id = $1",
		.row = &agent_row_schema },
};
STATEMENT_SET(agent_row_sql, sql);

int agent_row_read(struct call *c, struct agent_row *ret)
{
	return db_one(c->db, c->arena, &sql[ROW_READ], ret,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

/* A super administrator from outside the tenant holds OWNER anyway. */
struct agent_maker agent_maker_of(const struct call *c)
{
	return (struct agent_maker){ c->caller.tenant_id, c->caller.user_id, c->caller.role >= 0 };
}

static int index_new(struct db *db, struct arena *a, const struct agent_row *row)
{
	return search_add(db, a,
		&(struct search_entry){ .tenant_id = row->tenant_id,
			.type = MentionType_agent,
			.id = row->id,
			.label = row->name,
			.extra = row->slug,
			.detail = row->slug,
			.level = search_agent_level(
				row->is_admin_only, row->hidden, row->default_role_enabled) });
}

int agent_row_enter(
	struct db *db, struct arena *a, const struct agent_maker *who, struct agent_row *row)
{
	struct id id = id_new(&row->created_at.us);
	int err;

	row->id = arena_strdup(a, id.text);
	row->tenant_id = who->tenant_id;
	row->created_by_id = who->user_id;
	row->bootstrap_session_id = NULL;
	row->updated_at = row->created_at;
	row->name_folded = fold(a, row->name);
	err = db_put(db, &sql[ROW_INSERT], row);
	if (!err)
		err = db_run(db, &sql[ROW_FILE], NULL, ARGS(T(row->id), T(row->tenant_id)));
	if (!err && who->owns)
		err = db_run(db, &sql[ROW_OWN], NULL,
			ARGS(T(row->tenant_id), T(row->id), T(who->user_id),
				N(row->created_at.us)));
	if (!err)
		err = index_new(db, a, row);
	if (!err)
		err = mailbox_converge(db, a, row->tenant_id, row->id,
			&(struct mailbox_walk){ .internal = true, .external = true });
	return err ? err : tenant_count(db, row->tenant_id, 1, 0);
}

int agent_row_begin(struct db *db, struct arena *a, const char *tenant_id,
	const struct AgentCreate *in, struct agent_row *ret)
{
	struct agent_row defaults;
	int err = db_one(db, a, &sql[ROW_DEFAULTS], &defaults, ARGS(T(tenant_id)));

	if (err)
		return err;
	schema_init(&agent_row_schema, a, ret);
	schema_copy(&AgentCreate_schema, in, &agent_row_schema, ret);
	ret->code_ref = "main";
	ret->is_active = ret->default_role_enabled = ret->external_mail_enabled = true;
	ret->skill_visibility_scope = defaults.skill_visibility_scope;
	return 0;
}

int agent_row_make(struct db *db, struct arena *a, const struct agent_maker *who,
	const struct AgentCreate *in, bool is_seed, struct agent_row *ret)
{
	int err = agent_row_begin(db, a, who->tenant_id, in, ret);

	if (err)
		return err;
	ret->is_seed = is_seed;
	err = agent_row_enter(db, a, who, ret);
	return err ? err : model_give_default(db, a, ret->tenant_id, ret->id, ret->created_at.us);
}

void agent_row_tell(struct call *c, const struct agent_row *row, struct AgentRead *out)
{
	schema_copy(&agent_row_schema, row, &AgentRead_schema, out);
	c->audit.agent_id = row->id;
}

static bool same_prompts(const struct agent_row *x, const struct agent_row *y)
{
	return same_text(x->description_prompt, y->description_prompt) &&
	       same_text(x->bootstrap_instructions, y->bootstrap_instructions) &&
	       same_text(x->initial_greeting, y->initial_greeting);
}

int agent_row_change(struct call *c, const struct agent_row *before, struct agent_row *after)
{
	int err;

	after->name_folded = fold(c->arena, after->name);
	if (!same_text(before->bootstrap_instructions, after->bootstrap_instructions))
		after->bootstrap_session_id = NULL; /* new ones are given anew */
	err = call_update(c, CHANGE(agent_row, before, after), &sql[ROW_UPDATE]);
	if (!err)
		err = search_refresh(
			c->db, c->arena, after->tenant_id, MentionType_agent, after->id);
	if (!err && after->external_mail_enabled != before->external_mail_enabled)
		err = mailbox_converge(c->db, c->arena, after->tenant_id, after->id,
			&(struct mailbox_walk){ .external = true });
	if (!err && !same_prompts(before, after))
		err = repo_prompts_changed(c->db, c->arena, after->tenant_id, after->id, c->now);
	return err;
}
