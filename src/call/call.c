/* call.c - the way of a call, step by step; see call.h.
 *
 * Reads run in one transaction: on SQLite at once, on the loop's own
 * connection.  Changes are first permitted in a read transaction where that
 * is cheap (so that a stranger never reaches the writer), then prepared if
 * the operation asks for it, then run where writes run; there the permission
 * is decided again, inside the transaction that acts on it. */
#include "call/call.h"

#include "base/log.h"
#include "call/loop_store.h"
#include "call/maintenance.h"
#include "call/steps.h"
#include "store/pool.h"

enum { LARGE_BODY = 1 << 20 };

#define NONE_LEFT "There is no memory left just now: try again in a moment."
#define TOO_MUCH "The request takes more memory than one request is given: ask for less at a time."

/* A run may be the second: nothing of an earlier one may be left. */
static void start_over(struct call *c, struct db *db)
{
	c->db = db;
	c->problem = (struct problem){ 0 };
	c->audit = (struct audit_entry){ 0 };
	c->items = (struct list){ 0 };
	c->export = NULL;
	c->stream = NULL;
	c->pour = NULL;
	c->sending = NULL;
	c->growth = NULL;
	c->deferred = NULL;
	c->afterwards = NULL;
	c->total = NIL;
	c->next_after = c->location = c->cache = NULL;
	c->standing = c->replayed = c->nothing = c->took = false;
	buf_clear(&c->x->reply.body);
	buf_clear(&c->x->reply.extra);
	c->x->reply.type = NULL;
	if (c->op->reply && !c->op->list)
		c->reply = arena_alloc(c->arena, c->op->reply->size);
}

/* Applies a change, inside its transaction. */
static int apply_change(struct call *c)
{
	int err = idempotency_begin(c);

	if (!err && c->answered) /* it was a moment ago */
		err = ERR_BUSY;
	if (err) {
		c->replayed = err > 0;
		/* What was reserved for an answer that stood already is not spent. */
		return err < 0 ? err : c->op->release ? c->op->release(c) : 0;
	}
	err = match_check(c);
	if (!err)
		err = c->op->apply(c);
	if (!err)
		err = call_audit(c);
	if (err)
		return err;
	if (c->problem.err) { /* refused, but recorded: a failed login */
		call_write_problem(c, &c->problem);
		return 0;
	}
	if (c->deferred && !idempotency_keeps_short(c))
		return 0;
	call_write_reply(c);
	call_tag_reply(c);
	if (c->x->reply.body.starved) /* nothing is changed that cannot be answered */
		return ERR_BUSY;
	err = idempotency_keep(c);
	if (c->deferred) {
		c->x->reply.body.len = c->x->reply.extra.len = 0;
		c->x->reply.type = NULL;
	}
	return err;
}

/* What was reserved was not spent. */
static int release_reserved(struct call *c)
{
	int err = c->op->release(c);

	if (!err)
		call_write_problem(c, &c->unprepared);
	return err;
}

/* All that is wrong with it at once: what the tables say, and what the operation says of the rest. */
static int refuse_body(struct call *c)
{
	c->problem = c->refusal;
	if (c->op->check && c->body && c->refusal.err == ERR_INVALID)
		c->op->check(c);
	return c->problem.err;
}

/* What was answered before is not judged anew: its own first run may be what would refuse it.  Nothing large is made for what
 * will be refused anyway. */
static int run_look(struct call *c)
{
	int err = c->op->prepare && !c->op->reserve ? idempotency_look(c, &c->answered) : 0;

	if (!err && !c->answered && c->op->look)
		err = c->op->look(c);
	return !err && !c->answered && c->op->discard ? match_check(c) : err;
}

static int run_stage(struct work *w, struct db *db)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));
	int err;

	start_over(c, db);
	c->wasted = c->stage == STAGE_WRITE && c->op->discard;
	/* Permitted a moment ago, and again with what follows. */
	if (c->stage == STAGE_RESERVE)
		return c->op->reserve(c);
	if (c->unprepared.err)
		return release_reserved(c);
	err = call_permit(c);
	if (!err && c->refusal.err)
		err = refuse_body(c);
	if (err)
		return err;
	switch (c->stage) {
	case STAGE_LOOK:
		return run_look(c);
	case STAGE_READ:
		err = c->op->apply(c);
		if (!err && !c->deferred) {
			call_write_reply(c);
			call_tag_reply(c);
		}
		return !err && c->x->reply.body.starved ? ERR_BUSY : err;
	case STAGE_WRITE:
		err = apply_change(c);
		c->wasted = c->op->discard && (err || !c->took);
		return err;
	case STAGE_RESERVE:
		break;
	}
	return ERR_INTERNAL;
}

