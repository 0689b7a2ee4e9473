/* test_http_crowd.c - all connections are taken: who goes, who gets in, and what those hold who keep us waiting. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "http/http.h"
#include "t.h"

enum { MOST = 8, SHARE = 2, PATIENCE_MS = 60000, HEADS = 200 };

#define KEEP "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
#define ONCE "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
#define PARKED "GET /parked HTTP/1.1\r\nHost: a\r\n\r\n"
#define HALF "GET /x HTTP/1.1\r\nHos"
#define GATE "GET /gate HTTP/1.1\r\nHost: a\r\n\r\n"
#define SLOW "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf"
#define VOUCHED "POST /vouched HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf"
#define ONE "127.0.0.1"
#define TWO "127.0.0.2"
#define PROXY "127.0.0.9"

static struct crowd {
	struct http_server *server;
	struct memory_account house;
	struct arena arena;
	pthread_mutex_t lock;
	struct http_exchange *parked[MOST];
	int parked_count;
	sem_t at_gate, gate; /* somebody stands at it, in the loop; it opens */
} crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };

static enum http_verdict on_head(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	x->vouched = x->request.path_len == strlen("/vouched");
	return HTTP_GO_ON;
}

static enum http_verdict on_request(void *ctx, struct http_exchange *x)
{
	(void)ctx;
	x->reply.status = 200;
	if (x->request.path_len == strlen("/gate")) {
		sem_post(&crowd.at_gate);
		sem_wait(&crowd.gate);
	}
	if (x->request.path_len != strlen("/parked"))
		return HTTP_REPLIED;
	pthread_mutex_lock(&crowd.lock);
	crowd.parked[crowd.parked_count++] = x;
	pthread_mutex_unlock(&crowd.lock);
	return HTTP_KEPT;
}

static void on_fault(void *ctx, struct http_exchange *x, int err, const char *sentence)
{
	(void)ctx;
	(void)sentence;
	x->reply.status = error_row(err)->status;
}

static bool on_gathers(void *ctx, const char *address)
{
	(void)ctx;
	return strcmp(address, PROXY) == 0;
}

static void crowd_open_in(int loops, struct http_limits limits)
{
	struct http_settings settings = {
		.listen = "127.0.0.1:0", .loops = loops, .limits = limits
	};
	struct http_handler handler = { .head = on_head,
		.request = on_request,
		.fault = on_fault,
		.gathers = on_gathers,
		.house = &crowd.house };
	struct problem p = { 0 };

	crowd.parked_count = 0;
	crowd.house.held = crowd.house.peak = 0;
	settings.limits.max_headers = 64;
	settings.limits.max_head = 16 * 1024;
	settings.limits.max_body = 1 << 20;
	settings.limits.header_ms = settings.limits.body_ms = settings.limits.idle_ms =
		settings.limits.reply_ms = settings.limits.deferred_ms = 6 * PATIENCE_MS;
	CHECK_INT(http_server_new(&crowd.server, &settings, &handler, &crowd.arena, &p), 0);
	CHECK_INT(http_server_start(crowd.server), 0);
}

static void crowd_open(struct http_limits limits)
{
	crowd_open_in(2, limits);
}

static void crowd_close(void)
{
	for (int i = 0; i < crowd.parked_count; i++)
		http_finish(crowd.parked[i]);
	http_server_stop(crowd.server, 0);
	http_server_free(crowd.server);
	arena_free(&crowd.arena);
}

