/* repo_check.c - see repo_check.h. */
#include "repos/repo_check.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "git/git_keep.h"
#include "repos/repos_parts.h"

enum { PIECE = 200 };

enum { HERE, NAMED, WHOSE };

static const struct statement sql[] = {
	[HERE] = { "repo_check_rows",
		"select id as value from repositories where id > $1 "
		"and (host = 'embedded' or refs_sha256 is not null) order by id limit $2",
		.row = &one_text_schema, .across = "of every tenant" },
	[NAMED] = { "repo_check_named",
		"select case when exists (select 1 from repositories r where r.id = $1) "
		"or exists (select 1 from repository_trash t where t.id = $1) then 1 else 0 end",
		.across = "folders know no tenant" },
	[WHOSE] = { "repo_check_whose",
		"select t.slug || '/' || a.slug as value from repositories r "
		"join agents a on a.tenant_id = r.tenant_id and a.id = r.agent_id "
		"join tenants t on t.id = r.tenant_id where r.id = $1",
		.row = &one_text_schema, .across = "it is asked by the operator" },
};
STATEMENT_SET(repo_check_sql, sql);

static void check_one(struct repos *r, const char *id, enum repo_check_depth depth, struct arena *a,
	struct arena *kept, struct repo_report *ret)
{
	struct git_keep what = { .path = repo_path(r, a, id), .bytes_max = 1 };
	struct git_result result = { .end = GIT_ENDED };
	bool missing = access(what.path, F_OK) != 0;

	ret->rows++;
	if (!missing && depth > REPO_CHECK_FOLDERS)
		git_keep_check(&what, depth == REPO_CHECK_OBJECTS, &result);
	ret->missing += missing;
	ret->broken += result.end != GIT_ENDED;
	if (ret->first || (!missing && result.end == GIT_ENDED))
		return;
	ret->first = arena_strdup(kept, id);
	ret->why = missing ? "there is no such folder" : arena_strdup(kept, result.said);
}

static int check_rows(struct repos *r, struct db *db, enum repo_check_depth depth, struct arena *a,
	struct repo_report *ret)
{
	struct arena piece = { 0 };
	char after[ID_LEN + 1] = "";
	struct list ids;
	int err;

	do {
		const struct one_text *id;

		arena_reset(&piece);
		err = db_all(db, &piece, &sql[HERE], &ids, PIECE, ARGS(T(after), N(PIECE)));
		id = ids.at;
		for (size_t i = 0; !err && i < ids.count; i++)
			check_one(r, id[i].value, depth, &piece, a, ret);
		if (!err && ids.count)
			memcpy(after, id[ids.count - 1].value, ID_LEN);
	} while (!err && ids.count);
	arena_free(&piece);
	return err;
}

/* Its agent may be on its way out. */
static int name_first(struct db *db, struct arena *a, struct repo_report *ret)
{
	struct one_text whose = { 0 };
	int err = db_one(db, a, &sql[WHOSE], &whose, ARGS(T(ret->first)));

	ret->whose = err ? "an agent that is being removed" : whose.value;
	return err == ERR_NOT_FOUND ? 0 : err;
}

static int check_folders(struct repos *r, struct db *db, struct repo_report *ret)
{
	const struct dirent *e;
	DIR *d = opendir(r->folder);
	int err = 0;

	while (d && !err && (e = readdir(d))) {
		char id[ID_LEN + 1] = "";
		int64_t named = 1;

		if (strlen(e->d_name) != ID_LEN + 4 || !id_valid(e->d_name, ID_LEN) ||
			strcmp(e->d_name + ID_LEN, ".git") != 0)
			continue;
		memcpy(id, e->d_name, ID_LEN);
		err = db_int(db, &sql[NAMED], &named, ARGS(T(id)));
		ret->unnamed += !err && !named;
	}
	if (d)
		closedir(d);
	return err;
}

int repo_check(struct repos *r, struct db *db, enum repo_check_depth depth, struct arena *a,
	struct repo_report *ret)
{
	int err;

	*ret = (struct repo_report){ 0 };
	err = check_rows(r, db, depth, a, ret);
	if (!err && ret->first)
		err = name_first(db, a, ret);
	return err ? err : check_folders(r, db, ret);
}
