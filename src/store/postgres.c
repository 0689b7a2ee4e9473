/* postgres.c - the engine for more than one machine.  Connections block, so they belong to workers.  How
 * they are made is postgres_connect.c's; how statements travel, and what makes a writer be alone,
 * postgres_flight.c's. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/postgres.h"

int pg_fail(struct db *db, PGresult *result)
{
	static const struct {
		const char *state;
		int err;
	} states[] = {
		{ "23505", ERR_DUPLICATE },  /* unique_violation */
		{ "23503", ERR_DUPLICATE },  /* foreign_key_violation */
		{ "40001", ERR_RETRY },	     /* serialization_failure */
		{ "40P01", ERR_RETRY },	     /* deadlock_detected */
		{ "55P03", ERR_RETRY },	     /* lock_not_available */
		{ "53100", ERR_STORE_FULL }, /* disk_full */
	};
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *text =
		result ? PQresultErrorMessage(result) : PQerrorMessage(pg_impl(db)->conn);
	int err = ERR_STORE;

	for (size_t i = 0; state && i < sizeof states / sizeof *states; i++)
		if (strcmp(state, states[i].state) == 0)
			err = states[i].err;
	/* read_only_sql_transaction: it is no primary any more, and the connection is one to the wrong server. */
	if (state && strcmp(state, "25006") == 0 && !(db->in_transaction && db->mode == READ_ONLY))
		pg_impl(db)->gone = true;
	db_fail(db, err, "%s%s%.*s", state ? state : "", state ? ": " : "",
		(int)strcspn(text, "\n"), text);
	return err;
}

int pg_simple(struct db *db, const char *sql)
{
	PGresult *result = PQexec(pg_impl(db)->conn, sql);
	ExecStatusType status = PQresultStatus(result);
	int err = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : pg_fail(db, result);

	PQclear(result);
	return err;
}

static void drop_result(struct postgres *p)
{
	if (!p->borrowed)
		PQclear(p->result);
	p->result = NULL;
	p->borrowed = false;
}

struct pg_statement *pg_statement_new(const struct postgres *p, const char *name, const char *sql)
{
	struct pg_statement *st = memory_zeroed(sizeof *st + strlen(name) + 1);

	st->sense = memo_sense(p->memo, sql);
	memcpy(st->name, name, strlen(name) + 1);
	return st;
}

static int engine_open(struct db *db, const char *where, enum store_open how)
{
	struct postgres *p = calloc(1, sizeof *p);

	(void)how;
	if (!p || !(p->where = strdup(where)))
		abort();
	p->pooled = way_is_pooled(db->store, db->way);
	db->impl = p;
	return pg_connect(db);
}

static void engine_close(struct db *db)
{
	struct postgres *p = pg_impl(db);

	if (!p)
		return;
	drop_result(p);
	memo_free(p->memo);
	buf_free(&p->loaded); /* of rows that were given up */
	PQfinish(p->conn);
	free(p->where);
	free(p);
	db->impl = NULL;
}

static int engine_script(struct db *db, const char *sql)
{
	int err = flight_leave(db);

	return err ? err : pg_simple(db, sql);
}

static int engine_prepare(struct db *db, struct prepared *st, const char *sql)
{
	struct postgres *p = pg_impl(db);
	char name[16];
	PGresult *result;
	int err;

	if (p->reads) {
		err = reads_prepare(p->reads, st, sql, &result);
	} else {
		/* A pooler gives the next transaction another session: there it has no name, and its text is sent each
		 * time. */
		snprintf(name, sizeof name, "s%u", ++p->prepared);
		if (p->pooled)
			*name = '\0';
		err = flight_prepare(db, name, sql, &result);
		if (!err)
			st->handle = pg_statement_new(p, p->pooled ? sql : name, sql);
	}
	if (err)
		return err;
	st->columns = PQnfields(result), st->params = PQnparams(result);
	drop_result(p);
	p->result = result; /* column_name reads it; the next run clears it */
	p->borrowed = p->reads != NULL;
	return 0;
}

