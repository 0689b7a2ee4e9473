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
#include "access/audit_chain.h"
#include "access/vault.h"
#include "contract/decode.h"
#include "contract/router.h"
#include "http/http.h"
#include "store/store.h"

struct pool;
struct metrics;
struct listeners;
struct listener;
struct hub;
struct held;
struct scrapers;

/* What whoever runs the program has chosen, as far as calls need to know.  What is atomic changes while
 * the service runs. */
struct app_settings {
	const char *public_url; /* without a slash at its end */
	bool secure_cookies;
	_Atomic bool access_log;
	_Atomic bool open_tenants;
	bool allow_private_addresses; /* services in the same network may be called */
	_Atomic int64_t session_lifetime_us, session_idle_us;
	_Atomic int64_t
		hook_retention_us; /* how long calls of webhooks stay in their log; 0: for ever */
	_Atomic int64_t erase_delay_us; /* from the deletion of a tenant until its rows go */
	/* Bytes that the requests of one tenant, and those of one address without a credential, may hold
	 * at a time; 0: as many as there are. */
	uint64_t tenant_memory, address_memory, house_memory;
	/* Streams of events that one person, and one tenant, may keep open; 0: as many as they like. */
	uint64_t person_streams, tenant_streams;
	/* True for the address of a proxy whose X-Forwarded-For is believed. */
	bool (*trusts)(const void *ctx, const char *address);
	const void *trusts_ctx;
};

enum { TOUCHED_CELLS = 1024 };

/* What calls need and lives as long as the process serves.  What operations need besides is in a struct that has this
 * one first (api/service.h). */
struct app {
	struct app_settings settings;
	const struct resource *const *resources;
	size_t resource_count;
	struct router *router;
	struct patterns *patterns;
	struct store *store;
	struct pool *slow;     /* hashes passwords, reads pictures, asks where people sign in */
	struct pool *tools;    /* waits for hosts that tenants name; a tenant has a part of it */
	struct pool *reading;  /* reads much, on SQLite; exports */
	struct pool *disk;     /* reads and writes files */
	struct pool *programs; /* waits for git */
	struct pool *remotes;  /* waits for git that waits for another host */
	struct pool *imports;  /* waits for lodge-helper, and for files that come out of a bucket */
	struct metrics *metrics;
	struct held *held;	     /* who holds how much memory */
	struct listeners *listeners; /* who keeps how many streams open */
	struct scrapers *scrapers;   /* who may see the metrics while the store is away */
	struct http_server *server;  /* NULL in tests without sockets */
	struct vault *vault;	     /* secrets at rest */
	struct hub *hub;	     /* who listens to which session */
	/* Called on a loop's thread as it begins and ends, for what lives there besides.  May be NULL. */
	void (*loop_begins)(struct app *app, struct http_loop *loop);
	void (*loop_ends)(struct app *app, struct http_loop *loop);
	/* Asked where no route takes a request: true if it has filled in the reply.  May be NULL. */
	bool (*unrouted)(struct http_exchange *x);
	uint8_t chain_key[CHAIN_KEY_LEN];	 /* of the audit log */
	_Atomic int exports;			 /* under way */
	_Atomic uint64_t touched[TOUCHED_CELLS]; /* see maintenance.c */
};

struct page_query {
	int64_t page, per_page;
	const char *after, *sort;
	tri total;
};
SCHEMA_DECLARED(page_query);

