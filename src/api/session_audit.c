/* session_audit.c - sessions as auditors see them: every one of the tenant's, with all that was said. */
#include <string.h>

#include "api/api.h"
#include "api/audit.h"
#include "api/session_rows.h"
#include "base/clock.h"
#include "base/fold.h"
#include "base/id.h"

#define CENT INT64_C(10000000000) /* picodollars */
#define FILED_LATER_US (3600 * SECOND_US)

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
	FIELD(session_query, status, .nullable = true, .words = &SessionStatus_words,
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

/* $1 tenant, $2 agent, $3 user, $4 status, $5 and $6 the span of time, $7 pattern: null for any; $8 the
 * first id and $9 the one behind the last.  A session is filed a moment after the time that it shows, so
 * the span of ids is a little longer at its end. */
#define FILTERED                                                  \
	"(cast($2 as text) is null or s.agent_id = $2) "          \
	"and (cast($3 as text) is null or s.created_by_id = $3) " \
	"and (cast($4 as text) is null or s.status = $4) "        \
	"and (cast($5 as bigint) is null or s.created_at >= $5) " \
	"and (cast($6 as bigint) is null or s.created_at < $6) "  \
	"and (cast($7 as text) is null or s.title_folded like $7 escape '!')"
#define SPAN "s.id >= $8 and s.id < $9 and "

/* One walk along an index: its page, and its count. */
/* clang-format off */
#define WALK(name, where)                                                                          \
	{ name "_list",                                                                            \
		"select s.id, s.tenant_id, s.agent_id, s.status, s.created_at, s.completed_at, "   \
		"s.created_by_id, s.message_count, s.started_at, s.title, "                        \
		"(select a.name from agents a where a.tenant_id = $1 and a.id = s.agent_id) as agent_name, " \
		"(select u.email from users u where u.id = s.created_by_id) as user_email, "       \
		"(select u.name from users u where u.id = s.created_by_id) as user_name "          \
		"from sessions s where s.tenant_id = $1 and " where SPAN FILTERED                  \
		" order by s.id desc limit $10 offset $11",                                        \
		.row = &AuditSessionListItem_schema },                                             \
	{ name "_count",                                                                           \
		"select count(*) from sessions s where s.tenant_id = $1 and " where SPAN FILTERED }
/* clang-format on */

enum { WALK_TENANT, WALK_USER, WALK_AGENT, WALK_STATUS, WALKS };
enum { SESSION_WHO = 2 * WALKS, MESSAGES, TOTALS };

static const struct statement sql[] = {
	WALK("session_audit", ""),
	WALK("session_audit_user", "s.created_by_id = $3 and "),
	WALK("session_audit_agent", "s.agent_id = $2 and "),
	WALK("session_audit_status", "s.status = $4 and "),
	[SESSION_WHO] = { "session_audit_who",
		"select u.email as user_email, u.name as user_name from users u where u.id = $1",
		.row = &who_row_schema },
	[MESSAGES] = { "session_audit_messages",
		"select " MESSAGE_COLUMNS " from messages m where m.tenant_id = $1 "
		"and m.session_id = $2 order by m.id",
		.row = &TaskMessageRead_schema },
	[TOTALS] = { "session_audit_totals",
		"select count(*) as messages, cast(coalesce(sum(prompt_tokens), 0) as bigint) "
		"as prompt_tokens, cast(coalesce(sum(completion_tokens), 0) as bigint) "
		"as completion_tokens, cast(coalesce(sum(cache_read_tokens + cache_write_tokens), 0) "
		"as bigint) as cached_tokens, cast(coalesce(sum(cost_pd), 0) as bigint) as cost_pd "
		"from messages where tenant_id = $1 and session_id = $2",
		.row = &totals_row_schema },
};
STATEMENT_SET(session_audit_sql, sql);

OPERATION(listSessionsForAudit, .query = &session_query_schema,
	.reply = &AuditSessionListResponse_schema)
{
	const struct session_query *in = c->query;
	struct AuditSessionListResponse *out = c->reply;
	const char *status = in->status < 0 ? NULL : SessionStatus_words.list[in->status];
	int walk = in->user_id	  ? WALK_USER
		   : in->agent_id ? WALK_AGENT
		   : status	  ? WALK_STATUS
				  : WALK_TENANT;
	struct id first = id_least(in->from.us == NIL ? 0 : in->from.us),
		  last = id_least(in->to.us == NIL || in->to.us > INT64_MAX - FILED_LATER_US
					  ? INT64_MAX
					  : in->to.us + FILED_LATER_US);
	const struct value args[] = { T(c->caller.tenant_id), T(in->agent_id), T(in->user_id),
		T(status), N(in->from.us), N(in->to.us),
		T(in->q ? fold_pattern(c->arena, in->q) : NULL), T(first.text), T(last.text),
		N(in->per_page), N((in->page - 1) * in->per_page) };
	enum { ARGS_COUNT = sizeof args / sizeof *args };
	int err = db_int(c->db, &sql[2 * walk + 1], &out->total, args, ARGS_COUNT - 2);

	out->page = in->page;
	out->per_page = in->per_page;
	return err ? err
		   : db_all(c->db, c->arena, &sql[2 * walk], &out->items, (size_t)in->per_page,
			     args, ARGS_COUNT);
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

OPERATION(readSessionForAudit, .reply = &AuditSessionDetailResponse_schema)
{
	struct AuditSessionDetailResponse *out = c->reply;
	const char *session_id = call_param(c, "session_id");
	struct who_row who = { 0 };
	int err;

	out->session = arena_new(c->arena, struct TaskSessionRead);
	err = session_row_read(c, session_id, out->session);
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
		.doc = "A session with all of its messages, tokens and cost." },
};
RESOURCE(session_audit, routes, NULL);
