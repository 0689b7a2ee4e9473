/* traffic.c - see traffic.h.  libcurl's multi interface on an epoll loop.
 *
 * Other threads leave orders (start, cancel, resume) in a list and ring a
 * bell; everything else happens on the one thread, so that the state of a
 * transfer needs no lock.  Handles are kept and used again, and libcurl keeps
 * the connections. */
#include "outside/traffic.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "outside/address.h"

enum { EVENTS_A_TURN = 64, SPARE_MAX = 64, LOOK_EVERY_MS = 250, CONNECTIONS_KEPT = 1024 };
enum { ORDER_START = 1, ORDER_CANCEL = 2, ORDER_RESUME = 4 };

struct traffic {
	pthread_t thread;
	CURLM *multi;
	int epoll, bell;
	int64_t timer_ms; /* when libcurl wants to be called; -1: not at all */
	int64_t look_ms;  /* when the deadlines are looked at next */
	struct transfer *first;
	CURL *spare[SPARE_MAX];
	int spares;

	pthread_mutex_t lock; /* over the next four */
	struct transfer *orders, **orders_last;
	size_t open, most;
	bool stopping;

	_Atomic uint64_t begun, ended, connections;
};

/* ---- what libcurl asks for ---- */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
	struct traffic *tr = ctx;
	struct epoll_event e = { .data.fd = fd };

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(tr->epoll, EPOLL_CTL_DEL, fd, NULL);
		curl_multi_assign(tr->multi, fd, NULL);
		return 0;
	}
	e.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	epoll_ctl(tr->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
	if (!known)
		curl_multi_assign(tr->multi, fd, tr);
	return 0;
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
	struct traffic *tr = ctx;

	(void)multi;
	tr->timer_ms = ms < 0 ? -1 : clock_mono_ms() + ms;
	return 0;
}

/* The name has been resolved: this is the address that would be connected to. */
static curl_socket_t on_open(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct transfer *t = ctx;

	(void)purpose;
	if (!reach_holds(t->reach, address_kind(&to->addr))) {
		t->refused = true;
		return CURL_SOCKET_BAD;
	}
	return socket(to->family, to->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->protocol);
}

/* ---- an answer arrives ---- */

static int64_t retry_after(CURL *easy)
{
	struct curl_header *h;
	char *end;
	long long s;

	if (curl_easy_header(easy, "retry-after", 0, CURLH_HEADER, -1, &h))
		return -1;
	s = strtoll(h->value, &end, 10);
	return end == h->value || *end || s < 0 ? -1 : s;
}

static bool tell_head(struct transfer *t)
{
	struct traffic_head head = { .retry_after_s = retry_after(t->easy), .type = "" };
	const char *type = NULL;
	long status = 0;

	t->headed = true;
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &type);
	head.status = (int)status;
	head.type = type ? type : "";
	return t->head(t, &head);
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *ctx)
{
	struct transfer *t = ctx;
	size_t n = size * count;

	t->heard_ms = clock_mono_ms();
	if ((!t->headed && !tell_head(t)) || (n && !t->bytes(t, bytes, n))) {
		t->stopped = true;
		return n + 1;
	}
	if (t->held)
		curl_easy_pause(t->easy, CURLPAUSE_RECV);
	return n;
}

void traffic_hold(struct transfer *t)
{
	t->held = true;
}

/* ---- from its beginning to its end ---- */

static void set_once(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "lodge");
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
}

static void set_each(CURL *easy, struct transfer *t)
{
	struct curl_slist *lines = curl_slist_append(NULL, "Expect:");

	for (const char *const *h = t->headers; h && *h; h++)
		lines = curl_slist_append(lines, *h);
	t->lines = lines;
	curl_easy_setopt(easy, CURLOPT_URL, t->url);
	curl_easy_setopt(
		easy, CURLOPT_PROTOCOLS_STR, t->reach == REACH_PUBLIC ? "https" : "http,https");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, lines);
	if (t->body) {
		curl_easy_setopt(easy, CURLOPT_POST, 1L);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body_len);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, t->body);
	} else {
		curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	}
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)t->connect_ms);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, t);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
}

static void link_in(struct traffic *tr, struct transfer *t)
{
	t->prev = NULL;
	t->next = tr->first;
	if (t->next)
		t->next->prev = t;
	tr->first = t;
}

static void link_out(struct traffic *tr, struct transfer *t)
{
	if (t->prev)
		t->prev->next = t->next;
	else
		tr->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
}

/* Takes an order that has not been carried out off the list: its transfer is about to go. */
static void forget_orders(struct traffic *tr, struct transfer *t)
{
	pthread_mutex_lock(&tr->lock);
	for (struct transfer **p = &tr->orders; t->ordered && *p; p = &(*p)->order) {
		if (*p != t)
			continue;
		*p = t->order;
		t->ordered = false;
		if (!*p)
			tr->orders_last = p;
		break;
	}
	tr->open--;
	pthread_mutex_unlock(&tr->lock);
}

