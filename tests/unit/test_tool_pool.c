/* test_tool_pool.c - tools that take their time: what they answer, what becomes of those that hang, flood,
 * fail or lead astray, and that one tenant's do not hold up another's. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "peer_fixture.h"
#include "sessions/tool_outside.h"
#include "sessions/tool_run.h"
#include "t.h"

#define ANY_INPUT                                                                             \
	"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"key\":{\"type\":" \
	"\"string\"}}}"
enum { PATIENCE_S = 20 };

static void answer(struct peer *p, int fd, const char *request)
{
	const char *path = strchr(request, ' ') + 1, *end = strstr(request, "\r\n\r\n") + 4;
	static const char page[] =
		"<html><head><title>T &amp; U</title><style>x{}</style><script>if (a<b) go()</script>"
		"</head><body><p>One <b>two</b>\n three.</p><ul><li>x<li><a href=\"/y?a=1&amp;b=2\">y</a>"
		"</ul><!-- hidden --></body></html>";

	if (strncmp(path, "/hang", 5) == 0) {
		peer_hang(p, fd);
	} else if (strncmp(path, "/echo", 5) == 0) {
		peer_reply(fd, 200, "text/plain", request, strlen(request));
	} else if (strncmp(path, "/body", 5) == 0) {
		peer_reply(fd, 200, "application/json", end, strlen(end));
	} else if (strncmp(path, "/big", 4) == 0) {
		char *some = malloc(100000);

		memset(some, 'x', 100000);
		peer_say(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", 45);
		for (int i = 0; i < 1000 && peer_say(fd, some, 100000); i++)
			;
		free(some);
	} else if (strncmp(path, "/page", 5) == 0) {
		peer_reply(fd, 200, "text/html; charset=utf-8", page, strlen(page));
	} else if (strncmp(path, "/png", 4) == 0) {
		peer_reply(fd, 200, "image/png", "\x89PNG", 4);
	} else if (strncmp(path, "/latin", 6) == 0) {
		peer_reply(fd, 200, "text/plain; charset=ISO-8859-1", "caf\xe9 \x80", 6);
	} else if (strncmp(path, "/none", 5) == 0) {
		peer_reply(fd, 204, "text/plain", "", 0);
	} else if (strncmp(path, "/nul", 4) == 0) {
		peer_reply(fd, 200, "text/plain", "a\0b\xff", 4);
	} else if (strncmp(path, "/away", 5) == 0) {
		const char *to = "HTTP/1.1 302 X\r\nLocation: http://10.1.2.3/secret\r\n"
				 "Content-Length: 0\r\nConnection: close\r\n\r\n";

		peer_say(fd, to, strlen(to));
	} else {
		peer_reply(fd, 418, "text/plain", "a teapot", 8);
	}
}

/* ---- a call ---- */

struct tool_pool_fixture {
	struct arena arena;
	struct peer peer;
	struct vault *vault;
	struct tool_pool *pool;
};

static void fixture_begin(struct tool_pool_fixture *s, enum egress egress, size_t threads)
{
	struct vault_keys keys = { .count = 1, .key = { { 7 } } };
	struct tool_pool_settings settings = { .egress = egress, .threads_most = threads };

	*s = (struct tool_pool_fixture){ .vault = vault_new(&keys, NULL) };
	peer_open(&s->peer, answer);
	settings.vault = s->vault;
	s->pool = tool_pool_new(&settings);
}

static void fixture_end(struct tool_pool_fixture *s)
{
	tool_pool_free(s->pool);
	peer_close(&s->peer);
	vault_free(s->vault);
	arena_free(&s->arena);
}

struct heard {
	pthread_mutex_t lock;
	pthread_cond_t change;
	int count, failed;
	char text[TOOL_OUTPUT_MAX + 1];
	size_t whole_len;
};

static void done(void *data, const struct tool_answer *a)
{
	struct heard *h = data;

	pthread_mutex_lock(&h->lock);
	snprintf(h->text, sizeof h->text, "%s%s", a->failed ? "failed: " : "", a->text);
	h->whole_len = a->whole_len;
	h->count++;
	h->failed += a->failed;
	pthread_cond_broadcast(&h->change);
	pthread_mutex_unlock(&h->lock);
}

