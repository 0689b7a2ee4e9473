/* mail_waiting.c - what goes out when a person sends it, of all agents whose mail the caller reads: drafts, and what is held. */
#include "api/mail/mail.h"
#include "api/sessions/session_rows.h"
#include "store/listing.h"

/* Written as the index has it, which holds these alone. */
#define WAITS "m.state in ('draft', 'held')"
/* $1 tenant, $2 user, $3 whether the credential reads mail at all, $4 whether the caller holds OWNER on all */
#define OF_TENANT                                                                           \
	"mail_messages m join agents a on a.tenant_id = m.tenant_id and a.id = m.agent_id " \
	"where m.tenant_id = $1 and " WAITS                                                 \
	" and $3 = 1 and ($4 = 1 or (a.is_admin_only = 0 and " HOLDS_ROLE(                  \
		"$2", "'MANAGER', 'OWNER'") "))"

enum { LIST_OF(WAITING_LIST) };

static const struct statement sql[] = {
	LISTING(WAITING_LIST, "mail_waiting_list", &MailWaiting_schema, "{m.*}", OF_TENANT, "m.id"),
};
STATEMENT_SET(mail_waiting_sql, sql);

LIST_OPERATION(listMailWaiting, NONE, MailWaiting)
{
	const struct caller *who = &c->caller;

	return call_list(c, &sql[WAITING_LIST],
		ARGS(T(who->tenant_id), T(who->user_id),
			N(caller_cut(who, PERM(AGENT_MAIL_READ)) != 0), N(caller_holds_all(who))));
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/mail/waiting", &listMailWaiting, PERM_TENANT_READ, 200,
		.tag = "Mail",
		.doc = "List the drafts, and what is held, of all agents whose mail the caller reads, newest first." },
};
RESOURCE(mail_waiting, routes, NULL, &mail_waiting_sql);
