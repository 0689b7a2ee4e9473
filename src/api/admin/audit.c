/* audit.c - the audit log as its readers see it: a list, or an export of all that matches.
 *
 * An entry's id begins with the moment of its creation, so a span of time is
 * a span of ids, and every list below is a walk along one index.  Which one
 * depends on the filters; what remains is tested row by row.  Nothing here
 * writes: entries are made by access/audit.c, and reading them makes none. */
#include "api/admin/audit.h"

#include "api/sessions/sessions.h"
#include "base/id.h"
#include "call/operation.h"
#include "store/listing.h"
#include "store/row.h"

FIELDS(AuditLogRead) = {
	FIELD(AuditLogRead, id, .required = true, .id = true,
		.doc = "The entry; entries sort by it in time."),
	FIELD(AuditLogRead, tenant_id, .required = true, .nullable = true, .id = true,
		.doc = "The tenant it happened in; null for what belongs to none."),
	FIELD(AuditLogRead, user_id, .required = true, .nullable = true, .id = true,
		.doc = "The user who did it; null when no user did."),
	FIELD(AuditLogRead, agent_id, .required = true, .nullable = true, .id = true,
		.doc = "The agent that did it or was meant; null when none was."),
	FIELD(AuditLogRead, action, .required = true, .example = "\"agent.update\"",
		.doc = "What was done, as resource and verb."),
	FIELD(AuditLogRead, resource_type, .required = true, .example = "\"agent\"",
		.doc = "The kind of thing it was done to."),
	FIELD(AuditLogRead, resource_id, .required = true, .nullable = true,
		.doc = "Which one; null when it has no id."),
	FIELD(AuditLogRead, ip, .required = true, .nullable = true, .example = "\"192.0.2.7\"",
		.doc = "Where the request came from; null for the service's own work."),
	FIELD(AuditLogRead, user_agent, .required = true, .nullable = true,
		.example = "\"curl/8.5.0\"", .doc = "What the client calls itself."),
	FIELD(AuditLogRead, meta, .open = true, .required = true,
		.example = "{\"name\":{\"from\":\"Desk\",\"to\":\"Support desk\"}}",
		.doc = "What changed, field by field, old and new; never a secret."),
	FIELD(AuditLogRead, created_at, .required = true, .doc = "When it was done."),
};
SCHEMA(AuditLogRead, .doc = "One thing that was done, by whom, to what.");

