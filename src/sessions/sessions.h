/* sessions.h - the part of the process in which agents work: it runs the jobs "session.run".
 *
 * A turn is derived from stored rows and committed step by step, so that any
 * process can go on from any commit.  It holds no thread while it waits. */
#pragma once
#include "broker/broker.h"
#include "queue/runner.h"
#include "sessions/tool_run.h"

struct sessions;

struct sessions_settings {
	struct store *store;
	struct vault *vault;
	int64_t hold_max_us; /* the longest a run waits for room; 0: 7 days */
};

struct sessions *sessions_new(const struct sessions_settings *settings); /* before store_start() */
/* Before the runner begins; both must outlive what runs. */
void sessions_join(struct sessions *s, struct broker *broker, struct tool_pool *tools);
/* Where their files are, and the threads that wait for it; before the runner begins. */
struct bucket;
struct pool;
void sessions_keep_files(struct sessions *s, struct bucket *bucket, struct pool *disk);
/* How long what waits for room is held from now on; 0: 7 days. */
void sessions_hold(struct sessions *s, int64_t hold_max_us);
/* For the runner's table. */
struct job_kind sessions_job_kind(struct sessions *s);
/* Waits until nothing is at work here any more: after runner_stop(), broker_stop() and
 * tool_pool_free(), while the store still works. */
void sessions_stop(struct sessions *s);
void sessions_free(struct sessions *s);

struct sessions_stats {
	uint64_t turns, answers, tool_calls, failed;
	size_t open;
};
struct sessions_stats sessions_stats(struct sessions *s);

#ifdef LODGE_FAULTS
/* For the tests alone: called before whatever a turn does next.  True: the test has kept it, and has it go on
 * with go(turn). */
extern bool (*turn_kept)(void (*go)(void *turn), void *turn);
#endif

extern const struct statement_set prompt_sql, turn_sql, turn_model_sql, turn_answer_sql,
	subtask_sql;
