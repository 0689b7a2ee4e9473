/* postgres.c - the engine for more than one machine.  Connections block, so they belong to workers.
 * Writing transactions are serialisable: as on SQLite, each behaves as if it were alone, and one
 * that cannot is asked to run again. */
#include <libpq-fe.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "store/engine.h"

enum { TYPE_BYTEA = 17 }; /* its number in every catalogue */

struct postgres {
	PGconn *conn;
	PGresult *result; /* of the statement under way */
	int row, rows;
	unsigned prepared; /* names given so far */
	char *where;
};

static struct postgres *impl(struct db *db)
{
	return db->impl;
}

/* SQLSTATE in our words. */
static int fail(struct db *db, PGresult *result)
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
	const char *text = result ? PQresultErrorMessage(result) : PQerrorMessage(impl(db)->conn);
	int err = ERR_STORE;

	for (size_t i = 0; state && i < sizeof states / sizeof *states; i++)
		if (strcmp(state, states[i].state) == 0)
			err = states[i].err;
	db_fail(db, err, "%s%s%.*s", state ? state : "", state ? ": " : "",
		(int)strcspn(text, "\n"), text);
	return err;
}

static int simple(struct db *db, const char *sql)
{
	PGresult *result = PQexec(impl(db)->conn, sql);
	ExecStatusType status = PQresultStatus(result);
	int err = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : fail(db, result);

	PQclear(result);
	return err;
}

static void quiet(void *arg, const char *message)
{
	(void)arg;
	(void)message;
}

static int connect_now(struct db *db)
{
	/* What is acknowledged must be on the disk: a server told to commit without waiting for it is
	 * asked to wait here; one that waits for more, a standby perhaps, keeps its way. */
	static const char setup[] = "set client_min_messages = warning;"
				    "set timezone = 'UTC';"
				    "set statement_timeout = '60s';"
				    "set idle_in_transaction_session_timeout = '60s';"
				    "select set_config('synchronous_commit', 'on', false)"
				    " where current_setting('synchronous_commit') = 'off'";
	struct postgres *p = impl(db);

	p->conn = PQconnectdb(p->where);
	if (PQstatus(p->conn) != CONNECTION_OK) {
		const char *text = PQerrorMessage(p->conn);

		return db_fail(
			db, ERR_STORE, "cannot connect: %.*s", (int)strcspn(text, "\n"), text);
	}
	PQsetNoticeProcessor(p->conn, quiet, NULL);
	return simple(db, setup);
}

static int engine_open(struct db *db, const char *where, enum store_open how)
{
	struct postgres *p = calloc(1, sizeof *p);

	(void)how;
	if (!p || !(p->where = strdup(where)))
		abort();
	db->impl = p;
	return connect_now(db);
}

static void engine_close(struct db *db)
{
	struct postgres *p = impl(db);

	if (!p)
		return;
	PQclear(p->result);
	PQfinish(p->conn);
	free(p->where);
	free(p);
	db->impl = NULL;
}

static int engine_script(struct db *db, const char *sql)
{
	return simple(db, sql);
}

static int engine_prepare(struct db *db, struct prepared *st, const char *sql)
{
	struct postgres *p = impl(db);
	char name[16];
	PGresult *result;
	int err = 0;

	snprintf(name, sizeof name, "s%u", ++p->prepared);
	result = PQprepare(p->conn, name, sql, 0, NULL);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		err = fail(db, result);
	PQclear(result);
	if (err)
		return err;
	PQclear(p->result);
	p->result = NULL;
	result = PQdescribePrepared(p->conn, name);
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		err = fail(db, result);
	else
		st->columns = PQnfields(result), st->params = PQnparams(result);
	if (!err && !(st->handle = strdup(name)))
		abort();
	p->result = result; /* column_name reads it; the next run clears it */
	return err;
}

static void engine_unprepare(struct db *db, struct prepared *st)
{
	(void)db; /* the names go with the connection */
	free(st->handle);
}

static const char *engine_column_name(struct db *db, struct prepared *st, int column)
{
	(void)st;
	return PQfname(impl(db)->result, column);
}

static int engine_run(struct db *db, struct prepared *st, const struct value *args, size_t count)
{
	struct postgres *p = impl(db);
	const char *values[DB_ARGS];
	int lengths[DB_ARGS], binary[DB_ARGS];
	char numbers[DB_ARGS][24];

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
	PQclear(p->result);
	p->result = PQexecPrepared(p->conn, st->handle, (int)count, values, lengths, binary, 0);
	p->row = -1;
	p->rows = PQntuples(p->result);
	switch (PQresultStatus(p->result)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
		return 0;
	default:
		return fail(db, p->result);
	}
}

static int engine_step(struct db *db, struct prepared *st)
{
	(void)st;
	return ++impl(db)->row < impl(db)->rows;
}

static void engine_reset(struct db *db, struct prepared *st)
{
	(void)st;
	PQclear(impl(db)->result);
	impl(db)->result = NULL;
}

static bool engine_integer(struct db *db, struct prepared *st, int column, int64_t *ret)
{
	struct postgres *p = impl(db);
	const char *text = PQgetvalue(p->result, p->row, column);

	(void)st;
	*ret = strtoll(text, NULL, 10);
	return !PQgetisnull(p->result, p->row, column);
}

