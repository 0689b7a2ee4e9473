/* repo_call.c - see repo_call.h. */
#include "api/repos/repo_call.h"

#include <stdlib.h>
#include <time.h>

#include "api/agents/agent_extras.h"
#include "api/agents/agent_row.h"
#include "api/service.h"
#include "hosts/host.h"
#include "store/pool.h"

int repo_here(struct call *c, struct repository *ret)
{
	int err = repo_find(
		c->db, c->arena, c->caller.tenant_id, c->caller.agent_id, RepoPurpose_code, ret);

	return err == ERR_NOT_FOUND ? call_fail(c, err, REPO_NONE) : err;
}

int repo_let_go(struct call *c, const struct repository *row)
{
	bool ours = row->host == RepoHost_embedded;
	int err = repo_release(
		c->db, row, c->now + (ours ? REPO_KEPT_US : (int64_t)REPO_TRASH_US), c->now);

	return err == ERR_CONFLICT
		       ? call_fail(c, err,
				 "Of this agent %d repositories are kept already that were let go of within 30 days.",
				 REPO_RELEASED_MAX)
		       : err;
}

int repo_shown_at(struct call *c, const char *url)
{
	struct agent_row before, after;
	int err = agent_row_read(c, &before);

	if (err)
		return err;
	after = before;
	after.repo_url = url;
	return agent_row_change(c, &before, &after);
}

int repo_open(struct call *c, const struct repository *row, struct bare **ret)
{
	return bare_open(ret, repo_path(service_of(c->app)->repos, c->arena, row->id), c->arena,
		&c->problem);
}

struct repo_reading {
	struct work work; /* first: it is handed back */
	struct call *call;
	struct repo_read what;
};

static int read_repo(struct work *w, struct db *none)
{
	const struct repo_reading *r = (const struct repo_reading *)w;
	struct call *c = r->call;
	struct bare *b = NULL;
	int err = w->withdrawn || http_left(c->x) ? ERR_STOPPING : repo_open(c, &r->what.row, &b);

	(void)none;
	if (!err)
		err = r->what.read(c, b, r->what.ctx);
	bare_close(b);
	if (err == ERR_UPSTREAM && r->what.missing) {
		const char *why = c->problem.detail;

		c->problem = (struct problem){ 0 };
		err = r->what.missing(c, why, r->what.ctx);
	}
	return err;
}

static void repo_was_read(struct work *w, int err)
{
	call_answer(((struct repo_reading *)w)->call, err);
}

static enum http_verdict begin_reading(struct call *c)
{
	struct repo_reading *r = c->own;
	int err = pool_submit(r->what.elsewhere ? r->what.elsewhere : c->app->disk,
		c->caller.tenant_id, &r->work);

	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

int repo_read_later(struct call *c, const struct repo_read *what)
{
	struct repo_reading *r = c->own = arena_new(c->arena, struct repo_reading);

	*r = (struct repo_reading){
		.work = { .run = read_repo, .done = repo_was_read }, .call = c, .what = *what
	};
	c->deferred = begin_reading;
	return 0;
}

int repo_commit_asked(struct call *c, struct bare *b, const char *ref, char ret[BARE_ID_LEN + 1])
{
	int err = bare_commit_of(b, ref, ret, c->arena, &c->problem);

	return err == ERR_NOT_FOUND
		       ? call_fail(c, err, "The repository has no such branch, tag or commit.")
		       : err;
}

int repo_path_asked(struct call *c, const char *path)
{
	const char *fault = path && *path ? bare_path_fault(path) : NULL;

	return fault ? call_field(c, "path", "path", "%s", fault) : 0;
}

/* In the zone of who committed it, as git shows it. */
static const char *commit_time(struct arena *a, const struct bare_change *change)
{
	int offset = change->offset_min, minutes = abs(offset);
	time_t local = (time_t)(change->at + (int64_t)offset * 60);
	struct tm tm;

	if (minutes > 14 * 60 || !gmtime_r(&local, &tm) || tm.tm_year < 0 || tm.tm_year > 8099)
		return NULL;
	return arena_printf(a, "%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", tm.tm_year + 1900,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, offset < 0 ? '-' : '+',
		minutes / 60, minutes % 60);
}

void repo_commit_show(struct arena *a, const struct repository *row,
	const struct bare_change *change, struct AgentPromptCommitRead *ret)
{
	enum { SHORT_LEN = 8 };
	const struct repo_host *kind = host_kind(RepoHost_words.list[row->host]);

	*ret = (struct AgentPromptCommitRead){ .id = arena_strdup(a, change->id),
		.short_id = arena_strndup(a, change->id, SHORT_LEN),
		.title = change->title,
		.author_email = *change->author_email ? change->author_email : NULL,
		.author_name = *change->author_name ? change->author_name : NULL,
		.committed_at = commit_time(a, change),
		.web_url = kind && row->web_url ? kind->commit_url(a, row->web_url, change->id)
						: NULL };
}
