/* mail_threads.c - conversations by mail. */
#include "api/mail/mail.h"
#include "call/operation.h"
#include "store/listing.h"

enum { THREAD_SHOWN = 100 };

struct thread_query {
	const char *mailbox_id;
};

FIELDS(thread_query) = {
	FIELD(thread_query, mailbox_id, .nullable = true, .id = true,
		.doc = "Only threads of this mailbox."),
};
static SCHEMA(thread_query, .doc = "Filters of the list of threads.");

#define COLUMNS                                                                \
	"{t.*}, (select s.id from sessions s where s.tenant_id = t.tenant_id " \
	"and s.id = t.session_id) as session_id"
#define FROM "mail_threads t where t.tenant_id = $1 and t.agent_id = $2"

enum { LIST_OF(THREAD_LIST), THREAD_READ, THREAD_MESSAGES };

static const struct statement sql[] = {
	LISTING(THREAD_LIST, "mail_thread_list", &MailThreadRead_schema, COLUMNS,
		FROM " and (cast($3 as text) is null or t.mailbox_id = $3)", "t.last_message_id"),
	[THREAD_READ] = { "mail_thread_read", "select " COLUMNS " from " FROM " and t.id = $3",
		.row = &MailThreadDetail_schema },
	[THREAD_MESSAGES] = { "mail_thread_messages",
		"select " MAIL_COLUMNS " from mail_messages m where m.tenant_id = $1 "
		"and m.agent_id = $2 and m.thread_id = $3 order by m.id desc limit $4",
		.row = &MailMessageRead_schema },
};
STATEMENT_SET(mail_thread_sql, sql);

LIST_OPERATION(listMailThreads, thread_query, MailThreadRead, .key = "last_message_id")
{
	return call_list(c, &sql[THREAD_LIST],
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(in->mailbox_id)));
}

static void turn_round(struct list *l)
{
	struct MailMessageRead *at = l->at;

	for (size_t i = 0; i < l->count / 2; i++) {
		struct MailMessageRead kept = at[i];

		at[i] = at[l->count - 1 - i];
		at[l->count - 1 - i] = kept;
	}
}

OPERATION(readMailThread, NONE, MailThreadDetail)
{
	const struct value thread[] = { T(c->caller.tenant_id), T(c->caller.agent_id),
		T(call_param(c, "thread_id")), N(THREAD_SHOWN) };
	int err = db_one(c->db, c->arena, &sql[THREAD_READ], out, thread, 3);

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "There is no such thread.");
	if (!err)
		err = db_all(c->db, c->arena, &sql[THREAD_MESSAGES], &out->messages, THREAD_SHOWN,
			thread, 4);
	if (!err)
		turn_round(&out->messages);
	return err;
}

static const struct route routes[] = {
	{ METHOD_GET, AGENT_MAIL "/threads", &listMailThreads, PERM_AGENT_MAIL_READ, 200,
		.tag = "Mail", .doc = "List the agent's threads, the newest activity first." },
	{ METHOD_GET, AGENT_MAIL "/threads/{thread_id}", &readMailThread, PERM_AGENT_MAIL_READ, 200,
		.tag = "Mail", .doc = "Read a thread with its messages." },
};
RESOURCE(mail_threads, routes, NULL, &mail_thread_sql);
