/* oidc.c - signing in at an OpenID provider: the way there, and the way back.
 *
 * The way there leaves a row under the hash of `state`, with what the way
 * back needs sealed in it, and a cookie that ties both to one browser.  The
 * row is good once and for ten minutes; an address may leave only so many,
 * and of too many in all the oldest go.  Whatever fails on the way back is
 * recorded, counts against the address it came from, and says little.
 *
 * The way back ends with a small page, not a redirect: the login's cookie is
 * SameSite=Strict, and a redirect belongs to the navigation that the provider
 * began, with which a browser does not send such a cookie.  The page's own
 * step is this site's. */
#include <string.h>

#include "access/throttle.h"
#include "api/service.h"
#include "call/operation.h"
#include "api/people/login.h"
#include "api/people/oidc_people.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "contract/encode.h"
#include "mailboxes/letter_post.h"
#include "outside/oidc.h"

#define FLOW_S 600
#define FLOW_COOKIE "lodge_oidc"

enum { SECRET_BYTES = 32, FLOW_MAX = 8192, FLOWS_MAX = 10000, STARTS_MAX = 100 };

/* ---- what is sent ---- */

struct oidc_start_query {
	const char *return_to;
};

FIELDS(oidc_start_query) = {
	FIELD(oidc_start_query, return_to, .nullable = true, BOUNDS(1, 1000),
		.pattern = "^/([!-.0-\\[\\]-~][!-\\[\\]-~]*)?$", .example = "\"/agents\"",
		.doc = "A path of this service to end at; / if it is not given."),
};
static SCHEMA(oidc_start_query, .doc = "Where to end.");

struct oidc_callback_query {
	const char *code, *state, *error, *iss;
};

FIELDS(oidc_callback_query) = {
	FIELD(oidc_callback_query, code, .nullable = true, BOUNDS(0, 4096),
		.doc = "From the provider."),
	FIELD(oidc_callback_query, state, .nullable = true, BOUNDS(0, 256),
		.doc = "As the provider was given it."),
	FIELD(oidc_callback_query, error, .nullable = true, BOUNDS(0, 1024),
		.doc = "What the provider says instead of a code."),
	FIELD(oidc_callback_query, iss, .nullable = true, BOUNDS(0, 2000),
		.doc = "Which provider says so (RFC 9207)."),
};
static SCHEMA(oidc_callback_query, .doc = "What a provider sends the browser back with.");

/* ---- what is kept ---- */

/* Sealed: what only the way back may know. */
struct flow {
	const char *verifier, *nonce, *browser, *target;
};

FIELDS(flow) = {
	FIELD(flow, verifier, .required = true),
	FIELD(flow, nonce, .required = true),
	FIELD(flow, browser, .required = true), /* hash of the cookie */
	FIELD(flow, target, .required = true),
};
static SCHEMA(flow, .internal = true);

struct flow_row {
	const char *provider, *sealed;
	int64_t created_at;
};

FIELDS(flow_row) = {
	FIELD(flow_row, provider),
	FIELD(flow_row, sealed),
	FIELD(flow_row, created_at),
};
static SCHEMA(flow_row, .internal = true);

enum { FLOW_INSERT, FLOW_TRIM, FLOW_READ, FLOW_USE };

static const struct statement sql[] = {
	[FLOW_INSERT] = { "flow_insert",
		"insert into oidc_flows (hash, provider, sealed, created_at) "
		"values ($1, $2, $3, $4)" },
	[FLOW_TRIM] = { "flow_trim",
		"delete from oidc_flows where created_at <= (select f.created_at from oidc_flows f "
		"order by f.created_at desc limit 1 offset $1)",
		.scan = "along the index, and no further than the maximum" },
	[FLOW_READ] = { "flow_read",
		"select provider, sealed, created_at from oidc_flows where hash = $1",
		.row = &flow_row_schema },
	[FLOW_USE] = { "flow_use", "delete from oidc_flows where hash = $1" },
};
STATEMENT_SET(oidc_sql, sql);

static const char *seal_flow(struct call *c, const char *hash, const struct flow *f)
{
	const char *text;
	struct buf b;

	buf_init(&b, FLOW_MAX);
	encode_object(&b, &flow_schema, f);
	text = vault_seal(c->app->vault, c->arena, SEALED_FLOW, hash, b.at, b.len);
	wipe(b.at, b.len);
	buf_free(&b);
	return text;
}

static bool unseal_flow(struct call *c, const char *hash, const char *text, struct flow *ret)
{
	struct problem ignored = { 0 };
	size_t n;
	const char *plain = vault_open(c->app->vault, c->arena, hash, text, &n);

	return plain &&
	       !decode_body(NULL, c->arena, &flow_schema, UNKNOWN_REFUSED, plain, n, ret, &ignored);
}