/* The store's verdict into the reply. */
void call_conclude(struct call *c, int err)
{
	if (c->caller.user_id || c->caller.kind == CREDENTIAL_MACHINE)
		touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	if (err && c->arena->metered && !memory_account_has_room(c->arena->meter)) {
		err = ERR_BUSY;
		c->problem = (struct problem){ .err = err, .detail = HTTP_HOLDS_TOO_MUCH };
	} else if (err && (c->arena->failed || memory_refusals() != c->refusals)) {
		err = ERR_BUSY;
		c->problem = (struct problem){ .err = err, .detail = NONE_LEFT };
	} else if (err && arena_full(c->arena)) {
		/* What was sent is no smaller when it is sent again. */
		err = c->x->request.body_len > LARGE_BODY ? ERR_TOO_LARGE : ERR_BUSY;
		c->problem = (struct problem){ .err = err, .detail = TOO_MUCH };
	}
	if (err) {
		if (!c->problem.err || c->problem.err != err)
			c->problem = (struct problem){ .err = err };
		if (err == ERR_INTERNAL)
			log_error("a call failed", LOG_S("operation", c->op->id),
				LOG_S("request_id", c->x->request_id),
				LOG_S("detail", c->problem.detail));
		call_write_problem(c, &c->problem);
	}
	http_gzip(c->x);
}

void call_answer(struct call *c, int err)
{
	if (!err) {
		call_write_reply(c);
		call_tag_reply(c);
	}
	call_conclude(c, err);
	http_finish(c->x);
}

/* The store is away, and what is asked for can be told without it, to those who need not be looked up. */
static bool ran_unstored(struct call *c)
{
	if (!c->op->unstored || c->refusal.err || !call_permit_unstored(c))
		return false;
	start_over(c, NULL);
	if (c->op->apply(c))
		return false;
	call_write_reply(c);
	call_conclude(c, 0);
	return true;
}

/* A store that is known not to answer is not asked once more by those who watch it. */
static bool told_unstored(struct call *c)
{
	const char *why = c->op->unstored ? store_closed(c->app->store) : NULL;

	if (!why)
		return false;
	if (ran_unstored(c))
		return true;
	call_conclude(c, call_fail(c, ERR_STORE, "%s", why));
	return true;
}

/* What was asked for is in the reply now, or on its way as a stream. */
static enum http_verdict call_ran(struct call *c, int err)
{
	if ((err == ERR_STORE || err == ERR_BUSY) && ran_unstored(c))
		return HTTP_REPLIED;
	if (!err && c->afterwards)
		c->afterwards(c->app);
	if (!err && c->deferred)
		return c->deferred(c);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static int run_bring(struct work *w, struct db *none)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	(void)none;
	c->problem = (struct problem){ 0 };
	return c->bring(c);
}

static void call_brought(struct work *w, int err);

/* What a change lacks is brought, and then it runs again. */
static enum http_verdict begin_bring(struct call *c)
{
	int err;

	c->work.run = run_bring;
	c->work.done = call_brought;
	err = pool_submit(c->app->disk, c->caller.tenant_id, &c->work);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static int run_discard(struct work *w, struct db *none)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	(void)none;
	c->op->discard(c);
	return 0;
}

static void call_discarded(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	(void)err; /* what no thread could be had for is found as what nobody names */
	if (call_ran(c, c->concluded) == HTTP_REPLIED)
		http_finish(c->x);
}

/* Before the caller hears of it: who asks again at once finds room. */
static void begin_discard(struct call *c, int err)
{
	c->concluded = err;
	c->work.run = run_discard;
	c->work.done = call_discarded;
	if (pool_submit(c->app->disk, c->caller.tenant_id, &c->work))
		call_discarded(&c->work, 0);
}

