/* test_memory_faults.c - memory that is refused: by the house's ceiling, by a tenant's, by malloc itself.  Each
 * time the answer is 503, others are served where there is room for them, and what was refused goes well
 * afterwards. */
#include "t.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "broker/broker.h"
#include "call/held.h"
#include "fixture.h"
#include "gateway_fixture.h"
#include "turn_fixture.h"

enum { LARGE = 900 * 1024, WORDS = 200 * 1024 };

static const char *large_patch(struct fixture *f)
{
	char *text = arena_alloc(&f->arena, LARGE + 1);

	memset(text, 'x', LARGE);
	return arena_printf(&f->arena, "{\"description_prompt\":\"%s\"}", text);
}

static int patch(struct fixture *f, const char *tenant, const char *agent, const char *body)
{
	struct answer r = ask(f, f->admin, body, "PATCH /tenant/%s/agents/%s", tenant, agent);

	if (r.status == 503)
		CHECK(header_of(f, &r, "Retry-After") != NULL);
	return r.status;
}

TEST(memory_of_the_house_has_an_end_and_is_given_back)
{
	struct fixture *f = fixture_open();
	struct memory_account *house = held_house(f->app.held);
	const char *agent = fixture_agent(f, "house"), *large = large_patch(f);
	struct held_part others = { 0 };
	uint64_t before = house->held;

	house->max = 16 << 20;
	CHECK_INT(patch(f, f->tenant_id, agent, large), 200);
	/* Somebody else holds all there is. */
	CHECK(!held_count(f->app.held, &others, NULL, 17 << 20));
	CHECK_INT(house->held - before >= 17 << 20, 1);
	CHECK_INT(patch(f, f->tenant_id, agent, large), 503);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents", f->tenant_id), 503);
	STATUS(ask(f, NULL, NULL, "GET /healthz"), 200); /* the service is well */
	held_count(f->app.held, &others, NULL, 0);
	CHECK_INT(patch(f, f->tenant_id, agent, large), 200);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents", f->tenant_id), 200);
	CHECK(house->held <= before + 256 * 1024);
	fixture_close(f);
}

/* The ceiling may come down below what is held: nothing is cut off, nothing is begun, and what is held may become less
 * but not more, until it is below the ceiling again. */
TEST(memory_of_the_house_may_be_lowered_below_what_is_held)
{
	struct fixture *f = fixture_open();
	struct memory_account *house = held_house(f->app.held);
	const char *agent = fixture_agent(f, "lowered"), *large = large_patch(f);
	struct held_part one = { 0 }, two = { 0 };
	struct arena a = { .max = (size_t)128 << 20, .meter = house };

	house->max = 64 << 20;
	CHECK(held_count(f->app.held, &one, f->tenant_id, 20 << 20));
	CHECK(held_count(f->app.held, &two, NULL, 20 << 20));
	while (a.total < 1 << 20) /* a request that is under way */
		arena_alloc(&a, 10000);
	CHECK(!arena_full(&a));
	CHECK_INT(patch(f, f->tenant_id, agent, large), 200);

	house->max = 16 << 20;
	CHECK(arena_full(&a)); /* it stops taking in, and comes to its end */
	CHECK_INT(patch(f, f->tenant_id, agent, large), 503);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents", f->tenant_id), 503);
	CHECK(held_count(f->app.held, &one, f->tenant_id, 10 << 20));
	CHECK(!held_count(f->app.held, &one, f->tenant_id, 11 << 20));
	CHECK_INT(patch(f, f->tenant_id, agent, large), 503);
	held_count(f->app.held, &two, NULL, 0);
	CHECK(!arena_full(&a));
	CHECK_INT(patch(f, f->tenant_id, agent, large), 200);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents", f->tenant_id), 200);
	held_count(f->app.held, &one, f->tenant_id, 0);
	arena_free(&a);
	CHECK(house->held <= 256 * 1024); /* each byte was given back once */
	fixture_close(f);
}

