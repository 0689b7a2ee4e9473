/* caller.c - who is calling and what they may; see caller.h. */
#include "access/caller.h"

#include <string.h>

#include "access/credential_cache.h"
#include "base/clock.h"
#include "base/crypto.h"

enum {
	CALLER_BY_KEY,
	CALLER_BY_LOGIN,
	CALLER_BY_MACHINE,
	CALLER_TENANT,
	CALLER_AGENT,
	CALLER_AGENT_THERE,
	CALLER_SESSION,
	CALLER_DIRECTORY,
	CALLER_ABSENT
};

/* The same words for what is not there and for what is not for the caller: no hint that it exists. */
#define NOTHING "There is nothing here."

enum { STATUS_SUSPENDED = 3, STATUS_CLOSED = 4 };
static const struct words status_words = {
	.list = (const char *const[]){ "active", "trial", "abandoned", "suspended", "closed",
		NULL },
};

struct tenant_facts {
	const char *tenant_id, *read_only_after;
	int role;
	int status;
	bool allow_superadmin_access;
	int64_t erase_at; /* 0: it is not deleted */
};

FIELDS(tenant_facts) = {
	FIELD(tenant_facts, tenant_id),
	FIELD(tenant_facts, read_only_after),
	FIELD(tenant_facts, role, .words = &tenant_role_words),
	FIELD(tenant_facts, status, .words = &status_words),
	FIELD(tenant_facts, allow_superadmin_access),
	FIELD(tenant_facts, erase_at),
};
static SCHEMA(tenant_facts, .internal = true);

struct caller_row {
	const char *user_id, *email, *name;
	bool is_super_admin, is_suspended;
	int64_t expires_at, last_used_at;
	/* a key's own */
	const char *key_id, *scopes;
	const char *tenant_id, *read_only_after;
	int role;
	int status;
	bool allow_superadmin_access;
	int64_t erase_at; /* 0: it is not deleted */
};

FIELDS(caller_row) = {
	FIELD(caller_row, user_id),
	FIELD(caller_row, email),
	FIELD(caller_row, name),
	FIELD(caller_row, is_super_admin),
	FIELD(caller_row, is_suspended),
	FIELD(caller_row, expires_at),
	FIELD(caller_row, last_used_at),
	FIELD(caller_row, key_id),
	FIELD(caller_row, scopes),
	FIELD(caller_row, tenant_id),
	FIELD(caller_row, read_only_after),
	FIELD(caller_row, role, .words = &tenant_role_words),
	FIELD(caller_row, status, .words = &status_words),
	FIELD(caller_row, allow_superadmin_access),
	FIELD(caller_row, erase_at),
};
static SCHEMA(caller_row, .internal = true);

const struct words machine_purpose_words = {
	.list = (const char *const[]){ "metrics", "admin-read", NULL },
};

struct machine_row {
	const char *key_id;
	int purpose;
	int64_t last_used_at;
};

FIELDS(machine_row) = {
	FIELD(machine_row, key_id),
	FIELD(machine_row, purpose, .words = &machine_purpose_words),
	FIELD(machine_row, last_used_at),
};
static SCHEMA(machine_row, .internal = true);

struct agent_facts {
	bool is_admin_only, default_role_enabled;
	int64_t user_rank, group_rank; /* 1 + enum agent_role; 0 or NIL: none */
};

FIELDS(agent_facts) = {
	FIELD(agent_facts, is_admin_only),
	FIELD(agent_facts, default_role_enabled),
	FIELD(agent_facts, user_rank),
	FIELD(agent_facts, group_rank),
};
static SCHEMA(agent_facts, .internal = true);

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
	FIELD(absent_row, status, .words = &status_words),
	FIELD(absent_row, allow_superadmin_access),
	FIELD(absent_row, is_admin_only),
	FIELD(absent_row, default_role_enabled),
	FIELD(absent_row, user_rank, .nullable = true),
	FIELD(absent_row, group_rank, .nullable = true),
};
static SCHEMA(absent_row, .internal = true);

struct session_facts {
	const char *agent_id;
	bool takes_part;
};

