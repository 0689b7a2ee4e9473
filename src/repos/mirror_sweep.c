/* mirror_sweep.c - which repositories of other hosts are due, and whether their refs have moved; see mirrors.h.
 *
 *   those that are due are claimed: their next time is a while away, so that nobody else takes them, and a process that dies
 *   leaves them to others -> by tenant and host, a few dozen at a time: one connection, one small question each
 *     -> written down, all of a group in one transaction
 *
 * A host that does not answer is asked once for all of a group.  Nothing waits
 * for a group but itself, so that one slow host delays nobody else's. */
#include "repos/mirrors_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/row.h"

enum {
	PIECE = 512,	  /* that are claimed at a time */
	GROUP_MAX = 64,	  /* of one tenant and host */
	GROUPS_MAX = 64,  /* under way in a process */
	GROUP_MS = 30000, /* that one takes; what is left then is looked at the next time */
	CLAIM_S = 120,
	ASKERS = 4,
	ASKERS_WAITING = GROUPS_MAX + PIECE,
	FETCHERS = 3,
	FETCHERS_WAITING = 256,
	IDLE_S = 10,
};

struct sight {
	const char *tenant_id, *id, *last_error;
	int64_t now, next;
};
FIELDS(sight) = { ROW_FIELDS(sight, tenant_id, id, now, next), ROW_NULLABLE(sight, last_error) };
static SCHEMA(sight, .internal = true);

enum { SWEEP_DUE, SWEEP_CLAIM, SWEEP_SAME, SWEEP_FAILED, SWEEP_LATER, SWEEP_LOST };

static const struct statement sql[] = {
	[SWEEP_DUE] = { "mirror_due",
		"select {*} from repositories where next_attempt_at <= $1 "
		"order by next_attempt_at, id limit $2",
		.row = &repository_schema, .across = "of every tenant" },
	[SWEEP_CLAIM] = { "mirror_claim",
		"update repositories set next_attempt_at = $4 "
		"where tenant_id = $1 and id = $2 and next_attempt_at = $3" },
	[SWEEP_SAME] = { "mirror_same",
		"update repositories set observed_at = :now, next_attempt_at = "
		"case when asked_at >= :now then cast(:now as bigint) else cast(:next as bigint) end, last_error = null, failures = 0 "
		"where tenant_id = :tenant_id and id = :id and next_attempt_at is not null",
		.args = &sight_schema },
	[SWEEP_FAILED] = { "mirror_unseen",
		"update repositories set last_error = :last_error, failures = failures + 1, "
		"next_attempt_at = :next, updated_at = :now "
		"where tenant_id = :tenant_id and id = :id and next_attempt_at is not null",
		.args = &sight_schema },
	[SWEEP_LATER] = { "mirror_later",
		"update repositories set next_attempt_at = $3 "
		"where tenant_id = $1 and id = $2 and next_attempt_at is not null" },
	[SWEEP_LOST] = { "mirror_lost",
		"update repositories set last_error = $3 where tenant_id = $1 and id = $2" },
};
STATEMENT_SET(mirror_sweep_sql, sql);

/* ---- a group: repositories of one tenant on one host ---- */

struct seen {
	struct repository row;
	struct repo_secrets secrets;
	enum { UNSEEN, SEEN_SAME, SEEN_MOVED, SEEN_LOST, SEEN_FAILED } what;
	const char *why;
	int64_t retry_after_s;
};

struct group {
	struct work work; /* first */
	struct mirrors *by;
	struct arena arena;
	struct seen of[GROUP_MAX];
	size_t count;
	int64_t now; /* when it began to ask */
};

static void group_over(struct group *g)
{
	struct mirrors *m = g->by;

	arena_free(&g->arena);
	free(g);
	atomic_fetch_sub(&m->groups, 1);
}

static void look_at_one(
	struct group *g, struct seen *s, struct arena *turn, struct fetch_line *line)
{
	struct remote remote = { .url = s->row.url,
		.egress = g->by->settings.egress,
		.stop = &g->by->stopping,
		.line = line,
		.known = s->row.refs_sha256 != NULL };
	struct remote_said said;
	struct ls_refs refs;
	char digest[65];

	remote_set_token(&remote, turn, s->secrets.token);
	said = remote_refs_list(&remote, turn, &refs);
	s->retry_after_s = said.retry_after_s;
	if (said.end) {
		s->what = SEEN_FAILED;
		s->why = arena_strdup(&g->arena, said.why);
		return;
	}
	mirror_digest(&refs, digest);
	s->what = s->row.refs_sha256 && strcmp(digest, s->row.refs_sha256) == 0 ? SEEN_SAME
										: SEEN_MOVED;
	if (s->what == SEEN_SAME && !repo_is_there(*g->by->settings.repos, turn, s->row.id)) {
		s->what = SEEN_LOST;
		s->why = REPO_LOST " It is being fetched anew.";
		log_error("the files of a repository are gone; they are fetched anew",
			LOG_S("id", s->row.id), LOG_S("url", s->row.url));
	}
}

