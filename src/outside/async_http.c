/* async_http.c - see async_http.h.  libcurl's multi interface on epoll.
 *
 * Other threads leave orders (start, cancel, resume) in a list and ring a
 * bell; everything else happens on the one thread, so that the state of a
 * transfer needs no lock.  Handles are kept and used again (async_http_easy.c),
 * and libcurl keeps the connections.  The thread is its own, or that
 * of a loop whose guest it is: then it adds its descriptors to the loop's. */
#include "outside/async_http.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread.h"
#include "outside/async_http_parts.h"

enum { EVENTS_A_TURN = 64, LOOK_EVERY_MS = 250, CONNECTIONS_KEPT = 1024 };
enum { ORDER_START = 1, ORDER_CANCEL = 2, ORDER_RESUME = 4 };

static int on_timer(CURLM *multi, long ms, void *ctx)
{
	struct async_http *tr = ctx;

	(void)multi;
	tr->timer_ms = ms < 0 ? -1 : clock_mono_ms() + ms;
	return 0;
}

/* ---- from its beginning to its end ---- */

static void link_transfer(struct async_http *tr, struct transfer *t)
{
	t->prev = NULL;
	t->next = tr->first;
	if (t->next)
		t->next->prev = t;
	tr->first = t;
}

static void unlink_transfer(struct async_http *tr, struct transfer *t)
{
	if (t->prev)
		t->prev->next = t->next;
	else
		tr->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
}

/* Takes an order that has not been carried out off the list, and lets no other be left: its transfer is about to go. */
static void forget_orders(struct async_http *tr, struct transfer *t)
{
	pthread_mutex_lock(&tr->lock);
	for (struct transfer **p = &tr->orders; t->ordered && *p; p = &(*p)->order) {
		if (*p != t)
			continue;
		*p = t->order;
		t->ordered = false;
		if (!*p)
			tr->orders_last = p;
		break;
	}
	INVARIANT(tr->open > 0 && !t->ordered && !t->over);
	t->over = true;
	tr->open--;
	pthread_mutex_unlock(&tr->lock);
}

static void conclude_transfer(
	struct async_http *tr, struct transfer *t, enum transfer_end end, const char *why)
{
	struct easy *e = t->easy;
	long made = 0;

	if (e) {
		curl_multi_remove_handle(tr->multi, e->curl);
		curl_easy_getinfo(e->curl, CURLINFO_NUM_CONNECTS, &made);
		atomic_fetch_add_explicit(&tr->connections, (uint64_t)made, memory_order_relaxed);
		unlink_transfer(tr, t);
		t->easy = NULL;
		easy_put(tr, e);
	}
	forget_orders(tr, t);
	atomic_fetch_add_explicit(&tr->ended, 1, memory_order_relaxed);
	t->done(t, end, why);
}

static void begin_transfer(struct async_http *tr, struct transfer *t)
{
	enum transfer_end end;
	const char *why;
	struct easy *e = easy_take(tr, t, &end, &why);

	atomic_fetch_add_explicit(&tr->begun, 1, memory_order_relaxed);
	if (!e) {
		conclude_transfer(tr, t, end, why);
		return;
	}
	t->easy = e;
	t->began_ms = t->heard_ms = clock_mono_ms();
	if (!tr->first)
		tr->look_ms = t->began_ms + LOOK_EVERY_MS;
	link_transfer(tr, t);
	curl_multi_add_handle(tr->multi, e->curl);
}

static void collect_transfers(struct async_http *tr)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(tr->multi, &left))) {
		CURLcode code = m->data.result;
		struct easy *e = NULL;
		struct transfer *t;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&e);
		t = e->t;
		if (code == CURLE_OK && !easy_tell_head(t))
			t->stopped = true;
		if (code)
			why_tell(e->curl, code, e->why);
		conclude_transfer(
			tr, t, easy_end(t, code), t->refused ? WHY_RESOLVES_TO_PRIVATE : e->why);
	}
}

static void look_at_deadlines(struct async_http *tr, int64_t now)
{
	struct transfer *next;

	tr->look_ms = now + LOOK_EVERY_MS;
	for (struct transfer *t = tr->first; t; t = next) {
		next = t->next;
		if (now - t->began_ms > t->total_ms)
			conclude_transfer(tr, t, TRANSFER_LATE, "it was not complete in time");
		else if (!t->held && now - t->heard_ms > t->silence_ms)
			conclude_transfer(tr, t, TRANSFER_SILENT, "nothing came for too long");
	}
}

/* ---- orders ---- */

static struct transfer *next_order(struct async_http *tr, unsigned *ret_what, bool *ret_stopping)
{
	struct transfer *t;

