/* caller_absent.c - what somebody holds who is not calling now, and for whom something runs; see caller.h. */
#include "access/caller_parts.h"

#include "base/check.h"

/* All that decides about somebody who is absent. */
struct absent_row {
	const char *user_id, *email, *name;
	bool is_super_admin, is_suspended;
	const char *key_id, *scopes;
	int64_t expires_at;
	const char *tenant_id, *read_only_after;
	int role, status;
	bool allow_superadmin_access, is_admin_only, default_role_enabled;
	int64_t user_rank, group_rank;
};

FIELDS(absent_row) = {
	FIELD(absent_row, user_id, .nullable = true),
	FIELD(absent_row, email, .nullable = true),
	FIELD(absent_row, name, .nullable = true),
	FIELD(absent_row, is_super_admin),
	FIELD(absent_row, is_suspended),
	FIELD(absent_row, key_id, .nullable = true),
	FIELD(absent_row, scopes, .nullable = true),
	FIELD(absent_row, expires_at, .nullable = true),
	FIELD(absent_row, tenant_id),
	FIELD(absent_row, read_only_after, .nullable = true),
	FIELD(absent_row, role, .words = &tenant_role_words),
	FIELD(absent_row, status, .words = &caller_status_words),
	FIELD(absent_row, allow_superadmin_access),
	FIELD(absent_row, is_admin_only),
	FIELD(absent_row, default_role_enabled),
	FIELD(absent_row, user_rank, .nullable = true),
	FIELD(absent_row, group_rank, .nullable = true),
};
static SCHEMA(absent_row, .internal = true);

/* The same without an agent. */
struct recalled_row {
	const char *user_id, *email, *name;
	bool is_super_admin, is_suspended;
	const char *key_id, *scopes;
	int64_t expires_at;
	const char *tenant_id, *read_only_after;
	int role, status;
	bool allow_superadmin_access;
	int64_t erase_at; /* 0: it is not deleted */
};

FIELDS(recalled_row) = {
	FIELD(recalled_row, user_id),
	FIELD(recalled_row, email),
	FIELD(recalled_row, name),
	FIELD(recalled_row, is_super_admin),
	FIELD(recalled_row, is_suspended),
	FIELD(recalled_row, key_id, .nullable = true),
	FIELD(recalled_row, scopes, .nullable = true),
	FIELD(recalled_row, expires_at, .nullable = true),
	FIELD(recalled_row, tenant_id),
	FIELD(recalled_row, read_only_after, .nullable = true),
	FIELD(recalled_row, role, .words = &tenant_role_words),
	FIELD(recalled_row, status, .words = &caller_status_words),
	FIELD(recalled_row, allow_superadmin_access),
	FIELD(recalled_row, erase_at),
};
static SCHEMA(recalled_row, .internal = true);

enum {
	CALLER_ABSENT,
	CALLER_RECALLED,
};

static const struct statement sql[] = {
	[CALLER_ABSENT] = { "caller_absent",
		"select u.id as user_id, u.email, u.name, coalesce(u.is_super_admin, 0) "
		"as is_super_admin, coalesce(u.is_suspended, 0) as is_suspended, k.id as key_id, "
		"k.scopes, k.expires_at, t.id as tenant_id, t.read_only_after, m.role, t.status, "
		"t.allow_superadmin_access, a.is_admin_only, a.default_role_enabled, " RANKS
		" from tenants t join agents a on a.tenant_id = $1 and a.id = $2 "
		"left join users u on u.id = $3 left join members m on m.tenant_id = $1 "
		"and m.user_id = $3 and m.status = 'active' left join api_keys k "
		"on k.tenant_id = $1 and k.id = $4 and k.user_id = $3 where t.id = $1",
		.row = &absent_row_schema },
	[CALLER_RECALLED] = { "caller_recalled",
		"select u.id as user_id, u.email, u.name, u.is_super_admin, u.is_suspended, "
		"k.id as key_id, k.scopes, k.expires_at, t.id as tenant_id, t.read_only_after, m.role, "
		"t.status, t.allow_superadmin_access, coalesce(t.erase_at, 0) as erase_at "
		"from tenants t join users u on u.id = $2 left join members m on m.tenant_id = $1 "
		"and m.user_id = $2 and m.status = 'active' left join api_keys k "
		"on k.tenant_id = $1 and k.id = $3 and k.user_id = $2 where t.id = $1",
		.row = &recalled_row_schema },
};
STATEMENT_SET(caller_absent_sql, sql);

static int refuse_absent(
	struct arena *a, struct problem *p, int err, const char *code, const char *sentence)
{
	p->code = code;
	return problem_set(p, a, err, "%s", sentence);
}

/* What is wrong with the person, the key and the tenant, before any permission is asked for. */
static int absent_stands(const struct absent_row *r, const struct caller_absent *who, int64_t now,
	struct arena *a, struct problem *p)
{
	bool super = r->is_super_admin && !who->key_id && r->allow_superadmin_access;

