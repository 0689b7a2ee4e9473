/* repo_rows.c - the rows of repositories; see repo.h. */
#include "repos/repo.h"

#include "store/row.h"

const struct words RepoPurpose_words = {
	.list = (const char *const[]){ "code", "image", NULL },
};
const struct words RepoHost_words = {
	.title = "RepoHost",
	.list = (const char *const[]){ "embedded", "gitlab", "gitea", "git", NULL },
	.doc = "Who keeps a repository: this service, a host of that kind, or any other git server.",
};
const struct words RepoProjection_words = {
	.title = "RepoProjection",
	.list = (const char *const[]){ "off", "propose", "auto", NULL },
	.doc = "Whether prompts that change on the main branch of the repository become the agent's, unless they were "
	       "changed here: with propose when somebody approves, with auto by themselves.",
};

FIELDS(repository) = { ROW_FIELDS(repository, tenant_id, id, agent_id),
	FIELD(repository, purpose, .words = &RepoPurpose_words),
	FIELD(repository, host, .words = &RepoHost_words),
	FIELD(repository, projection, .words = &RepoProjection_words),
	ROW_NULLABLE(repository, tip, observed_at, last_error, next_attempt_at),
	ROW_FIELDS(repository, failures, size_bytes, created_at, updated_at),
	ROW_NULLABLE(repository, url, web_url),
	FIELD(repository, sealed, .nullable = true, .secret = true),
	ROW_NULLABLE(repository, refs_sha256), ROW_FIELDS(repository, complete, asked_at) };
SCHEMA(repository, .internal = true);

struct repo_trash {
	const char *id, *owner, *former;
	int64_t size_bytes, since, remove_at;
};
FIELDS(repo_trash) = { ROW_FIELDS(repo_trash, id, owner, former, size_bytes, since, remove_at) };
static SCHEMA(repo_trash, .internal = true);

enum {
	REPO_FIND,
	REPO_ADD,
	REPO_CHANGE,
	REPO_SAW,
	REPO_SAW_MIRROR,
	REPO_DROP,
	REPO_KEPT,
	REPO_KEEP
};

static const struct statement sql[] = {
	[REPO_FIND] = { "repo_find",
		"select {*} from repositories where tenant_id = $1 and agent_id = $2 and purpose = $3",
		.row = &repository_schema },
	[REPO_ADD] = { "repo_add", "insert into repositories ({*}) values ({$})",
		.row = &repository_schema },
	[REPO_CHANGE] = { "repo_change",
		"update repositories set {=} where tenant_id = :tenant_id and id = :id",
		.row = &repository_schema },
	[REPO_SAW] = { "repo_saw",
		"update repositories set tip = :tip, observed_at = :observed_at, size_bytes = :size_bytes, "
		"last_error = null, next_attempt_at = null, failures = 0, updated_at = :updated_at "
		"where tenant_id = :tenant_id and id = :id",
		.row = &repository_schema },
	[REPO_SAW_MIRROR] = { "repo_saw_mirror",
		"update repositories set tip = :tip, size_bytes = :size_bytes, updated_at = :updated_at "
		"where tenant_id = :tenant_id and id = :id",
		.row = &repository_schema },
	[REPO_DROP] = { "repo_drop", "delete from repositories where tenant_id = $1 and id = $2" },
	[REPO_KEPT] = { "repo_kept",
		"select count(*) from repository_trash where owner = $1 and former = $2" },
	[REPO_KEEP] = { "repo_keep", "insert into repository_trash ({*}) values ({$})",
		.row = &repo_trash_schema },
};
STATEMENT_SET(repo_sql, sql);

int repo_find(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	enum RepoPurpose purpose, struct repository *ret)
{
	return db_one(db, a, &sql[REPO_FIND], ret,
		ARGS(T(tenant_id), T(agent_id), T(RepoPurpose_words.list[purpose])));
}

int repo_add(struct db *db, const struct repository *row)
{
	return db_put(db, &sql[REPO_ADD], row);
}

int repo_change(struct db *db, const struct repository *row)
{
	return db_put(db, &sql[REPO_CHANGE], row);
}

int repo_saw(struct db *db, const struct repository *row, const char *tip, int64_t now)
{
	struct repository seen = *row;

	seen.tip = tip;
	seen.observed_at = seen.updated_at = now;
	/* When the host was last looked at is the sweep's matter. */
	return db_put(db, &sql[row->host == RepoHost_embedded ? REPO_SAW : REPO_SAW_MIRROR], &seen);
}

int repo_release(struct db *db, const struct repository *row, int64_t remove_at, int64_t now)
{
	int64_t kept = 0;
	int err = db_int(db, &sql[REPO_KEPT], &kept, ARGS(T(row->tenant_id), T(row->agent_id)));

	if (!err && kept >= REPO_RELEASED_MAX)
		return ERR_CONFLICT;
	if (!err)
		err = db_put(db, &sql[REPO_KEEP],
			&(struct repo_trash){ .id = row->id,
				.owner = row->tenant_id,
				.former = row->agent_id,
				.size_bytes = row->size_bytes,
				.since = now,
				.remove_at = remove_at });
	return err ? err : db_run(db, &sql[REPO_DROP], NULL, ARGS(T(row->tenant_id), T(row->id)));
}
