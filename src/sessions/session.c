/* session.c - see session.h: sessions are opened, spoken in, and set to work here. */
#include "sessions/session.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/fold.h"
#include "base/json.h"
#include "base/utf8_cut.h"
#include "broker/gate.h"
#include "queue/jobs.h"
#include "sessions/session_tx.h"
#include "sessions/tool_run.h"
#include "store/row.h"

enum { TITLE_CHARS = 60, TITLE_BYTES_MAX = 400 };

/* What must hold of the agent and its tenant before it is set to work. */
struct agent_state {
	bool is_active, tenant_runs, plan_read_only;
	const char *initial_greeting;
	int64_t sessions_most, sessions_today;
};

FIELDS(agent_state) = {
	FIELD(agent_state, is_active),
	FIELD(agent_state, tenant_runs),
	FIELD(agent_state, plan_read_only),
	FIELD(agent_state, initial_greeting, .nullable = true),
	FIELD(agent_state, sessions_most, .nullable = true),
	FIELD(agent_state, sessions_today),
};
static SCHEMA(agent_state, .internal = true);

/* As it is when it is opened. */
struct opened_session {
	const char *tenant_id, *id, *agent_id, *parent_session_id, *parent_call_id;
	const char *title, *title_folded, *origin, *created_by_id, *metadata;
	int64_t depth, created_at;
};

FIELDS(opened_session) = {
	ROW_FIELDS(opened_session, tenant_id, id, agent_id, depth, origin, metadata, created_at),
	ROW_NULLABLE(opened_session, parent_session_id, parent_call_id, title, title_folded,
		created_by_id),
};
static SCHEMA(opened_session, .internal = true);

enum { AGENT_STATE, AGENT_MAY_WORK, SESSION_ADD, SESSION_FILE, MARK_ACTIVE, CHILDREN_OPEN };

#define IF(condition, name) "case when " condition " then 1 else 0 end as " name
#define AGENT_COLUMNS                                                                 \
	"a.is_active, " IF("t.status in ('active', 'trial')", "tenant_runs") ", " IF( \
		"t.read_only_after is not null and a.id > t.read_only_after", "plan_read_only")

static const struct statement sql[] = {
	/* Subtasks are work of sessions that are counted. */
	[AGENT_STATE] = { "session_agent",
		"select " AGENT_COLUMNS
		", a.initial_greeting, p.max_sessions_per_day as sessions_most, "
		/* Not read where nothing is limited: it would set those who begin at once against
		 * each other. */
		"case when p.max_sessions_per_day is null then 0 else "
		"coalesce((select cast(sum(u.sessions - u.subtasks) as bigint) from usage_days u "
		"where u.tenant_id = $1 and u.day = $3), 0) end as sessions_today "
		"from agents a join tenants t on t.id = $1 join plans p on p.id = t.plan_id "
		"where a.tenant_id = $1 and a.id = $2",
		.row = &agent_state_schema },
	[AGENT_MAY_WORK] = { "session_agent_works",
		"select " AGENT_COLUMNS ", 0 as sessions_today from agents a join tenants t "
		"on t.id = $1 where a.tenant_id = $1 and a.id = $2",
		.row = &agent_state_schema },
	[SESSION_ADD] = { "session_add",
		"insert into session_rows ({*}, updated_at, status, iteration_count, message_count, "
		"last_event_id) values ({$}, :created_at, 'pending', 0, 0, 0)",
		.row = &opened_session_schema },
	[SESSION_FILE] = { "session_file",
		"insert into directory (id, tenant_id) values ($1, $2)" },
	[MARK_ACTIVE] = { "session_active",
		"insert into active_days (tenant_id, day, kind, id) values ($1, $2, $3, $4) "
		"on conflict (tenant_id, day, kind, id) do nothing" },
	[CHILDREN_OPEN] = { "session_children_count",
		"select count(*) from sessions where tenant_id = $1 and parent_session_id = $2 "
		"and status in ('pending', 'running', 'waiting_approval')" },
};
STATEMENT_SET(session_sql, sql);

/* ---- whether it may be ---- */

