/* test_http_tool.c - requests made from arguments that try to get out of their places, and where they
 * may be sent: to a server on this machine with the setting on, nowhere near it with the setting off. */
#include "outside/http_tool.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "t.h"

/* ---- rendering ---- */

#define ANY_INPUT "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{},\"c\":{}}}"

static bool read_config(
	struct arena *a, const char *text, struct tool_config *ret, struct problem *p)
{
	struct json_violations v;
	struct json_schema *input = json_schema_compile(a, ANY_INPUT, strlen(ANY_INPUT), &v);

	*p = (struct problem){ 0 };
	return !tool_config_read(a, TOOL_HTTP, text, EGRESS_ANY, input, ret, p);
}

/* "METHOD url|Name: value|body", or the sentence of the refusal. */
static const char *rendered(struct arena *a, const char *config, const char *arguments)
{
	struct tool_config c;
	struct problem p;
	struct fetch f;
	const char *why, *out;

	if (!read_config(a, config, &c, &p))
		return arena_printf(a, "config: %s %s", p.first->field, p.first->message);
	if (http_tool_render(
		    &c, json_tree(a, arguments, strlen(arguments), NULL, NULL), a, &f, &why))
		return why;
	out = arena_printf(a, "%s %s", f.method, f.url);
	for (size_t i = 0; i < f.header_count; i++)
		out = arena_printf(a, "%s|%s: %s", out, f.headers[i].name, f.headers[i].value);
	return f.body ? arena_printf(a, "%s|%.*s", out, (int)f.body_len, f.body) : out;
}

