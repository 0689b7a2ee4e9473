/* test_traffic.c - many requests to the outside at once: what they end as, and that each ends once. */
#include "http_stage.h"

#include <poll.h>
#include <stdlib.h>

#include "outside/traffic.h"

/* One request and what became of it. */
struct trip {
	struct transfer t;
	struct traffic *traffic;
	const char *url;
	struct buf body;
	int status, ends;
	enum traffic_end end;
	int stop_at; /* bytes() says false on this call; 0: never */
	bool hold;   /* the first bytes() holds the rest back */
	int calls;
	_Atomic int *over;
};

static bool on_head(struct transfer *t, const struct traffic_head *head)
{
	struct trip *trip = t->ctx;

	trip->status = head->status;
	return true;
}

static bool on_bytes(struct transfer *t, const char *bytes, size_t n)
{
	struct trip *trip = t->ctx;

	trip->calls++;
	if (trip->calls == trip->stop_at)
		return false;
	buf_put(&trip->body, bytes, n);
	if (trip->hold && trip->calls == 1) {
		t->silence_ms = 300; /* what is held is not silent */
		traffic_hold(t);
		atomic_fetch_add(trip->over, 1);
	}
	return true;
}

static void on_done(struct transfer *t, enum traffic_end end, const char *why)
{
	struct trip *trip = t->ctx;

	(void)why;
	trip->end = end;
	trip->ends++;
	atomic_fetch_add(trip->over, 1);
}

static void trip_init(struct trip *trip, struct stage *s, const char *path, _Atomic int *over)
{
	*trip = (struct trip){ .over = over };
	buf_init(&trip->body, 16 << 20);
	trip->url = arena_printf(&s->arena, "http://%s%s", http_server_address(s->server), path);
	trip->t = (struct transfer){ .url = trip->url,
		.reach = REACH_LOOPBACK,
		.connect_ms = 2000,
		.silence_ms = 6 * PATIENCE_MS,
		.total_ms = 6 * PATIENCE_MS,
		.head = on_head,
		.bytes = on_bytes,
		.done = on_done,
		.ctx = trip };
}

/* A busy machine may need longer than stage_await() waits. */
static void await(_Atomic int *over, int n)
{
	for (int i = 0; i < 6 * PATIENCE_MS && atomic_load(over) < n; i++)
		poll(NULL, 0, 1);
	CHECK_INT(atomic_load(over), n);
}

static void trip_end(struct trip *trip)
{
	CHECK_INT(trip->ends, 1);
	buf_free(&trip->body);
}

TEST(traffic_takes_many_at_once_over_few_connections)
{
	enum { TRIPS = 60, ROUNDS = 3 };
	struct stage s;
	struct traffic *tr = traffic_new(TRIPS);
	struct trip *trips = calloc(TRIPS, sizeof *trips);
	_Atomic int over = 0;

	stage_open(&s, &stage_limits);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TRIPS; i++) {
			trip_init(&trips[i], &s, i ? "/kept" : "/big", &over);
			trips[i].t.body = "hello";
			trips[i].t.body_len = 5;
			CHECK_INT(traffic_submit(tr, &trips[i].t), 0);
		}
		await(&over, (round + 1) * TRIPS);
		for (int i = 0; i < TRIPS; i++) {
			CHECK_INT(trips[i].end, TRAFFIC_WHOLE);
			CHECK_INT(trips[i].status, 200);
			CHECK(trips[i].body.len > (i ? sizeof "POST /kept? 5:hello" - 2 : 3000000));
			trip_end(&trips[i]);
		}
	}
	CHECK(traffic_stats(tr).connections <= TRIPS);
	CHECK_INT(traffic_stats(tr).ended, TRIPS * ROUNDS);
	traffic_free(tr);
	stage_close(&s);
	free(trips);
}

