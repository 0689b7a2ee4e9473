/* sql_talk.c - one statement, by libpq.
 *
 * It is sent by the protocol that takes one statement and no more, with its
 * parameters beside it.  One that only reads is in a transaction that says so,
 * whose snapshot is taken before it, so that it cannot make the transaction
 * another one; and it is not sent for whoever could become a superuser, whom that does not hold. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "outside/sql/sql.h"

/* Numbers of PostgreSQL's own types, which never change. */
enum sql_type {
	TYPE_BOOL = 16,
	TYPE_INT8 = 20,
	TYPE_INT2 = 21,
	TYPE_INT4 = 23,
	TYPE_FLOAT4 = 700,
	TYPE_FLOAT8 = 701,
	TYPE_NUMERIC = 1700,
};

struct sql_reading {
	struct buf *out;
	uint32_t rows, rows_max;
	bool began; /* the columns are told */
	bool more;  /* there were more rows, or a row had no room */
};

/* ---- faults ---- */

/* What the server or the library says: one text without the passwords that no such text holds. */
static void put_said(struct buf *out, const char *before, const char *said)
{
	size_t len = strnlen(said, SQL_FAULT_MAX);

	while (len && (said[len - 1] == '\n' || said[len - 1] == ' '))
		len--;
	buf_clear(out);
	buf_printf(out, "%s%.*s", before, (int)len, said);
}

/* ---- the connection ---- */

static PGconn *sql_connect(const struct sql_asked *in, const struct sql_place *place)
{
	char seconds[16];
	/* With a file that is there, `require` would be more than it says. */
	const char *authorities = strcmp(in->text[SQL_SSLMODE], "verify-full") == 0
					  ? in->text[SQL_AUTHORITIES]
					  : "/dev/null/none";
	const char *const keys[] = { "host", "hostaddr", "port", "user", "password", "dbname",
		"sslmode", "sslrootcert", "sslcert", "sslkey", "sslcrl", "sslcrldir", "passfile",
		"gssencmode", "connect_timeout", "application_name", "client_encoding",
		"fallback_application_name", NULL };
	const char *const values[] = { in->text[SQL_HOST], place->digits, in->text[SQL_PORT],
		in->text[SQL_USER], in->text[SQL_PASSWORD], in->text[SQL_DATABASE],
		in->text[SQL_SSLMODE], authorities, "", "", "", "", "/dev/null", "disable", seconds,
		"lodge", "UTF8", "lodge", NULL };

	snprintf(seconds, sizeof seconds, "%u", in->task.timeout_s);
	return PQconnectdbParams(keys, values, 0);
}

