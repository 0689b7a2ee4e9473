/* caller_parts.h - what the files about callers share: the facts that decide, and the decisions on them. */
#pragma once
#include "access/caller.h"

/* The same words for what is not there and for what is not for the caller: no hint that it exists. */
#define NOTHING "There is nothing here."

enum { STATUS_SUSPENDED = 3, STATUS_CLOSED = 4 };
extern const struct words caller_status_words;

struct tenant_facts {
	const char *tenant_id, *read_only_after;
	int role;
	int status;
	bool allow_superadmin_access;
	int64_t erase_at; /* 0: it is not deleted */
};

struct agent_facts {
	bool is_admin_only, default_role_enabled;
	int64_t user_rank, group_rank; /* 1 + enum agent_role; 0 or NIL: none */
};

struct session_facts {
	const char *agent_id;
	bool takes_part;
	bool by_mail; /* mail began it, or it is a subtask of what mail began */
};

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

/* caller.c */
/* A list of names, as JSON text, into a set.  A name that is no longer known gives nothing. */
permissions caller_scopes_read(struct arena *a, const char *json);
/* What the caller holds in the tenant: by membership, and by being super administrator. */
int caller_tenant_decide(
	struct caller *c, struct arena *a, const struct tenant_facts *t, struct problem *p);

/* caller_permit.c */
/* All the ways in which the caller reaches the agent count together.  What the default role gives in
 * sessions holds in those the caller takes part in; `session` is NULL where none is asked for. */
permissions caller_agent_held(
	struct caller *c, const struct agent_facts *f, const struct session_facts *session);
/* An agent beyond the plan only reads. */
int caller_check_plan(const struct caller *c, struct arena *a, int permission, const char *agent_id,
	struct problem *p);
