/* test_why.c - calls that fail say how, and private places are called only if they are listed.
 * Each way to fail is brought about by a peer of our own, and asked for by both ways to call out. */
#include "certificate.h"
#include "t.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "http_fixture.h"
#include "outside/fetch.h"
#include "outside/async_http.h"
#include "outside/why.h"

/* A peer that listens on a free port and does one thing with whoever comes. */
struct peer {
	int fd, port;
	enum { IS_SILENT, CLOSES, SAYS_NONSENSE, BREAKS_OFF } manner;
	bool runs;
	pthread_t thread;
};

static void *peer_main(void *arg)
{
	static const char *const words[] = { [SAYS_NONSENSE] = "hello there\n",
		[BREAKS_OFF] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf" };
	struct peer *p = arg;
	char in[4096];
	int fd;

	while ((fd = accept(p->fd, NULL, NULL)) >= 0) {
		if (p->manner != CLOSES && read(fd, in, sizeof in) > 0 && words[p->manner])
			CHECK(write(fd, words[p->manner], strlen(words[p->manner])) > 0);
		if (p->manner == IS_SILENT)
			read(fd, in, sizeof in) < 0 ? abort() : (void)0;
		close(fd);
	}
	return NULL;
}

static void peer_open(struct peer *p, int manner, bool accepts)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;

	*p = (struct peer){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
		.manner = manner };
	CHECK_INT(bind(p->fd, (struct sockaddr *)&at, sizeof at), 0);
	CHECK_INT(getsockname(p->fd, (struct sockaddr *)&at, &len), 0);
	p->port = ntohs(at.sin_port);
	if (accepts) {
		CHECK_INT(listen(p->fd, 16), 0);
		CHECK_INT(pthread_create(&p->thread, NULL, peer_main, p), 0);
		p->runs = true;
	}
}

static void peer_close(struct peer *p)
{
	shutdown(p->fd, SHUT_RDWR);
	if (p->runs)
		pthread_join(p->thread, NULL);
	close(p->fd);
}

/* ---- the two ways to call out ---- */

static const char *fetch_why(struct arena *a, const char *url, enum egress egress, int ms)
{
	struct fetch in = { .url = url, .egress = egress, .total_ms = ms };
	struct fetched out;
	const char *why = NULL;

	return fetch_run(&in, a, &out, &why) ? why : "";
}

struct outing {
	struct transfer t;
	char why[WHY_TEXT_MAX];
	enum transfer_end end;
	_Atomic int over;
};

static bool outing_head(struct transfer *t, const struct transfer_head *head)
{
	(void)t;
	(void)head;
	return true;
}

static bool outing_bytes(struct transfer *t, const char *bytes, size_t n)
{
	(void)t;
	(void)bytes;
	(void)n;
	return true;
}

static void outing_done(struct transfer *t, enum transfer_end end, const char *why)
{
	struct outing *o = t->ctx;

	o->end = end;
	snprintf(o->why, sizeof o->why, "%s", end == TRANSFER_WHOLE ? "" : why);
	o->over = 1;
}

static void async_http_why(struct outing *o, const char *url, enum egress egress, int ms)
{
	struct async_http *tr = async_http_new(1);

	*o = (struct outing){ .t = { .url = url,
				      .egress = egress,
				      .connect_ms = 5000,
				      .silence_ms = ms,
				      .total_ms = 20000,
				      .head = outing_head,
				      .bytes = outing_bytes,
				      .done = outing_done,
				      .ctx = o } };
	CHECK_INT(async_http_submit(tr, &o->t), 0);
	for (int i = 0; i < 60000 && !o->over; i++)
		usleep(1000);
	async_http_free(tr);
}

static void check_why(struct arena *a, const char *url, enum egress egress, const char *want,
	enum transfer_end end)
{
	enum { SHORT_MS = 700, LONG_MS = 20000, TRIES = 5 };
	bool silent = end == TRANSFER_SILENT;
	const char *why = NULL;
	struct outing o;

	/* A machine that is too busy to connect within the time there is, says so: it is asked again. */
	for (int i = 0; !why || (i < TRIES && !silent && strstr(why, "in time")); i++)
		why = fetch_why(a, url, egress, silent ? SHORT_MS : LONG_MS);
	if (!strstr(why, want))
		test_fail(__FILE__, __LINE__, "fetch %s: \"%s\" is not in \"%s\"", url, want, why);
	*o.why = '\0';
	for (int i = 0; !*o.why || (i < TRIES && !silent && strstr(o.why, "in time")); i++)
		async_http_why(&o, url, egress, silent ? SHORT_MS : LONG_MS);
	CHECK_INT(o.end, end);
	if (!silent && !strstr(o.why, want))
		test_fail(__FILE__, __LINE__, "traffic %s: \"%s\" is not in \"%s\"", url, want,
			o.why);
}

