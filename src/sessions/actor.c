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

static const struct statement sql[] = {
	{ "actor_hook",
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
	int err = db_one(db, a, &sql[0], &l, ARGS(T(who->tenant_id), T(who->hook_id)));

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

int actor_load(struct db *db, struct arena *a, const struct actor_who *who, int64_t now,
	struct actor *ret, struct problem *p)
{
	struct actor_who as = *who;
	struct caller c;
	int err = who->hook_id ? find_lender(db, a, who, &as, p) : 0;

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
