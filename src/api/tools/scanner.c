/* scanner.c - the code scanner a tenant has bound, and which of its results an agent may see.
 *
 * A grant is for the organisation that was bound when it was given: binding
 * another one, or none, revokes what stands.  A revoked grant keeps its row. */
#include "api/tools/scanner.h"

#include <string.h>

#include "call/operation.h"
#include "outside/tool_config.h"
#include "store/listing.h"

FIELDS(ScannerRead) = {
	FIELD(ScannerRead, provider, .required = true, .example = "\"sonar\"",
		.doc = "Which scanner it is."),
	FIELD(ScannerRead, base_url, .required = true, .example = "\"https://scanner.example.org\"",
		.doc = "Where it answers."),
	FIELD(ScannerRead, organization, .required = true, .example = "\"example\"",
		.doc = "The organisation there that is bound to the tenant."),
	FIELD(ScannerRead, created_at, .required = true, .doc = "When one was first bound."),
	FIELD(ScannerRead, updated_at, .required = true, .doc = "When the binding last changed."),
};
SCHEMA(ScannerRead, .doc = "The scanner organisation bound to the tenant.");

FIELDS(ScannerUpdate) = {
	FIELD(ScannerUpdate, provider, .required = true, .pattern = "^[a-z0-9][a-z0-9_-]{0,63}$",
		.rule = "may have small letters a to z, digits, hyphens and underscores only",
		BOUNDS(1, 64), .example = "\"sonar\"", .doc = "Which scanner it is."),
	FIELD(ScannerUpdate, base_url, .required = true, BOUNDS(1, 2048),
		.example = "\"https://scanner.example.org\"", .doc = "Where it answers."),
	FIELD(ScannerUpdate, organization, .required = true, BOUNDS(1, 255),
		.example = "\"example\"", .doc = "The organisation there."),
	FIELD(ScannerUpdate, token, .nullable = true, .secret = true, BOUNDS(1, 4096),
		.example = "\"a-token-of-the-scanner\"",
		.doc = "The credential, never shown again; may be left out to keep the one that is "
		       "stored while base_url and provider stay the same."),
};
SCHEMA(ScannerUpdate, .doc = "The scanner organisation to bind.");

FIELDS(ScannerGrantCreate) = {
	FIELD(ScannerGrantCreate, repo_name, .label = "Repository", .nullable = true,
		BOUNDS(0, 512), .example = "\"handbook\"",
		.doc = "One repository; null or absent grants the whole organisation bound to the "
		       "tenant."),
};
SCHEMA(ScannerGrantCreate, .doc = "Lets an agent see results of the code scanner.");

FIELDS(ScannerGrantRead) = {
	FIELD(ScannerGrantRead, id, .required = true, .doc = "The grant."),
	FIELD(ScannerGrantRead, tenant_id, .required = true, .doc = "The tenant."),
	FIELD(ScannerGrantRead, agent_id, .required = true, .doc = "The agent."),
	FIELD(ScannerGrantRead, repo_name, .required = true, .nullable = true,
		.example = "\"handbook\"",
		.doc = "The one repository granted; null for the whole organisation."),
	FIELD(ScannerGrantRead, granted_by_user_id, .required = true, .nullable = true,
		.doc = "Who gave it; null when no person did."),
	FIELD(ScannerGrantRead, revoked_at, .required = true, .nullable = true, .example = "null",
		.doc = "When it was taken back; null while it holds."),
	FIELD(ScannerGrantRead, created_at, .required = true, .doc = "When it was given."),
};
SCHEMA(ScannerGrantRead,
	.doc = "An agent's grant on scanner results; a revoked one keeps its row.");

FIELDS(ScannerRepositoryOption) = {
	FIELD(ScannerRepositoryOption, id, .required = true, .example = "\"8117\"",
		.doc = "As the scanner names it."),
	FIELD(ScannerRepositoryOption, name, .required = true, .example = "\"handbook\"",
		.doc = "What to put into a grant's repo_name."),
	FIELD(ScannerRepositoryOption, scanned_branch, .nullable = true, .example = "\"main\"",
		.doc = "The branch the scanner looks at; null if unknown."),
};
SCHEMA(ScannerRepositoryOption, .doc = "A repository the scanner knows.");

