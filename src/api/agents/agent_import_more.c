/* agent_import_more.c - what an imported agent knows and has said: skills, memories, sessions, each by itself; see
 * agent_import.h.
 *
 * A skill of the tenant that has the name and the very text of the file's is given as it is; one of that name with another
 * text is nobody's to replace here. */
#include <string.h>

#include "api/agents/agent_import.h"
#include "api/agents/agent_row.h"
#include "api/plans/plans.h"
#include "api/skills/skill_store.h"
#include "base/utf8_cut.h"
#include "contract/encode.h"
#include "sessions/session.h"
#include "store/row.h"

enum { MEMORY_CHARS = 8000, CALLS_BYTES = 1 << 20, SKILL_MD_MAX = 4 * 1024 * 1024 };

/* Rows that go to the store in one go; where one of them fails, each goes by itself. */
enum { MEMORIES_TOGETHER = 500, SESSIONS_TOGETHER = 50 };

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
	bool again; /* one before it in the file has its name */
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
	if (who->dry)
		return 0;
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

	if (t->skill->fault || t->again) {
		t->fault = t->again ? "the file has another skill of this name" : t->skill->fault;
		return ERR_INVALID;
	}
	if (!(t->who->agent & PERM(AGENT_SKILLS_WRITE))) {
		t->fault = "to give it needs agent:skills:write";
		return ERR_FORBIDDEN;
	}
	err = find_or_keep(t, &id);
	return err || t->who->dry
		       ? err
		       : agent_skill_give(t->who->db, t->who->a,
				 &(struct skill_grant){ t->who->tenant_id, t->agent_id, id,
					 t->who->tenant_id, t->skill->is_enabled, t->who->now });
}

static bool skill_before(const struct import_skill *skill, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!skill[i].fault && !skill[at].fault &&
			strcmp(skill[i].bundle.head.slug, skill[at].bundle.head.slug) == 0)
			return true;
	return false;
}

static int import_skills(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	const struct import_skill *skill = what->skills.at;
	int err = 0;

	for (size_t i = 0; !err && i < what->skills.count; i++) {
		struct skill_try t = { who, &skill[i], agent_id, skill_before(skill, i), NULL };
		int failed = 0;

		if (who->dry)
			failed = import_one_skill(&t);
		else
			err = db_attempt(who->db, import_one_skill, &t, true, &failed);
		if (failed && error_row(failed)->status >= 500)
			err = failed; /* of a dry run: the store's, and no skill's */
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

/* ---- in one go ---- */

/* Rows of one kind, those from `at` up to `end`: those that can be put, by their places in the file. */
struct row_run {
	const struct agent_importer *who;
	const struct agent_import *what;
	const char *agent_id;
	struct AgentImportResult *out;
	const size_t *place;
	size_t at, end;
	int (*put)(const struct row_run *r, size_t place, struct problem *own);
	void (*counted)(const struct row_run *r, size_t place, int err, const struct problem *own);
	struct problem own;
};

static int put_run(void *ctx)
{
	struct row_run *r = ctx;
	int err = 0;

	for (size_t i = r->at; !err && i < r->end; i++)
		err = r->put(r, r->place[i], &r->own);
	return err;
}

static int put_together(struct row_run *r, size_t count, size_t most, size_t told)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i = r->end) {
		int failed = 0;

		r->at = i;
		r->end = count - i < most ? count : i + most;
		r->own = (struct problem){ 0 };
		if (!r->who->dry)
			err = db_attempt_all(r->who->db, put_run, r, &failed);
		if (!err && failed && r->end > i + 1) { /* which of them was it? */
			struct row_run alone = *r;

			alone.place += i;
			err = put_together(&alone, r->end - i, 1, told + i);
			continue;
		}
		for (size_t k = i; !err && k < r->end; k++)
			r->counted(r, r->place[k], failed, &r->own);
		tell_row(r->who, r->what, told + r->end);
	}
	return err;
}

/* ---- memories ---- */

static int put_memory(const struct row_run *r, size_t place, struct problem *own)
{
	const struct BundleMemory *memory =
		(const struct BundleMemory *)r->what->bundle.memories.at + place;
	const struct agent_importer *who = r->who;
	int64_t at = memory->created_at.us;

	(void)own;
	return agent_memory_keep(who->db, who->a, who->tenant_id, r->agent_id, who->user_id,
		memory->content, at == NIL || at > who->now ? who->now : at);
}

static void count_memory(const struct row_run *r, size_t place, int err, const struct problem *own)
{
	const struct BundleMemory *memory =
		(const struct BundleMemory *)r->what->bundle.memories.at + place;

	(void)own;
	*(err ? &r->out->memories_failed : &r->out->memories_imported) += 1;
	if (err)
		agent_import_warn(r->who, r->out, "Memory %zu (\"%.*s\") was not taken over: %s.",
			place + 1, UTF8_SHOWN(40, memory->content),
			err == ERR_TOO_LARGE ? "it is longer than 8000 characters"
					     : error_row(err)->title);
}

