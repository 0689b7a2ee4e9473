/* wait_fixture.h - an agent with a model that costs, reached by every way in, whose room the test takes away and
 * whose clock it moves. */
#pragma once
#include "gateway_fixture.h"
#include "hook_fixture.h"

struct wait_fixture {
	struct gateway_fixture gateway;
	struct fixture *f;
	const char *agent_id;	  /* with the mock's model, at a price */
	const char *giver_id;	  /* an agent that gives it subtasks, free of limits */
	struct hook_fixture hook; /* its integration */
	const char *skill_id, *skill_hook_id, *skill_token;
	int64_t moved;
};

/* The clock stands at six in the morning, UTC. */
void wait_open(struct wait_fixture *s, const char *script);
void wait_close(struct wait_fixture *s);
/* Ahead, with everything that looks at the clock told. */
void wait_move(struct wait_fixture *s, int64_t us);
/* To a moment, if that lies ahead. */
void wait_move_to(struct wait_fixture *s, int64_t us);

/* A tool of the program's own, given to the agent. */
void wait_tool(struct wait_fixture *s, const char *agent_id, const char *name);

/* Limits as bodies of PUT chat-config and budget. */
void wait_chat(struct wait_fixture *s, const char *body);
void wait_budget(struct wait_fixture *s, const char *usd);
/* One of the agent's messages has been taken just now / so much was spent just now. */
void wait_use_rate(struct wait_fixture *s, int seconds);
void wait_spend(struct wait_fixture *s, int64_t pd);

/* A number or text of the store; polls until it is so, or fails the test. */
void wait_until_count(struct wait_fixture *s, const char *sql, int64_t count);
