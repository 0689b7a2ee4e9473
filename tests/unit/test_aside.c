/* test_aside.c - large bodies are read off the loops, in turns: while they wait, everybody else is served, one
 * tenant has its share of those who wait, and nobody works for a caller who has gone. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/pool.h"
#include "stream_fixture.h"

enum { LARGE = 80 * 1024, POOL = 100 /* as the fixture makes it */, PATIENCE_MS = 60000 };

/* Keeps the only thread that reads until it is let go. */
static struct blocker {
	struct work work;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool let_go, over;
} blocker = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static int block(struct work *w, struct db *none)
{
	(void)w;
	(void)none;
	pthread_mutex_lock(&blocker.lock);
	while (!blocker.let_go)
		pthread_cond_wait(&blocker.changed, &blocker.lock);
	pthread_mutex_unlock(&blocker.lock);
	return 0;
}

static void blocked(struct work *w, int err)
{
	(void)w;
	CHECK_INT(err, 0);
	pthread_mutex_lock(&blocker.lock);
	blocker.over = true;
	pthread_cond_broadcast(&blocker.changed);
	pthread_mutex_unlock(&blocker.lock);
}

static void stop_reading(struct fixture *f)
{
	blocker.let_go = blocker.over = false;
	blocker.work = (struct work){ .run = block, .done = blocked };
	CHECK_INT(pool_submit(f->app.reading, "nobody", &blocker.work), 0);
	for (int i = 0; i < PATIENCE_MS && pool_stats(f->app.reading).waiting; i++)
		usleep(1000);
}

static void read_on(void)
{
	pthread_mutex_lock(&blocker.lock);
	blocker.let_go = true;
	pthread_cond_broadcast(&blocker.changed);
	while (!blocker.over)
		pthread_cond_wait(&blocker.changed, &blocker.lock);
	pthread_mutex_unlock(&blocker.lock);
}

static int send_all(struct stream_fixture *s, const char *text, size_t len)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port =
		htons((uint16_t)strtol(strrchr(http_server_address(s->server), ':') + 1, NULL, 10));
	CHECK_INT(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	CHECK(send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len);
	return fd;
}

/* An agent, in a body that is mostly blanks. */
static int create(
	struct stream_fixture *s, const char *token, const char *tenant_id, const char *slug)
{
	struct buf text;
	int fd;

	buf_init(&text, 1 << 20);
	buf_printf(&text,
		"POST /tenant/%s/agents HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer %s\r\n"
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		tenant_id, token, LARGE);
	buf_printf(&text, "{\"name\":\"%s\",\"slug\":\"%s\"%*s}", slug, slug,
		LARGE - (int)strlen("{\"name\":\"\",\"slug\":\"\"}") - 2 * (int)strlen(slug), "");
	fd = send_all(s, text.at, text.len);
	buf_free(&text);
	return fd;
}

static int status_of(int fd)
{
	char bytes[4096];
	size_t len = 0;
	ssize_t n;

	while ((n = recv(fd, bytes + len, sizeof bytes - 1 - len, 0)) > 0)
		len += (size_t)n;
	bytes[len] = '\0';
	close(fd);
	return len > 12 ? (int)strtol(bytes + 9, NULL, 10) : 0;
}

static int get(struct stream_fixture *s, const char *path)
{
	const char *text = arena_printf(&s->f->arena,
		"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n",
		path, s->f->admin);

	return status_of(send_all(s, text, strlen(text)));
}

static void await_waiting(struct fixture *f, uint64_t n)
{
	for (int i = 0; i < PATIENCE_MS && pool_stats(f->app.reading).waiting < n; i++)
		usleep(1000);
	CHECK_INT(pool_stats(f->app.reading).waiting, n);
}

static int64_t agents_named(struct fixture *f, const char *slug)
{
	return fixture_count(
		f, arena_printf(&f->arena, "select count(*) from agents where slug = '%s'", slug));
}

TEST(aside_large_bodies_keep_nobody_waiting)
{
	struct linger at_once = { .l_onoff = 1 };
	struct stream_fixture s;
	int stays, goes;

	stream_fixture_open(&s, PATIENCE_MS);
	stop_reading(s.f);
	stays = create(&s, s.f->admin, s.f->tenant_id, "stays");
	await_waiting(s.f, 1);
	goes = create(&s, s.f->admin, s.f->tenant_id, "goes");
	await_waiting(s.f, 2);
	test_step("others are served meanwhile, on every loop");
	for (int i = 0; i < 4; i++) {
		CHECK_INT(get(&s, "/healthz"), 200);
		CHECK_INT(get(&s, "/me"), 200);
	}
	CHECK_INT(agents_named(s.f, "stays"), 0);
	test_step("nobody works for who has gone");
	setsockopt(goes, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	close(goes);
	for (int i = 0; i < PATIENCE_MS && http_server_stats(s.server).open > 1; i++)
		usleep(1000);
	read_on();
	CHECK_INT(status_of(stays), 201);
	CHECK_INT(status_of(create(&s, s.f->admin, s.f->tenant_id, "last")), 201);
	CHECK_INT(agents_named(s.f, "stays"), 1);
	CHECK_INT(agents_named(s.f, "goes"), 0);
	stream_fixture_close(&s);
}

TEST(aside_a_tenant_has_its_share_of_those_who_wait)
{
	enum { SHARE = POOL / POOL_SHARE };
	struct stream_fixture s;
	const char *token, *other;
	int fds[SHARE], theirs;

	stream_fixture_open(&s, PATIENCE_MS);
	other = fixture_tenant(s.f, "other", fixture_user(s.f, "other@lodge.test", &token));
	stop_reading(s.f);
	for (int i = 0; i < SHARE; i++)
		fds[i] = create(
			&s, s.f->admin, s.f->tenant_id, arena_printf(&s.f->arena, "agent-%d", i));
	await_waiting(s.f, SHARE);
	test_step("one more is too many for the tenant, and not for another");
	CHECK_INT(status_of(create(&s, s.f->admin, s.f->tenant_id, "more")), 503);
	theirs = create(&s, token, other, "theirs");
	await_waiting(s.f, SHARE + 1);
	read_on();
	CHECK_INT(status_of(theirs), 201);
	for (int i = 0; i < SHARE; i++)
		CHECK_INT(status_of(fds[i]), 201);
	CHECK_INT(agents_named(s.f, "more"), 0);
	stream_fixture_close(&s);
}