/* ---- both ways ---- */

static const char *random_text(struct arena *a)
{
	uint8_t bytes[SECRET_BYTES];

	random_bytes(bytes, sizeof bytes);
	return base64url_write(a, bytes, sizeof bytes);
}

static const char *hash_flow_text(struct arena *a, const char *text)
{
	char *hash = arena_alloc(a, 65);

	credential_hash(text, hash);
	return hash;
}

/* The value of the flow's cookie, or "". */
static const char *flow_cookie(const struct call *c)
{
	const char *p = http_header(&c->x->request, "cookie");
	size_t n = strlen(FLOW_COOKIE);

	for (; p && *p; p += strcspn(p, ";"), p += strspn(p, "; "))
		if (strncmp(p, FLOW_COOKIE, n) == 0 && p[n] == '=')
			return arena_strndup(c->arena, p + n + 1, strcspn(p + n + 1, "; "));
	return "";
}

static void set_flow_cookie(struct call *c, const char *value, int seconds)
{
	buf_printf(&c->x->reply.extra,
		"Set-Cookie: " FLOW_COOKIE "=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s\r\n",
		value, seconds, c->app->settings.secure_cookies ? "; Secure" : "");
}

#define UNTRACED "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"

/* The unfinished sign-ins of the address; one that ends well is given back. */
static struct allowance starts_of(const struct call *c)
{
	return (struct allowance){ "oidc", c->ip, STARTS_MAX };
}

/* What an operation here carries from one step to the next. */
struct oidc_context {
	struct oidc_provider *provider;
	struct oidc_facts facts;
	bool found; /* the row belongs to this browser, and is young enough */
	const char *hash;
	struct flow flow;
	enum oidc_refusal refusal;
	const char *why; /* of a refusal; or NULL */
	struct jwt_claims claims;
};

static int begin_oidc_login(struct call *c, struct oidc_context **ret)
{
	struct oidc_context *own = arena_new(c->arena, struct oidc_context);
	const char *dest = http_header(&c->x->request, "sec-fetch-dest");

	*ret = c->own = own;
	own->provider = oidc_find(service_of(c->app)->oidc, call_param(c, "provider"));
	if (!own->provider)
		return call_fail(c, ERR_NOT_FOUND, "There is no such provider.");
	/* A picture in somebody's page must not use up what an address may begin or fail. */
	if (dest && strcmp(dest, "document") != 0)
		return call_fail(
			c, ERR_BAD_ORIGIN, "A sign-in is a page to go to, not a part of another.");
	return 0;
}

static const char *redirect_uri(const struct call *c)
{
	return arena_printf(c->arena, "%s/auth/oidc/%s/callback", c->app->settings.public_url,
		call_param(c, "provider"));
}

/* ---- the way there ---- */

static int start_look(struct call *c)
{
	struct allowance starts = starts_of(c);
	struct oidc_context *own;
	int err = begin_oidc_login(c, &own);

	return err ? err : allowance_check(c->db, c->arena, &starts, c->now, &c->problem);
}

static int start_prepare(struct call *c)
{
	struct oidc_context *own = c->own;
	int err = oidc_discover(own->provider, c->arena, &own->facts);

	return err ? call_fail(c, err,
			     "The provider does not answer as it should (%s); try again later.",
			     oidc_why(own->provider, c->arena))
		   : 0;
}

QUERY_OPERATION(startOidc, oidc_start_query, NONE, .header = "Location", .browsed = true,
	.look = start_look, .prepare = start_prepare)
{
	const struct oidc_context *own = c->own;
	const char *cookie = random_text(c->arena), *state = random_text(c->arena);
	const char *hash = hash_flow_text(c->arena, state), *sealed;
	struct flow flow = { .verifier = random_text(c->arena),
		.nonce = random_text(c->arena),
		.browser = hash_flow_text(c->arena, cookie),
		.target = in->return_to ? in->return_to : "/" };
	struct oidc_flow ask = { .redirect_uri = redirect_uri(c),
		.state = state,
		.nonce = flow.nonce,
		.verifier = flow.verifier };

	struct allowance starts = starts_of(c);
	int err = allowance_take(c->db, c->arena, &starts, c->now, &c->problem);

	if (!err)
		err = db_run(c->db, &sql[FLOW_TRIM], NULL, ARGS(N(FLOWS_MAX - 1)));
	if (err)
		return err;
	set_flow_cookie(c, cookie, FLOW_S);
	buf_printf(&c->x->reply.extra, "Location: %s\r\n" UNTRACED,
		oidc_authorize_url(own->provider, &own->facts, &ask, c->arena));
	sealed = seal_flow(c, hash, &flow);
	return sealed ? db_run(c->db, &sql[FLOW_INSERT], NULL,
				ARGS(T(hash), T(call_param(c, "provider")), T(sealed), N(c->now)))
		      : ERR_KEY;
}

