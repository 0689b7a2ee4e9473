/* call.c - the way of a call, step by step; see call.h.
 *
 * Reads run in one transaction: on SQLite at once, on the loop's own
 * connection.  Changes are first permitted in a read transaction where that
 * is cheap (so that a stranger never reaches the writer), then prepared if
 * the operation asks for it, then run where writes run; there the permission
 * is decided again, inside the transaction that acts on it. */
#include "call/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "call/chores.h"
#include "call/feed_number.h"
#include "call/steps.h"
#include "contract/encode.h"

enum { META_MAX = 64 * 1024, SMALL_BODY = 64 * 1024 };

const char *call_param(const struct call *c, const char *name)
{
	return route_param(&c->match, name);
}

int call_fail(struct call *c, int err, const char *fmt, ...)
{
	va_list ap;

	if (c->problem.err)
		return c->problem.err;
	c->problem.err = err;
	va_start(ap, fmt);
	c->problem.detail = arena_vprintf(c->arena, fmt, ap);
	va_end(ap);
	return err;
}

int call_field(struct call *c, const char *field, const char *code, const char *fmt, ...)
{
	va_list ap;
	const char *message;

	va_start(ap, fmt);
	message = arena_vprintf(c->arena, fmt, ap);
	va_end(ap);
	return problem_field(&c->problem, c->arena, field, code, "%s", message);
}

void call_changed(struct call *c, const struct schema *s, const void *before, const void *after)
{
	struct buf b;

	buf_init(&b, META_MAX);
	encode_changes(&b, s, before, after);
	c->audit.meta = b.overflow ? NULL : arena_strndup(c->arena, b.at, b.len);
	buf_free(&b);
}

/* True for what others see of an agent: a favourite is one's own. */
static bool concerns_agent(const struct audit_entry *e)
{
	return e->tenant_id && e->agent_id && strncmp(e->action, "agent", 5) == 0 &&
	       !strstr(e->action, "favorite");
}

static int write_audit(struct call *c)
{
	struct audit_entry *e = &c->audit;
	int err;

	if (!c->route->audit)
		return 0;
	e->action = e->action ? e->action : c->route->audit;
	e->tenant_id = e->tenant_id ? e->tenant_id : c->caller.tenant_id;
	e->agent_id = e->agent_id ? e->agent_id : c->caller.agent_id;
	e->user_id = e->user_id ? e->user_id : c->caller.user_id;
	e->ip = c->ip;
	e->user_agent = http_header(&c->x->request, "user-agent");
	if (concerns_agent(e) && (err = feed_agent_changed(c->db, c->arena, e->tenant_id,
					  e->agent_id, e->action, c->now)))
		return err;
	return audit_write(c->db, c->arena, e);
}

/* A run may be the second: nothing of an earlier one may be left. */
static void start_over(struct call *c, struct db *db)
{
	c->db = db;
	c->problem = (struct problem){ 0 };
	c->audit = (struct audit_entry){ 0 };
	c->items = (struct list){ 0 };
	c->export = NULL;
	c->follow = NULL;
	c->total = NIL;
	c->next_after = c->location = c->cache = NULL;
	c->standing = c->replayed = false;
	c->x->reply.body.len = c->x->reply.extra.len = 0;
	c->x->reply.type = NULL;
	if (c->op->reply && !c->op->list)
		c->reply = arena_alloc(c->arena, c->op->reply->size);
}

/* Applies a change, inside its transaction. */
static int change(struct call *c)
{
	int err = repeat_begin(c);

	if (err) {
		c->replayed = err > 0;
		return err > 0 ? 0 : err;
	}
	err = match_check(c);
	if (!err)
		err = c->op->apply(c);
	if (!err)
		err = write_audit(c);
	if (err)
		return err;
	if (c->problem.err) { /* refused, but recorded: a failed login */
		call_write_problem(c, &c->problem);
		return 0;
	}
	if (c->follow && !repeat_keeps_short(c))
		return 0;
	call_write_reply(c);
	call_tag_reply(c);
	err = repeat_keep(c);
	if (c->follow) {
		c->x->reply.body.len = c->x->reply.extra.len = 0;
		c->x->reply.type = NULL;
	}
	return err;
}

static int run(struct work *w, struct db *db)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));
	int err;

	start_over(c, db);
	err = call_permit(c);
	if (!err && c->refusal.err) {
		c->problem = c->refusal;
		err = c->refusal.err;
	}
	if (err)
		return err;
	switch (c->stage) {
	case STAGE_LOOK:
		return c->op->look ? c->op->look(c) : 0;
	case STAGE_READ:
		err = c->op->apply(c);
		if (!err && !c->follow) {
			call_write_reply(c);
			call_tag_reply(c);
		}
		return err;
	case STAGE_WRITE:
		return change(c);
	}
	return ERR_INTERNAL;
}

