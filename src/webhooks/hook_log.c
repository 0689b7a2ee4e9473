/* hook_log.c - see hook_log.h. */
#include "webhooks/hook_log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"

enum {
	OUTCOME_MAX = 63,
	AGENT_MAX = 255,
	IP_MAX = 63,
	BODY_CELLS = 1024,
	FORGET_ROWS = 500,
	UNKNOWN_EVERY_S = 10
};

/* Calls that are alike. */
struct hook_cell {
	uint64_t hash;
	char tenant_id[ID_LEN + 1], integration_id[ID_LEN + 1];
	char outcome[OUTCOME_MAX + 1], ip[IP_MAX + 1], user_agent[AGENT_MAX + 1];
	int status;
	int64_t calls, first_us;
};

struct hook_log {
	pthread_mutex_t lock;
	struct hook_cell cells[HOOK_LOG_CELLS];
	size_t count;
	int64_t flushed_us;
	_Atomic uint64_t dropped, unknown;
	int64_t unknown_told_us;
	uint64_t unknown_told;
	/* Minute and count of the bodies kept, by a hash of the integration: two that share a cell keep
	 * fewer, never more. */
	struct {
		int64_t minute;
		int kept;
	} bodies[BODY_CELLS];
	bool forgetting;
};

enum { LOG_INSERT, LOG_TRIM, FORGET_NEXT, FORGET_KEEP_KEYS, FORGET_ROWS_OF };

struct forget_row {
	const char *tenant_id, *id;
};

FIELDS(forget_row) = {
	FIELD(forget_row, tenant_id),
	FIELD(forget_row, id),
};
static SCHEMA(forget_row, .internal = true);

/* $1 tenant, $2 integration, $3 the first id that stays */
#define PAST                                                                          \
	"select id from deliveries where tenant_id = $1 and integration_id = $2 and " \
	"id < $3 and status <> 'accepted' order by id limit 500"

static const struct statement sql[] = {
	[LOG_INSERT] = { "hook_log_insert",
		"insert into deliveries (tenant_id, integration_id, id, delivery_id, status, outcome, "
		"caller_ip, user_agent, calls, attempts, created_at, body) "
		"select i.tenant_id, i.id, :id, '', :status, :outcome, :caller_ip, :user_agent, "
		":calls, 0, :created_at, '' from integrations i "
		"where i.tenant_id = :tenant_id and i.id = :integration_id",
		.row = &delivery_row_schema },
	[LOG_TRIM] = { "hook_log_trim",
		"delete from deliveries where tenant_id = $1 and integration_id = $2 and id in "
		"(select id from deliveries where tenant_id = $1 and integration_id = $2 "
		"and status in ('rejected', 'blocked') order by id desc limit 1000 offset $3)" },
	[FORGET_NEXT] = { "hook_forget_next",
		"select tenant_id, id from integrations where id > $1 order by id limit 1",
		.row = &forget_row_schema, .across = "the log of every tenant is kept as long" },
	[FORGET_KEEP_KEYS] = { "hook_forget_keep_keys",
		"insert into deliveries_past (tenant_id, integration_id, delivery_key, id) "
		"select tenant_id, integration_id, delivery_key, id from deliveries "
		"where tenant_id = $1 and integration_id = $2 and delivery_key is not null "
		"and id in (" PAST ") on conflict do nothing" },
	[FORGET_ROWS_OF] = { "hook_forget_rows",
		"delete from deliveries where tenant_id = $1 and integration_id = $2 "
		"and id in (" PAST ")" },
};
STATEMENT_SET(hook_log_sql, sql);

struct hook_log *hook_log_new(void)
{
	struct hook_log *log = calloc(1, sizeof *log);

	if (log)
		pthread_mutex_init(&log->lock, NULL);
	return log;
}

void hook_log_free(struct hook_log *log)
{
	if (!log)
		return;
	pthread_mutex_destroy(&log->lock);
	free(log);
}

uint64_t hook_log_dropped(const struct hook_log *log)
{
	return atomic_load_explicit(&log->dropped, memory_order_relaxed);
}

/* ---- addresses that are not there ---- */

uint64_t hook_log_unknown_calls(const struct hook_log *log)
{
	return atomic_load_explicit(&log->unknown, memory_order_relaxed);
}

