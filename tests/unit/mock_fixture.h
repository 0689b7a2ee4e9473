/* mock_fixture.h - a model provider on the loopback that fails as it is told: the first segment of its path is
 * the script, the number after the dash its argument.
 *
 *   ok         "one two three four five", 4 tokens read and 5 written
 *   cut-N      breaks off after N tokens
 *   stall-N    says nothing more after N tokens
 *   bad-N      after N tokens an event that is no JSON
 *   error-N    after N tokens an error as an event
 *   nodone-N   after N tokens a proper end of the connection, and no other
 *   429-S      429 with Retry-After: S;  500, 400, 401: that status
 *   slow-MS    ok, but later;  usage: with figures beyond belief;  nousage: without any
 *   later-MS   a call of the calculator, so much later
 *   ghost-N    N calls of a tool that is not there;  same-N: of the calculator, for 1+1
 *   broken-N   N calls of the calculator with arguments that are no JSON;  silent: an answer of nothing
 *   thinks     thinks "hm, well", and then ok
 *   wants      thinks, and calls the caller's function `add`, its arguments in pieces; with a result: ok
 *   html, empty, huge, nul, utf8, endless, type: as they say
 *   charge     obeys whatever it was sent and charges for every byte of it (mock_charge.h)
 *   figures-N  ok, but says what cannot be of what was used, in the Nth way
 *   request-N   embeddings, speech and transcriptions (mock_endpoint.h)
 *   echo       ok, with the request's body as the text */
#pragma once
#include <stdatomic.h>

#include "http/http.h"

enum { MOCK_KEPT_MAX = 4096 };

struct mock {
	struct http_server *server;
	struct arena arena;
	pthread_mutex_t lock;
	struct http_exchange *kept[MOCK_KEPT_MAX];
	size_t kept_count;
	_Atomic bool over;  /* the slow ones wait no longer */
	_Atomic int asked;  /* requests so far */
	_Atomic int marked; /* those that held [mark] */
	_Atomic int rooms;  /* how often the endless one was asked for more */
	char last_head[2048], last_body[8192];
};

#define MOCK_TEXT "one two three four five"
enum { MOCK_INPUT = 4, MOCK_OUTPUT = 5 };

void mock_open(struct mock *m);
void mock_close(struct mock *m);
/* "http://127.0.0.1:1234/cut-3/v1" */
const char *mock_url(struct mock *m, struct arena *a, const char *script);
