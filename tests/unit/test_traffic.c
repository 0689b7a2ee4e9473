/* test_traffic.c - many requests to the outside at once: what they end as, and that each ends once. */
#include "http_fixture.h"

#include <poll.h>
#include <stdlib.h>

#include "outside/async_http.h"

/* One request and what became of it. */
struct trip {
	struct transfer t;
	struct async_http *http;
	const char *url;
	struct buf body;
	int status, ends;
	enum transfer_end end;
	int stop_at; /* bytes() says false on this call; 0: never */
	bool hold;   /* the first bytes() holds the rest back */
	bool orders; /* done() orders this and that, as another thread may while it is called, and sends it once more */
	int calls;
	_Atomic int *over;
};

static bool on_head(struct transfer *t, const struct transfer_head *head)
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
		async_http_hold(t);
		atomic_fetch_add(trip->over, 1);
	}
	return true;
}

static void on_done(struct transfer *t, enum transfer_end end, const char *why)
{
	struct trip *trip = t->ctx;

	(void)why;
	trip->end = end;
	trip->ends++;
	if (trip->orders) {
		trip->orders = false;
		async_http_resume(trip->http, t);
		async_http_cancel(trip->http, t);
		CHECK_INT(async_http_submit(trip->http, t), 0);
	}
	atomic_fetch_add(trip->over, 1);
}

static void trip_init(
	struct trip *trip, struct http_fixture *s, const char *path, _Atomic int *over)
{
	*trip = (struct trip){ .over = over };
	buf_init(&trip->body, 16 << 20);
	trip->url = arena_printf(&s->arena, "http://%s%s", http_server_address(s->server), path);
	trip->t = (struct transfer){ .url = trip->url,
		.egress = EGRESS_LOOPBACK,
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

TEST(async_http_takes_many_at_once_over_few_connections)
{
	enum { TRIPS = 60, ROUNDS = 3 };
	struct http_fixture s;
	struct async_http *tr = async_http_new(TRIPS);
	struct trip *trips = calloc(TRIPS, sizeof *trips);
	_Atomic int over = 0;

	http_fixture_open(&s, &fixture_limits);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TRIPS; i++) {
			trip_init(&trips[i], &s, i ? "/kept" : "/big", &over);
			trips[i].t.body = "hello";
			trips[i].t.body_len = 5;
			CHECK_INT(async_http_submit(tr, &trips[i].t), 0);
		}
		await(&over, (round + 1) * TRIPS);
		for (int i = 0; i < TRIPS; i++) {
			CHECK_INT(trips[i].end, TRANSFER_WHOLE);
			CHECK_INT(trips[i].status, 200);
			CHECK(trips[i].body.len > (i ? sizeof "POST /kept? 5:hello" - 2 : 3000000));
			trip_end(&trips[i]);
		}
	}
	CHECK(async_http_stats(tr).connections <= TRIPS);
	CHECK_INT(async_http_stats(tr).ended, TRIPS * ROUNDS);
	async_http_free(tr);
	http_fixture_close(&s);
	free(trips);
}

TEST(async_http_ends_what_is_silent_late_stopped_or_cancelled)
{
	static const struct {
		const char *path;
		int silence_ms, total_ms, stop_at;
		bool cancel;
		enum transfer_end want;
	} cases[] = {
		{ "/parked", 300, PATIENCE_MS, 0, false, TRANSFER_SILENT },
		{ "/parked", PATIENCE_MS, 300, 0, false, TRANSFER_LATE },
		{ "/parked", PATIENCE_MS, PATIENCE_MS, 0, true, TRANSFER_CANCELLED },
		{ "/big", PATIENCE_MS, PATIENCE_MS, 1, false, TRANSFER_CANCELLED },
		{ "/big", PATIENCE_MS, PATIENCE_MS, 3, false, TRANSFER_CANCELLED },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct http_fixture s;
		struct async_http *tr = async_http_new(1);
		_Atomic int over = 0;
		struct trip trip, more;

		test_step("case %zu", i);
		http_fixture_open(&s, &fixture_limits);
		trip_init(&trip, &s, cases[i].path, &over);
		trip_init(&more, &s, "/x", &over);
		trip.t.silence_ms = cases[i].silence_ms;
		trip.t.total_ms = cases[i].total_ms;
		trip.stop_at = cases[i].stop_at;
		CHECK_INT(async_http_submit(tr, &trip.t), 0);
		if (strcmp(cases[i].path, "/parked") == 0) {
			http_fixture_await_parked(&s, 1);
			CHECK_INT(async_http_submit(tr, &more.t), ERR_BUSY);
		}
		if (cases[i].cancel)
			async_http_cancel(tr, &trip.t);
		await(&over, 1);
		CHECK_INT(trip.end, cases[i].want);
		trip_end(&trip);
		buf_free(&more.body);
		if (strcmp(cases[i].path, "/parked") == 0) {
			http_fixture_answer(s.parked[0]);
			http_finish(s.parked[0]);
		}
		async_http_free(tr);
		http_fixture_close(&s);
	}
}