static void done_elsewhere(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	if (c->wasted && err != ERR_BRING)
		begin_discard(c, err);
	else if ((err == ERR_BRING ? begin_bring(c) : call_ran(c, err)) == HTTP_REPLIED)
		http_finish(c->x);
}

static enum http_verdict submit_call(struct call *c)
{
	/* Those who watch the service ask the store's threads, who know first how it is. */
	bool short_read =
		c->work.mode == READ_ONLY && !c->op->long_read && !c->op->unstored && !c->aside;
	int err = short_read ? loop_store_submit(c->app, c->x->loop, &c->work)
			     : store_submit(c->app->store, &c->work);

	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static enum http_verdict begin_write(struct call *c)
{
	c->stage = STAGE_WRITE;
	c->work.mode = READ_WRITE;
	c->work.done = done_elsewhere;
	return submit_call(c);
}

static void call_brought(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	c->work.run = run_stage;
	if (err) {
		call_conclude(c, err);
		http_finish(c->x);
	} else if (begin_write(c) == HTTP_REPLIED) {
		http_finish(c->x);
	}
}

/* It could not be prepared: the caller hears so once what was reserved is given back. */
static enum http_verdict begin_release(struct call *c, int err)
{
	c->unprepared = c->problem.err == err ? c->problem : (struct problem){ .err = err };
	return begin_write(c);
}

/* On a slow thread: the operation takes its time, then goes on to the store. */
static int run_prepare(struct work *w, struct db *db)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	(void)db;
	return w->late ? ERR_BUSY : w->withdrawn ? ERR_STOPPING : c->op->prepare(c);
}

/* An import, or what another program does, to its end.  Its thread waits for the store as well: so a tenant has no more imports in the writer than it has of
 * these threads. */
static int run_import(struct work *w, struct db *db)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));
	int err = run_prepare(w, db);

	if (err)
		return err;
	c->stage = c->only_reads ? STAGE_READ : STAGE_WRITE;
	return call_await_store(c, c->only_reads ? READ_ONLY : READ_WRITE, run_stage);
}

static void call_prepared(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	c->work.run = run_stage;
	c->wasted = !err && c->op->discard; /* until it is decided in the store */
	if (err && !c->op->release) {
		call_conclude(c, err);
		http_finish(c->x);
	} else if ((err ? begin_release(c, err) : begin_write(c)) == HTTP_REPLIED) {
		http_finish(c->x);
	}
}

static enum http_verdict begin_slow(struct call *c)
{
	struct pool *pool = c->elsewhere	? c->elsewhere
			    : c->op->asks_tools ? c->app->tools
			    : c->op->unpacks	? c->app->imports
			    : c->op->spawns	? c->app->programs
			    : c->op->on_disk	? c->app->disk
						: c->app->slow;
	bool whole = c->op->unpacks || c->op->spawns;
	int err;

	c->work.run = whole ? run_import : run_prepare;
	c->work.done = whole ? done_elsewhere : call_prepared;
	err = pool_submit(pool, c->caller.tenant_id, &c->work);
	if (!err)
		return HTTP_KEPT;
	c->work.run = run_stage;
	if (c->op->release)
		return begin_release(c, err);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static void call_reserved(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	if (err) {
		call_conclude(c, err);
		http_finish(c->x);
	} else if (begin_slow(c) == HTTP_REPLIED) {
		http_finish(c->x);
	}
}

static enum http_verdict begin_reserve(struct call *c)
{
	c->stage = STAGE_RESERVE;
	c->work.mode = READ_WRITE;
	c->work.done = call_reserved;
	return submit_call(c);
}

static enum http_verdict begin_prepare(struct call *c)
{
	if (c->deferred)
		return c->deferred(c);
	if (!c->op->prepare || c->answered)
		return begin_write(c);
	return c->op->reserve ? begin_reserve(c) : begin_slow(c);
}

static void call_looked(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	if (err) {
		call_conclude(c, err);
		http_finish(c->x);
	} else if (begin_prepare(c) == HTTP_REPLIED) {
		http_finish(c->x);
	}
}

struct db *call_db_here(const struct call *c)
{
	if (!c->aside)
		return loop_store_db(c->x->loop);
	return store_is_sqlite(c->app->store) ? pool_db(c->app->store) : NULL;
}

/* Permission and `look`, before a change. */
static enum http_verdict begin_look(struct call *c)
{
	struct db *here = call_db_here(c);
	int err;

