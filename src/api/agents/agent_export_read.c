/* agent_export_read.c - all that a bundle says of an agent, from the store; see agent_export.h.
 *
 * Settings of tools and skills may be secrets and are left out.  As they may
 * also be what keeps a tool within bounds, whatever has some is exported
 * switched off, as it is in a copy. */
#include <string.h>

#include "api/agents/agent_export.h"
#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/agents/agents.h"
#include "api/skills/skill_store.h"
#include "contract/encode.h"
#include "sessions/session.h"
#include "store/row.h"

enum { SETTINGS_MAX = 8 * 1024 * 1024, MD_LONGEST = 4 * 1024 * 1024 };

struct exported_tool {
	const char *name, *id, *configuration;
	bool is_enabled;
};

FIELDS(exported_tool) = {
	ROW_FIELDS(exported_tool, name, id, is_enabled),
	FIELD(exported_tool, configuration, .secret = true),
};
static SCHEMA(exported_tool, .internal = true);

/* The text that the agent uses: the one that stands, or the one it is pinned to. */
struct exported_skill {
	const char *grant_id, *config_sealed, *digest;
	bool is_enabled;
	const char *id, *tenant_id, *name, *slug, *description, *license, *compatibility;
	struct list allowed_tools;
	struct json metadata;
	const char *instructions;
};

FIELDS(exported_skill) = {
	ROW_FIELDS(exported_skill, grant_id, is_enabled, id, tenant_id, name, slug, description),
	FIELD(exported_skill, config_sealed, .nullable = true, .secret = true),
	ROW_NULLABLE(exported_skill, digest, license, compatibility),
	FIELD(exported_skill, allowed_tools, .item = TEXT),
	FIELD(exported_skill, metadata),
	FIELD(exported_skill, instructions),
};
static SCHEMA(exported_skill, .internal = true);

struct exported_file {
	const char *path;
	int64_t size_bytes;
	const char *sha256, *content;
};

FIELDS(exported_file) = { ROW_FIELDS(exported_file, path, size_bytes, sha256, content) };
static SCHEMA(exported_file, .internal = true);

struct exported_session {
	const char *id, *title;
	struct moment created_at, updated_at;
};

FIELDS(exported_session) = {
	ROW_FIELDS(exported_session, id, created_at, updated_at),
	ROW_NULLABLE(exported_session, title),
};
static SCHEMA(exported_session, .internal = true);

/* Whose bundle it is, and who looks. */
struct export_search {
	const char *tenant_id, *agent_id, *user_id;
	bool sees_private;
};

FIELDS(export_search) = {
	ROW_FIELDS(export_search, tenant_id, agent_id, sees_private),
	ROW_NULLABLE(export_search, user_id),
};
static SCHEMA(export_search, .internal = true);

enum {
	EXPORT_ROW,
	EXPORT_MODELS,
	EXPORT_TOOLS,
	EXPORT_BUNDLES,
	EXPORT_SKILLS,
	EXPORT_SKILL_COUNT,
	EXPORT_FILES,
	EXPORT_PINNED_FILES,
	EXPORT_MEMORIES,
	EXPORT_SESSIONS,
	EXPORT_UNMAILED,
	EXPORT_OWN_SESSIONS,
	EXPORT_MESSAGES,
	EXPORT_FIND,
};

#define NEITHER_SUBTASK "and s.parent_session_id is null order by s.id desc limit $3"

