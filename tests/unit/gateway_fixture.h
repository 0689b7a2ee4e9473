/* gateway_fixture.h - an agent whose models are a mock provider's, asked through the gateway. */
#pragma once
#include <pthread.h>

#include "fixture.h"
#include "mock_fixture.h"

/* What one answer of the mock costs at the prices of its models. */
enum { PROMPT_PD = 1000000, COMPLETION_PD = 2000000 };
#define MOCK_COST ((int64_t)MOCK_INPUT * PROMPT_PD + (int64_t)MOCK_OUTPUT * COMPLETION_PD)

enum { CHAIN_MAX = 8 };

struct gateway_fixture {
	struct fixture *f;
	struct mock mock;
	const char *agent_id, *slug;
	const char *model; /* what is asked for: the agent's id unless a test says otherwise */
	const char *models[CHAIN_MAX], *slugs[CHAIN_MAX];
	int count;
	bool messages; /* it is asked by Anthropic's Messages API */
};

void gateway_open(struct gateway_fixture *s);
void gateway_close(struct gateway_fixture *s);
/* A new agent whose chain is new models with these scripts, NULL-terminated. */
void gateway_agent(struct gateway_fixture *s, const char *const *scripts);
/* A model of that script, in no chain. */
const char *gateway_model(struct gateway_fixture *s, const char *script, const char *slug);
#define GATEWAY_BODY(s, more)                                                                 \
	arena_printf(&(s)->f->arena,                                                          \
		"{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]%s}", \
		(s)->model, more)
/* Asks for s->model; `more` is put after the messages. */
struct answer gateway_ask(struct gateway_fixture *s, const char *token, const char *more);
/* The text of a streamed answer, put together. */
const char *gateway_text(struct gateway_fixture *s, const struct answer *r);
/* Waits until nothing is reserved, and checks the rows of the ledger and their sum. */
void gateway_settled(struct gateway_fixture *s, int64_t rows, int64_t cost_pd);
void gateway_await_settled(struct gateway_fixture *s);
/* Another broker in the place of the fixture's. */
struct broker_settings;
void gateway_rebroker(struct gateway_fixture *s, const struct broker_settings *settings);