static void conclude(struct traffic *tr, struct transfer *t, enum traffic_end end, const char *why)
{
	CURL *easy = t->easy;
	long made = 0;

	if (easy) {
		curl_multi_remove_handle(tr->multi, easy);
		curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &made);
		atomic_fetch_add_explicit(&tr->connections, (uint64_t)made, memory_order_relaxed);
		link_out(tr, t);
		curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
		if (tr->spares < SPARE_MAX)
			tr->spare[tr->spares++] = easy;
		else
			curl_easy_cleanup(easy);
		curl_slist_free_all(t->lines);
		t->easy = t->lines = NULL;
	}
	forget_orders(tr, t);
	atomic_fetch_add_explicit(&tr->ended, 1, memory_order_relaxed);
	t->done(t, end, why);
}

static void begin(struct traffic *tr, struct transfer *t)
{
	CURL *easy;

	atomic_fetch_add_explicit(&tr->begun, 1, memory_order_relaxed);
	if (!fetch_permits(t->url, t->reach)) {
		conclude(tr, t, TRAFFIC_FORBIDDEN, "the address is not one that may be called");
		return;
	}
	easy = tr->spares ? tr->spare[--tr->spares] : curl_easy_init();
	if (!easy) {
		conclude(tr, t, TRAFFIC_CONNECT, "out of memory");
		return;
	}
	set_once(easy);
	set_each(easy, t);
	t->easy = easy;
	t->began_ms = t->heard_ms = clock_mono_ms();
	link_in(tr, t);
	curl_multi_add_handle(tr->multi, easy);
}

/* What libcurl says at the end, as one of ours. */
static enum traffic_end end_of(const struct transfer *t, CURLcode code)
{
	if (t->stopped)
		return TRAFFIC_CANCELLED;
	if (code == CURLE_OK)
		return TRAFFIC_WHOLE;
	if (t->refused) /* all its addresses were, or the others did not answer */
		return TRAFFIC_FORBIDDEN;
	switch (code) {
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return TRAFFIC_FORBIDDEN;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
		return TRAFFIC_CONNECT;
	case CURLE_OPERATION_TIMEDOUT:
		return TRAFFIC_CONNECT; /* the only time limit it has is that for connecting */
	default:
		return TRAFFIC_CUT;
	}
}

static void collect(struct traffic *tr)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(tr->multi, &left))) {
		CURLcode code = m->data.result;
		struct transfer *t = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		if (code == CURLE_OK && !t->headed && !tell_head(t))
			t->stopped = true;
		conclude(tr, t, end_of(t, code),
			t->refused ? "it resolves to a private address" : curl_easy_strerror(code));
	}
}

/* ---- the thread ---- */

static void look_at_deadlines(struct traffic *tr, int64_t now)
{
	struct transfer *next;

	tr->look_ms = now + LOOK_EVERY_MS;
	for (struct transfer *t = tr->first; t; t = next) {
		next = t->next;
		if (now - t->began_ms > t->total_ms)
			conclude(tr, t, TRAFFIC_LATE, "it was not complete in time");
		else if (!t->held && now - t->heard_ms > t->silence_ms)
			conclude(tr, t, TRAFFIC_SILENT, "nothing came for too long");
	}
}

static struct transfer *next_order(struct traffic *tr, unsigned *ret_what, bool *ret_stopping)
{
	struct transfer *t;

	pthread_mutex_lock(&tr->lock);
	t = tr->orders;
	if (t) {
		tr->orders = t->order;
		if (!tr->orders)
			tr->orders_last = &tr->orders;
		t->ordered = false;
		*ret_what = atomic_exchange(&t->orders, 0);
	}
	*ret_stopping = tr->stopping;
	pthread_mutex_unlock(&tr->lock);
	return t;
}

/* Carries out what was ordered; false when the traffic ends. */
static bool obey(struct traffic *tr)
{
	struct transfer *t;
	unsigned what = 0;
	bool stopping;

	while ((t = next_order(tr, &what, &stopping))) {
		if (stopping || what & ORDER_CANCEL) {
			conclude(tr, t, TRAFFIC_CANCELLED, "it was cancelled");
			continue;
		}
		if (what & ORDER_START)
			begin(tr, t);
		if (what & ORDER_RESUME && t->easy && t->held) {
			t->held = false;
			t->heard_ms = clock_mono_ms();
			curl_easy_pause(t->easy, CURLPAUSE_CONT);
		}
	}
	while (stopping && tr->first)
		conclude(tr, tr->first, TRAFFIC_CANCELLED, "the service is stopping");
	return !stopping;
}