static void engine_unprepare(struct db *db, struct prepared *st)
{
	(void)db; /* the names go with the connection */
	free(st->handle);
}

static const char *engine_column_name(struct db *db, struct prepared *st, int column)
{
	(void)st;
	return PQfname(pg_impl(db)->result, column);
}

static int engine_run(struct db *db, struct prepared *st, const struct value *args, size_t count)
{
	struct postgres *p = pg_impl(db);
	const char *values[DB_ARGS];
	int lengths[DB_ARGS], binary[DB_ARGS];
	char numbers[DB_ARGS][24];
	const struct pg_statement *told = st->handle;
	struct pg_sent sent = { p->pooled ? NULL : told->name, p->pooled ? told->name : NULL,
		(int)count, values, lengths, binary };
	bool remembers = p->memo && db->mode == READ_WRITE && p->open;
	int err;

	for (size_t i = 0; i < count; i++) {
		values[i] = NULL;
		lengths[i] = binary[i] = 0;
		if (args[i].kind == VALUE_INT) {
			snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)args[i].n);
			values[i] = numbers[i];
		} else if (args[i].kind == VALUE_TEXT) {
			values[i] = args[i].text;
		} else if (args[i].kind == VALUE_BYTES) {
			values[i] = args[i].text;
			lengths[i] = (int)args[i].len;
			binary[i] = 1;
		}
	}
	drop_result(p);
	p->row = -1;
	p->rows = 0;
	if (p->reads) {
		p->borrowed = true;
		return reads_run(p->reads, st, &sent, !db->in_pieces);
	}
	if (remembers && told->sense.pure &&
		(p->result = memo_find(p->memo, st->st, args, count))) {
		p->borrowed = true;
		p->rows = PQntuples(p->result);
		return 0;
	}
	p->changes += db->acts;
	if (remembers)
		memo_changes(p->memo, &told->sense);
	if (db->unasked && p->open)
		return flight_add(db, &sent);
	err = flight_run(db, &sent, db->in_pieces);
	if (!err && remembers && !p->pieces)
		p->borrowed = memo_keep(p->memo, st->st, &told->sense, args, count, p->result);
	return err;
}

static int engine_begin(struct db *db, enum transaction mode)
{
	if (pg_impl(db)->memo)
		memo_clear(pg_impl(db)->memo);
	return flight_begin(db, mode);
}

/* The names of what there is; a program asks only for what there was when it connected. */
static int learn_relations(struct db *db)
{
	static const char sql[] =
		"select c.relname, case when c.relkind = 'v' then pg_get_viewdef(c.oid) end "
		"from pg_class c where c.relnamespace = current_schema()::regnamespace "
		"and c.relkind in ('r', 'p', 'v') order by c.relkind = 'v', 1";
	struct postgres *p = pg_impl(db);
	PGresult *r;
	int err = flight_leave(db);

	if (err)
		return err;
	r = PQexec(p->conn, sql);
	err = PQresultStatus(r) == PGRES_TUPLES_OK ? 0 : pg_fail(db, r);
	for (int i = 0; !err && PQntuples(r) <= MEMO_RELATIONS && i < PQntuples(r); i++)
		memo_name(p->memo, PQgetvalue(r, i, 0),
			PQgetisnull(r, i, 1) ? NULL : PQgetvalue(r, i, 1));
	PQclear(r);
	return err;
}

static int engine_remember(struct db *db)
{
	pg_impl(db)->memo = memo_new();
	return learn_relations(db);
}

static int engine_step(struct db *db, struct prepared *st)
{
	(void)st;
	if (pg_impl(db)->pieces)
		return flight_piece(db);
	return ++pg_impl(db)->row < pg_impl(db)->rows;
}

static void engine_reset(struct db *db, struct prepared *st)
{
	struct postgres *p = pg_impl(db);

	(void)st;
	drop_result(p);
	if (p->pieces)
		flight_drop_pieces(db);
}

static bool engine_integer(struct db *db, struct prepared *st, int column, int64_t *ret)
{
	struct postgres *p = pg_impl(db);
	const char *text = PQgetvalue(p->result, p->row, column);

	(void)st;
	*ret = strtoll(text, NULL, 10);
	return !PQgetisnull(p->result, p->row, column);
}

