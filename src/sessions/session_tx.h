/* session_tx.h - writing into one session inside a transaction: its row is read and held once, changed in memory,
 * and written back once, with everything that happened numbered after each other.
 *
 * Only this room uses it.  While a session transaction is open on a session nobody else may
 * write there in the same transaction: what touches other sessions is done
 * before or after. */
#pragma once
#include "base/id.h"
#include "sessions/session.h"
#include "sessions/session_events.h"
#include "sessions/state.h"

struct session_row {
	const char *tenant_id, *id;
	const char *agent_id, *parent_session_id, *parent_call_id, *title, *created_by_id, *run_id,
		*job_id, *writing_id, *last_message_id, *error, *origin;
	const char *waiting_for; /* hours, rate or budget; NULL: it does not wait for room */
	int status;
	int64_t depth, iteration_count, message_count, last_event_id, started_at, completed_at,
		attention_at, waiting_until, updated_at;
};
SCHEMA_DECLARED(session_row);

struct run_row {
	const char *tenant_id, *session_id;
	const char *id, *user_id, *key_id, *hook_id, *model_id, *error_code, *error;
	int status;
	int64_t iteration_count, bad_calls, empty_answers, prompt_tokens, completion_tokens,
		cache_read_tokens, cache_write_tokens, cost_pd, created_at, started_at, ended_at;
	int64_t priority, refuses;
	bool admitted;
	const char *options;
};
SCHEMA_DECLARED(run_row);

struct call_row {
	const char *tenant_id, *session_id, *message_id;
	int64_t position;
	const char *id, *run_id, *call_id, *tool_id, *name;
	int state;
	const char *child_session_id;
	int64_t created_at, started_at, ended_at;
	const char *arguments; /* as the model said them */
	const char *sent;      /* with what is set for the agent, secrets masked; NULL: the same */
	const char *mark;      /* of what is sent (tool_pins.h); NULL: it was not looked at yet */
};
SCHEMA_DECLARED(call_row);

struct message_row {
	const char *tenant_id, *session_id;
	const char *id, *run_id, *author_id, *role, *status, *tool_call_id, *model_id;
	int64_t prompt_tokens, completion_tokens, cache_read_tokens, cache_write_tokens, cost_pd,
		created_at;
	const char *heard_id; /* NULL: it is heard where it was said */
	const char *metadata, *tool_calls, *thoughts, *content;
	struct list parts; /* struct MessagePart; of none: text alone */
};
SCHEMA_DECLARED(message_row);

struct session_tx {
	struct db *db;
	struct arena *a;
	const char *tenant_id, *session_id;
	int64_t now;
	struct session_row row;
	struct run_row run; /* of row.run_id; its id is NULL without one */
	bool has_run;
	/* What is added to the sums of the day, and taken off those of another: a session that ended then
	 * is open again. */
	struct tx_sums {
		int64_t sessions, completed, failed, cancelled, messages, subtasks;
	} sums, undone;
	int64_t undone_day;
	int64_t priority; /* of the run that this session transaction began */
	int results;	  /* of calls, stored with this session transaction */
	bool changed;
	bool moved; /* its status is another one */
	bool run_changed;
	bool numbered; /* its events have their place in the order of all: see events/feed_number.h */
	int64_t feed;  /* which it is, on SQLite */
	bool retitled; /* people find it by another title */
};

/* Reads the row and holds it.  ERR_NOT_FOUND with a sentence. */
int tx_open(struct session_tx *p, struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, int64_t now, struct problem *problem);
/* session.c: a new session, and the transaction on it that goes on.  Errors are those of session_open(). */
struct session_new;
int session_begin(struct session_tx *p, struct db *db, struct arena *a,
	const struct session_new *in, struct problem *problem);
/* The row of the run under way into p->run. */
int tx_run(struct session_tx *p);
/* Writes back what changed.  The transaction is closed after it. */
int tx_close(struct session_tx *p);

