/* hook_guard.h - what a verified event must pass before it reaches the agent: a table of named rules.
 *
 * A rule sees facts and nothing else; whoever asks has loaded them.  The
 * first that refuses gives its name to the log and to the sender. */
#pragma once
#include "webhooks/hook.h"
#include "outside/webhook.h"

struct guard_facts {
	const struct hook *hook;
	const struct IntegrationGuardrails *rails;
	const struct webhook_event *event; /* NULL: a call of a skill */
	size_t bytes;
	int64_t wait_s;	 /* until the working hours begin; 0 in them; WAIT_FOR_EVER */
	int64_t room_pd; /* of the budget; NIL: no limit */
	bool over_rate;
	bool repeated; /* its body was taken within the hours of the rails */
	bool may_act;  /* whoever answers for it may have the agent work */
};

struct guard_rule {
	const char *name, *sentence;
	bool (*refuses)(const struct guard_facts *f);
};

/* NULL-terminated by a row without a name. */
extern const struct guard_rule guard_rules[];

const struct guard_rule *guard_refusal(const struct guard_facts *f);

/* One a minute is 60 s after the other, and a minute's worth may come at once: is there room at `now`,
 * and when would the next be due?  due_at is what was stored, NIL for nothing. */
bool guard_rate(int64_t due_at, int64_t per_minute, int64_t now, int64_t *ret_due_at);
