/* completion_state.c - where a completion stands, and what may follow; see completion_parts.h. */
#include "broker/completion_parts.h"

#define TO(state) (1U << COMPLETION_##state)

/* A bit for each state that may follow. */
static const unsigned stage_moves[COMPLETION_STAGES] = {
	/* When no candidate is left, the last fault is told. */
	[COMPLETION_CHOOSING] = TO(RESERVING) | TO(FAULTED) | TO(OVER),
	[COMPLETION_RESERVING] = TO(ASKING) | TO(CHOOSING) | TO(OVER),
	[COMPLETION_ASKING] = TO(ANSWERING) | TO(FAULTED) | TO(OVER),
	[COMPLETION_ANSWERING] = TO(ANSWERED) | TO(BROKEN),
	[COMPLETION_FAULTED] = TO(CHOOSING) | TO(OVER),
	[COMPLETION_BROKEN] = TO(OVER),
	[COMPLETION_ANSWERED] = TO(OVER),
};

static const unsigned carriage_moves[COMPLETION_CARRIAGES] = {
	[COMPLETION_CARRIED_NOT] = TO(CARRIED_OUTSIDE) | TO(CARRIED_INSIDE),
	[COMPLETION_CARRIED_OUTSIDE] = TO(CARRIED_NOT),
	[COMPLETION_CARRIED_INSIDE] = TO(CARRIED_NOT) | TO(CARRIED_PAUSED),
	[COMPLETION_CARRIED_PAUSED] = TO(CARRIED_INSIDE),
};

static const unsigned money_moves[COMPLETION_MONEY_STATES] = {
	[COMPLETION_UNRESERVED] = TO(RESERVED),
	[COMPLETION_RESERVED] = TO(SETTLING),
	[COMPLETION_SETTLING] = TO(UNRESERVED) | TO(SETTLE_DUE),
	[COMPLETION_SETTLE_DUE] = TO(SETTLING),
};

void completion_move_locked(struct completion *r, enum completion_stage to)
{
	INVARIANT_MOVE(stage_moves, r->stage, to);
	r->stage = to;
}

void completion_move(struct completion *r, enum completion_stage to)
{
	pthread_mutex_lock(&r->lock);
	completion_move_locked(r, to);
	pthread_mutex_unlock(&r->lock);
}

void completion_carry(struct completion *r, enum completion_carriage to)
{
	INVARIANT_MOVE(carriage_moves, r->carriage, to);
	r->carriage = to;
}

void completion_money_move(struct completion *r, enum completion_money to)
{
	INVARIANT_MOVE(money_moves, r->money, to);
	r->money = to;
}

bool completion_has_begun(const struct completion *r)
{
	return (TO(ANSWERING) | TO(BROKEN) | TO(ANSWERED)) >> r->stage & 1;
}

bool completion_has_failed(const struct completion *r)
{
	return (TO(FAULTED) | TO(BROKEN)) >> r->stage & 1;
}

/* A model inside the program charges for what it says only. */
bool completion_has_asked(const struct completion *r)
{
	return r->candidate->url && (TO(ASKING) | TO(FAULTED) | TO(BROKEN)) >> r->stage & 1;
}
