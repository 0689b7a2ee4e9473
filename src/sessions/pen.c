/* pen.c - see pen.h: the session's row, its events, its run and its messages. */
#include "sessions/pen.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fold.h"
#include "base/json.h"
#include "broker/ledger.h"
#include "call/feed_number.h"
#include "queue/jobs.h"

#define DAY_US (24 * 3600 * SECOND_US)

FIELDS(session_row) = {
	FIELD(session_row, agent_id),
	FIELD(session_row, parent_session_id, .nullable = true),
	FIELD(session_row, parent_call_id, .nullable = true),
	FIELD(session_row, title, .nullable = true),
	FIELD(session_row, created_by_id, .nullable = true),
	FIELD(session_row, run_id, .nullable = true),
	FIELD(session_row, job_id, .nullable = true),
	FIELD(session_row, writing_id, .nullable = true),
	FIELD(session_row, last_message_id),
	FIELD(session_row, error, .nullable = true),
	FIELD(session_row, status, .words = &session_state_words),
	FIELD(session_row, depth),
	FIELD(session_row, iteration_count),
	FIELD(session_row, message_count),
	FIELD(session_row, last_event_id),
	FIELD(session_row, started_at, .nullable = true),
	FIELD(session_row, completed_at, .nullable = true),
};
SCHEMA(session_row, .internal = true);

FIELDS(run_row) = {
	FIELD(run_row, id),
	FIELD(run_row, user_id, .nullable = true),
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
	FIELD(run_row, options),
};
SCHEMA(run_row, .internal = true);

FIELDS(message_row) = {
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
	FIELD(message_row, metadata),
	FIELD(message_row, tool_calls),
	FIELD(message_row, thoughts),
	FIELD(message_row, content),
};
SCHEMA(message_row, .internal = true);

enum {
	PEN_OPEN,
	PEN_SAVE,
	PEN_SAVE_STATUS,
	PEN_TITLE,
	PEN_EVENT,
	PEN_RUN,
	PEN_RUN_SAVE,
	PEN_MESSAGE,
	PEN_MESSAGE_READ,
	PEN_MESSAGE_SAVE,
	PEN_MESSAGE_DROP,
	PEN_SUMS,
	PEN_PERSON,
};

#define OF_SESSION " where tenant_id = $1 and id = $2"
#define IN_SESSION " where tenant_id = $1 and session_id = $2 and id = $3"

#define SAVED                                                                                   \
	"run_id = $3, job_id = $4, writing_id = $5, iteration_count = $6, message_count = $7, " \
	"last_message_id = $8, last_event_id = $9, error = $10, started_at = $11, "             \
	"completed_at = $12, updated_at = $13"