static int check_agent_state(const struct agent_state *s, struct arena *a, struct problem *p)
{
	if (!s->tenant_runs) {
		p->code = "tenant_not_running";
		return problem_set(p, a, ERR_CONFLICT, TENANT_STANDS_STILL);
	}
	if (s->plan_read_only) {
		p->code = "plan_read_only";
		return problem_set(p, a, ERR_CONFLICT,
			"This agent is beyond the tenant's plan and only reads.");
	}
	if (!s->is_active) {
		p->code = "agent_inactive";
		return problem_set(p, a, ERR_CONFLICT, "The agent is switched off.");
	}
	return 0;
}

static int check_day(const struct session_new *in, const struct agent_state *s, struct arena *a,
	struct problem *p)
{
	if (in->parent_session_id || s->sessions_most == NIL ||
		s->sessions_today < s->sessions_most)
		return 0;
	p->code = "plan_sessions";
	p->retry_after_s = (int)((DAY_US - in->now % DAY_US) / SECOND_US) + 1;
	p->final = true;
	return problem_set(p, a, ERR_THROTTLED,
		"The tenant's plan allows %lld sessions a day, and they are used up; the next day begins at midnight UTC.",
		(long long)s->sessions_most);
}

static int check_depth(
	struct db *db, struct arena *a, const struct session_new *in, struct problem *p)
{
	int64_t open = 0;
	int err;

	if (!in->parent_session_id)
		return 0;
	if (in->depth > SESSION_DEPTH_MAX)
		return problem_set(p, a, ERR_CONFLICT,
			"Subtasks go at most %d sessions deep, and this one would go deeper.",
			SESSION_DEPTH_MAX);
	err = db_int(
		db, &sql[CHILDREN_OPEN], &open, ARGS(T(in->tenant_id), T(in->parent_session_id)));
	if (!err && open >= SESSION_SUBTASKS_MAX)
		return problem_set(p, a, ERR_CONFLICT,
			"A session has at most %d subtasks at a time; wait for one to end.",
			SESSION_SUBTASKS_MAX);
	return err;
}

/* ---- opening ---- */

static int file_session(
	struct db *db, struct arena *a, const struct session_new *in, const char *id)
{
	int err = db_put(db, &sql[SESSION_ADD],
		&(struct opened_session){ .tenant_id = in->tenant_id,
			.id = id,
			.agent_id = in->agent_id,
			.parent_session_id = in->parent_session_id,
			.parent_call_id = in->parent_call_id,
			.title = in->title,
			.title_folded = in->title ? fold(a, in->title) : NULL,
			.origin = in->origin,
			.created_by_id = in->created_by_id,
			.metadata = in->metadata ? in->metadata : "",
			.depth = in->depth,
			.created_at = in->now });

	if (!err)
		err = db_run(db, &sql[SESSION_FILE], NULL, ARGS(T(id), T(in->tenant_id)));
	if (!err)
		err = db_run(db, &sql[MARK_ACTIVE], NULL,
			ARGS(T(in->tenant_id), N(in->now / DAY_US), T("agent"), T(in->agent_id)));
	if (!err && in->created_by_id)
		err = db_run(db, &sql[MARK_ACTIVE], NULL,
			ARGS(T(in->tenant_id), N(in->now / DAY_US), T("user"),
				T(in->created_by_id)));
	return err;
}

static int add_greeting(struct session_tx *p, const char *greeting)
{
	struct message_row m = { .role = "assistant", .content = greeting };

	return greeting && *greeting ? tx_message_add(p, &m) : 0;
}

/* The row as it was just written: nobody else can have changed it. */
static struct session_tx tx_of_new(
	struct db *db, struct arena *a, const struct session_new *in, const char *id)
{
	return (struct session_tx){ .db = db,
		.a = a,
		.tenant_id = in->tenant_id,
		.session_id = id,
		.now = in->now,
		.row = { .tenant_id = in->tenant_id,
			.id = id,
			.agent_id = in->agent_id,
			.parent_session_id = in->parent_session_id,
			.parent_call_id = in->parent_call_id,
			.title = in->title,
			.created_by_id = in->created_by_id,
			.last_message_id = "",
			.status = SESSION_STATE_PENDING,
			.depth = in->depth,
			.started_at = NIL,
			.completed_at = NIL,
			.attention_at = NIL,
			.waiting_until = NIL,
			.updated_at = in->now } };
}

