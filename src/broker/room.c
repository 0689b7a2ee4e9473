/* room.c - see room.h. */
#include "broker/room.h"

#include <string.h>

#include "broker/budget.h"
#include "broker/chat_config.h"
#include "broker/gate.h"

static const struct {
	const char *code, *reason;
} reasons[] = {
	{ "outside_working_hours", "hours" },
	{ "rate_limited", "rate" },
	{ "budget_exhausted", "budget" },
};

const char *room_lacking(const struct problem *p)
{
	if (p->err != ERR_THROTTLED || !p->code)
		return NULL;
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(p->code, reasons[i].code) == 0)
			return reasons[i].reason;
	return NULL;
}

/* The least that a call of this model takes; of a router nobody knows, and anything may do. */
static int64_t least_of(const struct gate_facts *f)
{
	struct price p = gate_price(f);

	if (f->is_free)
		return 0;
	return f->kind == ModelKind_router ? 1 : budget_least_pd(&p);
}

/* The least that a message takes: what the cheapest model of the chain does. */
int room_least(struct db *db, struct arena *a, const struct room_asked *asked, int64_t *ret_pd)
{
	const struct gate_who who = { .tenant_id = asked->tenant_id, .agent_id = asked->agent_id };
	const struct gate_facts *f;
	struct gate_facts one;
	struct list chain = { &one, 1 };
	int err = asked->model_id ? gate_load(db, a, &who, asked->model_id, &one)
				  : gate_load_chain(db, a, &who, &chain);

	*ret_pd = 0;
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err; /* whoever plans the call says so better */
	f = chain.at;
	for (size_t i = 0; i < chain.count; i++)
		if (i == 0 || least_of(&f[i]) < *ret_pd)
			*ret_pd = least_of(&f[i]);
	return 0;
}

int room_hours(struct arena *a, const struct chat_config *config, int64_t now, struct problem *p)
{
	int64_t wait = working_hours_wait_s(config, now);

	if (!wait)
		return 0;
	p->code = "outside_working_hours";
	p->final = true;
	p->retry_after_s = wait > ROOM_NEVER_S ? ROOM_NEVER_S : (int)wait;
	return problem_set(p, a, ERR_THROTTLED,
		wait == WAIT_FOR_EVER ? "This agent keeps working hours, and has no day of work."
				      : "This agent is outside its working hours.");
}

int room_take(struct db *db, struct arena *a, const struct room_asked *asked, struct problem *p)
{
	struct reservation b = { .tenant_id = asked->tenant_id, .agent_id = asked->agent_id };
	struct chat_config config;
	int64_t need = 0;
	int err = chat_config_read(db, a, asked->tenant_id, asked->agent_id, &config);

	if (!err && !asked->any_hour)
		err = room_hours(a, &config, asked->now, p);
	if (err || asked->uncounted)
		return err;
	b.hourly_limit_pd = config.hourly_limit_pd;
	b.per_minute = config.chat_rpm_limit;
	b.per_hour = config.chat_rph_limit;
	b.messages = asked->messages;
	if (b.hourly_limit_pd != NIL)
		err = room_least(db, a, asked, &need);
	if (!err && need)
		err = budget_need(db, a, &b, need, asked->now, p);
	return err ? err : budget_count(db, a, &b, !asked->look, asked->now, p);
}

int room_spacing_s(struct db *db, struct arena *a, const struct room_asked *asked)
{
	struct chat_config config;
	int64_t s = 1;

	if (chat_config_read(db, a, asked->tenant_id, asked->agent_id, &config))
		return 1;
	if (config.chat_rpm_limit != NIL && 60 / config.chat_rpm_limit > s)
		s = 60 / config.chat_rpm_limit;
	if (config.chat_rph_limit != NIL && 3600 / config.chat_rph_limit > s)
		s = 3600 / config.chat_rph_limit;
	return (int)s;
}