static const struct statement sql[] = {
	[PEN_OPEN] = { "pen_open", "select {*} from sessions" OF_SESSION,
		.postgres = "select {*} from sessions" OF_SESSION " for update",
		.row = &session_row_schema },
	/* Naming the status costs its place in an index, be it the same. */
	[PEN_SAVE] = { "pen_save", "update sessions set " SAVED OF_SESSION },
	[PEN_SAVE_STATUS] = { "pen_save_status",
		"update sessions set status = $14, " SAVED OF_SESSION },
	[PEN_TITLE] = { "pen_title",
		"update sessions set title = $3, title_folded = $4" OF_SESSION },
	[PEN_EVENT] = { "pen_event",
		"insert into session_events (tenant_id, session_id, seq, kind, created_at, data, feed) "
		"values ($1, $2, $3, $4, $5, $6, $7)",
		.postgres =
			"insert into session_events (tenant_id, session_id, seq, kind, "
			"created_at, data, feed) values ($1, $2, $3, $4, $5, $6, " FEED_NUMBER_POSTGRES
			")" },
	[PEN_RUN] = { "pen_run", "select {*} from session_runs" IN_SESSION,
		.row = &run_row_schema },
	[PEN_RUN_SAVE] = { "pen_run_save",
		"update session_runs set model_id = $4, error_code = $5, error = $6, status = $7, "
		"iteration_count = $8, bad_calls = $9, empty_answers = $10, prompt_tokens = $11, "
		"completion_tokens = $12, cache_read_tokens = $13, cache_write_tokens = $14, "
		"cost_pd = $15, started_at = $16, ended_at = $17" IN_SESSION },
	[PEN_MESSAGE] = { "pen_message",
		"insert into messages (tenant_id, session_id, id, run_id, author_id, role, status, "
		"tool_call_id, model_id, prompt_tokens, completion_tokens, cache_read_tokens, "
		"cache_write_tokens, cost_pd, created_at, metadata, tool_calls, thoughts, content) "
		"values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, "
		"$18, $19)" },
	[PEN_MESSAGE_READ] = { "pen_message_read", "select {*} from messages" IN_SESSION,
		.row = &message_row_schema },
	[PEN_MESSAGE_SAVE] = { "pen_message_save",
		"update messages set status = $4, model_id = $5, prompt_tokens = $6, "
		"completion_tokens = $7, cache_read_tokens = $8, cache_write_tokens = $9, "
		"cost_pd = $10, tool_calls = $11, thoughts = $12, content = $13" IN_SESSION },
	[PEN_MESSAGE_DROP] = { "pen_message_drop", "delete from messages" IN_SESSION },
	[PEN_SUMS] = { "pen_sums",
		"insert into usage_days (tenant_id, day, shard, requests, input_tokens, "
		"cache_read_tokens, cache_write_tokens, output_tokens, cost_whole, cost_pd, sessions, "
		"sessions_completed, sessions_failed, sessions_cancelled, messages, subtasks) "
		"values ($1, $2, $3, 0, 0, 0, 0, 0, 0, 0, $4, $5, $6, $7, $8, $9) "
		"on conflict (tenant_id, day, shard) do update set "
		"sessions = usage_days.sessions + $4, "
		"sessions_completed = usage_days.sessions_completed + $5, "
		"sessions_failed = usage_days.sessions_failed + $6, "
		"sessions_cancelled = usage_days.sessions_cancelled + $7, "
		"messages = usage_days.messages + $8, subtasks = usage_days.subtasks + $9" },
	[PEN_PERSON] = { "pen_person",
		"insert into session_people (tenant_id, user_id, session_id) values ($1, $2, $3) "
		"on conflict (tenant_id, user_id, session_id) do nothing" },
};
STATEMENT_SET(pen_sql, sql);

static int (*title_hook)(
	struct db *db, struct arena *a, const char *tenant_id, const char *session_id);

void session_on_title(
	int (*fn)(struct db *db, struct arena *a, const char *tenant_id, const char *session_id))
{
	title_hook = fn;
}

/* ---- the row ---- */

int pen_open(struct pen *p, struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t now, struct problem *problem)
{
	int err;

	*p = (struct pen){
		.db = db, .a = a, .tenant_id = tenant_id, .session_id = session_id, .now = now
	};
	err = db_one(db, a, &sql[PEN_OPEN], &p->row, ARGS(T(tenant_id), T(session_id)));
	if (err == ERR_NOT_FOUND && problem)
		return problem_set(problem, a, err, "There is no such session.");
	return err;
}

int pen_run(struct pen *p)
{
	int err;

	if (p->has_run || !p->row.run_id)
		return 0;
	err = db_one(p->db, p->a, &sql[PEN_RUN], &p->run,
		ARGS(T(p->tenant_id), T(p->session_id), T(p->row.run_id)));
	p->has_run = !err;
	return err;
}

static int save_run(struct pen *p)
{
	const struct run_row *r = &p->run;

	return db_run(p->db, &sql[PEN_RUN_SAVE], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(r->id), T(r->model_id), T(r->error_code),
			T(r->error), T(run_state_words.list[r->status]), N(r->iteration_count),
			N(r->bad_calls), N(r->empty_answers), N(r->prompt_tokens),
			N(r->completion_tokens), N(r->cache_read_tokens), N(r->cache_write_tokens),
			N(r->cost_pd), N(r->started_at), N(r->ended_at)));
}

static int save_sums(struct pen *p)
{
	if (!(p->sums.sessions | p->sums.completed | p->sums.failed | p->sums.cancelled |
		    p->sums.messages | p->sums.subtasks))
		return 0;
	return db_run(p->db, &sql[PEN_SUMS], NULL,
		ARGS(T(p->tenant_id), N(p->now / DAY_US), N(ledger_shard(p->db)),
			N(p->sums.sessions), N(p->sums.completed), N(p->sums.failed),
			N(p->sums.cancelled), N(p->sums.messages), N(p->sums.subtasks)));
}

