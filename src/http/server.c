/* server.c - listening, accepting, starting and stopping.
 *
 * The listening sockets live in the first loop, which deals connections out
 * to all loops in turn.  What a connection then does is not known here. */
#include "http/conn.h"
#include "http/listen.h"

#include "base/log.h"
#include "base/thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	LISTENERS_MAX = 16,
	LOOPS_MAX = 64,
	BACKLOG = 1024,
	ACCEPT_BATCH = 64,
	ACCEPT_PAUSE_MS = 100, /* without file descriptors left */
	ACCEPT_WARN_MS = 10 * 1000,
	REFUSED_MAX = 64,  /* told 503 at a time; any more are just closed */
	SETTLING_MAX = 64, /* beside them, those for whom a place is looked for */
	STALLED_MS = 5000,
	DRAIN_TURN_MS = 200,
};

struct http_listener {
	struct http_source source;
	struct http_server *server;
	struct http_listener *next;
	int fd;
};

struct http_server {
	struct http_settings settings;
	struct http_handler handler;
	struct http_tls *tls;
	struct http_listener *listeners, **last_listener;
	struct http_loop *loops;
	int loop_count, running;
	unsigned next;
	_Atomic size_t total;
	struct http_shares *shares;
	char address[INET6_ADDRSTRLEN + 16];
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static void write_address(const union address *at, struct http_address *out)
{
	if (at->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &at->v4.sin_addr, out->text, sizeof out->text);
		out->port = ntohs(at->v4.sin_port);
		out->loopback = ntohl(at->v4.sin_addr.s_addr) >> 24 == 127;
	} else {
		inet_ntop(AF_INET6, &at->v6.sin6_addr, out->text, sizeof out->text);
		out->port = ntohs(at->v6.sin6_port);
		out->loopback = IN6_IS_ADDR_LOOPBACK(&at->v6.sin6_addr);
	}
}

/* Accepting */

static void watch_listeners(struct http_loop *l, bool on)
{
	for (struct http_listener *k = l->listeners; k; k = k->next) {
		struct epoll_event e = { .events = on ? EPOLLIN : 0, .data.ptr = &k->source };

		epoll_ctl(l->epoll, EPOLL_CTL_MOD, k->fd, &e);
	}
}

void http_listeners_resume(struct http_loop *l)
{
	l->accept_due = 0;
	watch_listeners(l, true);
}

void http_listeners_close(struct http_loop *l)
{
	for (struct http_listener *k = l->listeners; k; k = k->next) {
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, k->fd, NULL);
		close(k->fd);
		k->fd = -1;
	}
	l->listeners = NULL;
	l->accept_due = 0;
}

/* Without a word: there are enough who are told. */
static void turn_away(struct http_conn *c)
{
	http_count(&c->loop->refused, 1);
	atomic_fetch_sub_explicit(c->loop->total, 1, memory_order_relaxed);
	http_crowd_leave(c);
	c->link.transport->close(&c->link);
	free(c);
}

/* On the thread of its loop.  One too many is asked in by the first loop in which somebody makes room. */
static void settle_in(struct http_conn *c)
{
	struct http_loop *l = c->loop;

	c->over = c->over && *l->total > l->limits.max_connections;
	if (c->over && !http_crowd_makes_room(c)) {
		if (++c->asked < l->loop_count) {
			c->loop = l->beside;
			http_loop_post(c->loop, &c->mail);
			return;
		}
		c->refused = true;
		if (*l->total > l->limits.max_connections + REFUSED_MAX) {
			turn_away(c);
			return;
		}
	}
	http_count(c->refused ? &l->refused : &l->accepted, 1);
	http_conn_adopt(c);
}

static void conn_arrives(struct http_loop *loop, struct http_mail *m)
{
	(void)loop;
	settle_in((struct http_conn *)((char *)m - offsetof(struct http_conn, mail)));
}

static void conn_is_late(struct http_loop *loop, struct http_mail *m)
{
	struct http_conn *c = (struct http_conn *)((char *)m - offsetof(struct http_conn, mail));

	(void)loop;
	http_crowd_leave(c);
	c->link.transport->close(&c->link);
	free(c);
}

static struct http_share *share_of(struct http_server *s, const char *address)
{
	const struct http_handler *h = &s->handler;

