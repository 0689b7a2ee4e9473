/* caller_permit.c - whether the caller may, at a place: a tenant, an agent in it, a session; see caller.h. */
#include "access/caller_parts.h"

#include <string.h>

#include "base/check.h"

FIELDS(tenant_facts) = {
	FIELD(tenant_facts, tenant_id),
	FIELD(tenant_facts, read_only_after),
	FIELD(tenant_facts, role, .words = &tenant_role_words),
	FIELD(tenant_facts, status, .words = &caller_status_words),
	FIELD(tenant_facts, allow_superadmin_access),
	FIELD(tenant_facts, erase_at),
};
static SCHEMA(tenant_facts, .internal = true);

FIELDS(agent_facts) = {
	FIELD(agent_facts, is_admin_only),
	FIELD(agent_facts, default_role_enabled),
	FIELD(agent_facts, user_rank),
	FIELD(agent_facts, group_rank),
};
static SCHEMA(agent_facts, .internal = true);

FIELDS(session_facts) = {
	FIELD(session_facts, agent_id),
	FIELD(session_facts, takes_part),
	FIELD(session_facts, by_mail),
};
static SCHEMA(session_facts, .internal = true);

struct directory_row {
	const char *tenant_id;
};

FIELDS(directory_row) = { FIELD(directory_row, tenant_id) };
static SCHEMA(directory_row, .internal = true);

struct slugs_row {
	const char *tenant_id, *agent_id;
};

FIELDS(slugs_row) = { FIELD(slugs_row, tenant_id), FIELD(slugs_row, agent_id) };
static SCHEMA(slugs_row, .internal = true);

#define DELETED "coalesce(t.erase_at, 0) as erase_at"

enum {
	CALLER_TENANT,
	CALLER_AGENT,
	CALLER_AGENT_THERE,
	CALLER_SESSION,
	CALLER_DIRECTORY,
	CALLER_SLUGS,
};

static const struct statement sql[] = {
	[CALLER_TENANT] = { "caller_tenant",
		"select t.id as tenant_id, m.role, t.status, t.allow_superadmin_access, "
		"t.read_only_after, " DELETED " from tenants t "
		"left join members m on m.tenant_id = t.id and m.user_id = $2 and m.status = 'active' "
		"where t.id = $1",
		.row = &tenant_facts_schema },
	[CALLER_AGENT] = { "caller_agent",
		"select a.is_admin_only, a.default_role_enabled, " RANKS
		" from agents a where a.tenant_id = $1 and a.id = $2",
		.row = &agent_facts_schema },
	[CALLER_AGENT_THERE] = { "caller_agent_there",
		"select a.is_admin_only, a.default_role_enabled from agents a "
		"where a.tenant_id = $1 and a.id = $2",
		.row = &agent_facts_schema },
	[CALLER_SESSION] = { "caller_session",
		"select s.agent_id, case when exists (select 1 from session_people p "
		"where p.tenant_id = $1 and p.user_id = $3 and p.session_id = $2) then 1 else 0 end "
		"as takes_part, case when " SESSION_BY_MAIL(
			"s") " then 1 else 0 end as by_mail from sessions s where s.tenant_id = $1 and s.id = $2",
		.row = &session_facts_schema },
	[CALLER_DIRECTORY] = { "caller_directory", "select tenant_id from directory where id = $1",
		.row = &directory_row_schema, .across = "whose an id is, is what is asked" },
	[CALLER_SLUGS] = { "caller_slugs",
		"select a.tenant_id, a.id as agent_id from tenants t join agents a "
		"on a.tenant_id = t.id and a.slug = $2 where t.slug = $1",
		.row = &slugs_row_schema, .across = "which tenant has the slug is what is asked" },
};
STATEMENT_SET(caller_permit_sql, sql);

int caller_lacks(struct arena *a, int permission, struct problem *p)
{
	return problem_set(
		p, a, ERR_FORBIDDEN, "This needs the permission %s.", permission_name(permission));
}

static int load_tenant(struct caller *c, struct db *db, struct arena *a, const struct place *place,
	struct problem *p)
{
	const char *tenant_id = place->tenant_id;
	struct directory_row in;
	struct tenant_facts t;
	int err = 0;

