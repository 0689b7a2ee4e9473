/* http_fixture.h - a real server on the loopback with a handler that does what a test asks, and a client. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "http/http.h"
#include "t.h"

enum { PATIENCE_MS = 60000 }; /* the bound on every wait; nothing comes near it */

/* The handler: `GET /kept` goes to another thread, `/parked` waits for the test, `/big` is big,
 * `/early` answers without the body, `/hold` halts the loop until the test lets it go, `/turn` says
 * how many came before, everything else is told what it sent. */
struct http_fixture {
	struct http_server *server;
	struct arena arena;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct http_exchange *kept[64], *parked[64];
	int kept_count, parked_count;
	bool over, holding, let_go;
	int turns; /* of the one loop that is asked for them */
	pthread_t worker;
	_Atomic int sent, dropped, begun, ended;
};

extern const struct http_limits fixture_limits;
/* A server on a port of its own, for many connections and large bodies that may wait for a minute. */
struct http_settings loopback_settings(int loops);
/* The thread that finishes what is kept. */
void *http_fixture_work(void *arg);
/* How the last connection heard to its end has ended. */
extern bool fixture_was_reset;

void http_fixture_answer(struct http_exchange *x);
int http_fixture_try(struct http_fixture *s, const struct http_limits *limits,
	const char *listen_on, const char *cert, const char *key, struct problem *p);
void http_fixture_open(struct http_fixture *s, const struct http_limits *limits);
void http_fixture_close(struct http_fixture *s);
/* Waits until n exchanges stand parked. */
void http_fixture_await_parked(struct http_fixture *s, int n);
void http_fixture_await(_Atomic int *counter, int n);
int http_fixture_dial(struct http_fixture *s);
/* False if the server would not take it all. */
bool http_fixture_say(int fd, const char *bytes);
/* Reads until the end, or until `until` stands in what came (never if NULL); false at the end. */
bool http_fixture_hear(int fd, struct buf *in, const char *until);
const char *http_fixture_text(struct buf *in);
int http_fixture_count(struct buf *in, const char *what);
bool http_fixture_starts(struct buf *in, const char *with);
bool http_fixture_contains(struct buf *in, const char *what);
/* Sends on a new connection and hears all until the server closes. */
void http_fixture_ask(struct http_fixture *s, const char *bytes, struct buf *in);

#define GET(path) "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_CLOSE(path) "GET " path " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
