/* caller.c - who is calling, by what they presented, and what they hold in a tenant; see caller.h. */
#include "access/caller_parts.h"

#include <string.h>

#include "access/credential_cache.h"
#include "base/check.h"
#include "base/clock.h"

const struct words caller_status_words = {
	.list = (const char *const[]){ "active", "trial", "abandoned", "suspended", "closed",
		NULL },
};

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
	FIELD(caller_row, status, .words = &caller_status_words),
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

#define DELETED "coalesce(t.erase_at, 0) as erase_at"

enum {
	CALLER_BY_KEY,
	CALLER_BY_LOGIN,
	CALLER_BY_IDENTITY,
	CALLER_BY_MACHINE,
};

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
	[CALLER_BY_IDENTITY] = { "caller_by_identity",
		"select u.id as user_id, u.email, u.name, u.is_super_admin, u.is_suspended "
		"from identities i join users u on u.id = i.user_id "
		"where i.provider = $1 and i.subject = $2",
		.row = &caller_row_schema },
	[CALLER_BY_MACHINE] = { "caller_by_machine",
		"select id as key_id, purpose, last_used_at from machine_keys where hash = $1",
		.row = &machine_row_schema },
};
STATEMENT_SET(caller_sql, sql);

permissions caller_scopes_read(struct arena *a, const char *json)
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

int caller_tenant_decide(
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
		kind == CREDENTIAL_KEY	    ? "This API key has expired; make another."
		: kind == CREDENTIAL_ISSUED ? "This token has expired; get another."
					    : "This login has expired; sign in again.");
}

/* It is good, but of nobody here. */
static int refuse_stranger(const struct credential *credential, struct arena *a, struct problem *p)
{
	p->challenge = "The token is of nobody known here";
	return problem_set(p, a, ERR_UNAUTHENTICATED,
		"Nobody here has signed in by %s as whom this token names: sign in there once.",
		credential->provider);
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

static int read_identity(
	struct db *db, struct arena *a, const struct credential *credential, struct caller_row *row)
{
	int err = db_one(db, a, &sql[CALLER_BY_IDENTITY], row,
		ARGS(T(credential->provider), T(credential->subject)));

	row->expires_at = credential->expires_at;
	row->last_used_at = NIL;
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
	if (credential->kind == CREDENTIAL_ISSUED) {
		INVARIANT(credential->subject); /* what is not proven never comes this far */
		err = read_identity(db, a, credential, &row);
		if (err == ERR_NOT_FOUND)
			return refuse_stranger(credential, a, p);
	} else {
		err = read_credential(db, a, credential, &row);
	}
	if (err == ERR_NOT_FOUND)
		return refuse_unknown(a, p);
	if (!err && has_ended(credential->kind, &row, now, idle_us))
		return refuse_ended(credential->kind, a, p);
	if (err)
		return err;
	INVARIANT(row.user_id); /* a key or a login is somebody's */
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
	if (c->kind == CREDENTIAL_ISSUED) {
		c->provider = credential->provider;
		c->withheld = PERM_NAMED_ONLY;
	}
	if (c->kind == CREDENTIAL_KEY) {
		c->key_id = row.key_id;
		c->key_tenant_id = row.tenant_id;
		c->scoped = row.scopes != NULL;
		c->scopes = c->scoped ? caller_scopes_read(a, row.scopes) : 0;
		c->withheld = PERM_NAMED_ONLY;
		return caller_tenant_decide(c, a,
			&(struct tenant_facts){ row.tenant_id, row.read_only_after, row.role,
				row.status, row.allow_superadmin_access, row.erase_at },
			p);
	}
	return 0;
}
