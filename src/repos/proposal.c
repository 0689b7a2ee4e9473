/* proposal.c - see proposal.h. */
#include "repos/proposal.h"

#include <stdio.h>
#include <string.h>

#include "access/audit.h"
#include "store/row.h"

struct proposal_row {
	const char *tenant_id, *id, *agent_id, *commit_id, *title, *author_name;
	int status;
	struct list fields, files;
	int64_t created_at;
};
FIELDS(proposal_row) = { ROW_FIELDS(proposal_row, tenant_id, id, agent_id, commit_id, title),
	ROW_NULLABLE(proposal_row, author_name),
	FIELD(proposal_row, status, .words = &ProposalStatus_words),
	FIELD(proposal_row, fields, .item = TEXT),
	FIELD(proposal_row, files, .item = OBJECT, .of = &PromptProposalFile_schema),
	ROW_FIELDS(proposal_row, created_at) };
static SCHEMA(proposal_row, .internal = true);

struct proposal_end {
	const char *tenant_id, *id, *status, *decided_by_id;
	int64_t now;
};
FIELDS(proposal_end) = { ROW_FIELDS(proposal_end, tenant_id, id, status, now),
	ROW_NULLABLE(proposal_end, decided_by_id) };
static SCHEMA(proposal_end, .internal = true);

struct refusal_row {
	const char *tenant_id, *agent_id, *field, *sha256, *commit_id;
	int64_t refused_at;
};
FIELDS(refusal_row) = { ROW_FIELDS(
	refusal_row, tenant_id, agent_id, field, sha256, commit_id, refused_at) };
static SCHEMA(refusal_row, .internal = true);

#define COLUMNS \
	"{p.*}, (select u.name from users u where u.id = p.decided_by_id) as decided_by_name"

enum { PENDING, READ, ADD, DECIDE, TRIM, REFUSALS, REFUSE, REFUSALS_DROP };

static const struct statement sql[] = {
	[PENDING] = { "proposal_pending",
		"select " COLUMNS
		" from prompt_proposals p where p.tenant_id = $1 and p.agent_id = $2 "
		"and p.status = 'pending'",
		.row = &PromptProposalRead_schema },
	[READ] = { "proposal_read",
		"select " COLUMNS
		" from prompt_proposals p where p.tenant_id = $1 and p.agent_id = $2 "
		"and p.id = $3",
		.row = &PromptProposalRead_schema },
	[ADD] = { "proposal_add", "insert into prompt_proposals ({*}) values ({$})",
		.row = &proposal_row_schema },
	[DECIDE] = { "proposal_decide",
		"update prompt_proposals set status = :status, decided_at = :now, "
		"decided_by_id = :decided_by_id where tenant_id = :tenant_id and id = :id "
		"and status = 'pending'",
		.args = &proposal_end_schema },
	[TRIM] = { "proposal_trim",
		"delete from prompt_proposals where tenant_id = $1 and agent_id = $2 "
		"and status <> 'pending' and id <= (select p.id from prompt_proposals p "
		"where p.tenant_id = $1 and p.agent_id = $2 and p.status <> 'pending' "
		"order by p.id desc limit 1 offset $3)" },
	[REFUSALS] = { "prompt_refusals",
		"select {*} from prompt_refusals where tenant_id = $1 and agent_id = $2",
		.row = &refusal_row_schema },
	[REFUSE] = { "prompt_refuse",
		"insert into prompt_refusals ({*}) values ({$}) on conflict (tenant_id, agent_id, field) "
		"do update set sha256 = excluded.sha256, commit_id = excluded.commit_id, "
		"refused_at = excluded.refused_at",
		.row = &refusal_row_schema },
	[REFUSALS_DROP] = { "prompt_refusals_drop",
		"delete from prompt_refusals where tenant_id = $1 and agent_id = $2" },
};
STATEMENT_SET(proposal_sql, sql);

/* ---- what was not wanted ---- */

static int take_refusal(void *ctx, const void *row)
{
	const struct refusal_row *r = row;
	struct prompt_refusals *to = ctx;

	for (int i = 0; i < PROMPT_FILES; i++)
		if (strcmp(prompt_files[i].field, r->field) == 0)
			snprintf(to->of[i], sizeof to->of[i], "%s", r->sha256);
	return 0;
}

int prompt_refusals_read(
	struct db *db, const char *tenant_id, const char *agent_id, struct prompt_refusals *ret)
{
	struct refusal_row row;

	*ret = (struct prompt_refusals){ 0 };
	return db_each(
		db, &sql[REFUSALS], &row, take_refusal, ret, ARGS(T(tenant_id), T(agent_id)));
}

int prompt_refusals_drop(struct db *db, const char *tenant_id, const char *agent_id)
{
	return db_run(db, &sql[REFUSALS_DROP], NULL, ARGS(T(tenant_id), T(agent_id)));
}

/* ---- what waits ---- */