	if (c->kind == CREDENTIAL_KEY) {
		/* A key acts within its own tenant, which is known already. */
		INVARIANT(c->tenant_id && strcmp(c->tenant_id, c->key_tenant_id) == 0);
		if (tenant_id && strcmp(tenant_id, c->tenant_id) != 0)
			return problem_set(p, a, ERR_NOT_FOUND, NOTHING);
		return 0;
	}
	if (!tenant_id) {
		err = db_one(db, a, &sql[CALLER_DIRECTORY], &in,
			ARGS(T(place->agent_id ? place->agent_id : place->session_id)));
		tenant_id = in.tenant_id;
	}
	if (!err)
		err = db_one(db, a, &sql[CALLER_TENANT], &t, ARGS(T(tenant_id), T(c->user_id)));
	if (err == ERR_NOT_FOUND)
		return problem_set(p, a, err, NOTHING);
	return err ? err : caller_tenant_decide(c, a, &t, p);
}

int caller_find_place(struct db *db, struct arena *a, const char *tenant_slug,
	const char *agent_slug, struct place *ret, struct problem *p)
{
	struct slugs_row row;
	int err = db_one(db, a, &sql[CALLER_SLUGS], &row, ARGS(T(tenant_slug), T(agent_slug)));

	if (err)
		return err == ERR_NOT_FOUND ? problem_set(p, a, err, NOTHING) : err;
	ret->tenant_id = row.tenant_id;
	ret->agent_id = row.agent_id;
	return 0;
}

bool caller_reads_only(const struct caller *c, const char *agent_id)
{
	return c->read_only_after && strcmp(agent_id, c->read_only_after) > 0;
}

/* What is still done to an agent beyond the plan: reading it, and getting rid of it. */
#define BEYOND_PLAN                                                                           \
	(PERM(AGENT_READ) | PERM(SESSION_READ) | PERM(AGENT_MAIL_READ) | PERM(AGENT_DELETE) | \
		PERM(AGENT_TRANSFER) | PERM(AGENT_ROLES_WRITE))

int caller_check_plan(const struct caller *c, struct arena *a, int permission, const char *agent_id,
	struct problem *p)
{
	if (!caller_reads_only(c, agent_id) || BEYOND_PLAN >> permission & 1)
		return 0;
	p->code = "plan_read_only";
	return problem_set(
		p, a, ERR_CONFLICT, "This agent is beyond the tenant's plan and only reads.");
}

bool caller_holds_all(const struct caller *c)
{
	return c->through_super || c->role == ROLE_OWNER || c->role == ROLE_ADMIN;
}

/* What roles of the caller's own give. */
static permissions named_held(const struct agent_facts *f)
{
	permissions set = 0;

	if (f->user_rank > 0)
		set |= permissions_of_agent_role((enum agent_role)(f->user_rank - 1));
	if (f->group_rank > 0)
		set |= permissions_of_agent_role((enum agent_role)(f->group_rank - 1));
	return set;
}

permissions caller_agent_held(
	struct caller *c, const struct agent_facts *f, const struct session_facts *session)
{
	permissions named = 0, given = 0;

	if (caller_holds_all(c))
		named = permissions_of_agent_role(AGENT_OWNER);
	else if (!f->is_admin_only)
		named = named_held(f);
	if (f->default_role_enabled && !f->is_admin_only && c->role >= 0)
		given = permissions_of_baseline((enum tenant_role)c->role);
	if (session && !session->takes_part)
		given &= ~(PERM(SESSION_READ) | PERM(SESSION_WRITE));
	c->all_sessions = named & PERM(SESSION_READ);
	return named | given;
}

/* Finds the session of the place: its agent is the one that the permission is decided on. */
static int load_session(struct caller *c, struct db *db, struct arena *a, const struct place *place,
	struct session_facts *ret, struct problem *p)
{
	int err = db_one(db, a, &sql[CALLER_SESSION], ret,
		ARGS(T(c->tenant_id), T(place->session_id), T(c->user_id)));

	c->session_id = place->session_id;
	return err == ERR_NOT_FOUND ? problem_set(p, a, err, NOTHING) : err;
}

/* What mail began holds what it said: it is for those who read the agent's mail, and for whom it was begun. */
static bool is_closed_mail(const struct caller *c, const struct session_facts *session)
{
	return session->by_mail && !session->takes_part && !(c->agent & PERM(AGENT_MAIL_READ));
}