	return h->gathers && h->gathers(h->ctx, address) ? NULL
							 : http_share_take(s->shares, address);
}

static void accept_conn(struct http_server *s, int fd, const union address *peer)
{
	struct http_loop *home = &s->loops[0], *l = &s->loops[s->next++ % (unsigned)s->loop_count];
	size_t total = atomic_fetch_add_explicit(&s->total, 1, memory_order_relaxed) + 1;
	size_t max = s->settings.limits.max_connections;
	struct http_conn *c = total <= max + REFUSED_MAX + SETTLING_MAX
				      ? http_conn_new(l, fd, &http_plain)
				      : NULL;
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (!c || (s->tls && !http_tls_attach(s->tls, &c->link))) {
		atomic_fetch_sub_explicit(&s->total, 1, memory_order_relaxed);
		http_count(&home->refused, 1);
		free(c);
		close(fd);
		return;
	}
	write_address(peer, &c->peer);
	c->share = share_of(s, c->peer.text);
	c->over = total > max;
	c->mail.open = conn_arrives;
	c->mail.discard = conn_is_late;
	if (l == home)
		settle_in(c);
	else
		http_loop_post(l, &c->mail);
}

static void on_listener(struct http_source *source, uint32_t events)
{
	struct http_listener *k = (struct http_listener *)source;
	struct http_loop *home = &k->server->loops[0];

	(void)events;
	for (int i = 0; i < ACCEPT_BATCH && k->fd >= 0; i++) {
		union address peer = { 0 };
		socklen_t len = sizeof peer;
		int fd = accept4(k->fd, &peer.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			accept_conn(k->server, fd, &peer);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			   errno == ENOMEM) {
			if (home->now_ms >= home->accept_warn) { /* not once a pause */
				log_warn("cannot accept connections for a moment",
					LOG_S("reason", strerror(errno)));
				home->accept_warn = home->now_ms + ACCEPT_WARN_MS;
			}
			home->accept_due = home->now_ms + ACCEPT_PAUSE_MS;
			watch_listeners(home, false);
			return;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			return;
		}
		/* Anything else is the fate of that one connection. */
	}
}

/* Listening */

static int listen_at(struct http_server *s, const char *text, const struct addrinfo *ai,
	struct arena *a, struct problem *p)
{
	struct http_listener *k = calloc(1, sizeof *k);
	int one = 1, fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (!k || fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
		(ai->ai_family == AF_INET6 &&
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) < 0) ||
		bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		char why[64];

		snprintf(why, sizeof why, "%s", strerror(errno));
		if (*why >= 'A' && *why <= 'Z')
			*why |= 0x20;
		if (fd >= 0)
			close(fd);
		free(k);
		return problem_set(p, a, ERR_USAGE, "cannot listen on %s: %s", text, why);
	}
	*k = (struct http_listener){ .source = { on_listener }, .server = s, .fd = fd };
	*s->last_listener = k;
	s->last_listener = &k->next;
	return 0;
}

static bool is_port(const char *text)
{
	size_t len = strspn(text, "0123456789");

	return len >= 1 && len <= 5 && !text[len] && strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* "127.0.0.1:8080" or "[::1]:8080", nothing to be looked up. */
static struct addrinfo *listen_address_of(const char *text, struct arena *a, struct problem *p)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
	};
	char *host = arena_strdup(a, text), *colon = strrchr(host, ':');
	struct addrinfo *found = NULL;
	int err = EAI_NONAME;

	if (colon && colon > host && is_port(colon + 1)) {
		*colon = '\0';
		if (*host == '[' && colon[-1] == ']') {
			host++;
			colon[-1] = '\0';
			hints.ai_family = AF_INET6;
		} else {
			hints.ai_family = AF_INET;
		}
		err = getaddrinfo(host, colon + 1, &hints, &found);
	}
	if (!err)
		return found;
	problem_set(p, a, ERR_USAGE,
		"cannot listen on %s: it is not an address like 127.0.0.1:8080 or [::1]:8080",
		*text ? text : "an empty address");
	return NULL;
}

static int listen_on(struct http_server *s, const char *text, struct arena *a, struct problem *p)
{
	struct addrinfo *ai = listen_address_of(text, a, p);
	int err;

	if (!ai)
		return ERR_USAGE;
	err = listen_at(s, text, ai, a, p);
	freeaddrinfo(ai);
	return err;
}

