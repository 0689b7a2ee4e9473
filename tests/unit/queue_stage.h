/* queue_stage.h - a store with tenants in it and runners on it, without the rest of the service. */
#pragma once
#include <pthread.h>

#include "fixture.h"
#include "queue/runner.h"

enum { STAGE_TENANTS = 4, STAGE_LOG = 20000, STAGE_KINDS = 3, PATIENCE_MS = 20000 };

/* A job as it was begun. */
struct begun {
	struct job *job; /* NULL once it is over */
	char id[26], subject[64];
	int tenant, attempts;
	_Atomic bool stopped;
};

struct queue_stage {
	struct arena arena;
	const char *where, *folder;
	struct store *store;
	struct db *db; /* for looking */
	char tenants[STAGE_TENANTS][26];
	pthread_mutex_t lock;
	struct begun *log;
	size_t count;
	struct job_kind kinds
		[STAGE_KINDS]; /* quick: finished at once; slow: waits for the test; broken: fails */
	_Atomic size_t over;
};

struct queue_stage *queue_stage_open(void);
/* The same with runners on it, which the test starts; they are freed behind queue_stage_close(). */
struct queue_stage *queue_stage_open_with(
	struct runner_settings *settings, struct runner **runners, size_t count);
/* In pieces: a place without a store yet; its store, opened (again); and shut. */
struct queue_stage *queue_stage_place(void);
void queue_stage_reopen(struct queue_stage *s, struct runner_settings *settings,
	struct runner **runners, size_t count);
void queue_stage_shut(struct queue_stage *s);
void queue_stage_close(struct queue_stage *s);

/* In a transaction of its own; the id is in the stage's arena. */
const char *stage_add(struct queue_stage *s, int tenant, const struct job_new *in);
void stage_add_many(struct queue_stage *s, int tenant, const struct job_new *in, int count);
/* Waits until so many were begun. */
bool stage_wait(struct queue_stage *s, size_t begun);
size_t stage_begun(struct queue_stage *s);
/* Finishes the nth that was begun, in a transaction; what that said. */
int stage_finish(struct queue_stage *s, size_t n);
int stage_put_back(struct queue_stage *s, size_t n, int64_t run_at, bool counts, const char *error);
/* Says that it is over without having done anything about it. */
void stage_over(struct queue_stage *s, size_t n, int err);
/* Those that are still open, once their runners have stopped. */
void stage_drop_jobs(struct queue_stage *s);
int64_t stage_int(struct queue_stage *s, const char *sql);
void stage_sql(struct queue_stage *s, const char *sql);
/* Waits until the number is what it should be. */
void stage_until(struct queue_stage *s, const char *sql, int64_t want, const char *file, int line);
#define UNTIL_TRUE(cond)                                        \
	do {                                                    \
		int64_t until_ = clock_mono_ms() + PATIENCE_MS; \
		while (!(cond) && clock_mono_ms() < until_)     \
			usleep(200);                            \
		CHECK(cond);                                    \
	} while (0)
#define UNTIL(s, sql, want) stage_until(s, sql, want, __FILE__, __LINE__)