static int wait_ms(const struct traffic *tr)
{
	int64_t now = clock_mono_ms(), due = tr->first ? tr->look_ms : -1;

	if (tr->timer_ms >= 0 && (due < 0 || tr->timer_ms < due))
		due = tr->timer_ms;
	return due < 0 ? -1 : due <= now ? 0 : (int)(due - now);
}

static void *traffic_main(void *arg)
{
	struct traffic *tr = arg;
	struct epoll_event events[EVENTS_A_TURN];
	int running;

	for (;;) {
		int n = epoll_wait(tr->epoll, events, EVENTS_A_TURN, wait_ms(tr));
		int64_t now = clock_mono_ms();
		bool rung = false;

		for (int i = 0; i < n; i++) {
			uint32_t e = events[i].events;
			uint64_t rings;

			if (events[i].data.fd == tr->bell) {
				rung = read(tr->bell, &rings, sizeof rings) > 0;
				continue;
			}
			curl_multi_socket_action(tr->multi, events[i].data.fd,
				(e & EPOLLIN ? CURL_CSELECT_IN : 0) |
					(e & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
					(e & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0),
				&running);
		}
		if (rung && !obey(tr))
			return NULL;
		if (tr->timer_ms >= 0 && now >= tr->timer_ms) {
			tr->timer_ms = -1;
			curl_multi_socket_action(tr->multi, CURL_SOCKET_TIMEOUT, 0, &running);
		}
		collect(tr);
		if (now >= tr->look_ms)
			look_at_deadlines(tr, now);
	}
}

static void ring(struct traffic *tr)
{
	uint64_t one = 1;

	if (write(tr->bell, &one, sizeof one) < 0)
		abort(); /* a counter of an eventfd cannot fill up by ones */
}

static void leave_order(struct traffic *tr, struct transfer *t, unsigned what)
{
	atomic_fetch_or(&t->orders, what);
	if (t->ordered)
		return;
	t->ordered = true;
	t->order = NULL;
	*tr->orders_last = t;
	tr->orders_last = &t->order;
}

int traffic_submit(struct traffic *tr, struct transfer *t)
{
	int err;

	t->easy = t->lines = NULL;
	t->headed = t->stopped = t->refused = t->held = t->ordered = false;
	t->orders = 0;
	pthread_mutex_lock(&tr->lock);
	err = tr->stopping ? ERR_STOPPING : tr->open >= tr->most ? ERR_BUSY : 0;
	if (!err) {
		tr->open++;
		leave_order(tr, t, ORDER_START);
	}
	pthread_mutex_unlock(&tr->lock);
	if (!err)
		ring(tr);
	return err;
}

static void order(struct traffic *tr, struct transfer *t, unsigned what)
{
	pthread_mutex_lock(&tr->lock);
	leave_order(tr, t, what);
	pthread_mutex_unlock(&tr->lock);
	ring(tr);
}

void traffic_cancel(struct traffic *tr, struct transfer *t)
{
	order(tr, t, ORDER_CANCEL);
}

void traffic_resume(struct traffic *tr, struct transfer *t)
{
	order(tr, t, ORDER_RESUME);
}

struct traffic_stats traffic_stats(const struct traffic *tr)
{
	return (struct traffic_stats){ .begun = tr->begun,
		.ended = tr->ended,
		.connections = tr->connections,
		.open = (size_t)(tr->begun - tr->ended) };
}

struct traffic *traffic_new(size_t most)
{
	struct traffic *tr = calloc(1, sizeof *tr);
	struct epoll_event e = { .events = EPOLLIN };

	if (!tr)
		return NULL;
	tr->most = most;
	tr->timer_ms = -1;
	tr->orders_last = &tr->orders;
	pthread_mutex_init(&tr->lock, NULL);
	tr->epoll = epoll_create1(EPOLL_CLOEXEC);
	tr->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	tr->multi = curl_multi_init();
	e.data.fd = tr->bell;
	curl_multi_setopt(tr->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(tr->multi, CURLMOPT_SOCKETDATA, tr);
	curl_multi_setopt(tr->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(tr->multi, CURLMOPT_TIMERDATA, tr);
	curl_multi_setopt(tr->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
	if (tr->multi && !epoll_ctl(tr->epoll, EPOLL_CTL_ADD, tr->bell, &e) &&
		!pthread_create(&tr->thread, NULL, traffic_main, tr))
		return tr;
	curl_multi_cleanup(tr->multi);
	free(tr);
	return NULL;
}

void traffic_free(struct traffic *tr)
{
	if (!tr)
		return;
	pthread_mutex_lock(&tr->lock);
	tr->stopping = true;
	pthread_mutex_unlock(&tr->lock);
	ring(tr);
	pthread_join(tr->thread, NULL);
	while (tr->spares)
		curl_easy_cleanup(tr->spare[--tr->spares]);
	curl_multi_cleanup(tr->multi);
	close(tr->epoll);
	close(tr->bell);
	pthread_mutex_destroy(&tr->lock);
	free(tr);
}
