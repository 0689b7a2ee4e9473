/* hook_fixture.h - an agent with an integration, and events signed for it, for tests of webhooks. */
#pragma once
#include "fixture.h"

#define HOOK_EVENT                                                                            \
	"{\"action\":\"opened\",\"issue\":{\"number\":7,\"title\":\"It leaks\",\"html_url\":" \
	"\"https://github.test/acme/rocket/issues/7\"},\"repository\":{\"full_name\":"        \
	"\"acme/rocket\"},\"sender\":{\"login\":\"ann\",\"type\":\"User\"}}"

struct hook_fixture {
	struct fixture *f;
	const char *agent_id, *id, *secret;
	int sent;
};

/* An agent and a GitHub integration with these further fields: ",\"guardrails\":{...}" or "". */
struct hook_fixture hook_fixture_open(const char *more);
/* The same in a fixture that stands. */
void hook_fixture_begin(struct hook_fixture *s, struct fixture *f, const char *more);

/* The signature of a body as GitHub writes it. */
const char *hook_sign(struct fixture *f, const char *secret, const char *body, size_t len);
/* The request of a signed event: for race() or ask(). */
const char *hook_request(struct hook_fixture *s, const char *body, const char *delivery_id);
/* Sends a signed event with this id; NULL: a fresh one. */
struct answer hook_send(struct hook_fixture *s, const char *body, const char *delivery_id);
/* Waits until every event that was accepted has been delivered, or has failed. */
void hook_settle(struct hook_fixture *s);
/* Has what was refused written down, and waits until so many calls of the integration are (NULL: of the
 * fixture's own). */
void hook_logged(struct hook_fixture *s, const char *integration_id, int64_t calls);
/* The log, newest first. */
struct answer hook_log(struct hook_fixture *s);
