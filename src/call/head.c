/* head.c - what is decided when only the head of a request is known.
 *
 * A body that is large, or that waits to be asked for, is taken only from a
 * caller who may send it: the credential is checked, and the permission, by
 * the same rules and in the same way as before the operation, which checks
 * them again.  Where the answer stands in the body (the agent that it
 * names), what is asked here is to see the place at all.  What takes its body
 * while it comes decides here whether it does. */
#include "base/clock.h"
#include "base/memory.h"
#include "call/loop_store.h"
#include "call/steps.h"

enum { SMALL_BODY = 64 * 1024 };

static struct call *head_call_of(struct work *w)
{
	return (struct call *)((char *)w - offsetof(struct call, work));
}

static int check_head(struct work *w, struct db *db)
{
	struct call *c = head_call_of(w);
	int err;

	c->db = db;
	c->problem = (struct problem){ 0 };
	err = call_permit(c);
	if (err || !c->op->intake)
		return err;
	c->problem = c->refusal;
	return c->refusal.err ? c->refusal.err : c->op->intake(c);
}

/* It was asked for elsewhere than on the loop. */
static void head_checked(struct work *w, int err)
{
	struct call *c = head_call_of(w);

	c->work = (struct work){ 0 };
	if (err)
		call_conclude(c, err);
	http_finish_head(c->x, !err);
}

struct credential call_credential(const struct call *c)
{
	const struct http_request *r = &c->x->request;
	const char *authorization = http_header(r, "authorization");
	const char *key = c->route->anthropic ? http_header(r, "x-api-key") : NULL;

	if (c->route->op->basic)
		return credential_read_basic(c->arena, authorization);
	if (!authorization && key)
		return credential_read(arena_printf(c->arena, "Bearer %s", key), NULL);
	return (c->route->op->vouch ? credential_read_any : credential_read)(
		authorization, http_header(r, "cookie"));
}

static enum http_verdict check_proven(struct call *c, int err)
{
	struct db *here = call_db_here(c);

	c->aside = false; /* the rest of the request comes on the loop */
	if (!err) {
		c->work =
			(struct work){ .run = check_head, .done = head_checked, .mode = READ_ONLY };
		if (here)
			err = store_read_here(c->app->store, here, &c->work);
		else
			err = loop_store_submit(c->app, c->x->loop, &c->work);
		if (!err && !here)
			return HTTP_KEPT;
	}
	c->work = (struct work){ 0 };
	if (!err)
		return HTTP_GO_ON;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

static enum http_verdict check_now(struct call *c)
{
	c->op = c->route->op;
	c->now = clock_now_us();
	c->ip = call_address(c);
	c->credential = call_credential(c);
	c->x->vouched = true; /* or the body is not taken */
	if (c->op->intake) {
		c->x->sink = call_sink;
		call_decode_query(c);
	}
	return call_is_unproven(c) ? call_prove(c, check_proven) : check_proven(c, 0);
}

/* Whether the body is worth a look at who sends it. */
static bool is_large_body(const struct http_request *r)
{
	return r->has_body &&
	       (r->chunked || r->content_length > SMALL_BODY || http_header(r, "expect") != NULL);
}

const char *call_too_large(struct http_exchange *x)
{
	static const struct {
		uint64_t bytes;
		const char *name;
	} units[] = { { 1 << 20, "MiB" }, { 1 << 10, "KiB" }, { 1, "bytes" } };
	size_t i = 0;

	while (x->max_body % units[i].bytes)
		i++;
	return arena_printf(&x->arena, "The body is larger than the %llu %s that are taken here.",
		(unsigned long long)(x->max_body / units[i].bytes), units[i].name);
}

enum http_verdict call_unrouted(struct call *c)
{
	int err = c->match.allowed ? ERR_METHOD : ERR_NOT_FOUND;

	c->ip = call_address(c);
	problem_set(&c->problem, c->arena, err,
		err == ERR_METHOD ? "This path does not take %s."
				  : "There is nothing at this path.%.0s",
		c->x->request.method_text);
	call_write_problem(c, &c->problem);
	return HTTP_REPLIED;
}

enum http_verdict call_head(struct call *c)
{
	struct http_exchange *x = c->x;

	if (memory_short()) {
		problem_set(&c->problem, c->arena, ERR_BUSY, "There is no memory left just now.");
		call_write_problem(c, &c->problem);
		return HTTP_REPLIED;
	}
	if (!c->route && x->max_body > SMALL_BODY)
		x->max_body = SMALL_BODY;
	if (!c->route) /* that nobody takes a body is said before its length */
		return is_large_body(&x->request) ? call_unrouted(c) : HTTP_GO_ON;
	if (c->route->op->intake)
		return check_now(c);
	if (c->route->max_body)
		x->max_body = c->route->max_body;
	else if (!c->route->op->body && !c->route->op->takes)
		x->max_body = SMALL_BODY;
	if (permission_scope(c->route->permission) == SCOPE_OPEN) {
		if (!c->route->max_body && x->max_body > SMALL_BODY)
			x->max_body = SMALL_BODY;
		return HTTP_GO_ON;
	}
	if (!is_large_body(&x->request))
		return HTTP_GO_ON;
	if (!x->request.chunked && x->request.content_length > x->max_body) {
		problem_set(&c->problem, c->arena, ERR_TOO_LARGE, "%s", call_too_large(x));
		call_write_problem(c, &c->problem);
		return HTTP_REPLIED;
	}
	return check_now(c);
}
