/* agent_import_more.c - what an imported agent knows and has said: skills, memories, sessions, each by itself; see
 * agent_import.h.
 *
 * A skill of the tenant that has the name and the very text of the file's is given as it is; one of that name with another
 * text is nobody's to replace here. */
#include <string.h>

#include "api/agents/agent_import.h"
#include "api/agents/agent_row.h"
#include "api/skills/skill_store.h"
#include "base/utf8_cut.h"
#include "contract/encode.h"
#include "sessions/session.h"
#include "store/row.h"

enum { MEMORY_CHARS = 8000, CALLS_BYTES = 1 << 20, SKILL_MD_MAX = 4 * 1024 * 1024 };

/* One more row, of all that hang on the agent. */
static void tell_row(const struct agent_importer *who, const struct agent_import *what, size_t done)
{
	if (who->told)
		who->told(who->told_ctx, done,
			what->skills.count + what->bundle.memories.count +
				what->bundle.sessions.count);
}

/* ---- skills ---- */

struct skill_try {
	const struct agent_importer *who;
	const struct import_skill *skill;
	const char *agent_id;
	const char *fault;
};

static const char *md_text(struct arena *a, const struct SkillRead *s)
{
	struct buf b;

	buf_init(&b, SKILL_MD_MAX);
	skill_md_write(&b, a, s);
	return arena_take(a, &b);
}

/* Do they hold the same, word for word and file for file? */
static bool same_skill(
	struct arena *a, const struct SkillRead *have, const struct skill_bundle *asked)
{
	const struct skill_file *file = asked->files.at;
	const struct SkillFile *had = have->files.at;
	struct SkillRead as_read;

	schema_init(&SkillRead_schema, a, &as_read);
	schema_copy(&SkillCreate_schema, &asked->head, &SkillRead_schema, &as_read);
	if (have->files.count != asked->files.count ||
		strcmp(md_text(a, have), md_text(a, &as_read)) != 0)
		return false;
	for (size_t i = 0; i < asked->files.count; i++)
		if (strcmp(file[i].path, had[i].path) != 0 ||
			strcmp(file[i].sha256, had[i].sha256) != 0)
			return false;
	return true;
}

static bool sees_skill(const struct agent_importer *who, const struct SkillRead *s)
{
	return s->visibility != SkillVisibility_private || who->tenant & PERM(SKILLS_WRITE) ||
	       (s->created_by_id && who->user_id && strcmp(s->created_by_id, who->user_id) == 0);
}

static int find_or_keep(struct skill_try *t, const char **ret_id)
{
	const struct agent_importer *who = t->who;
	struct skill_keeping how = { who->tenant_id, who->user_id, -1, false };
	struct SkillRead standing;
	struct skill_row row;
	bool replaced;
	int err = skill_by_slug(
		who->db, who->a, who->tenant_id, t->skill->bundle.head.slug, &standing);

	if (!err && sees_skill(who, &standing) &&
		same_skill(who->a, &standing, &t->skill->bundle)) {
		*ret_id = standing.id;
		return 0;
	}
	if (!err) {
		t->fault = "the tenant has another skill of this name";
		return ERR_CONFLICT;
	}
	if (err != ERR_NOT_FOUND)
		return err;
	if (!(who->tenant & PERM(SKILLS_WRITE))) {
		t->fault = "to make a skill needs skills:write";
		return ERR_FORBIDDEN;
	}
	err = skill_keep(who->db, who->a, &t->skill->bundle, &how, who->now, &row, &replaced);
	if (err)
		return err;
	*ret_id = row.id;
	return who->note(
		who->note_ctx, (struct audit_entry){ .action = "skill.import",
				       .tenant_id = who->tenant_id,
				       .resource_id = row.id,
				       .agent_id = t->agent_id,
				       .owner_id = who->user_id,
				       .meta = arena_printf(who->a,
					       "{\"slug\":\"%s\",\"files\":%zu,\"replaced\":false}",
					       row.slug, row.files.count) });
}

static int import_one_skill(void *ctx)
{
	struct skill_try *t = ctx;
	const char *id = NULL;
	int err;

	if (t->skill->fault) {
		t->fault = t->skill->fault;
		return ERR_INVALID;
	}
	if (!(t->who->agent & PERM(AGENT_SKILLS_WRITE))) {
		t->fault = "to give it needs agent:skills:write";
		return ERR_FORBIDDEN;
	}
	err = find_or_keep(t, &id);
	return err ? err
		   : agent_skill_give(t->who->db, t->who->a,
			     &(struct skill_grant){ t->who->tenant_id, t->agent_id, id,
				     t->who->tenant_id, t->skill->is_enabled, t->who->now });
}