int session_begin(struct session_tx *p, struct db *db, struct arena *a,
	const struct session_new *in, struct problem *problem)
{
	struct id id = id_new(NULL);
	struct agent_state state;
	const char *own = in->id ? in->id : arena_strdup(a, id.text);
	int err = db_one(db, a, &sql[AGENT_STATE], &state,
		ARGS(T(in->tenant_id), T(in->agent_id), N(in->now / DAY_US)));

	if (err == ERR_NOT_FOUND)
		return problem_set(problem, a, err, "There is no such agent.");
	if (!err)
		err = check_agent_state(&state, a, problem);
	if (!err)
		err = check_day(in, &state, a, problem);
	if (!err)
		err = check_depth(db, a, in, problem);
	if (!err && in->parent_session_id)
		err = session_check_owner(
			db, a, in->tenant_id, in->parent_session_id, in->created_by_id, problem);
	if (!err)
		err = file_session(db, a, in, own);
	if (err)
		return err;
	*p = tx_of_new(db, a, in, own);
	p->sums.sessions = 1;
	p->sums.subtasks = in->parent_session_id != NULL;
	p->retitled = in->title != NULL;
	err = tx_tell_status(p);
	if (!err)
		err = tx_person(p, in->created_by_id);
	if (!err && in->greets)
		err = add_greeting(p, state.initial_greeting);
	return err;
}

int session_open(struct db *db, struct arena *a, const struct session_new *in, const char **ret_id,
	struct problem *problem)
{
	struct session_tx p = { 0 };
	int err = session_begin(&p, db, a, in, problem);

	if (err)
		return err;
	*ret_id = p.session_id;
	return tx_close(&p);
}

/* ---- speaking ---- */

/* The first words, cut at a word. */
const char *session_title_of(struct arena *a, const char *text)
{
	char *out = arena_alloc(a, TITLE_BYTES_MAX + 8);
	size_t len = 0, chars = 0, word = 0;

	text += strspn(text, " \t\r\n");
	for (const char *s = text; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (isspace(c)) {
			if (len && out[len - 1] == ' ')
				continue;
			word = len;
			c = ' ';
		}
		chars += (c & 0xc0) != 0x80;
		if (chars > TITLE_CHARS || len >= TITLE_BYTES_MAX) {
			len = word ? word : len;
			memcpy(out + len, "\u2026", 4);
			return out;
		}
		out[len++] = (char)c;
	}
	while (len && out[len - 1] == ' ')
		len--;
	out[len] = '\0';
	return len ? out : NULL;
}

int session_say(struct db *db, struct arena *a, const struct session_words *in, const char **ret_id,
	struct problem *problem)
{
	struct message_row m = { .id = in->id,
		.role = in->role,
		.author_id = in->author_id,
		.content = in->content,
		.metadata = in->metadata,
		.thoughts = in->thoughts,
		.parts = in->kept,
		.created_at = in->said_at };
	struct session_tx p;
	int err;

	if (strlen(in->content) > SESSION_MESSAGE_MAX ||
		(in->thoughts && strlen(in->thoughts) > SESSION_ANSWER_MAX))
		return problem_set(problem, a, ERR_TOO_LARGE, "A message holds at most %d bytes.",
			SESSION_MESSAGE_MAX);
	err = tx_open(&p, db, a, in->tenant_id, in->session_id, in->now, problem);
	if (!err)
		err = session_check_speaker(&p, &in->by, problem);
	if (!err && session_at_work(&p.row)) {
		bool theirs;

		err = session_is_theirs(&p, &in->by, &theirs);
		m.heard_id = theirs ? NULL : HEARD_LATER;
	}
	if (!err && in->parts)
		err = session_parts_keep(db, a, PARTS_OF_SESSION, in->tenant_id, in->session_id,
			in->parts, &m.parts, problem);
	if (!err)
		err = tx_message_add(&p, &m);
	if (!err)
		err = tx_person(&p, in->author_id);
	if (!err && !p.row.title && strcmp(in->role, "user") == 0) {
		p.row.title = session_title_of(a, in->content);
		p.retitled = p.row.title != NULL;
	}
	if (!err)
		err = tx_close(&p);
	if (ret_id)
		*ret_id = m.id;
	return err;
}