/* What one request makes grows into the house's account while it is made. */
TEST(memory_of_the_house_is_counted_while_a_body_is_read)
{
	struct memory_account house = { .max = 4 << 20 };
	struct arena a = { .max = (size_t)128 << 20, .meter = &house };

	while (!arena_full(&a) && a.total < (size_t)64 << 20)
		arena_alloc(&a, 10000);
	CHECK(a.total > 4 << 20 && a.total < 5 << 20);
	CHECK_INT(house.held, a.total);
	arena_reset(&a);
	CHECK_INT(house.held, 0);
	CHECK(!arena_full(&a));
	arena_free(&a);
}

/* ---- what others say, into an arena that has an end ---- */

enum { END = 256 * 1024 };

struct rows {
	struct arena arena;
	struct list list;
	int err;
};

static int read_many(struct db *db, void *data)
{
	static const struct statement many = { "test",
		"with recursive n (i) as (select 1 union all select i + 1 from n where i < 12000) "
		"select cast(i as text) as value from n",
		.row = &one_text_schema, .scan = "no table" };
	struct rows *r = data;

	r->err = db_all(db, &r->arena, &many, &r->list, SIZE_MAX, NO_ARGS);
	return 0;
}

TEST(memory_of_rows_ends_with_their_arena)
{
	struct fixture *f = fixture_open();
	struct rows some = { .arena = { .max = END } }, all = { .arena = { .max = 64 * END } };

	CHECK_INT(fixture_work(f, read_many, &some), 0);
	CHECK_INT(some.err, ERR_BUSY);
	CHECK(some.arena.total < 2 * END);
	CHECK_INT(fixture_work(f, read_many, &all), 0);
	CHECK_INT(all.err, 0);
	CHECK_INT(all.list.count, 12000);
	arena_free(&some.arena);
	arena_free(&all.arena);
	fixture_close(f);
}

TEST(memory_of_one_tenant_is_no_hindrance_to_another)
{
	struct fixture *f = fixture_open();
	const char *other = fixture_tenant(f, "other", f->admin_id), *large = large_patch(f);
	const char *mine = fixture_agent(f, "mine");
	const char *theirs = fixture_agent_of(f, f->admin, other, "theirs");
	struct held_part held = { 0 };
	struct answer r;

	f->app.settings.tenant_memory = 4 << 20;
	CHECK_INT(patch(f, f->tenant_id, mine, large), 200);
	CHECK(!held_count(f->app.held, &held, f->tenant_id, 5 << 20));
	CHECK_INT(patch(f, f->tenant_id, mine, large), 503);
	CHECK_INT(patch(f, other, theirs, large), 200);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s", other, theirs), 200);
	/* what holds something for as long as its reader likes does not begin */
	r = ask(f, f->admin, "{}", "POST /tenant/%s/agents/%s/sessions", f->tenant_id, mine);
	STATUS(r, 201);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s/events?wait=false", f->tenant_id,
		       text_at(&r, "id")),
		503);
	held_count(f->app.held, &held, f->tenant_id, 0);
	STATUS(ask(f, f->admin, NULL, "GET /tenant/%s/sessions/%s/events?wait=false", f->tenant_id,
		       text_at(&r, "id")),
		200);
	CHECK_INT(patch(f, f->tenant_id, mine, large), 200);
	fixture_close(f);
}

/* ---- models ---- */