static int save_title(struct pen *p)
{
	int err = db_run(p->db, &sql[PEN_TITLE], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(p->row.title),
			T(p->row.title ? fold(p->a, p->row.title) : NULL)));

	return err || !title_hook ? err : title_hook(p->db, p->a, p->tenant_id, p->session_id);
}

int pen_close(struct pen *p)
{
	const struct session_row *r = &p->row;
	char notice[80];
	int err = 0;

	if (p->changed)
		err = db_run(p->db, &sql[p->moved ? PEN_SAVE_STATUS : PEN_SAVE], NULL,
			ARGS(T(p->tenant_id), T(p->session_id), T(r->run_id), T(r->job_id),
				T(r->writing_id), N(r->iteration_count), N(r->message_count),
				T(r->last_message_id), N(r->last_event_id), T(r->error),
				N(r->started_at), N(r->completed_at), N(p->now),
				T(session_state_words.list[r->status])));
	if (!err && p->run_changed)
		err = save_run(p);
	if (!err && p->retitled)
		err = save_title(p);
	if (!err)
		err = save_sums(p);
	if (!err && p->changed) {
		snprintf(notice, sizeof notice, "%s %s %lld", p->tenant_id, p->session_id,
			(long long)r->last_event_id);
		err = db_notice(p->db, "events", notice);
	}
	return err;
}

/* ---- events ---- */

int pen_event(struct pen *p, enum session_event kind, const char *data)
{
	int err = p->numbered ? 0 : feed_step(p->db, &p->feed);

	if (err)
		return err;
	p->changed = p->numbered = true;
	p->row.last_event_id++;
	return db_run(p->db, &sql[PEN_EVENT], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), N(p->row.last_event_id),
			T(session_event_names[kind]), N(p->now), T(data), N(p->feed)));
}

static const char *finished(struct arena *a, struct buf *b)
{
	const char *text = arena_strndup(a, b->at ? b->at : "", b->len);

	buf_free(b);
	return text;
}

static void put_text(struct buf *b, const char *text)
{
	if (text)
		json_write_string(b, text, strlen(text));
	else
		buf_lit(b, "null");
}

int pen_notice(struct pen *p, const char *code, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	va_start(ap, fmt);
	buf_init(&b, SESSION_EVENT_MAX);
	buf_lit(&b, "{\"code\":");
	put_text(&b, code);
	buf_lit(&b, ",\"text\":");
	put_text(&b, arena_vprintf(p->a, fmt, ap));
	buf_putc(&b, '}');
	va_end(ap);
	return pen_event(p, SESSION_EVENT_NOTICE, finished(p->a, &b));
}

int pen_tell_status(struct pen *p)
{
	struct buf b;

	buf_init(&b, SESSION_EVENT_MAX);
	buf_printf(&b, "{\"status\":\"%s\",\"run_id\":", session_state_words.list[p->row.status]);
	put_text(&b, p->row.run_id);
	buf_lit(&b, ",\"error\":");
	put_text(&b, p->row.error);
	buf_putc(&b, '}');
	return pen_event(p, SESSION_EVENT_STATUS, finished(p->a, &b));
}

int pen_move(struct pen *p, int to)
{
	int from = p->row.status;

	if (from == to)
		return 0;
	if (!session_may_move(from, to))
		return ERR_CONFLICT;
	p->row.status = to;
	p->moved = true;
	/* One that is opened again is no longer among those that ended. */
	p->sums.completed += (to == SESSION_STATE_COMPLETED) - (from == SESSION_STATE_COMPLETED);
	p->sums.failed += (to == SESSION_STATE_FAILED) - (from == SESSION_STATE_FAILED);
	p->sums.cancelled += (to == SESSION_STATE_CANCELLED) - (from == SESSION_STATE_CANCELLED);
	if (to == SESSION_STATE_RUNNING && p->row.started_at == NIL)
		p->row.started_at = p->now;
	p->row.completed_at = session_state_ended(to) ? p->now : NIL;
	return pen_tell_status(p);
}

int pen_run_move(struct pen *p, int to)
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

const char *pen_next_id(struct pen *p)
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

