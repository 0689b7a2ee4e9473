/* turn_fixture.h - an agent with tools in a whole server, spoken to as the operations do it. */
#pragma once
#include "gateway_fixture.h"
#include "sessions/session.h"

struct turn_fixture {
	struct fixture *f;
	struct gateway_fixture gateway; /* where models are a mock's */
	const char *agent_id, *session_id, *run_id;
	struct session_actor as; /* who speaks and answers */
};

/* An agent with the demonstration model and the builtin tools named, NULL-terminated. */
void turn_open(struct turn_fixture *s, const char *const *tools);
/* The same with a mock's models of these scripts. */
void turn_open_mock(struct turn_fixture *s, const char *const *scripts, const char *const *tools);
void turn_close(struct turn_fixture *s);
void turn_tool(struct turn_fixture *s, const char *agent_id, const char *name);

/* A fresh session of the agent. */
void turn_session(struct turn_fixture *s);
/* Says it and sets the agent to work; the error of either. */
int turn_say(struct turn_fixture *s, const char *text);
int turn_say_with(struct turn_fixture *s, const char *text, const struct run_options *options);
int turn_start(struct turn_fixture *s, const struct run_options *options);
int turn_cancel(struct turn_fixture *s);
int turn_decide(struct turn_fixture *s, bool approved);
int turn_answer(struct turn_fixture *s, const char *call_id, const char *output);
/* Waits until the session has this status; fails the test if it does not come. */
void turn_await(struct turn_fixture *s, const char *status);
/* Waits until the statement, with %s for the session, counts so many. */
void turn_await_count(struct turn_fixture *s, const char *sql, int64_t count);
int64_t turn_count(struct turn_fixture *s, const char *sql);
/* A text from the store, with %s for the session; "" for none. */
const char *turn_text(struct turn_fixture *s, const char *sql);
/* "user: hi | assistant: ... | tool: ...", what is complete. */
const char *turn_transcript(struct turn_fixture *s);
/* Every event numbered without gap, every move of the session in the table. */
void turn_check_events(struct turn_fixture *s);