/* What goes out to a model is the tenant's, too: without room for it nobody is asked. */
TEST(memory_of_a_request_to_a_model_is_its_tenants)
{
	struct gateway_fixture s;
	struct held_part held = { 0 };
	struct memory_account *house;
	const char *more;
	uint64_t before;
	struct answer r;
	char *text;

	gateway_open(&s);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	house = held_house(s.f->app.held);
	text = arena_alloc(&s.f->arena, LARGE + 1);
	memset(text, 'x', LARGE);
	more = arena_printf(&s.f->arena, ",\"x_unknown\":\"%s\"", text);
	s.f->app.settings.tenant_memory = 4 << 20;
	CHECK_INT(gateway_ask(&s, s.f->admin, more).status, 200);
	gateway_settled(&s, 1, MOCK_COST);
	CHECK(!held_count(s.f->app.held, &held, s.f->tenant_id, 5 << 20));
	before = broker_stats(s.f->service.broker).refused;
	r = gateway_ask(&s, s.f->admin, more);
	CHECK_INT(r.status, 503);
	CHECK(header_of(s.f, &r, "Retry-After") != NULL);
	CHECK_INT(broker_stats(s.f->service.broker).refused - before, 1);
	held_count(s.f->app.held, &held, s.f->tenant_id, 0);
	CHECK_INT(gateway_ask(&s, s.f->admin, more).status, 200);
	gateway_settled(&s, 2, 2 * MOCK_COST);
	for (int i = 0; i < 20000 && broker_stats(s.f->service.broker).open; i++)
		usleep(1000);
	CHECK(house->held < 256 * 1024); /* all of it was given back */
	gateway_close(&s);
}

/* An answer that grows while there is no room ends with a fault; a small one is not worth that. */
TEST(memory_of_an_answer_is_its_tenants)
{
	enum { SIZE = 3 << 20 };
	struct gateway_fixture s;
	struct held_part held = { 0 };
	const char *more;
	char *text;

	gateway_open(&s);
	s.f->app.settings.tenant_memory = 4 << 20;
	text = arena_alloc(&s.f->arena, SIZE + 1);
	memset(text, 'x', SIZE);
	more = arena_printf(&s.f->arena, ",\"x_unknown\":\"%s\"", text);
	gateway_agent(&s, (const char *const[]){ "ok", NULL });
	CHECK(!held_count(s.f->app.held, &held, s.f->tenant_id, 5 << 20));
	CHECK_INT(gateway_ask(&s, s.f->admin, "").status, 200);
	held_count(s.f->app.held, &held, s.f->tenant_id, 0);
	gateway_await_settled(&s);
	gateway_agent(&s, (const char *const[]){ "echo", NULL });
	s.f->app.settings.tenant_memory = 6 << 20; /* for the request, not for as long an answer */
	CHECK_INT(gateway_ask(&s, s.f->admin, more).status, 503);
	CHECK_INT(s.mock.asked, 2);
	s.f->app.settings.tenant_memory = 64 << 20;
	CHECK_INT(gateway_ask(&s, s.f->admin, more).status, 200);
	gateway_close(&s);
}

/* A run has failed at nothing when there is no room: it goes on by itself. */
TEST(memory_that_is_not_there_makes_a_run_wait)
{
	struct turn_fixture s;
	struct held_part held = { 0 };
	char *text;

	turn_open_mock(&s, (const char *const[]){ "ok", NULL }, NULL);
	text = arena_alloc(&s.f->arena, LARGE + 1);
	memset(text, 'x', LARGE);
	s.f->app.settings.tenant_memory = 4 << 20;
	CHECK(!held_count(s.f->app.held, &held, s.f->tenant_id, 5 << 20));
	CHECK_INT(turn_say(&s, text), 0);
	for (int i = 0; i < 10000 && !broker_stats(s.f->service.broker).refused; i++)
		usleep(1000);
	CHECK(broker_stats(s.f->service.broker).refused > 0);
	turn_await_count(&s,
		"select count(*) from jobs where subject = %s and attempts = 0 and run_at > 0", 1);
	held_count(s.f->app.held, &held, s.f->tenant_id, 0);
	turn_await(&s, "completed");
	turn_check_events(&s);
	turn_close(&s);
}

/* ---- malloc ---- */

#ifdef LODGE_FAULTS

/* A client that asks for no memory while the service is refused it. */
struct client {
	struct fixture *f;
	struct buf request, answer;
	bool reached; /* the last request came to where memory was refused */
};

static void order(int64_t at, int64_t times)
{
	memory_fault.times = 0;
	memory_fault.at = at;
	memory_fault.times = times;
}