static int dial(const char *from)
{
	struct sockaddr_in to = { .sin_family = AF_INET }, own = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons(
		(uint16_t)strtol(strrchr(http_server_address(crowd.server), ':') + 1, NULL, 10));
	inet_pton(AF_INET, ONE, &to.sin_addr);
	inet_pton(AF_INET, from, &own.sin_addr);
	CHECK_INT(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
	CHECK_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

/* Of the next answer, which comes in one piece; 0 if the connection was closed instead. */
static int status_of(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[4096];
	ssize_t n = poll(&p, 1, PATIENCE_MS) > 0 ? recv(fd, bytes, sizeof bytes - 1, 0) : -1;

	if (n <= 12)
		return 0;
	bytes[n] = '\0';
	return (int)strtol(bytes + 9, NULL, 10);
}

static int asks(const char *from)
{
	int fd = dial(from), status;

	say(fd, ONCE);
	status = status_of(fd);
	close(fd);
	return status;
}

static bool is_open(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) != 0;
}

static int count_open(const int *fds, int n)
{
	int open = 0;

	for (int i = 0; i < n; i++)
		open += is_open(fds[i]);
	return open;
}

/* n connections of one address, each with that on it; where an answer is due it has come. */
static void fill(int *fds, int n, const char *from, const char *text)
{
	for (int i = 0; i < n; i++) {
		fds[i] = dial(from);
		say(fds[i], text);
		if (strncmp(text, KEEP, strlen(KEEP)) == 0)
			CHECK_INT(status_of(fds[i]), 200);
	}
}

static void close_all(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

static void await_open(uint64_t n)
{
	for (int i = 0; i < PATIENCE_MS && http_server_stats(crowd.server).open != n; i++)
		poll(NULL, 0, 1);
	CHECK_INT(http_server_stats(crowd.server).open, n);
}

static const struct http_limits few = { .max_connections = MOST };

TEST(http_crowd_who_rests_makes_room)
{
	int fds[MOST];

	crowd_open(few);
	fill(fds, MOST, ONE, KEEP);
	CHECK_INT(asks(TWO), 200);
	CHECK_INT(http_server_stats(crowd.server).replaced, 1);
	CHECK_INT(http_server_stats(crowd.server).refused, 0);
	test_step("the one that has rested longest, in its loop");
	CHECK_INT(count_open(fds, MOST), MOST - 1);
	CHECK_INT(count_open(fds, 2), 1);
	close_all(fds, MOST);
	await_open(0);

	test_step("also for more of the same address, and of a proxy");
	fill(fds, MOST, ONE, KEEP);
	CHECK_INT(asks(ONE), 200);
	close_all(fds, MOST);
	await_open(0);
	fill(fds, MOST, PROXY, KEEP);
	CHECK_INT(asks(PROXY), 200);
	CHECK_INT(asks(TWO), 200);
	close_all(fds, MOST);
	crowd_close();
}

TEST(http_crowd_nobody_is_driven_out_by_who_has_too_many)
{
	int theirs[SHARE], many[MOST - SHARE], more[3 * MOST];

	crowd_open(few);
	fill(theirs, SHARE, TWO, KEEP);
	fill(many, MOST - SHARE, ONE, KEEP);
	fill(more, 3 * MOST, ONE, KEEP);
	CHECK_INT(http_server_stats(crowd.server).replaced, 3 * MOST);
	for (int i = 0; i < SHARE; i++) {
		say(theirs[i], KEEP);
		CHECK_INT(status_of(theirs[i]), 200);
	}
	close_all(theirs, SHARE);
	close_all(many, MOST - SHARE);
	close_all(more, 3 * MOST);
	crowd_close();
}

TEST(http_crowd_who_says_half_a_thing_makes_room_for_others)
{
	static const char *const said[] = { "", HALF, SLOW };
	int fds[MOST];

	crowd_open(few);
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		test_step("all have said \"%s\"", said[i]);
		fill(fds, MOST, ONE, said[i]);
		await_open(MOST);
		CHECK_INT(asks(ONE), strcmp(said[i], SLOW) == 0 ? 503 : 200);
		CHECK_INT(asks(TWO), 200);
		close_all(fds, MOST);
		await_open(0);
	}
	test_step("after a proxy nobody has more than a share");
	fill(fds, MOST, PROXY, SLOW);
	await_open(MOST);
	CHECK_INT(asks(TWO), 503);
	close_all(fds, MOST);
	crowd_close();
}

/* As many addresses as it takes, none with more than its share. */
static void fill_within_shares(int *fds, int n, const char *text)
{
	for (int i = 0; i < n; i++) {
		char from[INET_ADDRSTRLEN];

		snprintf(from, sizeof from, "127.0.1.%d", 1 + i / SHARE);
		fill(fds + i, 1, from, text);
	}
}

TEST(http_crowd_who_has_asked_nothing_makes_room_whatever_its_share)
{
	static const char *const said[] = { "", "\r\n", HALF, KEEP HALF };
	int fds[MOST];

	crowd_open(few);
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		test_step("all have said \"%s\"", said[i]);
		fill_within_shares(fds, MOST, said[i]);
		await_open(MOST);
		for (int k = 0; k < 2 * MOST; k++)
			CHECK_INT(asks(TWO), 200);
		CHECK_INT(http_server_stats(crowd.server).refused, 0);
		close_all(fds, MOST);
		await_open(0);
	}
	crowd_close();
}

