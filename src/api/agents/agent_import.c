/* agent_import.c - agents from files, as people send them, or as they lie in the bucket: POST .../agents/import, and
 * .../import-from-bucket.
 *
 * The file is unpacked, read and checked on the threads of imports, all of it, before
 * the transaction that makes the agent begins. */
#include <string.h>

#include "api/agents/agent_import.h"
#include "api/agents/agent_row.h"
#include "api/bucket/bucket_object.h"
#include "api/service.h"
#include "call/held.h"
#include "call/operation.h"
#include "media/picture.h"

struct agent_import_query {
	const char *name;
	bool dry_run;
};

FIELDS(agent_import_query) = {
	FIELD(agent_import_query, name, .nullable = true, BOUNDS(0, 255),
		.example = "\"Support desk\"", .doc = "Takes the place of the name in the file."),
	FIELD(agent_import_query, dry_run, .preset = "false",
		.doc = "True tells all that would come of it, in an agent whose id names nothing, and makes "
		       "nothing."),
};
SCHEMA(agent_import_query, .doc = "How to import an agent.");

/* With the names by which browsers and older programs know them. */
static const char *const import_types[] = { "application/zip", "application/x-zip-compressed",
	"application/gzip", "application/x-gzip", "application/json", "application/yaml",
	"application/x-yaml", "text/yaml", "image/png", "text/markdown", "text/plain",
	"application/octet-stream", NULL };

#define OF_OWNER                                                                                \
	(PERM(AGENT_WRITE) | PERM(AGENT_ROLES_WRITE) | PERM(AGENT_SKILLS_WRITE) |               \
		PERM(AGENT_TOOLS_WRITE) | PERM(AGENT_MODELS_WRITE) | PERM(AGENT_BUDGET_WRITE) | \
		PERM(SESSION_WRITE))

static int note_also(void *ctx, struct audit_entry e)
{
	return call_audit_also(ctx, e);
}

/* With the rights of the person, whatever the credential has of them: the same file sent again with a key that may only import
 * is the same agent. */
static bool may_see(void *ctx, const char *agent_id)
{
	struct call *c = ctx;
	struct caller as = c->caller;
	struct problem own = { 0 };

	as.scoped = false;
	as.withheld = 0;
	return !caller_permit(&as, c->db, c->arena, PERM_AGENT_READ,
		&(struct place){ .tenant_id = as.tenant_id, .agent_id = agent_id }, false, &own);
}

static struct agent_importer importer_of(struct call *c, bool dry)
{
	const struct agent_maker maker = agent_maker_of(c);

	return (struct agent_importer){ .db = c->db,
		.a = c->arena,
		.tenant_id = maker.tenant_id,
		.user_id = maker.user_id,
		.owns = maker.owns,
		.dry = dry,
		.agent = caller_cut(&c->caller, OF_OWNER),
		.tenant = c->caller.tenant,
		.origin = c->caller.kind == CREDENTIAL_KEY ? "api" : "user",
		.now = c->now,
		.p = &c->problem,
		.note = note_also,
		.note_ctx = c,
		.sees = may_see };
}

/* All of the file, away from the store. */
static int read_import(struct call *c, const char *name, struct bundle_file file)
{
	struct agent_import *what = c->own = arena_new(c->arena, struct agent_import);
	struct helper *helper =
		helper_for(service_of(c->app)->helper, c->arena, c->caller.tenant_id);
	struct held_part pixels = { 0 };
	int err;

	/* Of a picture in it, which may have to be held whole. */
	held_count(c->app->held, &pixels, c->caller.tenant_id, (size_t)PICTURE_HELD_MAX * 4);
	err = agent_import_read(c->arena, c->app->patterns, helper, &file, name, what, &c->problem);
	held_count(c->app->held, &pixels, c->caller.tenant_id, 0);
	return err;
}

