/* session_tx.c - see session_tx.h: the session's row, its events, its run and its messages. */
#include "sessions/session_tx.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fold.h"
#include "broker/ledger.h"
#include "events/feed_number.h"
#include "queue/jobs.h"
#include "store/row.h"

FIELDS(session_row) = {
	FIELD(session_row, tenant_id),
	FIELD(session_row, id),
	FIELD(session_row, agent_id),
	FIELD(session_row, parent_session_id, .nullable = true),
	FIELD(session_row, parent_call_id, .nullable = true),
	FIELD(session_row, title, .nullable = true),
	FIELD(session_row, created_by_id, .nullable = true),
	FIELD(session_row, origin),
	FIELD(session_row, run_id, .nullable = true),
	FIELD(session_row, job_id, .nullable = true),
	FIELD(session_row, writing_id, .nullable = true),
	FIELD(session_row, last_message_id),
	FIELD(session_row, error, .nullable = true),
	FIELD(session_row, waiting_for, .nullable = true),
	FIELD(session_row, status, .words = &session_state_words),
	FIELD(session_row, depth),
	FIELD(session_row, iteration_count),
	FIELD(session_row, message_count),
	FIELD(session_row, last_event_id),
	FIELD(session_row, started_at, .nullable = true),
	FIELD(session_row, completed_at, .nullable = true),
	FIELD(session_row, attention_at, .nullable = true),
	FIELD(session_row, waiting_until, .nullable = true),
	FIELD(session_row, updated_at),
};
SCHEMA(session_row, .internal = true);

FIELDS(run_row) = {
	FIELD(run_row, tenant_id),
	FIELD(run_row, session_id),
	FIELD(run_row, id),
	FIELD(run_row, user_id, .nullable = true),
	FIELD(run_row, key_id, .nullable = true),
	FIELD(run_row, hook_id, .nullable = true),
	FIELD(run_row, model_id, .nullable = true),
	FIELD(run_row, error_code, .nullable = true),
	FIELD(run_row, error, .nullable = true),
	FIELD(run_row, status, .words = &run_state_words),
	FIELD(run_row, iteration_count),
	FIELD(run_row, bad_calls),
	FIELD(run_row, empty_answers),
	FIELD(run_row, prompt_tokens),
	FIELD(run_row, completion_tokens),
	FIELD(run_row, cache_read_tokens),
	FIELD(run_row, cache_write_tokens),
	FIELD(run_row, cost_pd),
	FIELD(run_row, created_at),
	FIELD(run_row, started_at, .nullable = true),
	FIELD(run_row, ended_at, .nullable = true),
	FIELD(run_row, priority),
	FIELD(run_row, refuses),
	FIELD(run_row, admitted),
	FIELD(run_row, options),
};
SCHEMA(run_row, .internal = true);

FIELDS(message_row) = {
	FIELD(message_row, tenant_id),
	FIELD(message_row, session_id),
	FIELD(message_row, id),
	FIELD(message_row, run_id, .nullable = true),
	FIELD(message_row, author_id, .nullable = true),
	FIELD(message_row, role),
	FIELD(message_row, status),
	FIELD(message_row, tool_call_id, .nullable = true),
	FIELD(message_row, model_id, .nullable = true),
	FIELD(message_row, prompt_tokens),
	FIELD(message_row, completion_tokens),
	FIELD(message_row, cache_read_tokens),
	FIELD(message_row, cache_write_tokens),
	FIELD(message_row, cost_pd),
	FIELD(message_row, created_at),
	FIELD(message_row, heard_id, .nullable = true),
	FIELD(message_row, metadata),
	FIELD(message_row, tool_calls),
	FIELD(message_row, thoughts),
	FIELD(message_row, content),
	FIELD(message_row, parts, .nullable = true, .item = OBJECT, .of = &MessagePart_schema),
};
SCHEMA(message_row, .internal = true);

struct event_row {
	const char *tenant_id, *session_id, *kind, *data;
	int64_t seq, created_at, feed;
};

FIELDS(event_row) = { ROW_FIELDS(
	event_row, tenant_id, session_id, kind, data, seq, created_at, feed) };