FIELDS(session_facts) = {
	FIELD(session_facts, agent_id),
	FIELD(session_facts, takes_part),
};
static SCHEMA(session_facts, .internal = true);

struct directory_row {
	const char *tenant_id;
};

FIELDS(directory_row) = { FIELD(directory_row, tenant_id) };
static SCHEMA(directory_row, .internal = true);

#define DELETED "coalesce(t.erase_at, 0) as erase_at"
#define RANK(role) "case " role " when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end"

/* $1 tenant, $2 agent, $3 user */
#define RANKS                                                                                  \
	"(select " RANK("r.role") " from agent_roles r where r.tenant_id = $1 "                \
				  "and r.agent_id = $2 and r.user_id = $3) as user_rank, "     \
				  "(select max(" RANK("x.role") ") from agent_group_roles x "  \
								"join group_members y "        \
								"on y.tenant_id = $1 "         \
								"and y.group_id = x.group_id " \
								"and y.user_id = $3 "          \
								"where x.tenant_id = $1 "      \
								"and x.agent_id = $2) "        \
								"as group_rank"

static const struct statement sql[] = {
	[CALLER_BY_KEY] = { "caller_by_key",
		"select k.user_id, u.email, u.name, u.is_super_admin, u.is_suspended, k.expires_at, "
		"k.last_used_at, k.id as key_id, k.scopes, k.tenant_id, m.role, t.status, "
		"t.allow_superadmin_access, t.read_only_after, " DELETED " "
		"from api_keys k join users u on u.id = k.user_id join tenants t on t.id = k.tenant_id "
		"join members m on m.tenant_id = k.tenant_id and m.user_id = k.user_id "
		"and m.status = 'active' where k.hash = $1",
		.row = &caller_row_schema, .across = "a hash names one key of one tenant" },
	[CALLER_BY_LOGIN] = { "caller_by_login",
		"select l.user_id, u.email, u.name, u.is_super_admin, u.is_suspended, l.expires_at, "
		"l.last_used_at from logins l join users u on u.id = l.user_id where l.hash = $1",
		.row = &caller_row_schema },
	[CALLER_BY_MACHINE] = { "caller_by_machine",
		"select id as key_id, purpose, last_used_at from machine_keys where hash = $1",
		.row = &machine_row_schema },
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
		"as takes_part from sessions s where s.tenant_id = $1 and s.id = $2",
		.row = &session_facts_schema },
	[CALLER_DIRECTORY] = { "caller_directory", "select tenant_id from directory where id = $1",
		.row = &directory_row_schema, .across = "whose an id is, is what is asked" },
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
};
STATEMENT_SET(caller_sql, sql);

/* A list of names, as JSON text, into a set.  A name that is no longer known gives nothing. */
static permissions scopes_read(struct arena *a, const char *json)
{
	permissions set = 0;

	for (const char *p = strchr(json, '"'); p; p = strchr(p, '"')) {
		const char *end = strchr(++p, '"');

		if (!end)
			break;
		set |= UINT64_C(1) << permission_by_name(arena_strndup(a, p, (size_t)(end - p)));
		p = end + 1;
	}
	return set & ~(UINT64_C(1) << PERM_NONE);
}

permissions caller_cut(const struct caller *c, permissions set)
{
	return c->scoped ? set & c->scopes : set & ~c->withheld;
}

/* Whether the tenant lets anybody in.  A super administrator still sees to one that stands still, but to none
 * that is deleted: its rows may be going. */
static int tenant_open(const struct tenant_facts *t, bool super, struct arena *a, struct problem *p)
{
	if (t->erase_at > 0)
		return problem_set(p, a, ERR_CLOSED, "%s",
			t->erase_at > clock_now_us()
				? "This tenant is deleted; until it is erased a super administrator can restore it."
				: "This tenant is deleted and is being erased.");
	if (t->status == STATUS_CLOSED && !super)
		return problem_set(p, a, ERR_CLOSED,
			"This tenant is closed; a super administrator can open it again.");
	if (t->status == STATUS_SUSPENDED && !super)
		return problem_set(p, a, ERR_SUSPENDED, "This tenant is suspended.");
	return 0;
}