/* What a stream or a call counts for (listeners.h); begins as zero. */
struct listening {
	struct listener *person, *tenant;
};

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
	/* Set by `intake`: takes a piece of the body, on a thread for disks.  What it has begun goes with the arena. */
	int (*take)(struct call *c, const void *bytes, size_t n);
	const void *piece; /* what it has of the body */
	size_t piece_len;
	struct file_growth *growth;   /* of what is sent while it comes; or NULL */
	struct file_sending *sending; /* what is sent in the place of a reply; or NULL */
	struct page_query page;
	struct problem
		refusal; /* what decoding found wrong; told after the permission is checked */

	void *reply;		    /* a zeroed op->reply to fill in */
	struct list items;	    /* a list: the page's rows */
	struct arena rows;	    /* what they hold; goes when the page is written */
	struct export_run *export;  /* all of a list, sent while it is read; or NULL */
	struct call_pour *pour;	    /* what a thread makes and sends (call_pour()); or NULL */
	struct call_stream *stream; /* what is sent while it comes about (stream.h); or NULL */
	/* Set by an operation that answers later: called once what it did is durable, instead of
	 * writing the reply.  It says HTTP_KEPT and finishes the exchange, or HTTP_REPLIED.  Set by
	 * `look`, it takes the place of everything that would follow. */
	enum http_verdict (*deferred)(struct call *c);
	/* Set by an operation: called once what it did is durable, besides the reply. */
	void (*afterwards)(struct app *app);
	int64_t total; /* NIL: not counted */
	const char *next_after;
	const char *location; /* of what POST created, without its root */
	const char *cache;    /* Cache-Control of a single object; NULL: private, no-cache */
	bool nothing;	      /* what was asked for is done, and there is nothing to show: 204 */
	bool standing;	      /* a grant that stood already: 200 instead of 201 */
	struct pool *
		elsewhere; /* set by `look`: whose threads `prepare` runs on, in place of those that the row says; or NULL */
	bool took; /* set by a change: what `prepare` made is in use */
	bool only_reads; /* set by `prepare`: what follows it changes nothing, and the writer is left alone */
	struct audit_entry audit;
	struct problem problem;
	uint64_t refusals; /* of memory, in the whole process, when it began */
	void *own;	   /* what an operation carries from one step to the next */
	/* Set by a change that ends with ERR_BRING, of which nothing is kept then: brings what it lacks, on a thread for disks,
	 * after which it runs again. */
	int (*bring)(struct call *c);
	void *brings; /* what that is; goes with the arena */
	bool aside;   /* not on its loop: see aside.c */
	/* With what it goes on once another service's token is proven: see vouched.c. */
	enum http_verdict (*proven)(struct call *c, int err);
	char body_hash[65]; /* where it may be repeated: of body and query */

	struct work work;
	enum { STAGE_READ, STAGE_LOOK, STAGE_RESERVE, STAGE_WRITE } stage;
	bool wasted;   /* nothing came of what was prepared */
	bool answered; /* a reply is kept for its Idempotency-Key: nothing is prepared */
	int concluded; /* how the call ended, while that is discarded */
	struct problem unprepared; /* why what was reserved is to be released */
	struct listening awaits;   /* what it counts as until it is over */
	bool replayed; /* answered from an earlier reply with the same Idempotency-Key */
};

