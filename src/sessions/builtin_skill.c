/* builtin_skill.c - reading a skill that the agent has: its instructions, or one of its files. */
#include <sodium.h>
#include <string.h>

#include "sessions/builtin_run.h"
#include "sessions/skill_config.h"
#include "sessions/skillset.h"
#include "sessions/tool_text.h"

struct held_file {
	const char *path, *content; /* content: base64, or NULL */
	int64_t size_bytes;
};

FIELDS(held_file) = {
	FIELD(held_file, path),
	FIELD(held_file, size_bytes),
	FIELD(held_file, content, .nullable = true),
};
static SCHEMA(held_file, .internal = true);

enum { FILES_OF, FILE_OF, FILES_PINNED, FILE_PINNED };

static const struct statement sql[] = {
	[FILES_OF] = { "builtin_skill_files",
		"select path, size_bytes, null as content from skill_files where tenant_id = $1 "
		"and skill_id = $2 order by path limit $3",
		.row = &held_file_schema },
	[FILE_OF] = { "builtin_skill_file",
		"select path, size_bytes, content from skill_files where tenant_id = $1 "
		"and skill_id = $2 and path = $3",
		.row = &held_file_schema },
	[FILES_PINNED] = { "builtin_skill_files_pinned",
		"select path, size_bytes, null as content from skill_version_files "
		"where tenant_id = $1 and skill_id = $2 and digest = $4 order by path limit $3",
		.row = &held_file_schema },
	[FILE_PINNED] = { "builtin_skill_file_pinned",
		"select path, size_bytes, content from skill_version_files where tenant_id = $1 "
		"and skill_id = $2 and digest = $4 and path = $3",
		.row = &held_file_schema },
};
STATEMENT_SET(builtin_skill_sql, sql);

/* By slug; the tenant's own before another's of the same one. */
static int find_skill(struct builtin_call *c, const char *slug, struct chosen_skill *ret)
{
	const char *tenant_id = c->asked->tenant_id, *agent_id = c->asked->agent_id;
	const struct usable_skill *list, *found = NULL;
	struct list skills;
	const char *names = "";
	int err = skillset_usable(c->db, c->arena, tenant_id, agent_id, &skills);

	if (err)
		return err;
	list = skills.at;
	for (size_t i = 0; i < skills.count; i++) {
		names = arena_printf(c->arena, "%s%s%s", names, i ? ", " : "", list[i].slug);
		if (strcmp(list[i].slug, slug) == 0 &&
			(!found || strcmp(list[i].tenant_id, tenant_id) == 0))
			found = &list[i];
	}
	if (found)
		return skillset_choose(c->db, c->arena, tenant_id, agent_id, found->id, ret);
	tool_answer_fail(c->arena, c->answer, "This agent has no skill %s. %s%s", slug,
		skills.count ? "It has: " : "It has none.", names);
	return ERR_NOT_FOUND;
}

static int read_held_file(
	struct builtin_call *c, const struct chosen_skill *skill, const char *path)
{
	struct held_file f;
	unsigned char *bytes;
	size_t len = 0;
	int err = skill->digest ? db_one(c->db, c->arena, &sql[FILE_PINNED], &f,
					  ARGS(T(skill->tenant_id), T(skill->id), T(path),
						  T(skill->digest)))
				: db_one(c->db, c->arena, &sql[FILE_OF], &f,
					  ARGS(T(skill->tenant_id), T(skill->id), T(path)));

	if (err == ERR_NOT_FOUND) {
		tool_answer_fail(
			c->arena, c->answer, "The skill %s has no file %s.", skill->slug, path);
		return 0;
	}
	if (err)
		return err;
	bytes = arena_raw(c->arena, (size_t)f.size_bytes + 1, 1);
	if (sodium_base642bin(bytes, (size_t)f.size_bytes, f.content, strlen(f.content), NULL, &len,
		    NULL, sodium_base64_VARIANT_ORIGINAL))
		return ERR_INTERNAL;
	if (memchr(bytes, '\0', len))
		tool_answer_fail(
			c->arena, c->answer, "The file %s is not text (%zu bytes).", path, len);
	else
		tool_answer_give(c->arena,
			&(struct tool_said){ .bytes = (const char *)bytes, .len = len }, c->answer);
	return 0;
}

static int read_instructions(struct builtin_call *c, const struct chosen_skill *skill)
{
	const char *text = skill_config_fill(c->arena, c->asked->vault, skill);
	const struct held_file *list;
	struct list files;
	int err = skill->digest
			  ? db_all(c->db, c->arena, &sql[FILES_PINNED], &files, SKILL_FILES_SHOWN,
				    ARGS(T(skill->tenant_id), T(skill->id), N(SKILL_FILES_SHOWN),
					    T(skill->digest)))
			  : db_all(c->db, c->arena, &sql[FILES_OF], &files, SKILL_FILES_SHOWN,
				    ARGS(T(skill->tenant_id), T(skill->id), N(SKILL_FILES_SHOWN)));

	if (err)
		return err;
	list = files.at;
	for (size_t i = 0; i < files.count; i++)
		text = arena_printf(c->arena, "%s%s- %s (%lld bytes)\n", text,
			i ? "" : "\n\nFiles of this skill, to be read with the argument file:\n",
			list[i].path, (long long)list[i].size_bytes);
	tool_answer_text(c->arena, text, c->answer);
	return 0;
}

int builtin_skill_read(struct builtin_call *c)
{
	const char *slug = tool_argument_text(&c->in, "skill", BUILTIN_NAME_MAX),
		   *path = tool_argument_text_maybe(&c->in, "file", BUILTIN_NAME_MAX);
	struct chosen_skill skill;
	int err;

	if (!builtin_arguments_read(c))
		return 0;
	err = find_skill(c, slug, &skill);
	if (err == ERR_NOT_FOUND && !c->answer->failed)
		tool_answer_fail(c->arena, c->answer, "This agent may not use that skill.");
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	return path ? read_held_file(c, &skill, path) : read_instructions(c, &skill);
}