TEST(http_tool_keeps_arguments_in_their_places)
{
	static const struct {
		const char *config, *arguments, *request;
	} rows[] = {
#define PATH "{\"method\":\"GET\",\"url\":\"https://h.example/x/{{a}}/y\"}"
		{ PATH, "{\"a\":\"b c\"}", "GET https://h.example/x/b%20c/y" },
		{ PATH, "{\"a\":\"../../admin\"}", "GET https://h.example/x/..%2F..%2Fadmin/y" },
		{ PATH, "{\"a\":\"?q=1#f\"}", "GET https://h.example/x/%3Fq%3D1%23f/y" },
		{ PATH, "{\"a\":\"%2e%2e\"}", "GET https://h.example/x/%252e%252e/y" },
		{ PATH, "{\"a\":7}", "GET https://h.example/x/7/y" },
		{ PATH, "{\"a\":\"..\"}", "An argument would change the path of the address." },
		{ PATH, "{\"a\":\".\"}", "An argument would change the path of the address." },
		{ PATH, "{\"a\":\"\"}",
			"The argument a is part of the path and must not be empty." },
		{ PATH, "{}",
			"The argument a is part of the path and must be a string, a number, true or "
			"false." },
		{ PATH, "{\"a\":[1]}",
			"The argument a is part of the path and must be a string, a number, true or "
			"false." },
		{ PATH, "{\"a\":\"\\u0000\"}", "An argument holds a NUL." },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/.{{a}}\"}", "{\"a\":\".\"}",
			"An argument would change the path of the address." },
#define QUERY "{\"method\":\"GET\",\"url\":\"https://h.example/s?q={{a}}&n={{b}}&fixed=1\"}"
		{ QUERY, "{\"a\":\"x&n=9\",\"b\":2}",
			"GET https://h.example/s?q=x%26n%3D9&n=2&fixed=1" },
		{ QUERY, "{\"b\":true}", "GET https://h.example/s?n=true&fixed=1" },
		{ QUERY, "{\"a\":null,\"b\":[1,\"x\"]}",
			"GET https://h.example/s?n=%5B1%2C%22x%22%5D&fixed=1" },
#define HEADER                                                                                         \
	"{\"method\":\"GET\",\"url\":\"https://h.example/\",\"headers\":{\"X-A\":\"v {{a}}\",\"X-B\":" \
	"\"{{b}}\"}}"
		{ HEADER, "{\"a\":\"1\",\"b\":\"2\"}", "GET https://h.example/|X-A: v 1|X-B: 2" },
		{ HEADER, "{\"a\":\"1\"}", "GET https://h.example/|X-A: v 1" },
		{ HEADER, "{\"a\":\"1\\r\\nX-Evil: 1\"}",
			"An argument of the header X-A holds a control character." },
#define JSON_BODY                                                                                          \
	"{\"method\":\"POST\",\"url\":\"https://h.example/\",\"body\":{\"n\":\"{{a}}\",\"s\":\"<{{b}}>\"," \
	"\"l\":[\"{{c}}\",true]}}"
		{ JSON_BODY, "{\"a\":3,\"b\":\"q\\\",\\\"z\\\":1\",\"c\":{\"k\":[null]}}",
			"POST https://h.example/|Content-Type: application/json|{\"l\":[{\"k\":[null]},"
			"true],\"n\":3,\"s\":\"<q\\\",\\\"z\\\":1>\"}" },
		{ JSON_BODY, "{}",
			"POST https://h.example/|Content-Type: application/json|{\"l\":[null,true],"
			"\"n\":null,\"s\":\"<>\"}" },
		{ "{\"method\":\"POST\",\"url\":\"https://h.example/\",\"body\":\"{\\\"x\\\":\\\"{{a}}\\\"}\"}",
			"{\"a\":\"\\\"\"}",
			"POST https://h.example/|Content-Type: application/json|{\"x\":\"\\\"\"}" },
		{ "{\"method\":\"POST\",\"url\":\"https://h.example/\",\"headers\":{\"Content-Type\":"
		  "\"application/x-www-form-urlencoded\"},\"body\":\"x={{a}}&y=1\"}",
			"{\"a\":\"1&y=2\"}",
			"POST https://h.example/|Content-Type: application/x-www-form-urlencoded|"
			"x=1%26y%3D2&y=1" },
		{ "{\"method\":\"PUT\",\"url\":\"https://h.example/\",\"headers\":{\"Content-Type\":"
		  "\"text/plain\"},\"body\":\"say {{a}}\"}",
			"{\"a\":\"hi\"}",
			"PUT https://h.example/|Content-Type: text/plain|say hi" },
	};
	struct arena a = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_STR(rendered(&a, rows[i].config, rows[i].arguments), rows[i].request);
	arena_free(&a);
}