static void heard_await(struct heard *h, int count)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&h->lock);
	while (h->count < count)
		if (pthread_cond_timedwait(&h->change, &h->lock, &until) == ETIMEDOUT) {
			test_fail(__FILE__, __LINE__, "%d of %d came", h->count, count);
			break;
		}
	pthread_mutex_unlock(&h->lock);
}

#define HEARD                                                                         \
	{                                                                             \
		.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER \
	}

static int begin(struct tool_pool_fixture *s, const char *tenant, const struct held_tool *tool,
	const char *arguments, struct heard *h, struct tool_work **ret)
{
	struct tool_asked in = { .tenant_id = tenant,
		.agent_id = "a",
		.session_id = "s",
		.call_id = "c",
		.tool = tool,
		.arguments = arguments };
	struct tool_work *w;

	return tool_run_start(s->pool, &in, done, h, ret ? ret : &w);
}

static const char *run(struct tool_pool_fixture *s, const struct held_tool *tool,
	const char *arguments, size_t *ret_whole)
{
	struct heard h = HEARD;

	CHECK_INT(begin(s, "t", tool, arguments, &h, NULL), 0);
	heard_await(&h, 1);
	if (ret_whole)
		*ret_whole = h.whole_len;
	return arena_strdup(&s->arena, h.text);
}

static struct held_tool http_tool(struct tool_pool_fixture *s, const char *path, const char *more)
{
	return (struct held_tool){ .id = "tool-1",
		.name = "t",
		.kind = "http",
		.description = "",
		.input_schema = ANY_INPUT,
		.config = arena_printf(&s->arena,
			"{\"method\":\"GET\",\"url\":\"http://127.0.0.1:%d%s\"%s}", s->peer.port,
			path, more),
		.sealed = "" };
}

static const char *fetched(struct tool_pool_fixture *s, const char *path, const char *more)
{
	struct held_tool tool = { .id = "tool-2",
		.name = "http_fetch",
		.kind = "builtin",
		.description = "",
		.input_schema = "{}",
		.config = "{}",
		.sealed = "" };

	return run(s, &tool,
		arena_printf(&s->arena, "{\"url\":\"http://127.0.0.1:%d%s\"%s}", s->peer.port, path,
			more),
		NULL);
}

/* ---- what they answer ---- */

TEST(tool_pool_runs_http_tools)
{
	struct tool_pool_fixture s;
	struct held_tool tool;
	size_t whole;

	fixture_begin(&s, EGRESS_LOOPBACK, 0);
	tool = http_tool(&s, "/body/{{a}}", "");
	tool.config = arena_printf(&s.arena,
		"{\"method\":\"POST\",\"url\":\"http://127.0.0.1:%d/body\",\"body\":{\"x\":\"{{a}}\"}}",
		s.peer.port);
	CHECK_STR(run(&s, &tool, "{\"a\":\"\xc3\xa9\"}", NULL), "{\"x\":\"\xc3\xa9\"}");
	tool = http_tool(&s, "/none", "");
	CHECK_STR(run(&s, &tool, "{}", NULL), "The service answered 204 without a body.");
	tool = http_tool(&s, "/other", "");
	CHECK_STR(run(&s, &tool, "{}", NULL), "failed: The service answered 418.\na teapot");
	tool = http_tool(&s, "/nul", "");
	CHECK_STR(run(&s, &tool, "{}", NULL), "a\xef\xbf\xbd"
					      "b\xef\xbf\xbd");
	tool = http_tool(&s, "/body/{{a}}", "");
	CHECK_STR(run(&s, &tool, "{}", NULL),
		"failed: The tool was not called: The argument a is part of the path and must be a "
		"string, a number, true or false.");
	/* 100 MB, of which 8 MiB are read */
	tool = http_tool(&s, "/big", "");
	CHECK(strstr(run(&s, &tool, "{}", &whole),
		"of more than 8388608. What was read of it is kept in the files of this session.]"));
	CHECK_INT(whole, TOOL_WHOLE_MAX);
	tool = http_tool(&s, "/away", ",\"allowed_hosts\":[\"10.1.2.3\"]");
	CHECK_STR(run(&s, &tool, "{}", NULL),
		"failed: The call failed: the address is not one that may be called.");
	fixture_end(&s);
}