FIELDS(ScannerRepositoryListResponse) = {
	FIELD(ScannerRepositoryListResponse, repositories, .required = true, .item = OBJECT,
		.of = &ScannerRepositoryOption_schema, .doc = "All of them, by name."),
};
SCHEMA(ScannerRepositoryListResponse,
	.doc = "The repositories of the scanner organisation bound to the tenant.");

struct scanner_row {
	const char *tenant_id, *id, *provider, *base_url, *organization, *token;
	struct moment created_at, updated_at;
};

FIELDS(scanner_row) = {
	FIELD(scanner_row, tenant_id),
	FIELD(scanner_row, id),
	FIELD(scanner_row, provider),
	FIELD(scanner_row, base_url),
	FIELD(scanner_row, organization),
	FIELD(scanner_row, token, .secret = true), /* sealed */
	FIELD(scanner_row, created_at),
	FIELD(scanner_row, updated_at),
};
static SCHEMA(scanner_row, .internal = true);

#define GRANTS_FROM "scanner_grants g where g.tenant_id = $1 and g.agent_id = $2"

enum {
	LIST_OF(GRANT_LIST),
	GRANT_STANDING,
	GRANT_INSERT,
	GRANT_REVOKE,
	GRANT_REVOKE_ALL,
	SCANNER_ROW,
	SCANNER_INSERT,
	SCANNER_UPDATE,
	SCANNER_REMOVE,
};

static const struct statement sql[] = {
	LISTING(GRANT_LIST, "scanner_grant_list", &ScannerGrantRead_schema, "{g.*}", GRANTS_FROM,
		"g.id"),
	[GRANT_STANDING] = { "scanner_grant_standing",
		"select {g.*} from " GRANTS_FROM
		" and coalesce(g.repo_name, '') = $3 and g.revoked_at is null",
		.row = &ScannerGrantRead_schema },
	[GRANT_INSERT] = { "scanner_grant_insert", "insert into scanner_grants ({*}) values ({$})",
		.row = &ScannerGrantRead_schema },
	[GRANT_REVOKE] = { "scanner_grant_revoke",
		"update scanner_grants set revoked_at = $4 where tenant_id = $1 and agent_id = $2 "
		"and id = $3 and revoked_at is null" },
	[GRANT_REVOKE_ALL] = { "scanner_grant_revoke_all",
		"update scanner_grants set revoked_at = $2 "
		"where tenant_id = $1 and revoked_at is null" },
	[SCANNER_ROW] = { "scanner_row", "select {*} from scanners where tenant_id = $1",
		.row = &scanner_row_schema },
	[SCANNER_INSERT] = { "scanner_insert", "insert into scanners ({*}) values ({$})",
		.row = &scanner_row_schema },
	[SCANNER_UPDATE] = { "scanner_update",
		"update scanners set {=} where tenant_id = :tenant_id and id = :id",
		.row = &scanner_row_schema },
	[SCANNER_REMOVE] = { "scanner_remove", "delete from scanners where tenant_id = $1" },
};
STATEMENT_SET(scanner_sql, sql);

/* ERR_NOT_FOUND without a sentence if none is bound. */
static int find_scanner(struct call *c, struct scanner_row *ret)
{
	return db_one(c->db, c->arena, &sql[SCANNER_ROW], ret, ARGS(T(c->caller.tenant_id)));
}

static int need_scanner(struct call *c)
{
	struct scanner_row row;
	int err = find_scanner(c, &row);

	if (err != ERR_NOT_FOUND)
		return err;
	return call_fail(c, ERR_CONFLICT,
		"No scanner is bound to this tenant; bind one with PUT /tenant/{tenant_id}/scanner.");
}

static int revoke_all(struct call *c, int64_t *ret)
{
	return db_run(c->db, &sql[GRANT_REVOKE_ALL], ret, ARGS(T(c->caller.tenant_id), N(c->now)));
}

OPERATION(readScanner, NONE, ScannerRead)
{
	struct scanner_row row;
	int err = find_scanner(c, &row);

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "No scanner is bound to this tenant.");
	if (!err)
		schema_copy(&scanner_row_schema, &row, &ScannerRead_schema, out);
	return err;
}

