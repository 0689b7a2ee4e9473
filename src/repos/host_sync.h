/* host_sync.h - the user that an agent has on another host of repositories: its picture and its key are brought there, and it is let
 * into the projects of the agent, by the job "tenant.reconcile", which is tried again, later each time, until the host has done it.
 *
 * What the host was given is a row; what it should have is the agent's own.  So
 * nobody has to remember that a picture changed while the host was away.  Nothing
 * is taken back: a picture that is removed here stays there. */
#pragma once
#include "hosts/host.h"
#include "queue/runner.h"
#include "store/store.h"

struct host_user_row {
	const char *tenant_id, *agent_id;
	const char *host;	    /* its address: of another one nothing is known */
	const char *avatar_sha256;  /* of the picture that it has; NULL: none of ours */
	const char *ssh_public_key; /* that was brought there last; or NULL */
	const char *job_id;	    /* that brings what is missing; or NULL */
	int64_t failures;	    /* one after the other */
	const char *last_error;
	int64_t updated_at;
};

/* In the transaction at hand: the agent's picture or key has changed, or it has a new project there. */
int host_sync_ask(struct db *db, struct arena *a, const struct host *h, const char *tenant_id,
	const char *agent_id, int64_t now);
/* Whether the agent's user there shows the picture with that digest. */
int host_sync_shows(struct db *db, struct arena *a, const struct host *h, const char *tenant_id,
	const char *agent_id, const char *sha256, bool *ret);

/* For the runner's table; what is pointed to may be filled in later. */
struct host_syncer {
	struct store *const *store;
	const struct host *const *host;
	struct pool *const *pool; /* whose threads wait for the host */
	_Atomic bool stopping;
};
struct job_kind host_sync_kind(struct host_syncer *s);

/* Finds agents whose picture or key the host does not have and for which no job is there: those that were imported, or that are older
 * than the setting.  Once a day, a part at a time; does not wait. */
void host_sweep_submit(const struct host *h, struct store *store, int64_t now);
extern const struct statement_set host_sweep_sql;

/* ---- its steps, one after the other ---- */

struct host_syncing {
	struct host_user_row row;
	const char *name, *avatar_sha256, *ssh_public_key; /* of the agent; NULL: it has none */
	const void *png;
	size_t len;
	struct list urls; /* struct one_text: of its projects on the host, as they are cloned */
	struct remote_said said; /* how it went */
};

/* Reads what there is to do; ERR_NOT_FOUND if there is nothing, or another job does it. */
int host_sync_load(struct db *db, struct arena *a, const struct host *h, const char *tenant_id,
	const char *agent_id, const char *job_id, struct host_syncing *v);
/* Brings it there, and notes in the row what has been brought; it waits for the host. */
void host_sync_push(const struct host *h, struct arena *a, struct host_syncing *v);
/* Writes down how it went. */
int host_sync_apply(struct db *db, const struct host *h, const struct host_syncing *v,
	const char *job_id, int64_t now);
/* How long to wait after so many failures: from a minute to an hour, and at least as the host asks. */
int64_t host_sync_pause_us(int64_t failures, int64_t retry_after_s);
extern const struct statement_set host_sync_sql;
