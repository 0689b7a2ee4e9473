/* search_words.h - the words of one thing in the index; search.c knows which things there are. */
#pragma once
#include "search/search.h"

int search_words_insert(struct db *db, const struct search_thing *t);
int search_words_remove(struct db *db, const struct search_thing *t);
/* *ret_wrong counts those that are not there once. */
int search_words_count(struct db *db, const struct search_thing *t, int64_t *ret_wrong);

extern const struct statement_set search_words_sql;
