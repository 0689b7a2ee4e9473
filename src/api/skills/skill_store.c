/* skill_store.c - see skill_store.h. */
#include "api/skills/skill_store.h"

#include <string.h>

#include "api/erasure/gone.h"
#include "search/search.h"
#include "base/fold.h"
#include "store/row.h"

FIELDS(skill_row) = {
	FIELD(skill_row, tenant_id),
	FIELD(skill_row, id),
	FIELD(skill_row, name),
	FIELD(skill_row, slug),
	FIELD(skill_row, visibility, .words = &SkillVisibility_words),
	FIELD(skill_row, license, .nullable = true),
	FIELD(skill_row, compatibility, .nullable = true),
	FIELD(skill_row, is_seed),
	FIELD(skill_row, created_by_id, .nullable = true),
	FIELD(skill_row, created_by_agent_id, .nullable = true),
	FIELD(skill_row, created_at),
	FIELD(skill_row, updated_at),
	FIELD(skill_row, name_folded, .derived = true),
	FIELD(skill_row, description),
	FIELD(skill_row, description_folded, .derived = true),
	FIELD(skill_row, allowed_tools, .item = TEXT),
	FIELD(skill_row, metadata),
	FIELD(skill_row, files, .item = OBJECT, .of = &SkillFile_schema),
	FIELD(skill_row, instructions),
};
SCHEMA(skill_row, .internal = true);

FIELDS(skill_file) = {
	FIELD(skill_file, path),
	FIELD(skill_file, size_bytes),
	FIELD(skill_file, sha256),
	FIELD(skill_file, content),
};
static SCHEMA(skill_file, .internal = true);

struct tenant_id_row {
	const char *value;
};

FIELDS(tenant_id_row) = { FIELD(tenant_id_row, value) };
static SCHEMA(tenant_id_row, .internal = true);

struct skill_file_row {
	const char *tenant_id, *skill_id, *path, *sha256, *content;
	int64_t size_bytes;
};

FIELDS(skill_file_row) = {
	ROW_FIELDS(skill_file_row, tenant_id, skill_id, path, sha256, content, size_bytes),
};
static SCHEMA(skill_file_row, .internal = true);

FIELDS(skill_search) = {
	ROW_FIELDS(skill_search, tenant_id, sees_private),
	ROW_NULLABLE(skill_search, user_id, id, pattern, agent_id),
	FIELD(skill_search, visibility, .nullable = true, .words = &SkillVisibility_words),
};
SCHEMA(skill_search, .internal = true);

enum {
	SKILL_READ,
	SKILL_SEEN,
	SKILL_OWN,
	SKILL_BY_SLUG,
	SKILL_OWN_BY_SLUG,
	SKILL_INSERT,
	SKILL_UPDATE,
	SKILL_HOOKS,
	SKILL_REMOVE,
	FILES_ALL,
	FILE_ONE,
	FILE_PUT,
	FILE_REMOVE,
	FILES_REMOVE,
	TENANT_BY_SLUG,
};

#define BY_ID "a public skill may be another tenant's"

static const struct statement sql[] = {
	[SKILL_READ] = { "skill_read",
		"select {s.*} from skills s where " SKILLS_SEEN "and s.id = :id",
		.row = &SkillRead_schema, .args = &skill_search_schema, .across = BY_ID },
	[SKILL_SEEN] = { "skill_seen",
		"select s.tenant_id as value from skills s where " SKILLS_SEEN "and s.id = :id",
		.row = &tenant_id_row_schema, .args = &skill_search_schema, .across = BY_ID },
	[SKILL_OWN] = { "skill_own", "select {*} from skills where tenant_id = $1 and id = $2",
		.row = &skill_row_schema },
	[SKILL_BY_SLUG] = { "skill_by_slug",
		"select {*} from skills where tenant_id = $1 and slug = $2",
		.row = &SkillRead_schema },
	[SKILL_OWN_BY_SLUG] = { "skill_own_by_slug",
		"select {*} from skills where tenant_id = $1 and slug = $2",
		.row = &skill_row_schema },
	[SKILL_INSERT] = { "skill_insert", "insert into skills ({*}) values ({$})",
		.row = &skill_row_schema },
	[SKILL_UPDATE] = { "skill_update",
		"update skills set {=} where tenant_id = :tenant_id and id = :id",
		.row = &skill_row_schema },
	/* Webhooks of the skill, with their logs, which would go along all at once. */
	[SKILL_HOOKS] = { "skill_hooks_gone",
		"update integration_rows set " INTEGRATION_GONE
		" where (tenant_id, agent_id, skill_id) "
		"in (select tenant_id, agent_id, skill_id from agent_skills where skill_tenant_id = $1 "
		"and skill_id = $2)",
		.across = "a public skill is held in other tenants too" },
	[SKILL_REMOVE] = { "skill_remove", "delete from skills where tenant_id = $1 and id = $2" },
	[FILES_ALL] = { "skill_files_all",
		"select {*} from skill_files where tenant_id = $1 and skill_id = $2 order by path",
		.row = &skill_file_schema },
	[FILE_ONE] = { "skill_file_one",
		"select {*} from skill_files where tenant_id = $1 and skill_id = $2 and path = $3",
		.row = &skill_file_schema },
	[FILE_PUT] = { "skill_file_put",
		"insert into skill_files ({*}) values ({$}) "
		"on conflict (tenant_id, skill_id, path) do update "
		"set size_bytes = :size_bytes, sha256 = :sha256, content = :content",
		.row = &skill_file_row_schema },
	[FILE_REMOVE] = { "skill_file_remove",
		"delete from skill_files where tenant_id = $1 and skill_id = $2 and path = $3" },
	[FILES_REMOVE] = { "skill_files_remove",
		"delete from skill_files where tenant_id = $1 and skill_id = $2" },
	[TENANT_BY_SLUG] = { "skill_tenant",
		"select id as value from tenants where slug = $1 and status <> 'closed'",
		.row = &tenant_id_row_schema },
};
STATEMENT_SET(skill_store_sql, sql);