static void await_replaced(uint64_t n)
{
	for (int i = 0; i < PATIENCE_MS && http_server_stats(crowd.server).replaced != n; i++)
		poll(NULL, 0, 1);
	CHECK_INT(http_server_stats(crowd.server).replaced, n);
}

TEST(http_crowd_who_says_nothing_drives_out_nobody_who_was_served)
{
	enum { SERVED = MOST / 2, SILENT = MOST - SERVED };
	int served[SERVED], silent[SILENT], more[3 * MOST];

	crowd_open(few);
	fill(served, SERVED, ONE, KEEP); /* more than a share, even */
	fill(silent, SILENT, PROXY, "");
	await_open(MOST);
	for (int i = 0; i < 3 * MOST; i++) {
		more[i] = dial(PROXY);
		await_replaced((uint64_t)i + 1);
	}
	test_step("the oldest went");
	CHECK_INT(count_open(silent, SILENT), 0);
	CHECK_INT(count_open(more, 3 * MOST - SILENT), 0);
	CHECK_INT(count_open(more + 3 * MOST - SILENT, SILENT), SILENT);
	for (int i = 0; i < SERVED; i++) {
		say(served[i], KEEP);
		CHECK_INT(status_of(served[i]), 200);
	}
	close_all(served, SERVED);
	close_all(silent, SILENT);
	close_all(more, 3 * MOST);
	crowd_close();
}

/* The loop is held up while a newcomer comes first and the next request of the oldest at rest after it. */
TEST(http_crowd_who_has_just_asked_is_not_at_rest)
{
	int fds[MOST], newcomer;

	CHECK_INT(sem_init(&crowd.at_gate, 0, 0), 0);
	CHECK_INT(sem_init(&crowd.gate, 0, 0), 0);
	crowd_open_in(1, few);
	fill(fds, MOST, PROXY, KEEP);
	say(fds[MOST - 1], GATE);
	CHECK_INT(sem_wait(&crowd.at_gate), 0);
	newcomer = dial(TWO);
	say(newcomer, ONCE);
	say(fds[0], KEEP);
	sem_post(&crowd.gate);
	CHECK_INT(status_of(newcomer), 200);
	CHECK_INT(status_of(fds[0]), 200);
	CHECK_INT(http_server_stats(crowd.server).replaced, 1);
	CHECK(is_open(fds[0]));
	CHECK(!is_open(fds[1]));
	say(fds[0], KEEP);
	CHECK_INT(status_of(fds[0]), 200);
	close(newcomer);
	close_all(fds, MOST);
	crowd_close();
	sem_destroy(&crowd.at_gate);
	sem_destroy(&crowd.gate);
}

