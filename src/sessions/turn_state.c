/* turn_state.c - where a turn, an answer on its way and the calls of tools stand, and what may follow; see turn.h. */
#include "sessions/turn.h"

#define TO(state) (1U << (state))

/* A bit for each state that may follow. */
static const unsigned turn_moves[TURN_STAGES] = {
	/* One step may follow another. */
	[TURN_AT_STEP] = TO(TURN_AT_STEP) | TO(TURN_AT_MODEL) | TO(TURN_AT_TOOLS) | TO(TURN_LEFT),
	[TURN_AT_MODEL] = TO(TURN_AT_STEP),
	[TURN_AT_TOOLS] = TO(TURN_AT_STEP),
};

static const unsigned flow_moves[FLOW_STATES] = {
	[FLOW_NONE] = TO(FLOW_HEARING),
	/* A run that could not be begun says nothing: the next one is heard instead. */
	[FLOW_HEARING] = TO(FLOW_WRITING) | TO(FLOW_OVER) | TO(FLOW_HEARING),
	[FLOW_WRITING] = TO(FLOW_HEARING) | TO(FLOW_ENDING),
	[FLOW_ENDING] = TO(FLOW_OVER),
	[FLOW_OVER] = TO(FLOW_HEARING),
};

static const unsigned errand_moves[ERRAND_STATES] = {
	[ERRAND_AWAY] = TO(ERRAND_BACK),
	/* A step that is run again has stored it before. */
	[ERRAND_BACK] = TO(ERRAND_STORED),
	[ERRAND_STORED] = TO(ERRAND_STORED),
};

void turn_move(struct turn *t, enum turn_stage to)
{
	INVARIANT_MOVE(turn_moves, t->stage, to);
	t->stage = to;
}

void turn_flow(struct turn *t, enum flow_state to)
{
	INVARIANT_MOVE(flow_moves, t->flow.state, to);
	t->flow.state = to;
}

void errand_move(struct errand *e, enum errand_state to)
{
	INVARIANT_MOVE(errand_moves, e->state, to);
	e->state = to;
}
