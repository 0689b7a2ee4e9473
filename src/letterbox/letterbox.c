/* letterbox.c - see letterbox.h: who is let in, and how all of it ends. */
#include "letterbox/letterbox.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread.h"
#include "letterbox/letterbox_parts.h"

enum { BREATH_MS = 100 };

int letterbox_new(struct letterbox **ret, const struct letterbox_settings *settings,
	struct arena *a, struct problem *p)
{
	struct letterbox *b;
	int err;

	*ret = NULL;
	if (!*settings->lmtp && !*settings->smtp)
		return 0;
	b = memory_zeroed(sizeof *b);
	for (size_t i = 0; i < LETTERBOX_PLACES_MAX; i++)
		b->places[i].fd = -1;
	b->host = memory_must(strlen(settings->host) + 1);
	strcpy(b->host, settings->host); /* NOLINT: it has the room */
	b->bytes_max = settings->bytes_max;
	b->connections_max =
		settings->connections_max ? settings->connections_max : LETTERBOX_CONNECTIONS_MAX;
	b->each_max = settings->each_max ? settings->each_max : LETTERBOX_EACH_MAX;
	b->idle_ms = settings->idle_ms ? settings->idle_ms : LETTERBOX_IDLE_MS;
	b->message_ms = settings->message_ms ? settings->message_ms : LETTERBOX_MESSAGE_MS;
	b->slow_ms = settings->slow_ms ? settings->slow_ms : LETTERBOX_SLOW_MS;
	b->spare_ms = settings->spare_ms ? settings->spare_ms : LETTERBOX_SPARE_MS;
	pthread_mutex_init(&b->lock, NULL);
	thread_cond_init(&b->fewer);
	b->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = b->stop < 0 ? problem_set(p, a, ERR_INTERNAL, "%s", strerror(errno))
			  : letterbox_listen(b, settings->lmtp, settings->smtp, a, p);
	if (err)
		letterbox_free(b);
	else
		*ret = b;
	return err;
}

/* ---- connections ---- */

static void leave_box(struct letterbox_conn *c)
{
	struct letterbox *b = c->box;

	pthread_mutex_lock(&b->lock);
	*c->at = c->next;
	if (c->next)
		c->next->at = c->at;
	close(c->fd); /* under the lock: nobody shuts down a number that is somebody else's by then */
	b->open--;
	b->kinds[c->smtp]--;
	b->giving_way[c->smtp] -= c->gives_way;
	pthread_cond_broadcast(&b->fewer);
	pthread_mutex_unlock(&b->lock);
	free(c);
}

static void *conn_main(void *data)
{
	struct letterbox_conn *c = data;

	letterbox_talk(c);
	leave_box(c);
	return NULL;
}

