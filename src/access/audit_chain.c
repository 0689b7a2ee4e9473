/* audit_chain.c - makes the chain of seals; see audit_chain.h.
 *
 * One writer at a time: on SQLite there is only one process, on PostgreSQL it
 * holds the row of the chain's head.  It knows no tenant, and it never decides
 * what is logged. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "access/audit_chain_row.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"

enum { SALT_BYTES = 16, COMPLAIN_EVERY_S = 60 };

enum {
	HEAD_HOLD,
	HEAD_MAKE,
	HEAD_WRITE,
	LAST_SEALED,
	UNSEALED,
	SEAL,
	SEALED_SINCE,
	OF_USER,
	OF_NOBODY,
	OF_TENANT,
	ERASE
};

static const struct statement sql[] = {
	[HEAD_HOLD] = { "chain_head_hold", "select value from meta where key = 'audit_head'",
		.postgres =
			"select value from meta where key = 'audit_head' for update skip locked",
		.row = &one_text_schema },
	[HEAD_MAKE] = { "chain_head_make",
		"insert into meta (key, value) values ('audit_head', $1) on conflict (key) do nothing" },
	[HEAD_WRITE] = { "chain_head_write",
		"update meta set value = $1 where key = 'audit_head'" },
	[LAST_SEALED] = { "chain_last", "select max(seal_seq) from audit_logs",
		.across = ONE_CHAIN },
	[UNSEALED] = { "chain_waiting_rows",
		"select {*} from audit_logs where seal_seq is null and id > '' order by id limit $1",
		.postgres = "select {*} from audit_logs where seal_seq is null and id > '' "
			    "order by id limit $1 for update skip locked",
		.row = &sealed_row_schema, .across = ONE_CHAIN },
	[SEAL] = { "chain_row",
		"update audit_logs set seal_seq = :seal_seq, seal_salt = :seal_salt, "
		"seal_public = :seal_public, seal_personal = :seal_personal, seal_mac = :seal_mac "
		"where id = :id and seal_seq is null",
		.row = &sealed_row_schema, .across = ONE_CHAIN },
	[SEALED_SINCE] = { "chain_sealed_since",
		"select count(*) from audit_logs where seal_seq > $1", .across = ONE_CHAIN },
	[OF_USER] = { "erase_of_user",
		"select id as value from audit_logs where tenant_id = $1 and user_id = $2 "
		"and erased_at is null order by id limit $3",
		.row = &one_text_schema },
	[OF_NOBODY] = { "erase_of_user_without_tenant",
		"select id as value from audit_logs where tenant_id is null and user_id = $1 "
		"and erased_at is null order by id limit $2",
		.row = &one_text_schema, .across = "what belongs to no tenant" },
	[OF_TENANT] = { "erase_of_tenant",
		"select id as value from audit_logs where tenant_id = $1 and id > $2 order by id limit $3",
		.row = &one_text_schema },
	[ERASE] = { "erase_row",
		"update audit_logs set user_id = null, ip = null, user_agent = null, meta = $4, "
		"seal_salt = null, erased_at = $2, erase_mac = $3 "
		"where id = $1 and erased_at is null",
		.across = ONE_CHAIN },
};
STATEMENT_SET(chain_sql, sql);

/* Takes hold of the head, making it for the first row.  1: another process has it. */
static int hold_head(struct db *db, struct arena *a, const uint8_t *key, struct chain_head *ret,
	struct problem *p)
{
	char text[CHAIN_HEAD_TEXT + 1];
	struct one_text row;
	int64_t last = 0, made = 0;
	int err = db_one(db, a, &sql[HEAD_HOLD], &row, NO_ARGS);

	if (!err && chain_head_read(key, row.value, ret))
		return 0;
	if (!err)
		return problem_set(p, a, ERR_CONFLICT,
			"the head of the audit chain was changed, or made with another master key");
	if (err != ERR_NOT_FOUND)
		return err;
	*ret = chain_head_first();
	chain_head_write(key, ret, text);
	err = db_run(db, &sql[HEAD_MAKE], &made, ARGS(T(text)));
	if (!err && !made)
		return 1;
	if (!err)
		err = db_int(db, &sql[LAST_SEALED], &last, NO_ARGS);
	if (!err && last)
		err = problem_set(p, a, ERR_CONFLICT, "the head of the audit chain is missing");
	return err;
}

static int seal_row(
	struct db *db, const uint8_t *key, struct sealed_row *row, struct chain_head *head)
{
	uint8_t noise[SALT_BYTES];
	char salt[2 * SALT_BYTES + 1];
	digest public, personal, mac;
	int err;

	random_bytes(noise, sizeof noise);
	hex_write(noise, sizeof noise, salt);
	chain_public(row, public);
	chain_personal(row, salt, personal);
	INVARIANT(head->seq >= 0 && head->seq < INT64_MAX);
	row->seal_seq = head->seq + 1;
	row->seal_public = public;
	row->seal_personal = personal;
	seal_mac(key, head, row, mac);
	row->seal_salt = row->erased_at.us == NIL ? salt : NULL;
	row->seal_mac = mac;
	err = db_run(db, &sql[SEAL], NULL, BY_NAME(sealed_row, row));
	head->seq = row->seal_seq;
	memcpy(head->mac, mac, sizeof mac);
	return err;
}

/* Asked once, and not of each row: on PostgreSQL a writer waits for every answer. */
static int count_seals(struct db *db, int64_t before, size_t wanted)
{
	int64_t there = 0;
	int err = db_int(db, &sql[SEALED_SINCE], &there, ARGS(N(before)));

	return err ? err : there == (int64_t)wanted ? 0 : ERR_INTERNAL;
}