/* On a thread that may wait. */
static int look_at_group(struct work *w, struct db *none)
{
	struct group *g = (struct group *)w;
	int64_t until = clock_mono_ms() + GROUP_MS;
	struct fetch_line *line = fetch_line_new();
	const struct seen *away = NULL;
	struct arena turn = { 0 };

	(void)none;
	g->now = clock_now_us();
	for (size_t i = 0; i < g->count; i++) {
		struct seen *s = &g->of[i];

		if (w->withdrawn || atomic_load(&g->by->stopping) || clock_mono_ms() > until)
			break;
		if (s->what == SEEN_FAILED)
			continue;
		if (away) {
			s->what = SEEN_FAILED;
			s->why = away->why;
			s->retry_after_s = away->retry_after_s;
			continue;
		}
		arena_reset(&turn);
		look_at_one(g, s, &turn, line);
		if (s->what == SEEN_FAILED && s->retry_after_s < 0 &&
			strncmp(s->why, "The host cannot be reached", 26) == 0)
			away = s;
	}
	arena_free(&turn);
	fetch_line_free(line);
	return 0;
}

/* ---- what came of it ---- */

static int write_one(struct group *g, struct db *db, const struct seen *s, int64_t now)
{
	const struct repository *row = &s->row;
	struct sight sight = {
		.tenant_id = row->tenant_id, .id = row->id, .last_error = s->why, .now = g->now
	};

	int err;

	switch (s->what) {
	case SEEN_LOST:
		err = db_run(
			db, &sql[SWEEP_LOST], NULL, ARGS(T(row->tenant_id), T(row->id), T(s->why)));
		return err ? err : mirror_begin(db, &g->arena, row, now);
	case SEEN_MOVED:
		return mirror_begin(db, &g->arena, row, now);
	case SEEN_SAME:
		sight.next = mirror_next(now, 0, s->retry_after_s);
		return db_run(db, &sql[SWEEP_SAME], NULL, BY_NAME(sight, &sight));
	case SEEN_FAILED:
		sight.next = mirror_next(now, row->failures + 1, s->retry_after_s);
		return db_run(db, &sql[SWEEP_FAILED], NULL, BY_NAME(sight, &sight));
	case UNSEEN:
		break;
	}
	return db_run(db, &sql[SWEEP_LATER], NULL, ARGS(T(row->tenant_id), T(row->id), N(now)));
}

static int write_group(struct work *w, struct db *db)
{
	struct group *g = (struct group *)w;
	int64_t now = clock_now_us();
	int err = 0;

	for (size_t i = 0; !err && i < g->count; i++)
		err = write_one(g, db, &g->of[i], now);
	return err;
}

static void group_written(struct work *w, int err)
{
	(void)err; /* those that were claimed are due again after a while */
	group_over((struct group *)w);
}

static void group_looked_at(struct work *w, int err)
{
	struct group *g = (struct group *)w;

	(void)err;
	g->work = (struct work){ .run = write_group, .done = group_written, .mode = READ_WRITE };
	if (store_submit(*g->by->settings.store, &g->work))
		group_over(g);
}

static void begin_group(struct group *g)
{
	struct mirrors *m = g->by;
	bool taken;

	g->work = (struct work){ .run = look_at_group, .done = group_looked_at };
	atomic_fetch_add(&m->groups, 1);
	pthread_mutex_lock(&m->lock);
	taken = !atomic_load(&m->stopping) &&
		!pool_submit(m->askers, g->of[0].row.tenant_id, &g->work);
	pthread_mutex_unlock(&m->lock);
	if (!taken)
		group_looked_at(&g->work, 0); /* they are tried the next time */
}

/* ---- which are due ---- */

struct claims {
	struct work work; /* first */
	struct mirrors *by;
	struct arena arena;
	struct list rows; /* struct repository */
	int64_t now;
};

static int claim_due(struct work *w, struct db *db)
{
	struct claims *c = (struct claims *)w;
	struct repository *row;
	size_t kept = 0;
	int err;

	arena_reset(&c->arena);
	err = db_all(db, &c->arena, &sql[SWEEP_DUE], &c->rows, PIECE, ARGS(N(c->now), N(PIECE)));
	row = (struct repository *)c->rows.at;
	for (size_t i = 0; !err && i < c->rows.count; i++) {
		int64_t changed = 0;

		err = db_run(db, &sql[SWEEP_CLAIM], &changed,
			ARGS(T(row[i].tenant_id), T(row[i].id), N(row[i].next_attempt_at),
				N(c->now + CLAIM_S * SECOND_US)));
		if (!err && changed)
			row[kept++] = row[i];
	}
	c->rows.count = kept;
	return err;
}

