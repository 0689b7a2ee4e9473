/* traffic_parts.h - what the two files of the traffic share; nobody else includes it.
 *
 * traffic_easy.c knows libcurl's handles and how one request is asked of
 * them; traffic.c knows orders, deadlines and the turns of the thread. */
#pragma once
#include <curl/curl.h>
#include <pthread.h>

#include "http/http.h"
#include "outside/traffic.h"

enum { SPARE_MAX = 64 };

/* A handle of libcurl's, used for one transfer after the other.  Where it went last stays set. */
struct easy {
	CURL *curl;
	struct transfer *t; /* that it carries */
	struct traffic *traffic;
	char *url; /* that is set, and was found to be within `reach`; NULL: none */
	enum reach reach;
	int connect_ms;
	struct curl_slist *lines; /* an array, chained anew for each transfer */
	size_t room;
};

/* A descriptor that libcurl has somebody look after.  Its record outlives it and serves the next one of
 * the same number, so that an event which comes late finds something sound. */
struct watch {
	struct http_source source; /* first: epoll hands it back */
	struct traffic *traffic;
	int fd;
	uint32_t events; /* that are asked for now; 0: nobody asks */
	uint32_t added;	 /* as epoll knows it; 0: it does not */
	bool kept;	 /* a connection, which stays with epoll between its requests */
};

struct traffic {
	struct http_guest guest; /* first; of a loop */
	struct http_source bell_rings;
	pthread_t owner;	/* the thread; set under the lock */
	bool alone;		/* it is the traffic's own */
	struct http_loop *loop; /* whose guest it is, or NULL */
	CURLM *multi;
	int epoll, bell;
	int64_t timer_ms; /* when libcurl wants to be called; -1: not at all */
	int64_t look_ms;  /* when the deadlines are looked at next */
	bool told;	  /* there are orders */
	bool moved;	  /* libcurl has been called: something may have ended */
	struct transfer *first;
	struct watch **watches; /* by descriptor */
	size_t watch_room;
	struct easy *spare[SPARE_MAX];
	int spares;

	pthread_mutex_t lock; /* over the next four */
	struct transfer *orders, **orders_last;
	size_t open, most;
	bool stopping;

	_Atomic uint64_t begun, ended, connections;
};

/* traffic_easy.c */
/* A handle set to carry the transfer, or NULL: *ret_end and *ret_why say why not. */
struct easy *easy_take(
	struct traffic *tr, struct transfer *t, enum traffic_end *ret_end, const char **ret_why);
/* Gives it back, after it has been taken out of the multi handle. */
void easy_put(struct traffic *tr, struct easy *e);
void easy_free(struct easy *e);
/* Tells the transfer of its head, if that has not been done; false ends it. */
bool easy_tell_head(struct transfer *t);
/* What libcurl says at the end, as one of ours. */
enum traffic_end easy_end(const struct transfer *t, CURLcode code);

/* traffic.c */
/* A connection begins or ends with this descriptor.  The system forgets one that is closed by itself. */
void watch_opened(struct traffic *tr, int fd);
void watch_closed(struct traffic *tr, int fd);
