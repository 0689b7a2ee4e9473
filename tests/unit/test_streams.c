/* test_streams.c - a session's events over HTTP: in order, resumed, slow, revoked, stopped. */
#include "document.h"
#include "stream_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "call/held.h"

enum { LONG_MS = 15000 };

static void add_numbered(struct stream_fixture *s, const char *session_id, int from, int to)
{
	char data[64];

	for (int i = from; i <= to; i++) {
		snprintf(data, sizeof data, "{\"n\":%d}", i);
		stream_add(s, session_id, SESSION_EVENT_NOTICE, data);
	}
}

static void expect_numbered(struct reader *c, int from, int to)
{
	char want[64];

	for (int i = from; i <= to; i++) {
		test_step("event %d", i);
		if (!reader_next(c, LONG_MS)) {
			test_fail(__FILE__, __LINE__, "no event");
			return;
		}
		CHECK_INT((int)strtol(c->id, NULL, 10), i);
		CHECK_STR(c->event, "notice");
		snprintf(want, sizeof want, "{\"n\":%d}", i);
		CHECK_STR(c->data.at, want);
	}
}

TEST(streams_tell_what_was_and_what_comes)
{
	int64_t until = clock_mono_ms() + LONG_MS;
	struct stream_fixture s;
	struct answer r;
	const char *id;
	struct reader c;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	add_numbered(&s, id, 1, 3);
	reader_open(&c, &s, s.f->admin, NULL, "/sessions/%s/events?after=0", id);
	expect_numbered(&c, 1, 3);
	CHECK_INT(c.status, 200);
	add_numbered(&s, id, 4, 5);
	expect_numbered(&c, 4, 5);
	CHECK(!c.over);
	do /* they are counted after their sending */
		r = ask(s.f, s.f->admin, NULL, "GET /metrics");
	while (!strstr(r.body, "\nlodge_events_sent_total 5\n") && clock_mono_ms() < until);
	CHECK(strstr(r.body, "\nlodge_event_streams_open 1\n"));
	CHECK(strstr(r.body, "\nlodge_events_sent_total 5\n"));
	reader_close(&c);
	/* Resumed after what was seen last; the header outranks the query of the first request. */
	reader_open(&c, &s, s.f->admin, "4", "/tenant/%s/sessions/%s/events?after=1",
		s.f->tenant_id, id);
	expect_numbered(&c, 5, 5);
	reader_close(&c);
	/* Without either it begins with what happens next, as it does after a number not yet reached. */
	reader_open(&c, &s, s.f->admin, NULL, "/sessions/%s/events", id);
	while (!c.status)
		reader_next(&c, 50);
	add_numbered(&s, id, 6, 6);
	expect_numbered(&c, 6, 6);
	reader_close(&c);
	reader_open(&c, &s, s.f->admin, "99", "/sessions/%s/events", id);
	while (!c.status)
		reader_next(&c, 50);
	add_numbered(&s, id, 7, 7);
	expect_numbered(&c, 7, 7);
	reader_close(&c);
	stream_fixture_close(&s);
}

TEST(streams_end_after_what_was_if_asked)
{
	struct stream_fixture s;
	struct answer r;
	const char *id;

	document_unheld = true; /* it writes events of its own into the log */
	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events?after=0&wait=false", id);
	STATUS(r, 200);
	CHECK(!strstr(r.body, "data:"));
	add_numbered(&s, id, 1, 200); /* more than one page of the log */
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events?after=0&wait=false", id);
	STATUS(r, 200);
	CHECK_STR(header_of(s.f, &r, "content-type"), "text/event-stream");
	CHECK(strstr(r.body, "id: 1\nevent: notice\ndata: {\"n\":1}\n\n"));
	CHECK(strstr(r.body, "id: 200\nevent: notice\ndata: {\"n\":200}\n\n"));
	CHECK(!strstr(r.body, "go on with"));
	r = ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events?wait=false\nLast-Event-ID: x", id);
	STATUS(r, 422);
	CHECK(refuses(&r, "Last-Event-ID", "pattern"));
	r = ask(s.f, s.f->admin, NULL, "HEAD /sessions/%s/events", id);
	STATUS(r, 200);
	stream_fixture_close(&s);
	document_unheld = false;
}

/* ---- the law: what was received, one piece after the other, is the log ---- */

enum { SESSIONS = 16, WRITERS = 4, READERS = 20, EVENTS = 24 };