FIELDS(AuditSessionListItem) = {
	FIELD(AuditSessionListItem, id, .required = true, .id = true, .doc = "The session."),
	FIELD(AuditSessionListItem, tenant_id, .required = true, .id = true,
		.doc = "The tenant it belongs to."),
	FIELD(AuditSessionListItem, agent_id, .required = true, .id = true,
		.doc = "The agent that works in it."),
	FIELD(AuditSessionListItem, status, .required = true, .example = "\"completed\"",
		.doc = "pending, running, waiting_approval, completed, failed or cancelled."),
	FIELD(AuditSessionListItem, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(AuditSessionListItem, agent_name, .nullable = true, .example = "\"Support desk\"",
		.doc = "The agent's name."),
	FIELD(AuditSessionListItem, completed_at, .nullable = true,
		.doc = "When it ended; null while it is open."),
	FIELD(AuditSessionListItem, created_by_id, .nullable = true, .id = true,
		.doc = "The user who started it, if a user did."),
	FIELD(AuditSessionListItem, message_count, .preset = "0", .doc = "Messages in it so far."),
	FIELD(AuditSessionListItem, started_at, .nullable = true,
		.doc = "When work first began; null before that."),
	FIELD(AuditSessionListItem, title, .nullable = true, .example = "\"Order 1042\"",
		.doc = "What it is about; null until it is named."),
	FIELD(AuditSessionListItem, user_email, .nullable = true, .example = "\"ada@example.org\"",
		.doc = "Address of the user who started it."),
	FIELD(AuditSessionListItem, user_name, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Name of the user who started it."),
};
SCHEMA(AuditSessionListItem, .doc = "A session in the auditors' list.");

FIELDS(AuditSessionListResponse) = {
	FIELD(AuditSessionListResponse, items, .required = true, .item = OBJECT,
		.of = &AuditSessionListItem_schema, .doc = "The sessions on this page."),
	FIELD(AuditSessionListResponse, total, .required = true, .example = "1",
		.doc = "Sessions that match, on all pages."),
	FIELD(AuditSessionListResponse, page, .required = true, .example = "1",
		.doc = "Number of this page, from 1."),
	FIELD(AuditSessionListResponse, per_page, .required = true, .example = "50",
		.doc = "The most sessions a page holds."),
};
SCHEMA(AuditSessionListResponse, .doc = "A page of the auditors' list of sessions, newest first.");

FIELDS(AuditSessionDetailResponse) = {
	FIELD(AuditSessionDetailResponse, session, .required = true, .of = &TaskSessionRead_schema,
		.doc = "The session."),
	FIELD(AuditSessionDetailResponse, messages, .required = true, .item = OBJECT,
		.of = &TaskMessageRead_schema,
		.doc = "All its messages, oldest first; deleted ones have deleted_at."),
	FIELD(AuditSessionDetailResponse, total_tokens, .required = true, .example = "1830",
		.doc = "Tokens of all its model calls, cached ones included."),
	FIELD(AuditSessionDetailResponse, completion_tokens, .preset = "0",
		.doc = "Tokens written by models."),
	FIELD(AuditSessionDetailResponse, prompt_tokens, .preset = "0",
		.doc = "Tokens read by models, from no cache."),
	FIELD(AuditSessionDetailResponse, total_cost_cents, .preset = "0",
		.doc = "What it cost, in cents of a dollar, half a cent rounded up."),
	FIELD(AuditSessionDetailResponse, user_email, .nullable = true,
		.example = "\"ada@example.org\"", .doc = "Address of the user who started it."),
	FIELD(AuditSessionDetailResponse, user_name, .nullable = true, .example = "\"Ada Example\"",
		.doc = "Name of the user who started it."),
};
SCHEMA(AuditSessionDetailResponse, .doc = "A whole session for auditors, with what it cost.");

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

/* What is asked of the log: null for any; the first id, and the one after the last. */
struct audit_span {
	const char *tenant_id, *user_id, *agent_id, *action, *resource_type, *first, *last;
};
FIELDS(audit_span) = {
	ROW_NULLABLE(audit_span, tenant_id, user_id, agent_id, action, resource_type),
	ROW_FIELDS(audit_span, first, last),
};
static SCHEMA(audit_span, .internal = true);

/* An index is entered at one bound only, and so the id to go on after is made one with the end it draws
 * in; beside it, every page would walk again over all before it. */
#define SPAN(from, to) "a.id >= " from " and a.id < " to " "
#define UP_TO_LESSER "case when cast({after} as text) < :last then {after} else :last end"
#define FROM_GREATER "case when cast({after} as text) > :first then {after} else :first end"
#define FILTERED                                                           \
	"and (cast(:user_id as text) is null or a.user_id = :user_id) "    \
	"and (cast(:agent_id as text) is null or a.agent_id = :agent_id) " \
	"and (cast(:action as text) is null or a.action = :action) "       \
	"and (cast(:resource_type as text) is null or a.resource_type = :resource_type) "

/* One walk along an index: its list (see store/listing.h), and its export. */
enum { LIST_OF(WALK_LIST), EXPORT, WALK_SIZE };
/* clang-format off */
#define WALKED .args = &audit_span_schema
#define WALK(id, columns, where, ...)                                                               \
	{ id "_count", "select count(*) from audit_logs a where " where SPAN(":first", ":last") FILTERED, WALKED, ##__VA_ARGS__ }, \
	{ id "_page", "select " columns " from audit_logs a where " where SPAN(":first", ":last") FILTERED      \
	  "order by a.id desc limit {limit} offset {offset}", .row = &AuditLogRead_schema, WALKED, ##__VA_ARGS__ },                  \
	{ id "_after", "select " columns " from audit_logs a where " where SPAN(":first", UP_TO_LESSER) FILTERED \
	  "order by a.id desc limit {limit}", .row = &AuditLogRead_schema, WALKED, ##__VA_ARGS__ },                            \
	{ id "_export", "select " columns " from audit_logs a where " where SPAN(FROM_GREATER, ":last") FILTERED \
	  "and a.id <> {after} order by a.id limit {limit}", .row = &AuditLogRead_schema, WALKED, ##__VA_ARGS__ }
/* clang-format on */

enum { WALK_ALL, WALK_TENANT, WALK_USER, WALK_AGENT, WALK_ACTION, WALKS };

/* Over tenants: a tenant that is closed to super administrators keeps what changed to itself.  That
 * something was done, by whom and to what, stays; and what belongs to no tenant is nobody's secret. */
#define SHUT                                                        \
	"exists (select 1 from tenants t where t.id = a.tenant_id " \
	"and t.allow_superadmin_access = 0)"
#define ADMIN_COLUMNS                                                                          \
	"a.id, a.tenant_id, a.user_id, a.agent_id, a.action, a.resource_type, a.resource_id, " \
	"a.ip, a.user_agent, case when " SHUT " then '' else a.meta end as meta, a.created_at"

/* clang-format off */
#define WALKS_OF_TENANT(id, columns)                                                              \
	WALK(id "tenant", columns, "a.tenant_id = :tenant_id and "),                                      \
	WALK(id "user", columns, "a.tenant_id = :tenant_id and a.user_id = :user_id and "),                     \
	WALK(id "agent", columns, "a.tenant_id = :tenant_id and a.agent_id = :agent_id and "),                   \
	WALK(id "action", columns, "a.tenant_id = :tenant_id and a.action = :action and ")
/* clang-format on */

static const struct statement sql[] = {
	WALK("audit_all", ADMIN_COLUMNS,
		"(cast(:tenant_id as text) is null or a.tenant_id = :tenant_id) and ",
		.across = "the super administrator's view"),
	WALKS_OF_TENANT("audit_", "{a.*}"),
	WALKS_OF_TENANT("audit_admin_", ADMIN_COLUMNS),
};
STATEMENT_SET(audit_list_sql, sql);

/* The index that leaves the fewest rows to be tested. */
static const struct statement *choose_audit_walk(
	const char *tenant_id, const struct audit_query *in, bool over_tenants)
{
	int which = !tenant_id	   ? WALK_ALL
		    : in->user_id  ? WALK_USER
		    : in->agent_id ? WALK_AGENT
		    : in->action   ? WALK_ACTION
				   : WALK_TENANT;

	if (tenant_id && over_tenants)
		which += WALKS - WALK_TENANT;
	return &sql[which * WALK_SIZE];
}

static int answer_audit_query(
	struct call *c, const char *tenant_id, const struct audit_query *in, bool over_tenants)
{
	const struct statement *statements = choose_audit_walk(tenant_id, in, over_tenants);
	bool all = in->format == FORMAT_NDJSON;
	/* An export ends where the log ended when it was asked for: it must not chase its own tail. */
	int64_t to = in->to.us == NIL ? INT64_MAX : in->to.us,
		end = all && to > c->now ? c->now + 1 : to;
	struct id first = id_least(in->from.us == NIL ? 0 : in->from.us), last = id_least(end);
	struct audit_span *span =
		arena_new(c->arena, struct audit_span); /* an export outlives us */

	*span = (struct audit_span){ .tenant_id = tenant_id,
		.user_id = in->user_id,
		.agent_id = in->agent_id,
		.action = in->action,
		.resource_type = in->resource_type,
		.first = arena_strdup(c->arena, first.text),
		.last = arena_strdup(c->arena, last.text) };
	if (all)
		return call_export(c, &statements[EXPORT], BY_NAME(audit_span, span));
	return call_list(c, statements, BY_NAME(audit_span, span));
}

LIST_OPERATION(listAuditLogs, audit_query, AuditLogRead, .exports = true, .stale_ok = true)
{
	return answer_audit_query(c, c->caller.tenant_id, in, false);
}

LIST_OPERATION(listAllAuditLogs, admin_audit_query, AuditLogRead, .exports = true, .stale_ok = true)
{
	struct audit_query filters;

	schema_copy(&admin_audit_query_schema, in, &audit_query_schema, &filters);
	return answer_audit_query(c, in->tenant_id, &filters, true);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/audit-logs", &listAuditLogs, PERM_AUDIT_READ, 200,
		.tag = "Audit", .doc = "List what was done in the tenant, or export it." },
	{ METHOD_GET, "/admin/audit-logs", &listAllAuditLogs, PERM_SUPER, 200, .tag = "Audit",
		.doc = "List what was done in all tenants, or export it; meta is empty for tenants that "
		       "are closed to super administrators." },
};
RESOURCE(audit, routes, NULL, &audit_list_sql);