static int enter_import(struct call *c, bool dry_run, struct AgentImportResult *out)
{
	const struct agent_importer who = importer_of(c, dry_run);
	const struct agent_import *what = c->own;
	int err = agent_import_run(&who, what, out);

	if (err)
		return err;
	c->standing = out->idempotent_reuse || dry_run;
	c->audit.agent_id = c->audit.resource_id = out->agent_id;
	c->audit.meta = arena_printf(c->arena,
		"{\"sha256\":\"%s\",\"reused\":%s,\"memories\":%lld,\"sessions\":%lld,\"skills\":%lld}",
		what->sha256, out->idempotent_reuse ? "true" : "false",
		(long long)out->memories_imported, (long long)out->sessions_imported,
		(long long)out->skills_imported);
	if (!c->standing)
		c->location = arena_printf(
			c->arena, "/tenant/%s/agents/%s", who.tenant_id, out->agent_id);
	return 0;
}

QUERY_STEP(importAgent, prepare, agent_import_query)
{
	/* What is sent as Markdown is Markdown, whether it looks so or not. */
	const char *file = strcmp(c->raw_type, "text/markdown") == 0 ? "AGENTS.md" : "";

	c->only_reads = in->dry_run;
	return read_import(c, in->name, (struct bundle_file){ file, c->raw, c->raw_len });
}

QUERY_OPERATION(importAgent, agent_import_query, AgentImportResult, .key = "agent_id",
	.may_stand = true, .unpacks = true, .takes = import_types, .prepare = importAgent_prepare)
{
	return enter_import(c, in->dry_run, out);
}

/* Which object it is, for whoever may read it; its bytes are read after that, off the loop. */
static int look_for_object(struct call *c, const struct AgentImportFromBucketRequest *in)
{
	int err = caller_also(&c->caller, c->arena, PERM_BUCKET_READ, &c->problem);

	c->own = arena_new(c->arena, struct bucket_row);
	return err ? err : object_named(c, "storage_uri", in->storage_uri, c->own);
}

static int read_from_object(struct call *c, const struct AgentImportFromBucketRequest *in)
{
	const struct bucket_row *row = c->own;
	const void *bytes;
	size_t len;
	int err = bucket_load(service_of(c->app)->bucket, row, BUNDLE_PACKED_MAX, c->arena, &bytes,
		&len, &c->problem);

	return err ? err : read_import(c, in->name, (struct bundle_file){ row->key, bytes, len });
}

BODY_STEP(importAgentFromBucket, look, AgentImportFromBucketRequest)
{
	return look_for_object(c, in);
}

BODY_STEP(importAgentFromBucket, prepare, AgentImportFromBucketRequest)
{
	return read_from_object(c, in);
}

OPERATION(importAgentFromBucket, AgentImportFromBucketRequest, AgentImportResult, .key = "agent_id",
	.may_stand = true, .unpacks = true, .look = importAgentFromBucket_look,
	.prepare = importAgentFromBucket_prepare)
{
	(void)in;
	return enter_import(c, false, out);
}

BODY_STEP(tryAgentFromBucket, look, AgentImportFromBucketRequest)
{
	return look_for_object(c, in);
}

BODY_STEP(tryAgentFromBucket, prepare, AgentImportFromBucketRequest)
{
	c->only_reads = true;
	return read_from_object(c, in);
}

OPERATION(tryAgentFromBucket, AgentImportFromBucketRequest, AgentImportResult, .unpacks = true,
	.look = tryAgentFromBucket_look, .prepare = tryAgentFromBucket_prepare)
{
	(void)in;
	return enter_import(c, true, out);
}

static const struct route routes[] = {
	{ METHOD_POST, "/tenant/{tenant_id}/agents/import", &importAgent, PERM_AGENTS_CREATE, 201,
		"agent.import", .tag = "Agents", .max_body = BUNDLE_PACKED_MAX,
		.doc = "Make an agent of a file: a bundle of Lodge, or what another platform exports. "
		       "The same file again is the same agent." },
	{ METHOD_POST, "/tenant/{tenant_id}/agents/import-from-bucket", &importAgentFromBucket,
		PERM_AGENTS_CREATE, 201, "agent.import", .tag = "Agents",
		.doc = "The same of a file in the tenant's bucket." },
	{ METHOD_POST, "/tenant/{tenant_id}/agents/import-from-bucket/dry-run", &tryAgentFromBucket,
		PERM_AGENTS_CREATE, 200, "agent.import_dry_run", .tag = "Agents",
		.doc = "Tells all that would come of importing a file in the tenant's bucket, in an agent whose "
		       "id names nothing, and makes nothing." },
};
RESOURCE(agent_import, routes, NULL);