static int import_skills(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	const struct import_skill *skill = what->skills.at;
	int err = 0;

	for (size_t i = 0; !err && i < what->skills.count; i++) {
		struct skill_try t = { who, &skill[i], agent_id, NULL };
		int failed;

		err = db_attempt(who->db, import_one_skill, &t, true, &failed);
		tell_row(who, what, i + 1);
		if (err)
			break;
		*(failed ? &out->skills_failed : &out->skills_imported) += 1;
		if (failed)
			agent_import_warn(who, out, "The skill in %s was not taken over: %s.",
				skill[i].folder, t.fault ? t.fault : error_row(failed)->title);
		else if (!skill[i].is_enabled)
			agent_import_warn(who, out,
				"The skill %s is switched off, as in the file; settings that it had are not part of one.",
				skill[i].bundle.head.slug);
	}
	return err;
}

/* ---- memories ---- */

struct memory_try {
	const struct agent_importer *who;
	const struct BundleMemory *memory;
	const char *agent_id;
};

static int import_one_memory(void *ctx)
{
	const struct memory_try *t = ctx;
	const struct agent_importer *who = t->who;
	int64_t at = t->memory->created_at.us;

	if (utf8_count(t->memory->content, strlen(t->memory->content)) > MEMORY_CHARS)
		return ERR_TOO_LARGE;
	return agent_memory_keep(who->db, who->a, who->tenant_id, t->agent_id, who->user_id,
		t->memory->content, at == NIL || at > who->now ? who->now : at);
}

static int import_memories(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	const struct BundleMemory *memory = what->bundle.memories.at;
	int err = 0;

	for (size_t i = 0; !err && i < what->bundle.memories.count; i++) {
		struct memory_try t = { who, &memory[i], agent_id };
		int failed;

		err = db_attempt(who->db, import_one_memory, &t, true, &failed);
		tell_row(who, what, what->skills.count + i + 1);
		if (err)
			break;
		*(failed ? &out->memories_failed : &out->memories_imported) += 1;
		if (failed)
			agent_import_warn(who, out, "Memory %zu (\"%.*s\") was not taken over: %s.",
				i + 1, UTF8_SHOWN(40, memory[i].content),
				failed == ERR_TOO_LARGE ? "it is longer than 8000 characters"
							: error_row(failed)->title);
	}
	return err;
}

/* ---- sessions ---- */

struct session_try {
	const struct agent_importer *who;
	const struct bundle_session *session;
	const char *agent_id;
	struct problem own;
};

static const char *calls_json(struct arena *a, const struct list *calls)
{
	const struct BundleCall *call = calls->at;
	struct buf b;

	if (!calls->count)
		return NULL;
	buf_init(&b, 2 * CALLS_BYTES);
	for (size_t i = 0; i < calls->count; i++) {
		buf_putc(&b, i ? ',' : '[');
		encode_object(&b, &BundleCall_schema, &call[i]);
	}
	buf_putc(&b, ']');
	return arena_take(a, &b);
}

static int import_one_session(void *ctx)
{
	struct session_try *t = ctx;
	const struct agent_importer *who = t->who;
	const struct BundleMessage *m = t->session->messages.at;
	size_t count = t->session->messages.count;
	struct session_past_message *past =
		arena_array(who->a, struct session_past_message, count + 1);
	const char *id;

	for (size_t i = 0; i < count; i++) {
		past[i] = (struct session_past_message){ bundle_roles.list[m[i].role], m[i].content,
			calls_json(who->a, &m[i].tool_calls), m[i].tool_call_id,
			m[i].created_at.us };
		if (strlen(m[i].content) + (past[i].calls ? strlen(past[i].calls) : 0) >
			SESSION_ANSWER_MAX)
			return problem_set(&t->own, who->a, ERR_TOO_LARGE,
				"message %zu has more than %d bytes", i + 1, SESSION_ANSWER_MAX);
	}
	return session_take_over(who->db, who->a,
		&(struct session_past){ .tenant_id = who->tenant_id,
			.agent_id = t->agent_id,
			.created_by_id = who->user_id,
			.origin = who->origin,
			.title = t->session->head.title,
			.begun_at = t->session->head.created_at.us,
			.ended_at = t->session->head.updated_at.us,
			.messages = past,
			.count = count,
			.now = who->now },
		&id, &t->own);
}

static int import_sessions(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	const struct bundle_session *session = what->bundle.sessions.at;
	int err = 0;

	if (what->bundle.sessions.count && !(who->agent & PERM(SESSION_WRITE))) {
		agent_import_warn(
			who, out, "Sessions were not taken over: that needs session:write.");
		return 0;
	}
	for (size_t i = 0; !err && i < what->bundle.sessions.count; i++) {
		struct session_try t = { who, &session[i], agent_id, { 0 } };
		int failed;

		err = db_attempt(who->db, import_one_session, &t, true, &failed);
		tell_row(who, what, what->skills.count + what->bundle.memories.count + i + 1);
		if (!err && !failed) {
			out->sessions_imported++;
			out->messages_imported += (int64_t)session[i].messages.count;
		} else if (!err) {
			agent_import_warn(who, out, "Session %zu was not taken over: %s", i + 1,
				t.own.detail ? t.own.detail : error_row(failed)->title);
		}
	}
	return err;
}

int agent_import_rows(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	int err = import_skills(who, what, agent_id, out);

	if (!err)
		err = import_memories(who, what, agent_id, out);
	return err ? err : import_sessions(who, what, agent_id, out);
}
