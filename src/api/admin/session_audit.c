/* session_audit.c - sessions as auditors see them: every one of the tenant's, with all that was said,
 * by whom, and with what was deleted since.  Who audits holds OWNER on every agent, and so reads what
 * mail began; a key does only if it may read mail. */
#include <string.h>

#include "call/operation.h"
#include "api/admin/audit.h"
#include "api/sessions/session_rows.h"
#include "base/clock.h"
#include "base/fold.h"
#include "base/id.h"
#include "sessions/session.h"
#include "store/row.h"

#define CENT (PICODOLLARS / 100)
#define FILED_LATER_US HOUR_US

struct session_query {
	int64_t page, per_page;
	const char *agent_id, *user_id;
	int status;
	struct moment from, to;
	const char *q;
};

FIELDS(session_query) = {
	FIELD(session_query, page, .preset = "1", BOUNDS(1, 1000000), .doc = "Which page, from 1."),
	FIELD(session_query, per_page, .preset = "50", BOUNDS(1, 200), .doc = "Rows on a page."),
	FIELD(session_query, agent_id, .nullable = true, .id = true, .doc = "Only of this agent."),
	FIELD(session_query, user_id, .nullable = true, .id = true,
		.doc = "Only those this user started."),
	FIELD(session_query, status, .nullable = true, .words = &session_state_words,
		.doc = "Only in this state."),
	FIELD(session_query, from, .nullable = true, .doc = "Begun then or later."),
	FIELD(session_query, to, .nullable = true, .doc = "Begun before."),
	FIELD(session_query, q, .nullable = true, BOUNDS(1, 255),
		.doc = "Only those whose title contains this, whatever the case."),
};
static SCHEMA(session_query, .doc = "Filters of the auditors' list.");

struct totals_row {
	int64_t messages, prompt_tokens, completion_tokens, cached_tokens, cost_pd;
};

FIELDS(totals_row) = {
	FIELD(totals_row, messages),
	FIELD(totals_row, prompt_tokens),
	FIELD(totals_row, completion_tokens),
	FIELD(totals_row, cached_tokens),
	FIELD(totals_row, cost_pd),
};
static SCHEMA(totals_row, .internal = true);

struct who_row {
	const char *user_email, *user_name;
};

FIELDS(who_row) = {
	FIELD(who_row, user_email, .nullable = true),
	FIELD(who_row, user_name, .nullable = true),
};
static SCHEMA(who_row, .internal = true);

/* What is asked: null for any; the first id, and the one after the last. */
struct session_span {
	const char *tenant_id, *agent_id, *user_id, *pattern, *first, *last, *reader_id;
	bool reads_mail;
	int status;
	struct moment from, to;
};

FIELDS(session_span) = {
	ROW_FIELDS(session_span, tenant_id, first, last, reader_id, reads_mail),
	ROW_NULLABLE(session_span, agent_id, user_id, pattern, from, to),
	FIELD(session_span, status, .nullable = true, .words = &session_state_words),
};
static SCHEMA(session_span, .internal = true);

/* A session is filed a moment after the time that it shows, so
 * the span of ids is a little longer at its end. */
#define FILTERED                                                                           \
	"(cast(:agent_id as text) is null or s.agent_id = :agent_id) "                     \
	"and (cast(:user_id as text) is null or s.created_by_id = :user_id) "              \
	"and (cast(:status as text) is null or s.status = :status) "                       \
	"and (cast(:from as bigint) is null or s.created_at >= :from) "                    \
	"and (cast(:to as bigint) is null or s.created_at < :to) "                         \
	"and (cast(:pattern as text) is null or s.title_folded like :pattern escape '!') " \
	"and (:reads_mail = 1 or " SESSION_UNMAILED(":reader_id") ")"
#define SPAN "s.id >= :first and s.id < :last and "

/* One walk along an index: its page, and its count. */
/* clang-format off */
#define WALK(name, where)                                                                          \
	{ name "_list",                                                                            \
		"select s.id, s.tenant_id, s.agent_id, s.status, s.created_at, s.completed_at, "   \
		"s.created_by_id, s.message_count, s.started_at, s.title, "                        \
		"(select a.name from agents a where a.tenant_id = :tenant_id and a.id = s.agent_id) as agent_name, " \
		"(select u.email from users u where u.id = s.created_by_id) as user_email, "       \
		"(select u.name from users u where u.id = s.created_by_id) as user_name "          \
		"from sessions s where s.tenant_id = :tenant_id and " where SPAN FILTERED                  \
		" order by s.id desc limit {limit} offset {offset}",                                        \
		.row = &AuditSessionListItem_schema, .args = &session_span_schema },                                             \
	{ name "_count",                                                                           \
		"select count(*) from sessions s where s.tenant_id = :tenant_id and " where SPAN FILTERED, \
		.args = &session_span_schema }
/* clang-format on */

enum { WALK_TENANT, WALK_USER, WALK_AGENT, WALK_STATUS, WALKS };
enum { SESSION_WHO = 2 * WALKS, MESSAGES, TOTALS, UNMAILED };

#define SUMMED "prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd"