TEST(tool_config_is_refused_with_every_fault)
{
	static const struct {
		const char *config, *fault;
	} rows[] = {
		{ "{\"method\":\"GET\",\"url\":\"https://{{a}}.example/\"}",
			"config: config.url must not have a place in its scheme, host or port" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example:{{a}}/\"}",
			"config: config.url must not have a place in its scheme, host or port" },
		{ "{\"method\":\"GET\",\"url\":\"{{a}}\"}",
			"config: config.url must not have a place in its scheme, host or port" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/{{d}}\"}",
			"config: config.url has the place {{d}}, which is not a property of "
			"input_schema" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/{{a\"}",
			"config: config.url has {{ without the name of an argument and }}" },
		{ "{\"method\":\"GET\",\"url\":\"https://u:p@h.example/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"GET\",\"url\":\"https:///{{a}}/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"GET\",\"url\":\"https://\\\\h.example/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"GET\",\"url\":\"HTTPS://h.example/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example@evil.example/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example%2f/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"GET\",\"url\":\"ftp://h.example/\"}",
			"config: config.url must be an http or https URL without user, password and "
			"fragment" },
		{ "{\"method\":\"TRACE\",\"url\":\"https://h.example/\"}",
			"config: config.method must be one of: GET, HEAD, POST, PUT, PATCH, DELETE" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/\",\"body\":{}}",
			"config: config.body does not go with GET" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/\",\"headers\":{\"A B\":\"x\"}}",
			"config: config.headers.A B is not the name of a header" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/\",\"headers\":{\"Host\":\"x\"}}",
			"config: config.headers.Host is set by the service itself" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/\",\"headers\":{\"A\":\"x\\ny\"}}",
			"config: config.headers.A must not hold control characters" },
		{ "{\"method\":\"GET\",\"url\":\"https://h.example/\",\"more\":1}",
			"config: config.more is not a field of such a config" },
		{ "{\"method\":\"POST\",\"url\":\"https://h.example/\",\"body\":\"{x}\"}",
			"config: config.body is not JSON, as its Content-Type says: at byte 1: this is not "
			"the beginning of a value" },
		{ "{\"method\":\"POST\",\"url\":\"https://h.example/\",\"body\":{\"{{a}}\":1}}",
			"config: config.body must not have a place in the name of a member" },
	};
	struct arena a = { 0 };
	struct tool_config c;
	struct problem p;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		CHECK_STR(rendered(&a, rows[i].config, "{}"), rows[i].fault);
	CHECK(!read_config(
		&a, "{\"method\":\"X\",\"headers\":{\"Te\":\"a\"},\"body\":\"{{d}}\"}", &c, &p));
	CHECK_INT(p.count, 4); /* url, method, the header, the body: all of them */
	arena_free(&a);
}

/* ---- a server on this machine ---- */

struct server {
	int listener, port;
	pthread_t thread;
	atomic_bool stop;
	atomic_int redirect_status;
	_Atomic(const char *) redirect_to; /* of /go */
	char seen[8][4096];		   /* the requests as they came */
	atomic_int count;		   /* of requests that are all in `seen` */
};

static void answer_one(struct server *s, int fd)
{
	char *text = s->seen[s->count % 8], *end;
	char reply[8192];
	size_t len = 0, want = 0;
	ssize_t n;

	while (len < sizeof s->seen[0] - 1 &&
		(n = read(fd, text + len, sizeof s->seen[0] - 1 - len)) > 0) {
		len += (size_t)n;
		text[len] = '\0';
		end = strstr(text, "\r\n\r\n");
		if (end && !want) {
			const char *length = strcasestr(text, "content-length: ");

			want = (size_t)(end - text) + 4 +
			       (length ? strtoul(length + 16, NULL, 10) : 0);
		}
		if (want && len >= want)
			break;
	}
	s->count++;
	if (strncmp(strchr(text, ' ') + 1, "/go", 3) == 0)
		snprintf(reply, sizeof reply,
			"HTTP/1.1 %d Found\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
			s->redirect_status, s->redirect_to);
	else if (strncmp(strchr(text, ' ') + 1, "/big", 4) == 0)
		snprintf(reply, sizeof reply,
			"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\nConnection: close\r\n\r\n");
	else
		snprintf(reply, sizeof reply,
			"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
			"Connection: close\r\n\r\nok");
	if (send(fd, reply, strlen(reply), MSG_NOSIGNAL) < 0 || !strstr(reply, " 100000000"))
		return;
	/* it goes on until nobody takes it any more */
	memset(reply, 'x', sizeof reply);
	for (int left = 100000000; left > 0; left -= (int)sizeof reply)
		if (send(fd, reply, sizeof reply, MSG_NOSIGNAL) < 0)
			return;
}

static void *serve(void *ctx)
{
	struct server *s = ctx;

	while (!s->stop) {
		int fd = accept(s->listener, NULL, NULL);

		if (fd < 0)
			continue;
		if (!s->stop)
			answer_one(s, fd);
		close(fd);
	}
	return NULL;
}

static struct server *server_start(void)
{
	struct server *s = calloc(1, sizeof *s);
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof at;

	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(s->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
		listen(s->listener, 8) == 0);
	getsockname(s->listener, (struct sockaddr *)&at, &len);
	s->port = ntohs(at.sin_port);
	CHECK(pthread_create(&s->thread, NULL, serve, s) == 0);
	return s;
}

static void server_stop(struct server *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)s->port),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	s->stop = true;
	CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0);
	pthread_join(s->thread, NULL);
	close(fd);
	close(s->listener);
	free(s);
}

