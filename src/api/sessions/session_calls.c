/* session_calls.c - the calls of tools in a session: what each was given, what became of it, how long it took, and
 * the subtask that it began.
 *
 * Messages carry what the model asked for; this is what was done about it. */
#include "api/sessions/session_rows.h"
#include "sessions/state.h"
#include "store/listing.h"

struct SessionCallRead {
	const char *id, *message_id, *tool_call_id, *name, *state, *arguments, *child_session_id;
	struct moment created_at, started_at, ended_at;
};

FIELDS(SessionCallRead) = {
	FIELD(SessionCallRead, id, .required = true, .id = true, .doc = "The call."),
	FIELD(SessionCallRead, message_id, .required = true, .id = true,
		.doc = "The message that asked for it."),
	FIELD(SessionCallRead, tool_call_id, .computed = true, .required = true,
		.example = "\"call_1\"", .doc = "The call, as the message's tool_calls name it."),
	FIELD(SessionCallRead, name, .required = true, .example = "\"web_fetch\"",
		.doc = "The tool."),
	FIELD(SessionCallRead, state, .required = true, .example = "\"completed\"",
		.doc = "Where it stands, as in the event tool_call."),
	FIELD(SessionCallRead, arguments, .computed = true, .required = true, .example = "\"{}\"",
		.doc = "What the tool was given: what the model passed, with what is set for the "
		       "agent in its place; secrets are masked."),
	FIELD(SessionCallRead, child_session_id, .required = true, .nullable = true, .id = true,
		.example = "null", .doc = "The subtask that it began."),
	FIELD(SessionCallRead, created_at, .required = true, .doc = "When it was asked for."),
	FIELD(SessionCallRead, started_at, .required = true, .nullable = true,
		.doc = "When it was made."),
	FIELD(SessionCallRead, ended_at, .required = true, .nullable = true,
		.doc = "When its result was there."),
};
static SCHEMA(SessionCallRead, .doc = "A call of a tool, and what became of it.");

enum { LIST_OF(CALL_LIST) };

/* $1 tenant, $2 session */
static const struct statement sql[] = {
	LISTING(CALL_LIST, "session_call_list", &SessionCallRead_schema,
		"{k.*}, coalesce(k.sent, k.arguments) as arguments, k.call_id as tool_call_id",
		"session_calls k where k.tenant_id = $1 and k.session_id = $2", "k.id",
		.scan = "of what was found in one session"),
};
STATEMENT_SET(session_call_sql, sql);

LIST_OPERATION(listSessionCalls, NONE, SessionCallRead, .long_read = true)
{
	return call_list(c, &sql[CALL_LIST], ARGS(T(c->caller.tenant_id), T(c->caller.session_id)));
}

static const struct route routes[] = {
	{ METHOD_GET, "/tenant/{tenant_id}/sessions/{session_id}/calls", &listSessionCalls,
		PERM_SESSION_READ, 200, .tag = "Sessions",
		.doc = "List the calls of tools, newest first: what each was given, how it ended and "
		       "when." },
};
RESOURCE(session_calls, routes, NULL, &session_call_sql);