int proposal_pending(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct PromptProposalRead *ret)
{
	return db_one(db, a, &sql[PENDING], ret, ARGS(T(tenant_id), T(agent_id)));
}

int proposal_read(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *id, struct PromptProposalRead *ret)
{
	return db_one(db, a, &sql[READ], ret, ARGS(T(tenant_id), T(agent_id), T(id)));
}

static int refuse_files(
	struct db *db, const char *tenant_id, const struct PromptProposalRead *r, int64_t now)
{
	const struct PromptProposalFile *f = r->files.at;
	int err = 0;

	for (size_t i = 0; !err && i < r->files.count; i++)
		err = db_put(db, &sql[REFUSE],
			&(struct refusal_row){ tenant_id, r->agent_id, f[i].field, f[i].sha256,
				r->commit_id, now });
	return err;
}

int proposal_decide(struct db *db, const char *tenant_id, struct PromptProposalRead *r,
	enum ProposalStatus status, const char *user_id, int64_t now)
{
	int err = db_run(db, &sql[DECIDE], NULL,
		BY_NAME(proposal_end, (&(struct proposal_end){ .tenant_id = tenant_id,
					      .id = r->id,
					      .status = ProposalStatus_words.list[status],
					      .decided_by_id = user_id,
					      .now = now })));

	r->status = status;
	r->decided_by_id = user_id;
	r->decided_at.us = now;
	if (!err && status == ProposalStatus_rejected)
		err = refuse_files(db, tenant_id, r, now);
	return err ? err
		   : db_run(db, &sql[TRIM], NULL,
			     ARGS(T(tenant_id), T(r->agent_id), N(PROPOSALS_KEPT)));
}

/* Not a person's act; those who look at the agent hear of it. */
static int tell(struct db *db, struct arena *a, const char *tenant_id,
	const struct PromptProposalRead *r, const char *action)
{
	return audit_write(db, a,
		&(struct audit_entry){ .action = action,
			.tenant_id = tenant_id,
			.agent_id = r->agent_id,
			.resource_id = r->id,
			.meta = arena_printf(a, "{\"commit_id\":\"%s\",\"status\":\"%s\"}",
				r->commit_id, ProposalStatus_words.list[r->status]) });
}

static bool says_the_same(const struct PromptProposalRead *a, const struct PromptProposalRead *b)
{
	const struct PromptProposalFile *x = a->files.at, *y = b->files.at;

	if (a->files.count != b->files.count)
		return false;
	for (size_t i = 0; i < a->files.count; i++)
		if (strcmp(x[i].field, y[i].field) != 0 || strcmp(x[i].sha256, y[i].sha256) != 0 ||
			strcmp(x[i].was_sha256, y[i].was_sha256) != 0)
			return false;
	return true;
}

static int add(struct db *db, struct arena *a, const char *tenant_id, struct PromptProposalRead *r,
	int64_t now)
{
	const struct PromptProposalFile *f = r->files.at;
	const char **fields = arena_array(a, const char *, r->files.count + 1);
	struct id id = id_new(NULL);
	int err;

	for (size_t i = 0; i < r->files.count; i++)
		fields[i] = f[i].field;
	r->id = arena_strdup(a, id.text);
	r->status = ProposalStatus_pending;
	err = db_put(db, &sql[ADD],
		&(struct proposal_row){ .tenant_id = tenant_id,
			.id = r->id,
			.agent_id = r->agent_id,
			.commit_id = r->commit_id,
			.title = r->title,
			.author_name = r->author_name,
			.status = ProposalStatus_pending,
			.fields = { fields, r->files.count },
			.files = r->files,
			.created_at = now });
	return err ? err : tell(db, a, tenant_id, r, "agent.prompt.propose");
}

int proposal_put(struct db *db, struct arena *a, const char *tenant_id,
	struct PromptProposalRead *wanted, int64_t now)
{
	struct PromptProposalRead stands;
	int err = proposal_pending(db, a, tenant_id, wanted->agent_id, &stands);
	bool none = err == ERR_NOT_FOUND;

	if (err && !none)
		return err;
	if (!none && !wanted->files.count)
		return proposal_withdraw(db, a, tenant_id, wanted->agent_id, now);
	if (!wanted->files.count || (!none && says_the_same(&stands, wanted)))
		return 0;
	err = none ? 0
		   : proposal_decide(db, tenant_id, &stands, ProposalStatus_superseded, NULL, now);
	return err ? err : add(db, a, tenant_id, wanted, now);
}

int proposal_withdraw(
	struct db *db, struct arena *a, const char *tenant_id, const char *agent_id, int64_t now)
{
	struct PromptProposalRead stands;
	int err = proposal_pending(db, a, tenant_id, agent_id, &stands);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	err = proposal_decide(db, tenant_id, &stands, ProposalStatus_withdrawn, NULL, now);
	return err ? err : tell(db, a, tenant_id, &stands, "agent.prompt.withdraw");
}
