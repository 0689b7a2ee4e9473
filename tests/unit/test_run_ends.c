/* test_run_ends.c - calls whose caller reads slowly or goes away, which are too many, or whose lease runs out:
 * over a real socket. */
#include "gateway_fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "broker/broker.h"
#include "http_fixture.h"

static void serve(struct gateway_fixture *s)
{
	struct http_settings settings = loopback_settings(1);
	struct http_handler handler = call_handler(&s->f->app);
	struct problem p = { 0 };

	settings.limits.idle_ms = settings.limits.reply_ms = settings.limits.patient_ms;
	CHECK_INT(http_server_new(&s->f->app.server, &settings, &handler, &s->f->arena, &p), 0);
	CHECK_INT(http_server_start(s->f->app.server), 0);
}

static void unserve(struct gateway_fixture *s)
{
	http_server_stop(s->f->app.server, 0);
	broker_stop(s->f->service.broker, 0);
	http_server_free(s->f->app.server);
	s->f->app.server = NULL;
}

static int call(struct gateway_fixture *s, const char *body)
{
	const char *at = http_server_address(s->f->app.server), *text;
	struct sockaddr_in sa = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(strchr(at, ':') + 1, NULL, 10)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
	inet_pton(AF_INET, "127.0.0.1", &sa.sin_addr);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof sa) == 0);
	text = arena_printf(&s->f->arena,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		s->f->admin, strlen(body), body);
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
	return fd;
}

static void await_asked(struct gateway_fixture *s, int n)
{
	for (int i = 0; i < 20000 && s->mock.asked < n; i++)
		poll(NULL, 0, 1);
	CHECK_INT(s->mock.asked, n);
}

/* Ticks until nothing is reserved. */
static void tick_until_settled(struct gateway_fixture *s)
{
	for (int i = 0; i < 6000; i++) {
		broker_tick(s->f->service.broker);
		if (!fixture_count(s->f, "select count(*) from reservations"))
			return;
		poll(NULL, 0, 10);
	}
	test_fail(__FILE__, __LINE__, "something is still reserved");
}

TEST(run_ends_when_its_caller_goes_away)
{
	struct gateway_fixture s;

	gateway_open(&s);
	serve(&s);
	for (int stream = 0; stream <= 1; stream++) {
		int fd;

		test_step(stream ? "stream" : "whole");
		gateway_agent(&s, (const char *const[]){ "stall-2", NULL });
		fixture_sql(s.f, "update models set timeout_s = 60 where kind = 'openai'", NO_ARGS);
		fixture_sql(s.f, "delete from ledger", NO_ARGS);
		atomic_store(&s.mock.asked, 0);
		fd = call(&s, GATEWAY_BODY(&s, stream ? ",\"stream\":true" : ""));
		await_asked(&s, 1);
		poll(NULL, 0, 50);
		CHECK_INT(fixture_count(s.f, "select count(*) from reservations"), 1);
		close(fd);
		tick_until_settled(&s);
		CHECK_INT(fixture_count(s.f,
				  "select count(*) from ledger where outcome = 'cancelled' "
				  "and estimated = 1 and input_tokens > 0"),
			1);
	}
	unserve(&s);
	gateway_close(&s);
}

/* Ticks until so many rows are in the ledger. */
static void tick_until_entered(struct gateway_fixture *s, int64_t rows)
{
	for (int i = 0; i < 6000; i++) {
		broker_tick(s->f->service.broker);
		if (fixture_count(s->f, "select count(*) from ledger") == rows)
			return;
		poll(NULL, 0, 10);
	}
	test_fail(__FILE__, __LINE__, "it is not entered");
}

TEST(run_that_costs_nothing_is_entered_without_a_promise)
{
	static const struct {
		const char *name, *sql;
		int64_t promised;
	} cases[] = {
		{ "no price", "update models set prompt_pd = null, completion_pd = null", 0 },
		{ "price of zero", "update models set prompt_pd = 0, completion_pd = 0", 0 },
		{ "a price for its cache", "update models set cache_read_pd = 1", 1 },
	};
	struct gateway_fixture s;

	gateway_open(&s);
	serve(&s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int fd;

		test_step(cases[i].name);
		gateway_agent(&s, (const char *const[]){ "stall-2", NULL });
		fixture_sql(s.f, "update models set timeout_s = 60 where kind = 'openai'", NO_ARGS);
		fixture_sql(s.f, cases[i].sql, NO_ARGS);
		fixture_sql(s.f, "delete from ledger", NO_ARGS);
		atomic_store(&s.mock.asked, 0);
		fd = call(&s, GATEWAY_BODY(&s, ",\"stream\":true"));
		await_asked(&s, 1);
		CHECK_INT(
			fixture_count(s.f, "select count(*) from reservations"), cases[i].promised);
		close(fd);
		tick_until_entered(&s, 1);
		tick_until_settled(&s);
		CHECK_INT(fixture_count(s.f,
				  "select count(*) from ledger where outcome = 'cancelled' "
				  "and input_tokens > 0"),
			1);
	}
	unserve(&s);
	gateway_close(&s);
}

