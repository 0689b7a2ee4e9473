/* mirror.c - see mirror.h. */
#include "repos/mirror.h"

#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/same.h"
#include "git/bare.h"
#include "queue/jobs.h"
#include "repos/converge.h"
#include "repos/repo_keep.h"
#include "repos/repo_mark.h"
#include "store/row.h"

struct mirror_end {
	const char *tenant_id, *id, *tip, *refs_sha256, *last_error;
	bool complete;
	int64_t begun, now, next, soon, size_bytes;
};
FIELDS(mirror_end) = { ROW_FIELDS(mirror_end, tenant_id, id, complete, begun, now, next, soon,
			       size_bytes),
	ROW_NULLABLE(mirror_end, tip, refs_sha256, last_error) };
static SCHEMA(mirror_end, .internal = true);

enum { MIRROR_BEGIN, MIRROR_WAKE, MIRROR_FIND, MIRROR_DONE, MIRROR_FAILED };

/* Who asked for it while it was fetched has it looked at again: after a failure not at once. */
#define NEXT \
	"next_attempt_at = case when asked_at >= :begun then cast(:soon as bigint) else cast(:next as bigint) end"

static const struct statement sql[] = {
	[MIRROR_BEGIN] = { "mirror_begin",
		"update repositories set next_attempt_at = null, refs_sha256 = null "
		"where tenant_id = $1 and id = $2" },
	[MIRROR_WAKE] = { "mirror_wake",
		"update repositories set asked_at = $3, next_attempt_at = "
		"case when failures > 0 and updated_at + $4 > $3 and next_attempt_at > updated_at + $4 "
		"then updated_at + $4 "
		"when (failures = 0 or updated_at + $4 <= $3) and next_attempt_at > $3 then $3 "
		"else next_attempt_at end "
		"where tenant_id = $1 and id = $2 and host <> 'embedded'" },
	[MIRROR_FIND] = { "mirror_find",
		"select {*} from repositories where id = $1 and host <> 'embedded'",
		.row = &repository_schema, .across = "an id is one for all tenants" },
	[MIRROR_DONE] = { "mirror_done",
		"update repositories set tip = :tip, refs_sha256 = :refs_sha256, complete = :complete, "
		"observed_at = :now, size_bytes = :size_bytes, last_error = null, failures = 0, "
		"updated_at = :now, " NEXT " where tenant_id = :tenant_id and id = :id",
		.args = &mirror_end_schema },
	[MIRROR_FAILED] = { "mirror_failed",
		"update repositories set last_error = :last_error, failures = failures + 1, "
		"size_bytes = :size_bytes, updated_at = :now, " NEXT
		" where tenant_id = :tenant_id and id = :id",
		.args = &mirror_end_schema },
};
STATEMENT_SET(mirror_sql, sql);

/* ---- secrets ---- */

int repo_secrets_open(
	struct vault *v, struct arena *a, const struct repository *row, struct repo_secrets *ret)
{
	const char *text, *end;

	*ret = (struct repo_secrets){ 0 };
	if (!row->sealed)
		return 0;
	text = vault_open_text(v, a, row->id, row->sealed);
	end = text ? strchr(text, '\n') : NULL;
	if (!end)
		return ERR_SECRET;
	if (end > text)
		ret->token = arena_strndup(a, text, (size_t)(end - text));
	if (end[1])
		ret->hook = end + 1;
	return 0;
}

const char *repo_token(
	const struct repo_secrets *s, const struct repository *row, const struct host *h)
{
	size_t n = h ? strlen(h->url) : 0;

	if (s->token || !h || !row->url ||
		strcmp(RepoHost_words.list[row->host], h->kind->word) != 0)
		return s->token;
	return strncmp(row->url, h->url, n) == 0 && row->url[n] == '/' ? h->token : NULL;
}

int repo_secrets_seal(
	struct vault *v, struct arena *a, struct repository *row, const struct repo_secrets *s)
{
	const char *text =
		arena_printf(a, "%s\n%s", s->token ? s->token : "", s->hook ? s->hook : "");