struct race {
	struct stream_fixture s;
	const char *ids[SESSIONS];
	_Atomic int wrong;
};

struct racer {
	struct race *race;
	int number;
	unsigned seed;
};

/* Each session gets EVENTS from every writer; sizes differ so that pages and rings are cut anyhow. */
static void *race_write(void *arg)
{
	struct racer *me = arg;
	char data[12000];

	for (int i = 0; i < EVENTS * SESSIONS; i++) {
		int pad = rand_r(&me->seed) % 20 == 0 ? 9000 : rand_r(&me->seed) % 60;

		snprintf(data, sizeof data, "{\"w\":%d,\"i\":%d,\"pad\":\"%0*d\"}", me->number, i,
			pad, 7);
		stream_add(&me->race->s, me->race->ids[i % SESSIONS], SESSION_EVENT_NOTICE, data);
	}
	return NULL;
}

static void *race_read(void *arg)
{
	struct racer *me = arg;
	const char *id = me->race->ids[me->number % SESSIONS];
	int want = EVENTS * WRITERS, seen = 0;
	int64_t due = clock_mono_ms() + 60000;
	char last[160] = "0";
	struct reader c;

	while (seen < want && clock_mono_ms() < due) {
		int stay = 1 + rand_r(&me->seed) % 150;

		reader_open(
			&c, &me->race->s, me->race->s.f->admin, last, "/sessions/%s/events", id);
		while (seen < want && stay-- > 0 && reader_next(&c, 20000)) {
			if ((int)strtol(c.id, NULL, 10) != ++seen)
				atomic_fetch_add(&me->race->wrong, 1);
		}
		if (seen < want && stay >= 0 && !c.over) /* there is more, and it does not come */
			atomic_fetch_add(&me->race->wrong, 1);
		strcpy(last, c.last_id);
		reader_close(&c);
	}
	if (seen != want)
		atomic_fetch_add(&me->race->wrong, 1);
	return NULL;
}