TEST(async_http_what_is_over_takes_no_orders)
{
	struct http_fixture s;
	struct async_http *tr = async_http_new(2);
	_Atomic int over = 0;
	struct trip trip, more;

	http_fixture_open(&s, &fixture_limits);
	trip_init(&trip, &s, "/kept", &over);
	trip_init(&more, &s, "/kept", &over);
	trip.http = tr;
	trip.orders = true;
	CHECK_INT(async_http_submit(tr, &trip.t), 0);
	await(&over, 2);
	CHECK_INT(trip.ends, 2);
	CHECK_INT(trip.end, TRANSFER_WHOLE);
	CHECK_INT(async_http_submit(tr, &more.t), 0);
	await(&over, 3);
	CHECK_INT(more.end, TRANSFER_WHOLE);
	CHECK_INT(async_http_stats(tr).open, 0);
	buf_free(&trip.body);
	trip_end(&more);
	async_http_free(tr);
	http_fixture_close(&s);
}

TEST(async_http_holds_back_until_it_is_resumed)
{
	struct http_fixture s;
	struct async_http *tr = async_http_new(1);
	_Atomic int over = 0;
	struct trip trip;
	size_t before;

	http_fixture_open(&s, &fixture_limits);
	trip_init(&trip, &s, "/big", &over);
	trip.hold = true;
	CHECK_INT(async_http_submit(tr, &trip.t), 0);
	await(&over, 1);
	before = trip.body.len;
	for (int i = 0; i < 2; i++) { /* two rounds of looking at deadlines */
		struct trip other;
		_Atomic int passed = 0;
		struct async_http *beside = async_http_new(1);

		trip_init(&other, &s, "/parked", &passed);
		other.t.silence_ms = 300;
		CHECK_INT(async_http_submit(beside, &other.t), 0);
		await(&passed, 1);
		trip_end(&other);
		async_http_free(beside);
	}
	CHECK_INT(trip.body.len, before);
	CHECK_INT(trip.ends, 0);
	trip.t.silence_ms = PATIENCE_MS;
	async_http_resume(tr, &trip.t);
	await(&over, 2);
	CHECK_INT(trip.end, TRANSFER_WHOLE);
	CHECK(trip.body.len > 3900000);
	trip_end(&trip);
	async_http_free(tr);
	http_fixture_await_parked(&s, 2);
	for (int i = 0; i < 2; i++) {
		http_fixture_answer(s.parked[i]);
		http_finish(s.parked[i]);
	}
	http_fixture_close(&s);
}

TEST(async_http_goes_only_where_it_may)
{
	static const struct {
		const char *url;
		enum egress egress;
		enum transfer_end want;
	} cases[] = {
		{ "http://127.0.0.1:1/", EGRESS_PUBLIC, TRANSFER_FORBIDDEN },
		{ "https://127.0.0.1:1/", EGRESS_PUBLIC, TRANSFER_FORBIDDEN },
		{ "https://localhost:1/", EGRESS_PUBLIC, TRANSFER_FORBIDDEN },
		{ "http://127.0.0.1:1/", EGRESS_LOOPBACK, TRANSFER_CONNECT },
		{ "http://10.0.0.1:1/", EGRESS_LOOPBACK, TRANSFER_FORBIDDEN },
		{ "file:///etc/hostname", EGRESS_ANY, TRANSFER_FORBIDDEN },
		{ "http://a@127.0.0.1:1/", EGRESS_ANY, TRANSFER_FORBIDDEN },
	};
	struct async_http *tr = async_http_new(10);
	struct http_fixture s;

	http_fixture_open(&s, &fixture_limits);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_Atomic int over = 0;
		struct trip trip;

		test_step("%s", cases[i].url);
		trip_init(&trip, &s, "/", &over);
		trip.t.url = cases[i].url;
		trip.t.egress = cases[i].egress;
		CHECK_INT(async_http_submit(tr, &trip.t), 0);
		await(&over, 1);
		CHECK_INT(trip.end, cases[i].want);
		trip_end(&trip);
	}
	async_http_free(tr);
	http_fixture_close(&s);
}

TEST(async_http_ends_with_what_is_under_way)
{
	struct http_fixture s;
	struct async_http *tr = async_http_new(10);
	_Atomic int over = 0;
	struct trip trips[3];

	http_fixture_open(&s, &fixture_limits);
	for (int i = 0; i < 3; i++) {
		trip_init(&trips[i], &s, "/parked", &over);
		CHECK_INT(async_http_submit(tr, &trips[i].t), 0);
	}
	http_fixture_await_parked(&s, 3);
	async_http_free(tr);
	CHECK_INT(over, 3);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(trips[i].end, TRANSFER_CANCELLED);
		trip_end(&trips[i]);
		http_fixture_answer(s.parked[i]);
		http_finish(s.parked[i]);
	}
	http_fixture_close(&s);
}

/* ---- as a loop's guest ---- */

/* A server that answers what another says: each request is passed on, on the loop that took it. */
struct relay {
	struct http_server *server;
	struct arena arena;
	const char *to;
	struct async_http *http[2];
	_Atomic int begun, over, elsewhere;
};

