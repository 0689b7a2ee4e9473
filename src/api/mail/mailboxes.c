/* mailboxes.c - the mailboxes of one agent, as those who look after it see them. */
#include "api/mail/mail.h"
#include "call/operation.h"
#include "store/listing.h"

#define ACTIVE "case when m.enabled = 1 and m.paused = 0 then 1 else 0 end as is_active"
#define COLUMNS "m.id, m.address, m.kind, " ACTIVE ", m.created_at"
#define FROM "mailboxes m where m.tenant_id = $1 and m.agent_id = $2"

enum { LIST_OF(MAILBOX_LIST), MAILBOX_READ };

static const struct statement sql[] = {
	LISTING(MAILBOX_LIST, "agent_mailbox_list", &AgentMailboxRow_schema, COLUMNS, FROM, "m.id"),
	[MAILBOX_READ] = { "agent_mailbox", "select " COLUMNS " from " FROM " and m.id = $3",
		.row = &AgentMailboxRow_schema },
};
STATEMENT_SET(agent_mailbox_sql, sql);

LIST_OPERATION(listMailboxes, NONE, AgentMailboxRow)
{
	return call_list(
		c, &sql[MAILBOX_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

static int show_mailbox(struct call *c, struct AgentMailboxRow *ret)
{
	int err = db_one(c->db, c->arena, &sql[MAILBOX_READ], ret,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id),
			T(call_param(c, "mailbox_id"))));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such mailbox.") : err;
}

OPERATION(readMailbox, NONE, AgentMailboxRow)
{
	return show_mailbox(c, out);
}

/* What the flags have switched off, or the operator has paused, is not switched on from here. */
OPERATION(updateMailbox, MailboxUpdate, AgentMailboxRow)
{
	struct AgentMailboxRow before;
	struct mailbox_row box;
	int err = show_mailbox(c, &before);

	if (!err)
		err = mailbox_find(c->db, c->arena, c->caller.tenant_id, before.id, &box);
	if (!err && in->is_active && box.paused & MAILBOX_PAUSED_BY_OPERATOR)
		return call_fail(c, ERR_CONFLICT,
			"Whoever runs this service has paused the mailbox; only they let it go on.");
	if (!err)
		err = mailbox_pause(c->db, c->caller.tenant_id, before.id, MAILBOX_PAUSED_BY_PEOPLE,
			in->is_active ? 0 : MAILBOX_PAUSED_BY_PEOPLE);
	if (!err)
		err = show_mailbox(c, out);
	if (!err && in->is_active && !out->is_active)
		return call_fail(c, ERR_CONFLICT, MAILBOX_DISABLED);
	if (!err)
		call_changed(c, &AgentMailboxRow_schema, &before, out);
	return err;
}

#define M "/tenant/{tenant_id}/agents/{agent_id}/mailboxes"

static const struct route routes[] = {
	{ METHOD_GET, M, &listMailboxes, PERM_AGENT_READ, 200, .tag = "Mail",
		.doc = "List the agent's mailboxes." },
	{ METHOD_GET, M "/{mailbox_id}", &readMailbox, PERM_AGENT_READ, 200, .tag = "Mail",
		.doc = "Read a mailbox." },
	{ METHOD_PATCH, M "/{mailbox_id}", &updateMailbox, PERM_AGENT_MAIL_WRITE, 200,
		"mailbox.update", .tag = "Mail",
		.doc = "Pause a mailbox, or let it go on. While it is paused nothing comes in and nothing "
		       "goes out." },
};
RESOURCE(mailboxes, routes, NULL, &agent_mailbox_sql);
