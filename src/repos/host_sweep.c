/* host_sweep.c - agents whose picture or key another host does not have, although nobody was told: see host_sync.h. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "repos/host_sync.h"
#include "store/row.h"

enum { PIECE = 100 };

struct unsynced {
	const char *tenant_id, *id;
};
FIELDS(unsynced) = { ROW_FIELDS(unsynced, tenant_id, id) };
static SCHEMA(unsynced, .internal = true);

enum { UNSYNCED };

static const struct statement sql[] = {
	[UNSYNCED] = { "host_unsynced",
		"select {*} from agents where (avatar_sha256 is not null or coalesce(ssh_public_key, '') <> '') "
		"and not exists (select 1 from agent_host_users u where u.tenant_id = agents.tenant_id and "
		"u.agent_id = agents.id and ((u.host = $1 and "
		"coalesce(agents.avatar_sha256, u.avatar_sha256, '') = coalesce(u.avatar_sha256, '') and "
		"(coalesce(agents.ssh_public_key, '') = '' or agents.ssh_public_key = u.ssh_public_key)) "
		"or exists (select 1 from jobs j where j.tenant_id = u.tenant_id and j.id = u.job_id))) "
		"limit $2",
		.row = &unsynced_schema, .across = "of every tenant",
		.scan = "once a day, and not on the embedded host" },
};
STATEMENT_SET(host_sweep_sql, sql);

struct host_sweep {
	struct work work; /* first */
	const struct host *host;
	struct arena arena;
	struct list found;
	int64_t now;
};

static _Atomic int64_t swept_us;

static int ask_for_unsynced(struct work *w, struct db *db)
{
	struct host_sweep *s = (struct host_sweep *)w;
	const struct unsynced *one;
	int err;

	arena_reset(&s->arena);
	err = db_all(
		db, &s->arena, &sql[UNSYNCED], &s->found, PIECE, ARGS(T(s->host->url), N(PIECE)));
	one = s->found.at;
	for (size_t i = 0; !err && i < s->found.count; i++)
		err = host_sync_ask(db, &s->arena, s->host, one[i].tenant_id, one[i].id, s->now);
	return err;
}

static void asked_for_unsynced(struct work *w, int err)
{
	struct host_sweep *s = (struct host_sweep *)w;

	if (!err && s->found.count)
		log_info("pictures and keys of agents are brought to the host of repositories",
			LOG_N("agents", (int64_t)s->found.count));
	if (err || s->found.count == PIECE)
		swept_us = 0; /* there are more: with the next minute */
	arena_free(&s->arena);
	free(s);
}

void host_sweep_submit(const struct host *h, struct store *store, int64_t now)
{
	struct host_sweep *s;

	if (!h || swept_us > now - DAY_US)
		return;
	s = calloc(1, sizeof *s);
	if (!s)
		return;
	swept_us = now;
	*s = (struct host_sweep){
		.work = { .run = ask_for_unsynced, .done = asked_for_unsynced, .mode = READ_WRITE },
		.host = h,
		.now = now
	};
	if (store_submit(store, &s->work)) {
		swept_us = 0;
		free(s);
	}
}
