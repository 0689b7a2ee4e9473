/* copy_parts.h - what the files of a copy share: the tables in the order in which they travel, rows of them as values,
 * and one table walked on one side or on both. */
#pragma once
#include "store/engine.h"

enum { COPY_TABLES_MAX = 512, COPY_KEYS_MAX = 8 };

/* A table as both engines have it. */
struct copy_table {
	const char *name;
	const char *columns[DB_COLUMNS];
	int kinds[DB_COLUMNS]; /* VALUE_INT, VALUE_TEXT, VALUE_BYTES */
	int count;
	int keys[COPY_KEYS_MAX]; /* columns that tell a row from every other, none of which is null */
	int key_count;
	const char *names;   /* "a, b, c" */
	const char *marks;   /* "$1, $2, $3" */
	const char *parents; /* " plans tenants ": whom it refers to */
};

struct copy_tables {
	struct copy_table *at;
	size_t count;
};

/* The tables of a store of that version, parents before children.  `with_places` where both sides are SQLite: only
 * there a row has a place. */
int copy_plan(
	int version, bool with_places, struct copy_tables *ret, struct arena *a, struct problem *p);

/* The rows of a table in the order of their keys, one at a time. */
struct copy_reader {
	struct db *db;
	const struct copy_table *table;
	struct prepared prepared;
	struct value row[DB_COLUMNS];
	struct arena bytes; /* of the row */
	size_t size;	    /* of the row */
	bool running;
};

/* In a transaction, which is the view of it all; nothing else is asked of the connection meanwhile. */
int copy_read_begin(
	struct copy_reader *r, struct db *db, const struct copy_table *t, struct arena *a);
/* The last of them alone. */
int copy_read_last(
	struct copy_reader *r, struct db *db, const struct copy_table *t, struct arena *a);
/* 1 and the row, which lasts until the next; 0 after the last. */
int copy_read_next(struct copy_reader *r);
void copy_read_end(struct copy_reader *r);
/* "tenant_id = 'x', id = 'y'" of a row, for people. */
const char *copy_key_said(const struct copy_table *t, const struct value *row, struct arena *a);

/* Rows into a table, by the quickest way that the engine has; in a transaction that writes. */
struct copy_writer {
	struct db *db;
	const struct copy_table *table;
	struct prepared prepared;
};

int copy_write_begin(
	struct copy_writer *w, struct db *db, const struct copy_table *t, struct arena *a);
int copy_write(struct copy_writer *w, const struct value *row);
/* After a beginning that went well, whatever came of the rows: `err` if they are given up.  Until then none of them is there
 * for certain. */
int copy_write_end(struct copy_writer *w, int err);

/* Two readers of one table, step by step. */
struct copy_pair {
	struct copy_reader *from, *to;
	int from_got, to_got;	 /* what each has: 1 a row, 0 none any more */
	bool from_done, to_done; /* and that it is to read on; both at first */
	int64_t same;		 /* rows so far that are in both and equal */
};

enum copy_finding {
	COPY_SAME,    /* a row of both, equal */
	COPY_DIFFERS, /* of both, not equal: *ret_column says where */
	COPY_LACKING, /* in the source alone */
	COPY_BEYOND,  /* in the target alone */
	COPY_TO_ENDS, /* the target has no more; the source's row waits if it has one */
};

/* The next row by its key, on both sides: an enum copy_finding, or an error. */
int copy_pair_next(struct copy_pair *c, int *ret_column);

/* A copy under way. */
struct copying {
	struct store *from_store, *to_store;
	struct db *from, *to;
	const char *from_said, *to_said; /* for people: without a password */
	struct copy_tables tables;
	struct copy_tally *tallies; /* of each table */
	struct copy_stage stage;
	const struct copy_order *order;
	int64_t kept; /* rows that an earlier run had copied */
	struct arena *a;
	struct problem *p;
};

struct copy_tally {
	int64_t total;	  /* rows in the source */
	const char *ends; /* its last key, in words; "" if there is no row */
	int64_t copied;	  /* so many of them are in the target */
};

/* copy_sides.c: both are opened so that nobody else has them, and are what a copy needs; closed whatever comes of it. */
int copy_open_source(struct copying *c);
int copy_open_target(struct copying *c);
void copy_close(struct copying *c);

/* copy_record.c: how far it is, kept in the target in the transactions that bring the rows. */
/* Whether what is there is the beginning of a copy; *ret_filled if it has begun with rows. */
int copy_record_find(struct db *to, bool *ret_there, bool *ret_filled);
int copy_record_make(struct db *to, struct arena *a);
/* The target's tables are emptied, and the source's tallies noted. */
int copy_record_begin(struct copying *c);
/* What was noted must be what the source has now. */
int copy_record_resume(struct copying *c);
int copy_record_note(struct db *to, const struct copy_table *t, int64_t copied);
int copy_record_drop(struct db *to);

/* copy_verify.c: everything the target has is held against the source, row by row.  ERR_CONFLICT and a sentence that names tables
 * and keys where they differ. */
int copy_verify(struct copying *c);

/* copy_stage.c */
void copy_stage_begin(struct copying *c, enum copy_doing doing);
/* So many rows more of the stage, in this table. */
void copy_tell(struct copying *c, const struct copy_table *t, int64_t rows);
/* An error of one of the connections, in a sentence. */
int copy_fails(struct copying *c, struct db *db, int err);
