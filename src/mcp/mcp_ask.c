/* mcp_ask.c - see mcp_ask.h: how an agent is set to work, and how a client stops it.
 *
 * A client of the revisions with a handshake stops its request by a notice that
 * names it.  So that this works in whichever process it arrives, the run keeps a
 * digest of who asked, in which of the protocol's sessions, under which id. */
#include "mcp/mcp_ask.h"

#include <math.h>
#include <string.h>

#include "api/sessions/session_rows.h"
#include "base/crypto.h"
#include "mcp/mcp_tools.h"
#include "search/search.h"
#include "sessions/session.h"

enum { DIGEST_LEN = 2 * SHA256_LEN, CANCELLED_MAX = 8 };

struct asked_place {
	const char *last_message_id;
	int64_t last_event_id;
};

FIELDS(asked_place) = {
	FIELD(asked_place, last_message_id),
	FIELD(asked_place, last_event_id),
};
static SCHEMA(asked_place, .internal = true);

struct asked_run {
	const char *id, *session_id, *agent_id;
};

FIELDS(asked_run) = {
	FIELD(asked_run, id),
	FIELD(asked_run, session_id),
	FIELD(asked_run, agent_id),
};
static SCHEMA(asked_run, .internal = true);

enum { ASKED_PLACE, ASKED_RUN };

static const struct statement sql[] = {
	[ASKED_PLACE] = { "mcp_session_place",
		"select last_message_id, last_event_id from sessions where tenant_id = $1 and id = $2",
		.row = &asked_place_schema },
	/* Of the sessions that are at work, which are few. */
	[ASKED_RUN] = { "mcp_asked_run",
		"select r.id, r.session_id, s.agent_id from sessions s join session_runs r "
		"on r.tenant_id = s.tenant_id and r.session_id = s.id where s.tenant_id = $1 "
		"and s.status in ('pending', 'running', 'waiting_approval') and r.user_id = $2 "
		"and r.ended_at is null and r.options like $3 limit $4",
		.row = &asked_run_schema },
};
STATEMENT_SET(mcp_ask_sql, sql);

/* ---- which request it is ---- */

static void digest_part(struct buf *b, const char *text)
{
	buf_put(b, text, strlen(text) + 1); /* with its end, so that none can pass for another */
}

static const char *request_digest(struct call *c, const char *session, const char *id)
{
	char *text = arena_alloc(c->arena, DIGEST_LEN + 1);
	uint8_t digest[SHA256_LEN];
	struct buf b;

	buf_init(&b, 4096);
	digest_part(&b, c->caller.user_id);
	digest_part(&b, session);
	digest_part(&b, id);
	sha256(b.at, b.len, digest);
	buf_free(&b);
	hex_write(digest, sizeof digest, text);
	return text;
}

/* ---- set to work ---- */

static int begin_session(struct call *c, const char *agent_id, const char **ret_id)
{
	const struct session_new session = { .tenant_id = c->caller.tenant_id,
		.agent_id = agent_id,
		.created_by_id = c->caller.user_id,
		.origin = "api",
		.now = c->now };
	int err = session_open(c->db, c->arena, &session, ret_id, &c->problem);

	if (!err)
		err = search_refresh(
			c->db, c->arena, c->caller.tenant_id, MentionType_session, *ret_id);
	return err ? err : session_noted(c, *ret_id, agent_id);
}

static int continue_session(struct call *c, const char *agent_id, const char *session_id)
{
	const struct place place = { .tenant_id = c->caller.tenant_id, .session_id = session_id };
	int err = caller_permit(
		&c->caller, c->db, c->arena, PERM_SESSION_WRITE, &place, false, &c->problem);

	if (!err && strcmp(c->caller.agent_id, agent_id) != 0)
		err = ERR_NOT_FOUND;
	return err == ERR_NOT_FOUND ? call_fail(c, err, "This agent has no such session for you.")
				    : err;
}

static int say_and_start(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said,
	const struct McpAsk *in, struct mcp_begun *begun)
{
	const struct session_actor as = session_actor_of(c);
	const struct session_words words = { .tenant_id = c->caller.tenant_id,
		.session_id = begun->session_id,
		.author_id = c->caller.user_id,
		.by = as,
		.role = "user",
		.content = in->message,
		.now = c->now };
	struct run_options options = {
		.refuses = RUN_REFUSES_HOURS | RUN_REFUSES_BUDGET, .temperature = NAN, .top_p = NAN
	};
	const char *message_id;
	struct asked_place place;
	int err;

	if (!post->modern && post->session)
		options.metadata = arena_printf(
			c->arena, "{\"mcp\":\"%s\"}", request_digest(c, post->session, said->id));
	err = session_say(c->db, c->arena, &words, &message_id, &c->problem);
	if (!err)
		err = db_one(c->db, c->arena, &sql[ASKED_PLACE], &place,
			ARGS(T(c->caller.tenant_id), T(begun->session_id)));
	if (err)
		return err;
	begun->after = place.last_event_id;
	begun->after_id = place.last_message_id;
	err = session_start(c->db, c->arena, c->caller.tenant_id, begun->session_id, &as, &options,
		false, c->now, &begun->run_id, &c->problem);
	return err ? err
		   : call_audit_also(c, (struct audit_entry){ .action = "session.message",
						.resource_id = begun->session_id,
						.agent_id = begun->agent_id,
						.meta = arena_printf(c->arena,
							"{\"message_id\":\"%s\"}", message_id) });
}

int mcp_ask(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said)
{
	struct mcp_begun begun = { 0 };
	struct McpAsk in;
	int err = mcp_arguments(c, said, &McpAsk_schema, &in);

	if (!err)
		err = mcp_agent_find(c, said->name, &begun.agent_id);
	if (!err && in.session_id && *in.session_id) {
		begun.session_id = in.session_id;
		err = continue_session(c, begun.agent_id, begun.session_id);
	}
	if (!err)
		err = session_room(c, begun.agent_id, NULL, 1);
	if (!err && !begun.session_id)
		err = begin_session(c, begun.agent_id, &begun.session_id);
	if (!err)
		err = say_and_start(c, post, said, &in, &begun);
	if (!err)
		mcp_watch(c, post, said, &begun);
	return err;
}

/* ---- stopped ---- */

int mcp_cancel(struct call *c, const struct mcp_post *post, const struct mcp_spoken *said)
{
	const char *digest;
	const struct asked_run *run;
	struct list runs;
	int err;

	if (post->modern || !post->session || !said->request_id ||
		!caller_cut(&c->caller, PERM(SESSION_WRITE)))
		return 0;
	digest = request_digest(c, post->session, said->request_id);
	err = db_all(c->db, c->arena, &sql[ASKED_RUN], &runs, CANCELLED_MAX,
		ARGS(T(c->caller.tenant_id), T(c->caller.user_id),
			T(arena_printf(c->arena, "%%\"mcp\":\"%s\"%%", digest)), N(CANCELLED_MAX)));
	run = runs.at;
	for (size_t i = 0; !err && i < runs.count; i++)
		err = mcp_end_run(c, run[i].agent_id, run[i].session_id, run[i].id);
	return err;
}