void hook_log_unknown(struct hook_log *log, const char *id, const char *ip, int64_t now)
{
	uint64_t calls = atomic_fetch_add_explicit(&log->unknown, 1, memory_order_relaxed) + 1,
		 more = 0;

	pthread_mutex_lock(&log->lock);
	if (!log->unknown_told_us || now - log->unknown_told_us >= UNKNOWN_EVERY_S * SECOND_US ||
		now < log->unknown_told_us) {
		more = calls - log->unknown_told;
		log->unknown_told = calls;
		log->unknown_told_us = now;
	}
	pthread_mutex_unlock(&log->lock);
	if (more)
		log_warn("a webhook call to an address that is not there", LOG_S("id", id),
			LOG_S("ip", ip ? ip : ""), LOG_N("calls", (int64_t)more));
}

/* ---- noting ---- */

static uint64_t hook_note_hash(const struct hook_note *n, const char *ip)
{
	char key[ID_LEN + OUTCOME_MAX + IP_MAX + 8];
	int len = snprintf(key, sizeof key, "%s %d %.*s %.*s", n->integration_id, n->status,
		OUTCOME_MAX, n->outcome, IP_MAX, ip);

	return keyed_hash(key, (size_t)len < sizeof key ? (size_t)len : sizeof key - 1);
}

static struct hook_cell *cell_find(struct hook_log *log, uint64_t hash)
{
	for (size_t i = 0; i < log->count; i++)
		if (log->cells[i].hash == hash)
			return &log->cells[i];
	return NULL;
}

static size_t hook_cells_of(const struct hook_log *log, const char *integration_id)
{
	size_t n = 0;

	for (size_t i = 0; i < log->count; i++)
		n += strcmp(log->cells[i].integration_id, integration_id) == 0;
	return n;
}

static struct hook_cell *cell_new(
	struct hook_log *log, const struct hook_note *n, uint64_t hash, const char *ip)
{
	struct hook_cell *c;

	if (log->count == HOOK_LOG_CELLS)
		return NULL;
	c = &log->cells[log->count++];
	*c = (struct hook_cell){ .hash = hash, .status = n->status };
	snprintf(c->tenant_id, sizeof c->tenant_id, "%s", n->tenant_id);
	snprintf(c->integration_id, sizeof c->integration_id, "%s", n->integration_id);
	snprintf(c->outcome, sizeof c->outcome, "%s", n->outcome);
	snprintf(c->ip, sizeof c->ip, "%s", ip);
	snprintf(c->user_agent, sizeof c->user_agent, "%s", n->user_agent ? n->user_agent : "");
	return c;
}

static bool hook_log_put(struct hook_log *log, const struct hook_note *n, int64_t now)
{
	const char *ip = n->ip ? n->ip : "";
	uint64_t hash = hook_note_hash(n, ip);
	struct hook_cell *c = cell_find(log, hash);

	if (!c && hook_cells_of(log, n->integration_id) >= HOOK_LOG_ADDRESSES) {
		ip = ""; /* too many addresses: one row for what is left */
		hash = hook_note_hash(n, ip);
		c = cell_find(log, hash);
	}
	if (!c)
		c = cell_new(log, n, hash, ip);
	if (!c)
		return false;
	if (!c->calls++)
		c->first_us = now;
	return true;
}

void hook_log_note(
	struct hook_log *log, struct store *store, const struct hook_note *n, int64_t now)
{
	bool due;

	pthread_mutex_lock(&log->lock);
	if (!hook_log_put(log, n, now))
		atomic_fetch_add_explicit(&log->dropped, 1, memory_order_relaxed);
	due = now - log->flushed_us >= SECOND_US || now < log->flushed_us;
	pthread_mutex_unlock(&log->lock);
	if (due)
		hook_log_flush(log, store, now);
}

bool hook_log_keeps(struct hook_log *log, const char *integration_id, int64_t now)
{
	size_t at = keyed_hash(integration_id, strlen(integration_id)) % BODY_CELLS;
	int64_t minute = now / (60 * SECOND_US);
	bool keeps;

	pthread_mutex_lock(&log->lock);
	if (log->bodies[at].minute != minute) {
		log->bodies[at].minute = minute;
		log->bodies[at].kept = 0;
	}
	keeps = log->bodies[at].kept < HOOK_LOG_BODIES;
	log->bodies[at].kept += keeps;
	pthread_mutex_unlock(&log->lock);
	return keeps;
}

/* ---- writing ---- */

struct flush {
	struct work work;
	size_t count;
	struct hook_cell cells[];
};