static SCHEMA(event_row, .internal = true);

/* What is added to the sums of a day. */
struct day_sums {
	const char *tenant_id;
	int64_t day, shard, sessions, sessions_completed, sessions_failed, sessions_cancelled,
		messages, subtasks;
};

FIELDS(day_sums) = { ROW_FIELDS(day_sums, tenant_id, day, shard, sessions, sessions_completed,
	sessions_failed, sessions_cancelled, messages, subtasks) };
static SCHEMA(day_sums, .internal = true);

enum {
	TX_OPEN,
	TX_SAVE,
	TX_SAVE_STATUS,
	TX_TITLE,
	TX_EVENT,
	TX_RUN,
	TX_RUN_SAVE,
	TX_MESSAGE,
	TX_MESSAGE_READ,
	TX_MESSAGE_SAVE,
	TX_MESSAGE_DROP,
	TX_SUMS,
	TX_PERSON,
};

#define OF_SESSION " where tenant_id = $1 and id = $2"
/* Of an agent that is gone, too: what runs there must be ended. */
#define THERE OF_SESSION " and gone_at is null"
#define IN_SESSION " where tenant_id = $1 and session_id = $2 and id = $3"

#define OF_ROW " where tenant_id = :tenant_id and id = :id"
#define IN_ROW " where tenant_id = :tenant_id and session_id = :session_id and id = :id"

#define SAVED                                                                      \
	"run_id = :run_id, job_id = :job_id, writing_id = :writing_id, "           \
	"iteration_count = :iteration_count, message_count = :message_count, "     \
	"last_message_id = :last_message_id, last_event_id = :last_event_id, "     \
	"error = :error, started_at = :started_at, completed_at = :completed_at, " \
	"updated_at = :updated_at, waiting_for = :waiting_for, waiting_until = :waiting_until"

#define EVENT(feed)                                                                              \
	"insert into session_events (tenant_id, session_id, kind, data, seq, created_at, feed) " \
	"values (:tenant_id, :session_id, :kind, :data, :seq, :created_at, " feed ")"

static const struct statement sql[] = {
	[TX_OPEN] = { "session_tx_open", "select {*} from session_rows" THERE,
		.postgres = "select {*} from session_rows" THERE " for update",
		.row = &session_row_schema },
	/* Naming the status costs its place in an index, be it the same. */
	[TX_SAVE] = { "session_tx_save", "update session_rows set " SAVED OF_ROW,
		.row = &session_row_schema },
	[TX_SAVE_STATUS] = { "session_tx_save_status",
		"update session_rows set status = :status, " SAVED OF_ROW,
		.row = &session_row_schema },
	[TX_TITLE] = { "session_tx_title",
		"update session_rows set title = $3, title_folded = $4" OF_SESSION },
	[TX_EVENT] = { "session_tx_event", EVENT(":feed"), .postgres = EVENT(FEED_NUMBER_POSTGRES),
		.args = &event_row_schema },
	[TX_RUN] = { "session_tx_run", "select {*} from session_runs" IN_SESSION,
		.row = &run_row_schema },
	[TX_RUN_SAVE] = { "session_tx_run_save",
		"update session_runs set model_id = :model_id, error_code = :error_code, "
		"error = :error, status = :status, iteration_count = :iteration_count, "
		"bad_calls = :bad_calls, empty_answers = :empty_answers, "
		"prompt_tokens = :prompt_tokens, completion_tokens = :completion_tokens, "
		"cache_read_tokens = :cache_read_tokens, cache_write_tokens = :cache_write_tokens, "
		"cost_pd = :cost_pd, started_at = :started_at, ended_at = :ended_at, "
		"admitted = :admitted" IN_ROW,
		.row = &run_row_schema },
	[TX_MESSAGE] = { "session_tx_message", "insert into messages ({*}) values ({$})",
		.row = &message_row_schema },
	[TX_MESSAGE_READ] = { "session_tx_message_read", "select {*} from messages" IN_SESSION,
		.row = &message_row_schema },
	[TX_MESSAGE_SAVE] = { "session_tx_message_save",
		"update messages set status = :status, model_id = :model_id, "
		"prompt_tokens = :prompt_tokens, completion_tokens = :completion_tokens, "
		"cache_read_tokens = :cache_read_tokens, cache_write_tokens = :cache_write_tokens, "
		"cost_pd = :cost_pd, tool_calls = :tool_calls, thoughts = :thoughts, "
		"content = :content" IN_ROW,
		.row = &message_row_schema },
	[TX_MESSAGE_DROP] = { "session_tx_message_drop", "delete from messages" IN_SESSION },
	[TX_SUMS] = { "session_tx_sums",
		"insert into usage_days ({*}, requests, input_tokens, cache_read_tokens, "
		"cache_write_tokens, output_tokens, cost_whole, cost_pd) "
		"values ({$}, 0, 0, 0, 0, 0, 0, 0) on conflict (tenant_id, day, shard) do update set "
		"sessions = usage_days.sessions + :sessions, "
		"sessions_completed = usage_days.sessions_completed + :sessions_completed, "
		"sessions_failed = usage_days.sessions_failed + :sessions_failed, "
		"sessions_cancelled = usage_days.sessions_cancelled + :sessions_cancelled, "
		"messages = usage_days.messages + :messages, "
		"subtasks = usage_days.subtasks + :subtasks",
		.row = &day_sums_schema },
	[TX_PERSON] = { "session_tx_person",
		"insert into session_people (tenant_id, user_id, session_id) values ($1, $2, $3) "
		"on conflict (tenant_id, user_id, session_id) do nothing" },
};
STATEMENT_SET(tx_sql, sql);