/* The store's verdict into the reply. */
void call_conclude(struct call *c, int err)
{
	if (c->caller.user_id)
		touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
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

/* What was asked for is in the reply now, or on its way as a stream. */
static enum http_verdict ran(struct call *c, int err)
{
	if (!err && c->follow)
		return c->follow(c);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static void done_elsewhere(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	if (ran(c, err) == HTTP_REPLIED)
		http_finish(c->x);
}

static enum http_verdict submit(struct call *c)
{
	int err = store_submit(c->app->store, &c->work);

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
	return submit(c);
}

/* On a slow thread: the operation takes its time, then goes on to the store. */
static int run_prepare(struct work *w, struct db *db)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	(void)db;
	return c->op->prepare(c);
}

static void prepared(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	c->work.run = run;
	if (err) {
		call_conclude(c, err);
		http_finish(c->x);
	} else if (begin_write(c) == HTTP_REPLIED) {
		http_finish(c->x);
	}
}

static enum http_verdict begin_prepare(struct call *c)
{
	int err;

	if (c->follow)
		return c->follow(c);
	if (!c->op->prepare)
		return begin_write(c);
	c->work.run = run_prepare;
	c->work.done = prepared;
	err = slow_pool_submit(c->app->slow, &c->work);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static void looked(struct work *w, int err)
{
	struct call *c = (struct call *)((char *)w - offsetof(struct call, work));

	if (err) {
		call_conclude(c, err);
		http_finish(c->x);
	} else if (begin_prepare(c) == HTTP_REPLIED) {
		http_finish(c->x);
	}
}

/* Permission and `look`, before a change. */
static enum http_verdict begin_look(struct call *c)
{
	struct db *here = http_loop_get(c->x->loop);
	int err;

	c->stage = STAGE_LOOK;
	c->work.mode = READ_ONLY;
	if (!here) {
		if (!c->op->look && !c->op->prepare)
			return begin_write(c);
		c->work.done = looked;
		return submit(c);
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
	struct db *db = slow_pool_db(c->app->store);
	int err = ERR_STORE;

	(void)none;
	w->run = run;
	if (db) {
		err = store_read_here(c->app->store, db, w);
		store_rest(db);
	}
	return err;
}

/* Off the loop, whose other connections would wait. */
static enum http_verdict begin_long_read(struct call *c)
{
	int err;

	c->work.run = run_beside;
	c->work.done = done_elsewhere;
	err = slow_pool_submit(c->app->slow, &c->work);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static enum http_verdict begin_read(struct call *c)
{
	struct db *here = http_loop_get(c->x->loop);

	c->stage = STAGE_READ;
	c->work.mode = READ_ONLY;
	if (here && c->op->long_read && c->app->slow)
		return begin_long_read(c);
	if (here)
		return ran(c, store_read_here(c->app->store, here, &c->work));
	c->work.done = done_elsewhere;
	return submit(c);
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

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	struct call *c = arena_new(&x->arena, struct call);

	x->data = c;
	c->app = ctx;
	c->x = x;
	c->arena = &x->arena;
	c->work.run = run;
	c->total = NIL;
	router_find(c->app->router, c->arena, x->request.method, x->request.path,
		x->request.path_len, &c->match);
	c->route = c->match.route;
	if (!c->route && x->max_body > SMALL_BODY)
		x->max_body = SMALL_BODY;
	if (c->route && c->route->max_body)
		x->max_body = c->route->max_body;
	x->patient = c->route && c->route->patient;
	return HTTP_GO_ON;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	struct call *c = x->data;

	(void)ctx;
	c->now = clock_now_us();
	c->ip = call_address(c);
	if (!c->route) {
		int err = c->match.allowed ? ERR_METHOD : ERR_NOT_FOUND;

		problem_set(&c->problem, c->arena, err,
			err == ERR_METHOD ? "This path does not take %s."
					  : "There is nothing at this path.%.0s",
			x->request.method_text);
		call_write_problem(c, &c->problem);
		return HTTP_REPLIED;
	}
	c->op = c->route->op;
	c->credential = credential_read(
		http_header(&x->request, "authorization"), http_header(&x->request, "cookie"));
	call_decode(c);
	if (c->op->storeless && c->route->permission == PERM_PUBLIC)
		return begin_storeless(c);
	return route_changes(c->route) ? begin_look(c) : begin_read(c);
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	struct problem p = { .err = err, .detail = sentence };

	(void)ctx;
	problem_reply(x, &p);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	struct app *app = ctx;
	struct call *c = x->data;
	int64_t us = clock_mono_us() - x->request.began_us;
	size_t none = router_route_count(app->router);

	metrics_count(app->metrics, http_loop_index(x->loop), c && c->route ? c->match.index : none,
		x->reply.status, us);
	if (app->settings.access_log && log_wants(LOG_INFO))
		log_info("request", LOG_S("method", x->request.method_text),
			LOG_S("path", x->request.path ? arena_strndup(&x->arena, x->request.path,
								x->request.path_len)
						      : NULL),
			LOG_N("status", x->reply.status), LOG_N("us", us),
			LOG_N("bytes", (int64_t)(x->reply.streams ? x->reply.streamed
								  : x->reply.body.len)),
			LOG_S("ip", c && c->ip ? c->ip : x->request.peer.text),
			LOG_S("user_id", c ? c->caller.user_id : NULL),
			LOG_S("request_id", x->request_id), LOG_S("cut", complete ? NULL : "yes"));
}

static void on_loop_begin(void *ctx, struct http_loop *loop)
{
	struct app *app = ctx;
	struct arena scratch = { 0 };
	struct problem p = { 0 };
	struct db *db;

	if (store_is_sqlite(app->store)) {
		if (store_connect(app->store, &db, &scratch, &p))
			log_error("the store cannot be read", LOG_S("error", p.detail));
		else
			http_loop_set(loop, db);
	}
	arena_free(&scratch);
	if (app->loop_begins)
		app->loop_begins(app, loop);
}

static void on_rest(void *ctx, struct http_loop *loop)
{
	struct db *db = http_loop_get(loop);

	(void)ctx;
	if (db)
		store_rest(db);
}

static void on_loop_end(void *ctx, struct http_loop *loop)
{
	struct app *app = ctx;

	if (app->loop_ends)
		app->loop_ends(app, loop);
	db_close(http_loop_get(loop));
	http_loop_set(loop, NULL);
}

struct http_handler call_handler(struct app *app)
{
	return (struct http_handler){
		.head = on_head,
		.request = on_request,
		.fault = on_fault,
		.sent = on_sent,
		.rest = on_rest,
		.loop_begin = on_loop_begin,
		.loop_end = on_loop_end,
		.ctx = app,
	};
}