/* The path's parameter; lint makes sure that it exists. */
const char *call_param(const struct call *c, const char *name);
/* What the client says it is, cut to a length that is worth keeping; or NULL. */
const char *call_user_agent(const struct call *c);
/* True unless the request says that another site's page caused it. */
bool call_own_origin(const struct call *c);
/* Sets the problem and returns its code. */
int call_fail(struct call *c, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int call_field(struct call *c, const char *field, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* One more row of the audit log, for what the call did besides: who did it and from where is filled in. */
int call_audit_also(struct call *c, struct audit_entry e);
/* The row of what has a verb of its own wherever it is done: the call's row where that is the route's verb,
 * and elsewhere one more. */
int call_audit_act(struct call *c, struct audit_entry e);
/* Notes the difference for the audit row. */
void call_changed(struct call *c, const struct schema *s, const void *before, const void *after);
/* The same, besides what is noted already. */
void call_changed_too(
	struct call *c, const struct schema *s, const void *before, const void *after);

/* A page ends with the row that brings it to so many bytes of the store's texts. */
enum { CALL_PAGE_BYTES = 2 * 1024 * 1024 };
/* Makes c->rows empty, for a page about to be read; what it holds is given back with the call's arena. */
struct arena *call_rows(struct call *c);
/* Fills the page from the statements of listing.h that begin at `statements`; the arguments are
 * those of its conditions.  The key is the field `id` of the row. */
int call_list(
	struct call *c, const struct statement *statements, const struct value *args, size_t count);

/* The same for a list so short that it is read whole, in the statement's own order; `most` is how long
 * it can be. */
int call_short_list(struct call *c, const struct statement *st, size_t most,
	const struct value *args, size_t count);

/* Instead of a page: streams every row of the statement as a line of JSON, oldest first.  It
 * goes on after the id {after}. */
int call_export(struct call *c, const struct statement *st, const struct value *args, size_t count);

/* One stretch of a document that is sent while it is read: the rows of a statement and the text around
 * them, each of which may be NULL.  A row has a field `id`, which the statement orders by. */
struct export_part {
	const struct statement *st;
	const char *before, *between, *after;
	void (*write)(struct buf *out, const struct schema *s, const void *row); /* NULL: as JSON */
};

/* The same for several lists, one after the other, each of which takes those of the arguments that it needs. */
int call_export_parts(struct call *c, const char *type, const struct export_part *parts,
	size_t part_count, const struct value *args, size_t count);

/* A file as the answer: a part of it where Range asks for one, nothing where If-None-Match has its tag.  open() runs on a
 * thread for disks, once it is known that bytes are wanted, and gives a descriptor of exactly `size` bytes. */
/* Bytes that come from elsewhere while they are sent; it outlives the call.  fetch() waits, on a thread for disks: so many from
 * that byte on, each run of them to `take`, which ends it with false; spool() gives a file without a name. */
struct call_source {
	void *from;
	int (*fetch)(void *from, uint64_t at, uint64_t len,
		bool (*take)(void *ctx, const char *bytes, size_t n), void *ctx, struct arena *a,
		struct problem *p);
	int (*spool)(void *from);
	void (*let_go)(void *from);
	char sha256[65]; /* of all of it */
};

struct call_file {
	uint64_t size;
	const char *tag; /* with its quotes */
	const char *type;
	int (*open)(struct call *c, int *ret_fd);
	/* In the place of open(), where it comes while it is sent: made when bytes are wanted; false: open() after all. */
	bool (*source)(struct call *c, struct call_source *ret);
};
int call_send_file(struct call *c, const struct call_file *file);
/* If-Match and If-None-Match of a change, held against the tag of what is there; NULL: nothing is. */
int call_match(struct call *c, const char *tag);

/* An answer that another program makes, sent while it does: `make` runs on one of the threads for those, and waits where the
 * peer is behind.  For the end of `look`, or of a read's `apply`.  Until the first byte an error is answered as any other, and
 * after it the connection breaks off. */
int call_pour(struct call *c, const char *type, int (*make)(struct call *c));
/* Within `make`: false if nobody wants more. */
bool call_pour_bytes(struct call *c, const char *bytes, size_t n);
bool call_pour_wanted(struct call *c);

/* The handler a server is given, of an app that is set up. */
struct http_handler call_handler(struct app *app);

/* For `look`: what it would do next takes so long that others on the loop should not wait for it.  True, and it returns 0 at
 * once: the call begins anew off the loop.  False: it is off the loop, or there is nowhere else. */
bool call_step_aside(struct call *c);

/* Of an answer that is given later: the store's verdict into the reply. */
void call_conclude(struct call *c, int err);
/* The same where `out` is filled in by now: writes the reply, or the problem, and finishes the exchange. */
void call_answer(struct call *c, int err);
/* Writes the problem as the reply. */
void call_write_problem(struct call *c, const struct problem *p);
/* A problem as OpenAI's clients know it. */
void openai_problem(struct buf *b, const struct problem *p);
/* The same without a call: for faults below the router. */
void problem_reply(const struct app *app, struct http_exchange *x, const struct problem *p);
/* Text into a page. */
void call_put_html(struct buf *b, const char *text);
/* Says that the reply is a file to be kept under this name, whatever signs are in it. */
void call_attach(struct call *c, const char *name);