/* By its canonical text, so that two ways to write one are the same. */
static int check_listen_address(
	const char *text, const char **seen, int count, struct arena *a, struct problem *p)
{
	char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
	struct addrinfo *ai = listen_address_of(text, a, p);

	if (!ai)
		return ERR_USAGE;
	getnameinfo(ai->ai_addr, ai->ai_addrlen, host, sizeof host, port, sizeof port,
		NI_NUMERICHOST | NI_NUMERICSERV);
	freeaddrinfo(ai);
	seen[count] = arena_printf(a, "%s %s", host, port);
	for (int i = 0; i < count && strcmp(port, "0") != 0; i++)
		if (strcmp(seen[i], seen[count]) == 0)
			return problem_set(p, a, ERR_USAGE, "cannot listen on %s twice", text);
	return 0;
}

int http_listen_check(const char *list, struct arena *a, struct problem *p)
{
	const char *seen[LISTENERS_MAX];
	char *save = NULL, *item = strtok_r(arena_strdup(a, list), ", ", &save);
	int count = 0, err = 0;

	for (; item && !err; item = strtok_r(NULL, ", ", &save), count++)
		err = count < LISTENERS_MAX
			      ? check_listen_address(item, seen, count, a, p)
			      : problem_set(p, a, ERR_USAGE,
					"cannot listen on more than %d addresses", LISTENERS_MAX);
	return err || count ? err
			    : problem_set(p, a, ERR_USAGE, "there is no address to listen on");
}

static int listen_all(struct http_server *s, const char *list, struct arena *a, struct problem *p)
{
	char *text = arena_strdup(a, list), *save = NULL, *item;
	int count = 0, err;

	for (item = strtok_r(text, ", ", &save); item; item = strtok_r(NULL, ", ", &save)) {
		if (++count > LISTENERS_MAX)
			return problem_set(p, a, ERR_USAGE,
				"cannot listen on more than %d addresses", LISTENERS_MAX);
		if ((err = listen_on(s, item, a, p)) < 0)
			return err;
	}
	return count ? 0 : problem_set(p, a, ERR_USAGE, "there is no address to listen on");
}

static void name_bound_address(struct http_server *s)
{
	union address bound = { 0 };
	socklen_t len = sizeof bound;
	struct http_address at = { 0 };

	if (getsockname(s->listeners->fd, &bound.any, &len) < 0)
		return;
	write_address(&bound, &at);
	snprintf(s->address, sizeof s->address,
		bound.any.sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u", at.text, (unsigned)at.port);
}

/* Life */

static bool make_loops(struct http_server *s)
{
	long cores = s->settings.loops > 0 ? s->settings.loops : sysconf(_SC_NPROCESSORS_ONLN);
	int count = cores < 1 ? 1 : cores > LOOPS_MAX ? LOOPS_MAX : (int)cores;

	s->loops = calloc((size_t)count, sizeof *s->loops);
	if (!s->loops)
		return false;
	for (; s->loop_count < count; s->loop_count++) {
		struct http_loop *l = &s->loops[s->loop_count];
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = &l->source };

		if (!http_loop_init(l, s->loop_count, &s->settings.limits, &s->handler))
			return false;
		l->total = &s->total;
		l->shares = s->shares;
		l->beside = &s->loops[(s->loop_count + 1) % count];
		l->loop_count = count;
		l->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (l->epoll < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &e) < 0)
			return false;
	}
	s->loops[0].listeners = s->listeners;
	for (struct http_listener *k = s->listeners; k; k = k->next) {
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = &k->source };

		if (epoll_ctl(s->loops[0].epoll, EPOLL_CTL_ADD, k->fd, &e) < 0)
			return false;
	}
	return true;
}

