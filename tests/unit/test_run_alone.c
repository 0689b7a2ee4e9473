/* test_run_alone.c - a run without HTTP, as sessions use it: events into a sink, one end, and another run that
 * goes on after the model that broke off. */
#include <pthread.h>
#include <semaphore.h>

#include "base/clock.h"
#include "api/service.h"
#include "broker/collect.h"
#include "broker/completion.h"
#include "call/call.h"
#include "run_alone.h"
#include "t.h"

struct owner {
	struct arena arena;
	struct chat chat;
	struct candidates candidates;
	struct collected heard;
	int starts, ends;
	bool failed, cancelled, refused;
	size_t index;
	sem_t over;
	pthread_mutex_t lock; /* over the next: a run that is over must not be touched */
	struct completion *run;
};

static void on_event(void *data, const struct event *e)
{
	struct owner *o = data;

	o->starts += e->kind == EVENT_START;
	collect_take(&o->heard, e);
}

static void on_over(void *data, const struct completion_end *end)
{
	struct owner *o = data;

	pthread_mutex_lock(&o->lock);
	o->run = NULL;
	pthread_mutex_unlock(&o->lock);
	o->ends++;
	o->failed = end->fault != NULL;
	o->cancelled = end->cancelled;
	o->refused = end->problem != NULL;
	o->index = end->index;
	sem_post(&o->over);
}

static int make_plan(struct alone *a, struct owner *o)
{
	struct app *app = alone_app(a);
	struct candidates_asked asked = { .tenant_id = alone_tenant(a),
		.agent_id = alone_agent(a),
		.chat = &o->chat,
		.vault = app->vault,
		.now = clock_now_us() };
	struct problem p = { 0 };
	struct db *db;
	int err = store_connect(app->store, &db, &o->arena, &p);

	if (!err)
		err = candidates_find(db, &o->arena, &asked, &o->candidates, &p);
	db_close(db);
	return err;
}

static void owner_open(struct alone *a, struct owner *o)
{
	*o = (struct owner){ 0 };
	chat_open(&o->chat, &o->arena);
	chat_message_add(&o->chat, CHAT_USER, "hi");
	o->chat.stream = true;
	collect_open(&o->heard);
	sem_init(&o->over, 0, 0);
	pthread_mutex_init(&o->lock, NULL);
	CHECK_INT(make_plan(a, o), 0);
}

static void owner_close(struct owner *o)
{
	CHECK_INT(o->ends, 1);
	CHECK_INT(o->starts <= 1, 1);
	collect_close(&o->heard);
	sem_destroy(&o->over);
	pthread_mutex_destroy(&o->lock);
	arena_free(&o->arena);
}

static void start(struct alone *a, struct owner *o, size_t first)
{
	struct completion_asked asked = { .tenant_id = alone_tenant(a),
		.agent_id = alone_agent(a),
		.candidates = &o->candidates,
		.chat = &o->chat,
		.first = first,
		.sink = { on_event, o },
		.over = on_over,
		.data = o };

	CHECK_INT(completion_start(service_of(alone_app(a))->broker, &asked, &o->run), 0);
}

/* Cancels the run, if it is not over by now. */
static void cancel(struct owner *o)
{
	pthread_mutex_lock(&o->lock);
	if (o->run)
		completion_cancel(o->run);
	pthread_mutex_unlock(&o->lock);
}

static bool heard(const struct owner *o, const char *text)
{
	return o->heard.text.len == strlen(text) &&
	       (!o->heard.text.len || memcmp(o->heard.text.at, text, o->heard.text.len) == 0);
}

TEST(run_alone_starts_again_on_the_next_model)
{
	struct alone *a = alone_open((const char *const[]){ "500", "cut-2", "ok", NULL });
	struct owner one, two;

	owner_open(a, &one);
	start(a, &one, 0);
	sem_wait(&one.over);
	CHECK(one.failed && heard(&one, "one two"));
	CHECK_INT(one.index, 1);

	owner_open(a, &two);
	start(a, &two, one.index + 1);
	sem_wait(&two.over);
	CHECK(!two.failed && two.heard.finished && heard(&two, "one two three four five"));
	CHECK_INT(alone_count(a, "select count(*) from ledger where outcome = 'failed'"), 1);
	CHECK_INT(alone_count(a, "select count(*) from ledger where outcome = 'ok'"), 1);
	owner_close(&one);
	owner_close(&two);
	alone_close(a);
}

TEST(run_alone_is_cancelled_at_any_moment)
{
	static const char *const scripts[] = { "stall-0", "stall-2", "slow-50", "ok", "500", NULL };

	for (int i = 0; scripts[i]; i++)
		for (int pause_us = 0; pause_us <= 100000; pause_us += 50000) {
			struct alone *a =
				alone_open((const char *const[]){ scripts[i], "stall-1", NULL });
			struct owner o;
			struct timespec t = { .tv_nsec = pause_us * 1000L };

			test_step("%s, after %d us", scripts[i], pause_us);
			owner_open(a, &o);
			start(a, &o, 0);
			nanosleep(&t, NULL);
			cancel(&o);
			sem_wait(&o.over);
			CHECK(o.cancelled || o.heard.finished || o.failed);
			CHECK_INT(alone_count(a, "select count(*) from reservations"), 0);
			owner_close(&o);
			alone_close(a);
		}
}

TEST(run_alone_accounting_off_enters_nothing)
{
	struct alone *a = alone_open((const char *const[]){ "500", "ok", NULL });
	struct app *app = alone_app(a);
	struct broker_settings in = *broker_settings(service_of(app)->broker);
	struct owner o;

	broker_stop(service_of(app)->broker, 0);
	broker_free(service_of(app)->broker);
	in.accounting = false;
	service_of(app)->broker = broker_new(&in);
	owner_open(a, &o);
	start(a, &o, 0);
	sem_wait(&o.over);
	CHECK(o.heard.finished);
	CHECK_INT(broker_stats(service_of(app)->broker).failovers, 1);
	CHECK_INT(alone_count(a, "select count(*) from ledger"), 0);
	owner_close(&o);
	alone_close(a);
}