static int no_skill(struct call *c, int err)
{
	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such skill.") : err;
}

struct skill_search skill_search_of(const struct call *c, const char *id)
{
	return (struct skill_search){ .tenant_id = c->caller.tenant_id,
		.user_id = c->caller.user_id,
		.sees_private = (c->caller.tenant & PERM(SKILLS_WRITE)) != 0,
		.id = id,
		.visibility = -1 };
}

int skill_find(struct call *c, const char *id, struct SkillRead *ret)
{
	struct skill_search s = skill_search_of(c, id);
	int err = no_skill(
		c, db_one(c->db, c->arena, &sql[SKILL_READ], ret, BY_NAME(skill_search, &s)));

	/* Who is who in another tenant is its own affair. */
	if (!err && strcmp(ret->tenant_id, c->caller.tenant_id) != 0)
		ret->created_by_id = ret->created_by_agent_id = NULL;
	return err;
}

int skill_seen(struct call *c, const char *id, const char **ret_tenant)
{
	struct skill_search s = skill_search_of(c, id);
	struct tenant_id_row row;
	int err = db_one(c->db, c->arena, &sql[SKILL_SEEN], &row, BY_NAME(skill_search, &s));

	*ret_tenant = err ? NULL : row.value;
	return err == ERR_NOT_FOUND ? 0 : err;
}

void skill_told(struct call *c, const struct skill_row *row)
{
	c->audit.owner_id = row->visibility != SkillVisibility_private ? NULL
			    : row->created_by_id		       ? row->created_by_id
								       : row->tenant_id;
}

int skill_own(struct call *c, const char *id, struct skill_row *ret)
{
	int err = no_skill(c,
		db_one(c->db, c->arena, &sql[SKILL_OWN], ret, ARGS(T(c->caller.tenant_id), T(id))));

	if (!err)
		skill_told(c, ret);
	return err;
}

static void fold_row(struct arena *a, struct skill_row *row)
{
	row->name_folded = fold(a, row->name);
	row->description_folded = fold(a, row->description);
}

int skill_insert(struct db *db, struct arena *a, struct skill_row *row)
{
	int err;

	fold_row(a, row);
	err = db_put(db, &sql[SKILL_INSERT], row);
	return err ? err : search_refresh(db, a, row->tenant_id, MentionType_skill, row->id);
}

int skill_make(struct db *db, struct arena *a, const char *tenant_id, const char *user_id,
	const struct SkillCreate *in, bool is_seed, struct skill_row *ret)
{
	struct id id;

	schema_init(&skill_row_schema, a, ret);
	schema_copy(&SkillCreate_schema, in, &skill_row_schema, ret);
	id = id_new(&ret->created_at.us);
	ret->id = arena_strdup(a, id.text);
	ret->tenant_id = tenant_id;
	ret->created_by_id = user_id;
	ret->is_seed = is_seed;
	ret->updated_at = ret->created_at;
	ret->files = (struct list){ arena_alloc(a, 1), 0 };
	return skill_insert(db, a, ret);
}

int skill_update(struct db *db, struct arena *a, struct skill_row *row, int64_t now)
{
	row->updated_at.us = now > row->updated_at.us ? now : row->updated_at.us + 1;
	return skill_write(db, a, row);
}

