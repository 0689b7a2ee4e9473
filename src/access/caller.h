/* caller.h - who is calling, and what they may.
 *
 * Everything is read in the transaction of the request it guards, so that a
 * decision is never older than the last committed change of a role, key,
 * membership or suspension; what credential_cache.h keeps is proven to be as fresh. */
#pragma once
#include "access/permission.h"
#include "base/arena.h"
#include "base/error.h"
#include "store/store.h"

#define TOKEN_LOGIN "lodge_login_"
#define TOKEN_KEY "lodge_key_"
#define TOKEN_INVITE "lodge_invite_"
#define TOKEN_RESET "lodge_reset_"
#define TOKEN_CONFIRM "lodge_confirm_"
#define TOKEN_DEVICE "lodge_device_"
#define TOKEN_MACHINE "lodge_machine_"
#define COOKIE_NAME "lodge_session"
#define DEVICE_COOKIE "lodge_device"

enum credential_kind {
	CREDENTIAL_NONE,
	CREDENTIAL_LOGIN,
	CREDENTIAL_KEY,
	CREDENTIAL_MACHINE,
	CREDENTIAL_ISSUED, /* a token that another service gave, where people sign in besides here */
};

/* What a machine key opens, and it opens nothing else. */
enum machine_purpose { MACHINE_METRICS, MACHINE_ADMIN_READ };
extern const struct words machine_purpose_words;

/* What the request presented. */
struct credential {
	enum credential_kind kind;
	bool cookie;   /* it came by cookie: a change needs our own Origin */
	bool bad;      /* something was presented that cannot be a credential */
	char hash[65]; /* under which the store knows it */
	/* CREDENTIAL_ISSUED: as it came; and whose word it is of whom, until when, once it has been found to hold. */
	const char *token;
	const char *provider, *subject;
	int64_t expires_at;
};

/* Reads the Authorization header and the cookie header (either may be NULL). */
struct credential credential_read(const char *authorization, const char *cookies);
/* The same for git's clients, whose token is the password of Basic, whatever the name; nothing comes by cookie. */
struct credential credential_read_basic(struct arena *a, const char *authorization);
/* The same where tokens of other services are taken: what is none of ours and has the form of such a token (a JWT) is
 * one of theirs, still to be proven. */
struct credential credential_read_any(const char *authorization, const char *cookies);
/* The name under which a token is stored. */
void credential_hash(const char *token, char out[65]);

struct caller {
	enum credential_kind kind;
	const char *user_id; /* NULL: nobody */
	const char *email, *name;
	bool is_super_admin;
	const char *key_id;   /* CREDENTIAL_KEY, CREDENTIAL_MACHINE */
	const char *provider; /* CREDENTIAL_ISSUED: who gave it */
	int purpose;	      /* enum machine_purpose; CREDENTIAL_MACHINE */
	const char *key_tenant_id;
	bool scoped;
	permissions scopes;   /* if scoped */
	permissions withheld; /* what the credential does not give although it has no scopes */
	int64_t expires_at;   /* of the credential; NIL: never */
	const char *hash;     /* of the credential */
	int64_t last_used;    /* as stored; NIL: never */

	/* The tenant of the request, once looked up. */
	const char *tenant_id;
	int role;		     /* enum tenant_role, or -1: not a member */
	bool through_super;	     /* reaches the tenant as super administrator */
	const char *read_only_after; /* agents with a later id are beyond the plan; NULL: none is */
	permissions tenant;	     /* held in the tenant, cut down to the scopes */
	/* The agent of the request, once looked up. */
	const char *agent_id;
	permissions agent; /* held on the agent (or in its session), cut down to the scopes */
	/* Of the agent's sessions the caller sees all, by a role of their own; else those they take
	 * part in. */
	bool all_sessions;
	/* The session of the request, once looked up. */
	const char *session_id;
};

/* True, in a statement with sessions under this name in it, of one that mail began, or that is a subtask of such a one, at
 * whichever of the four steps that there are at most. */
#define SESSION_BY_MAIL(s)                                                                     \
	"(" s ".origin = 'mail' or (" s ".origin = 'subtask' and exists (select 1 "            \
	"from session_rows p1 left join session_rows p2 on p2.tenant_id = p1.tenant_id "       \
	"and p2.id = p1.parent_session_id left join session_rows p3 "                          \
	"on p3.tenant_id = p2.tenant_id and p3.id = p2.parent_session_id "                     \
	"left join session_rows p4 on p4.tenant_id = p3.tenant_id "                            \
	"and p4.id = p3.parent_session_id where p1.tenant_id = " s ".tenant_id and p1.id = " s \
	".parent_session_id and 'mail' in (p1.origin, p2.origin, p3.origin, p4.origin))))"

/* Fills the caller from the store; a login that was idle for longer than idle_us has ended.
 * ERR_UNAUTHENTICATED, ERR_SUSPENDED, or a store error. */
int caller_load(struct caller *c, struct db *db, struct arena *a,
	const struct credential *credential, int64_t now, int64_t idle_us, struct problem *p);

/* Somebody who is not calling now, and as whom something runs on an agent. */
struct caller_absent {
	const char *tenant_id, *agent_id, *user_id;
	const char *
		key_id; /* the key they began it with; NULL: a login, of which only the person counts */
};

/* Fills the caller with what they hold at this moment, as if they asked for the permission on the agent:
 * 0, or an error with a code and a sentence that says what is missing. */
int caller_stand(struct caller *c, struct db *db, struct arena *a, const struct caller_absent *who,
	int permission, int64_t now, struct problem *p);

/* The same in the tenant, of which no agent is asked for.  Whoever began it with a login reaches what they reach with one. */
int caller_recall(struct caller *c, struct db *db, struct arena *a, const struct caller_absent *who,
	int permission, int64_t now, struct problem *p);

/* What the path says about where the permission is decided; each may be NULL.  A session is decided on
 * its agent: whoever has nothing but the default role there reaches only sessions they take part in. */
struct place {
	const char *tenant_id, *agent_id, *session_id;
	bool finds_agent; /* the operation itself finds out whether the agent is there */
	bool admin_read;  /* something under /admin is read, and nothing changed */
};

/* The place of an agent that is named by two slugs.  ERR_NOT_FOUND as whoever may not see it hears it. */
int caller_find_place(struct db *db, struct arena *a, const char *tenant_slug,
	const char *agent_slug, struct place *ret, struct problem *p);
/* May the caller?  0, or ERR_NOT_FOUND, ERR_FORBIDDEN, ERR_SUSPENDED with a sentence. */
int caller_permit(struct caller *c, struct db *db, struct arena *a, int permission,
	const struct place *place, bool loopback, struct problem *p);
/* A further permission in the same place; ERR_FORBIDDEN names it. */
int caller_also(const struct caller *c, struct arena *a, int permission, struct problem *p);

/* What is left of a set after the scopes of the credential. */
permissions caller_cut(const struct caller *c, permissions set);
/* True if the agent is beyond the tenant's plan: it reads, but does not change or run. */
bool caller_reads_only(const struct caller *c, const char *agent_id);
/* True for those who hold OWNER on every agent of the tenant. */
bool caller_holds_all(const struct caller *c);
/* ERR_FORBIDDEN, naming what is missing. */
int caller_lacks(struct arena *a, int permission, struct problem *p);

extern const struct statement_set caller_sql, caller_permit_sql, caller_absent_sql;
