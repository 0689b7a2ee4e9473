/* matrix.h - who may do what, written down a second time.
 *
 * The rows in matrix_rows.c and the sets in matrix_callers.c are copied by
 * hand from the written specification, and nothing here asks the program's
 * own table: a slip in either shows as a difference. */
#pragma once
#include "access/machine_key.h"
#include "fixture.h"

/* What a call uses up, and so must be made anew before a call that is allowed. */
enum fresh {
	FRESH_NOTHING,
	FRESH_AGENT,	     /* of the same kind, with the same roles */
	FRESH_MEMBER,	     /* somebody to change or remove */
	FRESH_OWNER,	     /* an OWNER to change or remove */
	FRESH_GROUP,	     /* a group to delete */
	FRESH_IN_GROUP,	     /* the target user is in the target group */
	FRESH_ROLE,	     /* the target user holds a role on the agent */
	FRESH_GROUP_ROLE,    /* the target group holds a role on the agent */
	FRESH_ALLOWED,	     /* an allowed account */
	FRESH_KEY,	     /* a key of the caller's own */
	FRESH_LOGIN,	     /* a login of the caller's own to end */
	FRESH_INVITE,	     /* an invitation */
	FRESH_TENANT,	     /* a tenant of the caller's own */
	FRESH_MODEL,	     /* a model that the tenant reaches by a grant of its own */
	FRESH_CHAIN,	     /* the model is in the agent's chain */
	FRESH_USER_MODEL,    /* the target user holds a grant on the model */
	FRESH_FAVORITE,	     /* the agent is a favourite of the caller's */
	FRESH_REPO,	     /* the agent has a repository */
	FRESH_PROPOSAL,	     /* a change of prompts that waits for a word */
	FRESH_MIRROR,	     /* it has one on another host */
	FRESH_AVATAR,	     /* the agent has a picture */
	FRESH_SKILL,	     /* a skill to delete */
	FRESH_SKILL_GRANT,   /* the agent has the target skill */
	FRESH_TOOL,	     /* a tool to delete */
	FRESH_AGENT_TOOL,    /* the agent has the target tool */
	FRESH_BUNDLE,	     /* a bundle to delete */
	FRESH_AGENT_BUNDLE,  /* the agent has the target bundle */
	FRESH_SCANNER,	     /* a scanner is bound */
	FRESH_SCANNER_GRANT, /* the agent has a grant to revoke */
	FRESH_PROVIDER_KEY,  /* the tenant has a key of its own */
	FRESH_INTEGRATION,   /* an integration to delete */
	FRESH_DELIVERY,	     /* a delivery that was blocked */
	FRESH_SKILL_HOOK,    /* a webhook of the agent's skill */
	FRESH_SESSION,	     /* a session to delete */
	FRESH_APPROVAL,	     /* a call that waits for a word */
	FRESH_MEMORY,	     /* something the agent keeps */
	FRESH_MAIL,	     /* a message with a file, in a thread */
	FRESH_RESPONSE,	     /* a response to delete */
	FRESH_CONVERSATION,  /* a conversation to delete */
};

/* Needs that are no permission of a tenant or an agent. */
#define NEED_PUBLIC "public"
#define NEED_LOGIN "login"   /* any credential that is good */
#define NEED_PERSON "person" /* a login, not a key */
#define NEED_SUPER "super"   /* a super administrator's login */
#define NEED_SIGNED "signed" /* a signature or token of its own: not judged here */

/* A picture of one grey pixel, as a body. */
#define MATRIX_PICTURE                                                 \
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAA" \
	"A6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg=="

struct row {
	const char *
		line; /* "GET /tenant/{}/agents": method and path, without the names of parameters */
	const char *needs; /* permissions, all needed */
	/* $user $agent $group $plan $model $skill $tool $bundle $n (a number) $off $invite */
	const char *body;
	enum fresh fresh;
	const char *variant; /* a further row for the same operation */
	bool away;	     /* called as from another machine */
	bool owner_only;     /* needs the role OWNER in the tenant */
	bool someone_elses;  /* whoever lacks the last permission does not see the object: 404 */
	bool organization;   /* the tenant is named in the header OpenAI-Organization */
	bool may_lack;	     /* the object cannot be made here: 404 and 401 count as allowed */
	/* Of a session: the caller takes part in it, or, as a stranger, does not.  By the default role
	 * alone nobody sees what they take no part in. */
	bool takes_part, stranger;
	const char *scope; /* what a key with scopes must have besides */
};

extern const struct row matrix_rows[];
extern const size_t matrix_row_count;

enum agent_kind { AGENT_OPEN, AGENT_CLOSED, AGENT_ADMIN_ONLY, AGENT_KINDS };

/* A tenant with one of everything. */
struct world {
	const char *tenant_id, *owner_id, *owner; /* owner: a login */
	const char *agents[AGENT_KINDS];
	const char *slug, *repositories[AGENT_KINDS]; /* as git names them; none is there */
	const char *user_id;			      /* a member to act upon */
	const char *group_id, *allowed_id, *key_id, *plan_id, *model_id, *skill_id;
	const char *tool_id, *bundle_id, *integration_id;
	/* For each agent: one that callers take part in when they are to, and one that they never do. */
	const char *sessions[AGENT_KINDS], *closed_sessions[AGENT_KINDS];
	const char *files[AGENT_KINDS];					    /* of the former */
	const char *responses[AGENT_KINDS], *closed_responses[AGENT_KINDS]; /* of both */
	const char *conversations[AGENT_KINDS], *closed_conversations[AGENT_KINDS];
};

