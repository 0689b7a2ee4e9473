/* mirror.h - repositories on other hosts, of which a mirror is kept here: what their rows hold besides, when they are looked at,
 * and how one is fetched.
 *
 *   next_attempt_at is a time: the sweep looks at its refs then (mirror_sweep.h)
 *     -> as they were: again in a minute   -> they moved: a job has it, and next_attempt_at is null
 *     -> the host did not answer: later each time
 *   the job fetches (mirror_job.h), and gives the row its next time
 *
 * Whoever wants it looked at at once (a push hook) sets asked_at, which the job
 * heeds when it ends. */
#pragma once
#include "access/vault.h"
#include "git/bare.h"
#include "hosts/host.h"
#include "outside/remote_refs.h"
#include "repos/remote_git.h"
#include "repos/repo.h"

#define MIRROR_EVERY_US \
	(60 * SECOND_US) /* that an external repository is looked at; and what counts as fresh */
#define MIRROR_LATER_US (60 * 60 * SECOND_US) /* the longest pause after failures */

/* ---- secrets ---- */

struct repo_secrets {
	const char *token; /* as it was given: "user:password", or a token alone; or NULL */
	const char *hook;  /* with which the host signs what it tells us of pushes; or NULL */
};
enum { REPO_TOKEN_MAX = 1024 };

/* ERR_SECRET if they were sealed with a key that is gone. */
int repo_secrets_open(
	struct vault *v, struct arena *a, const struct repository *row, struct repo_secrets *ret);
/* With which it is read and written: the one that was given for it, or else for a project that this service has made on the host
 * of the settings (which may be NULL) the operator's; or NULL.  No row keeps that, so that another one counts for all at once. */
const char *repo_token(
	const struct repo_secrets *s, const struct repository *row, const struct host *h);
/* Into row->sealed, for the transaction at hand. */
int repo_secrets_seal(
	struct vault *v, struct arena *a, struct repository *row, const struct repo_secrets *s);

/* ---- times ---- */

/* What its refs are here they were on the host at most a minute ago. */
bool mirror_is_fresh(const struct repository *row, int64_t now);
/* When to look again after so many failures, one after the other; 0: after none.  A little before a minute is over, so that what is
 * looked at is always fresh; not before what the host asks for (-1: nothing). */
int64_t mirror_next(int64_t now, int64_t failures, int64_t retry_after_s);
/* Which branches and tags there are, in 64 hexadecimal digits. */
void mirror_digest(const struct ls_refs *refs, char ret[65]);

/* ---- rows, in the transaction at hand ---- */

/* It is to be fetched: a job has it from now on. */
int mirror_begin(struct db *db, struct arena *a, const struct repository *row, int64_t now);
/* Somebody says that it has moved: the sweep looks at it soon, or the job that has it does again; after a failure, not before a
 * minute is over. */
int mirror_wake(struct db *db, const struct repository *row, int64_t now);
/* By its own id, of whichever tenant: for those who know nothing else.  ERR_NOT_FOUND. */
int mirror_find(struct db *db, struct arena *a, const char *id, struct repository *ret);

/* ---- one fetch, in three steps ---- */

struct mirroring {
	struct repository row;
	struct repo_secrets secrets;
	int64_t begun;
	/* What came of it. */
	char tip[BARE_ID_LEN + 1]; /* "": there is no main branch */
	char refs_sha256[65];
	bool complete;
	int64_t retry_after_s;
	const char *failed; /* why it could not be fetched */
};

/* ERR_NOT_FOUND if there is none, or it is our own. */
int mirror_load(struct db *db, struct arena *a, struct vault *vault, const struct host *h,
	const char *tenant_id, const char *agent_id, int64_t now, struct mirroring *v);
/* Asks the host and fetches; it waits.  ERR_BUSY or ERR_STOPPING: not now. */
int mirror_fetch(const struct repos *r, enum egress egress, const _Atomic bool *stop,
	struct arena *a, struct mirroring *v);
/* Writes down what came of it; prompts that follow are brought in line. */
int mirror_apply(struct db *db, struct arena *a, const struct mirroring *v, int64_t now);
extern const struct statement_set mirror_sql;

#define MIRROR_JOB "repo.mirror"