int http_server_new(struct http_server **ret, const struct http_settings *settings,
	const struct http_handler *handler, struct arena *a, struct problem *p)
{
	struct http_server *s = calloc(1, sizeof *s);
	int err;

	if (!s)
		return problem_set(p, a, ERR_USAGE, "there is no memory for the listener");
	s->settings = *settings;
	s->handler = *handler;
	s->last_listener = &s->listeners;
	s->shares = http_shares_new();
	if (!s->shares) {
		free(s);
		return problem_set(p, a, ERR_USAGE, "there is no memory for the listener");
	}
	if (!s->settings.limits.max_address)
		s->settings.limits.max_address = (settings->limits.max_connections + 3) / 4;
	if (!s->settings.limits.stalled_ms)
		s->settings.limits.stalled_ms = STALLED_MS;
	err = listen_all(s, settings->listen, a, p);
	if (!err && settings->tls_cert)
		err = http_tls_new(&s->tls, settings->tls_cert,
			settings->tls_key ? settings->tls_key : settings->tls_cert, a, p);
	if (!err && !make_loops(s))
		err = problem_set(p, a, ERR_USAGE, "cannot make the loops: %s", strerror(errno));
	if (err) {
		http_server_free(s);
		return err;
	}
	name_bound_address(s);
	*ret = s;
	return 0;
}

int http_server_renew(struct http_server *s, const char *cert, const char *key, struct arena *a,
	struct problem *p)
{
	return http_tls_renew(s->tls, cert, key, a, p);
}

int http_server_start(struct http_server *s)
{
	signal(SIGPIPE, SIG_IGN); /* a peer that is gone is an error code, not the end of us */
	for (; s->running < s->loop_count; s->running++) {
		struct http_loop *l = &s->loops[s->running];

		if (thread_start(&l->thread, http_loop_main, l)) {
			http_server_stop(s, 0);
			return ERR_INTERNAL;
		}
	}
	for (int i = 0; i < s->loop_count; i++)
		while (sem_wait(&s->loops[i].ready_to_serve) < 0)
			;
	return 0;
}

const char *http_server_address(const struct http_server *s)
{
	return s->address;
}

/* Waits for the thread, in turns. */
static void join_loop_thread(pthread_t thread, void (*meanwhile)(void *ctx), void *ctx)
{
	struct timespec end;

	while (meanwhile) {
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_nsec += DRAIN_TURN_MS * 1000000L;
		end.tv_sec += end.tv_nsec / 1000000000L;
		end.tv_nsec %= 1000000000L;
		if (pthread_timedjoin_np(thread, NULL, &end) != ETIMEDOUT)
			return;
		meanwhile(ctx);
	}
	pthread_join(thread, NULL);
}

void http_server_drain(struct http_server *s, int grace_ms, void (*meanwhile)(void *ctx), void *ctx)
{
	static const uint64_t one = 1;

	for (int i = 0; i < s->running; i++) {
		s->loops[i].grace_ms = grace_ms;
		atomic_store_explicit(&s->loops[i].stop, true, memory_order_release);
		if (write(s->loops[i].wake, &one, sizeof one) < 0)
			log_line(LOG_ERROR, "cannot wake a loop", NULL);
	}
	for (int i = 0; i < s->running; i++)
		join_loop_thread(s->loops[i].thread, meanwhile, ctx);
	s->running = 0;
}

void http_server_stop(struct http_server *s, int grace_ms)
{
	http_server_drain(s, grace_ms, NULL, NULL);
}

void http_server_free(struct http_server *s)
{
	bool unfinished = false;

	if (!s)
		return;
	http_server_stop(s, 0);
	while (s->listeners) {
		struct http_listener *k = s->listeners;

		s->listeners = k->next;
		if (k->fd >= 0)
			close(k->fd);
		free(k);
	}
	for (int i = 0; i < s->loop_count; i++)
		unfinished |= !http_loop_fini(&s->loops[i]);
	http_tls_free(s->tls);
	if (unfinished) { /* http_finish() may still come: its mailbox must stand */
		log_line(LOG_WARN, "exchanges were left unfinished", NULL);
		return;
	}
	free(s->loops);
	http_shares_free(s->shares);
	free(s);
}

struct http_stats http_server_stats(const struct http_server *s)
{
	struct http_stats all = { 0 };

	for (int i = 0; i < s->loop_count; i++) {
		const struct http_loop *l = &s->loops[i];

		all.accepted += atomic_load_explicit(&l->accepted, memory_order_relaxed);
		all.refused += atomic_load_explicit(&l->refused, memory_order_relaxed);
		all.replaced += atomic_load_explicit(&l->replaced, memory_order_relaxed);
		all.timeouts += atomic_load_explicit(&l->timeouts, memory_order_relaxed);
		all.faults += atomic_load_explicit(&l->faults, memory_order_relaxed);
		all.open += atomic_load_explicit(&l->connections, memory_order_relaxed);
	}
	return all;
}
