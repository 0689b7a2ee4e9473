/* tool_import.c - tools of an MCP server, made tools of the tenant, and brought up to date when it is asked again.
 *
 * The server is asked once, for its list.  What it says is data: each tool is
 * checked like one that a person makes, and those that do not pass are told
 * with the reason, not dropped in silence. */
#include <string.h>

#include "base/utf8_cut.h"
#include "call/operation.h"
#include "api/tools/tools.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "outside/mcp.h"
#include "outside/tool_config.h"
#include "sessions/tool_text.h"

enum { LIST_MS = 10000, IMPORT_MAX = 200, DESCRIPTION_MAX = 4096, NAME_MAX_BYTES = 128 };

static const char name_characters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

/* What the server has, from one step to the next. */
struct server_tools {
	struct mcp_tool *list;
	struct tool_input *inputs; /* of each */
	size_t count;
};

static enum egress import_egress_of(const struct call *c)
{
	return c->app->settings.allow_private_addresses ? EGRESS_ANY : EGRESS_PUBLIC;
}

static const char *config_text(struct call *c, const struct ToolImportMcp *in, const char *tool)
{
	struct buf b;

	buf_init(&b, 512 << 10);
	buf_puts(&b, "{\"url\":");
	json_write_string(&b, in->url, strlen(in->url));
	if (in->headers.text)
		buf_printf(&b, ",\"headers\":%s", in->headers.text);
	buf_puts(&b, ",\"tool\":");
	json_write_string(&b, tool, strlen(tool));
	buf_putc(&b, '}');
	return arena_take(c->arena, &b);
}

/* "config.url" is "url" here. */
static int tell_faults(struct call *c, const struct problem *p)
{
	for (const struct field_error *e = p->first; e; e = e->next)
		call_field(c, strncmp(e->field, "config.", 7) == 0 ? e->field + 7 : e->field,
			e->code, "%s", e->message);
	return c->problem.err;
}

/* On a thread of tools. */
BODY_STEP(importMcpTools, prepare, ToolImportMcp)
{
	struct server_tools *found = arena_new(c->arena, struct server_tools);
	struct tool_config config;
	struct mcp_peer peer = { 0 };
	struct problem p = { 0 };
	const char *why = "";
	struct mcp_way way;

	if (strlen(in->url) > TOOL_URL_MAX)
		return call_field(c, "url", "address", "must have at most %d bytes", TOOL_URL_MAX);
	if (tool_config_read(c->arena, TOOL_MCP, config_text(c, in, "x"), import_egress_of(c), NULL,
		    &config, &p) ||
		tool_config_keep(c->arena, &config, NULL, false, &p))
		return tell_faults(c, &p);
	way = (struct mcp_way){ .url = config.url,
		.headers = config.headers,
		.header_count = config.header_count,
		.egress = import_egress_of(c),
		.stop = &c->work.withdrawn,
		.end_ms = clock_mono_ms() + LIST_MS };
	if (mcp_tools(c->arena, &way, &peer, &found->list, &found->count, &why)) {
		log_warn("a server's tools could not be listed", LOG_S("why", why),
			LOG_S("request_id", c->x->request_id),
			LOG_S("tenant_id", c->caller.tenant_id));
		return call_fail(
			c, ERR_UPSTREAM, "The server's tools could not be listed: %s.", why);
	}
	mcp_end(c->arena, &way, &peer);
	found->inputs = arena_array(c->arena, struct tool_input, found->count + 1);
	for (size_t i = 0; i < found->count; i++)
		if (!found->list[i].fault)
			tool_input_read(c, found->list[i].input_schema, &found->inputs[i]);
	c->own = found;
	return 0;
}