/* ---- setting to work ---- */

static void put_run_option(struct buf *b, const char *name, const char *text, bool json)
{
	if (!text)
		return;
	buf_puts(b, b->len > 1 ? "," : "");
	json_write_string(b, name, strlen(name));
	buf_putc(b, ':');
	if (json)
		buf_puts(b, text);
	else
		json_write_string(b, text, strlen(text));
}

static void put_figure(struct buf *b, const char *name, double v)
{
	if (isnan(v))
		return;
	buf_puts(b, b->len > 1 ? "," : "");
	json_write_string(b, name, strlen(name));
	buf_putc(b, ':');
	json_write_number(b, v);
}

static const char *options_json(struct arena *a, const struct run_options *o)
{
	struct buf b;

	buf_init(&b, (size_t)16 << 20);
	buf_putc(&b, '{');
	if (o) {
		put_run_option(&b, "instructions", o->instructions, false);
		put_run_option(&b, "additional_instructions", o->additional_instructions, false);
		put_run_option(&b, "model_id", o->model_id, false);
		put_run_option(&b, "tools", o->tools, true);
		put_run_option(&b, "tool_choice", o->tool_choice, true);
		put_run_option(&b, "metadata", o->metadata, true);
		put_figure(&b, "max_tokens", o->max_tokens ? (double)o->max_tokens : NAN);
		put_figure(&b, "temperature", o->temperature);
		put_figure(&b, "top_p", o->top_p);
		put_run_option(&b, "any_hour", o->any_hour ? "true" : NULL, true);
		put_run_option(&b, "forward", o->forward, true);
		put_run_option(&b, "effort", o->effort, false);
		put_run_option(&b, "one_call", o->one_call ? "true" : NULL, true);
		put_figure(&b, "max_prompt_tokens",
			o->max_prompt_tokens ? (double)o->max_prompt_tokens : NAN);
		put_figure(&b, "last_messages", o->last_messages ? (double)o->last_messages : NAN);
	}
	buf_putc(&b, '}');
	return arena_take(a, &b);
}

static struct run_order run_order_of(struct arena *a, const struct run_options *o)
{
	return (struct run_order){ .options = options_json(a, o),
		.model_id = o ? o->model_id : NULL,
		.priority = o && o->background ? 0 : JOB_PRIORITY_PERSON,
		.admitted = !o || !o->queued,
		.refuses = o ? o->refuses : 0 };
}

static int add_run(
	struct session_tx *p, const struct session_actor *as, const struct run_options *options)
{
	const struct run_order asked = run_order_of(p->a, options);
	struct id id = id_new(NULL);
	int err;

	p->row.run_id = arena_strdup(p->a, id.text);
	p->row.error = NULL;
	p->row.job_id = NULL; /* a dead one's, if any */
	p->priority = asked.priority;
	err = session_run_add(p, p->row.run_id, as, &asked);
	if (!err)
		err = session_hear_waiting(p, NULL);
	if (!err)
		err = tx_job(p);
	if (err)
		return err;
	return p->row.status == SESSION_STATE_PENDING ? tx_tell_status(p)
						      : tx_move(p, SESSION_STATE_PENDING);
}

/* It is at work: what was said is heard by this run, or waits with a run of its own. */
static int join_run(struct session_tx *p, const struct session_actor *as,
	const struct run_options *options, const char **ret_run_id, struct problem *problem)
{
	const struct run_order asked = run_order_of(p->a, options);
	const char *run_id = p->row.run_id;
	bool theirs;
	int err = session_is_theirs(p, as, &theirs);

	if (!err && !theirs)
		err = session_wait(p, as, &asked, &run_id, problem);
	if (ret_run_id)
		*ret_run_id = run_id;
	return err ? err : tx_close(p);
}