const char *message_json(struct arena *a, const char *session_id, const struct message_row *m)
{
	struct buf b;

	buf_init(&b, (size_t)64 << 20);
	buf_printf(&b,
		"{\"id\":\"%s\",\"session_id\":\"%s\",\"role\":\"%s\",\"status\":\"%s\",\"content\":",
		m->id, session_id, m->role, m->status);
	put_text(&b, m->content);
	buf_lit(&b, ",\"tool_calls\":");
	buf_puts(&b, m->tool_calls);
	buf_lit(&b, ",\"tool_call_id\":");
	put_text(&b, m->tool_call_id);
	buf_lit(&b, ",\"model_id\":");
	put_text(&b, m->model_id);
	buf_printf(&b,
		",\"prompt_tokens\":%lld,\"completion_tokens\":%lld,\"cache_read_tokens\":%lld,"
		"\"cache_write_tokens\":%lld,\"cost_usd\":",
		(long long)m->prompt_tokens, (long long)m->completion_tokens,
		(long long)m->cache_read_tokens, (long long)m->cache_write_tokens);
	json_write_number(&b, (double)m->cost_pd / (double)PICODOLLARS);
	buf_lit(&b, ",\"created_at\":");
	json_write_time(&b, m->created_at);
	buf_putc(&b, '}');
	return finished(a, &b);
}

static int tell_message(struct pen *p, const struct message_row *m)
{
	return pen_event(p, SESSION_EVENT_MESSAGE, message_json(p->a, p->session_id, m));
}

int pen_message_add(struct pen *p, struct message_row *m)
{
	int err;

	if (!m->id)
		m->id = pen_next_id(p);
	else if (strcmp(m->id, p->row.last_message_id) > 0)
		p->row.last_message_id = m->id;
	if (!m->created_at)
		m->created_at = p->now;
	m->metadata = m->metadata ? m->metadata : "";
	m->tool_calls = m->tool_calls ? m->tool_calls : "[]";
	m->thoughts = m->thoughts ? m->thoughts : "";
	m->status = m->status ? m->status : "complete";
	err = db_run(p->db, &sql[PEN_MESSAGE], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(m->id), T(m->run_id), T(m->author_id),
			T(m->role), T(m->status), T(m->tool_call_id), T(m->model_id),
			N(m->prompt_tokens), N(m->completion_tokens), N(m->cache_read_tokens),
			N(m->cache_write_tokens), N(m->cost_pd), N(m->created_at), T(m->metadata),
			T(m->tool_calls), T(m->thoughts), T(m->content)));
	p->row.message_count++;
	p->sums.messages++;
	return err ? err : tell_message(p, m);
}

int pen_message_read(struct pen *p, const char *id, struct message_row *ret)
{
	return db_one(p->db, p->a, &sql[PEN_MESSAGE_READ], ret,
		ARGS(T(p->tenant_id), T(p->session_id), T(id)));
}

int pen_message_save(struct pen *p, const struct message_row *m)
{
	int err = db_run(p->db, &sql[PEN_MESSAGE_SAVE], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(m->id), T(m->status), T(m->model_id),
			N(m->prompt_tokens), N(m->completion_tokens), N(m->cache_read_tokens),
			N(m->cache_write_tokens), N(m->cost_pd), T(m->tool_calls), T(m->thoughts),
			T(m->content)));

	return err ? err : tell_message(p, m);
}

int pen_message_discard(struct pen *p, const char *id)
{
	struct message_row m;
	int err = pen_message_read(p, id, &m);

	if (err)
		return err == ERR_NOT_FOUND ? 0 : err;
	m.status = "failed";
	m.content = "";
	p->row.message_count--;
	p->sums.messages--;
	err = db_run(p->db, &sql[PEN_MESSAGE_DROP], NULL,
		ARGS(T(p->tenant_id), T(p->session_id), T(id)));
	return err ? err : tell_message(p, &m);
}

/* ---- people and jobs ---- */

int pen_person(struct pen *p, const char *user_id)
{
	if (!user_id)
		return 0;
	return db_run(
		p->db, &sql[PEN_PERSON], NULL, ARGS(T(p->tenant_id), T(user_id), T(p->session_id)));
}

int pen_job(struct pen *p)
{
	struct job_new job = { .tenant_id = p->tenant_id,
		.kind = "session.run",
		.subject = p->session_id,
		.lane = p->row.agent_id,
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