TEST(tool_pool_keeps_secrets_from_the_model)
{
	struct tool_pool_fixture s;
	struct held_tool tool;
	const char *secrets = "{\"Authorization\":\"Bearer s3cret-value\"}",
		   *settings = "{\"key\":\"another-s3cret\",\"unknown\":\"not an argument\"}", *got;

	fixture_begin(&s, EGRESS_LOOPBACK, 0);
	tool = http_tool(
		&s, "/echo?key={{key}}&a={{a}}", ",\"headers\":{\"Authorization\":\"********\"}");
	tool.sealed = vault_seal(s.vault, &s.arena, SEALED_TOOL, tool.id, secrets, strlen(secrets));
	tool.grant_id = "grant-1";
	tool.configuration = vault_seal(
		s.vault, &s.arena, SEALED_TOOL, tool.grant_id, settings, strlen(settings));
	/* what is set for the agent stands before what the model says */
	got = run(&s, &tool, "{\"a\":\"plain\",\"key\":\"mine\"}", NULL);
	CHECK(strstr(got, "GET /echo?key=********&a=plain "));
	CHECK(strstr(got, "Authorization: ********\r\n"));
	CHECK(!strstr(got, "s3cret") && !strstr(got, "mine") && !strstr(got, "not an argument"));
	/* sealed under another key: nothing is sent */
	tool.sealed =
		vault_seal(s.vault, &s.arena, SEALED_TOOL, "tool-9", secrets, strlen(secrets));
	CHECK_INT(s.peer.asked, 1);
	CHECK(strstr(run(&s, &tool, "{}", NULL), "failed: The tool was not called: its secrets"));
	CHECK_INT(s.peer.asked, 1);
	/* and a configuration that the schema refuses */
	tool.sealed = vault_seal(s.vault, &s.arena, SEALED_TOOL, tool.id, secrets, strlen(secrets));
	settings = "{\"key\":5}";
	tool.configuration = vault_seal(
		s.vault, &s.arena, SEALED_TOOL, tool.grant_id, settings, strlen(settings));
	CHECK(strstr(
		run(&s, &tool, "{}", NULL), "failed: The tool was not called: what is set for"));
	CHECK_INT(s.peer.asked, 1);
	fixture_end(&s);
}

TEST(tool_pool_fetches_pages_as_text)
{
	struct tool_pool_fixture s;

	fixture_begin(&s, EGRESS_LOOPBACK, 0);
	CHECK_STR(
		fetched(&s, "/page#there", ""), "T & U\n\nOne two three.\n\n- x\n- y (/y?a=1&b=2)");
	CHECK_STR(fetched(&s, "/page", ",\"max_bytes\":5"),
		"T & U\n\n[Cut at max_bytes: 5 of 43 bytes are shown.]");
	CHECK_STR(fetched(&s, "/latin", ""), "caf\xc3\xa9 \xe2\x82\xac");
	CHECK_STR(fetched(&s, "/png", ""),
		"failed: The address answered 200 with image/png, which is not text and cannot be "
		"read.");
	CHECK_STR(fetched(&s, "/other", ""), "failed: The address answered 418: a teapot");
	CHECK_STR(fetched(&s, "/away", ""),
		"failed: The address could not be read: the address is not one that may be called.");
	CHECK(strstr(fetched(&s, "/big", ",\"max_bytes\":1048576"), "of more than 1048576"));
	fixture_end(&s);
	/* not this machine, unless that is permitted */
	fixture_begin(&s, EGRESS_PUBLIC, 0);
	CHECK_STR(fetched(&s, "/page", ""),
		"failed: The address could not be read: the address is not one that may be called.");
	CHECK_INT(s.peer.asked, 0);
	fixture_end(&s);
}

/* ---- time and fairness ---- */