/* A peer that does not even read this is not waited for. */
static void turn_away(struct letterbox *b, int fd)
{
	static const char words[] = "421 4.3.2 Too many connections\r\n";

	b->turned_away++;
	send(fd, words, sizeof words - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

/* Under the lock: who has brought no mail for longest, and for long, is to leave, so that those who only talk keep nobody out.  Among
 * those of one protocol, and of one peer if it is not 0.  What it does not read any more wakes its thread. */
static bool make_room(struct letterbox *b, bool smtp, uint64_t peer)
{
	struct letterbox_conn *idlest = NULL;
	int64_t since = clock_mono_ms() - b->spare_ms;

	if (b->kinds[smtp] >= 2 * b->connections_max)
		return false; /* those who were told are not gone yet */
	for (struct letterbox_conn *c = b->conns; c; c = c->next)
		if (c->smtp == smtp && (!peer || c->peer == peer) && !c->gives_way &&
			c->waits_since_ms && c->waits_since_ms <= since) {
			idlest = c;
			since = c->waits_since_ms;
		}
	if (!idlest)
		return false;
	idlest->gives_way = true;
	b->giving_way[smtp]++;
	b->gave_way++;
	shutdown(idlest->fd, SHUT_RD);
	return true;
}

/* Under the lock: there is room for one more, or it is made. */
static bool has_room(struct letterbox *b, bool smtp, uint64_t peer)
{
	int each = 0;

	for (const struct letterbox_conn *c = b->conns; c && peer; c = c->next)
		each += c->peer == peer && !c->gives_way;
	if (each >= b->each_max && !make_room(b, smtp, peer))
		return false;
	return b->kinds[smtp] - b->giving_way[smtp] < b->connections_max || make_room(b, smtp, 0);
}

/* An address of IPv4, or the first half of one of IPv6. */
static uint64_t peer_of(int fd)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof at;
	uint64_t half;

	if (getpeername(fd, (struct sockaddr *)&at, &len))
		return 0;
	if (at.ss_family == AF_INET)
		return UINT64_C(1) << 32 | ((const struct sockaddr_in *)&at)->sin_addr.s_addr;
	if (at.ss_family != AF_INET6)
		return 0;
	memcpy(&half, &((const struct sockaddr_in6 *)&at)->sin6_addr, sizeof half);
	return half;
}

static void let_in(struct letterbox *b, int fd, bool smtp)
{
	uint64_t peer = smtp ? peer_of(fd) : 0;
	struct letterbox_conn *c;
	pthread_t thread;
	bool full;

	pthread_mutex_lock(&b->lock);
	full = !has_room(b, smtp, peer);
	if (!full) {
		b->open++;
		b->kinds[smtp]++;
	}
	pthread_mutex_unlock(&b->lock);
	if (full) {
		turn_away(b, fd);
		return;
	}
	b->connections++;
	c = memory_zeroed(sizeof *c);
	*c = (struct letterbox_conn){ .box = b, .fd = fd, .smtp = smtp, .peer = peer };
	pthread_mutex_lock(&b->lock);
	c->next = b->conns;
	c->at = &b->conns;
	if (c->next)
		c->next->at = &c->next;
	b->conns = c;
	pthread_mutex_unlock(&b->lock);
	if (thread_start(&thread, conn_main, c)) {
		log_line(LOG_ERROR, "no thread for a connection that brings mail can be had", NULL);
		leave_box(c);
	} else {
		pthread_detach(thread);
	}
}

static void *accept_main(void *data)
{
	struct letterbox *b = data;
	struct pollfd fds[LETTERBOX_PLACES_MAX + 1] = { { .fd = b->stop, .events = POLLIN } };

	for (size_t i = 0; i < b->place_count; i++)
		fds[i + 1] = (struct pollfd){ .fd = b->places[i].fd, .events = POLLIN };
	while (!b->stopping) {
		if (poll(fds, (nfds_t)b->place_count + 1, -1) < 0 && errno != EINTR)
			break;
		for (size_t i = 0; i < b->place_count && !b->stopping; i++) {
			int fd = fds[i + 1].revents ? accept4(b->places[i].fd, NULL, NULL,
							      SOCK_CLOEXEC | SOCK_NONBLOCK)
						    : -1;

			if (fd >= 0) {
				let_in(b, fd, b->places[i].smtp);
			} else if (fds[i + 1].revents && (errno == EMFILE || errno == ENFILE)) {
				struct pollfd stop = { .fd = b->stop, .events = POLLIN };

				log_error("no connection that brings mail can be taken",
					LOG_S("error", strerror(errno)));
				poll(&stop, 1, BREATH_MS);
			}
		}
	}
	return NULL;
}

/* ---- from its beginning to its end ---- */

int letterbox_start(
	struct letterbox *b, struct store *store, struct bucket *bucket, struct pool *disk)
{
	if (!b)
		return 0;
	b->store = store;
	b->bucket = bucket;
	b->disk = disk;
	if (thread_start(&b->thread, accept_main, b))
		return ERR_INTERNAL;
	b->started = true;
	for (size_t i = 0; i < b->place_count; i++)
		log_info("taking mail", LOG_S("by", b->places[i].smtp ? "smtp" : "lmtp"),
			LOG_S("address", b->places[i].said));
	return 0;
}

void letterbox_quiet(struct letterbox *b)
{
	const uint64_t one = 1;

	if (!b || !b->started)
		return;
	b->stopping = true;
	if (write(b->stop, &one, sizeof one) < 0) /* it cannot be full */
		log_error("the letterbox", LOG_S("error", strerror(errno)));
	pthread_join(b->thread, NULL);
	b->started = false;
	letterbox_close(b);
}

void letterbox_drain(struct letterbox *b, int ms)
{
	int64_t end = clock_mono_ms() + ms, left;

	if (!b)
		return;
	letterbox_quiet(b);
	pthread_mutex_lock(&b->lock);
	while (b->open && (left = end - clock_mono_ms()) > 0)
		thread_wait_ms(&b->fewer, &b->lock, left);
	for (const struct letterbox_conn *c = b->conns; c; c = c->next)
		shutdown(c->fd, SHUT_RDWR); /* a message that did not come in time */
	while (b->open)
		pthread_cond_wait(&b->fewer, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

void letterbox_free(struct letterbox *b)
{
	if (!b)
		return;
	letterbox_drain(b, 0);
	letterbox_close(b);
	if (b->stop >= 0)
		close(b->stop);
	pthread_cond_destroy(&b->fewer);
	pthread_mutex_destroy(&b->lock);
	free(b->host);
	free(b);
}

const char *letterbox_place(const struct letterbox *b, size_t n)
{
	return n < b->place_count ? b->places[n].said : NULL;
}

struct letterbox_stats letterbox_stats(const struct letterbox *b)
{
	return (struct letterbox_stats){ .connections = b->connections,
		.turned_away = b->turned_away,
		.gave_way = b->gave_way,
		.open = (uint64_t)b->open,
		.taken = b->taken,
		.known = b->known,
		.refused = b->refused,
		.later = b->later };
}