int skill_write(struct db *db, struct arena *a, struct skill_row *row)
{
	int err;

	fold_row(a, row);
	err = db_put(db, &sql[SKILL_UPDATE], row);
	if (!err) /* agents that held one may be gone */
		err = skill_versions_tidy(db, row->tenant_id, row->id);
	return err ? err : search_refresh(db, a, row->tenant_id, MentionType_skill, row->id);
}

int skill_remove(struct db *db, struct arena *a, const char *tenant_id, const char *id, int64_t now)
{
	int err = search_remove(db, a, tenant_id, MentionType_skill, id);

	if (!err)
		err = db_run(db, &sql[SKILL_HOOKS], NULL, ARGS(T(tenant_id), T(id), N(now)));
	return err ? err : db_run(db, &sql[SKILL_REMOVE], NULL, ARGS(T(tenant_id), T(id)));
}

int skill_taken(struct problem *p, struct arena *a, int err, const char *slug)
{
	if (err != ERR_DUPLICATE)
		return err;
	return problem_set(
		p, a, ERR_TAKEN, "This tenant has a skill with the slug %s already.", slug);
}

int skill_files_all(struct db *db, struct arena *a, const char *tenant_id, const char *skill_id,
	struct list *ret)
{
	return db_all(
		db, a, &sql[FILES_ALL], ret, SKILL_FILES_MAX, ARGS(T(tenant_id), T(skill_id)));
}

int skill_file_one(struct db *db, struct arena *a, const char *tenant_id, const char *skill_id,
	const char *path, struct skill_file *ret)
{
	return db_one(db, a, &sql[FILE_ONE], ret, ARGS(T(tenant_id), T(skill_id), T(path)));
}

int skill_file_put(struct db *db, const struct skill_row *row, const struct skill_file *f)
{
	return db_put(db, &sql[FILE_PUT],
		&(struct skill_file_row){ .tenant_id = row->tenant_id,
			.skill_id = row->id,
			.path = f->path,
			.sha256 = f->sha256,
			.content = f->content,
			.size_bytes = f->size_bytes });
}

int skill_file_remove(struct db *db, const char *tenant_id, const char *skill_id, const char *path)
{
	return db_run(db, &sql[FILE_REMOVE], NULL, ARGS(T(tenant_id), T(skill_id), T(path)));
}

/* What the bundle says; the rest of the row stays. */
static void take_bundle(struct arena *a, const struct skill_bundle *b, struct skill_row *row)
{
	int visibility = row->visibility;

	schema_copy(&SkillCreate_schema, &b->head, &skill_row_schema, row);
	row->visibility = visibility;
	row->files = skill_files_shown(a, &b->files);
}

static int put_all(struct db *db, const struct skill_bundle *b, const struct skill_row *row)
{
	const struct skill_file *f = b->files.at;
	int err = db_run(db, &sql[FILES_REMOVE], NULL, ARGS(T(row->tenant_id), T(row->id)));

	for (size_t i = 0; !err && i < b->files.count; i++)
		err = skill_file_put(db, row, &f[i]);
	return err;
}

int skill_keep(struct db *db, struct arena *a, const struct skill_bundle *b,
	const struct skill_keeping *how, int64_t now, struct skill_row *ret, bool *ret_replaced)
{
	int err = db_one(
		db, a, &sql[SKILL_OWN_BY_SLUG], ret, ARGS(T(how->tenant_id), T(b->head.slug)));
	struct id id;

	*ret_replaced = !err;
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (!err && !how->replace)
		return ERR_DUPLICATE;
	if (!err) {
		const char *author = ret->created_by_agent_id;

		if (how->visibility >= 0)
			ret->visibility = how->visibility;
		take_bundle(a, b, ret);
		ret->created_by_agent_id = author;
		err = skill_update(db, a, ret, now);
	} else {
		schema_init(&skill_row_schema, a, ret);
		ret->visibility = how->visibility >= 0 ? how->visibility : SkillVisibility_private;
		take_bundle(a, b, ret);
		id = id_new(&ret->created_at.us);
		ret->id = arena_strdup(a, id.text);
		ret->tenant_id = how->tenant_id;
		ret->created_by_id = how->user_id;
		ret->updated_at = ret->created_at;
		err = skill_insert(db, a, ret);
	}
	return err ? err : put_all(db, b, ret);
}

int skill_tenant_by_slug(struct db *db, struct arena *a, const char *slug, const char **ret_id)
{
	struct tenant_id_row row;
	int err = db_one(db, a, &sql[TENANT_BY_SLUG], &row, ARGS(T(slug)));

	if (!err)
		*ret_id = row.value;
	return err;
}

int skill_by_slug(struct db *db, struct arena *a, const char *tenant_id, const char *slug,
	struct SkillRead *ret)
{
	return db_one(db, a, &sql[SKILL_BY_SLUG], ret, ARGS(T(tenant_id), T(slug)));
}