TEST(why_every_way_to_fail_is_said)
{
	char cert[] = "/tmp/lodge-cert-XXXXXX", key[] = "/tmp/lodge-key-XXXXXX";
	struct arena a = { 0 };
	struct problem p = { 0 };
	struct peer shut, silent, closes, nonsense, breaks;
	struct http_fixture secure = { 0 };

	CHECK(fetch_init());
	peer_open(&shut, IS_SILENT, false);
	peer_open(&silent, IS_SILENT, true);
	peer_open(&closes, CLOSES, true);
	peer_open(&nonsense, SAYS_NONSENSE, true);
	peer_open(&breaks, BREAKS_OFF, true);
#define AT(scheme, peer) arena_printf(&a, scheme "://127.0.0.1:%d/", (peer).port)
	check_why(&a, "https://nobody.invalid/", EGRESS_ANY, "resolved", TRANSFER_CONNECT);
	check_why(&a, AT("http", shut), EGRESS_ANY, "the connection was refused", TRANSFER_CONNECT);
	check_why(&a, AT("http", silent), EGRESS_ANY, "it did not answer in time", TRANSFER_SILENT);
	check_why(&a, AT("http", closes), EGRESS_ANY, "connection", TRANSFER_CUT);
	check_why(&a, AT("http", nonsense), EGRESS_ANY, "its answer is not HTTP", TRANSFER_CUT);
	check_why(&a, AT("http", breaks), EGRESS_ANY, "broke off", TRANSFER_CUT);
	check_why(&a, AT("https", nonsense), EGRESS_ANY, "TLS", TRANSFER_CONNECT);
	check_why(&a, AT("https", shut), EGRESS_PUBLIC, "not one that may be called",
		TRANSFER_FORBIDDEN);
	certificate_make(cert, key, -60, 3600);
	CHECK_INT(http_fixture_try(&secure, &fixture_limits, "127.0.0.1:0", cert, key, &p), 0);
	CHECK_INT(http_server_start(secure.server), 0);
	pthread_create(&secure.worker, NULL, http_fixture_work, &secure);
	check_why(&a, arena_printf(&a, "https://%s/", http_server_address(secure.server)),
		EGRESS_ANY, "its certificate is not accepted: self-signed certificate",
		TRANSFER_CONNECT);
	http_fixture_close(&secure);
	unlink(cert);
	unlink(key);
	peer_close(&shut);
	peer_close(&silent);
	peer_close(&closes);
	peer_close(&nonsense);
	peer_close(&breaks);
	arena_free(&a);
}

/* What nothing answers for a code has words all the same. */
TEST(why_every_code_has_words)
{
	CURL *h = curl_easy_init();
	char text[WHY_TEXT_MAX];

	for (int code = 1; code < CURL_LAST; code++) {
		enum why why = why_tell(h, (CURLcode)code, text);

		CHECK(why < WHY_COUNT && *text && *why_words[why]);
	}
	curl_easy_cleanup(h);
}

/* ---- the list ---- */

TEST(reach_list_forms)
{
	static const char *const good[] = { "", "10.0.0.5", "10.0.0.0/8", "::1", "fd00::/8",
		"[::1]", "[::1]:443", "10.0.0.5:11434", "10.0.0.0/8:443", "ollama:11434",
		"LocalHost:1, 10.0.0.1,my-host.lan:65535" };
	static const char *const bad[] = { "10.0.0.0/33", "10.0.0.5:", "10.0.0.5:0",
		"10.0.0.5:65536", "ollama", "ollama:", "http://ollama:1", "10.0.0.5,", ",10.0.0.5",
		"[10.0.0.5]:1", "[::1", "[::1]x", "::1/129", "10.0.0:80", "a b:1", "*:80",
		"300.1.1.1:80" };

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!egress_list_valid(good[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" is refused", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (egress_list_valid(bad[i]))
			test_fail(__FILE__, __LINE__, "\"%s\" is taken", bad[i]);
}

/* One service of this machine is opened, and nothing beside it, by either way to call out. */
TEST(reach_list_opens_what_it_names_and_no_more)
{
	static const struct {
		const char *list, *url;
		bool open;
	} cases[] = {
		{ "127.0.0.1:%d", "http://127.0.0.1:%d/", true },
		{ "127.0.0.0/8", "http://127.0.0.1:%d/", true },
		{ "127.0.0.1", "http://127.0.0.1:%d/", true },
		{ "localhost:%d", "http://localhost:%d/", true },
		{ "localhost:%d", "http://LOCALHOST:%d/", true },
		{ "", "http://127.0.0.1:%d/", false },
		{ "127.0.0.1:1", "http://127.0.0.1:%d/", false },
		{ "10.0.0.0/8", "http://127.0.0.1:%d/", false },
		/* By plain HTTP a name must be listed itself; and a name opens no address. */
		{ "127.0.0.1:%d", "http://localhost:%d/", false },
		{ "localhost:%d", "http://127.0.0.1:%d/", false },
		{ "localhost:1", "http://localhost:%d/", false },
		{ "notlocalhost:%d", "http://localhost:%d/", false },
		{ "127.0.0.1:%d", "http://127.1:%d/", true }, /* another way to write it */
		{ "127.0.0.1:%d", "http://[::ffff:127.0.0.1]:%d/", true },
		{ "127.0.0.1:%d", "http://user@127.0.0.1:%d/", false },
	};
	struct arena a = { 0 };
	struct http_fixture s;
	int port;

	http_fixture_open(&s, &fixture_limits);
	port = atoi(strrchr(http_server_address(s.server), ':') + 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *url, *why;
		struct outing o;

		_Pragma("GCC diagnostic push")
			_Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
				egress_allow(arena_printf(&a, cases[i].list, port));
		url = arena_printf(&a, cases[i].url, port);
		_Pragma("GCC diagnostic pop") why = fetch_why(&a, url, EGRESS_PUBLIC, 20000);
		async_http_why(&o, url, EGRESS_PUBLIC, 20000);
		if ((!*why) != cases[i].open || (o.end == TRANSFER_WHOLE) != cases[i].open)
			test_fail(__FILE__, __LINE__, "%s with \"%s\": \"%s\", traffic ends as %d",
				url, cases[i].list, why, o.end);
		CHECK(fetch_permits(url, EGRESS_PUBLIC) == cases[i].open);
	}
	egress_allow("");
	http_fixture_close(&s);
	arena_free(&a);
}