TEST(traffic_ends_what_is_silent_late_stopped_or_cancelled)
{
	static const struct {
		const char *path;
		int silence_ms, total_ms, stop_at;
		bool cancel;
		enum traffic_end want;
	} cases[] = {
		{ "/parked", 300, PATIENCE_MS, 0, false, TRAFFIC_SILENT },
		{ "/parked", PATIENCE_MS, 300, 0, false, TRAFFIC_LATE },
		{ "/parked", PATIENCE_MS, PATIENCE_MS, 0, true, TRAFFIC_CANCELLED },
		{ "/big", PATIENCE_MS, PATIENCE_MS, 1, false, TRAFFIC_CANCELLED },
		{ "/big", PATIENCE_MS, PATIENCE_MS, 3, false, TRAFFIC_CANCELLED },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct stage s;
		struct traffic *tr = traffic_new(1);
		_Atomic int over = 0;
		struct trip trip, more;

		test_step("case %zu", i);
		stage_open(&s, &stage_limits);
		trip_init(&trip, &s, cases[i].path, &over);
		trip_init(&more, &s, "/x", &over);
		trip.t.silence_ms = cases[i].silence_ms;
		trip.t.total_ms = cases[i].total_ms;
		trip.stop_at = cases[i].stop_at;
		CHECK_INT(traffic_submit(tr, &trip.t), 0);
		if (strcmp(cases[i].path, "/parked") == 0) {
			stage_await_parked(&s, 1);
			CHECK_INT(traffic_submit(tr, &more.t), ERR_BUSY);
		}
		if (cases[i].cancel)
			traffic_cancel(tr, &trip.t);
		await(&over, 1);
		CHECK_INT(trip.end, cases[i].want);
		trip_end(&trip);
		buf_free(&more.body);
		if (strcmp(cases[i].path, "/parked") == 0) {
			stage_answer(s.parked[0]);
			http_finish(s.parked[0]);
		}
		traffic_free(tr);
		stage_close(&s);
	}
}

TEST(traffic_holds_back_until_it_is_resumed)
{
	struct stage s;
	struct traffic *tr = traffic_new(1);
	_Atomic int over = 0;
	struct trip trip;
	size_t before;

	stage_open(&s, &stage_limits);
	trip_init(&trip, &s, "/big", &over);
	trip.hold = true;
	CHECK_INT(traffic_submit(tr, &trip.t), 0);
	await(&over, 1);
	before = trip.body.len;
	for (int i = 0; i < 2; i++) { /* two rounds of looking at deadlines */
		struct trip other;
		_Atomic int passed = 0;
		struct traffic *beside = traffic_new(1);

		trip_init(&other, &s, "/parked", &passed);
		other.t.silence_ms = 300;
		CHECK_INT(traffic_submit(beside, &other.t), 0);
		await(&passed, 1);
		trip_end(&other);
		traffic_free(beside);
	}
	CHECK_INT(trip.body.len, before);
	CHECK_INT(trip.ends, 0);
	trip.t.silence_ms = PATIENCE_MS;
	traffic_resume(tr, &trip.t);
	await(&over, 2);
	CHECK_INT(trip.end, TRAFFIC_WHOLE);
	CHECK(trip.body.len > 3900000);
	trip_end(&trip);
	traffic_free(tr);
	stage_await_parked(&s, 2);
	for (int i = 0; i < 2; i++) {
		stage_answer(s.parked[i]);
		http_finish(s.parked[i]);
	}
	stage_close(&s);
}

TEST(traffic_goes_only_where_it_may)
{
	static const struct {
		const char *url;
		enum reach reach;
		enum traffic_end want;
	} cases[] = {
		{ "http://127.0.0.1:1/", REACH_PUBLIC, TRAFFIC_FORBIDDEN },
		{ "https://127.0.0.1:1/", REACH_PUBLIC, TRAFFIC_FORBIDDEN },
		{ "https://localhost:1/", REACH_PUBLIC, TRAFFIC_FORBIDDEN },
		{ "http://127.0.0.1:1/", REACH_LOOPBACK, TRAFFIC_CONNECT },
		{ "http://10.0.0.1:1/", REACH_LOOPBACK, TRAFFIC_FORBIDDEN },
		{ "file:///etc/hostname", REACH_ANY, TRAFFIC_FORBIDDEN },
		{ "http://a@127.0.0.1:1/", REACH_ANY, TRAFFIC_FORBIDDEN },
	};
	struct traffic *tr = traffic_new(10);
	struct stage s;

	stage_open(&s, &stage_limits);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_Atomic int over = 0;
		struct trip trip;

		test_step("%s", cases[i].url);
		trip_init(&trip, &s, "/", &over);
		trip.t.url = cases[i].url;
		trip.t.reach = cases[i].reach;
		CHECK_INT(traffic_submit(tr, &trip.t), 0);
		await(&over, 1);
		CHECK_INT(trip.end, cases[i].want);
		trip_end(&trip);
	}
	traffic_free(tr);
	stage_close(&s);
}

TEST(traffic_ends_with_what_is_under_way)
{
	struct stage s;
	struct traffic *tr = traffic_new(10);
	_Atomic int over = 0;
	struct trip trips[3];

	stage_open(&s, &stage_limits);
	for (int i = 0; i < 3; i++) {
		trip_init(&trips[i], &s, "/parked", &over);
		CHECK_INT(traffic_submit(tr, &trips[i].t), 0);
	}
	stage_await_parked(&s, 3);
	traffic_free(tr);
	CHECK_INT(over, 3);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(trips[i].end, TRAFFIC_CANCELLED);
		trip_end(&trips[i]);
		stage_answer(s.parked[i]);
		http_finish(s.parked[i]);
	}
	stage_close(&s);
}
