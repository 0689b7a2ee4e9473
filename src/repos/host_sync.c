/* host_sync.c - see host_sync.h. */
#include "repos/host_sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/same.h"
#include "store/pool.h"
#include "store/row.h"

#define SYNC_JOB "tenant.reconcile"

FIELDS(host_user_row) = { ROW_FIELDS(host_user_row, tenant_id, agent_id, host),
	ROW_NULLABLE(host_user_row, avatar_sha256, ssh_public_key, job_id),
	ROW_FIELDS(host_user_row, failures), ROW_NULLABLE(host_user_row, last_error),
	ROW_FIELDS(host_user_row, updated_at) };
static SCHEMA(host_user_row, .internal = true);

struct synced_agent {
	const char *name, *avatar_sha256, *ssh_public_key;
};
FIELDS(synced_agent) = { ROW_FIELDS(synced_agent, name),
	ROW_NULLABLE(synced_agent, avatar_sha256, ssh_public_key) };
static SCHEMA(synced_agent, .internal = true);

enum { USER_READ, USER_ASK, USER_NOTE, AGENT_READ, AGENT_PNG, AGENT_PROJECTS };
enum { PROJECTS_MAX = 2 }; /* one for each purpose */

static const struct statement sql[] = {
	[USER_READ] = { "host_user_read",
		"select {*} from agent_host_users where tenant_id = $1 and agent_id = $2",
		.row = &host_user_row_schema },
	[USER_ASK] = { "host_user_ask",
		"insert into agent_host_users ({*}) values ({$}) on conflict (tenant_id, agent_id) do update set "
		"job_id = excluded.job_id, failures = 0, updated_at = excluded.updated_at",
		.row = &host_user_row_schema },
	/* Another job may have been asked for meanwhile. */
	[USER_NOTE] = { "host_user_note",
		"update agent_host_users set host = :host, avatar_sha256 = :avatar_sha256, "
		"ssh_public_key = :ssh_public_key, failures = :failures, last_error = :last_error, "
		"updated_at = :updated_at, job_id = case when job_id = :job_id and "
		"cast(:last_error as text) is null then null else job_id end "
		"where tenant_id = :tenant_id and agent_id = :agent_id",
		.args = &host_user_row_schema },
	[AGENT_READ] = { "host_user_agent",
		"select {*} from agents where tenant_id = $1 and id = $2",
		.row = &synced_agent_schema },
	[AGENT_PNG] = { "host_user_png",
		"select png from agent_avatars where tenant_id = $1 and agent_id = $2" },
	[AGENT_PROJECTS] = { "host_user_projects",
		"select url as value from repositories where tenant_id = $1 and agent_id = $2 and host = $3 "
		"and url is not null",
		.row = &one_text_schema },
};
STATEMENT_SET(host_sync_sql, sql);

int host_sync_ask(struct db *db, struct arena *a, const struct host *h, const char *tenant_id,
	const char *agent_id, int64_t now)
{
	char id[26];
	int err = jobs_add(db, a,
		&(struct job_new){ .tenant_id = tenant_id, .kind = SYNC_JOB, .subject = agent_id },
		now, id);

	return err ? err
		   : db_put(db, &sql[USER_ASK],
			     &(struct host_user_row){ .tenant_id = tenant_id,
				     .agent_id = agent_id,
				     .host = h->url,
				     .job_id = id,
				     .updated_at = now });
}

int host_sync_shows(struct db *db, struct arena *a, const struct host *h, const char *tenant_id,
	const char *agent_id, const char *sha256, bool *ret)
{
	struct host_user_row row;
	int err = db_one(db, a, &sql[USER_READ], &row, ARGS(T(tenant_id), T(agent_id)));

	*ret = !err && strcmp(row.host, h->url) == 0 && same_text(row.avatar_sha256, sha256);
	return err == ERR_NOT_FOUND ? 0 : err;
}