TEST(run_holds_back_what_a_slow_reader_does_not_take)
{
	struct gateway_fixture s;
	int fd, rooms = 0;
	char some[65536];

	gateway_open(&s);
	serve(&s);
	gateway_agent(&s, (const char *const[]){ "endless", NULL });
	fixture_sql(s.f, "update models set timeout_s = 60 where kind = 'openai'", NO_ARGS);
	fd = call(&s, GATEWAY_BODY(&s, ",\"stream\":true"));
	await_asked(&s, 1);
	for (int i = 0; i < 30; i++) { /* it comes to rest */
		rooms = s.mock.rooms;
		poll(NULL, 0, 300);
		if (s.mock.rooms == rooms)
			break;
	}
	CHECK_INT(s.mock.rooms, rooms);
	for (int i = 0; i < 20000 && s.mock.rooms == rooms; i++)
		if (recv(fd, some, sizeof some, 0) <= 0)
			break;
	CHECK(s.mock.rooms > rooms); /* and goes on */
	close(fd);
	tick_until_settled(&s);
	CHECK_INT(fixture_count(s.f, "select count(*) from ledger where outcome = 'cancelled' "
				     "and output_tokens > 100"),
		1);
	unserve(&s);
	gateway_close(&s);
}

TEST(run_bounds_calls_extends_leases_and_gives_up_lost_ones)
{
	struct gateway_fixture s;
	struct answer r;
	int64_t until;
	int fd;

	gateway_open(&s);
	gateway_rebroker(&s, &(struct broker_settings){ .runs_max = 1, .extend_ms = 1 });
	serve(&s);
	gateway_agent(&s, (const char *const[]){ "stall-2", NULL });
	fixture_sql(s.f, "update models set timeout_s = 60 where kind = 'openai'", NO_ARGS);
	fd = call(&s, GATEWAY_BODY(&s, ",\"stream\":true"));
	await_asked(&s, 1);

	test_step("one more");
	r = gateway_ask(&s, s.f->admin, "");
	CHECK_INT(r.status, 503);
	CHECK(header_of(s.f, &r, "retry-after") != NULL);

	test_step("the lease");
	until = fixture_count(s.f, "select lease_until from reservations");
	poll(NULL, 0, 50);
	broker_tick(s.f->service.broker);
	for (int i = 0; i < 10000; i++, poll(NULL, 0, 2))
		if (fixture_count(s.f, "select lease_until from reservations") > until)
			break;
	CHECK(fixture_count(s.f, "select lease_until from reservations") > until);

	test_step("a lease that ran out all the same");
	fixture_sql(s.f, "update reservations set lease_until = 1", NO_ARGS);
	broker_maintain(s.f->service.broker);
	gateway_await_settled(&s);
	CHECK_INT(fixture_count(s.f, "select count(*) from ledger where outcome = 'lost'"), 1);
	close(fd);
	for (int i = 0; i < 2000 && broker_stats(s.f->service.broker).open; i++, poll(NULL, 0, 10))
		broker_tick(s.f->service.broker);
	CHECK_INT(broker_stats(s.f->service.broker).open, 0);
	CHECK_INT(fixture_count(s.f, "select count(*) from ledger"), 1); /* not a second time */
	unserve(&s);
	gateway_close(&s);
}

TEST(run_of_the_model_inside_waits_for_its_reader)
{
	struct gateway_fixture s;
	struct buf in;
	int fd;

	gateway_open(&s);
	serve(&s);
	buf_init(&in, 64 << 20);
	fd = call(&s, "{\"model\":\"demo\",\"stream\":true,\"messages\":[{\"role\":\"user\","
		      "\"content\":\"count to 3000\"}]}");
	poll(NULL, 0, 300);
	for (;;) {
		ssize_t n;

		buf_room(&in, 65536);
		n = recv(fd, in.at + in.len, 65536, 0);
		if (n <= 0)
			break;
		in.len += (size_t)n;
		if (memmem(in.at, in.len, "[DONE]", 6))
			break;
	}
	CHECK(memmem(in.at, in.len, "\"3000\"", 6) != NULL);
	close(fd);
	buf_free(&in);
	tick_until_settled(&s);
	unserve(&s);
	gateway_close(&s);
}
