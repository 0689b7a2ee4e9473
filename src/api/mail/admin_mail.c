/* admin_mail.c - all mailboxes of the house, and how they are put right.
 *
 * Healing goes through all agents, a bounded piece in each transaction, and
 * answers when it is through: what is counted is what was committed. */
#include <string.h>

#include "api/mail/mail.h"
#include "base/fold.h"
#include "call/operation.h"
#include "store/listing.h"
#include "store/row.h"

struct roster_asked {
	const char *pattern, *tenant_id;
	int kind;
	tri paused;
};

FIELDS(roster_asked) = { ROW_NULLABLE(roster_asked, pattern, tenant_id),
	FIELD(roster_asked, kind, .nullable = true, .words = &MailboxKind_words),
	ROW_NULLABLE(roster_asked, paused) };
static SCHEMA(roster_asked, .internal = true);

struct mailbox_query {
	const char *q, *tenant_id;
	int kind;
	tri paused;
};

FIELDS(mailbox_query) = {
	FIELD(mailbox_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only mailboxes whose address contains this, or whose agent's name does."),
	FIELD(mailbox_query, tenant_id, .nullable = true, .id = true,
		.doc = "Only mailboxes of this tenant."),
	FIELD(mailbox_query, kind, .nullable = true, .words = &MailboxKind_words,
		.doc = "Only mailboxes of this kind."),
	FIELD(mailbox_query, paused, .nullable = true,
		.doc = "True: only those that take no mail; false: only the others."),
};
static SCHEMA(mailbox_query, .doc = "Filters of the roster of mailboxes.");

#define PAUSED "case when m.enabled = 1 and m.paused = 0 then 0 else 1 end"
#define COLUMNS                                                                       \
	"m.id, m.address, m.tenant_id, t.name as tenant_name, a.name as agent_name, " \
	"m.message_count, m.last_message_at, " PAUSED " as is_paused"
#define JOINED                                                                 \
	"mailboxes m join tenants t on t.id = m.tenant_id left join agents a " \
	"on a.tenant_id = m.tenant_id and a.id = m.agent_id "
#define FILTERED                                                                            \
	JOINED "where (cast(:tenant_id as text) is null or m.tenant_id = :tenant_id) "      \
	       "and (cast(:kind as text) is null or m.kind = :kind) "                       \
	       "and (cast(:paused as bigint) is null or :paused = " PAUSED ") "             \
	       "and (cast(:pattern as text) is null or m.address like :pattern escape '!' " \
	       "or a.name_folded like :pattern escape '!')"

enum { LIST_OF(ROSTER), ROSTER_ONE };

static const struct statement sql[] = {
	LISTING(ROSTER, "admin_mailboxes", &AdminMailboxRow_schema, COLUMNS, FILTERED, "m.id",
		.args = &roster_asked_schema, .across = "the super administrator's roster",
		.scan = "the roster, walked in the order of its key"),
	[ROSTER_ONE] = { "admin_mailbox", "select " COLUMNS " from " JOINED "where m.id = $1",
		.row = &AdminMailboxRow_schema, .across = "the super administrator's roster" },
};
STATEMENT_SET(admin_mail_sql, sql);

LIST_OPERATION(listAllMailboxes, mailbox_query, AdminMailboxRow)
{
	struct roster_asked asked = { .pattern = in->q ? fold_pattern(c->arena, in->q) : NULL,
		.tenant_id = in->tenant_id,
		.kind = in->kind,
		.paused = in->paused };

	return call_list(c, &sql[ROSTER], BY_NAME(roster_asked, &asked));
}

static int show_any_mailbox(struct call *c, struct AdminMailboxRow *ret)
{
	int err = db_one(
		c->db, c->arena, &sql[ROSTER_ONE], ret, ARGS(T(call_param(c, "mailbox_id"))));

	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such mailbox.") : err;
}

OPERATION(readAnyMailbox, NONE, AdminMailboxRow)
{
	return show_any_mailbox(c, out);
}

OPERATION(updateAnyMailbox, AdminMailboxUpdate, AdminMailboxRow)
{
	struct AdminMailboxRow before;
	int err = show_any_mailbox(c, &before);

	if (!err)
		err = in->is_paused
			      ? mailbox_pause(c->db, before.tenant_id, before.id, 0,
					MAILBOX_PAUSED_BY_OPERATOR)
			      : mailbox_pause(c->db, before.tenant_id, before.id,
					MAILBOX_PAUSED_BY_OPERATOR | MAILBOX_PAUSED_BY_PEOPLE, 0);
	if (!err)
		err = show_any_mailbox(c, out);
	if (!err && !in->is_paused && out->is_paused)
		return call_fail(c, ERR_CONFLICT, MAILBOX_DISABLED);
	if (err)
		return err;
	c->audit.tenant_id = out->tenant_id;
	call_changed(c, &AdminMailboxRow_schema, &before, out);
	return 0;
}

/* ---- heal ---- */

struct heal_query {
	bool dry_run;
};

FIELDS(heal_query) = {
	FIELD(heal_query, dry_run, .preset = "false",
		.doc = "True counts what would be done, and does nothing."),
};
static SCHEMA(heal_query, .doc = "Whether it is meant.");

struct healing {
	struct work work; /* first */
	struct call *call;
	struct AdminMailHealResult *out;
	struct arena arena;
	struct mailbox_walk reached, next; /* next: by the piece that is not committed yet */
};

static void free_healing(void *data)
{
	arena_free(&((struct healing *)data)->arena);
}

static int heal_piece(struct work *w, struct db *db)
{
	struct healing *h = (struct healing *)w;

	arena_reset(&h->arena);
	h->next = h->reached;
	return mailbox_walk(db, &h->arena, &h->next);
}

static void piece_healed(struct work *w, int err)
{
	struct healing *h = (struct healing *)w;

	h->reached = h->next;
	if (!err && h->reached.more)
		err = store_submit(h->call->app->store, &h->work);
	if (!err && h->reached.more)
		return;
	h->out->provisioned = h->reached.changed;
	call_answer(h->call, err);
}

static enum http_verdict begin_healing(struct call *c)
{
	struct healing *h = c->own;
	int err = store_submit(c->app->store, &h->work);

	if (!err)
		return HTTP_KEPT;
	call_conclude(c, err);
	return HTTP_REPLIED;
}

QUERY_STEP(healMailboxesHow, look, heal_query)
{
	struct healing *h = c->own = arena_new(c->arena, struct healing);

	h->reached.dry = in->dry_run;
	arena_defer(c->arena, free_healing, h);
	return 0;
}

OPERATION(healMailboxes, AdminMailHealRequest, AdminMailHealResult, .query = &heal_query_schema,
	.body_optional = true, .harmless = true, .look = healMailboxesHow_look)
{
	struct healing *h = c->own;
	bool external = in->service == MailboxKind_external;

	c->audit.meta = arena_printf(c->arena, "{\"service\":\"%s\",\"dry_run\":%s}",
		MailboxKind_words.list[external], h->reached.dry ? "true" : "false");
	out->provisioning_enabled = mailbox_policy()->provisions;
	if (!out->provisioning_enabled)
		return 0;
	h->call = c;
	h->out = out;
	h->reached.internal = !external;
	h->reached.external = external;
	h->work = (struct work){ .run = heal_piece, .done = piece_healed, .mode = READ_WRITE };
	c->deferred = begin_healing;
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/admin/mail/mailboxes", &listAllMailboxes, PERM_SUPER, 200,
		.tag = "Super administrator", .doc = "Every mailbox of the house, newest first." },
	{ METHOD_GET, "/admin/mail/mailboxes/{mailbox_id}", &readAnyMailbox, PERM_SUPER, 200,
		.tag = "Super administrator", .doc = "A mailbox of the house." },
	{ METHOD_PATCH, "/admin/mail/mailboxes/{mailbox_id}", &updateAnyMailbox, PERM_SUPER, 200,
		"mailbox.administer", .tag = "Super administrator",
		.doc = "Pause a mailbox, or let it go on." },
	{ METHOD_POST, "/admin/mail/heal", &healMailboxes, PERM_SUPER, 200, "mail.heal",
		.patient = true, .tag = "Super administrator",
		.doc = "Give every agent that lacks one its internal mailbox, or bring all external "
		       "mailboxes in line with the flags of tenants and agents. With ?dry_run=true it "
		       "only counts." },
};
RESOURCE(admin_mail, routes, NULL, &admin_mail_sql);