/* ---- the way back ---- */

/* The words go into the audit row, the sentences to whoever knocks. */
static const struct refusal {
	int err;
	bool counts; /* against the address */
	const char *word, *sentence;
} refusals[] = {
	[OIDC_NO_FLOW] = { ERR_UNAUTHENTICATED, true, "no_flow",
		"This sign-in is not under way in this browser, or took too long; start again." },
	[OIDC_DENIED] = { ERR_UNAUTHENTICATED, true, "denied",
		"The provider did not sign you in; start again." },
	[OIDC_UNREACHABLE] = { ERR_UPSTREAM, false, "unreachable",
		"The provider does not answer as it should; try again later." },
	[OIDC_UNPROVEN] = { ERR_UNAUTHENTICATED, true, "unproven",
		"The provider did not sign you in; start again." },
	[OIDC_NO_EMAIL] = { ERR_FORBIDDEN, true, "no_email",
		"The provider does not say that your email address is proven to be yours." },
	[OIDC_NOT_ALLOWED] = { ERR_FORBIDDEN, true, "not_allowed",
		"Nobody here has allowed your email address; ask to be invited." },
	[OIDC_SUSPENDED] = { ERR_SUSPENDED, true, "suspended", "This account is suspended." },
	[OIDC_OTHER_SUBJECT] = { ERR_FORBIDDEN, true, "other_subject",
		"The account with this address belongs to somebody else at this provider. If the address "
		"is yours now, the super administrator can unlink the account." },
};

/* A failure is recorded, so the transaction commits although the caller is refused. */
static int refuse_oidc_login(struct call *c, enum oidc_refusal why, const char *user_id)
{
	const struct oidc_context *own = c->own;
	const struct refusal *r = &refusals[why];
	const char *reason = why == own->refusal && own->why && *own->why ? own->why : NULL;

	c->audit.action = "login.fail";
	c->audit.user_id = user_id;
	c->audit.meta = arena_printf(c->arena, "{\"provider\":\"%s\",\"reason\":\"%s\"}",
		call_param(c, "provider"), r->word);
	call_fail(c, r->err, reason ? "%s (%s)" : "%s", r->sentence, reason);
	return r->counts ? throttle_fail(c->db, c->arena, c->ip, c->now) : 0;
}

/* Leaves own->found as it is where there is no such sign-in. */
static int find_flow(struct call *c, struct oidc_context *own, const char *state)
{
	const char *browser = hash_flow_text(c->arena, flow_cookie(c));
	struct flow_row row;
	int err;

	own->hash = hash_flow_text(c->arena, state);
	err = db_one(c->db, c->arena, &sql[FLOW_READ], &row, ARGS(T(own->hash)));
	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	own->found =
		strcmp(row.provider, call_param(c, "provider")) == 0 &&
		row.created_at + FLOW_S * SECOND_US > c->now &&
		unseal_flow(c, own->hash, row.sealed, &own->flow) &&
		same_bytes(browser, strlen(browser), own->flow.browser, strlen(own->flow.browser));
	return 0;
}

/* What is under way is never refused for what others at the address have tried. */
QUERY_STEP(finishOidc, look, oidc_callback_query)
{
	struct oidc_context *own;
	int err = begin_oidc_login(c, &own);

	if (!err && in->state)
		err = find_flow(c, own, in->state);
	return err || own->found ? err
				 : throttle_check(c->db, c->arena,
					   &(struct throttle){ .email = "", .ip = c->ip }, c->now,
					   &c->problem);
}

/* What a provider says in the address is told again only where it is one of the words that are agreed on. */
static const char *known_error(const char *error)
{
	static const char *const known[] = { "access_denied", "account_selection_required",
		"consent_required", "interaction_required", "invalid_request", "invalid_scope",
		"login_required", "server_error", "temporarily_unavailable", "unauthorized_client",
		"unsupported_response_type" };

	for (size_t i = 0; error && i < sizeof known / sizeof *known; i++)
		if (strcmp(error, known[i]) == 0)
			return known[i];
	return NULL;
}

static enum oidc_refusal redeem_oidc_code(
	struct call *c, const struct oidc_callback_query *in, struct oidc_context *own)
{
	struct oidc_flow flow = { .redirect_uri = redirect_uri(c),
		.nonce = own->flow.nonce,
		.verifier = own->flow.verifier };

