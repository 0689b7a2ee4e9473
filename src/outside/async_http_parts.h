/* async_http_parts.h - what the files of the client share; nobody else includes it.
 *
 * async_http_easy.c knows libcurl's handles and how one request is asked of
 * them, async_http_watch.c its descriptors; async_http.c knows orders,
 * deadlines and the turns of the thread. */
#pragma once
#include <curl/curl.h>
#include <pthread.h>

#include "http/http.h"
#include "outside/async_http.h"
#include "outside/why.h"

enum { SPARE_MAX = 64 };

/* A handle of libcurl's, used for one transfer after the other.  Where it went last stays set. */
struct easy {
	CURL *curl;
	struct transfer *t; /* that it carries */
	struct async_http *http;
	char *url; /* that is set, and was found to be within `reach`; NULL: none */
	enum egress egress;
	int connect_ms;
	struct curl_slist *lines; /* an array, chained anew for each transfer */
	size_t room;
	bool named; /* its host and port are on the list of private places that may be called */
	char why[WHY_TEXT_MAX];
};

/* A descriptor that libcurl has somebody look after.  Its record outlives it and serves the next one of
 * the same number, so that an event which comes late finds something sound. */
struct socket_watch {
	struct http_source source; /* first: epoll hands it back */
	struct async_http *http;
	int fd;
	uint32_t events; /* that are asked for now; 0: nobody asks */
	uint32_t added;	 /* as epoll knows it; 0: it does not */
	bool kept;	 /* a connection, which stays with epoll between its requests */
};

struct async_http {
	struct http_guest guest; /* first; of a loop */
	struct http_source bell_rings;
	pthread_t owner;	/* the thread; set under the lock */
	bool alone;		/* it is its own */
	struct http_loop *loop; /* whose guest it is, or NULL */
	CURLM *multi;
	int epoll, bell;
	int64_t timer_ms; /* when libcurl wants to be called; -1: not at all */
	int64_t look_ms;  /* when the deadlines are looked at next */
	bool told;	  /* there are orders */
	bool moved;	  /* libcurl has been called: something may have ended */
	struct transfer *first;
	struct socket_watch **watches; /* by descriptor */
	size_t watch_room;
	struct easy *spare[SPARE_MAX];
	int spares;

	pthread_mutex_t lock; /* over the next four */
	struct transfer *orders, **orders_last;
	size_t open, most;
	bool stopping;

	_Atomic uint64_t begun, ended, connections;
};

/* async_http_easy.c */
/* A handle set to carry the transfer, or NULL: *ret_end and *ret_why say why not. */
struct easy *easy_take(struct async_http *tr, struct transfer *t, enum transfer_end *ret_end,
	const char **ret_why);
/* Gives it back, after it has been taken out of the multi handle. */
void easy_put(struct async_http *tr, struct easy *e);
void easy_free(struct easy *e);
/* Tells the transfer of its head, if that has not been done; false ends it. */
bool easy_tell_head(struct transfer *t);
/* What libcurl says at the end, as one of ours. */
enum transfer_end easy_end(const struct transfer *t, CURLcode code);

/* async_http_watch.c */
/* libcurl's CURLMOPT_SOCKETFUNCTION; `ctx` is a struct async_http. */
int watch_on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *known);
void watch_drop(struct socket_watch *w);
/* A connection begins or ends with this descriptor.  The system forgets one that is closed by itself. */
void watch_opened(struct async_http *tr, int fd);
void watch_closed(struct async_http *tr, int fd);
