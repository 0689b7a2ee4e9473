/* register.c - an account for whoever has shown that an address is theirs, by a link that was mailed to it.
 *
 * An address must be known here: a tenant has allowed it, or invited it.  Who
 * asks is told the same, after the same work, whatever address they name: the
 * password is hashed, the request is stored, and what becomes of it is found
 * out when the letter is sent (letter_fill.c).  The link makes the account,
 * which is proven, and takes it into the tenants that allow its address.
 *
 * Anybody may ask for an account with somebody else's address and a password of
 * their own.  So the link alone makes nothing: whoever confirms also gives the
 * password, and who did not choose it has an account made by nobody. */
#include <string.h>

#include "access/throttle.h"
#include "api/people/doors.h"
#include "api/people/letter_fill.h"
#include "api/people/login.h"
#include "api/people/new_user.h"
#include "api/people/proof.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "base/id.h"
#include "call/operation.h"
#include "search/search.h"
#include "store/row.h"

struct registration_row {
	const char *id, *email, *email_folded, *name, *password_hash;
	int64_t created_at, expires_at;
};

FIELDS(registration_row) = { ROW_FIELDS(
	registration_row, id, email, email_folded, name, password_hash, created_at, expires_at) };
static SCHEMA(registration_row, .internal = true);

struct registered_user {
	const char *id, *email, *name, *password_hash;
	int64_t now;
};

FIELDS(registered_user) = { ROW_FIELDS(registered_user, id, email, name, password_hash, now) };
static SCHEMA(registered_user, .internal = true);

enum { REGISTRATION_ADD, REGISTRATION_READ, REGISTRATIONS_USE, REGISTRANT, REGISTRANT_COMPLETE };

static const struct statement sql[] = {
	[REGISTRATION_ADD] = { "registration_add", "insert into registrations ({*}) values ({$})",
		.row = &registration_row_schema },
	[REGISTRATION_READ] = { "registration_read",
		"select {*} from registrations where hash = $1 and expires_at > $2",
		.row = &registration_row_schema },
	[REGISTRATIONS_USE] = { "registrations_use",
		"delete from registrations where email_folded = $1" },
	[REGISTRANT] = { "registrant", "select id as value from users where email_folded = $1",
		.row = &one_text_schema },
	[REGISTRANT_COMPLETE] = { "registrant_complete",
		"update users set name = :name, email = :email, password_hash = :password_hash, "
		"password_tenant_id = null, email_proven_at = :now, updated_at = :now "
		"where id = :id and is_suspended = 0 and not " HAS_ACCOUNT("users"),
		.args = &registered_user_schema },
};
STATEMENT_SET(register_sql, sql);

/* ---- asking for it ---- */

BODY_STEP(registerAccount, look, RegisterRequest)
{
	int err = letters_check(c);

	return err ? err : letters_check_room(c, in->email);
}

BODY_STEP(registerAccount, prepare, RegisterRequest)
{
	char *hash = arena_alloc(c->arena, PASSWORD_HASH_MAX);

	if (!password_hash(in->password, strlen(in->password), hash))
		return call_fail(c, ERR_BUSY, "There is not enough memory to hash a password.");
	c->own = hash;
	return 0;
}

OPERATION(registerAccount, RegisterRequest, LetterAsked, .look = registerAccount_look,
	.prepare = registerAccount_prepare)
{
	struct id id = id_new(NULL);
	int err = letters_take_room(c, in->email);

	out->accepted = true;
	if (!err)
		err = db_put(c->db, &sql[REGISTRATION_ADD],
			&(struct registration_row){ .id = id.text,
				.email = in->email,
				.email_folded = fold_ascii(c->arena, in->email),
				.name = in->name,
				.password_hash = c->own,
				.created_at = c->now,
				.expires_at = c->now + LETTER_CONFIRM_US });
	return err ? err : letter_add(c->db, LETTER_REGISTER, NULL, id.text, c->now);
}

/* ---- the link ---- */

struct confirm_context {
	struct registration_row asked;
	char hash[65]; /* of the link's token */
	bool knows;    /* the password that was chosen when it was asked for */
};

static int read_registration(struct call *c, struct confirm_context *own, const char *token)
{
	int err = 0;

	own->asked.id = NULL;
	if (token_valid(TOKEN_CONFIRM, token, strlen(token)))
		err = db_one(c->db, c->arena, &sql[REGISTRATION_READ], &own->asked,
			ARGS(T(own->hash), N(c->now)));
	return err == ERR_NOT_FOUND ? 0 : err;
}

