/* async_http_watch.c - the descriptors of transfers on an epoll, as libcurl asks for them; see async_http_parts.h.
 * A connection that waits for its next request stays with epoll; what else libcurl has is its own. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/memory.h"
#include "outside/async_http_parts.h"

static void on_ready(struct http_source *s, uint32_t events);

static struct socket_watch *watch_of(struct async_http *tr, int fd)
{
	size_t at = (size_t)fd;

	if (at >= tr->watch_room) {
		size_t room = (at + 1) * 2;
		struct socket_watch **more = realloc(tr->watches, room * sizeof *more);

		if (!more)
			abort();
		memset(more + tr->watch_room, 0, (room - tr->watch_room) * sizeof *more);
		tr->watches = more;
		tr->watch_room = room;
	}
	if (!tr->watches[at]) {
		struct socket_watch *w = memory_zeroed(sizeof *w);

		*w = (struct socket_watch){ .source = { on_ready }, .http = tr, .fd = fd };
		tr->watches[at] = w;
	}
	return tr->watches[at];
}

static void watch_add(struct socket_watch *w)
{
	struct epoll_event e = { .events = w->events, .data.ptr = w };

	if (w->events == w->added)
		return;
	epoll_ctl(w->http->epoll, w->added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &e);
	w->added = w->events;
}

void watch_drop(struct socket_watch *w)
{
	if (w->added)
		epoll_ctl(w->http->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->added = 0;
}

void watch_opened(struct async_http *tr, int fd)
{
	struct socket_watch *w = watch_of(tr, fd);

	w->events = w->added = 0;
	w->kept = true;
}

void watch_closed(struct async_http *tr, int fd)
{
	struct socket_watch *w = watch_of(tr, fd);

	watch_drop(w); /* a child that is being made may still have a copy of it */
	w->events = 0;
	w->kept = false;
}

int watch_on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known)
{
	struct socket_watch *w = watch_of(ctx, fd);

	(void)easy;
	(void)known;
	if (what == CURL_POLL_REMOVE) {
		w->events = 0;
		if (!w->kept)
			watch_drop(w);
		return 0;
	}
	w->events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	watch_add(w);
	return 0;
}

static void on_ready(struct http_source *s, uint32_t events)
{
	struct socket_watch *w = (struct socket_watch *)s;
	int running;

	if (!w->events) { /* nobody asks: it was closed by its peer, or speaks unasked */
		watch_drop(w);
		return;
	}
	curl_multi_socket_action(w->http->multi, w->fd,
		(events & EPOLLIN ? CURL_CSELECT_IN : 0) |
			(events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			(events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0),
		&running);
	w->http->moved = true;
}
