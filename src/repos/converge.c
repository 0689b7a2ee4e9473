/* converge.c - see converge.h.
 *
 * The rows are read, then the files, then what is to change is written: three
 * steps, of which only the second waits for the disk.  A prompt is written only
 * while it is what the first step read, so that whoever edits it meanwhile
 * wins, and the difference shows as one that was made here.  Where somebody else
 * has looked at the repository meanwhile, nothing is written and it begins
 * again: what was read may be older than what they went by. */
#include "repos/converge.h"

#include <stdlib.h>
#include <string.h>

#include "access/audit.h"
#include "base/clock.h"
#include "base/same.h"
#include "git/text_diff.h"
#include "store/pool.h"
#include "store/row.h"

#define CONVERGE_JOB "repo.converge"

struct live_row {
	const char *description_prompt, *bootstrap_instructions, *initial_greeting;
};
FIELDS(live_row) = { ROW_NULLABLE(
	live_row, description_prompt, bootstrap_instructions, initial_greeting) };
static SCHEMA(live_row, .internal = true);

struct live_change {
	const char *tenant_id, *agent_id, *text, *was;
	int64_t now;
};
FIELDS(live_change) = { ROW_FIELDS(live_change, tenant_id, agent_id, now),
	ROW_NULLABLE(live_change, text, was) };
static SCHEMA(live_change, .internal = true);

enum { LIVE_READ, LIVE_PUT, REPO_FAILED = LIVE_PUT + PROMPT_FILES };

/* New instructions for the beginning are given anew. */
#define PUT(name, besides)                                                                      \
	{                                                                                       \
		"converge_" name,                                                               \
			"update agent_rows set " name " = :text" besides ", updated_at = :now " \
			"where tenant_id = :tenant_id and id = :agent_id and gone_at is null "  \
			"and coalesce(" name ", '') = coalesce(cast(:was as text), '')",        \
			.args = &live_change_schema                                             \
	}