static const char *engine_text(struct db *db, struct prepared *st, int column, size_t *ret_len)
{
	struct postgres *p = pg_impl(db);

	(void)st;
	*ret_len = (size_t)PQgetlength(p->result, p->row, column);
	return PQgetisnull(p->result, p->row, column) ? NULL
						      : PQgetvalue(p->result, p->row, column);
}

static const void *engine_bytes(
	struct db *db, struct prepared *st, int column, struct arena *a, size_t *ret_len)
{
	struct postgres *p = pg_impl(db);
	unsigned char *bytes;
	const void *copy;

	(void)st;
	*ret_len = 0;
	if (PQgetisnull(p->result, p->row, column))
		return NULL;
	bytes = PQunescapeBytea(
		(const unsigned char *)PQgetvalue(p->result, p->row, column), ret_len);
	if (!bytes) {
		a->failed = true;
		return NULL;
	}
	copy = arena_strndup(a, (const char *)bytes, *ret_len);
	PQfreemem(bytes);
	return copy;
}

static int64_t engine_changed(struct db *db, struct prepared *st)
{
	(void)st;
	return strtoll(PQcmdTuples(pg_impl(db)->result), NULL, 10);
}

static bool engine_lost(struct db *db)
{
	return pg_broken(pg_impl(db));
}

static bool engine_stuck(struct db *db)
{
	return pg_impl(db)->stuck;
}

static int64_t engine_changes(struct db *db)
{
	return pg_impl(db)->changes;
}

static int64_t engine_version(struct db *db)
{
	(void)db;
	return NIL;
}

static bool engine_broken(struct db *db)
{
	return pg_broken(pg_impl(db));
}

static int engine_mend(struct db *db)
{
	struct postgres *p = pg_impl(db);

	if (!engine_broken(db))
		return 0;
	drop_result(p);
	p->owed = 0;
	p->ending = p->gone = p->open = p->stuck = p->pieces = false;
	db_forget(db);
	PQfinish(p->conn);
	return pg_connect(db);
}

static int engine_listen(struct db *db, const char *channel)
{
	char sql[256];

	snprintf(sql, sizeof sql,
		"do $do$ begin execute format('listen %%I', 'lodge.' || "
		"left(current_schema(), 32) || '.%s'); end $do$",
		channel);
	return pg_simple(db, sql);
}

static int engine_hear(struct db *db, int stop,
	void (*fn)(void *ctx, const char *channel, const char *text), void *ctx)
{
	PGconn *conn = pg_impl(db)->conn;
	struct pollfd fds[] = { { .fd = stop, .events = POLLIN },
		{ .fd = PQsocket(conn), .events = POLLIN } };
	PGnotify *n;

	if (poll(fds, 2, -1) < 0)
		return 0;
	if (fds[0].revents)
		return 1;
	if (!PQconsumeInput(conn))
		return pg_fail(db, NULL);
	while ((n = PQnotifies(conn))) {
		fn(ctx, n->relname, n->extra);
		PQfreemem(n);
	}
	return 0;
}

const struct engine postgres_engine = {
	.name = "postgres",
	.open = engine_open,
	.close = engine_close,
	.script = engine_script,
	.prepare = engine_prepare,
	.unprepare = engine_unprepare,
	.column_name = engine_column_name,
	.run = engine_run,
	.step = engine_step,
	.reset = engine_reset,
	.load_begin = pg_load_begin,
	.load_row = pg_load_row,
	.load_end = pg_load_end,
	.integer = engine_integer,
	.text = engine_text,
	.bytes = engine_bytes,
	.changed = engine_changed,
	.changes = engine_changes,
	.begin = engine_begin,
	.commit = flight_commit,
	.rollback = flight_rollback,
	.lost = engine_lost,
	.stuck = engine_stuck,
	.version = engine_version,
	.broken = engine_broken,
	.mend = engine_mend,
	.remember = engine_remember,
	.listen = engine_listen,
	.hear = engine_hear,
};
