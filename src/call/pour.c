/* pour.c - an answer that another program makes, sent while it does; see call_pour().
 *
 * Its maker has a thread to itself, of which there are few, and waits on it
 * while the peer is behind: so a slow reader costs a thread, one pipe and two
 * buffers, and no more than its tenant may have of those threads. */
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "call/maintenance.h"
#include "call/steps.h"
#include "store/pool.h"

enum { LOOK_MS = 250 };

struct call_pour {
	const char *type;
	int (*make)(struct call *c);
	int room; /* counts how often there was room again */
	bool begun;
};

static void close_pour(void *data)
{
	const struct call_pour *p = data;

	if (p->room >= 0)
		close(p->room);
}

/* On the loop's thread. */
static void pour_has_room(struct http_exchange *x)
{
	const struct call *c = x->data;
	const uint64_t one = 1;

	while (write(c->pour->room, &one, sizeof one) < 0)
		;
}

/* Whoever has shut the writing side alone is still answered: what is sent to one that has closed comes back soon enough. */
bool call_pour_wanted(struct call *c)
{
	return !atomic_load(&c->work.withdrawn) && !http_gone(c->x);
}

static bool wait_for_room(struct call *c)
{
	struct pollfd room = { .fd = c->pour->room, .events = POLLIN };
	uint64_t times;

	while (poll(&room, 1, LOOK_MS) <= 0)
		if (!call_pour_wanted(c))
			return false;
	return read(c->pour->room, &times, sizeof times) == sizeof times;
}

static bool begin_pour(struct call *c)
{
	struct http_reply *r = &c->x->reply;

	c->pour->begun = true;
	r->status = c->route->status;
	r->type = c->pour->type;
	buf_lit(&r->extra, "Cache-Control: no-cache\r\n");
	touch_credential(c->app, &c->caller, c->caller.last_used, c->now);
	return http_stream_begin(c->x, pour_has_room);
}

bool call_pour_bytes(struct call *c, const char *bytes, size_t n)
{
	if (!c->pour->begun && !begin_pour(c))
		return false;
	switch (http_stream_write(c->x, bytes, n)) {
	case HTTP_STREAM_OPEN:
		return true;
	case HTTP_STREAM_FULL:
		return wait_for_room(c);
	case HTTP_STREAM_GONE:
		break;
	}
	return false;
}

static struct call *pour_call_of(struct work *w)
{
	return (struct call *)((char *)w - offsetof(struct call, work));
}

static int run_pour(struct work *w, struct db *none)
{
	struct call *c = pour_call_of(w);

	(void)none;
	if (w->late)
		return ERR_BUSY;
	return call_pour_wanted(c) ? c->pour->make(c) : ERR_STOPPING;
}

static void pour_done(struct work *w, int err)
{
	struct call *c = pour_call_of(w);

	if (!err && !c->pour->begun) /* it had nothing to say */
		begin_pour(c);
	if (c->pour->begun) {
		http_stream_end(c->x, !err);
		return;
	}
	call_conclude(c, err);
	http_finish(c->x);
}

static enum http_verdict start_pour(struct call *c)
{
	int err;

	c->work = (struct work){ .run = run_pour, .done = pour_done };
	err = pool_submit(c->app->programs, c->caller.tenant_id, &c->work);
	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

int call_pour(struct call *c, const char *type, int (*make)(struct call *c))
{
	struct call_pour *p = arena_new(c->arena, struct call_pour);

	*p = (struct call_pour){ .type = type, .make = make, .room = eventfd(0, EFD_CLOEXEC) };
	arena_defer(c->arena, close_pour, p);
	if (p->room < 0)
		return call_fail(
			c, ERR_BUSY, "There are no descriptors left: try again in a moment.");
	c->pour = p;
	c->deferred = start_pour;
	return 0;
}
