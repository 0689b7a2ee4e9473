/* loop.c - the turns of one thread: events, mail, second helpings, deadlines, burials.
 *
 * The clock is read once a turn.  Deadlines cost the same however many
 * connections there are: each class is a list in order of time.  A connection
 * closed during a turn is freed at its end, so an event that still names it
 * does no harm. */
#include "http/conn.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EVENTS = 256, LEAST_PAGE = 16 * 1024, LINGER_MS = 1000, PROMPT_MS = 2000 };

void http_loop_set(struct http_loop *loop, void *data)
{
	loop->data = data;
}

void *http_loop_get(const struct http_loop *loop)
{
	return loop->data;
}

int http_loop_index(const struct http_loop *loop)
{
	return loop->index;
}

void http_loop_invite(struct http_loop *loop, struct http_guest *guest)
{
	loop->guest = guest;
}

int http_loop_epoll(const struct http_loop *loop)
{
	return loop->epoll;
}

bool http_loop_is_elsewhere(struct http_loop *l)
{
	return atomic_load_explicit(&l->alive, memory_order_acquire) &&
	       !pthread_equal(l->self, pthread_self());
}

void http_loop_tick(struct http_loop *l)
{
	int64_t wall = clock_now_us();

	l->now_us = clock_mono_us();
	l->now_ms = l->now_us / 1000;
	if (wall / SECOND_US != l->date_s) {
		l->date_s = wall / SECOND_US;
		time_write_http(wall, l->date);
	}
}

/* Deadlines */

void http_loop_disarm(struct http_conn *c)
{
	struct http_list *list = &c->loop->deadlines[c->deadline];

	INVARIANT(c->armed && list->first && list->last);
	if (c->prev)
		c->prev->next = c->next;
	else
		list->first = c->next;
	if (c->next)
		c->next->prev = c->prev;
	else
		list->last = c->prev;
	c->prev = c->next = NULL;
	c->armed = false;
}

void http_loop_arm(struct http_conn *c, enum http_deadline class)
{
	struct http_list *list = &c->loop->deadlines[class];

	INVARIANT(!c->closed && !list->first == !list->last);
	if (c->armed)
		http_loop_disarm(c);
	c->deadline = (uint8_t) class;
	c->due = c->loop->now_ms + list->ms;
	c->armed = true;
	c->prev = list->last;
	if (list->last)
		list->last->next = c;
	else
		list->first = c;
	list->last = c;
}

void http_loop_expire(struct http_loop *l)
{
	for (int i = 0; i < DEADLINE_COUNT; i++) {
		struct http_conn *c;

		/* Whatever expires leaves its list, or goes to the end of another. */
		while ((c = l->deadlines[i].first) && c->due <= l->now_ms)
			http_conn_expire(c);
	}
}