/* What a request is about; a copy of the world's, with fresh things in it. */
struct target {
	const char *tenant_id, *agent_id, *user_id, *group_id, *allowed_id, *key_id, *plan_id,
		*session_id, *model_id, *skill_id, *provider, *invite;
	const char *tool_id, *bundle_id, *scanner_grant_id, *closed_session_id;
	const char *approval_id, *proposal_id, *file_id, *memory_id, *response_id,
		*closed_response_id, *conversation_id, *closed_conversation_id;
	const char *integration_id, *delivery_id, *webhook_id;
	const char *mail_id, *mail_thread_id, *attachment_id;
	const char *tenant_slug, *repository;
	bool default_on;
};

enum standing {
	STANDS,
	NO_CREDENTIAL,	  /* anonymous, expired */
	USER_SUSPENDED,	  /* 403 whatever is asked */
	TENANT_SUSPENDED, /* 403 inside the tenant */
	TENANT_CLOSED,	  /* a super administrator, shut out */
};

struct caller_case {
	const char *name, *token, *user_id;
	struct world *world;
	enum standing standing;
	bool key, super, owner; /* owner: the role OWNER in the tenant */
	bool alike;	    /* as the one before but for a scope: nothing public is tried again */
	const char *tenant; /* permissions in the tenant; NULL: not of it */
	const char *agent;  /* permissions on the agent before scopes; "": none */
	const char *scopes; /* a key's; NULL: all */
	enum agent_kind kind;
	const char *agent_role; /* held on the agent */
	const char *machine;	/* a machine key for this, and nobody */
	const char *group_id;	/* through this group; NULL: by the user */
};

struct matrix_fixture {
	struct fixture *f;
	struct world alpha, beta, halted, shut; /* beta: another's; halted: suspended */
	struct caller_case callers[100];
	size_t caller_count;
};

/* The sets, as the specification states them; each name between spaces. */
#define SET_GUEST " tenant:read "
#define SET_MEMBER SET_GUEST "agents:create members:read apikeys:own bucket:read bucket:write "
#define SET_ADMIN                                                                       \
	SET_MEMBER "tenant:write members:write groups:write apikeys:write "             \
		   "allowed_accounts:write integrations:write billing:read audit:read " \
		   "skills:write tools:write benchmarks:write mail:write "
#define SET_OWNER SET_ADMIN "tenant:delete owners:write "
#define SET_VIEWER " agent:read session:read "
#define SET_MANAGER                                                                       \
	SET_VIEWER                                                                        \
	"session:write session:approve agent:write agent:skills:write agent:tools:write " \
	"agent:models:write agent:mail:read agent:mail:write "
#define SET_AGENT_OWNER \
	SET_MANAGER "agent:transfer agent:delete agent:roles:write agent:budget:write "
#define SET_MEMBER_BASELINE " agent:read session:read session:write "
#define SET_GUEST_BASELINE " agent:read session:read "

/* True if the set has the name. */
bool set_has(const char *set, const char *name, size_t len);
/* True if this permission is decided on an agent. */
bool of_agent(const char *name);

/* matrix_fixture.c */
void world_make(struct fixture *f, struct world *w, const char *slug);
const char *agent_make(struct fixture *f, const struct world *w, enum agent_kind kind);
void agent_give(struct fixture *f, const char *tenant_id, const char *agent_id, const char *user_id,
	const char *group_id, const char *role);
/* A key, made straight in the store; scopes as JSON or NULL, expires_at in microseconds or NIL. */
const char *key_make(struct fixture *f, const char *tenant_id, const char *user_id,
	const char *scopes, int64_t expires_at, const char **ret_id);
/* A machine key, made as the command makes it. */
const char *machine_make(struct fixture *f, enum machine_purpose purpose);
const char *scopes_json(struct fixture *f, const char *set);
int next_number(void);
struct target target_of(const struct world *w, enum agent_kind kind);
/* The user takes part in the session. */
void session_join(
	struct fixture *f, const char *tenant_id, const char *session_id, const char *user_id);
/* Makes what the row uses up; may replace the caller's token. */
void freshen(
	struct matrix_fixture *s, const struct row *row, struct caller_case *c, struct target *t);

/* matrix_send.c */
/* "/tenant/{tenant_id}/agents" as "/tenant/{}/agents". */
const char *path_shape(struct fixture *f, const char *path);
/* The id that a parameter stands for, by the segment before it; NULL if the target has none. */
const char **target_slot(struct target *t, const char *path, const char *brace);
/* The path with the target's ids; NULL, with a failure, if one is not known. */
const char *path_fill(struct fixture *f, const char *path, struct target *t);
const char *body_fill(struct fixture *f, const char *body, const struct target *t);

/* matrix_callers.c */
struct matrix_fixture *matrix_open(void);
void matrix_close(struct matrix_fixture *s);
