/* postgres_memo.h - answers that hold for as long as a transaction has not written where they were read. */
#pragma once
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

enum { MEMO_RELATIONS = 256 };

/* Relations, by their numbers in a memo. */
struct relation_set {
	uint64_t bits[MEMO_RELATIONS / 64];
};

/* What a statement does, found once from its text. */
struct statement_sense {
	bool pure;		       /* it only reads, and asked twice it answers the same */
	bool sweeps;		       /* what it changes is not known by its text */
	struct relation_set relations; /* that it reads, or changes */
};

struct memo;
struct memo *memo_new(void);
void memo_free(struct memo *m);
/* The relations of the store, once: its name, and for a view what it is made of. */
void memo_name(struct memo *m, const char *relation, const char *view);
/* Without names there is no memo: nothing is pure. */
struct statement_sense memo_sense(const struct memo *m, const char *sql);

/* A transaction begins: nothing is known. */
void memo_clear(struct memo *m);
/* An answer that still holds, which stays the memo's; NULL: it is to be asked for. */
PGresult *memo_find(
	const struct memo *m, const void *statement, const struct value *args, size_t count);
/* Takes the result, and answers true, if there is room for it. */
bool memo_keep(struct memo *m, const void *statement, const struct statement_sense *sense,
	const struct value *args, size_t count, PGresult *result);
/* Something is changed: what was read there holds no more. */
void memo_changes(struct memo *m, const struct statement_sense *sense);
