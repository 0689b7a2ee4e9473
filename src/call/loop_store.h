/* loop_store.h - what a loop has of the store: on SQLite a connection that is read with where one stands, on PostgreSQL
 * one for the reads of many calls at once (store/reads.h). */
#pragma once
#include "call/call.h"

void loop_store_begin(struct app *app, struct http_loop *loop);
/* At the end of each turn. */
void loop_store_rest(struct http_loop *loop);
void loop_store_end(struct http_loop *loop);

/* Does the loop read by itself? */
bool loop_store_reads(const struct http_loop *loop);
/* The connection to read with on its thread, or NULL. */
struct db *loop_store_db(const struct http_loop *loop);
/* Work that only reads, and not long: by the loop where we are on its thread and it does so, else by the store.  0, or
 * an error and done() is not called. */
int loop_store_submit(struct app *app, struct http_loop *loop, struct work *w);