static const char *engine_text(struct db *db, struct prepared *st, int column, size_t *ret_len)
{
	struct postgres *p = impl(db);

	(void)st;
	*ret_len = (size_t)PQgetlength(p->result, p->row, column);
	return PQgetisnull(p->result, p->row, column) ? NULL
						      : PQgetvalue(p->result, p->row, column);
}

static bool engine_is_bytes(struct db *db, struct prepared *st, int column)
{
	(void)st;
	return PQftype(impl(db)->result, column) == TYPE_BYTEA;
}

static const void *engine_bytes(
	struct db *db, struct prepared *st, int column, struct arena *a, size_t *ret_len)
{
	struct postgres *p = impl(db);
	unsigned char *bytes;
	const void *copy;

	(void)st;
	*ret_len = 0;
	if (PQgetisnull(p->result, p->row, column))
		return NULL;
	bytes = PQunescapeBytea(
		(const unsigned char *)PQgetvalue(p->result, p->row, column), ret_len);
	if (!bytes)
		abort();
	copy = arena_strndup(a, (const char *)bytes, *ret_len);
	PQfreemem(bytes);
	return copy;
}

static int64_t engine_changed(struct db *db, struct prepared *st)
{
	(void)st;
	return strtoll(PQcmdTuples(impl(db)->result), NULL, 10);
}

static int engine_begin(struct db *db, enum transaction mode)
{
	static const char *const begin[] = {
		[READ_ONLY] = "begin isolation level repeatable read, read only",
		[READ_WRITE] = "begin isolation level serializable",
		[STEP_BY_STEP] = "begin isolation level read committed",
	};

	return simple(db, begin[mode]);
}

static int engine_commit(struct db *db)
{
	PGresult *result = PQexec(impl(db)->conn, "commit");
	/* A failed transaction answers COMMIT with ROLLBACK, and no error. */
	bool ok = PQresultStatus(result) == PGRES_COMMAND_OK &&
		  strcmp(PQcmdStatus(result), "COMMIT") == 0;
	int err = 0;

	if (!ok)
		err = PQresultStatus(result) == PGRES_COMMAND_OK
			      ? db_fail(db, ERR_STORE,
					"the transaction had failed before its commit")
			      : fail(db, result);
	PQclear(result);
	return err;
}

static void engine_rollback(struct db *db)
{
	if (PQstatus(impl(db)->conn) == CONNECTION_OK &&
		PQtransactionStatus(impl(db)->conn) != PQTRANS_IDLE)
		PQclear(PQexec(impl(db)->conn, "rollback"));
}

static bool engine_lost(struct db *db)
{
	return PQstatus(impl(db)->conn) != CONNECTION_OK ||
	       PQtransactionStatus(impl(db)->conn) != PQTRANS_INTRANS;
}

static int64_t engine_version(struct db *db)
{
	(void)db;
	return NIL;
}

static bool engine_broken(struct db *db)
{
	return PQstatus(impl(db)->conn) != CONNECTION_OK;
}

static int engine_mend(struct db *db)
{
	struct postgres *p = impl(db);

	if (!engine_broken(db))
		return 0;
	PQclear(p->result);
	p->result = NULL;
	db_forget(db);
	PQfinish(p->conn);
	return connect_now(db);
}

/* A server that vanished without a word is noticed within a minute. */
static void keep_alive(int fd)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, 30 },
		{ IPPROTO_TCP, TCP_KEEPINTVL, 5 },
		{ IPPROTO_TCP, TCP_KEEPCNT, 4 },
	};

	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		setsockopt(fd, options[i].level, options[i].name, &options[i].value,
			sizeof options[i].value); /* a local socket needs none */
}

static int engine_listen(struct db *db, const char *channel)
{
	char sql[256];

	keep_alive(PQsocket(impl(db)->conn));
	snprintf(sql, sizeof sql,
		"do $do$ begin execute format('listen %%I', 'lodge.' || "
		"left(current_schema(), 32) || '.%s'); end $do$",
		channel);
	return simple(db, sql);
}

static int engine_hear(struct db *db, int stop,
	void (*fn)(void *ctx, const char *channel, const char *text), void *ctx)
{
	PGconn *conn = impl(db)->conn;
	struct pollfd fds[] = { { .fd = stop, .events = POLLIN },
		{ .fd = PQsocket(conn), .events = POLLIN } };
	PGnotify *n;

	if (poll(fds, 2, -1) < 0)
		return 0;
	if (fds[0].revents)
		return 1;
	if (!PQconsumeInput(conn))
		return fail(db, NULL);
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
	.integer = engine_integer,
	.text = engine_text,
	.bytes = engine_bytes,
	.is_bytes = engine_is_bytes,
	.changed = engine_changed,
	.begin = engine_begin,
	.commit = engine_commit,
	.rollback = engine_rollback,
	.lost = engine_lost,
	.version = engine_version,
	.broken = engine_broken,
	.mend = engine_mend,
	.listen = engine_listen,
	.hear = engine_hear,
};