/* What the caller holds in the tenant: by membership, and by being super administrator. */
static int tenant_decide(
	struct caller *c, struct arena *a, const struct tenant_facts *t, struct problem *p)
{
	bool super = c->is_super_admin && c->kind == CREDENTIAL_LOGIN;
	permissions held = 0;
	int err;

	if (t->role < 0 && !super)
		return problem_set(p, a, ERR_NOT_FOUND, NOTHING);
	if (t->role < 0 && !t->allow_superadmin_access)
		return problem_set(p, a, ERR_FORBIDDEN,
			"This tenant is closed to super administrators; its own OWNER can open it.");
	err = tenant_open(t, super, a, p);
	if (err)
		return err;
	c->tenant_id = t->tenant_id;
	c->read_only_after = t->read_only_after;
	c->role = t->role;
	c->through_super = super && t->allow_superadmin_access;
	if (t->role >= 0)
		held |= permissions_of_tenant_role((enum tenant_role)t->role);
	if (c->through_super)
		held |= permissions_of_tenant_role(ROLE_OWNER);
	c->tenant = caller_cut(c, held);
	return 0;
}

static bool has_ended(
	enum credential_kind kind, const struct caller_row *row, int64_t now, int64_t idle_us)
{
	return (row->expires_at != NIL && row->expires_at <= now) ||
	       (kind == CREDENTIAL_LOGIN && row->last_used_at + idle_us <= now);
}

/* A token that never was, one that was revoked and one that ended long ago: nobody learns which. */
static int refuse_unknown(struct arena *a, struct problem *p)
{
	p->challenge = "The token is not known here";
	return problem_set(p, a, ERR_UNAUTHENTICATED,
		"That login token or API key is not known here: it was revoked, or it never was.");
}

/* Only whoever holds a token that was good hears that it was. */
static int refuse_ended(enum credential_kind kind, struct arena *a, struct problem *p)
{
	p->code = "token_expired";
	p->challenge = "The token has expired";
	return problem_set(p, a, ERR_UNAUTHENTICATED, "%s",
		kind == CREDENTIAL_KEY ? "This API key has expired; make another."
				       : "This login has expired; sign in again.");
}

static int read_credential(
	struct db *db, struct arena *a, const struct credential *credential, struct caller_row *row)
{
	const struct statement *st =
		&sql[credential->kind == CREDENTIAL_KEY ? CALLER_BY_KEY : CALLER_BY_LOGIN];
	int err;

	if (credential_cache_find(db, a, st->row, credential->hash, row))
		return 0;
	err = db_one(db, a, st, row, ARGS(T(credential->hash)));
	if (!err)
		credential_cache_keep(db, st->row, credential->hash, row);
	return err;
}

static int load_machine(struct caller *c, struct db *db, struct arena *a,
	const struct credential *credential, struct problem *p)
{
	struct machine_row row;
	int err = db_one(db, a, &sql[CALLER_BY_MACHINE], &row, ARGS(T(credential->hash)));

	if (err == ERR_NOT_FOUND || (!err && row.purpose < 0))
		return problem_set(p, a, ERR_UNAUTHENTICATED, "There is no such machine key.");
	if (err)
		return err;
	c->kind = CREDENTIAL_MACHINE;
	c->key_id = row.key_id;
	c->purpose = row.purpose;
	c->hash = credential->hash;
	c->last_used = row.last_used_at;
	return 0;
}

