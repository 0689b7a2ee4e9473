/* search_fixture.h - what the tests of autocomplete share: asking, and the index itself. */
#pragma once
#include "search/search.h"
#include "fixture.h"

/* The answer to a query string, in the tenant `demo`. */
struct answer hunt(struct fixture *f, const char *token, const char *query);
/* Each in a transaction of its own. */
void index_put(struct fixture *f, const struct search_entry *e);
void index_refresh(struct fixture *f, const struct search_entry *e);
void index_ensure(struct fixture *f);
/* Fails unless so many places of the index are wrong. */
void index_check(struct fixture *f, int64_t want);