BODY_STEP(confirmRegister, look, RegisterConfirm)
{
	struct confirm_context *own = arena_new(c->arena, struct confirm_context);
	int err;

	c->own = own;
	credential_hash(in->token, own->hash);
	err = read_registration(c, own, in->token);
	/* A token that is good is never refused for what others at the address have tried. */
	return err || own->asked.id ? err
				    : throttle_check(c->db, c->arena,
					      &(struct throttle){ .email = "", .ip = c->ip },
					      c->now, &c->problem);
}

BODY_STEP(confirmRegister, prepare, RegisterConfirm)
{
	struct confirm_context *own = c->own;

	own->knows = own->asked.id &&
		     password_matches(own->asked.password_hash, in->password, strlen(in->password));
	return 0;
}

/* The account: of an address that was only invited, or a new one.  *ret_id stays NULL if there is one already, or the address
 * is not known here any more. */
static int make_account(struct call *c, const struct registration_row *asked, struct list *doors,
	const char **ret_id)
{
	struct one_text known = { 0 };
	int64_t completed = 0;
	int err = db_one(c->db, c->arena, &sql[REGISTRANT], &known, ARGS(T(asked->email_folded)));
	bool invited = !err;

	*ret_id = NULL;
	if (err && err != ERR_NOT_FOUND)
		return err;
	err = doors_open(c, asked->email_folded, known.value, doors);
	if (!err && invited) {
		err = db_run(c->db, &sql[REGISTRANT_COMPLETE], &completed,
			BY_NAME(registered_user, (&(struct registered_user){ .id = known.value,
							 .email = asked->email,
							 .name = asked->name,
							 .password_hash = asked->password_hash,
							 .now = c->now })));
		*ret_id = completed ? known.value : NULL;
	} else if (!err && doors->count) {
		err = user_make(c->db, c->arena,
			&(struct new_user){ .email = asked->email,
				.name = asked->name,
				.password_hash = asked->password_hash,
				.proven = true },
			ret_id);
	}
	/* The same person came twice at the same moment: the next run sees the other. */
	return err == ERR_DUPLICATE ? ERR_RETRY : err;
}

/* Recorded, so the transaction commits although the caller is refused. */
static int refuse_confirmation(struct call *c)
{
	c->audit.action = "login.fail";
	call_fail(c, ERR_UNAUTHENTICATED,
		"The link is not valid any more, or the password is not the one that was chosen with it. If "
		"you have an account here, sign in; else ask for another link.");
	return throttle_fail(c->db, c->arena, c->ip, c->now);
}

OPERATION(confirmRegister, RegisterConfirm, LoginReply, .look = confirmRegister_look,
	.prepare = confirmRegister_prepare)
{
	struct confirm_context *own = c->own;
	struct list doors = { 0 };
	const char *user_id = NULL;
	int err = read_registration(c, own, in->token);

	if (!err && !own->knows)
		return refuse_confirmation(c);
	if (!err && own->asked.id)
		err = make_account(c, &own->asked, &doors, &user_id);
	if (!err && own->asked.id)
		err = db_run(
			c->db, &sql[REGISTRATIONS_USE], NULL, ARGS(T(own->asked.email_folded)));
	if (err)
		return err;
	if (!user_id)
		return refuse_confirmation(c);
	err = doors_enter(c, user_id, own->asked.email_folded, &doors, "{\"registered\":true}");
	if (!err)
		err = search_refresh_user(c->db, c->arena, user_id);
	c->audit.user_id = c->audit.resource_id = user_id;
	return err ? err : login_open(c, user_id, out);
}

static const struct route routes[] = {
	{ METHOD_POST, "/auth/register", &registerAccount, PERM_PUBLIC, 202, "account.register",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Ask for an account with an address that a tenant has allowed or invited; a link "
		       "is mailed to it, good once and for 24 hours. 202 whatever the address; 409 "
		       "mail_not_configured while the service has no mail." },
	{ METHOD_POST, "/auth/confirm", &confirmRegister, PERM_PUBLIC, 200, "account.confirm",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Make the account that a mailed link is for, with the password that was chosen when it "
		       "was asked for, and sign in." },
};
RESOURCE(registration, routes, NULL, &register_sql);
