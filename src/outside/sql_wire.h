/* sql_wire.h - what the server and lodge-sql say to each other on one socket: a task and its texts there, an answer back.
 *
 * Both are built together and run on one machine, so that numbers are as the
 * machine has them.  After the task come texts, each with a NUL at its end:
 * those of enum sql_text in order, then the parameters, each with SQL_GIVEN or SQL_NULL before it.  The
 * answer is one byte, SQL_ROWS or SQL_FAULT or SQL_UNSURE, and a text until the end. */
#pragma once
#include <stdint.h>

enum {
	SQL_MARK = 0x6c730001, /* to be raised when anything here changes */
	SQL_TEXTS_MAX = 1 << 20,
	SQL_PARAMS_MAX = 100,
	SQL_ROWS_MAX = 10000,
	SQL_FAULT_MAX = 2000,
};

enum sql_text {
	SQL_HOST, /* a name or an address, without brackets */
	SQL_PORT,
	SQL_USER,
	SQL_PASSWORD,
	SQL_DATABASE,
	SQL_SSLMODE,
	SQL_AUTHORITIES, /* the file of certificates that may vouch for a server; "": there is none */
	SQL_ALLOWED,	 /* private places that may be called all the same (address.h) */
	SQL_STATEMENT,
	SQL_TEXTS,
};

struct sql_task {
	uint32_t mark;
	uint32_t egress; /* enum egress */
	uint32_t writes; /* what it changes is kept */
	uint32_t rows_max;
	uint32_t timeout_s;
	uint32_t params;
	uint64_t len;	    /* of the texts */
	uint64_t bytes_max; /* of the answer */
};

#define SQL_GIVEN '='
#define SQL_NULL '0'
#define SQL_ROWS '+'
#define SQL_FAULT '-'
#define SQL_UNSURE '?' /* it failed, and what it was to change may be changed */
