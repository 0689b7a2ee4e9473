/* state.h - the states of sessions, runs and calls of tools, and which may follow which.
 *
 *   session   pending -> running <-> waiting_approval -> completed | failed | cancelled -> pending ...
 *   run       queued -> in_progress <-> requires_action -> completed | incomplete | failed | cancelled
 *   call      (approved by somebody) -> running -> completed | failed | unknown | cancelled | denied
 *
 * Every change of a state goes through these tables: what is not in them does
 * not happen. */
#pragma once
#include <stdbool.h>

#include "contract/schema.h"

enum session_state {
	SESSION_STATE_PENDING,
	SESSION_STATE_RUNNING,
	SESSION_STATE_WAITING_APPROVAL,
	SESSION_STATE_COMPLETED,
	SESSION_STATE_FAILED,
	SESSION_STATE_CANCELLED,
	SESSION_STATES
};
extern const struct words session_state_words;

enum run_state {
	RUN_STATE_QUEUED,
	RUN_STATE_IN_PROGRESS,
	RUN_STATE_REQUIRES_ACTION, /* its caller owes the results of calls */
	RUN_STATE_COMPLETED,
	RUN_STATE_FAILED,
	RUN_STATE_CANCELLED,
	RUN_STATE_INCOMPLETE, /* its last answer was cut at the limit of tokens */
	RUN_STATES
};
extern const struct words run_state_words;

enum call_state {
	CALL_STATE_NEW, /* never stored: it is decided in the transaction that stores the call */
	CALL_STATE_WAITING_APPROVAL,
	CALL_STATE_APPROVED,
	CALL_STATE_WAITING_CLIENT,  /* whoever started the run runs it */
	CALL_STATE_WAITING_SUBTASK, /* a session of its own works on it */
	CALL_STATE_RUNNING,
	CALL_STATE_COMPLETED,
	CALL_STATE_FAILED,
	CALL_STATE_DENIED,
	CALL_STATE_CANCELLED,
	CALL_STATE_UNKNOWN, /* it was made, and whether it had an effect nobody knows */
	CALL_STATES
};
extern const struct words call_state_words;

/* Neither a state to itself, nor anything with a number beyond the table. */
bool session_may_move(int from, int to);
bool run_may_move(int from, int to);
bool call_may_move(int from, int to);

/* completed, failed, cancelled */
bool session_state_ended(int state);
bool run_state_ended(int state);
/* It has its result. */
bool call_state_ended(int state);