static void client_open(struct client *c)
{
	*c = (struct client){ .f = fixture_open() };
	buf_init(&c->request, 16 << 20);
	buf_init(&c->answer, 16 << 20);
	CHECK(buf_room(&c->request, 8 << 20) && buf_room(&c->answer, 8 << 20));
	CHECK(memory_reserve(8 << 20));
}

static void client_close(struct client *c)
{
	buf_free(&c->request);
	buf_free(&c->answer);
	fixture_close(c->f);
}

/* The status of the answer to it, with memory refused from the nth time on, so many times. */
static int tell(struct client *c, int64_t at, int64_t times, const char *line, const char *body)
{
	c->request.len = c->answer.len = 0;
	buf_printf(&c->request,
		"%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n\r\n",
		line, c->f->admin, strlen(body));
	buf_puts(&c->request, body);
	order(at, times);
	http_inproc_send(c->f->inproc, c->request.at, c->request.len, &c->answer);
	c->reached = memory_fault.times < times;
	order(0, 0);
	buf_putc(&c->answer, '\0');
	CHECK(strncmp(c->answer.at, "HTTP/1.1 ", 9) == 0);
	if (strstr(c->answer.at, "HTTP/1.1 503"))
		CHECK(strstr(c->answer.at, "\r\nRetry-After: 1\r\n") != NULL);
	return c->answer.len > 12 ? atoi(c->answer.at + 9) : 0;
}

/* A change, with every place in turn at which memory is asked for being refused it: once, and from there
 * on.  What was answered 503 has changed nothing, and the next request goes well. */
static void fail_at_every_place(int64_t times)
{
	struct client c;
	struct fixture *f;
	const char *agent, *line;
	int refused = 0, n = 0;
	char *text;

	client_open(&c);
	f = c.f;
	text = arena_alloc(&f->arena, WORDS + 1);
	memset(text, 'x', WORDS);
	agent = fixture_agent(f, "places");
	line = arena_printf(&f->arena, "PATCH /tenant/%s/agents/%s", f->tenant_id, agent);
	do {
		const char *name = arena_printf(&f->arena, "n%d", ++n);
		const char *body = arena_printf(
			&f->arena, "{\"name\":\"%s\",\"description_prompt\":\"%s\"}", name, text);
		int status = tell(&c, n, times, line, body);
		bool made = status == 200;
		struct answer now;

		test_step("the %d. time, %lld times: %d", n, (long long)times, status);
		CHECK(made || status == 503);
		refused += status == 503;
		CHECK(!memory_short());
		now = ask(f, f->admin, NULL, "GET /tenant/%s/agents/%s", f->tenant_id, agent);
		STATUS(now, 200);
		CHECK_INT(strcmp(text_at(&now, "name"), name) == 0, made);
	} while (c.reached && n < 400);
	CHECK(n > 3 && n < 400);
	CHECK(refused > 0 || times == 1);
	client_close(&c);
}

TEST(memory_that_malloc_refuses_once_is_a_503)
{
	fail_at_every_place(1);
}

TEST(memory_that_malloc_refuses_from_there_on_is_a_503)
{
	fail_at_every_place(1000000);
}

/* Bodies and pages of more than the reserve, with nothing left: what has no room is not begun. */
TEST(memory_that_malloc_refuses_for_something_large_is_a_503)
{
	enum { ROWS = 12, SIZE = 1 << 20 };
	const char *agent, *large, *page, *change;
	int refused = 0, served = 0;
	struct fixture *f;
	struct client c;
	char *text;

	client_open(&c);
	f = c.f;
	agent = fixture_agent(f, "large");
	large = large_patch(f);
	text = arena_alloc(&f->arena, SIZE + 1);
	memset(text, 'x', SIZE);
	for (int i = 0; i < ROWS; i++) {
		struct id id = id_new(NULL);

		fixture_sql(f,
			"insert into memories (tenant_id, agent_id, id, created_at, content, "
			"content_folded) values ($1, $2, $3, 1, $4, '')",
			ARGS(T(f->tenant_id), T(agent), T(id.text), T(text)));
	}
	page = arena_printf(&f->arena, "GET /tenant/%s/agents/%s/memories", f->tenant_id, agent);
	change = arena_printf(&f->arena, "PATCH /tenant/%s/agents/%s", f->tenant_id, agent);
	for (int64_t n = 1; n < 40; n++) {
		int got = tell(&c, n, 1000000, page, ""), made;

		CHECK(!memory_short());
		made = tell(&c, n, 1000000, change, large);
		CHECK(!memory_short());
		test_step("from the %lld. time on: %d, %d", (long long)n, got, made);
		CHECK(got == 200 || got == 503);
		CHECK(made == 200 || made == 503);
		refused += (got == 503) + (made == 503);
	}
	served += tell(&c, 0, 0, page, "") == 200;
	served += tell(&c, 0, 0, change, large) == 200;
	CHECK_INT(served, 2);
	CHECK(refused > 4);
	client_close(&c);
}

