/* pen.h - writing into one session inside a transaction: its row is read and held once, changed in memory,
 * and written back once, with everything that happened numbered behind each other.
 *
 * Only this room uses it.  While a pen is open on a session nobody else may
 * write there in the same transaction: what touches other sessions is done
 * before or behind. */
#pragma once
#include "base/id.h"
#include "sessions/events.h"
#include "sessions/session.h"
#include "sessions/state.h"

struct session_row {
	const char *agent_id, *parent_session_id, *parent_call_id, *title, *created_by_id, *run_id,
		*job_id, *writing_id, *last_message_id, *error;
	int status;
	int64_t depth, iteration_count, message_count, last_event_id, started_at, completed_at;
};
SCHEMA_DECLARED(session_row);

struct run_row {
	const char *id, *user_id, *model_id, *error_code, *error;
	int status;
	int64_t iteration_count, bad_calls, empty_answers, prompt_tokens, completion_tokens,
		cache_read_tokens, cache_write_tokens, cost_pd, created_at, started_at, ended_at;
	const char *options;
};
SCHEMA_DECLARED(run_row);

struct call_row {
	const char *message_id;
	int64_t position;
	const char *id, *run_id, *call_id, *tool_id, *name;
	int state;
	const char *child_session_id;
	int64_t created_at, started_at, ended_at;
	const char *arguments;
};
SCHEMA_DECLARED(call_row);

struct message_row {
	const char *id, *run_id, *author_id, *role, *status, *tool_call_id, *model_id;
	int64_t prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd,
		created_at;
	const char *metadata, *tool_calls, *thoughts, *content;
};
SCHEMA_DECLARED(message_row);

struct pen {
	struct db *db;
	struct arena *a;
	const char *tenant_id, *session_id;
	int64_t now;
	struct session_row row;
	struct run_row run; /* of row.run_id; its id is NULL without one */
	bool has_run;
	/* What is added to the day's sums. */
	struct {
		int64_t sessions, completed, failed, cancelled, messages, subtasks;
	} sums;
	int results; /* of calls, stored with this pen */
	bool changed;
	bool moved; /* its status is another one */
	bool run_changed;
	bool numbered; /* its events have their place in the order of all: see call/feed_number.h */
	int64_t feed;  /* which it is, on SQLite */
	bool retitled; /* people find it by another title */
};

/* Reads the row and holds it.  ERR_NOT_FOUND with a sentence. */
int pen_open(struct pen *p, struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t now, struct problem *problem);
/* The row of the run under way into p->run. */
int pen_run(struct pen *p);
/* Writes back what changed.  The pen is closed behind it. */
int pen_close(struct pen *p);

int pen_event(struct pen *p, enum session_event kind, const char *data);
int pen_notice(struct pen *p, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The session into another state, with its event; ERR_CONFLICT if the table has no such move. */
int pen_move(struct pen *p, int to);
int pen_run_move(struct pen *p, int to);
/* An event about the state as it is. */
int pen_tell_status(struct pen *p);

/* The next message's id, greater than every one before whatever clocks say. */
const char *pen_next_id(struct pen *p);
/* Stores it (an id of NULL is given here), counts it, tells it. */
int pen_message_add(struct pen *p, struct message_row *m);
/* All of one that is there already. */
int pen_message_save(struct pen *p, const struct message_row *m);
int pen_message_read(struct pen *p, const char *id, struct message_row *ret);
/* Removes one that was not finished, and says so. */
int pen_message_discard(struct pen *p, const char *id);
const char *message_json(struct arena *a, const char *session_id, const struct message_row *m);

/* The calls of the last message that has any: struct call_row. */
int pen_calls(struct pen *p, struct list *ret);
/* A new one is stored by its first move. */
int pen_call_move(struct pen *p, struct call_row *c, int to);
/* Its result as a message, and the move.  `content` is for the model. */
int pen_call_result(struct pen *p, struct call_row *c, int to, const char *content);

/* Whoever takes part sees the session; NULL is nobody. */
int pen_person(struct pen *p, const char *user_id);
/* A job for the run, unless one is there. */
int pen_job(struct pen *p);
/* The session's state and the run's as the open calls want them; a job if it can go on. */
int pen_go_on(struct pen *p, const struct list *calls);

/* A run is under way in it, or waits for somebody. */
bool session_at_work(const struct session_row *r);
/* At most TOOL_OUTPUT_MAX bytes of it, with a note where it was cut. */
const char *tool_cut(struct arena *a, const char *text);

/* Ends the run and the session: what is open is closed.  Then pen_close(), then session_ended(). */
int pen_end(struct pen *p, int session_state, int run_state, const char *code, const char *error);
/* Behind the closed pen of a session that has ended: its subtasks end too unless it was completed, and
 * the session whose subtask it is gets its result. */
int session_ended(const struct pen *p);

/* "<session_id> <run_id>" of work that is no longer wanted. */
#define SESSION_CANCEL_CHANNEL "cancelled"

extern const struct statement_set pen_sql, pen_call_sql, session_end_sql;