static bool run_plain(PGconn *c, const char *statement)
{
	PGresult *r = PQexec(c, statement);
	ExecStatusType status = PQresultStatus(r);

	PQclear(r);
	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* Before the statement: how long it may take, and what it may do. */
static bool begin_statement(PGconn *c, const struct sql_asked *in)
{
	char limits[128];

	snprintf(limits, sizeof limits, "set %sstatement_timeout = '%us'",
		in->task.writes ? "" : "local ", in->task.timeout_s);
	if (in->task.writes)
		return run_plain(c, limits);
	return run_plain(c, "begin isolation level repeatable read read only") &&
	       run_plain(c, limits) && run_plain(c, "select 1");
}

/* ---- rows ---- */

static bool is_number(const char *text)
{
	size_t whole = strspn(text + (*text == '-'), "0123456789");
	const char *at = text + (*text == '-') + whole;

	if (!whole || (whole > 1 && text[*text == '-'] == '0'))
		return false;
	if (*at == '.') {
		size_t part = strspn(at + 1, "0123456789");

		at += 1 + part;
		if (!part)
			return false;
	}
	if (*at == 'e' || *at == 'E') {
		at += 1 + (at[1] == '+' || at[1] == '-');
		if (!*at)
			return false;
		at += strspn(at, "0123456789");
	}
	return !*at;
}

static void put_value(struct buf *out, const PGresult *r, int column)
{
	const char *text = PQgetvalue(r, 0, column);

	if (PQgetisnull(r, 0, column)) {
		buf_lit(out, "null");
		return;
	}
	switch (PQftype(r, column)) {
	case TYPE_BOOL:
		buf_puts(out, *text == 't' ? "true" : "false");
		return;
	case TYPE_INT2:
	case TYPE_INT4:
	case TYPE_INT8:
	case TYPE_FLOAT4:
	case TYPE_FLOAT8:
	case TYPE_NUMERIC:
		if (is_number(text)) {
			buf_puts(out, text);
			return;
		}
		break;
	default:
		break;
	}
	json_write_string(out, text, (size_t)PQgetlength(r, 0, column));
}

static void put_columns(struct sql_reading *g, const PGresult *r)
{
	if (g->began)
		return;
	g->began = true;
	buf_lit(g->out, "{\"columns\":[");
	for (int i = 0; i < PQnfields(r); i++) {
		const char *name = PQfname(r, i);

		if (i)
			buf_putc(g->out, ',');
		json_write_string(g->out, name, strlen(name));
	}
	buf_lit(g->out, "],\"rows\":[");
}

enum { TAIL = 64 /* bytes for what comes after the rows */ };

/* A row that has no room is left out whole, and so are those after it. */
static void put_row(struct sql_reading *g, const PGresult *r)
{
	struct buf row;

	if (g->more || g->rows == g->rows_max) {
		g->more = true;
		return;
	}
	buf_init(&row, g->out->max - g->out->len > TAIL ? g->out->max - g->out->len - TAIL : 0);
	buf_puts(&row, g->rows ? ",\n[" : "\n[");
	for (int i = 0; i < PQnfields(r); i++) {
		if (i)
			buf_putc(&row, ',');
		put_value(&row, r, i);
	}
	buf_putc(&row, ']');
	if (row.overflow) {
		g->more = true;
	} else {
		buf_put(g->out, row.at, row.len);
		g->rows++;
	}
	buf_free(&row);
}

static void put_end(struct sql_reading *g, const char *command)
{
	if (!g->began) {
		buf_lit(g->out, "{\"command\":");
		json_write_string(g->out, command, strlen(command));
		buf_putc(g->out, '}');
		return;
	}
	buf_printf(
		g->out, "\n],\"row_count\":%u,\"more\":%s}", g->rows, g->more ? "true" : "false");
}

/* False with a sentence.  Of one that only reads, what is beyond the most is not waited for. */
static bool read_results(PGconn *c, const struct sql_asked *in, struct buf *out)
{
	struct sql_reading g = { .out = out, .rows_max = in->task.rows_max };
	char command[128] = "";
	bool good = true;
	PGresult *r;

	while (good && (in->task.writes || !g.more) && (r = PQgetResult(c)) != NULL) {
		switch (PQresultStatus(r)) {
		case PGRES_SINGLE_TUPLE:
			put_columns(&g, r);
			put_row(&g, r);
			break;
		case PGRES_TUPLES_OK:
			put_columns(&g, r);
			break;
		case PGRES_COMMAND_OK:
			snprintf(command, sizeof command, "%s", PQcmdStatus(r));
			break;
		case PGRES_EMPTY_QUERY:
			put_said(out, "The statement is empty.", "");
			good = false;
			break;
		case PGRES_COPY_IN:
		case PGRES_COPY_OUT:
		case PGRES_COPY_BOTH:
			put_said(out, "COPY from and to the client is not possible here.", "");
			good = false;
			break;
		default:
			put_said(out, "The database refused it: ", PQresultErrorMessage(r));
			good = false;
		}
		PQclear(r);
	}
	if (good)
		put_end(&g, command);
	return good;
}

/* Whether its user could do more than read in a transaction that only reads: as a superuser, by programs and files of the server, by
 * slots of replication, for which the server keeps its log for ever, or by ending what others do; or as a member of such a one. */
static bool is_mighty(PGconn *c)
{
	PGresult *r = PQexec(c,
		"select count(*) from pg_catalog.pg_roles where (rolsuper or rolreplication or rolname in "
		"('pg_execute_server_program', 'pg_write_server_files', 'pg_signal_backend')) and "
		"pg_catalog.pg_has_role(oid, 'member')");
	bool none = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1 &&
		    strcmp(PQgetvalue(r, 0, 0), "0") == 0;

	PQclear(r);
	return !none;
}

static char talk_on(PGconn *c, const struct sql_asked *in, struct buf *out)
{
	if (!in->task.writes && is_mighty(c)) {
		put_said(out,
			"This tool only reads, and the user of its database is a superuser, may replicate or may end what others do, or may become such a one, whom that does not hold: it needs a user that may read and no more.",
			"");
		return SQL_FAULT;
	}
	if (!begin_statement(c, in) ||
		!PQsendQueryParams(c, in->text[SQL_STATEMENT], (int)in->task.params, NULL,
			in->params, NULL, NULL, 0) ||
		!PQsetSingleRowMode(c)) {
		put_said(out, "The database refused it: ", PQerrorMessage(c));
		return SQL_FAULT;
	}
	if (read_results(c, in, out))
		return SQL_ROWS;
	/* Where the connection ended it may have been done all the same. */
	return in->task.writes && PQstatus(c) != CONNECTION_OK ? SQL_UNSURE : SQL_FAULT;
}

char sql_talk(const struct sql_asked *in, struct buf *out)
{
	const char *fault = in->task.writes ? NULL : sql_reads_fault(in->text[SQL_STATEMENT]);
	struct sql_place place;
	PGconn *c;
	char kind;

	if (fault) {
		put_said(out, fault, "");
		return SQL_FAULT;
	}
	if (!sql_address(in, &place, out))
		return SQL_FAULT;
	if (place.is_public && strcmp(in->text[SQL_SSLMODE], "disable") == 0) {
		put_said(out, "The database is on the Internet, and is not spoken to without TLS.",
			"");
		return SQL_FAULT;
	}
	c = sql_connect(in, &place);
	if (PQstatus(c) != CONNECTION_OK) {
		put_said(out, "The database cannot be reached: ", PQerrorMessage(c));
		kind = SQL_FAULT;
	} else {
		kind = talk_on(c, in, out);
	}
	/* What only read is over with its connection, and nothing of it is kept. */
	PQfinish(c);
	return kind;
}