/* A stored token goes nowhere but where it was given for. */
static void check_scanner(
	struct call *c, const struct ScannerUpdate *in, const struct scanner_row *before)
{
	enum egress egress = c->app->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC;

	if (!fetch_permits(in->base_url, egress))
		call_field(c, "base_url", "address",
			"must be an %s URL without user, password and fragment%s",
			egress == EGRESS_ANY ? "http or https" : "https",
			egress == EGRESS_ANY ? "" : ", and not of a private address");
	if (in->token || problem_names(&c->problem, "token"))
		return;
	if (!before)
		call_field(c, "token", "required", "is required: none is stored");
	else if (strcmp(before->token, SEALED_GONE) == 0)
		call_field(c, "token", "required",
			"is required: the one that is stored cannot be opened with the present master key");
	else if (strcmp(before->provider, in->provider) != 0 ||
		 !tool_config_same_origin(c->arena, before->base_url, in->base_url))
		call_field(c, "token", "required",
			"is required: the one that is stored is for another provider or address");
}

/* The row as it will be; `before` is NULL for a first one. */
static struct scanner_row scanner_after(
	struct call *c, const struct ScannerUpdate *in, const struct scanner_row *before)
{
	struct id id = id_new(NULL);
	struct scanner_row after = { .tenant_id = c->caller.tenant_id,
		.id = before ? before->id : arena_strdup(c->arena, id.text),
		.provider = in->provider,
		.base_url = in->base_url,
		.organization = in->organization,
		.token = before ? before->token : "",
		.created_at = before ? before->created_at : (struct moment){ c->now },
		.updated_at = before ? before->updated_at : (struct moment){ c->now } };

	if (in->token)
		after.token = vault_seal(c->app->vault, c->arena, SEALED_SCANNER, after.id,
			in->token, strlen(in->token));
	return after;
}

static bool same_organization(const struct scanner_row *a, const struct scanner_row *b)
{
	return strcmp(a->provider, b->provider) == 0 && strcmp(a->base_url, b->base_url) == 0 &&
	       strcmp(a->organization, b->organization) == 0;
}

CHECK_STEP(setScanner, ScannerUpdate)
{
	struct scanner_row before;
	int err = find_scanner(c, &before);

	if ((!err || err == ERR_NOT_FOUND) && in->base_url && in->provider)
		check_scanner(c, in, err ? NULL : &before);
}

OPERATION(setScanner, ScannerUpdate, ScannerRead, .may_stand = true, .check = setScanner_check)
{
	struct scanner_row before, after;
	int err = find_scanner(c, &before);

	if (err && err != ERR_NOT_FOUND)
		return err;
	c->standing = !err;
	check_scanner(c, in, c->standing ? &before : NULL);
	if (c->problem.err)
		return c->problem.err;
	after = scanner_after(c, in, c->standing ? &before : NULL);
	if (!after.token)
		return ERR_KEY;
	err = 0;
	if (c->standing) {
		err = call_update(c, CHANGE(scanner_row, &before, &after), NULL);
		if (!err && !same_organization(&before, &after))
			err = revoke_all(c, NULL);
	}
	if (!err)
		err = db_put(c->db, &sql[c->standing ? SCANNER_UPDATE : SCANNER_INSERT], &after);
	schema_copy(&scanner_row_schema, &after, &ScannerRead_schema, out);
	c->audit.resource_id = after.id;
	return err;
}

OPERATION(removeScanner, NONE, NONE)
{
	struct scanner_row row;
	int64_t revoked = 0;
	int err = find_scanner(c, &row);

	if (err == ERR_NOT_FOUND)
		return call_fail(c, err, "No scanner is bound to this tenant.");
	if (!err)
		err = revoke_all(c, &revoked);
	if (!err)
		err = db_run(c->db, &sql[SCANNER_REMOVE], NULL, ARGS(T(c->caller.tenant_id)));
	if (err)
		return err;
	c->audit.resource_id = row.id;
	c->audit.meta = arena_printf(c->arena, "{\"revoked_grants\":%lld}", (long long)revoked);
	return 0;
}