static const struct statement sql[] = {
	[EXPORT_ROW] = { "export_agent", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &agent_row_schema },
	/* One that the agent may only see is none of its chain. */
	[EXPORT_MODELS] = { "export_models",
		"select m.slug as value from agent_models g join models m on m.id = g.model_id "
		"where g.tenant_id = $1 and g.agent_id = $2 and g.access = 'full' "
		"order by g.priority, g.created_at, g.model_id",
		.row = &one_text_schema },
	[EXPORT_TOOLS] = { "export_tools",
		"select t.name, g.id, g.is_enabled, g.configuration from agent_tools g "
		"join tools t on t.tenant_id = $1 and t.id = g.tool_id "
		"where g.tenant_id = $1 and g.agent_id = $2 order by t.name",
		.row = &exported_tool_schema },
	[EXPORT_BUNDLES] = { "export_bundles",
		"select b.slug as value from agent_tool_bundles g join tool_bundles b "
		"on b.tenant_id = $1 and b.id = g.bundle_id "
		"where g.tenant_id = $1 and g.agent_id = $2 order by b.slug",
		.row = &one_text_schema },
	[EXPORT_SKILLS] = { "export_skills",
		"select g.id as grant_id, g.config_sealed, g.digest, g.is_enabled, s.id, s.tenant_id, "
		"coalesce(v.name, s.name) as name, coalesce(v.slug, s.slug) as slug, "
		"coalesce(v.description, s.description) as description, s.license, s.compatibility, "
		"coalesce(v.allowed_tools, s.allowed_tools) as allowed_tools, "
		"coalesce(v.metadata, s.metadata) as metadata, "
		"coalesce(v.instructions, s.instructions) as instructions "
		"from agent_skills g join skills s on s.tenant_id = g.skill_tenant_id "
		"and s.id = g.skill_id left join skill_versions v on v.tenant_id = s.tenant_id "
		"and v.skill_id = s.id and v.digest = g.digest "
		"where g.tenant_id = :tenant_id and g.agent_id = :agent_id and " SKILLS_SEEN
		"order by s.slug, s.id",
		.row = &exported_skill_schema, .args = &export_search_schema },
	[EXPORT_SKILL_COUNT] = { "export_skill_count",
		"select count(*) from agent_skills where tenant_id = $1 and agent_id = $2" },
	[EXPORT_FILES] = { "export_files_of",
		"select {*} from skill_files where tenant_id = $1 and skill_id = $2 order by path",
		.row = &exported_file_schema },
	[EXPORT_PINNED_FILES] = { "export_pinned_files",
		"select {*} from skill_version_files where tenant_id = $1 and skill_id = $2 "
		"and digest = $3 order by path",
		.row = &exported_file_schema },
	[EXPORT_MEMORIES] = { "export_memories",
		"select content, created_at from memories where tenant_id = $1 and agent_id = $2 "
		"and scope = 'shared' order by id desc limit $3",
		.row = &BundleMemory_schema },
	[EXPORT_SESSIONS] = { "export_sessions",
		"select {s.*} from sessions s where s.tenant_id = $1 and s.agent_id = $2 " NEITHER_SUBTASK,
		.row = &exported_session_schema },
	[EXPORT_UNMAILED] = { "export_unmailed_sessions",
		"select {s.*} from sessions s where s.tenant_id = $1 and s.agent_id = $2 "
		"and " SESSION_UNMAILED("$4") " " NEITHER_SUBTASK,
		.row = &exported_session_schema },
	[EXPORT_OWN_SESSIONS] = { "export_own_sessions",
		"select {s.*} from session_people p cross join sessions s where p.tenant_id = $1 "
		"and p.user_id = $4 and s.tenant_id = $1 and s.id = p.session_id and s.agent_id = $2 " NEITHER_SUBTASK,
		.row = &exported_session_schema },
	[EXPORT_MESSAGES] = { "export_messages_of",
		"select role, content, tool_calls, tool_call_id, created_at from messages "
		"where tenant_id = $1 and session_id = $2 and status = 'complete' order by id desc limit $3",
		.row = &BundleMessage_schema },
	[EXPORT_FIND] = { "export_find",
		"select id as value from agents where tenant_id = $1 and slug = $2",
		.row = &one_text_schema },
};
STATEMENT_SET(agent_export_sql, sql);

static void leave_out(const struct agent_exporter *who, struct agent_bundle *b, const char *text)
{
	*BUNDLE_ADD(who->a, &b->warnings, const char *) = text;
}

static const char *export_text(struct arena *a, const struct schema *s, const void *object)
{
	struct buf b;

	buf_init(&b, SETTINGS_MAX);
	encode_object(&b, s, object);
	return arena_take(a, &b);
}

/* ---- the agent itself ---- */

static int read_own(const struct agent_exporter *who, struct agent_bundle *b)
{
	struct AgentBundleSettings settings;
	struct AgentChatConfigRead chat;
	struct chat_config config;
	struct agent_row row;
	int err = db_one(
		who->db, who->a, &sql[EXPORT_ROW], &row, ARGS(T(who->tenant_id), T(who->agent_id)));

	if (!err)
		err = chat_config_read(who->db, who->a, who->tenant_id, who->agent_id, &config);
	if (err)
		return err;
	schema_init(&AgentBundleSettings_schema, who->a, &settings);
	schema_copy(&agent_row_schema, &row, &AgentBundleSettings_schema, &settings);
	schema_copy(&chat_config_schema, &config, &AgentChatConfigRead_schema, &chat);
	b->platform = "lodge";
	b->settings = export_text(who->a, &AgentBundleSettings_schema, &settings);
	b->chat = export_text(who->a, &AgentChatConfigRead_schema, &chat);
	b->exported_at = row.updated_at;
	b->prompt = row.description_prompt;
	b->bootstrap = row.bootstrap_instructions;
	return 0;
}

static int read_texts(
	const struct agent_exporter *who, int statement, struct list *ret, size_t most)
{
	const struct one_text *text;
	struct list rows;
	int err = db_all(who->db, who->a, &sql[statement], &rows, most,
		ARGS(T(who->tenant_id), T(who->agent_id)));

	text = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		*BUNDLE_ADD(who->a, ret, const char *) = text[i].value;
	return err;
}