static int load_agent_permissions(struct caller *c, struct db *db, struct arena *a,
	const struct place *place, struct problem *p)
{
	bool in_session = place->session_id && !place->agent_id;
	struct session_facts session = { .agent_id = place->agent_id };
	struct agent_facts facts;
	permissions held = 0;
	int err = in_session ? load_session(c, db, a, place, &session, p) : 0;

	if (err)
		return err;
	c->agent_id = session.agent_id;
	if (place->finds_agent && caller_holds_all(c)) {
		c->agent = caller_cut(c, permissions_of_agent_role(AGENT_OWNER));
		c->all_sessions = true;
		return is_closed_mail(c, &session) ? problem_set(p, a, ERR_NOT_FOUND, NOTHING) : 0;
	}
	/* Who holds OWNER on all need not be asked for roles of their own. */
	err = db_one(db, a, &sql[caller_holds_all(c) ? CALLER_AGENT_THERE : CALLER_AGENT], &facts,
		ARGS(T(c->tenant_id), T(c->agent_id), T(c->user_id)));
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (!err)
		held = caller_agent_held(c, &facts, in_session ? &session : NULL);
	if (!(held & (in_session ? PERM(SESSION_READ) : PERM(AGENT_READ))))
		return problem_set(p, a, ERR_NOT_FOUND, NOTHING);
	c->agent = caller_cut(c, held);
	return is_closed_mail(c, &session) ? problem_set(p, a, ERR_NOT_FOUND, NOTHING) : 0;
}

/* A machine key is nobody, in no tenant: all that is not its purpose is refused before it is looked for. */
static int decide_machine(const struct caller *c, struct arena *a, int permission,
	const struct place *place, struct problem *p)
{
	INVARIANT(!c->user_id && !c->tenant_id && !c->tenant && !c->agent);
	if (permission_scope(permission) == SCOPE_OPEN)
		return 0;
	if (c->purpose == MACHINE_METRICS && permission == PERM_METRICS)
		return 0;
	if (c->purpose == MACHINE_ADMIN_READ && permission == PERM_SUPER && place->admin_read)
		return 0;
	return problem_set(p, a, ERR_FORBIDDEN, "This machine key opens %s, and nothing else.",
		c->purpose == MACHINE_METRICS ? "/metrics" : "what is read under /admin");
}

static int decide_alone(
	const struct caller *c, struct arena *a, int permission, bool loopback, struct problem *p)
{
	if (permission == PERM_LOGIN || (permission == PERM_METRICS && loopback))
		return 0;
	if (c->is_super_admin && c->kind == CREDENTIAL_LOGIN)
		return 0;
	return problem_set(p, a, ERR_FORBIDDEN, "This needs a super administrator's login.");
}

int caller_also(const struct caller *c, struct arena *a, int permission, struct problem *p)
{
	permissions held = permission_scope(permission) == SCOPE_AGENT ? c->agent : c->tenant;

	return held & permission_given_by(permission) ? 0 : caller_lacks(a, permission, p);
}

/* Does somebody hold more than the credential gives? */
static bool caller_exceeds(const struct caller *c)
{
	permissions held = c->tenant | c->agent;

	return held != caller_cut(c, held);
}

int caller_permit(struct caller *c, struct db *db, struct arena *a, int permission,
	const struct place *place, bool loopback, struct problem *p)
{
	enum permission_scope scope = permission_scope(permission);
	int err;

	if (scope == SCOPE_OPEN)
		return 0;
	if (c->kind == CREDENTIAL_MACHINE)
		return decide_machine(c, a, permission, place, p);
	if (scope == SCOPE_CALLER)
		return decide_alone(c, a, permission, loopback, p);
	err = load_tenant(c, db, a, place, p);
	if (!err && (place->agent_id || place->session_id) && scope == SCOPE_AGENT)
		err = load_agent_permissions(c, db, a, place, p);
	if (!err)
		err = caller_also(c, a, permission, p);
	INVARIANT(!caller_exceeds(c));
	if (!err && c->agent_id && scope == SCOPE_AGENT)
		err = caller_check_plan(c, a, permission, c->agent_id, p);
	return err;
}