int chain_extend(struct db *db, struct arena *a, const uint8_t key[CHAIN_KEY_LEN],
	int64_t *ret_sealed, struct problem *p)
{
	struct chain_head head;
	struct list rows;
	char text[CHAIN_HEAD_TEXT + 1];
	int64_t before;
	int err = hold_head(db, a, key, &head, p);

	*ret_sealed = 0;
	if (err)
		return err > 0 ? 0 : err;
	before = head.seq;
	err = db_all(db, a, &sql[UNSEALED], &rows, CHAIN_BATCH, ARGS(N(CHAIN_BATCH)));
	for (size_t i = 0; !err && i < rows.count; i++)
		err = seal_row(db, key, &((struct sealed_row *)rows.at)[i], &head);
	if (!err && rows.count)
		err = count_seals(db, before, rows.count);
	if (err == ERR_DUPLICATE)
		return problem_set(p, a, ERR_CONFLICT,
			"a row of the audit log bears a number that the chain has not come to");
	if (err || !rows.count)
		return err;
	chain_head_write(key, &head, text);
	*ret_sealed = (int64_t)rows.count;
	return db_run(db, &sql[HEAD_WRITE], NULL, ARGS(T(text)));
}

int audit_erase_row(const struct audit_eraser *e, const char *id, int64_t *ret_erased)
{
	digest mac;

	chain_erasure(e->key, id, e->now, mac);
	return db_run(e->db, &sql[ERASE], ret_erased, ARGS(T(id), N(e->now), T(mac), T("{}")));
}

static int erase_all(const struct audit_eraser *e, const struct list *rows, int64_t *ret_erased)
{
	int err = 0;

	*ret_erased = 0;
	for (size_t i = 0; !err && i < rows->count; i++) {
		int64_t erased = 0;

		err = audit_erase_row(e, ((const struct one_text *)rows->at)[i].value, &erased);
		*ret_erased += erased;
	}
	return err;
}

int audit_erase_user(const struct audit_eraser *e, const char *tenant_id, const char *user_id,
	int64_t *ret_erased)
{
	struct list rows;
	int err;

	if (tenant_id)
		err = db_all(e->db, e->arena, &sql[OF_USER], &rows, CHAIN_BATCH,
			ARGS(T(tenant_id), T(user_id), N(CHAIN_BATCH)));
	else
		err = db_all(e->db, e->arena, &sql[OF_NOBODY], &rows, CHAIN_BATCH,
			ARGS(T(user_id), N(CHAIN_BATCH)));
	return err ? err : erase_all(e, &rows, ret_erased);
}

int audit_erase_tenant(
	const struct audit_eraser *e, const char *tenant_id, const char **at, int64_t *ret_erased)
{
	struct list rows;
	int err = db_all(e->db, e->arena, &sql[OF_TENANT], &rows, CHAIN_BATCH,
		ARGS(T(tenant_id), T(*at), N(CHAIN_BATCH)));

	if (err)
		return err;
	*at = rows.count ? ((const struct one_text *)rows.at)[rows.count - 1].value : NULL;
	return erase_all(e, &rows, ret_erased);
}

struct chain_writer {
	struct work work; /* first: the store hands this back */
	struct store *store;
	uint8_t key[CHAIN_KEY_LEN];
	struct arena arena;
	struct problem problem;
	int64_t sealed;	    /* by the last run */
	int64_t complained; /* monotonic milliseconds, 0: never */
	_Atomic bool busy;  /* at work for the store, which owns all above meanwhile */
};

static int chain_writer_run(struct work *w, struct db *db)
{
	struct chain_writer *s = (struct chain_writer *)w;

	arena_reset(&s->arena);
	s->problem = (struct problem){ 0 };
	return chain_extend(db, &s->arena, s->key, &s->sealed, &s->problem);
}

/* A store that fails has said so itself; a chain that was tampered with is told again and again. */
static void chain_writer_complain(struct chain_writer *s, int err)
{
	int64_t now = clock_mono_ms();

	if (err == ERR_STORE || err == ERR_STORE_FULL || err == ERR_BUSY ||
		(s->complained && now - s->complained < COMPLAIN_EVERY_S * 1000))
		return;
	s->complained = now;
	log_error("the audit log is not being sealed: run lodge check --audit",
		LOG_S("error", s->problem.detail ? s->problem.detail : error_row(err)->title));
}

static void chain_writer_done(struct work *w, int err)
{
	struct chain_writer *s = (struct chain_writer *)w;

	if (err)
		chain_writer_complain(s, err);
	if (!err && s->sealed == CHAIN_BATCH && !store_submit(s->store, &s->work))
		return;
	atomic_store(&s->busy, false);
}

struct chain_writer *chain_writer_new(struct store *store, const uint8_t key[CHAIN_KEY_LEN])
{
	struct chain_writer *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	s->store = store;
	s->work = (struct work){
		.run = chain_writer_run, .done = chain_writer_done, .mode = READ_WRITE
	};
	memcpy(s->key, key, sizeof s->key);
	return s;
}

void chain_writer_wake(struct chain_writer *s)
{
	if (!atomic_exchange(&s->busy, true) && store_submit(s->store, &s->work))
		atomic_store(&s->busy, false);
}

void chain_writer_free(struct chain_writer *s)
{
	if (!s)
		return;
	wipe(s->key, sizeof s->key);
	arena_free(&s->arena);
	free(s);
}