/* True if something is set that a bundle does not carry. */
static bool has_settings(const struct agent_exporter *who, const char *id, const char *sealed)
{
	const char *text;

	if (!sealed || !*sealed)
		return false;
	text = who->vault ? vault_open_text(who->vault, who->a, id, sealed) : NULL;
	return !text || strcmp(text, "{}") != 0;
}

static int read_tools(const struct agent_exporter *who, struct agent_bundle *b)
{
	const struct exported_tool *t;
	struct list rows;
	int err = db_all(who->db, who->a, &sql[EXPORT_TOOLS], &rows, BUNDLE_TOOLS_MAX,
		ARGS(T(who->tenant_id), T(who->agent_id)));

	t = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++)
		*BUNDLE_ADD(who->a, &b->tools, struct BundleTool) = (struct BundleTool){ t[i].name,
			t[i].is_enabled && !has_settings(who, t[i].id, t[i].configuration) };
	return err ? err : read_texts(who, EXPORT_BUNDLES, &b->tool_bundles, BUNDLE_TOOLS_MAX);
}

/* ---- skills ---- */

static int read_skill_files(
	const struct agent_exporter *who, const struct exported_skill *s, struct bundle_skill *to)
{
	const struct exported_file *f;
	struct SkillRead head;
	struct list rows;
	struct buf md;
	int err = db_all(who->db, who->a, &sql[s->digest ? EXPORT_PINNED_FILES : EXPORT_FILES],
		&rows, SKILL_FILES_MAX, ARGS(T(s->tenant_id), T(s->id), T(s->digest)));

	if (err)
		return err;
	schema_init(&SkillRead_schema, who->a, &head);
	schema_copy(&exported_skill_schema, s, &SkillRead_schema, &head);
	buf_init(&md, MD_LONGEST);
	skill_md_write(&md, who->a, &head);
	to->files = arena_array(who->a, struct bundle_file, rows.count + 1);
	to->files[0] = (struct bundle_file){ SKILL_MD, NULL, md.len };
	to->files[0].bytes = arena_take(who->a, &md);
	f = rows.at;
	for (size_t i = 0; i < rows.count; i++) {
		const struct skill_file kept = { f[i].path, f[i].size_bytes, f[i].sha256,
			f[i].content };
		struct bundle_file *file = &to->files[i + 1];

		file->name = f[i].path;
		file->bytes = skill_file_bytes(who->a, &kept, &file->len);
	}
	to->count = rows.count + 1;
	return 0;
}

static int read_skills(const struct agent_exporter *who, struct agent_bundle *b)
{
	const struct export_search asked = { who->tenant_id, who->agent_id, who->user_id,
		who->sees_private_skills };
	const struct exported_skill *s;
	struct list rows;
	int64_t held = 0;
	int err = db_all(who->db, who->a, &sql[EXPORT_SKILLS], &rows, BUNDLE_SKILLS_MAX,
		BY_NAME(export_search, &asked));

	if (!err)
		err = db_int(who->db, &sql[EXPORT_SKILL_COUNT], &held,
			ARGS(T(who->tenant_id), T(who->agent_id)));
	s = rows.at;
	for (size_t i = 0; !err && i < rows.count; i++) {
		struct bundle_skill *to;

		if (i && strcmp(s[i].slug, s[i - 1].slug) == 0)
			continue; /* another tenant's of the same name: a bundle has one folder for it */
		to = BUNDLE_ADD(who->a, &b->skills, struct bundle_skill);

		to->folder = s[i].slug;
		to->is_enabled =
			s[i].is_enabled && !has_settings(who, s[i].grant_id, s[i].config_sealed);
		err = read_skill_files(who, &s[i], to);
	}
	if (!err && held > (int64_t)b->skills.count)
		leave_out(who, b,
			arena_printf(who->a,
				"%lld skills of the agent that whoever exported it does not see, that have the name of another, or that are more than %d, were left out.",
				(long long)(held - (int64_t)b->skills.count), BUNDLE_SKILLS_MAX));
	return err;
}

/* ---- what it knows and has said ---- */

/* Read newest first, so that a limit keeps those; shown in the order in which they came. */
static void turn_round(struct arena *a, struct list *l, size_t size)
{
	char *from = l->at, *to = arena_alloc(a, size * (l->count + 1));

	for (size_t i = 0; i < l->count; i++)
		memcpy(to + i * size, from + (l->count - 1 - i) * size, size);
	l->at = to;
}

