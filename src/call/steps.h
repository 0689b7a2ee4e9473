/* steps.h - the steps of a call that have files of their own.  Private: no other room includes it. */
#pragma once
#include "call/call.h"

enum { ETAG_LEN = 34 }; /* with its quotes */

/* head.c: with the head alone, before a body is taken. */
enum http_verdict call_head(struct call *c);
/* There is no such path, or it does not take this method. */
enum http_verdict call_unrouted(struct call *c);
/* What a body that is too large is told, with the limit. */
const char *call_too_large(struct http_exchange *x);
/* The credential of the request: the Authorization header, the console's cookie, or where Anthropic's clients ask their
 * own header. */
struct credential call_credential(const struct call *c);

/* vouched.c: a credential that another service gave and that is still to be proven; then that, after which `then` goes
 * on with what was found, on this thread or another. */
bool call_is_unproven(const struct call *c);
enum http_verdict call_prove(struct call *c, enum http_verdict (*then)(struct call *c, int err));

/* admit.c */
/* The caller's address: the peer's, or what trusted proxies say, read from the near end. */
const char *call_address(const struct call *c);
/* Reads query and body into structs.  What is wrong with them is kept until the caller is known to
 * be allowed to hear it. */
void call_decode(struct call *c);
/* Who is it, and may they?  In the transaction under way. */
int call_permit(struct call *c);
/* The same where nothing can be looked up: only what needs no credential. */
bool call_permit_unstored(const struct call *c);

/* The query alone. */
bool call_decode_query(struct call *c);

/* intake.c: hands on a body while it comes. */
void call_sink(struct http_exchange *x, const char *bytes, size_t n);

/* file.c: which part of so many bytes a Range header asks for, if it is one.  Several parts, and what is not understood, are
 * as if nothing had been asked. */
enum range_asked { RANGE_ALL, RANGE_PART, RANGE_NONE_SUCH };
enum range_asked call_range(const char *text, uint64_t size, uint64_t *ret_at, uint64_t *ret_len);

/* subject.c: what the call is about, by its name; NULL: it has none. */
/* The field of the reply that names what was made. */
const char *call_made(const struct call *c);
/* That, or else what the path names last; a tenant is where things are and not one of them. */
const char *call_subject(const struct call *c);

/* idempotency.c: whether its key was used already, without taking it. */
int idempotency_look(struct call *c, bool *ret_answered);

/* reply.c */
void call_write_reply(struct call *c);
void call_tag_reply(struct call *c);
void call_etag(const struct buf *body, char out[ETAG_LEN + 1]);
bool call_etag_listed(const char *list, const char *tag, bool weak_counts);

/* aside.c: whether its body is read off the loop, and then that. */
bool call_is_large(const struct call *c);
enum http_verdict call_aside(struct call *c);
/* call.c: reads the body and goes on with it, on this thread. */
enum http_verdict call_enter(struct call *c);
/* The connection of the thread that we are on, if it has one. */
struct db *call_db_here(const struct call *c);

/* file.c: the file is open, or cannot be; the answer goes out. */
void call_file_opened(struct call *c, int err);
/* file_grow.c: begins to fetch what call_file.source gives; call_file_opened() follows.  Then whoever sends it waits until so many
 * bytes are there, which http_piece_done() says. */
struct file_growth;
int growth_begin(
	struct call *c, const struct call_source *source, struct http_file *part, bool all);
void growth_await(struct file_growth *g, struct http_exchange *x, uint64_t upto);

/* await_store.c: runs a stage where the store runs such work, or on SQLite reads on this thread, which is a pool's, and waits for it. */
int call_await_store(
	struct call *c, enum transaction mode, int (*stage)(struct work *w, struct db *db));

/* call_audit.c: writes what the call changed into the audit log, where its route is audited. */
int call_audit(struct call *c);

/* export.c: starts what call_export() ordered. */
enum http_verdict export_begin(struct call *c);

/* idempotency.c: Idempotency-Key and If-Match, inside the transaction. */
/* Before it: reads the body, where the request has a key. */
void idempotency_read(struct call *c);
/* 0: go on; 1: the earlier reply is in place; or an error. */
int idempotency_begin(struct call *c);
int idempotency_keep(struct call *c);
/* Of an answer that is streamed, what the same request answers without a stream is kept for a repeat. */
bool idempotency_keeps_short(const struct call *c);
int match_check(struct call *c);
extern const struct statement_set idempotency_sql;