int caller_load(struct caller *c, struct db *db, struct arena *a,
	const struct credential *credential, int64_t now, int64_t idle_us, struct problem *p)
{
	static const char sentence[] =
		"Present an API key or login token: Authorization: Bearer ...";
	struct caller_row row;
	int err;

	*c = (struct caller){ .role = -1, .expires_at = NIL };
	if (credential->kind == CREDENTIAL_NONE)
		return problem_set(p, a, ERR_UNAUTHENTICATED, "%s", sentence);
	if (credential->kind == CREDENTIAL_MACHINE)
		return load_machine(c, db, a, credential, p);
	err = read_credential(db, a, credential, &row);
	if (err == ERR_NOT_FOUND)
		return refuse_unknown(a, p);
	if (!err && has_ended(credential->kind, &row, now, idle_us))
		return refuse_ended(credential->kind, a, p);
	if (err)
		return err;
	c->kind = credential->kind;
	c->user_id = row.user_id;
	c->email = row.email;
	c->name = row.name;
	c->is_super_admin = row.is_super_admin;
	c->hash = credential->hash;
	c->last_used = row.last_used_at;
	c->expires_at = row.expires_at;
	if (row.is_suspended)
		return problem_set(p, a, ERR_SUSPENDED, "This account is suspended.");
	if (c->kind == CREDENTIAL_KEY) {
		c->key_id = row.key_id;
		c->key_tenant_id = row.tenant_id;
		c->scoped = row.scopes != NULL;
		c->scopes = c->scoped ? scopes_read(a, row.scopes) : 0;
		c->withheld = PERM_NAMED_ONLY;
		return tenant_decide(c, a,
			&(struct tenant_facts){ row.tenant_id, row.read_only_after, row.role,
				row.status, row.allow_superadmin_access, row.erase_at },
			p);
	}
	return 0;
}

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
	return err ? err : tenant_decide(c, a, &t, p);
}

bool caller_reads_only(const struct caller *c, const char *agent_id)
{
	return c->read_only_after && strcmp(agent_id, c->read_only_after) > 0;
}

/* What is still done to an agent beyond the plan: reading it, and getting rid of it. */
#define BEYOND_PLAN                                                                           \
	(PERM(AGENT_READ) | PERM(SESSION_READ) | PERM(AGENT_MAIL_READ) | PERM(AGENT_DELETE) | \
		PERM(AGENT_TRANSFER) | PERM(AGENT_ROLES_WRITE))

static int check_plan(const struct caller *c, struct arena *a, int permission, const char *agent_id,
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

/* All the ways in which the caller reaches the agent count together.  What the default role gives in
 * sessions holds in those the caller takes part in; `session` is NULL where none is asked for. */
static permissions agent_held(
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
		return 0;
	}
	/* Who holds OWNER on all need not be asked for roles of their own. */
	err = db_one(db, a, &sql[caller_holds_all(c) ? CALLER_AGENT_THERE : CALLER_AGENT], &facts,
		ARGS(T(c->tenant_id), T(c->agent_id), T(c->user_id)));
	if (err && err != ERR_NOT_FOUND)
		return err;
	if (!err)
		held = agent_held(c, &facts, in_session ? &session : NULL);
	if (!(held & (in_session ? PERM(SESSION_READ) : PERM(AGENT_READ))))
		return problem_set(p, a, ERR_NOT_FOUND, NOTHING);
	c->agent = caller_cut(c, held);
	return 0;
}

/* A machine key is nobody, in no tenant: all that is not its purpose is refused before it is looked for. */
static int decide_machine(const struct caller *c, struct arena *a, int permission,
	const struct place *place, struct problem *p)
{
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
	if (!err && c->agent_id && scope == SCOPE_AGENT)
		err = check_plan(c, a, permission, c->agent_id, p);
	return err;
}

/* ---- somebody who is absent ---- */

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
		.scopes = r.scopes ? scopes_read(a, r.scopes) : 0,
		.withheld = who->key_id ? PERM_NAMED_ONLY : 0,
		.last_used = NIL,
		.expires_at = r.expires_at,
		.role = -1,
		.agent_id = who->agent_id };
	err = tenant_decide(c, a,
		&(struct tenant_facts){ r.tenant_id, r.read_only_after, r.role, r.status,
			r.allow_superadmin_access },
		p);
	if (err)
		return err;
	c->agent =
		caller_cut(c, agent_held(c,
				      &(struct agent_facts){ r.is_admin_only,
					      r.default_role_enabled, r.user_rank, r.group_rank },
				      NULL));
	if (!(c->agent & permission_given_by(permission)))
		return refuse_absent(a, p, ERR_FORBIDDEN, "rights_lost",
			arena_printf(a,
				"The user for whom this runs does not hold %s on the agent.",
				permission_name(permission)));
	return check_plan(c, a, permission, who->agent_id, p);
}
