/* steps.h - the steps of a call that have files of their own.  Only this room uses it. */
#pragma once
#include "call/call.h"

enum { ETAG_LEN = 34 }; /* with its quotes */

/* admit.c */
/* The caller's address: the peer's, or what trusted proxies say, read from the near end. */
const char *call_address(const struct call *c);
/* Reads query and body into structs.  What is wrong with them is kept until the caller is known to
 * be allowed to hear it. */
void call_decode(struct call *c);
/* Who is it, and may they?  In the transaction under way. */
int call_permit(struct call *c);

/* reply.c */
void call_write_reply(struct call *c);
void call_tag_reply(struct call *c);
void call_etag(const struct buf *body, char out[ETAG_LEN + 1]);
bool call_etag_listed(const char *list, const char *tag, bool weak_counts);

/* call.c: the store's verdict into the reply. */
void call_conclude(struct call *c, int err);

/* export.c: starts what call_export() ordered. */
enum http_verdict export_begin(struct call *c);

/* repeat.c: Idempotency-Key and If-Match, inside the transaction. */
/* 0: go on; 1: the earlier reply is in place; or an error. */
int repeat_begin(struct call *c);
int repeat_keep(struct call *c);
/* Of an answer that is streamed, what the same request answers without a stream is kept for a repeat. */
bool repeat_keeps_short(const struct call *c);
int match_check(struct call *c);
extern const struct statement_set repeat_sql;

/* slow.c: a few threads for what takes long and needs no store. */
struct slow_pool *slow_pool_new(int threads, size_t most);
void slow_pool_free(struct slow_pool *p);
/* ERR_BUSY if too much waits. */
int slow_pool_submit(struct slow_pool *p, struct work *w);
/* On one of its threads: that thread's own connection, for reading; NULL if it cannot be had. */
struct db *slow_pool_db(struct store *s);

/* metrics.c */
struct metrics *metrics_new(size_t routes);
void metrics_free(struct metrics *m);
/* From the loop's own thread. */
void metrics_count(struct metrics *m, int loop, size_t route, int status, int64_t us);
void metrics_write(const struct app *app, struct buf *out);
/* A number with its name, type and meaning. */
struct figure {
	const char *name, *type, *help;
	uint64_t value;
};
void metrics_figures(const struct figure *figures, size_t count, struct buf *out);