static bool is_wanted(const struct ToolImportMcp *in, const char *name)
{
	const char *const *names = in->tools.at;

	for (size_t i = 0; i < in->tools.count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return !in->tools.at;
}

/* What an import has come to. */
struct import_run {
	struct call *c;
	const struct ToolImportMcp *in;
	struct list standing; /* of struct tool_standing */
	struct ToolImportResult *out;
	int err; /* the store's */
};

/* The tool of an earlier import of the same server under this name, or NULL. */
static const struct tool_standing *standing_named(
	const struct import_run *r, const char *name, const char *tool)
{
	const struct tool_standing *s = r->standing.at;

	for (size_t i = 0; i < r->standing.count; i++)
		if (strcmp(s[i].name, name) == 0 && strcmp(s[i].tool, tool) == 0)
			return &s[i];
	return NULL;
}

static const char *name_here(const struct import_run *r, const char *tool)
{
	return arena_printf(r->c->arena, "%s%s", r->in->prefix ? r->in->prefix : "", tool);
}

static int note_import(struct call *c, const char *action, const char *id, const char *meta)
{
	return call_audit_also(
		c, (struct audit_entry){ .action = action, .resource_id = id, .meta = meta });
}

static void renew_one(struct import_run *r, const struct tool_standing *s,
	const struct ToolCreate *made, const struct tool_input *input)
{
	struct ToolRead *place = (struct ToolRead *)r->out->updated.at + r->out->updated.count;
	bool changed = false;

	r->err = tool_renew(r->c, s->id, made, input, place, &changed);
	if (r->err || !changed)
		return;
	r->out->updated.count++;
	r->err = note_import(r->c, "tool.update", s->id,
		arena_printf(r->c->arena, "{\"name\":\"%s\",\"import\":true}", s->name));
}

/* Makes one, or brings it up to date; NULL, or the reason why not. */
static const char *import_one(
	struct import_run *r, const struct mcp_tool *tool, const struct tool_input *input)
{
	const struct ToolImportMcp *in = r->in;
	struct call *c = r->c;
	const char *description = tool->description && *tool->description ? tool->description
				  : tool->title && *tool->title		  ? tool->title
									  : tool->name;
	const struct tool_standing *standing;
	struct problem before = c->problem;
	struct ToolCreate made;
	const char *why = NULL;
	bool taken = false;

	schema_init(&ToolCreate_schema, c->arena, &made);
	made.name = name_here(r, tool->name);
	made.kind = TOOL_MCP;
	made.description = arena_strndup(
		c->arena, description, utf8_cut(description, strlen(description), DESCRIPTION_MAX));
	made.input_schema.text = tool->input_schema;
	made.requires_approval = in->requires_approval;
	if (tool->fault)
		return arena_printf(c->arena, "It %s.", tool->fault);
	if (!*made.name || strlen(made.name) > NAME_MAX_BYTES ||
		strspn(made.name, name_characters) != strlen(made.name))
		return "Its name must have 1 to 128 letters, digits, _, . and -.";
	standing = standing_named(r, made.name, tool->name);
	if (!standing || in->headers.text)
		made.config.text = config_text(c, in, tool->name);
	r->err = standing ? 0 : tool_named(c, made.name, &taken);
	if (r->err)
		return NULL;
	if (taken)
		return "There is a tool of this name already.";
	c->problem = (struct problem){ 0 };
	if (standing) {
		renew_one(r, standing, &made, input);
	} else {
		r->err = tool_make(c, &made, input,
			(struct ToolRead *)r->out->created.at + r->out->created.count);
		r->out->created.count += !r->err;
	}
	if (r->err == ERR_INVALID && c->problem.first) {
		why = arena_printf(
			c->arena, "%s %s.", c->problem.first->field, c->problem.first->message);
		r->err = 0;
	}
	if (!r->err)
		c->problem = before;
	return why;
}

static bool server_has(const struct server_tools *found, const char *tool)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->list[i].name, tool) == 0)
			return true;
	return false;
}

/* What the server does not have any more goes, where it still has the name that an import gave it.  A server that
 * lists nothing at all is not believed. */
static void remove_missing(struct import_run *r, const struct server_tools *found)
{
	const struct tool_standing *s = r->standing.at;
	struct ToolBundleTool *removed = r->out->removed.at;

	for (size_t i = 0; found->count && !r->err && i < r->standing.count; i++) {
		const char *meta = NULL;

		if (server_has(found, s[i].tool) || !is_wanted(r->in, s[i].tool) ||
			strcmp(s[i].name, name_here(r, s[i].tool)) != 0)
			continue;
		r->err = tool_drop(r->c, s[i].id, &meta);
		if (!r->err)
			r->err = note_import(r->c, "tool.delete", s[i].id, meta);
		removed[r->out->removed.count++] = (struct ToolBundleTool){ s[i].id, s[i].name };
	}
}

OPERATION(importMcpTools, ToolImportMcp, ToolImportResult, .asks_tools = true,
	.prepare = importMcpTools_prepare)
{
	const struct server_tools *found = c->own;
	struct ToolImportSkipped *skipped =
		arena_array(c->arena, struct ToolImportSkipped, found->count + 1);
	struct import_run r = { .c = c, .in = in, .out = out };

	out->created.at = arena_array(c->arena, struct ToolRead, found->count + 1);
	out->updated.at = arena_array(c->arena, struct ToolRead, found->count + 1);
	out->skipped.at = skipped;
	r.err = tool_standing_of(c, in->url, &r.standing);
	out->removed.at = arena_array(c->arena, struct ToolBundleTool, r.standing.count + 1);
	for (size_t i = 0; !r.err && i < found->count; i++) {
		const struct mcp_tool *tool = &found->list[i];
		const char *why;

		if (!is_wanted(in, tool->name))
			continue;
		why = out->created.count == IMPORT_MAX
			      ? "No more than 200 tools are imported at once; name those that are "
				"wanted in tools."
			      : import_one(&r, tool, &found->inputs[i]);
		if (why)
			skipped[out->skipped.count++] = (struct ToolImportSkipped){
				arena_strndup(c->arena, tool->name,
					utf8_cut(tool->name, strlen(tool->name), 255)),
				why
			};
	}
	if (!r.err)
		remove_missing(&r, found);
	c->audit.meta = arena_printf(c->arena,
		"{\"created\":%zu,\"updated\":%zu,\"removed\":%zu,\"skipped\":%zu}",
		out->created.count, out->updated.count, out->removed.count, out->skipped.count);
	return r.err;
}

static const struct route routes[] = {
	{ METHOD_POST, "/tenant/{tenant_id}/tools/import-mcp", &importMcpTools, PERM_TOOLS_WRITE,
		200, "tool.import_mcp", .tag = "Tools",
		.doc = "Make tools of those that an MCP server has, bring those of an earlier import up "
		       "to date and remove what the server has no more; what could not be made is told "
		       "with the reason." },
};
RESOURCE(tool_import, routes, NULL);
