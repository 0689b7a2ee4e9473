/* permission.c - the matrix as data; see permission.h. */
#include "access/permission.h"

#include <string.h>

#include "base/check.h"

static const struct {
	const char *name;
	enum permission_scope scope;
} rows[] = { [PERM_NONE] = { "", SCOPE_CALLER },
#define X(name, text, scope) [PERM_##name] = { text, scope },
	PERMISSIONS(X)
#undef X
};

const struct words tenant_role_words = {
	.list = (const char *const[]){ "OWNER", "ADMIN", "MEMBER", "GUEST", NULL },
	.doc = "A role in a tenant.",
};
const struct words agent_role_words = {
	.list = (const char *const[]){ "VIEWER", "MANAGER", "OWNER", NULL },
	.doc = "A role on an agent.",
};

#define WORD_SCOPE_OPEN(text)
#define WORD_SCOPE_CALLER(text)
#define WORD_SCOPE_TENANT(text) text,
#define WORD_SCOPE_AGENT(text) text,
#define X(name, text, scope) WORD_##scope(text)
static const char *const scope_names[] = { PERMISSIONS(X) NULL };
#undef X

const struct words permission_words = {
	.list = scope_names,
	.doc = "What a route may ask for, in a tenant or on an agent: its x-permission.",
};

#define GUEST_SET PERM(TENANT_READ)
#define MEMBER_SET                                                                  \
	(GUEST_SET | PERM(AGENTS_CREATE) | PERM(MEMBERS_READ) | PERM(APIKEYS_OWN) | \
		PERM(BUCKET_READ) | PERM(BUCKET_WRITE))
#define ADMIN_SET                                                                                \
	(MEMBER_SET | PERM(TENANT_WRITE) | PERM(MEMBERS_WRITE) | PERM(GROUPS_WRITE) |            \
		PERM(APIKEYS_WRITE) | PERM(ALLOWED_ACCOUNTS_WRITE) | PERM(INTEGRATIONS_WRITE) |  \
		PERM(BILLING_READ) | PERM(AUDIT_READ) | PERM(SKILLS_WRITE) | PERM(TOOLS_WRITE) | \
		PERM(BENCHMARKS_WRITE) | PERM(MAIL_WRITE))
#define OWNER_SET (ADMIN_SET | PERM(TENANT_DELETE) | PERM(OWNERS_WRITE))

static const permissions tenant_roles[] = {
	[ROLE_OWNER] = OWNER_SET,
	[ROLE_ADMIN] = ADMIN_SET,
	[ROLE_MEMBER] = MEMBER_SET,
	[ROLE_GUEST] = GUEST_SET,
};

#define VIEWER_SET (PERM(AGENT_READ) | PERM(SESSION_READ))
#define MANAGER_SET                                                                             \
	(VIEWER_SET | PERM(SESSION_WRITE) | PERM(SESSION_APPROVE) | PERM(AGENT_WRITE) |         \
		PERM(AGENT_SKILLS_WRITE) | PERM(AGENT_TOOLS_WRITE) | PERM(AGENT_MODELS_WRITE) | \
		PERM(AGENT_MAIL_READ) | PERM(AGENT_MAIL_WRITE))
#define AGENT_OWNER_SET                                                                      \
	(MANAGER_SET | PERM(AGENT_TRANSFER) | PERM(AGENT_DELETE) | PERM(AGENT_ROLES_WRITE) | \
		PERM(AGENT_BUDGET_WRITE))

static const permissions agent_roles[] = {
	[AGENT_VIEWER] = VIEWER_SET,
	[AGENT_MANAGER] = MANAGER_SET,
	[AGENT_OWNER] = AGENT_OWNER_SET,
};

#define GRID_VIEWER "View", "Chat (read-only)"
#define GRID_MANAGER GRID_VIEWER, "Assign work", "Edit settings", "Edit skills", "Edit tools"
#define GRID_OWNER GRID_MANAGER, "Transfer ownership", "Delete agent", "Manage roles"

static const char *const grid_viewer[] = { GRID_VIEWER, NULL };
static const char *const grid_manager[] = { GRID_MANAGER, NULL };
static const char *const grid_owner[] = { GRID_OWNER, NULL };
static const char *const *const grid[] = {
	[AGENT_VIEWER] = grid_viewer,
	[AGENT_MANAGER] = grid_manager,
	[AGENT_OWNER] = grid_owner,
};

const char *permission_name(int permission)
{
	return permission > PERM_NONE && permission < PERM_COUNT ? rows[permission].name : NULL;
}

enum permission_scope permission_scope(int permission)
{
	INVARIANT(permission >= PERM_NONE && permission < PERM_COUNT);
	return rows[permission].scope;
}

int permission_by_name(const char *name)
{
	for (int i = PERM_NONE + 1; i < PERM_COUNT; i++)
		if (rows[i].scope >= SCOPE_TENANT && strcmp(rows[i].name, name) == 0)
			return i;
	return PERM_NONE;
}

permissions permission_given_by(int permission)
{
	permissions self = UINT64_C(1) << permission;

	INVARIANT(permission > PERM_NONE && permission < PERM_COUNT);
	return permission == PERM_APIKEYS_OWN ? self | PERM(APIKEYS_WRITE) : self;
}

permissions permissions_of_tenant_role(enum tenant_role role)
{
	INVARIANT((size_t)role < sizeof tenant_roles / sizeof *tenant_roles);
	return tenant_roles[role];
}

permissions permissions_of_agent_role(enum agent_role role)
{
	INVARIANT((size_t)role < sizeof agent_roles / sizeof *agent_roles);
	return agent_roles[role];
}

permissions permissions_of_baseline(enum tenant_role role)
{
	if (role == ROLE_GUEST)
		return PERM(AGENT_READ) | PERM(SESSION_READ);
	return PERM(AGENT_READ) | PERM(SESSION_READ) | PERM(SESSION_WRITE);
}

const char *const *permission_grid(enum agent_role role)
{
	return grid[role];
}