	pthread_mutex_lock(&tr->lock);
	t = tr->orders;
	if (t) {
		tr->orders = t->order;
		if (!tr->orders)
			tr->orders_last = &tr->orders;
		t->ordered = false;
		*ret_what = atomic_exchange(&t->orders, 0);
	}
	*ret_stopping = tr->stopping;
	pthread_mutex_unlock(&tr->lock);
	return t;
}

static void resume_transfer(struct transfer *t)
{
	struct easy *e = t->easy;

	if (!e || !t->held)
		return;
	t->held = false;
	t->heard_ms = clock_mono_ms();
	curl_easy_pause(e->curl, CURLPAUSE_CONT);
}

/* Carries out what was ordered; false when the client ends. */
static bool run_orders(struct async_http *tr)
{
	struct transfer *t;
	unsigned what = 0;
	bool stopping;

	while ((t = next_order(tr, &what, &stopping))) {
		if (stopping || what & ORDER_CANCEL) {
			conclude_transfer(tr, t, TRANSFER_CANCELLED, "it was cancelled");
			continue;
		}
		if (what & ORDER_START)
			begin_transfer(tr, t);
		if (what & ORDER_RESUME)
			resume_transfer(t);
	}
	while (stopping && tr->first)
		conclude_transfer(tr, tr->first, TRANSFER_CANCELLED, "the service is stopping");
	return !stopping;
}

static void on_bell(struct http_source *s, uint32_t events)
{
	struct async_http *tr =
		(struct async_http *)((char *)s - offsetof(struct async_http, bell_rings));
	uint64_t rings;

	(void)events;
	if (read(tr->bell, &rings, sizeof rings) > 0)
		tr->told = true;
}

static void ring_bell(struct async_http *tr)
{
	uint64_t one = 1;

	if (write(tr->bell, &one, sizeof one) < 0)
		abort(); /* a counter of an eventfd cannot fill up by ones */
}

/* Under the lock.  The bell is rung for the first of several, and not for the thread itself. */
static void leave_order(struct async_http *tr, struct transfer *t, unsigned what)
{
	bool first = !tr->orders;

	atomic_fetch_or(&t->orders, what);
	if (t->ordered)
		return;
	t->ordered = true;
	t->order = NULL;
	*tr->orders_last = t;
	tr->orders_last = &t->order;
	if (pthread_equal(tr->owner, pthread_self())) {
		tr->told = true;
		tr->guest.due_ms = 0;
	} else if (first) {
		ring_bell(tr);
	}
}

int async_http_submit(struct async_http *tr, struct transfer *t)
{
	int err;

	t->easy = NULL;
	t->headed = t->stopped = t->refused = t->held = t->ordered = t->over = false;
	t->orders = 0;
	pthread_mutex_lock(&tr->lock);
	err = tr->stopping ? ERR_STOPPING : tr->open >= tr->most ? ERR_BUSY : 0;
	if (!err) {
		tr->open++;
		leave_order(tr, t, ORDER_START);
	}
	pthread_mutex_unlock(&tr->lock);
	return err;
}

/* One that is over, and whose owner is about to hear of it, has no more orders. */
static void order_transfer(struct async_http *tr, struct transfer *t, unsigned what)
{
	pthread_mutex_lock(&tr->lock);
	if (!t->over)
		leave_order(tr, t, what);
	pthread_mutex_unlock(&tr->lock);
}

void async_http_cancel(struct async_http *tr, struct transfer *t)
{
	order_transfer(tr, t, ORDER_CANCEL);
}

void async_http_hold(struct transfer *t)
{
	t->held = true;
}

void async_http_resume(struct async_http *tr, struct transfer *t)
{
	order_transfer(tr, t, ORDER_RESUME);
}

/* ---- turns ---- */

/* What there is to do now, after the events; false when the client ends. */
static bool async_http_turn(struct async_http *tr)
{
	int64_t now = tr->first || tr->told || tr->timer_ms >= 0 ? clock_mono_ms() : 0;
	int running;

	if (tr->told) {
		tr->told = false;
		tr->moved = true;
		if (!run_orders(tr))
			return false;
	}
	if (tr->timer_ms >= 0 && now >= tr->timer_ms) {
		tr->timer_ms = -1;
		tr->moved = true;
		curl_multi_socket_action(tr->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	if (tr->moved) {
		tr->moved = false;
		collect_transfers(tr);
	}
	if (tr->first && now >= tr->look_ms)
		look_at_deadlines(tr, now);
	return true;
}

/* When the next turn must come; NIL: when something happens. */
static int64_t due_ms(const struct async_http *tr)
{
	int64_t due = tr->told ? 0 : tr->first ? tr->look_ms : NIL;

	return tr->timer_ms >= 0 && (due == NIL || tr->timer_ms < due) ? tr->timer_ms : due;
}

static void on_turn(struct http_guest *g)
{
	struct async_http *tr = (struct async_http *)g;

	async_http_turn(tr);
	g->due_ms = due_ms(tr);
}

static void *async_http_main(void *arg)
{
	struct async_http *tr = arg;
	struct epoll_event events[EVENTS_A_TURN];

	do {
		int64_t due = due_ms(tr), now = due == NIL ? 0 : clock_mono_ms();
		int wait = due == NIL ? -1 : due <= now ? 0 : (int)(due - now);
		int n = epoll_wait(tr->epoll, events, EVENTS_A_TURN, wait);

		for (int i = 0; i < n; i++) {
			struct http_source *s = events[i].data.ptr;

			s->event(s, events[i].events);
		}
	} while (async_http_turn(tr));
	return NULL;
}

/* ---- life ---- */

struct async_http_stats async_http_stats(const struct async_http *tr)
{
	return (struct async_http_stats){ .begun = tr->begun,
		.ended = tr->ended,
		.connections = tr->connections,
		.open = (size_t)(tr->begun - tr->ended) };
}

static bool hear_bell(struct async_http *tr)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = &tr->bell_rings };

	return tr->epoll >= 0 && !epoll_ctl(tr->epoll, EPOLL_CTL_ADD, tr->bell, &e);
}