static int (*title_hook)(
	struct db *db, struct arena *a, const char *tenant_id, const char *session_id);

void session_on_title(
	int (*fn)(struct db *db, struct arena *a, const char *tenant_id, const char *session_id))
{
	title_hook = fn;
}

/* ---- the row ---- */

int tx_open(struct session_tx *p, struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t now, struct problem *problem)
{
	int err;

	*p = (struct session_tx){
		.db = db, .a = a, .tenant_id = tenant_id, .session_id = session_id, .now = now
	};
	err = db_one(db, a, &sql[TX_OPEN], &p->row, ARGS(T(tenant_id), T(session_id)));
	if (err == ERR_NOT_FOUND && problem)
		return problem_set(problem, a, err, "There is no such session.");
	return err;
}

int tx_run(struct session_tx *p)
{
	int err;

	if (p->has_run || !p->row.run_id)
		return 0;
	err = db_one(p->db, p->a, &sql[TX_RUN], &p->run,
		ARGS(T(p->tenant_id), T(p->session_id), T(p->row.run_id)));
	p->has_run = !err;
	return err;
}

static int save_run(struct session_tx *p)
{
	return db_put(p->db, &sql[TX_RUN_SAVE], &p->run);
}

static int add_sums(struct session_tx *p, const struct tx_sums *s, int64_t day)
{
	if (!(s->sessions | s->completed | s->failed | s->cancelled | s->messages | s->subtasks))
		return 0;
	return db_put(p->db, &sql[TX_SUMS],
		&(struct day_sums){ .tenant_id = p->tenant_id,
			.day = day,
			.shard = ledger_shard(p->db),
			.sessions = s->sessions,
			.sessions_completed = s->completed,
			.sessions_failed = s->failed,
			.sessions_cancelled = s->cancelled,
			.messages = s->messages,
			.subtasks = s->subtasks });
}

static int save_sums(struct session_tx *p)
{
	int err = add_sums(p, &p->sums, p->now / DAY_US);

	return err ? err : add_sums(p, &p->undone, p->undone_day);
}

static int save_title(struct session_tx *p)
{
	int err = db_run(p->db, &sql[TX_TITLE], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(p->row.title),
			T(p->row.title ? fold(p->a, p->row.title) : NULL)));

	return err || !title_hook ? err : title_hook(p->db, p->a, p->tenant_id, p->session_id);
}

