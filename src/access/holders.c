/* holders.c - see holders.h. */
#include "access/holders.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { HOLDERS_MAX = 10000, TRIES = 20 };

FIELDS(holder_row) = {
	FIELD(holder_row, id),
	FIELD(holder_row, name),
	FIELD(holder_row, sealing),
	FIELD(holder_row, knows),
	FIELD(holder_row, fault),
	FIELD(holder_row, beat),
	FIELD(holder_row, seen_at),
};
static SCHEMA(holder_row, .internal = true);

enum {
	MARK_READ,
	MARK_MAKE,
	MARK_REPLACE,
	CHANGE_READ,
	CHANGE_BEGIN,
	CHANGE_END,
	BEAT,
	LEAVE,
	EVERYONE,
	FORGET,
	STORE_NOW,
	STORE_OPEN
};

static const struct statement sql[] = {
	[MARK_READ] = { "key_mark_read", "select value from meta where key = 'master_key'",
		.row = &one_text_schema },
	[MARK_MAKE] = { "key_mark_make",
		"insert into meta (key, value) values ('master_key', $1)" },
	[MARK_REPLACE] = { "key_mark_replace",
		"update meta set value = $1 where key = 'master_key'" },
	[CHANGE_READ] = { "key_change_read", "select value from meta where key = 'key_change'",
		.row = &one_text_schema },
	[CHANGE_BEGIN] = { "key_change_begin",
		"insert into meta (key, value) values ('key_change', $1)" },
	[CHANGE_END] = { "key_change_end", "delete from meta where key = 'key_change'" },
	[BEAT] = { "key_holder_beat",
		"insert into key_holders ({*}) values ({$}) on conflict (id) do update set "
		"sealing = :sealing, knows = :knows, fault = :fault, beat = key_holders.beat + 1, "
		"seen_at = :seen_at",
		.row = &holder_row_schema },
	[LEAVE] = { "key_holder_leave", "delete from key_holders where id = $1" },
	[EVERYONE] = { "key_holders_list", "select {*} from key_holders order by id",
		.row = &holder_row_schema, .scan = "one row a process" },
	[STORE_NOW] = { "key_store_now", "select 0",
		.postgres = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint",
		.scan = "no table" },
	[STORE_OPEN] = { "key_store_open", "select 0 * $1",
		.postgres =
			"select count(*) from pg_stat_activity where datname = current_database() "
			"and usename = current_user and pid <> pg_backend_pid() "
			"and (extract(epoch from xact_start) * 1000000)::bigint <= $1",
		.scan = "no table of ours" },
	[FORGET] = { "key_holder_forget", "delete from key_holders where id = $1 and beat = $2" },
};
STATEMENT_SET(holders_sql, sql);

static int read_key_text(
	struct db *db, struct arena *a, const struct statement *st, const char **ret)
{
	struct one_text row;
	int err = db_one(db, a, st, &row, NO_ARGS);

	*ret = err ? NULL : row.value;
	return err == ERR_NOT_FOUND ? 0 : err;
}

int key_mark_read(struct db *db, struct arena *a, const char **ret)
{
	return read_key_text(db, a, &sql[MARK_READ], ret);
}

int key_mark_make(struct db *db, struct arena *a, const uint8_t key[VAULT_KEY_LEN])
{
	return db_run(db, &sql[MARK_MAKE], NULL, ARGS(T(vault_mark(a, key))));
}

int key_mark_replace(struct db *db, struct arena *a, const uint8_t key[VAULT_KEY_LEN])
{
	return db_run(db, &sql[MARK_REPLACE], NULL, ARGS(T(vault_mark(a, key))));
}

int key_change_read(struct db *db, struct arena *a, const char **ret)
{
	return read_key_text(db, a, &sql[CHANGE_READ], ret);
}

int key_change_begin(struct db *db, const char *name)
{
	return db_run(db, &sql[CHANGE_BEGIN], NULL, ARGS(T(name)));
}

int key_change_end(struct db *db)
{
	return db_run(db, &sql[CHANGE_END], NULL, NO_ARGS);
}

int store_now(struct db *db, int64_t *ret_us)
{
	return db_int(db, &sql[STORE_NOW], ret_us, NO_ARGS);
}

int store_open_since(struct db *db, int64_t us, int64_t *ret)
{
	return db_int(db, &sql[STORE_OPEN], ret, ARGS(N(us)));
}