	row->sealed = NULL;
	if (!s->token && !s->hook)
		return 0;
	row->sealed = vault_seal(v, a, SEALED_REPOSITORY, row->id, text, strlen(text));
	return row->sealed ? 0 : ERR_KEY;
}

/* ---- times ---- */

bool mirror_is_fresh(const struct repository *row, int64_t now)
{
	return row->refs_sha256 && row->observed_at != NIL &&
	       now - row->observed_at <= MIRROR_EVERY_US;
}

int64_t mirror_next(int64_t now, int64_t failures, int64_t retry_after_s)
{
	int64_t pause = MIRROR_EVERY_US;
	uint32_t noise;

	for (; failures > 1 && pause < MIRROR_LATER_US; failures--)
		pause *= 2;
	if (pause > MIRROR_LATER_US)
		pause = MIRROR_LATER_US;
	random_bytes(&noise, sizeof noise);
	pause = pause - pause / 5 + (int64_t)(noise % (uint64_t)(pause / 10));
	return now + (retry_after_s * SECOND_US > pause ? retry_after_s * SECOND_US : pause);
}

void mirror_digest(const struct ls_refs *refs, char ret[65])
{
	struct sha256_run *run = sha256_begin();
	uint8_t digest[SHA256_LEN];

	for (size_t i = 0; i < refs->count; i++) {
		sha256_add(run, refs->at[i].name, strlen(refs->at[i].name) + 1);
		sha256_add(run, refs->at[i].id, sizeof refs->at[i].id);
	}
	sha256_end(run, digest);
	hex_write(digest, sizeof digest, ret);
}

/* ---- rows ---- */

int mirror_begin(struct db *db, struct arena *a, const struct repository *row, int64_t now)
{
	char id[26];
	int err = db_run(db, &sql[MIRROR_BEGIN], NULL, ARGS(T(row->tenant_id), T(row->id)));

	if (err)
		return err;
	return jobs_add(db, a,
		&(struct job_new){
			.tenant_id = row->tenant_id, .kind = MIRROR_JOB, .subject = row->agent_id },
		now, id);
}

int mirror_wake(struct db *db, const struct repository *row, int64_t now)
{
	return db_run(db, &sql[MIRROR_WAKE], NULL,
		ARGS(T(row->tenant_id), T(row->id), N(now), N(MIRROR_EVERY_US)));
}

int mirror_find(struct db *db, struct arena *a, const char *id, struct repository *ret)
{
	return db_one(db, a, &sql[MIRROR_FIND], ret, ARGS(T(id)));
}

/* ---- the steps ---- */

int mirror_load(struct db *db, struct arena *a, struct vault *vault, const struct host *h,
	const char *tenant_id, const char *agent_id, int64_t now, struct mirroring *v)
{
	int err = repo_find(db, a, tenant_id, agent_id, RepoPurpose_code, &v->row);

	if (!err && v->row.host == RepoHost_embedded)
		err = ERR_NOT_FOUND;
	if (err)
		return err;
	v->begun = now;
	v->retry_after_s = -1;
	if (repo_secrets_open(vault, a, &v->row, &v->secrets))
		v->failed =
			"The token that is stored cannot be opened with the present master key: give it anew.";
	v->secrets.token = repo_token(&v->secrets, &v->row, h);
	return 0;
}

/* A process that shares the store has made the folder, or one that is gone took it along. */
static int find_folder(const struct repos *r, const char *id, struct arena *a, struct problem *p)
{
	struct problem ignored = { 0 };
	struct bare *b = NULL;

	if (bare_open(&b, repo_path(r, a, id), a, &ignored))
		return repo_make(r, a, id, p);
	bare_close(b);
	return 0;
}

static int read_tip(const char *path, struct arena *a, struct mirroring *v, struct problem *p)
{
	struct bare *b = NULL;
	int err = bare_open(&b, path, a, p);

	if (!err)
		err = bare_tip(b, REPO_MAIN, v->tip, a, p);
	if (err == ERR_NOT_FOUND) {
		*v->tip = '\0';
		err = 0;
	}
	bare_close(b);
	return err;
}

static int too_large(struct arena *a, struct problem *p)
{
	return problem_set(p, a, ERR_TOO_LARGE, "The repository is larger than one may be here.");
}