static int64_t sooner_deadline(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int http_loop_timeout(const struct http_loop *l)
{
	int64_t due = INT64_MAX;

	if (l->ready || l->mail_here)
		return 0;
	if (l->guest && l->guest->due_ms != NIL)
		due = l->guest->due_ms;
	for (int i = 0; i < DEADLINE_COUNT; i++)
		if (l->deadlines[i].first)
			due = sooner_deadline(due, l->deadlines[i].first->due);
	if (l->draining)
		due = sooner_deadline(due, l->drain_due);
	if (l->accept_due)
		due = sooner_deadline(due, l->accept_due);
	if (due == INT64_MAX)
		return -1;
	return due <= l->now_ms ? 0 : (int)sooner_deadline(due - l->now_ms, 1000 * 1000);
}

/* Mail */

void http_loop_post(struct http_loop *l, struct http_mail *m)
{
	static const uint64_t one = 1;

	/* Woken under the lock: whoever has seen the mail may free the loop once it holds the lock. */
	pthread_mutex_lock(&l->mail_lock);
	m->next = NULL;
	if (l->alive && pthread_equal(l->self, pthread_self())) {
		l->mail_here = true; /* it is awake */
	} else if (!l->woken) {
		l->woken = true;
		if (write(l->wake, &one, sizeof one) < 0)
			log_line(LOG_ERROR, "cannot wake a loop", NULL);
	}
	*l->mail_last = m;
	l->mail_last = &m->next;
	pthread_mutex_unlock(&l->mail_lock);
}

void http_finish(struct http_exchange *x)
{
	http_loop_post(x->loop, &((struct http_box *)x)->mail);
}

void http_piece_done(struct http_exchange *x, bool goes_on)
{
	http_finish_head(x, goes_on);
}

void http_finish_head(struct http_exchange *x, bool go_on)
{
	((struct http_box *)x)->goes_on = go_on;
	http_finish(x);
}

/* `rung`: wake is known to have been written to, by whomever. */
static struct http_mail *take_mail(struct http_loop *l, bool rung)
{
	struct http_mail *m;
	uint64_t times;

	pthread_mutex_lock(&l->mail_lock);
	m = l->mail;
	l->mail = NULL;
	l->mail_last = &l->mail;
	l->mail_here = false;
	if ((rung || l->woken) && read(l->wake, &times, sizeof times) < 0)
		times = 0; /* nothing had come */
	l->woken = false;
	pthread_mutex_unlock(&l->mail_lock);
	return m;
}

static void open_mail(struct http_loop *l, struct http_mail *m)
{
	while (m) {
		struct http_mail *next = m->next;

		m->open(l, m);
		m = next;
	}
}

void http_loop_mail(struct http_loop *l)
{
	open_mail(l, take_mail(l, false));
}

static void on_mail(struct http_source *s, uint32_t events)
{
	struct http_loop *l = (struct http_loop *)s;

	(void)events;
	open_mail(l, take_mail(l, true));
}

/* Second helpings and burials */

void http_loop_ready(struct http_conn *c)
{
	if (c->ready)
		return;
	c->ready = true;
	c->queue = NULL;
	*c->loop->ready_last = c;
	c->loop->ready_last = &c->queue;
}

void http_loop_run_ready(struct http_loop *l)
{
	struct http_conn *c = l->ready;

	l->ready = NULL;
	l->ready_last = &l->ready;
	while (c) {
		struct http_conn *next = c->queue;

		c->ready = false;
		if (c->closed)
			free(c);
		else
			http_conn_run(c);
		c = next;
	}
}

void http_loop_reap(struct http_loop *l)
{
	while (l->dead) {
		struct http_conn *c = l->dead;

		l->dead = c->queue;
		free(c);
	}
}

/* Life */

bool http_loop_init(struct http_loop *l, int index, const struct http_limits *limits,
	const struct http_handler *handler)
{
	*l = (struct http_loop){
		.source = { on_mail },
		.index = index,
		.epoll = -1,
		.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
		.handler = handler,
		.limits = *limits,
		.page_size = limits->max_head > LEAST_PAGE ? limits->max_head : LEAST_PAGE,
	};
	l->deadlines[DEADLINE_HEADER].ms = limits->header_ms;
	l->deadlines[DEADLINE_BODY].ms = limits->body_ms;
	l->deadlines[DEADLINE_IDLE].ms = limits->idle_ms;
	l->deadlines[DEADLINE_REPLY].ms = limits->reply_ms;
	l->deadlines[DEADLINE_DEFERRED].ms = limits->deferred_ms;
	l->deadlines[DEADLINE_PATIENT].ms = limits->patient_ms;
	l->deadlines[DEADLINE_PROMPT].ms = PROMPT_MS;
	l->deadlines[DEADLINE_LINGER].ms = LINGER_MS;
	l->ready_last = &l->ready;
	l->mail_last = &l->mail;
	pthread_mutex_init(&l->mail_lock, NULL);
	sem_init(&l->ready_to_serve, 0, 0);
	http_loop_tick(l);
	return l->wake >= 0;
}

bool http_loop_fini(struct http_loop *l)
{
	struct http_mail *m = take_mail(l, false);

	while (m) {
		struct http_mail *next = m->next;

		m->discard(l, m);
		m = next;
	}
	http_pools_free(l);
	if (l->kept)
		return false;
	if (l->epoll >= 0)
		close(l->epoll);
	if (l->wake >= 0)
		close(l->wake);
	pthread_mutex_destroy(&l->mail_lock);
	sem_destroy(&l->ready_to_serve);
	return true;
}

/* Says goodbye to those who are owed nothing; the others go with their reply. */
static void begin_drain(struct http_loop *l)
{
	l->draining = true;
	l->drain_due = l->now_ms + l->grace_ms;
	http_listeners_close(l);
	for (int i = 0; i < DEADLINE_COUNT; i++) {
		struct http_conn *c = l->deadlines[i].first, *next;

		for (; c; c = next) {
			next = c->next;
			if (http_conn_is_idle(c) && !http_conn_wakes(c))
				http_conn_close(c);
		}
	}
}

static void close_all(struct http_loop *l)
{
	http_loop_mail(l);
	for (int i = 0; i < DEADLINE_COUNT; i++)
		while (l->deadlines[i].first)
			http_conn_close(l->deadlines[i].first);
	http_loop_run_ready(l);
	http_loop_reap(l);
}

static bool loop_is_over(const struct http_loop *l)
{
	return l->draining && ((!l->open && !l->kept) || l->now_ms >= l->drain_due);
}

void *http_loop_main(void *loop)
{
	struct http_loop *l = loop;
	struct epoll_event events[EVENTS];

	l->self = pthread_self();
	l->alive = true;
	if (l->handler->loop_begin)
		l->handler->loop_begin(l->handler->ctx, l);
	sem_post(&l->ready_to_serve);
	while (!loop_is_over(l)) {
		int n = epoll_wait(l->epoll, events, EVENTS, http_loop_timeout(l));

		http_loop_tick(l);
		for (int i = 0; i < n; i++) {
			struct http_source *s = events[i].data.ptr;

			s->event(s, events[i].events);
		}
		if (l->guest)
			l->guest->turn(l->guest);
		if (l->mail_here)
			http_loop_mail(l);
		if (l->ready)
			http_loop_run_ready(l);
		http_loop_expire(l);
		if (l->accept_due && l->now_ms >= l->accept_due)
			http_listeners_resume(l);
		if (!l->draining && atomic_load_explicit(&l->stop, memory_order_acquire))
			begin_drain(l);
		http_loop_reap(l);
		if (l->handler->rest)
			l->handler->rest(l->handler->ctx, l);
	}
	close_all(l);
	pthread_mutex_lock(&l->mail_lock);
	l->alive = false;
	pthread_mutex_unlock(&l->mail_lock);
	if (l->handler->loop_end)
		l->handler->loop_end(l->handler->ctx, l);
	return NULL;
}