static const struct statement sql[] = {
	WALK("session_audit", ""),
	WALK("session_audit_user", "s.created_by_id = :user_id and "),
	WALK("session_audit_agent", "s.agent_id = :agent_id and "),
	WALK("session_audit_status", "s.status = :status and "),
	[SESSION_WHO] = { "session_audit_who",
		"select u.email as user_email, u.name as user_name from users u where u.id = $1",
		.row = &who_row_schema },
	[MESSAGES] = { "session_audit_messages",
		"select " MESSAGE_COLUMNS " from messages m where m.tenant_id = $1 "
		"and m.session_id = $2 union all select " MESSAGE_DELETED_COLUMNS
		" from deleted_messages m where m.tenant_id = $1 and m.session_id = $2 order by id",
		.row = &TaskMessageRead_schema },
	[TOTALS] = { "session_audit_totals",
		"select count(*) as messages, cast(coalesce(sum(prompt_tokens), 0) as bigint) "
		"as prompt_tokens, cast(coalesce(sum(completion_tokens), 0) as bigint) "
		"as completion_tokens, cast(coalesce(sum(cache_read_tokens + cache_write_tokens), 0) "
		"as bigint) as cached_tokens, cast(coalesce(sum(cost_pd), 0) as bigint) as cost_pd "
		"from (select " SUMMED " from messages where tenant_id = $1 and session_id = $2 "
		"union all select " SUMMED
		" from deleted_messages where tenant_id = $1 and session_id = $2) m",
		.row = &totals_row_schema, .scan = "what was found in one session" },
	[UNMAILED] = { "session_audit_unmailed",
		"select count(*) from sessions s where s.tenant_id = $1 and s.id = $2 "
		"and " SESSION_UNMAILED("$3") },
};
STATEMENT_SET(session_audit_sql, sql);

static bool reads_mail(const struct call *c)
{
	return caller_cut(&c->caller, PERM(AGENT_MAIL_READ)) != 0;
}

QUERY_OPERATION(listSessionsForAudit, session_query, AuditSessionListResponse, .long_read = true,
	.stale_ok = true)
{
	int walk = in->user_id	    ? WALK_USER
		   : in->agent_id   ? WALK_AGENT
		   : in->status < 0 ? WALK_TENANT
				    : WALK_STATUS;
	struct id first = id_least(in->from.us == NIL ? 0 : in->from.us),
		  last = id_least(in->to.us == NIL || in->to.us > INT64_MAX - FILED_LATER_US
					  ? INT64_MAX
					  : in->to.us + FILED_LATER_US);
	struct session_span span = { .tenant_id = c->caller.tenant_id,
		.agent_id = in->agent_id,
		.user_id = in->user_id,
		.pattern = in->q ? fold_pattern(c->arena, in->q) : NULL,
		.first = first.text,
		.last = last.text,
		.reader_id = c->caller.user_id,
		.reads_mail = reads_mail(c),
		.status = in->status,
		.from = in->from,
		.to = in->to };
	struct db_page page = { .rows = (size_t)in->per_page,
		.bytes = SIZE_MAX,
		.offset = (in->page - 1) * in->per_page };
	int err = db_int(c->db, &sql[2 * walk + 1], &out->total, BY_NAME(session_span, &span));
	bool cut;

	out->page = in->page;
	out->per_page = in->per_page;
	return err ? err
		   : db_page(c->db, c->arena, &sql[2 * walk], &out->items, &page, &cut,
			     BY_NAME(session_span, &span));
}

static int fill_messages(
	struct call *c, const char *session_id, struct AuditSessionDetailResponse *out)
{
	enum { MESSAGES_MAX = 5000 };
	const struct value args[] = { T(c->caller.tenant_id), T(session_id) };
	struct totals_row totals;
	int err = db_one(c->db, c->arena, &sql[TOTALS], &totals, args, 2);

	if (!err && totals.messages > MESSAGES_MAX)
		return call_fail(c, ERR_CONFLICT,
			"This session has %lld messages, more than fit one answer; read them by pages.",
			(long long)totals.messages);
	if (!err)
		err = db_all(
			c->db, c->arena, &sql[MESSAGES], &out->messages, MESSAGES_MAX, args, 2);
	if (err)
		return err;
	out->prompt_tokens = totals.prompt_tokens;
	out->completion_tokens = totals.completion_tokens;
	out->total_tokens = totals.prompt_tokens + totals.completion_tokens + totals.cached_tokens;
	out->total_cost_cents = (totals.cost_pd + CENT / 2) / CENT;
	return 0;
}

OPERATION(
	readSessionForAudit, NONE, AuditSessionDetailResponse, .long_read = true, .stale_ok = true)
{
	const char *session_id = call_param(c, "session_id");
	struct who_row who = { 0 };
	int64_t seen = 1;
	int err = reads_mail(c) ? 0
				: db_int(c->db, &sql[UNMAILED], &seen,
					  ARGS(T(c->caller.tenant_id), T(session_id),
						  T(c->caller.user_id)));

	out->session = arena_new(c->arena, struct TaskSessionRead);
	if (!err)
		err = seen ? session_row_read(c, session_id, out->session) : ERR_NOT_FOUND;
	if (err)
		return err;
	err = db_one(
		c->db, c->arena, &sql[SESSION_WHO], &who, ARGS(T(out->session->created_by_id)));
	if (err && err != ERR_NOT_FOUND)
		return err;
	out->user_email = who.user_email;
	out->user_name = who.user_name;
	return fill_messages(c, session_id, out);
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions", &listSessionsForAudit, PERM_AUDIT_READ, 200,
		.tag = "Audit", .doc = "Every session of the tenant, newest first." },
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/audit", &readSessionForAudit,
		PERM_AUDIT_READ, 200, .tag = "Audit",
		.doc = "A session with all of its messages, those that were deleted included, tokens "
		       "and cost." },
};
RESOURCE(session_audit, routes, NULL, &session_audit_sql);
