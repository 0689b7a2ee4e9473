/* letter_fill.c - see letter_fill.h. */
#include "api/people/letter_fill.h"

#include <string.h>

#include "access/throttle.h"
#include "api/people/approval_letters.h"
#include "api/people/login.h"
#include "api/people/proof.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/fold.h"
#include "store/row.h"

/* In 15 minutes (see throttle.h), or in a day. */
enum {
	PLACE_MOST = 20,	  /* asked for from one place */
	TO_MOST = 3,		  /* and of these to one address */
	TO_DAY_MOST = 10,	  /* the same, in a day */
	STRANGERS_DAY_MOST = 50,  /* to one address from places that its owner does not know */
	INVITES_TO_MOST = 3,	  /* of one tenant to one address */
	INVITES_TO_DAY_MOST = 20, /* of all tenants to one address */
	INVITES_DAY_MOST = 200,	  /* of one tenant */
	COUNTS_MAX = 4
};

struct letter_invitation {
	const char *email, *tenant, *by_name;
	int64_t expires_at;
};

FIELDS(letter_invitation) = {
	ROW_FIELDS(letter_invitation, email, tenant, expires_at),
	ROW_NULLABLE(letter_invitation, by_name),
};
static SCHEMA(letter_invitation, .internal = true);

struct letter_account {
	const char *id, *email;
	bool is_suspended, has_account, has_password;
	const char *provider;
};

FIELDS(letter_account) = {
	ROW_FIELDS(letter_account, id, email, is_suspended, has_account, has_password),
	ROW_NULLABLE(letter_account, provider),
};
static SCHEMA(letter_account, .internal = true);

struct letter_registration {
	const char *id, *email, *email_folded;
	int64_t expires_at;
};

FIELDS(letter_registration) = { ROW_FIELDS(
	letter_registration, id, email, email_folded, expires_at) };
static SCHEMA(letter_registration, .internal = true);

enum {
	INVITATION_FIND,
	INVITATION_STANDS,
	INVITATION_MAIL,
	ACCOUNT_FIND,
	RESET_MAIL,
	RESET_ENDS,
	REGISTRATION_FIND,
	REGISTRATION_MAIL,
	REGISTRATION_DROP,
	ALLOWED,
};

static const struct statement sql[] = {
	/* The invitation that the letter was made with, and no later one: that has a letter of its own. */
	[INVITATION_FIND] = { "letter_invitation",
		"select coalesce(m.invited_email, u.email) as email, t.name as tenant, "
		"b.name as by_name, i.expires_at from invitations i "
		"join members m on m.tenant_id = i.tenant_id and m.user_id = i.user_id "
		"join users u on u.id = i.user_id join tenants t on t.id = i.tenant_id "
		"left join users b on b.id = i.created_by_id where i.tenant_id = $1 "
		"and i.user_id = $2 and i.mailed = 0 and i.created_at = $3 and i.expires_at > $4 "
		"and m.status = 'invited' and u.is_suspended = 0 "
		"and t.status not in ('suspended', 'closed')",
		.row = &letter_invitation_schema },
	[INVITATION_STANDS] = { "letter_invitation_stands",
		"select count(*) from invitations where hash = $1",
		.across = "a hash names one invitation of one tenant" },
	[INVITATION_MAIL] = { "letter_invitation_mail",
		"insert into invitations (hash, tenant_id, user_id, created_by_id, created_at, "
		"expires_at, mailed) select $4, tenant_id, user_id, created_by_id, created_at, "
		"expires_at, 1 from invitations where tenant_id = $1 and user_id = $2 "
		"and mailed = 0 and created_at = $3" },
	[ACCOUNT_FIND] = { "letter_account",
		"select u.id, u.email, u.is_suspended, case when " HAS_ACCOUNT(
			"u") " then 1 else 0 end as has_account, case when u.password_hash is null "
			     "then 0 else 1 end as has_password, (select min(i.provider) "
			     "from identities i where i.user_id = u.id) as provider "
			     "from users u where u.email_folded = $1",
		.row = &letter_account_schema },
	[RESET_MAIL] = { "letter_reset_mail",
		"insert into resets (hash, user_id, created_at, expires_at, mailed) "
		"values ($1, $2, $3, $4, 1)" },
	[RESET_ENDS] = { "letter_reset_ends",
		"select coalesce(max(expires_at), 0) from resets where hash = $1" },
	[REGISTRATION_FIND] = { "letter_registration",
		"select {*} from registrations where id = $1 and expires_at > $2",
		.row = &letter_registration_schema },
	[REGISTRATION_MAIL] = { "letter_registration_mail",
		"update registrations set hash = $2 where id = $1" },
	[REGISTRATION_DROP] = { "letter_registration_drop",
		"delete from registrations where id = $1" },
	[ALLOWED] = { "letter_allowed",
		"select count(*) from allowed_accounts where email_folded = $1",
		.across = "an address may be allowed by several tenants" },
};
STATEMENT_SET(letter_fill_sql, sql);

