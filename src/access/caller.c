/* caller.c - credentials and decisions; see caller.h. */
#include "access/caller.h"

#include <string.h>
#include <strings.h>

#include "access/memo.h"
#include "base/crypto.h"

enum {
	CALLER_BY_KEY,
	CALLER_BY_LOGIN,
	CALLER_TENANT,
	CALLER_AGENT,
	CALLER_AGENT_THERE,
	CALLER_SESSION,
	CALLER_DIRECTORY
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
};

FIELDS(tenant_facts) = {
	FIELD(tenant_facts, tenant_id),
	FIELD(tenant_facts, read_only_after),
	FIELD(tenant_facts, role, .words = &tenant_role_words),
	FIELD(tenant_facts, status, .words = &status_words),
	FIELD(tenant_facts, allow_superadmin_access),
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
};
static SCHEMA(caller_row, .internal = true);

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

#define RANK(role) "case " role " when 'OWNER' then 3 when 'MANAGER' then 2 else 1 end"

static const struct statement sql[] = {
	[CALLER_BY_KEY] = { "caller_by_key",
		"select k.user_id, u.email, u.name, u.is_super_admin, u.is_suspended, k.expires_at, "
		"k.last_used_at, k.id as key_id, k.scopes, k.tenant_id, m.role, t.status, "
		"t.allow_superadmin_access, t.read_only_after "
		"from api_keys k join users u on u.id = k.user_id join tenants t on t.id = k.tenant_id "
		"join members m on m.tenant_id = k.tenant_id and m.user_id = k.user_id where k.hash = $1",
		.row = &caller_row_schema },
	[CALLER_BY_LOGIN] = { "caller_by_login",
		"select l.user_id, u.email, u.name, u.is_super_admin, u.is_suspended, l.expires_at, "
		"l.last_used_at from logins l join users u on u.id = l.user_id where l.hash = $1",
		.row = &caller_row_schema },
	[CALLER_TENANT] = { "caller_tenant",
		"select t.id as tenant_id, m.role, t.status, t.allow_superadmin_access, "
		"t.read_only_after from tenants t "
		"left join members m on m.tenant_id = t.id and m.user_id = $2 and m.status = 'active' "
		"where t.id = $1",
		.row = &tenant_facts_schema },
	[CALLER_AGENT] = { "caller_agent",
		"select a.is_admin_only, a.default_role_enabled, "
		"(select " RANK(
			"r.role") " from agent_roles r where r.tenant_id = $1 and r.agent_id = $2 "
				  "and r.user_id = $3) as user_rank, "
				  "(select max(" RANK(
					  "g.role") ") from agent_group_roles g join group_members m "
						    "on m.tenant_id = $1 and m.group_id = g.group_id and m.user_id = $3 "
						    "where g.tenant_id = $1 and g.agent_id = $2) as group_rank "
						    "from agents a where a.tenant_id = $1 and a.id = $2",
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
		.row = &directory_row_schema },
};
STATEMENT_SET(caller_sql, sql);

void credential_hash(const char *token, char out[65])
{
	uint8_t digest[SHA256_LEN];

	sha256(token, strlen(token), digest);
	hex_write(digest, sizeof digest, out);
}

static void take_token(struct credential *c, const char *token)
{
	size_t len = strlen(token);

	if (token_valid(TOKEN_KEY, token, len))
		c->kind = CREDENTIAL_KEY;
	else if (token_valid(TOKEN_LOGIN, token, len))
		c->kind = CREDENTIAL_LOGIN;
	else
		c->bad = true;
	if (!c->bad)
		credential_hash(token, c->hash);
}

/* The value of our cookie, copied out; false if it is not there. */
static bool find_cookie(const char *cookies, char *out, size_t room)
{
	const size_t name = strlen(COOKIE_NAME);

	for (const char *p = cookies; *p;) {
		size_t len = strcspn(p, ";");

		if (len > name && p[name] == '=' && memcmp(p, COOKIE_NAME, name) == 0 &&
			len - name - 1 < room) {
			memcpy(out, p + name + 1, len - name - 1);
			out[len - name - 1] = '\0';
			return true;
		}
		p += len;
		p += strspn(p, "; ");
	}
	return false;
}

