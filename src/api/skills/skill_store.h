/* skill_store.h - skills in the store: who sees one, and keeping it with its files. */
#pragma once
#include "api/skills/skill_bundle.h"
#include "call/call.h"

/* A row as it is stored: what SkillRead shows, and what only the search needs. */
struct skill_row {
	const char *tenant_id, *id, *name, *slug;
	int visibility;
	const char *license, *compatibility;
	bool is_seed;
	const char *created_by_id, *created_by_agent_id;
	struct moment created_at, updated_at;
	const char *name_folded, *description, *description_folded;
	struct list allowed_tools;
	struct json metadata;
	struct list files;
	const char *instructions;
};
SCHEMA_DECLARED(skill_row);

/* Who looks for skills from a tenant, and what they ask for. */
struct skill_search {
	const char *tenant_id, *user_id;
	bool sees_private; /* those with skills:write */
	const char *id;
	const char *pattern, *agent_id;
	int visibility;
};
SCHEMA_DECLARED(skill_search);
/* Of the caller, for a skill or (NULL) for all. */
struct skill_search skill_search_of(const struct call *c, const char *id);

/* Which of `skills s` they see there. */
#define SKILLS_SEEN                                                                                  \
	"(s.tenant_id = :tenant_id or s.visibility = 'public') "                                     \
	"and (s.visibility <> 'private' or :sees_private = 1 or s.created_by_id = :user_id) "        \
	"and (s.tenant_id = :tenant_id or exists (select 1 from tenants o where o.id = s.tenant_id " \
	"and o.status <> 'closed')) "

/* A page of those that the caller sees there, newest first, after this id (or NULL): SkillListRead. */
int skill_rows_seen(
	struct call *c, const char *after, size_t most, struct list *ret, bool *ret_more);
/* The skill, if the caller sees it from the tenant of the path; else 404. */
int skill_find(struct call *c, const char *id, struct SkillRead *ret);
/* Whose skill it is, if the caller sees it; *ret is NULL if not. */
int skill_seen(struct call *c, const char *id, const char **ret_tenant);
/* Who hears of the change under way: of a private skill its author and those who see all. */
void skill_told(struct call *c, const struct skill_row *row);
/* The skill, if it is the tenant's own; else 404.  For changes, which are told as it stands. */
int skill_own(struct call *c, const char *id, struct skill_row *ret);

/* Makes a skill as it is asked for.  ERR_DUPLICATE if the slug is taken. */
int skill_make(struct db *db, struct arena *a, const char *tenant_id, const char *user_id,
	const struct SkillCreate *in, bool is_seed, struct skill_row *ret);
/* Folds what is searched, and writes.  ERR_DUPLICATE if the slug is taken. */
int skill_insert(struct db *db, struct arena *a, struct skill_row *row);
/* The time of the change is `now`, or later than the last. */
int skill_update(struct db *db, struct arena *a, struct skill_row *row, int64_t now);
/* The same for one whose time of change is set. */
int skill_write(struct db *db, struct arena *a, struct skill_row *row);
int skill_remove(
	struct db *db, struct arena *a, const char *tenant_id, const char *id, int64_t now);
/* Says whose slug is taken. */
int skill_taken(struct problem *p, struct arena *a, int err, const char *slug);

/* With their contents, by path. */
int skill_files_all(struct db *db, struct arena *a, const char *tenant_id, const char *skill_id,
	struct list *ret);
int skill_file_one(struct db *db, struct arena *a, const char *tenant_id, const char *skill_id,
	const char *path, struct skill_file *ret);
/* Puts a file in, or in the place of one with its path. */
int skill_file_put(struct db *db, const struct skill_row *row, const struct skill_file *f);
int skill_file_remove(struct db *db, const char *tenant_id, const char *skill_id, const char *path);

/* Keeps a bundle: as a new skill, or (if asked) in the place of the tenant's skill of that slug.  The
 * visibility of one that stands changes only if given (-1: not). */
struct skill_keeping {
	const char *tenant_id, *user_id; /* user_id: NULL for nobody */
	int visibility;
	bool replace;
};
int skill_keep(struct db *db, struct arena *a, const struct skill_bundle *b,
	const struct skill_keeping *how, int64_t now, struct skill_row *ret, bool *ret_replaced);

/* Gives a skill to an agent that does not have it. */
struct skill_grant {
	const char *tenant_id, *agent_id, *skill_id, *skill_tenant_id;
	bool is_enabled;
	int64_t created_us;
};
int agent_skill_give(struct db *db, struct arena *a, const struct skill_grant *g);

/* Keeps the text of the skill that stands, as the tenant sees it, for those who hold it by its digest.
 * ERR_NOT_FOUND if the skill is not there for it. */
int skill_version_keep(struct db *db, struct arena *a, const char *skill_tenant_id,
	const char *skill_id, const char *tenant_id, int64_t now, const char **ret_digest);
/* Texts of the skill that nobody holds any more go. */
int skill_versions_tidy(struct db *db, const char *skill_tenant_id, const char *skill_id);

/* For the command line: the tenant and its skill by their slugs. */
int skill_tenant_by_slug(struct db *db, struct arena *a, const char *slug, const char **ret_id);
int skill_by_slug(struct db *db, struct arena *a, const char *tenant_id, const char *slug,
	struct SkillRead *ret);

extern const struct statement_set skill_store_sql, skill_version_sql;