/* ---- asking for a letter ---- */

int letters_check(struct call *c)
{
	if (letter_post_goes(service_of(c->app)->letters))
		return 0;
	c->problem.code = "mail_not_configured";
	return call_fail(c, ERR_CONFLICT,
		"No link can be sent to you: this service has no mail. Ask whoever runs it.");
}

/* What a letter counts against that somebody asks for, who may be anybody.  Whoever asks from where its owner has
 * signed in before is counted there alone, so that strangers cannot use up what is theirs. */
static int counts_of(
	struct call *c, const char *email, struct allowance out[COUNTS_MAX], size_t *ret)
{
	static const char said[] = "letters to this address asked for from where you are";
	struct throttle place = { .email = email, .ip = c->ip, .device = login_device(c) };
	char *hash = arena_alloc(c->arena, 65);
	bool familiar = false;
	int err = throttle_familiar(c->db, c->arena, &place, c->now, &familiar);

	credential_hash(fold_ascii(c->arena, email), hash);
	out[0] = (struct allowance){ .what = "letters",
		.ip = c->ip,
		.most = PLACE_MOST,
		.said = "letters asked for from where you are" };
	out[1] = (struct allowance){
		.what = "letters-to", .to = hash, .ip = c->ip, .most = TO_MOST, .said = said
	};
	out[2] = (struct allowance){ .what = "letters-to",
		.to = hash,
		.ip = c->ip,
		.most = TO_DAY_MOST,
		.said = said,
		.a_day = true };
	out[3] = (struct allowance){ .what = "letters-to",
		.to = hash,
		.most = STRANGERS_DAY_MOST,
		.said = "letters to this address today",
		.a_day = true };
	*ret = familiar ? 3 : 4;
	return err;
}

typedef int allowance_fn(
	struct db *db, struct arena *a, const struct allowance *l, int64_t now, struct problem *p);

static int each(struct call *c, allowance_fn *fn, const struct allowance *l, size_t count)
{
	int err = 0;

	for (size_t i = 0; !err && i < count; i++)
		err = fn(c->db, c->arena, &l[i], c->now, &c->problem);
	return err;
}

int letters_check_room(struct call *c, const char *email)
{
	struct allowance l[COUNTS_MAX];
	size_t n = 0;
	int err = counts_of(c, email, l, &n);

	return err ? err : each(c, allowance_check, l, n);
}

int letters_take_room(struct call *c, const char *email)
{
	struct allowance l[COUNTS_MAX];
	size_t n = 0;
	int err = counts_of(c, email, l, &n);

	return err ? err : each(c, allowance_take, l, n);
}

int letters_take_invitation(struct call *c, const char *email, int64_t *ret_again_at)
{
	char *hash = arena_alloc(c->arena, 65);
	struct allowance l[] = {
		{ .what = "invites",
			.to = c->caller.tenant_id,
			.most = INVITES_DAY_MOST,
			.a_day = true },
		{ .what = "invites-to", .most = INVITES_TO_MOST },
		{ .what = "invites-to", .to = hash, .most = INVITES_TO_DAY_MOST, .a_day = true },
	};
	const size_t n = sizeof l / sizeof *l;
	int err;

	credential_hash(fold_ascii(c->arena, email), hash);
	l[1].to = arena_printf(c->arena, "%s:%s", hash, c->caller.tenant_id);
	*ret_again_at = NIL;
	err = each(c, allowance_check, l, n);
	if (!err)
		err = each(c, allowance_take, l, n);
	if (err != ERR_THROTTLED)
		return err;
	*ret_again_at = c->now + c->problem.retry_after_s * SECOND_US;
	c->problem = (struct problem){ 0 };
	return 0;
}

/* ---- what it says ---- */

struct filling {
	struct app *app;
	struct db *db;
	struct arena *a;
	const struct letter_row *row;
	int64_t now;
	struct letter *out;
	char hash[65]; /* of the link's token */
};

/* The link: the one that was made for an earlier try, or a new one.  A token that cannot be opened any more is as good as
 * none, for its hash is already where it counts. */
static int make_link(
	struct filling *f, const char *prefix, const char *path, const char **ret, bool *ret_fresh)
{
	char fresh[TOKEN_MAX];
	const char *token = fresh;
	int err = 0;

	*ret = NULL;
	*ret_fresh = !f->row->sealed;
	if (*ret_fresh) {
		token_new(prefix, fresh);
		err = letter_seal(f->db, f->a, f->app->vault, f->row->id, token);
	} else {
		token = vault_open_text(f->app->vault, f->a, f->row->id, f->row->sealed);
	}
	if (err || !token)
		return err;
	credential_hash(token, f->hash);
	*ret = arena_printf(f->a, "%s/%s#%s", f->app->settings.public_url, path, token);
	return 0;
}