	if (!own->found)
		return OIDC_NO_FLOW;
	if (in->error || !in->code || !*in->code ||
		(in->iss && strcmp(in->iss, oidc_issuer(own->provider)) != 0))
		return OIDC_DENIED;
	switch (oidc_redeem(own->provider, &flow, in->code, c->arena, &own->claims)) {
	case 0:
		return OIDC_WELCOME;
	case ERR_UNAUTHENTICATED:
		return OIDC_UNPROVEN;
	default:
		return OIDC_UNREACHABLE;
	}
}

/* What goes wrong here is recorded by the step that sees the store. */
QUERY_STEP(finishOidc, prepare, oidc_callback_query)
{
	struct oidc_context *own = c->own;

	own->refusal = redeem_oidc_code(c, in, own);
	if (own->refusal == OIDC_DENIED)
		own->why = known_error(in->error);
	else if (own->refusal == OIDC_UNREACHABLE || own->refusal == OIDC_UNPROVEN)
		own->why = oidc_why(own->provider, c->arena);
	return 0;
}

/* Without a script, so that nothing on it needs to be allowed. */
static void write_signed_in_page(struct call *c, const char *url)
{
	struct buf *b = &c->x->reply.body;

	buf_lit(&c->x->reply.extra,
		"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n" UNTRACED);
	buf_lit(b,
		"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Signed in</title>"
		"<meta http-equiv=\"refresh\" content=\"0;url=");
	call_put_html(b, url);
	buf_lit(b, "\"><p>You are signed in. <a href=\"");
	call_put_html(b, url);
	buf_lit(b, "\">Go on</a></p></html>\n");
}

QUERY_OPERATION(finishOidc, oidc_callback_query, NONE, .gives = "text/html", .open_query = true,
	.browsed = true, .look = finishOidc_look, .prepare = finishOidc_prepare)
{
	const struct oidc_context *own = c->own;
	const char *provider = call_param(c, "provider"), *user_id = NULL;
	struct LoginReply *login = arena_new(c->arena, struct LoginReply);
	struct allowance starts = starts_of(c);
	enum oidc_refusal refusal = own->refusal;
	int64_t used = 0;
	int err = 0;

	if (own->found)
		err = db_run(c->db, &sql[FLOW_USE], &used, ARGS(T(own->hash)));
	if (!err && own->found && !used)
		refusal = OIDC_NO_FLOW; /* another request was faster */
	if (!err && !refusal)
		err = oidc_admit(c, provider, &own->claims, &refusal, &user_id);
	if (err)
		return err;
	if (refusal)
		return refuse_oidc_login(c, refusal, user_id);
	c->audit.user_id = c->audit.resource_id = user_id;
	c->audit.meta = arena_printf(c->arena, "{\"provider\":\"%s\"}", provider);
	err = login_open(c, user_id, login);
	if (!err)
		err = allowance_give_back(c->db, c->arena, &starts);
	set_flow_cookie(c, "", 0);
	write_signed_in_page(
		c, arena_printf(c->arena, "%s%s", c->app->settings.public_url, own->flow.target));
	return err;
}

/* ---- the ways there are ---- */

struct SignInWays {
	struct list providers;
	bool mail;
};

FIELDS(SignInWays) = {
	FIELD(SignInWays, providers, .item = TEXT, .required = true, .example = "[\"sso\"]",
		.doc = "OpenID providers by their names; a sign-in begins at /auth/oidc/NAME/start."),
	FIELD(SignInWays, mail, .required = true,
		.doc = "Whether links are mailed: by /auth/reset and /auth/register."),
};
static SCHEMA(SignInWays, .doc = "How people may sign in besides by password.");

OPERATION(readSignInWays, NONE, SignInWays, .storeless = true)
{
	const char **names = arena_alloc(c->arena, OIDC_PROVIDERS_MAX * sizeof *names);

	out->providers =
		(struct list){ names, oidc_names(service_of(c->app)->oidc, c->arena, names) };
	out->mail = letter_post_goes(service_of(c->app)->letters);
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/auth/ways", &readSignInWays, PERM_PUBLIC, 200, .tag = "Identity",
		.as_printed = true, .doc = "How people may sign in besides by password." },
	{ METHOD_GET, "/auth/oidc/{provider}/start", &startOidc, PERM_PUBLIC, 302,
		.unaudited = "nobody has signed in yet, and anybody may ask", .tag = "Identity",
		.as_printed = true, .writes = true,
		.doc = "Send a browser to an OpenID provider to sign in there." },
	{ METHOD_GET, "/auth/oidc/{provider}/callback", &finishOidc, PERM_PUBLIC, 200,
		"login.succeed", .tag = "Identity", .as_printed = true, .writes = true,
		.doc = "Where the provider sends the browser back: opens a login, sets the console's "
		       "cookie, and answers a page that leads to where the sign-in was to end." },
};
RESOURCE(oidc, routes, NULL, &oidc_sql);
