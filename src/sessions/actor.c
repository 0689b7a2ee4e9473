/* actor.c - see actor.h. */
#include "sessions/actor.h"

#include "sessions/skillset.h"

/* What an integration lends to its runs. */
struct lender {
	const char *acts_as_id, *key_id;
	bool is_active, skill_on;
};

FIELDS(lender) = {
	FIELD(lender, acts_as_id, .nullable = true),
	FIELD(lender, key_id, .nullable = true),
	FIELD(lender, is_active),
	FIELD(lender, skill_on),
};
static SCHEMA(lender, .internal = true);

/* What lets strangers reach an agent. */
struct stranger_way {
	bool tenant_runs, plan_read_only, mail_on;
};

FIELDS(stranger_way) = {
	FIELD(stranger_way, tenant_runs),
	FIELD(stranger_way, plan_read_only),
	FIELD(stranger_way, mail_on),
};
static SCHEMA(stranger_way, .internal = true);

enum { ACTOR_HOOK, ACTOR_STRANGER };

#define IF(condition, name) "case when " condition " then 1 else 0 end as " name

static const struct statement sql[] = {
	[ACTOR_STRANGER] = { "actor_stranger",
		"select " IF("t.status in ('active', 'trial')", "tenant_runs") ", " IF(
			"t.read_only_after is not null and a.id > t.read_only_after",
			"plan_read_only") ", " IF("exists (select 1 from mailboxes m where m.tenant_id = $1 "
						  "and m.agent_id = $2 and m.kind = 'external' "
						  "and m.enabled = 1 and m.paused = 0)",
			"mail_on") " from tenants t join agents a on a.tenant_id = $1 and a.id = $2 "
				   "where t.id = $1",
		.row = &stranger_way_schema },
	[ACTOR_HOOK] = { "actor_hook",
		"select i.acts_as_id, i.key_id, i.is_active, case when i.skill_id is null or " SKILL_USED(
			"$1", "i.agent_id",
			"i.skill_id") " then 1 else 0 end as skill_on "
				      "from integrations i where i.tenant_id = $1 and i.id = $2",
		.row = &lender_schema },
};
STATEMENT_SET(actor_sql, sql);

static int refuse_actor(struct arena *a, struct problem *p, const char *code, const char *sentence)
{
	p->code = code;
	return problem_set(p, a, ERR_FORBIDDEN, "%s", sentence);
}

/* The one who answers for the webhook, into *ret. */
static int find_lender(struct db *db, struct arena *a, const struct actor_who *who,
	struct actor_who *ret, struct problem *p)
{
	struct lender l;
	int err = db_one(db, a, &sql[ACTOR_HOOK], &l, ARGS(T(who->tenant_id), T(who->hook_id)));

	if (err == ERR_NOT_FOUND || (!err && !l.is_active))
		return refuse_actor(
			a, p, "hook_off", "The webhook that began this is gone or off.");
	if (err)
		return err;
	if (!l.skill_on)
		return refuse_actor(
			a, p, "skill_off", "The agent may not use the webhook's skill.");
	if (!l.acts_as_id)
		return refuse_actor(
			a, p, "hook_nobody", "Nobody answers for the webhook any more.");
	ret->user_id = l.acts_as_id;
	ret->key_id = l.key_id;
	return 0;
}

/* Nobody lends them anything: what is asked is only whether the agent may still be written to. */
static int stand_for_stranger(struct db *db, struct arena *a, const struct actor_who *who,
	struct actor *ret, struct problem *p)
{
	struct stranger_way way;
	int err = db_one(
		db, a, &sql[ACTOR_STRANGER], &way, ARGS(T(who->tenant_id), T(who->agent_id)));

	if (err == ERR_NOT_FOUND)
		return refuse_actor(a, p, "agent_gone", "There is no such agent.");
	if (err)
		return err;
	if (!way.tenant_runs)
		return refuse_actor(
			a, p, "tenant_not_running", "The tenant is suspended or closed.");
	if (way.plan_read_only)
		return refuse_actor(a, p, "plan_read_only",
			"This agent is beyond the tenant's plan and only reads.");
	if (!way.mail_on)
		return refuse_actor(
			a, p, "mail_off", "The agent takes no mail from outside any more.");
	*ret = (struct actor){ .agent = PERM(SESSION_WRITE) };
	return 0;
}

int actor_load(struct db *db, struct arena *a, const struct actor_who *who, int64_t now,
	struct actor *ret, struct problem *p)
{
	struct actor_who as = *who;
	struct caller c;
	int err = who->hook_id ? find_lender(db, a, who, &as, p) : 0;

	if (who->stranger && !who->user_id && !who->key_id && !who->hook_id)
		return stand_for_stranger(db, a, who, ret, p);
	if (!err && !as.user_id)
		return refuse_actor(a, p, "nobody", "Nobody is known as whom this would run.");
	if (!err)
		err = caller_stand(&c, db, a,
			&(struct caller_absent){ as.tenant_id, as.agent_id, as.user_id, as.key_id },
			PERM_SESSION_WRITE, now, p);
	if (err)
		return err;
	*ret = (struct actor){ as.user_id, as.key_id, c.agent, c.all_sessions };
	return 0;
}

int actor_of_hook(struct db *db, struct arena *a, const char *tenant_id, const char *agent_id,
	const char *hook_id, int64_t now, struct actor *ret, struct problem *p)
{
	const struct actor_who who = {
		.tenant_id = tenant_id, .agent_id = agent_id, .hook_id = hook_id
	};

	return actor_load(db, a, &who, now, ret, p);
}