/* ---- the last resort ---- */

enum { RESERVE = 8 << 20, WAIT_MS = 200 };

/* In a process of its own, with malloc refusing everything: what it said before it ended, and how. */
static int spend_all(char *said, size_t size, int64_t *ret_ms)
{
	int out[2], status = 0;
	size_t len = 0;
	ssize_t n;
	pid_t child;
	int64_t began = clock_mono_ms();

	CHECK_INT(pipe(out), 0);
	child = fork();
	if (child == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(out[1], 2);
		memory_fault.wait_ms = WAIT_MS;
		if (!memory_reserve(RESERVE))
			_exit(1);
		order(1, INT64_MAX);
		for (int i = 0; i < 4;
			i++) /* all of the reserve is there for it, and not a byte more */
			memset(memory_must(RESERVE / 4), 1, RESERVE / 4);
		dprintf(2, "spent\n");
		memory_must(16);
		_exit(2);
	}
	close(out[1]);
	while (len < size - 1 && (n = read(out[0], said + len, size - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(out[0]);
	CHECK(waitpid(child, &status, 0) == child);
	*ret_ms = clock_mono_ms() - began;
	return status;
}

TEST(memory_that_nobody_gives_back_ends_the_process_with_a_sentence)
{
	char said[4096];
	int64_t ms;
	int status = spend_all(said, sizeof said, &ms);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CHECK_STR(said, "spent\nlodge: out of memory (16 bytes)\n");
	CHECK(ms >= WAIT_MS); /* somebody may still give something back */
}

static void *give_back(void *data)
{
	while (memory_fault.asked < *(int64_t *)data)
		usleep(1000);
	order(0, 0);
	return NULL;
}

TEST(memory_that_somebody_gives_back_in_time_is_taken)
{
	void *all, *some;
	int64_t asked;
	pthread_t thread;

	CHECK(memory_reserve(RESERVE));
	order(1, INT64_MAX);
	all = memory_must(RESERVE);
	CHECK(memory_spent());
	asked = memory_fault.asked + 3; /* it is asked for again and again */
	CHECK_INT(pthread_create(&thread, NULL, give_back, &asked), 0);
	some = memory_must(16);
	CHECK(some != NULL);
	pthread_join(thread, NULL);
	CHECK(!memory_short());
	free(some);
	free(all);
}

/* While there is none, everybody hears so; and as soon as there is some, nobody does. */
TEST(memory_short_is_said_and_ends)
{
	struct client c;
	void *some;

	client_open(&c);
	CHECK(!memory_short());
	order(1, 1000000);
	some = memory_get(1000);
	CHECK(some != NULL && memory_spent() && memory_short());
	CHECK(memory_get(9 << 20) == NULL); /* more than the reserve */
	CHECK_INT(tell(&c, 1, 1000000, "GET /me", ""), 503);
	CHECK_INT(tell(&c, 1, 1000000, "GET /healthz", ""), 503);
	CHECK_INT(tell(&c, 0, 0, "GET /me", ""), 200);
	CHECK(!memory_short());
	free(some);
	client_close(&c);
}
#endif
