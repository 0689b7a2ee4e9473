/* audit.c - the audit log as its readers see it: a list, or an export of all that matches.
 *
 * An entry's id begins with the moment of its creation, so a span of time is
 * a span of ids, and every list below is a walk along one index.  Which one
 * depends on the filters; what remains is tested row by row.  Nothing here
 * writes: entries are made by access/audit.c, and reading them makes none. */
#include "api/audit.h"

#include "api/api.h"
#include "base/id.h"
#include "store/listing.h"

enum { FORMAT_JSON, FORMAT_NDJSON };

static const char *const formats[] = { "json", "ndjson", NULL };
static const struct words format_words = { .list = formats };

/* clang-format off */
#define FILTERS                                                        \
	const char *user_id, *agent_id, *action, *resource_type;       \
	struct moment from, to;                                        \
	int format

#define FILTER_FIELDS(S)                                                                                  \
	FIELD(S, user_id, .nullable = true, .id = true, .doc = "Only what this user did."),               \
	FIELD(S, agent_id, .nullable = true, .id = true, .doc = "Only what concerns this agent."),        \
	FIELD(S, action, .nullable = true, BOUNDS(1, 64), .example = "\"agent.update\"",                  \
		.doc = "Only this action."),                                                              \
	FIELD(S, resource_type, .nullable = true, BOUNDS(1, 64), .example = "\"agent\"",                  \
		.doc = "Only what was done to this kind of thing."),                                      \
	FIELD(S, from, .nullable = true, .doc = "Only what was done then or later."),                     \
	FIELD(S, to, .nullable = true, .doc = "Only what was done before."),                              \
	FIELD(S, format, .words = &format_words, .preset = "\"json\"",                                    \
		.doc = "ndjson sends all that matches instead of a page, oldest first: one object a "     \
		       "line, as application/x-ndjson. An export that ends without its last chunk "       \
		       "is not whole.")
/* clang-format on */

struct audit_query {
	FILTERS;
};
FIELDS(audit_query) = { FILTER_FIELDS(audit_query) };
static SCHEMA(audit_query, .doc = "Filters of a tenant's audit log.");

struct admin_audit_query {
	FILTERS;
	const char *tenant_id;
};
FIELDS(admin_audit_query) = {
	FILTER_FIELDS(admin_audit_query),
	FIELD(admin_audit_query, tenant_id, .nullable = true, .id = true,
		.doc = "Only what happened in this tenant."),
};
static SCHEMA(admin_audit_query, .doc = "Filters of the audit log of all tenants.");

/* $1 tenant, $2 user, $3 agent, $4 action, $5 resource type: null for any; $6 the first id, $7 the
 * one behind the last.  An index is entered at one bound only, and so the id to go on behind ($8) is
 * made one with the end it draws in; beside it, every page would walk again over all before it. */
#define SPAN(from, to) "a.id >= " from " and a.id < " to " "
#define UP_TO_LESSER "case when cast($8 as text) < $7 then $8 else $7 end"
#define FROM_GREATER "case when cast($8 as text) > $6 then $8 else $6 end"
#define FILTERED                                             \
	"and (cast($2 as text) is null or a.user_id = $2) "  \
	"and (cast($3 as text) is null or a.agent_id = $3) " \
	"and (cast($4 as text) is null or a.action = $4) "   \
	"and (cast($5 as text) is null or a.resource_type = $5) "

/* One walk along an index: its list (see store/listing.h), and its export. */
enum { EXPORT = LIST_SORTS, WALK_SIZE };
/* clang-format off */
#define WALK(id, where)                                                                            \
	{ id "_count", "select count(*) from audit_logs a where " where SPAN("$6", "$7") FILTERED }, \
	{ id "_page", "select {a.*} from audit_logs a where " where SPAN("$6", "$7") FILTERED      \
	  "order by a.id desc limit $8 offset $9", .row = &AuditLogRead_schema },                  \
	{ id "_after", "select {a.*} from audit_logs a where " where SPAN("$6", UP_TO_LESSER) FILTERED \
	  "order by a.id desc limit $9", .row = &AuditLogRead_schema },                            \
	{ id "_export", "select {a.*} from audit_logs a where " where SPAN(FROM_GREATER, "$7") FILTERED \
	  "and a.id <> $8 order by a.id limit $9", .row = &AuditLogRead_schema }
/* clang-format on */

enum { WALK_ALL, WALK_TENANT, WALK_USER, WALK_AGENT, WALK_ACTION };

static const struct statement sql[] = {
	WALK("audit_all", "(cast($1 as text) is null or a.tenant_id = $1) and "),
	WALK("audit_tenant", "a.tenant_id = $1 and "),
	WALK("audit_user", "a.tenant_id = $1 and a.user_id = $2 and "),
	WALK("audit_agent", "a.tenant_id = $1 and a.agent_id = $3 and "),
	WALK("audit_action", "a.tenant_id = $1 and a.action = $4 and "),
};
STATEMENT_SET(audit_list_sql, sql);

/* The index that leaves the fewest rows to be tested. */
static const struct statement *walk(const char *tenant_id, const struct audit_query *in)
{
	int which = !tenant_id	   ? WALK_ALL
		    : in->user_id  ? WALK_USER
		    : in->agent_id ? WALK_AGENT
		    : in->action   ? WALK_ACTION
				   : WALK_TENANT;

	return &sql[which * WALK_SIZE];
}

static int answer(struct call *c, const char *tenant_id, const struct audit_query *in)
{
	const struct statement *statements = walk(tenant_id, in);
	bool all = in->format == FORMAT_NDJSON;
	/* An export ends where the log ended when it was asked for: it must not chase its own tail. */
	int64_t to = in->to.us == NIL ? INT64_MAX : in->to.us,
		end = all && to > c->now ? c->now + 1 : to;
	struct id first = id_least(in->from.us == NIL ? 0 : in->from.us), last = id_least(end);

	const struct value args[] = { T(tenant_id), T(in->user_id), T(in->agent_id), T(in->action),
		T(in->resource_type), T(arena_strdup(c->arena, first.text)),
		T(arena_strdup(c->arena, last.text)) };

	if (all)
		return call_export(c, &statements[EXPORT], args, sizeof args / sizeof *args);
	return call_list(c, statements, args, sizeof args / sizeof *args);
}

OPERATION(listAuditLogs, .list = true, .exports = true, .reply = &AuditLogRead_schema,
	.query = &audit_query_schema)
{
	return answer(c, c->caller.tenant_id, c->query);
}

OPERATION(listAllAuditLogs, .list = true, .exports = true, .reply = &AuditLogRead_schema,
	.query = &admin_audit_query_schema)
{
	const struct admin_audit_query *in = c->query;
	struct audit_query filters;

	schema_copy(&admin_audit_query_schema, in, &audit_query_schema, &filters);
	return answer(c, in->tenant_id, &filters);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/audit-logs", &listAuditLogs, PERM_AUDIT_READ, 200,
		.tag = "Audit", .doc = "List what was done in the tenant, or export it." },
	{ METHOD_GET, "/admin/audit-logs", &listAllAuditLogs, PERM_SUPER, 200, .tag = "Audit",
		.doc = "List what was done in all tenants, or export it." },
};
RESOURCE(audit, routes, audit_schemas);