static const struct statement sql[] = {
	[LIVE_READ] = { "converge_live", "select {*} from agents where tenant_id = $1 and id = $2",
		.row = &live_row_schema },
	[LIVE_PUT] = PUT("description_prompt", ""),
	PUT("bootstrap_instructions", ", bootstrap_session_id = null"),
	PUT("initial_greeting", ""),
	[REPO_FAILED] = { "converge_failed",
		"update repositories set last_error = $3, failures = failures + 1, updated_at = $4 "
		"where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(converge_sql, sql);

int repo_look_add(struct db *db, struct arena *a, const struct repository *row, int64_t now)
{
	char id[26];

	if (row->purpose != RepoPurpose_code)
		return 0;
	return jobs_add(db, a,
		&(struct job_new){ .tenant_id = row->tenant_id,
			.kind = CONVERGE_JOB,
			.subject = row->agent_id },
		now, id);
}

int repo_converge_add(struct db *db, struct arena *a, const struct repository *row, int64_t now)
{
	return row->projection == RepoProjection_off ? 0 : repo_look_add(db, a, row, now);
}

int repo_prompts_changed(
	struct db *db, struct arena *a, const char *tenant_id, const char *agent_id, int64_t now)
{
	struct PromptProposalRead waits;
	struct repository row;
	int err = proposal_pending(db, a, tenant_id, agent_id, &waits);

	if (!err)
		err = proposal_withdraw(db, a, tenant_id, agent_id, now);
	if (!err)
		err = repo_find(db, a, tenant_id, agent_id, RepoPurpose_code, &row);
	if (!err)
		err = repo_converge_add(db, a, &row, now);
	return err == ERR_NOT_FOUND ? 0 : err;
}

/* ---- the steps ---- */

int converge_load(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	struct convergence *v)
{
	struct live_row live;
	int err = repo_find(db, a, tenant_id, agent_id, RepoPurpose_code, &v->row);

	if (!err)
		err = db_one(db, a, &sql[LIVE_READ], &live, ARGS(T(tenant_id), T(agent_id)));
	if (err)
		return err;
	v->live = (struct prompt_texts){ { live.description_prompt, live.bootstrap_instructions,
		live.initial_greeting } };
	err = prompt_bases_read(db, tenant_id, agent_id, &v->bases);
	return err ? err : prompt_refusals_read(db, tenant_id, agent_id, &v->refused);
}

static struct prompt_verdict judge(const struct convergence *v, int file)
{
	return projection_judge(&(struct prompt_sides){
		v->files[file], v->live.of[file], v->bases.of[file].sha256 });
}

/* As both would be files, so that neither seems to lack its end. */
static const char *as_file(struct arena *a, const char *text)
{
	return text && *text ? prompt_file_bytes(a, text) : "";
}

/* How a prompt would change, if somebody is to be asked about it. */
static bool ask_about(
	struct arena *a, const struct convergence *v, int file, struct PromptProposalFile *ret)
{
	struct text_change change = { .path = prompt_files[file].path,
		.was = as_file(a, v->live.of[file]),
		.is = as_file(a, v->files[file].text),
		.most = PROPOSAL_DIFF_MAX };
	char was[65], is[65];

	if (!judge(v, file).pending)
		return false;
	prompt_digest(v->live.of[file], was);
	prompt_digest(v->files[file].text, is);
	if (strcmp(is, v->refused.of[file]) == 0)
		return false;
	*ret = (struct PromptProposalFile){ .file = prompt_files[file].path,
		.field = prompt_files[file].field,
		.was_sha256 = arena_strdup(a, was),
		.sha256 = arena_strdup(a, is) };
	ret->diff = text_diff(&change, a, &ret->diff_cut);
	return true;
}

static int make_proposal(struct bare *b, struct arena *a, struct convergence *v, struct problem *p)
{
	struct PromptProposalFile *files = arena_array(a, struct PromptProposalFile, PROMPT_FILES);
	const struct bare_change *commit;
	struct list newest = { 0 };
	size_t count = 0;
	int err = 0;

	for (int i = 0; i < PROMPT_FILES; i++)
		count += ask_about(a, v, i, &files[count]);
	if (count)
		err = bare_history(b, v->tip, "", 1, a, &newest, p);
	commit = newest.count ? newest.at : NULL;
	v->wanted = (struct PromptProposalRead){ .agent_id = v->row.agent_id,
		.commit_id = v->tip,
		.title = commit ? commit->title : "",
		.author_name = commit && *commit->author_name ? commit->author_name : NULL,
		.files = { files, count } };
	return err;
}

int converge_read(const struct repos *r, struct arena *a, struct convergence *v)
{
	const bool follows = v->row.projection != RepoProjection_off;
	struct problem p = { 0 };
	struct bare *b = NULL;
	int err = bare_open(&b, repo_path(r, a, v->row.id), a, &p);

	if (!err)
		err = bare_tip(b, REPO_MAIN, v->tip, a, &p);
	if (err == ERR_NOT_FOUND) { /* no commit: no file either */
		*v->tip = '\0';
		err = 0;
	}
	for (int i = 0; !err && follows && *v->tip && i < PROMPT_FILES; i++)
		err = projection_read(b, v->tip, i, &v->files[i], a, &p);
	if (!err && v->row.projection == RepoProjection_propose)
		err = make_proposal(b, a, v, &p);
	bare_close(b);
	if (err)
		v->failed = p.detail ? p.detail : error_row(err)->title;
	else
		v->row.size_bytes = repo_size(r, a, v->row.id);
	return 0;
}

/* What a person would have done by PATCH is in the audit log, with the commit that it came from. */
static int put_prompt(struct db *db, struct arena *a, const struct convergence *v, int file,
	int64_t now, bool *ret_put)
{
	const char *text = v->files[file].text;
	int64_t changed = 0;
	int err = db_run(db, &sql[LIVE_PUT + file], &changed,
		BY_NAME(live_change, (&(struct live_change){ .tenant_id = v->row.tenant_id,
					     .agent_id = v->row.agent_id,
					     .text = *text ? text : NULL,
					     .was = v->live.of[file],
					     .now = now })));

	*ret_put = changed > 0;
	if (err || !changed)
		return err;
	return audit_write(db, a,
		&(struct audit_entry){ .action = "agent.prompt.project",
			.tenant_id = v->row.tenant_id,
			.agent_id = v->row.agent_id,
			.resource_id = v->row.id,
			.meta = arena_printf(a, "{\"field\":\"%s\",\"commit_id\":\"%s\"}",
				prompt_files[file].field, v->tip) });
}

static int apply_one(
	struct db *db, struct arena *a, const struct convergence *v, int file, int64_t now)
{
	struct prompt_verdict verdict = judge(v, file);
	const char *text = v->files[file].text;
	bool same = verdict.settles, edited = false;
	char digest[65];
	int err = 0;

	if (verdict.pending && v->row.projection == RepoProjection_auto) {
		err = put_prompt(db, a, v, file, now, &same);
		edited = !same;
	}
	if (!err && edited && !*v->bases.of[file].sha256) {
		/* It was edited meanwhile, and is to count as such: it is not what it was. */
		text = v->live.of[file];
		same = true;
	}
	if (err || !same)
		return err;
	prompt_digest(text, digest);
	if (strcmp(digest, v->bases.of[file].sha256) == 0)
		return 0;
	return prompt_base_put(db, v->row.tenant_id, v->row.agent_id, file, text, v->tip, now);
}

/* Whoever changed a prompt since it was read is asked about what stands now, and not about what stood. */
static int ask(struct db *db, struct arena *a, const struct convergence *v, int64_t now)
{
	struct PromptProposalRead wanted = v->wanted;
	struct live_row live;
	int err = db_one(
		db, a, &sql[LIVE_READ], &live, ARGS(T(v->row.tenant_id), T(v->row.agent_id)));

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	if (!same_text(live.description_prompt, v->live.of[0]) ||
		!same_text(live.bootstrap_instructions, v->live.of[1]) ||
		!same_text(live.initial_greeting, v->live.of[2]))
		return repo_converge_add(db, a, &v->row, now);
	return proposal_put(db, a, v->row.tenant_id, &wanted, now);
}

int converge_apply(struct db *db, struct arena *a, const struct convergence *v, int64_t now)
{
	struct repository row;
	int err = repo_find(db, a, v->row.tenant_id, v->row.agent_id, RepoPurpose_code, &row);

	/* It was let go of meanwhile, or prompts follow it in another way: that is a job of its own. */
	if (err == ERR_NOT_FOUND ||
		(!err && (strcmp(row.id, v->row.id) != 0 || row.projection != v->row.projection)))
		return 0;
	if (!err && row.updated_at != v->row.updated_at)
		return ERR_CONFLICT;
	if (!err && v->failed)
		return db_run(db, &sql[REPO_FAILED], NULL,
			ARGS(T(row.tenant_id), T(row.id), T(v->failed), N(now)));
	for (int i = 0; !err && row.projection != RepoProjection_off && i < PROMPT_FILES; i++)
		err = apply_one(db, a, v, i, now);
	if (!err && v->row.projection == RepoProjection_propose)
		err = ask(db, a, v, now);
	return err ? err : repo_saw(db, &v->row, *v->tip ? v->tip : NULL, now);
}

/* ---- the job ---- */

struct converging {
	struct work work; /* first */
	const struct repo_converger *by;
	struct job *job;
	struct arena arena;
	struct convergence what;
	bool nothing;
};

static void end_converging(struct converging *v, int err)
{
	struct job *job = v->job;

	arena_free(&v->arena);
	free(v);
	job_over(job, err);
}

static int run_apply(struct work *w, struct db *db)
{
	struct converging *v = (struct converging *)w;
	int64_t now = clock_now_us();
	int err = job_still_mine(db, v->job, now);

	if (!err && !v->nothing) {
		err = converge_apply(db, &v->arena, &v->what, now);
		if (err == ERR_CONFLICT)
			return job_requeue(db, v->job, now, false, NULL, now);
	}
	if (err)
		return err;
	return v->what.failed ? job_requeue(db, v->job, 0, true, v->what.failed, now)
			      : job_finish(db, v->job, now);
}

static void applied(struct work *w, int err)
{
	end_converging((struct converging *)w, err);
}

static void begin_apply(struct converging *v)
{
	int err;

	v->work = (struct work){ .run = run_apply, .done = applied, .mode = READ_WRITE };
	err = store_submit(*v->by->store, &v->work);
	if (err)
		end_converging(v, err);
}

static int run_read(struct work *w, struct db *none)
{
	struct converging *v = (struct converging *)w;

	(void)none;
	return w->withdrawn ? ERR_STOPPING : converge_read(*v->by->repos, &v->arena, &v->what);
}

static void was_read(struct work *w, int err)
{
	if (err)
		end_converging((struct converging *)w, err);
	else
		begin_apply((struct converging *)w);
}

static int run_load(struct work *w, struct db *db)
{
	struct converging *v = (struct converging *)w;
	int err;

	arena_reset(&v->arena);
	v->what = (struct convergence){ .failed = NULL };
	err = converge_load(db, &v->arena, v->job->tenant_id, v->job->subject, &v->what);
	v->nothing = err == ERR_NOT_FOUND;
	return v->nothing ? 0 : err;
}

static void loaded(struct work *w, int err)
{
	struct converging *v = (struct converging *)w;

	if (!err && v->nothing) {
		begin_apply(v);
		return;
	}
	v->work = (struct work){ .run = run_read, .done = was_read };
	if (!err)
		err = pool_submit(*v->by->disk, v->job->tenant_id, &v->work);
	if (err)
		end_converging(v, err);
}

static void begin_converging(void *ctx, struct job *job)
{
	struct converging *v = calloc(1, sizeof *v);
	int err = v ? 0 : ERR_BUSY;

	if (v) {
		v->by = ctx;
		v->job = job;
		v->work = (struct work){ .run = run_load, .done = loaded, .mode = READ_ONLY };
		err = store_submit(*v->by->store, &v->work);
	}
	if (err) {
		free(v);
		job_over(job, err);
	}
}

struct job_kind repo_converge_kind(const struct repo_converger *c)
{
	return (struct job_kind){
		.name = CONVERGE_JOB, .begin = begin_converging, .ctx = (void *)c
	};
}
