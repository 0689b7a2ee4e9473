/* hook_guard.c - see hook_guard.h. */
#include "webhooks/hook_guard.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "broker/chat_config.h"
#include "broker/gate.h"

/* "acme/rocket" by itself, "acme/" and all after it by "acme/" and a star; whatever the case. */
static bool pattern_matches(const char *pattern, const char *text)
{
	size_t len = strlen(pattern);

	if (len && pattern[len - 1] == '*')
		return strncasecmp(pattern, text, len - 1) == 0;
	return strcasecmp(pattern, text) == 0;
}

static bool pattern_listed(const struct list *list, const char *text)
{
	const char *const *names = list->at;

	for (size_t i = 0; text && i < list->count; i++)
		if (pattern_matches(names[i], text))
			return true;
	return false;
}

/* "issues" lets all of its actions pass, "issues.opened" only this one. */
static bool event_listed(const struct list *list, const struct webhook_event *e)
{
	const char *const *names = list->at;
	size_t len = e->event ? strlen(e->event) : 0;

	for (size_t i = 0; len && i < list->count; i++) {
		const char *rest = names[i] + len;

		if (pattern_matches(names[i], e->event))
			return true;
		if (strncasecmp(names[i], e->event, len) == 0 && *rest == '.' && e->action &&
			pattern_matches(rest + 1, e->action))
			return true;
	}
	return false;
}

static bool integration_is_off(const struct guard_facts *f)
{
	return !f->hook->is_active;
}

static bool hook_tenant_stands_still(const struct guard_facts *f)
{
	return !f->hook->tenant_runs;
}

static bool agent_is_off(const struct guard_facts *f)
{
	return !f->hook->agent_active;
}

static bool hook_agent_is_beyond_plan(const struct guard_facts *f)
{
	return f->hook->plan_read_only;
}

static bool skill_is_off(const struct guard_facts *f)
{
	return !f->hook->skill_on;
}

static bool nobody_answers(const struct guard_facts *f)
{
	return !f->may_act;
}

static bool body_is_large(const struct guard_facts *f)
{
	return f->rails->max_bytes != NIL && f->bytes > (size_t)f->rails->max_bytes;
}

static bool event_is_unwanted(const struct guard_facts *f)
{
	return f->event && f->rails->events.at && !event_listed(&f->rails->events, f->event);
}

static bool sender_is_unwanted(const struct guard_facts *f)
{
	return f->event && f->rails->senders.at &&
	       !pattern_listed(&f->rails->senders, f->event->sender);
}

static bool repository_is_unwanted(const struct guard_facts *f)
{
	return f->event && f->rails->repositories.at &&
	       !pattern_listed(&f->rails->repositories, f->event->place);
}

static bool caused_by_agent(const struct guard_facts *f)
{
	return f->event &&
	       (f->event->by_us || pattern_listed(&f->rails->own_senders, f->event->sender));
}

static bool caused_by_bot(const struct guard_facts *f)
{
	return f->event && f->rails->block_bots && f->event->by_machine;
}

static bool outside_hours(const struct guard_facts *f)
{
	return f->wait_s &&
	       (f->rails->working_hours == HoursRule_refuse ||
		       (f->wait_s == WAIT_FOR_EVER && f->rails->working_hours == HoursRule_hold));
}

static bool budget_is_spent(const struct guard_facts *f)
{
	return f->rails->budget == BudgetRule_refuse && f->room_pd != NIL && f->room_pd <= 0;
}

static bool too_many(const struct guard_facts *f)
{
	return f->over_rate;
}

static bool seen_before(const struct guard_facts *f)
{
	return f->repeated;
}

const struct guard_rule guard_rules[] = {
	{ "integration_active", "The integration is switched off.", integration_is_off },
	{ "tenant_active", TENANT_STANDS_STILL, hook_tenant_stands_still },
	{ "agent_active", "The agent is switched off.", agent_is_off },
	{ "plan", "The agent is beyond the tenant's plan.", hook_agent_is_beyond_plan },
	{ "skill_enabled", "The agent does not use this skill.", skill_is_off },
	{ "rights", "Whoever answers for this webhook may no longer have the agent work.",
		nobody_answers },
	{ "max_bytes", "The event is larger than the integration takes.", body_is_large },
	{ "events", "Events of this kind are not taken.", event_is_unwanted },
	{ "senders", "Events of this sender are not taken.", sender_is_unwanted },
	{ "repositories", "Events of this place are not taken.", repository_is_unwanted },
	{ "loop", "The agent itself has caused this event.", caused_by_agent },
	{ "bots", "Events that programs cause are not taken.", caused_by_bot },
	{ "repeats", "This body was taken before, under another id.", seen_before },
	{ "working_hours", "The agent is not at work.", outside_hours },
	{ "budget", "The agent's budget is spent.", budget_is_spent },
	{ "rate", "More events have come in the last minute than are taken.", too_many },
	{ 0 },
};

const struct guard_rule *guard_refusal(const struct guard_facts *f)
{
	for (const struct guard_rule *r = guard_rules; r->name; r++)
		if (r->refuses(f))
			return r;
	return NULL;
}

bool guard_rate(int64_t due_at, int64_t per_minute, int64_t now, int64_t *ret_due_at)
{
	int64_t minute = 60 * SECOND_US;

	*ret_due_at = (due_at != NIL && due_at > now ? due_at : now) + minute / per_minute;
	return *ret_due_at - now <= minute;
}