struct passed {
	struct transfer t;
	struct http_exchange *x;
	struct relay *relay;
	pthread_t thread;
};

static bool pass_head(struct transfer *t, const struct transfer_head *head)
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

static void pass_done(struct transfer *t, enum transfer_end end, const char *why)
{
	struct passed *p = t->ctx;

	(void)why;
	if (!pthread_equal(p->thread, pthread_self()))
		atomic_fetch_add(&p->relay->elsewhere, 1);
	if (end != TRANSFER_WHOLE)
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
		.egress = EGRESS_LOOPBACK,
		.connect_ms = 2000,
		.silence_ms = 6 * PATIENCE_MS,
		.total_ms = 6 * PATIENCE_MS,
		.head = pass_head,
		.bytes = pass_bytes,
		.done = pass_done,
		.ctx = p };
	CHECK_INT(async_http_submit(r->http[http_loop_index(x->loop)], &p->t), 0);
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

	r->http[http_loop_index(loop)] = async_http_new_on(loop, 100);
	atomic_fetch_add(&r->begun, 1);
}

static void relay_end(void *ctx, struct http_loop *loop)
{
	struct relay *r = ctx;

	async_http_leave(r->http[http_loop_index(loop)]);
}

static void relay_open(struct relay *r, struct http_fixture *s)
{
	struct http_settings settings = {
		.listen = "127.0.0.1:0", .loops = 2, .limits = fixture_limits
	};
	struct http_handler handler = { .head = relay_head,
		.request = relay_request,
		.fault = relay_fault,
		.loop_begin = relay_begin,
		.loop_end = relay_end,
		.ctx = r };
	struct problem p = { 0 };

	settings.limits.deferred_ms = settings.limits.reply_ms =
		60000; /* nothing here is about time */
	*r = (struct relay){ 0 };
	r->to = arena_printf(&s->arena, "http://%s", http_server_address(s->server));
	CHECK_INT(http_server_new(&r->server, &settings, &handler, &r->arena, &p), 0);
	CHECK_INT(http_server_start(r->server), 0);
	CHECK(r->http[0] && r->http[1]);
}

static void relay_close(struct relay *r)
{
	async_http_free(r->http[0]);
	async_http_free(r->http[1]);
	http_server_free(r->server);
	arena_free(&r->arena);
}

TEST(async_http_lives_on_a_loop_as_its_guest)
{
	struct async_http *clients = async_http_new(40);
	struct http_fixture s, front;
	struct trip trips[40];
	struct relay r;
	_Atomic int over = 0;

	http_fixture_open(&s, &fixture_limits);
	relay_open(&r, &s);
	front = s;
	front.server = r.server;
	for (int round = 0; round < 2; round++) { /* connections that waited are used again */
		for (int i = 0; i < 40; i++) {
			trip_init(&trips[i], &front, i % 20 ? "/kept" : "/big", &over);
			CHECK_INT(async_http_submit(clients, &trips[i].t), 0);
		}
		await(&over, 40 * (round + 1));
		for (int i = 0; i < 40; i++) {
			CHECK_INT(trips[i].end, TRANSFER_WHOLE);
			CHECK_INT(trips[i].status, 200);
			CHECK(trips[i].body.len > 0);
			trip_end(&trips[i]);
		}
	}
	CHECK_INT(r.over, 80);
	CHECK_INT(r.elsewhere, 0);
	CHECK(async_http_stats(r.http[0]).connections + async_http_stats(r.http[1]).connections <=
		40);
	http_server_stop(r.server, PATIENCE_MS);
	relay_close(&r);
	async_http_free(clients);
	http_fixture_close(&s);
}

TEST(async_http_of_a_loop_that_ends_goes_on_alone)
{
	struct async_http *clients = async_http_new(4);
	struct http_fixture s, front;
	struct trip trips[3];
	struct relay r;
	_Atomic int over = 0;

	http_fixture_open(&s, &fixture_limits);
	relay_open(&r, &s);
	front = s;
	front.server = r.server;
	for (int i = 0; i < 3; i++) {
		trip_init(&trips[i], &front, "/parked", &over);
		CHECK_INT(async_http_submit(clients, &trips[i].t), 0);
	}
	http_fixture_await_parked(&s, 3);
	test_step("the loops end, and what is answered then still arrives");
	http_server_stop(r.server, 50);
	await(&over, 3); /* the front has cut its own callers off */
	CHECK_INT(r.over, 0);
	for (int i = 0; i < 2; i++) {
		http_fixture_answer(s.parked[i]);
		http_finish(s.parked[i]);
	}
	await(&r.over, 2);
	CHECK_INT(r.elsewhere, 2);
	test_step("the last one ends with the traffic");
	async_http_free(r.http[0]);
	async_http_free(r.http[1]);
	CHECK_INT(r.over, 3);
	http_fixture_answer(s.parked[2]);
	http_finish(s.parked[2]);
	for (int i = 0; i < 3; i++)
		trip_end(&trips[i]);
	http_server_free(r.server);
	arena_free(&r.arena);
	async_http_free(clients);
	http_fixture_close(&s);
}