/* Under the lock, so that whoever leaves an order sees one owner or the other. */
static bool start_thread(struct async_http *tr)
{
	bool started;

	tr->epoll = epoll_create1(EPOLL_CLOEXEC);
	started = hear_bell(tr) && !thread_start(&tr->owner, async_http_main, tr);
	tr->alone = started;
	return started;
}

static void release_traffic(struct async_http *tr)
{
	while (tr->spares)
		easy_free(tr->spare[--tr->spares]);
	curl_multi_cleanup(tr->multi);
	for (size_t i = 0; i < tr->watch_room; i++)
		free(tr->watches[i]);
	free(tr->watches);
	if (tr->alone && tr->epoll >= 0)
		close(tr->epoll);
	if (tr->bell >= 0)
		close(tr->bell);
	pthread_mutex_destroy(&tr->lock);
	free(tr);
}

static struct async_http *make_traffic(size_t most)
{
	struct async_http *tr = calloc(1, sizeof *tr);

	if (!tr)
		return NULL;
	tr->guest = (struct http_guest){ on_turn, NIL };
	tr->bell_rings.event = on_bell;
	tr->most = most;
	tr->timer_ms = -1;
	tr->epoll = -1;
	tr->orders_last = &tr->orders;
	pthread_mutex_init(&tr->lock, NULL);
	tr->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	tr->multi = curl_multi_init();
	if (!tr->multi)
		abort();
	curl_multi_setopt(tr->multi, CURLMOPT_SOCKETFUNCTION, watch_on_socket);
	curl_multi_setopt(tr->multi, CURLMOPT_SOCKETDATA, tr);
	curl_multi_setopt(tr->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(tr->multi, CURLMOPT_TIMERDATA, tr);
	curl_multi_setopt(tr->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
	return tr;
}

struct async_http *async_http_new(size_t most)
{
	struct async_http *tr = make_traffic(most);
	bool started;

	if (!tr)
		return NULL;
	pthread_mutex_lock(&tr->lock);
	started = start_thread(tr);
	pthread_mutex_unlock(&tr->lock);
	if (started)
		return tr;
	release_traffic(tr);
	return NULL;
}

struct async_http *async_http_new_on(struct http_loop *loop, size_t most)
{
	struct async_http *tr = http_loop_epoll(loop) < 0 ? NULL : make_traffic(most);

	if (!tr)
		return NULL;
	tr->loop = loop;
	tr->owner = pthread_self();
	tr->epoll = http_loop_epoll(loop);
	if (!hear_bell(tr)) {
		release_traffic(tr);
		return NULL;
	}
	http_loop_invite(loop, &tr->guest);
	return tr;
}

void async_http_leave(struct async_http *tr)
{
	http_loop_invite(tr->loop, NULL);
	tr->loop = NULL;
	for (size_t i = 0; i < tr->watch_room; i++)
		if (tr->watches[i])
			watch_drop(tr->watches[i]);
	epoll_ctl(tr->epoll, EPOLL_CTL_DEL, tr->bell, NULL);
	pthread_mutex_lock(&tr->lock);
	tr->told = true; /* what was ordered meanwhile */
	if (!start_thread(tr)) {
		tr->stopping = true;
		log_line(LOG_ERROR, "no thread for the calls of a loop that ends", NULL);
	}
	pthread_mutex_unlock(&tr->lock);
}

void async_http_free(struct async_http *tr)
{
	if (!tr)
		return;
	pthread_mutex_lock(&tr->lock);
	tr->stopping = true;
	pthread_mutex_unlock(&tr->lock);
	if (tr->alone) {
		ring_bell(tr);
		pthread_join(tr->owner, NULL);
	} else {
		run_orders(tr); /* there is nobody else any more */
	}
	release_traffic(tr);
}