static int64_t room_left(const struct repos *r, struct arena *a, struct mirroring *v)
{
	v->row.size_bytes = repo_size(r, a, v->row.id);
	return repos_bytes_max(r) - v->row.size_bytes;
}

/* Into the room that is left, and no further. */
static int bring(const struct repos *r, const struct remote *remote, struct arena *a,
	struct mirroring *v, struct problem *p)
{
	int64_t room = room_left(r, a, v);
	int err = remote_git_fetch(remote, repo_path(r, a, v->row.id), room, a, p);

	return room_left(r, a, v) < 0 && !err ? too_large(a, p) : err;
}

/* What a fetch brought that failed is let go of, and where there is no room, what the host has no more; then there may be enough. */
static int bring_or_tidy(const struct repos *r, const struct remote *remote, struct arena *a,
	struct mirroring *v, struct problem *p)
{
	int64_t before = repo_size(r, a, v->row.id), after;
	int err = bring(r, remote, a, v, p);

	after = v->row.size_bytes;
	if (!err || err == ERR_BUSY || err == ERR_STOPPING ||
		(err != ERR_TOO_LARGE && after <= before) ||
		!repo_keep_tight(r, a, v->row.id, remote->stop))
		return err;
	room_left(r, a, v);
	if (err != ERR_TOO_LARGE || v->row.size_bytes >= after)
		return err;
	*p = (struct problem){ 0 };
	return bring(r, remote, a, v, p);
}

int mirror_fetch(const struct repos *r, enum egress egress, const _Atomic bool *stop,
	struct arena *a, struct mirroring *v)
{
	const char *path = repo_path(r, a, v->row.id), *moved = NULL;
	struct remote remote = {
		.url = v->row.url, .egress = egress, .stop = stop, .ret_url = &moved
	};
	struct problem p = { 0 };
	struct remote_said said;
	struct ls_refs refs;
	int err;

	if (v->failed)
		return 0;
	remote_set_token(&remote, a, v->secrets.token);
	said = remote_refs_list(&remote, a, &refs);
	if (stop && atomic_load(stop))
		return ERR_STOPPING;
	v->retry_after_s = said.retry_after_s;
	if (said.end) {
		v->failed = said.why;
		return 0;
	}
	mirror_digest(&refs, v->refs_sha256);
	v->complete = refs.complete;
	remote.url = moved;
	err = find_folder(r, v->row.id, a, &p);
	if (!err)
		err = bring_or_tidy(r, &remote, a, v, &p);
	if (err == ERR_BUSY || err == ERR_STOPPING)
		return err;
	if (!err)
		err = read_tip(path, a, v, &p);
	if (err)
		v->failed = p.detail ? p.detail : error_row(err)->title;
	return 0;
}

int mirror_apply(struct db *db, struct arena *a, const struct mirroring *v, int64_t now)
{
	struct repository row;
	int err = repo_find(db, a, v->row.tenant_id, v->row.agent_id, RepoPurpose_code, &row);
	struct mirror_end end = { .tenant_id = v->row.tenant_id,
		.id = v->row.id,
		.tip = *v->tip ? v->tip : NULL,
		.refs_sha256 = v->refs_sha256,
		.complete = v->complete,
		.last_error = v->failed,
		.begun = v->begun,
		.now = now,
		.size_bytes = v->row.size_bytes };

	/* It was let go of meanwhile, or another one has taken its place, which has a job of its own. */
	if (err == ERR_NOT_FOUND || (!err && strcmp(row.id, v->row.id) != 0))
		return 0;
	end.next = mirror_next(now, v->failed ? row.failures + 1 : 0, v->retry_after_s);
	end.soon = !v->failed			      ? now
		   : end.next < now + MIRROR_EVERY_US ? end.next
						      : now + MIRROR_EVERY_US;
	if (!err)
		err = db_run(db, &sql[v->failed ? MIRROR_FAILED : MIRROR_DONE], NULL,
			BY_NAME(mirror_end, &end));
	if (err || v->failed || same_text(row.tip, end.tip))
		return err;
	return repo_converge_add(db, a, &row, now);
}