static int flush_run(struct work *w, struct db *db)
{
	struct flush *f = (struct flush *)w;
	int err = 0;

	for (size_t i = 0; !err && i < f->count; i++) {
		const struct hook_cell *c = &f->cells[i];
		/* Of the moment it came, so that it stands among the others as it did. */
		struct id id = id_at(c->first_us);

		err = db_put(db, &sql[LOG_INSERT],
			&(struct delivery_row){ .tenant_id = c->tenant_id,
				.integration_id = c->integration_id,
				.id = id.text,
				.status = c->status,
				.outcome = c->outcome,
				.caller_ip = *c->ip ? c->ip : NULL,
				.user_agent = *c->user_agent ? c->user_agent : NULL,
				.calls = c->calls,
				.created_at = c->first_us });
		if (!err)
			err = db_run(db, &sql[LOG_TRIM], NULL,
				ARGS(T(c->tenant_id), T(c->integration_id), N(HOOK_LOG_ROWS)));
	}
	return err;
}

static void flush_done(struct work *w, int err)
{
	struct flush *f = (struct flush *)w;
	int64_t calls = 0;

	for (size_t i = 0; i < f->count; i++)
		calls += f->cells[i].calls;
	if (err)
		log_warn("refused calls of webhooks were not logged", LOG_N("calls", calls),
			LOG_S("error", error_row(err)->code));
	free(f);
}

void hook_log_flush(struct hook_log *log, struct store *store, int64_t now)
{
	struct flush *f = NULL;

	pthread_mutex_lock(&log->lock);
	if (log->count)
		f = malloc(sizeof *f + log->count * sizeof *f->cells);
	if (f) {
		f->work = (struct work){ .run = flush_run, .done = flush_done, .mode = READ_WRITE };
		f->count = log->count;
		memcpy(f->cells, log->cells, log->count * sizeof *f->cells);
		log->count = 0;
		log->flushed_us = now;
	}
	pthread_mutex_unlock(&log->lock);
	if (f && store_submit(store, &f->work))
		flush_done(&f->work, ERR_BUSY);
}

/* ---- forgetting ---- */

/* Goes from integration to integration, some rows at a time, each in a transaction of its own. */
struct forget {
	struct work work;
	struct hook_log *log;
	struct store *store;
	struct arena arena;
	char last[ID_LEN + 1], next[ID_LEN + 1]; /* done with; under way */
	char before[ID_LEN + 1];
	bool over;
};

static int forget_run(struct work *w, struct db *db)
{
	struct forget *f = (struct forget *)w;
	struct forget_row row;
	int64_t removed = 0;
	int err;

	arena_reset(&f->arena);
	memcpy(f->next, f->last, sizeof f->next);
	f->over = false;
	err = db_one(db, &f->arena, &sql[FORGET_NEXT], &row, ARGS(T(f->last)));
	if (err == ERR_NOT_FOUND) {
		f->over = true;
		return 0;
	}
	if (!err)
		err = db_run(db, &sql[FORGET_KEEP_KEYS], NULL,
			ARGS(T(row.tenant_id), T(row.id), T(f->before)));
	if (!err)
		err = db_run(db, &sql[FORGET_ROWS_OF], &removed,
			ARGS(T(row.tenant_id), T(row.id), T(f->before)));
	if (!err && removed < FORGET_ROWS)
		snprintf(f->next, sizeof f->next, "%s", row.id);
	return err;
}

static void forget_done(struct work *w, int err)
{
	struct forget *f = (struct forget *)w;
	struct hook_log *log = f->log;

	memcpy(f->last, f->next, sizeof f->last);
	if (!err && !f->over && !store_submit(f->store, w))
		return;
	pthread_mutex_lock(&log->lock);
	log->forgetting = false;
	pthread_mutex_unlock(&log->lock);
	arena_free(&f->arena);
	free(f);
}

void hook_log_forget(struct hook_log *log, struct store *store, int64_t retention_us, int64_t now)
{
	struct forget *f;
	struct id before;
	bool busy;

	f = retention_us ? calloc(1, sizeof *f) : NULL;
	if (!f)
		return;
	pthread_mutex_lock(&log->lock);
	busy = log->forgetting;
	log->forgetting = true;
	pthread_mutex_unlock(&log->lock);
	if (busy) {
		free(f);
		return;
	}
	before = id_least(now - retention_us);
	memcpy(f->before, before.text, sizeof f->before);
	f->log = log;
	f->store = store;
	f->over = true;
	f->work = (struct work){ .run = forget_run, .done = forget_done, .mode = READ_WRITE };
	if (store_submit(store, &f->work))
		forget_done(&f->work, ERR_BUSY);
}
