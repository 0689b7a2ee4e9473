/* aside.c - requests with large bodies are taken in off the loops.
 *
 * To read a body is work that grows with it: 27 MiB of small parts take 0.3 s,
 * for which every other connection of the loop would wait.  So one of more
 * than ASIDE bytes is read, hashed, charged and looked up on the threads that
 * read much, where those who wait stand in lanes and the lanes take turns.
 * This is decided for every route in one place, by the length alone.
 *
 * Whose lane it is, is known: a body of that length was only taken from a
 * caller whom the store knows (head.c), or where nobody is asked who they are;
 * those stand in the lane of their address.
 *
 * A call whose body is short may find out only by looking that it has much to
 * read; it steps aside then, and is taken in once more, which its short body
 * makes cheap. */
#include "call/loop_store.h"
#include "call/steps.h"
#include "store/pool.h"

/* What is below costs a loop less than 1 ms in its worst shape, and is most of what comes; see docs/limits.md. */
enum { ASIDE = 64 * 1024 };

bool call_is_large(const struct call *c)
{
	return c->x->request.body_len > ASIDE && c->app->reading && !c->op->storeless;
}

static struct call *aside_call_of(struct work *w)
{
	return (struct call *)((char *)w - offsetof(struct call, work));
}

static int turn_comes(struct work *w, struct db *none)
{
	(void)none;
	return http_left(aside_call_of(w)->x) ? ERR_STOPPING : 0; /* nobody would read the answer */
}

static void resume_call(struct work *w, int err)
{
	struct call *c = aside_call_of(w);
	enum http_verdict verdict = HTTP_REPLIED;

	if (err)
		call_conclude(c, err);
	else
		verdict = call_enter(c);
	if (verdict == HTTP_REPLIED)
		http_finish(c->x);
}

/* An id, or a network: both are short enough to name a lane. */
static const char *aside_lane_of(const struct call *c, char network[INET6_ADDRSTRLEN])
{
	if (c->caller.tenant_id)
		return c->caller.tenant_id;
	if (c->caller.user_id)
		return c->caller.user_id;
	http_network(c->ip, network);
	return network;
}

enum http_verdict call_aside(struct call *c)
{
	char network[INET6_ADDRSTRLEN];
	int err;

	c->aside = true;
	c->work = (struct work){ .run = turn_comes, .done = resume_call };
	err = pool_submit(c->app->reading, aside_lane_of(c, network), &c->work);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

bool call_step_aside(struct call *c)
{
	if (c->aside || !c->app->reading || !loop_store_reads(c->x->loop))
		return false;
	c->deferred = call_aside;
	return true;
}