/* Data that is JSON already; NULL: there was no memory for it. */
int tx_event(struct session_tx *p, enum session_event kind, const char *data);
/* tx_tell(p, STATUS, &event) with the struct of that event. */
#define tx_tell(p, kind, object) \
	tx_event(p, SESSION_EVENT_##kind, session_event_text((p)->a, kind, object))
int tx_notice(struct session_tx *p, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The session into another state, with its event; ERR_CONFLICT if the table has no such move. */
int tx_move(struct session_tx *p, int to);
int tx_run_move(struct session_tx *p, int to);
/* An event about the state as it is. */
int tx_tell_status(struct session_tx *p);

/* The next message's id, greater than every one before whatever clocks say. */
const char *tx_next_id(struct session_tx *p);
/* Stores it (an id of NULL is given here), counts it, tells it. */
int tx_message_add(struct session_tx *p, struct message_row *m);
/* All of one that is there already. */
int tx_message_save(struct session_tx *p, const struct message_row *m);
int tx_message_read(struct session_tx *p, const char *id, struct message_row *ret);
/* Removes one that was not finished, and says so. */
int tx_message_discard(struct session_tx *p, const char *id);
/* As others are shown it. */
struct MessageEvent message_event(const char *session_id, const struct message_row *m);

/* The calls of the last message that has any: struct call_row. */
int tx_calls(struct session_tx *p, struct list *ret);
/* A new one is stored by its first move. */
int tx_call_move(struct session_tx *p, struct call_row *c, int to);
/* Its result as a message, and the move.  `content` is for the model. */
int tx_call_result(struct session_tx *p, struct call_row *c, int to, const char *content);
/* The same with images and files in it: struct MessagePart. */
int tx_call_result_with(struct session_tx *p, struct call_row *c, int to, const char *content,
	const struct list *parts);

/* Whoever takes part sees the session; NULL is nobody. */
int tx_person(struct session_tx *p, const char *user_id);
/* A job for the run, unless one is there. */
int tx_job(struct session_tx *p);
/* The session's state and the run's as the open calls want them; a job if it can go on. */
int tx_go_on(struct session_tx *p, const struct list *calls);

/* session_owner.c: in what mail began, ERR_FORBIDDEN for everybody but whoever wrote the mail. */
int session_check_owner(struct db *db, struct arena *a, const char *tenant_id,
	const char *session_id, const char *user_id, struct problem *p);
int session_check_speaker(
	const struct session_tx *p, const struct session_actor *as, struct problem *problem);
int session_by_mail(
	struct db *db, struct arena *a, const char *tenant_id, const char *session_id, bool *ret);

/* session_wait.c: what others say while a run is under way. */
/* Is the run under way this actor's? */
int session_is_theirs(struct session_tx *p, const struct session_actor *as, bool *ret);
/* How a run was asked for: its options as JSON, and how it gets to work (see run_options). */
struct run_order {
	const char *options, *model_id;
	int64_t priority, refuses;
	bool admitted;
};
/* Where a message stands that nobody hears yet. */
#define HEARD_LATER "z"
/* A run that begins when those before it have ended; what its actor said meanwhile waits for it. */
int session_wait(struct session_tx *p, const struct session_actor *as,
	const struct run_order *asked, const char **ret_run_id, struct problem *problem);
/* What waits for this run, or with NULL everything that waits, is heard from here on. */
int session_hear_waiting(struct session_tx *p, const char *run_id);
/* After the closed transaction of a session that has ended: the next run begins, if one waits. */
int session_next(const struct session_tx *ended);
/* Those that wait end with the one under way. */
int session_wait_cancel(struct session_tx *p);
/* One of those that wait ends, and nothing else.  What was said for it is heard by its author's next run,
 * or by whichever is begun when nothing is under way: those that are there are others'.  ERR_NOT_FOUND if it does not wait. */
int session_wait_cancel_one(struct session_tx *p, const char *run_id);
/* A row of a run that is queued. */
int session_run_add(struct session_tx *p, const char *run_id, const struct session_actor *as,
	const struct run_order *asked);

/* A run is under way in it, or waits for somebody. */
bool session_at_work(const struct session_row *r);
/* At most TOOL_OUTPUT_MAX bytes of it, with a note where it was cut. */
const char *tool_cut(struct arena *a, const char *text);

/* Ends the run and the session: what is open is closed.  Then tx_close(), then session_ended(). */
int tx_end(struct session_tx *p, int session_state, int run_state, const char *code,
	const char *error);
/* After the closed transaction of a session whose run has ended: unless it was completed, the subtasks that the run gave
 * away end too; the session whose subtask it is gets its result, and the next run that waits begins. */
int session_ended(const struct session_tx *p);

/* A session whose run failed runs again: another run, as the last one was asked for.  Its last job is the
 * caller's to end.  ERR_CONFLICT if its agent may not work now. */
int session_again(struct session_tx *p);

/* "<session_id> <run_id>" of work that is no longer wanted. */
#define SESSION_CANCEL_CHANNEL "cancelled"

extern const struct statement_set tx_sql, tx_call_sql, session_end_sql;
