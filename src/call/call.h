/* call.h - one request on its way through the house.
 *
 *   socket -> request -> router -> credential -> permission -> decode
 *          -> operation, in one transaction -> encode -> reply
 *
 * A call is made when a request's head is known and goes when its reply is
 * sent.  Operations see only this struct: their input, the caller, the store
 * connection of the transaction under way, and where to put their answer. */
#pragma once
#include "access/audit.h"
#include "access/caller.h"
#include "access/seal.h"
#include "access/vault.h"
#include "contract/decode.h"
#include "contract/router.h"
#include "http/http.h"
#include "store/store.h"

struct slow_pool;
struct metrics;
struct oidc;
struct broker;
struct runner;
struct sessions;
struct hub;
struct hook_log;
struct hook_post;

/* What whoever runs the program has chosen, as far as calls need to know. */
struct app_settings {
	const char *public_url; /* without a slash at its end */
	bool secure_cookies;
	bool access_log;
	bool open_tenants;
	bool allow_private_addresses; /* services in the same network may be called */
	int64_t session_lifetime_us, session_idle_us;
	int64_t hook_retention_us; /* how long calls of webhooks stay in their log; 0: for ever */
	/* True for the address of a proxy whose X-Forwarded-For is believed. */
	bool (*trusts)(const void *ctx, const char *address);
	const void *trusts_ctx;
};

enum { TOUCHED_CELLS = 1024 };

/* Everything that lives as long as the process serves. */
struct app {
	struct app_settings settings;
	const struct resource *const *resources;
	size_t resource_count;
	struct router *router;
	struct patterns *patterns;
	struct store *store;
	struct slow_pool *slow;
	struct metrics *metrics;
	struct http_server *server;  /* NULL in tests without sockets */
	struct oidc *oidc;	     /* where people may sign in besides here; NULL: nowhere */
	struct vault *vault;	     /* secrets at rest */
	struct broker *broker;	     /* calls to models */
	struct runner *runner;	     /* jobs of the queue */
	struct sessions *sessions;   /* agents at work */
	struct hub *hub;	     /* who listens to which session */
	struct hook_log *hook_log;   /* calls of webhooks that were refused */
	struct hook_post *hook_post; /* events on their way to agents */
	/* Called on a loop's thread as it begins and ends, for what lives there besides.  May be NULL. */
	void (*loop_begins)(struct app *app, struct http_loop *loop);
	void (*loop_ends)(struct app *app, struct http_loop *loop);
	uint8_t chain_key[SEAL_CHAIN_KEY];	 /* of the audit log */
	_Atomic int exports;			 /* under way */
	_Atomic uint64_t touched[TOUCHED_CELLS]; /* see chores.c */
};

struct page_query {
	int64_t page, per_page;
	const char *after, *sort;
	tri total;
};
SCHEMA_DECLARED(page_query);

struct call {
	struct app *app;
	struct http_exchange *x;
	struct arena *arena;
	const struct route *route;
	const struct operation *op;
	struct route_match match;
	int64_t now; /* wall clock, when the call began */
	const char *ip;

	struct credential credential;
	struct caller caller;
	struct db *db; /* of the transaction under way */

	const void *body;  /* decoded through op->body */
	const void *query; /* decoded through op->query */
	const char *raw;   /* the body as it came, where op->takes names its types */
	size_t raw_len;
	const char *raw_type; /* which of op->takes it is */
	struct page_query page;
	struct problem
		refusal; /* what decoding found wrong; told after the permission is checked */

	void *reply;		   /* a zeroed op->reply to fill in */
	struct list items;	   /* a list: the page's rows */
	struct export_run *export; /* all of a list, sent while it is read; or NULL */
	/* Set by an operation that answers later: called once what it did is durable, instead of
	 * writing the reply.  It says HTTP_KEPT and finishes the exchange, or HTTP_REPLIED.  Set by
	 * `look`, it takes the place of everything that would follow. */
	enum http_verdict (*follow)(struct call *c);
	int64_t total; /* NIL: not counted */
	const char *next_after;
	const char *location; /* of what was created, without its root */
	const char *cache;    /* Cache-Control of a single object; NULL: private, no-cache */
	bool standing;	      /* a grant that stood already: 200 instead of 201 */
	struct audit_entry audit;
	struct problem problem;
	void *own; /* what an operation carries from one step to the next */

	struct work work;
	enum { STAGE_READ, STAGE_LOOK, STAGE_WRITE } stage;
	bool replayed; /* answered from an earlier reply with the same Idempotency-Key */
};

/* The path's parameter; lint makes sure that it exists. */
const char *call_param(const struct call *c, const char *name);
/* Sets the problem and returns its code. */
int call_fail(struct call *c, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int call_field(struct call *c, const char *field, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Notes the difference for the audit row. */
void call_changed(struct call *c, const struct schema *s, const void *before, const void *after);

/* Fills the page from the statements of listing.h that begin at `statements`; the arguments are
 * those of its conditions.  The key is the field `id` of the row. */
int call_list(
	struct call *c, const struct statement *statements, const struct value *args, size_t count);

/* The same for a list so short that it is read whole, in the statement's own order; `most` is how long
 * it can be. */
int call_short_list(struct call *c, const struct statement *st, size_t most,
	const struct value *args, size_t count);

/* Instead of a page: streams every row of the statement as a line of JSON, oldest first.  Behind the
 * arguments given it takes the id to go on behind, and how many rows. */
int call_export(struct call *c, const struct statement *st, const struct value *args, size_t count);

/* One stretch of a document that is sent while it is read: the rows of a statement and the text around
 * them, each of which may be NULL.  A row has a field `id`, which the statement orders by. */
struct export_part {
	const struct statement *st;
	const char *before, *between, *after;
	void (*write)(struct buf *out, const struct schema *s, const void *row); /* NULL: as JSON */
};

/* The same for several lists, one behind the other, that take the same arguments. */
int call_export_parts(struct call *c, const char *type, const struct export_part *parts,
	size_t part_count, const struct value *args, size_t count);

/* The handler a server is given. */
struct http_handler call_handler(struct app *app);

/* Writes the problem as the reply. */
void call_write_problem(struct call *c, const struct problem *p);
/* A problem as OpenAI's clients know it. */
void openai_problem(struct buf *b, const struct problem *p);
/* The same without a call: for faults below the router. */
void problem_reply(struct http_exchange *x, const struct problem *p);