static void say(
	struct filling *f, enum letter_text says, const char *to, const char *link, int64_t ends)
{
	char text[TIME_TEXT_LEN];

	time_write(ends, text);
	f->out->says = says;
	f->out->to = to;
	f->out->link = link;
	f->out->until = arena_printf(f->a, "%.10s %.5s UTC", text, text + 11);
}

static int fill_invite(struct filling *f)
{
	const struct letter_row *row = f->row;
	struct letter_invitation i;
	const char *link;
	int64_t stands = 1;
	bool fresh;
	int err = db_one(f->db, f->a, &sql[INVITATION_FIND], &i,
		ARGS(T(row->about), T(row->user_id), N(row->created_at), N(f->now)));

	if (err)
		return err;
	err = make_link(f, TOKEN_INVITE, "invite", &link, &fresh);
	if (!err && fresh)
		err = db_run(f->db, &sql[INVITATION_MAIL], NULL,
			ARGS(T(row->about), T(row->user_id), N(row->created_at), T(f->hash)));
	else if (!err && link)
		err = db_int(f->db, &sql[INVITATION_STANDS], &stands, ARGS(T(f->hash)));
	if (err || !link || !stands)
		return err;
	f->out->tenant = i.tenant;
	f->out->who = i.by_name ? i.by_name : "Somebody";
	say(f, LETTER_SAYS_INVITED, i.email, link, i.expires_at);
	return 0;
}

static const char *home(const struct filling *f)
{
	return arena_printf(f->a, "%s/", f->app->settings.public_url);
}

/* Somebody has the address: they are told, and no account comes of it.  Somebody may have it: the link.  Else nobody hears of it. */
static int fill_register(struct filling *f)
{
	struct letter_registration r;
	struct letter_account who = { 0 };
	const char *link = NULL;
	int64_t allowed = 0;
	bool fresh;
	int err =
		db_one(f->db, f->a, &sql[REGISTRATION_FIND], &r, ARGS(T(f->row->about), N(f->now)));

	if (err)
		return err;
	err = db_one(f->db, f->a, &sql[ACCOUNT_FIND], &who, ARGS(T(r.email_folded)));
	if (err == ERR_NOT_FOUND)
		err = db_int(f->db, &sql[ALLOWED], &allowed, ARGS(T(r.email_folded)));
	if (err)
		return err;
	if (who.has_account || who.is_suspended || (!who.id && !allowed)) {
		if (who.has_account && !who.is_suspended)
			say(f, LETTER_SAYS_KNOWN, who.email, home(f), f->now);
		return who.has_account && !who.is_suspended
			       ? 0
			       : db_run(f->db, &sql[REGISTRATION_DROP], NULL, ARGS(T(r.id)));
	}
	err = make_link(f, TOKEN_CONFIRM, "confirm", &link, &fresh);
	if (!err && fresh)
		err = db_run(f->db, &sql[REGISTRATION_MAIL], NULL, ARGS(T(r.id), T(f->hash)));
	if (!err && link)
		say(f, LETTER_SAYS_CONFIRM, r.email, link, r.expires_at);
	return err;
}

static int fill_reset(struct filling *f)
{
	struct letter_account who;
	const char *link = NULL;
	int64_t ends = f->now + LETTER_RESET_US;
	bool fresh;
	int err = db_one(f->db, f->a, &sql[ACCOUNT_FIND], &who, ARGS(T(f->row->about)));

	if (err || !who.has_account || who.is_suspended)
		return err;
	if (!who.has_password && who.provider) {
		f->out->who = who.provider;
		say(f, LETTER_SAYS_PROVIDER, who.email, home(f), f->now);
		return 0;
	}
	err = make_link(f, TOKEN_RESET, "reset", &link, &fresh);
	if (!err && fresh)
		err = db_run(f->db, &sql[RESET_MAIL], NULL,
			ARGS(T(f->hash), T(who.id), N(f->now), N(ends)));
	else if (!err && link)
		err = db_int(f->db, &sql[RESET_ENDS], &ends, ARGS(T(f->hash)));
	if (!err && link && ends > f->now)
		say(f, LETTER_SAYS_RESET, who.email, link, ends);
	return err;
}

static int fill_approvals(struct filling *f)
{
	return approval_letter_fill(f->app, f->db, f->a, f->row, f->out);
}

int letter_fill(void *ctx, struct db *db, struct arena *a, const struct letter_row *row,
	int64_t now, struct letter *ret)
{
	static int (*const fills[])(struct filling * f) = {
		[LETTER_INVITE] = fill_invite,
		[LETTER_REGISTER] = fill_register,
		[LETTER_RESET] = fill_reset,
		[LETTER_APPROVALS] = fill_approvals,
	};
	struct filling f = { .app = ctx, .db = db, .a = a, .row = row, .now = now, .out = ret };
	int err = fills[row->kind](&f);

	return err == ERR_NOT_FOUND ? 0 : err;
}