	c->stage = STAGE_LOOK;
	c->work.mode = READ_ONLY;
	if (!here) {
		if (!c->op->look && !c->op->prepare)
			return begin_write(c);
		c->work.done = call_looked;
		return submit_call(c);
	}
	err = store_read_here(c->app->store, here, &c->work);
	if (!err)
		return begin_prepare(c);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

/* On a slow thread, which has a connection of its own. */
static int run_beside(struct work *w, struct db *none)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	(void)none;
	w->run = run_stage;
	if (http_left(c->x)) /* nobody would read it */
		return ERR_STOPPING;
	return pool_read(c->app->store, w, run_stage);
}

/* Off the loop, whose other connections would wait.  Whose it is shows only there: the lane is that of the
 * tenant that the path names, or the credential's. */
static enum http_verdict begin_long_read(struct call *c)
{
	const char *tenant = call_param(c, "tenant_id");
	int err;

	c->work.run = run_beside;
	c->work.done = done_elsewhere;
	err = pool_submit(c->app->reading, tenant ? tenant : c->credential.hash, &c->work);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

/* ---- a report, on a replica ----
 *
 * The primary permits it, and only then is it read; permitted once more there, by rows that may be older.  So
 * nothing that was taken away is given by a replica; and what it refuses, or cannot do, the primary does. */

static void finish_read_here(struct call *c)
{
	c->work.done = done_elsewhere;
	if (submit_call(c) == HTTP_REPLIED)
		http_finish(c->x);
}

static void stale_read(struct work *w, int err)
{
	if (err)
		finish_read_here((struct call *)((char *)w - offsetof(struct call, work)));
	else
		done_elsewhere(w, 0);
}

static void stale_permitted(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	if (err) {
		call_conclude(c, err);
		http_finish(c->x);
		return;
	}
	c->stage = STAGE_READ;
	c->work.done = stale_read;
	if (store_submit_stale(c->app->store, &c->work))
		finish_read_here(c);
}

static enum http_verdict begin_stale_read(struct call *c)
{
	c->stage = STAGE_LOOK;
	c->work.done = stale_permitted;
	return submit_call(c);
}

static enum http_verdict begin_read(struct call *c)
{
	struct db *here = call_db_here(c);

	c->stage = STAGE_READ;
	c->work.mode = READ_ONLY;
	if (told_unstored(c))
		return HTTP_REPLIED;
	/* Known to be away: nobody waits for it to be found out once more. */
	if (store_trouble(c->app->store) == ERR_STORE && ran_unstored(c))
		return HTTP_REPLIED;
	if (!here && c->op->stale_ok && store_replica_ready(c->app->store))
		return begin_stale_read(c);
	if (here && !c->aside && c->op->long_read && c->app->reading)
		return begin_long_read(c);
	if (here)
		return call_ran(c, store_read_here(c->app->store, here, &c->work));
	c->work.done = done_elsewhere;
	return submit_call(c);
}

static enum http_verdict begin_storeless(struct call *c)
{
	int err = c->refusal.err;

	c->stage = STAGE_READ;
	start_over(c, NULL);
	c->problem = c->refusal;
	if (!err)
		err = c->op->apply(c);
	if (!err)
		call_write_reply(c);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

enum http_verdict call_enter(struct call *c)
{
	c->work.run = run_stage;
	call_decode(c);
	idempotency_read(c);
	if (c->op->read && c->raw && !c->refusal.err)
		c->op->read(c);
	/* Whoever watches the service is told in any case. */
	if (!http_charge(c->x) && !c->op->storeless && !c->op->unstored) {
		problem_set(&c->problem, c->arena, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
		call_write_problem(c, &c->problem);
		return HTTP_REPLIED;
	}
	if (c->op->storeless && c->route->permission == PERM_PUBLIC)
		return begin_storeless(c);
	return route_changes(c->route) ? begin_look(c) : begin_read(c);
}