static int read_memories(const struct agent_exporter *who, struct agent_bundle *b)
{
	int err = db_all(who->db, who->a, &sql[EXPORT_MEMORIES], &b->memories,
		BUNDLE_MEMORIES_MAX + 1,
		ARGS(T(who->tenant_id), T(who->agent_id), N(BUNDLE_MEMORIES_MAX + 1)));

	if (err)
		return err;
	if (b->memories.count > BUNDLE_MEMORIES_MAX) {
		b->memories.count = BUNDLE_MEMORIES_MAX;
		leave_out(who, b,
			arena_printf(who->a, "Only the newest %d memories are in the bundle.",
				BUNDLE_MEMORIES_MAX));
	}
	turn_round(who->a, &b->memories, sizeof(struct BundleMemory));
	return 0;
}

/* *ret_cut: it has more messages than there is room for; its newest are taken. */
static int read_session(const struct agent_exporter *who, const struct exported_session *from,
	struct agent_bundle *b, bool *ret_cut)
{
	struct bundle_session *s = BUNDLE_ADD(who->a, &b->sessions, struct bundle_session);
	size_t most = BUNDLE_MESSAGES_MAX - b->messages;
	int err = db_all(who->db, who->a, &sql[EXPORT_MESSAGES], &s->messages, most + 1,
		ARGS(T(who->tenant_id), T(from->id), N((int64_t)most + 1)));

	if (err)
		return err;
	*ret_cut = s->messages.count > most;
	if (*ret_cut)
		s->messages.count = most;
	turn_round(who->a, &s->messages, sizeof(struct BundleMessage));
	s->head = (struct BundleSession){ from->title, from->created_at, from->updated_at };
	b->messages += s->messages.count;
	return 0;
}

/* The newest, in the order in which they were begun. */
static int read_sessions(const struct agent_exporter *who, struct agent_bundle *b)
{
	const struct exported_session *s;
	struct list rows;
	bool cut = false;
	int which = !who->all_sessions		       ? EXPORT_OWN_SESSIONS
		    : who->may & PERM(AGENT_MAIL_READ) ? EXPORT_SESSIONS
						       : EXPORT_UNMAILED;
	int err = db_all(who->db, who->a, &sql[which], &rows, BUNDLE_SESSIONS_MAX + 1,
		ARGS(T(who->tenant_id), T(who->agent_id), N(BUNDLE_SESSIONS_MAX + 1),
			T(who->user_id)));

	if (err)
		return err;
	s = rows.at;
	if (rows.count > BUNDLE_SESSIONS_MAX) {
		rows.count = BUNDLE_SESSIONS_MAX;
		leave_out(who, b,
			arena_printf(who->a, "Only the newest %d sessions are in the bundle.",
				BUNDLE_SESSIONS_MAX));
	}
	for (size_t i = 0; !err && i < rows.count && !cut; i++) {
		err = read_session(who, &s[i], b, &cut);
		if (who->told)
			who->told(who->told_ctx, i + 1, rows.count);
	}
	if (!err && cut)
		leave_out(who, b,
			arena_printf(who->a,
				"Only %d messages are in the bundle: %zu older sessions were left out, and the oldest that is there may lack its beginning.",
				BUNDLE_MESSAGES_MAX, rows.count - b->sessions.count));
	turn_round(who->a, &b->sessions, sizeof(struct bundle_session));
	return err;
}

static int read_avatar(const struct agent_exporter *who, struct agent_bundle *b)
{
	int err = agent_avatar_png(
		who->db, who->a, who->tenant_id, who->agent_id, &b->avatar.bytes, &b->avatar.len);

	return err == ERR_NOT_FOUND ? 0 : err;
}

static bool may_read(
	const struct agent_exporter *who, struct agent_bundle *b, permissions one, const char *what)
{
	if (who->may & one)
		return true;
	leave_out(who, b,
		arena_printf(
			who->a, "%s were left out: whoever exported it may not read them.", what));
	return false;
}

int agent_export_read(const struct agent_exporter *who, struct agent_bundle *ret)
{
	int err;

	*ret = (struct agent_bundle){ 0 };
	err = read_own(who, ret);
	if (!err)
		err = read_texts(who, EXPORT_MODELS, &ret->models, BUNDLE_MODELS_MAX);
	if (!err && may_read(who, ret, PERM(AGENT_TOOLS_WRITE), "Tools"))
		err = read_tools(who, ret);
	if (!err)
		err = read_skills(who, ret);
	if (!err && who->memories && may_read(who, ret, PERM(AGENT_READ), "Memories"))
		err = read_memories(who, ret);
	if (!err && who->sessions && may_read(who, ret, PERM(SESSION_READ), "Sessions"))
		err = read_sessions(who, ret);
	return err ? err : read_avatar(who, ret);
}

int agent_export_find(struct db *db, struct arena *a, const char *tenant_id, const char *slug,
	const char **ret_id)
{
	struct one_text found;
	int err = db_one(db, a, &sql[EXPORT_FIND], &found, ARGS(T(tenant_id), T(slug)));

	if (!err)
		*ret_id = found.value;
	return err;
}
