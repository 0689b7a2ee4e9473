/* permission.h - the one permission matrix.
 *
 * A permission is a name like `agent:skills:write`.  This table says which
 * role holds which; it is what the service checks, what it shows, and what
 * the tests enumerate.  Roles only add up: there is no deny. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/schema.h"

/* Where a permission is decided. */
enum permission_scope {
	SCOPE_OPEN,   /* nobody is asked */
	SCOPE_CALLER, /* the caller alone: logged in, super administrator */
	SCOPE_TENANT, /* the caller's role in the tenant of the path */
	SCOPE_AGENT,  /* all the ways in which the caller reaches the agent of the path */
};

/* name, text, scope */
#define PERMISSIONS(X)                                                    \
	X(PUBLIC, "public", SCOPE_OPEN)                                   \
	X(LOGIN, "login", SCOPE_CALLER)                                   \
	X(SUPER, "super_admin", SCOPE_CALLER)                             \
	X(METRICS, "super_admin or loopback", SCOPE_CALLER)               \
	X(TENANT_READ, "tenant:read", SCOPE_TENANT)                       \
	X(TENANT_WRITE, "tenant:write", SCOPE_TENANT)                     \
	X(TENANT_DELETE, "tenant:delete", SCOPE_TENANT)                   \
	X(OWNERS_WRITE, "owners:write", SCOPE_TENANT)                     \
	X(MEMBERS_READ, "members:read", SCOPE_TENANT)                     \
	X(MEMBERS_WRITE, "members:write", SCOPE_TENANT)                   \
	X(GROUPS_WRITE, "groups:write", SCOPE_TENANT)                     \
	X(APIKEYS_OWN, "apikeys:own", SCOPE_TENANT)                       \
	X(APIKEYS_WRITE, "apikeys:write", SCOPE_TENANT)                   \
	X(ALLOWED_ACCOUNTS_WRITE, "allowed_accounts:write", SCOPE_TENANT) \
	X(INTEGRATIONS_WRITE, "integrations:write", SCOPE_TENANT)         \
	X(BILLING_READ, "billing:read", SCOPE_TENANT)                     \
	X(AUDIT_READ, "audit:read", SCOPE_TENANT)                         \
	X(SKILLS_WRITE, "skills:write", SCOPE_TENANT)                     \
	X(TOOLS_WRITE, "tools:write", SCOPE_TENANT)                       \
	X(BENCHMARKS_WRITE, "benchmarks:write", SCOPE_TENANT)             \
	X(AGENTS_CREATE, "agents:create", SCOPE_TENANT)                   \
	X(BUCKET_READ, "bucket:read", SCOPE_TENANT)                       \
	X(BUCKET_WRITE, "bucket:write", SCOPE_TENANT)                     \
	X(MAIL_WRITE, "mail:write", SCOPE_TENANT)                         \
	X(AGENT_READ, "agent:read", SCOPE_AGENT)                          \
	X(AGENT_WRITE, "agent:write", SCOPE_AGENT)                        \
	X(AGENT_DELETE, "agent:delete", SCOPE_AGENT)                      \
	X(AGENT_TRANSFER, "agent:transfer", SCOPE_AGENT)                  \
	X(AGENT_ROLES_WRITE, "agent:roles:write", SCOPE_AGENT)            \
	X(AGENT_BUDGET_WRITE, "agent:budget:write", SCOPE_AGENT)          \
	X(AGENT_SKILLS_WRITE, "agent:skills:write", SCOPE_AGENT)          \
	X(AGENT_TOOLS_WRITE, "agent:tools:write", SCOPE_AGENT)            \
	X(AGENT_MODELS_WRITE, "agent:models:write", SCOPE_AGENT)          \
	X(AGENT_MAIL_READ, "agent:mail:read", SCOPE_AGENT)                \
	X(AGENT_MAIL_WRITE, "agent:mail:write", SCOPE_AGENT)              \
	X(SESSION_READ, "session:read", SCOPE_AGENT)                      \
	X(SESSION_WRITE, "session:write", SCOPE_AGENT)                    \
	X(SESSION_APPROVE, "session:approve", SCOPE_AGENT)

enum permission {
	PERM_NONE, /* a route that forgot to say; refused at start-up */
#define X(name, text, scope) PERM_##name,
	PERMISSIONS(X)
#undef X
		PERM_COUNT
};

typedef uint64_t permissions; /* a set: bit p for permission p */

#define PERM(p) (UINT64_C(1) << PERM_##p)

enum tenant_role { ROLE_OWNER, ROLE_ADMIN, ROLE_MEMBER, ROLE_GUEST };
enum agent_role { AGENT_VIEWER, AGENT_MANAGER, AGENT_OWNER };

/* What a key has only where its scopes name it: a word that stands for a person's judgement is not given
 * to a program by leaving something out. */
#define PERM_NAMED_ONLY PERM(SESSION_APPROVE)

extern const struct words tenant_role_words, agent_role_words;
/* What a key may be cut down to. */
extern const struct words permission_words;

const char *permission_name(int permission);
enum permission_scope permission_scope(int permission);
/* The permission with this name that a key may be cut down to, or PERM_NONE. */
int permission_by_name(const char *name);
/* The permissions each of which is enough where this one is asked for: itself, and what is more. */
permissions permission_given_by(int permission);
permissions permissions_of_tenant_role(enum tenant_role role);
permissions permissions_of_agent_role(enum agent_role role);
/* What the default role gives a tenant's members (or guests) on an agent. */
permissions permissions_of_baseline(enum tenant_role role);
/* What shows in the permission grid for people: a NULL-terminated list. */
const char *const *permission_grid(enum agent_role role);