int tx_close(struct session_tx *p)
{
	char notice[80];
	int err = 0;

	p->row.updated_at = p->now;
	if (p->changed)
		err = db_put(p->db, &sql[p->moved ? TX_SAVE_STATUS : TX_SAVE], &p->row);
	if (!err && p->run_changed)
		err = save_run(p);
	if (!err && p->retitled)
		err = save_title(p);
	if (!err)
		err = save_sums(p);
	if (!err && p->changed) {
		snprintf(notice, sizeof notice, "%s %s %lld", p->tenant_id, p->session_id,
			(long long)p->row.last_event_id);
		err = db_notice(p->db, "events", notice);
	}
	return err;
}

/* ---- events ---- */

int tx_event(struct session_tx *p, enum session_event kind, const char *data)
{
	int err = !data ? ERR_BUSY : p->numbered ? 0 : feed_step(p->db, &p->feed);

	if (err)
		return err;
	p->changed = p->numbered = true;
	p->row.last_event_id++;
	return db_put(p->db, &sql[TX_EVENT],
		&(struct event_row){ .tenant_id = p->tenant_id,
			.session_id = p->session_id,
			.kind = session_event_names[kind],
			.data = data,
			.seq = p->row.last_event_id,
			.created_at = p->now,
			.feed = p->feed });
}

int tx_notice(struct session_tx *p, const char *code, const char *fmt, ...)
{
	struct NoticeEvent event = { .code = code, .at = { p->now } };
	va_list ap;

	va_start(ap, fmt);
	event.text = arena_vprintf(p->a, fmt, ap);
	va_end(ap);
	return tx_tell(p, NOTICE, &event);
}

int tx_tell_status(struct session_tx *p)
{
	const struct StatusEvent event = { .status = p->row.status,
		.run_id = p->row.run_id,
		.error = p->row.error,
		.waiting_for = words_index(&WaitingFor_words, p->row.waiting_for),
		.waiting_until = { p->row.waiting_until } };

	return tx_tell(p, STATUS, &event);
}

/* Subtasks are work of sessions that are counted, and so are their ends. */
static void count_session_end(struct session_tx *p, struct tx_sums *s, int state, int64_t n)
{
	if (p->row.parent_session_id)
		return;
	s->completed += state == SESSION_STATE_COMPLETED ? n : 0;
	s->failed += state == SESSION_STATE_FAILED ? n : 0;
	s->cancelled += state == SESSION_STATE_CANCELLED ? n : 0;
}

int tx_move(struct session_tx *p, int to)
{
	int from = p->row.status;

	if (from == to)
		return 0;
	if (!session_may_move(from, to))
		return ERR_CONFLICT;
	p->row.status = to;
	p->moved = true;
	if (session_state_ended(from)) { /* it did not end on that day after all */
		p->undone_day = p->row.completed_at / DAY_US;
		count_session_end(p, &p->undone, from, -1);
	}
	count_session_end(p, &p->sums, to, 1);
	if (to == SESSION_STATE_RUNNING && p->row.started_at == NIL)
		p->row.started_at = p->now;
	p->row.completed_at = session_state_ended(to) ? p->now : NIL;
	return tx_tell_status(p);
}

int tx_run_move(struct session_tx *p, int to)
{
	if (p->run.status == to)
		return 0;
	if (!run_may_move(p->run.status, to))
		return ERR_CONFLICT;
	p->run.status = to;
	if (to == RUN_STATE_IN_PROGRESS && p->run.started_at == NIL)
		p->run.started_at = p->now;
	if (run_state_ended(to))
		p->run.ended_at = p->now;
	return 0;
}

/* ---- messages ---- */

/* The least id above one: its last digit raised, with carry. */
static void raise_id(char *id)
{
	for (int i = ID_LEN - 1; i > 0; i--) {
		if (id[i] != 'z') {
			id[i] = id[i] == '9' ? 'a' : (char)(id[i] + 1);
			return;
		}
		id[i] = '0';
	}
}

const char *tx_next_id(struct session_tx *p)
{
	struct id id = id_new(NULL);
	char *text = arena_strdup(p->a, id.text);

	if (strcmp(text, p->row.last_message_id) <= 0) {
		memcpy(text, p->row.last_message_id, ID_LEN + 1);
		raise_id(text);
	}
	p->row.last_message_id = text;
	p->changed = true;
	return text;
}