int holders_list(struct db *db, struct arena *a, struct list *ret)
{
	return db_all(db, a, &sql[EVERYONE], ret, HOLDERS_MAX, NO_ARGS);
}

int holder_forget(struct db *db, const struct holder_row *row)
{
	return db_run(db, &sql[FORGET], NULL, ARGS(T(row->id), N(row->beat)));
}

/* Follows the mark and says so, in this order: whoever reads the row must find it done. */
static int holder_heartbeat(struct db *db, struct arena *a, const struct holder *h)
{
	char names[VAULT_NAMES_LEN + 1], sealing[VAULT_NAME_LEN + 1] = "", fault[VAULT_FAULT_LEN];
	const char *mark;
	int err = key_mark_read(db, a, &mark);

	if (err || !mark)
		return err ? err : ERR_STORE;
	if (vault_follow(h->vault, mark))
		vault_sealing(h->vault, sealing);
	vault_names(h->vault, names);
	vault_fault(h->vault, fault);
	return db_put(db, &sql[BEAT],
		&(struct holder_row){ .id = h->id,
			.name = h->name,
			.sealing = sealing,
			.knows = names,
			.fault = fault,
			.beat = 1,
			.seen_at = clock_now_us() });
}

int holder_join(struct db *db, struct arena *a, struct holder *h, struct vault *vault)
{
	int64_t began;
	char host[64] = "";
	int err, tries = TRIES;

	gethostname(host, sizeof host - 1);
	h->vault = vault;
	memcpy(h->id, id_new(NULL).text, sizeof h->id);
	snprintf(h->name, sizeof h->name, "process %d on %s", (int)getpid(), host);
	do {
		began = clock_mono_ms();
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = holder_heartbeat(db, a, h);
		if (err)
			db_rollback(db);
		else
			err = db_commit(db);
	} while (err == ERR_RETRY && --tries);
	if (!err)
		vault_lease(vault, began + HOLDER_LEASE_MS);
	return err;
}

void holder_leave(struct db *db, struct holder *h)
{
	int err = ERR_RETRY;

	for (int tries = TRIES; *h->id && err == ERR_RETRY && tries; tries--) {
		err = db_begin(db, READ_WRITE);
		if (!err)
			err = db_run(db, &sql[LEAVE], NULL, ARGS(T(h->id)));
		if (err)
			db_rollback(db); /* at last it is taken for dead, after a while */
		else
			err = db_commit(db);
	}
	*h->id = '\0';
}

struct keeper {
	struct work work; /* first: the store hands this back */
	struct store *store;
	struct holder holder;
	struct arena arena;
	int64_t began; /* monotonic milliseconds */
	char told[VAULT_NAMES_LEN + 1];
	bool failed;
	_Atomic bool busy; /* at work for the store, which owns all above meanwhile */
};

static int keeper_run(struct work *w, struct db *db)
{
	struct keeper *k = (struct keeper *)w;

	arena_reset(&k->arena);
	return holder_heartbeat(db, &k->arena, &k->holder);
}

static void keeper_done(struct work *w, int err)
{
	struct keeper *k = (struct keeper *)w;

	k->failed = err !=
		    0; /* a store that fails says so itself; the vault has a fault when it lasts */
	if (!err)
		vault_lease(k->holder.vault, k->began + HOLDER_LEASE_MS);
	atomic_store(&k->busy, false);
}

struct keeper *keeper_new(struct store *store, const struct holder *h)
{
	struct keeper *k = calloc(1, sizeof *k);

	if (!k)
		abort();
	k->store = store;
	k->holder = *h;
	k->began = clock_mono_ms();
	k->work = (struct work){ .run = keeper_run, .done = keeper_done, .mode = READ_WRITE };
	vault_names(h->vault, k->told);
	return k;
}

void keeper_wake(struct keeper *k)
{
	char names[VAULT_NAMES_LEN + 1];
	int64_t now = clock_mono_ms();

	if (atomic_exchange(&k->busy, true))
		return;
	vault_names(k->holder.vault, names);
	if (!k->failed && now - k->began < HOLDER_HEARTBEAT_MS && strcmp(names, k->told) == 0) {
		atomic_store(&k->busy, false);
		return;
	}
	memcpy(k->told, names, sizeof names);
	k->began = now;
	if (store_submit(k->store, &k->work))
		atomic_store(&k->busy, false);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	arena_free(&k->arena);
	free(k);
}