static int import_memories(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	const struct BundleMemory *memory = what->bundle.memories.at;
	size_t count = what->bundle.memories.count, sound = 0;
	size_t *place = arena_array(who->a, size_t, count + 1);
	struct row_run r = { .who = who,
		.what = what,
		.agent_id = agent_id,
		.out = out,
		.place = place,
		.put = put_memory,
		.counted = count_memory };

	if (count && !(who->agent & PERM(AGENT_WRITE))) {
		out->memories_failed = (int64_t)count;
		agent_import_warn(
			who, out, "Memories were not taken over: that needs agent:write.");
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		if (utf8_count(memory[i].content, strlen(memory[i].content)) > MEMORY_CHARS)
			count_memory(&r, i, ERR_TOO_LARGE, NULL);
		else
			place[sound++] = i;
	return put_together(&r, sound, MEMORIES_TOGETHER, what->skills.count);
}

/* ---- sessions ---- */

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

static const struct bundle_session *session_at(const struct row_run *r, size_t place)
{
	return (const struct bundle_session *)r->what->bundle.sessions.at + place;
}

static int put_session(const struct row_run *r, size_t place, struct problem *own)
{
	const struct bundle_session *session = session_at(r, place);
	const struct agent_importer *who = r->who;
	const struct BundleMessage *m = session->messages.at;
	size_t count = session->messages.count;
	struct session_past_message *past =
		arena_array(who->a, struct session_past_message, count + 1);
	const char *id;

	for (size_t i = 0; i < count; i++)
		past[i] = (struct session_past_message){ bundle_roles.list[m[i].role], m[i].content,
			calls_json(who->a, &m[i].tool_calls), m[i].tool_call_id,
			m[i].created_at.us };
	return session_take_over(who->db, who->a,
		&(struct session_past){ .tenant_id = who->tenant_id,
			.agent_id = r->agent_id,
			.created_by_id = who->user_id,
			.origin = who->origin,
			.title = session->head.title,
			.begun_at = session->head.created_at.us,
			.ended_at = session->head.updated_at.us,
			.messages = past,
			.count = count,
			.now = who->now },
		&id, own);
}

static void count_session(const struct row_run *r, size_t place, int err, const struct problem *own)
{
	if (err) {
		agent_import_warn(r->who, r->out, "Session %zu was not taken over: %s", place + 1,
			own->detail ? own->detail : error_row(err)->title);
		return;
	}
	r->out->sessions_imported++;
	r->out->messages_imported += (int64_t)session_at(r, place)->messages.count;
}

/* A message that no session would take. */
static int check_session(const struct row_run *r, size_t place, struct problem *own)
{
	const struct bundle_session *session = session_at(r, place);
	const struct BundleMessage *m = session->messages.at;

	for (size_t i = 0; i < session->messages.count; i++) {
		const struct BundleCall *call = m[i].tool_calls.at;
		size_t len = strlen(m[i].content);

		for (size_t k = 0; k < m[i].tool_calls.count; k++)
			len += strlen(call[k].arguments.text) + strlen(call[k].name) +
			       strlen(call[k].id);
		if (len > SESSION_ANSWER_MAX)
			return problem_set(own, r->who->a, ERR_TOO_LARGE,
				"message %zu has more than %d bytes", i + 1, SESSION_ANSWER_MAX);
	}
	return 0;
}

static int import_sessions(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	size_t count = what->bundle.sessions.count, sound = 0;
	size_t *place = arena_array(who->a, size_t, count + 1);
	struct row_run r = { .who = who,
		.what = what,
		.agent_id = agent_id,
		.out = out,
		.place = place,
		.put = put_session,
		.counted = count_session };
	int64_t left = 0;
	int err;

	if (!count)
		return 0;
	if (!(who->agent & PERM(SESSION_WRITE))) {
		agent_import_warn(
			who, out, "Sessions were not taken over: that needs session:write.");
		return 0;
	}
	err = plan_sessions_left(who->db, who->tenant_id, who->now, &left);
	for (size_t i = 0; !err && i < count; i++) {
		struct problem own = { 0 };
		int fault = check_session(&r, i, &own);

		if (fault) {
			count_session(&r, i, fault, &own);
		} else if ((int64_t)sound >= left) {
			agent_import_warn(who, out,
				"Session %zu and those after it were not taken over: the tenant's plan allows no more today.",
				i + 1);
			break;
		} else {
			place[sound++] = i;
		}
	}
	return err ? err
		   : put_together(&r, sound, SESSIONS_TOGETHER,
			     what->skills.count + what->bundle.memories.count);
}

int agent_import_rows(const struct agent_importer *who, const struct agent_import *what,
	const char *agent_id, struct AgentImportResult *out)
{
	int err = import_skills(who, what, agent_id, out);

	if (!err)
		err = import_memories(who, what, agent_id, out);
	return err ? err : import_sessions(who, what, agent_id, out);
}