TEST(http_crowd_slow_bodies_of_strangers_make_room)
{
	struct http_limits soon = few;
	int fds[MOST], status = 0;

	soon.stalled_ms = 20;
	crowd_open(soon);
	fill_within_shares(fds, MOST, SLOW);
	for (int i = 0; i < PATIENCE_MS / 10 && (status = asks(TWO)) == 503; i++)
		poll(NULL, 0, 10);
	CHECK_INT(status, 200);
	close_all(fds, MOST);
	await_open(0);

	test_step("not of those who were looked at");
	fill_within_shares(fds, MOST, VOUCHED);
	await_open(MOST);
	poll(NULL, 0, 3 * soon.stalled_ms);
	CHECK_INT(asks(TWO), 503);
	CHECK_INT(count_open(fds, MOST), MOST);
	close_all(fds, MOST);
	crowd_close();
}

/* Those who are refused and stay to hear it take no place from who would get one. */
TEST(http_crowd_the_refused_stand_in_nobodys_way)
{
	enum { REFUSED = 80 };
	int fds[MOST], crying[REFUSED];

	crowd_open(few);
	fill(fds, MOST, ONE, KEEP HALF);
	fill(crying, REFUSED, ONE, "");
	CHECK_INT(asks(TWO), 200);
	close_all(fds, MOST);
	close_all(crying, REFUSED);
	crowd_close();
}

TEST(http_crowd_what_is_worked_on_stays)
{
	int fds[MOST];

	crowd_open(few);
	fill(fds, MOST, ONE, PARKED);
	for (int i = 0; i < PATIENCE_MS; i++) {
		pthread_mutex_lock(&crowd.lock);
		if (crowd.parked_count == MOST)
			i = PATIENCE_MS;
		pthread_mutex_unlock(&crowd.lock);
		poll(NULL, 0, 1);
	}
	CHECK_INT(asks(TWO), 503);
	CHECK_INT(http_server_stats(crowd.server).refused, 1);
	CHECK_INT(count_open(fds, MOST), MOST);
	crowd_close();
	close_all(fds, MOST);
}

/* How many of those who open a head that they do not end are kept waiting, rather than answered 503. */
static int heads(int *fds, const char *from)
{
	char text[12 * 1024];
	int kept = 0;

	memset(text, 'a', sizeof text);
	text[sizeof text - 1] = '\0';
	memcpy(text, HALF, strlen(HALF));
	for (int i = 0; i < HEADS; i++) {
		struct pollfd p = { .events = POLLIN };
		uint64_t before = http_server_stats(crowd.server).faults;

		p.fd = fds[i] = dial(from);
		say(fds[i], text);
		/* refused at once or never: what is before it has been counted */
		if (http_server_stats(crowd.server).faults > before || poll(&p, 1, 1) > 0)
			continue;
		kept++;
	}
	return kept;
}

TEST(http_crowd_heads_that_are_not_whole_are_counted)
{
	enum { ADDRESS = 2 << 20, SLACK = 1 << 20, STEPS = 2 * 256 * 1024 };
	int fds[HEADS], others[HEADS];

	crowd_open((struct http_limits){ .max_connections = 1000, .max_address_head = ADDRESS });
	CHECK(heads(fds, ONE) < HEADS);
	test_step("counted, and bounded for one address");
	CHECK(crowd.house.peak > ADDRESS - SLACK);
	CHECK(crowd.house.peak < ADDRESS + SLACK);
	test_step("not for another");
	CHECK_INT(asks(TWO), 200);
	heads(others, TWO);
	CHECK(crowd.house.peak > 2 * ADDRESS - SLACK);
	CHECK(crowd.house.peak < 2 * ADDRESS + SLACK);
	test_step("a request that is whole is served all the same");
	CHECK_INT(asks(ONE), 200);
	close_all(fds, HEADS);
	close_all(others, HEADS);
	await_open(0);
	CHECK(crowd.house.held < STEPS);
	crowd_close();

	test_step("and in all");
	crowd.house.max = ADDRESS;
	crowd_open((struct http_limits){ .max_connections = 1000 });
	heads(fds, PROXY);
	CHECK(crowd.house.peak < ADDRESS + SLACK);
	close_all(fds, HEADS);
	await_open(0);
	CHECK(crowd.house.held < STEPS);
	crowd_close();
	crowd.house.max = 0;
}