int64_t host_sync_pause_us(int64_t failures, int64_t retry_after_s)
{
	enum { FIRST_S = 60, MOST_S = 3600 };
	int64_t pause = FIRST_S;
	uint32_t noise;

	for (; failures > 1 && pause < MOST_S; failures--)
		pause *= 2;
	if (pause > MOST_S)
		pause = MOST_S;
	if (pause < retry_after_s)
		pause = retry_after_s;
	random_bytes(&noise, sizeof noise);
	return pause * SECOND_US + (int64_t)(noise % (uint64_t)(pause * SECOND_US / 10));
}

/* ---- the steps ---- */

static bool lacks_avatar(const struct host_syncing *v)
{
	return v->avatar_sha256 && !same_text(v->row.avatar_sha256, v->avatar_sha256);
}

static bool lacks_key(const struct host_syncing *v)
{
	return v->ssh_public_key && !same_text(v->row.ssh_public_key, v->ssh_public_key);
}

int host_sync_load(struct db *db, struct arena *a, const struct host *h, const char *tenant_id,
	const char *agent_id, const char *job_id, struct host_syncing *v)
{
	struct synced_agent agent;
	int err = db_one(db, a, &sql[USER_READ], &v->row, ARGS(T(tenant_id), T(agent_id)));

	if (!err && !same_text(v->row.job_id, job_id))
		err = ERR_NOT_FOUND;
	if (!err)
		err = db_one(db, a, &sql[AGENT_READ], &agent, ARGS(T(tenant_id), T(agent_id)));
	if (err)
		return err;
	if (strcmp(v->row.host, h->url) != 0) {
		v->row.host = h->url;
		v->row.avatar_sha256 = v->row.ssh_public_key = NULL;
	}
	v->name = agent.name;
	v->avatar_sha256 = agent.avatar_sha256;
	v->ssh_public_key =
		agent.ssh_public_key && *agent.ssh_public_key ? agent.ssh_public_key : NULL;
	err = db_all(db, a, &sql[AGENT_PROJECTS], &v->urls, PROJECTS_MAX,
		ARGS(T(tenant_id), T(agent_id), T(h->kind->word)));
	if (err || !lacks_avatar(v))
		return err;
	return db_bytes(db, a, &sql[AGENT_PNG], &v->png, &v->len, ARGS(T(tenant_id), T(agent_id)));
}

/* Whether it is in already only the host knows, which is told each time. */
static struct remote_said let_in(const struct host *h, struct arena *a,
	const struct host_syncing *v, const struct host_user *user)
{
	struct remote_said said = { REMOTE_OK, -1, NULL };
	const struct one_text *url = v->urls.at;

	for (size_t i = 0; i < v->urls.count; i++) {
		const char *path = host_path_of(h, a, url[i].value);
		struct remote_said one;

		if (!path)
			continue; /* of the host that the settings named before */
		one = h->kind->let_in(h, a, path, user);
		if (!said.end)
			said = one;
	}
	return said;
}

void host_sync_push(const struct host *h, struct arena *a, struct host_syncing *v)
{
	const struct host_wanted want = host_user_of(a, v->name, v->row.agent_id);
	struct host_user user;
	struct remote_said key, in;

	v->said = (struct remote_said){ REMOTE_OK, -1, NULL };
	if (!lacks_avatar(v) && !lacks_key(v) && !v->urls.count)
		return;
	v->said = h->kind->ensure_user(h, a, &want, &user);
	if (v->said.end)
		return;
	if (lacks_avatar(v)) {
		v->said = h->kind->put_avatar(h, a, &user, v->png, v->len);
		if (!v->said.end)
			v->row.avatar_sha256 = v->avatar_sha256;
	}
	/* None waits for another. */
	in = let_in(h, a, v, &user);
	if (!v->said.end)
		v->said = in;
	if (!lacks_key(v))
		return;
	key = h->kind->put_key(h, a, &user, "Lodge", v->ssh_public_key);
	if (!key.end)
		v->row.ssh_public_key = v->ssh_public_key;
	if (!v->said.end)
		v->said = key;
}

int host_sync_apply(struct db *db, const struct host *h, const struct host_syncing *v,
	const char *job_id, int64_t now)
{
	struct host_user_row row = v->row;

	row.host = h->url;
	row.job_id = job_id;
	row.failures = v->said.end ? row.failures + 1 : 0;
	row.last_error = v->said.why;
	row.updated_at = now;
	return db_run(db, &sql[USER_NOTE], NULL, BY_NAME(host_user_row, &row));
}

