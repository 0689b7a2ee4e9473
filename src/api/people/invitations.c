/* invitations.c - how somebody who has an account joins a tenant: asked there, and answering here, signed in.
 *
 * Only whoever has proven their address is told who asked; anybody else sees
 * the tenant alone through whose invitation they came, so that a stranger who
 * got hold of an account by another tenant's token learns nothing. */
#include "call/operation.h"
#include "api/plans/plans.h"
#include "api/people/identity.h"
#include "api/people/login.h"
#include "search/search.h"
#include "store/listing.h"

/* $1 user */
#define OPEN_FROM                                                                   \
	"members m join tenants t on t.id = m.tenant_id join users u on u.id = $1 " \
	"where m.user_id = $1 and m.status = 'invited' and t.status <> 'closed' "   \
	"and (u.email_proven_at is not null or u.password_tenant_id = m.tenant_id)"
#define OPEN_COLUMNS \
	"m.tenant_id, t.name as tenant_name, t.slug as tenant_slug, m.role, m.created_at"
#define OWN .across = "the invitations of one user"

enum {
	LIST_OF(OPEN_LIST),
	OPEN_READ,
	OPEN_FREE,
	OPEN_ACCEPT,
	OPEN_TOKENS,
	OPEN_DECLINE,
};

static const struct statement sql[] = {
	LISTING(OPEN_LIST, "invitation_list", &InvitationRead_schema, OPEN_COLUMNS, OPEN_FROM,
		"m.tenant_id", OWN),
	[OPEN_READ] = { "invitation_open",
		"select " OPEN_COLUMNS " from " OPEN_FROM " and m.tenant_id = $2",
		.row = &InvitationRead_schema },
	[OPEN_FREE] = { "invitation_free",
		"select count(*) from users where id = $1 "
		"and (email_proven_at is not null or password_tenant_id = $2)" },
	[OPEN_ACCEPT] = { "invitation_accept",
		"update members set status = 'active', updated_at = $3 "
		"where tenant_id = $1 and user_id = $2 and status = 'invited'" },
	[OPEN_TOKENS] = { "invitation_tokens",
		"delete from invitations where tenant_id = $1 and user_id = $2" },
	[OPEN_DECLINE] = { "invitation_decline",
		"delete from members where tenant_id = $1 and user_id = $2 and status = 'invited'" },
};
STATEMENT_SET(invitation_sql, sql);

LIST_OPERATION(listInvitations, NONE, InvitationRead, .key = "tenant_id")
{
	int err = login_check_person(c);

	return err ? err : call_list(c, &sql[OPEN_LIST], ARGS(T(c->caller.user_id)));
}

/* Whoever has not proven the address hears so whatever tenant they name, and learns of none. */
static int find_open(struct call *c, const char *tenant_id, struct InvitationRead *ret)
{
	const char *user_id = c->caller.user_id;
	int64_t free = 0;
	int err = db_int(c->db, &sql[OPEN_FREE], &free, ARGS(T(user_id), T(tenant_id)));

	if (!err && !free) {
		c->problem.code = "address_unproven";
		return call_fail(c, ERR_CONFLICT,
			"Your address is not proven to be yours, and joining another tenant needs that: "
			"sign in at a provider that vouches for it, or ask the super administrator.");
	}
	if (!err)
		err = db_one(c->db, c->arena, &sql[OPEN_READ], ret, ARGS(T(user_id), T(tenant_id)));
	return err == ERR_NOT_FOUND ? call_fail(c, err, "There is no such invitation.") : err;
}

static int decline_invitation(struct call *c, const char *tenant_id)
{
	int err = db_run(c->db, &sql[OPEN_DECLINE], NULL, ARGS(T(tenant_id), T(c->caller.user_id)));

	c->audit.action = "invitation.decline";
	c->nothing = true;
	return err ? err : tenant_count(c->db, tenant_id, 0, -1);
}

static int accept_invitation(struct call *c, const char *tenant_id, struct Membership *out)
{
	const char *user_id = c->caller.user_id;
	int err = db_run(c->db, &sql[OPEN_ACCEPT], NULL, ARGS(T(tenant_id), T(user_id), N(c->now)));

	if (!err)
		err = db_run(c->db, &sql[OPEN_TOKENS], NULL, ARGS(T(tenant_id), T(user_id)));
	if (!err)
		err = search_refresh(c->db, c->arena, tenant_id, MentionType_user, user_id);
	return err ? err : login_membership(c, tenant_id, out);
}

OPERATION(answerInvitation, InvitationAnswer, Membership, .or_nothing = true)
{
	const char *tenant_id = call_param(c, "tenant_id");
	struct InvitationRead open = { 0 };
	int err = login_check_person(c);

	if (!err)
		err = find_open(c, tenant_id, &open);
	if (err)
		return err;
	c->audit.resource_id = c->caller.user_id;
	/* Who declines stays unknown to the tenant that asked: the entry is the house's. */
	c->audit.tenant_id = in->accept ? open.tenant_id : NULL;
	c->audit.shown_tenant_id = open.tenant_id;
	c->audit.meta = arena_printf(c->arena, "{\"tenant_id\":\"%s\"}", open.tenant_id);
	return in->accept ? accept_invitation(c, open.tenant_id, out)
			  : decline_invitation(c, open.tenant_id);
}

static const struct route routes[] = {
	{ METHOD_GET, "/me/invitations", &listInvitations, PERM_LOGIN, 200, .tag = "Identity",
		.doc = "The tenants that have asked you to join and that you have not answered." },
	{ METHOD_POST, "/me/invitations/{tenant_id}", &answerInvitation, PERM_LOGIN, 200,
		"invitation.accept", .tag = "Identity",
		.doc = "Join a tenant that has asked you, or decline with 204. An address that is not "
		       "proven joins no tenant but the one whose invitation made its account: 409 "
		       "address_unproven." },
};
RESOURCE(invitations, routes, NULL, &invitation_sql);
