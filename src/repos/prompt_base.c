/* prompt_base.c - see prompt_base.h. */
#include "repos/prompt_base.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "store/row.h"

struct base_row {
	const char *tenant_id, *agent_id, *field, *sha256, *commit_id;
	int64_t taken_at;
};
FIELDS(base_row) = { ROW_FIELDS(
	base_row, tenant_id, agent_id, field, sha256, commit_id, taken_at) };
static SCHEMA(base_row, .internal = true);

enum { BASES_READ, BASE_PUT, BASES_DROP };

static const struct statement sql[] = {
	[BASES_READ] = { "prompt_bases",
		"select {*} from prompt_bases where tenant_id = $1 and agent_id = $2",
		.row = &base_row_schema },
	[BASE_PUT] = { "prompt_base_put",
		"insert into prompt_bases ({*}) values ({$}) on conflict (tenant_id, agent_id, field) "
		"do update set sha256 = excluded.sha256, commit_id = excluded.commit_id, "
		"taken_at = excluded.taken_at",
		.row = &base_row_schema },
	[BASES_DROP] = { "prompt_bases_drop",
		"delete from prompt_bases where tenant_id = $1 and agent_id = $2" },
};
STATEMENT_SET(prompt_base_sql, sql);

void prompt_digest(const char *text, char ret[65])
{
	uint8_t digest[SHA256_LEN];

	text = text ? text : "";
	sha256(text, strlen(text), digest);
	hex_write(digest, sizeof digest, ret);
}

static int take_base(void *ctx, const void *row)
{
	const struct base_row *b = row;
	struct prompt_bases *to = ctx;

	for (int i = 0; i < PROMPT_FILES; i++)
		if (strcmp(prompt_files[i].field, b->field) == 0) {
			snprintf(to->of[i].sha256, sizeof to->of[i].sha256, "%s", b->sha256);
			snprintf(to->of[i].commit_id, sizeof to->of[i].commit_id, "%s",
				b->commit_id);
			to->of[i].taken_at = b->taken_at;
		}
	return 0;
}

int prompt_bases_read(
	struct db *db, const char *tenant_id, const char *agent_id, struct prompt_bases *ret)
{
	struct base_row row;

	*ret = (struct prompt_bases){ 0 };
	return db_each(db, &sql[BASES_READ], &row, take_base, ret, ARGS(T(tenant_id), T(agent_id)));
}

int prompt_base_put(struct db *db, const char *tenant_id, const char *agent_id, int file,
	const char *text, const char *commit_id, int64_t now)
{
	char digest[65];

	prompt_digest(text, digest);
	return db_put(db, &sql[BASE_PUT],
		&(struct base_row){
			tenant_id, agent_id, prompt_files[file].field, digest, commit_id, now });
}

int prompt_bases_drop(struct db *db, const char *tenant_id, const char *agent_id)
{
	return db_run(db, &sql[BASES_DROP], NULL, ARGS(T(tenant_id), T(agent_id)));
}