static const char *seen(struct server *s, int n)
{
	return s->count > n ? s->seen[n] : "";
}

/* "status body", or why not. */
static const char *run_with(struct arena *a, const char *config, const char *arguments,
	enum egress egress, fetch_fn *fetch)
{
	struct tool_config c;
	struct problem p;
	struct fetched got;
	const char *why = "";

	if (!read_config(a, config, &c, &p))
		return arena_printf(a, "config: %s %s", p.first->field, p.first->message);
	if (http_tool_run(&c, arguments, strlen(arguments), egress, NULL, fetch, a, &got, &why))
		return why;
	return arena_printf(a, "%d %s", got.status, got.body);
}

TEST(http_tool_calls_a_server)
{
	struct server *s = server_start();
	struct arena a = { 0 };
	const char *big,
		*config = arena_printf(&a,
			"{\"method\":\"POST\",\"url\":\"http://127.0.0.1:%d/items/{{a}}?n={{b}}\","
			"\"headers\":{\"Authorization\":\"Bearer hidden\"},\"body\":{\"a\":\"{{a}}\"}}",
			s->port);

	CHECK_STR(run_with(&a, config, "{\"a\":\"x y\",\"b\":2}", EGRESS_ANY, fetch_run), "200 ok");
	CHECK(strncmp(seen(s, 0), "POST /items/x%20y?n=2 HTTP/1.1\r\n", 32) == 0);
	CHECK(strstr(seen(s, 0), "\r\nAuthorization: Bearer hidden\r\n"));
	CHECK(strstr(seen(s, 0), "\r\nContent-Type: application/json\r\n"));
	CHECK(strstr(seen(s, 0), "\r\n\r\n{\"a\":\"x y\"}"));
	CHECK(!strcasestr(seen(s, 0), "expect:"));
	config = arena_printf(
		&a, "{\"method\":\"GET\",\"url\":\"http://127.0.0.1:%d/big\"}", s->port);
	big = run_with(&a, config, "{}", EGRESS_ANY, fetch_run);
	CHECK_INT(strlen(big), strlen("200 ") + HTTP_TOOL_ANSWER_MAX);
	config =
		arena_printf(&a, "{\"method\":\"HEAD\",\"url\":\"http://127.0.0.1:%d/\"}", s->port);
	CHECK_STR(run_with(&a, config, "{}", EGRESS_ANY, fetch_run), "200 ");
	CHECK(strncmp(seen(s, 2), "HEAD / ", 7) == 0);
	server_stop(s);
	arena_free(&a);
}

TEST(http_tool_follows_redirects_only_where_allowed)
{
	struct server *s = server_start();
	struct arena a = { 0 };
	const char *plain = arena_printf(&a,
		"{\"method\":\"POST\",\"url\":\"http://127.0.0.1:%d/go\",\"headers\":{"
		"\"Authorization\":\"Bearer hidden\",\"X-Key\":\"hidden\",\"Accept\":\"text/plain\"},"
		"\"body\":{\"k\":1}}",
		s->port);
	const char *wider = arena_printf(
		&a, "%.*s,\"allowed_hosts\":[\"localhost\"]}", (int)strlen(plain) - 1, plain);

	/* the same origin: the secrets go along; 303 turns it into a GET */
	s->redirect_status = 303;
	s->redirect_to = "/there";
	CHECK_STR(run_with(&a, plain, "{}", EGRESS_ANY, fetch_run), "200 ok");
	CHECK(strncmp(seen(s, 1), "GET /there ", 11) == 0);
	CHECK(strstr(seen(s, 1), "X-Key: hidden") && !strstr(seen(s, 1), "{\"k\":1}"));
	/* another host: not unless it is allowed, and then without secrets; 307 keeps the rest */
	s->redirect_status = 307;
	s->redirect_to = arena_printf(&a, "http://localhost:%d/there", s->port);
	CHECK_STR(run_with(&a, plain, "{}", EGRESS_ANY, fetch_run),
		"it redirects to localhost, which is not among allowed_hosts");
	CHECK_INT(s->count, 3);
	CHECK_STR(run_with(&a, wider, "{}", EGRESS_ANY, fetch_run), "200 ok");
	CHECK(strncmp(seen(s, 4), "POST /there ", 12) == 0 && strstr(seen(s, 4), "{\"k\":1}"));
	CHECK(!strstr(seen(s, 4), "hidden") && strstr(seen(s, 4), "Accept: text/plain"));
	s->redirect_to = "/go";
	CHECK_STR(run_with(&a, plain, "{}", EGRESS_ANY, fetch_run), "it redirects too often");
	server_stop(s);
	arena_free(&a);
}