TEST(tool_pool_ends_what_hangs)
{
	struct tool_pool_fixture s;
	struct held_tool tool;
	struct heard h = HEARD;
	struct tool_work *w;
	int64_t began = clock_mono_ms();

	fixture_begin(&s, EGRESS_LOOPBACK, 0);
	tool = http_tool(&s, "/hang", ",\"timeout_s\":1");
	CHECK(strstr(run(&s, &tool, "{}", NULL), "failed: The call failed: "));
	CHECK(clock_mono_ms() - began >= 900 && clock_mono_ms() - began < 5000);
	/* or once it is no longer wanted */
	tool = http_tool(&s, "/hang", "");
	began = clock_mono_ms();
	CHECK_INT(begin(&s, "t", &tool, "{}", &h, &w), 0);
	while (s.peer.asked < 2)
		usleep(1000);
	tool_run_cancel(w);
	heard_await(&h, 1);
	CHECK_STR(h.text, "failed: The call was cancelled.");
	CHECK(clock_mono_ms() - began < 5000);
	fixture_end(&s);
}

TEST(tool_pool_shares_its_threads_among_tenants)
{
	enum { FLOOD = 50 };
	struct tool_pool_fixture s;
	struct held_tool hang, quick;
	struct heard slow = HEARD, fast = HEARD;
	struct tool_work *works[FLOOD];
	int err = 0, begun = 0;

	fixture_begin(&s, EGRESS_LOOPBACK, 8); /* a tenant has two of them */
	hang = http_tool(&s, "/hang", "");
	quick = http_tool(&s, "/other", "");
	for (int i = 0; i < FLOOD; i++)
		CHECK_INT(begin(&s, "one", &hang, "{}", &slow, &works[i]), 0);
	for (int i = 0; i < FLOOD; i++)
		CHECK_INT(begin(&s, "two", &quick, "{}", &fast, NULL), 0);
	heard_await(&fast, FLOOD);
	CHECK_INT(slow.count, 0);
	CHECK_INT(s.peer.asked, FLOOD + 2);
	/* those in line can be called off without waiting for the others */
	tool_run_cancel(works[FLOOD - 1]);
	tool_run_cancel(works[10]);
	heard_await(&slow, 2);
	/* the line has an end, for this tenant alone */
	while (!(err = begin(&s, "one", &hang, "{}", &slow, NULL)))
		begun++;
	CHECK_INT(err, ERR_BUSY);
	CHECK_INT(begun, 256 - (FLOOD - 2 - 2));
	CHECK_INT(begin(&s, "two", &quick, "{}", &fast, NULL), 0);
	heard_await(&fast, FLOOD + 1);
	/* whatever is there when the pool ends is answered */
	tool_pool_free(s.pool);
	s.pool = NULL;
	CHECK_INT(slow.count, FLOOD + begun);
	CHECK_INT(slow.failed, slow.count);
	fixture_end(&s);
}

/* From many threads at once, with some called off. */
struct caller {
	struct tool_pool_fixture *fixture;
	struct held_tool *tool;
	int number;
	struct heard heard;
};

static void *call_many(void *arg)
{
	struct caller *c = arg;

	for (int i = 0; i < 20; i++) {
		struct tool_work *w;

		if (begin(c->fixture, i % 2 ? "one" : "two", c->tool, "{\"a\":\"x\"}", &c->heard,
			    &w))
			test_fail(__FILE__, __LINE__, "not taken");
		heard_await(&c->heard, i + 1);
	}
	return NULL;
}

TEST(tool_pool_serves_many_callers)
{
	enum { CALLERS = 8 };
	struct tool_pool_fixture s;
	struct held_tool tool;
	struct caller callers[CALLERS];
	pthread_t threads[CALLERS];

	fixture_begin(&s, EGRESS_LOOPBACK, 6);
	tool = http_tool(&s, "/body", "");
	for (int i = 0; i < CALLERS; i++) {
		callers[i] = (struct caller){ .fixture = &s, .tool = &tool, .heard = HEARD };
		CHECK(pthread_create(&threads[i], NULL, call_many, &callers[i]) == 0);
	}
	for (int i = 0; i < CALLERS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_INT(callers[i].heard.count, 20);
		CHECK_INT(callers[i].heard.failed, 0);
	}
	fixture_end(&s);
}
