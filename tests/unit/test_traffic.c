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

/* ---- as a loop's guest ---- */

/* A server that answers what another says: each request is passed on, on the loop that took it. */
struct relay {
	struct http_server *server;
	struct arena arena;
	const char *to;
	struct traffic *traffic[2];
	_Atomic int begun, over, elsewhere;
};

struct passed {
	struct transfer t;
	struct http_exchange *x;
	struct relay *relay;
	pthread_t thread;
};

static bool pass_head(struct transfer *t, const struct traffic_head *head)
{
	struct passed *p = t->ctx;

	p->x->reply.status = head->status;
	p->x->reply.type = "text/plain";
	return true;
}

static bool pass_bytes(struct transfer *t, const char *bytes, size_t n)
{
	struct passed *p = t->ctx;

	buf_put(&p->x->reply.body, bytes, n);
	return true;
}

static void pass_done(struct transfer *t, enum traffic_end end, const char *why)
{
	struct passed *p = t->ctx;

	(void)why;
	if (!pthread_equal(p->thread, pthread_self()))
		atomic_fetch_add(&p->relay->elsewhere, 1);
	if (end != TRAFFIC_WHOLE)
		p->x->reply.status = 502;
	p->x->reply.type = "text/plain";
	atomic_fetch_add(&p->relay->over, 1);
	http_finish(p->x);
}

static enum http_verdict relay_head(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	(void)x;
	return HTTP_GO_ON;
}

static enum http_verdict relay_request(void *ctx, struct http_exchange *x)
{
	struct relay *r = ctx;
	struct passed *p = arena_new(&x->arena, struct passed);

	*p = (struct passed){ .x = x, .relay = r, .thread = pthread_self() };
	p->t = (struct transfer){ .url = arena_printf(&x->arena, "%s%.*s", r->to,
					  (int)x->request.path_len, x->request.path),
		.reach = REACH_LOOPBACK,
		.connect_ms = 2000,
		.silence_ms = 6 * PATIENCE_MS,
		.total_ms = 6 * PATIENCE_MS,
		.head = pass_head,
		.bytes = pass_bytes,
		.done = pass_done,
		.ctx = p };
	CHECK_INT(traffic_submit(r->traffic[http_loop_index(x->loop)], &p->t), 0);
	return HTTP_KEPT;
}

static void relay_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	(void)sentence;
	x->reply.status = error_row(err)->status;
	x->reply.type = "text/plain";
}

static void relay_begin(void *ctx, struct http_loop *loop)
{
	struct relay *r = ctx;

	r->traffic[http_loop_index(loop)] = traffic_new_on(loop, 100);
	atomic_fetch_add(&r->begun, 1);
}

static void relay_end(void *ctx, struct http_loop *loop)
{
	struct relay *r = ctx;

	traffic_leave(r->traffic[http_loop_index(loop)]);
}

static void relay_open(struct relay *r, struct stage *s)
{
	struct http_settings settings = {
		.listen = "127.0.0.1:0", .loops = 2, .limits = stage_limits
	};
	struct http_handler handler = { .head = relay_head,
		.request = relay_request,
		.fault = relay_fault,
		.loop_begin = relay_begin,
		.loop_end = relay_end,
		.ctx = r };
	struct problem p = { 0 };

	settings.limits.parked_ms = settings.limits.reply_ms =
		60000; /* nothing here is about time */
	*r = (struct relay){ 0 };
	r->to = arena_printf(&s->arena, "http://%s", http_server_address(s->server));
	CHECK_INT(http_server_new(&r->server, &settings, &handler, &r->arena, &p), 0);
	CHECK_INT(http_server_start(r->server), 0);
	CHECK(r->traffic[0] && r->traffic[1]);
}

static void relay_close(struct relay *r)
{
	traffic_free(r->traffic[0]);
	traffic_free(r->traffic[1]);
	http_server_free(r->server);
	arena_free(&r->arena);
}

TEST(traffic_lives_on_a_loop_as_its_guest)
{
	struct traffic *clients = traffic_new(40);
	struct stage s, front;
	struct trip trips[40];
	struct relay r;
	_Atomic int over = 0;

	stage_open(&s, &stage_limits);
	relay_open(&r, &s);
	front = s;
	front.server = r.server;
	for (int round = 0; round < 2; round++) { /* connections that waited are used again */
		for (int i = 0; i < 40; i++) {
			trip_init(&trips[i], &front, i % 20 ? "/kept" : "/big", &over);
			CHECK_INT(traffic_submit(clients, &trips[i].t), 0);
		}
		await(&over, 40 * (round + 1));
		for (int i = 0; i < 40; i++) {
			CHECK_INT(trips[i].end, TRAFFIC_WHOLE);
			CHECK_INT(trips[i].status, 200);
			CHECK(trips[i].body.len > 0);
			trip_end(&trips[i]);
		}
	}
	CHECK_INT(r.over, 80);
	CHECK_INT(r.elsewhere, 0);
	CHECK(traffic_stats(r.traffic[0]).connections + traffic_stats(r.traffic[1]).connections <=
		40);
	http_server_stop(r.server, PATIENCE_MS);
	relay_close(&r);
	traffic_free(clients);
	stage_close(&s);
}

TEST(traffic_of_a_loop_that_ends_goes_on_alone)
{
	struct traffic *clients = traffic_new(4);
	struct stage s, front;
	struct trip trips[3];
	struct relay r;
	_Atomic int over = 0;

	stage_open(&s, &stage_limits);
	relay_open(&r, &s);
	front = s;
	front.server = r.server;
	for (int i = 0; i < 3; i++) {
		trip_init(&trips[i], &front, "/parked", &over);
		CHECK_INT(traffic_submit(clients, &trips[i].t), 0);
	}
	stage_await_parked(&s, 3);
	test_step("the loops end, and what is answered then still arrives");
	http_server_stop(r.server, 50);
	await(&over, 3); /* the front has cut its own callers off */
	CHECK_INT(r.over, 0);
	for (int i = 0; i < 2; i++) {
		stage_answer(s.parked[i]);
		http_finish(s.parked[i]);
	}
	await(&r.over, 2);
	CHECK_INT(r.elsewhere, 2);
	test_step("the last one ends with the traffic");
	traffic_free(r.traffic[0]);
	traffic_free(r.traffic[1]);
	CHECK_INT(r.over, 3);
	stage_answer(s.parked[2]);
	http_finish(s.parked[2]);
	for (int i = 0; i < 3; i++)
		trip_end(&trips[i]);
	http_server_free(r.server);
	arena_free(&r.arena);
	traffic_free(clients);
	stage_close(&s);
}