int session_start(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const struct session_actor *as, const struct run_options *options, bool join, int64_t now,
	const char **ret_run_id, struct problem *problem)
{
	struct agent_state state;
	struct session_tx p;
	int err = tx_open(&p, db, a, tenant_id, session_id, now, problem);

	if (!err)
		err = session_check_speaker(&p, as, problem);
	if (err)
		return err;
	if (session_at_work(&p.row) && !join)
		return problem_set(problem, a, ERR_CONFLICT,
			"The agent is at work in this session; wait for it, or cancel it.");
	if (session_at_work(&p.row))
		return join_run(&p, as, options, ret_run_id, problem);
	err = db_one(db, a, &sql[AGENT_MAY_WORK], &state, ARGS(T(tenant_id), T(p.row.agent_id)));
	if (!err)
		err = check_agent_state(&state, a, problem);
	if (!err)
		err = add_run(&p, as, options);
	if (!err)
		err = tx_close(&p);
	if (ret_run_id)
		*ret_run_id = p.row.run_id;
	return err;
}

int session_again(struct session_tx *p)
{
	const struct session_actor as = {
		.user_id = p->run.user_id, .key_id = p->run.key_id, .hook_id = p->run.hook_id
	};
	const struct run_order asked = { .options = p->run.options,
		.priority = p->run.priority,
		.admitted = p->run.admitted,
		.refuses = p->run.refuses };
	struct id id = id_new(NULL);
	struct agent_state state;
	struct problem problem = { 0 };
	int err = db_one(p->db, p->a, &sql[AGENT_MAY_WORK], &state,
		ARGS(T(p->tenant_id), T(p->row.agent_id)));

	if (!err)
		err = check_agent_state(&state, p->a, &problem);
	if (err)
		return err;
	p->row.run_id = arena_strdup(p->a, id.text);
	p->row.error = NULL;
	p->row.job_id = NULL;
	err = session_run_add(p, p->row.run_id, &as, &asked);
	if (!err)
		err = tx_job(p);
	return err ? err : tx_move(p, SESSION_STATE_PENDING);
}

/* ---- results from outside ---- */

const char *tool_cut(struct arena *a, const char *text)
{
	enum { NOTE = 160 };
	size_t len = strlen(text), kept = utf8_cut(text, len, TOOL_OUTPUT_MAX - NOTE);

	if (len <= TOOL_OUTPUT_MAX)
		return text;
	return arena_printf(
		a, "%.*s\n\n[Cut here: %zu of %zu bytes are shown.]", (int)kept, text, kept, len);
}

int session_answer(struct db *db, struct arena *a, const char *tenant_id, const char *session_id,
	const char *user_id, const char *call_id, const char *output,
	const struct session_parts *parts, int64_t now, struct problem *problem)
{
	struct session_tx p;
	struct list calls, kept;
	struct call_row *c, *found = NULL;
	int err = tx_open(&p, db, a, tenant_id, session_id, now, problem);

	if (!err)
		err = tx_calls(&p, &calls);
	if (err)
		return err;
	c = calls.at;
	for (size_t i = 0; i < calls.count; i++)
		if (strcmp(c[i].call_id, call_id) == 0)
			found = &c[i];
	if (!found)
		return problem_set(problem, a, ERR_NOT_FOUND,
			"No call with the id %.*s waits in this session.", UTF8_SHOWN(64, call_id));
	if (found->state != CALL_STATE_WAITING_CLIENT)
		return problem_set(problem, a, ERR_CONFLICT,
			"The call %.*s does not wait for a result from outside.",
			UTF8_SHOWN(64, call_id));
	err = tx_run(&p);
	if (!err && (!user_id || !p.run.user_id || strcmp(user_id, p.run.user_id) != 0))
		return problem_set(problem, a, ERR_FORBIDDEN,
			"The results of a run's functions are given by the one who began it.");
	if (!err)
		err = session_parts_keep(
			db, a, PARTS_OF_SESSION, tenant_id, session_id, parts, &kept, problem);
	if (!err)
		err = tx_call_result_with(
			&p, found, CALL_STATE_COMPLETED, tool_cut(a, output), &kept);
	if (!err)
		err = tx_go_on(&p, &calls);
	return err ? err : tx_close(&p);
}