TEST(streams_lose_and_repeat_nothing)
{
	static struct race race;
	struct racer racers[WRITERS + READERS];
	pthread_t threads[WRITERS + READERS];

	memset(&race, 0, sizeof race);
	stream_fixture_open(&race.s, 0);
	for (int i = 0; i < SESSIONS; i++)
		race.ids[i] = stream_session(&race.s, NULL);
	for (int i = 0; i < WRITERS + READERS; i++) {
		racers[i] = (struct racer){ &race, i, (unsigned)i * 7919 + 1 };
		pthread_create(&threads[i], NULL, i < WRITERS ? race_write : race_read, &racers[i]);
	}
	for (int i = 0; i < WRITERS + READERS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(race.wrong, 0);
	stream_fixture_close(&race.s);
}

/* ---- those who are slow ---- */

TEST(streams_cut_off_who_takes_nothing_and_take_them_back)
{
	enum { BIG = 64 * 1024, COUNT = 200 };
	struct stream_fixture s;
	char *data = malloc(BIG + 64);
	const char *id;
	struct reader c;
	int seen = 0;

	stream_fixture_open(&s, 400);
	id = stream_session(&s, NULL);
	reader_open(&c, &s, s.f->admin, "0", "/sessions/%s/events", id);
	for (int i = 0; i < COUNT; i++) {
		snprintf(data, BIG + 64, "{\"pad\":\"%0*d\"}", BIG, i);
		stream_add(&s, id, SESSION_EVENT_NOTICE, data);
	}
	/* It reads nothing for longer than it may, until nobody listens any more: then it finds what had been sent, and no end. */
	for (int i = 0; i < 30000 && hub_stats(s.f->app.hub).watches; i++)
		usleep(1000);
	while (reader_next(&c, 3000))
		CHECK_INT((int)strtol(c.id, NULL, 10), ++seen);
	CHECK(c.over && !c.whole);
	CHECK(seen < COUNT);
	while (seen < COUNT) {
		char last[160];

		strcpy(last, c.last_id);
		reader_close(&c);
		reader_open(&c, &s, s.f->admin, last, "/sessions/%s/events", id);
		while (seen < COUNT && reader_next(&c, LONG_MS))
			CHECK_INT((int)strtol(c.id, NULL, 10), ++seen);
	}
	reader_close(&c);
	free(data);
	stream_fixture_close(&s);
}

/* Large events for many who do not read: no more of them than a tenant may hold, and those whose stream ends for it go
 * on where it ended. */
TEST(streams_hold_no_more_than_their_tenant_may)
{
	enum { BIG = 3 << 20, COUNT = 16, LIMIT = 16 << 20 };
	struct stream_fixture s;
	struct reader c[COUNT];
	char *data = malloc(BIG + 64);
	struct memory_account *house;
	const char *id;

	stream_fixture_open(&s, 0);
	s.f->app.settings.tenant_memory = LIMIT;
	house = held_house(s.f->app.held);
	id = stream_session(&s, NULL);
	snprintf(data, BIG + 64, "{\"pad\":\"%0*d\"}", BIG, 1);
	for (int i = 0; i < COUNT; i++)
		reader_open(&c[i], &s, s.f->admin, NULL, "/sessions/%s/events", id);
	for (int i = 0; i < COUNT; i++) /* greeted, so that it listens */
		CHECK(recv(c[i].fd, &(char){ 0 }, 1, MSG_PEEK) == 1);
	house->peak = house->held;
	stream_add(&s, id, SESSION_EVENT_NOTICE, data);
	for (int i = 0; i < LONG_MS && house->held < BIG; i++)
		usleep(1000);
	for (int i = 0; i < 1000 && house->held < LIMIT / 4 * 3; i++) /* time for it to go wrong */
		usleep(1000);
	CHECK(house->peak >= BIG);
	CHECK(house->peak < LIMIT + 5 * BIG);
	for (int i = 0; i < COUNT; i++)
		reader_close(&c[i]);
	for (int i = 0; i < LONG_MS && house->held > BIG; i++)
		usleep(1000);
	test_step("who comes again is told");
	reader_open(&c[0], &s, s.f->admin, "0", "/sessions/%s/events", id);
	CHECK(reader_next(&c[0], LONG_MS));
	CHECK_INT(c[0].data.len, strlen(data));
	reader_close(&c[0]);
	free(data);
	stream_fixture_close(&s);
}

/* Those who have read everything hold next to nothing, however large it was, and go on reading. */
TEST(streams_give_back_what_was_read)
{
	enum { BIG = 1 << 20, COUNT = 8 };
	int64_t until = clock_mono_ms() + LONG_MS;
	struct stream_fixture s;
	struct reader c[COUNT];
	char *data = malloc(BIG + 64);
	struct memory_account *house;
	const char *id;

	stream_fixture_open(&s, 0);
	house = held_house(s.f->app.held);
	id = stream_session(&s, NULL);
	snprintf(data, BIG + 64, "{\"pad\":\"%0*d\"}", BIG, 1);
	for (int i = 0; i < COUNT; i++)
		reader_open(&c[i], &s, s.f->admin, "0", "/sessions/%s/events", id);
	for (int i = 0; i < COUNT; i++) /* greeted, so that it listens */
		CHECK(recv(c[i].fd, &(char){ 0 }, 1, MSG_PEEK) == 1);
	house->peak = house->held;
	stream_add(&s, id, SESSION_EVENT_NOTICE, data);
	for (int i = 0; i < COUNT; i++) {
		CHECK(reader_next(&c[i], LONG_MS));
		CHECK_INT(c[i].data.len, strlen(data));
	}
	CHECK(house->peak > BIG);
	while (house->held > COUNT / 2 * BIG && clock_mono_ms() < until)
		usleep(1000);
	CHECK(house->held <=
		COUNT / 2 * BIG); /* the hub's own copy, and what loops have not told */
	stream_add(&s, id, SESSION_EVENT_NOTICE, "{\"n\":2}");
	for (int i = 0; i < COUNT; i++) {
		CHECK(reader_next(&c[i], LONG_MS));
		CHECK_STR(c[i].data.at, "{\"n\":2}");
		reader_close(&c[i]);
	}
	free(data);
	stream_fixture_close(&s);
}

TEST(streams_catch_up_who_is_behind)
{
	enum { BIG = 32 * 1024, COUNT = 150 };
	struct stream_fixture s;
	char *data = malloc(BIG + 64);
	const char *id;
	struct reader c;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	reader_open(&c, &s, s.f->admin, "0", "/sessions/%s/events", id);
	for (int i = 0; i < COUNT; i++) {
		snprintf(data, BIG + 64, "{\"pad\":\"%0*d\"}", BIG, i);
		stream_add(&s, id, SESSION_EVENT_NOTICE, data);
	}
	for (int i = 1; i <= COUNT; i++) {
		CHECK(reader_next(&c, LONG_MS));
		CHECK_INT((int)strtol(c.id, NULL, 10), i);
		if (i % 10 == 0)
			usleep(1000);
	}
	CHECK(!c.over);
	reader_close(&c);
	free(data);
	stream_fixture_close(&s);
}

/* ---- those who may no longer ---- */

static void revoked(void (*revoke)(struct stream_fixture *s, const char *user_id, const char *id))
{
	struct stream_fixture s;
	const char *token, *user, *id;
	struct reader c;

	stream_fixture_open(&s, 0);
	user = fixture_user(s.f, "mira@example.org", &token);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	id = stream_session(&s, user);
	reader_open(&c, &s, token, "0", "/sessions/%s/events", id);
	add_numbered(&s, id, 1, 1);
	expect_numbered(&c, 1, 1);
	hub_check_now(s.f->app.hub);
	CHECK(!reader_await_end(&c, 300)); /* allowed: it stays */
	revoke(&s, user, id);
	hub_check_now(s.f->app.hub);
	CHECK(reader_await_end(&c, LONG_MS));
	CHECK(c.whole);
	reader_close(&c);
	reader_open(&c, &s, token, "0", "/sessions/%s/events", id);
	while (!c.status)
		reader_next(&c, 50);
	CHECK(c.status == 403 || c.status == 404);
	reader_close(&c);
	stream_fixture_close(&s);
}

static void suspend(struct stream_fixture *s, const char *user_id, const char *id)
{
	(void)id;
	fixture_sql(s->f, "update users set is_suspended = 1 where id = $1", ARGS(T(user_id)));
}

static void leave(struct stream_fixture *s, const char *user_id, const char *id)
{
	(void)id;
	fixture_sql(s->f, "delete from session_people where user_id = $1", ARGS(T(user_id)));
}

static void delete (struct stream_fixture *s, const char *user_id, const char *id)
{
	(void)user_id;
	STATUS(ask(s->f, s->f->admin, NULL, "DELETE /sessions/%s", id), 204);
}

TEST(streams_end_for_whom_may_no_longer_listen)
{
	revoked(suspend);
	revoked(leave);
	revoked(delete);
}

TEST(streams_are_for_those_who_take_part)
{
	struct stream_fixture s;
	const char *token, *user, *mine, *other, *tenant;

	stream_fixture_open(&s, 0);
	user = fixture_user(s.f, "mira@example.org", &token);
	fixture_member(s.f, s.f->tenant_id, user, "MEMBER");
	mine = stream_session(&s, user);
	other = stream_session(&s, NULL);
	tenant = fixture_tenant(s.f, "elsewhere", user);
	STATUS(ask(s.f, token, NULL, "GET /sessions/%s/events?wait=false", mine), 200);
	STATUS(ask(s.f, token, NULL, "GET /sessions/%s/events?wait=false", other), 404);
	STATUS(ask(s.f, token, NULL, "GET /tenant/%s/sessions/%s/events?wait=false", tenant, mine),
		404);
	STATUS(ask(s.f, NULL, NULL, "GET /sessions/%s/events?wait=false", mine), 401);
	stream_fixture_close(&s);
}

TEST(streams_end_whole_when_the_service_stops)
{
	struct stream_fixture s;
	const char *id;
	struct reader c, me;
	int64_t began;

	stream_fixture_open(&s, 0);
	id = stream_session(&s, NULL);
	reader_open(&c, &s, s.f->admin, "0", "/sessions/%s/events", id);
	reader_open(&me, &s, s.f->admin, NULL, "/me/events");
	add_numbered(&s, id, 1, 1);
	expect_numbered(&c, 1, 1);
	while (!*me.last_id)
		reader_next(&me, 50);
	began = clock_mono_ms();
	hub_stop(s.f->app.hub);
	http_server_stop(s.server, 10000);
	CHECK(clock_mono_ms() - began < 5000); /* it waits for no stream */
	CHECK(reader_await_end(&c, LONG_MS) && c.whole);
	CHECK(memmem(c.text.at, c.text.len, "go on with Last-Event-ID", 24));
	CHECK(reader_await_end(&me, LONG_MS) && me.whole);
	reader_close(&c);
	reader_close(&me);
	STATUS(ask(s.f, s.f->admin, NULL, "GET /sessions/%s/events", id), 503);
	STATUS(ask(s.f, s.f->admin, NULL, "GET /me/events"), 503);
	stream_fixture_close(&s);
}
