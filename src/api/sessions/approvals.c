/* approvals.c - calls of tools that wait for a person: of one session, and of all that the caller may
 * decide in. */
#include "api/sessions/session_rows.h"
#include "sessions/session.h"
#include "store/listing.h"

#define COLUMNS                                                                    \
	"{p.*}, s.agent_id, p.call_id as tool_call_id, s.title as session_title, " \
	"(select u.name from users u where u.id = p.decided_by_id) as decided_by_name"
#define WITH_SESSION \
	"approvals p join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id "
#define WITH_AGENT WITH_SESSION "join agents a on a.tenant_id = s.tenant_id and a.id = s.agent_id "

/* $1 tenant, $2 session */
#define OF_SESSION "p.tenant_id = $1 and p.session_id = $2"
/* $1 tenant, $2 user, $3 whether the credential decides at all, $4 whether the caller holds OWNER on
 * all, $5 whether the credential reads mail: every role that decides does */
#define OF_TENANT                                                                             \
	WITH_AGENT                                                                            \
	"where p.tenant_id = $1 and p.status = 'pending' and $3 = 1 and ($4 = 1 or " DECIDES( \
		"$2") ") and ($5 = 1 or " SESSION_UNMAILED("$2") ")"
/* $1 user, $2 the tenant of a key or null, $3 as above, $4 as $5 above */
#define OF_USER                                                                                   \
	"members m join tenants t on t.id = m.tenant_id and t.status not in "                     \
	"('suspended', 'closed') join approvals p on p.tenant_id = m.tenant_id "                  \
	"join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id "                   \
	"join agents a on a.tenant_id = s.tenant_id and a.id = s.agent_id "                       \
	"where m.user_id = $1 and m.status = 'active' and p.status = 'pending' "                  \
	"and (cast($2 as text) is null or m.tenant_id = $2) and $3 = 1 "                          \
	"and (m.role in ('OWNER', 'ADMIN') or " DECIDES("$1") ") "                                \
							      "and ($4 = 1 or " SESSION_UNMAILED( \
								      "$1") ")"

enum {
	LIST_OF(SESSION_LIST),
	LIST_OF(TENANT_LIST),
	LIST_OF(USER_LIST),
	APPROVAL_READ,
};

static const struct statement sql[] = {
	COUNTED_LISTING(SESSION_LIST, "approval_list", &ApprovalRead_schema, COLUMNS,
		"approvals p where " OF_SESSION, WITH_SESSION "where " OF_SESSION, "p.id"),
	LISTING(TENANT_LIST, "approval_tenant_list", &ApprovalRead_schema, COLUMNS, OF_TENANT,
		"p.id"),
	LISTING(USER_LIST, "approval_my_list", &ApprovalRead_schema, COLUMNS, OF_USER, "p.id",
		.across = "what waits for one user, over tenants"),
	[APPROVAL_READ] = { "approval_shown",
		"select " COLUMNS " from " WITH_SESSION "where p.tenant_id = $1 and p.id = $2",
		.row = &ApprovalRead_schema },
};
STATEMENT_SET(approval_api_sql, sql);

LIST_OPERATION(listSessionApprovals, NONE, ApprovalRead)
{
	return call_list(
		c, &sql[SESSION_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.session_id)));
}

static struct value reads_mail(const struct caller *who)
{
	return N(caller_cut(who, PERM(AGENT_MAIL_READ)) != 0);
}

LIST_OPERATION(listApprovals, NONE, ApprovalRead)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[TENANT_LIST],
		ARGS(T(who->tenant_id), T(who->user_id),
			N(caller_cut(who, PERM(SESSION_APPROVE)) != 0), N(caller_holds_all(who)),
			reads_mail(who)));
}

LIST_OPERATION(listMyApprovals, NONE, ApprovalRead)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[USER_LIST],
		ARGS(T(who->user_id), T(who->key_tenant_id),
			N(caller_cut(who, PERM(SESSION_APPROVE)) != 0), reads_mail(who)));
}

int approval_decide(struct call *c, const char *tenant_id, const char *session_id,
	const char *approval_id, bool approved, struct ApprovalRead *ret)
{
	const struct session_judge judge = { .user_id = c->caller.user_id,
		.signed_in = c->caller.kind == CREDENTIAL_LOGIN };
	int err = caller_also(&c->caller, c->arena, PERM_SESSION_APPROVE, &c->problem);

	if (!err)
		err = session_decide(c->db, c->arena, tenant_id, session_id, approval_id, &judge,
			approved, c->now, &c->problem);
	if (!err)
		err = db_one(c->db, c->arena, &sql[APPROVAL_READ], ret,
			ARGS(T(tenant_id), T(approval_id)));
	if (err)
		return err;
	return call_audit_act(
		c, (struct audit_entry){ .action = "approval.decide",
			   .resource_id = ret->id,
			   .agent_id = ret->agent_id,
			   .tenant_id = tenant_id,
			   .meta = arena_printf(c->arena,
				   "{\"session_id\":\"%s\",\"tool\":\"%s\",\"approved\":%s}",
				   ret->session_id, ret->tool_name, approved ? "true" : "false") });
}

OPERATION(decideApproval, ApprovalDecision, ApprovalRead)
{
	const struct caller *who = &c->caller;
	const char *id = call_param(c, "approval_id");
	int err = approval_decide(c, who->tenant_id, who->session_id, id, in->approved, out);

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such approval.") : err;
}

#define S "/tenant/{tenant_id}/sessions/{session_id}"

static const struct route routes[] = {
	{ METHOD_GET, S "/approvals", &listSessionApprovals, PERM_SESSION_READ, 200,
		.tag = "Approvals",
		.doc = "List the calls in this session that needed a person's word, newest first." },
	{ METHOD_POST, S "/approvals/{approval_id}", &decideApproval, PERM_SESSION_APPROVE, 200,
		"approval.decide", .tag = "Approvals",
		.doc = "Let a call be made, or refuse it; the agent goes on either way. 409 if it is "
		       "decided already." },
	{ METHOD_GET, "/tenant/{tenant_id}/approvals", &listApprovals, PERM_TENANT_READ, 200,
		.tag = "Approvals",
		.doc = "List what waits for a word in every session of the tenant that the caller may "
		       "decide in, newest first." },
	{ METHOD_GET, "/me/approvals", &listMyApprovals, PERM_LOGIN, 200, .tag = "Approvals",
		.doc = "List what waits for the caller's word, over all tenants they belong to, newest "
		       "first." },
};
RESOURCE(approvals, routes, NULL, &approval_api_sql);