static const char *redirect_to;
static int fetched_really;

/* A public server that sends the caller on to somewhere; from there on it is the real thing. */
static int redirecting(
	const struct fetch *in, struct arena *a, struct fetched *out, const char **ret_why)
{
	if (strstr(in->url, "//public.example/")) {
		*out = (struct fetched){ .status = 302, .body = "", .location = redirect_to };
		return 0;
	}
	fetched_really++;
	return fetch_run(in, a, out, ret_why);
}

TEST(http_tool_never_reaches_this_machine_with_the_setting_off)
{
	struct server *s = server_start();
	struct arena a = { 0 };
	struct tool_config c;
	struct problem p = { 0 };
	static const char *const literal[] = { "http://127.0.0.1/", "https://127.0.0.1/",
		"https://localhost/", "https://10.0.0.1/", "https://[::1]/", "https://2130706433/",
		"https://[::ffff:127.0.0.1]/", "https://169.254.169.254/",
		"http://api.example.org/" };
	const char *config =
		"{\"method\":\"GET\",\"url\":\"https://public.example/x\",\"allowed_hosts\":"
		"[\"127.0.0.1\",\"a.localhost\",\"localhost\"]}";

	for (size_t i = 0; i < sizeof literal / sizeof *literal; i++) {
		test_step("%s", literal[i]);
		CHECK(tool_config_read(&a, TOOL_HTTP,
			arena_printf(&a, "{\"method\":\"GET\",\"url\":\"%s\"}", literal[i]),
			EGRESS_PUBLIC, NULL, &c, &p));
		CHECK_STR(
			run_with(&a,
				arena_printf(&a, "{\"method\":\"GET\",\"url\":\"%s\"}", literal[i]),
				"{}", EGRESS_PUBLIC, fetch_run),
			"the address is not one that may be called");
	}
	/* a name that only resolves to this machine */
	CHECK_STR(
		run_with(&a,
			arena_printf(&a, "{\"method\":\"GET\",\"url\":\"https://a.localhost:%d/\"}",
				s->port),
			"{}", EGRESS_PUBLIC, fetch_run),
		"it resolves to a private address");
	/* and the same after a redirect, even to hosts that are allowed */
	redirect_to = arena_printf(&a, "https://127.0.0.1:%d/", s->port);
	CHECK_STR(run_with(&a, config, "{}", EGRESS_PUBLIC, redirecting),
		"the address is not one that may be called");
	redirect_to = arena_printf(&a, "https://a.localhost:%d/", s->port);
	CHECK_STR(run_with(&a, config, "{}", EGRESS_PUBLIC, redirecting),
		"it resolves to a private address");
	redirect_to = arena_printf(&a, "http://localhost:%d/", s->port);
	CHECK_STR(run_with(&a, config, "{}", EGRESS_PUBLIC, redirecting),
		"it redirects from https to http");
	CHECK_INT(fetched_really, 2);
	CHECK_INT(s->count, 0);
	server_stop(s);
	arena_free(&a);
}