	if (r->status >= STATUS_SUSPENDED && !(super && r->status == STATUS_SUSPENDED))
		return refuse_absent(a, p, ERR_SUSPENDED, "tenant_not_running",
			"The tenant is suspended or closed.");
	if (r->user_id && r->is_suspended)
		return refuse_absent(a, p, ERR_SUSPENDED, "user_suspended",
			"The user for whom this runs is suspended.");
	if (!r->user_id || (r->role < 0 && !super))
		return refuse_absent(a, p, ERR_FORBIDDEN, "user_not_member",
			"The user for whom this runs is not a member of the tenant.");
	if (who->key_id && !r->key_id)
		return refuse_absent(a, p, ERR_FORBIDDEN, "key_revoked",
			"The API key with which this was begun was revoked.");
	if (who->key_id && r->expires_at != NIL && r->expires_at <= now)
		return refuse_absent(a, p, ERR_FORBIDDEN, "key_expired",
			"The API key with which this was begun has expired.");
	return 0;
}

int caller_stand(struct caller *c, struct db *db, struct arena *a, const struct caller_absent *who,
	int permission, int64_t now, struct problem *p)
{
	struct absent_row r;
	int err = db_one(db, a, &sql[CALLER_ABSENT], &r,
		ARGS(T(who->tenant_id), T(who->agent_id), T(who->user_id), T(who->key_id)));

	if (err == ERR_NOT_FOUND)
		return refuse_absent(a, p, err, "agent_gone", "There is no such agent.");
	if (!err)
		err = absent_stands(&r, who, now, a, p);
	if (err)
		return err;
	*c = (struct caller){ .kind = who->key_id ? CREDENTIAL_KEY : CREDENTIAL_LOGIN,
		.user_id = r.user_id,
		.email = r.email,
		.name = r.name,
		.is_super_admin = r.is_super_admin,
		.key_id = r.key_id,
		.key_tenant_id = who->key_id ? r.tenant_id : NULL,
		.scoped = r.scopes != NULL,
		.scopes = r.scopes ? caller_scopes_read(a, r.scopes) : 0,
		.withheld = who->key_id ? PERM_NAMED_ONLY : 0,
		.last_used = NIL,
		.expires_at = r.expires_at,
		.role = -1,
		.agent_id = who->agent_id };
	err = caller_tenant_decide(c, a,
		&(struct tenant_facts){ r.tenant_id, r.read_only_after, r.role, r.status,
			r.allow_superadmin_access },
		p);
	if (err)
		return err;
	c->agent =
		caller_cut(c, caller_agent_held(c,
				      &(struct agent_facts){ r.is_admin_only,
					      r.default_role_enabled, r.user_rank, r.group_rank },
				      NULL));
	INVARIANT(c->agent == caller_cut(c, c->agent));
	if (!(c->agent & permission_given_by(permission)))
		return refuse_absent(a, p, ERR_FORBIDDEN, "rights_lost",
			arena_printf(a,
				"The user for whom this runs does not hold %s on the agent.",
				permission_name(permission)));
	return caller_check_plan(c, a, permission, who->agent_id, p);
}

/* What is wrong with the person and the key. */
static int recalled_stands(const struct recalled_row *r, const struct caller_absent *who,
	int64_t now, struct arena *a, struct problem *p)
{
	if (r->is_suspended)
		return refuse_absent(a, p, ERR_FORBIDDEN, "user_suspended",
			"Whoever this was made by is suspended.");
	if (who->key_id && !r->key_id)
		return refuse_absent(a, p, ERR_FORBIDDEN, "key_revoked",
			"The API key with which this was made was revoked.");
	if (who->key_id && r->expires_at != NIL && r->expires_at <= now)
		return refuse_absent(a, p, ERR_FORBIDDEN, "key_expired",
			"The API key with which this was made has expired.");
	return 0;
}

int caller_recall(struct caller *c, struct db *db, struct arena *a, const struct caller_absent *who,
	int permission, int64_t now, struct problem *p)
{
	struct recalled_row r;
	int err = db_one(db, a, &sql[CALLER_RECALLED], &r,
		ARGS(T(who->tenant_id), T(who->user_id), T(who->key_id)));

	if (err == ERR_NOT_FOUND)
		return refuse_absent(a, p, ERR_FORBIDDEN, "user_not_member",
			"Whoever this was made by has no account here any more.");
	if (!err)
		err = recalled_stands(&r, who, now, a, p);
	if (err)
		return err;
	*c = (struct caller){ .kind = who->key_id ? CREDENTIAL_KEY : CREDENTIAL_LOGIN,
		.user_id = r.user_id,
		.email = r.email,
		.name = r.name,
		.is_super_admin = r.is_super_admin,
		.key_id = r.key_id,
		.key_tenant_id = who->key_id ? r.tenant_id : NULL,
		.scoped = r.scopes != NULL,
		.scopes = r.scopes ? caller_scopes_read(a, r.scopes) : 0,
		.withheld = who->key_id ? PERM_NAMED_ONLY : 0,
		.last_used = NIL,
		.expires_at = r.expires_at,
		.role = -1 };
	err = caller_tenant_decide(c, a,
		&(struct tenant_facts){ r.tenant_id, r.read_only_after, r.role, r.status,
			r.allow_superadmin_access, r.erase_at },
		p);
	return err ? err : caller_also(c, a, permission, p);
}