/* ---- the job ---- */

struct sync_run {
	struct work work; /* first */
	struct host_syncer *by;
	struct job *job;
	struct arena arena;
	struct host host; /* with our own way to end */
	struct host_syncing what;
	bool nothing;
};

static void end_sync(struct sync_run *v, int err)
{
	struct job *job = v->job;

	arena_free(&v->arena);
	free(v);
	job_over(job, err);
}

static int run_sync_apply(struct work *w, struct db *db)
{
	struct sync_run *v = (struct sync_run *)w;
	const struct remote_said *said = &v->what.said;
	int64_t now = clock_now_us();
	int err = job_still_mine(db, v->job, now);

	if (!err && !v->nothing)
		err = host_sync_apply(db, &v->host, &v->what, v->job->id, now);
	if (err)
		return err;
	if (v->nothing || !said->end)
		return job_finish(db, v->job, now);
	return job_requeue(db, v->job,
		now + host_sync_pause_us(v->what.row.failures + 1, said->retry_after_s), false,
		said->why, now);
}

static void sync_applied(struct work *w, int err)
{
	end_sync((struct sync_run *)w, err);
}

static void begin_sync_apply(struct sync_run *v)
{
	int err;

	v->work = (struct work){ .run = run_sync_apply, .done = sync_applied, .mode = READ_WRITE };
	err = store_submit(*v->by->store, &v->work);
	if (err)
		end_sync(v, err);
}

static int run_sync_push(struct work *w, struct db *none)
{
	struct sync_run *v = (struct sync_run *)w;

	(void)none;
	if (w->withdrawn || v->by->stopping)
		return ERR_STOPPING;
	host_sync_push(&v->host, &v->arena, &v->what);
	return 0;
}

static void sync_pushed(struct work *w, int err)
{
	if (err)
		end_sync((struct sync_run *)w, err);
	else
		begin_sync_apply((struct sync_run *)w);
}

static int run_sync_load(struct work *w, struct db *db)
{
	struct sync_run *v = (struct sync_run *)w;
	int err;

	arena_reset(&v->arena);
	v->what = (struct host_syncing){ .len = 0 };
	err = v->host.kind ? host_sync_load(db, &v->arena, &v->host, v->job->tenant_id,
				     v->job->subject, v->job->id, &v->what)
			   : ERR_NOT_FOUND; /* the setting names no other host any more */
	v->nothing = err == ERR_NOT_FOUND;
	return v->nothing ? 0 : err;
}

static void sync_loaded(struct work *w, int err)
{
	struct sync_run *v = (struct sync_run *)w;

	if (!err && v->nothing) {
		begin_sync_apply(v);
		return;
	}
	v->work = (struct work){ .run = run_sync_push, .done = sync_pushed };
	if (!err)
		err = pool_submit(*v->by->pool, v->job->tenant_id, &v->work);
	if (err)
		end_sync(v, err);
}

static void begin_sync(void *ctx, struct job *job)
{
	struct sync_run *v = calloc(1, sizeof *v);
	int err = v ? 0 : ERR_BUSY;

	if (v) {
		v->by = ctx;
		v->job = job;
		if (*v->by->host) {
			v->host = **v->by->host;
			v->host.stop = &v->by->stopping;
		}
		v->work = (struct work){
			.run = run_sync_load, .done = sync_loaded, .mode = READ_ONLY
		};
		err = store_submit(*v->by->store, &v->work);
	}
	if (err) {
		free(v);
		job_over(job, err);
	}
}

/* What is under way ends soon, and is put back. */
static void stop_sync(void *ctx, struct job *job)
{
	struct host_syncer *s = ctx;

	(void)job;
	s->stopping = true;
}

struct job_kind host_sync_kind(struct host_syncer *s)
{
	return (struct job_kind){
		.name = SYNC_JOB, .begin = begin_sync, .stop = stop_sync, .ctx = s
	};
}
