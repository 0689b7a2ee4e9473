/* session_owner.c - who speaks in what mail began: whoever wrote the mail, and nobody else.
 *
 * The answer of a turn goes to that person, and all that was said is what the
 * next turn is given.  What somebody else had the agent read, with rights of
 * their own, would go to whoever wrote.  So nobody else says anything there,
 * has it run or gives work away in it, by whichever door they come: all of
 * them lead here. */
#include <string.h>

#include "base/same.h"
#include "sessions/session_tx.h"
#include "store/row.h"

struct mail_owner {
	const char *created_by_id;
	bool by_mail;
};

FIELDS(mail_owner) = {
	FIELD(mail_owner, created_by_id, .nullable = true),
	FIELD(mail_owner, by_mail),
};
static SCHEMA(mail_owner, .internal = true);

static const struct statement sql[] = {
	{ "session_mail_owner",
		"select s.created_by_id, case when " SESSION_BY_MAIL(
			"s") " then 1 else 0 end as by_mail from session_rows s "
			     "where s.tenant_id = $1 and s.id = $2",
		.row = &mail_owner_schema },
};
STATEMENT_SET(session_owner_sql, sql);

static int find_owner(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	struct mail_owner *ret)
{
	int err = db_one(db, a, &sql[0], ret, ARGS(T(tenant_id), T(session_id)));

	if (err)
		*ret = (struct mail_owner){ 0 };
	return err == ERR_NOT_FOUND ? 0 : err;
}

int session_by_mail(
	struct db *db, struct arena *a, const char *tenant_id, const char *session_id, bool *ret)
{
	struct mail_owner owner;
	int err = find_owner(db, a, tenant_id, session_id, &owner);

	*ret = owner.by_mail;
	return err;
}

int session_check_owner(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *user_id, struct problem *p)
{
	struct mail_owner owner;
	int err = find_owner(db, a, tenant_id, session_id, &owner);

	if (err || !owner.by_mail || same_text(user_id, owner.created_by_id))
		return err;
	p->code = "mail_session";
	return problem_set(p, a, ERR_FORBIDDEN,
		"Mail began this session, and only whoever wrote it takes part; write to them with a draft instead.");
}

/* A stranger is no user, and nor is a hook: it is nobody's mail. */
int session_check_speaker(
	const struct session_tx *p, const struct session_actor *as, struct problem *problem)
{
	bool may_be = strcmp(p->row.origin, "mail") == 0 || strcmp(p->row.origin, "subtask") == 0;

	return may_be ? session_check_owner(p->db, p->a, p->tenant_id, p->session_id,
				as->hook_id ? as->hook_id : as->user_id, problem)
		      : 0;
}
