/* repo.h - the git repositories of agents: which there are, as rows, and where their files lie.
 *
 * An agent has at most one repository for each purpose.  One of the embedded
 * host is a bare repository in a folder of its own, named after an id that we
 * made; the folder is there before the row that names it, and goes after it.
 * This room knows no requests. */
#pragma once
#include "base/clock.h"
#include "base/id.h"
#include "repos/image_files.h"
#include "store/store.h"

enum RepoPurpose { RepoPurpose_code, RepoPurpose_image };
extern const struct words RepoPurpose_words;

/* Who keeps it: this service, or another host by git's own wire (mirror.h).  What is read is read from the folder here, whoever
 * that is: of another host it holds a mirror. */
enum RepoHost { RepoHost_embedded, RepoHost_gitlab, RepoHost_gitea, RepoHost_git };
extern const struct words RepoHost_words;

/* What becomes of prompts that change in the repository. */
enum RepoProjection { RepoProjection_off, RepoProjection_propose, RepoProjection_auto };
extern const struct words RepoProjection_words;

enum {
	REPO_RELEASED_MAX = 10, /* of one agent, that wait for their end */
	REPO_TRASH_US =
		60 * 1000 * 1000, /* a folder is there so long after its row, for who read it */
};
#define REPO_KEPT_US (30 * DAY_US) /* one that was let go of */
#define REPO_MAIN "main"	   /* the branch that prompts are taken from */

struct repository {
	const char *tenant_id, *id, *agent_id;
	int purpose, host, projection;
	const char *tip; /* of the main branch when it was last looked at; NULL: it has no commit */
	int64_t observed_at;	/* when that was; NIL: never */
	const char *last_error; /* why it could not be looked at the last time; or NULL */
	int64_t next_attempt_at; /* when it is looked at again; NIL: when it changes, or a job has it */
	int64_t failures;	 /* one after the other, to wait longer after each */
	int64_t size_bytes;
	int64_t created_at, updated_at;
	/* Of another host: where it is, where people look at it, its secrets (mirror.h), which refs the mirror has, whether they are
	 * all, and when somebody last wanted it looked at. */
	const char *url, *web_url, *sealed, *refs_sha256;
	bool complete;
	int64_t asked_at;
};
SCHEMA_DECLARED(repository);

/* ---- rows, in the transaction at hand ---- */

/* ERR_NOT_FOUND if the agent has none. */
int repo_find(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	enum RepoPurpose purpose, struct repository *ret);
/* ERR_DUPLICATE if the agent has one for this purpose. */
int repo_add(struct db *db, const struct repository *row);
int repo_change(struct db *db, const struct repository *row);
/* It was read: the main branch is at that commit (NULL: at none), and it has the size that the row says. */
int repo_saw(struct db *db, const struct repository *row, const char *tip, int64_t now);
/* The row goes; the folder is kept until then.  ERR_CONFLICT if too many of this agent's are kept already. */
int repo_release(struct db *db, const struct repository *row, int64_t remove_at, int64_t now);
extern const struct statement_set repo_sql;

/* ---- files ---- */

struct repos;
struct pool;

struct repos_settings {
	const char *folder; /* where the embedded ones lie; the same for all processes of a store */
	int64_t bytes_max;  /* of one */
	int64_t keep_hour; /* of the day in UTC, when their files are put in order; 24: never by itself */
	bool makes;	   /* the folder, where it is not there */
	struct image_choice image; /* what image repositories begin with */
};

int repos_new(struct repos **ret, const struct repos_settings *settings, struct arena *a,
	struct problem *p);
void repos_free(struct repos *r);
int64_t repos_bytes_max(const struct repos *r);
const struct image_choice *repos_image(const struct repos *r);
/* The folder of an embedded repository, whether or not it is there. */
const char *repo_path(const struct repos *r, struct arena *a, const char *id);
/* How many bytes it has on the disk; it waits for it. */
/* Whether this process finds its files. */
bool repo_is_there(const struct repos *r, struct arena *a, const char *id);
#define REPO_LOST "The files of this repository are not where this process looks for them."
int64_t repo_size(const struct repos *r, struct arena *a, const char *id);
/* Removes its folder, if there is one, which first gets another name so that nobody opens half of one; 0, or an errno. */
int repo_forget(const struct repos *r, struct arena *a, const char *id);

/* ---- the address by which git reaches it ---- */

/* BASE/git/TENANT/AGENT.git, by their slugs; that of its image has .image before the end. */
const char *repo_url(struct arena *a, const char *base, const char *tenant_slug,
	const char *agent_slug, enum RepoPurpose purpose);
int repo_tenant_slug(struct db *db, struct arena *a, const char *tenant_id, const char **ret);
int repo_url_of(struct db *db, struct arena *a, const char *base, const char *tenant_id,
	const char *agent_slug, enum RepoPurpose purpose, const char **ret);
/* Where the service has another address than it had: what agents show of it follows. */
int repo_urls_follow(struct db *db, const char *base);

/* ---- now and then ---- */

/* Removes folders whose time has come, and (once a day) those that no row has named for a week; on threads of
 * the pool and of the store, one at a time.  Does not wait. */
void repo_sweep_submit(struct repos *r, struct store *store, struct pool *pool, int64_t now);
/* No sweep is under way. */
bool repo_is_swept(const struct repos *r);
/* The service stops: nothing more is begun. */
void repos_stop(struct repos *r);
extern const struct statement_set repo_sweep_sql;
