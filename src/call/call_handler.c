/* call_handler.c - where HTTP and calls meet: a request becomes a call, a reply is counted and logged, a loop gets its
 * connection to the store; see call.h. */
#include "call/call.h"

#include "base/clock.h"
#include "base/log.h"
#include "call/held.h"
#include "call/listeners.h"
#include "call/loop_store.h"
#include "call/metrics.h"
#include "call/steps.h"

/* Whoever asks how the service is must hear it while the store hangs, too. */
static const struct http_late unanswered = { ERR_STORE, "The store does not answer." };

static enum http_verdict on_request_head(void *ctx, struct http_exchange *x)
{
	struct call *c = arena_new(&x->arena, struct call);

	x->data = c;
	c->refusals = memory_refusals();
	c->app = ctx;
	c->x = x;
	c->arena = &x->arena;
	c->total = NIL;
	router_find(c->app->router, c->arena, x->request.method, x->request.path,
		x->request.path_len, &c->match);
	if (c->match.versioned && http_header(&x->request, ANTHROPIC_HEADER)) {
		c->match.route = c->match.versioned;
		c->match.index = c->match.versioned_index;
	}
	c->route = c->match.route;
	x->patient = c->route && c->route->patient;
	x->late = c->route && c->route->op->unstored ? &unanswered : NULL;
	return call_head(c);
}

static enum http_verdict begin_call(struct call *c, int err)
{
	if (!err)
		return call_is_large(c) ? call_aside(c) : call_enter(c);
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	struct call *c = x->data;

	(void)ctx;
	c->now = clock_now_us();
	c->ip = call_address(c);
	if (!c->route && !c->match.allowed && c->app->unrouted && c->app->unrouted(x))
		return HTTP_REPLIED;
	if (!c->route)
		return call_unrouted(c);
	c->op = c->route->op;
	if (!c->credential.subject) /* or it was proven with the head */
		c->credential = call_credential(c);
	return call_is_unproven(c) ? call_prove(c, begin_call) : begin_call(c, 0);
}

static void on_request_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	struct problem p = { .err = err, .detail = sentence };

	if (err == ERR_TOO_LARGE && x->sink)
		p = (struct problem){ .err = ERR_NO_SPACE,
			.detail = "The body is larger than the room that is left for it." };
	else if (err == ERR_TOO_LARGE)
		p.detail = call_too_large(x);
	problem_reply(ctx, x, &p);
}

static struct memory_account *on_account(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	return x->data ? held_account(x->data) : NULL;
}

static bool on_gathers(void *ctx, const char *address)
{
	const struct app_settings *s = &((struct app *)ctx)->settings;

	return s->trusts && s->trusts(s->trusts_ctx, address);
}

static void on_sent(void *ctx, struct http_exchange *x, bool complete)
{
	struct app *app = ctx;
	struct call *c = x->data;
	int64_t us = clock_mono_us() - x->request.began_us;
	size_t none = router_route_count(app->router);

	if (c)
		listeners_leave(app, &c->awaits);
	if (x->account)
		held_settle(app, x->account);
	metrics_count(app->metrics, http_loop_index(x->loop), c && c->route ? c->match.index : none,
		x->reply.status, us);
	if (app->settings.access_log && log_wants(LOG_INFO))
		log_info("request", LOG_S("method", x->request.method_text),
			LOG_S("path", x->request.path ? arena_strndup(&x->arena, x->request.path,
								x->request.path_len)
						      : NULL),
			LOG_N("status", x->reply.status), LOG_N("us", us),
			LOG_N("bytes", (int64_t)(x->reply.streams ? x->reply.streamed
						 : x->reply.file  ? x->reply.file->len
								  : x->reply.body.len)),
			LOG_S("ip", c && c->ip ? c->ip : x->request.peer.text),
			LOG_S("user_id", c ? c->caller.user_id : NULL),
			LOG_S("request_id", x->request_id), LOG_S("cut", complete ? NULL : "yes"));
}

static void on_loop_begin(void *ctx, struct http_loop *loop)
{
	struct app *app = ctx;

	loop_store_begin(app, loop);
	if (app->loop_begins)
		app->loop_begins(app, loop);
}

static void on_rest(void *ctx, struct http_loop *loop)
{
	(void)ctx;
	loop_store_rest(loop);
}

static void on_loop_end(void *ctx, struct http_loop *loop)
{
	struct app *app = ctx;

	if (app->loop_ends)
		app->loop_ends(app, loop);
	loop_store_end(loop);
}

struct http_handler call_handler(struct app *app)
{
	return (struct http_handler){
		.head = on_request_head,
		.request = on_request,
		.fault = on_request_fault,
		.sent = on_sent,
		.account = on_account,
		.gathers = on_gathers,
		.rest = on_rest,
		.loop_begin = on_loop_begin,
		.loop_end = on_loop_end,
		.house = held_house(app->held),
		.ctx = app,
	};
}
