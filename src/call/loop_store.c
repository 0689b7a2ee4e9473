/* loop_store.c - see loop_store.h. */
#include "call/loop_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "store/reads.h"

struct loop_store {
	struct http_source source; /* the reads' connection */
	struct http_loop *loop;
	pthread_t thread;
	struct db *db;
	struct reads *reads;
	struct reads_watch watched;
	/* Turns that must come though nothing happens. */
	struct loop_alarm {
		struct http_source source;
		int fd;
		bool set;
	} alarm;
};

/* Before a server that says nothing is given up; the alarm is set once in that time, and not for each read. */
enum { ALARM_S = 2 };

/* Has the loop wait for what the reads wait for. */
static void watch_reads(struct loop_store *s)
{
	struct reads_watch now = reads_watch(s->reads);
	struct epoll_event event = { .events = EPOLLIN | (now.write ? EPOLLOUT : 0),
		.data.ptr = &s->source };
	bool same = now.fd == s->watched.fd && now.connection == s->watched.connection;

	if (now.fd >= 0 && (!same || now.write != s->watched.write) &&
		epoll_ctl(http_loop_epoll(s->loop), same ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, now.fd,
			&event))
		log_line(LOG_ERROR, "a loop cannot wait for the store", NULL);
	/* One that broke was closed, and is waited for no more. */
	s->watched = now;
}

static void set_alarm(struct loop_store *s)
{
	struct itimerspec in = { .it_value = { .tv_sec = ALARM_S } };

	if (!s->alarm.set && reads_await(s->reads))
		s->alarm.set = timerfd_settime(s->alarm.fd, 0, &in, NULL) == 0;
}

static void on_alarm(struct http_source *source, uint32_t events)
{
	struct loop_alarm *a = (struct loop_alarm *)source;
	uint64_t times;

	(void)events;
	if (read(a->fd, &times, sizeof times) == sizeof times)
		a->set = false; /* the end of this turn is the reads' */
}

static void make_alarm(struct loop_store *s)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &s->alarm.source };

	s->alarm = (struct loop_alarm){ .source = { on_alarm },
		.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC) };
	if (s->alarm.fd < 0 ||
		epoll_ctl(http_loop_epoll(s->loop), EPOLL_CTL_ADD, s->alarm.fd, &event))
		log_line(LOG_ERROR, "a loop has no clock for the store", NULL);
}

static void on_answers(struct http_source *source, uint32_t events)
{
	struct loop_store *s = (struct loop_store *)source;

	(void)events;
	reads_turn(s->reads, true);
	watch_reads(s);
}

void loop_store_begin(struct app *app, struct http_loop *loop)
{
	struct loop_store *s = memory_zeroed(sizeof *s);
	struct arena scratch = { 0 };
	struct problem p = { 0 };

	s->source.event = on_answers;
	s->loop = loop;
	s->thread = pthread_self();
	s->watched.fd = -1;
	if (!store_is_sqlite(app->store)) /* which needs a loop that can wait for it */
		s->reads = http_loop_epoll(loop) < 0 ? NULL : reads_new(app->store);
	else if (store_connect(app->store, &s->db, &scratch, &p))
		log_error("the store cannot be read", LOG_S("error", p.detail));
	arena_free(&scratch);
	http_loop_set(loop, s);
	if (s->reads) {
		make_alarm(s);
		watch_reads(s);
	}
}

void loop_store_rest(struct http_loop *loop)
{
	struct loop_store *s = http_loop_get(loop);

	if (s && s->db)
		store_rest(s->db);
	if (s && s->reads) {
		reads_turn(s->reads, false);
		watch_reads(s);
		set_alarm(s);
	}
}

void loop_store_end(struct http_loop *loop)
{
	struct loop_store *s = http_loop_get(loop);

	if (!s)
		return;
	http_loop_set(loop, NULL);
	if (s->reads)
		close(s->alarm.fd);
	reads_free(s->reads);
	db_close(s->db);
	free(s);
}

bool loop_store_reads(const struct http_loop *loop)
{
	const struct loop_store *s = http_loop_get(loop);

	return s && (s->db || s->reads);
}

struct db *loop_store_db(const struct http_loop *loop)
{
	const struct loop_store *s = http_loop_get(loop);

	return s ? s->db : NULL;
}

int loop_store_submit(struct app *app, struct http_loop *loop, struct work *w)
{
	struct loop_store *s = http_loop_get(loop);

	if (s && s->reads && pthread_equal(s->thread, pthread_self()) && reads_take(s->reads, w))
		return 0;
	return store_submit(app->store, w);
}