struct MessageEvent message_event(const char *session_id, const struct message_row *m)
{
	return (struct MessageEvent){ .id = m->id,
		.session_id = session_id,
		.role = words_index(&MessageRole_words, m->role),
		.status = words_index(&MessageStatus_words, m->status),
		.content = m->content,
		.tool_calls = { m->tool_calls },
		.tool_call_id = m->tool_call_id,
		.model_id = m->model_id,
		.prompt_tokens = m->prompt_tokens,
		.completion_tokens = m->completion_tokens,
		.cache_read_tokens = m->cache_read_tokens,
		.cache_write_tokens = m->cache_write_tokens,
		.cost_usd = { m->cost_pd },
		.created_at = { m->created_at },
		.author_id = m->author_id,
		.parts = m->parts };
}

static int tell_message(struct session_tx *p, const struct message_row *m)
{
	const struct MessageEvent event = message_event(p->session_id, m);

	return tx_tell(p, MESSAGE, &event);
}

int tx_message_add(struct session_tx *p, struct message_row *m)
{
	int err;

	m->tenant_id = p->tenant_id;
	m->session_id = p->session_id;
	if (!m->id)
		m->id = tx_next_id(p);
	else if (strcmp(m->id, p->row.last_message_id) > 0)
		p->row.last_message_id = m->id;
	if (!m->created_at)
		m->created_at = p->now;
	m->metadata = m->metadata ? m->metadata : "";
	m->tool_calls = m->tool_calls ? m->tool_calls : "[]";
	m->thoughts = m->thoughts ? m->thoughts : "";
	m->status = m->status ? m->status : "complete";
	err = db_put(p->db, &sql[TX_MESSAGE], m);
	p->row.message_count++;
	p->sums.messages++;
	return err ? err : tell_message(p, m);
}

int tx_message_read(struct session_tx *p, const char *id, struct message_row *ret)
{
	return db_one(p->db, p->a, &sql[TX_MESSAGE_READ], ret,
		ARGS(T(p->tenant_id), T(p->session_id), T(id)));
}

int tx_message_save(struct session_tx *p, const struct message_row *m)
{
	struct message_row row = *m;
	int err;

	row.tenant_id = p->tenant_id;
	row.session_id = p->session_id;
	err = db_put(p->db, &sql[TX_MESSAGE_SAVE], &row);
	return err ? err : tell_message(p, m);
}

int tx_message_discard(struct session_tx *p, const char *id)
{
	struct message_row m;
	int err = tx_message_read(p, id, &m);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	m.status = "failed";
	m.content = "";
	p->row.message_count--;
	p->sums.messages--;
	err = db_run(
		p->db, &sql[TX_MESSAGE_DROP], NULL, ARGS(T(p->tenant_id), T(p->session_id), T(id)));
	return err ? err : tell_message(p, &m);
}

/* ---- people and jobs ---- */

int tx_person(struct session_tx *p, const char *user_id)
{
	if (!user_id)
		return 0;
	return db_run(
		p->db, &sql[TX_PERSON], NULL, ARGS(T(p->tenant_id), T(user_id), T(p->session_id)));
}

int tx_job(struct session_tx *p)
{
	struct job_new job = { .tenant_id = p->tenant_id,
		.kind = "session.run",
		.subject = p->session_id,
		.lane = p->row.agent_id,
		.priority = (int)(p->has_run ? p->run.priority : p->priority),
		.payload = arena_printf(p->a, "{\"run_id\":\"%s\"}", p->row.run_id) };
	char id[26];
	int err;

	if (p->row.job_id)
		return 0;
	err = jobs_add(p->db, p->a, &job, p->now, id);
	p->row.job_id = arena_strdup(p->a, id);
	p->changed = true;
	return err;
}

bool session_at_work(const struct session_row *r)
{
	return r->status == SESSION_STATE_RUNNING || r->status == SESSION_STATE_WAITING_APPROVAL ||
	       (r->status == SESSION_STATE_PENDING && r->job_id);
}