OPERATION(listScannerRepositories, NONE, ScannerRepositoryListResponse,
	.awaits = "a client for scanners")
{
	int err = need_scanner(c);

	if (err)
		return err;
	return call_fail(c, ERR_CONFLICT,
		"This version does not ask scanners for their repositories yet; "
		"grant one by its name.");
}

LIST_OPERATION(listScannerGrants, NONE, ScannerGrantRead)
{
	return call_list(c, &sql[GRANT_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.agent_id)));
}

CHECK_STEP(grantScanner, ScannerGrantCreate)
{
	if (in->repo_name && !*in->repo_name)
		call_field(c, "repo_name", "too_short",
			"names no repository; leave it out to grant the whole organisation");
}

OPERATION(grantScanner, ScannerGrantCreate, ScannerGrantRead, .may_stand = true,
	.check = grantScanner_check)
{
	const struct caller *who = &c->caller;
	int err;

	grantScanner_check(c);
	if (c->problem.err)
		return c->problem.err;
	err = need_scanner(c);
	if (err)
		return err;
	err = db_one(c->db, c->arena, &sql[GRANT_STANDING], out,
		ARGS(T(who->tenant_id), T(who->agent_id), T(in->repo_name ? in->repo_name : "")));
	c->standing = !err;
	if (err == ERR_NOT_FOUND) {
		const struct id id = id_new(NULL);

		*out = (struct ScannerGrantRead){ .id = arena_strdup(c->arena, id.text),
			.tenant_id = who->tenant_id,
			.agent_id = who->agent_id,
			.repo_name = in->repo_name,
			.granted_by_user_id = who->user_id,
			.revoked_at = { NIL },
			.created_at = { c->now } };
		err = db_put(c->db, &sql[GRANT_INSERT], out);
	}
	return err;
}

OPERATION(revokeScannerGrant, NONE, NONE)
{
	const char *id = call_param(c, "id");
	int64_t revoked = 0;
	int err = db_run(c->db, &sql[GRANT_REVOKE], &revoked,
		ARGS(T(c->caller.tenant_id), T(c->caller.agent_id), T(id), N(c->now)));

	if (err || revoked)
		return err;
	return call_fail(c, ERR_NOT_FOUND, "The agent holds no such grant now.");
}

#define SCANNER "/tenant/{tenant_id}/scanner"
#define A "/tenant/{tenant_id}/agents/{agent_id}/scanner-grants"

static const struct route routes[] = {
	{ METHOD_GET, SCANNER, &readScanner, PERM_INTEGRATIONS_WRITE, 200, .tag = "Scanner",
		.doc = "Read which scanner organisation is bound to the tenant." },
	{ METHOD_PUT, SCANNER, &setScanner, PERM_INTEGRATIONS_WRITE, 201, "scanner.set",
		.tag = "Scanner",
		.doc = "Bind a scanner organisation; another one than before revokes every grant." },
	{ METHOD_DELETE, SCANNER, &removeScanner, PERM_INTEGRATIONS_WRITE, 204, "scanner.remove",
		.tag = "Scanner", .doc = "Unbind the scanner and revoke every grant." },
	{ METHOD_GET, SCANNER "/repositories", &listScannerRepositories, PERM_TENANT_READ, 200,
		.tag = "Scanner", .doc = "List what the bound scanner knows." },
	{ METHOD_GET, A, &listScannerGrants, PERM_AGENT_READ, 200, .tag = "Scanner",
		.doc = "List the agent's grants, revoked ones among them, newest first." },
	{ METHOD_POST, A, &grantScanner, PERM_AGENT_TOOLS_WRITE, 201, "scanner_grant.create",
		.tag = "Scanner",
		.doc = "Let the agent see results of one repository, or of the organisation." },
	{ METHOD_DELETE, A "/{id}", &revokeScannerGrant, PERM_AGENT_TOOLS_WRITE, 204,
		"scanner_grant.revoke", .tag = "Scanner",
		.doc = "Revoke a grant; its row stays, with the time." },
};
RESOURCE(scanner, routes, NULL, &scanner_sql);
