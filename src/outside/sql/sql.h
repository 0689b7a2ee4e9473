/* sql.h - the parts of lodge-sql, the program in which one statement is sent to a database that a tenant has named.
 *
 * What is at the other end may be anybody: it can make the client library
 * hold as much as it likes, or keep it waiting.  So this is a process of its
 * own, which has little memory, begins no other, writes no file, reads none
 * but those of names and certificates where the machine can hold it to that,
 * and is ended when its time is over. */
#pragma once
#include "base/buf.h"
#include "outside/sql_wire.h"

struct sql_asked {
	struct sql_task task;
	const char *text[SQL_TEXTS];
	const char *params[SQL_PARAMS_MAX]; /* NULL: that */
};

/* sql_jail.c */
bool sql_jail(void); /* false: something forbids it to lock files */
/* sql_talk.c: what it came to (SQL_ROWS, SQL_FAULT, SQL_UNSURE), with the text. */
char sql_talk(const struct sql_asked *in, struct buf *out);
/* sql_address.c: the first address of the host that may be called, as digits; false with a sentence. */
struct sql_place {
	char digits[64];
	bool is_public;
};
bool sql_address(const struct sql_asked *in, struct sql_place *ret, struct buf *why);
/* sql_words.c: NULL if a statement only reads, as far as its first word says; else a sentence. */
const char *sql_reads_fault(const char *statement);
