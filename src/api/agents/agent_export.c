/* agent_export.c - .../export: the agent of the path as a bundle, to be kept or imported elsewhere; GET sends it, POST puts it into the
 * tenant's bucket. */
#include "api/agents/agent_export.h"
#include "api/agents/agent_row.h"
#include "api/bucket/bucket_object.h"
#include "call/held.h"

struct agent_export_query {
	bool sessions, memories;
};

FIELDS(agent_export_query) = {
	FIELD(agent_export_query, sessions, .preset = "false",
		.doc = "True takes along what was said, in the sessions that the caller sees: the newest 1000, and 20000 messages."),
	FIELD(agent_export_query, memories, .preset = "false",
		.doc = "True takes along what the agent keeps between sessions and shares with everybody."),
};
SCHEMA(agent_export_query, .doc = "What a bundle holds besides the agent itself.");

static int write_export(
	struct call *c, const struct agent_export_query *in, struct buf *out, const char **ret_slug)
{
	const struct caller *me = &c->caller;
	const struct agent_exporter who = { .db = c->db,
		.a = c->arena,
		.vault = c->app->vault,
		.tenant_id = me->tenant_id,
		.agent_id = me->agent_id,
		.user_id = me->user_id,
		.sees_private_skills = me->tenant & PERM(SKILLS_WRITE),
		.all_sessions = me->all_sessions,
		.sessions = in->sessions,
		.memories = in->memories,
		.may = me->agent,
		.p = &c->problem };
	struct agent_bundle bundle;
	struct agent_row row;
	int err = agent_row_read(c, &row);

	if (!err)
		err = agent_export_read(&who, &bundle);
	if (!err)
		err = bundle_write(out, c->arena, &bundle, &c->problem);
	*ret_slug = err ? NULL : row.slug;
	return err;
}

QUERY_OPERATION(
	exportAgent, agent_export_query, NONE, .gives = "application/zip", .long_read = true)
{
	const char *slug;
	int err = write_export(c, in, &c->x->reply.body, &slug);

	if (!err)
		call_attach(c, arena_printf(c->arena, "%s.zip", slug));
	return err;
}

/* ---- into the bucket ---- */

struct AgentExportRequest {
	const char *storage_uri;
	bool sessions, memories;
};

FIELDS(AgentExportRequest) = {
	FIELD(AgentExportRequest, storage_uri, .required = true, BOUNDS(1, 2048),
		.example = "\"bucket://c0000000000000000000000000/exports/support-desk.zip\"",
		.doc = "Where to put the bundle, in the bucket of your own tenant; what is there is replaced."),
	FIELD(AgentExportRequest, sessions, .preset = "false",
		.doc = "True takes along what was said, in the sessions that the caller sees."),
	FIELD(AgentExportRequest, memories, .preset = "false",
		.doc = "True takes along what the agent keeps between sessions and shares with everybody."),
};
SCHEMA(AgentExportRequest, .doc = "Puts an agent as a bundle into the tenant's bucket.");

struct AgentExportResult {
	const char *storage_uri, *sha256;
	int64_t size_bytes;
};

FIELDS(AgentExportResult) = {
	FIELD(AgentExportResult, storage_uri, .required = true, .doc = "The object."),
	FIELD(AgentExportResult, sha256, .required = true, .doc = "The SHA-256 of its bytes."),
	FIELD(AgentExportResult, size_bytes, .required = true, .doc = "How many bytes it has."),
};
SCHEMA(AgentExportResult, .doc = "An agent as an object of the tenant's bucket.");

/* What is on its way from one step to the next. */
struct exporting {
	struct app *app;
	const char *key;
	struct buf bundle;
	struct held_part held; /* what the bundle takes */
	struct object_made *object;
};

static void end_exporting(void *data)
{
	struct exporting *e = data;

	held_count(e->app->held, &e->held, NULL, 0);
	buf_free(&e->bundle);
}

/* Once, though the step may run again. */
static struct exporting *exporting_of(struct call *c)
{
	struct exporting *e = c->own;

	if (!e) {
		c->own = e = arena_new(c->arena, struct exporting);
		e->app = c->app;
		buf_init(&e->bundle, BUNDLE_PACKED_MAX);
		arena_defer(c->arena, end_exporting, e);
		e->object = object_make_begin(c);
	}
	buf_clear(&e->bundle);
	return e;
}

/* It waits for the disk, or for S3, perhaps for long: until then it counts for the tenant as what a request holds does. */
static int hold_export(struct call *c, struct exporting *e)
{
	buf_fit(&e->bundle);
	if (held_count(c->app->held, &e->held, c->caller.tenant_id, e->bundle.cap) &&
		http_charge(c->x))
		return 0;
	return call_fail(c, ERR_BUSY, HTTP_HOLDS_TOO_MUCH);
}

BODY_STEP(exportAgentToBucket, look, AgentExportRequest)
{
	const struct agent_export_query what = { in->sessions, in->memories };
	const char *slug;
	struct exporting *e;
	int err;

	if (call_step_aside(c))
		return 0;
	err = caller_also(&c->caller, c->arena, PERM_BUCKET_WRITE, &c->problem);
	if (err)
		return err;
	e = exporting_of(c);
	err = object_key_named(c, "storage_uri", in->storage_uri, &e->key);
	if (!err)
		err = held_check(c);
	if (!err)
		err = write_export(c, &what, &e->bundle, &slug);
	if (!err)
		err = hold_export(c, e);
	return err ? err : object_make_claim(c, e->object, e->key, e->bundle.len);
}

BODY_STEP(exportAgentToBucket, prepare, AgentExportRequest)
{
	struct exporting *e = c->own;

	(void)in;
	return object_make(c, e->object, e->bundle.at, e->bundle.len);
}

OPERATION(exportAgentToBucket, AgentExportRequest, AgentExportResult, .on_disk = true,
	.look = exportAgentToBucket_look, .prepare = exportAgentToBucket_prepare)
{
	const struct exporting *e = c->own;
	struct bucket_row row;
	int err = object_make_row(c, e->object, e->key, "application/zip", &row);

	(void)in;
	if (err)
		return err;
	c->audit.meta = arena_printf(
		c->arena, "{\"sha256\":\"%s\",\"object_id\":\"%s\"}", row.sha256, row.id);
	*out = (struct AgentExportResult){ bucket_uri(c->arena, row.tenant_id, row.key), row.sha256,
		row.size_bytes };
	return 0;
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/agents/{agent_id}/export", &exportAgent,
		PERM_AGENT_WRITE, 200, .tag = "Agents", .finds_agent = true,
		.doc = "The agent as a bundle, without ids and secrets. The same agent gives the same "
		       "bytes, and an import of them the same agent." },
	{ METHOD_POST, "/tenant/{tenant_id}/agents/{agent_id}/export", &exportAgentToBucket,
		PERM_AGENT_WRITE, 200, "agent.export", .tag = "Agents", .finds_agent = true,
		.doc = "The same, put into the tenant's bucket, which takes bucket:write too." },
};
RESOURCE(agent_export, routes, NULL);