struct credential credential_read(const char *authorization, const char *cookies)
{
	struct credential c = { .kind = CREDENTIAL_NONE };
	char token[TOKEN_MAX];

	if (authorization) {
		if (strncasecmp(authorization, "Bearer ", 7) == 0)
			take_token(&c, authorization + 7 + strspn(authorization + 7, " "));
		else
			c.bad = true;
	} else if (cookies && find_cookie(cookies, token, sizeof token)) {
		c.cookie = true;
		take_token(&c, token);
	}
	return c;
}

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
	return c->scoped ? set & c->scopes : set;
}

/* What the caller holds in the tenant: by membership, and by being super administrator. */
static int tenant_decide(
	struct caller *c, struct arena *a, const struct tenant_facts *t, struct problem *p)
{
	bool super = c->is_super_admin && c->kind == CREDENTIAL_LOGIN;
	permissions held = 0;

	if ((t->role < 0 && !super) || t->status == STATUS_CLOSED)
		return problem_set(p, a, ERR_NOT_FOUND, NOTHING);
	if (t->role < 0 && !t->allow_superadmin_access)
		return problem_set(p, a, ERR_FORBIDDEN,
			"This tenant is closed to super administrators; its own OWNER can open it.");
	if (t->status == STATUS_SUSPENDED && !super)
		return problem_set(p, a, ERR_SUSPENDED, "This tenant is suspended.");
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

static int read_credential(
	struct db *db, struct arena *a, const struct credential *credential, struct caller_row *row)
{
	const struct statement *st =
		&sql[credential->kind == CREDENTIAL_KEY ? CALLER_BY_KEY : CALLER_BY_LOGIN];
	int err;

	if (memo_find(db, a, st->row, credential->hash, row))
		return 0;
	err = db_one(db, a, st, row, ARGS(T(credential->hash)));
	if (!err)
		memo_keep(db, st->row, credential->hash, row);
	return err;
}

int caller_load(struct caller *c, struct db *db, struct arena *a,
	const struct credential *credential, int64_t now, int64_t idle_us, struct problem *p)
{
	static const char sentence[] =
		"Present an API key or login token: Authorization: Bearer ...";
	struct caller_row row;
	int err;

	*c = (struct caller){ .role = -1 };
	if (credential->kind == CREDENTIAL_NONE)
		return problem_set(p, a, ERR_UNAUTHENTICATED, "%s", sentence);
	err = read_credential(db, a, credential, &row);
	if (err == ERR_NOT_FOUND || (!err && has_ended(credential->kind, &row, now, idle_us)))
		return problem_set(p, a, ERR_UNAUTHENTICATED, "%s", sentence);
	if (err)
		return err;
	c->kind = credential->kind;
	c->user_id = row.user_id;
	c->email = row.email;
	c->name = row.name;
	c->is_super_admin = row.is_super_admin;
	c->hash = credential->hash;
	c->last_used = row.last_used_at;
	if (row.is_suspended)
		return problem_set(p, a, ERR_SUSPENDED, "This account is suspended.");
	if (c->kind == CREDENTIAL_KEY) {
		c->key_id = row.key_id;
		c->key_tenant_id = row.tenant_id;
		c->scoped = row.scopes != NULL;
		c->scopes = c->scoped ? scopes_read(a, row.scopes) : 0;
		return tenant_decide(c, a,
			&(struct tenant_facts){ row.tenant_id, row.read_only_after, row.role,
				row.status, row.allow_superadmin_access },
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

static int load_agent(struct caller *c, struct db *db, struct arena *a, const struct place *place,
	struct problem *p)
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
	if (scope == SCOPE_CALLER)
		return decide_alone(c, a, permission, loopback, p);
	err = load_tenant(c, db, a, place, p);
	if (!err && (place->agent_id || place->session_id) && scope == SCOPE_AGENT)
		err = load_agent(c, db, a, place, p);
	if (!err)
		err = caller_also(c, a, permission, p);
	if (!err && c->agent_id && scope == SCOPE_AGENT)
		err = check_plan(c, a, permission, c->agent_id, p);
	return err;
}