static bool of_one_host(
	struct arena *a, const struct repository *one, const struct repository *other)
{
	struct fetch_origin from, to;

	return strcmp(one->tenant_id, other->tenant_id) == 0 && fetch_origin(a, one->url, &from) &&
	       fetch_origin(a, other->url, &to) && strcmp(from.host, to.host) == 0 &&
	       from.port == to.port;
}

static int by_place(const void *one, const void *other)
{
	const struct repository *a = one, *b = other;
	int order = strcmp(a->tenant_id, b->tenant_id);

	return order ? order : strcmp(a->url ? a->url : "", b->url ? b->url : "");
}

static void add_to_group(struct group *g, const struct repository *row)
{
	struct seen *s = &g->of[g->count++];

	s->row = (struct repository){ .tenant_id = arena_strdup(&g->arena, row->tenant_id),
		.id = arena_strdup(&g->arena, row->id),
		.agent_id = arena_strdup(&g->arena, row->agent_id),
		.url = arena_strdup(&g->arena, row->url ? row->url : ""),
		.sealed = row->sealed ? arena_strdup(&g->arena, row->sealed) : NULL,
		.refs_sha256 = row->refs_sha256 ? arena_strdup(&g->arena, row->refs_sha256) : NULL,
		.host = row->host,
		.failures = row->failures };
	s->retry_after_s = -1;
	if (repo_secrets_open(*g->by->settings.vault, &g->arena, &s->row, &s->secrets)) {
		s->what = SEEN_FAILED;
		s->why =
			"The token that is stored cannot be opened with the present master key: give it anew.";
	}
	s->secrets.token = repo_token(&s->secrets, &s->row, mirrors_host(g->by));
}

static void claimed(struct work *w, int err)
{
	struct claims *c = (struct claims *)w;
	struct mirrors *m = c->by;
	struct repository *row = (struct repository *)c->rows.at;
	struct group *g = NULL;

	if (!err && c->rows.count)
		qsort(row, c->rows.count, sizeof *row, by_place);
	for (size_t i = 0; !err && i < c->rows.count; i++) {
		if (g && (g->count == GROUP_MAX || !of_one_host(&c->arena, &row[i - 1], &row[i]))) {
			begin_group(g);
			g = NULL;
		}
		if (!g) {
			g = memory_zeroed(sizeof *g);
			g->by = m;
		}
		add_to_group(g, &row[i]);
	}
	if (g)
		begin_group(g);
	arena_free(&c->arena);
	free(c);
	atomic_fetch_sub(&m->groups, 1);
}

void mirrors_sweep(struct mirrors *m, int64_t now)
{
	struct claims *c;

	if (!m || atomic_load(&m->stopping) || atomic_load(&m->groups) >= GROUPS_MAX)
		return;
	c = memory_zeroed(sizeof *c);
	c->by = m;
	c->now = now;
	c->work = (struct work){ .run = claim_due, .done = claimed, .mode = READ_WRITE };
	atomic_fetch_add(&m->groups, 1);
	if (store_submit(*m->settings.store, &c->work)) {
		free(c);
		atomic_fetch_sub(&m->groups, 1);
	}
}

bool mirrors_are_swept(const struct mirrors *m)
{
	return atomic_load(&m->groups) == 0;
}

/* ---- the engine ---- */

struct mirrors *mirrors_new(const struct mirrors_settings *settings)
{
	struct mirrors *m = memory_zeroed(sizeof *m);

	m->settings = *settings;
	pthread_mutex_init(&m->lock, NULL);
	m->askers = pool_new(&(struct pool_settings){ .threads = ASKERS,
		.idle_s = IDLE_S,
		.threads_left = 1,
		.waiting = ASKERS_WAITING,
		.waiting_each = ASKERS_WAITING,
		.withdraws = true });
	m->fetchers = pool_new(&(struct pool_settings){ .threads = FETCHERS,
		.idle_s = IDLE_S,
		.threads_left = 1,
		.waiting = FETCHERS_WAITING,
		.waiting_each = FETCHERS_WAITING / POOL_SHARE,
		.withdraws = true });
	return m;
}

void mirrors_stop(struct mirrors *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	atomic_store(&m->stopping, true);
	pthread_mutex_unlock(&m->lock);
	pool_free(m->askers);
	pool_free(m->fetchers);
	m->askers = m->fetchers = NULL;
}

void mirrors_free(struct mirrors *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	free(m);
}
