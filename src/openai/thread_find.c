/* thread_find.c - a thread by its id, for those who may see it; see threads.h.
 *
 * Who may see a thread in which nobody works yet is decided here: who made
 * it, and those who hold OWNER on every agent.  Of a session access/caller.c
 * decides. */
#include <string.h>

#include "base/utf8_cut.h"
#include "openai/threads.h"

FIELDS(thread) = {
	FIELD(thread, id),
	FIELD(thread, agent_id, .nullable = true),
	FIELD(thread, created_by_id, .nullable = true),
	FIELD(thread, metadata),
	FIELD(thread, status, .nullable = true),
	FIELD(thread, run_id, .nullable = true),
	FIELD(thread, created_at),
	FIELD(thread, last_event_id),
};
static SCHEMA(thread, .internal = true);

enum { THREAD_TENANT, THREAD_READ, THREAD_SESSION };

static const struct statement sql[] = {
	[THREAD_TENANT] = { "thread_tenant",
		"select tenant_id as value from directory where id = $1", .row = &one_text_schema,
		.across = "whose an id is, is what is asked" },
	[THREAD_READ] = { "thread_read",
		"select id, created_by_id, metadata, created_at, 0 as last_event_id from threads "
		"where tenant_id = $1 and id = $2",
		.row = &thread_schema },
	[THREAD_SESSION] = { "thread_session",
		"select s.id, s.agent_id, s.created_by_id, s.metadata, r.status, s.run_id, "
		"s.created_at, s.last_event_id from sessions s left join session_runs r "
		"on r.tenant_id = s.tenant_id and r.session_id = s.id and r.id = s.run_id "
		"where s.tenant_id = $1 and s.id = $2",
		.row = &thread_schema },
};
STATEMENT_SET(thread_find_sql, sql);

static int fail_no_thread(struct call *c, const char *id)
{
	c->problem = (struct problem){ 0 };
	return call_fail(c, ERR_NOT_FOUND, "No thread found with id '%.*s'.", UTF8_SHOWN(64, id));
}

/* A thread in which nobody works yet. */
static int permit_own(struct call *c, const char *tenant_id, const struct thread *t, int permission)
{
	struct caller *who = &c->caller;
	struct place place = { .tenant_id = tenant_id };
	int err = 0;

	if (who->kind == CREDENTIAL_LOGIN)
		err = caller_permit(
			who, c->db, c->arena, PERM_TENANT_READ, &place, false, &c->problem);
	if (err)
		return err;
	if (strcmp(who->user_id, t->created_by_id) != 0 && !caller_holds_all(who))
		return ERR_NOT_FOUND;
	if (who->scoped && !(who->scopes & permission_given_by(permission)))
		return caller_lacks(c->arena, permission, &c->problem);
	return 0;
}

int thread_find_id(struct call *c, const char *id, int permission, struct thread *ret)
{
	const char *key_tenant = c->caller.kind == CREDENTIAL_KEY ? c->caller.tenant_id : NULL;
	struct place place = { .session_id = id };
	struct one_text tenant;
	int err = db_one(c->db, c->arena, &sql[THREAD_TENANT], &tenant, ARGS(T(id)));

	if (!err && key_tenant && strcmp(key_tenant, tenant.value) != 0)
		err = ERR_NOT_FOUND;
	if (err)
		return err == ERR_NOT_FOUND ? fail_no_thread(c, id) : err;
	*ret = (struct thread){ 0 };
	err = db_one(c->db, c->arena, &sql[THREAD_READ], ret, ARGS(T(tenant.value), T(id)));
	if (!err) {
		err = permit_own(c, tenant.value, ret, permission);
	} else if (err == ERR_NOT_FOUND) {
		err = caller_permit(
			&c->caller, c->db, c->arena, permission, &place, false, &c->problem);
		if (!err)
			err = db_one(c->db, c->arena, &sql[THREAD_SESSION], ret,
				ARGS(T(tenant.value), T(id)));
	}
	return err == ERR_NOT_FOUND ? fail_no_thread(c, id) : err;
}

int thread_find(struct call *c, int permission, struct thread *ret)
{
	return thread_find_id(c, call_param(c, "thread_id"), permission, ret);
}

int thread_at_rest(struct call *c, const struct thread *t, const char *what)
{
	static const char *const under_way[] = { "queued", "in_progress", "requires_action" };

	for (size_t i = 0; t->status && i < sizeof under_way / sizeof *under_way; i++)
		if (strcmp(t->status, under_way[i]) == 0)
			return call_fail(c, ERR_MALFORMED,
				"%s while the run %s of the thread %s is active.", what, t->run_id,
				t->id);
	return 0;
}

int thread_refresh(struct call *c, struct thread *t)
{
	const char *id = t->id;

	*t = (struct thread){ 0 };
	return db_one(
		c->db, c->arena, &sql[THREAD_SESSION], t, ARGS(T(c->caller.tenant_id), T(id)));
}
