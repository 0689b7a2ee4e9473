/* reset.c - a new password by a link that the super administrator made, or that was mailed to whoever asked.
 *
 * Anybody may ask for a link to any address, and learns nothing by it: who has
 * an account is found out when the letter is sent (letter_fill.c).  A link that
 * was mailed proves the address; one that the operator handed to somebody does
 * not.  Setting the password ends every login and every key, for whoever had
 * the account meanwhile may have made them; the keys of an address that is
 * proven stay if that is asked for. */
#include <string.h>

#include "access/throttle.h"
#include "call/operation.h"
#include "api/people/identity.h"
#include "api/people/letter_fill.h"
#include "api/people/proof.h"
#include "base/crypto.h"
#include "base/fold.h"

struct reset_row {
	const char *user_id, *email;
	bool proven, mailed;
};

FIELDS(reset_row) = {
	FIELD(reset_row, user_id),
	FIELD(reset_row, email),
	FIELD(reset_row, proven),
	FIELD(reset_row, mailed),
};
static SCHEMA(reset_row, .internal = true);

enum { RESET_READ, RESET_USE, RESETS_END, PASSWORD_SET, LOGINS_END };

static const struct statement sql[] = {
	[RESET_READ] = { "reset_read",
		"select r.user_id, u.email, case when u.email_proven_at is null then 0 else 1 end "
		"as proven, r.mailed from resets r join users u on u.id = r.user_id "
		"where r.hash = $1 and r.expires_at > $2 and u.is_suspended = 0",
		.row = &reset_row_schema },
	[RESET_USE] = { "reset_use", "delete from resets where hash = $1 and expires_at > $2" },
	[RESETS_END] = { "resets_end", "delete from resets where user_id = $1" },
	[PASSWORD_SET] = { "reset_password_set",
		"update users set password_hash = $2, updated_at = $3 where id = $1" },
	[LOGINS_END] = { "reset_logins_end", "delete from logins where user_id = $1" },
};
STATEMENT_SET(reset_sql, sql);

/* What is carried from one step to the next. */
struct reset_context {
	struct reset_row who;
	char hash[65];			  /* of the link's token */
	char new_hash[PASSWORD_HASH_MAX]; /* of the password that shall hold */
};

BODY_STEP(confirmReset, look, ResetConfirm)
{
	struct reset_context *own = arena_new(c->arena, struct reset_context);
	int err = 0;

	c->own = own;
	credential_hash(in->token, own->hash);
	if (token_valid(TOKEN_RESET, in->token, strlen(in->token)))
		err = db_one(c->db, c->arena, &sql[RESET_READ], &own->who,
			ARGS(T(own->hash), N(c->now)));
	if (err == ERR_NOT_FOUND)
		err = 0;
	/* A token that is good is never refused for what others at the address have tried. */
	return err || own->who.user_id ? err
				       : throttle_check(c->db, c->arena,
						 &(struct throttle){ .email = "", .ip = c->ip },
						 c->now, &c->problem);
}

BODY_STEP(confirmReset, prepare, ResetConfirm)
{
	struct reset_context *own = c->own;

	if (own->who.user_id && !password_hash(in->password, strlen(in->password), own->new_hash))
		return call_fail(c, ERR_BUSY, "There is not enough memory to hash a password.");
	return 0;
}

/* What was got hold of without proof ends, and with a link that was mailed the address is proven. */
static int end_others(struct call *c, const struct reset_context *own, bool keep_keys)
{
	const char *user_id = own->who.user_id;
	int64_t ended = 0;
	bool fresh;
	int err = 0;

	if (!own->who.proven || !keep_keys)
		err = address_end_keys(c->db, c->arena, user_id, &ended);
	c->audit.meta = arena_printf(c->arena, "{\"keys_revoked\":%lld}", (long long)ended);
	if (err)
		return err;
	if (own->who.proven)
		return db_run(c->db, &sql[LOGINS_END], NULL, ARGS(T(user_id)));
	return own->who.mailed ? address_prove(c->db, c->arena, user_id, c->now, &fresh)
			       : address_end_unproven(c->db, c->arena, user_id);
}

static int set_password(struct call *c, const struct reset_context *own, bool keep_keys)
{
	const char *user_id = own->who.user_id;
	int err = end_others(c, own, keep_keys);

	if (!err)
		err = db_run(c->db, &sql[PASSWORD_SET], NULL,
			ARGS(T(user_id), T(own->new_hash), N(c->now)));
	if (!err)
		err = db_run(c->db, &sql[RESETS_END], NULL, ARGS(T(user_id)));
	return err ? err : throttle_unlock(c->db, c->arena, own->who.email);
}

OPERATION(confirmReset, ResetConfirm, NONE, .look = confirmReset_look,
	.prepare = confirmReset_prepare)
{
	const struct reset_context *own = c->own;
	int64_t used = 0;
	int err = 0;

	if (*own->new_hash)
		err = db_run(c->db, &sql[RESET_USE], &used, ARGS(T(own->hash), N(c->now)));
	if (err)
		return err;
	c->audit.user_id = c->audit.resource_id = own->who.user_id;
	if (used)
		return set_password(c, own, in->keep_keys);
	/* Recorded, so the transaction commits although the caller is refused. */
	c->audit.action = "login.fail";
	call_fail(c, ERR_UNAUTHENTICATED, "The link is not valid any more; ask for another.");
	return throttle_fail(c->db, c->arena, c->ip, c->now);
}

BODY_STEP(requestReset, look, ResetRequest)
{
	int err = letters_check(c);

	return err ? err : letters_check_room(c, in->email);
}

OPERATION(requestReset, ResetRequest, LetterAsked, .look = requestReset_look)
{
	int err = letters_take_room(c, in->email);

	out->accepted = true;
	return err ? err
		   : letter_add(c->db, LETTER_RESET, NULL, fold_ascii(c->arena, in->email), c->now);
}

static const struct route routes[] = {
	{ METHOD_POST, "/auth/reset", &requestReset, PERM_PUBLIC, 202, "account.reset",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Ask for a link to an address, by which a new password is set: good once and for "
		       "an hour. 202 whether or not anybody has the address; 409 mail_not_configured "
		       "while the service has no mail." },
	{ METHOD_POST, "/auth/reset/confirm", &confirmReset, PERM_PUBLIC, 204, "user.password",
		.tag = "Identity", .as_printed = true, .max_body = 16 * 1024,
		.doc = "Set a new password by a link; every login ends, and every API key unless keep_keys." },
};
RESOURCE(reset, routes, NULL, &reset_sql);
