/* state.c - see state.h. */
#include "sessions/state.h"

static const char *const session_list[] = {
	[SESSION_STATE_PENDING] = "pending",
	[SESSION_STATE_RUNNING] = "running",
	[SESSION_STATE_WAITING_APPROVAL] = "waiting_approval",
	[SESSION_STATE_COMPLETED] = "completed",
	[SESSION_STATE_FAILED] = "failed",
	[SESSION_STATE_CANCELLED] = "cancelled",
	NULL,
};
const struct words session_state_words = {
	.title = "SessionStatus",
	.list = session_list,
	.doc = "Where a session stands; a new message opens a completed one again.",
};

static const char *const run_list[] = {
	[RUN_STATE_QUEUED] = "queued",
	[RUN_STATE_IN_PROGRESS] = "in_progress",
	[RUN_STATE_REQUIRES_ACTION] = "requires_action",
	[RUN_STATE_COMPLETED] = "completed",
	[RUN_STATE_FAILED] = "failed",
	[RUN_STATE_CANCELLED] = "cancelled",
	[RUN_STATE_INCOMPLETE] = "incomplete",
	NULL,
};
const struct words run_state_words = { .list = run_list };

static const char *const call_list[] = {
	[CALL_STATE_NEW] = "new",
	[CALL_STATE_WAITING_APPROVAL] = "waiting_approval",
	[CALL_STATE_APPROVED] = "approved",
	[CALL_STATE_WAITING_CLIENT] = "waiting_client",
	[CALL_STATE_WAITING_SUBTASK] = "waiting_subtask",
	[CALL_STATE_RUNNING] = "running",
	[CALL_STATE_COMPLETED] = "completed",
	[CALL_STATE_FAILED] = "failed",
	[CALL_STATE_DENIED] = "denied",
	[CALL_STATE_CANCELLED] = "cancelled",
	[CALL_STATE_UNKNOWN] = "unknown",
	NULL,
};
const struct words call_state_words = { .list = call_list };

#define TO(machine, state) (1U << machine##_STATE_##state)

/* A bit for each state that may follow. */
static const unsigned session_moves[SESSION_STATES] = {
	[SESSION_STATE_PENDING] =
		TO(SESSION, RUNNING) | TO(SESSION, FAILED) | TO(SESSION, CANCELLED),
	[SESSION_STATE_RUNNING] = TO(SESSION, WAITING_APPROVAL) | TO(SESSION, COMPLETED) |
				  TO(SESSION, FAILED) | TO(SESSION, CANCELLED),
	[SESSION_STATE_WAITING_APPROVAL] =
		TO(SESSION, RUNNING) | TO(SESSION, FAILED) | TO(SESSION, CANCELLED),
	/* A new message opens them again. */
	[SESSION_STATE_COMPLETED] = TO(SESSION, PENDING),
	[SESSION_STATE_FAILED] = TO(SESSION, PENDING),
	[SESSION_STATE_CANCELLED] = TO(SESSION, PENDING),
};

static const unsigned run_moves[RUN_STATES] = {
	[RUN_STATE_QUEUED] = TO(RUN, IN_PROGRESS) | TO(RUN, FAILED) | TO(RUN, CANCELLED),
	[RUN_STATE_IN_PROGRESS] = TO(RUN, REQUIRES_ACTION) | TO(RUN, COMPLETED) | TO(RUN, FAILED) |
				  TO(RUN, CANCELLED) | TO(RUN, INCOMPLETE),
	[RUN_STATE_REQUIRES_ACTION] = TO(RUN, IN_PROGRESS) | TO(RUN, FAILED) | TO(RUN, CANCELLED),
};

static const unsigned call_moves[CALL_STATES] = {
	[CALL_STATE_NEW] = TO(CALL, WAITING_APPROVAL) | TO(CALL, WAITING_CLIENT) |
			   TO(CALL, WAITING_SUBTASK) | TO(CALL, RUNNING) | TO(CALL, COMPLETED) |
			   TO(CALL, FAILED),
	[CALL_STATE_WAITING_APPROVAL] = TO(CALL, APPROVED) | TO(CALL, DENIED) | TO(CALL, CANCELLED),
	/* What it would send is no longer what was approved: it is asked for again. */
	[CALL_STATE_APPROVED] = TO(CALL, WAITING_APPROVAL) | TO(CALL, RUNNING) |
				TO(CALL, WAITING_SUBTASK) | TO(CALL, COMPLETED) | TO(CALL, FAILED) |
				TO(CALL, CANCELLED),
	[CALL_STATE_WAITING_CLIENT] = TO(CALL, COMPLETED) | TO(CALL, CANCELLED),
	[CALL_STATE_WAITING_SUBTASK] = TO(CALL, COMPLETED) | TO(CALL, FAILED) | TO(CALL, CANCELLED),
	[CALL_STATE_RUNNING] =
		TO(CALL, COMPLETED) | TO(CALL, FAILED) | TO(CALL, CANCELLED) | TO(CALL, UNKNOWN),
};

static bool state_may_move(const unsigned *moves, int count, int from, int to)
{
	return from >= 0 && from < count && to >= 0 && to < count && (moves[from] >> to & 1);
}

bool session_may_move(int from, int to)
{
	return state_may_move(session_moves, SESSION_STATES, from, to);
}

bool run_may_move(int from, int to)
{
	return state_may_move(run_moves, RUN_STATES, from, to);
}

bool call_may_move(int from, int to)
{
	return state_may_move(call_moves, CALL_STATES, from, to);
}

bool session_state_ended(int state)
{
	return state >= SESSION_STATE_COMPLETED;
}

bool run_state_ended(int state)
{
	return state >= RUN_STATE_COMPLETED;
}

bool call_state_ended(int state)
{
	return state >= CALL_STATE_COMPLETED;
}
